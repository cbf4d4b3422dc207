"""Tables read by PyArrow: blocks of text, where it gives what the csv engine gives; Parquet, Arrow.

PyArrow takes more for a number than this package does, and stops at the first cell that it does
not understand; a block with such a cell is left to the csv engine.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from ..errors import DataError, UsageError
from .arrow_messages import claimed_sizes
from .inputs import refuse_beyond
from .table_text import LONGEST_CELL, OUTER, Layout, Records, Words, no_number, number_of

__all__ = ["ArrowFile", "TextBlocks", "holds_arrow"]

_LEAST = 1 << 20  # bytes of text for which PyArrow is worth loading
_ROWS = 1 << 15  # of a batch
_BUFFER = 1 << 20  # bytes of a column that are read at a time
_TOLD = 200  # characters of a message of PyArrow
_NO_FRACTION = re.compile(r"\.0+(?=Z?$)")  # of seconds
_MARK = b"\xef\xbb\xbf"
_PARQUET = b"PAR1"
_FILE = b"ARROW1"
_STREAM = b"\xff\xff\xff\xff"
_FIRST_FEATHER = b"FEA1"


class TextBlocks:
    """Blocks of a text table, converted by PyArrow.

    engine: "arrow" for every block, None for long ones where it is installed.
    """

    def __init__(self, layout: Layout, engine: str | None):
        self._layout = layout
        self._least = 0 if engine == "arrow" else _LEAST
        self._worded = set()  # columns of either kind that had words
        self._numbers = {number_of(blank) for blank in layout.blanks} - {None}
        self._csv = None

    def converted(self, records: Records, wanted: Mapping[int, str]) -> dict | None:
        """The columns as `table_text.converted` gives them; None where that should do it."""
        if len(records.data) < self._least and self._csv is None:
            return None
        if not _fits(records):
            return None
        try:
            import pyarrow
            import pyarrow.csv
        except ImportError:
            return None
        self._csv = pyarrow.csv
        try:
            table = self._read(pyarrow, records, wanted)
        except (pyarrow.ArrowException, OSError):
            return None
        if table.num_rows != len(records.starts):
            return None
        columns = {}
        for position, kind in wanted.items():
            array = table.column(str(position)).combine_chunks()
            columns[position] = self._column(position, kind, array)
            if columns[position] is None:
                return None
        return columns

    def learn(self, columns: Mapping[int, object]) -> None:
        """Remember which columns have words: another block of them is read as words at once."""
        self._worded |= {i for i, column in columns.items() if isinstance(column, Words)}

    def _read(self, pa, records, wanted):
        layout = self._layout
        types = {"number": pa.float64(), "either": pa.float64(), "text": pa.string(),
                 "words": pa.dictionary(pa.int32(), pa.string())}
        kinds = {position: "words" if kind == "either" and position in self._worded else kind
                 for position, kind in wanted.items()} or {0: "text"}
        quoted = layout.quotes and b'"' in records.data
        return self._csv.read_csv(
            pa.BufferReader(records.data),
            read_options=self._csv.ReadOptions(
                use_threads=False, block_size=len(records.data) + 1,
                column_names=[str(i) for i in range(len(layout.names))]),
            parse_options=self._csv.ParseOptions(
                delimiter=layout.delimiter, quote_char='"' if quoted else False,
                newlines_in_values=quoted),
            convert_options=self._csv.ConvertOptions(
                include_columns=[str(i) for i in kinds],
                column_types={str(i): types[kind] for i, kind in kinds.items()},
                null_values=[f"{before}{blank}{behind}" for blank in sorted(layout.blanks)
                             for before in ("", " ") for behind in ("", " ")],
                strings_can_be_null=False))

    def _column(self, position, kind, array):
        if kind == "text":
            return array.to_pylist()
        if kind == "words" or position in self._worded and kind == "either":
            return _of_dictionary(array.dictionary.to_pylist(),
                                  _numpy(array.indices, np.int32, -1), kind, self._layout.blanks)
        values = _numpy(array, np.float64, np.nan)
        if np.count_nonzero(np.isfinite(values)) + array.null_count < len(values):
            return None
        if self._numbers and np.isin(values, list(self._numbers)).any():
            return None  # it may be missing, written in another way
        return values


def _fits(records):
    """True if no cell can be too long, and none begins with a mark that PyArrow would skip."""
    if records.data.startswith(_MARK):
        return False
    edges = np.concatenate(([-1], records.ends))
    return int(np.diff(edges).max(initial=0)) <= LONGEST_CELL


def _numpy(array, kind, missing):
    """The numbers of an array, writable, `missing` where it has none.

    It stands for the method `to_numpy` of the array, which would load pandas.
    """
    count, first = len(array), array.offset
    validity, values = array.buffers()
    if array.null_count == count:
        return np.full(count, missing, kind)
    found = np.frombuffer(values, kind, count, first * np.dtype(kind).itemsize).copy()
    if array.null_count:
        there = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
        found[there[first:first + count] == 0] = missing
    return found


def _of_dictionary(cells, codes, kind, blanks):
    """The column of cells that stand in a list, None for missing ones; codes (n,), -1 missing.

    Of the kind "number" None where a cell is a word.
    """
    cells = [None if cell is None or cell.strip(OUTER) in blanks else cell.strip(OUTER)
             for cell in cells]
    if kind != "words":
        numbers = [np.nan if cell is None else number_of(cell) for cell in cells]
        if None not in numbers:
            return np.array([*numbers, np.nan])[codes]
        if kind == "number":
            return None
    words = tuple(sorted(set(cells) - {None}))
    code = {word: i for i, word in enumerate(words)}
    return Words(words, np.array([*(code.get(cell, -1) for cell in cells), -1], np.int32)[codes])


def holds_arrow(head: bytes) -> bool:
    """True for the first bytes of a table in Parquet, or in one of Arrow's own formats."""
    return head.startswith((_PARQUET, _FILE, _STREAM, _FIRST_FEATHER))


