"""Tables of rows and named columns, read in blocks of rows: text, Parquet, Arrow, frames.

What a table is its first bytes tell: gzip, Parquet, Arrow, else text.
"""

from __future__ import annotations

import codecs
import csv
import functools
import io
import itertools
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, ExitStack, suppress

from ..core.errors import and_more, DataError, one_line, UsageError, warn_user
from ..files.atomic import temporary_file, writing
from ..files.number_text import SPREADSHEET
from ..files.opening import Chained, GZIP, MARK, open_input, read_all, Unzipped
from .arrow import holds_arrow, StoredTable, text_blanks, TextTable
from .memory import table_in_memory
from .types import TableFormat
from .words import column_names, DECIMAL_COMMA, number_of, OUTER, Table

BLOCK = 1 << 20  # bytes of text that are read at a time
_FIRST = 1 << 22  # bytes that hold the first row
_PIECE = 1 << 18  # bytes that are decoded at a time
_HEAD = 1 << 16  # characters from which the delimiter is guessed
_GUESSED = 20  # rows from which it is
_DELIMITERS = ",;\t|"
_MAGIC = 8  # bytes that tell Parquet and Arrow
_QUOTED = re.compile('"[^"]*"')
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
WINDOWS = "windows-1252"
_COMPRESSED = (
    *(b"BZh%d1AY" % level for level in range(1, 10)),  # by bzip2, xz, zstd
    b"\xfd7zXZ\0",
    b"\x28\xb5\x2f\xfd",
)


def warn_of_windows(file: str) -> None:
    """Say that a text is not in UTF-8."""
    if file == "-":
        file = "standard input"
    warn_user(f"{file}: is read as {WINDOWS}, as it is not in UTF-8 (`encoding` names another one)")


class _Utf8:
    """The bytes of a stream of text, in UTF-8 without its mark.

    Without an `encoding` the text is in UTF-8, or in UTF-16 with its mark; behind nothing but ASCII
    what is no UTF-8 is Windows-1252, and `encoding` says so then.
    """

    def __init__(self, stream, encoding, file):
        head = read_all(stream, len(MARK))
        self._guesses = encoding is None and head != MARK
        if encoding is None and head.startswith(_UTF_16):
            encoding = "utf-16"
        self.encoding = encoding
        self._file, self._stream = file, Chained(head, stream)
        self._decoder = codecs.getincrementaldecoder(encoding or "utf-8")()
        self._held = b""
        self.is_plain = encoding is None  # all bytes so far were ASCII
        self._begun = False
        self._line = 1

    def read(self, size):
        """So many bytes, fewer at the end."""
        parts = [self._held]
        length = len(self._held)
        while length < size and (piece := self._decoded(max(size - length, _PIECE))) is not None:
            parts.append(piece)
            length += len(piece)
        data = b"".join(parts)
        self._held = data[size:]
        return data[:size]

    def _decoded(self, size):
        """About so many bytes more, None at the end."""
        piece = self._stream.read(size)
        if self.is_plain and piece.isascii() and not self._decoder.getstate()[0]:
            data = piece
        else:
            data = self._text(piece).encode()
        self._begun = True
        if b"\0" in data:
            fault = "is not text: it holds a NUL (`encoding` names that of UTF-16 without its mark)"
            raise self._error(data[: data.index(b"\0")], fault)
        self._line += data.count(b"\n")
        if piece or data:
            return data
        return None

    def _text(self, piece):
        try:
            text = self._decoder.decode(piece, not piece)
        except UnicodeDecodeError as error:
            text = self._windows(error.object, error.start)
        self.is_plain = self.is_plain and text.isascii()
        if self._begun:
            return text
        return text.removeprefix("\ufeff")

    def _windows(self, data, start):
        """The text of bytes of which those from start on are in another encoding."""
        if self._guesses and self.is_plain and data[:start].isascii():
            with suppress(UnicodeDecodeError):
                text = data.decode(WINDOWS)
                self.encoding = WINDOWS
                self._decoder = codecs.getincrementaldecoder(WINDOWS)()
                warn_of_windows(self._file)
                return text
        raise self._error(
            data[:start],
            f"is not text in {self.encoding or 'UTF-8'}: `encoding` names that which it is in",
        ) from None

    def _error(self, before, message):
        return DataError(message, file=self._file, line=self._line + before.count(b"\n"))


class _Joined:
    """The streams one behind the other."""

    closed = is_stopped = False

    def __init__(self, *streams):
        self._streams = list(streams)

    def read(self, size):
        """So many bytes, fewer at the end and behind a stop."""
        data = b""
        while self._streams and len(data) < size and not self.is_stopped:
            piece = self._streams[0].read(size - len(data))
            if not piece:
                del self._streams[0]
            data += piece
        return data


