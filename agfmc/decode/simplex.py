"""Euclidean projection onto the probability simplex, row by row."""

from __future__ import annotations

import numpy as np

__all__ = ["project", "support"]


def _threshold(v):
    """theta (n, 1) with sum_j max(v_j - theta, 0) = 1 in every row of v (n, k)."""
    falling = np.sort(v, axis=1)[:, ::-1]
    excess = np.cumsum(falling, axis=1)
    excess -= 1.0
    excess /= np.arange(1, v.shape[1] + 1)
    # The kept entries are a prefix of the sorted row: count them.
    last = np.count_nonzero(falling > excess, axis=1) - 1
    return np.take_along_axis(excess, np.maximum(last, 0)[:, None], axis=1)


def project(v):
    """The nearest point with p >= 0 and sum p = 1, for each row of v (n, k).

    p = max(v - theta, 0) with theta = (sum of the t largest - 1) / t for the
    largest t for which the t-th largest exceeds it (Held, Wolfe and Crowder
    1974; Duchi et al. 2008).
    """
    # Nothing but differences within a row matters: a small top keeps the digits.
    v = v - v.max(axis=1, keepdims=True, initial=-np.inf)
    return np.maximum(v - _threshold(v), 0.0)


def support(v):
    """Which entries (n, k) of `project(v)` are positive."""
    v = v - v.max(axis=1, keepdims=True, initial=-np.inf)
    return v > _threshold(v)
