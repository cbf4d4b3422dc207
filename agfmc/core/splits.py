"""Splits of rows: training and test part, equal parts, folds, random order.

Rows of one group, such as a patient or a day, are alike, and no split has them in two parts.
`groups` (n,) are the whole numbers of the groups of the rows, None where rows have no groups.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from .errors import DataError

FOLDS = 5


def stratified_folds(
    y: np.ndarray, seed: int, count: int = FOLDS, groups: np.ndarray | None = None
) -> np.ndarray:
    """The fold, from 0, of every row of y (n,): each class is shuffled and dealt out in turn.

    A class begins where the one before it ended, so that sizes of the folds, and of each class
    in them, differ by one at most; with groups they are as even as `deal_groups` makes them.
    """
    if groups is not None:
        return deal_groups(y, groups, [1] * count, seed)
    order = shuffled(len(y), seed)
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), dtype=np.int64)
    fold[order] = np.arange(len(y)) % min(count, len(y))
    return fold


def deal_groups(
    y: np.ndarray, groups: np.ndarray, shares: Sequence[float], seed: int
) -> np.ndarray:
    """The part (n,), from 0, of the group of each row; part i has about shares[i] of each class.

    Groups are dealt from large to small, those with the same next power of two in an order drawn
    from `seed`; each joins the part that most lacks its classes. If that leaves all rows of a
    class with several groups in one part, groups with many classes are dealt first instead. There
    are no more parts than groups.
    """
    _, code = np.unique(groups, return_inverse=True)
    _, label, size = np.unique(y, return_inverse=True, return_counts=True)
    table = np.zeros((code.max(initial=-1) + 1, len(size)))
    np.add.at(table, (code, label), 1)
    share = np.asarray(shares[: len(table)], dtype=np.float64)
    share /= share.sum()
    order = shuffled(len(table), seed)
    scaled = table / size**2
    rows = table.sum(axis=1)
    several = np.count_nonzero(table, axis=0) > 1
    for key in (np.ceil(np.log2(rows)), np.count_nonzero(table, axis=1)):
        part = np.empty(len(table), dtype=np.int64)
        filled = np.zeros((len(share), len(size)))
        remaining = np.count_nonzero(table, axis=0)
        total = np.zeros(len(share))
        for group in order[np.argsort(-key[order], kind="stable")].tolist():
            row = table[group]
            # what it adds to the sum of squares of (filled - share size) / size over shares
            cost = ((2 * filled + row) @ scaled[group] / share).round(12)
            last = (row > 0) & several & (remaining == 1)
            if last.any():
                cost[(filled.sum(axis=0) == filled)[:, last].any(axis=1)] = np.inf
            chosen = part[group] = np.lexsort((total, cost))[0]
            filled[chosen] += row
            total[chosen] += rows[group] / share[chosen]
            remaining -= row > 0
        if (np.count_nonzero(filled, axis=0) > 1)[several].all():
            break
    return part[code]


def stratified_parts(
    y: np.ndarray, parts: int, seed: int, groups: np.ndarray | None = None
) -> np.ndarray:
    """`stratified_folds`; DataError for more parts than rows, or than groups."""
    count, what = (len(y), "points") if groups is None else (len(np.unique(groups)), "groups")
    if parts > count:
        raise DataError(f"{count} {what} cannot be divided into {parts} parts")
    return stratified_folds(np.asarray(y), seed, parts, groups)


def of_rows(values, rows):
    """The entries of an array (n, ...), or of weights, of some rows; None for None."""
    if values is None:
        return None
    return values[rows]


def job_seed(seed, left, right):
    """The seed of one binary problem, from the user's seed and the classes it tells apart.

    Equal partitions get equal folds wherever they stand, so that a tree and
    the code made from it are the same models.
    """
    text = f"{seed}:{' '.join(map(str, sorted(left)))}/{' '.join(map(str, sorted(right)))}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def derived_seed(seed, number):
    """The seed of a trial, or of a member of an ensemble, by its number from 0.

    The first has the user's seed itself. Those of the others are hashes: seed + number would give
    runs with the seeds 1 and 2 nearly the same trials. Every library takes a seed below 2^31.
    """
    if number == 0:
        return seed
    return job_seed(seed, (f"trial {number}",), ()) % 2**31


def rows_by_class(y) -> dict[int, np.ndarray]:
    """{label: ascending row numbers} of labels y (n,)."""
    order = np.argsort(y, kind="stable")
    ascending = y[order]
    starts = np.flatnonzero(np.diff(ascending)) + 1
    labels = np.concatenate([ascending[:1], ascending[starts]])
    return {int(label): rows for label, rows in zip(labels, np.split(order, starts))}


def split_fraction(n: int, fraction: float) -> tuple[np.ndarray, np.ndarray]:
    """(training rows, test rows) of n rows: the last `fraction` of them is the test part.

    The size of the test part is rounded to the nearest whole number, halves up.
    Raises DataError where a part would be empty.
    """
    test = int(fraction * n + 0.5)
    if test == 0 or test >= n:
        raise DataError(f"the fraction {fraction:g} of {n} points leaves a part without points")
    return np.arange(n - test), np.arange(n - test, n)


def split_stratified(
    y: np.ndarray, fraction: float, seed: int, groups: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(training rows, test rows), with the `fraction` of every class of y (n,) for testing.

    The rows are drawn at random from `seed` and listed in their original order.
    A class of one row stays in the training part.
    Raises DataError where no row is left for testing.
    """
    if groups is not None:
        return _two_parts(deal_groups(y, groups, (1 - fraction, fraction), seed) == 1)
    _, code, size = np.unique(y, return_inverse=True, return_counts=True)
    take = np.minimum((fraction * size + 0.5).astype(np.intp), size - 1)
    if not take.any():
        raise DataError(f"the fraction {fraction:g} of every class leaves no points for testing")
    test = _drawn(code, size, take, seed)
    return np.flatnonzero(~test), np.flatnonzero(test)


