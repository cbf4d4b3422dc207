"""Binary data as a table: words, ids and the names of columns come from the files beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice

import numpy as np

from ..core.errors import DataError, one_line
from ..files.csv import csv_line, csv_lines, writing_text
from ..files.kinds import answer_format
from ..tables.reading import open_table
from ..tables.types import ColumnRecipe, TableFormat, TableRecipe
from .class_names import read_names_of
from .libagf import read_cls, VecReader
from .reading import recipe_of_points

_ROWS = 4096  # at a time


def print_table(base: str, out: str, show: Callable[[bytes], None], labels: bool = True) -> None:
    """The points of base.vec with their classes as CSV to a file, or, for `-`, to show(bytes).

    With base.recipe there are the columns of the table that it was made of: categories are words
    again, and missing values that an indicator marks are empty cells. Without it they are f1, f2
    and so on. The columns of base.ids come first, the class last, by its name in base.names. `.tsv`
    has tabs between cells, and `.gz` is compressed. Raises `DataError` where the files do not fit
    together.
    """
    with VecReader(f"{base}.vec", _ROWS) as points:
        if points.n is None:
            raise DataError("expected a file, found a pipe", file=f"{base}.vec")
        recipe = recipe_of_points(base, points.d) or TableRecipe(
            tuple(ColumnRecipe(f"f{i + 1}") for i in range(points.d)), "class", ()
        )
        y = None
        if labels:
            names, y = _classes(base, points.n)
        with _rows_of_ids(f"{base}.ids", points.n) as ids:
            header = [*next(ids), *dict.fromkeys(column.source for column in recipe.columns)]
            header += [recipe.label] * labels
            twice = [name for name in header if header.count(name) > 1]
            if twice:
                raise DataError(
                    f"two columns would be named '{one_line(twice[0])}'", file=f"{base}.vec"
                )
            delimiter = answer_format(out).delimiter
            with writing_text(out, show) as write:
                write(csv_line(header, delimiter))
                done = 0
                for x in points:
                    columns = [*zip(*islice(ids, len(x))), *_cells(x, recipe, f"{base}.vec", done)]
                    if y is not None:
                        columns.append([names[label] for label in y[done : done + len(x)].tolist()])
                    write(csv_lines(columns, delimiter))
                    done += len(x)
                next(ids, None)  # there is no further one, or an error


def _classes(base, n):
    """({label: word}, labels (n,)); a rejected point has no word."""
    y = read_cls(f"{base}.cls", n, negative=True)
    labels = np.unique(y)
    classes = labels[labels >= 0].tolist()
    path = f"{base}.names"
    if os.path.exists(path):
        names = read_names_of(path, classes)
    else:
        names = {label: str(label) for label in classes}
    return dict.fromkeys(labels[labels < 0].tolist(), "") | names, y


@contextmanager
def _rows_of_ids(path, rows):
    """The rows of a file of ids, with its header, for `with`; none where there is no file."""
    if not os.path.exists(path):
        yield iter([[]])
        return
    with open_table(path, TableFormat(",", header=False, blanks=())) as table:
        yield _counted(table, rows)


def _counted(table, rows):
    count = -1
    requested = dict.fromkeys(range(len(table.names)), "text")
    for block in table.blocks(requested):
        count += block.rows
        if count > rows:
            break
        yield from zip(*(block[at] for at in requested))
    if count != rows:
        raise DataError(
            f"has not {rows} rows behind its header, as there are points: it is of "
            "other points: remove it",
            file=table.file,
        )


def _cells(x, recipe, file, done) -> Iterator[list[str]]:
    """The cells of each column of a table, of points x (n, d); done: points before them."""
    firsts: list[str] = []  # of pairs of numbers
    for column, first in zip(recipe.columns, recipe.starts):
        part = x[:, first : first + len(column.features)]
        words = column.categories
        if column.date is not None:
            cells = [*map(column.date.text, part[:, 0].tolist())]
            encoded = part[:, len(column.date.features("")) :]
        elif column.order is not None:
            place = dict(enumerate(column.order))
            cells = [place.get(value, "") for value in part[:, 0].tolist()]
            encoded = part[:, 1:]
        elif words is None:
            cells = _numbers(part[:, 0])
            encoded = part[:, 1:]
            if column.numbers is not None:
                cells = _formed_cells(cells, encoded, column.numbers)
        else:
            encoded = part
            is_word = part[:, : len(words)]
            code = np.where(is_word.any(axis=1), is_word.argmax(axis=1), len(words))
            cells = [*map([*words, ""].__getitem__, code.tolist())]
        wrong = ((encoded != 0) & (encoded != 1)).any(axis=1)
        if words is not None:
            wrong |= encoded.sum(axis=1) > 1
        if wrong.any():
            raise DataError(
                f"row {done + int(np.argmax(wrong)) + 1} is not made by the "
                f"recipe: expected 0 and a single 1 in the features of the column "
                f"'{one_line(column.name)}'",
                file=file,
            )
        if column.indicator:
            cells = ["" if missing else cell for cell, missing in zip(cells, part[:, -1].tolist())]
        if column.pair is None:
            yield cells
        elif column.pair.number == 0:
            firsts = cells
        else:
            yield [first and f"{first}, {second}" for first, second in zip(firsts, cells)]


def _formed_cells(numbers, encoded, form):
    """Numbers as cells of a `NumberForm`, with the limits that the next features (n, f) tell."""
    limits = np.full(len(numbers), "", dtype="U1")
    for at, limit in enumerate(form.limits):
        limits[encoded[:, at] == 1] = limit
    return list(map(form.cell, numbers, limits.tolist()))


def _numbers(values):
    """The shortest decimals that are these float32 values (n,), read in float64 too."""
    texts = values.astype("U")
    is_same = texts.astype(np.float64).astype(np.float32) == values
    is_plain = (values == np.rint(values)) & (np.abs(values) < 1e15) & (values != 0)
    cells = []
    columns = (values, texts, is_same, is_plain)
    for value, text, same, plain in zip(*(column.tolist() for column in columns)):
        if plain:
            text = str(int(value))
        elif not same:
            text = repr(value)
        cells.append(text.removesuffix(".0"))
    return cells
