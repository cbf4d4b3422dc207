"""Calibration of a configuration: held-out decision values in, a map for each decoder out."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ..arrays import is_sparse
from ..decode.maps import apply_map, fit_in_training, fit_temperature
from ..decode.sets import calibration_points
from ..errors import AgfmcError, AgfmcWarning
from ..models import Calibration, CalibrationPoints, Configuration, DecoderCalibration, HeldOut
from .classifier import Classifier
from .decision_values import MachineValues
from .decoding import calibrated_decodings, decoders_of, Decoding

__all__ = ["calibrated", "fit_calibration", "held_out_answers"]

_ENTRIES = 1 << 22  # decision values at a time
# Decoders that iterate are slow: so many points for one entry of the coding matrix, and no map
# where these are too few for one.
_ITERATED, _FEWEST = 300_000, 250


def calibrated(configuration: Configuration, held_out: HeldOut | None,
               wanted: Sequence[Decoding] | None = None) -> Configuration:
    """The configuration with the `Calibration` that is fitted to held-out decision values.

    Without such values it is what it was.  wanted: as for `fit_calibration`.
    """
    if held_out is None:
        return configuration
    return replace(configuration, calibration=fit_calibration(configuration, held_out, wanted))


def fit_calibration(configuration: Configuration, held_out: HeldOut,
                    wanted: Sequence[Decoding] | None = None, quick: bool = False) -> Calibration:
    """Fit a map for each decoder that gives numbers for all classes: `fit_in_training`.

    wanted: the only decoders that have one, None for all;  quick: every map is a temperature and
    a floor, and no points are kept.

    The points are decoded with the decision values of classifiers that were trained without
    them; nothing is trained again.  The decoders that suit the configuration, and least squares,
    keep the points too, which thresholds and sets are made from; others have a temperature and a
    floor in any case.
    """
    tree = configuration.tree
    classes = np.array(tree.classes)
    column = np.searchsorted(classes, held_out.y)
    keeping = set() if quick else {
        decoding.calibration_key(tree)
        for decoding in (*decoders_of(tree), Decoding(), Decoding(tree="full"))}
    maps, tried = {}, []
    only = None if wanted is None else {one.calibration_key(tree) for one in wanted}
    answers = held_out_answers(configuration, held_out, only)
    for key, (points, p, answer) in answers.items():
        true = column[points]
        descended = key.startswith("recursive")
        if descended:
            fitted = fit_temperature(p, np.where(answer == true, 0, 1))
        elif key in keeping:
            fitted = next((one for other, one in tried if np.allclose(p, other, 0, 1e-9)), None) \
                or fit_in_training(p, true)
            tried.append((p, fitted))
        else:
            fitted = fit_temperature(p, true)
        kept = None
        if key in keeping:
            if fitted.kind != "temperature":
                answer = apply_map(fitted, p).argmax(axis=1)
            p = apply_map(fitted, p)
            kept = _points_of_answers(p[:, 0], held_out.y, answer == true) if descended \
                else calibration_points(p, true, answer, classes)
        maps[key] = DecoderCalibration(fitted, kept)
    counts = np.bincount(column, minlength=len(classes))
    return Calibration(configuration.digest(), tuple(tree.classes), "training points, held out",
                       tuple(counts.tolist()), maps)


def _points_of_answers(p, labels, right):
    """`CalibrationPoints` where the probability p (c,) of the answer alone is known."""
    return CalibrationPoints(labels.astype(np.int32), np.where(right, p, 1.0 - p),
                             np.ones(len(p)), p, right)


def held_out_answers(configuration: Configuration, held_out: HeldOut,
                     only: Collection | None = None) -> dict:
    """{key: (points, p (c', k), answer (c',))} of the calibration points, for decoders that suit.

    points (c',): their numbers, all of them, or fewer for a decoder that iterates;  p: before any
    map, columns with ascending labels, or (p, 1 - p) of the answer where a tree is descended;
    answer: the column of the class, in the order of the labels.  only: keys of those wanted,
    None for all.
    """
    given = _GivenValues(configuration, held_out)
    classes = np.array(configuration.tree.classes)
    classifiers, parts = {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AgfmcWarning)  # of decoders that nobody asked for
        for key, decoding in calibrated_decodings(configuration.tree).items():
            way = "path" if decoding.tree == "recursive" else decoding.tree
            if only is not None and key not in only:
                continue
            with suppress(AgfmcError):  # the code does not suit this decoder
                classifiers[key] = Classifier(
                    configuration, replace(decoding, tree=way, calibrated=False), values=given)
        step, size = given.rows(len(classes)), len(held_out.rows)
        few = _ITERATED // max(1, given.count * len(classes))
        stride = -(-size // max(few, 1))
        if few < min(_FEWEST, size):
            classifiers = {key: one for key, one in classifiers.items()
                           if not one.decoding.decoder.iterates}
        for start in range(0, size, step):
            everyone = given.load(start, min(start + step, size))
            for key, classifier in list(classifiers.items()):
                rows = everyone
                if classifier.decoding.decoder.iterates:
                    rows = rows[(start + rows) % stride == 0]
                try:
                    answers = classifier(rows)
                except AgfmcError:
                    del classifiers[key]
                    continue
                parts.setdefault(key, []).append((start + rows, answers.columns, answers.classes))
    return {key: _joined(parts[key], classes) for key in classifiers}


def _joined(parts, classes):
    points, p, answer = map(np.concatenate, zip(*parts))
    if p.shape[1] == 1:
        p = np.column_stack([p, 1.0 - p])
    return points, p, np.searchsorted(classes, answer)


class _GivenValues:
    """Decision values of the calibration points, in the place of the classifiers.

    Points are numbers of rows of the block that was loaded; nodes: {node number: an object with
    probabilities(rows)}.
    """

    has_probabilities = has_decision_values = True
    features = None

    def __init__(self, configuration, held_out):
        self._machines = MachineValues(configuration)
        self._held_out = held_out
        self.count = self._machines.count
        self.nodes = {number: _GivenNode(p) for number, p in held_out.nodes.items()}
        # a full code has seen every point: there is nothing to be computed then
        self._seen = len(held_out.value) == self.count * len(held_out.rows)

    def rows(self, k):
        """A good number of points for a block, for k classes."""
        return max(1, min(4096, _ENTRIES // max(self.count, k)))

    def load(self, start, stop):
        """Take the points from start to stop; -> their numbers (n,)."""
        held_out, shape = self._held_out, (stop - start, self.count)
        everyone = range(self.count)
        if self.count:
            f = np.empty(shape) if self._seen else np.array(
                self._machines(everyone, self._points(start, stop))[0])
            part = slice(*np.searchsorted(held_out.point, (start, stop)))
            f[held_out.point[part] - start, held_out.classifier[part]] = held_out.value[part]
            self._f, self._r = f, self._machines.differences(f, everyone)
        for node in self.nodes.values():
            node.start = start
        return np.arange(stop - start)

    def _points(self, start, stop):
        x = self._held_out.x[start:stop]
        return x if self._machines.takes_sparse and is_sparse(x) else \
            np.asarray(x, dtype=np.float64)

    def prepared(self, x):
        """The numbers as they are."""
        return x

    def turned(self, f, columns):
        """As of the classifiers."""
        return self._machines.turned(f, columns)

    def __call__(self, columns, x):
        """f and r, (n, m'), of the classifiers `columns` for points x, numbers of rows."""
        columns = list(columns)
        return self._f[x][:, columns], self._r[x][:, columns]


class _GivenNode:
    """Probabilities p (c, branches) of all calibration points by a multi-class node."""

    start = 0

    def __init__(self, p):
        self._p = p

    def probabilities(self, x):
        """Those of points x, numbers of rows of the block."""
        return self._p[self.start + x]
