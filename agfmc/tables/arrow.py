"""Tables read by PyArrow: long text, Parquet, Feather, Arrow files and streams."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from ..core.errors import DataError, needed_library
from ..core.memory import refuse_beyond
from ..files.opening import MARK
from .text import (
    Block,
    column_names,
    Layout,
    LONGEST_CELL,
    no_number,
    number_of,
    OUTER,
    Records,
    stripped,
    Table,
    Words,
)
from .types import TableFormat

_ROWS = 1 << 15  # of a batch
_BUFFER = 1 << 20  # bytes of a column that are read at a time
_SHOWN = 200  # characters of a message of PyArrow
_NO_FRACTION = re.compile(r"\.0+(?=Z?$)")  # of seconds
_PARQUET = b"PAR1"
_FILE = b"ARROW1"
_STREAM = b"\xff\xff\xff\xff"
_FIRST_FEATHER = b"FEA1"


def text_columns(
    records: Records, layout: Layout, requested: Mapping[int, str], worded: set[int]
) -> tuple[int, dict] | None:
    """As `table_text.converted`; None where a cell is neither a plain number nor a word.

    `worded` are columns of the kind "either" that had words before, and are read as words at once.
    """
    if records.longest > LONGEST_CELL or records.data.startswith(MARK):  # which would be skipped
        return None
    try:
        import pyarrow as pa
        import pyarrow.csv
    except ImportError:
        return None
    types = {
        "number": pa.float64(),
        "either": pa.float64(),
        "text": pa.string(),
        "words": pa.dictionary(pa.int32(), pa.string()),
    }
    kinds = {
        str(at): types["words" if at in worded and kind == "either" else kind]
        for at, kind in requested.items()
    } or {"0": pa.string()}
    quoted = layout.quotes and b'"' in records.data
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(records.data),
            read_options=pa.csv.ReadOptions(
                use_threads=False,
                block_size=len(records.data) + 1,
                column_names=[str(i) for i in range(len(layout.names))],
            ),
            parse_options=pa.csv.ParseOptions(
                delimiter=layout.delimiter,
                quote_char='"' if quoted else False,
                newlines_in_values=quoted,
            ),
            convert_options=pa.csv.ConvertOptions(
                include_columns=[*kinds],
                column_types=kinds,
                null_values=sorted(layout.blanks),
                strings_can_be_null=False,
            ),
        )
    except (pa.ArrowException, OSError):
        return None
    columns = {}
    for at, kind in requested.items():
        array = table.column(str(at)).combine_chunks()
        columns[at], wrong = _column(array, kind, layout.blanks, pa)
        if wrong is not None or pa.types.is_floating(array.type) and array.is_nan().sum().as_py():
            return None
    return table.num_rows, columns


def holds_arrow(head: bytes) -> bool:
    """True if these first bytes are of a table in Parquet, or in one of Arrow's own formats."""
    return head.startswith((_PARQUET, _FILE, _STREAM, _FIRST_FEATHER))


