"""Rows that a program has, as tables: dictionaries, frames of columns, lines of JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..core.errors import DataError, one_line, UsageError
from ..files.codec import json_object
from .text import Block, column_names, stripped, Table
from .types import TableFormat

_FEW = 8  # rows of a frame of pandas, which gives so few faster than its columns


class RowTable(Table):
    """Rows that are dictionaries, whose keys are the columns.

    A value is a number, a word, or missing (None, NaN). A row that lacks a column is an error,
    but its text is empty.
    """

    counted, answered_in = "row", "jsonl"

    def __init__(self, rows: Sequence[Mapping], keys: Sequence, form: TableFormat, file: str):
        super().__init__(file, column_names(map(str, keys), file), stripped((*form.blanks, "")))
        self._rows = rows
        self._keys = keys
        self._numbers = range(1, len(rows) + 1)

    def _values(self, at: int) -> Sequence:
        return [row[self._keys[at]] for row in self._rows]

    def blocks(self, requested: Mapping[int, str]) -> Iterator[Block]:
        """One block of all rows."""
        columns = {}
        kinds = {}
        block = Block(
            len(self._rows), self.file, self.counted, columns, lambda: np.array(self._numbers)
        )
        for at, kind in requested.items():
            try:
                values = self._values(at)
            except KeyError:
                lacking = [self._keys[at] not in row for row in self._rows]
                if kind != "text":
                    raise block.error(
                        lacking.index(True), f"lacks the column '{one_line(self.names[at])}'"
                    ) from None
                values = [row.get(self._keys[at]) for row in self._rows]
            if isinstance(values, np.ndarray) and kind in ("number", "either"):
                columns[at] = values.astype(np.float64)
                continue
            texts = columns[at] = list(map(_text, values))
            if None in texts:
                raise block.error(
                    texts.index(None),
                    "expected a number or a word in column "
                    f"'{one_line(self.names[at])}', found "
                    f"{type(values[texts.index(None)]).__name__}",
                )
            if kind != "text":
                kinds[at] = kind
        yield self.of_text(block, kinds)

    def put(self, data: bytes, line: int) -> None:
        """Let `blocks` yield these lines, JSON objects, of which the first has that number."""
        self.counted = "line"
        self._rows = []
        self._numbers = []
        for number, text in enumerate(data.split(b"\n"), line):
            if text.strip():
                try:
                    self._rows.append(json_object(text))
                except ValueError as error:
                    raise DataError(str(error), file=self.file, line=number) from None
                self._numbers.append(number)

    def line_texts(self, data: bytes, positions: Sequence[int]) -> list[str]:
        """The text of these columns in one line, empty where it cannot be read."""
        row: Mapping = {}
        with suppress(ValueError):
            row = json_object(data)
        return [_text(row.get(self._keys[at])) or "" for at in positions]


class FrameTable(RowTable):
    """A frame of named columns that NumPy takes, of pandas, Polars, PyArrow or NumPy itself."""

    def _values(self, at):
        values = np.asarray(self._rows[self._keys[at]])
        if values.dtype.kind in "iuf" and type(self.blanks) is frozenset:  # no number is missing
            return values
        if values.dtype.kind == "M":  # as datetime writes it
            values = values.astype("datetime64[us]")
        return values.tolist()


def table_in_memory(source: Any, form: TableFormat) -> Table:
    """The `Table` of a dictionary, of a list of dictionaries, or of a frame of columns with names.

    Raises `DataError` for no rows, and `UsageError` for anything else.
    """
    if isinstance(source, Mapping):
        source = [source]
    if isinstance(source, (list, tuple)):
        kind = "table"
    else:
        kind = type(source).__name__
    if hasattr(source, "__len__") and not len(source):
        raise DataError("the table has no rows", file=kind)
    if isinstance(source, (list, tuple)) and all(isinstance(row, Mapping) for row in source):
        keys = dict.fromkeys(key for row in source for key in row)
        return RowTable(source, list(keys), form, kind)
    if hasattr(source, "iloc") and hasattr(source, "columns") and len(source) < _FEW:
        names = list(source.columns)
        rows = source.to_numpy(dtype=object).tolist()
        return RowTable([dict(zip(names, row)) for row in rows], names, form, kind)
    array_names = getattr(getattr(source, "dtype", None), "names", None)
    names = getattr(source, "column_names", getattr(source, "columns", array_names))
    if names is None and hasattr(source, "__arrow_c_stream__"):
        import pyarrow

        source = pyarrow.table(source)
        names = source.column_names
    if names is None:
        raise UsageError(
            "expected a table: its file or name, a list of dictionaries, or a frame "
            f"whose columns have names, found {type(source).__name__}"
        )
    return FrameTable(source, list(names), form, kind)


def _text(value):
    """The cell that a value is; None for what is neither a number nor a word."""
    if isinstance(value, str):
        return value
    if value is None or type(value).__name__ == "NAType":  # of pandas, which compares to nothing
        return ""
    if hasattr(value, "__len__"):
        return None
    if value == value:
        return str(value)
    return ""
