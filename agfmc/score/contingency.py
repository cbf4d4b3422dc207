"""Contingency tables: what was predicted for what was true."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import DataError
from .chance import expected_information

__all__ = ["REJECTED", "Contingency", "Uncertainty", "accuracy", "adjusted_share", "answered",
           "contingency", "coverage", "explained_share", "random_share", "uncertainty_coefficient"]

REJECTED = -1
MOST_CELLS = 1 << 22  # of a table whose information by chance is computed


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
    """Share of the answered points that are right, NaN without any.

    table: a `Contingency` or one's table (k, k), or (k, k + 1) with rejected points.
    """
    counts = answered(table)
    total = counts.sum()
    return float(np.trace(counts) / total) if total else float("nan")


def coverage(table: Contingency | np.ndarray) -> float:
    """Share of the points that were answered, not rejected; NaN without points."""
    total = _array(table).sum()
    return float(answered(table).sum() / total) if total else float("nan")


def answered(table: Contingency | np.ndarray) -> np.ndarray:
    """The table (k, k) without the column of the rejected points."""
    counts = _array(table)
    return counts[:, :len(counts)]


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


def random_share(table: Contingency | np.ndarray) -> float | None:
    """The `explained_share` that random answers with the same margins have on average.

    E[I] / H(truth), where all orders of the answers are alike: with few points for each
    class they seem to tell much.  NaN where it is 0/0; None for sums of weights, which have
    no such model, and for tables of more than `MOST_CELLS` classes by answers.
    """
    counts = _array(table)
    if not np.issubdtype(counts.dtype, np.integer) or np.prod(np.shape(counts)) > MOST_CELLS:
        return None
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    return _ratio(expected_information(rows, columns), _entropy(rows))


def adjusted_share(table: Contingency | np.ndarray, random: float | None) -> float | None:
    """(I - E[I]) / (H(truth) - E[I]): 0 on average for random answers, 1 for perfect ones.

    The `explained_share` without the `random_share`; None and NaN as there (Vinh, Epps and
    Bailey, "Information theoretic measures for clusterings comparison", 2010).
    """
    if random is None:
        return None
    return (explained_share(table) - random) / (1 - random) if random < 1 else float("nan")


def _array(table: Contingency | np.ndarray) -> np.ndarray:
    return np.asarray(table.table if isinstance(table, Contingency) else table)


def _entropy(counts):
    share = counts[counts > 0] / (counts.sum() or 1)
    return float(-np.sum(share * np.log(share))) + 0.0


def _ratio(part, whole):
    return min(part / whole, 1.0) if whole > 0 else float("nan")
