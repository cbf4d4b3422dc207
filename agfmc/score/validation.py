"""How well probabilities foretell: their running sum beside that of what happened.

Samples (p, t) are forecasts p with t = 1 where the thing told came true, else 0.
In ascending order of p the sums of both, taken from the forecast that says no
more than chance, rise together where the forecasts are right.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Curves", "Validation", "all_samples", "curves", "inverse_sum", "validate"]


class Curves(NamedTuple):
    """p, t (N,): samples in ascending order;  mid: where the sums start;  c, s (N + 1,).

    s[mid] = c[mid] = 0;  s[i+1] = s[i] + p_i and c[i+1] = c[i] + t_i for i >= mid;
    s[i] = s[i+1] + p_i - 1 and c[i] = c[i+1] + t_i - 1 for i < mid.
    """

    p: np.ndarray
    t: np.ndarray
    mid: int
    c: np.ndarray
    s: np.ndarray


class Validation(NamedTuple):
    """Correlation and slope of two sums, and how far they are apart; NaN where it is 0/0."""

    correlation: float
    slope: float
    error: float


def all_samples(p, y):
    """The n k samples (p_ij, [j = y_i]) of p (n, k) and true columns y (n,): two (n k,)."""
    happened = np.zeros(p.shape)
    happened[np.arange(len(p)), y] = 1.0
    return np.ravel(p), happened.ravel()


def curves(p, t, k):
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


def inverse_sum(samples):
    """w (N + 1,) of `Curves`: sums as c, with 1/p for each 1, and -1/(1 - p) for each 0 below mid.

    Infinite from a forecast of 0 on that came true.
    """
    p, t, mid = samples.p, samples.t, samples.mid
    with np.errstate(divide="ignore"):
        up = np.where(t[mid:] > 0, 1.0 / (p[mid:] + 0.0), 0.0)  # no -0.0
        down = np.where(t[:mid] > 0, 0.0, -1.0 / (1.0 - p[:mid]))
    return _sums(up, down)


def validate(samples, n):
    """`Validation` of `Curves` made from n points.

    correlation: Pearson's, of c and s, over N + 1 places;  slope: m =
    sum(c s)/sum(c^2);  error: sqrt(sum (s - m c)^2 / n) over
    sqrt(sum_{i < N} (i - mid)^2 / n).
    """
    c, s = samples.c, samples.s
    u, v = c - c.mean(), s - s.mean()
    slope = _ratio(c @ s, c @ c)
    rest = s - slope * c
    places = np.arange(len(samples.p), dtype=float) - samples.mid
    return Validation(_ratio(u @ v, np.sqrt((u @ u) * (v @ v))), slope,
                      _ratio(np.sqrt(rest @ rest / n), np.sqrt(places @ places / n)))


def _ratio(part, whole):
    return float(part / whole) if whole > 0 else float("nan")
