"""Scores of probabilities: Brier, log loss; and confidence ratings."""

from __future__ import annotations

import numpy as np

from .weights import mean

__all__ = ["brier_all", "brier_winning", "confidence", "log_loss", "probability"]


def brier_all(p, y, weights=None):
    """sqrt(sum_ij (p_ij - [j = y_i])^2 / (n k)) for p (n, k) and true columns y (n,).

    weights (n,): of the points, in this score and the others; n is then their sum.
    NaN without points.
    """
    n, k = p.shape
    if _nothing(n, weights):
        return float("nan")
    difference = np.array(p, dtype=float)
    difference[np.arange(n), y] -= 1.0
    if weights is None:
        return float(np.sqrt(np.sum(difference**2) / (n * k)))
    return float(np.sqrt(mean(np.sum(difference**2, axis=1), weights) / k))


def brier_winning(p_win, correct, weights=None):
    """sqrt(mean (p_win - correct)^2), p_win (n,) of the predicted class, correct (n,) bool."""
    if _nothing(len(p_win), weights):
        return float("nan")
    return float(np.sqrt(mean((np.asarray(p_win, dtype=float) - correct)**2, weights)))


def log_loss(p, y, weights=None):
    """-mean log p_i,y(i); probabilities below 2.2e-16 count as that, so it is finite."""
    n = len(p)
    if _nothing(n, weights):
        return float("nan")
    told = np.asarray(p, dtype=float)[np.arange(n), y]
    return float(-mean(np.log(np.clip(told, np.finfo(float).eps, 1.0)), weights))


def _nothing(n, weights):
    """True without points, or where none of them counts."""
    return n == 0 or (weights is not None and not np.any(weights))


def confidence(p_win, k):
    """Confidence rating (k p - 1)/(k - 1): 0 for equal probabilities, 1 for certainty."""
    return (k * np.asarray(p_win, dtype=float) - 1.0) / (k - 1)


def probability(rating, k):
    """Probability (c (k - 1) + 1)/k of the winner from its confidence rating."""
    return (np.asarray(rating, dtype=float) * (k - 1) + 1.0) / k
