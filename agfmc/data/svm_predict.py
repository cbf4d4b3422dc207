"""Output files of svm-predict: a class for each point, and probabilities where it has them.

With a first line `labels l1 ... lk`, each further line is a class and k
probabilities, in the order of that line.  Without it, each line is a class, or a
class and its own probability.
"""

from dataclasses import dataclass

import numpy as np

from ..core.errors import DataError
from ..files.number_text import BLOCK, number_of, numbers, parsed_blocks
from ..files.opening import open_input
from .class_names import show

_ROUNDED = 10**6  # svm-predict -b 1 writes classes with six digits, these with an exponent
_LEAST, _MOST = -1e-6, 1 + 1e-6  # of a probability, with room for what printing rounds


@dataclass(frozen=True, eq=False)
class SvmOutput:
    """classes (n,) int32 as predicted, labels of the columns in their own order, or None.

    p (n, k): all probabilities; (n, 1), that of the predicted class, without
    labels; None where there are none.
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
    with open_input(path, stdin) as file:
        lines = _Lines(path)
        parts = list(parsed_blocks(file, lines.parse, lines.check, block))
    table = np.concatenate([np.empty((0, lines.width)), *parts])
    if not len(table):
        raise DataError("holds no results", file=path)
    p = np.ascontiguousarray(table[:, 1:]) if table.shape[1] > 1 else None
    return SvmOutput(table[:, 0].astype(np.int32), lines.labels, p)


class _Lines:
    """The layout of every line, taken from the first one, and the number of the next line."""

    def __init__(self, file):
        self.file, self.labels, self.width, self.next = file, None, 0, 1

    def parse(self, tokens):
        """The lines of a block as a table (n, 1 + columns of p), or None where one is invalid."""
        if self.width == 0:
            words, line = tokens.words(0), int(tokens.line[0])
            if words[0] == b"labels":
                self._refuse_gap(line)
                self.labels, self.next = self._labels(words[1:]), 2
                tokens = tokens.without_first_line()
            elif len(words) > 2:
                raise self._error("without a first line `labels ...`, expected a class, or a class "
                                  f"and its probability, found {len(words)} words", line)
            self.width = len(words)
        n = len(tokens.first)
        table = numbers(tokens.text, n * self.width) if np.all(tokens.count == self.width) and \
            np.array_equal(tokens.line, np.arange(self.next, self.next + n)) else None
        if table is None:
            return None
        table = table.reshape(n, self.width)
        classes, p = table[:, 0], table[:, 1:]
        if np.any(classes != np.rint(classes)) or np.any(np.abs(classes) >= 2**31) or \
                not np.all((p >= _LEAST) & (p <= _MOST)) or \
                self.labels is not None and not np.isin(classes, self.labels).all():
            return None
        for i in np.flatnonzero(np.abs(classes) >= _ROUNDED).tolist():
            self._check_class(tokens.words(i)[0], int(tokens.line[i]))
        self.next += n
        return table

    def check(self, line, number):
        """Raise DataError for a line that cannot be read."""
        words = line.split()
        if not words or self.width == 0 or number < self.next:
            return
        self._refuse_gap(number)
        self.next += 1
        if len(words) != self.width:
            like = "as in the first line" if self.labels is None else \
                f"a class and {self.width - 1} probabilities, as line 1 has labels"
            raise self._error(f"expected {self.width} numbers, {like}; found {len(words)}", number)
        self._check_class(words[0], number)
        if self.labels is not None and float(words[0]) not in self.labels:
            raise self._error(f"the class {show(words[0])} is not among the labels of line 1",
                              number)
        for word in words[1:]:
            if not _LEAST <= number_of(word) <= _MOST:
                raise self._error(f"expected a probability from 0 to 1, found {show(word)}", number)

    def _error(self, message, line):
        return DataError(message, file=self.file, line=line)

    def _labels(self, words):
        for word in words:
            self._check_class(word, 1)
        labels = tuple(int(float(word)) for word in words)
        if not labels or len(set(labels)) < len(labels):
            raise self._error("expected different labels after the word `labels`" if labels else
                              "expected labels after the word `labels`", 1)
        return labels

    def _refuse_gap(self, line):
        if line != self.next:
            raise self._error("expected a class, found a blank line", self.next)

    def _check_class(self, word, line):
        value = number_of(word)
        if not (abs(value) < 2**31 and value == int(value)):
            raise self._error(f"expected a class, a whole number of 32 bits, found {show(word)}",
                              line)
        if b"e" in word.lower() and abs(value) >= _ROUNDED:
            raise self._error(f"the class {show(word)} may be rounded, as svm-predict -b 1 writes "
                              "six digits: number the classes before training (svm2agf -U)", line)
