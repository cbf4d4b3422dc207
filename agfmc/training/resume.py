"""What an earlier run has left: models that training would write again, byte for byte."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b

import numpy as np

from .._version import __version__
from ..arrays import is_sparse
from ..errors import AgfmcError, DataError
from ..formats.inputs import read_bytes
from ..formats.seal import seal_of
from ..formats.vectors import read_std
from ..learners.jobs import problem, rows_by_class
from ..prediction.direct import holds_points

__all__ = ["Origins", "finished", "is_normalisation", "replaced"]

_BLOCK = 1 << 19  # values at a time


class Origins:
    """Digests of what decides the bytes of a model; call it with a job of `work`.

    Sixteen hexadecimal digits, of the points of the job's classes in their order, the
    classes on each side, the options, the seed, where the probabilities come from, the
    normalisation, and the versions of this program and of the library that trains.
    Points that the job does not see, its name and its place in the control file do not
    matter, nor do threads and memory.  Each class is read once.
    """

    def __init__(self, work):
        # before the normalisation where such are written: a feature that it drops is told too
        self._x, self._y = work.data.x if work.raw is None else work.raw, work.data.y
        self._rows = rows_by_class(self._y)
        self._classes = {}
        self._common = [
            # of sparse points a linear machine is written as one plane
            __version__, self._x.shape[1], is_sparse(self._x), work.loo, work.raw is not None,
            None if work.normalisation is None else work.normalisation.digest()]

    def __call__(self, job):
        """The digest of a `TrainingJob`, or of a `DirectJob` of code L."""
        if hasattr(job, "branches"):
            sides, options = job.branches, (job.code, job.options)
            rows = np.sort(np.concatenate([self._rows[label] for side in sides for label in side]))
        else:
            sides = (job.left, job.right)
            options = (job.options.made_by(), job.options.canonical(), job.seed)
            rows = problem(job, self._rows).rows
        sides = [sorted(side) for side in sides]
        digest = blake2b(repr([self._common, options, sides]).encode(), digest_size=8)
        for side in sides:
            for label in side:
                digest.update(self._of_class(label))
        # how the samples of the classes are mixed
        digest.update(np.ascontiguousarray(self._y[rows], dtype="<i4").tobytes())
        return digest.hexdigest()

    def _of_class(self, label):
        if label not in self._classes:
            digest = blake2b()
            rows = self._rows[label]
            if is_sparse(self._x):
                for piece in self._x[rows].pieces():
                    digest.update(piece.tobytes())
                rows = ()
            step = max(1, _BLOCK // max(1, self._x.shape[1]))
            for start in range(0, len(rows), step):
                points = np.asarray(self._x[rows[start:start + step]], dtype="<f8")
                digest.update(np.ascontiguousarray(points).tobytes())
            self._classes[label] = digest.digest()
        return self._classes[label]


def finished(work, only_direct=False):
    """Names of the jobs of `work`, direct ones too or alone, whose model needs no training.

    Its file is there, whole, unchanged since it was written, and made from what this
    run would make it from.  Of direct classifiers only those of code L have such files;
    of points (code K) and text (code G) nothing is trained.
    """
    names = set()
    logistic = [job for job in work.directs if job.code == "L"]
    for job in logistic if only_direct else [*work.jobs, *logistic]:
        path = work.place(job.name)
        # what cannot be read is trained, and fails where it cannot be written either
        with suppress(DataError):
            if os.path.isfile(path) and seal_of(read_bytes(path)) == work.origins(job):
                names.add(job.name)
    return names


def replaced(work, only_direct=False):
    """What of `work`, all of which this run has finished, is not of it any more, or None.

    The name of the first such job, or of the file of the normalisation: another run may have
    written the same names at the same time.  Texts of code G are not looked at.
    """
    there = finished(work, only_direct)
    for job in work.directs if only_direct else [*work.jobs, *work.directs]:
        code = getattr(job, "code", None)
        if code == "K":
            placed = replace(job, name=work.place(job.name))
            if not holds_points(placed, work.data.x, work.data.y):
                return job.name
        elif code != "G" and job.name not in there:
            return job.name
    if not work.fitted or os.path.exists(work.norm_file) and not os.path.isfile(work.norm_file):
        return None  # a pipe is not read again
    return None if is_normalisation(work.norm_file, work.normalisation) else work.norm_file


def is_normalisation(path, normalisation):
    """Does a `.std` file hold this normalisation?"""
    try:
        return os.path.isfile(path) and read_std(path).digest() == normalisation.digest()
    except AgfmcError:
        return False
