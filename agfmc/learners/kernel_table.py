"""Kernel values computed once and used by many fits: LIBSVM's precomputed kernels.

Kernels that LIBSVM does not have are trained only so.  Of the radial kernel the models are those
that LIBSVM makes without a table, bit for bit.

LIBSVM rounds every kernel value to single precision before it trains on it.
So a value that was computed in another order, by a matrix product, is the same
to LIBSVM unless the small difference moves it across the midpoint of two
single numbers: the few values this near to a midpoint are computed again in
LIBSVM's own order.  Models do not depend on whether there was a table.
"""

import math
import threading

import numpy as np

from ..kernels.values import PreparedKernel

_BLOCK = 1 << 14  # points
_CELLS = 1 << 16  # kernel values at a time: they stay in the cache
_UNIT = 2.0**-53
_WORST = 1e-10  # of `rounding`: above it too many values would have to be computed again
_local = threading.local()


def most_rows(megabytes):
    """The number of points that a table of that size holds."""
    return math.isqrt(max(int(megabytes), 0) << 17)


def table_pays(size, fits, features):
    """True if a table of `size`^2 values costs less than the evaluations it saves.

    `fits` has for each problem that would use it (number of points, fits on all of them). In
    nanoseconds, as measured: a value of the table takes 1.6 + 0.05 d, one of LIBSVM's 10 + 1.3 d,
    and a fit on l points evaluates at least 0.04 l^2.
    """
    saved = sum(0.04 * count * points**2 for points, count in fits) * (10 + 1.3 * features)
    return saved > size**2 * (1.6 + 0.05 * features)


