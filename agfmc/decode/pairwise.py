"""One-vs-one: the bordered linear system, for all points at once."""

from __future__ import annotations

import numpy as np

__all__ = ["Pairs", "solve"]

BUDGET = 16 << 20


class Pairs:
    """Where the k(k-1)/2 rows of a one-vs-one code go in the k x k system.

    low, high (m,): the class named -1 and the class named +1 in each row.
    """

    def __init__(self, low, high, k):
        m = len(low)
        self.k = k
        # Column of [r^2, diagonal] that fills each cell of the matrix.
        cells = np.empty((k, k), dtype=np.intp)
        cells[low, high] = cells[high, low] = np.arange(m)
        cells[np.arange(k), np.arange(k)] = m + np.arange(k)
        self.cells = cells.ravel()
        self.lose = np.zeros((m, k))
        self.lose[np.arange(m), low] = 1.0
        self.win = np.zeros((m, k))
        self.win[np.arange(m), high] = 1.0


def solve(pairs, r):
    """p (n, k) with min |M p|^2, sum p = 1, for r (n, m) of a one-vs-one code.

    The solution of [[M^T M, 1], [1^T, 0]] [p; lambda] = [0; 1], the second
    method of Wu, Lin and Weng (2004), is proportional to u in
    (M^T M + 1 1^T) u = 1.  Off the diagonal, M^T M + 1 1^T is r^2 of the pair;
    the diagonal is 1 + sum (1 +/- r)^2.  The matrix is never singular and p is
    never negative while |r| <= 1.
    """
    n, m = r.shape
    k = pairs.k
    p = np.empty((n, k))
    step = max(1, BUDGET // (8 * k * k))
    for start in range(0, n, step):
        part = r[start:start + step]
        diagonal = (1.0 + part)**2 @ pairs.lose + (1.0 - part)**2 @ pairs.win + 1.0
        known = np.concatenate([part * part, diagonal], axis=1)
        system = known[:, pairs.cells].reshape(len(part), k, k)
        p[start:start + step] = np.linalg.solve(system, np.ones((len(part), k, 1)))[:, :, 0]
    np.maximum(p, 0.0, out=p)
    p /= p.sum(axis=1, keepdims=True)
    return p
