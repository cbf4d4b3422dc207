"""Scores of probabilities: Brier, log loss, confidence, calibration; weights of samples.

Of samples (p, t), p is a forecast and t = 1 where it came true, else 0.  In ascending order of
p the sums of both, taken from the forecast that says no more than chance, rise together where
the forecasts are right: `curves` and `validate`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core.errors import DataError, UsageError
from ..core.probabilities import mean
from .contingency import ratio


def probability_of_answers(p: np.ndarray, result: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Probabilities (n,) of the answers (n,), of p (n, k) with columns in the order of labels.

    The largest of all for rejected points, and for an answer that is none of the labels.
    """
    largest = np.max(p, axis=1)
    known = np.isin(result, labels)
    columns = np.searchsorted(labels, np.where(known, result, labels[0]))
    return np.where(known, p[np.arange(len(p)), columns], largest)


def class_weights(
    y: np.ndarray, priors: np.ndarray, labels: Sequence[int], weights: np.ndarray | None = None
) -> np.ndarray:
    """Weights w_i = priors[y_i] / (n_y(i) / n) of samples for other shares of the classes.

    `priors` (k,) are these shares, which sum to 1; `y` (n,) are the true columns; `labels` (k,)
    serve messages. With `weights` (n,), n and n_j are sums of these, and w_i is multiplied by that
    of i. Raises `DataError` for a class with a positive share that has no sample.
    """
    counts = np.bincount(y, weights=weights, minlength=len(priors))
    absent = (counts == 0) & (priors > 0)
    if absent.any():
        j = int(np.argmax(absent))
        raise DataError(f"no sample is of class {labels[j]}, whose prior is {priors[j]:g}")
    if weights is None:
        return (priors * (len(y) / np.maximum(counts, 1)))[y]
    factors = np.divide(priors * counts.sum(), counts, out=np.zeros(len(priors)), where=counts > 0)
    return weights * factors[y]


