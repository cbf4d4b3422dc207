"""Decision values of many binary classifiers over shared support vectors, and their costs.

Support vectors of one class stand together, and a class takes part only in
some classifiers: so the coefficients are dense blocks, one for a class or for
several, whichever costs less, and each block feeds only the rows of the
classifiers that use it.  Kernel values are made, used and forgotten a block at
a time, within the processor's cache.
"""

import functools
import threading

import numpy as np

from ..core.models import MergedModel, Kernel
from ..core.points import is_sparse, padded_blocks
from .values import PreparedKernel

# Points per matrix product.  Every block has this size, short ones are padded:
# the f of a point then depends neither on its neighbours nor on how the points
# were cut up.
BLOCK = 128
# Support vectors per matrix product: the kernel buffer has 8 * BLOCK * _LONGEST bytes.
_LONGEST = 512
# Products of fewer multiplications than this go faster: BLAS need not pack them.
_SMALL = 1_000_000
# What one block more costs, in coefficients of a dense block.
_OVERHEAD = 2000

_local = threading.local()


def _buffer():
    """Room for the kernel values of a block, one for each thread and all machines."""
    buffer = getattr(_local, "buffer", None)
    if buffer is None:
        buffer = _local.buffer = np.empty((_LONGEST, BLOCK))
    return buffer


class Machine:
    """The classifiers `columns` of a collated model, ready to be evaluated.

    The arrays are those of a `MergedModel`, `columns` the numbers of the classifiers. Support
    vectors that these classifiers do not use are left out.
    """

    def __init__(self, model, columns):
        self.columns = np.asarray(columns, dtype=np.int64)
        self.rho = model.rho[self.columns]
        self._model = model

    @functools.cached_property
    def _parts(self):
        kernel_of = self._model.kernel_of[self.columns]
        if self._model.forest is not None:
            kernel_of[np.diff(self._model.forest.starts)[self.columns] > 0] = -1
        parts = []
        for number in sorted(set(kernel_of.tolist()) - {-1}):
            positions = np.flatnonzero(kernel_of == number)
            parts.append(
                _Part(self._model, self._model.kernels[number], positions, self.columns[positions])
            )
        return parts

    @functools.cached_property
    def _planes(self):
        model = self._model
        planes = np.empty((model.sv.shape[1], len(self.columns)))
        for position, column in enumerate(self.columns):
            span = slice(model.indptr[column], model.indptr[column + 1])
            planes[:, position] = model.coef[span] @ model.sv[model.index[span]]
        return planes

    def decision_values(self, x):
        """f (n, m') of points x (n, d), float64, in LIBSVM's sign."""
        return np.ascontiguousarray(self.values_by_row(x).T)

    def values_by_row(self, x):
        """Decision values f (m', n), a row for each classifier.

        `SparsePoints` are for support vectors that are sparse too, or classifiers that are all
        linear.
        """
        if is_sparse(x) and not is_sparse(self._model.sv):
            return (x @ self._planes - self.rho).T
        result = np.empty((len(self.columns), len(x)))
        whole = np.empty((len(self.columns), BLOCK))
        buffer = _buffer()
        for rows, block in padded_blocks(x, BLOCK):
            whole[...] = 0.0
            for part in self._parts:
                part.add(block, whole, buffer)
            np.subtract(whole[:, : rows.stop - rows.start], self.rho[:, None], out=result[:, rows])
        if self._model.forest is not None:
            result += self._model.forest.values(x, self.columns)
        return result


