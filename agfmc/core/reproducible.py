"""Matrix products that are the same for a point whatever its neighbours.

What BLAS returns for a row depends, in the last bit, on how many rows there are.  So each
product has the same number of rows: the last block is padded.
"""

import numpy as np

from .points import padded_blocks

TILE = 128


class Uniform:
    """x (n, m) -> x b (n, q), for any matrix b (m, q)."""

    def __init__(self, b: np.ndarray):
        self.b = np.ascontiguousarray(b, dtype=float)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The product x @ b, (n, columns of b), for x (n, rows of b)."""
        result = np.empty((len(x), self.b.shape[1]))
        for part, block in padded_blocks(x, TILE):
            product = np.ascontiguousarray(block) @ self.b  # BLAS sums as memory lies
            result[part] = product[: part.stop - part.start]
        return result