def squared_errors(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    """sum_j (p_ij - [j = y_i])^2 (n,) for p (n, k) and true columns y (n,)."""
    errors = np.array(p, dtype=float)
    errors[np.arange(len(errors)), y] -= 1.0
    return np.einsum("ij,ij->i", errors, errors)


def brier(p: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """mean_i sum_j (p_ij - [j = y_i])^2 for p (n, k) and true columns y (n,): from 0 to 2.

    `weights` (n,) are those of the points. NaN without points.

    References
    ----------
    Brier, "Verification of forecasts expressed in terms of probability", 1950.
    """
    return mean(squared_errors(p, y), weights)


def brier_all(p: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """sqrt(sum_ij (p_ij - [j = y_i])^2 / (n k)), libAGF's: the root of `brier` by k."""
    return math.sqrt(brier(p, y, weights) / p.shape[1])


def brier_winning(
    p_win: np.ndarray, correct: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """sqrt(mean (p_win - correct)^2), p_win (n,) of the predicted class, correct (n,) bool."""
    return math.sqrt(mean((np.asarray(p_win, dtype=float) - correct) ** 2, weights))


def calibration(
    p: np.ndarray,
    happened: np.ndarray,
    q: int = 10,
    lower: float = 0.0,
    weights: np.ndarray | None = None,
) -> list[dict]:
    """Table of q bins of equal width from lower to 1, of forecasts p (n,), of which some
    happened (n,) bool; weights w (n,).  Those outside the range go to the nearest bin.

    A row has lower <= p < upper (the last: <= upper); count, sum w; forecast and observed, means;
    error, the standard error of observed if the forecasts are right, sqrt(sum w^2 p (1 - p))/sum w.
    The last three are None in an empty bin.
    """
    if q < 1:
        raise UsageError(f"calibration needs at least one bin, not {q}")
    p = np.asarray(p, dtype=float)
    steps = np.arange(q + 1)
    edges = (lower * (q - steps) + steps) / q  # 3/10 and not 3 times 1/10, which is above 0.3
    at = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, q - 1)
    happened = np.asarray(happened, dtype=float)
    if weights is None:
        w = 1.0
    else:
        w = np.asarray(weights, dtype=float)
    count = np.bincount(at, weights=weights, minlength=q)
    spread = np.bincount(at, weights=w**2 * np.clip(p * (1 - p), 0, None), minlength=q)
    sums = {
        "forecast": np.bincount(at, weights=w * p, minlength=q),
        "observed": np.bincount(at, weights=w * happened, minlength=q),
        "error": np.sqrt(spread),
    }
    return [
        {
            "lower": float(edges[i]),
            "upper": float(edges[i + 1]),
            "count": count[i].item(),
            **{
                name: float(total[i] / count[i]) if count[i] else None
                for name, total in sums.items()
            },
        }
        for i in range(q)
    ]


def expected_calibration_error(table: Sequence[dict]) -> float:
    """sum over bins of count/n |observed - forecast|; NaN without points."""
    return ratio(
        sum(row["count"] * abs(row["observed"] - row["forecast"]) for row in table if row["count"]),
        sum(row["count"] for row in table),
    )


# Validation: running sums of forecasts and of events


class Curves(NamedTuple):
    """Cumulative sums of forecasts and outcomes in ascending order of the forecasts.

    s[mid] = c[mid] = 0; s[i+1] = s[i] + p_i and c[i+1] = c[i] + t_i for i >= mid; s[i] = s[i+1] +
    p_i - 1 and c[i] = c[i+1] + t_i - 1 for i < mid.

    Attributes
    ----------
    p, t : forecasts (N,), ascending, and 1 where they came true, else 0
    mid : position where the sums start
    c, s : sums (N + 1,)
    """

    p: np.ndarray
    t: np.ndarray
    mid: int
    c: np.ndarray
    s: np.ndarray


def all_samples(p: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The n k samples (p_ij, [j = y_i]) of p (n, k) and true columns y (n,): two (n k,)."""
    happened = np.zeros(p.shape)
    happened[np.arange(len(p)), y] = 1.0
    return np.ravel(p), happened.ravel()


def curves(p: np.ndarray, t: np.ndarray, k: int) -> Curves:
    """`Curves` of samples p, t (N,), N > 0, of forecasts between k possibilities.

    Ascending by (p, t); mid is the last place with p <= 1/k, or 0 where there is none.
    """
    order = np.lexsort((t, p))
    p, t = np.asarray(p, dtype=float)[order], np.asarray(t, dtype=float)[order]
    mid = max(int(np.searchsorted(p, 1.0 / k, side="right")) - 1, 0)
    return Curves(p, t, mid, _sums(t[mid:], t[:mid] - 1.0), _sums(p[mid:], p[:mid] - 1.0))


def _sums(up, down):
    """Sums (N + 1,) from a zero between the parts: of `up` forwards, of `down` backwards."""
    return np.concatenate([np.cumsum(down[::-1])[::-1], [0.0], np.cumsum(up)])


def inverse_sum(samples: Curves) -> np.ndarray:
    """w (N + 1,) of `Curves`: sums as c, with 1/p for each 1, and -1/(1 - p) for each 0 below mid.

    Infinite from a forecast of 0 on that came true.
    """
    p = samples.p
    t = samples.t
    mid = samples.mid
    with np.errstate(divide="ignore"):
        up = np.where(t[mid:] > 0, 1.0 / (p[mid:] + 0.0), 0.0)  # no -0.0
        down = np.where(t[:mid] > 0, 0.0, -1.0 / (1.0 - p[:mid]))
    return _sums(up, down)


def validate(samples: Curves, n: int) -> tuple[float, float, float]:
    """Correlation and slope of the sums of `Curves` of n points, and their distance; NaN for 0/0.

    The correlation is Pearson's, of c and s, over N + 1 positions. The slope is m = sum(c
    s)/sum(c^2), the error sqrt(sum (s - m c)^2 / n) over sqrt(sum_{i < N} (i - mid)^2 / n).
    """
    c = samples.c
    s = samples.s
    u = c - c.mean()
    v = s - s.mean()
    slope = ratio(c @ s, c @ c)
    rest = s - slope * c
    places = np.arange(len(samples.p), dtype=float) - samples.mid
    return (
        ratio(u @ v, np.sqrt((u @ u) * (v @ v))),
        slope,
        ratio(np.sqrt(rest @ rest / n), np.sqrt(places @ places / n)),
    )
