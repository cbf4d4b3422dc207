"""Calibration of a trained configuration by points kept apart: a map for a decoder, and a report.

The points are classified without a calibration, or their answers come from files of
cross-validation; `recalibrate` fits the map, measures by cross-validation what it does, and keeps
the points, each as the map that was fitted without its fold answers it, for thresholds and sets.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core.errors import AgfmcWarning, DataError
from ..core.models import LearnedDecoder
from ..core.probabilities import losses, mean
from ..core.splits import FOLDS
from ..core.text import listed
from ..score.intervals import effective_number, resampled, resampled_summary
from ..score.probabilities import calibration, expected_calibration_error
from .maps import apply_map, choose_map, compare_maps, held_out_map, KINDS, MapTrial, refit
from .sets import answer_points, calibration_points, prediction_sets, quantiles
from .thresholds import error_threshold
from .types import DecoderCalibration, ProbabilityMap

ERRORS = (0.01, 0.02, 0.05, 0.1)  # for which thresholds are shown
COVERAGES = (0.9, 0.95, 0.99)  # for which sizes of sets are shown
_RESAMPLES = 1000
_FEW, _FEW_OF_CLASS = 100, 10  # points below which there is a warning
_BINS = 10


@dataclass(frozen=True, eq=False)
class DecodedData:
    """Points of known classes as a decoder answered them, before any calibration map.

    p (n, k): probabilities, columns with ascending labels, or (p, 1 - p) (n, 2) of the answer
    where a tree was descended;  y, answer (n,): columns of the true class and of the answer;
    source: where the points come from, as text;  learned: the decoder that was fitted to them, p
    being by fits without each point; None for one that was there;  weights (n,): of the points,
    None where all count alike.
    """

    p: np.ndarray
    y: np.ndarray
    answer: np.ndarray
    source: str
    learned: LearnedDecoder | None = None
    weights: np.ndarray | None = None

    def same(self, other: DecodedData) -> bool:
        """True where another decoder answers the same but for rounding."""
        return self.p.shape == other.p.shape and np.array_equal(self.answer, other.answer) \
            and np.allclose(self.p, other.p, 0, 1e-9)


class CalibrationResult(NamedTuple):
    """The calibration of a decoder, with what is told of it: plain values."""

    calibration: DecoderCalibration
    report: dict

    def of(self, key: str) -> CalibrationResult:
        """The same for another decoder, which answers the same."""
        return CalibrationResult(self.calibration, {**self.report, "decoder": key})


# Fitting and measuring


def recalibrate(answered: DecodedData, key: str, classes: Sequence[int], kind: str = "auto",
                seed: int = 1, folds: int = FOLDS,
                stored: ProbabilityMap | None = None) -> CalibrationResult:
    """Fit a map of `kind` ("auto" or of `MAP_KINDS`) for the decoder `key` of labels `classes`.

    stored: a map fitted to other points, whose log loss is reported too.  Warns where there are
    few points, or none of a class.  Maps and scores have the weights of the points; thresholds and
    sets count points, for which their guarantees are.
    """
    p, y, right = answered.p, answered.y, answered.answer == answered.y
    weights = answered.weights
    descended = key.startswith("recursive")
    true = np.where(right, 0, 1) if descended else y
    _warn_of_few(y, classes, answered.source)
    if len(y) < 2:
        raise DataError("a map needs two points at least, to be fitted without one of them",
                        file=answered.source)
    trials = compare_maps(p, true, kind, seed, folds, weights) if kind != "none" else \
        [MapTrial("none", 0.0, losses(p, true))]
    chosen = choose_map(trials, weights)
    after = held_out_map(chosen, p, true, seed, folds, weights)
    answer = answered.answer
    if not descended and not KINDS[chosen.kind].keeps_order:
        answer = after.argmax(axis=1)
    if descended:
        points = answer_points(after[:, 0], np.asarray(classes)[y], right)
    else:
        points = calibration_points(after, y, answer, classes)
    fitted = refit(chosen, p, true, weights)
    columns = (np.zeros(len(y), dtype=int),) * 2 if descended else (answered.answer, answer)
    report = {
        "decoder": key, "source": answered.source, "points": len(y), "classes": len(classes),
        "without_points": [int(classes[j]) for j in
                           np.flatnonzero(np.bincount(y, minlength=len(classes)) == 0)],
        "map": chosen.kind, "ridge": chosen.ridge or None,
        "temperature": 1 / float(fitted.weights) if chosen.kind == "temperature" else None,
        "floor": fitted.floor,
        "compared": {**({} if stored is None else
                        {"stored": float(mean(losses(apply_map(stored, p), true), weights))}),
                     **{trial.kind: float(mean(trial.losses, weights)) for trial in trials}},
        "scores": _scores((p, after), true, columns, resampled(y, seed), weights),
        "thresholds": [_threshold(points, error) for error in ERRORS],
        "sets": [] if descended else [_sizes(points, after, classes, wanted)
                                      for wanted in COVERAGES],
        **({} if weights is None else {"sum_of_weights": float(weights.sum()),
                                       "effective_points": effective_number(weights, len(y))}),
    }
    return CalibrationResult(DecoderCalibration(fitted, points), report)


def _warn_of_few(y, classes, source):
    counts = np.bincount(y, minlength=len(classes))
    absent = [int(classes[j]) for j in np.flatnonzero(counts == 0)]
    if absent:
        warnings.warn(f"{source}: no point of class {listed(absent)}: the map does not know how "
                      "they are answered", AgfmcWarning, stacklevel=3)
    needed = max(_FEW, _FEW_OF_CLASS * len(classes))
    if len(y) < needed:
        warnings.warn(f"{source}: {len(y)} calibration points are few for {len(classes)} classes "
                      f"({needed} or more are better): mind the intervals", AgfmcWarning,
                      stacklevel=3)


def _scores(both, y, answers, resamples, weights):
    """{score: {before, after, difference}}, each {value, low, high}, of p before and after."""
    rows, each = np.arange(len(y)), np.ones(len(y)) if weights is None else weights
    pieces = []
    for p, answer in zip(both, answers):
        squares = np.einsum("ij,ij->i", p, p) - 2 * p[rows, y] + 1
        pieces.append((losses(p, y), squares, p[rows, answer], answer == y))

    def scores(counts):
        found, counts = {}, counts * each
        for when, (loss, squares, winner, right) in zip(("before", "after"), pieces):
            found["log_loss", when] = np.average(loss, weights=counts)
            found["brier", when] = np.average(squares, weights=counts)
            found["calibration_error", when] = expected_calibration_error(
                calibration(np.clip(winner, 0, 1), right, _BINS, weights=counts))
            found["accuracy", when] = np.average(right, weights=counts)
        for name in COMPARED_SCORES:
            found[name, "difference"] = found[name, "after"] - found[name, "before"]
        return found

    values = scores(np.ones(len(y)))
    intervals = resampled_summary(values, scores, resamples, _RESAMPLES)
    return {name: {when: {"value": float(values[name, when]), "low": intervals[name, when].low,
                          "high": intervals[name, when].high}
                   for when in ("before", "after", "difference")} for name in COMPARED_SCORES}


COMPARED_SCORES = {"log_loss": "log loss", "brier": "Brier score",
                   "calibration_error": "calibration error", "accuracy": "accuracy"}


def _threshold(points, error):
    try:
        found = error_threshold(points.p_largest, points.right, error)
    except DataError as reason:
        return {"max_error": error, "threshold": None, "answered": None, "why": reason.message}
    return {"max_error": error, "threshold": found.threshold,
            "answered": found.accepted / len(points.right), "why": None}


def _sizes(points, p, classes, coverage):
    """Mean sizes of the sets of the calibration points themselves."""
    sizes = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AgfmcWarning)  # the sizes show it
        for name, score, by_class in (("lac", "lac", False), ("aps", "aps", False),
                                      ("lac_by_class", "lac", True)):
            limits = quantiles(points, classes, 1 - coverage, score, by_class)
            sizes[name] = float(np.count_nonzero(prediction_sets(p, limits, score)) / len(p))
    return {"coverage": coverage, "mean_size": sizes}
