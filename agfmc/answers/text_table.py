"""Tables of answers as text: CSV or tab-separated with a header, or one JSON object a line.

A line has cells of the row of the input, and the formatted answer; answers are formatted where
they are computed, a block of rows at a time.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from json.encoder import encode_basestring as json_string
from typing import NamedTuple

import numpy as np

from ..core.errors import UsageError
from ..files.csv import writing_text
from ..files.kinds import AnswerFormat
from .columns import BETWEEN
from .libagf_text import format_points

EXPECTED_COST, MOST_PROBABLE = "expected_cost", "most_probable"  # columns of answers by cost
AGAINST, MARGIN, REASONS = "against", "margin", "reasons"  # of answers that are explained
FLAGS = "flags"  # kind and name of the part that comes with the head of a row
FAILED = "error"  # the class of a line of a stream that could not be answered
_PLAIN = "%.6f"


class Part(NamedTuple):
    """A part of an answer: a column, or several, or a member of the JSON object.

    Attributes
    ----------
    kind : "word", numbers (n,) of words, -1 for none; "number", (n,); "numbers", (n, c); "set", (n,
        words) bool; "ranked", numbers of words (n, c) and numbers (n, c) for them, a pair of arrays;
        or `FLAGS`
    name : name of the column, and of the member
    names : names (c,) of numbers, whose columns have the prefix before them, and of the pairs,
        whose columns are the prefix and `second`, then these
    form : format of numbers
    """

    kind: str
    name: str
    names: tuple[str, ...] = ()
    prefix: str = ""
    form: str = _PLAIN
    second: str = "p"

    def columns(self) -> list[tuple[str, str]]:
        """The names and kinds of its columns."""
        if self.kind == "ranked":
            return [
                pair
                for number in self.names
                for pair in ((self.prefix + number, "word"), (self.second + number, "number"))
            ]
        if self.kind == "numbers":
            return [(self.prefix + name, "number") for name in self.names]
        return [(self.name, self.kind)]

    def values(self, value) -> list[np.ndarray]:
        """Their values in some rows, as they stand in `value`."""
        if self.kind == "ranked":
            return [column for pair in zip(value[0].T, value[1].T) for column in pair]
        if self.kind == "numbers":
            return list(value.T)
        return [value]


class AnswerText:
    """Answers as text.

    `words` are the names of the classes, `parts` those of an answer; without a delimiter of the
    format each line is JSON.
    """

    def __init__(self, words: tuple[str, ...], parts: tuple[Part, ...], form: AnswerFormat):
        self.words = words
        self.parts = parts
        self.delimiter = form.delimiter
        if form.delimiter is not None:
            refuse_divided(words, parts)

    @property
    def names(self) -> list[str]:
        """The names of the columns, or of the members, behind those of the head."""
        if self.delimiter is None:
            return [part.name for part in self.parts]
        return [name for part in self.parts for name, _ in part.columns()]

    @contextmanager
    def opened(
        self, path: str, id_columns: Sequence[str], show: Callable[[bytes], None]
    ) -> Iterator[Callable]:
        """A function that writes rows: add(cells of the columns of the input, formatted answers).

        `id_columns` are the names of these columns. The file `path` appears whole or not at all;
        `-` is `show`, which b"" ends.
        """
        with writing_text(path, show) as write:
            write(_bytes(self.header(id_columns)))
            yield lambda *parts: write(_bytes(self.lines(id_columns, *parts)))

    def header(self, id_columns: Sequence[str]) -> str:
        """The first line; id_columns: names of the columns of the input."""
        if self.delimiter is None:
            return ""
        return self.delimiter.join(map(self._quoted, [*id_columns, *self.names])) + "\n"

    def lines(self, id_columns: Sequence[str], columns: Sequence, formatted: list[str]) -> str:
        """Whole lines of some rows: cells of the input, a list or a `range` for each name, and the
        formatted answers; lists of flags are the last column, if there are flags."""
        flags = columns[len(id_columns) :]
        columns = columns[: len(id_columns)]
        if flags:
            formatted = list(map(self._with_flags, formatted, *flags))
        if self.delimiter is None:
            encode = functools.partial(map, json_string)
        else:
            encode = self._cells
        cells = [
            map(str, column) if isinstance(column, range) else encode(column) for column in columns
        ]
        if self.delimiter is not None:
            rows = map(self.delimiter.join, zip(*cells))
        else:
            rows = map(
                "".join(["{", *(f"{_member(name)}%s, " for name in id_columns)]).__mod__,
                zip(*cells),
            )
        return "".join(map(operator.add, rows, formatted))

    def _with_flags(self, text, flags):
        if self.delimiter is None:
            return f'{text[:-2]}, "{FLAGS}": [{", ".join(map(json_string, flags))}]}}\n'
        return f"{text[:-1]}{self.delimiter}{self._quoted(flags_text(flags))}\n"

    def _cells(self, column):
        together = "\0".join(column)
        if any(mark in together for mark in (self.delimiter, '"', "\r", "\n")):
            return map(self._quoted, column)
        return column

    def _quoted(self, cell):
        if any(mark in cell for mark in (self.delimiter, '"', "\r", "\n")):
            return '"' + cell.replace('"', '""') + '"'
        return cell

    def format_answers(self, values: Sequence) -> list[str]:
        """The rest of the line of each row; values: of each part."""
        forms = []
        columns = []
        for part, value in zip(self.parts, values):
            form, cells = self._part(part, value)
            forms.append(_member(part.name) + form if self.delimiter is None else form)
            columns += cells
        if self.delimiter:
            whole = self.delimiter + self.delimiter.join(forms) + "\n"
        else:
            whole = ", ".join(forms) + "}\n"
        return list(map(whole.__mod__, zip(*columns)))

    def failed(self, message: str) -> str:
        """The rest of the line of a row that has no answer, whose class is `FAILED`."""
        if self.delimiter is None:
            return f'"{FAILED}": {json_string(message)}}}\n'
        others = len(self.names) - 1 - (FLAGS in self.names)
        return self.delimiter.join(["", FAILED, *[""] * others]) + "\n"

    def _part(self, part, value):
        """(a form for the operator %, the columns of what stands in it)."""
        if (
            part.kind == "numbers"
            and self.delimiter
            and part.form == _PLAIN
            and np.isfinite(value).all()
        ):
            text = format_points(value).decode()  # the same digits, many at once
            text = text.replace("  ", self.delimiter).replace(" ", self.delimiter)
            return "%s", [text[1:-1].split("\n" + self.delimiter)]
        pairs = [
            self._column(kind, part.form, column)
            for (_, kind), column in zip(part.columns(), part.values(value))
        ]
        forms = [form for form, _ in pairs]
        columns = [cells for _, cells in pairs]
        if self.delimiter is not None:
            return self.delimiter.join(forms), columns
        if part.kind == "numbers":
            return "{" + ", ".join(map(str.__add__, map(_member, part.names), forms)) + "}", columns
        if part.kind == "ranked":
            return "[" + ", ".join(
                f'{{"{part.prefix}": {word}, "{part.second}": {number}}}'
                for word, number in zip(forms[::2], forms[1::2])
            ) + "]", columns
        return forms[0], columns

    @functools.cached_property
    def _encoded(self):
        """The words as they stand in the text, and behind them that of none."""
        if self.delimiter is None:
            return [*map(json_string, self.words), "null"]
        return [*map(self._quoted, self.words), ""]

    def _column(self, kind, form, values):
        if kind == "word":
            return "%s", list(map(self._encoded.__getitem__, values.tolist()))
        if kind == "set":
            return "%s", texts_of_sets(values, self._text_of_set)
        if np.isfinite(values).all():
            return form, values.tolist()
        nothing = self._encoded[-1]
        return "%s", [
            form % number if np.isfinite(number) else nothing for number in values.tolist()
        ]

    def _text_of_set(self, numbers):
        if self.delimiter is None:
            return "[" + ", ".join([self._encoded[number] for number in numbers]) + "]"
        return self._quoted(BETWEEN.join([self.words[number] for number in numbers]))


def flags_text(flags: Sequence[str]) -> str:
    """The flags of a row as a cell."""
    return "; ".join(flags)


def _member(name):
    """The name of a member of a JSON object, in a form for the operator %."""
    return json_string(name).replace("%", "%%") + ": "


def refuse_divided(words: Sequence[str], parts: Sequence[Part]) -> None:
    """`UsageError` for a word that would be two in the text of a set, if there are sets."""
    split = [word for word in words if BETWEEN in word]
    if split and any(part.kind == "set" for part in parts):
        raise UsageError(
            f"the name '{split[0]}' cannot stand in a set, whose names have "
            f"'{BETWEEN}' between them: .jsonl writes lists"
        )


def texts_of_sets(members: np.ndarray, text_of: Callable[[list[int]], str]) -> list[str]:
    """text_of(numbers of the members) of each set (n, k) bool; there are few different ones."""
    known: dict[bytes, str] = {}
    texts = []
    for row, bits in zip(members, np.packbits(members, axis=1)):
        key = bits.tobytes()
        if key not in known:
            known[key] = text_of(np.flatnonzero(row).tolist())
        texts.append(known[key])
    return texts


def _bytes(text):
    return text.encode("utf-8", "surrogateescape")
