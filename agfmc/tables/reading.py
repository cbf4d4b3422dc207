"""Tables of rows and named columns, read in blocks of rows: CSV and its kin, Parquet, Arrow.

What a table is its first bytes tell: gzip, Parquet, Arrow, else text.  Text is converted by
PyArrow where it is installed and the text is long, else by Python's module csv, with the same
answers; Parquet and Arrow need PyArrow.
"""

from __future__ import annotations

import functools
import io
import itertools
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, ExitStack
from dataclasses import replace

import numpy as np

from ..core.errors import and_more, DataError, one_line, UsageError, warn_user
from ..files.atomic import temporary_file, writing
from ..files.number_text import SPREADSHEET
from ..files.opening import Chained, CutLine, GZIP, MARK, open_input, read_all, Unzipped
from .arrow import ArrowTable, holds_arrow, text_columns
from .memory import table_in_memory
from .text import (
    behind_first,
    BLOCK,
    Block,
    column_names,
    column_of_commas,
    converted,
    guess_delimiter,
    Layout,
    LONGEST_CELL,
    number_of,
    read_records,
    split_line,
    stripped,
    Table,
    Words,
)
from .types import TableFormat

_HEAD = 1 << 16  # bytes from which the delimiter is guessed
_MAGIC = 8  # bytes that tell Parquet and Arrow
_LEAST = 1 << 20  # bytes of text for which PyArrow is worth loading
_COMPRESSED = (
    *(b"BZh%d1AY" % level for level in range(1, 10)),  # by bzip2, xz, zstd
    b"\xfd7zXZ\0",
    b"\x28\xb5\x2f\xfd",
)


class _TextTable(Table):
    """A table in text, perhaps compressed with gzip; `head` is None for a file that can be read
    again.
    """

    def __init__(self, file, head, form, engine, block, name):
        self.file, self._input, self._head, self._engine, self._block = (
            name,
            file,
            head,
            engine,
            block,
        )
        self._opened = ()
        self._in_parts = False
        head, stream = self._begin()
        _refuse_foreign(head, name)
        if form.delimiter is None and name.lower().removesuffix(".gz").endswith(".tsv"):
            form = replace(form, delimiter="\t")
        self._layout = Layout(
            form.delimiter
            or guess_delimiter(head.decode("utf-8", "replace"), form.quotes, len(head) < _HEAD),
            form.quotes,
            form.header,
            stripped(form.blanks),
        )
        commas = None
        if form.decimal is None and self._layout.delimiter == ";":
            commas = column_of_commas(
                head.decode("utf-8", "replace"), self._layout, len(head) < _HEAD
            )
        self.decimal = form.decimal or ("." if commas is None else ",")
        cells, line, self._opened = self._records(head, stream)
        if not form.header:
            cells = tuple(str(i + 1) for i in range(len(cells)))
        elif all(number_of(cell) is not None for cell in cells):
            raise DataError(
                "the first line holds numbers: `header=False` where there are no names",
                file=name,
                line=line,
            )
        else:
            cells = column_names(cells, name, line)
        super().__init__(name, cells, self._layout.blanks)
        self._layout = self._layout._replace(names=cells, decimal=self.decimal)
        if commas is not None and commas < len(cells):
            self.warn(
                f"decimals have commas, as in column '{one_line(cells[commas])}' "
                '(`decimal="."` says that they have points)'
            )

    def _begin(self):
        """(the first bytes of the text, without the mark of UTF-8; the stream of the others)."""
        stream = self._input
        if self._head is None:
            stream.seek(0)
        elif self._opened is None:
            raise UsageError("this table can be read only once", file=self.file)
        else:
            stream = Chained(self._head, stream)
        head = read_all(stream, len(GZIP))
        if head.startswith(GZIP):
            head, stream = b"", Unzipped(Chained(head, stream), self.file)
        return read_all(stream, _HEAD, head).removeprefix(MARK), stream

    def _records(self, head, stream):
        """(the cells of the first record, its line, the `Records` of the rows)."""
        records = read_records(Chained(head, stream).read, self.file, self._layout, self._block)
        for first in records:
            cells, rest = behind_first(first, self._layout)
            if cells is not None:
                return (
                    cells,
                    int(first.lines(self._layout, 1)[0]),
                    itertools.chain([rest if self._layout.header else first], records),
                )
        raise DataError("expected a table, found no line", file=self.file)

    def put(self, data: bytes, line: int) -> None:
        """Let `blocks` yield the rows of these lines, the number of the first being `line`.

        Each line is a row: a cell with a line break is a quote that is not closed.
        """
        if self._layout.quotes and b'"' in data:
            for number, text in enumerate(data.split(b"\n"), line):
                if text.count(b'"') % 2:
                    raise DataError(
                        "a quote is not closed in its line", file=self.file, line=number
                    )
        self._in_parts = True
        self._opened = read_records(io.BytesIO(data).read, self.file, self._layout, len(data), line)

    def line_texts(self, data: bytes, positions: Sequence[int]) -> list[str]:
        """The cells of these columns in one line, empty where they cannot be read.

        Other cells may be too long, and the line may be cut.
        """
        cells = split_line(data, self._layout)
        if isinstance(data, CutLine):
            del cells[-1:]
        elif len(cells) != len(self.names):
            cells = []
        texts = [cells[at] if at < len(cells) else "" for at in positions]
        return [text if len(text) <= LONGEST_CELL else "" for text in texts]

    def blocks(self, requested):
        parts = self._opened or self._records(*self._begin())[2]
        self._opened = None
        layout = self._layout
        done = 0
        worded = set()
        least = {None: _LEAST, "arrow": 0, "csv": np.inf}[self._engine]
        for records in parts:
            long = len(records.data) >= least and layout.decimal == "."
            if long:
                result = text_columns(records, layout, requested, worded)
            else:
                result = None
            rows, columns = result or converted(records, layout, requested, not done)
            worded |= {at for at, column in columns.items() if isinstance(column, Words)}
            if rows:
                yield Block(
                    rows,
                    self.file,
                    self.counted,
                    columns,
                    functools.partial(records.lines, layout, rows),
                )
            done += rows
        if not done and not self._in_parts:
            raise DataError(
                "the table has no rows" + " behind its header" * layout.header, file=self.file
            )


