"""Landmarks of classifiers that share them, drawn from their points."""

from __future__ import annotations

import warnings

import numpy as np

from ..collate.merge import unique_rows
from ..errors import AgfmcWarning, DataError
from ..kernel.landmarks import Landmarks
from ..learners.calibration import job_seed
from ..learners.nystrom import LANDMARKS, NystromOptions

__all__ = ["MEGABYTE", "check_landmarks", "draw_landmarks", "landmarks_of"]

MEGABYTE = 2**20
_DRAWN = 1_000_000  # points, of which landmarks are drawn from a permutation


def draw_landmarks(x, y: np.ndarray, labels, options: NystromOptions, seed: int) -> np.ndarray:
    """Rows of the points of x (n, d) with those labels in y (n,) that become landmarks.

    No two of them are equal, and every class is among them where they are enough.  Raises
    `DataError` where there are too few different points, unless the options are clipped.
    """
    wanted = options.landmarks or LANDMARKS
    members = np.isin(y, labels)
    count = np.count_nonzero(members)
    generator = np.random.Generator(np.random.PCG64(job_seed(seed, labels, ("landmarks",))))
    taken = order = np.empty(0, dtype=np.int64)
    if count > _DRAWN:  # some are mostly enough
        order = generator.choice(count, min(count, max(_DRAWN // 10, 4 * wanted)), replace=False)
        taken = _different(x, y, labels, members, order, wanted)
    if len(taken) < wanted and len(order) < count:
        taken = _different(x, y, labels, members, generator.permutation(count), wanted)
    if len(taken) < wanted and options.landmarks is not None:
        message = f"-m {wanted} is more than the number of different points of these classes"
        if not options.clipped:
            raise DataError(f"{message}, {len(taken)}")
        warnings.warn(f"{message} in a training part: all of them are its landmarks there",
                      AgfmcWarning, stacklevel=2)
    return taken


def _different(x, y, labels, members, order, wanted):
    """The first of rows `order` of the members (n,) bool that differ, one of each class ahead."""
    if not members.all():
        order = np.flatnonzero(members)[order]
    present, first = np.unique(y[order], return_index=True)
    missing = [np.flatnonzero(y == label)[:1] for label in set(labels) - set(present.tolist())]
    ahead = np.concatenate([order[np.sort(first)], *missing])
    order = np.concatenate([ahead, order[~np.isin(order, ahead)]])
    count, taken = wanted, order[:0]
    while len(taken) < wanted and len(taken) < len(order):
        part = order[:count]
        taken = part[unique_rows(np.asarray(x[part], dtype=np.float64))[0][:wanted]]
        if count >= len(order):
            break
        count *= 2
    return taken


def check_landmarks(jobs, x, y: np.ndarray, megabytes: int):
    """Raise `DataError`, with its place, for the first job whose landmarks cannot be had."""
    for job in {job.together: job for job in reversed(jobs)}.values():
        landmarks_of(job, x, y, megabytes)


def landmarks_of(job, x, y, megabytes):
    """(rows (q,) that are drawn, the `Landmarks` among them) of a job."""
    try:
        drawn = draw_landmarks(x, y, job.together.labels, job.options, job.seed)
        needed = 16 * len(drawn) ** 2
        if needed > megabytes * MEGABYTE:
            raise DataError(
                f"the sums of {len(drawn)} landmarks need --kernel-memory "
                f"{-(-needed // MEGABYTE)} or more, found {megabytes} (or choose fewer, -m)")
        return drawn, Landmarks(job.options.kernel_for(x.shape[1]), x[drawn])
    except DataError as error:
        raise job.place.error(DataError, error.message) from None
