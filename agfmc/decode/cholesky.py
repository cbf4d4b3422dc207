"""Many small positive definite systems at once, side by side.

The points are the last axis of every array, so a step of the elimination is one
call of numpy for all of them.  A smaller system is filled up with rows of the unit
matrix, which adds exact zeros: nothing depends on a point's neighbours.
"""

from __future__ import annotations

import numpy as np

__all__ = ["Room", "back"]


class Room:
    """Memory for the systems of some points at a time, used again and again."""

    def __init__(self, budget):
        self.numbers = budget // 8
        self.room = np.empty(0)
        self.spare = np.empty(0)

    def spans(self, passive, extra, equal=False):
        """Yield the passive sets (k, n) in spans of points of similar number s.

        (s, who (t,) indices of points, found (s, t) their passive classes filled up
        with k, empty (s,), matrix (s + extra, s, t) to write to); the first empty[j]
        points have no class j.  With `equal` all points of a span have s classes.
        """
        order, size, index = _members(passive)
        start, n = 0, len(order)
        while start < n:
            s = int(size[start])
            stop = start + max(2, self.numbers // (s * (s + extra)))
            if stop >= n - 1:
                stop = n
            if equal:
                stop = min(stop, int(np.searchsorted(size, s, side="right")))
            s = int(size[stop - 1])
            part = slice(start, stop)
            who, found = order[part], index[:s, part]
            if len(who) == 1:
                who, found = np.repeat(who, 2), np.repeat(found, 2, axis=1)
            empty = np.searchsorted(size[part], np.arange(s), side="right")
            self._make((s + extra)**2 * len(who))
            matrix = self.room[:(s + extra) * s * len(who)].reshape(s + extra, s, len(who))
            yield s, who, found, empty, matrix
            start = stop

    def _make(self, numbers):
        if len(self.room) < numbers:
            self.room = np.empty(numbers)
            self.spare = np.empty(numbers // 4 + 1)

    def factor(self, matrix, empty):
        """Cholesky factors, in place, of a span's matrix (s + t, s, n): L, with 1/L_jj in
        the diagonal, and below it L^-1 times the t right-hand sides, which are returned.

        Of the symmetric part the lower half is read.  A point that is not positive
        definite gets NaN.
        """
        s = matrix.shape[1]
        for j, count in enumerate(empty):
            if count:
                matrix[j, :j, :count] = 0.0
                matrix[j, j, :count] = 1.0
                matrix[s:, j, :count] = 0.0
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            _factor(matrix, s, self.spare)
        return matrix[s:]


def _members(passive):
    """The passive classes (k, n) in compact form, points in order of their number.

    Returns order (n,), size (n,) ascending, and index (s, n), s the largest size:
    the classes of point order[i] ascending, filled up with k.
    """
    k, n = passive.shape
    size = np.add.reduce(passive, axis=0, dtype=np.int16)
    order = np.argsort(size, kind="stable")
    size = size[order].astype(np.intp)
    s = int(size[-1])
    flat = np.flatnonzero(np.take(passive.T, order, axis=0))
    flat -= np.repeat(np.arange(0, n * k, k), size)
    index = np.full((n, s), k)
    index[np.arange(s) < size[:, None]] = flat
    return order, size, np.ascontiguousarray(index.T)


def _factor(matrix, s, spare):
    """Cholesky factors, in place, of matrix (s + t, s, n), of which the first s rows are
    symmetric (lower halves are read) and t rows are right-hand sides.

    The first s rows become L, 1/L_jj in the diagonal, the others L^-1 times them.
    spare: room for (s + t)^2 n / 4 numbers.
    """
    rows, _, n = matrix.shape
    for j in range(s):
        column = matrix[j:, j]
        if j:
            terms = spare[:(rows - j) * j * n].reshape(rows - j, j, n)
            np.multiply(matrix[j:, :j], matrix[j, :j], out=terms)
            column -= terms.sum(axis=1)
        pivot = column[0]
        np.sqrt(pivot, out=pivot)
        np.reciprocal(pivot, out=pivot)
        column[1:] *= pivot


def back(matrix, x):
    """L^-T x, in place, for x (s, n) and the first s rows of what `factor` left."""
    with np.errstate(invalid="ignore", over="ignore"):
        for j in range(len(x) - 1, -1, -1):
            x[j] *= matrix[j, j]
            if j:
                x[:j] -= matrix[j, :j] * x[j]
