"""Tables of rows and named columns, read in blocks of rows: CSV and its kin, Parquet, Arrow.

What a table is its first bytes tell: gzip, Parquet, Arrow, else text.  Text is converted by
PyArrow where it is installed and the text is long, else by Python's module csv, with the same
answers; Parquet and Arrow need PyArrow.
"""

from __future__ import annotations

import functools
import itertools
import os
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, ExitStack
from dataclasses import dataclass, replace

import numpy as np

from ..core.errors import AgfmcWarning, and_more, DataError, one_line, UsageError
from ..files.atomic import temporary_file, writing
from ..files.number_text import SPREADSHEET
from ..files.opening import GZIP, open_input, Unzipped, WithHead
from .arrow import ArrowFile, holds_arrow, text_columns
from .text import (behind_first, BLOCK, columns_of, converted, guess_delimiter, Layout, number_of,
                   OUTER, read_records, stripped, Words)
from .types import ROW, TableFormat

_HEAD = 1 << 16  # bytes from which the delimiter is guessed
_MOST_COLUMNS = 200_000  # each takes some 0.1 ms
_MAGIC = 8  # bytes that tell Parquet and Arrow
_LEAST = 1 << 20  # bytes of text for which PyArrow is worth loading
_COMPRESSED = (*(b"BZh%d1AY" % level for level in range(1, 10)),  # by bzip2, xz, zstd
               b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Block:
    """Some rows of a table: the wanted columns of `rows` rows, by their position.

    A column is float64 (rows,), NaN where missing, or `Words`, or a list of text.
    """

    rows: int
    file: str
    counted: str
    columns: Mapping[int, np.ndarray | Words | list[str]]
    numbers: Callable[[], np.ndarray]  # of the lines or rows in the file

    def __getitem__(self, position: int) -> np.ndarray | Words | list[str]:
        return self.columns[position]

    def number(self, row: int) -> int:
        """The line of a row of the block (from 0) in a text, else its row in the file, from 1."""
        return int(self.numbers()[row])

    def error(self, row: int, message: str) -> DataError:
        """The error at a row of the block."""
        return row_error(self, self.number(row), message)


def row_error(table, number: int, message: str) -> DataError:
    """The error at the line of a `Table`, `Block` or other, or at its row where it has no lines."""
    if table.counted == "line":
        return DataError(message, file=table.file, line=number)
    return DataError(f"{table.counted} {number}: {message}", file=table.file)


class Table:
    """An open table.

    file: its name for messages;  names: of the columns, without outer blanks, or numbers from 1;
    counted: what its places are counted in, "line" or, in Parquet and Arrow, "row";  blanks: the
    cells, without outer blanks, that are missing.
    """

    counted = "line"

    def __init__(self, file: str, names: tuple[str, ...], blanks: frozenset[str] = frozenset()):
        if len(names) > _MOST_COLUMNS:
            raise DataError(f"has {len(names)} columns: expected {_MOST_COLUMNS} or fewer (LIBSVM "
                            "text may have more features)", file=file)
        self.file = file
        self.names = names
        self.blanks = blanks

    def blocks(self, wanted: Mapping[int, str]) -> Iterator[Block]:
        """Yield the rows of the wanted columns, in `Block`s.

        wanted: the kind of a column by its position from 0: "number", where a word is an error;
        "either", numbers where all cells of the block are, else `Words`; "words"; "text", the
        cells as they stand there.  Raises DataError for the first row that is wrong, and for a
        table without rows.
        """
        raise NotImplementedError

    def warn(self, message: str) -> None:
        """A warning about the table."""
        source = "standard input" if self.file == "-" else self.file
        warnings.warn(f"{source}: {message}", AgfmcWarning, stacklevel=3)

    def of_text(self, block: Block, kinds: Mapping[int, str]) -> Block:
        """A block whose columns of these positions, which are text, are of other kinds.

        Raises DataError as `blocks` does.
        """
        columns, faults = columns_of(block.columns, kinds, self)
        if faults:
            row, _, message = min(faults)
            raise block.error(row, message)
        return replace(block, columns={**block.columns, **columns})


class _TextTable(Table):
    """A table in text, perhaps compressed with gzip.

    start: a function that gives a stream of its bytes from the first one on, None where they
    have gone.
    """

    def __init__(self, start, name, form, engine, block):
        self.file, self._start, self._engine, self._block = name, start, engine, block
        head, stream = self._begin()
        _refuse_foreign(head, name)
        if form.delimiter is None and name.lower().removesuffix(".gz").endswith(".tsv"):
            form = replace(form, delimiter="\t")
        self._layout = Layout(
            form.delimiter or guess_delimiter(head.decode("utf-8", "replace"), form.quotes,
                                              len(head) < _HEAD),
            form.quotes, form.header, stripped(form.blanks))
        cells, line, self._opened = self._records(head, stream)
        if not form.header:
            cells = tuple(str(i + 1) for i in range(len(cells)))
        elif all(number_of(cell) is not None for cell in cells):
            raise DataError("the first line holds numbers: --no-header where there are no names",
                            file=name, line=line)
        else:
            cells = column_names(cells, name, line)
        super().__init__(name, cells, self._layout.blanks)
        self._layout = self._layout._replace(names=cells)

    def _begin(self):
        """(the first bytes of the text, without the mark of UTF-8; the stream of the others)."""
        stream = self._start()
        if stream is None:
            raise UsageError("this table can be read only once", file=self.file)
        head = _read_all(stream, len(GZIP))
        if head.startswith(GZIP):
            head, stream = b"", Unzipped(WithHead(head, stream), self.file)
        head = _read_all(stream, _HEAD, head)
        return head.removeprefix(_MARK), stream

    def _records(self, head, stream):
        """(the cells of the first record, its line, the `Records` of the rows)."""
        records = read_records(WithHead(head, stream).read, self.file, self._layout, self._block)
        for first in records:
            cells, rest = behind_first(first, self._layout)
            if cells is not None:
                return cells, int(first.lines(self._layout, 1)[0]), itertools.chain(
                    [rest if self._layout.header else first], records)
        raise DataError("expected a table, found no line", file=self.file)

    def blocks(self, wanted):
        parts, self._opened = self._opened or self._records(*self._begin())[2], None
        layout, done, worded = self._layout, 0, set()
        least = {None: _LEAST, "arrow": 0, "csv": np.inf}[self._engine]
        for records in parts:
            long = len(records.data) >= least
            result = text_columns(records, layout, wanted, worded) if long else None
            rows, columns = result or converted(records, layout, wanted, not done)
            worded |= {at for at, column in columns.items() if isinstance(column, Words)}
            if rows:
                yield Block(rows, self.file, self.counted, columns,
                            functools.partial(records.lines, layout, rows))
            done += rows
        if not done:
            raise DataError("the table has no rows" + " behind its header" * layout.header,
                            file=self.file)


def _read_all(stream, size, head=b""):
    """The bytes `head`, and more of the stream, so that there are `size` if it has so many."""
    while len(head) < size and (piece := stream.read(size - len(head))):
        head += piece
    return head


class _ArrowTable(Table):
    """A table in Parquet, Feather or an Arrow file or stream."""

    counted = "row"

    def __init__(self, file, name, form):
        self._arrow = ArrowFile(file, name)
        super().__init__(name, column_names(self._arrow.names, name), stripped(form.blanks))

    def blocks(self, wanted):
        first = 1
        for rows, columns, fault in self._arrow.blocks(wanted, self.blanks):
            block = Block(rows, self.file, self.counted, columns,
                          functools.partial(np.arange, first, first + rows))
            if fault is not None:
                raise block.error(*fault)
            yield block
            first += rows
        if first == 1:
            raise DataError("the table has no rows", file=self.file)


def _refuse_foreign(head, file):
    """Raise DataError for files that are known not to be text in UTF-8."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError("is text in UTF-16: `iconv -f UTF-16 -t UTF-8` makes it readable",
                        file=file, line=1)
    if head.startswith(SPREADSHEET):
        raise DataError("is a spreadsheet or an archive: save the table as CSV", file=file)
    if head.startswith(_COMPRESSED):
        raise DataError("is compressed in another way than by gzip, which alone is read: unpack it",
                        file=file)


def column_names(cells, file: str, line: int | None = None) -> tuple[str, ...]:
    """The names in a header without outer blanks, all different; an empty first one is row."""
    names = [cell.strip(OUTER) for cell in cells]
    if names and not names[0] and len(names) > 1:
        names[0] = ROW
    seen = {}
    for i, name in enumerate(names):
        if not name:
            raise DataError(f"column {i + 1} has no name in the header", file=file, line=line)
        if name in seen:
            raise DataError(f"columns {seen[name] + 1} and {i + 1} have the same name '{name}'",
                            file=file, line=line)
        seen[name] = i
    return tuple(names)


def columns_called(table: Table, names: Iterable[str]) -> dict[str, int]:
    """{name: position, from 0} of the columns of these names, as far as there are any.

    Where none has the name, it is the one column whose name differs in case alone, with a warning;
    `DataError` where several do.
    """
    names, columns, others = dict.fromkeys(names), {}, defaultdict(list)
    positions = {name: at for at, name in enumerate(table.names)}
    for name in positions.keys() - names:
        others[name.lower()].append(name)
    for name in names:
        alike = [name] if name in positions else sorted(others[name.lower()])
        if len(alike) > 1:
            raise DataError(f"there is no column '{one_line(name)}', and several differ from it in "
                            f"case alone: {', '.join(map(repr, alike))}", file=table.file)
        columns.update((name, positions[one]) for one in alike)
    taken = [name for name, at in columns.items() if table.names[at] != name]
    if taken:
        warnings.warn(f"{table.file}: column '{one_line(table.names[columns[taken[0]]])}' is taken "
                      f"for '{one_line(taken[0])}'{and_more(taken)}", AgfmcWarning, stacklevel=3)
    return columns


@contextmanager
def open_table(path, form: TableFormat = TableFormat(), stdin=None, again: bool = False,
               engine: str | None = None, block: int = BLOCK) -> Iterator[Table]:
    """The `Table` in a file, for `with`; `-` is standard input (`stdin`, a binary stream).

    again: `Table.blocks` may be called several times; what cannot be read twice is held in a
    temporary file.  engine: "csv" or "arrow" for text, None for what suits;  block: about the
    bytes of text that are read at a time.  Raises DataError for what is not a table.
    """
    with open_input(path, stdin, raw=True) as file, ExitStack() as stack:
        name, head = file.name, _read_all(file, _MAGIC)
        if file.regular_size() is not None:
            first = None
        elif again or holds_arrow(head):
            first, file = None, stack.enter_context(_held(head, file))
        else:
            first = iter([WithHead(head, file)])

        def start():
            if first is None:
                file.seek(0)
            return file if first is None else next(first, None)

        if holds_arrow(head):
            whole = stack.enter_context(os.fdopen(os.dup(file.fileno()), "rb"))
            yield _ArrowTable(whole, name, form)
        else:
            yield _TextTable(start, name, form, engine, block)


@contextmanager
def _held(head, file):
    """A temporary file of all bytes of an input that cannot be read again, which began so."""
    with temporary_file() as held:
        while head:
            with writing("a temporary file"):
                held.write(head)
            head = file.read(BLOCK)
        held.flush()
        yield held