def rounding(x, gamma):
    """Bound on the relative difference of two ways to compute exp(-gamma |a - b|^2), or None.

    `x` (n, d) are the points, all finite. For one way, of |a|^2 + |b|^2 - 2 a.b in any order of its
    terms, with u = 2^-53 and M the largest |x|^2, it is 4 gamma (d + 6) u M, and a few u for exp
    itself. None where it is too large for a table to be of use.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        largest = max(
            float(np.einsum("ij,ij->i", part, part).max())
            for part in (
                np.asarray(x[at : at + _BLOCK], dtype=np.float64) for at in range(0, len(x), _BLOCK)
            )
        )
        bound = _UNIT * (9.0 * gamma * (x.shape[1] + 6) * largest + 16.0)
    if bound < _WORST:
        return bound
    return None


class KernelTable:
    """Kernel values of all pairs of the points x[rows], in LIBSVM's layout.

    Stands in for `svm.Nodes` once `fill` was called for each of `blocks`, which threads may do side
    by side. LIBSVM finds the value of rows i and j in the node with the serial number of j, counted
    from 1, behind the pointer of i; node 0 holds i's own number. Of the 16 bytes of a node it reads
    only the value: two rows share their nodes, one in the places of the numbers, and a table takes
    8 bytes for each value.

    Parameters
    ----------
    kernel : Kernel
    bound : float, what `rounding` says of x where the kernel is radial
    reuse : bool, the table lies in memory that this thread keeps, and ends when the thread makes
        the next one
    """

    precomputed = True

    def __init__(self, x, rows, kernel, bound, reuse=False):
        number = np.arange(len(rows))
        n = len(rows) + len(rows) % 2  # an even number: the last point twice, if need be
        self._x = np.asarray(x[np.append(rows, rows[2 * len(rows) - n :])], dtype=np.float64)
        self.features = x.shape[1]
        self._gamma = kernel.gamma
        self._bound = bound
        if kernel.kind == "rbf":
            self._kernel = None
        else:
            self._kernel = PreparedKernel(kernel, self._x)
        count = n * (n + 1)
        if reuse:
            memory = _memory("table", count + 1)
        else:
            memory = np.empty(count + 1)
        self._memory = memory[1 : count + 1]
        self._nodes = self._memory.reshape(n // 2, n + 1, 2)  # row 2 a + b, node c: [a, c, b]
        self._nodes[:, 0] = np.arange(1, n + 1).reshape(-1, 2)
        self._pointers = np.zeros(len(x), dtype=np.uintp)
        self._pointers[rows] = memory.ctypes.data + 16 * (n + 1) * (number // 2) + 8 * (number % 2)

        step = max(2, _CELLS // max(n, 1) // 2 * 2)
        self.blocks = [slice(start, min(start + step, n)) for start in range(0, n, step)]
        if self.exact:
            return
        points = self._x
        gamma = kernel.gamma
        # |x|^2 as LIBSVM adds it up, in the order of the features
        self._squares = np.zeros(n)
        for column in points.T:
            self._squares += column * column
        # the product of a row and a column is -gamma |a - b|^2 less the bound
        self._left = np.empty((n, self.features + 2))
        np.multiply(points, 2.0 * gamma, out=self._left[:, :-2])
        self._left[:, -2] = -gamma * self._squares - bound
        self._left[:, -1] = 1.0
        self._right = np.empty((self.features + 2, n))
        self._right[:-2] = points.T
        self._right[-2] = 1.0
        self._right[-1] = -gamma * self._squares

    def fill(self, block):
        """Compute rows `block` from the diagonal on, and what mirrors them."""
        start = block.start
        stop = block.stop
        shape = stop - start, len(self._x) - start
        cells = shape[0] * shape[1]
        values = _memory("values", cells)[:cells].reshape(shape)
        if self._kernel is None:
            low = _memory("low", cells, np.float32)[:cells].reshape(shape)
            pair = np.complex64
            self._fill_by_product(block, values, low)
        else:  # LIBSVM rounds these by itself, and others want all digits
            columns = self._kernel.columns(self._x[start:])
            low = self._kernel.rows(block, columns, values)
            pair = np.complex128
        here = self._nodes[start // 2 : stop // 2, 1 + start :]
        here[:, :, 0] = low[0::2]
        here[:, :, 1] = low[1::2]
        # two rows at once, as if they were the parts of complex numbers
        pairs = self._memory.view(np.complex128).reshape(len(self._nodes), -1)
        pairs[stop // 2 :, 1 + start : 1 + stop] = low[:, stop - start :].view(pair).T

    @property
    def exact(self) -> bool:
        """True if `values` returns all digits, which it does not for the radial kernel."""
        return self._kernel is not None

    def values(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """K (p, q) of rows a (p,) and b (q,) of x, which must be in the table."""
        first, second = (
            self._pointers[rows].astype(np.int64) - self._memory.ctypes.data + 8 for rows in (a, b)
        )
        column = 1 + second // (16 * self._nodes.shape[1]) * 2 + second % 16 // 8
        return self._memory[first[:, None] // 8 + 2 * column]

    def _fill_by_product(self, block, values, low):
        """Kernel values of single precision in `low`; values: room for those of the product."""
        np.matmul(self._left[block], self._right[:, block.start :], out=values)
        np.exp(values, out=values)
        high = _memory("high", values.size, np.float32)[: values.size].reshape(values.shape)
        low[...] = values
        values *= 1.0 + 2.0 * self._bound
        high[...] = values
        doubtful = np.flatnonzero(np.not_equal(low, high))
        if len(doubtful):
            a, b = np.divmod(doubtful, values.shape[1])
            low[a, b] = self._again(a + block.start, b + block.start)

    def _again(self, a, b):
        product = np.zeros(len(a))
        for terms in self._x[a].T * self._x[b].T:
            product += terms
        exponent = -self._gamma * (self._squares[a] + self._squares[b] - 2.0 * product)
        return [math.exp(value) for value in exponent.tolist()]

    def pointers(self, rows):
        """Addresses of those rows of x, which must be in the table, as LIBSVM takes them."""
        return np.ascontiguousarray(self._pointers[rows])


def _memory(name, count, dtype=np.float64):
    """This thread's own array of at least `count` numbers: the first touch of memory is slow."""
    array = getattr(_local, name, None)
    if array is None or len(array) < count:
        array = np.empty(count + count // 8, dtype)
        setattr(_local, name, array)
    return array
