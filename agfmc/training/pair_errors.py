"""Errors of pairs of classes, counted on samples that a classifier was not trained on."""

from __future__ import annotations

import numpy as np

from ..core.errors import UsageError
from ..data.confusions import format_pair_errors, PairErrors
from ..files.atomic import replacing
from ..kernels.machine import decision_values

_BLOCK = 1 << 16


class PairTally:
    """Counts the errors of one-vs-one classifiers while they are trained.

    Raises `UsageError` for a job that is not a pair of classes.

    Parameters
    ----------
    jobs : sequence, binary `Job`s
    x, y : array (n, d), (n,), their points
    irrelevant : bool, count also where the samples of all other classes go
    weights : array (n,), optional, weights of the points, which are summed then
    """

    def __init__(self, jobs, x, y, irrelevant=False, weights=None):
        for job in jobs:
            if any(len(side) != 1 for side in job.sides):
                raise job.place.error(
                    UsageError,
                    "`cv_errors` is for one-vs-one: this partition "
                    "has more than one class on a side",
                )
        self._x, self._y = x, y
        if weights is None:
            self._w = np.ones(len(y), dtype=np.int64)
        else:
            self._w = weights.w
        kind = self._w.dtype
        if irrelevant:
            labels = np.unique(y).tolist()
        else:
            labels = sorted({label for job in jobs for label in job.labels})
        self._labels = tuple(labels)
        self._position = {label: i for i, label in enumerate(labels)}
        k = len(labels)
        self._n, self._errors = np.zeros((2, k, k), dtype=kind)
        self._irrelevant = self._wins = None
        if irrelevant:
            if k > 256:
                raise UsageError(f"`irrelevant` is for up to 256 classes, found {k}")
            self._irrelevant, self._wins = np.zeros((2, k, k, k), dtype=kind)

    def add(self, fitted):
        """Count one job that is done; `fitted`: with what was held out."""
        (left,), (right,) = fitted.job.sides
        side = fitted.side
        right_side = fitted.held_out
        model = fitted.model
        i = self._position[left]
        j = self._position[right]
        for first, other, of_side, wrong in ((i, j, 0, right_side), (j, i, 1, ~right_side)):
            wrong = wrong[side == of_side]  # of the class, in the order of the data
            w = self._w[self._y == self._labels[first]]
            self._n[first, other], self._errors[first, other] = w.sum(), w[wrong].sum()
        if self._irrelevant is None:
            return
        rows = np.flatnonzero((self._y != left) & (self._y != right))
        if len(rows) == 0:
            return
        a, b = model.scale
        to_left = np.concatenate(
            [  # in blocks: the points may be in a file
                a
                * decision_values(
                    model.kernel,
                    model.sv,
                    model.coef,
                    model.rho,
                    self._x[rows[start : start + _BLOCK]],
                )
                + b
                < 0
                for start in range(0, len(rows), _BLOCK)
            ]
        )
        at = np.searchsorted(self._labels, self._y[rows])
        w = self._w[rows]
        counts, wins = (
            np.bincount(at, weights=some, minlength=len(self._labels)).astype(self._n.dtype)
            for some in (w, to_left * w)
        )
        self._irrelevant[:, i, j] = self._irrelevant[:, j, i] = counts
        self._wins[:, i, j], self._wins[:, j, i] = wins, counts - wins

    def write(self, path):
        """Write what was counted, whole or not at all."""
        counted = PairErrors(self._labels, self._n, self._errors, self._irrelevant, self._wins)
        with replacing(path) as file:
            file.write(format_pair_errors(counted, path))
