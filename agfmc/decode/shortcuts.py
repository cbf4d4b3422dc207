"""Which codes have a closed form for constrained least squares."""

from __future__ import annotations

import numpy as np

from . import isotonic, oneagainst, pairwise, simplex, treecode
from .exact import Exact

__all__ = ["adjacent_order", "balanced_scale", "find", "pair_classes"]

CHUNK = 512


def find(a):
    """(name, solver) of the closed form for the code a (m, k), or None.

    Every form is recognised whatever the order and the signs of the rows and
    the order of the columns; solver maps r (n, m) to p (n, k).
    """
    tree = treecode.find(a)
    if tree is not None:
        return "tree", lambda r: treecode.products(tree, r)
    scale = balanced_scale(a)
    if scale is not None:
        return "balanced", _balanced(a, scale)
    chain = adjacent_order(a)
    if chain is not None:
        return "adjacent", _piecewise(_adjacent(*chain), a.shape[1])
    ends = pair_classes(a)
    if ends is not None:
        pairs = pairwise.Pairs(*ends, a.shape[1])
        return "pairs", lambda r: pairwise.solve(pairs, r)
    return None


def _balanced(a, scale):
    rest = oneagainst.find(a) if scale == 4.0 else None
    if rest is None:
        votes = Exact(a.T)
        return _piecewise(lambda r: simplex.project(votes.rows(r) * (1.0 / scale)), a.shape[1])
    # A^T r / 4 is r_j / 2 less a number that all classes share.
    rows, signs = _columns(rest[0]), rest[1] / 2
    return _piecewise(lambda r: simplex.project(r[:, rows] * signs), a.shape[1])


def _piecewise(solve, k):
    """solve, (n, m) -> (n, k), on as many points at a time as caches hold."""
    def solve_all(r):
        p = np.empty((len(r), k))
        for start in range(0, len(r), CHUNK):
            part = slice(start, start + CHUNK)
            p[part] = solve(r[part])
        return p

    return solve_all


def balanced_scale(a):
    """alpha if a (m, k) has no zeros and A^T A = alpha I + beta J, else None.

    |A p - r|^2 is then alpha |p - A^T r / alpha|^2 plus a constant wherever
    sum p = 1, so the solution is the projection of A^T r / alpha onto the
    simplex.  One-vs-rest (alpha = 4), orthogonal (m), reduced Hadamard (m + 1)
    and exhaustive (2^(k-1)) codes are of this kind.
    """
    m, k = a.shape
    if not a.all() or k < 2 or m < k - 1:  # with fewer rows A^T A has not the rank
        return None
    whole = a.astype(np.int64)
    gram = whole.T @ whole
    beta = gram[0, 1]
    alpha = gram[0, 0] - beta
    if alpha > 0 and np.array_equal(gram, alpha * np.eye(k, dtype=np.int64) + beta):
        return float(alpha)
    return None


def adjacent_order(a):
    """(rows, signs, classes) that bring a (m, k) to adjacent form, or None.

    With them signs[i] * a[rows[i]][classes] is -1 for the first i + 1 classes
    and +1 for the others, i = 0..k-2.
    """
    m, k = a.shape
    if m != k - 1 or k < 2 or not a.all():
        return None
    # An end of the chain is alone on its side of some row.
    right = np.count_nonzero(a > 0, axis=1)
    alone = [int(np.flatnonzero(a[row] == (1 if right[row] == 1 else -1))[0])
             for row in range(m) if right[row] in (1, k - 1)]
    if not alone:
        return None
    first = min(alone)
    signs = -a[:, first].astype(float)
    before = (a * signs[:, None]) < 0
    rows = np.argsort(np.count_nonzero(before, axis=1), kind="stable")
    # A class at position j is on the right in j of the rows.
    classes = np.argsort(np.count_nonzero(~before, axis=0), kind="stable")
    expected = np.arange(k) <= np.arange(m)[:, None]
    if not np.array_equal(before[rows][:, classes], expected):
        return None
    return rows, signs[rows], classes


def _adjacent(rows, signs, classes):
    rows, classes, half = _columns(rows), _columns(np.argsort(classes)), signs / 2
    return lambda r: isotonic.distribution(0.5 - r[:, rows] * half)[:, classes]


def _columns(order):
    """An index of columns; a slice, which costs nothing, where they stay as they are."""
    return slice(None) if np.array_equal(order, np.arange(len(order))) else order


def pair_classes(a):
    """(low, high), the classes named -1 and +1 in each row, if a is one-vs-one, else None."""
    m, k = a.shape
    if m != k * (k - 1) // 2:
        return None
    if not ((np.count_nonzero(a < 0, axis=1) == 1).all()
            and (np.count_nonzero(a > 0, axis=1) == 1).all()):
        return None
    low, high = np.argmin(a, axis=1), np.argmax(a, axis=1)
    names = np.minimum(low, high) * k + np.maximum(low, high)
    return (low, high) if len(set(names.tolist())) == m else None
