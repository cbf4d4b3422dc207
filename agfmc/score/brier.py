"""Scores of probabilities: Brier, log loss; and confidence ratings."""

from __future__ import annotations

import numpy as np

__all__ = ["brier_all", "brier_winning", "confidence", "log_loss", "probability"]


def brier_all(p, y):
    """sqrt(sum_ij (p_ij - [j = y_i])^2 / (n k)) for p (n, k) and true columns y (n,).

    NaN without points.
    """
    n, k = p.shape
    if n == 0:
        return float("nan")
    difference = np.array(p, dtype=float)
    difference[np.arange(n), y] -= 1.0
    return float(np.sqrt(np.sum(difference**2) / (n * k)))


def brier_winning(p_win, correct):
    """sqrt(mean (p_win - correct)^2), p_win (n,) of the predicted class, correct (n,) bool."""
    if len(p_win) == 0:
        return float("nan")
    return float(np.sqrt(np.mean((np.asarray(p_win, dtype=float) - correct)**2)))


def log_loss(p, y):
    """-mean log p_i,y(i); probabilities below 2.2e-16 count as that, so it is finite."""
    n = len(p)
    if n == 0:
        return float("nan")
    told = np.asarray(p, dtype=float)[np.arange(n), y]
    return float(-np.mean(np.log(np.clip(told, np.finfo(float).eps, 1.0))))


def confidence(p_win, k):
    """Confidence rating (k p - 1)/(k - 1): 0 for equal probabilities, 1 for certainty."""
    return (k * np.asarray(p_win, dtype=float) - 1.0) / (k - 1)


def probability(rating, k):
    """Probability (c (k - 1) + 1)/k of the winner from its confidence rating."""
    return (np.asarray(rating, dtype=float) * (k - 1) + 1.0) / k
