"""Files that tell how often classes were taken for each other, of either kind.

A contingency table, as `eval_uc --json` prints it: a JSON object of which `labels`, the k
classes, and `contingency`, k rows (truth) of k columns (answers), are looked at; a further
column is of points that were rejected.  Or the errors of one-against-one classifiers, as
`multi_borders --cv-errors` writes them (see `pairerrors`).
Shapes: k classes.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass

import numpy as np

from ..errors import DataError
from .inputs import open_input
from .pair_errors import read_pair_errors

__all__ = ["Confusions", "holds_confusions", "read_confusions"]

_LARGEST = 16 * 2**20  # bytes of JSON
_MOST_CLASSES = 1024
_LABEL = 2**31 - 1
_COUNT = 2**53
_HEAD = 1 << 16
_WANTED = ("expected a contingency table (what eval_uc --json prints) or the errors of pairs "
           "(what multi_borders --cv-errors writes)")


@dataclass(frozen=True, eq=False)
class Confusions:
    """errors (k, k) float64: samples of class i that were taken for class j;  samples (k, k):
    of how many;  labels: k labels, ascending;  alternatives: answers to choose from."""

    labels: tuple
    errors: np.ndarray
    samples: np.ndarray
    alternatives: int


def holds_confusions(path):
    """Whether `path` is one of these files, rather than the base name of training data.

    True for standard input and pipes, which cannot be binary data, and for a regular
    file of exactly that name that begins with `{` or with a line of errors of pairs.
    """
    if path == "-":
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    if not stat.S_ISREG(mode):
        return not stat.S_ISDIR(mode)
    with open_input(path) as file:
        return _kind(file.read(_HEAD)) is not None


def read_confusions(path, stdin=None):
    """The `Confusions` in a file, or in standard input for `-`.

    Raises DataError for what is neither of the two, and for a table that cannot be: other
    than whole numbers, rows of other lengths, labels listed twice, one class alone, more
    classes or bytes than memory should hold.
    """
    with open_input(path, stdin) as file:
        head = _read(file, _HEAD)
        kind = _kind(head)
        if kind == "table":
            raw = head + _read(file, _LARGEST + 1 - len(head))
            if len(raw) > _LARGEST:
                raise DataError(f"larger than {_LARGEST >> 20} MiB: {_WANTED}", file=file.name)
            try:
                return _table(raw)
            except _Bad as bad:
                raise DataError(str(bad), file=file.name) from None
        if kind is None:
            raise DataError(f"{_WANTED}, found neither", file=file.name)
        try:
            return _pairs(read_pair_errors("-", stdin=_Rest(head, file)))
        except DataError as error:
            raise DataError(error.message, file=file.name, line=error.line) from None


class _Bad(Exception):
    """What is wrong with a table."""


class _Rest:
    """A stream of which the head was read already."""

    def __init__(self, head, file):
        self._head, self._file = head, file

    def read(self, size=-1):
        if self._head:
            head, self._head = self._head, b""
            return head
        return self._file.read(size)


def _read(file, size):
    """`size` bytes, fewer only at the end: a pipe gives what it has."""
    pieces = []
    while size > 0:
        piece = file.read(size)
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _kind(head):
    """'table', 'pairs' or None, from the first bytes of a file."""
    if head.lstrip().startswith(b"{"):
        return "table"
    for line in head.split(b"\n"):
        words = line.partition(b"#")[0].split()
        if words:
            numbers = len(words) in (5, 6) and all(word.isdigit() for word in words)
            return "pairs" if numbers else None
    return None


def _pairs(found):
    found.error_rates()  # the errors of every pair are known
    samples = found.n.astype(np.float64)
    return Confusions(found.labels, found.errors.astype(np.float64), samples, 2)


def _table(raw):
    try:
        scores = json.loads(raw.decode("utf-8"), parse_int=_integer)
    except UnicodeDecodeError:
        raise _Bad("expected JSON, found bytes that are not UTF-8 text") from None
    except RecursionError:
        raise _Bad("expected JSON of a few levels, found more") from None
    except ValueError as error:
        raise _Bad(f"expected JSON: {error}") from None
    labels = _numbers(scores.get("labels"), "`labels`", _LABEL)
    k = len(labels)
    if k < 2:
        raise _Bad(f"expected two classes or more in `labels`, found {k}")
    if k > _MOST_CLASSES:
        raise _Bad(f"holds {k} classes, more than the {_MOST_CLASSES} that are supported")
    if len(set(labels)) < k:
        twice = next(label for i, label in enumerate(labels) if label in labels[:i])
        raise _Bad(f"`labels` lists class {twice} twice")
    rows = scores.get("contingency")
    if not isinstance(rows, list) or len(rows) != k:
        raise _Bad(f"expected {k} rows in `contingency`, one for each of `labels`, found "
                   + (str(len(rows)) if isinstance(rows, list) else "no list"))
    table = np.empty((k, k))
    for i, row in enumerate(rows):
        numbers = _numbers(row, f"row {i + 1} of `contingency`", _COUNT)
        if len(numbers) not in (k, k + 1) or len(numbers) != len(rows[0]):
            raise _Bad(f"expected {k} numbers in row {i + 1} of `contingency`"
                       f", or in all rows {k + 1}, found {len(numbers)}")
        table[i] = numbers[:k]
    if not table.any():
        raise _Bad("`contingency` holds no points")
    order = np.argsort(labels)
    table = table[np.ix_(order, order)]
    samples = np.repeat(table.sum(axis=1)[:, None], k, axis=1)
    return Confusions(tuple(sorted(labels)), table, samples, k)


def _integer(text):
    """A whole number of JSON; one that is too large for anything remains text."""
    return int(text) if len(text) < 20 else text


def _numbers(values, what, largest):
    if not isinstance(values, list):
        raise _Bad(f"expected a list of whole numbers in {what}, "
                   + ("found none" if values is None else "found something else"))
    for value in values:
        if type(value) is not int or not 0 <= value <= largest:
            found = f"{value!r:.40}" if isinstance(value, (int, float, str)) else "something else"
            raise _Bad(f"expected a whole number from 0 to {largest} in {what}, found {found}")
    return values
