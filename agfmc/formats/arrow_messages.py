"""Sizes that the messages of an Arrow stream claim, read before any of it is unpacked.

A message is a number of bytes, as many bytes of metadata, and a body of buffers; the metadata
are a FlatBuffer, whose tables say where their fields are (Apache Arrow, "Arrow Columnar Format",
section "Serialization and Interprocess Communication").  A compressed buffer begins with its size.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

__all__ = ["claimed_sizes"]

_MARK = 0xFFFFFFFF  # before the size of the metadata, since version 0.15
_DICTIONARY, _ROWS = 2, 3  # kinds of messages


def claimed_sizes(file, start: int) -> Iterator[int]:
    """Yield the bytes that each message of the stream from `start` has when it is unpacked.

    Raises ValueError, OSError or struct.error for what is not such a stream.
    """
    while True:
        file.seek(start)
        size = _number("<I", file.read(4))
        if size == _MARK:
            size = _number("<I", file.read(4))
        if size == 0:
            return
        yield size
        data = file.read(size)
        body = file.tell()
        message = _Table(data, _number("<I", data))
        kind, length = message.number(1, "<B"), message.number(3, "<q")
        if length < 0:
            raise ValueError("a message has a negative size")
        if kind in (_DICTIONARY, _ROWS):
            rows = message.table(2) if kind == _ROWS else message.table(2).table(1)
            yield _unpacked(file, body, rows)
        start = body + length


def _unpacked(file, body, rows):
    """The bytes of the buffers of a `RecordBatch`."""
    place, size = rows.pairs(2).T
    if rows.at(3) is None:
        return int(size.sum())
    total = 0
    for at, packed in zip(place.tolist(), size.tolist()):
        if packed:
            file.seek(body + at)
            total += max(_number("<q", file.read(8)), packed)
    return total


def _number(kind, data, at=0):
    return struct.unpack_from(kind, data, at)[0]


class _Table:
    """A table of a FlatBuffer: its fields are known by their numbers in the schema."""

    def __init__(self, data, place):
        self._data, self._place = data, place
        self._fields = place - _number("<i", data, place)
        self._size = _number("<H", data, self._fields)

    def at(self, field):
        """The place of a field, None where it has its default value."""
        where = 4 + 2 * field
        offset = _number("<H", self._data, self._fields + where) if where < self._size else 0
        return self._place + offset if offset else None

    def number(self, field, kind):
        place = self.at(field)
        return 0 if place is None else _number(kind, self._data, place)

    def table(self, field):
        return _Table(self._data, self._at_offset(field))

    def pairs(self, field):
        """A vector of pairs of 64 bits, (n, 2)."""
        place = self._at_offset(field)
        count = _number("<I", self._data, place)
        return np.frombuffer(self._data, "<i8", 2 * count, place + 4).reshape(-1, 2)

    def _at_offset(self, field):
        place = self.at(field)
        if place is None:
            raise ValueError("a message lacks a field")
        return place + _number("<I", self._data, place)