class _Part:
    """The classifiers of one kernel: its support vectors and blocks of coefficients."""

    def __init__(self, model, kernel, positions, columns):
        spans = [slice(model.indptr[c], model.indptr[c + 1]) for c in columns]
        used = np.zeros(len(model.sv), dtype=bool)
        for span in spans:
            used[model.index[span]] = True
        rows = np.flatnonzero(used)
        position = np.cumsum(used) - 1
        self.kernel = PreparedKernel(
            kernel, model.sv if len(rows) == len(model.sv) else model.sv[rows]
        )
        counts = np.array([span.stop - span.start for span in spans], dtype=np.int64)
        which = np.repeat(np.arange(len(columns)), counts)
        index = np.concatenate([model.index[span] for span in spans] or [np.empty(0, np.int64)])
        coef = np.concatenate([model.coef[span] for span in spans] or [np.empty(0)])
        at = position[index]
        order = np.argsort(at, kind="stable")
        at, which, coef = at[order], which[order], coef[order]
        self._blocks = []
        for start, stop in _cut(model.group[rows], at, which, self.kernel.width):
            low, high = np.searchsorted(at, (start, stop))
            some = which[low:high]
            present = np.bincount(some, minlength=len(positions)) > 0
            active = np.flatnonzero(present)
            dense = np.zeros((len(active), stop - start))
            dense[(np.cumsum(present) - 1)[some], at[low:high] - start] = coef[low:high]
            self._blocks.append((slice(start, stop), as_slice(positions[active]), dense))

    def add(self, x, values, buffer):
        """Add sum coef K(x, sv) to the rows of `values` (m', BLOCK)."""
        columns = self.kernel.columns(x)
        for span, positions, dense in self._blocks:
            kernel = self.kernel.rows(span, columns, out=buffer[: span.stop - span.start])
            values[positions] += dense @ kernel


