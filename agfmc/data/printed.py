"""Classes and probabilities that classify_m printed, or svm-predict wrote, read back."""

import re
from typing import NamedTuple

import numpy as np

from ..core.errors import DataError, warn_user
from ..files.number_text import numbers, wrong_number
from ..files.opening import read_bytes
from .class_names import show

_STRANGE = re.compile(rb"[^\t-\r -~]")  # no character of a text of numbers
_ROUNDED = 10**6  # svm-predict -b 1 writes classes with six digits, these with an exponent
_LEAST, _MOST = -1e-6, 1 + 1e-6  # of a probability, with room for what printing rounds


class ProbabilityTable(NamedTuple):
    """p (n, k), classes (n,) int32 as printed behind them, labels (k,) of a header or None."""

    p: np.ndarray
    classes: np.ndarray
    labels: np.ndarray | None


def read_probabilities(path):
    """Read lines of k probabilities and a class; a first line `labels ...` names the columns.

    Raises DataError with the line where it is anything else.
    """
    labels, lines, first = _lines(path, "probabilities")
    if not lines:
        raise DataError(
            'holds no probabilities: of a tree `tree="path"` prints that of the class, and '
            '`tree="full"` all, which are needed here',
            file=path,
        )
    empty = np.array([set(line.split()[:-1]) == {b"nan"} for line in lines])
    if empty.any():
        k = max(len(line.split()) for line in lines) - 1
        equal = b"%r " % (1 / k) * k
        lines = [equal + line.split()[-1] if no else line for line, no in zip(lines, empty)]
        warn_user(
            f"{path}: {np.count_nonzero(empty)} of {len(lines)} points have no data: they count as "
            "rejected, with equal probabilities of all classes"
        )
    table = _numbers(lines, first, path)
    if table.shape[1] < 3:
        if table.shape[1] == 2:
            hint = ' (what `tree="path"` prints; `tree="full"` prints all)'
        else:
            hint = ""
        raise DataError(
            "expected at least 2 probabilities and a class in each line, found "
            f"{table.shape[1]} numbers{hint}",
            file=path,
            line=first,
        )
    _check_labels(
        table[:, -1],
        first,
        path,
        hint="; the output of svm-predict, or of `top` or `stop`, has another form",
    )
    if labels is not None and len(labels) != table.shape[1] - 1:
        raise DataError(
            f"the first line names {len(labels)} classes, but the next one has "
            f"{table.shape[1] - 1} probabilities",
            file=path,
            line=first,
        )
    return ProbabilityTable(table[:, :-1], table[:, -1].astype(np.int32), labels)


class SvmOutput(NamedTuple):
    """Classes (n,) int32 as svm-predict wrote them, and labels of the columns, or None.

    `p` (n, k) are all probabilities; (n, 1), that of the predicted class, without labels; None
    where there are none.
    """

    classes: np.ndarray
    labels: tuple[int, ...] | None
    p: np.ndarray | None


