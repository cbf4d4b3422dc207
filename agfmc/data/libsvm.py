"""LIBSVM's text of points, `label index:value ...` with indices from 1 ascending.

A block of text is split, checked and converted with numpy; only when something is wrong is it
read again line by line, for the message.  Points stay sparse (`SparsePoints`) or become a
table, in memory or in a temporary file (`LazyPoints`).  Numbers are written without loss.
"""

import functools
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import NamedTuple

import numpy as np

from ..core.errors import DataError, warn_user
from ..core.lazy_points import LazyPoints, StoredTable
from ..core.memory import memory_limit
from ..core.points import SparsePoints
from ..files.atomic import temporary_file, writing
from ..files.number_text import (
    BLOCK,
    CONTROL,
    number_of,
    numbers,
    parsed_blocks,
    table_line,
    TABLE_MARKS,
)
from ..files.opening import open_input
from .class_names import ByValue, numeric, SEVERAL_LABELS, show, TextLabels
from .types import Dataset, InputFormat

_DIGITS = 9  # of an index
_AT_ONCE = 1 << 20  # values that are written at once


def read_svm(
    path,
    form: InputFormat = InputFormat("svm"),
    names=None,
    *,
    stdin=None,
    sparse: bool = False,
    limit_bytes=None,
    block: int = BLOCK,
) -> Dataset:
    """A Dataset of float64 from LIBSVM text; absent features are `form.fill`.

    d is the largest index.  Labels are as of `TextLabels`.  The table takes n d 8 bytes; above
    `limit_bytes` (default `memory_limit()`) it is refused before it is made.  With `sparse`, for
    absent features that are 0, x is `SparsePoints` instead.
    """
    if limit_bytes is None:
        limit = memory_limit()
    else:
        limit = limit_bytes
    return _collected(
        path, form, names, stdin, _Sparse(limit) if sparse else _Dense(form.fill, limit), block
    )


def store_svm(
    path,
    form: InputFormat = InputFormat("svm"),
    *,
    stdin=None,
    least: int = 1 << 26,
    limit_bytes=np.inf,
    block: int = BLOCK,
) -> Dataset:
    """Read points as `read_svm`; a table above `least` bytes is put in a file (`LazyPoints`).

    The file has no name.  A table of more than `limit_bytes`, or than there is space for, is
    refused before it is written.
    """
    with closing(_Dense(form.fill, memory_limit(), least, limit_bytes)) as points:
        return _collected(path, form, None, stdin, points, block)


def _collected(path, form, names, stdin, points, block):
    with open_input(path, stdin) as file:
        labels = TextLabels(file.name, names, ordinates=form.ordinates)
        codes = []
        for rows in _parsed(file, labels, block):
            points.append(rows, file.name)
            codes.append(rows.y)
        if not codes:
            raise DataError("has no points", file=path)
        x = points.finish()
    if not x.shape[1]:
        raise DataError("has no features", file=path)
    y, names = labels.finish(np.concatenate(codes))
    return Dataset(x, y, names)


