"""Class labels in text: numbers (1, +1, 1.0, 0.5) throughout, or words throughout."""

from __future__ import annotations

import numpy as np

from ..errors import DataError
from .numbers import blank_out, CONTROL, NUMBER
from .class_names import ByValue, named_by_value

__all__ = ["TextLabels", "numeric", "show"]

_LONGEST = 255
_LETTERS = 1 << 24  # bytes of words at a time, each as wide as the longest
_NOT_NUMBERS = {b"nan", b"inf", b"infinity"}


class TextLabels:
    """The labels of one file, taken block by block; the first decides on words or numbers.

    `names` (entry i names label i) is a numbering from elsewhere, of words or of values,
    in which one that is missing is an error.  With `ignore` labels may be anything.  With
    `ordinates` they are finite numbers, whole or not, and are kept as float64.  With
    `whole` they have no fraction: of what is not read as a whole, nothing can be numbered.
    """

    def __init__(self, file, names=None, ignore=False, ordinates=False, whole=False):
        self.file = file
        self.ignore = ignore
        self.ordinates = ordinates
        self._whole = whole
        self.words = False if ordinates else None  # else settled by the first label
        self._given = None if names is None else tuple(names)
        listed = enumerate(self._given or ())
        self._codes = {name.encode("utf-8", "surrogateescape"): i for i, name in listed}
        self._values = ByValue(self._given)

    def take(self, tokens, which):
        """Codes (n,) of the words among the tokens `which` (n,), blanked out in the text.

        None where labels are numbers: they are left in the text for `checked`.
        """
        start, length = tokens.start[which], tokens.end[which] - tokens.start[which]
        if self.words is None and len(which):
            word = tokens.text[start[0]:start[0] + length[0]].tobytes()
            self._settle(word)
        if not self.words:
            return None
        codes = None if self.ignore else self._codes_of(tokens, start, length)
        blank_out(tokens.text, start, start + length)
        return codes

    def _settle(self, word):
        if self.words is None:
            self.words = self.ignore or not numeric(word)

    def _codes_of(self, tokens, start, length):
        """The number of each word (n,)."""
        width = int(length.max(initial=1))
        if width > _LONGEST:
            row = int(np.argmax(length))
            word = tokens.text[start[row]:start[row] + width].tobytes()
            self.check(word, int(tokens.line[row]))
        codes = np.empty(len(start), np.int32)
        step = _LETTERS // width
        for first in range(0, len(start), step):
            part = slice(first, first + step)
            codes[part] = self._number(_spelt(tokens.text, start[part], length[part], width),
                                       tokens.line[part])
        return codes

    def _number(self, spelt, line):
        words, first, inverse = np.unique(spelt, return_index=True, return_inverse=True)
        codes = np.empty(len(words), np.int32)
        for i, word in enumerate(words.tolist()):
            self.check(word, int(line[first[i]]))
            codes[i] = self._codes.setdefault(word, len(self._codes))
        return codes[inverse]

    def checked(self, values, line):
        """Labels given as numbers (n,): int32, or float64 where some are not whole.

        Raises DataError with the line of one that cannot be.
        """
        if self.ordinates:
            return values
        y, good = self._values.find(values) if self._values else (values, self._possible(values))
        if not good.all():
            row = int(np.argmin(good))
            self.check(b"%.17g" % values[row], int(line[row]))
        return y if self._values or np.any(y != np.rint(y)) else y.astype(np.int32)

    def _possible(self, values):
        """Which of the numbers (n,) can be labels."""
        whole = values == np.rint(values)
        if self._given is not None:
            return whole & (values >= 0) & (values < 2**31)
        return np.where(whole, (values >= -2**31) & (values < 2**31), not self._whole)

    def check(self, word, line):
        """DataError if the bytes `word`, in that line of the file, cannot be a label here."""
        self._settle(word)
        problem = None
        if self.ignore:
            pass
        elif self.ordinates:
            if not (NUMBER.fullmatch(word) and np.isfinite(float(word))):
                problem = f"the ordinate {show(word)} is not a finite number"
        elif not self.words:
            problem = self._number_problem(word)
        elif numeric(word):
            problem = f"the label {show(word)} is a number, but the first one is a word"
        elif len(word) > _LONGEST:
            problem = f"the label has {len(word)} letters"
        elif CONTROL.search(word):
            problem = "there is a control character in the label"
        elif self._given is not None and word not in self._codes:
            problem = f"the label {show(word)} is not among the names of the classes"
        if problem:
            raise DataError(problem, file=self.file, line=line)

    def _number_problem(self, word):
        """What is wrong with the bytes `word` as a label among numbers, or None."""
        if not numeric(word):
            return f"the label {show(word)} is not a number, but the first one is"
        value = float(word)
        if self._values:
            good = self._values.find(np.array([value]))[1]
        else:
            good = self._possible(np.array([value]))
        if good.all() and np.isfinite(value):
            return None
        if self._given is not None and np.isfinite(value):
            return f"the label {show(word)} is not among the names of the classes"
        return f"the label {show(word)} is not a whole number of 32 bits"

    def finish(self, y):
        """(labels, names): words without a given numbering are numbered in sorted order.

        So are numbers, by their values, where some have a fraction; whole ones stay as they
        are, and may be below 0.
        """
        if self._given is not None:
            return y, self._given
        if not self.words:
            fraction = y.dtype.kind == "f" and not self.ordinates
            return named_by_value(y, self.file) if fraction else (y, None)
        ordered = sorted(self._codes)
        rank = np.empty(len(ordered), np.int32)
        for label, word in enumerate(ordered):
            rank[self._codes[word]] = label
        return rank[y], tuple(word.decode("utf-8", "surrogateescape") for word in ordered)


def _spelt(text, start, length, width):
    """The words of at most `width` letters as an array of bytes."""
    letters = np.zeros((len(start), width), np.uint8)
    for k in range(width):
        longer = np.flatnonzero(length > k)
        letters[longer, k] = text[start[longer] + k]
    return letters.view(f"S{width}").ravel()


def numeric(word):
    """Whether the bytes `word` are to be read as a number, be it NaN or infinite."""
    bare = word[1:] if word[:1] in (b"+", b"-") else word
    return bool(NUMBER.fullmatch(word)) or bare.lower() in _NOT_NUMBERS


def show(word):
    """Bytes of the file as they go into a message."""
    text = word.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 40 else text[:37] + "...")
