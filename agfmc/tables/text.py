"""Text tables: blocks of whole records, converted by Python's module csv; quotes as in RFC 4180.

Errors in the bytes or quotes of a text are detected before any engine converts it; errors
come in the order of the lines, whatever the size of the blocks.
"""

from __future__ import annotations

import codecs
import csv
import functools
import io
import itertools
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..core.errors import AgfmcNotice, AgfmcWarning, DataError, warn_user
from ..core.text import name_fault
from ..files import number_text
from .types import ROW

BLOCK = 1 << 22  # bytes; the cells of a block take some ten times its size as Python's text
LONGEST_RECORD = 1 << 24  # bytes
LONGEST_CELL = 1 << 17  # characters; the limit of the module csv
OUTER = " \t"  # the blanks that are no part of a number or word
DELIMITERS = ",;\t|"
_MOST_COLUMNS = 200_000  # each takes some 0.1 ms
_GUESSED = 20  # records
_SHOWN = 60  # characters of a cell in a message
_OF_NUMBERS = b"0123456789eE+-. \t"
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
_DECIMAL = re.compile(r"[+-]?\d*[.,]\d*(?:[eE][+-]?\d+)?")
_EXCHANGED = str.maketrans(".,", ",.")
_QUOTED = re.compile('"[^"]*"')
_NO_QUOTES = "`quotes=False` where quotes are a part of the cells"


class Words(NamedTuple):
    """A column of words: cell i is words[codes[i]], or missing where codes[i] is -1.

    Attributes
    ----------
    words : distinct words without outer blanks, sorted
    codes : positions (n,) in `words`, int32
    """

    words: tuple[str, ...]
    codes: np.ndarray


@dataclass(frozen=True)
class Block:
    """Some rows of a table: the requested columns of `rows` rows, by their position.

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

    Attributes
    ----------
    names : names of the columns, without outer blanks, or numbers from 1
    counted : what rows are counted in, "line" or, in Parquet and Arrow, "row"
    blanks : cells, without outer blanks, that are missing
    index : columns of the numbers of rows that pandas stored, as it says itself
    """

    counted = "line"
    index: frozenset[str] = frozenset()
    decimal = "."  # in its numbers
    answered_in = "csv"  # of `ANSWER_FORMATS`, where lines are answered

    def __init__(self, file: str, names: tuple[str, ...], blanks: frozenset[str] = frozenset()):
        if len(names) > _MOST_COLUMNS:
            raise DataError(
                f"has {len(names)} columns: expected {_MOST_COLUMNS} or fewer (LIBSVM "
                "text may have more features)",
                file=file,
            )
        self.file = file
        self.names = names
        self.blanks = blanks

    def blocks(self, requested: Mapping[int, str]) -> Iterator[Block]:
        """Yield the rows of the requested columns, in `Block`s.

        `requested` is the kind of a column by its position from 0: "number", where a word is an
        error; "either", numbers where all cells of the block are, else `Words`; "words"; "text",
        the cells as they stand there. Raises DataError for the first row that is wrong, and for a
        table without rows.
        """
        raise NotImplementedError

    def warn(self, message: str, kind: type[AgfmcWarning] = AgfmcWarning) -> None:
        """A warning, or a notice, about the table."""
        if self.file == "-":
            source = "standard input"
        else:
            source = self.file
        warn_user(f"{source}: {message}", kind)

    def of_text(self, block: Block, kinds: Mapping[int, str]) -> Block:
        """A block whose columns of these positions, which are text, are of other kinds.

        Raises DataError as `blocks` does.
        """
        columns, faults = columns_of(block.columns, kinds, self)
        if faults:
            row, _, message = min(faults)
            raise block.error(row, message)
        return replace(block, columns={**block.columns, **columns})


def column_names(cells, file: str, line: int | None = None) -> tuple[str, ...]:
    """The names in a header without outer blanks, all different.

    An empty first one is row, and empty last ones are the numbers of their columns.
    """
    names = [cell.strip(OUTER) for cell in cells]
    if names and not names[0] and len(names) > 1:
        names[0] = ROW
    named = max((i + 1 for i, name in enumerate(names) if name), default=len(names))
    if named < len(names):
        warn_user(
            f"{file}: columns from {named + 1} on have no name in the header: their numbers "
            "are their names",
            AgfmcNotice,
        )
        names[named:] = map(str, range(named + 1, len(names) + 1))
    seen = {}
    for i, name in enumerate(names):
        if fault := name_fault(name, "column"):
            raise DataError(f"column {i + 1}, {name!r}: {fault}", file=file, line=line)
        if not name:
            raise DataError(
                f"column {i + 1} has no name in the header: expected one line with the "
                "name of each column",
                file=file,
                line=line,
            )
        if name in seen:
            raise DataError(
                f"columns {seen[name] + 1} and {i + 1} have the same name '{name}'",
                file=file,
                line=line,
            )
        seen[name] = i
    return tuple(names)


