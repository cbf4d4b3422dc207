"""Kernel values of points against support vectors, one matrix product a block.

For the radial kernel both squared norms ride along in the product: rows
[2 g s, 1, -g|s|^2] times columns [x, -g|x|^2, 1] give -g|x - s|^2, and exp is
taken in place.  Points and support vectors are centred first, so that data
far from the origin lose no digits.  Points so far from the centre that they would
lose them all the same are subtracted from each support vector.  Kernels of other
distances have no matrix product: SciPy computes the distances.

Where most values are 0, support vectors and points are sparse, and so are the products.
"""

from typing import NamedTuple

import numpy as np

from ..core.kernels import KERNELS
from ..core.points import is_sparse
from ..core.rows import by_name

# numbers too large for a kernel end in decision values that are not finite, and are detected there
_quiet = np.errstate(over="ignore", invalid="ignore")


# The product's rounding changes g|x - s|^2 by about 1e-15 g|x|^2, and exp of it by as much.
_FAR = 1e5
_SLOWER = 10  # a feature of a distance takes so many times as long as one of the product
_NONE = np.zeros(0, dtype=np.intp)


class Columns(NamedTuple):
    """Points as columns (width, n) of the product, or as they are (n, d) where there is none. `far`
    are those that it is not good enough for, `x` (f, d) these as they were."""

    values: np.ndarray
    far: np.ndarray
    x: np.ndarray


class PreparedKernel:
    """A kernel with its support vectors sv (s, d) arranged for repeated use.

    Where these are `SparsePoints`, the kernel is one of LIBSVM's, and points are `SparsePoints`.
    """

    @_quiet
    def __init__(self, kernel, sv):
        self._columns = slice(*kernel.columns or (None,))
        self._is_sparse = is_sparse(sv)
        if self._is_sparse:
            self._prepare_sparse(kernel, sv)
            return
        sv = np.ascontiguousarray(sv[:, self._columns], dtype=np.float64)
        self.kernel = kernel
        kind = KERNELS[kernel.kind]
        if kernel.kind == "rbf":
            self._distance = None
        else:
            self._distance = kind.distance
        if kind.of_products:
            self._of_products = by_name(kind.of_products)
        else:
            self._of_products = None
        self.size, self.features = sv.shape
        self._centre = None
        if kernel.kind == "rbf":
            self._sv = sv
            if len(sv):
                self._centre = sv.mean(axis=0)
            else:
                self._centre = np.zeros(sv.shape[1])
            self._centre[~np.isfinite(self._centre)] = 0.0  # a sum too large for a float
            sv = sv - self._centre
            norms = np.einsum("ij,ij->i", sv, sv)
            self._left = np.concatenate(
                [2.0 * kernel.gamma * sv, np.ones((len(sv), 1)), -kernel.gamma * norms[:, None]],
                axis=1,
            )
        elif self._distance is not None:
            self._left = sv
        else:
            self._left = (kernel.gamma if "gamma" in kind.parameters else 1.0) * sv

    def _prepare_sparse(self, kernel, sv):
        self.kernel = kernel
        self.size, self.features = sv.shape
        self._distance = self._of_products = None
        kind = KERNELS[kernel.kind]
        if kind.of_products:
            self._of_products = by_name(kind.of_products)
        self._sv = sv
        if kernel.kind == "rbf":
            factor = 2.0 * kernel.gamma
            self._norms = kernel.gamma * sv.squared_lengths
        else:
            factor = kernel.gamma if "gamma" in kind.parameters else 1.0
        self._left = factor * sv.csr

    @property
    def width(self):
        """Multiplications of a matrix product that take as long as one kernel value."""
        return self._left.shape[1] * (1 if self._distance is None else _SLOWER)

    def values(self, x, out=None):
        """K (s, n) of points x (n, d); `out`, if given, is a float64 buffer of that shape."""
        return self.rows(slice(None), self.columns(x), out)

    @_quiet
    def columns(self, x):
        """Points x (n, d) as `rows` takes them: `Columns`."""
        if self._is_sparse:
            far = _NONE
            if self.kernel.kind == "rbf":
                far = np.flatnonzero(self.kernel.gamma * x.squared_lengths > _FAR)
            return Columns(x.csr.T.tocsr(), far, x)
        x = x[:, self._columns]
        if self._distance is not None:
            return Columns(np.ascontiguousarray(x, dtype=np.float64), _NONE, x[:0])
        if self.kernel.kind != "rbf":
            return Columns(np.array(x.T, dtype=np.float64, order="C"), _NONE, x[:0])
        columns = np.empty((self.features + 2, len(x)))
        centred = columns[:-2]
        np.subtract(x.T, self._centre[:, None], out=centred)
        np.einsum("ij,ij->j", centred, centred, out=columns[-2])
        columns[-2] *= -self.kernel.gamma
        columns[-1] = 1.0
        far = np.flatnonzero(columns[-2] < -_FAR)
        return Columns(columns, far, np.asarray(x[far], dtype=np.float64))

    @_quiet
    def rows(self, span, columns, out=None):
        """K of the support vectors in the slice `span` and points made ready by `columns`."""
        kernel = self.kernel
        if self._distance is not None:
            from scipy.spatial.distance import cdist

            values = cdist(self._left[span], columns.values, self._distance, out=out)
            values *= -kernel.gamma
            return np.exp(values, out=values)
        if self._is_sparse:
            values = (self._left[span] @ columns.values).toarray(out=out)
            if kernel.kind == "rbf":
                values -= self._norms[span, None]
                values -= kernel.gamma * columns.x.squared_lengths
        else:
            values = np.matmul(self._left[span], columns.values, out=out)
        if kernel.kind == "rbf":
            if len(columns.far):
                from scipy.spatial.distance import cdist  # slow to import, and rarely needed

                far = columns.x[columns.far] if self._is_sparse else columns.x
                values[:, columns.far] = -kernel.gamma * cdist(
                    np.asarray(self._sv[span]), np.asarray(far), "sqeuclidean"
                )
            np.exp(values, out=values)
        elif self._of_products is not None:
            self._of_products(values, kernel)
        return values


def sigmoid(values, kernel):
    """tanh(values + coef0), in place."""
    values += kernel.coef0
    np.tanh(values, out=values)


def polynomial(values, kernel):
    """(values + coef0)^degree, in place, by squaring: far faster than a general power."""
    values += kernel.coef0
    square = values.copy()
    degree = kernel.degree
    values[...] = 1.0
    while degree:
        if degree & 1:
            values *= square
        degree >>= 1
        if degree:
            square *= square
