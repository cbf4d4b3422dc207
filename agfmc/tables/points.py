"""Points made of the cells of tables, as a recipe says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.errors import AgfmcNotice, and_more, DataError, one_line
from ..core.memory import refuse_beyond
from .dates import expected
from .reading import columns_called, open_table
from .roles import listed_names
from .words import Block, Table, with_points, Words
from .types import LARGEST, plain_word, TableFormat, TableRecipe

_SHOWN = 8  # columns in a line
_VALUES = 1 << 20  # at a time
_GATHERED = 1 << 23  # values of columns that are held at once for their medians


class TableEncoder:
    """The features of a recipe, made of the blocks of one table.

    A fill that is NaN, as it is not known yet, stays NaN. Raises `DataError` where the table lacks
    columns.

    Attributes
    ----------
    positions : positions of the recipe's columns in the table, by their names
    unknown : {column: (cells, first word, its line or row)} of words absent in training, which
        become zeros
    filled : {column: cells} of missing values that were filled in
    """

    def __init__(self, table: Table, recipe: TableRecipe):
        self.recipe, self._table = recipe, table
        called = columns_called(table, [one.name for one in recipe.columns])
        missing = [one.name for one in recipe.columns if one.name not in called]
        if missing:
            raise DataError(
                f"lacks the column{'s' * (len(missing) > 1)} {listed_names(missing)}, "
                "which the model needs",
                file=table.file,
            )
        self.positions = tuple(called.values())
        self.unknown: dict[str, tuple] = {}
        self.filled: dict[str, int] = {}
        self._rows = 0

    @property
    def requested(self) -> dict[int, str]:
        """The cells that it needs, as `Table.blocks` takes them."""
        return {
            at: "number" if one.is_number and one.numbers is None else "words"
            for at, one in zip(self.positions, self.recipe.columns)
        }

    @property
    def counts(self) -> tuple:
        """Numbers of rows, unknown words and filled cells so far, which can be set back."""
        return self._rows, dict(self.unknown), dict(self.filled)

    @counts.setter
    def counts(self, earlier):
        self._rows, self.unknown, self.filled = earlier

    def points(self, block: Block) -> np.ndarray:
        """Points (n, d) float32 of a block."""
        x = np.zeros((block.rows, len(self.recipe.features)), dtype=np.float32)
        self._rows += block.rows
        for at, one, first in zip(self.positions, self.recipe.columns, self.recipe.starts):
            cells = block[at]
            out = x[:, first : first + len(one.features)]
            if one.date is not None:
                missing = cells.codes < 0
                self._put_dates(block, cells, one, out)
            elif one.order is not None:
                missing = cells.codes < 0
                self._put_order(block, cells, one, out)
            elif one.numbers is not None:
                missing = self._put_numbers(block, cells, one, out)
            elif one.categories is None:
                missing = np.isnan(cells)
                large = np.abs(cells) > LARGEST
                if large.any():
                    row = int(np.argmax(large))
                    raise block.error(
                        row,
                        f"column '{one_line(one.name)}': {cells[row]:g} is more "
                        "than single precision holds: use a larger unit",
                    )
                out[:, 0] = cells
            else:
                missing = cells.codes < 0
                self._put_categories(block, cells, one, out)
            if missing.any():
                self._fill(block, missing, one, out)
        return x

    def _put_numbers(self, block, cells: Words, column, out):
        """Put the numbers of a form; -> True where one is missing (n,)."""
        width = 1 + len(column.numbers.limits)
        absent = [np.nan] + [0.0] * (width - 1)
        values = column.numbers.values(with_points(cells.words, self._table.decimal))
        values = np.vstack([values, absent])[cells.codes]
        wrong = np.abs(values[:, 0]) > LARGEST
        if wrong.any():
            row = int(np.argmax(wrong))
            (cell,) = with_points([cells.words[cells.codes[row]]], self._table.decimal)
            raise block.error(
                row,
                f"column '{one_line(column.name)}': expected a number as in training "
                f"({column.numbers.words}), found '{one_line(cell)}'",
            )
        out[:, :width] = values
        return np.isnan(values[:, 0])

    def _put_dates(self, block, cells: Words, column, out):
        words = cells.words
        if column.numbers is not None:
            words = column.numbers.dates(words)
        values = column.date.values(words)
        wrong = np.append(np.isnan(values[:, 0]), False)[cells.codes]
        if wrong.any():
            row = int(np.argmax(wrong))
            raise block.error(
                row,
                f"column '{one_line(column.name)}': expected {expected(column.date.order)}, as in "
                "training, found "
                f"'{one_line(cells.words[cells.codes[row]])}'",
            )
        out[:, : values.shape[1]] = np.vstack([values, np.zeros(values.shape[1])])[cells.codes]

    def _put_order(self, block, cells: Words, column, out):
        key_of = self.recipe.key_of
        place = {key_of(word): at for at, word in enumerate(column.order)}
        out[:, 0] = np.array([place.get(key_of(word), -1) for word in cells.words] + [np.nan])[
            cells.codes
        ]
        if (out[:, 0] < 0).any():
            row = int(np.argmax(out[:, 0] < 0))
            raise block.error(
                row,
                f"column '{one_line(column.name)}': expected "
                f"{' < '.join(map(one_line, column.order[:_SHOWN]))}, found "
                f"'{one_line(cells.words[cells.codes[row]])}'",
            )

    def _put_categories(self, block, cells: Words, column, out):
        other = column.feature_of.get(column.other, -1)
        key_of = self.recipe.key_of
        feature_of = column.feature_of
        if self.recipe.fold_case:
            feature_of = {key_of(word): at for word, at in feature_of.items()}
        feature = np.array(
            [feature_of.get(key_of(word), other) for word in cells.words] + [-1],
            dtype=np.int64,
        )[cells.codes]  # -1, the last, for missing values
        rows = np.flatnonzero(feature >= 0)
        out[rows, feature[rows]] = 1
        if len(rows) == len(feature):
            return
        strange = np.flatnonzero((feature < 0) & (cells.codes >= 0))
        if len(strange):
            word = cells.words[cells.codes[strange[0]]]
            count, *first = self.unknown.get(column.name) or (
                0,
                word,
                block.number(int(strange[0])),
            )
            self.unknown[column.name] = (count + len(strange), *first)

    def _fill(self, block, missing, column, out):
        words = column.categories
        if self.recipe.keeps_missing:
            out[missing] = np.nan if words is None else 0
            return
        if column.indicator:
            out[missing, -1] = 1
        if column.fill is not None:
            out[missing, 0 if words is None else words.index(column.fill)] = (
                column.fill if words is None else 1
            )
        elif words is None or not column.indicator:
            raise block.error(
                int(np.argmax(missing)),
                f"column '{one_line(column.name)}' has a missing value, and training, with "
                f'`missing="{self.recipe.missing}"`, had none there: expected a '
                + ("number" if words is None else "word"),
            )
        if not column.indicator:
            count = int(np.count_nonzero(missing))
            self.filled[column.name] = self.filled.get(column.name, 0) + count

    def warn_of_cells(self) -> None:
        """Warnings of words that training did not know, by column, and one of what was filled."""
        for name, (count, word, number) in self.unknown.items():
            if count == self._rows > 1:
                every = ", all of them,"
            else:
                every = ""
            self._table.warn(
                f"column '{one_line(name)}' has {count} cell{'s' * (count > 1)}{every} with words "
                f"that training did not know, first '{one_line(word)}' in {self._table.counted} "
                f"{number}: they are none of its categories"
            )
        if self.filled:
            shown = [f"'{one_line(name)}' ({count})" for name, count in self.filled.items()]
            total = sum(self.filled.values())
            more = f" and {len(shown) - _SHOWN} more" * (len(shown) > _SHOWN)
            self._table.warn(
                f"{total} missing value{'s are' if total > 1 else ' is'} filled, by "
                f'`missing="{self.recipe.missing}"` of training: '
                f"{', '.join(shown[:_SHOWN])}{more}",
                AgfmcNotice,
            )

    def warn_of_others(self, known) -> None:
        """One notice of the columns that the model does not need; known: names of others."""
        needed = {self._table.names[at] for at in self.positions} | set(known)
        extra = [name for name in self._table.names if name not in needed]
        if extra:
            self._table.warn(
                f"column '{one_line(extra[0])}'{and_more(extra)} is not needed, and not used",
                AgfmcNotice,
            )


def class_numbers(
    table: Table, block: Block, position: int, classes: dict, key_of=plain_word
) -> np.ndarray:
    """Numbers (n,) int32 of the classes {name: number} in the column at that position.

    Names are compared by key_of(name).
    """
    cells = block[position]
    number_of = {key_of(name): number for name, number in classes.items()}
    y = np.array([number_of.get(key_of(word), -1) for word in cells.words] + [-1], dtype=np.int32)[
        cells.codes
    ]
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
    """A recipe whose fills that are NaN have become the means or medians of points x (n, d).

    `x` is an array, or a file of them, in which missing values are NaN; it is read by blocks of
    rows of a fixed size, so that its numbers do not depend on how the table was read.
    """
    columns = list(recipe.columns)
    numbers = [number for number, one in enumerate(columns) if one.fill != one.fill]
    if not numbers:
        return recipe
    features = np.array(recipe.starts)[numbers]
    if recipe.missing == "mean":
        values = _means(x, features)
    else:
        values = _medians(x, features)
    for number, value in zip(numbers, values.tolist()):
        columns[number] = replace(columns[number], fill=value)
    return replace(recipe, columns=tuple(columns))


def fill_missing(x, recipe: TableRecipe) -> None:
    """Put the fills of a recipe in place of the NaN in points x (n, d), block by block."""
    fills = {
        first: one.fill
        for one, first in zip(recipe.columns, recipe.starts)
        if one.categories is None and one.fill is not None
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


def _medians(x, features):
    out = np.empty(len(features))
    step = max(1, _GATHERED // len(x))
    refuse_beyond(16 * step * len(x), "the values of a column, for their median,", None)
    for start in range(0, len(features), step):
        group = features[start : start + step]
        columns = np.concatenate([part[:, group] for part in _blocks(x)])
        out[start : start + step] = np.nanmedian(columns.astype(np.float64), axis=0)
    return out.astype(np.float32).astype(np.float64)


def table_points(source: Any, recipe: TableRecipe) -> np.ndarray:
    """Points (n, d) float32 of a table with the columns of a recipe.

    `source` is what `open_table` takes.
    """
    with open_table(source, TableFormat().for_model(recipe)) as table:
        encoder = TableEncoder(table, recipe)
        parts = [encoder.points(block) for block in table.blocks(encoder.requested)]
        encoder.warn_of_cells()
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts)
