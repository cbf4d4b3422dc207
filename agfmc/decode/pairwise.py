"""One-vs-one: the bordered linear system, for all points at once."""

from __future__ import annotations

import numpy as np

__all__ = ["Pairs", "solve"]

BUDGET = 4 << 20
# Up to so many classes elimination over many points is faster than LAPACK, point by point.
_FEW = 64
# Points are padded to a multiple of this, so that the loops over them are always the
# same, and with them the bits of each.
_STEP = 64


class Pairs:
    """Where the k(k-1)/2 rows of a one-vs-one code go in the k x k system.

    low, high (m,): the class named -1 and the class named +1 in each row.
    """

    def __init__(self, low, high, k):
        self.k = k
        low, high = np.asarray(low), np.asarray(high)
        # Cells of the matrix, read row by row.
        self.low, self.high = low * k + high, high * k + low
        self.diagonal = np.arange(k) * (k + 1)


def solve(pairs, r):
    """p (n, k) with min |M p|^2, sum p = 1, for r (n, m) of a one-vs-one code.

    The solution of [[M^T M, 1], [1^T, 0]] [p; lambda] = [0; 1], the second
    method of Wu, Lin and Weng (2004), is proportional to u in
    (M^T M + 1 1^T) u = 1.  Off the diagonal, M^T M + 1 1^T is r^2 of the pair;
    the diagonal is 1 + sum (1 +/- r)^2.  The matrix is positive definite and p is
    never negative while |r| <= 1.
    """
    n, m = r.shape
    k = pairs.k
    u = np.empty((k, n))
    most = max(1, BUDGET // (8 * k * k))
    step = min(_STEP, most)
    wide = step * min(8, most // step, max(1, -(-n // step)))
    buffer = np.empty((k + 1) * k * wide)
    for start in range(0, n, wide):
        part = r[start:start + wide].T
        count = part.shape[1]
        width = -(-count // step) * step
        if count < width:
            padded = np.zeros((m, width))
            padded[:, :count] = part
            part = padded
        # One row more than the matrix has: the right hand side.
        system = buffer[:(k + 1) * k * width].reshape(k + 1, k, width)
        _fill(pairs, part, system)
        solve_some = _eliminate if k <= _FEW else _by_lapack
        u[:, start:start + count] = solve_some(system)[:, :count]
    np.maximum(u, 0.0, out=u)
    total = u[0].copy()
    for row in u[1:]:  # one by one: the order does not hang on the number of points
        total += row
    u /= total
    return np.ascontiguousarray(u.T)


def _fill(pairs, r, system):
    """The matrix, and a row of ones below it, in system (k + 1, k, n) for r (m, n)."""
    k = pairs.k
    cells = system.reshape(-1, system.shape[2])
    cells[pairs.low] = 1.0 + r
    cells[pairs.high] = 1.0 - r
    cells[pairs.diagonal] = 1.0
    diagonal = np.einsum("ijn,ijn->in", system[:k], system[:k])
    square = r * r
    cells[pairs.low] = square
    cells[pairs.high] = square
    cells[pairs.diagonal] = diagonal
    system[k] = 1.0


def _eliminate(system):
    """u (k, n) of system (k + 1, k, n), by L D L^T in place, all points at once.

    Of the matrix only what is on the diagonal and below is read.
    """
    k = system.shape[1]
    pivots = np.empty(system.shape[1:])
    scaled = np.empty(system.shape[1:])
    for j in range(k):
        column = system[j:, j]
        if j:
            np.multiply(system[j, :j], pivots[:j], out=scaled[:j])
            column -= np.einsum("itn,tn->in", system[j:, :j], scaled[:j])
        pivots[j] = column[0]
        column[1:] /= pivots[j]
    u = system[k]
    for j in range(k - 2, -1, -1):
        u[j] -= np.einsum("tn,tn->n", system[j + 1:k, j], u[j + 1:])
    return u


def _by_lapack(system):
    """As `_eliminate`, of the whole matrix."""
    matrix = system[:-1].transpose(2, 0, 1)
    return np.linalg.solve(matrix, np.ones((*matrix.shape[:2], 1)))[:, :, 0].T