class _Apart:
    """A stream of an open file from its beginning, which another thread may be reading."""

    def __init__(self, descriptor: int):
        self._descriptor, self._at = descriptor, 0

    def read(self, size: int) -> bytes:
        """So many of the next bytes, fewer at the end."""
        data = os.pread(self._descriptor, size, self._at)
        self._at += len(data)
        return data


def _lines(stream):
    """The lines of a stream of UTF-8, with their ends."""
    rest = b""
    while data := stream.read(_FIRST):
        *lines, rest = (rest + data).splitlines(keepends=True)
        if rest.endswith(b"\n"):
            lines.append(rest)
            rest = b""
        yield from (line.decode("utf-8", "surrogateescape") for line in lines)
    if rest:
        yield rest.decode("utf-8", "surrogateescape")


class TextSource:
    """A text with a table, perhaps compressed with gzip, whose first row, `cells`, is read.

    `head` is None for a file that can be read again, else what was read of the stream; `comma` is
    the first column with decimal commas, or None.
    """

    def __init__(self, file, head, form: TableFormat, name: str):
        self.quotes, self.header, self.delimiter = form.quotes, form.header, form.delimiter
        self._file, self._name, self._encoding = file, name, form.encoding
        self.is_file = head is None
        self._stream = self._open(head)
        _refuse_foreign(self._raw_head, name)
        data = read_all(self._stream, _FIRST)
        text = data.decode("utf-8", "surrogateescape")
        begin = re.match("sep=(.)\r?\n|", text)  # as spreadsheets write it
        text = text[begin.end() :]
        sample = text[:_HEAD]
        if self.delimiter is None and name.lower().removesuffix(".gz").endswith(".tsv"):
            self.delimiter = "\t"
        elif self.delimiter is None:
            self.delimiter = begin[1] or guess_delimiter(sample, self.quotes)
        self.cells, rows = self._first_row(text)
        self.comma = None
        if form.decimal is None and self.delimiter == ";":
            self.comma = self._column_of_commas(sample)
        self.decimal = form.decimal or ("." if self.comma is None else ",")
        if not self.header:
            rows = text
        self._rows = rows.encode("utf-8", "surrogateescape")
        self._skipped = len(data) - len(self._rows)

    @property
    def encoding(self) -> str | None:
        """The encoding that its text has shown so far, None where all was ASCII."""
        if self._stream.is_plain:
            return None
        return self._stream.encoding or "utf-8"

    def _open(self, head):
        """The stream of the text from its beginning."""
        if head is None:
            stream = self._file
            stream.seek(0)
        else:
            stream = Chained(head, self._file)
        return self._text_of(stream)

    def _text_of(self, stream):
        self._raw_head = read_all(stream, _MAGIC)
        stream = Chained(self._raw_head, stream)
        if self._raw_head.startswith(GZIP):
            stream = Unzipped(stream, self._name)
        return _Utf8(stream, self._encoding, self._name)

    @functools.cached_property
    def is_quoted(self) -> bool:
        """False where no cell has a quote, as lines are then split twice as fast."""
        if not self.quotes:
            return False
        if not self.is_file or self._raw_head.startswith(GZIP):
            return True
        place = 0
        with suppress(OSError):  # of text in memory
            while piece := os.pread(self._file.fileno(), BLOCK, place):
                if b'"' in piece:
                    return True
                place += len(piece)
            return False
        return True

    def open_rows(self, end: bytes) -> _Joined:
        """A stream of the rows, behind the header, in UTF-8, with `end` behind them."""
        rows, stream = self._rows, self._stream
        self._rows = None
        if rows is None and not self.is_file:
            raise UsageError("this table can be read only once", file=self._name)
        if rows is None:
            if stream.encoding == WINDOWS:  # which is said once
                self._encoding = WINDOWS
            stream = self._stream = self._open(None)
            read_all(stream, self._skipped)
            rows = b""
        return _Joined(io.BytesIO(rows), stream, io.BytesIO(b"\n" + end))

    def line_of(self, row: int) -> int | None:
        """The line in which a row begins, both from 1; None for a stream, which cannot be read again."""
        if not self.is_file:
            return None
        if self._stream.encoding == WINDOWS:  # which is said once
            self._encoding = WINDOWS
        if isinstance(self._file, io.BytesIO):
            again = io.BytesIO(self._file.getvalue())
        else:
            again = _Apart(self._file.fileno())
        reader = self.reader(_lines(self._text_of(again)), strict=False)
        wanted = row + bool(self.header)
        line = 1
        with suppress(csv.Error):
            for cells in reader:
                is_row = bool(cells) and not (line == 1 and cells[0].startswith("sep="))
                wanted -= is_row
                if not wanted:
                    return line
                line = reader.line_num + 1
        return None

    def reader(self, lines: Iterable[str], strict: bool = True) -> Iterator[list[str]]:
        """The cells of lines, split by Python's module csv."""
        if self.quotes:
            quoting = csv.QUOTE_MINIMAL
        else:
            quoting = csv.QUOTE_NONE
        return csv.reader(lines, strict=strict, delimiter=self.delimiter, quoting=quoting)

    def _first_row(self, text):
        """(its cells, the text behind it)."""
        lines = io.StringIO(text, newline="")
        try:
            cells = next(filter(None, self.reader(lines)), None)
        except csv.Error as error:
            raise DataError(
                f"cannot split the first row into cells ({error}); `quotes=False` where quotes are "
                "a part of the cells",
                file=self._name,
                line=1,
            ) from None
        if cells is None:
            raise DataError("expected a table, found no line", file=self._name)
        return cells, lines.read()

    def _column_of_commas(self, sample):
        """The first column, from 0, with decimal commas in most of its first cells, or None."""
        lines = sample.splitlines(keepends=True)[self.header :]
        if len(sample) == _HEAD:
            del lines[-1:]
        with suppress(csv.Error):
            columns = itertools.zip_longest(*self.reader(lines), fillvalue="")
            for at, cells in enumerate(columns):
                commas = sum(bool(DECIMAL_COMMA.fullmatch(cell.strip(OUTER))) for cell in cells)
                if 2 * commas > len(cells):
                    return at
        return None


