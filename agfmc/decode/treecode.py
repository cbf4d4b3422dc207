"""Codes that are binary trees written as a matrix: found, and solved by products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["TreeCode", "find", "products"]


@dataclass(frozen=True)
class TreeCode:
    """For each row of the code, in an order from the root down: (row, left, right).

    left and right are the class indices (arrays) below the -1 and the +1 branch.
    """

    splits: tuple[tuple[int, np.ndarray, np.ndarray], ...]


def find(a):
    """The `TreeCode` of the matrix a (m, k), or None if a is not a tree.

    A tree over k classes has k - 1 rows; the root's row has no zeros, and each
    side of a row with more than one class is exactly the support of one other
    row.  Rows may come in any order and with any sign, columns in any order.
    """
    m, k = a.shape
    if m != k - 1:
        return None
    by_support = {}
    for row in range(m):
        by_support.setdefault((a[row] != 0).tobytes(), row)
    splits = []
    todo = [np.ones(k, dtype=bool)]
    while todo:
        inside = todo.pop()
        row = by_support.pop(inside.tobytes(), None)
        if row is None:
            return None
        left, right = a[row] < 0, a[row] > 0
        if not left.any() or not right.any():
            return None
        splits.append((row, np.flatnonzero(left), np.flatnonzero(right)))
        todo.extend(side for side in (right, left) if np.count_nonzero(side) > 1)
    return TreeCode(tuple(splits))


def products(tree, r):
    """p (n, k): the product of branch probabilities (1 -/+ r)/2 on the way to each leaf."""
    n, m = r.shape
    p = np.ones((m + 1, n))
    for row, left, right in tree.splits:
        p[left] *= (1.0 - r[:, row]) / 2
        p[right] *= (1.0 + r[:, row]) / 2
    return np.ascontiguousarray(p.T)
