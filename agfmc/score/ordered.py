"""Scores of classes that have an order: how far the answers are off."""

import numpy as np

__all__ = ["class_errors", "ranked_probability_scores"]


def class_errors(y: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """|answer - truth| (n,) in positions, of true and answered columns (n,)."""
    return np.abs(np.asarray(answers) - np.asarray(y)).astype(float)


def ranked_probability_scores(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    """sum over j < k - 1 of (p_0 + ... + p_j - [y <= j])^2 (n,); p (n, k), true columns y (n,).

    For two classes half the Brier score (E. S. Epstein, "A scoring system for probability
    forecasts of ranked categories", 1969, as A. H. Murphy put it in 1971).
    """
    below, scores = np.zeros(len(p)), np.zeros(len(p))
    for j in range(p.shape[1] - 1):
        below += p[:, j]
        scores += (below - (y <= j))**2
    return scores
