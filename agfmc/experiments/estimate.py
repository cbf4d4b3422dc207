"""The estimate for new data: the score of a search, corrected for its choice among options.

The best of many options on some points is better there than it is on others: it was chosen by the
luck of these points, too.  Here the choice is repeated on resamples of the points, and each chosen
option is judged by the points that its resample left out (I. Tsamardinos, E. Greasidou and
G. Borboudakis, "Bootstrapping the out-of-sample predictions for efficient and accurate
cross-validation", Machine Learning 107, 2018).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..score.contingency import REJECTED
from ..score.intervals import effective_number
from ..score.scores import ALL_SCORES
from .pooling import added, joined, weights_of

__all__ = ["Estimate", "corrected"]

_NUMBERS = 1 << 21  # in a block of resamples


class Estimate(NamedTuple):
    """A score to expect on new data, its standard error, from how many points and options.

    effective: where points have weights, the number of points that tell as much where all count
    alike, else None."""

    score: float
    error: float
    points: int
    options: int
    effective: float | None = None

    @property
    def words(self) -> dict:
        """All but what there is not, as plain values."""
        return {name: value for name, value in self._asdict().items() if value is not None}


def corrected(by: str, outcomes: Sequence[Sequence], seed: int, *,
              rows: np.ndarray | None = None, resamples: int = 1000) -> Estimate:
    """The `Estimate` of the score `by` for the best of several options.

    outcomes: for each option its `Outcome`s on the same splits, which have the score; of options
    that tie the first is chosen;  rows (n,): which point of the data each held-out point is, where
    some were held out more than once.  Where points have weights, each counts by its own in the
    scores, and is drawn as often as any other.

    Points are drawn alike, whatever their class, so that each is left out as often.  Each counts
    as it is answered, on average, by the options that were chosen without it; with one option that
    is its pooled score.  The square of the standard error is the sum of two variances: of the score
    so made, over the resamples of its points, and of the scores of the options that were chosen.
    """
    answers = (_Table if _needs_table(by, outcomes) else _Mean)(by, outcomes)
    number, n = len(outcomes), len(answers.truth)
    rows = np.arange(n) if rows is None else np.unique(rows, return_inverse=True)[1]
    weights = weights_of(outcomes[0])
    everything = np.ones((1, n)) if weights is None else weights[None, :]
    chosen, share = np.zeros(number), np.ones((number, n))
    if number > 1:
        share[:] = 0
        for counts in _resamples(rows, seed, resamples):
            picked = np.argmax(ALL_SCORES[by].sign * answers.scores(counts * everything), axis=1)
            for option in np.unique(picked):
                share[option] += np.count_nonzero(counts[picked == option] == 0, axis=0)
            chosen += np.bincount(picked, minlength=number)
    total = share.sum(axis=0)
    mixed = answers.mixed(share / np.maximum(total, 1))
    again = np.concatenate([mixed(counts * everything * (total > 0))
                            for counts in _resamples(rows, seed, resamples)])
    variance = float(np.var(again[np.isfinite(again)], ddof=1))
    if number > 1:
        alone = answers.scores(everything)[0]
        often = chosen > 0
        mean = np.average(alone[often], weights=chosen[often])
        variance += float(np.average((alone[often] - mean)**2, weights=chosen[often]))
    return Estimate(float(mixed(everything * (total > 0))[0]), math.sqrt(variance),
                    int(rows.max()) + 1, number, None if weights is None else effective_number(
                        weights[np.unique(rows, return_index=True)[1]], n))


def _needs_table(by, outcomes):
    """False for means, and for the accuracy where it is one: without rejected points."""
    return ALL_SCORES[by].pools == "table" and (by != "accuracy" or any(
        (part.classes == REJECTED).any() for parts in outcomes for part in parts))


def _resamples(rows, seed, number):
    """Yield blocks (b, n) of how often each held-out point is drawn, `number` resamples in all.

    rows (n,): numbers of the points that are drawn, from 0.
    """
    generator, n = np.random.default_rng(seed), int(rows.max()) + 1
    while number > 0:
        block = min(number, max(_NUMBERS // len(rows), 1))
        yield np.array([np.bincount(generator.integers(n, size=n), minlength=n)[rows]
                        for _ in range(block)], dtype=float)
        number -= block


class _Mean:
    """Answers of options to the same points, for scores that are means, or roots of means."""

    def __init__(self, by, outcomes):
        self.truth = joined(outcomes[0], "truth")
        if by == "accuracy":
            self._added = np.array([joined(parts, "classes") == self.truth for parts in outcomes],
                                   dtype=float)
        else:
            k = len(np.union1d(self.truth, [joined(parts, "classes") for parts in outcomes]))
            self._added = np.array([added(by, parts, k) for parts in outcomes])
        self._root = np.sqrt if ALL_SCORES[by].pools == "square" else np.asarray

    def scores(self, counts):
        """The scores (b, options) of resamples (b, n)."""
        return self._root(counts @ self._added.T / counts.sum(axis=1, keepdims=True))

    def mixed(self, share):
        """A function: resamples (b, n) -> their scores (b,), where the options have these shares
        (options, n) in the answer to each point."""
        points = np.einsum("on,on->n", share, self._added)
        return lambda counts: self._root(counts @ points / counts.sum(axis=1))


class _Table:
    """The same for scores that are made of the table of classes and answers."""

    def __init__(self, by, outcomes):
        self.truth = joined(outcomes[0], "truth")
        classes = np.array([joined(parts, "classes") for parts in outcomes])
        labels = np.union1d(self.truth, classes[classes != REJECTED])
        self._k = len(labels)
        columns = np.where(np.isin(classes, labels), np.searchsorted(labels, classes), self._k)
        self._cells = np.searchsorted(labels, self.truth) * (self._k + 1) + columns
        self._value = ALL_SCORES[by].value

    def scores(self, counts):
        """As in `_Mean`."""
        size = self._k * (self._k + 1)
        return np.array([[self._value(np.bincount(cells, weights=row, minlength=size).reshape(
            self._k, -1)) for cells in self._cells] for row in counts])

    def mixed(self, share):
        """As in `_Mean`."""
        from scipy.sparse import coo_array

        number, n = share.shape
        tables = coo_array((share.ravel(), (self._cells.ravel(), np.tile(np.arange(n), number))),
                           shape=(self._k * (self._k + 1), n)).tocsr()
        return lambda counts: np.array([self._value(table.reshape(self._k, -1))
                                        for table in (tables @ counts.T).T])
