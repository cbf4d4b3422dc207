"""Names of classes, and the labels of classes in text, which may be words or numbers.

`base.names` holds the names, line i for label i (from 0), in UTF-8.  Labels in text are numbers
(1, +1, 1.0, 0.5) throughout, or words throughout; words are names in sorted order.  Numbers
below 0 or with a fraction are names in the order of their values: without a point where the
value is whole (`-1`, `1`), else the shortest decimal that is that float64 (`0.5`); so `+1`,
`1.0` and `1e0` have one name.
"""

import re

import numpy as np

from ..control.tree import clash
from ..core.errors import DataError, warn_user
from ..core.text import name_fault
from ..files.number_text import blank_out, CONTROL, NUMBER, number_of
from ..files.opening import read_bytes, SMALL_TEXT

_MOST = 10_000  # different values
_FEW = 20  # that may be as many as the points
_LISTED = 8
_LONGEST = 255
SEVERAL_LABELS = re.compile(rb"[-+]?[0-9]+(?:,[-+]?[0-9]+)+")  # of one point, in LIBSVM's files
_NOT_NUMBERS = {b"nan", b"inf", b"infinity"}


def read_names(path, stdin=None):
    """The names as a tuple of str, entry i for label i.

    Raises DataError with the line for an empty or repeated name, and for no names.
    """
    names = tuple(name_lines(path, stdin))
    check_names(names, path)
    return names


def name_lines(path, stdin=None):
    """The lines of a file of names, without outer blanks."""
    text = (
        read_bytes(path, stdin, most=SMALL_TEXT, expected="a name in each line")
        .decode("utf-8", errors="surrogateescape")
        .removeprefix("\ufeff")
        .removesuffix("\n")
    )
    if text:
        return [line.strip() for line in text.split("\n")]
    return []


def read_names_of(path, labels, names=None):
    """{label: name} of those labels; DataError where one of them has no line.

    `names` are the names of the file, if read already.
    """
    if names is None:
        names = read_names(path)
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
        if fault := name_fault(name):
            raise DataError(f"{show(name)} cannot be a name: {fault}", file=path, line=line)
        if line == 1 and name.startswith("\ufeff"):
            raise DataError(
                f"{name!r} cannot be the first name: its byte order mark would be lost",
                file=path,
                line=line,
            )
    if wrong := clash(enumerate(names)):
        raise DataError(
            f"{wrong[1]}: expected a unique name for each class (line i is for label i, from 0)",
            file=path,
            line=wrong[0] + 1,
        )


class ByValue:
    """Names that are numbers, in which a label is looked up by its value.

    `names` (entry i names label i).  False unless all are numbers and some of them no
    label can be: those of other numbers say nothing of what a label in a file means.
    Raises DataError where two names are one number.
    """

    def __init__(self, names):
        values = [number_of(name) for name in names or ()]
        if not np.isfinite(values).all() or all(0 <= v < 2**31 and v == int(v) for v in values):
            values = []
        self._order = np.argsort(np.array(values), kind="stable").astype(np.int32)
        self._sorted = np.array(values)[self._order]
        twice = np.flatnonzero(self._sorted[1:] == self._sorted[:-1])
        if len(twice):
            first = self._order[twice[0]]
            second = self._order[twice[0] + 1]
            raise DataError(f"the names {names[first]!r} and {names[second]!r} are one number")

    def __bool__(self):
        return len(self._sorted) > 0

    @property
    def whole(self):
        """True if all values are whole numbers of 32 bits, which LIBSVM can have as labels."""
        return bool(self) and bool(
            np.all((self._sorted == np.rint(self._sorted)) & (np.abs(self._sorted) < 2**31))
        )

    def find(self, values):
        """(labels, known): the label (n,) int32 of each of `values` (n,), and which are there."""
        at = np.minimum(np.searchsorted(self._sorted, values), len(self._sorted) - 1)
        return self._order[at], self._sorted[at] == values


def named_by_value(y, file, points=True):
    """(labels (n,) int32, names) of numbers y (n,), whose values ascending are the names.

    A warning tells it.  Raises DataError where `points` have so many different ones that
    they must be a continuous quantity.
    """
    values, labels = np.unique(y, return_inverse=True)
    k = len(values)
    if points and (k > _MOST or k > _FEW and 2 * k > len(y)):
        raise DataError(
            f"{k} different labels in {len(y)} points look like a continuous quantity, "
            "not like classes: make classes of it with svm2agf -L or lvq2agf -L, then "
            "float_to_class",
            file=file,
        )
    names = tuple(
        str(int(value)) if value == int(value) else repr(value) for value in values.tolist()
    )
    if k == 1:
        message = f"label {names[0]} is taken as the name of class 0"
    elif k <= _LISTED:
        message = f"labels {', '.join(names)} are taken as names of the classes " + ", ".join(
            map(str, range(k))
        )
    else:
        message = (
            f"{k} labels, {', '.join(names[: _LISTED // 2])}, ..., {names[-1]}, are taken "
            f"as names of the classes 0 to {k - 1}"
        )
    if points and k > _FEW:
        message += " (of a continuous quantity, float_to_class makes classes)"
    if file == "-":
        source = "standard input"
    else:
        source = file
    warn_user(f"{source}: {message}")
    return labels.astype(np.int32).reshape(np.shape(y)), names


