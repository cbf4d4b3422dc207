"""Matrix products that are the same for a point whatever its neighbours.

What BLAS returns for a column depends, in the last bit, on how many columns there
are.  Where the matrix holds small whole numbers, the others are cut into two parts of
so few bits that every sum of each part is exact, and only the last addition rounds.
Any other matrix meets as many points in each product, the last ones filled up.
"""

import numpy as np

from .points import padded_blocks

HEADROOM = 10  # numbers up to 2^HEADROOM keep the promise
TILE = 128


class Exact:
    """x (m, n) -> t x (q, n), for t (q, m) of whole numbers."""

    def __init__(self, t: np.ndarray):
        self.t = np.ascontiguousarray(t, dtype=float)
        bits = 52 - HEADROOM - _bits(self.t)
        # Added and taken away again they round to multiples of 2^-bits, 2^-2bits.
        self.coarse = 1.5 * 2.0**(52 - bits)
        self.fine = 1.5 * 2.0**(52 - 2 * bits)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The product t @ x, (rows of t, n), for x (columns of t, n)."""
        upper, lower = self._parts(x)
        result = self.t @ upper
        result += self.t @ lower
        return result

    def rows(self, x: np.ndarray) -> np.ndarray:
        """x t^T (n, q), for x (n, m)."""
        upper, lower = self._parts(x)
        result = upper @ self.t.T
        result += lower @ self.t.T
        return result

    def _parts(self, x):
        upper = x + self.coarse
        upper -= self.coarse
        lower = x - upper
        lower += self.fine
        lower -= self.fine
        return upper, lower


class ExactBounded:
    """`Exact` for |x| <= 1 and not too large sums, with a second part in float32."""

    def __init__(self, t: np.ndarray):
        self.t = np.ascontiguousarray(t, dtype=float)
        self.small = self.t.astype(np.float32)
        bits = _bits(self.t)
        self.coarse = 1.5 * 2.0**bits
        # What is left is at most 2^-(53 - bits): in units of 2^(2 bits - 75) a sum of
        # it has 23 bits.
        self.fine = 1.5 * 2.0**(2 * bits - 23)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The product t @ x, tile by tile."""
        result = np.empty((len(self.t), x.shape[1]))
        for start in range(0, x.shape[1], TILE):
            part = slice(start, start + TILE)
            upper = x[:, part] + self.coarse
            upper -= self.coarse
            lower = x[:, part] - upper
            lower += self.fine
            lower -= self.fine
            product = self.t @ upper
            np.add(product, self.small @ lower.astype(np.float32), out=result[:, part])
        return result


class Uniform:
    """x (n, m) -> x b (n, q), for any matrix b (m, q)."""

    def __init__(self, b: np.ndarray):
        self.b = np.ascontiguousarray(b, dtype=float)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The product x @ b, (n, columns of b), for x (n, rows of b)."""
        result = np.empty((len(x), self.b.shape[1]))
        for part, block in padded_blocks(x, TILE):
            product = np.ascontiguousarray(block) @ self.b  # BLAS sums as memory lies
            result[part] = product[:part.stop - part.start]
        return result


def _bits(t):
    """Bits that a sum of t (q, m) times numbers has more than these."""
    return int(np.ceil(np.log2(max(1.0, np.abs(t).sum(axis=1).max(initial=0.0)))))
