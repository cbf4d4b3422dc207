"""Tables of answers in Parquet, Feather and Arrow files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import UsageError
from .answer_columns import BETWEEN
from .answer_table import Part, refuse_divided, texts_of_sets
from .atomic import replacing

__all__ = ["AnswerArrow"]

_ROWS = 1 << 16  # of a group


class AnswerArrow:
    """Answers as columns: what is copied and words are strings, else float64.

    words, parts: as of `AnswerText`;  parquet: else a file of Arrow, which Feather is.  Raises
    UsageError where PyArrow is not installed.
    """

    def __init__(self, words: tuple[str, ...], parts: tuple[Part, ...], parquet: bool):
        _pyarrow()
        refuse_divided(words, parts)
        self.words, self.parts, self._parquet = words, parts, parquet

    @property
    def names(self) -> list[str]:
        """The names of the columns behind those of the head."""
        return [name for part in self.parts for name in part.columns()]

    def tails(self, values: Sequence) -> list[np.ndarray]:
        """The columns (n,) of some rows; values: of each part."""
        columns: list[np.ndarray] = []
        for part, value in zip(self.parts, values):
            if part.kind == "ranked":
                columns += [one for pair in zip(value[0].T, value[1].T) for one in pair]
            elif part.kind == "numbers":
                columns += list(value.T)
            else:
                columns.append(value)
        return columns

    @contextmanager
    def opened(self, path: str, heads: Sequence[str], show: Callable) -> Iterator[Callable]:
        """As of `AnswerText`; there is no `-`."""
        pa = _pyarrow()
        waiting: list[Any] = []
        with replacing(path, binary=True) as file:
            schema = writer = None

            def add(columns, tails):
                nonlocal schema, writer
                arrays = [self._copied(pa, column) for column in columns] + [
                    self._made(pa, column) for column in tails]
                if writer is None:
                    schema = pa.schema(zip([*heads, *self.names], [one.type for one in arrays]))
                    writer = self._writer(pa, pa.PythonFile(_Sink(file), "w"), schema)
                waiting.append(pa.table(arrays, schema))
                if sum(map(len, waiting)) >= _ROWS:
                    write_out()

            def write_out():
                writer.write_table(pa.concat_tables(waiting).combine_chunks())
                waiting.clear()

            try:
                yield add
                if waiting:
                    write_out()
            finally:
                if writer is not None:  # it would write when it goes, to a file that is closed
                    writer.close()

    def _writer(self, pa, sink, schema):
        return pa.parquet.ParquetWriter(sink, schema) if self._parquet else \
            pa.ipc.new_file(sink, schema)

    @staticmethod
    def _copied(pa, column):
        if isinstance(column, range):
            return pa.array(np.arange(column.start, column.stop))
        return pa.array(column, pa.string())

    def _made(self, pa, column):
        if column.ndim == 2:
            return pa.array(texts_of_sets(column, lambda members: BETWEEN.join(
                [self.words[number] for number in members])), pa.string())
        if column.dtype.kind == "f":
            return pa.array(column, pa.float64())
        return pa.array(self.words, pa.string()).take(pa.array(column, mask=column < 0))


def _pyarrow():
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError("Parquet and Arrow tables need PyArrow: pip install 'agfmc[table]'"
                         ) from error
    return pyarrow


class _Sink:
    """A file for PyArrow to write to, which it does not close."""

    closed = False

    def __init__(self, file):
        self._file = file

    def write(self, data):
        self._file.write(data)
        return len(data)

    def flush(self):
        self._file.flush()

    def close(self):
        """Nothing: the file appears when all is well."""