def number_classes(y, k, file, names=None, otherwise=""):
    """Labels (n,) of y (n,) of which some are below 0, as those of training are numbered.

    They are looked up in `names`, where these are numbers; else all `k` classes must be there.
    Raises `DataError`, whose message ends in `otherwise`, where they are not.
    """
    known = ByValue(names)
    if known:
        labels, good = known.find(y)
        if not good.all():
            raise DataError(
                f"label {y[np.argmin(good)]} is not among the names of the classes", file=file
            )
        return labels
    if k is None or len(np.unique(y)) != k:
        raise DataError(
            f"has label {y.min()}, and the numbers of its classes are not known{otherwise}",
            file=file,
        )
    return named_by_value(y, file, points=False)[0]


class TextLabels:
    """The labels of one file, taken block by block; the first decides on words or numbers.

    `names` (entry i names label i) is a numbering from elsewhere, of words or of values,
    in which one that is missing is an error.  With `ignore` labels may be anything.  With
    `ordinates` they are finite numbers, whole or not, and are stored as float64.
    """

    def __init__(self, file, names=None, ignore=False, ordinates=False):
        self.file, self.ignore, self.ordinates = file, ignore, ordinates
        self.words = ignore if ignore or ordinates else None  # else the first label decides
        if names is None:
            self._given = None
        else:
            self._given = tuple(names)
        self._codes = {
            name.encode("utf-8", "surrogateescape"): i for i, name in enumerate(self._given or ())
        }
        self._values = ByValue(self._given)

    def take(self, tokens, which):
        """Codes (n,) of the words among the tokens `which` (n,), blanked out in the text.

        None where labels are numbers: they are left in the text for `checked`.
        """
        start = tokens.start[which]
        end = tokens.end[which]
        if self.words is None and len(which):
            self.words = not numeric(tokens.text[start[0] : end[0]].tobytes())
        if not self.words:
            return None
        codes = None
        if not self.ignore:
            text = tokens.text.tobytes()
            words = [text[i:j] for i, j in zip(start.tolist(), end.tolist())]
            first = dict(zip(reversed(words), range(len(words) - 1, -1, -1)))
            for word in dict.fromkeys(words):
                if self._given is not None or word not in self._codes:
                    self.check(word, int(tokens.line[first[word]]))
                    self._codes.setdefault(word, len(self._codes))
            codes = np.fromiter(map(self._codes.__getitem__, words), np.int32, len(words))
        blank_out(tokens.text, start, end)
        return codes

    def checked(self, values, line):
        """Labels given as numbers (n,): int32, or float64 where some are not whole.

        Raises DataError with the line of one that cannot be.
        """
        if self.ordinates:
            return values
        y, good = self._labels(values)
        if not good.all():
            row = int(np.argmin(good))
            self.check(b"%.17g" % values[row], int(line[row]))
        if self._values or np.any(y != np.rint(y)):
            return y
        return y.astype(np.int32)

    def _labels(self, values):
        """(labels, a mask of those that can be) of numbers (n,)."""
        if self._values:
            return self._values.find(values)
        if self._given is None:
            low = -(2**31)
        else:
            low = 0
        whole = values == np.rint(values)
        possible = whole & (values >= low) & (values < 2**31)
        return values, possible | ~whole & np.isfinite(values) & (self._given is None)

    def check(self, word, line):
        """DataError if the bytes `word`, in that line of the file, cannot be a label here."""
        if self.words is None:
            self.words = not numeric(word)
        problem = None
        is_number = np.isfinite(number_of(word))
        unknown = f"the label {show(word)} is not among the names of the classes"
        if self.ignore:
            return
        if self.ordinates:
            problem = None if is_number else f"the ordinate {show(word)} is not a finite number"
        elif SEVERAL_LABELS.fullmatch(word) and word not in self._codes:
            problem = (
                f"several labels in one row: {show(word)}; expected one class: leave out the others, "
                "or make a file for each label, with that label against the rest"
            )
        elif not self.words:
            if not numeric(word):
                problem = f"the label {show(word)} is not a number, but the first one is"
            elif not is_number or not self._labels(np.array([float(word)]))[1][0]:
                problem = (
                    unknown
                    if self._given is not None and is_number
                    else f"the label {show(word)} is not a whole number of 32 bits"
                )
        elif numeric(word):
            problem = f"the label {show(word)} is a number, but the first one is a word"
        elif len(word) > _LONGEST:
            problem = f"the label has {len(word)} letters"
        elif CONTROL.search(word):
            problem = "there is a control character in the label"
        elif fault := name_fault(word.decode("utf-8", "surrogateescape")):
            problem = f"the label {show(word)} cannot be a name: {fault}"
        elif self._given is not None and word not in self._codes:
            problem = unknown
        if problem:
            raise DataError(problem, file=self.file, line=line)

    def finish(self, y):
        """(labels, names): words without a given numbering are numbered in sorted order.

        So are numbers, by their values, where some have a fraction; whole ones stay as they
        are, and may be below 0.
        """
        if self._given is not None:
            return y, self._given
        if not self.words:
            fraction = y.dtype.kind == "f" and not self.ordinates
            if fraction:
                return named_by_value(y, self.file)
            return (y, None)
        ordered = sorted(self._codes)
        rank = np.empty(len(ordered), np.int32)
        for label, word in enumerate(ordered):
            rank[self._codes[word]] = label
        return rank[y], tuple(word.decode("utf-8", "surrogateescape") for word in ordered)


def numeric(word):
    """Return True if the bytes `word` read as a number, NaN and infinity included."""
    if word[:1] in (b"+", b"-"):
        bare = word[1:]
    else:
        bare = word
    return bool(NUMBER.fullmatch(word)) or bare.lower() in _NOT_NUMBERS


def show(word):
    """Text or bytes of a file as they go into a message."""
    if isinstance(word, str):
        text = word
    else:
        text = word.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 40 else text[:37] + "...")
