"""Scores of the held-out points of all splits together, and how sure they and differences are.

The best of many options on some points is better there than it is on others: it was chosen by the
luck of these points, too.  The estimate for new data repeats the choice on resamples of the points,
and each chosen option is judged by the points that its resample left out (I. Tsamardinos,
E. Greasidou and G. Borboudakis, "Bootstrapping the out-of-sample predictions for efficient and
accurate cross-validation", Machine Learning 107, 2018).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.answers import Results
from ..core.probabilities import mean, REJECTED, standard_error
from ..score.contingency import contingency
from ..score.intervals import effective_number
from ..score.rows import ALL_SCORES

_NUMBERS = 1 << 21  # in a block of resamples
_LEAST = float(np.finfo(np.float32).smallest_subnormal)
FORECASTS = 3  # of each point, the first fields of `HeldOutPoints`


class HeldOutPoints(NamedTuple):
    """Held-out points as scores that are means take them.

    Attributes
    ----------
    p_true, squared_error, p_answer : float64 (n,), NaN without probabilities
        The probability of the true class; sum_j (p_j - [j is the true class])^2; the probability
        of the answer.
    right : float64 (n,), 1 where the answer is right, else 0
    paid : float64 (n,), the costs of the answers, or None
    k : int, the number of classes
    """

    p_true: np.ndarray
    squared_error: np.ndarray
    p_answer: np.ndarray
    right: np.ndarray
    paid: np.ndarray | None
    k: int

    @property
    def log_loss(self):
        """-log of the probability of the true class."""
        return -np.log(np.clip(self.p_true, np.finfo(float).eps, 1.0))


def forecasts(results: Results) -> np.ndarray:
    """The first fields of the `HeldOutPoints`, float32 (FORECASTS, n). A p > 0 stays above 0."""
    out = np.full((FORECASTS, len(results.truth)), np.nan)
    if results.p is not None:
        rows = np.arange(len(results.p))
        p_true = results.p[rows, results.y]
        out[0] = np.where(p_true > 0, np.maximum(p_true, _LEAST), 0.0)
        out[1] = np.maximum(np.einsum("ij,ij->i", results.p, results.p) - 2 * p_true + 1, 0.0)
    if results.winner is not None:
        out[2] = results.winner
    return out.astype(np.float32)


def summary(values, whole: float | None = None) -> dict:
    """Mean, deviation with n - 1 (None for a single value), and `whole`, of all points together."""
    values = [float(value) for value in values]
    mean = statistics.fmean(values)
    sound = all(map(math.isfinite, values))
    return {
        "pooled": mean if whole is None else float(whole),
        "mean": mean,
        "sd": statistics.stdev(values) if len(values) > 1 and sound else None,
        "values": values,
    }


def pooled(name: str, outcomes: Sequence) -> float:
    """The score `name` of all held-out points of `outcomes`, each of which has it."""
    score = ALL_SCORES[name]
    if score.pools == "table":
        return score.value(
            contingency(
                joined(outcomes, "truth"),
                joined(outcomes, "result"),
                weights=joined(outcomes, "weights"),
            )
        )
    if score.pools == "mean":
        power = 1
    else:
        power = 2
    values = np.array([outcome.scores[name] for outcome in outcomes])
    whole = np.average(
        values**power,
        weights=[
            len(results.truth) if results.weights is None else results.weights.sum()
            for results in (outcome.results for outcome in outcomes)
        ],
    )
    return float(whole if power == 1 else np.sqrt(whole))


def joined(outcomes: Sequence, name: str) -> Any:
    """The array `name` (n,) of the results of outcomes, of all their points; None where they have
    none."""
    parts = [getattr(outcome.results, name) for outcome in outcomes]
    if parts[0] is None:
        return None
    return np.concatenate(parts)


def joined_forecasts(outcomes: Sequence) -> np.ndarray:
    """The forecasts (FORECASTS, n) of outcomes, of all their points."""
    return np.concatenate([outcome.forecasts for outcome in outcomes], axis=-1)


def zero_probability(outcomes: Sequence) -> int | None:
    """The number of held-out points whose true class has p = 0; None without probabilities."""
    p = joined_forecasts(outcomes)[0]
    if np.isnan(p).any():
        return None
    return int(np.count_nonzero(p <= 0))


def mean_loss(name: str, row: Sequence, other: Sequence) -> tuple[float, float] | None:
    """The mean of the losses of one row beyond those of another on the same points, and its
    standard error; None for a score that is no mean of points, and for less than two of them."""
    first = losses(name, row)
    second = losses(name, other)
    if first is None or second is None or len(first) < 2:
        return None
    lost = first - second
    w = joined(row, "weights")
    return mean(lost, w), standard_error(lost, w, joined(row, "groups"))


def added(name: str, outcomes: Sequence, k: int) -> np.ndarray:
    """The addends (n,) of the points to a score of k classes that is a mean, or the root of one."""
    right = joined(outcomes, "truth") == joined(outcomes, "result")
    return ALL_SCORES[name].added(
        HeldOutPoints(
            *joined_forecasts(outcomes).astype(float),
            right.astype(float),
            joined(outcomes, "paid"),
            k,
        )
    )


def losses(name: str, outcomes: Sequence) -> np.ndarray | None:
    """Losses of the points (n,) that make a score, or None where they cannot."""
    if ALL_SCORES[name].added is None:
        return None
    points = added(name, outcomes, 1)
    if np.isnan(points).any():
        return None
    return -ALL_SCORES[name].sign * points


class Resampled:
    """Scores of several options on the same points, each counted any number of times its weight.

    `by` is a score that all have, `outcomes` has for each option its `Outcome`s on the splits.
    """

    def __init__(self, by: str, outcomes: Sequence[Sequence]):
        truth = joined(outcomes[0], "truth")
        weights = joined(outcomes[0], "weights")
        if weights is None:
            self._weights = np.ones(len(truth))
        else:
            self._weights = weights
        classes = np.array([joined(parts, "result") for parts in outcomes])
        labels = np.union1d(truth, classes[classes != REJECTED])
        self._score = ALL_SCORES[by]
        self._cells = None
        self._shape = len(labels), len(labels) + 1
        if self._score.pools == "table" and (
            self._score.added is None or (classes == REJECTED).any()
        ):
            columns = np.where(
                np.isin(classes, labels), np.searchsorted(labels, classes), len(labels)
            )
            self._cells = np.ravel_multi_index(
                (np.searchsorted(labels, truth), columns), self._shape
            )
        else:
            self._added = np.array(
                [added(by, parts, len(np.union1d(truth, classes))) for parts in outcomes]
            )

    def scores(self, counts: np.ndarray) -> np.ndarray:
        """The scores (b, options) of points that count so often (b, n)."""
        counts = counts * self._weights
        if self._cells is None:
            return self._of_means(counts @ self._added.T / counts.sum(axis=1, keepdims=True))
        size = math.prod(self._shape)
        return np.array(
            [
                [
                    self._of_table(np.bincount(cells, weights=row, minlength=size))
                    for cells in self._cells
                ]
                for row in counts
            ]
        )

    def mixed(self, share: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """A function: counts (b, n) -> their scores (b,), where the options have these shares
        (options, n) in the answer to each point."""
        w = self._weights
        if self._cells is None:
            points = np.einsum("on,on->n", share, self._added)
            return lambda counts: self._of_means((counts * w) @ points / (counts * w).sum(axis=1))
        from scipy.sparse import coo_array

        number, n = share.shape
        tables = coo_array(
            (share.ravel(), (self._cells.ravel(), np.tile(np.arange(n), number))),
            shape=(math.prod(self._shape), n),
        ).tocsr()
        return lambda counts: np.array(
            [self._of_table(table) for table in (tables @ (counts * w).T).T]
        )

    def _of_means(self, values):
        if self._score.pools == "square":
            return np.sqrt(values)
        return values

    def _of_table(self, cells):
        return self._score.value(cells.reshape(self._shape))


class Estimate(NamedTuple):
    """A score to expect on new data, its standard error, and the numbers of points and options.

    `effective` is the number of equal points with as much information for points with weights,
    the number of groups for points with groups.
    """

    score: float
    error: float
    points: int
    options: int
    effective: float | None = None

    @property
    def words(self) -> dict:
        """All but what there is not, as plain values."""
        return {name: value for name, value in self._asdict().items() if value is not None}


def corrected(
    by: str,
    outcomes: Sequence[Sequence],
    seed: int,
    *,
    rows: np.ndarray | None = None,
    resamples: int = 1000,
) -> Estimate:
    """The `Estimate` of the score `by` for the best of several options.

    `outcomes` has for each option its `Outcome`s on the same splits, which have the score; of
    options that tie the first is chosen. `rows` (n,) says which point of the data each held-out
    point is, where some were held out more than once. Where points have weights, each counts by its
    own in the scores, and is drawn as often as any other. Groups of points are drawn as a whole.

    Points are drawn alike, whatever their class, so that each is left out as often. Each counts as
    it is answered, on average, by the options that were chosen without it; with one option that is
    its pooled score. The square of the standard error is the sum of two variances: of the score so
    made, over the resamples of its points, and of the scores of the options that were chosen.
    """
    answers = Resampled(by, outcomes)
    weights = joined(outcomes[0], "weights")
    number = len(outcomes)
    n = len(joined(outcomes[0], "truth"))
    if rows is None:
        rows = np.arange(n)
    else:
        rows = np.unique(rows, return_inverse=True)[1]
    points = int(rows.max()) + 1
    first = np.unique(rows, return_index=True)[1]
    if (groups := joined(outcomes[0], "groups")) is not None:
        rows = np.unique(groups, return_inverse=True)[1]
    chosen = np.zeros(number)
    share = np.ones((number, n))
    if number > 1:
        share[:] = 0
        for counts in _resamples(rows, seed, resamples):
            picked = np.argmax(ALL_SCORES[by].sign * answers.scores(counts), axis=1)
            for option in np.unique(picked):
                share[option] += np.count_nonzero(counts[picked == option] == 0, axis=0)
            chosen += np.bincount(picked, minlength=number)
    total = share.sum(axis=0)
    mixed = answers.mixed(share / np.maximum(total, 1))
    again = np.concatenate(
        [mixed(counts * (total > 0)) for counts in _resamples(rows, seed, resamples)]
    )
    variance = float(np.var(again[np.isfinite(again)], ddof=1))
    if number > 1:
        alone = answers.scores(np.ones((1, n)))[0]
        often = chosen > 0
        mean = np.average(alone[often], weights=chosen[often])
        variance += float(np.average((alone[often] - mean) ** 2, weights=chosen[often]))
    if weights is None:
        effective = None
    else:
        effective = effective_number(weights[first], n)
    return Estimate(
        float(mixed((total > 0)[None])[0]),
        math.sqrt(variance),
        points,
        number,
        effective if groups is None else int(rows.max()) + 1,
    )


def _resamples(rows, seed, number):
    """Yield blocks (b, n) of how often each point is drawn, in all `number` resamples of `rows`."""
    generator = np.random.default_rng(seed)
    n = int(rows.max()) + 1
    while number > 0:
        block = min(number, max(_NUMBERS // len(rows), 1))
        yield np.array(
            [np.bincount(generator.integers(n, size=n), minlength=n)[rows] for _ in range(block)],
            dtype=float,
        )
        number -= block
