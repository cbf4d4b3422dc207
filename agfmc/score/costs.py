"""Costs of answers, and what the best single answer to all points would cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.costs import CostMatrix
from ..core.probabilities import mean
from .contingency import Contingency


class Single(NamedTuple):
    """The label of the class that is the cheapest answer to all points, and its mean cost.

    refusal: the mean cost of no answer to any point, None where it is not told.
    """

    label: int
    cost: float
    refusal: float | None = None


def mean_cost(paid: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The mean of the costs (n,) of the answers, weighted where there are weights (n,)."""
    return mean(paid, weights)


def single_answer(table: Contingency, costs: CostMatrix) -> Single:
    """The `Single` answer by the shares of the true classes, the rows of a table; the first on
    ties.  costs: of the classes in the order of the labels."""
    counts = table.table.sum(axis=1)
    always = counts @ costs.costs / counts.sum()
    best = int(np.argmin(always))
    refusal = None if costs.refusal is None else float(counts @ costs.refusal / counts.sum())
    return Single(int(table.labels[best]), float(always[best]), refusal)


def cost_by_class(table: Contingency, costs: CostMatrix) -> np.ndarray:
    """The mean cost (k,) of the points of each class; NaN where there are none."""
    counts = table.table
    total = counts.sum(axis=1)
    paid = (counts * costs.whole[:, :counts.shape[1]]).sum(axis=1)
    return np.divide(paid, total, out=np.full(len(paid), np.nan), where=total > 0)