def stripped(blanks: Collection[str]) -> frozenset[str]:
    """The cells that are missing, without outer blanks; a number stands for all its spellings."""
    return _stripped(frozenset(blanks))


@functools.lru_cache
def _stripped(blanks):
    words = frozenset(blank.strip(OUTER) for blank in blanks)
    if any(number_of(word) is not None for word in words):
        return _NumericBlanks(words)
    return words


class _NumericBlanks(frozenset):
    """Cells that are missing, some of them numbers: -999 is -999.0 too."""

    @functools.cached_property
    def _numbers(self):
        return {number_of(word) for word in self} - {None}

    def __contains__(self, cell):
        return super().__contains__(cell) or number_of(cell) in self._numbers


def number_of(cell: str) -> float | None:
    """The finite number that a cell is, between outer blanks; None if it is none.

    None too for inf, nan, 1_000 and 0x1, which float or other programs would take.
    """
    value = number_text.number_of(cell.strip(OUTER))
    if math.isnan(value):
        return None
    return value


class Layout(NamedTuple):
    """The layout of a text table, known before its rows are read.

    `blanks` are the cells, without outer blanks, that are missing; the other fields are as in
    `TableFormat`.
    """

    delimiter: str
    quotes: bool
    header: bool
    blanks: frozenset[str]
    names: tuple[str, ...] = ()
    decimal: str = "."


class Records(NamedTuple):
    """Whole records of a text table.

    Attributes
    ----------
    data : bytes in UTF-8
    line : number of the first line
    longest : number of bytes of a record at most
    """

    data: bytes
    file: str
    line: int
    longest: int

    def reader(self, layout: Layout) -> tuple:
        """(a reader of the module csv, the stream of text that it reads)."""
        text = io.StringIO(self.data.decode("utf-8"), newline="")
        return _cells_of(text, layout, strict=True), text

    def lines(self, layout: Layout, rows: int) -> np.ndarray:
        """The line of each of so many records that are not empty."""
        if rows == _count_lines(self.data):
            return np.arange(self.line, self.line + rows)
        reader, _ = self.reader(layout)
        lines = []
        line = self.line
        with suppress(csv.Error):  # in a row behind these
            for row in reader:
                if row:
                    lines.append(line)
                line = self.line + reader.line_num
        return np.array(lines)


def split_line(line: bytes, layout: Layout) -> list[str]:
    """The cells of one line, which may be too long, or cut; none where it cannot be split."""
    limit = csv.field_size_limit(LONGEST_RECORD)
    try:
        return next(_cells_of([line.decode("utf-8", "replace")], layout), [])
    except csv.Error:
        return []
    finally:
        csv.field_size_limit(limit)


def _cells_of(lines, layout, strict=False):
    if layout.quotes:
        quoting = csv.QUOTE_MINIMAL
    else:
        quoting = csv.QUOTE_NONE
    return csv.reader(lines, strict=strict, delimiter=layout.delimiter, quoting=quoting)


def read_records(
    read: Callable[[int], bytes], file: str, layout: Layout, size: int = BLOCK, line: int = 1
) -> Iterator[Records]:
    """Yield the `Records` of a text, about `size` bytes at a time; its first line has that number."""
    data, ended = b"", False
    while not ended:
        piece = read(size)
        ended = not piece
        data += piece
        if ended and data and data[-1] not in b"\r\n":
            data += b"\n"
        cut, longest, fault = _scan(data, layout, ended)
        whole = data[:cut]
        if cut:
            yield Records(whole, file, line, longest)
        if fault is not None:
            _, begins, message = fault
            raise DataError(message, file=file, line=line + _count_lines(data[:begins]))
        line, data = line + _count_lines(whole), data[cut:]
        if len(data) > LONGEST_RECORD:
            raise DataError(
                f"a record is longer than {LONGEST_RECORD >> 20} MiB"
                + ", or its quote is not closed" * (b'"' in data),
                file=file,
                line=line,
            )


def _count_lines(data):
    count = data.count(b"\n")
    if b"\r" in data:
        return count + data.count(b"\r") - data.count(b"\r\n")
    return count


