"""k nearest neighbours, code K of nodes: the Euclidean metric, exact and repeatable.

The distance of a point p and a training point x is the sum of (p_j - x_j)^2 in float64, from
SciPy; equal distances go by row number.  The answer depends neither on the other points nor on
threads.

A training point of weight w counts as w neighbours: the nearest ones give their weights until
these add up to k, the last one as much as is missing.
"""

import math
import os
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from ..core.errors import DataError, ModelError
from ..core.models import NodeModel
from ..core.provenance import Provenance
from ..data.libagf import cls_bytes, read_cls, read_con, read_vec, VecWriter
from ..data.weights import weights_bytes
from .options import NodeLearner

_CELLS = 1 << 21  # candidate distances held at once
_ROUNDING = 1e-6  # of a sum of weights, which are float32 in files


@dataclass(frozen=True)
class NeighbourOptions(NodeLearner):
    """Options of k nearest neighbours: how many they are, and whether points have weights."""

    k: int = 11
    has_weights: bool = False

    recognised_by = "contents"
    # the metric with libAGF's letter
    letters: ClassVar[dict] = {
        "-k": ("k", 1, math.inf, True, False),
        "-m": (None, 0, 0, True, False),
    }
    strange: ClassVar[dict] = {"-m": "the one metric is 0, Cartesian"}

    def canonical(self):
        """The number of neighbours."""
        return f"-k {self.k}"

    def identity(self, job):
        """The letter, the options as the user wrote them, and whether points have weights."""
        return "K", job.text, self.has_weights

    def weighted(self):
        """Options of a learner with a file of weights more."""
        return replace(self, has_weights=True)

    def files(self, name):
        """The points, their branches and their weights, if they have any."""
        return [f"{name}.vec", f"{name}.cls"] + [f"{name}.wgt"] * self.has_weights

    def stale_files(self, name):
        """The weights of an earlier model, where points have none now."""
        if self.has_weights:
            return []
        return [f"{name}.wgt"]

    def fit(self, job, problem):
        """The `NodeModel` of a `NodeProblem`."""
        part = problem.samples
        w = self._weights(problem)
        return self._model(
            job.name, len(job.sides), problem.x[part.rows].astype(np.float32), part.side, w
        )

    def write(self, job, problem, streams):
        """Write the points, their branches and their weights."""
        part = problem.samples
        w = self._weights(problem)
        writer = VecWriter(streams[0], problem.x.shape[1])
        for start in range(0, len(part.rows), 4096):
            writer.write(problem.x[part.rows[start : start + 4096]])
        streams[1].write(cls_bytes(part.side))
        if w is not None:
            streams[2].write(weights_bytes(w))

    def read(self, name, branches):
        """The `NodeModel` in the files of that name."""
        points = read_vec(f"{name}.vec")
        y = read_cls(f"{name}.cls", len(points))
        if y.max() >= branches:
            raise ModelError(
                f"holds class {y.max()}, and the classifier has {branches} branches",
                file=f"{name}.cls",
            )
        w = None
        if os.path.exists(f"{name}.wgt"):
            w = read_con(f"{name}.wgt", len(points))
            if w.min() <= 0:
                raise ModelError(
                    f"row {np.argmax(w <= 0) + 1}: expected a weight above 0, "
                    f"found {w[w <= 0][0]:g}",
                    file=f"{name}.wgt",
                )
        if self.k > _most(len(points), w):
            raise ModelError(
                f"has {len(points)} points{_of_weight(w)}, fewer than {self.k} nearest neighbours",
                file=f"{name}.vec",
            )
        return self._model(name, branches, points, y, w)

    def held_out_probabilities(self, job, problem, model, rows):
        """p (c, branches) of points in those rows, a point not being a neighbour of itself.

        Where the weights of the others are less than k, all of them are its neighbours.
        """
        if problem.groups is not None:
            return super().held_out_probabilities(job, problem, model, rows)
        part = problem.samples
        excluded = np.full(len(rows), -1)
        at = np.searchsorted(rows, part.rows)
        mine = np.flatnonzero(rows[np.minimum(at, len(rows) - 1)] == part.rows)
        excluded[at[mine]] = mine
        points = np.asarray(problem.x[rows]).astype(np.float32)
        return self.classifier(model).probabilities(points, excluded)

    @staticmethod
    def classifier(model):
        """The classifier of a model."""
        return Neighbours(model.points, model.y, model.branches, model.k, model.w)

    def _weights(self, problem):
        """The weights (l,) of the samples as the file has them, float32, or None.

        Raises `DataError` where these are too few for k.
        """
        size = len(problem.samples.rows)
        w = problem.weights
        if w is None and self.has_weights:
            w = np.ones(size)
        if w is not None:
            w = w.astype(np.float32)
        if self.k > _most(size, w):
            raise DataError(
                f"{self.k} nearest neighbours need as many samples, there are {size}{_of_weight(w)}"
            )
        return w

    def _model(self, name, branches, points, y, w):
        return NodeModel(
            "K",
            name,
            branches,
            Provenance(options=self.canonical()),
            points=points,
            y=y,
            k=self.k,
            w=w,
        )


