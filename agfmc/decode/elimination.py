"""Elimination on one-vs-one classifiers: k - 1 questions, and with each a class is out.

probability: how the winner's p is found, one of the functions of `winner`.
"""

from __future__ import annotations

import numpy as np

from ..errors import UsageError
from .asking import Answers
from .matching import Matcher
from .winner import met_probability

__all__ = ["adag", "ddag", "radag", "unanimous"]


def ddag(table, order=None, probability=met_probability):
    """decide of the decision directed acyclic graph (Platt, Cristianini, Shawe-Taylor 2000).

    The first and the last class of a list are compared and the loser is struck
    off, until one is left.  order: the list, a permutation of 0..k-1, by default
    ascending.  Asks k - 1 pairs per point in at most k(k-1)/2 calls.
    Raises UsageError if order is not a permutation.
    """
    order = _checked_order(table, order)

    def decide(n, ask):
        answers = Answers(table, n, ask)
        return answers.decision(probability, _walk(answers, order))

    return decide


def unanimous(table, order=None, probability=met_probability):
    """decide of the AND of a class's classifiers (Knerr, Personnaz and Dreyfus 1990).

    The class that wins all its k - 1 pairs; a point without one is rejected.
    Only the winner of a `ddag` can be such a class, so the graph is walked and
    then the other pairs of its winner are asked, up to the first that is lost
    (by lower class, then by higher): at most 2(k-1) - 1 questions per point, in at
    most k(k-1) calls.
    """
    order = _checked_order(table, order)

    def decide(n, ask):
        answers = Answers(table, n, ask)
        candidate = _walk(answers, order)
        winner = candidate.copy()
        holders = [np.flatnonzero(candidate == c) for c in range(table.k)]
        first, second = np.triu_indices(table.k, 1)
        held = np.isin(first, candidate) | np.isin(second, candidate)
        for column in table.row[first[held], second[held]]:
            parts = []
            for c in (table.low[column], table.high[column]):
                holders[c] = holders[c][winner[holders[c]] >= 0]
                parts.append(holders[c][~answers.asked[column, holders[c]]])
            rows = _merged(parts)
            if len(rows):
                answers.get(rows, column)
                high = answers.r[column, rows] >= 0
                winner[rows[high != (winner[rows] == table.high[column])]] = -1
        return answers.decision(probability, winner, candidate)

    return decide


def adag(table, order=None, probability=met_probability):
    """decide of the adaptive graph (Kijsirikul, Ussivakul and Meknavin 2002).

    A tournament: in each round slot i meets slot size-1-i and the winner takes
    slot i; of an odd number the middle passes on.  order: the slots at the
    start, by default ascending.  Asks k - 1 pairs per point, the first round in
    one call, each other pair in at most one.
    Raises UsageError if order is not a permutation.
    """
    order = _checked_order(table, order)
    return _tournament(table, order, None, probability)


def radag(table, weights, probability=met_probability):
    """decide of the reordering adaptive graph (Phetkaew, Kijsirikul and Rivepiboon 2003).

    A tournament as in `adag`, but in each round the classes that are left are
    paired anew, so that the sum of the weights of the pairs is smallest; of an
    odd number, the class that the best pairing leaves out passes on.
    weights (k, k): the error of each pair, from training (w + w^T counts).
    Asks k - 1 pairs per point, in each round each pair in at most one call.
    Raises UsageError if weights has another shape or is not finite.
    """
    weights = np.asarray(weights, dtype=float)
    if weights.shape != (table.k, table.k):
        raise UsageError(f"the weights of the pairs must be {table.k} x {table.k}")
    off = ~np.eye(table.k, dtype=bool)
    if not np.isfinite(weights[off]).all():
        raise UsageError("the weights of the pairs must be finite")
    matcher = Matcher(np.where(off, weights + weights.T, 0.0))
    return _tournament(table, np.arange(table.k), matcher.seats, probability)


def _checked_order(table, order):
    if order is None:
        return np.arange(table.k)
    order = np.asarray(order)
    if not np.array_equal(np.sort(order), np.arange(table.k)):
        raise UsageError(f"the order of the classes must hold each of 0 to {table.k - 1} once")
    return order.astype(np.intp)


def _walk(answers, order):
    """winner (n,) of the graph.

    As many classes are struck off for all points, the first of the list tells the last.
    """
    table = answers.table
    groups = [np.arange(answers.n)]
    for size in range(table.k, 1, -1):
        following = [[] for _ in range(len(groups) + 1)]
        for left, rows in enumerate(groups):
            if len(rows) == 0:
                continue
            first, last = order[left], order[left + size - 1]
            column = table.row[first, last]
            answers.get(rows, column)
            stays = table.wins(first, last, answers.r[column, rows])
            following[left].append(rows[stays])
            following[left + 1].append(rows[~stays])
        groups = [_merged(parts) for parts in following]
    winner = np.zeros(answers.n, dtype=np.intp)
    for left, rows in enumerate(groups):
        winner[rows] = order[left]
    return winner


def _merged(parts):
    """Ascending runs as one; a stable sort merges them."""
    if not parts:
        return np.zeros(0, dtype=np.intp)
    return np.sort(np.concatenate(parts), kind="stable")


def _tournament(table, order, seats, probability):
    """decide of the tournament that begins with order (k,); seats reorders each round."""

    def decide(n, ask):
        answers = Answers(table, n, ask)
        here = np.broadcast_to(order, (n, table.k))
        while here.shape[1] > 1:
            if seats is not None:
                here = seats(here)
            half = here.shape[1] // 2
            first, second = here[:, :half], here[:, :-half - 1:-1]
            won = table.wins(first, second, answers.meet(first, second))
            here = np.concatenate([np.where(won, first, second), here[:, half:-half]], axis=1)
        return answers.decision(probability, here[:, 0].copy())

    return decide
