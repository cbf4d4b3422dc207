"""Scores of classes from a contingency table: per class, and what sums them up.

All are of the answered points: where some were rejected, their column is left out.
"""

import math

import numpy as np

from ..core.costs import CostMatrix
from .contingency import answered, ratio


def by_class(table: np.ndarray) -> dict[str, np.ndarray]:
    """Scores (k,) of each class from a table (k, k) or (k, k + 1), NaN where they are 0/0.

    With T = table[j, j] of class j: support, its points; precision, T / its answers; recall,
    T / support; f1, 2 T / (answers + support).
    """
    counts = answered(table)
    right = np.diagonal(counts)
    support = counts.sum(axis=1)
    answers = counts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "support": support,
            "precision": right / answers,
            "recall": right / support,
            "f1": 2 * right / (answers + support),
        }


def mean_of_known(values: np.ndarray) -> float:
    """The mean of the values that are not NaN, NaN where all are."""
    known = values[~np.isnan(values)]
    if len(known):
        return float(known.mean())
    return math.nan


def balanced_accuracy(table: np.ndarray) -> float:
    """Mean recall of the classes that have points."""
    return mean_of_known(by_class(table)["recall"])


def macro_f1(table: np.ndarray) -> float:
    """Mean F1 of the classes that have points or answers."""
    return mean_of_known(by_class(table)["f1"])


def weighted_f1(table: np.ndarray) -> float:
    """Mean F1, weighted by the points of the classes."""
    scores = by_class(table)
    support = scores["support"]
    known = support > 0
    return ratio(scores["f1"][known] @ support[known], support.sum())


def cohen_kappa(table: np.ndarray) -> float:
    """(p_o - p_e) / (1 - p_e): agreement beyond that of independent answers with these margins.

    References
    ----------
    J. Cohen, "A coefficient of agreement for nominal scales", 1960.
    """
    total, right, chance, _, _ = _sums(table)
    return ratio(right * total - chance, total * total - chance)


def matthews(table: np.ndarray) -> float:
    """The correlation of truth and answer, both as k indicators.

    References
    ----------
    J. Gorodkin, "Comparing two K-category assignments by a K-category correlation coefficient",
        2004.
    """
    total, right, chance, truth, answers = _sums(table)
    return ratio(
        right * total - chance, math.sqrt((total * total - truth) * (total * total - answers))
    )


def _sums(table):
    """n, right answers, and of the margins t and a: t.a, t.t and a.a; all float."""
    counts = answered(table).astype(float)
    truth = counts.sum(axis=1)
    answers = counts.sum(axis=0)
    return (
        float(counts.sum()),
        float(np.trace(counts)),
        float(truth @ answers),
        float(truth @ truth),
        float(answers @ answers),
    )


def cost_by_class(table: np.ndarray, costs: CostMatrix) -> np.ndarray:
    """The mean cost (k,) of the points of each class; NaN where there are none."""
    total = table.sum(axis=1)
    paid = (table * costs.whole[:, : table.shape[1]]).sum(axis=1)
    return np.divide(paid, total, out=np.full(len(paid), np.nan), where=total > 0)


def class_errors(y: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """|answer - truth| (n,) in positions, of true and answered columns (n,)."""
    return np.abs(np.asarray(answers) - np.asarray(y)).astype(float)


def ranked_probability_scores(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    """sum over j < k - 1 of (p_0 + ... + p_j - [y <= j])^2 (n,); p (n, k), true columns y (n,).

    For two classes half the Brier score (E. S. Epstein, "A scoring system for probability
    forecasts of ranked categories", 1969, as A. H. Murphy put it in 1971).
    """
    below = np.zeros(len(p))
    scores = np.zeros(len(p))
    for j in range(p.shape[1] - 1):
        below += p[:, j]
        scores += (below - (y <= j)) ** 2
    return scores
