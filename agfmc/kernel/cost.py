"""What a decision costs and how wide its margins are: kernel evaluations, |w|^2."""

from __future__ import annotations

import numpy as np

from .values import PreparedKernel

__all__ = ["KernelCounter", "squared_norms"]

_CELLS = 1 << 23


class KernelCounter:
    """Counts, for points that asked some of m classifiers, the kernel values that this takes.

    A support vector that several of the classifiers asked have in common counts
    once for each kernel function (Platt, Cristianini and Shawe-Taylor 2000,
    table 1).  model: a `CollatedModel`.
    """

    def __init__(self, model):
        m, s = len(model.rho), len(model.sv)
        owner = np.repeat(np.arange(m), np.diff(model.indptr))
        # one column for each support vector and kernel function that meet
        key = model.kernel_of[owner].astype(np.int64) * max(s, 1) + model.index
        _, column = np.unique(key, return_inverse=True)
        self.total = int(column.max()) + 1 if len(column) else 0
        self._m = m
        order = np.argsort(column.ravel(), kind="stable")
        self._column, self._owner = column.ravel()[order], owner[order]

    def __call__(self, asked):
        """Kernel values (n,) for asked (n, m) bool."""
        packed = np.packbits(asked, axis=1)
        distinct, which = np.unique(packed, axis=0, return_inverse=True)
        sets = np.unpackbits(distinct, axis=1, count=self._m).astype(np.float32)
        counts = np.zeros(len(sets), dtype=np.int64)
        wide = max(1, _CELLS // max(self._m, len(sets), 1))
        for start in range(0, self.total, wide):
            low, high = np.searchsorted(self._column, (start, start + wide))
            holds = np.zeros((self._m, min(wide, self.total - start)), dtype=np.float32)
            holds[self._owner[low:high], self._column[low:high] - start] = 1.0
            counts += (sets @ holds > 0).sum(axis=1)
        return counts[which.ravel()]


def squared_norms(model):
    """|w|^2 = sum coef_i coef_j K(sv_i, sv_j), 1/margin^2, of each classifier (m,)."""
    norms = np.empty(len(model.rho))
    for number in range(len(norms)):
        span = slice(model.indptr[number], model.indptr[number + 1])
        sv, coef = model.sv[model.index[span]], model.coef[span]
        kernel = PreparedKernel(model.kernels[model.kernel_of[number]], sv)
        step = max(1, _CELLS // max(len(sv), 1))
        norms[number] = sum(
            float(coef @ (kernel.values(sv[start:start + step]) @ coef[start:start + step]))
            for start in range(0, len(sv), step))
    return norms
