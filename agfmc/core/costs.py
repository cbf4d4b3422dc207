"""Costs of answers: what it costs to answer one class where another is true, or not to answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from .errors import UsageError
import numpy as np


@dataclass(frozen=True, eq=False, repr=False)
class CostMatrix:
    """Costs of the answers, in an order of the classes.

    `costs` (k, k), float64, are those of answering class j where class i is true, finite and not
    below 0, and `refusal` (k,) those of no answer where class i is true, or None.
    """

    costs: np.ndarray
    refusal: np.ndarray | None = None

    def __repr__(self):
        return f"CostMatrix({len(self.costs)} classes, {self.digest})"

    @cached_property
    def whole(self) -> np.ndarray:
        """The matrix (k, k), or (k, k + 1) with the cost of no answer in its last column."""
        if self.refusal is None:
            return self.costs
        return np.column_stack([self.costs, self.refusal])

    @cached_property
    def digest(self) -> str:
        """A checksum of all numbers."""
        return sha256(
            np.ascontiguousarray(self.whole, dtype="<f8").tobytes() + str(self.whole.shape).encode()
        ).hexdigest()

    def taken(self, order: np.ndarray) -> CostMatrix:
        """The costs of the classes at some positions (c,), in the order of these."""
        return CostMatrix(
            self.costs[order][:, order], None if self.refusal is None else self.refusal[order]
        )

    def paid(self, truth: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """The cost (n,) of answers (n,), positions of classes or -1 for none, where truth (n,) is
        right; `UsageError` for answers that are none without their cost."""
        none = int((answers < 0).sum())
        if none and self.refusal is None:
            raise UsageError(
                f"{none} of {len(answers)} points have no answer, whose cost is not "
                "given: expected a last column - in the matrix of costs"
            )
        return self.whole[truth, answers]  # -1 is the last column


def cost_matrix(given: Any, labels: Sequence[int]) -> CostMatrix:
    """The `CostMatrix` of the classes `labels`, in their order: itself, or made of an array.

    `given` is a `CostMatrix`, numbers (k, k), rows true classes and columns answers, or (k, k + 1),
    where the last column is the cost of no answer. Raises `UsageError` where they do not fit the
    classes, are not finite or below 0, or make a right answer cost more than a wrong one.
    """
    k = len(labels)
    matrix = given
    if not isinstance(given, CostMatrix):
        try:
            numbers = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            numbers = np.empty(0)
        if numbers.ndim != 2 or numbers.shape[0] != k or numbers.shape[1] not in (k, k + 1):
            raise UsageError(
                f"costs: expected numbers of shape {(k, k)}, or {(k, k + 1)} with the "
                f"cost of no answer, found shape {np.shape(given)}"
            )
        matrix = CostMatrix(numbers[:, :k], numbers[:, k] if numbers.shape[1] > k else None)
    if len(matrix.costs) != k:
        raise UsageError(f"costs: expected those of {k} classes, found {len(matrix.costs)}")
    if not (np.isfinite(matrix.whole).all() and matrix.whole.min() >= 0):
        raise UsageError("costs: expected finite numbers of 0 or more")
    wrong = np.argwhere(matrix.costs < matrix.costs.diagonal()[:, None])
    if len(wrong):
        i, j = wrong[0]
        raise UsageError(
            f"costs: a wrong answer, {labels[j]}, costs {matrix.costs[i, j]:g}, the "
            f"right one, {labels[i]}, {matrix.costs[i, i]:g}: expected true classes "
            "in the rows, and right answers that cost no more than wrong ones"
        )
    return matrix