def read_svm_output(path):
    """The `SvmOutput` of a file, or of standard input for `-`.

    With a first line `labels l1 ... lk`, each further line is a class and k probabilities, in the
    order of that line. Without it, each line is a class, or a class and its own probability. Labels
    are whole numbers, negative ones too. Raises DataError with the line of whatever cannot be: no
    number, a blank line, a class that `labels` does not name or that was rounded, a probability
    outside 0 to 1.
    """
    labels, lines, first = _lines(path, "results of svm-predict")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise DataError("holds no results", file=path)
    table = _numbers(lines, first, path, None if labels is None else len(labels) + 1)
    if labels is None and table.shape[1] > 2:
        raise DataError(
            "without a first line `labels ...`, expected a class, or a class and its "
            f"probability, found {table.shape[1]} numbers",
            file=path,
            line=first,
        )
    _check_labels(table[:, 0], first, path)
    for row in np.flatnonzero(np.abs(table[:, 0]) >= _ROUNDED).tolist():
        if b"e" in (word := lines[row].split()[0]).lower():
            raise DataError(
                f"the class {show(word)} may be rounded, as svm-predict -b 1 writes "
                "six digits: number the classes before training (svm2agf -U)",
                file=path,
                line=first + row,
            )
    for row in np.flatnonzero(~np.isin(table[:, 0], labels))[:1] if labels is not None else ():
        raise DataError(
            f"the class {show(lines[row].split()[0])} is not among the labels of line 1",
            file=path,
            line=first + int(row),
        )
    p = np.ascontiguousarray(table[:, 1:])
    for row, column in np.argwhere((p < _LEAST) | (p > _MOST))[:1]:
        raise DataError(
            f"expected a probability from 0 to 1, found {p[row, column]:g}",
            file=path,
            line=first + int(row),
        )
    return SvmOutput(
        table[:, 0].astype(np.int32),
        None if labels is None else tuple(labels.tolist()),
        p if p.shape[1] else None,
    )


def _lines(path, what):
    """(labels (k,) int64 in a first line `labels ...`, or None; the lines behind it, the last one
    not blank; the number of the first of these)."""
    raw = read_bytes(path)
    if strange := _STRANGE.search(raw):
        raise DataError(
            f"expected {what} as text, found what is not text",
            file=path,
            line=raw.count(b"\n", 0, strange.start()) + 1,
        )
    lines = raw.split(b"\n")
    if not lines[-1].strip():
        lines.pop()
    if not lines or lines[0].split()[:1] != [b"labels"]:
        return None, lines, 1
    if lines[0].strip() == b"labels":
        raise DataError("expected labels after the word 'labels'", file=path, line=1)
    labels = _numbers([lines.pop(0).strip()[6:]], 1, path)[0]
    _check_labels(labels, 1, path, step=0)
    if len(set(labels.tolist())) < len(labels):
        raise DataError("expected different labels after the word 'labels'", file=path, line=1)
    return labels.astype(np.int64), lines, 2


def _numbers(lines, first, path, width=None):
    """The numbers in lines, of which the first has that number; width: of them in each line."""
    width = width or len(lines[0].split())
    if width and all(len(line.split()) == width for line in lines):
        table = numbers(np.frombuffer(b"\n".join(lines), np.uint8), len(lines) * width)
        if table is not None:
            return table.reshape(-1, width)
    for number, line in enumerate(lines, first):
        words = line.split()
        if not words:
            raise DataError("expected numbers, found a blank line", file=path, line=number)
        if len(words) != width:
            raise DataError(
                f"expected {width} numbers as in line 1, found {len(words)}", file=path, line=number
            )
        if wrong := wrong_number(words):
            raise DataError(
                f"expected a finite number, found {show(wrong)}", file=path, line=number
            )
    raise DataError("expected a table of numbers", file=path, line=first)


def _check_labels(values, first, path, step=1, hint=""):
    """Labels must be whole numbers; the lines of `values` are `step` apart."""
    wrong = (values != np.rint(values)) | (np.abs(values) >= 2**31)
    if wrong.any():
        raise DataError(
            f"expected a class label, a whole number of 32 bits, found "
            f"{values[np.argmax(wrong)]:g}{hint}",
            file=path,
            line=first + step * int(np.argmax(wrong)),
        )


def check_answers(table, result, file, base, others=False):
    """`DataError` unless a table is of as many points as result (n,) and, but for `others`, of its
    classes."""
    if len(table.p) != len(result):
        raise DataError(
            f"has {len(table.p)} rows of probabilities, but there are {len(result)} points",
            file=file,
        )
    if others:
        return
    for row in np.flatnonzero(table.classes != result)[:1].tolist():
        raise DataError(
            f"the class of row {row + 1} is {table.classes[row]}, but "
            f"{result[row]} in {base}.cls: they are not of one run",
            file=file,
        )
