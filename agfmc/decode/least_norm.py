"""Least squares that have many solutions: the one nearest to equal probabilities.

Slow and careful (singular values of M itself, not of its square): for codes or
points the fast solvers cannot settle.  Points that floating-point numbers cannot
settle either, where a classifier is all but certain and the objective changes by
1e-18 or 1e-24 between quite different p, are solved by decimal arithmetic.
"""

import decimal
import sys

import numpy as np

from ..core.solver_status import in_chunks, Solver, SolverStatus
from .pivot import pivot

BUDGET = 8 << 20
RANK = 1e-12
TINY = 1e-12
SATURATED = 1e-12
# Decision values less far than this from +-1, and not saturated, leave singular values
# whose squares cannot be distinguished from rounding.
NEARLY = 1e-4
DIGITS = 180
RIDGE = 70  # the penalty is 10^-RIDGE; what 1 - |r| may leave of a singular value is 1e-16
ZERO = 95  # signs count down to 10^-ZERO; the penalty's own effects are about 10^-RIDGE


def equality(code: np.ndarray, r: np.ndarray, passive: np.ndarray) -> tuple[np.ndarray, ...]:
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
    significant = values > RANK * np.maximum(values[:, :1], 1e-3)
    inverse = np.where(significant, 1.0 / np.where(significant, values, 1.0), 0.0)

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
    undetermined = significant.sum(axis=1) < count[:, 0] - 1
    return p, p_next, w, w_next, undetermined


def prepare_constrained(a: np.ndarray) -> Solver:
    """Solver r (n, m) -> (p (n, k), SolverStatus) of min |M p|^2, p >= 0, sum p = 1.

    Where the minimum is reached by many p, the one with the least |p|^2: the
    limit of min |M p|^2 + e |p|^2 for e -> 0.  Signs are decided to first
    order in e, so no e has to be chosen.
    """
    code = a.astype(float)
    m, k = code.shape
    return in_chunks(lambda r: _constrained(code, r), BUDGET // (8 * m * k), k)


def _constrained(code, r):
    n = len(r)
    k = code.shape[1]
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
        p[point] = decimal_least_norm(code, r[point], p[point] > 0)
    p /= p.sum(axis=1, keepdims=True)
    return p, SolverStatus(n, rounds, 0, int(np.count_nonzero(flat)))


def decimal_least_norm(code: np.ndarray, r: np.ndarray, passive: np.ndarray) -> np.ndarray:
    """p (k,) of min |M p|^2 + e |p|^2, p >= 0, sum p = 1, e -> 0, for one point.

    M = A - |A| r for the code A (m, k) and r (m,); passive (k,) bool: a first choice of
    where p is positive.  With e = 1e-70 the minimum is unique, and e itself cannot be
    seen in p, and `pivot` ends, as the matrix is positive definite.
    """
    with decimal.localcontext(decimal.Context(prec=DIGITS, Emin=-9999, Emax=9999)):
        one = decimal.Decimal(1)
        zero = decimal.Decimal(0)
        known = [decimal.Decimal(float(value)) for value in r]
        matrix = np.array(
            [
                [entry - abs(entry) * value for entry in row]
                for row, value in zip(code.astype(int).tolist(), known, strict=True)
            ],
            dtype=object,
        )
        k = matrix.shape[1]
        gram = matrix.T @ matrix
        gram[np.arange(k), np.arange(k)] += one.scaleb(-RIDGE)
        gram += one  # as in `constrained`: u of it is p but for its sum
        limit = one.scaleb(-ZERO)

        def evaluate(_, passive):
            inside = np.flatnonzero(passive)
            outside = np.flatnonzero(~passive)
            u = _decimal_solve(gram[np.ix_(inside, inside)], one)
            wrong = np.zeros((k, 1), dtype=bool)
            wrong[inside, 0] = [value < -limit for value in u]
            if len(outside):
                wrong[outside, 0] = [
                    value - one < -limit for value in gram[np.ix_(outside, inside)] @ u
                ]
            u = np.array([max(value, zero) for value in u], dtype=object)
            p = np.zeros((k, 1))
            p[inside, 0] = (u / u.sum()).astype(float)
            return p, wrong, wrong, np.zeros(1, dtype=bool)

        if passive.any():
            start = passive
        else:
            start = np.ones(k, dtype=bool)
        p, _, _ = pivot(evaluate, start[:, None].copy(), sys.maxsize)
    return p[:, 0]


def _decimal_solve(matrix, one):
    """x (s,) of the positive definite matrix (s, s) x = 1."""
    s = len(matrix)
    system = np.empty((s, s + 1), dtype=object)
    system[:, :s], system[:, s] = matrix, one
    for j in range(s - 1):
        factors = system[j + 1 :, j] / system[j, j]
        system[j + 1 :, j + 1 :] -= factors[:, None] * system[j, j + 1 :]
    x = np.empty(s, dtype=object)
    for j in range(s - 1, -1, -1):
        known = system[j, s]
        if j < s - 1:
            known = known - (system[j, j + 1 : s] * x[j + 1 :]).sum()
        x[j] = known / system[j, j]
    return x
