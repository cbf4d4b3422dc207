"""What all tables have: blocks of columns, names of columns, cells that are numbers, words, blanks."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..core.errors import AgfmcNotice, AgfmcWarning, DataError, warn_user
from ..core.text import name_fault
from ..files import number_text
from .types import ROW

LONGEST_CELL = 1 << 16  # bytes: a column of longer ones is no column of words
OUTER = " \t"  # the blanks that are no part of a number or word
_MOST_COLUMNS = 100_000  # each takes some 0.1 ms
_SHOWN = 60  # characters of a cell in a message
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
_DECIMAL = re.compile(r"[+-]?\d*[.,]\d*(?:[eE][+-]?\d+)?")
_EXCHANGED = str.maketrans(".,", ",.")


class Words(NamedTuple):
    """A column of words: cell i is words[codes[i]], or missing where codes[i] is -1.

    Attributes
    ----------
    words : distinct words without outer blanks, sorted
    codes : positions (n,) in `words`, int32
    """

    words: tuple[str, ...]
    codes: np.ndarray

    def spread(self, values, missing) -> np.ndarray:
        """What each cell has (n, ...), of `values` of the words, or `missing`, whose type it is."""
        last = np.array([missing])
        return np.concatenate([np.asarray(values, last.dtype), last])[self.codes]


def missing_cells(column: np.ndarray | Words) -> np.ndarray:
    """True (n,) where a cell of a column of numbers or words is missing."""
    if isinstance(column, Words):
        return column.codes < 0
    return np.isnan(column)


class CellFault(Exception):
    """A message about a cell of a column, in that row of a block."""

    def __init__(self, row: int, message: str):
        self.row = row
        self.message = message


def no_line(row: int) -> None:
    """The line of a row in a table that has no lines."""


@dataclass(frozen=True)
class Block:
    """Some rows of a table: the requested columns of `rows` rows, by their position.

    A column is float64 (rows,), NaN where missing, or `Words`, or a list of text.
    """

    rows: int
    file: str
    counted: str
    columns: Mapping[int, np.ndarray | Words | list[str]]
    numbers: Sequence[int]  # of the rows in the table, or of the lines that are answered
    line_of: Callable[[int], int | None] = no_line  # as of the `Table`

    def __getitem__(self, position: int) -> np.ndarray | Words | list[str]:
        return self.columns[position]

    def convert(self, kinds: Mapping[int, str], convert: Callable) -> dict:
        """{position: convert(position, kind)} of these columns.

        Raises DataError for the first row of a `CellFault`.
        """
        columns = {}
        faults = []
        for position, kind in kinds.items():
            try:
                columns[position] = convert(position, kind)
            except CellFault as fault:
                faults.append((fault.row, position, fault.message))
        if faults:
            row, _, message = min(faults)
            raise self.error(row, message)
        return columns

    def number(self, row: int) -> int:
        """The number, from 1, of a row of the block (from 0) in the table, or its line."""
        return self.numbers[row]

    def error(self, row: int, message: str) -> DataError:
        """The error at a row of the block."""
        return row_error(self, self.number(row), message)


def row_error(table, number: int, message: str) -> DataError:
    """The error at the row of a `Table`, `Block` or other, and its line where it has lines."""
    if table.counted == "line":
        return DataError(message, file=table.file, line=number)
    return DataError(
        f"{table.counted} {number}: {message}", file=table.file, line=table.line_of(number)
    )


class Table:
    """An open table.

    Attributes
    ----------
    names : names of the columns, without outer blanks, or numbers from 1
    counted : what rows are counted in, "row", or "line" where lines are answered as they come
    blanks : cells, without outer blanks, that are missing
    index : columns of the numbers of rows that pandas stored, as it says itself
    """

    counted = "row"
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

    def line_of(self, row: int) -> int | None:
        """The line of a text in which a row begins, both from 1; None where that is not known."""
        return None

    def kind_of(self, position: int) -> str | None:
        """What the cells of a column are where they have types: "bool", "int", or None."""
        return None

    def fault_of(self, position: int) -> str | None:
        """What is wrong with a column whose cells are neither numbers nor words, else None."""
        return None

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
        for position, cells in block.columns.items():
            if isinstance(cells, list) and max(map(len, cells), default=0) > LONGEST_CELL:
                row = next(row for row, cell in enumerate(cells) if len(cell) > LONGEST_CELL)
                raise block.error(row, long_cell(self.names[position]))
        every = np.arange(block.rows)
        columns = block.convert(
            kinds,
            lambda position, kind: column_of_texts(block[position], every, kind, self, position),
        )
        return replace(block, columns={**block.columns, **columns})


def column_names(cells: Iterable[str], file: str) -> tuple[str, ...]:
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
            raise DataError(f"column {i + 1}, {name!r}: {fault}", file=file)
        if not name:
            raise DataError(
                f"column {i + 1} has no name in the header: expected one line with the "
                "name of each column",
                file=file,
            )
        if name in seen:
            raise DataError(
                f"columns {seen[name] + 1} and {i + 1} have the same name '{name}'",
                file=file,
            )
        seen[name] = i
    return tuple(names)


@functools.lru_cache
def stripped(blanks: tuple[str, ...]) -> frozenset[str]:
    """The cells that are missing, without outer blanks; a number stands for all its spellings."""
    words = frozenset(blank.strip(OUTER) for blank in blanks)
    if any(number_of(word) is not None for word in words):
        return _NumericBlanks(words)
    return words


class _NumericBlanks(frozenset):
    """Cells that are missing, some of them numbers: -999 is -999.0 too."""

    @functools.cached_property
    def numbers(self):
        return {number_of(word) for word in self} - {None}

    def __contains__(self, cell):
        return super().__contains__(cell) or number_of(cell) in self.numbers


def blank_numbers(blanks: frozenset[str]) -> list[float]:
    """The numbers that are missing values."""
    return list(getattr(blanks, "numbers", ()))


def number_of(cell: str) -> float | None:
    """The finite number that a cell is, between outer blanks; None if it is none.

    None too for inf, nan, 1_000 and 0x1, which float or other programs would take.
    """
    value = number_text.number_of(cell.strip(OUTER))
    if math.isnan(value):
        return None
    return value


def with_points(cells: Iterable[str], decimal: str) -> list[str]:
    """Cells of a table with this decimal point, with points; those with points get commas."""
    if decimal == ".":
        return list(cells)
    return [
        cell.translate(_EXCHANGED) if _DECIMAL.fullmatch(cell.strip(OUTER)) else cell
        for cell in cells
    ]


def no_number(name: str, cell: str) -> str:
    """The message for a cell in the column of that name that should be a number."""
    cell = cell.strip(OUTER)
    if len(cell) <= _SHOWN:
        shown = cell
    else:
        shown = f"{cell[:_SHOWN]}..."
    text = f"expected a number in column '{name}', found '{shown}'"
    if DECIMAL_COMMA.fullmatch(cell):
        text += f": a decimal has a point, {cell.replace(',', '.')}"
    return text


def long_cell(name: str) -> str:
    """The message for a cell of that column that is too long."""
    return f"a cell of column '{name}' has more than {LONGEST_CELL} bytes"


def ragged_row(count: int, expected: int, header: bool, first: bool = False) -> str:
    """The message for a row of so many cells; `first`: it is that behind the header."""
    text = f"{count} cell{'s' * (count != 1)}, expected {expected} as in the "
    if not header:
        return text + "first row"
    if first and count == expected + 1:
        return text + (
            "header; write.table of R leaves out the name of the column of row names: with "
            "col.names = NA it does not"
        )
    return text + "header"


def column_of_texts(
    texts: Sequence[str], codes: np.ndarray, kind: str, table: Table, position: int
) -> np.ndarray | Words:
    """The column of that kind whose cell i is texts[codes[i]], or missing where the code is -1.

    Raises `CellFault` for a cell that should be a number.
    """
    cells = [cell.strip(OUTER) for cell in with_points(texts, table.decimal)]
    if kind != "words":
        values = [math.nan if cell in table.blanks else number_of(cell) for cell in cells]
        wrong = np.array([*(value is None for value in values), False])[codes]
        if not wrong.any():
            return np.array([*values, math.nan], np.float64)[codes]
        if kind == "number":
            row = int(np.argmax(wrong))
            raise CellFault(row, no_number(table.names[position], texts[codes[row]]))
    words = words_of_cells([None if cell in table.blanks else cell for cell in cells])
    return words._replace(codes=np.append(words.codes, np.int32(-1))[codes])


def words_of_cells(cells: Collection[str | None]) -> Words:
    """The `Words` of cells, None where missing."""
    words = tuple(sorted({*cells} - {None}))
    code = {word: i for i, word in enumerate(words)}
    return Words(words, np.array([code.get(cell, -1) for cell in cells], np.int32))
