"""Confidence intervals: of shares by formula, of other scores by resampling."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri

from ..core.probabilities import standard_error


class Interval(NamedTuple):
    """Bounds of a value; NaN where there is nothing to tell them from."""

    low: float
    high: float


NOTHING = Interval(float("nan"), float("nan"))
CONFIDENCE = 0.95


def wilson(share: float, n: float) -> Interval:
    """Wilson's 95 % `Interval` of a share of n points.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
    """
    if not n > 0:
        return NOTHING
    z = float(ndtri((1 + CONFIDENCE) / 2))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # where all are right or wrong one end is 1 or 0, which rounding may miss
    return Interval(
        0.0 if share == 0 else max(float(middle - half), 0.0),
        1.0 if share == 1 else min(float(middle + half), 1.0),
    )


def clopper_pearson(hits: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """Clopper and Pearson's `Interval` of a share, hits of n points: it covers at least so often.

    C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits", 1934.
    """
    if not n > 0:
        return NOTHING
    tail = (1 - confidence) / 2
    return Interval(
        float(betaincinv(hits, n - hits + 1, tail)) if hits > 0 else 0.0,
        float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0,
    )


def effective_number(
    weights: np.ndarray | None,
    n: int,
    groups: np.ndarray | None = None,
    values: np.ndarray | None = None,
) -> float:
    """(sum w)^2 / sum w^2: the points that count as much as n with weights (n,) (Kish, 1965).

    With `groups` (n,) of the points this is the number of groups with the sums of their weights,
    or, where `values` (n,) of the points differ, the number of points over the design effect of
    their mean: the ratio of its variances over groups and over points, 1 or more (Korn and
    Graubard, "Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data", 1998).
    """
    ratio = 1.0
    if groups is not None and n:
        if values is None:
            together = 0.0
        else:
            together = standard_error(values, weights, groups)
        if together > 0:
            ratio = max(together / standard_error(values, weights), 1.0)
        else:
            weights = np.bincount(np.unique(groups, return_inverse=True)[1], weights)
    if weights is None:
        return float(n) / ratio**2
    squares = float(np.sum(weights**2))
    if squares:
        return (float(np.sum(weights)) / ratio) ** 2 / squares
    return 0.0


def resampled(y: np.ndarray, seed: int, groups: np.ndarray | None = None) -> Iterator[np.ndarray]:
    """Endless resamples with replacement: how often each point is drawn (n,), float.

    `y` (n,) are true columns; each class keeps its number of points. With `groups` (n,) of the
    points whole groups are drawn: each class keeps its number of groups of this class alone.
    """
    group: slice | np.ndarray = slice(None)
    if groups is not None:
        _, first, group = np.unique(groups, return_index=True, return_inverse=True)
        column = y[first]
        column[group[y != column[group]]] = y.max() + 1  # of several classes
        y = column
    generator = np.random.default_rng(seed)
    order = np.argsort(y, kind="stable")
    sizes = np.bincount(y)
    first, size = (np.repeat(values, sizes) for values in (np.cumsum(sizes) - sizes, sizes))
    counts = np.empty(len(y))
    while True:
        drawn = first + (generator.random(len(y)) * size).astype(np.int64)
        counts[order] = np.bincount(drawn, minlength=len(y))
        yield counts[group]


def resampled_summary(
    values: Mapping[str, float],
    scores: Callable[[np.ndarray], Mapping[str, float | None]],
    resamples: Iterator[np.ndarray],
    number: int,
) -> dict[str, Interval]:
    """{name: 95 % `Interval`} of scores by the bootstrap.

    They are the quantiles of the resamples, moved by their mean distance from the value, as
    repeated points raise calibration errors and uncertainty coefficients.

    Parameters
    ----------
    values : mapping, scores of the points themselves
    scores : function of counts (n,), scores of a resample
    resamples : iterator of counts (n,)
    number : int, number of resamples
    """
    drawn = [scores(counts) for _, counts in zip(range(number), resamples)]
    tail = (1 - CONFIDENCE) / 2
    intervals = {}
    for name, value in values.items():
        numbers = np.array([resample[name] for resample in drawn], dtype=float)
        numbers = numbers[~np.isnan(numbers)]
        if len(numbers) < 2 or np.isnan(value):
            intervals[name] = NOTHING
            continue
        low, high = np.quantile(numbers, (tail, 1 - tail)) + (value - numbers.mean())
        intervals[name] = Interval(float(low), float(high))
    return intervals
