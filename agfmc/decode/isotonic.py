"""Adjacent codes: isotonic regression of a cumulative distribution."""

from __future__ import annotations

import numpy as np

__all__ = ["distribution", "regression"]

CHUNK = 4096


def regression(y):
    """Non-decreasing least squares fit to each column of y (t, n), equal weights.

    The max-min formula: fit_i = max over a <= i of min over b >= i of the mean
    of y[a..b] (Barlow et al. 1972); t^2/2 vectorised steps, no iteration.
    """
    t, n = y.shape
    total = np.zeros((t + 1, n))
    np.cumsum(y, axis=0, out=total[1:])
    fit = np.full((t, n), -np.inf)
    for first in range(t):
        means = total[first + 1:] - total[first]
        means /= np.arange(1, t - first + 1)[:, None]
        lowest = np.minimum.accumulate(means[::-1], axis=0)[::-1]
        np.maximum(fit[first:], lowest, out=fit[first:])
    return fit


def distribution(left):
    """p (n, k) from estimates left (n, k-1) of P(class among the first i), i = 1..k-1.

    F = clip(isotonic regression, 0, 1), p = diff(0, F, 1): the least squares
    solution with p >= 0 and sum p = 1 of an adjacent code.
    """
    n, t = left.shape
    p = np.empty((n, t + 1))
    for start in range(0, n, CHUNK):
        part = slice(start, start + CHUNK)
        cumulative = np.clip(regression(np.ascontiguousarray(left[part].T)), 0.0, 1.0)
        p[part, 0] = cumulative[0]
        p[part, 1:-1] = np.diff(cumulative, axis=0).T
        p[part, -1] = 1.0 - cumulative[-1]
    return p
