"""Closed forms of constrained least squares, for the codes that have one.

tree        products of the branch probabilities
balanced    Euclidean projection of A^T r / alpha onto the probability simplex
adjacent    isotonic regression of a cumulative distribution
pairs       one linear system (one-vs-one, see `pairwise`)
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.reproducible import Uniform
from .code_kinds import adjacent_order, balanced_scale, one_vs_one, one_vs_rest, tree_splits
from .pairwise import PairSystem

CHUNK = 512


def recognised_form(a: np.ndarray) -> tuple[str, Any] | None:
    """(name, parts) of the closed form for the code a (m, k), or None; parts of `code_kinds`.

    Every form is recognised whatever the order and the signs of the rows and
    the order of the columns.
    """
    for name, (recognise, _) in _FORMS.items():
        parts = recognise(a)
        if parts is not None:
            return name, parts
    return None


def closed_form(a: np.ndarray) -> tuple[str, Callable[[np.ndarray], np.ndarray]] | None:
    """(name, function r (n, m) -> p (n, k)) of the closed form for the code a (m, k), or None."""
    form = recognised_form(a)
    if form is None:
        return None
    name, parts = form
    return name, _FORMS[name][1](a, parts)


def _products(a, splits):
    """The product of branch probabilities (1 -/+ r)/2 on the way to each leaf."""

    def solve(r):
        p = np.ones((a.shape[1], len(r)))
        for row, left, right in splits:
            p[left] *= (1.0 - r[:, row]) / 2
            p[right] *= (1.0 + r[:, row]) / 2
        return np.ascontiguousarray(p.T)

    return solve


def _balanced(a, scale):
    rest = one_vs_rest(a)
    if rest is None or scale != 4.0:
        votes = Uniform(a / scale)
        return _piecewise(lambda r: project(votes(r)), a.shape[1])
    # A^T r / 4 is r_j / 2 less a number that all classes share.
    order, signs = rest
    rows = _columns(order)
    signs = signs / 2
    return _piecewise(lambda r: project(r[:, rows] * signs), a.shape[1])


def _adjacent(a, chain):
    rows, signs, classes = chain
    rows, classes, half = _columns(rows), _columns(np.argsort(classes)), signs / 2
    return _piecewise(lambda r: distribution(0.5 - r[:, rows] * half)[:, classes], a.shape[1])


# how each form is recognised, and its solver of the code and the parts
_FORMS = {
    "tree": (tree_splits, _products),
    "balanced": (balanced_scale, _balanced),
    "adjacent": (adjacent_order, _adjacent),
    "pairs": (one_vs_one, lambda a, pairs: PairSystem(pairs)),
}


def _columns(order):
    """An index of columns; a slice, which costs nothing, where they stay as they are."""
    if np.array_equal(order, np.arange(len(order))):
        return slice(None)
    return order


def _piecewise(solve, k):
    """solve, (n, m) -> (n, k), on as many points at a time as caches hold."""

    def solve_all(r):
        p = np.empty((len(r), k))
        for start in range(0, len(r), CHUNK):
            part = slice(start, start + CHUNK)
            p[part] = solve(r[part])
        return p

    return solve_all


def project(v: np.ndarray) -> np.ndarray:
    """The nearest point with p >= 0 and sum p = 1 (Euclidean), for each row of v (n, k).

    p = max(v - theta, 0) with theta = max over t of (sum of the t largest - 1) / t
    (Held, Wolfe and Crowder 1974; Duchi et al. 2008).
    """
    return _piecewise(_projected, v.shape[1])(v)


def _projected(v):
    k = v.shape[1]
    # One class after the other for all rows: sums in a fixed order, and fast.
    rising = np.ascontiguousarray(np.sort(v, axis=1).T)
    # Nothing but differences within a row matters: a small top keeps the digits.
    top = rising[-1].copy()
    excess = rising[::-1]
    excess -= top
    excess[0] -= 1.0
    for j in range(1, k):  # np.cumsum is ten times slower along the first axis
        excess[j] += excess[j - 1]
    excess *= 1.0 / np.arange(1, k + 1)[:, None]
    p = v - top[:, None]
    p -= excess.max(axis=0)[:, None]
    return np.maximum(p, 0.0)


def isotonic_regression(y: np.ndarray) -> np.ndarray:
    """Non-decreasing least squares fit to each row of y (n, t), equal weights.

    Adjacent blocks that are out of order are pooled, whole falling runs of all rows
    at once, until none is left (Barlow et al. 1972: the order of pooling is free).
    """
    n, t = y.shape
    total: np.ndarray = y.reshape(-1)
    mean: np.ndarray = total
    first: np.ndarray = np.zeros(n * t, dtype=bool)
    first[::t] = True  # blocks that begin a row
    start: np.ndarray = np.append(np.arange(n * t), n * t)  # of each block, through all rows
    while True:
        keep = np.flatnonzero((mean[1:] > mean[:-1]) | first[1:])
        if len(keep) == len(mean) - 1:
            break
        keep = np.concatenate(([0], keep + 1, [len(mean)]))
        start = np.take(start, keep)
        keep = keep[:-1]
        first = np.take(first, keep)
        total = np.add.reduceat(total, keep)
        mean = total / np.diff(start)
    return np.repeat(mean, np.diff(start)).reshape(n, t)


def distribution(left: np.ndarray) -> np.ndarray:
    """p (n, k) from estimates left (n, k-1) of P(class among the first i), i = 1..k-1.

    F = clip(isotonic regression, 0, 1), p = diff(0, F, 1): the least squares
    solution with p >= 0 and sum p = 1 of an adjacent code.
    """
    n, t = left.shape
    cumulative = isotonic_regression(left)
    np.clip(cumulative, 0.0, 1.0, out=cumulative)
    p = np.empty((n, t + 1))
    p[:, 0] = cumulative[:, 0]
    np.subtract(cumulative[:, 1:], cumulative[:, :-1], out=p[:, 1:-1])
    np.subtract(1.0, cumulative[:, -1], out=p[:, -1])
    return p
