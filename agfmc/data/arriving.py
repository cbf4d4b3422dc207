"""Points of lines that come a few at a time: rows of a table, objects of JSON, LIBSVM text.

Both classes take lines, the number of the first line, and that of the first row. `points` has what
stands before the answers beside the points; `cells` returns it for a line that is wrong, and
forgets what the last `points` counted.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Iterator
from types import SimpleNamespace

from ..core.errors import DataError
from ..tables.memory import JsonLines
from ..tables.reading import table_of_heading
from ..tables.types import ROW, TableRecipe
from .from_table import rows_of_table
from .libsvm import svm_chunks
from .types import InputFormat


class ArrivingRows:
    """Rows of a table behind its heading, or JSON objects where `heading` is the first of them.

    Of objects, the ids are the columns of --id or of training, and empty where they lack them.
    """

    def __init__(self, heading: bytes, form: InputFormat, recipe: TableRecipe, everything: bool,
                 file: str, step: int):
        layout = form.layout.for_model(recipe)
        self.is_json = heading.lstrip().startswith(b"{")
        if self.is_json:
            names = [*(one.name for one in recipe.columns), *(form.roles.ids or recipe.ids)]
            self._table = JsonLines(list(dict.fromkeys(names)), layout, file)
        else:
            self._table = table_of_heading(heading, layout, file)
        self._rows, self._step = rows_of_table(
            self._table, form, recipe, everything, compared=False), step
        self.heads, self.warn = self._rows.heads, self._rows.warn

    def points(self, data: bytes, line: int, first: int) -> Iterator[tuple]:
        """Yield (x (n, d), cells of the heads) of lines."""
        self._counts = self._rows.encoder.counts
        self._table.put(data, line)
        return self._rows.chunks(self._step, first)

    def cells(self, data: bytes, line: int, first: int) -> list:
        """The cells of the heads of a line that is wrong, empty where it lacks them."""
        self._rows.encoder.counts = self._counts
        try:
            self._table.put(data, line)
            block = next(self._table.blocks(dict.fromkeys(self._rows.copied, "text")))
            cells = [block[at] for at in self._rows.copied]
        except (DataError, StopIteration):
            cells = [[""] for _ in self._rows.copied]
        return cells or [range(first, first + 1)]


def arriving_rows(lines: Iterator, form: InputFormat, recipe: TableRecipe, everything: bool,
                  file: str, step: int) -> tuple[ArrivingRows, Iterator]:
    """The source of lines, as of `arriving_lines`, that begin with a heading; those of its rows.

    Lines of JSON, and a table without a heading, have the first row there. `everything` and `step`
    are as of `rows_to_classify` and `RowsToClassify.chunks`.
    """
    data, line = next((one for one in lines if one[0].strip(b"\r\n")), (b"", 1))
    text = data.lstrip(b"\r\n")
    line += data[:len(data) - len(text)].count(b"\n")
    heading, end, rest = text.partition(b"\n")
    source = ArrivingRows(heading + end, form, recipe, everything, file, step)
    has_heading = form.layout.header and not source.is_json
    return source, itertools.chain([(rest, line + 1) if has_heading else (text, line)], lines)


def numbered(chunks: Iterable, first: int = 1) -> Iterator[tuple]:
    """(x, cells of the head) for chunks of points without ids: their numbers."""
    for x in chunks:
        yield x, [range(first, first + len(x))]
        first += len(x)


class ArrivingPoints:
    """LIBSVM text, whose points are numbered; arguments as for `svm_chunks`."""

    heads, is_json = (ROW,), False

    def __init__(self, file: str, *how):
        self._file, self._how = file, how

    def points(self, data: bytes, line: int, first: int) -> Iterator[tuple]:
        """Yield (x (n, d), numbers) of lines."""
        text = SimpleNamespace(name=self._file, read=io.BytesIO(data).read)
        return numbered(svm_chunks(text, *self._how), first)

    def cells(self, data: bytes, line: int, first: int) -> list:
        """The number of a line that is wrong."""
        return [range(first, first + 1)]

    def warn(self):
        """There is nothing to warn of."""
