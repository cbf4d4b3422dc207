"""Probabilities and classes as text, in libAGF's layout.

Each point is a line: k times ` %9.6f`, then `% 4d` the class.  Numbers
between -9.999999 and 9.999999 are turned into digits for a whole block at
once; where rounding is too close to call, or numbers are larger, Python's
formatting decides, so that the text is always the same.

The probabilities that classify_m printed, read back with every check.
"""

from typing import NamedTuple

import numpy as np

from ..control.tree import MAX_LABEL
from ..core.errors import DataError
from ..files.number_text import numbers, wrong_number
from ..files.opening import read_bytes

_CELL = 10  # characters of a number: blank, sign, digit, point, six decimals
_DIGITS = 10  # of a label


def format_points(values, classes=None):
    """Lines of text, as bytes: values (n, c) float64, classes (n,) whole numbers or None."""
    values = np.asarray(values, dtype=np.float64)
    n, c = values.shape
    ends = np.full(n, b"")
    if classes is not None:
        labels, codes = np.unique(classes, return_inverse=True)
        ends = np.array([b"% 4d" % label for label in labels.tolist()], "S")[codes]
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.abs(values) * 1e6
        whole = np.rint(scaled)
        # The product is rounded, but never to the other side of a tie: only on it is there doubt.
        if not np.all((np.abs(scaled - whole) != 0.5) & (whole < 1e7)):
            line = b" %9.6f" * c + b"%s\n"
            return b"".join([line % (*row, end)
                             for row, end in zip(values.tolist(), ends.tolist())])
    out = np.full((n, c * _CELL + ends.itemsize + 1), 10, dtype=np.uint8)
    cells, left = out[:, :c * _CELL].reshape(n, c, _CELL), whole.astype(np.int32)
    for place in (9, 8, 7, 6, 5, 4, 2):
        rest = left // 10
        cells[:, :, place] = left - 10 * rest + 48
        left = rest
    cells[:, :, 0], cells[:, :, 3] = 32, 46
    cells[:, :, 1] = np.where(np.signbit(values), 45, 32)
    out[:, c * _CELL:-1] = ends.view(np.uint8).reshape(n, ends.itemsize)
    return out.tobytes().replace(b"\0", b"")  # without the padding of the labels


def format_ranked(labels, p):
    """Lines of text, as bytes: `% 4d` a label and ` %9.6f` its number, for each of (n, c)."""
    line = "% 4d %9.6f" + " % 4d %9.6f" * (labels.shape[1] - 1) + "\n"
    pairs = np.empty((len(p), 2 * p.shape[1]), dtype=object)
    pairs[:, ::2], pairs[:, 1::2] = labels, p
    return "".join([line % tuple(row) for row in pairs.tolist()]).encode()


class ProbabilityTable(NamedTuple):
    """p (n, k), classes (n,) int32 as printed behind them, labels (k,) of a header or None."""

    p: np.ndarray
    classes: np.ndarray
    labels: np.ndarray | None


def read_probabilities(path):
    """Read lines of k probabilities and a class; a first line `labels ...` names the columns.

    Raises DataError with the line where it is anything else.
    """
    try:
        raw = read_bytes(path)
        raw.decode("ascii")
    except UnicodeDecodeError as error:
        raise DataError("expected probabilities as text, found other bytes", file=path,
                        line=raw.count(b"\n", 0, error.start) + 1) from None
    lines = raw.split(b"\n")
    if not lines[-1].strip():
        lines.pop()
    labels, first = None, 1
    if lines and lines[0].split()[:1] == [b"labels"]:
        labels, first = _numbers([lines.pop(0).strip()[6:]], 1, path)[0], 2
        _check_labels(labels, 1, path, step=0)
        labels = labels.astype(np.int64)
    if not lines:
        raise DataError("holds no probabilities: classify_m prints none for a tree without "
                        "--tree path (that of the class) or --tree full (all, which are needed "
                        "here)", file=path)
    table = _numbers(lines, first, path)
    if table.shape[1] < 3:
        hint = " (what --tree path prints; --tree full prints all)" if table.shape[1] == 2 else ""
        raise DataError("expected at least 2 probabilities and a class in each line, found "
                        f"{table.shape[1]} numbers{hint}", file=path, line=first)
    _check_labels(table[:, -1], first, path, hint="; what classify_m prints with --top or --stop "
                  "is no table of probabilities")
    if labels is not None and len(labels) != table.shape[1] - 1:
        raise DataError(f"the first line names {len(labels)} classes, but the next one has "
                        f"{table.shape[1] - 1} probabilities", file=path, line=first)
    return ProbabilityTable(table[:, :-1], table[:, -1].astype(np.int32), labels)


