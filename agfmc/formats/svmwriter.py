"""LIBSVM's text of points, written without loss."""

from __future__ import annotations

import re

import numpy as np

from ..errors import DataError
from .files import replacing
from .textlabels import numeric
from .valuenames import ByValue

__all__ = ["check_words", "svm_lines", "write_svm"]


def svm_lines(x, y, names=None, full=False):
    """Lines of LIBSVM text for x (n, d) and y (n,), values without loss.

    Zeros are left out, but for -0, unless `full`: for readers that take what is
    missing for another value.
    """
    for row, label in zip(x, np.asarray(y).tolist()):
        row = np.asarray(row, np.float64)
        kept = np.flatnonzero(full | (row != 0) | np.signbit(row))
        entries = [f" {j + 1}:{_shortest(v)}" for j, v in zip(kept.tolist(), row[kept].tolist())]
        yield f"{label if names is None else names[label]}{''.join(entries)}\n"


def _shortest(value):
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text


def write_svm(path, x, y, names=None):
    """Write x (n, d), y (n,) as LIBSVM text; `names` (entry i for label i) replace labels.

    Raises DataError for NaN, infinity, and names that would not be read back as words.
    """
    y = np.asarray(y)
    if len(x) != len(y):
        raise DataError(f"{len(y)} labels for {len(x)} points", file=path)
    if names is not None:
        check_words(y, names, path)
    finite = np.isfinite(x).all(axis=1)
    if not finite.all():
        raise DataError(f"row {int(np.argmin(finite))} (from 0) has NaN or infinity", file=path)
    with replacing(path) as file:
        file.writelines(svm_lines(x, y, names))


def check_words(y, names, path):
    """DataError unless every label of y (n,) has a name that is one word in text.

    Names that are numbers are read back if they are all looked up by value.
    """
    numbers = ByValue(names)
    for label in np.unique(y).tolist():
        if not 0 <= label < len(names):
            raise DataError(f"label {label} has no name", file=path)
        name = names[label]
        if re.search(r"[\s#:\x00-\x20]|^\ufeff", name) or \
                not numbers and numeric(name.encode("utf-8", "surrogateescape")):
            raise DataError(f"the name {name!r} cannot be a label in text", file=path)
