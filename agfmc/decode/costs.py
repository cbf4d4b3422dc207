"""Answers by what they cost: of all, that of the least expected cost."""

from __future__ import annotations

import numpy as np

from ..core.costs import CostMatrix


def expected_costs(p: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """sum_i p_i C_ij (n, c) for probabilities p (n, k) and costs C (k, c) of c answers.

    The classes are added one after the other: a point has the same bits whatever its neighbours,
    and answers that cost the same the same sums.
    """
    total = np.zeros((len(p), costs.shape[1]))
    part = np.empty_like(total)
    for column, row in zip(p.T, costs):
        np.multiply(column[:, None], row, out=part)
        total += part
    return total


def cheapest(p: np.ndarray, matrix: CostMatrix) -> tuple[np.ndarray, np.ndarray]:
    """The columns (n,) of the answers of least expected cost, -1 for no answer, and these costs.

    `p` (n, k) are probabilities, classes in the order of the matrix. On ties the first class is the
    answer, and a class rather than none.
    """
    expected = expected_costs(p, matrix.whole)
    column = expected.argmin(axis=1)
    cost = np.take_along_axis(expected, column[:, None], axis=1)[:, 0]
    return np.where(column < p.shape[1], column, -1), cost
