"""Features of points on landmarks: the Nystrom approximation of a kernel.

Williams and Seeger, "Using the Nystrom method to speed up kernel machines" (2001): with landmarks
z_1..z_p and K_zz = L L^T, the features phi(x) = L^-1 K(z, x) have phi(x).phi(x') near K(x, x').
"""

from __future__ import annotations

import copy

import numpy as np

from ..core.errors import DataError, warn_user
from ..core.models import Kernel
from ..core.memory import KERNEL_MEMORY
from ..core.points import LowerTriangle, unique_rows
from ..core.splits import job_seed
from ..data.types import Dataset
from ..kernels.values import PreparedKernel
from .learner import LANDMARKS, Nystrom

# A landmark is dropped where the part of its K(z, z) that the others leave over is at most this
# part of the largest.
_DEPENDENT = 1e-6


class Landmarks:
    """Landmarks z (p, d) of a kernel, and features of points on them.

    They are chosen among `points` (q, d); those that depend on others are dropped. Raises
    `DataError` where the kernel is not positive definite or its values are too large.

    Attributes
    ----------
    pivots : numbers (p,) of the points that became landmarks, in the order of pivoting
    z : landmarks (p, d)
    scale : mean of K(z, z)
    condition : its largest value over the least part that was left over when a landmark was taken
    """

    def __init__(self, kernel: Kernel, points: np.ndarray):
        from scipy.linalg.lapack import dpstrf

        # sums over points would depend on their order in memory in the last bit
        points = np.ascontiguousarray(points, dtype=np.float64)
        gram = PreparedKernel(kernel, points).values(points)
        if not np.isfinite(gram).all():
            raise DataError(
                "kernel values of the landmarks are too large: normalise the data or "
                "choose other options"
            )
        diagonal = gram.diagonal().copy()
        largest = diagonal.max(initial=0.0)
        factor, order, rank, _ = dpstrf(gram, tol=_DEPENDENT * largest, lower=1)
        order = order[: len(points)] - 1
        rest = diagonal[order[rank:]] - np.einsum(
            "ij,ij->i", factor[rank:, :rank], factor[rank:, :rank]
        )
        if largest <= 0:
            raise DataError("the kernel values of all landmarks are 0: choose other options")
        if rest.min(initial=0.0) < -_DEPENDENT * largest:
            raise DataError(
                f"the {kernel.kind} kernel with these parameters is not positive "
                "definite: choose the radial kernel, or -r 0 or more"
            )
        self.pivots = order[:rank]
        self.z = points[self.pivots]
        self.scale = float(diagonal.mean())
        self.condition = float(largest / factor.diagonal()[:rank].min() ** 2)
        self._kernel = PreparedKernel(kernel, self.z)
        self._factor = LowerTriangle(np.tril(factor[:rank, :rank]))

    def __len__(self):
        return len(self.pivots)

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


MEGABYTE = 2**20
_DRAWN = 1_000_000  # points, of which landmarks are drawn from a permutation


def draw_landmarks(x, y: np.ndarray, labels, options: Nystrom, seed: int) -> np.ndarray:
    """Rows of the points of x (n, d) with those labels in y (n,) that become landmarks.

    No two of them are equal, and every class is among them where they are enough.  Raises
    `DataError` where there are too few different points, unless the options are clipped.
    """
    requested = options.n_landmarks or LANDMARKS
    members = np.isin(y, labels)
    count = np.count_nonzero(members)
    generator = np.random.Generator(np.random.PCG64(job_seed(seed, labels, ("landmarks",))))
    taken = order = np.empty(0, dtype=np.int64)
    if count > _DRAWN:  # some are mostly enough
        order = generator.choice(count, min(count, max(_DRAWN // 10, 4 * requested)), replace=False)
        taken = _different(x, y, labels, members, order, requested)
    if len(taken) < requested and len(order) < count:
        taken = _different(x, y, labels, members, generator.permutation(count), requested)
    if len(taken) < requested and options.n_landmarks is not None:
        message = f"-m {requested} is more than the number of different points of these classes"
        if not options.clipped:
            raise DataError(f"{message}, {len(taken)}")
        warn_user(f"{message} in a training part: all of them are its landmarks there")
    return taken


def _different(x, y, labels, members, order, requested):
    """The first of rows `order` of the members (n,) bool that differ, one of each class ahead."""
    if not members.all():
        order = np.flatnonzero(members)[order]
    present, first = np.unique(y[order], return_index=True)
    missing = [np.flatnonzero(y == label)[:1] for label in set(labels) - set(present.tolist())]
    ahead = np.concatenate([order[np.sort(first)], *missing])
    order = np.concatenate([ahead, order[~np.isin(order, ahead)]])
    count = requested
    taken = order[:0]
    while len(taken) < requested and len(taken) < len(order):
        part = order[:count]
        taken = part[unique_rows(np.asarray(x[part], dtype=np.float64))[0][:requested]]
        if count >= len(order):
            break
        count *= 2
    return taken


def check_landmarks(jobs, data: Dataset, megabytes: int):
    """Raise `DataError`, with its place, for the first job whose landmarks cannot be had."""
    for job in {job.together: job for job in reversed(jobs)}.values():
        landmarks_of(job, data, megabytes)


def landmarks_of(job, data, megabytes):
    """(rows (q,) that are drawn, the `Landmarks` among them) of a job."""
    try:
        drawn = draw_landmarks(data.x, data.y, job.together.labels, job.options, job.seed)
        needed = 16 * len(drawn) ** 2
        if needed > megabytes * MEGABYTE:
            raise DataError(
                f"the sums of {len(drawn)} landmarks need {KERNEL_MEMORY}={-(-needed // MEGABYTE)} "
                f"or more in the environment, found {megabytes} (or choose fewer, -m)"
            )
        return drawn, Landmarks(job.options.kernel_for(data.x.shape[1]), data.x[drawn])
    except DataError as error:
        raise job.place.error(DataError, error.message) from None
