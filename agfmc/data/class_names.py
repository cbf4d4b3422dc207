"""Names of classes, and the labels of classes in text, which may be words or numbers.

`base.names` holds the names, line i for label i (from 0), in UTF-8.  Labels in text are numbers
(1, +1, 1.0, 0.5) throughout, or words throughout; words are names in sorted order.  Numbers
below 0 or with a fraction are names in the order of their values: without a point where the
value is whole (`-1`, `1`), else the shortest decimal that is that float64 (`0.5`); so `+1`,
`1.0` and `1e0` have one name.
"""

import warnings

import numpy as np

from ..control.tree import clash
from ..core.errors import AgfmcWarning, DataError
from ..files.number_text import blank_out, CONTROL, NUMBER
from ..files.opening import read_bytes, SMALL_TEXT

_MOST = 10_000  # different values
_FEW = 20  # that may be as many as the points
_LISTED = 8
_LONGEST = 255
_LETTERS = 1 << 24  # bytes of words at a time, each as wide as the longest
_NOT_NUMBERS = {b"nan", b"inf", b"infinity"}


def read_names(path, stdin=None):
    """The names as a tuple of str, entry i for label i.

    Raises DataError with the line for an empty or repeated name, and for no names.
    """
    text = read_bytes(path, stdin, most=SMALL_TEXT,
                      expected="a name in each line").decode("utf-8", errors="surrogateescape")
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    names = tuple(line.strip() for line in lines)
    check_names(names, path)
    return names


def read_names_of(path, labels, names=None):
    """{label: name} of those labels; DataError where one of them has no line.

    names: what stands in the file, if read already.
    """
    names = read_names(path) if names is None else names
    for label in labels:
        if label >= len(names):
            raise DataError(f"holds no name for class {label} (line {label + 1})", file=path)
    return {label: names[label] for label in labels}


def names_bytes(names, path=None):
    """The contents of a file of names; DataError for one that could not be read back."""
    check_names(names, path)
    return "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")


def check_names(names, path=None):
    """DataError unless all names are different, not empty, and of one line each."""
    if not names:
        raise DataError("has no names", file=path)
    for line, name in enumerate(names, 1):
        if not name:
            raise DataError("the name is empty", file=path, line=line)
        if name != name.strip() or "\n" in name or "\0" in name:
            raise DataError(f"{name!r} cannot be a name: its blanks would be lost",
                            file=path, line=line)
        if line == 1 and name.startswith("\ufeff"):
            raise DataError(f"{name!r} cannot be the first name: its byte order mark "
                            "would be lost", file=path, line=line)
    if wrong := clash(enumerate(names)):
        raise DataError(f"{wrong[1]}: expected a unique name for each class (line i is for "
                        "label i, from 0)", file=path, line=wrong[0] + 1)


class ByValue:
    """Names that are numbers, in which a label is looked up by its value.

    `names` (entry i names label i).  False unless all are numbers and some of them no
    label can be: those of other numbers say nothing of what a label in a file means.
    Raises DataError where two names are one number.
    """

    def __init__(self, names):
        values = [_value(name) for name in names or ()]
        if None in values or all(0 <= v < 2**31 and v == int(v) for v in values):
            values = []
        self._order = np.argsort(np.array(values), kind="stable").astype(np.int32)
        self._sorted = np.array(values)[self._order]
        twice = np.flatnonzero(self._sorted[1:] == self._sorted[:-1])
        if len(twice):
            first, second = self._order[twice[0]], self._order[twice[0] + 1]
            raise DataError(f"the names {names[first]!r} and {names[second]!r} are one number")

    def __bool__(self):
        return len(self._sorted) > 0

    @property
    def whole(self):
        """True if all are whole numbers of 32 bits, which LIBSVM can have as labels."""
        return bool(self) and bool(np.all((self._sorted == np.rint(self._sorted)) &
                                          (np.abs(self._sorted) < 2**31)))

    def find(self, values):
        """(labels, found): the label (n,) int32 of each of `values` (n,), and which are there."""
        place = np.minimum(np.searchsorted(self._sorted, values), len(self._sorted) - 1)
        return self._order[place], self._sorted[place] == values


def _value(name):
    """The finite number that a name is, or None."""
    if not NUMBER.fullmatch(name.encode("utf-8", "surrogateescape")):
        return None
    value = float(name)
    return value if np.isfinite(value) else None


def _name(value):
    return str(int(value)) if value == int(value) else repr(value)


def named_by_value(y, file, points=True):
    """(labels (n,) int32, names) of numbers y (n,), whose values ascending are the names.

    A warning tells it.  Raises DataError where `points` have so many different ones that
    they must be a continuous quantity.
    """
    values, labels = np.unique(y, return_inverse=True)
    k = len(values)
    if points and (k > _MOST or k > _FEW and 2 * k > len(y)):
        raise DataError(f"{k} different labels in {len(y)} points look like a continuous quantity, "
                        "not like classes: make classes of it with svm2agf -L or lvq2agf -L, then "
                        "float_to_class", file=file)
    names = tuple(_name(value) for value in values.tolist())
    if k == 1:
        told = f"label {names[0]} is taken as the name of class 0"
    elif k <= _LISTED:
        told = f"labels {', '.join(names)} are taken as names of the classes " \
               + ", ".join(map(str, range(k)))
    else:
        told = f"{k} labels, {', '.join(names[:_LISTED // 2])}, ..., {names[-1]}, are taken as " \
               f"names of the classes 0 to {k - 1}"
    if points and k > _FEW:
        told += " (of a continuous quantity, float_to_class makes classes)"
    source = "standard input" if file == "-" else file
    warnings.warn(f"{source}: {told}", AgfmcWarning, stacklevel=4)
    return labels.astype(np.int32).reshape(np.shape(y)), names


def number_classes(y, k, file, names=None, otherwise=""):
    """Labels (n,) of y (n,) of which some are below 0, as those of training are numbered.

    They are looked up in `names`, where these are numbers; else all `k` classes must
    be there.  otherwise: what the user can do where they are not.  Raises DataError.
    """
    known = ByValue(names)
    if known:
        labels, found = known.find(y)
        if not found.all():
            raise DataError(f"label {y[np.argmin(found)]} is not among the names of the classes",
                            file=file)
        return labels
    if k is None or len(np.unique(y)) != k:
        raise DataError(f"has label {y.min()}, and the numbers of its classes are not known"
                        f"{otherwise}", file=file)
    return named_by_value(y, file, points=False)[0]


class TextLabels:
    """The labels of one file, taken block by block; the first decides on words or numbers.

    `names` (entry i names label i) is a numbering from elsewhere, of words or of values,
    in which one that is missing is an error.  With `ignore` labels may be anything.  With
    `ordinates` they are finite numbers, whole or not, and are kept as float64.
    """

    def __init__(self, file, names=None, ignore=False, ordinates=False):
        self.file = file
        self.ignore = ignore
        self.ordinates = ordinates
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
        """A mask of the numbers (n,) that can be labels."""
        whole = values == np.rint(values)
        if self._given is not None:
            return whole & (values >= 0) & (values < 2**31)
        return ~whole | (values >= -2**31) & (values < 2**31)

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
        """The fault of the bytes `word` as a label among numbers, or None."""
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
    """True if the bytes `word` read as a number, NaN and infinity included."""
    bare = word[1:] if word[:1] in (b"+", b"-") else word
    return bool(NUMBER.fullmatch(word)) or bare.lower() in _NOT_NUMBERS


def show(word):
    """Bytes of the file as they go into a message."""
    text = word.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 40 else text[:37] + "...")
