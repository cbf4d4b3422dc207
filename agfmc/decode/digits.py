"""Least squares with many or nearly many solutions, by arithmetic of many digits.

For points that floating-point numbers cannot settle: where a classifier is all but
certain, the objective changes by 1e-18 or 1e-24 between quite different p.
"""

from __future__ import annotations

import decimal

import numpy as np

__all__ = ["least_norm"]

DIGITS = 180
RIDGE = 70  # the penalty is 10^-RIDGE; what 1 - |r| may leave of a singular value is 1e-16
ZERO = 95  # signs count down to 10^-ZERO; the penalty's own effects are about 10^-RIDGE


def least_norm(code, r, passive):
    """p (k,) of min |M p|^2 + e |p|^2, p >= 0, sum p = 1, e -> 0, for one point.

    M = A - |A| r for the code A (m, k) and r (m,); passive (k,) bool: a first guess at
    where p is positive.  With e = 1e-70 the minimum is unique, and e itself cannot be
    seen in p.  Pivots as `pivot.pivot` does, which ends for a positive definite
    matrix (Murty's rule, the last wrong one alone, if all at once do not help).
    """
    with decimal.localcontext(decimal.Context(prec=DIGITS, Emin=-9999, Emax=9999)):
        one, zero = decimal.Decimal(1), decimal.Decimal(0)
        known = [decimal.Decimal(float(value)) for value in r]
        matrix = np.array([[entry - abs(entry) * value for entry in row]
                           for row, value in zip(code.astype(int).tolist(), known, strict=True)],
                          dtype=object)
        k = matrix.shape[1]
        gram = matrix.T @ matrix
        gram[np.arange(k), np.arange(k)] += one.scaleb(-RIDGE)
        gram += one  # as in `lsq`: u of it is p but for its sum
        limit = one.scaleb(-ZERO)
        passive = passive.copy()
        if not passive.any():
            passive[:] = True
        fewest, patience = k + 1, 3
        while True:
            inside = np.flatnonzero(passive)
            u = _solve(gram[np.ix_(inside, inside)], one)
            wrong = np.zeros(k, dtype=bool)
            wrong[inside] = [value < -limit for value in u]
            outside = np.flatnonzero(~passive)
            if len(outside):
                wrong[outside] = [value - one < -limit for value in
                                  gram[np.ix_(outside, inside)] @ u]
            count = np.count_nonzero(wrong)
            if count == 0:
                break
            if count < fewest:
                fewest, patience = count, 3
            elif patience:
                patience -= 1
            else:
                wrong[:np.flatnonzero(wrong)[-1]] = False
            passive ^= wrong
        u = np.array([max(value, zero) for value in u], dtype=object)
        p = np.zeros(k)
        p[inside] = (u / u.sum()).astype(float)
    return p


def _solve(matrix, one):
    """x (s,) of the positive definite matrix (s, s) x = 1."""
    s = len(matrix)
    system = np.empty((s, s + 1), dtype=object)
    system[:, :s], system[:, s] = matrix, one
    for j in range(s - 1):
        factors = system[j + 1:, j] / system[j, j]
        system[j + 1:, j + 1:] -= factors[:, None] * system[j, j + 1:]
    x = np.empty(s, dtype=object)
    for j in range(s - 1, -1, -1):
        known = system[j, s]
        if j < s - 1:
            known = known - (system[j, j + 1:s] * x[j + 1:]).sum()
        x[j] = known / system[j, j]
    return x
