"""Decision functions with fewer support vectors: projections onto some of their own.

f(x) = sum_i w_i K(x, s_i) - rho is, but for rho, an element of the Hilbert space of the kernel.
The nearest element of the span of the support vectors P has the coefficients
b = K_PP^-1 K_PS w, and

    |f(x) - f~(x)| <= sqrt(w'Kw - b'Kb) sqrt(K(x, x))

(Schoelkopf, Mika, Burges et al., "Input space versus feature space in kernel-based methods",
1999).  With the factor K_SP = L_S L_P' of a pivoted Cholesky decomposition and c = L_S'w it is
b = L_P^-T c and b'Kb = |c|^2: one factorisation serves every number of pivots.  Each pivot is the
support vector with the largest part of K(s, s) that is left over, times the sum of the squares of
its coefficients.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.errors import DataError, UsageError
from ..core.memory import memory_limit
from ..core.models import MergedModel, Kernel
from .machine import squared_norms
from .values import PreparedKernel

_CANDIDATES = 192  # pivots that are compared with each other in one go
_BLOCK = 64  # points whose K(x, x) are computed at once
# A support vector is no pivot where this part of the largest K(s, s) at most is left over of its
# own: what it adds is lost in the rounding of kernel values.

_DEPENDENT = 1e-12
_ROUNDING = 1e-15
_COLUMNS = 256  # classifiers whose coefficients are a dense array at once


class PivotedCholesky:
    """The columns of L, K = L L', of points x (s, d), in the order of pivots.

    weights (s,): a pivot has the largest weight times what is left over of K(x, x).  Points of
    weight 0 are none.

    pivots: the numbers of those found;  rank: their number where no others are left, else None;
    largest: the largest K(x, x).
    Raises `DataError` where the kernel is not positive definite.
    """

    def __init__(self, kernel: Kernel, x: np.ndarray, weights: np.ndarray):
        self.pivots = np.empty(0, dtype=np.int64)
        self.rank: int | None = None
        self._name, self._x, self._weights = kernel.kind, x, weights
        self._kernel = PreparedKernel(kernel, x)
        self._left = np.concatenate([np.empty(0), *(
            self._kernel.rows(slice(start, start + _BLOCK), self._kernel.columns(
                x[start:start + _BLOCK])).diagonal() for start in range(0, len(x), _BLOCK))])
        if not np.isfinite(self._left).all():
            raise DataError("kernel values of the support vectors are too large")
        self.largest = self._left.max(initial=0.0)
        self._columns = np.empty((len(x), 0))

    def factor(self, p: int) -> np.ndarray:
        """L (s, q), q = p or the rank, whichever is less; those found before stay as they are."""
        if p > self._columns.shape[1]:
            wider = np.empty((len(self._x), p))
            wider[:, :len(self.pivots)] = self._columns[:, :len(self.pivots)]
            self._columns = wider
        while len(self.pivots) < p and self.rank is None:
            self._find(p - len(self.pivots))
        return self._columns[:, :min(p, len(self.pivots))]

    def _find(self, most):
        """The next pivots, at most so many: those that would be found one by one."""
        limit = _DEPENDENT * self.largest
        if self._left.min(initial=0.0) < -1e-6 * self.largest:
            raise DataError(f"the {self._name} kernel with these parameters is not positive "
                            "definite: its classifiers cannot be projected")
        scores = np.where(self._left > limit, self._weights * self._left, 0.0)
        order = np.argsort(-scores, kind="stable")[:_CANDIDATES + 1]
        order = order[scores[order] > 0]
        if not len(order):
            self.rank = len(self.pivots)
            return
        others = scores[order[_CANDIDATES]] if len(order) > _CANDIDATES else 0.0
        some = order[:_CANDIDATES]
        done = len(self.pivots)
        known = self._columns[:, :done]
        values = self._kernel.values(self._x[some])
        gram = values[some] - known[some] @ known[some].T
        found, small = _pivots(gram, self._weights[some], limit, others, most)
        new = some[found]
        rest = values[:, found] - known @ known[new].T
        columns = np.linalg.solve(small, rest.T).T
        columns[new] = small
        columns[self.pivots] = 0.0
        self._columns[:, done:done + len(new)] = columns
        self._left -= np.einsum("ij,ij->i", columns, columns)
        self.pivots = np.concatenate([self.pivots, new])
        self._left[self.pivots] = 0.0


def _pivots(gram, weights, limit, others, most):
    """Pivots of what is left over of the candidates' K, gram (q, q); -> their numbers, L of them.

    They end where the score of all candidates is below `others`, that of the best point that is
    none of them.
    """
    left, columns, found = gram.diagonal().copy(), np.zeros((len(gram), len(gram))), []
    while len(found) < min(most, len(gram)):
        scores = np.where(left > limit, weights * left, 0.0)
        best = int(scores.argmax())
        if scores[best] <= 0 or (found and scores[best] < others):
            break
        done = len(found)
        column = (gram[:, best] - columns[:, :done] @ columns[best, :done]) / np.sqrt(left[best])
        column[found] = 0.0
        columns[:, done] = column
        left -= column * column
        found.append(best)
        left[found] = 0.0
    return np.array(found), columns[found, :len(found)]


class Projection:
    """The classifiers of a `MergedModel`, to be projected onto any number of support vectors.

    support_vectors: how many there are, those of each kernel for themselves.  Raises `DataError`
    where a kernel is not positive definite.
    """

    def __init__(self, model: MergedModel):
        self._model = model
        self._norms = squared_norms(model)
        self._parts = [_Part(model, number) for number in sorted(set(model.kernel_of.tolist()))]
        self.support_vectors = sum(part.size for part in self._parts)

    def onto(self, p: int) -> tuple[MergedModel, np.ndarray]:
        """The model on p support vectors, and for each classifier a bound B (m,).

        |f - f~| <= B sqrt(K(x, x)) for every point x.  Kernels share p in proportion to their
        support vectors.  The provenance of each classifier tells B.  Raises `UsageError` where
        the factor does not fit in memory.
        """
        model = self._model
        m = len(model.rho)
        index, coef, bounds = [None] * m, [None] * m, np.zeros(m)
        for part, share in zip(self._parts, self._shares(p)):
            for column in part.columns:
                span = slice(model.indptr[column], model.indptr[column + 1])
                index[column], coef[column] = model.index[span], model.coef[span]
            if share >= part.size:
                continue
            chosen, weights, squares = part.onto(share)
            bounds[part.columns] = np.sqrt(
                np.maximum(self._norms[part.columns] - squares, 0.0) + part.rounding)
            for column, values in zip(part.columns, weights.T):
                index[column], coef[column] = chosen, values
        used = np.zeros(len(model.sv), dtype=bool)
        for each in index:
            used[each] = True
        position = np.cumsum(used) - 1
        provenances = tuple(
            one.projected(len(chosen), before, bound) if bound > 0 else one
            for one, chosen, before, bound in zip(
                model.provenances, index, np.diff(model.indptr).tolist(), bounds.tolist()))
        return replace(
            model, sv=model.sv[used], group=model.group[used],
            indptr=np.cumsum([0, *map(len, index)]).astype(np.int64),
            index=position[np.concatenate([model.index[:0], *index])].astype(np.int32),
            coef=np.concatenate([model.coef[:0], *coef]), provenances=provenances), bounds

    def _shares(self, p):
        """The number of support vectors of each kernel, of p in all, at least one."""
        sizes = np.array([part.size for part in self._parts])
        if p >= sizes.sum():
            return sizes.tolist()
        ends = np.cumsum(sizes) * p // sizes.sum()
        return np.maximum(np.diff(ends, prepend=0), 1).tolist()


class _Part:
    """The classifiers `columns` of one kernel, and the factor of its support vectors."""

    def __init__(self, model, number):
        self.columns = np.flatnonzero(model.kernel_of == number)
        self._model = model
        squares, sums = np.zeros(len(model.sv)), []
        used = np.zeros(len(model.sv), dtype=bool)
        for span in self._spans(self.columns):
            used[model.index[span]] = True
            squares[model.index[span]] += model.coef[span] ** 2
            sums.append(np.abs(model.coef[span]).sum())
        self._rows = np.flatnonzero(used)
        self._factor = PivotedCholesky(model.kernels[number], model.sv[self._rows],
                                       squares[self._rows])
        # what rounding may add to w'Kw - b'Kb, by the sizes of what is added up there
        self.rounding = _ROUNDING * self._factor.largest * np.square(sums)

    @property
    def size(self):
        """Its support vectors."""
        return len(self._rows)

    def _spans(self, columns):
        indptr = self._model.indptr
        return [slice(indptr[column], indptr[column + 1]) for column in columns]

    def onto(self, p):
        """-> chosen support vectors (q,), ascending; coefficients b (q, m'); b'Kb (m',)."""
        from scipy.linalg import solve_triangular

        limit = memory_limit() // 2
        size = 8 * p * (2 * self.size + len(self.columns))
        if size > limit:
            raise UsageError(
                f"{p} of {self.size} support vectors and {len(self.columns)} classifiers take "
                f"{size / 2**30:.3g} GiB, above the limit of {limit / 2**30:.3g} GiB: choose fewer")
        factor = self._factor.factor(p)
        pivots = self._factor.pivots[:factor.shape[1]]
        position = np.zeros(len(self._model.sv), dtype=np.int64)
        position[self._rows] = np.arange(self.size)
        c = np.empty((len(pivots), len(self.columns)))
        for start in range(0, len(self.columns), _COLUMNS):
            some = self.columns[start:start + _COLUMNS]
            dense = np.zeros((self.size, len(some)))
            for place, span in enumerate(self._spans(some)):
                dense[position[self._model.index[span]], place] = self._model.coef[span]
            c[:, start:start + len(some)] = factor.T @ dense
        weights = solve_triangular(factor[pivots], c, trans="T", lower=True)
        order = np.argsort(pivots)
        return self._rows[pivots[order]], weights[order], np.einsum("ij,ij->j", c, c)
