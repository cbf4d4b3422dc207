"""Kernel values of points against support vectors, one matrix product a block.

For the radial kernel both squared norms ride along in the product: rows
[2 g s, 1, -g|s|^2] times columns [x, -g|x|^2, 1] give -g|x - s|^2, and exp is
taken in place.  Points and support vectors are centred first, so that data
far from the origin lose no digits.
"""

from __future__ import annotations

import numpy as np

__all__ = ["PreparedKernel"]


class PreparedKernel:
    """A kernel with its support vectors sv (s, d) laid out for repeated use."""

    def __init__(self, kernel, sv):
        sv = np.asarray(sv, dtype=np.float64)
        self.kernel = kernel
        self.size, self.features = sv.shape
        self._centre = None
        if kernel.kind == "rbf":
            self._centre = sv.mean(axis=0) if len(sv) else np.zeros(sv.shape[1])
            sv = sv - self._centre
            norms = np.einsum("ij,ij->i", sv, sv)
            self._left = np.concatenate([
                2.0 * kernel.gamma * sv, np.ones((len(sv), 1)), -kernel.gamma * norms[:, None]],
                axis=1)
        else:
            self._left = np.ascontiguousarray((1.0 if kernel.kind == "linear" else kernel.gamma)
                                              * sv)

    @property
    def width(self):
        """Multiplications for one kernel value."""
        return self._left.shape[1]

    def values(self, x, out=None):
        """K (s, n) of points x (n, d); `out`, if given, is a float64 buffer of that shape."""
        return self.rows(slice(None), self.columns(x), out)

    def columns(self, x):
        """Points x (n, d) as `rows` takes them, (width, n)."""
        if self.kernel.kind != "rbf":
            return np.array(x.T, dtype=np.float64, order="C")
        columns = np.empty((self.features + 2, len(x)))
        centred = columns[:-2]
        np.subtract(x.T, self._centre[:, None], out=centred)
        np.einsum("ij,ij->j", centred, centred, out=columns[-2])
        columns[-2] *= -self.kernel.gamma
        columns[-1] = 1.0
        return columns

    def rows(self, span, columns, out=None):
        """K of the support vectors in the slice `span` and points made ready by `columns`."""
        kernel = self.kernel
        values = np.matmul(self._left[span], columns, out=out)
        if kernel.kind == "rbf":
            np.exp(values, out=values)
        elif kernel.kind == "polynomial":
            values += kernel.coef0
            _power(values, kernel.degree)
        elif kernel.kind == "sigmoid":
            values += kernel.coef0
            np.tanh(values, out=values)
        return values


def _power(values, degree):
    """`values` to a whole power, in place, by squaring: far faster than a general power."""
    square = values.copy()
    values[...] = 1.0
    while degree:
        if degree & 1:
            values *= square
        degree >>= 1
        if degree:
            square *= square
