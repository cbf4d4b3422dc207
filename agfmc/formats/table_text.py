"""Text tables: records between line breaks, cells between delimiters, quotes as in RFC 4180.

A text is cut into blocks of whole records here, for every engine, and everything that is wrong
with its bytes or quotes is found here.  The cells of a block are converted by Python's own
module csv; errors come in the order of the lines, whatever the size of the blocks.
"""

from __future__ import annotations

import codecs
import csv
import functools
import io
import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..errors import DataError
from .text import NUMBER

__all__ = ["BLOCK", "Layout", "OUTER", "Records", "Words", "column_of", "converted",
           "guess_delimiter", "header_cells", "no_number", "number_of", "read_records", "stripped"]

BLOCK = 1 << 22  # bytes; the cells of a block take some ten times its size as Python's text
LONGEST_RECORD = 1 << 24  # bytes
LONGEST_CELL = 1 << 17  # characters; the limit of the module csv
OUTER = " \t"  # the blanks that are no part of a number or word
DELIMITERS = ",;\t|"
_GUESSED = 20  # records
_SHOWN = 60  # characters of a cell in a message
_NUMBER = re.compile(NUMBER.pattern.decode(), re.ASCII)
_OF_NUMBERS = b"0123456789eE+-. \t"
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
_QUOTED = re.compile('"[^"]*"')
_NO_QUOTES = "--no-quotes where quotes are a part of the cells"


class Words(NamedTuple):
    """A column of words: cell i is words[codes[i]], or missing where codes[i] is -1.

    words: without outer blanks, sorted;  codes (n,): int32.
    """

    words: tuple[str, ...]
    codes: np.ndarray


def stripped(blanks: Collection[str]) -> frozenset[str]:
    """The cells that are missing, without outer blanks; a number stands for all its spellings."""
    words = frozenset(blank.strip(OUTER) for blank in blanks)
    return _NumericBlanks(words) if any(number_of(word) is not None for word in words) else words


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
    cell = cell.strip(OUTER)
    if not _NUMBER.fullmatch(cell):
        return None
    value = float(cell)
    return value if math.isfinite(value) else None


class Layout(NamedTuple):
    """The layout of a text table, known before its rows are read.

    names: of the columns;  blanks: the cells, without outer blanks, that are missing; the rest as
    in `TableFormat`.
    """

    delimiter: str
    quotes: bool
    header: bool
    blanks: frozenset[str]
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Records:
    """Whole records of a text table, of which the last ends with a line break as the others do.

    data: bytes in UTF-8;  line: number of the first line;  ends: places of the line breaks that
    end records, empty ones too;  breaks: of all, also those between quotes.  A break of two
    bytes stands at its second one.
    """

    data: bytes
    file: str
    line: int
    ends: np.ndarray
    breaks: np.ndarray

    @functools.cached_property
    def starts(self) -> np.ndarray:
        """The places (n,) at which the records that are not empty begin."""
        start = np.concatenate(([0], self.ends + 1))[:len(self.ends)]
        length = self.ends - start
        filled = length > 1
        few = np.flatnonzero(length == 1)  # a record, or the first byte of a break of two
        filled[few] = [self.data[at] != 13 for at in start[few]]
        return start[filled]

    def lines(self) -> np.ndarray:
        """The line of each record, (n,)."""
        return self.line + np.searchsorted(self.breaks, self.starts)

    def behind_first(self) -> Records:
        """The records without the first that is not empty."""
        cut = int(self.ends[np.searchsorted(self.ends, self.starts[0])]) + 1
        gone = np.searchsorted(self.breaks, cut)
        return replace(self, data=self.data[cut:], line=self.line + int(gone),
                       ends=self.ends[self.ends >= cut] - cut,
                       breaks=self.breaks[gone:] - cut)


class _Fault(NamedTuple):
    """A fault at the byte `at`, the first that shows it, told with the line of `begins`."""

    at: int
    begins: int
    message: str


def read_records(read: Callable[[int], bytes], file: str, layout: Layout,
                 size: int = BLOCK) -> Iterator[Records]:
    """Yield the `Records` of a text, about `size` bytes at a time.

    Raises DataError for what is not text in UTF-8, for quotes that are not as in RFC 4180 and
    for endless records, when the records before them have been yielded.
    """
    line, rest, ended = 1, b"", False
    while not ended:
        piece = read(size)
        ended = not piece
        data = rest + piece
        if ended and data and data[-1] not in b"\r\n":
            data += b"\n"
        cut, ends, breaks, fault = _scan(data, layout, ended)
        if cut:
            whole = Records(data[:cut], file, line, ends, breaks[:np.searchsorted(breaks, cut)])
            if len(whole.ends):
                yield whole
        if fault is not None:
            raise DataError(fault.message, file=file,
                            line=line + int(np.searchsorted(breaks, fault.begins)))
        line += int(np.searchsorted(breaks, cut))
        rest = data[cut:]


