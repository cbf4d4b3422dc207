"""Votes on one-vs-one classifiers: of all pairs, or of a random sample of them.

probability: how the winner's p is found, one of the functions of `winner`.
"""

from __future__ import annotations

import numpy as np

from ..errors import UsageError
from .asking import Answers
from .winner import met_probability

__all__ = ["draw", "max_win", "poll"]


def max_win(table, probability=met_probability):
    """decide of MAX-WIN (Friedman 1996): all pairs vote, the class with most votes wins.

    Ties go to the larger sum of r over the class's pairs (r > 0 for the class),
    then to the lowest index.  Asks all k(k-1)/2 pairs in one call.
    """
    ballot = Ballot(table, 1 - np.eye(table.k, dtype=np.intp))

    def decide(n, ask):
        answers = Answers(table, n, ask)
        ballot.ask(answers)
        return answers.decision(probability, ballot.best(answers, 1)[:, 0])

    return decide


def poll(table, opponents, seed, top=0, probability=met_probability):
    """decide of POLL (Bunrupunthunad, Fakcharoenphol and Rakthanmanon 2003).

    Each class meets l = opponents others, drawn uniformly and with replacement,
    and gains a vote for each meeting that it wins; what was drawn more than once
    is asked once and counted as often as it was drawn.  The class with
    most votes wins; ties go to the larger sum of r with the same repeats, then to
    the lowest index.  The draw depends on seed alone and is the same for all points.

    top: if > 0, the top best classes of each point are asked for all their other
    pairs, and the best of them by its full MAX-WIN score (ties as there) wins.

    Asks at most k l pairs, on average k(k-1)/2 (1 - (1 - 1/(k-1))^(2l)) different
    ones, in one call, and with top = t at most t(k-1) - t(t-1)/2 more.
    Raises UsageError for l < 1 or top < 0.
    """
    if opponents < 1:
        raise UsageError("a poll needs at least one opponent for each class")
    if top < 0:
        raise UsageError("the number of classes that are polled again cannot be negative")
    ballot = Ballot(table, draw(table.k, opponents, seed))

    def decide(n, ask):
        answers = Answers(table, n, ask)
        ballot.ask(answers)
        best = ballot.best(answers, max(top, 1))
        if top:
            return answers.decision(probability, _recount(answers, best))
        return answers.decision(probability, best[:, 0])

    return decide


def draw(k, opponents, seed):
    """counts (k, k): how often each class (row) meets each other class when each draws so many."""
    counts = np.zeros((k, k), dtype=np.intp)
    if k > 1:
        drawn = np.random.Generator(np.random.PCG64(seed)).integers(k - 1, size=(k, opponents))
        classes = np.arange(k)[:, None]
        drawn += drawn >= classes
        np.add.at(counts, (classes, drawn), 1)
    return counts


class Ballot:
    """counts (k, k): how often a win of class i (row) over class j is counted for i."""

    def __init__(self, table, counts):
        self.table = table
        self.counts = counts
        up, down = counts[table.high, table.low], counts[table.low, table.high]
        self.columns = np.flatnonzero(up + down)
        # Small whole numbers: their sums are exact in single precision.
        c = np.arange(len(self.columns))
        self.change = np.zeros((len(c), table.k), dtype=np.float32)
        self.change[c, table.high[self.columns]] = up[self.columns]
        self.change[c, table.low[self.columns]] = -down[self.columns]
        self.start = -np.minimum(self.change, 0).sum(axis=0)

    def ask(self, answers):
        """Put the questions of this ballot, for all points."""
        if len(self.columns) and answers.n:
            answers.get(np.arange(answers.n), self.columns)

    def best(self, answers, t):
        """The t best classes (n, min(t, k)), best first."""
        n, k = answers.n, self.table.k
        t = min(t, k)
        votes = np.empty((n, k), dtype=np.float32)
        for start in range(0, n, 4096):
            part = slice(start, start + 4096)
            won = (answers.r[self.columns, part] >= 0).astype(np.float32)
            votes[part] = won.T @ self.change + self.start
        ranking = np.argsort(-votes, axis=1, kind="stable")
        # Sums matter only where a vote of the best t is found a second time.
        ordered = np.take_along_axis(votes, ranking[:, :t + 1], axis=1)
        tied = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        sums = np.stack([self._sum(answers, c, tied) for c in range(k)], axis=1)
        by_sum = np.argsort(-sums, axis=1, kind="stable")
        again = np.argsort(-np.take_along_axis(votes[tied], by_sum, axis=1), axis=1, kind="stable")
        ranking[tied] = np.take_along_axis(by_sum, again, axis=1)
        return ranking[:, :t]

    def _sum(self, answers, c, rows):
        met = np.flatnonzero(self.counts[c])
        weights = self.counts[c, met] * self.table.sign[c, met]
        return _row_sums(answers.r[self.table.row[c, met], rows[:, None]] * weights)


def _recount(answers, best):
    """winner (n,): the best of the classes best (n, t) by its full MAX-WIN score."""
    table = answers.table
    chosen = np.zeros((answers.n, table.k), dtype=bool)
    np.put_along_axis(chosen, best, True, axis=1)
    polled = np.zeros(table.m, dtype=bool)
    if answers.n:
        polled = answers.asked.all(axis=1)
    for c in range(table.k):
        rows = np.flatnonzero(chosen[:, c])
        others = table.others(c)
        others = others[~polled[table.row[c, others]]]
        later = others[others > c]
        if len(rows) and len(later):
            answers.get(rows, table.row[c, later])
        # The pair with an earlier class has been asked wherever that is chosen too.
        for j in others[others < c]:
            some = rows[~chosen[rows, j]]
            if len(some):
                answers.get(some, table.row[c, j])
    winner = np.zeros(answers.n, dtype=np.intp)
    votes = np.full(answers.n, -1)
    sums = np.zeros(answers.n)
    for c in range(table.k):
        rows = np.flatnonzero(chosen[:, c])
        others = table.others(c)
        r = answers.r[table.row[c, others], rows[:, None]]
        votes_c = np.count_nonzero(table.wins(c, others, r), axis=1)
        sums_c = _row_sums(r * table.sign[c, others])
        ahead = (votes_c > votes[rows]) | ((votes_c == votes[rows]) & (sums_c > sums[rows]))
        rows = rows[ahead]
        winner[rows], votes[rows], sums[rows] = c, votes_c[ahead], sums_c[ahead]
    return winner


def _row_sums(values):
    """Sums along the rows, the same whatever the number of rows, so that ties stay ties."""
    return np.ascontiguousarray(values).sum(axis=1)
