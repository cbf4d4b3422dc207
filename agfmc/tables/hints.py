"""Hints at what columns of a training table may be: numbers of rows, copies of the class, groups."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from .types import ColumnRecipe, ROW, TableRecipe

IDENTIFIER = re.compile("(?:^|[ ._-])[iI][dD]$|[a-z]I[dD]$")
_UNIT = re.compile(  # names of what is seen several times
    r"(?:^|[ ._-])(?:animal|bird|collar|individual|participant|patient|plot|proband|respondent|"
    r"session|speaker|station|subject|transect)(?:[ ._-]?(?:id|name|no|nr|number|code))?$",
    re.IGNORECASE,
)
_STORED = re.compile(
    r"__index_level_\d+__|Unnamed: \d+"
)  # names that pandas gives the rows' numbers
_ROW_NUMBERS = re.compile(r"index|level_\d+|rownames?|X")  # of pandas and R, but of features too
_MOST_WORDS = 1000  # of a column that may tell the class
_BY_CHANCE = 20  # rows that repeat a word together with its class
_REPEATED = 0.9  # of the rows have words that others have too
_INTERVALS = 0.2  # of the changes of class that numbers in no order would have
_COLLISIONS = 5  # equal numbers that chance would make: none has the probability exp(-5)
_PAIRED = 40  # columns of which pairs are looked at
_GROUPS = range(5, 201)  # words of a column that may tell groups
_NEAREST = 0.9  # of the rows have the nearest one in their group
_CHANCE = 0.3  # of two rows of a class to be in one group
_COMPARED = 2000  # rows, of more some
_UNITS, _SURELY, _ALIKE = 20, 3.0, 0.1  # values; standard deviations; correlation within a value
_RETURNS = 1.1  # runs of equal values for each value, where its rows stand together
_SMOOTH = 1.0  # of von Neumann's ratio, which is 2 where neighbours are not alike


class _Coded(NamedTuple):
    """A column of words or whole numbers.

    Attributes
    ----------
    column, first : its recipe, and its first feature
    values : whole numbers (m,), ascending, None for words
    code : number (n,) of the value of each row, -1 for none
    rows : rows (m,) of each value
    table : rows (m, k) of each value in each class
    """

    column: ColumnRecipe
    first: int
    values: np.ndarray | None
    code: np.ndarray
    rows: np.ndarray
    table: np.ndarray

    @property
    def features(self):
        return np.arange(self.first, self.first + len(self.column.features))

    @property
    def is_pure(self):
        return np.count_nonzero(self.table, axis=1) == 1


def numbers_the_rows(name: str, is_index: bool, count: int, low, high, ascending: bool) -> bool:
    """True if `count` whole numbers, all different, are those of rows, as programs store them.

    `is_index`: the file says that the column is one. Others have names that features may have
    too, and must be in order, or all numbers from 0 or 1.
    """
    if is_index or name == ROW or _STORED.fullmatch(name):
        return True
    complete = low in (0, 1) and high - low == count - 1
    return _ROW_NUMBERS.fullmatch(name) is not None and (ascending or complete)


def columns_that_tell(recipe: TableRecipe, x, y) -> list[tuple[str, ...]]:
    """Names of the columns, or pairs of them, that tell the class of points x (n, d), y (n,).

    Each word that is in several rows is in one class alone, and nearly all rows have such words,
    in so many rows that it is not by chance. So is each number, if numbers are as many as the
    classes, or look planned: equally frequent, or all different where measurements would repeat,
    and the class changes only between few intervals. A pair tells where its combinations are
    equally frequent.
    """
    names = []
    others = []
    for coded in _coded_columns(recipe, x, y):
        if _tells(coded):
            names.append((coded.column.name,))
        elif len(coded.rows) > 1:
            others.append(coded)
    pairs = (pair for pair in combinations(others[:_PAIRED], 2) if _pair_tells(*pair, y))
    return names + [(a.column.name, b.column.name) for a, b in pairs]


def _coded_columns(recipe, x, y) -> Iterator[_Coded]:
    classes = y.max(initial=0) + 1
    for column, first in zip(recipe.columns, recipe.starts):
        if column.categories is not None:
            part = x[:, first : first + len(column.categories)]
            code = np.where(part.any(axis=1), part.argmax(axis=1), -1)
            values, count = None, len(column.categories)
        elif column.is_number:
            numbers = x[:, first]
            if not (numbers[:_COMPARED] % 1 == 0).all() or not (numbers % 1 == 0).all():
                continue
            values, code = np.unique(numbers, return_inverse=True)
            count = len(values)
        else:
            continue
        table = _counts(code, count, y, classes)
        yield _Coded(column, first, values, code, table.sum(axis=1), table)


def _counts(code, count, y, classes):
    """Rows (count, classes) of each code in each class."""
    known = code >= 0
    pair = code[known] * classes + y[known]
    return np.bincount(pair, minlength=count * classes).reshape(count, classes)


def _tells(coded):
    rows = coded.rows
    several = rows > 1
    repeated = (rows - 1)[several].sum()
    if coded.values is None:
        return (
            1 < len(rows) <= _MOST_WORDS
            and coded.is_pure[several].all()
            and rows[several].sum() >= _REPEATED * len(coded.code)
            and repeated >= _BY_CHANCE
        )
    if len(rows) < 2 or not coded.is_pure.all():
        return False
    if repeated >= _BY_CHANCE:
        return len(rows) <= np.count_nonzero(coded.table.any(axis=0)) or _are_even(rows)
    return repeated == 0 and _has_few_intervals(coded)


def _has_few_intervals(coded):
    """Return whether numbers, all different, lie in few intervals of one class, which they fill."""
    label = coded.table.argmax(axis=1)
    starts = np.flatnonzero(np.diff(label, prepend=-1))
    shares = coded.table.sum(axis=0) / len(label)
    if len(starts) > _INTERVALS * len(label) * (1 - np.sum(shares**2)):
        return False
    ends = np.append(starts[1:], len(label)) - 1
    size = ends - starts + 1
    return np.sum(size * (size - 1) / 2 / (coded.values[ends] - coded.values[starts] + 1)) >= (
        _COLLISIONS
    )


def _pair_tells(a, b, y):
    """Return whether the combinations of two columns, of a design, each lie in one class of y."""
    if 2 * len(a.rows) * len(b.rows) > len(y) or min(a.code.min(), b.code.min()) < 0:
        return False
    code = a.code.astype(np.int64) * len(b.rows) + b.code
    table = _counts(code, len(a.rows) * len(b.rows), y, a.table.shape[1])
    table = table[table.any(axis=1)]
    return bool((np.count_nonzero(table, axis=1) == 1).all()) and _are_even(table.sum(axis=1))


def _are_even(rows):
    """Return whether values, units of a design, have rows in more equal numbers than by chance.

    Their variance is to their mean as chi squared to its degrees of freedom (R. A. Fisher's index
    of dispersion, 1925), whose cube root is nearly normal (E. B. Wilson and M. M. Hilferty, 1931).
    """
    if len(rows) < _UNITS or rows.min() < 2:
        return False
    variance = 2 / (9 * (len(rows) - 1))
    ratio = rows.var(ddof=1) / rows.mean()
    return ratio ** (1 / 3) < 1 - variance - _SURELY * variance**0.5


def group_columns(recipe: TableRecipe, x, y) -> list[str]:
    """Names of columns that look like groups of points x (n, d), y (n,) that are alike.

    A column of words or whole numbers that repeat looks so if it is named as an identifier or a
    unit of observation, or if its many values have more equal numbers of rows than values drawn at
    random, or all their rows together, and their classes or features differ. Numbers whose
    neighbours are alike, such as hours, do not, nor do those that the table is sorted by. Words
    look so, too, if the nearest point of the same class, by the features of other columns, nearly
    always has the same word, which few points of the class have.
    """
    names = [
        coded.column.name
        for coded in _coded_columns(recipe, x, y)
        if 2 * len(coded.rows) <= len(y) and (_is_named_unit(coded) or _are_units(coded, x))
    ]
    return list(dict.fromkeys([*names, *_words_of_neighbours(recipe, x, y)]))


def _is_named_unit(coded):
    name = coded.column.name
    if len(coded.rows) in _GROUPS and _UNIT.search(name):
        return True
    return IDENTIFIER.search(name) is not None


def _are_units(coded, x):
    known = np.ones(len(coded.rows), dtype=bool)
    if coded.column.other is not None:
        known[coded.column.categories.index(coded.column.other)] = False
    rows = coded.rows[known]
    if len(rows) < _UNITS or rows.min() < 2:
        return False
    runs = 1 + np.count_nonzero(np.diff(coded.code))
    together = runs <= _RETURNS * len(rows)
    if coded.values is not None:  # a table may be sorted by a measurement
        together &= bool((np.diff(coded.code) < 0).any())
    if not together and not _are_even(rows):
        return False
    return _differ(coded, known, x)


def _differ(coded, known, x):
    """Return whether classes or features differ between values, of numbers whatever their order.

    The variance between values is compared with that of all rows, which it exceeds by 1 + r (m - 1)
    for the correlation r of the m rows of a value.
    """
    rows, table = coded.rows[known], coded.table[known]
    inside = known[coded.code] & (coded.code >= 0)
    code = (np.cumsum(known) - 1)[coded.code[inside]]

    def least(freedom):
        return 1 + max(_ALIKE * (rows.mean() - 1), _SURELY * (2 / max(freedom, 1)) ** 0.5)

    means = []
    expected = np.outer(rows, table.sum(axis=0)) / rows.sum()
    freedom = (len(rows) - 1) * (np.count_nonzero(table.any(axis=0)) - 1)
    squares = np.sum((table - expected) ** 2 / np.maximum(expected, 1e-9))
    if squares > least(freedom) * max(freedom, 1):
        means += [*(table / rows[:, None]).T]
    for feature in np.setdiff1d(np.arange(x.shape[1]), coded.features):
        values = np.nan_to_num(x[inside, feature].astype(np.float64))
        values -= values.mean()
        mean = np.bincount(code, values, len(rows)) / rows
        if rows @ mean**2 / (len(rows) - 1) > least(len(rows) - 1) * values.var() > 0:
            means.append(mean)
    if coded.values is None or not means:
        return bool(means)
    means = np.array(means)
    centred = np.sum((means - means.mean(axis=1, keepdims=True)) ** 2, axis=1)
    ratios = np.sum(np.diff(means) ** 2, axis=1) / np.maximum(centred, np.finfo(float).tiny)
    return ratios.mean() > _SMOOTH


def _words_of_neighbours(recipe, x, y):
    """Names of the columns of words that the nearest point of the same class nearly always has."""
    candidates = [
        (column, np.arange(first, first + len(column.features)))
        for column, first in zip(recipe.columns, recipe.starts)
        if len(column.categories or ()) in _GROUPS
    ]
    features = [feature for _, part in candidates for feature in part]
    others = np.setdiff1d(np.arange(x.shape[1]), features)
    rows = np.unique(np.linspace(0, len(y) - 1, _COMPARED).astype(np.intp))
    z, y = np.nan_to_num(x[rows][:, others].astype(np.float64)), y[rows]
    if not candidates or not len(others):
        return
    z = (z - z.mean(axis=0)) / np.maximum(z.std(axis=0), np.finfo(np.float32).tiny)
    square = np.einsum("ij,ij->i", z, z)
    distance = square - 2 * z @ z.T
    distance[(y[:, None] != y) | np.eye(len(y), dtype=bool)] = np.inf
    nearest = distance.argmin(axis=1)
    same_class = np.isfinite(distance.min(axis=1))
    for column, part in candidates:
        word = x[rows][:, part].argmax(axis=1)
        same = (word[:, None] == word) & np.isfinite(distance)
        chance = same.sum() / max(np.isfinite(distance).sum(), 1)
        if (
            same_class.any()
            and chance < _CHANCE
            and same[np.arange(len(y)), nearest][same_class].mean() > _NEAREST
        ):
            yield column.name