class ArrowFile:
    """A table in Parquet or Feather, or an Arrow file or stream, in the open file `file`.

    names: of the columns as they stand there.  Raises DataError for what is damaged.
    """

    def __init__(self, file, name: str):
        try:
            import pyarrow
            import pyarrow.ipc
            import pyarrow.parquet
        except ImportError as error:
            raise UsageError("needs PyArrow: pip install 'agfmc[table]'",
                             file=name) from error
        self._pa, self._file, self._name = pyarrow, file, name
        head = os.pread(file.fileno(), len(_FILE), 0)
        if head.startswith(_FIRST_FEATHER):
            raise DataError("is in version 1 of Feather: write version 2, the default of "
                            "pyarrow.feather.write_feather", file=name)
        self._is_parquet = head.startswith(_PARQUET)
        self._first = 8 if head.startswith(_FILE) else 0  # a file holds a stream
        with self._reading():
            for size in () if self._is_parquet else claimed_sizes(file, self._first):
                refuse_beyond(size, "the values of a group of rows", name)
            reader = self._open({})
            schema = reader.schema_arrow if self._is_parquet else reader.schema
            self.names = tuple(schema.names)
            self._types = schema.types

    @contextmanager
    def _reading(self):
        """Makes errors of PyArrow errors of this file."""
        try:
            yield
        except self._pa.ArrowMemoryError as error:
            raise DataError("cannot read: there is not enough memory", file=self._name) from error
        except (self._pa.ArrowException, OSError, ValueError, KeyError, struct.error) as error:
            told = " ".join(str(error).split())
            raise DataError(f"is damaged, or cannot be read by PyArrow: {told[:_TOLD]}",
                            file=self._name) from error

    def _open(self, wanted):
        """A reader from the start of the file; wanted: as of `blocks`, {} for all columns."""
        self._file.seek(self._first)
        file = self._pa.PythonFile(self._file, mode="r")
        if self._is_parquet:
            return self._pa.parquet.ParquetFile(
                file, pre_buffer=False, buffer_size=_BUFFER, read_dictionary=[
                    self.names[i] for i, kind in wanted.items()
                    if kind != "text" and _is_text(self._pa, self._types[i])])
        options = self._pa.ipc.IpcReadOptions(included_fields=sorted(wanted) or None)
        return self._pa.ipc.open_stream(file, options=options)

    def blocks(self, wanted: Mapping[int, str], blanks: frozenset[str]
               ) -> Iterator[tuple[int, dict, tuple[int, str] | None]]:
        """Yield (rows, columns as of `Table.blocks`, the first row that is wrong with a message).

        Of rows with a wrong one there are no columns.
        """
        for position in wanted:
            if self._pa.types.is_nested(self._types[position]) or \
                    isinstance(self._types[position], self._pa.BaseExtensionType):
                raise DataError(f"expected numbers or words in column '{self.names[position]}', "
                                f"found {self._types[position]}", file=self._name)
        for batch in self._batches(wanted):
            columns, faults = {}, []
            for position, kind in wanted.items():
                with self._reading():
                    array = batch.column(batch.schema.get_field_index(self.names[position]))
                    columns[position], wrong = self._column(array, kind, blanks)
                if wrong is not None:
                    row, cell = wrong
                    faults.append((row, position, no_number(self.names[position], cell)))
            fault = min(faults, default=None)
            yield batch.num_rows, columns, fault and fault[::2]

    def _batches(self, wanted):
        """Yield record batches with these columns, of a bounded number of rows."""
        with self._reading():
            reader = self._open(wanted)
            if self._is_parquet:
                for i in range(reader.metadata.num_row_groups):  # pages of one are held
                    refuse_beyond(reader.metadata.row_group(i).total_byte_size,
                                  "the values of a group of rows", self._name)
                batches = reader.iter_batches(_ROWS, use_threads=False,
                                              columns=[self.names[i] for i in wanted])
            else:
                batches = iter(reader)
        while True:
            with self._reading():
                batch = next(batches, None)
                if batch is None:
                    return
                batch.validate(full=True)  # places and codes may point anywhere else
            for first in range(0, batch.num_rows, _ROWS):
                yield batch.slice(first, _ROWS)

    def _column(self, array, kind, blanks):
        """-> (a column of that kind, or None and the first wrong row with its cell)."""
        pa = self._pa
        worded = pa.types.is_dictionary(array.type) and _is_text(pa, array.type.value_type)
        if not worded and pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if worded or not (pa.types.is_floating(array.type) or pa.types.is_integer(array.type) or
                          pa.types.is_decimal(array.type)):
            return _of_strings(array if worded else self._strings(array), kind, blanks, pa)
        values = _numpy(array.cast(pa.float64(), safe=False), np.float64, np.nan)
        if kind in ("words", "text"):
            if pa.types.is_floating(array.type):  # PyArrow would write 1 for 1.0
                own = _numpy(array, f"f{array.type.bit_width // 8}", np.nan)
                array = pa.array(own.astype(str).astype(object), pa.string(), np.isnan(values))
            return _of_strings(array.cast(pa.string()), kind, blanks, pa)
        for row in np.flatnonzero(np.isinf(values))[:1]:
            return None, (int(row), str(values[row]))
        missing = [number for number in map(number_of, blanks) if number is not None]
        return np.where(np.isin(values, missing), np.nan, values) if missing else values, None

    def _strings(self, array):
        pa = self._pa
        text = array.cast(pa.string())
        if pa.types.is_timestamp(array.type):
            text = pa.array([cell and _NO_FRACTION.sub("", cell) for cell in text.to_pylist()],
                            pa.string())
        return text