def guess_delimiter(sample: str, quotes: bool = True) -> str:
    """The delimiter of a table that begins so, guessed from the first rows."""
    if quotes:
        sample = _QUOTED.sub("", sample)
    lines = re.split("\r\n|\n|\r", sample)
    if len(lines) > 1:
        lines.pop()
    lines = [line for line in lines if line][:_GUESSED] or [""]
    counts = {mark: [line.count(mark) for line in lines] for mark in _DELIMITERS}
    agreeing = {
        mark: count[0]
        for mark, count in counts.items()
        if count[0] and 2 * count.count(count[0]) > len(lines)
    }
    candidates = agreeing or {mark: sum(count) for mark, count in counts.items() if count[0]}
    return max(candidates, key=candidates.get, default=",")


def _refuse_foreign(head, file):
    if head.startswith(SPREADSHEET):
        raise DataError("is a spreadsheet or an archive: save the table as CSV", file=file)
    if head.startswith(_COMPRESSED):
        raise DataError(
            "is compressed in another way than by gzip, which alone is read: unpack it", file=file
        )


def names_of(source: TextSource, file: str) -> tuple[str, ...]:
    """The names of the columns of a text; `DataError` where its first row holds none."""
    if not source.header:
        return tuple(str(i + 1) for i in range(len(source.cells)))
    if all(number_of(cell) is not None for cell in source.cells):
        raise DataError(
            "the first row holds numbers: `header=False` where there are no names", file=file
        )
    return column_names(source.cells, file)


def _text_table(file, head, form, block, name):
    source = TextSource(file, head, form, name)
    names = names_of(source, name)
    table = TextTable(name, names, text_blanks(form), source, block)
    if source.comma is not None and source.comma < len(names):
        table.warn(
            f"decimals have commas, as in column '{one_line(names[source.comma])}' "
            '(`decimal="."` says that they have points)'
        )
    return table


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
        columns.update((name, positions[other]) for other in alike)
    taken = [name for name, at in columns.items() if table.names[at] != name]
    if taken:
        warn_user(
            f"{table.file}: column '{one_line(table.names[columns[taken[0]]])}' is taken "
            f"for '{one_line(taken[0])}'{and_more(taken)}"
        )
    return columns


@contextmanager
def open_table(
    path, form: TableFormat = TableFormat(), stdin=None, again: bool = False, block: int = BLOCK
) -> Iterator[Table]:
    """The `Table` in a file, for `with`; `-` is standard input (`stdin`, a binary stream).

    In place of a path it takes an open file of text, whose rest is read, what `table_in_memory`
    takes, and a `Table`, which it yields.

    Parameters
    ----------
    again : bool
        `Table.blocks` may be called several times; what cannot be read twice is held in a temporary
        file.
    block : int, bytes of text that are read at a time, more where columns are many

    Raises
    ------
    DataError : for what is not a table
    """
    if hasattr(path, "read"):
        text = path.read()
        if isinstance(text, str):
            text = text.encode("utf-8", "surrogateescape")
        name = str(getattr(path, "name", type(path).__name__))
        yield _text_table(io.BytesIO(text), None, form, block, name)
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
            yield StoredTable(whole, name, form)
        else:
            yield _text_table(file, None if is_file else head, form, block, name)


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
