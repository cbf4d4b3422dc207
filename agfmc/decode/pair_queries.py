"""Queries to single classifiers of a one-vs-one code, and the probability of a winner.

A decoder that need not know everything is prepared for a `PairTable` and gives
decide(n, evaluate) -> (winner, p, queried): column (n,) of the class, -1 for a point that is
rejected; probability (n,) of the winner, or of the last candidate of a rejected point; mask (n, m)
of the classifiers that were evaluated.  evaluate(rows (t,), columns (c,)) -> r (t, c) has to
give the decision values of the classifiers `columns` for the points `rows` of n, both
ascending, r within [-1, 1]; no value is queried twice, and a call holds as many
points as can be had.

The values of one call of decide are stored until it ends, 9 n m bytes of which
those are touched that were queried: bound the memory by the number of points.
"""

from collections.abc import Callable

import numpy as np

from .code_kinds import PairTable

LEAST = 1e-7
BUDGET = 16 << 20


class Queries:
    """The values queried for n points: r and queried, both (m, n), r undefined elsewhere."""

    def __init__(self, table: PairTable, n: int, evaluate: Callable):
        self.table = table
        self.n = n
        # Held by classifier, as queries write runs of points.
        self.r = np.empty((table.m, n))
        self.queried = np.zeros((table.m, n), dtype=bool)
        self._evaluate = evaluate

    def get(self, rows, columns) -> None:
        """Fetch r of the classifiers columns for the points rows, ascending, none yet queried."""
        columns = np.sort(np.atleast_1d(np.asarray(columns, dtype=np.intp)))
        values = self._evaluate(rows, columns)
        if len(rows) == self.n:
            rows = slice(None)
        for column, part in zip(columns, values.T, strict=True):
            self.r[column, rows] = part
            self.queried[column, rows] = True

    def meet(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
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
        if self.table.m < 1 << 16:
            short = flat.astype(np.uint16)
        else:
            short = flat
        order = np.argsort(short, kind="stable")
        bounds = np.flatnonzero(np.diff(flat[order])) + 1
        r = np.empty(len(flat))
        for group in np.split(order, bounds):
            rows = group // column.shape[1]
            one = flat[group[0]]
            self.get(rows, one)
            r[group] = self.r[one, rows]
        return r.reshape(column.shape)


# The probability of one class from some pairs: both functions take a `PairTable`, r (n, m)
# within [-1, 1], queried (n, m) bool, the pairs that count (r need not be defined elsewhere),
# and winner (n,), a class for each point; both give p (n,) in (0, 1] and are exact where the
# pairs that count include all of the winner's and all come from one set of k probabilities.


def met_probability(
    table: PairTable, r: np.ndarray, queried: np.ndarray, winner: np.ndarray
) -> np.ndarray:
    """Probability of the winner from the pairs that it took part in.

    With O the q opponents that a point's winner was compared with and
    mu_j = (1 +- r)/2, clipped to [1e-7, 1], the probability of the winner over
    opponent j,

        p = 1 / (sum over j in O of 1/mu_j - (q - 1))

    (Price, Knerr, Personnaz and Dreyfus 1995).  An opponent that was not met
    counts as impossible.
    """
    p = np.empty(len(winner))
    for c in np.unique(winner):
        rows = np.flatnonzero(winner == c)
        others = table.others(c)
        cells = rows[:, None], table.row[c, others]
        sign = table.sign[c, others]
        # A pair that was not queried is put in as mu = 1, which adds nothing.
        value = np.where(queried[cells], r[cells], sign) * sign
        mu = np.clip((1.0 + value) / 2, LEAST, 1.0)
        p[rows] = 1.0 / (1.0 + np.ascontiguousarray(1.0 / mu - 1.0).sum(axis=1))
    return p


def fitted_probability(
    table: PairTable, r: np.ndarray, queried: np.ndarray, winner: np.ndarray
) -> np.ndarray:
    """Probability of the winner when all pairs that were queried are fitted by least squares.

    The p (k,) with sum p = 1 that minimises the sum of
    ((1 - r) p_high - (1 + r) p_low)^2 over the queried pairs, the second method of
    Wu, Lin and Weng (2004) on fewer pairs; the winner's entry of it, at least 1e-7.
    Where the pairs fall into parts that have no class in common, the shares of the
    parts are those of the shortest p.  For pairs without a loop, as an elimination
    queries them, this is the product of the odds along the pairs.
    It takes one k x k system for each point.
    """
    n = len(r)
    k = table.k
    low = table.low
    high = table.high
    p = np.empty(n)
    step = max(1, BUDGET // (8 * k * k))
    for start in range(0, n, step):
        known = queried[start : start + step]
        # The normal matrix plus 1 1^T, whose solution for 1 is p but for its sum.
        part = np.where(known, r[start : start + step], 1.0)
        matrix = np.zeros((len(part), k, k))
        matrix[:, low, high], matrix[:, high, low] = np.where(known, 1.0 + part, 0.0), 1.0 - part
        diagonal = np.einsum("nij,nij->ni", matrix, matrix) + (1.0 + 1e-9)
        matrix[:, low, high] = matrix[:, high, low] = part * part
        matrix[:, range(k), range(k)] = diagonal
        u = np.linalg.solve(matrix, np.ones((len(part), k, 1)))[:, :, 0]
        np.maximum(u, 0.0, out=u)
        winning = np.take_along_axis(u, winner[start : start + step, None], axis=1)[:, 0]
        p[start : start + step] = winning / u.sum(axis=1)
    return np.clip(p, LEAST, 1.0)