def _refuse_foreign(head, file):
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(
            "is text in UTF-16: `iconv -f UTF-16 -t UTF-8` makes it readable", file=file, line=1
        )
    if head.startswith(b"sep="):
        raise DataError(
            "names the delimiter, for spreadsheets: remove this line", file=file, line=1
        )
    if head.startswith(SPREADSHEET):
        raise DataError("is a spreadsheet or an archive: save the table as CSV", file=file)
    if head.startswith(_COMPRESSED):
        raise DataError(
            "is compressed in another way than by gzip, which alone is read: unpack it", file=file
        )


def columns_called(table: Table, names: Iterable[str]) -> dict[str, int]:
    """{name: position, from 0} of the columns of these names, as far as there are any.

    Where none has the name, it is the one column whose name differs in case alone, with a warning;
    `DataError` where several do.
    """
    names = dict.fromkeys(names)
    columns = {}
    others = defaultdict(list)
    positions = {name: at for at, name in enumerate(table.names)}
    if names.keys() <= positions.keys():
        return {name: positions[name] for name in names}
    for name in positions.keys() - names:
        others[name.lower()].append(name)
    for name in names:
        if name in positions:
            alike = [name]
        else:
            alike = sorted(others[name.lower()])
        if len(alike) > 1:
            raise DataError(
                f"there is no column '{one_line(name)}', and several differ from it in "
                f"case alone: {', '.join(map(repr, alike))}",
                file=table.file,
            )
        columns.update((name, positions[one]) for one in alike)
    taken = [name for name, at in columns.items() if table.names[at] != name]
    if taken:
        warn_user(
            f"{table.file}: column '{one_line(table.names[columns[taken[0]]])}' is taken "
            f"for '{one_line(taken[0])}'{and_more(taken)}"
        )
    return columns


@contextmanager
def open_table(
    path,
    form: TableFormat = TableFormat(),
    stdin=None,
    again: bool = False,
    engine: str | None = None,
    block: int = BLOCK,
) -> Iterator[Table]:
    """The `Table` in a file, for `with`; `-` is standard input (`stdin`, a binary stream).

    In place of a path it takes an open file of text, whose rest is read, what `table_in_memory`
    takes, and a `Table`, which it yields.

    Parameters
    ----------
    again : bool
        `Table.blocks` may be called several times; what cannot be read twice is held in a temporary
        file.
    engine : {"csv", "arrow"}, optional
        Reader of text; None for what suits.
    block : int, bytes of text that are read at a time, about

    Raises
    ------
    DataError : for what is not a table
    """
    if hasattr(path, "read"):
        text = path.read()
        if isinstance(text, str):
            text = text.encode("utf-8", "surrogateescape")
        yield _TextTable(
            io.BytesIO(text),
            None,
            form,
            engine,
            block,
            str(getattr(path, "name", type(path).__name__)),
        )
        return
    if not isinstance(path, (str, bytes, os.PathLike)):
        yield path if isinstance(path, Table) else table_in_memory(path, form)
        return
    with open_input(path, stdin, raw=True) as file, ExitStack() as stack:
        name = file.name
        head = read_all(file, _MAGIC)
        is_file = file.regular_size() is not None
        if not is_file and (again or holds_arrow(head)):
            file = stack.enter_context(_held(head, file))
            is_file = True
        if holds_arrow(head):
            whole = stack.enter_context(os.fdopen(os.dup(file.fileno()), "rb"))
            yield ArrowTable(whole, name, form)
        else:
            yield _TextTable(file, None if is_file else head, form, engine, block, name)


def table_of_heading(heading: bytes, form: TableFormat, file: str) -> Table:
    """The `Table` of a text of which only the first line is there; `put` gives it the others."""
    return _TextTable(io.BytesIO(), heading, form, None, BLOCK, file)


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
