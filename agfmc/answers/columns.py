"""Columns of a table of answers: a table as others, or a JSON object in each line (.jsonl)."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import DataError, one_line
from ..core.memory import memory_limit, refuse_beyond
from ..core.rows import by_name
from ..files.codec import json_object
from ..files.kinds import answer_format
from ..files.opening import is_stream, read_bytes
from ..tables.ids import read_ids
from ..tables.reading import open_table
from ..tables.words import no_line, row_error, Table, Words, words_of_cells
from ..tables.types import ROW, TableFormat

BETWEEN = " | "  # of the names in a set
_TIMES = 48  # as much memory as text is what objects of JSON take
_FAILED = "error"  # the member of a line of a stream that could not be answered
_MOST_IDS = 4  # columns before an answer that are taken for ids; more are a whole table
_MEMBERS = {"probabilities": "p:"}  # members that are objects, and what their names begin with


class AnswerColumns(NamedTuple):
    """Columns that were read, {name: cells of the n rows}, of the kinds of `open_answers`.

    `numbers` (n,) are those of the lines, or of what is `counted`.
    """

    file: str
    counted: str
    numbers: np.ndarray
    cells: Mapping[str, Any]
    line_of: Callable[[int], int | None] = no_line

    def error(self, row: int, message: str) -> DataError:
        """The error in a row, from 0."""
        return row_error(self, int(self.numbers[row]), message)


def open_answers(path: str, form: TableFormat = TableFormat()) -> AbstractContextManager:
    """A table of answers, for `with`: its `file`, its `names`, and `read({name: kind})`.

    `read`, which can be called once, returns `AnswerColumns`. The kinds are "words", `Words`;
    "number", float64 (n,) with NaN for missing ones; "text", a list; "set", a list of tuples of
    words, which have ` | ` between them. The probabilities in JSON are columns `p:NAME`, as in the
    other tables.
    """
    return by_name(answer_format(os.fsdecode(path)).reader)(path, form)


@contextmanager
def answers_in_table(path: str, form: TableFormat) -> Iterator:
    """As `open_answers`, for a table."""
    with open_table(path, form) as table:
        yield _AnswersOfTable(table, partial(_line_in, path, form))


def _line_in(path, form, row):
    """The line of a row in a table that is closed by now, None for one that cannot be read again."""
    if is_stream(path):
        return None
    with open_table(path, form) as table:
        return table.line_of(row)


def answers_in_lines(path: str, form: TableFormat) -> AbstractContextManager:
    """As `open_answers`, for a JSON object in each line."""
    return nullcontext(_JsonLines(path))


class _AnswersOfTable:
    """Answers in a table."""

    def __init__(self, table: Table, line_of: Callable):
        self.file = table.file
        self.names = table.names
        self._table = table
        self._line_of = line_of

    def read(self, kinds):
        table = self._table
        size = 0
        numbers = []
        parts: dict[str, list] = {name: [] for name in kinds}
        position_of = {name: table.names.index(name) for name in kinds}
        requested = {position_of[name]: kind for name, kind in kinds.items()}
        for name, kind in kinds.items():
            if kind == "set":
                requested[position_of[name]] = "text"
        for block in table.blocks(requested):
            size += 8 * block.rows * (len(kinds) + 1)
            refuse_beyond(size, "the answers", self.file)
            numbers.append(np.array(block.numbers))
            for name, cells in parts.items():
                cells.append(block[position_of[name]])
        return AnswerColumns(
            self.file,
            table.counted,
            np.concatenate(numbers),
            {name: _concatenated(cells, kinds[name]) for name, cells in parts.items()},
            self._line_of,
        )


def _concatenated(parts, kind):
    """The cells of a column, from those of its blocks."""
    if kind == "number":
        return np.concatenate(parts)
    if kind == "words":
        words = tuple(sorted({word for part in parts for word in part.words}))
        code = {word: index for index, word in enumerate(words)}
        codes = [
            part.spread(list(map(code.__getitem__, part.words)), np.int32(-1)) for part in parts
        ]
        return Words(words, np.concatenate(codes))
    cells = [cell for part in parts for cell in part]
    if kind == "set":
        return [tuple(cell.split(BETWEEN)) if cell.strip() else () for cell in cells]
    return cells


class _JsonLines:
    """Answers in lines, each a JSON object."""

    def __init__(self, path):
        self.file = os.fsdecode(path)
        lines = read_bytes(
            path,
            most=memory_limit() // _TIMES,
            expected="answers in a table of columns (.csv, .parquet)",
        ).split(b"\n")
        self._objects = {
            number: self._object(line, number)
            for number, line in enumerate(lines, 1)
            if line.strip()
        }
        if not self._objects:
            raise DataError("the table has no rows", file=self.file)
        first = next(iter(self._objects.values()))
        answers = (members for members in self._objects.values() if _FAILED not in members)
        self.names = tuple(next(answers, first))

    def _object(self, line, number):
        try:
            members = json_object(line)
        except ValueError as error:
            raise DataError(str(error), file=self.file, line=number) from None
        flat = {}
        for name, value in members.items():
            if name in _MEMBERS and isinstance(value, dict):
                flat.update({_MEMBERS[name] + key: part for key, part in value.items()})
            else:
                flat[name] = value
        return flat

    def read(self, kinds):
        numbers = np.array(list(self._objects), dtype=np.int64)
        return AnswerColumns(
            self.file,
            "line",
            numbers,
            {name: self._column(name, kind) for name, kind in kinds.items()},
        )

    def _column(self, name, kind):
        for number, members in self._objects.items():
            if name in members:
                if _fits(members[name], kind):
                    continue
                what = {"number": "a number", "set": "a list of words"}.get(kind, "a word")
                message = f"expected {what} in '{one_line(name)}'"
            elif _FAILED in members:
                continue
            else:
                message = f"has no '{one_line(name)}', as the lines before it have"
            raise DataError(message, file=self.file, line=number)
        cells = [members.get(name) for members in self._objects.values()]
        if kind == "number":
            return np.array([np.nan if cell is None else cell for cell in cells], np.float64)
        if kind == "set":
            return [tuple(cell or ()) for cell in cells]
        texts = [
            cell if cell is None or isinstance(cell, str) else json.dumps(cell) for cell in cells
        ]
        if kind == "text":
            return texts
        return words_of_cells(texts)


def _fits(value, kind):
    if kind == "set":
        return isinstance(value, list) and all(isinstance(word, str) for word in value)
    if value is None:
        return kind != "text"
    if type(value) in (int, float):
        return math.isfinite(value)  # 1e999 is not
    return kind != "number" and isinstance(value, (str, bool))


def answer_ids(
    path: str, form: TableFormat, predicted: str, rows: Iterable[int], columns: Sequence[str] = ()
) -> dict[int, str]:
    """{row: id} in a table of answers, the first row is 0.

    `columns` are those of the ids, by default those before the answers, `predicted`, as
    `classify_m` writes them; {} where these are too many to be ids.
    """
    with open_answers(path, form) as table:
        id_columns = tuple(columns) or table.names[: table.names.index(predicted)]
        if ROW in id_columns and not columns:
            id_columns = (ROW,)
        if not 0 < len(id_columns) <= _MOST_IDS:
            return {}
        cells = table.read(dict.fromkeys(id_columns, "text")).cells
    return read_ids([(len(cells[id_columns[0]]), [cells[name] for name in id_columns])], rows)
