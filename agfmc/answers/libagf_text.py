"""Probabilities and classes as text, in libAGF's layout.

Each point is a line: k times ` %9.6f`, then `% 4d` the class.  Numbers
between -9.999999 and 9.999999 are turned into digits for a whole block at
once; where rounding is too close to call, or numbers are larger, Python's
formatting decides, so that the text is always the same.
"""

from typing import NamedTuple

import numpy as np

from ..control.tree import MAX_LABEL
from ..core.errors import DataError
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
            return b"".join(
                [line % (*row, end) for row, end in zip(values.tolist(), ends.tolist())]
            )
    out = np.full((n, c * _CELL + ends.itemsize + 1), 10, dtype=np.uint8)
    cells = out[:, : c * _CELL].reshape(n, c, _CELL)
    left = whole.astype(np.int32)
    for place in (9, 8, 7, 6, 5, 4, 2):
        rest = left // 10
        cells[:, :, place] = left - 10 * rest + 48
        left = rest
    cells[:, :, 0], cells[:, :, 3] = 32, 46
    cells[:, :, 1] = np.where(np.signbit(values), 45, 32)
    out[:, c * _CELL : -1] = ends.view(np.uint8).reshape(n, ends.itemsize)
    return out.tobytes().replace(b"\0", b"")  # without the padding of the labels


def format_ranked(labels, p):
    """Lines of text, as bytes: `% 4d` a label and ` %9.6f` its number, for each of (n, c)."""
    line = "% 4d %9.6f" + " % 4d %9.6f" * (labels.shape[1] - 1) + "\n"
    pairs = np.empty((len(p), 2 * p.shape[1]), dtype=object)
    pairs[:, ::2], pairs[:, 1::2] = labels, p
    return "".join([line % tuple(row) for row in pairs.tolist()]).encode()


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
    lines = [
        " ".join([words[j] for j in columns[start:end]]) or "-"
        for start, end in zip([0, *ends], ends)
    ]
    if p is not None:
        lines = [f"{number:.6f} {line}" for number, line in zip(p.tolist(), lines)]
    return "".join([f"{line}\n" for line in lines]).encode()


def read_sets(path):
    """The `ClassSets` that `coverage` gives.

    Raises DataError with the line for anything but different whole numbers, or `-` alone.
    """
    lines = read_bytes(path).split(b"\n")
    if not lines[-1].strip():
        lines.pop()
    if not lines:
        raise DataError(
            "holds no sets: expected a line of labels for each point, - for none", file=path
        )
    size = []
    labels = []
    numbers = {}
    for number, line in enumerate(lines, 1):
        words = line.split()
        if words == [b"-"]:
            words = []
        elif len(set(words)) < max(len(words), 1):
            raise DataError(
                "expected different labels, or - for none, found "
                + ("one twice" if words else "a blank line"),
                file=path,
                line=number,
            )
        for word in words:
            if word not in numbers:
                numbers[word] = _label(word, path, number)
            labels.append(numbers[word])
        size.append(len(words))
    return ClassSets(np.array(size, dtype=np.int64), np.array(labels, dtype=np.int64))


def _label(word, path, number):
    if not (
        word.isdigit()
        and len(word) <= _DIGITS
        and str(int(word)).encode() == word
        and int(word) <= MAX_LABEL
    ):
        text = word[:20].decode("ascii", "backslashreplace")
        raise DataError(f"expected a class label, found '{text}'", file=path, line=number)
    return int(word)
