"""Features of points on landmarks: the Nystrom approximation of a kernel.

Williams and Seeger, "Using the Nystrom method to speed up kernel machines" (2001): with landmarks
z_1..z_p and K_zz = L L^T, the features phi(x) = L^-1 K(z, x) have phi(x).phi(x') near K(x, x').
"""

from __future__ import annotations

import copy

import numpy as np

from ..arrays import LowerTriangle
from ..errors import DataError
from ..models import Kernel
from .values import PreparedKernel

__all__ = ["Landmarks"]

# A landmark is dropped where the part of its K(z, z) that the others leave over is at most this
# part of the largest.
_DEPENDENT = 1e-6


class Landmarks:
    """Landmarks z (p, d) of a kernel, and features of points on them.

    points (q, d): the landmarks that are wanted; those that depend on others are dropped.

    kept (p,): numbers of the points that became landmarks, in the order of pivoting;  z (p, d):
    these;  scale: the mean of K(z, z);  condition: its largest value over the least part that was
    left over when a landmark was taken.  Raises `DataError` where the kernel is not positive
    definite or its values are too large.
    """

    def __init__(self, kernel: Kernel, points: np.ndarray):
        from scipy.linalg.lapack import dpstrf

        # sums over points would depend on their order in memory in the last bit
        points = np.ascontiguousarray(points, dtype=np.float64)
        gram = PreparedKernel(kernel, points).values(points)
        if not np.isfinite(gram).all():
            raise DataError("kernel values of the landmarks are too large: normalise the data or "
                            "choose other options")
        diagonal = gram.diagonal().copy()
        largest = diagonal.max(initial=0.0)
        factor, order, rank, _ = dpstrf(gram, tol=_DEPENDENT * largest, lower=1)
        order = order[:len(points)] - 1
        rest = diagonal[order[rank:]] - np.einsum("ij,ij->i", factor[rank:, :rank],
                                                  factor[rank:, :rank])
        if largest <= 0:
            raise DataError("the kernel values of all landmarks are 0: choose other options")
        if rest.min(initial=0.0) < -_DEPENDENT * largest:
            raise DataError(f"the {kernel.kind} kernel with these parameters is not positive "
                            "definite: choose the radial kernel, or -r 0 or more")
        self.kept = order[:rank]
        self.z = points[self.kept]
        self.scale = float(diagonal.mean())
        self.condition = float(largest / factor.diagonal()[:rank].min() ** 2)
        self._kernel = PreparedKernel(kernel, self.z)
        self._factor = LowerTriangle(np.tril(factor[:rank, :rank]))

    def __len__(self):
        return len(self.kept)

    @property
    def kernel(self) -> Kernel:
        """Their kernel."""
        return self._kernel.kernel

    def without_factor(self) -> Landmarks:
        """These for kernel values alone, which takes p x p numbers less."""
        made = copy.copy(self)
        made._factor = None
        return made

    def kernel_values(self, x: np.ndarray) -> np.ndarray:
        """K (p, n) of points x (n, d)."""
        return self._kernel.values(x)

    def features(self, values: np.ndarray) -> np.ndarray:
        """phi (p, n) of points with kernel values (p, n)."""
        return self._factor.solve(values)

    def coefficients(self, v: np.ndarray) -> np.ndarray:
        """beta (p, m) = L^-T v of weights v (p, m): f(x) = sum_j beta_j K(x, z_j) + b."""
        return self._factor.solve_transposed(v)