def _is_text(pa, kind):
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or \
        pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


def _of_strings(array, kind, blanks, pa):
    """-> (the column of an array of strings, or None and the first wrong row with its cell)."""
    if not pa.types.is_dictionary(array.type):
        if kind == "text":
            return [cell or "" for cell in array.to_pylist()], None
        array = array.dictionary_encode()
    codes = _numpy(array.indices.cast(pa.int32()), np.int32, -1)
    held = np.zeros(len(array.dictionary) + 1, np.bool_)
    held[codes] = True
    used = np.flatnonzero(held[:-1])
    place = pa.Array.from_buffers(pa.int64(), len(used), [None, pa.py_buffer(used)])
    cells = array.dictionary.cast(pa.string()).take(place).to_pylist()
    codes = np.append(np.cumsum(held[:-1]) - 1, -1)[codes]
    if kind == "text":
        return [cells[code] or "" if code >= 0 else "" for code in codes.tolist()], None
    column = _of_dictionary(cells, codes, kind, blanks)
    if column is not None:
        return column, None
    worded = np.array([cell is not None and number_of(cell) is None and
                       cell.strip(OUTER) not in blanks for cell in cells] + [False])
    row = int(np.flatnonzero(worded[codes])[0])
    return None, (row, cells[codes[row]])
