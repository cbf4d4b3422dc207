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

from ..score.intervals import effective_number
from ..score.rows import ALL_SCORES
from .pooling import joined, Resampled, weights_of

_NUMBERS = 1 << 21  # in a block of resamples


class Estimate(NamedTuple):
    """A score to expect on new data, its standard error, from how many points and options; with
    weights, the number of equal points that tell as much."""

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
    answers = Resampled(by, outcomes)
    weights, number, n = weights_of(outcomes[0]), len(outcomes), len(joined(outcomes[0], "truth"))
    rows = np.arange(n) if rows is None else np.unique(rows, return_inverse=True)[1]
    chosen, share = np.zeros(number), np.ones((number, n))
    if number > 1:
        share[:] = 0
        for counts in _resamples(rows, seed, resamples):
            picked = np.argmax(ALL_SCORES[by].sign * answers.scores(counts), axis=1)
            for option in np.unique(picked):
                share[option] += np.count_nonzero(counts[picked == option] == 0, axis=0)
            chosen += np.bincount(picked, minlength=number)
    total = share.sum(axis=0)
    mixed = answers.mixed(share / np.maximum(total, 1))
    again = np.concatenate([mixed(counts * (total > 0))
                            for counts in _resamples(rows, seed, resamples)])
    variance = float(np.var(again[np.isfinite(again)], ddof=1))
    if number > 1:
        alone = answers.scores(np.ones((1, n)))[0]
        often = chosen > 0
        mean = np.average(alone[often], weights=chosen[often])
        variance += float(np.average((alone[often] - mean)**2, weights=chosen[often]))
    return Estimate(float(mixed((total > 0)[None])[0]), math.sqrt(variance),
                    int(rows.max()) + 1, number, None if weights is None else effective_number(
                        weights[np.unique(rows, return_index=True)[1]], n))


def _resamples(rows, seed, number):
    """Yield blocks (b, n) of how often each point is drawn, in all `number` resamples of `rows`."""
    generator, n = np.random.default_rng(seed), int(rows.max()) + 1
    while number > 0:
        block = min(number, max(_NUMBERS // len(rows), 1))
        yield np.array([np.bincount(generator.integers(n, size=n), minlength=n)[rows]
                        for _ in range(block)], dtype=float)
        number -= block
