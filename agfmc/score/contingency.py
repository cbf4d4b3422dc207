"""Contingency tables: what was predicted for what was true."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core.errors import DataError
from ..core.probabilities import REJECTED

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


def ratio(part, whole) -> float:
    """part/whole, NaN unless the whole is above 0."""
    return float(part / whole) if whole > 0 else float("nan")


class Uncertainty(NamedTuple):
    """Uncertainty coefficients, each from 0 to 1, or NaN where it is 0/0."""

    forward: float
    reverse: float
    symmetric: float


def contingency(truth: np.ndarray, result: np.ndarray, labels: np.ndarray | None = None,
                weights: np.ndarray | None = None) -> Contingency:
    """`Contingency` of two label vectors (n,).

    labels: the classes in any order; by default all that occur.  The result -1 is a rejected
    point unless -1 is one of the classes.  weights (n,): of the points.  Raises `DataError` for
    vectors of different lengths or an unknown label.
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
    unknown = values[~np.isin(values, labels)]
    if len(unknown):
        raise DataError(f"{what} {unknown[0]} is not among the labels")
    order = np.argsort(labels, kind="stable")
    return order[np.searchsorted(labels, values, sorter=order)]


def accuracy(table: Contingency | np.ndarray) -> float:
    """Share of the answered points that are right, NaN without any; the table (k, k), or
    (k, k + 1) with rejected points."""
    counts = answered(table)
    return ratio(np.trace(counts), counts.sum())


def coverage(table: Contingency | np.ndarray) -> float:
    """Share of the points that were answered, not rejected; NaN without points."""
    return ratio(answered(table).sum(), _array(table).sum())


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
    return Uncertainty(*(min(ratio(part, whole), 1.0) for part, whole in (
        (shared, truth), (shared, answer), (2 * shared, truth + answer))))


def explained_share(table: Contingency | np.ndarray) -> float:
    """The forward `uncertainty_coefficient`: the share of the entropy of the truth."""
    return uncertainty_coefficient(table).forward


def random_share(table: Contingency | np.ndarray) -> float | None:
    """E[I] / H(truth): the mean `explained_share` of random answers with the same margins.

    With few points for each class they seem to tell much.  NaN where it is 0/0; None for sums of
    weights, which have no such model, and for tables of more than `MOST_CELLS` cells.
    """
    counts = _array(table)
    if not np.issubdtype(counts.dtype, np.integer) or np.prod(np.shape(counts)) > MOST_CELLS:
        return None
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    return min(ratio(expected_information(rows, columns), _entropy(rows)), 1.0)


def adjusted_share(table: Contingency | np.ndarray, random: float | None) -> float | None:
    """(I - E[I]) / (H(truth) - E[I]): the `explained_share` without the `random_share`.

    Vinh, Epps and Bailey, "Information theoretic measures for clusterings comparison", 2010.
    """
    if random is None:
        return None
    return (explained_share(table) - random) / (1 - random) if random < 1 else float("nan")


def _array(table: Contingency | np.ndarray) -> np.ndarray:
    return np.asarray(table.table if isinstance(table, Contingency) else table)


def _entropy(counts):
    share = counts[counts > 0] / (counts.sum() or 1)
    return float(-np.sum(share * np.log(share))) + 0.0


_PAIRS = 1 << 16  # of margins at once
_TERMS = 1 << 18  # of their sums at once
_LEAST = 1e-22  # of the largest term: what is smaller is left out


def expected_information(rows: np.ndarray, columns: np.ndarray) -> float:
    """E[I] in nats of two labellings with these sums of classes, (k,) and (c,) whole numbers.

    All assignments with these margins are alike, so that a cell of the table with the margins
    a and b is hypergeometric:  E[I] = sum over cells of E[n/N log(N n/(a b))]  (Vinh, Epps and
    Bailey, "Information theoretic measures for clusterings comparison", 2010, equation 24).
    """
    rows, times = np.unique(rows[rows > 0], return_counts=True)
    columns, again = np.unique(columns[columns > 0], return_counts=True)
    total = float(np.sum(rows * times))
    expected = 0.0
    step = max(1, _PAIRS // max(len(columns), 1))
    for i in range(0, len(rows), step):
        a, b = np.meshgrid(rows[i:i + step].astype(float), columns.astype(float), indexing="ij")
        values = _expected_terms(a.ravel(), b.ravel(), total).reshape(a.shape)
        expected += float(times[i:i + step] @ values @ again)
    return expected / total if total else 0.0


def _expected_terms(a, b, total):
    """E[n log(n/m) - n + m] of cells with margins a, b (t,) and the means m = a b/total.

    As E[n] = m it is E[n log(n/m)], but of terms that are not negative.  Probabilities are
    taken by the probability of the mode and divided by their sum: no factorials.
    """
    m = a * b / total
    low, high = np.maximum(a + b - total, 0.0), np.minimum(a, b)
    mode = np.clip(np.floor((a + 1) * (b + 1) / (total + 2)), low, high)
    rest = total - a - b
    weight, value = np.ones_like(a), _term(mode, m)
    for up in (True, False):
        _add_tail(weight, value, (a, b, rest, m, mode), up)
    return value / weight


def _add_tail(weight, value, cells, up):
    """Add what stands above the modes of the cells, or below, to the sums (t,)."""
    index = np.arange(len(weight))
    a, b, rest, m, n = cells
    last = np.ones(len(weight))
    while len(index):
        steps = np.arange(1.0, 1 + max(1, _TERMS // len(index)))
        at = n[:, None] + steps if up else n[:, None] - steps
        if up:
            ratios = (a[:, None] - at + 1) * (b[:, None] - at + 1) / (at * (rest[:, None] + at))
        else:
            ratios = (at + 1) * (rest[:, None] + at + 1) / ((a[:, None] - at) * (b[:, None] - at))
        shares = last[:, None] * np.cumprod(ratios, axis=1)  # 0 from the end of the range on
        weight[index] += shares.sum(axis=1)
        value[index] += np.sum(shares * _term(np.maximum(at, 0.0), m[:, None]), axis=1)
        last = shares[:, -1]
        more = last > _LEAST
        index, last, n = index[more], last[more], at[more, -1]
        a, b, rest, m = a[more], b[more], rest[more], m[more]


def _term(n, m):
    """n log(n/m) - n + m, m for n = 0; without cancellation where n is near m."""
    difference = n - m
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n > 0, n * np.log1p(difference / m) - difference, m)