def stratified_sample(
    y: np.ndarray, rows: int, seed: int, least: int = 5, groups: np.ndarray | None = None
) -> np.ndarray:
    """About `rows` rows of y (n,), ascending, drawn at random from `seed`; all of no more.

    Of every class the same share, rounded up, but no fewer than `least` where it has so many. With
    groups, the sample has rows of two groups of every class that has two.
    """
    if rows >= len(y):
        return np.arange(len(y))
    _, code, size = np.unique(y, return_inverse=True, return_counts=True)
    take = np.minimum(np.maximum(-(-size * rows // len(y)), least), size)
    drawn = _drawn(code, size, take, seed)
    for label in range(len(size)) if groups is not None else ():
        other = (code == label) & (groups != groups[np.argmax(drawn & (code == label))])
        if not (drawn & other).any():
            drawn[np.flatnonzero(other)[:1]] = True
    return np.flatnonzero(drawn)


def nested_sample(
    y: np.ndarray, share: float, seed: int, least: int, groups: np.ndarray | None = None
) -> np.ndarray:
    """A stratified sample of this share of the rows of y (n,), part of those of larger shares.

    Groups are drawn whole: they are dealt into eight parts, or as many as there are groups, and
    the first parts are the sample.
    """
    if groups is None:
        return stratified_sample(y, round(share * len(y)), seed, least)
    parts = min(8, len(np.unique(groups)))
    return np.flatnonzero(deal_groups(y, groups, [1] * parts, seed) < round(share * parts))


def stratified_rows(y: np.ndarray, rows: int, least: int, seed: int) -> np.ndarray:
    """Exactly `rows` rows of y (n,), ascending, drawn at random from `seed`; all of no more.

    Each class has its share, by largest remainders, but no fewer than `least`, or all of its
    rows.  The choice depends on `seed`, and not on that of `shuffled`.
    Raises DataError where so many of each class are more than `rows`.
    """
    if rows >= len(y):
        return np.arange(len(y))
    _, code, size = np.unique(y, return_inverse=True, return_counts=True)
    return np.flatnonzero(
        _drawn(code, size, _shares(size, rows, np.minimum(least, size)), [seed, 2])
    )


def _shares(size, rows, least):
    """Numbers (k,) of the `rows` for classes of `size` (k,), by largest remainders from `least`."""
    if least.sum() > rows:
        raise DataError(
            f"{rows} rows cannot hold {least.max()} of each class, or all of a smaller "
            f"one: that needs {least.sum()}"
        )
    take = least.copy()
    free = np.ones(len(size), bool)  # the classes whose share is no less than their least
    while free.any():
        left = rows - least[~free].sum()
        total = size[free].sum()
        below = free & (size * left < least * total)
        if not below.any():
            take[free], rest = np.divmod(size[free] * left, total)
            most = np.argsort(-rest, kind="stable")[: left - take[free].sum()]
            take[np.flatnonzero(free)[most]] += 1
            break
        free &= ~below
    return take


def _drawn(code, size, take, seed):
    """A mask (n,) of rows, of each class with the numbers `code` as many as `take` says."""
    order = shuffled(len(code), seed)
    order = order[np.argsort(code[order], kind="stable")]
    rank = np.arange(len(code)) - np.repeat(np.cumsum(size) - size, size)  # within its class
    drawn = np.zeros(len(code), bool)
    drawn[order[rank < np.repeat(take, size)]] = True
    return drawn


def split_random(n: int, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(training rows, test rows): each of n rows is for testing with probability `fraction`.

    The sizes are not definite; the choice depends on `seed`, and not on that of `shuffled`.
    Raises DataError where a part would be empty.
    """
    return _two_parts(np.random.default_rng([seed, 1]).random(n) < fraction)


def _two_parts(test):
    if test.all() or not test.any():
        raise DataError(
            f"of {len(test)} points, all went into one part: expected more points, or another seed"
        )
    return np.flatnonzero(~test), np.flatnonzero(test)


def split_parts(n: int, parts: int) -> list[np.ndarray]:
    """A list of `parts` runs of rows, in order, whose sizes differ by one at most."""
    if parts > n:
        raise DataError(f"{n} points cannot be divided into {parts} parts")
    return np.array_split(np.arange(n), parts)


def shuffled(n: int, seed: int) -> np.ndarray:
    """The rows 0..n-1 in the random order of `seed`."""
    return np.random.default_rng(seed).permutation(n)


def calibration_rows(y: np.ndarray, labels: Sequence[int], count: int, seed: int) -> np.ndarray:
    """Rows, ascending, of about `count` points of the classes `labels`, or of all there are.

    `y` (n,) are the labels. Of every class the same share, rounded up, drawn with the seed. What is
    drawn of a class depends on its number of samples and on that of all alone.
    """
    members = {label: rows for label, rows in rows_by_class(y).items() if label in set(labels)}
    total = sum(map(len, members.values()))
    drawn = [np.empty(0, dtype=np.int64)]
    for label, rows in members.items():
        generator = np.random.Generator(np.random.PCG64(job_seed(seed, (label,), ())))
        if total <= count:
            share = len(rows)
        else:
            share = -(-len(rows) * count // total)
        drawn.append(rows[generator.permutation(len(rows))[:share]])
    return np.sort(np.concatenate(drawn))
