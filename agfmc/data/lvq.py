"""LVQ text: the number of features d in the first line, then d values and the label per line."""

from collections.abc import Iterator

import numpy as np

from ..core.errors import DataError
from ..core.memory import within_memory
from ..files.atomic import replacing
from ..files.number_text import BLOCK, blocks, CONTROL, foreign_line, NUMBER, numbers, tokenise
from ..files.opening import open_input
from .class_names import show, TextLabels
from .libsvm import check_points
from .types import Dataset, InputFormat


def read_lvq(path, form: InputFormat = InputFormat("lvq"), names=None, *, stdin=None,
             block: int = BLOCK) -> Dataset:
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


def iter_lvq(path, form: InputFormat = InputFormat("lvq"), rows: int = 4096,
             d: int | None = None, *, stdin=None, block: int = BLOCK) -> Iterator[np.ndarray]:
    """Chunks (<= rows, d) float64 of points in LVQ text, in bounded memory; labels are ignored.

    A file that has not `d` features is an error.
    """
    with open_input(path, stdin) as file:
        column = TextLabels(file.name, ignore=True)
        for x, _ in _parts(file, column, form, d, block):
            yield from (x[start:start + rows] for start in range(0, len(x), rows))


def write_lvq(path, x, y=None, header=True, names=None):
    """Write x (n, d) and, unless None, y (n,) as LVQ text, values without loss.

    Raises DataError for NaN, infinity, and names that would not be read back as words.
    """
    check_points(x, y, names, path)
    with replacing(path) as file:
        file.writelines(lvq_lines(x, y, header, names))


def lvq_lines(x, y=None, header=True, names=None):
    """Lines of LVQ text for x (n, d) and, unless None, y (n,), values without loss."""
    if header:
        yield f"{x.shape[1]}\n"
    ends = [None] * len(x) if y is None else np.asarray(y).tolist()
    for row, end in zip(x, ends):
        values = " ".join(map(repr, np.asarray(row, np.float64).tolist()))
        if y is not None:
            values += f" {end if names is None else names[end]}"
        yield f"{values}\n"


def _parts(file, column, form, d, size):
    """Yield (x, y) of each block; the first line with anything in it settles the width."""
    header, labels = form.header, form.labels
    width = header_line = None
    seen = False
    for data, first_line in blocks(file, size):
        tokens = tokenise(data, first_line)
        if len(tokens.first) and width is None:
            width = _width(tokens, data, file.name, header, labels)
            if d is not None and width != d:
                bare = "; -C where the lines hold no labels" if labels and width == d - 1 else ""
                raise DataError(f"has {width} features, the model needs {d}{bare}", file=file.name)
            if header:
                header_line = int(tokens.line[0])
                tokens = tokens.without_first_line()
        if not len(tokens.first):
            continue
        seen = True
        try:
            part = _fast(tokens, width, column, labels)
        except DataError:
            # a label that cannot be; whatever is wrong in an earlier line comes first
            _explain(data, first_line, header_line, width, column, labels)
            raise
        if part is None:
            _explain(data, first_line, header_line, width, column, labels)
            raise DataError("cannot be read", file=file.name, line=first_line)
        yield part
    if not seen:
        raise DataError("has no points", file=file.name)


def _width(tokens, data, file, header, labels):
    """The number of features, from the first line of `data` with anything in it."""
    line, count = int(tokens.line[0]), int(tokens.count[0])

    def foreign():
        return foreign_line(data.lstrip().split(b"\n", 1)[0], file)

    if not header:
        if count - bool(labels) < 1:
            words = foreign()
            raise DataError("the line has no values" + f"; {words}" * bool(words),
                            file=file, line=line)
        return count - bool(labels)
    word = tokens.words(0)[0]
    if count > 1 or not word.isdigit() or len(word) > 9 or int(word) == 0:
        raise DataError(f"the first line must be the number of features alone, found {show(word)}"
                        f"{' and more' * (count > 1)}; "
                        + (foreign() or "-H where there is no such line"), file=file, line=line)
    return int(word)


def _fast(tokens, width, column, labels):
    """(x, y) of a block, or None where anything is invalid."""
    if not np.all(tokens.count == width + bool(labels)):
        return None
    n = len(tokens.first)
    y = column.take(tokens, tokens.first + width) if labels else None
    if not labels or column.words:
        x = numbers(tokens.text, n * width)
        return None if x is None else (x.reshape(n, width), y)
    table = numbers(tokens.text, n * (width + 1))
    if table is None:
        return None
    table = table.reshape(n, width + 1)
    return np.ascontiguousarray(table[:, :-1]), column.checked(table[:, -1], tokens.line)


def _explain(data, first_line, header_line, width, column, labels):
    """Raise DataError for the first line of the block that cannot be read."""
    for line, text in enumerate(data.split(b"\n"), first_line):
        words = text.split()
        if not words or line == header_line:
            continue
        if CONTROL.search(text):
            raise DataError("there is a control character in the line",
                            file=column.file, line=line)
        if len(words) != width + bool(labels):
            raise DataError(
                f"{len(words)} columns, where {width} values"
                f"{' and a label' if labels else ''} were expected",
                file=column.file, line=line,
            )
        for word in words[:width]:
            if not NUMBER.fullmatch(word) or not np.isfinite(float(word)):
                other = foreign_line(text, column.file) or _headings(words, line)
                raise DataError(f"the value {show(word)} is not a finite number"
                                + f"; {other}" * bool(other), file=column.file, line=line)
        if labels:
            column.check(words[-1], line)


def _headings(words, line):
    """Words about a first line without any number, or ""."""
    if line > 1 or any(NUMBER.fullmatch(word) for word in words):
        return ""
    return "a line of headings must be left out, as by `tail -n +2`"
