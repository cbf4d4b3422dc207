"""Tables read by PyArrow, the one engine: text, Parquet, Feather, Arrow files and streams, frames.

A table gives record batches; what is a number, a word or a blank is decided on their arrays.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.errors import DataError, needed_library, one_line
from ..core.memory import refuse_beyond
from .types import BLANKS, TableFormat
from .words import (
    blank_numbers,
    Block,
    CellFault,
    column_names,
    column_of_texts,
    long_cell,
    LONGEST_CELL,
    no_number,
    number_of,
    OUTER,
    ragged_row,
    row_error,
    stripped,
    Table,
    Words,
)

_ROWS = 1 << 15  # of a block
_CELL = 64  # bytes of a cell of text on average, at most, in tables of many columns
_BUFFER = 1 << 20  # bytes of a column that are read at a time
_SHOWN = 200  # characters of a message of PyArrow
_PARQUET = b"PAR1"
_FILE = b"ARROW1"
_STREAM = b"\xff\xff\xff\xff"
_FIRST_FEATHER = b"FEA1"
_PER_SECOND = {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}


def import_pyarrow(file: str) -> Any:
    """The module pyarrow; `UsageError` about the table `file` where it is not installed."""
    with needed_library("tables need PyArrow: pip install 'agfmc[table]'", file):
        import pyarrow
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.ipc
        import pyarrow.parquet
    return pyarrow


def holds_arrow(head: bytes) -> bool:
    """True if these first bytes are of a table in Parquet, or in one of Arrow's own formats."""
    return head.startswith((_PARQUET, _FILE, _STREAM, _FIRST_FEATHER))


