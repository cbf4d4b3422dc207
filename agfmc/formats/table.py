"""Tables of rows and named columns, read in blocks of rows: CSV and its kin, Parquet, Arrow.

What a table is its first bytes tell: gzip, Parquet, Arrow, else text.  Text is converted by
PyArrow where it is installed and the text is long, else by Python's module csv, with the same
answers; Parquet and Arrow need PyArrow.
"""

from __future__ import annotations

import functools
import io
import os
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

import numpy as np

from ..errors import (AgfmcWarning, and_more, DataError, one_line, Place, system_reason,
                      UsageError)
from ..tables import ROW, TableFormat
from .atomic import temporary_file
from .inputs import GZIP, open_input, Unzipped
from .table_arrow import ArrowFile, TextBlocks, holds_arrow
from .table_text import (BLOCK, OUTER, Layout, Words, column_of, converted, guess_delimiter,
                         header_cells, no_number, number_of, read_records, stripped)
from .text import SPREADSHEET

__all__ = ["Block", "Table", "Words", "columns_called", "number_of", "open_table"]

_HEAD = 1 << 16  # bytes from which the delimiter is guessed
_MOST_COLUMNS = 200_000  # each takes some 0.1 ms
_MAGIC = 8  # bytes that tell Parquet and Arrow
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

    def place(self, row: int) -> Place:
        """File and line of a row of the block; of a table that has no lines the file."""
        return Place(self.file, self.number(row) if self.counted == "line" else None)

    def error(self, row: int, message: str) -> DataError:
        """The error at a row of the block."""
        before = "" if self.counted == "line" else f"{self.counted} {self.number(row)}: "
        return self.place(row).error(DataError, before + message)


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

    def of_text(self, block: Block, kinds: Mapping[int, str]) -> Block:
        """A block whose columns of these positions, which are text, are of other kinds.

        Raises DataError as `blocks` does.
        """
        columns, faults = dict(block.columns), []
        for position, kind in kinds.items():
            cells = block[position]
            columns[position], row = column_of(cells, kind, self.blanks)
            if row is not None:
                faults.append((row, position, no_number(self.names[position], cells[row])))
        if faults:
            row, _, message = min(faults)
            raise block.error(row, message)
        return replace(block, columns=columns)


class _Source:
    """The bytes of an input, which can be read again from the start: `file` is of `open_input`.

    Of what cannot be rewound the bytes are held: all in a temporary file (`again`), or those
    of the beginning in memory, until `rewind(True)` says that the last pass begins.
    """

    def __init__(self, file, again):
        self.name = file.name
        self.count = 0  # bytes of this pass
        self._file = file
        self.size = file.regular_size()
        self._held = None if self.size is not None else \
            temporary_file() if again else io.BytesIO()
        self._again = again
        self._holding = True
        self._end = 0

    def read(self, size=-1):
        if self._held is None or self.count >= self._end:
            data = self._file.read(size)
            if self._held is not None and self._holding:
                self._write(data)
        else:
            self._held.seek(self.count)
            data = self._held.read(size)
        self.count += len(data)
        return data

    def _write(self, data):
        try:
            self._held.seek(self._end)
            self._held.write(data)
        except OSError as error:
            raise DataError(f"cannot hold it in a temporary file: {system_reason(error)}",
                            file=self.name) from error
        self._end += len(data)

    def rewind(self, last=False):
        """Begin again at the first byte; last: for the last time, unless all is held."""
        if not self._holding:
            raise UsageError("this table can be read only once", file=self.name)
        self.count = 0
        if self._held is None:
            self._file.seek(0)
        elif last and not self._again:
            self._holding = False

    def whole(self):
        """A file with all bytes: the input, or a temporary one to which it is written."""
        if self._held is None:
            return os.fdopen(os.dup(self._file.fileno()), "rb")
        if not self._again:
            held, self._held, self._end = self._held, temporary_file(), 0
            self._write(held.getvalue())
        while self.read(BLOCK):
            pass
        self._held.flush()
        return os.fdopen(os.dup(self._held.fileno()), "rb")

    def close(self):
        if self._held is not None:
            self._held.close()