def _scan(data, layout, ended):
    """-> (where whole records end, bytes of the longest, the first fault or None)."""
    text = np.frombuffer(data, np.uint8)
    faults = []
    ends = text == 10
    if b"\r" in data:  # which ends a line unless a newline is behind it, or may come
        ends |= (text == 13) & (np.append(text[1:], 0 if ended else 10) != 10)
    ends = np.flatnonzero(ends)
    if layout.quotes and b'"' in data:
        marks = np.flatnonzero(text == 34)
        ends = ends[np.searchsorted(marks, ends) % 2 == 0]
        faults += _quote_faults(text, marks, layout.delimiter, ended)
    nul = data.find(b"\0")
    if nul >= 0:
        faults.append((nul, nul, "is not text: there is a NUL in the line"))
    if not data.isascii():
        try:
            codecs.utf_8_decode(data, "strict", ended)
        except UnicodeDecodeError as error:
            faults.append(
                (
                    error.start,
                    error.start,
                    "is not text in UTF-8: `iconv -f "
                    "WINDOWS-1252 -t UTF-8` makes it so of text of Excel, or in Latin-1",
                )
            )
    fault = min(faults, default=None)
    if fault is not None:
        ends = ends[: np.searchsorted(ends, fault[0])]
    longest = int(np.diff(ends, prepend=-1).max(initial=0))
    return int(ends[-1]) + 1 if len(ends) else 0, longest, fault


def _quote_faults(text, marks, delimiter, ended):
    """Faults at the first quote that stands where RFC 4180 has none, and at one never closed."""
    beside = np.zeros(256, bool)
    beside[[ord(delimiter), 10, 13, 34]] = True
    opening = marks[0::2]
    closing = marks[1::2]
    opening, closing = opening[opening > 0], closing[closing < len(text) - 1]
    for at in sorted(
        [*opening[~beside[text[opening - 1]]][:1], *closing[~beside[text[closing + 1]]][:1]]
    )[:1]:
        yield (
            int(at),
            int(at),
            (
                "a quote inside a cell: in RFC 4180 quotes are around a whole "
                f"cell, and doubled within it; {_NO_QUOTES}"
            ),
        )
    if ended and len(marks) % 2:
        yield len(text), int(marks[-1]), f"the quote that opens here is not closed; {_NO_QUOTES}"


def guess_delimiter(head: str, quotes: bool, whole: bool) -> str:
    """The delimiter of a table that begins with `head`, guessed from the first records."""
    lines = re.split("\r\n|\n|\r", _QUOTED.sub("", head) if quotes else head)
    if not whole and len(lines) > 1:
        lines.pop()
    lines = [line for line in lines if line][:_GUESSED] or [""]
    counts = {mark: [line.count(mark) for line in lines] for mark in DELIMITERS}
    agreeing = {
        mark: count[0]
        for mark, count in counts.items()
        if count[0] and 2 * count.count(count[0]) > len(lines)
    }
    candidates = agreeing or {mark: sum(count) for mark, count in counts.items() if count[0]}
    return max(candidates, key=candidates.get, default=",")


def column_of_commas(head: str, layout: Layout, whole: bool) -> int | None:
    """The first column, from 0, with decimal commas in most of its first cells, or None."""
    lines = head.splitlines(keepends=True)[layout.header :]
    reader = _cells_of(lines if whole else lines[:-1], layout)
    with suppress(csv.Error):
        for at, cells in enumerate(itertools.zip_longest(*reader, fillvalue="")):
            commas = sum(bool(_DECIMAL_COMMA.fullmatch(cell.strip(OUTER))) for cell in cells)
            if 2 * commas > len(cells):
                return at
    return None


def with_points(cells: Iterable[str], decimal: str) -> list[str]:
    """Cells of a table with this decimal point, with points; those with points get commas."""
    if decimal == ".":
        return list(cells)
    return [
        cell.translate(_EXCHANGED) if _DECIMAL.fullmatch(cell.strip(OUTER)) else cell
        for cell in cells
    ]


def behind_first(records: Records, layout: Layout) -> tuple[list[str] | None, Records]:
    """(the cells of the first record, None where all are empty; the records behind it)."""
    reader, text = records.reader(layout)
    try:
        cells = next(filter(None, reader), None)
    except csv.Error as error:
        raise _too_long(records, reader, error) from None
    return cells, records._replace(data=text.read().encode(), line=records.line + reader.line_num)