class ArrowTable(Table):
    """A table whose rows come in record batches of Arrow; `pa` is pyarrow."""

    def __init__(self, file: str, names: tuple[str, ...], blanks: frozenset[str], types=()):
        super().__init__(file, names, blanks)
        self.pa = import_pyarrow(file)
        self._types = types  # of the columns, where cells have types

    def batches(self, requested: Mapping[int, str]) -> Iterator[tuple[int, dict[int, Any]]]:
        """Yield (rows, the arrays of the requested columns by their positions)."""
        raise NotImplementedError

    def blocks(self, requested: Mapping[int, str]) -> Iterator[Block]:
        """The batches as `Block`s of these kinds."""
        first = 1
        kinds = dict(requested)
        for rows, arrays in self.batches(requested):
            numbers = range(first, first + rows)
            block = Block(rows, self.file, self.counted, {}, numbers, self.line_of)
            columns = block.convert(
                kinds, lambda position, kind: self._column(arrays[position], kind, position)
            )
            for position, column in columns.items():
                if isinstance(column, Words):  # as the next ones will be
                    kinds[position] = "words"
            if rows:
                yield replace(block, columns=columns)
            first += rows
        if first == 1:
            raise DataError("the table has no rows", file=self.file)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Errors of PyArrow within the block are those of the table."""
        try:
            yield
        except self.pa.ArrowMemoryError as error:
            raise DataError("cannot read: there is not enough memory", file=self.file) from error
        except (self.pa.ArrowException, OSError, ValueError, KeyError) as error:
            message = " ".join(str(error).split())
            raise DataError(
                f"is damaged, or cannot be read by PyArrow: {message[:_SHOWN]}", file=self.file
            ) from error

    def kind_of(self, position):
        """As of `Table`."""
        kind = self._type_of(position)
        if kind is None:
            return None
        if self.pa.types.is_boolean(kind):
            return "bool"
        if self.pa.types.is_integer(kind):
            return "int"
        return None

    def fault_of(self, position):
        """As of `Table`."""
        kind = self._type_of(position)
        types = self.pa.types
        if kind is None:
            return None
        is_strange = types.is_nested(kind) or types.is_run_end_encoded(kind)
        if is_strange or isinstance(kind, self.pa.BaseExtensionType):
            return f"expected numbers or words, found {kind}: `ignored` leaves the column out"
        return None

    def _type_of(self, position):
        if not self._types:
            return None
        kind = self._types[position]
        if self.pa.types.is_dictionary(kind):
            return kind.value_type
        return kind

    def _column(self, array, kind, position):
        """The column of that kind that an array is; raises `CellFault`."""
        with self.reading():
            types = self.pa.types
            if str(array.type) == "string_view":  # whose rows may share long words
                array = array.dictionary_encode()
            if types.is_dictionary(array.type):
                if _is_text(types, array.type.value_type):
                    return self._of_distinct(array, kind, position)
                array = array.dictionary_decode()
            is_numeric = kind in ("number", "either")
            values = self._typed_numbers(array)
            if values is not None and is_numeric:
                infinite = np.isinf(values)
                if infinite.any() and kind == "number":
                    row = int(np.argmax(infinite))
                    raise CellFault(row, no_number(self.names[position], str(values[row])))
                return self._without_blanks(values)
            array = self._as_text(array, values, position)
            if is_numeric:
                values = self._numbers_in_text(array)
                if values is not None:
                    return values
            if kind != "text":
                return self._of_distinct(array.dictionary_encode(), kind, position)
            self._refuse_long(array, slice(None), position)
            return [cell or "" for cell in array.to_pylist()]

    def _of_distinct(self, array, kind, position):
        """As `_column`, of a dictionary array of text."""
        codes = self._in_numpy(array.indices, np.int64(-1)).astype(np.intp)
        texts = array.dictionary.cast(self.pa.string())
        if len(texts) > len(codes):  # as of all rows of a file
            used, codes = np.unique(codes, return_inverse=True)
            codes -= len(used) and used[0] < 0
            texts = texts.take(self.pa.array(used[used >= 0]))
        self._refuse_long(texts, codes, position)
        texts = [cell or "" for cell in texts.to_pylist()]
        if kind == "text":
            texts.append("")
            return [texts[code] for code in codes.tolist()]
        return column_of_texts(texts, codes, kind, self, position)

    def _refuse_long(self, texts, codes, position):
        """`CellFault` for the first of the cells texts[codes] that is too long."""
        lengths = self._in_numpy(self.pa.compute.binary_length(texts), 0)
        if lengths.max(initial=0) > LONGEST_CELL:
            long = np.append(lengths > LONGEST_CELL, False)[codes]
            if long.any():
                raise CellFault(int(np.argmax(long)), long_cell(self.names[position]))

    def _without_blanks(self, values):
        blank = blank_numbers(self.blanks)
        if blank:
            return np.where(np.isin(values, blank), np.nan, values)
        return values

    def _typed_numbers(self, array):
        """The numbers, float64, of an array whose type has some, NaN where missing; or None."""
        types = self.pa.types
        kind = array.type
        if types.is_floating(kind) or types.is_integer(kind):
            return self._in_numpy(array).astype(np.float64)
        if types.is_decimal(kind):
            return self._in_numpy(array.cast(self.pa.float64(), safe=False))
        if types.is_duration(kind) or types.is_time(kind):
            counts = array.view(f"int{kind.bit_width}")
            return self._in_numpy(counts) / _PER_SECOND[kind.unit]
        return None

    def _in_numpy(self, array, missing=np.nan):
        """The numbers of an array in NumPy; its own methods would load pandas."""
        count = len(array)
        if array.null_count == count:
            return np.full(count, missing)
        present, numbers = array.buffers()
        kind = np.dtype(array.type.to_pandas_dtype())
        values = np.frombuffer(numbers, kind, count, array.offset * kind.itemsize)
        if not array.null_count:
            return values
        bits = np.unpackbits(np.frombuffer(present, np.uint8), bitorder="little")
        return np.where(bits[array.offset : array.offset + count], values, missing)

    def _as_text(self, array, values, position):
        """An array of strings; `values` are its numbers, or None."""
        pa = self.pa
        types = pa.types
        kind = array.type
        if types.is_floating(kind):  # PyArrow would write 1 for 1.0
            stored = values.astype(f"f{kind.bit_width // 8}")
            return pa.array(stored.astype(str).astype(object), pa.string(), np.isnan(values))
        if types.is_duration(kind):
            return pa.array(list(map(str, values.tolist())), pa.string(), np.isnan(values))
        if types.is_boolean(kind):
            return pa.compute.if_else(array, "True", "False")
        if types.is_timestamp(kind):
            text = array.cast(pa.string())
            return pa.compute.replace_substring_regex(text, r"\.0+(Z|[+-]\d\d:?\d\d)?$", r"\1")
        if self.fault_of(position) is not None:
            raise DataError(
                f"column '{one_line(self.names[position])}': {self.fault_of(position)}",
                file=self.file,
            )
        return array.cast(pa.string())

    def _strings(self, words):
        """An array of words; `pyarrow.array` would load pandas."""
        cells = [word.encode() for word in words]
        ends = np.cumsum([0, *map(len, cells)]).astype(np.int32)
        buffers = map(self.pa.py_buffer, (ends, b"".join(cells)))
        return self.pa.StringArray.from_buffers(len(cells), *buffers)

    def _numbers_in_text(self, array):
        """The numbers of an array of strings, NaN where blank, or None where a cell is no number.

        A cast accepts what `number_of` does, and infinite numbers and NaN.
        """
        compute = self.pa.compute
        if self.decimal == ",":
            if compute.any(compute.match_substring(array, ".")).as_py():
                return None
            array = compute.replace_substring(array, ",", ".")
        for is_bare in (False, True):
            if is_bare:
                array = compute.utf8_trim(array, OUTER)
                absent = compute.is_in(array, value_set=self._strings(sorted(self.blanks)))
                nothing = self.pa.nulls(len(array), self.pa.string())
                array = compute.if_else(absent, nothing, array)
            with suppress(self.pa.ArrowInvalid):
                numbers = array.cast(self.pa.float64())
                values = self._in_numpy(numbers)
                if np.count_nonzero(~np.isfinite(values)) == numbers.null_count:
                    return self._without_blanks(values)
        return None


def _is_text(types, kind):
    return types.is_string(kind) or types.is_large_string(kind) or "string_view" in str(kind)


def typed_blanks(form: TableFormat) -> frozenset[str]:
    """The missing cells of a table whose cells have types."""
    if form.blanks is None:
        return stripped(("",))
    return stripped(tuple(form.blanks))


def text_blanks(form: TableFormat) -> frozenset[str]:
    """The missing cells of a table of text: numbers are missing values beside the usual words."""
    words = [word for word in form.blanks or () if word]
    are_numbers = words and all(number_of(word) is not None for word in words)
    if form.blanks is None or are_numbers:
        return stripped((*BLANKS, *words))
    return stripped(tuple(form.blanks))


class StoredTable(ArrowTable):
    """A table in Parquet or Feather, or an Arrow file or stream, in the open file `source`."""

    def __init__(self, source, name: str, form: TableFormat):
        self.pa, self.file = import_pyarrow(name), name
        self._source = source
        head = os.pread(source.fileno(), len(_FILE), 0)
        if head.startswith(_FIRST_FEATHER):
            raise DataError(
                "is in version 1 of Feather: write version 2, the default of "
                "pyarrow.feather.write_feather",
                file=name,
            )
        self._is_parquet = head.startswith(_PARQUET)
        self._first = 8 if head.startswith(_FILE) else 0  # a file holds a stream
        self._texts: list[str] = []
        with self.reading():
            reader = self._open(())
            if self._is_parquet:
                schema = reader.schema_arrow
            else:
                schema = reader.schema
            self._stored = schema.names
            self._texts = [field.name for field in schema if _is_text(self.pa.types, field.type)]
        super().__init__(name, column_names(schema.names, name), typed_blanks(form), schema.types)
        self.index = stored_index(schema)

    def _open(self, requested):
        self._source.seek(self._first)
        file = self.pa.PythonFile(self._source, mode="r")
        if self._is_parquet:  # a word is held once, however many cells have it
            return self.pa.parquet.ParquetFile(
                file, pre_buffer=False, buffer_size=_BUFFER, read_dictionary=self._texts
            )
        options = self.pa.ipc.IpcReadOptions(included_fields=sorted(requested) or None)
        return self.pa.ipc.open_stream(file, options=options)

    def batches(self, requested):
        """Batches, whose arrays are checked, as they may be forged."""
        what = "the values of a group of rows"
        with self.reading():
            reader = self._open(requested)
            if self._is_parquet:
                for i in range(reader.metadata.num_row_groups):  # pages of one are held
                    refuse_beyond(reader.metadata.row_group(i).total_byte_size, what, self.file)
                batches = reader.iter_batches(
                    _ROWS, use_threads=False, columns=[self._stored[i] for i in requested]
                )
            else:
                batches = iter(reader)
        while True:
            with self.reading():
                batch = next(batches, None)
                if batch is None:
                    return
                batch.validate(full=True)  # places and codes may point anywhere else
            refuse_beyond(batch.nbytes, what, self.file)
            with self.reading():
                whole = {
                    position: batch.column(batch.schema.get_field_index(self._stored[position]))
                    for position in requested
                }
            for first in range(0, batch.num_rows, _ROWS):
                arrays = {position: array.slice(first, _ROWS) for position, array in whole.items()}
                yield min(_ROWS, batch.num_rows - first), arrays


def stored_index(schema) -> frozenset[str]:
    """The columns of a schema that were the index of a frame of pandas."""
    try:
        index = json.loads((schema.metadata or {})[b"pandas"])["index_columns"]
        return frozenset(name for name in index if isinstance(name, str))
    except (KeyError, ValueError, TypeError):
        return frozenset()


class FrameTable(ArrowTable):
    """A table of PyArrow in memory."""

    def __init__(self, frame, file: str, form: TableFormat):
        names = column_names(frame.column_names, file)
        super().__init__(file, names, typed_blanks(form), frame.schema.types)
        self._frame = frame

    def batches(self, requested):
        """Batches of the table."""
        columns = {str(position): self._frame.column(position) for position in requested}
        if not columns:
            yield len(self._frame), {}
            return
        table = self.pa.table(list(columns.values()), [*columns])
        for batch in table.to_batches(_ROWS):
            yield batch.num_rows, {int(name): batch.column(name) for name in columns}


class TextTable(ArrowTable):
    """A table in text, whose rows open_rows() gives as a new stream of UTF-8 each time.

    `source` has the `delimiter`, whether it `is_quoted` and has a `header`, and the `decimal`.
    """

    def __init__(self, name: str, names: tuple[str, ...], blanks: frozenset[str], source, block):
        super().__init__(name, names, blanks)
        self._source = source
        self._block = max(block, _CELL * len(names))
        self.decimal = source.decimal

    def line_of(self, row):
        """The line of a row, as of `TextSource`."""
        return self._source.line_of(row)

    def batches(self, requested):
        """Batches of strings; the rows before a ragged one are yielded first."""
        csv = self.pa.csv
        width = len(self.names)
        ragged = []

        def take(row):
            ragged.append(row)
            return "skip"

        # behind the last row comes one that no quote which is closed can hold
        end = "\0" + self._source.delimiter * width
        columns = [str(position) for position in requested] or ["0"]
        is_quoted = self._source.is_quoted
        done = 0
        stream = self._source.open_rows(f"{end}\n".encode())
        with self._long_rows(1):
            reader = csv.open_csv(
                self.pa.PythonFile(stream, "r"),
                csv.ReadOptions(
                    use_threads=False,  # with threads rows have no numbers
                    block_size=self._block,
                    column_names=[str(position) for position in range(width)],
                ),
                csv.ParseOptions(
                    delimiter=self._source.delimiter,
                    quote_char='"' if is_quoted else False,
                    newlines_in_values=is_quoted,
                    invalid_row_handler=take,
                ),
                csv.ConvertOptions(
                    check_utf8=False,  # as it comes from there
                    column_types=dict.fromkeys(columns, self.pa.string()),
                    strings_can_be_null=False,
                    include_columns=columns,
                ),
            )
        try:
            while not ragged or done < ragged[0].number - 1:
                with self._long_rows(done + 1):
                    batch = next(reader, None)
                if batch is None:
                    break
                rows = batch.num_rows
                if ragged:
                    rows = min(rows, ragged[0].number - 1 - done)
                yield (
                    rows,
                    {
                        position: batch.column(str(position)).slice(0, rows)
                        for position in requested
                    },
                )
                done += rows
        finally:
            # A thread of PyArrow that reads ahead, and is within the stream when Python ends, ends
            # the process by a fault. A pipe may let it wait without end.
            stream.is_stopped = True
            if self._source.is_file or ragged:
                with suppress(Exception):
                    for _ in reader:
                        pass
        if ragged and ragged[0].text == end:
            return
        if ragged and "\0" not in ragged[0].text:
            count = ragged[0].actual_columns
            raise row_error(self, done + 1, ragged_row(count, width, self._source.header, not done))
        raise row_error(
            self,
            done + bool(ragged),
            "a quote that opens here is not closed; `quotes=False` where quotes are a part of the "
            "cells",
        )

    @contextmanager
    def _long_rows(self, first):
        """Errors of PyArrow within the block are those of the rows from the first on."""
        try:
            with self.reading():
                yield
        except DataError as error:
            if "straddling" not in error.message:
                raise
            raise row_error(
                self,
                first,
                f"a row from here on is longer than {self._block >> 10} KiB, or its quote is not "
                "closed",
            ) from None