class _Dense:
    """Points in blocks, which lie in a temporary file where all take more than `least` bytes.

    A block is as wide as the largest index so far; at last all become as wide as the last one.
    Absent features have the value `fill`; `limit` and `most` are the bytes of a table in memory and
    in a file.
    """

    def __init__(self, fill, limit, least=np.inf, most=np.inf):
        self._fill, self._limit, self._least, self._most = fill, limit, least, most
        self._n = self._width = self._size = 0
        self._blocks = []  # arrays, or [rows, width] of what is written, one after the other
        self._file = None

    def append(self, rows, file):
        n = len(rows.line)
        self._n, self._width = self._n + n, max(self._width, rows.width)
        if self._file is None and 8 * self._n * self._width <= self._least:
            _refuse_huge(self._n, self._width, self._limit, rows, file)
            self._blocks.append(rows.dense(0, n, self._width, self._fill))
            return
        in_memory = self._blocks
        if self._file is None:
            self._file = temporary_file()
            self._blocks = []
        free, folder = _free_bytes(self._file)
        _refuse_huge(1, self._width, self._limit, rows, file)
        _refuse_huge(self._n, self._width, self._most, rows, file)
        _refuse_huge(
            self._n,
            self._width,
            self._size + free,
            rows,
            file,
            f" that are free in {folder} (TMPDIR names another folder)",
        )
        if self._size == 0:
            for x in in_memory:
                self._write(x)
        step = max(1, _AT_ONCE // max(1, self._width))
        for start in range(0, n, step):
            self._write(rows.dense(start, min(start + step, n), self._width, self._fill))

    def _write(self, x):
        with writing("a temporary file"):
            self._file.write(np.ascontiguousarray(x))
        self._size += x.nbytes
        if self._blocks and self._blocks[-1][1] == x.shape[1]:
            self._blocks[-1][0] += len(x)
        else:
            self._blocks.append([len(x), x.shape[1]])

    def finish(self):
        if self._file is not None:
            with writing("a temporary file"):
                self._file.flush()
                if len(self._blocks) > 1:
                    self._widen()
            return LazyPoints(self._stored(0, self._n, self._width))
        x = np.empty((self._n, self._width))
        start = 0
        self._blocks.reverse()
        while self._blocks:  # memory of a block goes as that of the table comes
            block = self._blocks.pop()
            part = x[start : start + len(block)]
            part[:, : block.shape[1]], part[:, block.shape[1] :] = block, self._fill
            start += len(block)
        return x

    def close(self):
        if self._file is not None:
            with suppress(OSError):  # what could not be written still cannot
                self._file.close()

    def _stored(self, offset, n, d):
        return StoredTable(self._file.fileno(), "a temporary file", np.float64, offset, (n, d))

    def _widen(self):
        """Give all rows the same width: from the last one, so that none is written over unread."""
        end = self._n
        offset = self._size
        step = max(1, _AT_ONCE // self._width)
        for n, d in reversed(self._blocks):
            offset -= 8 * n * d
            old = self._stored(offset, n, d)
            for stop in range(n, 0, -step):
                start = max(0, stop - step)
                wide = np.full((stop - start, self._width), self._fill)
                wide[:, :d] = old.read(start, stop)
                self._file.seek(8 * self._width * (end - n + start))
                self._file.write(wide)
                self._file.flush()
            end -= n


def _free_bytes(file):
    """(bytes that can be written to the file, the folder of temporary files)."""
    status = os.fstatvfs(file.fileno())
    return status.f_bavail * status.f_frsize, tempfile.gettempdir()


class _Sparse:
    """Points in blocks of compressed rows; limit: bytes of all their values."""

    def __init__(self, limit):
        self._limit = limit
        self._blocks = []
        self._entries = self._width = 0

    def append(self, rows, file):
        self._entries += len(rows.index)
        if self._entries * 12 > self._limit:
            raise DataError(
                f"{self._entries} values so far take "
                f"{self._entries * 12 / 2**30:.3g} GiB, above the limit of "
                f"{self._limit / 2**30:.3g} GiB",
                file=file,
                line=int(rows.line[-1]),
            )
        self._blocks.append((np.diff(rows.indptr), (rows.index - 1).astype(np.int32), rows.value))
        self._width = max(self._width, rows.width)

    def finish(self):
        counts, index, value = map(np.concatenate, zip(*self._blocks))
        return SparsePoints.of_rows(np.append(0, np.cumsum(counts)), index, value, self._width)


def read_svm_labels(path, names=None, stdin=None, block=BLOCK):
    """(labels (n,) int32, names or None) of LIBSVM text, every line checked; see read_svm."""
    with open_input(path, stdin) as file:
        labels = TextLabels(file.name, names)
        codes = [rows.y for rows in _parsed(file, labels, block)]
    if not codes:
        raise DataError("has no points", file=path)
    return labels.finish(np.concatenate(codes))


def iter_svm(
    path,
    form: InputFormat = InputFormat("svm"),
    rows: int = 4096,
    d: int | None = None,
    *,
    stdin=None,
    sparse: bool = False,
    block: int = BLOCK,
) -> Iterator:
    """Chunks (<= rows, d) float64 of points in LIBSVM text, in bounded memory, without labels."""
    seen = False
    ignored: Counter[str] = Counter()
    with open_input(path, stdin) as file:
        for x in svm_chunks(file, form, rows, d, sparse, block, ignored):
            seen = True
            yield x
    if not seen:
        raise DataError("has no points", file=path)
    warn_of_ignored(ignored, file.name, d)


def svm_chunks(
    file,
    form: InputFormat,
    rows: int,
    d: int | None,
    sparse: bool = False,
    block: int = BLOCK,
    ignored: Counter[str] | None = None,
) -> Iterator:
    """As `iter_svm`, for an open file, which has a `name`, and may have no points.

    Values of features beyond `d` are left out; in `ignored` their number is added to "values", and
    "highest" becomes the highest of these features.
    """
    for part in _parsed(file, TextLabels(file.name, ignore=True), block):
        width = part.width if d is None else d
        if part.width > width:
            inside = part.index <= width
            ignored["values"] += int(np.count_nonzero(~inside))
            ignored["highest"] = max(ignored["highest"], part.width)
            part = part._replace(
                indptr=np.append(0, np.cumsum(inside))[part.indptr],
                index=part.index[inside],
                value=part.value[inside],
            )
        for start in range(0, len(part.line), rows):
            stop = min(start + rows, len(part.line))
            if sparse:
                yield part.sparse(start, stop, width)
            else:
                _refuse_huge(stop - start, width, memory_limit(), part, file.name)
                yield part.dense(start, stop, width, form.fill)


def warn_of_ignored(ignored: Counter[str], source: str, d: int | None) -> None:
    """A warning of what `svm_chunks` has left out of a file."""
    count = ignored["values"]
    if count:
        if source == "-":
            source = "standard input"
        warn_user(
            f"{source}: {count} value{'s' * (count > 1)} of features beyond the {d} of the model, "
            f"up to {ignored['highest']}, {'are' if count > 1 else 'is'} ignored"
        )


class _Rows(NamedTuple):
    """The points of one block in compressed rows.

    Attributes
    ----------
    y : labels (n,)
    line : lines (n,) of the file
    indptr : (n + 1,); entries of row i are indptr[i] to indptr[i + 1]
    index, value : index, from 1, and value of each entry
    """

    y: np.ndarray | None
    line: np.ndarray
    indptr: np.ndarray
    index: np.ndarray
    value: np.ndarray

    @property
    def width(self):
        if len(self.index):
            return int(self.index.max())
        return 0

    def dense(self, start, stop, d, missing):
        n = stop - start
        count = np.diff(self.indptr[start : stop + 1])
        entries = slice(self.indptr[start], self.indptr[stop])
        index = self.index[entries]
        value = self.value[entries]
        if len(index) == n * d and np.all(count == d):
            return value.reshape(n, d)  # ascending, so every row is 1..d
        out = np.full((n, d), missing, np.float64)
        place = np.repeat(np.arange(n) * d - 1, count) + index
        out.reshape(-1)[place] = value
        return out

    def sparse(self, start, stop, d):
        indptr = self.indptr[start : stop + 1]
        entries = slice(indptr[0], indptr[-1])
        return SparsePoints.of_rows(
            indptr - indptr[0], self.index[entries] - 1, self.value[entries], d
        )


def _parsed(file, labels, size):
    return parsed_blocks(
        file,
        lambda tokens: _rows(tokens, labels),
        lambda line, number: _check_line(line, number, labels),
        size,
    )


def _rows(tokens, labels):
    """_Rows, or None where anything is invalid."""
    text = tokens.text
    if (tokens.count == 1).all():
        _refuse_table(text.tobytes().split(), labels.file, int(tokens.line[0]))
    entry = np.ones(len(tokens.start), bool)
    entry[tokens.first] = False
    start = tokens.start[entry]
    end = tokens.end[entry]
    colon = np.flatnonzero(text == 58)
    # one colon in each entry, with something on both sides, and none in a label
    if len(colon) != len(start) or not np.all((start < colon) & (colon < end - 1)):
        return None
    index = _indices(text, start, colon)
    if index is None:
        return None
    indptr = np.append(0, np.cumsum(tokens.count - 1))
    ascends = np.diff(index, prepend=0) > 0
    ascends[indptr[:-1][tokens.count > 1]] = True  # nothing comes before the first of a row
    if not ascends.all():
        return None
    if len(index) and index.min() < 1:
        return None
    y = labels.take(tokens, tokens.first)
    value = numbers(text, len(start) if labels.words else len(entry))
    if value is None:
        return None
    if not labels.words:
        y, value = labels.checked(value[tokens.first], tokens.line), value[entry]
    return _Rows(y, tokens.line, indptr, index, value)


def _indices(text, start, colon):
    """The numbers between start and colon, blanked out with their colons; None if not digits."""
    length = colon - start
    index = np.zeros(len(start), np.int64)
    text[colon] = 32
    if not len(start):
        return index
    if length.max() > _DIGITS:
        return None
    shortest = length.min()
    for k in range(length.max()):  # from the last digit
        if k < shortest:
            longer = slice(None)
        else:
            longer = np.flatnonzero(length > k)
        place = colon[longer] - (k + 1)
        digit = text[place] - np.uint8(48)
        if digit.max() > 9:
            return None
        index[longer] += digit.astype(np.int64) * 10**k
        text[place] = 32
    return index


def _refuse_table(words, file, line):
    """DataError where each line of a block is one word in pieces, as of a table."""
    for mark in TABLE_MARKS:
        if all(mark in word and b":" not in word for word in words):
            raise DataError(
                f"expected LIBSVM text; {table_line(words[0], file)}", file=file, line=line
            )


def _check_line(line, number, labels):
    words = line.split()
    if not words:
        return
    table = table_line(line, labels.file)
    if CONTROL.search(line):
        problem = "there is a control character in the line"
    elif b":" in words[0]:
        problem = f"the line has no label before {show(words[0])}"
    elif len(words) > 1 and b":" not in line:
        problem = f"{show(words[1])} is not index:value"
        table = table or 'values without indices are LVQ text (`kind="lvq"`, lvq2agf)'
    else:
        problem = _entries_problem(words[1:])
    if problem:
        raise DataError(problem + f"; {table}" * bool(table), file=labels.file, line=number)
    labels.check(words[0], number)


def _entries_problem(words):
    last = 0
    for word in words:
        index, colon, value = word.partition(b":")
        if not colon:
            return f"{show(word)} is not index:value"
        if not re.fullmatch(rb"\d+", index):
            return f"{show(index)} is not the index of a feature"
        if int(index[:20]) == 0:
            return "index 0: indices count from 1"
        if len(index) > _DIGITS:
            return f"the index {show(index)} is too large"
        if np.isnan(number_of(value)):
            return f"the value {show(value)} of feature {int(index)} is not a finite number"
        if int(index) == last:
            return f"index {last} comes twice"
        if int(index) < last:
            return f"index {int(index)} comes after {last}: indices must ascend"
        last = int(index)
    return None


def _refuse_huge(n, d, limit, rows, file, which=""):
    if n * (d + 1) * 8 > limit:
        if len(rows.index):
            widest = np.argmax(rows.index)
        else:
            widest = 0
        point = int(np.searchsorted(rows.indptr[:-1], widest, side="right")) - 1
        raise DataError(
            f"{n} points so far, with features up to {d} make a table of "
            f"{n * d * 8 / 2**30:.3g} GiB, above the limit of {limit / 2**30:.3g} GiB{which}",
            file=file,
            line=int(rows.line[point]),
        )


def svm_lines(x, y, names=None, full=False):
    """Lines of LIBSVM text for x (n, d) and y (n,), values without loss."""
    for row, label in zip(x, np.asarray(y).tolist()):
        row = np.asarray(row, np.float64)
        stored = np.flatnonzero(full | (row != 0) | np.signbit(row))
        entries = [
            f" {j + 1}:{v!r}".removesuffix(".0")
            for j, v in zip(stored.tolist(), row[stored].tolist())
        ]
        yield f"{label if names is None else names[label]}{''.join(entries)}\n"


def check_points(x, y, names, path):
    """DataError for points x (n, d) and labels y, or None, that text cannot hold."""
    if y is not None and len(x) != len(y):
        raise DataError(f"{len(y)} labels for {len(x)} points", file=path)
    if names is not None and y is not None:
        check_words(np.asarray(y), names, path)
    finite = np.isfinite(x).all(axis=1)
    if not finite.all():
        raise DataError(f"row {int(np.argmin(finite)) + 1} has NaN or infinity", file=path)


def check_words(y, names, path):
    """DataError unless every label of y (n,) has a name that is one word in text."""
    numbers = ByValue(names)
    for label in np.unique(y).tolist():
        if not 0 <= label < len(names):
            raise DataError(f"label {label} has no name", file=path)
        name = names[label]
        word = name.encode("utf-8", "surrogateescape")
        if (
            re.search(r"[\s#:\x00-\x20]|^\ufeff", name)
            or SEVERAL_LABELS.fullmatch(word)
            or not numbers
            and numeric(word)
        ):
            raise DataError(f"the name {name!r} cannot be a label in text", file=path)


def sparse_text(point):
    """`index:value` pairs of one point, zeros left out, each number in full."""
    return " ".join([f"{i}:{v!r}" for i, v in enumerate(point.tolist(), 1) if v != 0])


def row_texts(x) -> Callable[[int], str]:
    """The function of a row that gives its `sparse_text`, made once for all models that need it."""
    return functools.cache(lambda row: sparse_text(x[row]))
