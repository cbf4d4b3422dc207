"""`base.names`: the names of the classes, line i for label i (from 0), in UTF-8.

Labels that are numbers below 0 or with a fraction: names, in the order of their values.

The name of a value has no point where it is whole (`-1`, `1`), else it is the shortest
decimal that is that float64 (`0.5`); so `+1`, `1.0` and `1e0` have one name.
"""

from __future__ import annotations

import warnings

import numpy as np

from ..control.names import clash
from ..errors import AgfmcWarning, DataError
from .atomic import replacing
from .inputs import read_bytes
from .numbers import NUMBER

__all__ = ["ByValue", "check_names", "named_by_value", "names_bytes", "number_classes",
           "read_names", "read_names_of", "write_names"]

def read_names(path, stdin=None):
    """The names as a tuple of str, entry i for label i.

    Raises DataError with the line for an empty or repeated name, and for no names.
    """
    text = read_bytes(path, stdin).decode("utf-8", errors="surrogateescape")
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


def write_names(path, names):
    """Write names, entry i for label i; DataError for one that could not be read back."""
    data = names_bytes(names, path)
    with replacing(path, binary=True) as file:
        file.write(data)


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
            raise DataError(f"{name!r} cannot be the first name: its mark of order of bytes "
                            "would be lost", file=path, line=line)
    if wrong := clash(enumerate(names)):
        raise DataError(f"{wrong[1]}: each class has one, of its own (line i is for label i, from "
                        "0)", file=path, line=wrong[0] + 1)


_MOST = 10_000  # different values
_FEW = 20  # that may be as many as the points
_LISTED = 8


class ByValue:
    """Names that are numbers, in which a label is looked up by its value.

    `names` (entry i names label i).  False unless all are numbers and some of them no
    label can be: those of other numbers say nothing of what a label in a file means.
    Raises DataError where two names are one number.
    """

    def __init__(self, names):
        values = [_value(name) for name in names or ()]
        if None in values or all(_is_label(value) for value in values):
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
        """Whether all are whole numbers of 32 bits, which LIBSVM can have as labels."""
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


def _is_label(value):
    return 0 <= value < 2**31 and value == int(value)


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
        raise DataError(f"has label {y.min()}, and nothing tells the numbers of its classes"
                        f"{otherwise}", file=file)
    return named_by_value(y, file, points=False)[0]
