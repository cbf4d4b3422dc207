"""Questions put to single binary classifiers of a one-vs-one code, and their answers.

A decoder that need not know everything is prepared for a `PairTable` and gives
decide(n, ask) -> `Decision`.  ask(rows (t,), columns (c,)) -> r (t, c) has to give
the decision values of the classifiers `columns` for the points `rows` of n, both
ascending, r within [-1, 1]; nothing is asked twice, and a call holds as many
points as can be had.

The answers of one call of decide are kept until it ends, 9 n m bytes of which
those are touched that were asked: bound the memory by the number of points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Answers", "Decision"]


@dataclass(frozen=True)
class Decision:
    """winner (n,): column of the class, -1 for a point that is rejected;
    p (n,): probability of the winner, or of the last candidate of a rejected point;
    asked (n, m): what was asked."""

    winner: np.ndarray
    p: np.ndarray
    asked: np.ndarray


class Answers:
    """The answers to n points' questions: r and asked, both (m, n), r undefined if not asked."""

    def __init__(self, table, n, ask):
        self.table = table
        self.n = n
        # Held by classifier, as questions write runs of points.
        self.r = np.empty((table.m, n))
        self.asked = np.zeros((table.m, n), dtype=bool)
        self._ask = ask

    def get(self, rows, columns):
        """Fetch r of the classifiers columns for the points rows, ascending, none yet asked."""
        columns = np.sort(np.atleast_1d(np.asarray(columns, dtype=np.intp)))
        values = self._ask(rows, columns)
        if len(rows) == self.n:
            self.r[columns] = values.T
            self.asked[columns] = True
        else:
            for column, part in zip(columns, values.T, strict=True):
                self.r[column, rows] = part
                self.asked[column, rows] = True

    def meet(self, first, second):
        """r (n, h) of h pairs of classes, first and second (n, h), for each point.

        One call if the pairs are the same for all points, else one for each pair.
        """
        column = self.table.row[first, second]
        if column.size == 0:
            return np.zeros(column.shape)
        if (column == column[0]).all():
            self.get(np.arange(self.n), column[0])
            return self.r[column[0]].T
        flat = column.ravel()
        # Short integers are sorted by radix.
        short = flat.astype(np.uint16) if self.table.m < 1 << 16 else flat
        order = np.argsort(short, kind="stable")
        bounds = np.flatnonzero(np.diff(flat[order])) + 1
        r = np.empty(len(flat))
        for group in np.split(order, bounds):
            rows, one = group // column.shape[1], flat[group[0]]
            self.get(rows, one)
            r[group] = self.r[one, rows]
        return r.reshape(column.shape)

    def decision(self, probability, winner, candidate=None):
        """The `Decision`; candidate: whose probability is given where it is not the winner's."""
        asked = self.asked.T
        p = probability(self.table, self.r.T, asked, winner if candidate is None else candidate)
        return Decision(winner, p, asked)
