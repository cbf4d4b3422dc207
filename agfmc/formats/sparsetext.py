"""Points from LIBSVM text that stay sparse."""

from __future__ import annotations

import numpy as np

from ..arrays import SparsePoints
from ..errors import DataError

__all__ = ["SparseTable", "sparse_rows"]


class SparseTable:
    """The points so far, in the place of a table of all their features."""

    def __init__(self):
        self._counts, self._index, self._value = [], [], []
        self._entries = self._width = 0

    def make_room(self, rows, limit, file):
        """Nothing to be made; DataError where it would come to more than `limit` bytes."""
        self._entries += len(rows.index)
        if self._entries * 12 > limit:
            raise DataError(f"{self._entries} values up to here take "
                            f"{self._entries * 12 / 2**30:.3g} GiB, above the limit of "
                            f"{limit / 2**30:.3g} GiB", file=file, line=int(rows.line[-1]))

    def append(self, rows):
        """Take in the rows of a block."""
        self._counts.append(np.diff(rows.indptr))
        self._index.append((rows.index - 1).astype(np.int32))
        self._value.append(rows.value)
        self._width = max(self._width, rows.width)

    def finish(self):
        """`SparsePoints` as wide as the largest index."""
        indptr = np.concatenate([[0], np.cumsum(np.concatenate(self._counts))])
        index, self._index = np.concatenate(self._index), []
        value, self._value = np.concatenate(self._value), []
        return SparsePoints.of_rows(indptr, index, value, self._width)


def sparse_rows(rows, start, stop, d):
    """The points start to stop of a block, as `SparsePoints` of d features."""
    indptr = rows.indptr[start:stop + 1]
    entries = slice(indptr[0], indptr[-1])
    return SparsePoints.of_rows(indptr - indptr[0], rows.index[entries] - 1,
                                rows.value[entries], d)
