"""Least squares that have many solutions: the one nearest to equal probabilities.

Slow and careful (singular values of M itself, not of its square): for codes or
points the fast solvers cannot settle.
"""

from __future__ import annotations

import numpy as np

from .digits import least_norm
from .pivot import pivot
from .stops import Stops

__all__ = ["equality", "prepare_constrained", "strict_map"]

BUDGET = 8 << 20
RANK = 1e-12
TINY = 1e-12
SATURATED = 1e-12
# Decision values less far than this from +-1, and not saturated, leave singular values
# whose squares cannot be told from rounding.
NEARLY = 1e-4


def strict_map(a):
    """(offset (k,), slope (m, k)) of p = offset + r slope, the least squares solution
    with sum p = 1 for a code a (m, k) without zeros (of least norm if many)."""
    m, k = a.shape
    middle = np.full(k, 1.0 / k)
    code = a.astype(float)
    slope = np.linalg.pinv(code - code.mean(axis=1, keepdims=True), rcond=RANK).T
    return middle - (code @ middle) @ slope, slope


def equality(code, r, passive):
    """Least squares with sum p = 1 on the passive classes, the solution of least norm.

    code (m, k) float, r (n, m), passive (n, k) bool.  With u = 1/s on the s
    passive classes and t orthogonal to 1, p = u + t, t = -(M Z)^+ M u, where Z
    centres on the passive set.  For min |M p|^2 + e |p|^2 the solution is
    p + e p', t' = -(M Z)^+ (M Z)^+T t.

    Returns p, p' (n, k), w, w' (n, k), the derivatives of the objective less
    their value on the passive set, at e = 0 and per e, and undetermined (n,).
    """
    matrix = code[None] - np.abs(code)[None] * r[:, :, None]
    count = np.maximum(passive.sum(axis=1), 1)[:, None]
    middle = passive / count
    known = np.matmul(matrix, middle[:, :, None])[:, :, 0]
    centred = (matrix - known[:, :, None]) * passive[:, None, :]
    left, values, right = np.linalg.svd(centred, full_matrices=False)
    kept = values > RANK * np.maximum(values[:, :1], 1e-3)
    inverse = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)

    def spread(coefficients):
        t = np.matmul(coefficients[:, None, :], right)[:, 0, :] * passive
        return t - t.sum(axis=1, keepdims=True) * middle

    p = middle - spread(inverse * np.matmul(known[:, None, :], left)[:, 0, :])
    along = np.matmul(right, (p - middle)[:, :, None])[:, :, 0]
    p_next = -spread(inverse**2 * along)

    def slope(x):
        return np.matmul(np.matmul(matrix, x[:, :, None])[:, None, :, 0], matrix)[:, 0, :]

    w = slope(p)
    w -= (w * middle).sum(axis=1, keepdims=True)
    w_next = p + slope(p_next)
    w_next -= (w_next * middle).sum(axis=1, keepdims=True)
    undetermined = kept.sum(axis=1) < count[:, 0] - 1
    return p, p_next, w, w_next, undetermined


def prepare_constrained(a):
    """Solver r (n, m) -> (p (n, k), Stops) of min |M p|^2, p >= 0, sum p = 1.

    Where the minimum is reached by many p, the one with the least |p|^2: the
    limit of min |M p|^2 + e |p|^2 for e -> 0.  Signs are decided to first
    order in e, so no e has to be chosen.
    """
    code = a.astype(float)
    m, k = code.shape
    step = max(1, BUDGET // (8 * m * k))

    def solve(r):
        p = np.empty((len(r), k))
        stops = Stops()
        for start in range(0, len(r), step):
            part = slice(start, start + step)
            p[part], stopped = _constrained(code, r[part])
            stops += stopped
        return p, stops

    return solve


def _constrained(code, r):
    n, k = len(r), code.shape[1]
    # Singular values are to be 0 or not, rather than what rounding left of 1 - |r|.
    r = np.where(1.0 - np.abs(r) < SATURATED, np.sign(r), r)
    limit = 20 + 4 * k
    flat = np.zeros(n, dtype=bool)

    def evaluate(points, passive):
        passive = np.ascontiguousarray(passive.T)  # sums along rows in one order
        empty = ~passive.any(axis=1)
        passive = passive | empty[:, None]
        p, p_next, w, w_next, flat[points] = equality(code, r[points], passive)
        p_wrong = (p < -TINY) | ((p <= TINY) & (p_next < -TINY))
        w_wrong = (w < -TINY) | ((w <= TINY) & (w_next < -TINY))
        wrong = np.where(passive, p_wrong, w_wrong)
        # Of an empty set all of w = -1 is wrong.
        wrong[empty] = True
        return p.T, wrong.T, wrong.T, np.zeros(len(p), dtype=bool)

    passive = np.ones((k, n), dtype=bool)
    p, failed, rounds = pivot(evaluate, passive, limit)
    p = np.maximum(np.ascontiguousarray(p.T), 0.0)
    away = 1.0 - np.abs(r)
    for point in np.flatnonzero(failed | ((away > 0) & (away < NEARLY)).any(axis=1)):
        p[point] = least_norm(code, r[point], p[point] > 0)
    p /= p.sum(axis=1, keepdims=True)
    return p, Stops(n, rounds, 0, int(np.count_nonzero(flat)))
