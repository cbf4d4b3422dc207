"""Errors of pairs of classes, counted on samples that a classifier was not trained on."""

from __future__ import annotations

import numpy as np

from ..errors import UsageError
from ..formats.atomic import replacing
from ..formats.confusions import format_pair_errors, PairErrors
from ..kernel.machine import decision_values

__all__ = ["PairTally"]


class PairTally:
    """Counts the errors of one-vs-one classifiers while they are trained.

    jobs: `TrainingJob`s, each of two classes; x (n, d), y (n,): their points;
    irrelevant: count also where the samples of all other classes go.  Raises
    `UsageError` for a job that is not a pair of classes.
    """

    def __init__(self, jobs, x, y, irrelevant=False):
        for job in jobs:
            if len(job.left) != 1 or len(job.right) != 1:
                raise job.place.error(UsageError, "--cv-errors is for one-vs-one: this partition "
                                      "has more than one class on a side")
        self._x, self._y = x, y
        labels = sorted({label for job in jobs for label in (*job.left, *job.right)})
        if irrelevant:
            labels = sorted(set(np.unique(y).tolist()))
        self._labels = tuple(labels)
        self._place = {label: i for i, label in enumerate(labels)}
        k = len(labels)
        self._n, self._errors = np.zeros((2, k, k), dtype=np.int64)
        self._irrelevant = self._wins = None
        if irrelevant:
            if k > 256:
                raise UsageError(f"--cv-irrelevant is for up to 256 classes, found {k}")
            self._irrelevant, self._wins = np.zeros((2, k, k, k), dtype=np.int64)

    def add(self, job, side, right, model):
        """One job that is done.

        side (l,): 0 and 1 for samples left and right; right (l,) bool: where they
        were sent when they were held out; model: the `BinaryModel`.
        """
        i, j = self._place[job.left[0]], self._place[job.right[0]]
        for own, other, of_side, wrong in ((i, j, 0, right), (j, i, 1, ~right)):
            self._n[own, other] = np.count_nonzero(side == of_side)
            self._errors[own, other] = np.count_nonzero(wrong & (side == of_side))
        if self._irrelevant is None:
            return
        rows = np.flatnonzero((self._y != job.left[0]) & (self._y != job.right[0]))
        if len(rows) == 0:
            return
        a, b = model.scale
        f = decision_values(model.kernel, model.sv, model.coef, model.rho, self._x[rows])
        left = a * f + b < 0
        at = np.searchsorted(self._labels, self._y[rows])
        counts = np.bincount(at, minlength=len(self._labels))
        wins = np.bincount(at, weights=left, minlength=len(self._labels)).astype(np.int64)
        self._irrelevant[:, i, j] = self._irrelevant[:, j, i] = counts
        self._wins[:, i, j], self._wins[:, j, i] = wins, counts - wins

    def write(self, path):
        """Write what was counted, whole or not at all."""
        counted = PairErrors(self._labels, self._n, self._errors, self._irrelevant, self._wins)
        with replacing(path) as file:
            file.write(format_pair_errors(counted))
