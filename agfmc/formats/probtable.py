"""The probabilities that classify_m printed, read back with every check."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from ..errors import DataError
from .files import read_bytes

__all__ = ["ProbabilityTable", "read_probabilities"]


class ProbabilityTable(NamedTuple):
    """p (n, k), classes (n,) int32 as printed behind them, labels (k,) of a header or None."""

    p: np.ndarray
    classes: np.ndarray
    labels: np.ndarray | None


def read_probabilities(path):
    """Read lines of k probabilities and a class; a first line `labels ...` names the columns.

    Raises DataError with the line where it is anything else.
    """
    try:
        lines = read_bytes(path).decode("ascii").splitlines()
    except UnicodeDecodeError:
        raise DataError("expected probabilities as text", file=path) from None
    labels, first = None, 1
    if lines and lines[0].split()[:1] == ["labels"]:
        labels = _numbers(lines[:1], 1, path, skip=1)[0]
        first = 2
        _whole(labels, 1, path, step=0)
        labels = labels.astype(np.int64)
    if len(lines) < first:
        raise DataError("holds no probabilities", file=path)
    table = _numbers(lines[first - 1:], first, path)
    if table.shape[1] < 3:
        raise DataError("expected at least 2 probabilities and a class in each line, found "
                        f"{table.shape[1]} numbers", file=path, line=first)
    _whole(table[:, -1], first, path)
    if labels is not None and len(labels) != table.shape[1] - 1:
        raise DataError(f"the first line names {len(labels)} classes, but the next one has "
                        f"{table.shape[1] - 1} probabilities", file=path, line=first)
    return ProbabilityTable(table[:, :-1], table[:, -1].astype(np.int32), labels)


def _numbers(lines, first, path, skip=0):
    """The lines as a table (n, c) of finite numbers, found fast, explained slowly."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = np.loadtxt(lines if not skip else [line.split(None, skip)[-1]
                                                       for line in lines], ndmin=2, comments=None)
        if len(table) == len(lines) and np.isfinite(table).all():
            return table
    except (ValueError, IndexError):
        pass
    width = None
    for number, line in enumerate(lines, first):
        words = line.split()[skip:]
        width = len(words) if width is None else width
        if not words:
            raise DataError("expected numbers, found a blank line", file=path, line=number)
        if len(words) != width:
            raise DataError(f"expected {width} numbers as in line {first}, found {len(words)}",
                            file=path, line=number)
        for word in words:
            try:
                good = np.isfinite(float(word))
            except ValueError:
                good = False
            if not good:
                raise DataError(f"expected a finite number, found '{word[:20]}'", file=path,
                                line=number)
    raise DataError("expected a table of numbers", file=path)


def _whole(values, first, path, step=1):
    """Labels must be whole numbers; the lines of `values` are `step` apart."""
    wrong = (values != np.rint(values)) | (np.abs(values) >= 2**31)
    if wrong.any():
        raise DataError(f"expected a class label, found {values[np.argmax(wrong)]:g}", file=path,
                        line=first + step * int(np.argmax(wrong)))
