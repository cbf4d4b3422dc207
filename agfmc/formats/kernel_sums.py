"""Files of sums over points on landmarks: what a run of training goes on from.

All is little-endian: `agfmc sums 1` and a line break; the length of the header, 4 bytes; the
header, JSON: {"made from": DIGEST, "landmarks": p, "sums": [[FIRST, STOP, [LABEL, ...]], ...]}; a
checksum of all that, 16 bytes (BLAKE2b).  Then for each of the sums, which are over the points of
those labels in the ranges of rows FIRST to STOP - 1: s (c, p) and n (c,) of each label, the rows of
the lower triangle of G (p, p), all float64, and a checksum of these.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from ..errors import DataError
from .atomic import replacing
from .inputs import open_input

__all__ = ["ClassSums", "SumsReader", "is_sums", "packed", "unpacked", "write_sums"]

_MAGIC = b"agfmc sums 1\n"
_CHECK = 16  # bytes of a checksum
_HEADER = 1 << 24  # the most bytes of a header
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
    header = json.dumps({"made from": digest, "landmarks": p, "sums": spans}).encode()
    head = _MAGIC + len(header).to_bytes(4, "little") + header
    with replacing(path, binary=True) as file:
        file.write(head + _sum(head))
        for gram, total, weight in sums:
            check = blake2b(digest_size=_CHECK)
            for part in (total, weight, packed(gram)):
                data = np.ascontiguousarray(part, _FLOAT).reshape(-1).data.cast("B")
                file.write(data)
                check.update(data)
            file.write(check.digest())


def is_sums(path: str) -> bool:
    """True where a regular file can be read and begins as those of `write_sums` do."""
    with suppress(DataError):
        if os.path.isfile(path):
            with open_input(path, raw=True) as file:
                return file.read(len(_MAGIC)) == _MAGIC
    return False


class SumsReader:
    """A file that `write_sums` wrote, of which only the header is read at first.

    digest: of what the sums were made from;  landmarks: p;  spans {labels: (first, stop)}.
    Raises `DataError` for any other file, and for one that is damaged.
    """

    def __init__(self, path: str):
        self._path = os.fsdecode(path)
        with open_input(self._path, raw=True) as file:
            size = file.regular_size()
            head = file.read(len(_MAGIC) + 4)
            length = int.from_bytes(head[len(_MAGIC):], "little")
            if size is None or not head.startswith(_MAGIC) or length > min(_HEADER, size):
                raise self._error("is not a file of sums")
            head += file.read(length)
            if file.read(_CHECK) != _sum(head):
                raise self._error()
        self.digest, self.landmarks, spans = self._parsed(head[len(_MAGIC) + 4:])
        self.spans, self._places, place = {}, {}, len(head) + _CHECK
        for first, stop, labels in spans:
            self.spans[labels], self._places[labels] = (first, stop), place
            place += self._bytes(labels) + _CHECK
        if place != size or len(self.spans) < len(spans):
            raise self._error()

    def read(self, labels: tuple[int, ...]) -> ClassSums:
        """The sums over the points of those labels; `DataError` where they are damaged."""
        p, c = self.landmarks, len(labels)
        with open_input(self._path, raw=True) as file:
            os.lseek(file.fileno(), self._places[labels], os.SEEK_SET)
            data = np.empty(self._bytes(labels) // 8, _FLOAT)
            whole = file.readinto(data.data.cast("B")) == data.nbytes
            if not whole or file.read(_CHECK) != _sum(data.data):
                raise self._error()
            if not np.isfinite(data).all():
                raise self._error()
            total, weight, gram = np.split(data.astype(np.float64, copy=False), [c * p, c * p + c])
            return ClassSums(unpacked(gram, p), total.reshape(c, p), weight)

    def _bytes(self, labels):
        p, c = self.landmarks, len(labels)
        return 8 * (c * p + c + p * (p + 1) // 2)

    def _parsed(self, header):
        """(digest, p, [(first, stop, labels)]) of the text of a header."""
        try:
            found = json.loads(header)
            digest, p, spans = found["made from"], found["landmarks"], found["sums"]
            spans = [(first, stop, tuple(labels)) for first, stop, labels in spans]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise self._error() from None
        numbers = [p, *(number for first, stop, labels in spans
                        for number in (first, stop, *labels))]
        if not isinstance(digest, str) or any(type(number) is not int for number in numbers) or \
                not 0 < p <= _LANDMARKS or min(numbers) < 0 or max(numbers) >= 2**31 or any(
                    first >= stop or not labels for first, stop, labels in spans):
            raise self._error()
        return digest, p, spans

    def _error(self, what="is damaged: its checksum disagrees"):
        return DataError(what, file=self._path)


def _sum(data):
    return blake2b(data, digest_size=_CHECK).digest()
