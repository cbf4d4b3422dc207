"""Tables as training data, as points to classify, and as binary files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..errors import DataError, one_line, UsageError
from ..formats.atomic import temporary_file
from ..formats.inputs import refuse_beyond
from ..formats.lazy_points import LazyPoints, StoredTable
from ..formats.table import open_table, Table
from ..models import Dataset, InputFormat
from ..prepare.column_survey import resolve_roles, survey_classes, survey_table
from ..prepare.table_points import class_numbers, fill_missing, filled_recipe, TableEncoder
from ..tables import TableRecipe

__all__ = ["TableRows", "encoded_rows", "read_table", "table_labels"]

_LAZY = 1 << 24  # bytes of points above which they stay in a file


class TableRows(NamedTuple):
    """Some rows of a table: points x (n, d) float32, classes y (n,) int32, weights (n,), text.

    y, weights: None where they are not wanted;  text: the cells of the further columns, a list of
    n for each.
    """

    x: np.ndarray
    y: np.ndarray | None
    weights: np.ndarray | None
    text: list


def encoded_rows(table: Table, encoder: TableEncoder, label: int | None = None,
                 weight: int | None = None, text: tuple[int, ...] = ()) -> Iterator[TableRows]:
    """`TableRows` of a table, block by block; label, weight, text: positions of columns.

    Raises `DataError` for cells that the recipe cannot take, with file, line and column.
    """
    classes = {name: at for at, name in enumerate(encoder.recipe.classes)}
    wanted = dict(encoder.wanted)
    both = set(wanted) & {label, weight, *text}  # a feature that is copied too
    wanted |= dict.fromkeys(text, "text") | ({} if label is None else {label: "words"}) \
        | ({} if weight is None else {weight: "number"})
    if both:
        raise UsageError(f"column '{one_line(table.names[min(both)])}' is a feature of the model")
    for block in table.blocks(wanted):
        x = encoder.points(block)
        y = None if label is None else class_numbers(table, block, label, classes)
        weights = None if weight is None else _weights(table, block, weight)
        yield TableRows(x, y, weights, [block[at] for at in text])


def _weights(table, block, position):
    weights = block[position]
    bad = ~((weights >= 0) & (weights < np.inf))
    if bad.any():
        raise block.error(int(np.argmax(bad)), f"column '{one_line(table.names[position])}' of the "
                                               "weights: expected a number of 0 or more")
    return weights


def read_table(path: str, form: InputFormat, recipe: TableRecipe | None = None, *,
               lazy: bool = False, stdin=None) -> Dataset:
    """The `Dataset` of a training table, or of one with the columns of a recipe of training.

    x (n, d) float32, or, with lazy and many points, `LazyPoints` in a temporary file;  y (n,);
    names: of the classes;  recipe: the one given, or made of this table.
    """
    with open_table(path, form.layout, stdin, again=True) as table:
        if recipe is None:
            survey = survey_table(table, form.roles)
            recipe, roles, rows = survey.recipe, survey.roles, survey.rows
        else:
            roles, rows = resolve_roles(table, _label_of(form.roles, recipe)), None
        encoder = TableEncoder(table, recipe)
        parts = encoded_rows(table, encoder, roles.label)
        width = len(recipe.features)
        if rows is not None and lazy and 4 * rows * width > _LAZY:
            x, y, recipe = _in_a_file(parts, recipe, path)
        else:
            if rows is not None:
                refuse_beyond(4 * rows * width, f"the points, {rows} of {width} features",
                              table.file)
            x, y = _in_memory(parts, rows, width)
            recipe = filled_recipe(recipe, x)
            fill_missing(x, recipe)
        encoder.warn_of_unknown()
    return Dataset(x, y, recipe.classes, recipe)


def _label_of(roles, recipe):
    """The roles of a table of which the recipe names the columns: its label alone."""
    return replace(roles, label=roles.label or recipe.label, ids=(), weight=None, ignored=(),
                   categorical=())


def _in_memory(parts, rows, width):
    if rows is None:
        parts = list(parts)
        if not parts:
            return np.zeros((0, width), np.float32), np.zeros(0, np.int32)
        return np.concatenate([part.x for part in parts]), np.concatenate(
            [part.y for part in parts])
    x, y, at = np.empty((rows, width), np.float32), np.empty(rows, np.int32), 0
    for part in parts:
        stop = at + len(part.x)
        x[at:stop], y[at:stop], at = part.x, part.y, stop
    return x, y


def _in_a_file(parts, recipe, path):
    """(LazyPoints, y, recipe) of rows that are written to a temporary file."""
    with _spooled(parts) as (file, rows, labels):
        shape = rows, len(recipe.features)
        recipe = _finished(file, shape, recipe)
        table = StoredTable(file.fileno(), os.fsdecode(path), "<f4", 0, shape)
        return LazyPoints(table), np.concatenate(labels), recipe


class _spooled:
    """A temporary file of the points of `TableRows`: (file, rows, labels), for `with`."""

    def __init__(self, parts):
        self._parts = parts

    def __enter__(self):
        self._file = temporary_file()
        try:
            rows, labels = 0, []
            for part in self._parts:
                self._file.write(np.ascontiguousarray(part.x, "<f4").tobytes())
                rows += len(part.x)
                labels.append(part.y)
            self._file.flush()
        except OSError as error:
            self._file.close()
            raise DataError(f"cannot write a temporary file: {error.strerror}") from error
        except BaseException:
            self._file.close()
            raise
        return self._file, rows, labels

    def __exit__(self, *error):
        self._file.close()


def _finished(file, shape, recipe):
    """The recipe with its fills, which are in the file of points (n, d) then."""
    if not shape[0]:
        return recipe
    x = np.memmap(file, "<f4", "r+", shape=shape)
    recipe = filled_recipe(recipe, x)
    fill_missing(x, recipe)
    x.flush()
    return recipe


def table_labels(path: str, form: InputFormat, stdin=None) -> tuple[dict[int, int],
                                                                    dict[int, str]]:
    """({label: samples}, {label: name}) of a training table."""
    with open_table(path, form.layout, stdin, again=True) as table:
        names, counts = survey_classes(table, form.roles)
    return counts, dict(enumerate(names))
