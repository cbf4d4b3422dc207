"""A sequence whose items are made one by one: the rows of a code may be half a million."""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq

__all__ = ["Made"]


class Made(Sequence):
    """make(item) for each of `items`, itself a sequence; what was made is not kept.

    It equals any sequence of equal items.  It can be sent to another process if `make` and
    `items` can.
    """

    def __init__(self, make, items):
        self._make = make
        self._items = items

    def __len__(self):
        return len(self._items)

    def __getitem__(self, at):
        if isinstance(at, slice):
            return Made(self._make, self._items[at])
        return self._make(self._items[at])

    def __iter__(self):
        return map(self._make, self._items)

    def __eq__(self, other):
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None
