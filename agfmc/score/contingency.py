"""Contingency tables: what was predicted for what was true."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import DataError

__all__ = ["REJECTED", "Contingency", "Uncertainty", "accuracy", "contingency", "explained_share",
           "uncertainty_coefficient"]

REJECTED = -1


@dataclass(frozen=True)
class Contingency:
    """table (k, c): rows are true classes, columns predicted ones; sums of weights, if any.

    labels (k,): the labels of the rows and of the first k columns.  If any
    point was rejected there is one more column, at the end; `rejected` counts it.
    """

    table: np.ndarray
    labels: np.ndarray
    rejected: int


class Uncertainty(NamedTuple):
    """Uncertainty coefficients, each from 0 to 1, or NaN where it is 0/0."""

    forward: float
    reverse: float
    symmetric: float


def contingency(truth: np.ndarray, result: np.ndarray, labels: np.ndarray | None = None,
                weights: np.ndarray | None = None) -> Contingency:
    """`Contingency` of two label vectors (n,).

    labels: the classes, ascending or not, gaps allowed; by default all that
    occur.  The result -1 is a rejected point unless -1 is one of the classes.
    weights (n,): of the points.
    Raises DataError for vectors of different lengths or an unknown label.
    """
    truth, result = np.asarray(truth), np.asarray(result)
    if truth.shape != result.shape or truth.ndim != 1:
        raise DataError(f"{truth.size} true classes, but {result.size} results")
    if labels is None:
        known = np.unique(truth)
        answers = np.unique(result)
        labels = np.union1d(known, answers[(answers != REJECTED) | (REJECTED in known)])
    labels = np.asarray(labels)
    k = len(labels)
    if len(np.unique(labels)) != k:
        raise DataError("a label is listed twice")
    columns = labels
    if REJECTED not in labels and np.any(result == REJECTED):
        columns = np.append(labels, REJECTED)
    rows = _positions(truth, labels, "true class")
    column = _positions(result, columns, "result")
    c = len(columns)
    table = np.bincount(rows * c + column, weights=weights, minlength=k * c).reshape(k, c)
    return Contingency(table, labels, int(np.count_nonzero(column >= k)))


def _positions(values, labels, what):
    order = np.argsort(labels, kind="stable")
    at = np.searchsorted(labels, values, sorter=order)
    positions = order[np.minimum(at, len(labels) - 1)] if len(labels) else at
    if len(values) and (len(labels) == 0 or np.any(labels[positions] != values)):
        wrong = values[0] if len(labels) == 0 else values[labels[positions] != values][0]
        raise DataError(f"{what} {wrong} is not among the labels")
    return positions


def accuracy(table: Contingency | np.ndarray) -> float:
    """Share of correct results, NaN without points; table as in `Contingency` or one itself.

    A rejected point is wrong.
    """
    counts = _array(table)
    total = counts.sum()
    return float(np.trace(counts) / total) if total else float("nan")


def uncertainty_coefficient(table: Contingency | np.ndarray) -> Uncertainty:
    """`Uncertainty`: the share of the entropy of one variable that the other explains.

    With I = H_t + H_p - H_tp: forward I/H_t (of the truth), reverse I/H_p,
    symmetric 2 I/(H_t + H_p); 0 log 0 = 0.  Blind to relabelling: give the
    accuracy with it.  Rejection counts as one more answer.
    """
    counts = _array(table)
    truth, answer = _entropy(counts.sum(axis=1)), _entropy(counts.sum(axis=0))
    shared = max(truth + answer - _entropy(counts.ravel()), 0.0)
    return Uncertainty(_ratio(shared, truth), _ratio(shared, answer),
                       _ratio(2 * shared, truth + answer))


def explained_share(table: Contingency | np.ndarray) -> float:
    """The forward `uncertainty_coefficient`: the share of the entropy of the truth."""
    return uncertainty_coefficient(table).forward


def _array(table: Contingency | np.ndarray) -> np.ndarray:
    return np.asarray(table.table if isinstance(table, Contingency) else table)


def _entropy(counts):
    share = counts[counts > 0] / (counts.sum() or 1)
    return float(-np.sum(share * np.log(share))) + 0.0


def _ratio(part, whole):
    return min(part / whole, 1.0) if whole > 0 else float("nan")
