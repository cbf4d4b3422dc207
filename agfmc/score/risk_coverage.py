"""Answering only where one is sure: the error of what is answered against its share."""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import digamma

from ..core.probabilities import weights_or_ones
from .contingency import ratio


class RiskCoverage(NamedTuple):
    """Points in falling confidence, equal ones together: c distinct confidences.

    Attributes
    ----------
    confidence : confidences (c,), falling
    answered : number (c + 1,) of points with at least this confidence, from 0 on, or sums of their
        weights
    errors : number of these whose answer is wrong, likewise
    """

    confidence: np.ndarray
    answered: np.ndarray
    errors: np.ndarray

    def at(self, coverage: float) -> tuple[float, float]:
        """(error of the answered, least confidence) where this share of the points is answered.

        Of equal confidences all orders are alike.  NaN without points.
        """
        if not self.answered[-1]:
            return math.nan, math.nan
        number = coverage * self.answered[-1]
        last = int(np.searchsorted(self.answered, number * (1 - 1e-12), side="left"))
        errors = np.interp(number, self.answered, self.errors)
        return float(errors / number), float(self.confidence[max(last, 1) - 1])

    def area(self) -> float:
        """AURC: the mean error of the first i points over i = 1 to n; NaN without points.

        Y. Geifman, G. Uziel and R. El-Yaniv, "Bias-reduced uncertainty estimation for deep
        neural classifiers", 2019.
        """
        start = self.answered[:-1]
        errors = self.errors[:-1]
        number = np.diff(self.answered)
        slope = np.diff(self.errors) / number
        # sum over j = 1 to m of (e + s j)/(i + j) = s m + (e - s i) (H(i + m) - H(i))
        total = np.sum(
            slope * number
            + (errors - slope * start) * (_harmonic(start + number) - _harmonic(start))
        )
        return ratio(total, self.answered[-1])

    def excess(self) -> float:
        """E-AURC: the `area` beyond that of the best order, which has all errors at the end."""
        n = self.answered[-1]
        wrong = self.errors[-1]
        best = wrong - (n - wrong) * (_harmonic(n) - _harmonic(n - wrong))
        return self.area() - ratio(best, n)


def risk_coverage(
    confidence: np.ndarray, correct: np.ndarray, weights: np.ndarray | None = None
) -> RiskCoverage:
    """`RiskCoverage` of points with a confidence (n,), right or not (n,); weights (n,)."""
    values, places = np.unique(-np.asarray(confidence), return_inverse=True)
    w = weights_or_ones(weights, len(places))
    number = np.bincount(places, weights=w, minlength=len(values))
    wrong = np.bincount(places, weights=w * ~np.asarray(correct, dtype=bool), minlength=len(values))
    counted = number > 0
    return RiskCoverage(
        -values[counted],
        *(np.concatenate([[0.0], np.cumsum(part[counted])]) for part in (number, wrong)),
    )


def _harmonic(x):
    """1 + 1/2 + ... + 1/x, and between whole numbers what continues it."""
    return digamma(x + 1.0)
