"""Significance tests of the difference between two classifiers, which suit the splits."""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import betainc, ndtri, stdtr, stdtrit

from ..core.probabilities import standard_error, weights_or_ones
from ..core.splits import of_rows
from .intervals import CONFIDENCE, effective_number, Interval, NOTHING


class Difference(NamedTuple):
    """The mean of paired differences with its test and interval, all NaN where there are too few.

    Attributes
    ----------
    mean, deviation : mean and standard deviation
    t, p_value : t statistic and two-sided p value
    interval : 95 % `Interval` of the mean
    """

    mean: float
    deviation: float
    t: float
    p_value: float
    interval: Interval = NOTHING


def resampled_t(differences: np.ndarray, ratio: float) -> Difference:
    """The corrected resampled t test on differences (t,) of scores on the same splits.

    t = mean / sqrt((1/t + ratio) variance), t - 1 degrees of freedom, where ratio is the
    number of test points by that of training points, as the training parts overlap (Nadeau and
    Bengio, "Inference for the generalization error", 2003).  The interval is
    mean +- t(0.975) sqrt((1/t + ratio) variance).
    """
    differences = np.asarray(differences, dtype=np.float64)
    count = len(differences)
    if count:
        mean = float(differences.mean())
    else:
        mean = math.nan
    if count < 2:
        return Difference(mean, math.nan, math.nan, math.nan)
    deviation = float(differences.std(ddof=1))
    if deviation == 0.0:
        same = mean == 0.0
        return Difference(
            mean,
            0.0,
            0.0 if same else math.copysign(math.inf, mean),
            1.0 if same else 0.0,
            Interval(mean, mean),
        )
    error = deviation * math.sqrt(1 / count + ratio)
    half = error * float(stdtrit(count - 1, (1 + CONFIDENCE) / 2))
    return Difference(
        mean,
        deviation,
        mean / error,
        float(2 * stdtr(count - 1, -abs(mean / error))),
        Interval(mean - half, mean + half),
    )


def mcnemar(
    first: np.ndarray,
    second: np.ndarray,
    weights: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> float:
    """The two-sided p value of McNemar's exact test on vectors (n,) of the points that each has right.

    With `weights` or `groups` (n,) the points that one alone has right count as their effective
    number does, in the proportion of the sums of their weights. p is twice the smaller tail of the
    binomial distribution, 1 at most (Dietterich, "Approximate statistical tests for comparing
    supervised classification learning algorithms", 1998, with the exact distribution in place of
    chi squared).
    """
    first, second = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    differ = first != second
    count = np.count_nonzero(differ)
    if count == 0:
        return 1.0
    w = weights_or_ones(weights, len(first))
    either = w[differ]
    number = effective_number(either, count, of_rows(groups, differ), first[differ].astype(float))
    share = min(float(w[first & ~second].sum() / either.sum()), 1.0)
    fewer = number * min(share, 1 - share)
    tail = float(betainc(number - fewer, fewer + 1, 0.5))  # the binomial one of a whole number
    return min(1.0, 2 * tail)


def paired_shares(
    first: np.ndarray,
    second: np.ndarray,
    weights: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> Interval:
    """The 95 % `Interval` of the share of right points of one classifier less that of another.

    (b - c)/n +- z sqrt(b + c - (b - c)^2/n)/n, of b and c points that one alone has right and n in
    all, with one half more in each of the four cells (Agresti and Min, "Simple improved confidence
    intervals for comparing matched proportions", 2005).

    Parameters
    ----------
    first, second : array (n,) of bool, points that each classifier has right
    weights, groups : array (n,), optional, those of the points, which then count as their effective
        number
    """
    first, second = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    if not len(first):
        return NOTHING
    w = weights_or_ones(weights, len(first))
    scale = effective_number(weights, len(first), groups, first * 1.0 - second) / w.sum()
    n = scale * w.sum() + 2
    b, c = (scale * w[only].sum() + 0.5 for only in (first & ~second, second & ~first))
    middle = (b - c) / n
    half = float(ndtri((1 + CONFIDENCE) / 2)) * math.sqrt(b + c - (b - c) ** 2 / n) / n
    return Interval(float(max(middle - half, -1.0)), float(min(middle + half, 1.0)))


def paired_mean(
    differences: np.ndarray, weights: np.ndarray | None = None, groups: np.ndarray | None = None
) -> Interval:
    """The 95 % `Interval` of the mean of paired differences (n,), of points of one test set.

    `weights` and `groups` (n,) are those of the points, or None. The interval is mean +- t(0.975)
    standard error, with n - 1 degrees of freedom, or those of the effective number of points, or of
    groups.
    """
    error = standard_error(differences, weights, groups)
    freedom = effective_number(weights, len(differences), groups) - 1
    if not (math.isfinite(error) and freedom > 0):
        return NOTHING
    mean = float(np.average(differences, weights=weights))
    half = error * float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
    return Interval(mean - half, mean + half)
