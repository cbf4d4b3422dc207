"""Files of sums over points on landmarks: what a run of training goes on from.

The head of an `npz` (`npz`): {"made from": DIGEST, "landmarks": p, "sums": [[FIRST, STOP,
[LABEL, ...]], ...]}.  Then for each of the sums, with its number from 0 behind the name, which are
over the points of those labels in the ranges of rows FIRST to STOP - 1: `total` (c, p) and `weight`
(c,) of each label, and `gram`, the rows of the lower triangle of G (p, p), all float64.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import numpy as np

from ..errors import DataError
from .atomic import replacing
from .npz import NpzReader, write_npz

__all__ = ["ClassSums", "SumsReader", "is_sums", "packed", "unpacked", "write_sums"]

_LANDMARKS = 100_000  # the most
_FLOAT = np.dtype("<f8")


class ClassSums(NamedTuple):
    """Sums over points of c classes: G (p, p), symmetric; s (c, p) and n (c,) of each class."""

    gram: np.ndarray
    total: np.ndarray
    weight: np.ndarray


def packed(gram: np.ndarray) -> np.ndarray:
    """The rows of the lower triangle of a symmetric matrix (p, p), one after the other."""
    return np.concatenate([row[:number] for number, row in enumerate(gram, 1)])


def unpacked(rows: np.ndarray, p: int) -> np.ndarray:
    """The symmetric matrix (p, p) of what `packed` gave."""
    gram, start = np.empty((p, p)), 0
    for number in range(p):
        row = rows[start:start + number + 1]
        gram[number, :number + 1] = gram[:number + 1, number] = row
        start += number + 1
    return gram


def write_sums(path: str, digest: str, spans: list, sums: Iterable[ClassSums], p: int) -> None:
    """Write `ClassSums` on p landmarks, `replacing`.

    digest: of what they were made from;  spans: (first, stop, labels) of each of the sums.
    """
    with replacing(path, binary=True) as file:
        write_npz(file, {"made from": digest, "landmarks": p, "sums": spans}, (
            (f"{name}{number}", np.ascontiguousarray(array, _FLOAT))
            for number, (gram, total, weight) in enumerate(sums)
            for name, array in (("total", total), ("weight", weight), ("gram", packed(gram)))))


def is_sums(path: str) -> bool:
    """True where a regular file can be read and begins as those of `write_sums` do."""
    with suppress(OSError):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                start = file.read(39)  # the header of the first member, and its name
            return start.startswith(b"PK\x03\x04") and start.endswith(b"head.json")
    return False


class SumsReader:
    """A file that `write_sums` wrote, of which only the head is read at first.

    digest: of what the sums were made from;  landmarks: p;  spans {labels: (first, stop)}.
    Raises `DataError` for any other file, and for one that is damaged.
    """

    def __init__(self, path: str):
        self._path = os.fsdecode(path)
        with self._opened() as file:
            self.digest, self.landmarks, spans = (
                file.head[name] for name in ("made from", "landmarks", "sums"))
            spans = [(first, stop, tuple(labels)) for first, stop, labels in spans]
            numbers = [self.landmarks, *(number for first, stop, labels in spans
                                         for number in (first, stop, *labels))]
            self.spans = {labels: (first, stop) for first, stop, labels in spans}
            if not isinstance(self.digest, str) or \
                    any(type(number) is not int for number in numbers) or \
                    not 0 < self.landmarks <= _LANDMARKS or \
                    min(numbers) < 0 or max(numbers) >= 2**31 or any(
                        first >= stop or not labels for first, stop, labels in spans) or \
                    len(self.spans) < len(spans) or len(file.names) != 3 * len(spans):
                raise ValueError("a head that was not written")

    def read(self, labels: tuple[int, ...]) -> ClassSums:
        """The sums over the points of those labels; `DataError` where they are damaged."""
        p, c, number = self.landmarks, len(labels), list(self.spans).index(labels)
        with self._opened() as file:
            arrays = [file[f"{name}{number}"] for name in ("gram", "total", "weight")]
            for array, shape in zip(arrays, ((p * (p + 1) // 2,), (c, p), (c,))):
                if array.dtype != _FLOAT or array.shape != shape or not np.isfinite(array).all():
                    raise ValueError("an array that was not written")
            return ClassSums(unpacked(arrays[0], p), *arrays[1:])

    @contextmanager
    def _opened(self) -> Iterator[NpzReader]:
        try:
            if not os.path.isfile(self._path):
                raise ValueError("no regular file")
            with open(self._path, "rb") as file:
                yield NpzReader(file)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise DataError("is damaged, or not a file of sums", file=self._path) from error