class _TextTable(Table):
    """A table in text, perhaps compressed with gzip."""

    def __init__(self, source, form, engine, block):
        self._source, self._engine, self._block = source, engine, block
        self._zipped = self._mark = False
        source.rewind()
        self._zipped = source.read(len(GZIP)) == GZIP
        head = self._read_all(self._reader(), _HEAD)
        _refuse_foreign(head, source.name)
        self._mark = head.startswith(_MARK)
        self._layout = Layout(
            form.delimiter or self._guessed(head.removeprefix(_MARK), form.quotes), form.quotes,
            form.header, stripped(form.blanks))
        super().__init__(source.name, self._names(), self._layout.blanks)
        self._layout = self._layout._replace(names=self.names)

    def _guessed(self, head, quotes):
        if self._source.name.lower().removesuffix(".gz").endswith(".tsv"):
            return "\t"
        return guess_delimiter(head.decode("utf-8", "replace"), quotes, len(head) < _HEAD)

    @staticmethod
    def _read_all(read, size):
        data = b""
        while len(data) < size and (piece := read(size - len(data))):
            data += piece
        return data

    def _reader(self, last=False):
        """A function that reads the text from its start, without the mark of UTF-8."""
        self._source.rewind(last)
        read = (Unzipped(self._source, self._source.name) if self._zipped
                else self._source).read
        if self._mark:
            self._read_all(read, len(_MARK))
        return read

    def _records(self, size, last=False):
        return read_records(self._reader(last), self._source.name, self._layout, size)

    def _names(self):
        for records in self._records(min(self._block, _HEAD)):
            if len(records.starts):
                break
        else:
            raise DataError("expected a table, found no line", file=self._source.name)
        cells = header_cells(records, self._layout)
        if not self._layout.header:
            return tuple(str(i + 1) for i in range(len(cells)))
        line = int(records.lines()[0])
        if all(number_of(cell) is not None for cell in cells):
            raise DataError("the first line holds numbers: --no-header where there are no names",
                            file=self._source.name, line=line)
        return column_names(cells, self._source.name, line)

    def blocks(self, wanted):
        waiting, rows = self._layout.header, 0
        arrow = TextBlocks(self._layout, self._engine)
        for records in self._records(self._block, last=True):
            if waiting and len(records.starts):
                waiting, records = False, records.behind_first()
            if len(records.starts) == 0:
                continue
            columns = None if self._engine == "csv" else arrow.converted(records, wanted)
            if columns is None:
                columns = converted(records, self._layout, wanted, not rows)
                arrow.learn(columns)
            yield Block(len(records.starts), self.file, self.counted, columns, records.lines)
            rows += len(records.starts)
        if not rows:
            raise DataError("the table has no rows" + " behind its header" * self._layout.header,
                            file=self.file)


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
    """The names in a header without outer blanks, all different; an empty first one is row.

    That first column is the index that pandas writes.
    """
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
    found, others = {}, defaultdict(list)
    positions = {name: at for at, name in enumerate(table.names)}
    for name in positions.keys() - (names := dict.fromkeys(names)):
        others[name.lower()].append(name)
    for name in names:
        alike = [name] if name in positions else sorted(others[name.lower()])
        if len(alike) > 1:
            raise DataError(f"there is no column '{one_line(name)}', and several differ from it in "
                            f"case alone: {', '.join(map(repr, alike))}", file=table.file)
        found.update((name, positions[one]) for one in alike)
    taken = [name for name, at in found.items() if table.names[at] != name]
    for name in taken[:1]:
        warnings.warn(f"{table.file}: column '{one_line(table.names[found[name]])}' is taken for "
                      f"'{one_line(name)}'{and_more(taken)}", AgfmcWarning, stacklevel=3)
    return found


@contextmanager
def open_table(path, form: TableFormat = TableFormat(), stdin=None, again: bool = False,
               engine: str | None = None, block: int = BLOCK) -> Iterator[Table]:
    """The `Table` in a file, for `with`; `-` is standard input (`stdin`, a binary stream).

    again: `Table.blocks` may be called several times; what cannot be read twice is held in a
    temporary file.  engine: "csv" or "arrow" for text, None for what suits;  block: about the
    bytes of text that are read at a time.  Raises DataError for what is not a table.
    """
    with open_input(path, stdin, raw=True) as file:
        source = _Source(file, again)
        with closing(source):
            if holds_arrow(source.read(_MAGIC)):
                with source.whole() as whole:
                    yield _ArrowTable(whole, source.name, form)
            else:
                yield _TextTable(source, form, engine, block)
