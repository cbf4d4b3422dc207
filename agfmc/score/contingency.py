"""Contingency tables: what was predicted for what was true."""

import numpy as np

from ..core.errors import DataError
from ..core.probabilities import REJECTED

MOST_CELLS = 1 << 22  # of a table whose information by chance is computed


def ratio(part, whole) -> float:
    """part/whole, NaN unless the whole is above 0."""
    if whole > 0:
        return float(part / whole)
    return float("nan")


def contingency(
    truth: np.ndarray,
    result: np.ndarray,
    labels: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Table (k, c) of two label vectors (n,): rows are true classes, columns predicted ones.

    `labels` (k,) are those of the rows and of the first k columns, in any order; by default all
    that occur, ascending. Where points were rejected, the result -1 unless -1 is one of the
    classes, they have one more column at the end. With `weights` (n,) cells are their sums. Raises
    `DataError` for vectors of different lengths or an unknown label.
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
    return np.bincount(rows * c + column, weights=weights, minlength=k * c).reshape(k, c)


def _positions(values, labels, what):
    unknown = values[~np.isin(values, labels)]
    if len(unknown):
        raise DataError(f"{what} {unknown[0]} is not among the labels")
    order = np.argsort(labels, kind="stable")
    return order[np.searchsorted(labels, values, sorter=order)]


def accuracy(table: np.ndarray) -> float:
    """Share of the answered points that are right, NaN without any.

    The table is (k, k), or (k, k + 1) with rejected points.
    """
    counts = answered(table)
    return ratio(np.trace(counts), counts.sum())


def coverage(table: np.ndarray) -> float:
    """Share of the points that were answered, not rejected; NaN without points."""
    return ratio(answered(table).sum(), np.sum(table))


def answered(table: np.ndarray) -> np.ndarray:
    """The table (k, k) without the column of the rejected points."""
    return table[:, : len(table)]


def uncertainty_coefficient(table: np.ndarray) -> tuple[float, float, float]:
    """Uncertainty coefficients: the share of the entropy of one variable that the other explains.

    With I = H_t + H_p - H_tp: forward I/H_t (of the truth), reverse I/H_p,
    symmetric 2 I/(H_t + H_p); NaN where it is 0/0, and 0 log 0 = 0.  Blind to relabelling: give the
    accuracy with it.  Rejection counts as one more answer.
    """
    truth = _entropy(table.sum(axis=1))
    answer = _entropy(table.sum(axis=0))
    shared = max(truth + answer - _entropy(table.ravel()), 0.0)
    return (
        min(ratio(shared, truth), 1.0),
        min(ratio(shared, answer), 1.0),
        min(ratio(2 * shared, truth + answer), 1.0),
    )


def explained_share(table: np.ndarray) -> float:
    """The forward `uncertainty_coefficient`: the share of the entropy of the truth."""
    return uncertainty_coefficient(table)[0]


def random_share(table: np.ndarray) -> float | None:
    """E[I] / H(truth): the mean `explained_share` of random answers with the same margins.

    With few points for each class they seem to tell much.  NaN where it is 0/0; None for sums of
    weights, which have no such model, and for tables of more than `MOST_CELLS` cells.
    """
    if not np.issubdtype(table.dtype, np.integer) or table.size > MOST_CELLS:
        return None
    rows = table.sum(axis=1)
    columns = table.sum(axis=0)
    return min(ratio(expected_information(rows, columns), _entropy(rows)), 1.0)


def adjusted_share(table: np.ndarray, random: float | None) -> float | None:
    """(I - E[I]) / (H(truth) - E[I]): the `explained_share` without the `random_share`.

    Vinh, Epps and Bailey, "Information theoretic measures for clusterings comparison", 2010.
    """
    if random is None:
        return None
    if random < 1:
        return (explained_share(table) - random) / (1 - random)
    return float("nan")


def _entropy(counts):
    share = counts[counts > 0] / (counts.sum() or 1)
    return float(-np.sum(share * np.log(share))) + 0.0


def expected_information(rows: np.ndarray, columns: np.ndarray) -> float:
    """E[I] in nats of two labellings with these sums of classes, (k,) and (c,) whole numbers.

    All assignments with these margins are alike, so that a cell of the table with the margins
    a and b is hypergeometric:  E[I] = sum over cells of E[n/N log(N n/(a b))]  (Vinh, Epps and
    Bailey, "Information theoretic measures for clusterings comparison", 2010, equation 24).
    """
    rows, times = np.unique(rows[rows > 0], return_counts=True)
    columns, again = np.unique(columns[columns > 0], return_counts=True)
    total = float(np.sum(rows * times))
    b = columns[:, None].astype(float)
    expected = 0.0
    for a, number in zip(rows.tolist(), times.tolist()):
        mean = a * b / total
        reach = 8 * np.sqrt(mean) + 25  # what is further off has a probability below 1e-16
        first = np.maximum(np.floor(mean - reach), np.maximum(a + b - total, 0))
        n = first + np.arange(np.max(mean + reach - first) + 2)
        with np.errstate(divide="ignore"):  # no probability beyond the smaller margin
            steps = np.log(
                np.maximum(a - n, 0) * np.maximum(b - n, 0) / ((n + 1) * (total - a - b + n + 1))
            )
        logs = np.cumsum(np.insert(steps[:, :-1], 0, 0, axis=1), axis=1)
        p = np.exp(logs - logs.max(axis=1, keepdims=True))
        expected += number * float((p * _term(n, mean)).sum(axis=1) / p.sum(axis=1) @ again)
    if total:
        return expected / total
    return 0.0


def _term(n, m):
    """n log(n/m) - n + m, m for n = 0, without cancellation where n is near m: as E[n] = m, its
    mean is that of n log(n/m), and it is not negative."""
    difference = n - m
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n > 0, n * np.log1p(difference / m) - difference, m)
