"""Rows that are answered as they come, a line at a time: CSV and its kin, and objects of JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from ..core.errors import DataError
from ..files.codec import json_object
from ..files.opening import CutLine
from .arrow import text_blanks
from .memory import cell_of, RowTable
from .reading import names_of, TextSource, warn_of_windows, WINDOWS
from .types import TableFormat
from .words import Block, LONGEST_CELL, ragged_row, Table


class LineTable(Table):
    """A text whose first line is the heading, or a row; `put` gives the next lines, each a row."""

    counted = "line"

    def __init__(self, heading: bytes, form: TableFormat, file: str):
        self._source = TextSource(io.BytesIO(), heading, form, file)
        super().__init__(file, names_of(self._source, file), text_blanks(form))
        self.decimal = self._source.decimal
        self._encoding = self._source.encoding
        self._lines: dict[int, str] = {}

    def put(self, data: bytes, line: int) -> None:
        """Let `blocks` yield the rows of these lines, the number of the first being `line`."""
        self._lines = {}
        for number, text in enumerate(data.split(b"\n"), line):
            text = text.removesuffix(b"\r")
            message = None
            if self._source.quotes and text.count(b'"') % 2:
                message = "a quote is not closed in its line"
            elif b"\0" in text:
                message = "is not text: it holds a NUL"
            try:
                self._lines[number] = self._decoded(text)
            except ValueError:
                message = f"is not text in {self._encoding or 'UTF-8'}"
            if message is not None:
                raise DataError(message, file=self.file, line=number)
            if not text:
                del self._lines[number]

    def _decoded(self, data):
        """The text of a line; the first that is not ASCII tells the encoding, as in a file."""
        try:
            text = data.decode(self._encoding or "utf-8")
        except ValueError:
            if self._encoding is not None:
                raise
            text = data.decode(WINDOWS)
            self._encoding = WINDOWS
            warn_of_windows(self.file)
        if self._encoding is None and not data.isascii():
            self._encoding = "utf-8"
        return text

    def blocks(self, requested: Mapping[int, str]) -> Iterator[Block]:
        """One block of the lines."""
        numbers = list(self._lines)
        reader = self._source.reader(self._lines.values())
        rows = []
        try:
            rows.extend(reader)
        except csv.Error as error:
            raise DataError(
                f"cannot split the line into cells: {error}",
                file=self.file,
                line=numbers[reader.line_num - 1],
            ) from None
        for number, cells in zip(numbers, rows):
            if len(cells) != len(self.names):
                message = ragged_row(len(cells), len(self.names), self._source.header)
                raise DataError(message, file=self.file, line=number)
        columns = {at: [cells[at] for cells in rows] for at in requested}
        block = Block(len(rows), self.file, self.counted, columns, numbers)
        yield self.of_text(block, {at: kind for at, kind in requested.items() if kind != "text"})

    def line_texts(self, data: bytes, positions: Sequence[int]) -> list[str]:
        """The cells of these columns in one line, empty where they cannot be read.

        Other cells may be too long, and the line may be cut.
        """
        limit = csv.field_size_limit(len(data) + 1)
        cells: list[str] = []
        with suppress(csv.Error):
            cells = next(
                self._source.reader([data.decode(self._encoding or "utf-8", "replace")], False), []
            )
        csv.field_size_limit(limit)
        if isinstance(data, CutLine):
            del cells[-1:]
        elif len(cells) != len(self.names):
            cells = []
        texts = [cells[at] if at < len(cells) else "" for at in positions]
        return [text if len(text) <= LONGEST_CELL else "" for text in texts]


class ObjectTable(RowTable):
    """Lines that are JSON objects with these keys; `put` gives the next ones."""

    counted, answered_in = "line", "jsonl"

    def __init__(self, keys: Sequence[str], form: TableFormat, file: str):
        super().__init__((), keys, form, file)

    def put(self, data: bytes, line: int) -> None:
        """Let `blocks` yield these lines, of which the first has that number."""
        self.rows = []
        self.numbers = []
        for number, text in enumerate(data.split(b"\n"), line):
            if text.strip():
                try:
                    self.rows.append(json_object(text))
                except ValueError as error:
                    raise DataError(str(error), file=self.file, line=number) from None
                self.numbers.append(number)

    def line_texts(self, data: bytes, positions: Sequence[int]) -> list[str]:
        """The text of these columns in one line, empty where it cannot be read."""
        row: Mapping = {}
        with suppress(ValueError):
            row = json_object(data)
        return [cell_of(row.get(self.keys[at])) or "" for at in positions]
