"""Output files of svm-predict: a class for each point, and probabilities where it has them.

With a first line `labels l1 ... lk`, each further line is a class and k
probabilities, in the order of that line.  Without it, each line is a class, or a
class and its own probability.
"""

from dataclasses import dataclass

import numpy as np

from ..core.errors import DataError, Place
from ..files.number_text import BLOCK, blocks, number_of
from ..files.opening import open_input
from .class_names import show

_ROUNDED = 10**6  # svm-predict -b 1 writes classes with six digits, these with an exponent
_LEAST, _MOST = -1e-6, 1 + 1e-6  # of a probability, with room for what printing rounds


@dataclass(frozen=True, eq=False)
class SvmOutput:
    """classes (n,) int32 as predicted, labels of the columns in their own order, or None.

    `p` (n, k) are all probabilities; (n, 1), that of the predicted class, without labels; None
    where there are none.
    """

    classes: np.ndarray
    labels: tuple | None
    p: np.ndarray | None


def read_svm_output(path, stdin=None, block=BLOCK):
    """`SvmOutput` of a file, or of standard input for `-`.

    Labels are whole numbers, negative ones too.  Raises DataError with the line of
    whatever cannot be: no number, NaN, a blank line, a class that `labels` does
    not name or that was rounded, a probability outside 0 to 1.
    """
    labels, width, parts, blank = None, 0, [], None
    with open_input(path, stdin) as file:
        for text, first_line in blocks(file, block):
            rows = []
            for line, words in enumerate(map(bytes.split, text.split(b"\n")), first_line):
                place = Place(path, line)
                if not words:
                    blank = blank or place
                elif blank is not None:
                    raise blank.error(DataError, "expected a class, found a blank line")
                elif width == 0 and words[0] == b"labels":
                    labels, width = _labels(words[1:], place), len(words)
                else:
                    width = width or len(words)
                    rows.append(_numbers(words, labels, width, place))
            blank = None if blank is not None and blank.line == line else blank
            parts.append(np.array(rows).reshape(len(rows), width))
    table = np.concatenate(parts) if parts else np.empty((0, 0))
    if not len(table):
        raise DataError("holds no results", file=path)
    p = np.ascontiguousarray(table[:, 1:]) if width > 1 else None
    return SvmOutput(table[:, 0].astype(np.int32), labels, p)


def _labels(words, place):
    labels = tuple(_class(word, place) for word in words)
    if not labels or len(set(labels)) < len(labels):
        raise place.error(DataError, "expected different labels after the word `labels`" if labels
                          else "expected labels after the word `labels`")
    return labels


def _numbers(words, labels, width, place):
    if labels is None and len(words) > 2:
        raise place.error(DataError, "without a first line `labels ...`, expected a class, or a "
                          f"class and its probability, found {len(words)} words")
    if len(words) != width:
        like = "as in the first line" if labels is None else \
            f"a class and {width - 1} probabilities, as line 1 has labels"
        raise place.error(DataError, f"expected {width} numbers, {like}; found {len(words)}")
    label, p = _class(words[0], place), [number_of(word) for word in words[1:]]
    if labels is not None and label not in labels:
        raise place.error(DataError, f"the class {show(words[0])} is not among the labels of line "
                          "1")
    for word, value in zip(words[1:], p):
        if not _LEAST <= value <= _MOST:
            raise place.error(DataError, "expected a probability from 0 to 1, found "
                              f"{show(word)}")
    return label, *p


def _class(word, place):
    value = number_of(word)
    if not (abs(value) < 2**31 and value == int(value)):
        raise place.error(DataError, "expected a class, a whole number of 32 bits, found "
                          f"{show(word)}")
    if b"e" in word.lower() and abs(value) >= _ROUNDED:
        raise place.error(DataError, f"the class {show(word)} may be rounded, as svm-predict -b 1 "
                          "writes six digits: number the classes before training (svm2agf -U)")
    return int(value)