def _scan(data, layout, ended):
    """-> (where whole records end, their ends, all breaks of lines, the first `_Fault` or None)."""
    text = np.frombuffer(data, np.uint8)
    breaks = _breaks(data, text)
    ends, faults = breaks, []
    if layout.quotes and b'"' in data:
        marks = np.flatnonzero(text == 34)
        ends = breaks[np.searchsorted(marks, breaks) % 2 == 0]
        faults += _quote_faults(text, marks, breaks, layout.delimiter, ended)
    if not ended and len(ends) and ends[-1] == len(data) - 1 and data[-1] == 13:
        ends = ends[:-1]  # the second byte of the break may follow
    cut = int(ends[-1]) + 1 if len(ends) else 0
    if len(data) > LONGEST_RECORD:
        faults += _endless(data, ends)
    nul = data.find(b"\0")
    if nul >= 0:
        faults.append(_Fault(nul, nul, "is not text: there is a NUL in the line"))
    if not data.isascii():
        try:
            known = max([cut, *(fault.at + 1 for fault in faults)])
            codecs.utf_8_decode(data[:known], "strict", False)
        except UnicodeDecodeError as error:
            faults.append(_Fault(error.start, error.start, "is not text in UTF-8: `iconv -f "
                                 "ISO-8859-1 -t UTF-8` makes it so of text in Latin-1"))
    fault = min(faults, default=None)
    if fault is not None:
        ends = ends[:np.searchsorted(ends, fault.at)]
        cut = int(ends[-1]) + 1 if len(ends) else 0
    return cut, ends, breaks, fault


def _endless(data, ends):
    """The first record that is too long."""
    edges = np.concatenate(([0], ends + 1, [len(data)]))
    for i in np.flatnonzero(np.diff(edges) > LONGEST_RECORD)[:1]:
        start = int(edges[i])
        yield _Fault(start + LONGEST_RECORD, start, "a record is longer than "
                     f"{LONGEST_RECORD >> 20} MiB" + ", or its quote is not closed" * (
                         b'"' in data[start:start + LONGEST_RECORD]))


def _breaks(data, text):
    """Places of the ends of lines: each newline, and each carriage return without one behind it."""
    if b"\r" not in data:
        return np.flatnonzero(text == 10)
    breaks = np.flatnonzero((text == 10) | (text == 13))
    first = text[breaks] == 13
    first[:-1] &= (np.diff(breaks) == 1) & (text[breaks[1:]] == 10)
    first[-1:] = False
    return breaks[~first]


def _quote_faults(text, marks, breaks, delimiter, ended):
    """The first quote at `marks` that stands where RFC 4180 has none, and one never closed."""
    beside = np.zeros(256, bool)
    beside[[ord(delimiter), 10, 13, 34]] = True
    opening, closing = marks[0::2], marks[1::2]
    bad = [*opening[(opening > 0) & ~beside[text[opening - 1]]][:1]]
    known = closing[closing < len(text) - 1]
    bad += [*known[~beside[text[known + 1]]][:1]]
    if bad:
        at = int(min(bad))
        number = int(np.searchsorted(marks, at))
        first, last = np.searchsorted(breaks, [marks[number - number % 2], at]).tolist()
        above = f"{last - first} line{'s' * (last - first > 1)} above"
        return [_Fault(at, at, "a quote inside a cell"
                       + f", whose first quote is {above}" * (last > first)
                       + ": in RFC 4180 quotes are around a whole cell, and doubled within it; "
                       + _NO_QUOTES)]
    if ended and len(marks) % 2:
        return [_Fault(len(text), int(marks[-1]), "the quote that opens here is not closed; "
                       + _NO_QUOTES)]
    return []


def guess_delimiter(head: str, quotes: bool, whole: bool) -> str:
    """The delimiter of a table that begins with `head`, guessed from the first records.

    It is the one that gives the same number of cells, above one, in the header and in most
    records, and of these the one of most cells; else what stands most often in a table whose
    first record has it, else the comma.  whole: `head` is all of the table.
    """
    lines = re.split("\r\n|\n|\r", _QUOTED.sub("", head) if quotes else head)
    if not whole and len(lines) > 1:
        lines.pop()
    lines = [line for line in lines if line][:_GUESSED] or [""]
    counts = {mark: [line.count(mark) for line in lines] for mark in DELIMITERS}
    agreeing = {mark: count[0] for mark, count in counts.items()
                if count[0] and 2 * count.count(count[0]) > len(lines)}
    found = agreeing or {mark: sum(count) for mark, count in counts.items() if count[0]}
    return max(found, key=found.get, default=",")


