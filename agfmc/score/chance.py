"""The information that random answers seem to have about the truth."""

import numpy as np

__all__ = ["expected_information"]

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
    for at in range(0, len(rows), step):
        a, b = np.meshgrid(rows[at:at + step].astype(float), columns.astype(float), indexing="ij")
        values = _expected_terms(a.ravel(), b.ravel(), total).reshape(a.shape)
        expected += float(times[at:at + step] @ values @ again)
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
    apart = n - m
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n > 0, n * np.log1p(apart / m) - apart, m)
