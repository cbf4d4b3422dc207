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
from ..files.number_text import numbers, tokenise, wrong_number
from ..files.opening import read_bytes

_CELL = 10  # characters of a number: blank, sign, digit, point, six decimals
_LINES = 1 << 14  # at once
_DIGITS = 10  # of a label


def _tables():
    """The first six characters of a number (2000,), signs one after the other, and the last
    four (10000,); each as one integer of eight or four bytes."""
    numbers = np.arange(10000)
    digits = np.stack([numbers // 10**power % 10 for power in (3, 2, 1, 0)], axis=1) + 48
    head = np.zeros((2, 1000, 8), dtype=np.uint8)
    head[..., 0] = 32
    head[:, :, 1] = [[32], [45]]
    head[..., 2] = digits[:1000, 1]
    head[..., 3] = 46
    head[..., 4:6] = digits[:1000, 2:]
    tail = digits.astype(np.uint8)
    return head.reshape(2000, 8).view(np.uint64)[:, 0], tail.view(np.uint32)[:, 0]


_HEADS, _TAILS = _tables()


def format_points(values, classes=None):
    """Lines of text, as bytes: values (n, c) float64, classes (n,) whole numbers or None."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.abs(values) * 1e6
        whole = np.rint(scaled)
        # The product is rounded, but never to the other side of a tie: only on it is there doubt.
        tied = np.abs(scaled - whole) == 0.5
        plain = values.size > 0 and not np.any(tied | ~(whole < 1e7))
    if not plain:
        return _by_python(values, classes)
    n, c = values.shape
    tail = _class_text(classes, n)
    out = np.empty((n, c * _CELL + tail.shape[1] + 1), dtype=np.uint8)
    millionths = whole.astype(np.int32)
    head = millionths // 10000
    millionths -= 10000 * head
    head += 1000 * np.signbit(values)
    # a head is written with two bytes more, which its tail then covers
    _cells(out, c, 0, np.uint64)[...] = _HEADS[head]
    _cells(out, c, 6, np.uint32)[...] = _TAILS[millionths]
    out[:, c * _CELL:-1] = tail
    out[:, -1] = 10
    text = out.tobytes()
    return text.replace(b"\0", b"") if (tail == 0).any() else text  # without the padding


def _cells(out, c, offset, dtype):
    """The bytes from `offset` on of each of the c numbers in the lines `out`, as integers."""
    return np.ndarray((len(out), c), dtype, out, offset, (out.shape[1], _CELL))


def _class_text(classes, n):
    """`% 4d` of every class, (n, w) bytes, padded at the left with NUL where widths differ."""
    if classes is None:
        return np.empty((n, 0), dtype=np.uint8)
    labels = sorted(set(classes.tolist()))
    texts = ["% 4d" % label for label in labels]
    width = max((len(text) for text in texts), default=0)
    table = np.frombuffer("".join(text.rjust(width, "\0") for text in texts).encode(),
                          dtype=np.uint8).reshape(len(texts), width)
    return table[np.searchsorted(labels, classes)]


def _by_python(values, classes):
    line = " %9.6f" * values.shape[1]
    if classes is None:
        return "".join([line % tuple(row) + "\n" for row in values.tolist()]).encode()
    line += "%s\n"
    texts = {label: "% 4d" % label for label in set(classes.tolist())}
    return "".join([line % (*row, texts[label]) for row, label in
                    zip(values.tolist(), classes.tolist())]).encode()


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
    """The lines (bytes) as a table (n, c) of finite numbers."""
    width = len(lines[0].split())
    parts = [_part(lines[start:start + _LINES], width) for start in range(0, len(lines), _LINES)]
    if all(part is not None for part in parts):
        return np.concatenate(parts)
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


def _part(lines, width):
    """Some lines as a table (n, width), or None where anything is invalid."""
    tokens = tokenise(b"\n".join(lines) + b"\n", 1)
    if width == 0 or len(tokens.count) != len(lines) or np.any(tokens.count != width):
        return None
    table = numbers(tokens.text, len(lines) * width)
    return None if table is None else table.reshape(-1, width)


def _check_labels(values, first, path, step=1, hint=""):
    """Labels must be whole numbers; the lines of `values` are `step` apart."""
    wrong = (values != np.rint(values)) | (np.abs(values) >= 2**31)
    if wrong.any():
        raise DataError(f"expected a class label, found {values[np.argmax(wrong)]:g}{hint}",
                        file=path, line=first + step * int(np.argmax(wrong)))

class ClassSets(NamedTuple):
    """size (n,): classes in the set of each point;  labels (sum of size,): all sets in turn."""

    size: np.ndarray
    labels: np.ndarray

    @property
    def points(self) -> np.ndarray:
        """The number of the point of each of the labels."""
        return np.repeat(np.arange(len(self.size)), self.size)


def format_sets(sets, labels, p=None):
    """The text (bytes) of sets (n, k) bool of classes with these labels (k,).

    p (n,): a number for the beginning of each line, such as the probability of the set.
    """
    words = [str(label) for label in labels]
    columns = np.nonzero(sets)[1].tolist()
    ends = np.cumsum(np.count_nonzero(sets, axis=1)).tolist()
    lines = [" ".join([words[j] for j in columns[start:end]]) or "-"
             for start, end in zip([0, *ends], ends)]
    if p is not None:
        lines = [f"{one:.6f} {line}" for one, line in zip(p.tolist(), lines)]
    return "".join([f"{line}\n" for line in lines]).encode()


def read_sets(path, stdin=None):
    """The `ClassSets` that classify_m --coverage writes.

    Raises DataError with the line for anything but different whole numbers, or `-` alone.
    """
    lines = read_bytes(path, stdin).split(b"\n")
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