def _parsed(records, layout):
    """-> (the rows of cells, the message of what is wrong with the row behind them or None)."""
    rows = []
    reader = csv.reader(io.StringIO(records.data.decode("utf-8"), newline=""), strict=True,
                        delimiter=layout.delimiter,
                        quoting=csv.QUOTE_MINIMAL if layout.quotes else csv.QUOTE_NONE)
    try:
        rows.extend(filter(None, reader))
    except csv.Error as error:
        if "field limit" in str(error):
            return rows, f"a cell has more than {LONGEST_CELL} characters"
        return rows, f"cannot split the line into cells: {error}"
    return rows, None


def header_cells(records: Records, layout: Layout) -> list[str]:
    """The cells of the first record."""
    end = int(records.ends[np.searchsorted(records.ends, records.starts[0])]) + 1
    rows, wrong = _parsed(replace(records, data=records.data[:end]), layout)
    if wrong is not None:
        raise DataError(wrong, file=records.file, line=int(records.lines()[0]))
    return rows[0]


def converted(records: Records, layout: Layout, wanted: Mapping[int, str],
              first: bool = False) -> dict:
    """The `wanted` columns by position, as of `Table.blocks`.

    first: the records are the first of the table.  Raises DataError for the first row that is
    not as it should be.
    """
    rows, wrong = _parsed(records, layout)
    lengths = np.fromiter(map(len, rows), np.intp, len(rows))
    ragged = np.flatnonzero(lengths != len(layout.names))
    faults = [] if wrong is None else [(len(rows), 0, wrong)]
    if len(ragged):
        row = int(ragged[0])
        faults.append((row, 0, _ragged(int(lengths[row]), layout, first and row == 0)))
        rows = rows[:row]
    columns = {}
    by_column = list(zip(*rows)) or [()] * len(layout.names)
    for position, kind in wanted.items():
        cells = list(by_column[position])
        columns[position], row = column_of(cells, kind, layout.blanks)
        if row is not None:
            faults.append((row, position, no_number(layout.names[position], cells[row])))
    if faults:
        row, _, message = min(faults)
        raise DataError(message, file=records.file, line=int(records.lines()[row]))
    return columns


def _ragged(found, layout, first):
    text = f"{found} cell{'s' * (found != 1)}, expected {len(layout.names)} as in the " + (
        "header" if layout.header else "first line")
    if layout.header and first and found == len(layout.names) + 1:
        text += "; write.table of R leaves out the name of the column of row names: with " \
                "col.names = NA it does not"
    return text


def no_number(name: str, cell: str) -> str:
    """The message for a cell in the column of that name that should be a number."""
    cell = cell.strip(OUTER)
    shown = cell if len(cell) <= _SHOWN else f"{cell[:_SHOWN]}..."
    text = f"expected a number in column '{name}', found '{shown}'"
    if _DECIMAL_COMMA.fullmatch(cell):
        text += f": a decimal has a point, {cell.replace(',', '.')}"
    return text


def column_of(cells: list[str], kind: str, blanks: frozenset[str]) -> tuple:
    """(the column of that kind, the row of the first word where numbers were expected or None)."""
    if kind == "text":
        return cells, None
    if kind == "words":
        return _words_of(cells, blanks), None
    values, row = _numbers(cells, blanks)
    if row is not None and kind == "either":
        return _words_of(cells, blanks), None
    return values, row


def _numbers(cells, blanks):
    """-> (float64 (n,), NaN where a cell is missing; the row of the first word or None)."""
    numeric = isinstance(blanks, _NumericBlanks)
    values = None if numeric else _plain(cells)
    if values is not None:
        return values, None
    for bare in (cells, [cell.strip(OUTER) for cell in cells]):
        given = [cell not in blanks for cell in bare]
        left = list(itertools.compress(bare, given))
        values = None if numeric and bare is cells else _plain(left)
        if values is not None:
            break
    else:
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
    return values if np.isfinite(values).all() else None


def _words_of(cells, blanks):
    bare = {cell: cell.strip(OUTER) for cell in set(cells)}
    words = tuple(sorted(word for word in set(bare.values()) if word not in blanks))
    code = {word: i for i, word in enumerate(words)}
    coded = {cell: code.get(word, -1) for cell, word in bare.items()}
    return Words(words, np.fromiter(map(coded.__getitem__, cells), np.int32, len(cells)))
