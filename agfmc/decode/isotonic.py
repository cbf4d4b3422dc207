"""Adjacent codes: isotonic regression of a cumulative distribution."""

from __future__ import annotations

import numpy as np

__all__ = ["distribution", "regression"]


def regression(y):
    """Non-decreasing least squares fit to each row of y (n, t), equal weights.

    Adjacent blocks that are out of order are pooled, whole falling runs of all rows
    at once, until none is left (Barlow et al. 1972: the order of pooling is free).
    """
    n, t = y.shape
    total = y.ravel()
    mean = total
    first = np.zeros((n, t), dtype=bool)  # blocks that begin a row
    first[:, 0] = True
    first = first.ravel()
    start = np.append(np.arange(n * t), n * t)  # of each block, counted through all rows
    while True:
        keep = mean[1:] > mean[:-1]
        keep |= first[1:]
        keep = np.flatnonzero(keep)
        if len(keep) == len(mean) - 1:
            break
        keep = np.concatenate(([0], keep + 1, [len(mean)]))
        start = np.take(start, keep)
        keep = keep[:-1]
        first = np.take(first, keep)
        total = np.add.reduceat(total, keep)
        mean = total / np.diff(start)
    return np.repeat(mean, np.diff(start)).reshape(n, t)


def distribution(left):
    """p (n, k) from estimates left (n, k-1) of P(class among the first i), i = 1..k-1.

    F = clip(isotonic regression, 0, 1), p = diff(0, F, 1): the least squares
    solution with p >= 0 and sum p = 1 of an adjacent code.
    """
    n, t = left.shape
    cumulative = regression(left)
    np.clip(cumulative, 0.0, 1.0, out=cumulative)
    p = np.empty((n, t + 1))
    p[:, 0] = cumulative[:, 0]
    np.subtract(cumulative[:, 1:], cumulative[:, :-1], out=p[:, 1:-1])
    np.subtract(1.0, cumulative[:, -1], out=p[:, -1])
    return p