def _numbers(lines, first, path):
    width = len(lines[0].split())
    if width and all(len(line.split()) == width for line in lines):
        table = numbers(np.frombuffer(b"\n".join(lines), np.uint8), len(lines) * width)
        if table is not None:
            return table.reshape(-1, width)
    for number, line in enumerate(lines, first):
        words = line.split()
        if not words:
            raise DataError("expected numbers, found a blank line", file=path, line=number)
        if len(words) != width:
            raise DataError(f"expected {width} numbers as in line {first}, found {len(words)}",
                            file=path, line=number)
        if wrong := wrong_number(words):
            raise DataError(f"expected a finite number, found '{wrong.decode()}'", file=path,
                            line=number)
    raise DataError("expected a table of numbers", file=path, line=first)


def _check_labels(values, first, path, step=1, hint=""):
    """Labels must be whole numbers; the lines of `values` are `step` apart."""
    wrong = (values != np.rint(values)) | (np.abs(values) >= 2**31)
    if wrong.any():
        raise DataError(f"expected a class label, found {values[np.argmax(wrong)]:g}{hint}",
                        file=path, line=first + step * int(np.argmax(wrong)))


class ClassSets(NamedTuple):
    """Sets of classes of n points.

    Attributes
    ----------
    size : number of classes (n,) in the set of each point
    labels : labels of all sets in turn, sum of size of them
    """

    size: np.ndarray
    labels: np.ndarray

    @property
    def points(self) -> np.ndarray:
        """The number of the point of each of the labels."""
        return np.repeat(np.arange(len(self.size)), self.size)


def format_sets(sets, labels, p=None):
    """The text (bytes) of sets (n, k) bool of classes with these labels (k,).

    `p` (n,) are numbers for the beginnings of the lines, such as the probability of the set.
    """
    words = [str(label) for label in labels]
    columns = np.nonzero(sets)[1].tolist()
    ends = np.cumsum(np.count_nonzero(sets, axis=1)).tolist()
    lines = [" ".join([words[j] for j in columns[start:end]]) or "-"
             for start, end in zip([0, *ends], ends)]
    if p is not None:
        lines = [f"{one:.6f} {line}" for one, line in zip(p.tolist(), lines)]
    return "".join([f"{line}\n" for line in lines]).encode()


def read_sets(path):
    """The `ClassSets` that classify_m --coverage writes.

    Raises DataError with the line for anything but different whole numbers, or `-` alone.
    """
    lines = read_bytes(path).split(b"\n")
    if not lines[-1].strip():
        lines.pop()
    if not lines:
        raise DataError("holds no sets: expected a line of labels for each point, - for none",
                        file=path)
    size, labels, numbers = [], [], {}
    for number, line in enumerate(lines, 1):
        words = line.split()
        if words == [b"-"]:
            words = []
        elif len(set(words)) < max(len(words), 1):
            raise DataError("expected different labels, or - for none, found "
                            + ("one twice" if words else "a blank line"), file=path, line=number)
        for word in words:
            if word not in numbers:
                numbers[word] = _label(word, path, number)
            labels.append(numbers[word])
        size.append(len(words))
    return ClassSets(np.array(size, dtype=np.int64), np.array(labels, dtype=np.int64))


def _label(word, path, number):
    if not (word.isdigit() and len(word) <= _DIGITS and str(int(word)).encode() == word
            and int(word) <= MAX_LABEL):
        text = word[:20].decode("ascii", "backslashreplace")
        raise DataError(f"expected a class label, found '{text}'", file=path, line=number)
    return int(word)
