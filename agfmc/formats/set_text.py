"""Sets of classes as text: a line for each point, its labels with blanks, `-` for none."""

from typing import NamedTuple

import numpy as np

from ..control.tree import MAX_LABEL
from ..errors import DataError
from .inputs import read_bytes

__all__ = ["ClassSets", "format_sets", "read_sets"]

_DIGITS = 10  # of a label


class ClassSets(NamedTuple):
    """size (n,): classes in the set of each point;  labels (sum of size,): all sets in turn."""

    size: np.ndarray
    labels: np.ndarray


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
        found = word[:20].decode("ascii", "backslashreplace")
        raise DataError(f"expected a class label, found '{found}'", file=path, line=number)
    return int(word)
