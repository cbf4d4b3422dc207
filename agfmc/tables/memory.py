"""Rows that a program has, as tables: dictionaries, and frames of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import time
from typing import Any

import numpy as np

from ..core.errors import DataError, one_line, UsageError
from .arrow import FrameTable, import_pyarrow, typed_blanks
from .types import TableFormat
from .words import blank_numbers, Block, column_names, Table

_NUMBERS = {float, int}  # types of values that need no text
_FEW = 8  # rows of a frame of pandas, which gives so few faster than its columns
_WIDE = ("Int128", "UInt128")  # types of Polars that Arrow lacks


class RowTable(Table):
    """Rows that are dictionaries, whose keys are the columns.

    A value is a number, a word, or missing (None, NaN). A row that lacks a column is an error,
    but its text is empty. Few rows are read faster so than by PyArrow.
    """

    def __init__(self, rows: Sequence[Mapping], keys: Sequence, form: TableFormat, file: str):
        super().__init__(file, column_names(map(str, keys), file), typed_blanks(form))
        self.rows = rows
        self.keys = keys
        self.numbers: Sequence[int] = range(1, len(rows) + 1)

    def kind_of(self, position: int) -> str | None:
        """As of `Table`."""
        kinds = {type(row.get(self.keys[position])).__name__ for row in self.rows}
        if kinds <= {"bool", "bool_"}:
            return "bool"
        if all(kind.startswith(("int", "uint")) for kind in kinds):
            return "int"
        return None

    def blocks(self, requested: Mapping[int, str]) -> Iterator[Block]:
        """One block of all rows."""
        columns: dict[int, Any] = {}
        block = Block(len(self.rows), self.file, self.counted, columns, self.numbers)
        for position, kind in requested.items():
            key = self.keys[position]
            values = [row.get(key) for row in self.rows]
            if None in values and kind != "text":
                lacking = [key not in row for row in self.rows]
                if True in lacking:
                    raise block.error(
                        lacking.index(True), f"lacks the column '{one_line(self.names[position])}'"
                    )
            if kind in ("number", "either"):
                numbers = self._plain_numbers(values)
                if numbers is not None:
                    columns[position] = numbers
                    continue
                values = list(map(_seconds, values))
            texts = columns[position] = list(map(cell_of, values))
            if None in texts:
                row = texts.index(None)
                raise block.error(row, _no_cell(self.names[position], values[row]))
        kinds = {
            position: kind
            for position, kind in requested.items()
            if isinstance(columns[position], list)
        }
        yield self.of_text(
            block, {position: kind for position, kind in kinds.items() if kind != "text"}
        )

    def _plain_numbers(self, values):
        """Values as numbers, where all are finite ones that need no text, else None."""
        if {*map(type, values)} <= _NUMBERS and not blank_numbers(self.blanks):
            with suppress(OverflowError):  # of whole numbers
                numbers = np.array(values, np.float64)
                if not np.isinf(numbers).any():
                    return numbers
        return None


def table_in_memory(source: Any, form: TableFormat) -> Table:
    """The `Table` of a dictionary, of a list of dictionaries, or of a frame of columns with names.

    Raises `DataError` for no rows, and `UsageError` for anything else.
    """
    is_columns = False
    if isinstance(source, Mapping):
        is_columns = any(map(_is_column, source.values()))
        if not is_columns:
            source = [source]
    if isinstance(source, (list, tuple, Mapping)):
        kind = "table"
    else:
        kind = type(source).__name__
    if hasattr(source, "__len__") and not len(source):
        raise DataError("the table has no rows", file=kind)
    if isinstance(source, (list, tuple)) and all(isinstance(row, Mapping) for row in source):
        keys = dict.fromkeys(key for row in source for key in row)
        return RowTable(source, list(keys), form, kind)
    is_pandas = hasattr(source, "iloc") and hasattr(source, "columns")
    if is_pandas and len(source) < _FEW:
        names = list(source.columns)
        rows = source.to_numpy(dtype=object).tolist()
        return RowTable([dict(zip(names, row)) for row in rows], names, form, kind)
    pa = import_pyarrow(kind)
    names = getattr(getattr(source, "dtype", None), "names", None)
    if is_pandas:
        columns = [column for _, column in source.items()]
        names = source.columns
    elif is_columns:
        columns = list(source.values())
        names = source
        lengths = {len(column) if _is_column(column) else 1 for column in columns}
        if len(lengths) > 1:
            raise DataError("expected columns of the same length", file=kind)
    elif names is not None:  # of a structured array
        columns = [source[name] for name in names]
    else:
        return FrameTable(_arrow_of(source, pa), kind, form)
    names = list(map(str, names))
    arrays = [_array_of(pa, column, name, kind) for column, name in zip(columns, names)]
    return FrameTable(pa.table(arrays, names), kind, form)


def _is_column(value):
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes, Mapping))


def _arrow_of(source, pa):
    """A frame that Arrow takes as a table of PyArrow."""
    if hasattr(source, "collect") and hasattr(source, "collect_schema"):  # lazy, of Polars
        source = source.collect()
    if hasattr(source, "get_columns"):  # of Polars
        wide = [column.name for column in source.get_columns() if str(column.dtype) in _WIDE]
        source = source.cast(dict.fromkeys(wide, float))
    if hasattr(source, "__arrow_c_stream__"):
        with suppress(pa.ArrowInvalid):  # of a series
            return pa.table(source)
    elif hasattr(source, "to_arrow"):
        return source.to_arrow()
    raise UsageError(
        "expected a table: its file or name, a list of dictionaries, a dictionary of columns, or a "
        f"frame whose columns have names, found {type(source).__name__}"
    )


def _array_of(pa, column, name, kind):
    """The array of a column of pandas or NumPy; one of several types becomes text."""
    try:
        array = pa.array(column, from_pandas=True)
        values_type = getattr(array.type, "value_type", array.type)  # of a dictionary
        if not isinstance(values_type, pa.BaseExtensionType):
            return array
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        pass
    values = list(column)
    cells = list(map(cell_of, values))
    if None in cells:
        row = cells.index(None)
        raise DataError(f"row {row + 1}: {_no_cell(name, values[row])}", file=kind)
    return pa.array(cells, pa.string())


def _no_cell(name, value):
    return f"expected a number or a word in column '{one_line(name)}', found {type(value).__name__}"


def _seconds(value):
    """A time of day as the number that it is in a frame of Arrow; other values."""
    if isinstance(value, time):
        return 3600 * value.hour + 60 * value.minute + value.second + value.microsecond / 1e6
    return value


def cell_of(value: Any) -> str | None:
    """The cell that a value is, "" where missing; None for what is neither a number nor a word."""
    if isinstance(value, str):
        return value
    if value is None or type(value).__name__ == "NAType":  # of pandas, which compares to nothing
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if hasattr(value, "__len__"):
        return None
    if value != value:
        return ""
    if hasattr(value, "total_seconds"):
        return str(value.total_seconds())
    return str(value)
