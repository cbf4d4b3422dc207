"""Tables of answers in Parquet, Feather and Arrow files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core.errors import needed_library
from ..files.atomic import replacing
from ..files.kinds import AnswerFormat
from .columns import BETWEEN
from .text_table import flags_text, Part, refuse_divided, texts_of_sets

_ROWS = 1 << 16  # of a group


class AnswerArrow:
    """Answers as columns: copied cells and words are strings, all others float64.

    `words` and `parts` are as of `AnswerText`; the file is one of Arrow, as Feather is. Raises
    `UsageError` where PyArrow is not installed.
    """

    def __init__(self, words: tuple[str, ...], parts: tuple[Part, ...], form: AnswerFormat):
        _pyarrow()
        refuse_divided(words, parts)
        self.words, self.parts = words, parts

    @property
    def names(self) -> list[str]:
        """The names of the columns behind those of the input."""
        return [name for part in self.parts for name, _ in part.columns()]

    def format_answers(self, values: Sequence) -> list[np.ndarray]:
        """The columns (n,) of some rows; values: of each part."""
        return [column for part, value in zip(self.parts, values) for column in part.values(value)]

    @contextmanager
    def opened(self, path: str, id_columns: Sequence[str], show: Callable) -> Iterator[Callable]:
        """As of `AnswerText`; there is no `-`."""
        pa = _pyarrow()
        kinds = [kind for part in self.parts for _, kind in part.columns()]
        waiting: list[Any] = []
        with replacing(path, binary=True) as file:
            sink = pa.PythonFile(file, "w")
            writer = None

            def add(columns, formatted):
                copied = []
                for column in columns[: len(id_columns)]:
                    if isinstance(column, range):
                        copied.append(pa.array(np.arange(column.start, column.stop)))
                    else:
                        copied.append(pa.array(column, pa.string()))
                arrays = [*copied, *map(self._array, kinds, formatted)]
                for column in columns[len(id_columns) :]:
                    arrays.append(pa.array(list(map(flags_text, column)), pa.string()))
                waiting.append(pa.table(arrays, [*id_columns, *self.names]))
                if sum(map(len, waiting)) >= _ROWS:
                    write_out()

            def write_out():
                nonlocal writer
                if writer is None:
                    writer = self._writer(sink, waiting[0].schema)
                writer.write_table(pa.concat_tables(waiting).combine_chunks())
                waiting.clear()

            try:
                yield add
                if waiting:
                    write_out()
            finally:
                if writer is not None:  # it would write when it goes, to a file that is closed
                    writer.close()

    def _writer(self, sink, schema):
        return _pyarrow().ipc.new_file(sink, schema)

    def _array(self, kind, column):
        pa = _pyarrow()
        if kind == "set":
            texts = texts_of_sets(
                column, lambda members: BETWEEN.join([self.words[number] for number in members])
            )
            return pa.array(texts, pa.string())
        if kind == "number":
            return pa.array(column, pa.float64(), from_pandas=True)  # NaN is null
        return pa.array(self.words, pa.string()).take(pa.array(column, mask=column < 0))


class AnswerParquet(AnswerArrow):
    """The same columns in a Parquet file."""

    def _writer(self, sink, schema):
        return _pyarrow().parquet.ParquetWriter(sink, schema)


def _pyarrow():
    with needed_library("Parquet and Arrow tables need PyArrow: pip install 'agfmc[table]'"):
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    return pyarrow
