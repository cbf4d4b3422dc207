"""LVQ text: the number of features d in the first line, then d values and the label per line."""

from collections.abc import Iterator

import numpy as np

from ..core.errors import DataError
from ..core.memory import within_memory
from ..files.number_text import BLOCK, CONTROL, foreign_line, number_of, numbers, parsed_blocks
from ..files.opening import open_input
from .class_names import show, TextLabels
from .types import Dataset, InputFormat


def read_lvq(
    path, form: InputFormat = InputFormat("lvq"), names=None, *, stdin=None, block: int = BLOCK
) -> Dataset:
    """A Dataset of float64 from LVQ text.

    Without a header the first line is a point; without labels there is no class column and y
    is None.  Labels are whole numbers or words, as in LIBSVM text; with ordinates they are any
    finite numbers, and y is float64.  Raises DataError with the line of whatever cannot be.
    """
    with open_input(path, stdin) as file:
        column = TextLabels(file.name, names, ordinates=form.ordinates)
        parts = _parts(file, column, form, None, block)
        parts = list(within_memory(parts, path, lambda part: part[0].nbytes))
    x = np.concatenate([part for part, _ in parts])
    if not form.labels:
        return Dataset(x, None)
    y, names = column.finish(np.concatenate([part for _, part in parts]))
    return Dataset(x, y, names)


def iter_lvq(
    path,
    form: InputFormat = InputFormat("lvq"),
    rows: int = 4096,
    d: int | None = None,
    *,
    stdin=None,
    block: int = BLOCK,
) -> Iterator[np.ndarray]:
    """Chunks (<= rows, d) float64 of points in LVQ text, in bounded memory; labels are ignored."""
    with open_input(path, stdin) as file:
        column = TextLabels(file.name, ignore=True)
        for x, _ in _parts(file, column, form, d, block):
            yield from (x[start : start + rows] for start in range(0, len(x), rows))


def lvq_lines(x, y=None, header=True, names=None):
    """Lines of LVQ text for x (n, d) and, unless None, y (n,), values without loss."""
    if header:
        yield f"{x.shape[1]}\n"
    if y is None:
        ends = [None] * len(x)
    else:
        ends = np.asarray(y).tolist()
    for row, end in zip(x, ends):
        values = " ".join(map(repr, np.asarray(row, np.float64).tolist()))
        if y is not None:
            values += f" {end if names is None else names[end]}"
        yield f"{values}\n"


class _Lines:
    """The lines of a text, all as wide as the first with anything in it, or as `d` features.

    `header` is the number of the line of a header.
    """

    def __init__(self, column, form, d):
        self.column, self.form, self.d = column, form, d
        self.width = self.header = None

    def parse(self, tokens):
        """(x, y) of a block, or None where anything is invalid."""
        if self.width is None:
            self._begin(tokens)
            if self.header is not None:
                tokens = tokens.without_first_line()
        n = len(tokens.first)
        labels = self.form.labels
        if not np.all(tokens.count == self.width + bool(labels)):
            return None
        if labels:
            y = self.column.take(tokens, tokens.first + self.width)
        else:
            y = None
        columns = self.width + (labels and not self.column.words)
        table = numbers(tokens.text, n * columns)
        if table is None:
            return None
        table = table.reshape(n, columns)
        if labels and not self.column.words:
            y = self.column.checked(table[:, -1], tokens.line)
        return np.ascontiguousarray(table[:, : self.width]), y

    def _begin(self, tokens):
        line = int(tokens.line[0])
        words = tokens.words(0)
        file = self.column.file
        foreign = foreign_line(tokens.text.tobytes().lstrip().split(b"\n", 1)[0], file)
        labels = self.form.labels
        width = len(words) - bool(self.form.labels)
        if self.form.header:
            word = words[0]
            if len(words) > 1 or not word.isdigit() or len(word) > 9 or int(word) == 0:
                raise DataError(
                    "the first line must be the number of features alone, found "
                    f"{show(word)}{' and more' * (len(words) > 1)}; "
                    + (foreign or "`no_header` where there is no such line"),
                    file=file,
                    line=line,
                )
            width = int(word)
            self.header = line
        elif width < 1:
            raise DataError(
                "the line has no values" + f"; {foreign}" * bool(foreign), file=file, line=line
            )
        if self.d is not None and width != self.d:
            bare = "; `labels=False` where the lines hold no labels" * (
                labels and width == self.d - 1
            )
            raise DataError(f"has {width} features, the model needs {self.d}{bare}", file=file)
        self.width = width

    def check(self, line, number):
        words = line.split()
        file = self.column.file
        labels = self.form.labels
        if not words or self.width is None or number == self.header:
            return
        if CONTROL.search(line):
            raise DataError("there is a control character in the line", file=file, line=number)
        if len(words) != self.width + bool(labels):
            raise DataError(
                f"{len(words)} columns, where {self.width} values"
                f"{' and a label' * bool(labels)} were expected",
                file=file,
                line=number,
            )
        for word in words[: self.width]:
            if np.isnan(number_of(word)):
                other = foreign_line(line, file) or _headings(words, number)
                raise DataError(
                    f"the value {show(word)} is not a finite number" + f"; {other}" * bool(other),
                    file=file,
                    line=number,
                )
        if labels:
            self.column.check(words[-1], number)


def _parts(file, column, form, d, size):
    lines = _Lines(column, form, d)
    seen = False
    for x, y in parsed_blocks(file, lines.parse, lines.check, size):
        seen = seen or len(x) > 0
        yield x, y
    if not seen:
        raise DataError("has no points", file=file.name)


def _headings(words, line):
    """Words about a first line without any number, or ""."""
    if line > 1 or not all(np.isnan(number_of(word)) for word in words):
        return ""
    return "a line of headings must be left out, as by `tail -n +2`"
