"""Features of points on landmarks: the Nystrom approximation of a kernel.

Williams and Seeger, "Using the Nystrom method to speed up kernel machines" (2001): with landmarks
z_1..z_p and K_zz = L L^T, the features phi(x) = L^-1 K(z, x) have phi(x).phi(x') near K(x, x').
"""

from __future__ import annotations

import numpy as np

from ..arrays import lower_product
from ..errors import DataError
from ..models import Kernel
from .values import PreparedKernel

__all__ = ["Landmarks"]

# A landmark is dropped where this part of its K(z, z) at most is left over by the others: what
# it adds is lost in the rounding of kernel values.
_DEPENDENT = {False: 1e-11, True: 1e-7}  # by single precision


class Landmarks:
    """Landmarks z (p, d) of a kernel, and features of points on them.

    points (q, d): the landmarks that are wanted;  single: features are float32.

    kept (p,): numbers of the points that became landmarks, in the order of pivoting;  z (p, d):
    these;  scale: the mean of K(z, z).  Points that depend on others are dropped.  Raises
    `DataError` where the kernel is not positive definite or its values are too large.
    """

    def __init__(self, kernel: Kernel, points: np.ndarray, single: bool = False):
        from scipy.linalg import solve_triangular
        from scipy.linalg.lapack import dpstrf

        points = np.asarray(points, dtype=np.float64)
        gram = PreparedKernel(kernel, points).values(points)
        if not np.isfinite(gram).all():
            raise DataError("kernel values of the landmarks are too large: normalise the data or "
                            "choose other options")
        diagonal = gram.diagonal().copy()
        largest = diagonal.max(initial=0.0)
        factor, order, rank, _ = dpstrf(gram, tol=_DEPENDENT[single] * largest, lower=1)
        order = order[:len(points)] - 1
        factor = np.tril(factor)
        left = diagonal[order[rank:]] - np.einsum("ij,ij->i", factor[rank:, :rank],
                                                  factor[rank:, :rank])
        if largest <= 0 or left.min(initial=0.0) < -1e-6 * largest:
            raise DataError(f"the {kernel.kind} kernel with these parameters is not positive "
                            "definite: choose the radial kernel, or -r 0 or more")
        self.kept = order[:rank]
        self.z = points[self.kept]
        self.scale = float(diagonal.mean())
        self._kernel = PreparedKernel(kernel, self.z)
        # in the memory order that NumPy multiplies without a copy
        self._to_features = np.ascontiguousarray(
            solve_triangular(factor[:rank, :rank], np.eye(rank), lower=True))
        self._single = single
        self._inverse = self._to_features.astype(np.float32) if single else self._to_features

    def __len__(self):
        return len(self.kept)

    @property
    def dtype(self):
        """Of the features."""
        return self._inverse.dtype

    def features(self, x: np.ndarray) -> np.ndarray:
        """phi (p, n) of points x (n, d)."""
        values = self._kernel.rows(slice(None), self._kernel.columns(x), single=self._single)
        return lower_product(self._inverse, values)

    def coefficients(self, v: np.ndarray) -> np.ndarray:
        """beta (p, m) = L^-T v of weights v (p, m): f(x) = sum_j beta_j K(x, z_j) + b."""
        return self._to_features.T @ v
