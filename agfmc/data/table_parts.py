"""Rows of a table in tables of their own, with all columns and their cells as they stand there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core import splits
from ..core.errors import DataError, UsageError
from ..core.memory import refuse_beyond
from ..files.csv import csv_line, csv_lines, writing_texts
from ..files.kinds import answer_format, TEXT_ENDINGS
from ..tables.points import class_numbers
from ..tables.reading import open_table
from ..tables.roles import resolve_roles
from ..tables.survey import survey_classes
from ..tables.words import number_of
from ..tables.types import folded_word, plain_word
from .from_table import row_groups, with_columns
from .groups import place_groups, with_groups, with_groups_of
from .preprocess import divided_rows, drawn_rows, part_names, Recipe
from .types import Dataset
from .weights import chosen_rows

_LINES = 10_000  # that are written at a time


def divide_table(
    recipe: Recipe, source: str, output: str, test: str | None, show: Callable[[bytes], None]
) -> dict[str, int]:
    """Copy the rows of a table that the recipe draws, in its order; -> {file: number of rows}.

    The recipe has only steps that choose, order and divide rows, and these are the rows of
    `preprocess`. The files are those of `table_names`, all or none, and `-` is for show(bytes),
    which b"" ends. Memory holds numbers and classes of rows, and all lines where their order is
    another one.
    """
    names = table_names(recipe, output, test)
    with open_table(source, recipe.form.layout, again=True) as table:
        header = recipe.form.layout.header
        if header and all(number_of(name) is not None for name in table.names):
            raise DataError(
                "the names of the columns are numbers, which nobody could tell from "
                "a row of CSV: `header=False` writes a recipe that has none",
                file=table.file,
            )
        data = _rows_of(table, recipe, source)
        n = len(data.x)
        y = data.y
        if recipe.rows is None:
            rows = np.arange(n)
        else:
            rows = drawn_rows(recipe, n, y, source)
        if recipe.shuffle:
            rows = rows[splits.shuffled(len(rows), recipe.seed)]
        parts = [rows[part] for part in divided_rows(recipe, chosen_rows(data, rows))]
        part_of = np.full(n, -1, np.int32)
        for i, part in enumerate(parts):
            part_of[part] = i
        delimiters = [answer_format(name).delimiter for name in names]
        with writing_texts(names, show) as writers:
            for write, delimiter in zip(writers, delimiters):
                if header:
                    write(csv_line(table.names, delimiter))
            lines: list[bytes] = [b""] * (n if recipe.shuffle else 0)
            size = 0
            for i, numbers, columns in _cells(table, part_of):
                if recipe.shuffle:
                    for row, cells in zip(numbers.tolist(), zip(*columns)):
                        lines[row] = csv_line(cells, delimiters[i])
                        size += len(lines[row])
                    refuse_beyond(size, "the lines of the table", table.file)
                else:
                    writers[i](csv_lines(columns, delimiters[i]))
            if recipe.shuffle:
                for write, part in zip(writers, parts):
                    for first in range(0, len(part), _LINES):
                        write(b"".join([lines[row] for row in part[first : first + _LINES]]))
    return dict(zip(names, map(len, parts)))


def table_names(recipe: Recipe, output: str, test: str | None) -> list[str]:
    """The files that are written: output, with a fraction test, or output-00.csv, output-01.csv, ..."""
    if recipe.parts is None:
        if recipe.fraction is None:
            return [output]
        return [output, test]
    end = next((end for end in TEXT_ENDINGS if output.lower().endswith(end)), None)
    if end is None:
        raise UsageError("`parts` needs the name of the parts: they cannot go to standard output")
    stem, end = output[: -len(end)], output[-len(end) :]
    return [name + end for name in part_names(stem, recipe.parts)]


def _rows_of(table, recipe, source):
    """A `Dataset` of the rows without features, with their groups, and their classes where a step
    needs them."""
    form = with_columns(table, recipe.form)
    roles = form.roles
    requested = recipe.stratified or recipe.rows is not None or roles.label is not None
    needs_y = form.labels and requested
    classes = {}
    key_of = plain_word
    if needs_y:
        names, _ = survey_classes(table, roles)
        classes = {name: number for number, name in enumerate(names)}
        if roles.fold_case:
            key_of = folded_word
    where = resolve_roles(table, roles, needs_y)
    requested = {where.label: "words", where.group: "words"}
    requested.pop(None, None)
    count = 0
    y: list = []
    groups: list = []
    for block in table.blocks(requested or {0: "text"}):
        count += block.rows
        if needs_y:
            y.append(class_numbers(table, block, where.label, classes, key_of))
        if where.group is not None:
            groups += row_groups(table, block, where.group)
    data = Dataset(np.empty((count, 0), np.float32), np.concatenate(y) if needs_y else None)
    if roles.group_places is not None and form.groups is None:
        return with_groups(data, place_groups(table, roles.group_places))
    if where.group is not None:
        return with_groups(data, groups)
    return with_groups_of(data, source, form)


def _cells(table, part_of):
    """Yield (part, its rows (m,), ascending, columns of their cells) of each block of a table."""
    first = 0
    for block in table.blocks(dict.fromkeys(range(len(table.names)), "text")):
        chosen = part_of[first : first + block.rows]
        order = np.argsort(chosen, kind="stable")
        present, starts = np.unique(chosen[order], return_index=True)
        for i, rows in zip(present.tolist(), np.split(order, starts[1:])):
            if i >= 0:
                numbers = rows.tolist()
                columns = [[cells[row] for row in numbers] for cells in block.columns.values()]
                yield i, first + rows, columns
        first += block.rows
    if first != len(part_of):
        raise DataError("has changed while it was read", file=table.file)
