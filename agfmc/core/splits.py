"""Splits of rows: training and test part, equal parts, folds, random order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from .errors import DataError

FOLDS = 5


def stratified_folds(y: np.ndarray, seed: int, count: int = FOLDS) -> np.ndarray:
    """The fold, from 0, of every row of y (n,): each class is shuffled and dealt out in turn.

    A class begins where the one before it ended, so that sizes of the folds, and of each class
    in them, differ by one at most.
    """
    order = shuffled(len(y), seed)
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), dtype=np.int64)
    fold[order] = np.arange(len(y)) % min(count, len(y))
    return fold


def stratified_parts(y: np.ndarray, parts: int, seed: int) -> np.ndarray:
    """`stratified_folds`; DataError for more parts than rows."""
    if parts > len(y):
        raise DataError(f"{len(y)} points cannot be divided into {parts} parts")
    return stratified_folds(np.asarray(y), seed, parts)


def job_seed(seed, left, right):
    """The seed of one binary problem, from the user's seed and the classes it tells apart.

    Equal partitions get equal folds wherever they stand, so that a tree and
    the code made from it are the same models.
    """
    text = f"{seed}:{' '.join(map(str, sorted(left)))}/{' '.join(map(str, sorted(right)))}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


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


def split_stratified(y: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(training rows, test rows), with the `fraction` of every class of y (n,) for testing.

    The rows are drawn at random from `seed` and listed in their original order.
    A class of one row stays in the training part.
    Raises DataError where no row is left for testing.
    """
    _, code, size = np.unique(y, return_inverse=True, return_counts=True)
    take = np.minimum((fraction * size + 0.5).astype(np.intp), size - 1)
    if not take.any():
        raise DataError(f"the fraction {fraction:g} of every class leaves no points for testing")
    test = _drawn(code, size, take, seed)
    return np.flatnonzero(~test), np.flatnonzero(test)


def stratified_sample(y: np.ndarray, rows: int, seed: int, least: int = 5) -> np.ndarray:
    """About `rows` rows of y (n,), ascending, drawn at random from `seed`; all of no more.

    Of every class the same share, rounded up, but no fewer than `least` where it has so many.
    """
    if rows >= len(y):
        return np.arange(len(y))
    _, code, size = np.unique(y, return_inverse=True, return_counts=True)
    take = np.minimum(np.maximum(-(-size * rows // len(y)), least), size)
    return np.flatnonzero(_drawn(code, size, take, seed))


def stratified_rows(y: np.ndarray, rows: int, least: int, seed: int) -> np.ndarray:
    """Exactly `rows` rows of y (n,), ascending, drawn at random from `seed`; all of no more.

    Each class has its share, by largest remainders, but no fewer than `least`, or all of its
    rows.  The choice depends on `seed`, and not on that of `shuffled`.
    Raises DataError where so many of each class are more than `rows`.
    """
    if rows >= len(y):
        return np.arange(len(y))
    _, code, size = np.unique(y, return_inverse=True, return_counts=True)
    return np.flatnonzero(_drawn(code, size, _shares(size, rows, np.minimum(least, size)),
                                 [seed, 2]))


def _shares(size, rows, least):
    """Numbers (k,) of the `rows` for classes of `size` (k,), by largest remainders from `least`."""
    if least.sum() > rows:
        raise DataError(f"{rows} rows cannot hold {least.max()} of each class, or all of a smaller "
                        f"one: that needs {least.sum()}")
    take = least.copy()
    free = np.ones(len(size), bool)  # the classes whose share is no less than their least
    while free.any():
        left, total = rows - least[~free].sum(), size[free].sum()
        below = free & (size * left < least * total)
        if not below.any():
            take[free], rest = np.divmod(size[free] * left, total)
            most = np.argsort(-rest, kind="stable")[:left - take[free].sum()]
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
    test = np.random.default_rng([seed, 1]).random(n) < fraction
    if test.all() or not test.any():
        raise DataError(f"of {n} points, all went into one part: expected more points, or "
                        "another seed")
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
        share = len(rows) if total <= count else -(-len(rows) * count // total)
        drawn.append(rows[generator.permutation(len(rows))[:share]])
    return np.sort(np.concatenate(drawn))
