"""Calibration: do things told with probability p happen in a share p of the cases?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import UsageError

__all__ = ["Bin", "calibration", "calibration_all", "expected_calibration_error"]


class Bin(NamedTuple):
    """Forecasts p with lower <= p < upper (the last bin: <= upper).

    error: standard error that `observed` has if the forecasts are right,
    sqrt(sum w^2 p (1 - p))/sum w, where all weights w are 1 if there are none.
    count: sum w.  forecast, observed and error are None in an empty bin.
    """

    lower: float
    upper: float
    count: int | float
    forecast: float | None
    observed: float | None
    error: float | None


def calibration(p, happened, q=10, lower=0.0, weights=None):
    """Table of q `Bin`s of equal width from lower to 1.

    p (n,): forecast probabilities, e.g. of the winning class; happened (n,)
    bool; weights (n,) of the forecasts.  Forecasts outside the range go to the
    nearest bin.
    """
    if q < 1:
        raise UsageError(f"calibration needs at least one bin, not {q}")
    p = np.asarray(p, dtype=float)
    steps = np.arange(q + 1)
    edges = (lower * (q - steps) + steps) / q  # 3/10 and not 3 times 1/10, which is above 0.3
    place = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, q - 1)
    happened = np.asarray(happened, dtype=float)
    w = 1.0 if weights is None else np.asarray(weights, dtype=float)
    count = np.bincount(place, weights=weights, minlength=q)
    forecast = np.bincount(place, weights=w * p, minlength=q)
    observed = np.bincount(place, weights=w * happened, minlength=q)
    spread = np.sqrt(np.bincount(place, weights=w**2 * np.clip(p * (1 - p), 0, None),
                                 minlength=q))
    table = []
    for i in range(q):
        n = count[i].item()
        means = (None,) * 3 if n == 0 else tuple(
            float(total[i] / n) for total in (forecast, observed, spread))
        table.append(Bin(float(edges[i]), float(edges[i + 1]), n, *means))
    return table


def calibration_all(p, y, q=10):
    """`calibration` of all n k probabilities p (n, k) against [j = y_i], y (n,) true columns."""
    happened = np.zeros(p.shape, dtype=bool)
    happened[np.arange(len(p)), y] = True
    return calibration(np.ravel(p), happened.ravel(), q)


def expected_calibration_error(table):
    """sum over bins of count/n |observed - forecast|; NaN without points."""
    n = sum(row.count for row in table)
    if n == 0:
        return float("nan")
    return sum(row.count * abs(row.observed - row.forecast) for row in table if row.count) / n
