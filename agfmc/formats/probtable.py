"""The probabilities that classify_m printed, read back with every check."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import DataError
from .files import read_bytes
from .textblocks import NUMBER, numbers, tokenise

__all__ = ["ProbabilityTable", "read_probabilities"]


_LINES = 1 << 14  # at once


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
        raw = read_bytes(path, endings=(".txt",))
        raw.decode("ascii")
    except UnicodeDecodeError as error:
        raise DataError("expected probabilities as text, found other bytes", file=path,
                        line=raw.count(b"\n", 0, error.start) + 1) from None
    lines = raw.split(b"\n")
    if not lines[-1].strip():
        lines.pop()
    labels, first = None, 1
    if lines and lines[0].split()[:1] == [b"labels"]:
        labels = _numbers(lines[:1], 1, path, skip=1)[0]
        first = 2
        _whole(labels, 1, path, step=0)
        labels = labels.astype(np.int64)
    if len(lines) < first:
        raise DataError("holds no probabilities: classify_m prints none for a tree without "
                        "--tree path (that of the class) or --tree full (all, which are needed "
                        "here)", file=path)
    table = _numbers(lines[first - 1:], first, path)
    if table.shape[1] < 3:
        hint = " (what --tree path prints; --tree full prints all)" if table.shape[1] == 2 else ""
        raise DataError("expected at least 2 probabilities and a class in each line, found "
                        f"{table.shape[1]} numbers{hint}", file=path, line=first)
    _whole(table[:, -1], first, path)
    if labels is not None and len(labels) != table.shape[1] - 1:
        raise DataError(f"the first line names {len(labels)} classes, but the next one has "
                        f"{table.shape[1] - 1} probabilities", file=path, line=first)
    return ProbabilityTable(table[:, :-1], table[:, -1].astype(np.int32), labels)


def _numbers(lines, first, path, skip=0):
    """The lines (bytes) as a table (n, c) of finite numbers, found fast, explained slowly.

    skip: words at the beginning of each line that are none.
    """
    if skip:
        lines = [b" ".join(line.split()[skip:]) for line in lines]
    width = len(lines[0].split())
    parts = [_part(lines[start:start + _LINES], width) for start in range(0, len(lines), _LINES)]
    if all(part is not None for part in parts):
        return np.concatenate(parts)
    for number, line in enumerate(lines, first):
        words = line.split()
        if not words:
            raise DataError("expected numbers, found a blank line", file=path, line=number)
        if len(words) != width:
            raise DataError(f"expected {width} numbers as in line {first}, found {len(words)}",
                            file=path, line=number)
        for word in words:
            if not NUMBER.fullmatch(word) or not np.isfinite(float(word)):
                raise DataError(f"expected a finite number, found '{word[:20].decode()}'",
                                file=path, line=number)
    raise DataError("expected a table of numbers", file=path, line=first)


def _part(lines, width):
    """Some lines as a table (n, width), or None where anything is not as it should be."""
    tokens = tokenise(b"\n".join(lines) + b"\n", 1)
    if width == 0 or len(tokens.count) != len(lines) or np.any(tokens.count != width):
        return None
    table = numbers(tokens.text, len(lines) * width)
    return None if table is None else table.reshape(-1, width)


def _whole(values, first, path, step=1):
    """Labels must be whole numbers; the lines of `values` are `step` apart."""
    wrong = (values != np.rint(values)) | (np.abs(values) >= 2**31)
    if wrong.any():
        raise DataError(f"expected a class label, found {values[np.argmax(wrong)]:g}", file=path,
                        line=first + step * int(np.argmax(wrong)))
