"""Points in blocks of equal size, and points of which most features are zero."""

from __future__ import annotations

import functools
import itertools
import mmap
from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from .errors import DataError

_BLOCK = 1 << 20  # values at a time


def as_numbers(value: object, name: str, ndim: int = 1) -> np.ndarray:
    """The numbers of an argument of that name, with one or two axes; `DataError` for others."""
    array = np.empty(())
    with suppress(TypeError, ValueError):
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            array = array.astype(np.float64)
        if array.ndim == ndim:
            return array
    if array.dtype.kind == "U":
        what = "words"
    elif array.ndim:
        what = f"shape {array.shape}"
    else:
        what = type(value).__name__
    raise DataError(
        f"{name}: expected an array of numbers of shape (n{', d' if ndim > 1 else ','})"
        f", found {what}"
    )


def has_missing(x) -> bool:
    """True if points x (n, d), an array, `SparsePoints` or `LazyPoints`, have values NaN."""
    step = max(1, _BLOCK // max(1, x.shape[1]))
    return not is_sparse(x) and any(
        np.isnan(x[start : start + step]).any() for start in range(0, len(x), step)
    )


def padded_blocks(
    x: np.ndarray, size: int, multiple: int | None = None
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (part, block): x[part] of x (n, d), in blocks of `size` rows.

    The last one is filled up with zeros, to `size` or to a multiple of `multiple`: what BLAS and
    numpy return for a row depends, in the last bit, on how many rows there are. Blocks of
    `SparsePoints` are `SparsePoints`.
    """
    for start in range(0, len(x), size):
        block = x[start : start + size]
        count = len(block)
        if multiple is None:
            width = size
        else:
            width = -(-count // multiple) * multiple
        if count < width and is_sparse(x):
            block.csr.resize((width, x.shape[1]))
            block = SparsePoints(block.csr)
        elif count < width:
            block = np.zeros((width, x.shape[1]))
            block[:count] = x[start:]
        yield slice(start, start + count), block


def row_digests(x) -> np.ndarray:
    """A digest (n,) uint64 of each row of x (n, d), an array or `SparsePoints`.

    Equal rows have equal digests, different ones different digests but for a chance of some
    n^2 / 2^65; -0.0 counts as 0.0.  It takes a block of rows at a time.
    """
    if is_sparse(x):
        _, column, value = x.entries()
        sums = np.zeros(len(value) + 1, dtype=np.uint64)
        np.cumsum(_mixed(value + 0.0, column), out=sums[1:])
        return sums[x.csr.indptr[1:]] - sums[x.csr.indptr[:-1]]
    digests = np.zeros(len(x), dtype=np.uint64)
    step = min(4096, max(1, _BLOCK // max(1, x.shape[1])))
    for start in range(0, len(x), step):
        block = np.asarray(x[start : start + step], dtype=np.float64) + 0.0
        for number, column in enumerate(block.T):
            digests[start : start + step] += _mixed(column, np.uint64(number))
    return digests


def _mixed(value, column):
    """The bits of values (l,) and the numbers of their columns, well mixed (SplitMix64)."""
    z = np.ascontiguousarray(value).view(np.uint64) + np.asarray(
        column, dtype=np.uint64
    ) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return z ^ (z >> np.uint64(31))


def packed(matrix: np.ndarray) -> np.ndarray:
    """The rows of the lower triangle of a symmetric matrix (p, p), one after the other."""
    return matrix[np.tri(len(matrix), dtype=bool)]


def unpacked(rows: np.ndarray, p: int) -> np.ndarray:
    """The symmetric matrix (p, p) of what `packed` gave."""
    matrix = np.empty((p, p))
    lower = np.tri(p, dtype=bool)
    matrix[lower] = matrix.T[lower] = rows
    return matrix


OPENBLAS_MEMORY = 1 << 26  # bytes: half for the library, half for its buffer


class LowerTriangle:
    """A lower triangular matrix (p, p) whose inverse is applied to many vectors.

    The matrix is not copied; what stands right of its diagonal is not read. By NumPy alone, which
    lets other threads run meanwhile; SciPy's functions do not.
    """

    STEP = 96

    def __init__(self, matrix: np.ndarray):
        self._matrix = matrix
        self._inverses = [np.linalg.inv(np.tril(matrix[span, span])) for span in self._spans()]

    @classmethod
    def cholesky(cls, matrix: np.ndarray) -> LowerTriangle:
        """The Cholesky factor of a symmetric matrix (p, p), whose memory it takes.

        Raises `numpy.linalg.LinAlgError` where the matrix is not positive definite.
        """
        # with less, OpenBLAS would ask the system for its buffer again and again for ever
        mmap.mmap(-1, OPENBLAS_MEMORY).close()
        from scipy.linalg.lapack import dpotrf, dtrtri

        triangle = cls.__new__(cls)
        triangle._matrix = matrix
        triangle._inverses = []
        for span in triangle._spans():
            below = matrix[span.start :, span]
            if span.start:
                below -= matrix[span.start :, : span.start] @ matrix[span, : span.start].T
            size = below.shape[1]
            factor, info = dpotrf(below[:size], lower=1, clean=1)
            if info:
                raise np.linalg.LinAlgError("not positive definite")
            below[:size] = factor
            triangle._inverses.append(dtrtri(factor, lower=1)[0])
            below[size:] = below[size:] @ triangle._inverses[-1].T
        return triangle

    def _spans(self):
        p = len(self._matrix)
        step = self.STEP
        return [slice(start, min(start + step, p)) for start in range(0, p, step)]

    def solve(self, x: np.ndarray) -> np.ndarray:
        """y (p, n) with matrix y = x (p, n)."""
        y = np.empty(x.shape)
        for span, inverse in zip(self._spans(), self._inverses):
            left = x[span]
            if span.start:
                left = left - self._matrix[span, : span.start] @ y[: span.start]
            np.matmul(inverse, left, out=y[span])
        return y

    def solve_transposed(self, x: np.ndarray) -> np.ndarray:
        """y (p, n) with the transpose of the matrix times y = x (p, n)."""
        y = np.empty(x.shape)
        for span, inverse in zip(self._spans()[::-1], self._inverses[::-1]):
            left = x[span] - self._matrix[span.stop :, span].T @ y[span.stop :]
            np.matmul(inverse.T, left, out=y[span])
        return y


def label_counts(y: np.ndarray) -> dict[int, int]:
    """{label: samples} of labels y (n,), the labels ascending."""
    return dict(zip(*map(np.ndarray.tolist, np.unique(y, return_counts=True))))


def is_sparse(x):
    """Return True if the points x are `SparsePoints`, and not an array."""
    return isinstance(x, SparsePoints)


class SparsePoints:
    """Points x (n, d) of float64, stored as their non-zero values.

    They are made of a SciPy CSR array with ascending indices and without stored zeros. Rows are
    taken as of an array, and are `SparsePoints`, but for single ones; `np.asarray` makes the table.
    """

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(self, csr):
        self.csr = csr
        self.shape = csr.shape

    @classmethod
    def of_rows(cls, indptr, index, value, d):
        """A table made of entries: row i has indptr[i] to indptr[i + 1], index counted from 0."""
        from scipy.sparse import csr_array

        csr = csr_array((value, index, indptr), shape=(len(indptr) - 1, d))
        csr.has_sorted_indices = True
        if not csr.data.all():
            csr.eliminate_zeros()
        return cls(csr)

    @classmethod
    def of_matrix(cls, matrix):
        """A sparse matrix or array (n, d) of SciPy, in any format, whose entries are summed."""
        from scipy.sparse import csr_array

        csr = csr_array(matrix, dtype=np.float64, copy=True)
        csr.sum_duplicates()
        csr.eliminate_zeros()
        return cls(csr)

    def __reduce__(self):
        return SparsePoints.of_rows, (
            self.csr.indptr,
            self.csr.indices,
            self.csr.data,
            self.shape[1],
        )

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, rows):
        if isinstance(rows, (int, np.integer)):
            return np.asarray(self[rows : rows + 1])[0]
        return SparsePoints(self.csr[rows])

    def __matmul__(self, w):
        """The products with w (d,) or (d, m); those of a row do not depend on the other rows."""
        return self.csr @ w

    def __array__(self, dtype=None, copy=None):
        return self.csr.toarray().astype(dtype or self.dtype, copy=False)

    @classmethod
    def joined(cls, tables, d):
        """Tables, arrays or `SparsePoints` of at most d features, one below the other."""
        from scipy.sparse import csr_array, vstack

        parts = []
        for table in tables:
            if not is_sparse(table):
                table = cls.of_matrix(table)
            csr = table.csr
            parts.append(csr_array((csr.data, csr.indices, csr.indptr), shape=(len(table), d)))
        return cls(vstack(parts, format="csr"))

    def scaled(self, column, scale):
        """Points (n, d') of which feature j is feature column[j] times scale[j], never 0."""
        csr = self.csr[:, column]
        csr.data *= scale[csr.indices]
        csr.sort_indices()
        return SparsePoints(csr)

    @functools.cached_property
    def squared_lengths(self):
        """|x_i|^2 (n,)."""
        return self.csr.power(2).sum(axis=1)

    @property
    def nbytes(self):
        """Bytes of its entries."""
        return self.csr.data.nbytes + self.csr.indices.nbytes

    @property
    def used(self):
        """True for each feature (d,) that has a value."""
        used = np.zeros(self.shape[1], bool)
        used[self.csr.indices] = True
        return used

    @property
    def counts(self):
        """The number of non-zero values in each row (n,)."""
        return np.diff(self.csr.indptr)

    def entries(self):
        """(row, column, value) of all that is not zero, row by row."""
        rows = np.repeat(np.arange(len(self)), self.counts)
        return rows, self.csr.indices, self.csr.data

    def combined(self, coef):
        """sum_i coef_i x_i (d,)."""
        return self._transposed @ coef

    @functools.cached_property
    def _transposed(self):
        return self.csr.T


def unique_rows(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows of x (n, d), bit for bit; -> (first (s,), inverse (n,)).

    Rows differ where their bytes do, in the order in which they first
    appear; -0.0 counts as 0.0.  x may be `SparsePoints`.
    """
    if is_sparse(x):
        csr = x.csr
        ends = csr.indptr.tolist()
        keys = {}
        inverse = np.empty(len(x), dtype=np.int64)
        for row, (start, stop) in enumerate(itertools.pairwise(ends)):
            key = csr.indices[start:stop].tobytes() + csr.data[start:stop].tobytes()
            inverse[row] = keys.setdefault(key, len(keys))
        return np.unique(inverse, return_index=True)[1], inverse
    x = np.ascontiguousarray(x, dtype=np.float64) + 0.0
    if x.shape[1] == 0:
        return np.zeros(min(len(x), 1), dtype=np.int64), np.zeros(len(x), dtype=np.int64)
    keys = x.view(np.dtype((np.void, x.shape[1] * 8))).ravel()
    # as np.unique does it, which would hold three more copies of x
    by_key = np.argsort(keys, kind="stable")
    new = np.ones(len(keys), dtype=bool)
    step = max(1, _BLOCK // keys.itemsize)
    for start in range(1, len(keys), step):
        rows = by_key[start - 1 : start + step]
        new[start : start + step] = keys[rows[1:]] != keys[rows[:-1]]
    first = by_key[new]
    inverse = np.empty(len(keys), dtype=np.int64)
    inverse[by_key] = np.cumsum(new) - 1
    order = np.argsort(first)
    return first[order], np.argsort(order)[inverse]
