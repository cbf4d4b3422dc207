"""Output files of svm-predict: a class for each point, and probabilities where it has them.

With a first line `labels l1 ... lk`, each further line is a class and k
probabilities, in the order of that line.  Without it, each line is a class, or a
class and its own probability.
"""

import io
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from ..core.errors import DataError
from ..files.number_text import BLOCK, blocks, NUMBER, numbers, tokenise
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


def read_svm_output(path, raw=None, block=BLOCK):
    """`SvmOutput` of a file, or of standard input for `-`; raw: bytes read already.

    Labels are whole numbers, negative ones too.  Raises DataError with the line of
    whatever cannot be: no number, NaN, a blank line, a class that `labels` does
    not name or that was rounded, a probability outside 0 to 1.
    """
    layout = None
    parts = []
    with _opened(path, raw) as file:
        for data, first_line in blocks(file, block):
            tokens = tokenise(data, first_line)
            if len(tokens.first) and layout is None:
                layout = _Layout(tokens, file.name)
                if layout.labels is not None:
                    tokens = tokens.without_first_line()
            if len(tokens.first):
                parts.append(layout.read(tokens))
    if not parts:
        raise DataError("holds no results", file=file.name)
    table = np.concatenate(parts)
    p = np.ascontiguousarray(table[:, 1:]) if table.shape[1] > 1 else None
    return SvmOutput(table[:, 0].astype(np.int32), layout.labels, p)


def _opened(path, raw):
    if raw is None:
        return open_input(path)
    file = io.BytesIO(raw)
    file.name = path
    return nullcontext(file)


class _Layout:
    """The layout of every line, taken from the first one, and the number of the next line."""

    def __init__(self, tokens, file):
        self.file = file
        self.labels = None
        self.next = 1
        words = tokens.words(0)
        self.width = len(words)
        if words[0] == b"labels":
            self._refuse_gap(tokens.line[0])
            self.labels = self._named(words[1:])
            self.width = len(words)
            self.next = 2
        elif self.width > 2:
            raise DataError("without a first line `labels ...`, expected a class, or a class and "
                            f"its probability, found {self.width} words", file=file,
                            line=int(tokens.line[0]))

    def _named(self, words):
        labels = []
        for word in words:
            self._check_class(word, 1)
            labels.append(int(float(word)))
        if not labels or len(set(labels)) < len(labels):
            raise DataError("expected different labels after the word `labels`" if labels else
                            "expected labels after the word `labels`", file=self.file, line=1)
        return tuple(labels)

    def read(self, tokens):
        """The lines of a block as a table (n, 1 + columns of p)."""
        table = self._fast(tokens)
        if table is None:
            for i, line in enumerate(tokens.line.tolist()):
                self._refuse_gap(line)
                self._check(tokens.words(i), line)
                self.next += 1
            raise DataError("cannot be read", file=self.file, line=int(tokens.line[0]))
        self.next += len(table)
        return table

    def _fast(self, tokens):
        """The table, or None where anything is invalid."""
        n = len(tokens.first)
        if tokens.line[0] != self.next or tokens.line[-1] != self.next + n - 1 or \
                np.any(tokens.count != self.width):
            return None
        table = numbers(tokens.text, n * self.width)
        if table is None:
            return None
        table = table.reshape(n, self.width)
        classes, p = table[:, 0], table[:, 1:]
        good = np.all(classes == np.rint(classes)) and np.all(np.abs(classes) < 2**31) and \
            np.all((p >= _LEAST) & (p <= _MOST)) and \
            (self.labels is None or np.isin(classes, self.labels).all()) and \
            not _exponents(tokens, np.abs(classes) >= _ROUNDED)
        return table if good else None

    def _refuse_gap(self, line):
        if line != self.next:
            raise DataError("expected a class, found a blank line", file=self.file,
                            line=self.next)

    def _check(self, words, line):
        """DataError for the first thing in a line that cannot be."""
        if len(words) != self.width:
            like = "as in the first line" if self.labels is None else \
                f"a class and {self.width - 1} probabilities, as line 1 has labels"
            raise DataError(f"expected {self.width} numbers, {like}; found {len(words)}",
                            file=self.file, line=line)
        self._check_class(words[0], line)
        if self.labels is not None and float(words[0]) not in self.labels:
            raise DataError(f"the class {show(words[0])} is not among the labels of line 1",
                            file=self.file, line=line)
        for word in words[1:]:
            if not NUMBER.fullmatch(word) or not _LEAST <= float(word) <= _MOST:
                raise DataError(f"expected a probability from 0 to 1, found {show(word)}",
                                file=self.file, line=line)

    def _check_class(self, word, line):
        if not NUMBER.fullmatch(word) or abs(float(word)) >= 2**31 or \
                float(word) != int(float(word)):
            raise DataError(f"expected a class, a whole number of 32 bits, found {show(word)}",
                            file=self.file, line=line)
        if b"e" in word.lower() and abs(float(word)) >= _ROUNDED:
            raise DataError(f"the class {show(word)} may be rounded, as svm-predict -b 1 writes "
                            "six digits: number the classes before training (svm2agf -U)",
                            file=self.file, line=line)


def _exponents(tokens, lines):
    """True if the first word of any of the `lines` (n,) of bool has an exponent."""
    first = tokens.first[lines]
    if not len(first):
        return False
    before = np.append(0, np.cumsum((tokens.text | 32) == ord("e")))
    return np.any(before[tokens.end[first]] > before[tokens.start[first]])