def _most(size, w):
    """The largest k of so many points with weights w (size,), None for 1; sums are rounded."""
    if w is None:
        return size
    return float(w.sum(dtype=np.float64)) * (1.0 + _ROUNDING)


def _of_weight(w):
    """Words for the sum of the weights, "" where there are none."""
    if w is None:
        return ""
    return f" of weight {w.sum(dtype=np.float64):g}"


def _shares(y, c, given):
    """The share (n, c) of each class among neighbours of classes y (n, q), of weights given (n, q)."""
    cells = y + np.arange(len(y))[:, None] * c
    counts = np.bincount(cells.ravel(), given.ravel(), len(y) * c)
    return counts.reshape(len(y), c) / given.sum(axis=1)[:, None]


def _pieces(numbers, cells):
    """Parts of an array of numbers of points, each of which needs so many cells."""
    step = max(1, _CELLS // cells)
    return (numbers[start : start + step] for start in range(0, len(numbers), step))


class Neighbours:
    """Training points x (l, d) with classes y (l,) in 0..c-1, ready to classify.

    `w` (l,) are their weights, or None; `k` is not more than l, or than the sum of the weights.
    """

    def __init__(self, x, y, c, k, w=None):
        self._x = np.ascontiguousarray(x, dtype=np.float64)
        self.c = int(c)
        self.k = int(k)
        self._w = w
        self._y = np.asarray(y, dtype=np.int64)

    def probabilities(self, points, excluded=None):
        """p (n, c): the share of each class, by weights, among the k nearest of points (n, d).

        `excluded` (n,) is the training point that each of the points is and that is no neighbour of
        it, -1 where it is none, or None. Raises `DataError` where the points have another number of
        features.
        """
        points = np.asarray(points)
        result = np.empty((len(points), self.c))
        pending = np.arange(len(points))
        count = min(self.k + (excluded is not None), len(self._y))
        while len(pending):
            left = []
            for which in _pieces(pending, count):
                near = self.nearest(points[which], count)
                if self._w is None:
                    w = np.ones(near.shape)
                else:
                    w = self._w[near].astype(np.float64)
                if excluded is not None:
                    w[near == excluded[which, None]] = 0.0
                given = np.clip(self.k - (np.cumsum(w, axis=1) - w), 0.0, w)
                enough = given.sum(axis=1) >= self.k * (1.0 - _ROUNDING)
                enough |= count == len(self._y)
                result[which[enough]] = _shares(self._y[near[enough]], self.c, given[enough])
                left.append(which[~enough])
            pending, count = np.concatenate(left), min(2 * count, len(self._y))
        return result

    def nearest(self, points, k):
        """Rows (n, k) of the training points nearest to each of points (n, d), nearest first."""
        points = np.asarray(points)
        size, features = self._x.shape
        if points.ndim != 2 or points.shape[1] != features:
            if points.ndim:
                width = points.shape[-1]
            else:
                width = 0
            raise DataError(
                f"the points have {width} features, the training points have {features}"
            )
        result = np.empty((len(points), k), dtype=np.int64)
        for rows in _pieces(np.arange(len(points)), size):
            square = cdist(np.asarray(points[rows], dtype=np.float64), self._x, "sqeuclidean")
            limit = np.partition(square, k - 1, axis=1)[:, k - 1 : k]
            which, near = np.nonzero(square <= limit)
            # stable: where point and distance are equal, rows stay in their order
            order = np.lexsort((square[which, near], which))
            first = np.searchsorted(which, np.arange(len(rows)))
            result[rows] = near[order[first[:, None] + np.arange(k)]]
        return result