def _cut(group, at, which, width):
    """(start, stop) of the blocks of support vectors, whose classes are group (s,).

    `at` and `which` are the support vector, ascending, and the classifier of each coefficient,
    `width` the multiplications for one kernel value.
    """
    edges = np.concatenate([[0], np.flatnonzero(np.diff(group)) + 1, [len(group)]])
    edges = _cut_before_landmarks(edges, at, which)
    cuts = np.searchsorted(at, edges)
    blocks = []
    for start, stop, low, high in zip(
        *(part.tolist() for part in (edges[:-1], edges[1:], cuts[:-1], cuts[1:]))
    ):
        active = set(which[low:high].tolist())
        while blocks:  # one block with the one before it, where that costs no more
            first, _, before = blocks[-1]
            separate = len(active) * (stop - start) + len(before) * (start - first) + _OVERHEAD
            if max(len(active), len(before)) * (stop - first) > separate:
                break  # as below, without a union that may be large
            together = active | before
            if len(together) * (stop - first) > separate:
                break
            start, active = first, together
            blocks.pop()
        blocks.append((start, stop, active))
    for start, stop, active in blocks:
        if start == stop:
            continue  # classifiers without any support vector
        longest = _LONGEST
        for across in (width, len(active)):
            small = _SMALL // (BLOCK * max(across, 1))
            if small >= BLOCK:
                longest = min(longest, small)
        pieces = -(-(stop - start) // longest)
        ends = [start + (stop - start) * piece // pieces for piece in range(pieces + 1)]
        yield from zip(ends[:-1], ends[1:])


def _cut_before_landmarks(edges, at, which):
    """The edges of the classes, and one in each class whose last part has more classifiers.

    It stands where the two blocks are smallest, if that pays: landmarks, which are last, are
    used by many classifiers that use no other support vectors of the class.
    """
    cuts = np.searchsorted(at, edges)
    result = [edges[0]]
    for start, stop, low, high in zip(
        *(part.tolist() for part in (edges[:-1], edges[1:], cuts[:-1], cuts[1:]))
    ):
        classifiers, first = np.unique(which[low:high], return_index=True)
        size = stop - start
        if len(classifiers) * size - (high - low) > _OVERHEAD:  # not all are coefficients
            last = np.unique(which[low:high][::-1], return_index=True)[1]
            position = np.arange(1, size)
            before = np.cumsum(np.bincount(at[low:high][first] - start, minlength=size))[:-1]
            after = (
                len(classifiers)
                - np.cumsum(np.bincount(at[low:high][::-1][last] - start, minlength=size))[:-1]
            )
            cost = before * position + after * (size - position)
            best = int(cost.argmin())
            if len(classifiers) * size - cost[best] > _OVERHEAD and after[best] > before[best]:
                result.append(start + best + 1)
        result.append(stop)
    return np.array(result)


def as_slice(positions):
    """Ascending positions as a slice, where they are one: nothing is then copied."""
    if len(positions) and positions[-1] - positions[0] == len(positions) - 1:
        return slice(int(positions[0]), int(positions[-1]) + 1)
    return positions


def decision_values(kernel: Kernel, sv: np.ndarray, coef: np.ndarray, rho: float, x) -> np.ndarray:
    """f (n,) of one classifier, sum coef K(x, sv) - rho, in blocks of bounded memory.

    `x` is an array, or `SparsePoints` where `sv` are, or the kernel is linear.
    """
    if is_sparse(x) and not is_sparse(sv):
        return x @ (np.asarray(coef) @ sv) - rho
    prepared = PreparedKernel(kernel, sv)
    rows = max(1, min(len(x), 4_000_000 // max(len(sv), 1)))
    result = np.empty(len(x))
    for start in range(0, len(x), rows):
        result[start : start + rows] = coef @ prepared.values(x[start : start + rows])
    return result - rho


# The cost of a decision in kernel evaluations, and the width of margins


_CELLS = 1 << 23


class KernelCounter:
    """The number of kernel values that points take which query some of m classifiers.

    A support vector that several of the queried classifiers have in common counts once for each
    kernel function (Platt, Cristianini and Shawe-Taylor 2000, table 1). `model` is a `MergedModel`.
    """

    def __init__(self, model):
        m = len(model.rho)
        s = len(model.sv)
        owner = np.repeat(np.arange(m), np.diff(model.indptr))
        # one column for each support vector and kernel function that meet
        key = model.kernel_of[owner].astype(np.int64) * max(s, 1) + model.index
        _, column = np.unique(key, return_inverse=True)
        if len(column):
            self.total = int(column.max()) + 1
        else:
            self.total = 0
        self._m = m
        self._owner = owner
        self._column = column.ravel()

    def __call__(self, queried):
        """Kernel values (n,) for queried (n, m) bool."""
        if queried.all():
            return np.full(len(queried), self.total)
        from scipy.sparse import csr_array

        packed = np.packbits(queried, axis=1)
        distinct, which = np.unique(packed, axis=0, return_inverse=True)
        holds = csr_array(
            (np.ones(len(self._owner), dtype=np.int32), (self._owner, self._column)),
            shape=(self._m, self.total),
        )
        counts = np.zeros(len(distinct), dtype=np.int64)
        step = max(1, _CELLS // max(self.total, self._m))
        for start in range(0, len(distinct), step):
            sets = csr_array(
                np.unpackbits(distinct[start : start + step], axis=1, count=self._m).astype(
                    np.int32
                )
            )
            counts[start : start + step] = np.diff((sets @ holds).indptr)
        return counts[which.ravel()]


def squared_norms(model: MergedModel) -> np.ndarray:
    """|w|^2 = sum coef_i coef_j K(sv_i, sv_j), 1/margin^2, of each classifier (m,)."""
    norms = np.empty(len(model.rho))
    alike: dict = {}  # classifiers that have kernel and support vectors in common
    for number, start, stop in zip(range(len(norms)), model.indptr, model.indptr[1:]):
        key = int(model.kernel_of[number]), model.index[start:stop].tobytes()
        alike.setdefault(key, []).append(number)
    for (kernel, _), numbers in alike.items():
        spans = [slice(model.indptr[number], model.indptr[number + 1]) for number in numbers]
        sv = model.sv[model.index[spans[0]]]
        coef = np.array([model.coef[span] for span in spans])
        prepared = PreparedKernel(model.kernels[kernel], sv)
        step = max(1, _CELLS // max(len(sv), len(coef), 1))
        total = np.zeros(len(numbers))
        for start in range(0, len(sv), step):
            values = prepared.values(sv[start : start + step])
            total += np.einsum("ij,ij->i", coef @ values, coef[:, start : start + step])
        norms[numbers] = total
    return norms
