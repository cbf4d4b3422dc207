"""Euclidean projection onto the probability simplex, row by row."""

from __future__ import annotations

import numpy as np

__all__ = ["project", "support"]

CHUNK = 512


def _shifted(v):
    """v (n, k) less theta, with sum_j max(v_j - theta, 0) = 1 in every row."""
    k = v.shape[1]
    # One class after the other for all rows: sums in a fixed order, and fast.
    rising = np.ascontiguousarray(np.sort(v, axis=1).T)
    # Nothing but differences within a row matters: a small top keeps the digits.
    top = rising[-1].copy()
    excess = rising[::-1]
    excess -= top
    excess[0] -= 1.0
    for j in range(1, k):  # np.cumsum is ten times slower along the first axis
        excess[j] += excess[j - 1]
    excess *= 1.0 / np.arange(1, k + 1)[:, None]
    p = v - top[:, None]
    p -= excess.max(axis=0)[:, None]
    return p


def project(v):
    """The nearest point with p >= 0 and sum p = 1, for each row of v (n, k).

    p = max(v - theta, 0) with theta = max over t of (sum of the t largest - 1) / t
    (Held, Wolfe and Crowder 1974; Duchi et al. 2008).
    """
    p = np.empty(v.shape)
    for start in range(0, len(v), CHUNK):
        part = slice(start, start + CHUNK)
        np.maximum(_shifted(v[part]), 0.0, out=p[part])
    return p


def support(v):
    """Which entries (n, k) of `project(v)` are positive."""
    return project(v) > 0
