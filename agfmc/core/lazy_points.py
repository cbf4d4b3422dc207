"""Points that stay in a file: rows are read, and normalised, when they are needed.

Rows are read at their places in the file (`os.pread`) and not by way of mapped memory: threads
read side by side, the process does not grow, and a file that shrinks is an error, not a signal.
"""

import os
import stat
import weakref

import numpy as np

from .errors import DataError

_PIECE = 1 << 16  # bytes that are read at once where some rows in them are needed
_BLOCK = 1 << 20  # values at a time
_CHANGED = "changed while it was read"


def is_lazy(x):
    """Return True if the points x are `LazyPoints`, and not an array."""
    return isinstance(x, LazyPoints)


class StoredTable:
    """A table (n, d) of numbers that lie in a file row by row.

    Attributes
    ----------
    handle : open file, of which a duplicate is stored
    name : name of the file in errors
    path : path by which other processes open the file, or None
    dtype, offset, shape : type of the numbers, first byte and (n, d)
    """

    def __init__(self, handle, name, dtype, offset, shape, path=None):
        self.name = name
        self.dtype = np.dtype(dtype)
        self.shape = tuple(map(int, shape))
        self._offset = int(offset)
        self._width = self.shape[1] * self.dtype.itemsize
        self._handle = os.dup(handle)
        weakref.finalize(self, os.close, self._handle)
        if path is None:
            self.source = None
        else:
            self.source = (
                os.path.abspath(path),
                self.dtype.str,
                self._offset,
                self.shape,
                *_state(os.fstat(self._handle)),
            )

    def check(self):
        """Raise `DataError` where the file changed since it was opened."""
        if self.source is not None and _state(os.fstat(self._handle)) != self.source[4:]:
            raise DataError(_CHANGED, file=self.name)

    def read(self, start, stop):
        """Rows start to stop, as stored."""
        at = self._offset + start * self._width
        left = (stop - start) * self._width
        pieces = []
        while left:
            try:
                piece = os.pread(self._handle, left, at)
            except OSError as error:
                raise DataError(f"cannot read: {error.strerror}", file=self.name) from error
            if not piece:
                raise DataError(_CHANGED, file=self.name)
            pieces.append(piece)
            at, left = at + len(piece), left - len(piece)
        return np.frombuffer(b"".join(pieces), self.dtype).reshape(stop - start, self.shape[1])

    def take(self, rows):
        """Rows (l,), from 0, in any order, as stored."""
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        out = np.empty((len(rows), self.shape[1]), self.dtype)
        piece = rows // max(1, _PIECE // self._width)
        bounds = np.flatnonzero(np.diff(piece, prepend=-1, append=-1)).tolist()
        for begin, end in zip(bounds, bounds[1:]):
            first = int(rows[begin])
            last = int(rows[end - 1])
            out[order[begin:end]] = self.read(first, last + 1)[rows[begin:end] - first]
        return out


def _state(status):
    return status.st_mtime_ns, status.st_size


class LazyPoints:
    """Points x (n, d) of float64 that stay in a file and are normalised as they are read.

    Points are taken as of an array, and are an array then: with the bits that they have in the
    normalised table, which `np.asarray` makes. `DataError` where the file cannot be read any more.

    Attributes
    ----------
    table : `StoredTable` of finite numbers
    normalisation : normalisation of the rows, or None
    rows : rows of the table that are the points, ascending, or None for all
    """

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(self, table, normalisation=None, rows=None):
        self._table, self._normalisation, self._rows = table, normalisation, rows
        if rows is None:
            n = table.shape[0]
        else:
            n = len(rows)
        # of no points: tells whether the widths fit
        self.shape = n, self._normalised(np.empty((0, table.shape[1]))).shape[1]

    @property
    def source(self):
        """The (path, dtype, offset, shape, mtime_ns, size) of the table, for `open_points`.

        None for a file without a name, and for a choice of rows.
        """
        if self._rows is not None:
            return None
        return self._table.source

    @property
    def raw(self):
        """The points before the normalisation, as `LazyPoints`."""
        return LazyPoints(self._table, None, self._rows)

    def normalised(self, normalisation):
        """The points before a normalisation, `raw`, through this one; `DataError` as of `apply`."""
        return LazyPoints(self._table, normalisation, self._rows)

    def selected(self, rows):
        """The points in those ascending rows alone, as `LazyPoints`."""
        if self._rows is None:
            rows = np.asarray(rows)
        else:
            rows = self._rows[rows]
        if self._table.shape[0] < 2**31:
            small = np.int32
        else:
            small = np.int64
        return LazyPoints(self._table, self._normalisation, rows.astype(small))

    def check(self):
        """Raise `DataError` where the file changed since it was opened."""
        self._table.check()

    def __reduce__(self):
        # never the numbers themselves, which may be more than there is memory
        if self.source is None:
            raise TypeError(
                "points of a temporary file, or a choice of points, cannot be sent to "
                "another process: send the rows that it needs"
            )
        return open_points, (self.source, self._normalisation)

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        n = self.shape[0]
        if isinstance(index, slice):
            start, stop, step = index.indices(n)
            if step == 1 and self._rows is None:
                return self._normalised(self._table.read(start, max(start, stop)))
            index = np.arange(start, stop, step)
        rows = np.asarray(index)
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        else:
            rows = rows.astype(np.int64)
        if rows.size and not -n <= rows.min() <= rows.max() < n:
            raise IndexError(f"there are {n} points")
        chosen = np.where(rows < 0, rows + n, rows).ravel()
        if self._rows is not None:
            chosen = self._rows[chosen].astype(np.int64)
        points = self._normalised(self._table.take(chosen))
        if rows.ndim:
            return points
        return points[0]

    def _normalised(self, table):
        if self._normalisation is None:
            return table.astype(np.float64)
        return self._normalisation.apply(table)

    def __array__(self, dtype=None, copy=None):
        out = np.empty(self.shape, dtype or self.dtype)
        step = max(1, _BLOCK // max(self.shape[1], self._table.shape[1]))
        for start in range(0, len(self), step):
            out[start : start + step] = self[start : start + step]
        return out


def open_points(source, normalisation=None) -> LazyPoints:
    """Open the file of a `LazyPoints.source` of another process, and return `LazyPoints`.

    `normalisation` is that of the rows, or None. Raises `DataError` where the file is missing or
    has been replaced.
    """
    path, dtype, offset, shape, *state = source
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe may have taken its name
    except OSError as error:
        raise DataError(f"cannot read: {error.strerror}", file=path) from error
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or list(_state(status)) != state:
            raise DataError(
                "is not the file that it was when the work began, or another machine "
                "sees another one: expected the same size and date",
                file=path,
            )
        return LazyPoints(StoredTable(handle, path, dtype, offset, shape, path), normalisation)
    finally:
        os.close(handle)
