"""How the features vary together."""

from __future__ import annotations

import numpy as np

from ..errors import DataError
from .normalise import blocks, moments

__all__ = ["covariance"]


def covariance(x):
    """The covariance matrix (d, d) float64 of the points x (n, d), with n - 1.

    Entry (i, j) is sum_p (x_pi - mean_i) (x_pj - mean_j) / (n - 1).
    Raises DataError for fewer than two points and for values too large to be squared.
    """
    x = np.asarray(x)
    if x.ndim != 2 or len(x) < 2:
        raise DataError("a covariance needs two points or more")
    mean, _ = moments(x)
    out = np.zeros((x.shape[1], x.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        for block in blocks(x):
            block -= mean
            out += block.T @ block
    if not np.isfinite(out).all():
        raise DataError("the values are too large for a covariance")
    return out / (len(x) - 1)