def _too_long(records, reader, error):
    if "field limit" in str(error):
        message = f"a cell has more than {LONGEST_CELL} characters"
    else:
        message = f"cannot split the line into cells: {error}"
    return DataError(message, file=records.file, line=records.line + reader.line_num - 1)


def converted(
    records: Records, layout: Layout, requested: Mapping[int, str], first: bool = False
) -> tuple[int, dict]:
    """(the number of rows, the `requested` columns by position, as of `Table.blocks`).

    With `first` the records are the first of the table. Raises DataError for the first row that is
    not as it should be.
    """
    reader, _ = records.reader(layout)
    rows = []
    faults = []
    wrong = None
    try:
        rows.extend(filter(None, reader))
    except csv.Error as error:
        wrong = _too_long(records, reader, error)
    width = len(layout.names)
    ragged = next((row for row, cells in enumerate(rows) if len(cells) != width), None)
    if ragged is not None:
        faults.append((ragged, 0, _ragged(len(rows[ragged]), layout, first and ragged == 0)))
        rows = rows[:ragged]
    by_column = list(zip(*rows)) or [()] * width
    columns, more = columns_of({at: list(by_column[at]) for at in requested}, requested, layout)
    if faults := faults + more:
        row, _, message = min(faults)
        raise DataError(message, file=records.file, line=int(records.lines(layout, row + 1)[row]))
    if wrong is not None:
        raise wrong
    return len(rows), columns


def _ragged(count, layout, first):
    text = f"{count} cell{'s' * (count != 1)}, expected {len(layout.names)} as in the " + (
        "header" if layout.header else "first line"
    )
    if layout.header and first and count == len(layout.names) + 1:
        text += (
            "; write.table of R leaves out the name of the column of row names: with "
            "col.names = NA it does not"
        )
    return text


def no_number(name: str, cell: str, elsewhere: str = "") -> str:
    """The message for a cell in the column of that name that should be a number.

    `elsewhere` says where the column has numbers, as ", as in most rows,"."""
    cell = cell.strip(OUTER)
    if len(cell) <= _SHOWN:
        shown = cell
    else:
        shown = f"{cell[:_SHOWN]}..."
    text = f"expected a number in column '{name}'{elsewhere or ','} found '{shown}'"
    if _DECIMAL_COMMA.fullmatch(cell):
        text += f": a decimal has a point, {cell.replace(',', '.')}"
    return text


def columns_of(cells: Mapping[int, list[str]], kinds: Mapping[int, str], table) -> tuple:
    """Columns of these kinds by position, and words among numbers: [(row, position, message)].

    `cells` are the cells of the columns by position; `table` has `names` and `blanks`.
    """
    columns = {}
    faults = []
    for at, kind in kinds.items():
        if kind == "text":
            pointed = cells[at]
        else:
            pointed = with_points(cells[at], table.decimal)
        columns[at], row = (
            (pointed, None)
            if kind == "text"
            else (None, 0)
            if kind == "words"
            else _numbers(pointed, table.blanks)
        )
        if row is not None and kind == "number":
            faults.append((row, at, no_number(table.names[at], cells[at][row])))
        elif row is not None:
            columns[at] = _words_of(pointed, table.blanks)
    return columns, faults


def _numbers(cells, blanks):
    """-> (float64 (n,), NaN where a cell is missing; the row of the first word or None)."""
    if isinstance(blanks, _NumericBlanks):
        values = None
    else:
        values = _plain(cells)
    if values is not None:
        return values, None
    given = [cell.strip(OUTER) not in blanks for cell in cells]
    left = list(itertools.compress(cells, given))
    values = _plain(left)
    if values is None:
        values = [number_of(cell) for cell in left]
        if None in values:
            return None, int(np.flatnonzero(given)[values.index(None)])
    filled = np.full(len(cells), np.nan)
    filled[given] = values
    return filled, None


def _plain(cells):
    """The numbers that all cells are, float64 (n,); None where they may be something else."""
    if "".join(cells).encode().translate(None, _OF_NUMBERS):
        return None  # float takes more, and all of that has other characters
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None
    if np.isfinite(values).all():
        return values
    return None


def _words_of(cells, blanks):
    bare = {cell: cell.strip(OUTER) for cell in set(cells)}
    words = tuple(sorted(word for word in set(bare.values()) if word not in blanks))
    code = {word: i for i, word in enumerate(words)}
    coded = {cell: code.get(word, -1) for cell, word in bare.items()}
    return Words(words, np.fromiter(map(coded.__getitem__, cells), np.int32, len(cells)))