class ArrowTable(Table):
    """A table in Parquet or Feather, or an Arrow file or stream, in the open file `file`."""

    counted = "row"

    def __init__(self, file, name: str, form: TableFormat):
        with needed_library("needs PyArrow: pip install 'agfmc[table]'", name):
            import pyarrow
            import pyarrow.ipc
            import pyarrow.parquet
        self._pa, self._source, self.file = pyarrow, file, name
        head = os.pread(file.fileno(), len(_FILE), 0)
        if head.startswith(_FIRST_FEATHER):
            raise DataError(
                "is in version 1 of Feather: write version 2, the default of "
                "pyarrow.feather.write_feather",
                file=name,
            )
        self._is_parquet = head.startswith(_PARQUET)
        self._first = 8 if head.startswith(_FILE) else 0  # a file holds a stream
        with self._reading():
            reader = self._open(())
            if self._is_parquet:
                schema = reader.schema_arrow
            else:
                schema = reader.schema
            self._stored_names = schema.names
            self._types = schema.types
        super().__init__(name, column_names(schema.names, name), stripped(form.blanks))

    @contextmanager
    def _reading(self):
        try:
            yield
        except self._pa.ArrowMemoryError as error:
            raise DataError("cannot read: there is not enough memory", file=self.file) from error
        except (self._pa.ArrowException, OSError, ValueError, KeyError) as error:
            message = " ".join(str(error).split())
            raise DataError(
                f"is damaged, or cannot be read by PyArrow: {message[:_SHOWN]}", file=self.file
            ) from error

    def _open(self, requested):
        self._source.seek(self._first)
        file = self._pa.PythonFile(self._source, mode="r")
        if self._is_parquet:
            return self._pa.parquet.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER)
        options = self._pa.ipc.IpcReadOptions(included_fields=sorted(requested) or None)
        return self._pa.ipc.open_stream(file, options=options)

    def blocks(self, requested: Mapping[int, str]) -> Iterator[Block]:
        """Blocks of a table of Arrow, where messages count rows."""
        for position in requested:
            if self._pa.types.is_nested(self._types[position]) or isinstance(
                self._types[position], self._pa.BaseExtensionType
            ):
                raise DataError(
                    f"expected numbers or words in column '{self.names[position]}', "
                    f"found {self._types[position]}",
                    file=self.file,
                )
        first = 1
        for batch in self._batches(requested):
            columns = {}
            faults = []
            end = first + batch.num_rows
            for position, kind in requested.items():
                with self._reading():
                    array = batch.column(batch.schema.get_field_index(self._stored_names[position]))
                    if self._pa.types.is_dictionary(array.type):  # of all rows of the file
                        array = array.dictionary_decode()
                    columns[position], wrong = _column(array, kind, self.blanks, self._pa)
                if wrong is not None:
                    row, cell = wrong
                    faults.append((row, position, no_number(self.names[position], cell)))
            block = Block(
                batch.num_rows,
                self.file,
                self.counted,
                columns,
                functools.partial(np.arange, first, end),
            )
            if faults:
                raise block.error(*min(faults)[::2])
            yield block
            first = end
        if first == 1:
            raise DataError("the table has no rows", file=self.file)

    def _batches(self, requested):
        what = "the values of a group of rows"
        with self._reading():
            reader = self._open(requested)
            if self._is_parquet:
                for i in range(reader.metadata.num_row_groups):  # pages of one are held
                    refuse_beyond(reader.metadata.row_group(i).total_byte_size, what, self.file)
                batches = reader.iter_batches(
                    _ROWS, use_threads=False, columns=[self._stored_names[i] for i in requested]
                )
            else:
                batches = iter(reader)
        while True:
            with self._reading():
                batch = next(batches, None)
                if batch is None:
                    return
                batch.validate(full=True)  # places and codes may point anywhere else
            refuse_beyond(batch.nbytes, what, self.file)
            for first in range(0, batch.num_rows, _ROWS):
                yield batch.slice(first, _ROWS)


def _column(array, kind, blanks, pa):
    """-> (a column of that kind, or None and the first wrong row with its cell)."""
    types = pa.types
    if (
        types.is_floating(array.type)
        or types.is_integer(array.type)
        or types.is_decimal(array.type)
    ):
        values = _numbers(
            array if types.is_float64(array.type) else array.cast(pa.float64(), safe=False)
        )
        if kind in ("number", "either"):
            for row in np.flatnonzero(np.isinf(values))[:1]:
                return None, (int(row), str(values[row]))
            missing = [number for number in map(number_of, blanks) if number is not None]
            return np.where(np.isin(values, missing), np.nan, values) if missing else values, None
        if types.is_floating(array.type):  # PyArrow would write 1 for 1.0
            stored = values.astype(f"f{array.type.bit_width // 8}")
            array = pa.array(stored.astype(str).astype(object), pa.string(), np.isnan(values))
    if not types.is_dictionary(array.type):
        is_time, array = types.is_timestamp(array.type), array.cast(pa.string())
        if is_time:
            array = pa.array(
                [cell and _NO_FRACTION.sub("", cell) for cell in array.to_pylist()], pa.string()
            )
        if kind == "text":
            return (array.fill_null("") if array.null_count else array).to_pylist(), None
        array = array.dictionary_encode()
    codes = _numbers(array.indices, np.int32, -1)
    cells = [cell.strip(OUTER) for cell in array.dictionary.to_pylist()]
    missing = [cell in blanks for cell in cells]
    if kind != "words":
        numbers = [np.nan if absent else number_of(cell) for cell, absent in zip(cells, missing)]
        if None not in numbers:
            return np.array([*numbers, np.nan])[codes], None
        if kind == "number":
            wrong = np.array([number is None for number in numbers] + [False])
            row = int(np.argmax(wrong[codes]))
            return None, (row, cells[codes[row]])
    words = tuple(sorted({cell for cell, absent in zip(cells, missing) if not absent}))
    code = {word: i for i, word in enumerate(words)}
    return Words(
        words, np.array([*(code.get(cell, -1) for cell in cells), -1], np.int32)[codes]
    ), None


def _numbers(array, kind=np.float64, missing=np.nan):
    """The numbers of an array of that type; its own method `to_numpy` would load pandas."""
    if array.null_count == len(array):
        return np.full(len(array), missing, kind)
    if array.null_count:
        array = array.fill_null(missing)
    return np.frombuffer(
        array.buffers()[1], kind, len(array), array.offset * np.dtype(kind).itemsize
    )
