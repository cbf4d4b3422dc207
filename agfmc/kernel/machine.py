"""Decision values of many binary classifiers over shared support vectors.

Support vectors of one class stand together, and a class takes part only in
some classifiers: so the coefficients are dense blocks, one for each class,
and each block feeds only the rows of the classifiers that use it.
"""

from __future__ import annotations

import threading

import numpy as np

from .values import PreparedKernel

__all__ = ["BLOCK", "Machine", "decision_values"]

# Points per matrix product.  Every block has this size, short ones are padded:
# the f of a point then depends neither on its neighbours nor on how the points
# were cut up.  The kernel buffer is 8 * BLOCK * s bytes.
BLOCK = 128


class Machine:
    """The classifiers `columns` of a collated model, ready to be evaluated.

    kernels, kernel_of (m,), sv (s, d), group (s,), indptr, index, coef, rho
    (m,): as in `CollatedModel`; columns: the classifiers wanted, by number.
    Only support vectors that these classifiers use are kept.
    """

    def __init__(self, model, columns):
        self.columns = np.asarray(columns, dtype=np.int64)
        self.rho = model.rho[self.columns]
        self._parts = []
        self._local = threading.local()
        kernel_of = model.kernel_of[self.columns]
        for number in np.unique(kernel_of):
            places = np.flatnonzero(kernel_of == number)
            self._parts.append(_Part(model, model.kernels[number], places, self.columns[places]))
        self._largest = max((part.kernel.size for part in self._parts), default=0)

    @property
    def support_vectors(self):
        """Number of kernel values computed for one point."""
        return sum(part.kernel.size for part in self._parts)

    def decision_values(self, x):
        """f (n, m') of points x (n, d), float64, in LIBSVM's sign."""
        result = np.empty((len(x), len(self.columns)))
        for start in range(0, len(x), BLOCK):
            block = np.asarray(x[start:start + BLOCK], dtype=np.float64)
            count = len(block)
            if count < BLOCK:
                padded = np.zeros((BLOCK, x.shape[1]))
                padded[:count] = block
                block = padded
            values = np.zeros((len(self.columns), BLOCK))
            for part in self._parts:
                part.add(block, values, self._buffer(part.kernel.size))
            values -= self.rho[:, None]
            result[start:start + count] = values[:, :count].T
        return result

    def _buffer(self, size):
        buffer = getattr(self._local, "buffer", None)
        if buffer is None:
            buffer = self._local.buffer = np.empty(BLOCK * self._largest)
        return buffer[:BLOCK * size].reshape(size, BLOCK)


class _Part:
    """The classifiers of one kernel: its support vectors and blocks of coefficients."""

    def __init__(self, model, kernel, places, columns):
        spans = [slice(model.indptr[c], model.indptr[c + 1]) for c in columns]
        used = np.zeros(len(model.sv), dtype=bool)
        for span in spans:
            used[model.index[span]] = True
        rows = np.flatnonzero(used)
        position = np.cumsum(used) - 1
        self.kernel = PreparedKernel(kernel, model.sv[rows])
        counts = np.array([span.stop - span.start for span in spans], dtype=np.int64)
        which = np.repeat(np.arange(len(columns)), counts)
        index = np.concatenate([model.index[span] for span in spans] or [np.empty(0, np.int64)])
        coef = np.concatenate([model.coef[span] for span in spans] or [np.empty(0)])
        at = position[index]
        group = model.group[rows]
        edges = np.concatenate([[0], np.flatnonzero(np.diff(group)) + 1, [len(group)]])
        order = np.argsort(at, kind="stable")
        at, which, coef = at[order], which[order], coef[order]
        cuts = np.searchsorted(at, edges)
        self._blocks = []
        for start, stop, low, high in zip(edges[:-1], edges[1:], cuts[:-1], cuts[1:]):
            if start == stop:
                continue
            active, local = np.unique(which[low:high], return_inverse=True)
            dense = np.zeros((len(active), stop - start))
            dense[local.ravel(), at[low:high] - start] = coef[low:high]
            self._blocks.append((slice(start, stop), places[active], dense))

    def add(self, x, values, buffer):
        """Add sum coef K(x, sv) to the rows of `values` (m', n)."""
        kernel = self.kernel.values(x, out=buffer)
        for span, places, dense in self._blocks:
            values[places] += dense @ kernel[span]


def decision_values(kernel, sv, coef, rho, x):
    """f (n,) of one classifier, sum coef K(x, sv) - rho, in blocks of bounded memory."""
    prepared = PreparedKernel(kernel, sv)
    rows = max(1, min(len(x), 4_000_000 // max(len(sv), 1)))
    result = np.empty(len(x))
    for start in range(0, len(x), rows):
        result[start:start + rows] = coef @ prepared.values(x[start:start + rows])
    return result - rho
