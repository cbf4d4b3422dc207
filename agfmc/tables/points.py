"""Points made of the cells of tables, as a recipe says."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import AgfmcNotice, AgfmcWarning, and_more, DataError, one_line
from ..core.memory import refuse_beyond
from ..core.text import first_words
from .dates import expected as expected_date
from .places import pair_numbers
from .reading import columns_called, open_table
from .roles import listed_names
from .words import Block, no_number, number_of, Table, with_points, Words
from .types import LARGEST, plain_word, QUANTILES, TableFormat, TableRecipe

FLAGS = ("below", "above", "unknown", "missing", "wrong")  # of cells that are unlike training
_UNLIKE = {
    "below": "numbers far below those of training",
    "above": "numbers far above those of training",
    "unknown": "words that training did not know",
}
_DATES_UNLIKE = {"below": "dates before", "above": "dates after"}
_SHOWN = 8  # columns in a line
_VALUES = 1 << 20  # at a time
_GATHERED = 1 << 21  # values of columns that are held at once for their medians


class TableEncoder:
    """The features of a recipe, made of the blocks of one table.

    A fill that is NaN, as it is not known yet, stays NaN. Raises `DataError` where the table lacks
    columns.

    Parameters
    ----------
    answers : None for rows that have classes; for rows that are to be answered "all" or "most". A
        cell that is not of its column's kind is an error, as is, of "all", a row of which no value
        is known; of "most" such a row has no answer: its features are NaN

    Attributes
    ----------
    positions : positions of the recipe's columns in the table, by their names
    notes : {(kind, column): (cells, the first one, its line or row)} of cells, the kinds being those
        of `FLAGS`, and "filled" by the policy of training
    rows, unanswered : numbers of rows so far, and of those without an answer
    """

    def __init__(self, table: Table, recipe: TableRecipe, answers: str | None = None):
        self.recipe, self.table, self._answers = recipe, table, answers
        names = [column.source for column in recipe.columns]
        called = columns_called(table, names)
        missing = [name for name in dict.fromkeys(names) if name not in called]
        if missing:
            raise DataError(
                f"lacks the column{'s' * (len(missing) > 1)} {listed_names(missing)}, "
                "which the model needs",
                file=table.file,
            )
        self.positions = tuple(called[name] for name in names)
        self.notes: dict[tuple[str, str], tuple] = {}
        self.rows = self.unanswered = 0
        self._first_error: DataError | None = None  # of a row without an answer
        # of the last block: (kind, column, rows, their cells) of cells that are unlike training,
        # rows without an answer, why there are such rows
        self._unlike: list[tuple] = []
        self._failed = np.zeros(0, dtype=bool)
        self._errors: list[tuple[int, str]] = []

    @property
    def requested(self) -> dict[int, str]:
        """The cells that it needs, as `Table.blocks` takes them."""
        return {
            position: "either" if column.kind == "number" and column.numbers is None else "words"
            for position, column in zip(self.positions, self.recipe.columns)
        }

    def points(self, block: Block) -> np.ndarray:
        """Points (n, d) float32 of a block, which counts where this raises no error."""
        x = np.zeros((block.rows, len(self.recipe.features)), dtype=np.float32)
        self._unlike = []
        self._failed = np.zeros(block.rows, dtype=bool)
        self._errors = []
        known = np.zeros(block.rows, dtype=bool)
        gaps = []
        columns = zip(self.positions, self.recipe.columns, self.recipe.starts)
        for position, column, first in columns:
            cells = block[position]
            out = x[:, first : first + len(column.features)]
            if column.categories is None:
                if not isinstance(cells, Words) and _put_usual(cells, column, out):
                    known[:] = True
                    continue
                missing, strange = self._put_numbers(cells, column, out)
            else:
                missing, strange = self._put_categories(cells, column, out)
            known |= ~(missing | strange)
            if missing.any():
                gaps.append((self._fill(missing, column, out), column, missing, None))
        if self._answers is not None:
            self._fail(~known, lambda row: "has none of the values that the model needs")
        self._unlike += gaps
        if self._errors:
            # of the first row: to find its line takes as long as to read the table
            if self._answers != "most" or self._first_error is None:
                self._first_error = block.error(*min(self._errors, key=operator.itemgetter(0)))
            if self._answers != "most":
                raise self._first_error
            self.unanswered += int(np.count_nonzero(self._failed))
            x[self._failed] = np.nan
        self.rows += block.rows
        for kind, column, rows, cells in self._unlike:
            self._count(block, kind, column, rows, cells)
        return x

    def _fail(self, rows, message_of):
        """Give rows (n,) bool of the block no answer: message_of(row) says why the first has none."""
        if rows.any():
            row = int(np.argmax(rows))
            self._errors.append((row, message_of(row)))
            self._failed |= rows

    def flags(self, rows: int) -> list[list[str]]:
        """What is unlike training in each of the rows of the last block, as `mass: above`."""
        flags: list[list[str]] = [[] for _ in range(rows)]
        for kind, column, marked, _ in self._unlike:
            if kind in FLAGS:
                for row in np.flatnonzero(marked).tolist():
                    flags[row].append(f"{column.name}: {kind}")
        return flags

    def _put_numbers(self, cells, column, out):
        """Put the numbers of cells into `out`; -> (rows (n,) without a cell, those with a wrong one)."""
        expected = None
        if isinstance(cells, Words):
            values, expected = self._numbers_of_words(cells.words, column)
            values = cells.spread(values, [np.nan, *[0.0] * (values.shape[1] - 1)])
        else:
            values = cells[:, None]
        missing = np.isnan(values[:, 0])
        number = values[:, 0]
        wrong = np.abs(number) > LARGEST

        def message_of(row):
            cell = one_line(self._shown(cells, row))
            if np.isfinite(number[row]):
                what = f"{cell} is more than single precision holds: use a larger unit"
            elif expected is None:
                return no_number(one_line(column.name), cell)
            else:
                what = f"expected {expected}, found '{cell}'"
            return f"column '{one_line(column.source)}': {what}"

        out[:, : values.shape[1]] = np.where(wrong[:, None], 0, values)
        single = out[:, 0].astype(np.float64)  # of which the recipe knows the limits
        low, high = column.limits
        given = ~(missing | wrong)
        if column.date is None:
            shown = number
        else:
            shown = cells
        self._note("wrong", column, wrong, cells)
        self._note("below", column, given & (single < low), shown)
        self._note("above", column, given & (single > high), shown)
        self._fail(wrong, message_of)
        return missing, wrong

    def _numbers_of_words(self, words, column):
        """(numbers (words, c), the first NaN for a missing and infinite for a wrong word; what is
        expected, None: a number)."""
        if column.date is not None:
            if column.numbers is not None:
                words = column.numbers.dates(words)
            values = column.date.values(words)
            values[np.isnan(values[:, 0])] = np.inf
            return values, f"{expected_date(column.date.order)}, as in training"
        if column.order is not None:
            key_of = self.recipe.key_of
            place = {key_of(word): i for i, word in enumerate(column.order)}
            values = [place.get(key_of(word), np.inf) for word in words]
            expected = " < ".join(map(one_line, column.order[:_SHOWN]))
        elif column.pair is not None:
            values = pair_numbers(words)[:, column.pair.number]
            expected = "two numbers, as in training"
        elif column.numbers is not None:
            values = column.numbers.values(with_points(words, self.table.decimal))
            return values, f"a number as in training ({column.numbers.words})"
        else:
            values = [number_of(word) for word in words]
            values = [np.inf if value is None else value for value in values]
            expected = None
        return np.array(values, dtype=np.float64)[:, None], expected

    def _put_categories(self, cells, column, out):
        """As `_put_numbers`, of words, of which none is wrong, but some are unknown."""
        other = column.feature_of.get(column.other, -1)
        key_of = self.recipe.key_of
        feature_of = column.feature_of
        if self.recipe.fold_case:
            feature_of = {key_of(word): feature for word, feature in feature_of.items()}
        feature = cells.spread([feature_of.get(key_of(word), other) for word in cells.words], -1)
        rows = np.flatnonzero(feature >= 0)
        out[rows, feature[rows]] = 1
        missing = cells.codes < 0
        strange = (feature < 0) & ~missing
        self._note("unknown", column, strange, cells)
        return missing, strange

    def _note(self, kind, column, rows, cells):
        """Mark the rows (n,) bool whose cell of a column is of that kind."""
        if rows.any():
            self._unlike.append((kind, column, rows, cells))

    def _count(self, block, kind, column, rows, cells):
        """Count such rows; missing cells, which have none, in rows that are answered alone."""
        if cells is None:
            rows = rows & ~self._failed
        if kind is not None and rows.any():
            key = kind, column.name
            row = int(np.argmax(rows))
            count, *first = self.notes.get(key) or (0, self._shown(cells, row), block.number(row))
            self.notes[key] = (count + int(np.count_nonzero(rows)), *first)

    def _shown(self, cells, row):
        """A cell as it stands in the table."""
        if isinstance(cells, Words):
            return with_points([cells.words[cells.codes[row]]], self.table.decimal)[0]
        if cells is None:
            return ""
        return f"{cells[row]:.9g}"

    def _fill(self, missing, column, out):
        """Put the fill of a column in its missing cells (n,) bool; -> how these count, or None."""
        words = column.categories
        if self.recipe.keeps_missing:
            out[missing] = np.nan if words is None else 0
            return None
        if column.indicator:
            out[missing, -1] = 1
        if column.fill is not None and words is None:
            out[missing, 0] = column.fill
        elif column.fill is not None:
            out[missing, words.index(column.fill)] = 1
        elif words is None and not column.indicator:
            self._fail(
                missing,
                lambda row: (
                    f"column '{one_line(column.name)}' has a missing value, and training had none "
                    "there: expected a number"
                ),
            )
            return None
        if column.indicator:
            return None
        if column.fill is None or self.recipe.missing in ("error", "indicator"):
            return "missing"
        return "filled"

    def _shown_counts(self, kind):
        """The columns with cells of a kind, and their numbers."""
        return [
            f"'{one_line(column.name)}' ({self.notes[kind, column.name][0]})"
            for column in self.recipe.columns
            if (kind, column.name) in self.notes
        ]

    @property
    def error(self) -> DataError | None:
        """The error of the first row that has no answer, which says how many there are, and of
        which columns cells are wrong where there are several; or None."""
        first = self._first_error
        if first is None:
            return None
        text = (
            f"{first.message}; {self.unanswered} of {self.rows} rows "
            f"ha{'ve' if self.unanswered > 1 else 's'} no answer"
        )
        wrong = self._shown_counts("wrong")
        if len(wrong) > 1:
            text += f", as cells are wrong of columns {first_words(wrong, _SHOWN)}"
        return DataError(text, file=first.file, line=first.line)

    def warn_of_cells(self) -> None:
        """One warning of cells unlike those of training, by column, and one of what was filled."""
        if not self.notes:
            return
        strange = []
        for column, kind in itertools.product(self.recipe.columns, _UNLIKE):
            if (kind, column.name) not in self.notes:
                continue
            count, cell, number = self.notes[kind, column.name]
            every = ", all of them," * (count == self.rows > 1)
            what = _UNLIKE[kind]
            if column.date is not None and column.date.last is not None:
                what = f"{_DATES_UNLIKE[kind]} the years of training, {column.date.years}"
            elif column.date is None and column.quantiles is not None:
                what += f", {column.quantiles[0]:g} to {column.quantiles[-1]:g}"
            strange.append(
                f"column '{one_line(column.name)}' has {count} cell{'s' * (count > 1)}{every} with "
                f"{what}, first '{one_line(cell)}' in {self.table.counted} {number}"
            )
        if strange:
            self.table.warn(first_words(strange, _SHOWN, "; "))
        for kind, what, how, warning in (
            (
                "missing",
                "filled in columns that had none in training",
                " (numbers become the median, words none of the categories)",
                AgfmcWarning,
            ),
            (
                "filled",
                f'filled, by `missing="{self.recipe.missing}"` of training',
                "",
                AgfmcNotice,
            ),
        ):
            shown = self._shown_counts(kind)
            if shown:
                total = sum(
                    count for (noted, _), (count, *_) in self.notes.items() if noted == kind
                )
                self.table.warn(
                    f"{total} missing value{'s are' if total > 1 else ' is'} {what}: "
                    + first_words(shown, _SHOWN)
                    + how,
                    warning,
                )

    def warn_of_others(self, names: Iterable, positions: Iterable = ()) -> None:
        """One notice of the columns that the model does not need, but those known by these."""
        known = {self.recipe.label, *names, *self.positions, *positions}
        extra = [
            name
            for position, name in enumerate(self.table.names)
            if known.isdisjoint((position, name))
        ]
        if extra:
            self.table.warn(
                f"column '{one_line(extra[0])}'{and_more(extra)} is not needed, and not used",
                AgfmcNotice,
            )


def _put_usual(numbers, column, out):
    """Put numbers (n,) into `out`, and return True, where none is missing or unlike training."""
    if not (np.abs(numbers) <= LARGEST).all():
        return False
    out[:, 0] = numbers
    single = out[:, 0].astype(np.float64)
    low, high = column.limits
    return bool(((low <= single) & (single <= high)).all())


def class_numbers(
    table: Table, block: Block, position: int, classes: dict, key_of=plain_word
) -> np.ndarray:
    """Numbers (n,) int32 of the classes {name: number} in the column at that position.

    Names are compared by key_of(name).
    """
    cells = block[position]
    number_of = {key_of(name): number for name, number in classes.items()}
    y = cells.spread([number_of.get(key_of(word), -1) for word in cells.words], np.int32(-1))
    if len(y) and y.min() < 0:
        row = int(np.argmin(y))
        code = cells.codes[row]
        if code < 0:
            what = "no class"
        else:
            what = f"the class '{one_line(cells.words[code])}'"
        raise block.error(
            row,
            f"column '{one_line(table.names[position])}' has {what}, expected "
            + listed_names([*classes]),
        )
    return y


def filled_recipe(recipe: TableRecipe, x) -> TableRecipe:
    """A recipe with the quantiles of points x (n, d) of training, and, in place of fills that are
    NaN, their means or medians.

    `x` is an array, or a file of them, in which missing values are NaN; it is read by blocks of
    rows of a fixed size, so that its numbers do not depend on how the table was read.
    """
    columns = list(recipe.columns)
    numbers = [number for number, column in enumerate(columns) if column.categories is None]
    features = np.array(recipe.starts)[numbers]
    quantiles = _quantiles(x, features)
    fills = quantiles[:, QUANTILES.index(0.5)]
    if recipe.missing == "mean":
        fills = _means(x, features)
    for number, fill, points in zip(numbers, fills.tolist(), quantiles.tolist()):
        column = columns[number]
        if column.fill == column.fill:
            fill = column.fill
        columns[number] = replace(column, fill=fill, quantiles=tuple(points))
    return replace(recipe, columns=tuple(columns))


def fill_missing(x, recipe: TableRecipe) -> None:
    """Put the fills of a recipe in place of the NaN in points x (n, d), block by block."""
    fills = {
        first: column.fill
        for column, first in zip(recipe.columns, recipe.starts)
        if column.categories is None and column.fill is not None
    }
    if not fills:
        return
    row = np.zeros(x.shape[1], dtype=np.float32)
    row[list(fills)] = list(fills.values())
    for part in _blocks(x):
        missing = np.isnan(part)
        if missing.any():
            part[missing] = np.broadcast_to(row, part.shape)[missing]


def _blocks(x) -> Iterator[np.ndarray]:
    step = max(1, _VALUES // x.shape[1])
    for start in range(0, len(x), step):
        yield x[start : start + step]


def _means(x, features):
    total = np.zeros(len(features))
    count = np.zeros(len(features))
    for part in _blocks(x):
        part = part[:, features].astype(np.float64)
        present = ~np.isnan(part)
        total += np.where(present, part, 0).sum(axis=0)
        count += present.sum(axis=0)
    return (total / count).astype(np.float32).astype(np.float64)


def _quantiles(x, features):
    """The `QUANTILES` (m, 5) of features (m,) of points, without what is missing."""
    out = np.zeros((len(features), len(QUANTILES)))
    step = max(1, min(len(features), _GATHERED // len(x)))
    refuse_beyond(8 * step * len(x), "the values of a column, for their median,", None)
    for start in range(0, len(features), step):
        group = features[start : start + step]
        columns = np.concatenate([part[:, group].T for part in _blocks(x)], axis=1)
        for number, values in enumerate(columns, start):
            values = values[~np.isnan(values)]
            place = np.array(QUANTILES) * (len(values) - 1)
            below = np.floor(place).astype(np.intp)
            above = np.ceil(place).astype(np.intp)
            values.partition(np.union1d(below, above))
            share = place - below
            out[number] = (1 - share) * values[below] + share * values[above]
    return out.astype(np.float32).astype(np.float64) + 0.0  # no zero has a sign


class TablePoints(NamedTuple):
    """Points (n, d) float32 of a table, NaN in rows that cannot be answered, their flags, and the
    error of these rows or None."""

    x: np.ndarray
    flags: list[list[str]]
    error: DataError | None


def table_points(
    source: Any, recipe: TableRecipe, answers: str | None = None, flagged: bool = False
) -> TablePoints:
    """The `TablePoints` of a table with the columns of a recipe; no flags unless `flagged`.

    `source` is what `open_table` takes, `answers` is as of `TableEncoder`.
    """
    flags = []
    with open_table(source, TableFormat().for_model(recipe)) as table:
        encoder = TableEncoder(table, recipe, answers)
        parts = []
        for block in table.blocks(encoder.requested):
            parts.append(encoder.points(block))
            if flagged:
                flags += encoder.flags(block.rows)
        encoder.warn_of_cells()
    if len(parts) > 1:
        parts = [np.concatenate(parts)]
    return TablePoints(parts[0], flags, encoder.error)
