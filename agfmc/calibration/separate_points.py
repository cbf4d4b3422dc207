"""Calibration of a trained configuration by a separate calibration set.

The points are classified without a calibration, or their answers come from files of
cross-validation; `recalibrate` fits the map of a decoder, measures by cross-validation what it
does, and keeps the points, each as the map that was fitted without its fold answers it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core.errors import AgfmcWarning, DataError, warn_user
from ..core.models import LearnedDecoder
from ..core.probabilities import losses, mean
from ..core.splits import FOLDS, stratified_folds
from ..core.text import listed
from ..score.intervals import effective_number, resampled, resampled_summary
from ..score.probabilities import calibration, expected_calibration_error
from .maps import apply_map, choose_map, compare_maps, held_out_map, KINDS, refit
from .sets import answer_points, calibration_points, prediction_sets, quantiles
from .thresholds import error_threshold
from .types import CalibrationPoints, DecoderCalibration, ProbabilityMap

COMPARED_SCORES = {
    "log_loss": "log loss",
    "brier": "Brier score",
    "calibration_error": "calibration error",
    "accuracy": "accuracy",
}
ERRORS = (0.01, 0.02, 0.05, 0.1)  # for which thresholds are shown
COVERAGES = (0.9, 0.95, 0.99)  # for which sizes of sets are shown
_RESAMPLES = 1000
_FEW, _FEW_OF_CLASS = 100, 10  # points below which there is a warning
_BINS = 10


@dataclass(frozen=True, eq=False)
class DecodedData:
    """Points of known classes as a decoder answered them, before any calibration map.

    Attributes
    ----------
    p : probabilities (n, k), columns with ascending labels, or (p, 1 - p) (n, 2) of the answer
        where a tree was descended
    y, answer : columns (n,) of the true class and of the answer
    source : source of the points, as text
    learned : decoder that was fitted to them, p being by fits without each point
    weights : weights (n,) of the points, None where all count alike
    left : as in `CalibrationPoints`, (n,) or None
    groups : groups (n,) of the points, which no fold divides, or None
    """

    p: np.ndarray
    y: np.ndarray
    answer: np.ndarray
    source: str
    learned: LearnedDecoder | None = None
    weights: np.ndarray | None = None
    left: np.ndarray | None = None
    groups: np.ndarray | None = None

    def same(self, other: DecodedData) -> bool:
        """Return whether another decoder answers the same but for rounding."""
        return (
            self.p.shape == other.p.shape
            and np.array_equal(self.answer, other.answer)
            and np.allclose(self.p, other.p, 0, 1e-9)
        )


class CalibrationResult(NamedTuple):
    """The calibration of a decoder, and its report of plain values."""

    calibration: DecoderCalibration
    report: dict

    def of(self, key: str) -> CalibrationResult:
        """The result for another decoder, which answers the same."""
        return CalibrationResult(self.calibration, {**self.report, "decoder": key})


def mapped_points(
    p: np.ndarray,
    y: np.ndarray,
    answer: np.ndarray,
    kind: str,
    key: str,
    classes: Sequence[int],
    left: np.ndarray | None = None,
) -> tuple[CalibrationPoints, np.ndarray]:
    """`CalibrationPoints` of probabilities p (n, c) after a map of a kind, and answers (n,) by it.

    `y` and `answer` (n,) are columns of the true class and of the answer before the map, `key` that
    of a decoder of labels `classes`, as of `Decoding.calibration_key`; `left` as for
    `answer_points`.
    """
    if key.startswith("recursive"):
        return answer_points(p[:, 0], np.asarray(classes)[y], answer == y, left), answer
    if not KINDS[kind].keeps_order:
        answer = p.argmax(axis=1)
    return calibration_points(p, y, answer, classes), answer


def recalibrate(
    decoded: DecodedData,
    key: str,
    classes: Sequence[int],
    kind: str = "auto",
    seed: int = 1,
    folds: int = FOLDS,
    stored: ProbabilityMap | None = None,
) -> CalibrationResult:
    """Fit a map of `kind` ("auto" or of `MAP_KINDS`) for the decoder `key` of labels `classes`.

    The log loss of `stored`, a map fitted to other points, is reported too. Warns where there are
    few points, or none of a class. Maps and scores have the weights of the points; thresholds and
    sets count points, for which their guarantees are.
    """
    p = decoded.p
    y = decoded.y
    weights = decoded.weights
    descended = key.startswith("recursive")
    if descended:
        true = np.where(decoded.answer == y, 0, 1)
    else:
        true = y
    absent = _absent_classes(y, classes, decoded.source)
    if len(y) < 2:
        raise DataError(
            "a map needs two points at least, to be fitted without one of them", file=decoded.source
        )
    trials = compare_maps(p, true, kind, seed, folds, weights, decoded.groups)
    chosen = choose_map(trials, weights, decoded.groups)
    fold = stratified_folds(true, seed, folds, decoded.groups)
    after = held_out_map(chosen.maps, p, fold)
    points, answer = mapped_points(
        after, y, decoded.answer, chosen.kind, key, classes, decoded.left
    )
    fitted = refit(chosen, p, true, weights)
    if descended:
        columns = (np.zeros(len(y), dtype=int),) * 2
    else:
        columns = (decoded.answer, answer)
    report = {
        "decoder": key,
        "source": decoded.source,
        "points": len(y),
        "classes": len(classes),
        "without_points": absent,
        "map": chosen.kind,
        "ridge": chosen.ridge or None,
        "temperature": 1 / float(fitted.weights) if chosen.kind == "temperature" else None,
        "floor": fitted.floor,
        "compared": {
            **(
                {}
                if stored is None
                else {"stored": float(mean(losses(apply_map(stored, p), true), weights))}
            ),
            **{trial.kind: float(mean(trial.losses, weights)) for trial in trials},
        },
        "scores": _scores((p, after), true, columns, resampled(y, seed, decoded.groups), weights),
        "thresholds": [_threshold(points, error) for error in ERRORS],
        "sets": []
        if descended
        else [_sizes(points, after, classes, coverage) for coverage in COVERAGES],
        **(
            {}
            if weights is None
            else {
                "sum_of_weights": float(weights.sum()),
                "effective_points": effective_number(weights, len(y)),
            }
        ),
    }
    return CalibrationResult(DecoderCalibration(fitted, points), report)


def _absent_classes(y, classes, source):
    """The labels of classes without points; warns of them, and of few points."""
    counts = np.bincount(y, minlength=len(classes))
    absent = [int(classes[column]) for column in np.flatnonzero(counts == 0)]
    if absent:
        warn_user(
            f"{source}: no point of class {listed(absent)}: the map does not know how "
            "they are answered"
        )
    needed = max(_FEW, _FEW_OF_CLASS * len(classes))
    if len(y) < needed:
        warn_user(
            f"{source}: {len(y)} calibration points are few for {len(classes)} classes "
            f"({needed} or more are better): mind the intervals"
        )
    return absent


def _scores(both, y, answers, resamples, weights):
    """{score: {before, after, difference}}, each {value, low, high}, of p before and after."""
    rows = np.arange(len(y))
    unit = np.ones(len(y)) if weights is None else weights
    parts = {
        when: (
            losses(p, y),
            np.einsum("ij,ij->i", p, p) - 2 * p[rows, y] + 1,
            p[rows, answer],
            answer == y,
        )
        for when, p, answer in zip(("before", "after"), both, answers)
    }

    def scores(counts):
        values, counts = {}, counts * unit
        for when, (loss, squares, winner, right) in parts.items():
            values["log_loss", when] = np.average(loss, weights=counts)
            values["brier", when] = np.average(squares, weights=counts)
            values["calibration_error", when] = expected_calibration_error(
                calibration(np.clip(winner, 0, 1), right, _BINS, weights=counts)
            )
            values["accuracy", when] = np.average(right, weights=counts)
        for name in COMPARED_SCORES:
            values[name, "difference"] = values[name, "after"] - values[name, "before"]
        return values

    values = scores(np.ones(len(y)))
    intervals = resampled_summary(values, scores, resamples, _RESAMPLES)
    return {
        name: {
            when: {
                "value": float(values[name, when]),
                "low": intervals[name, when].low,
                "high": intervals[name, when].high,
            }
            for when in ("before", "after", "difference")
        }
        for name in COMPARED_SCORES
    }


def _threshold(points, error):
    try:
        result = error_threshold(points.p_largest, points.right, error)
    except DataError as reason:
        return {"max_error": error, "threshold": None, "answered": None, "why": reason.message}
    return {
        "max_error": error,
        "threshold": result.threshold,
        "answered": result.accepted / len(points.right),
        "why": None,
    }


def _sizes(points, p, classes, coverage):
    sizes = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AgfmcWarning)  # the sizes show it
        for name, score, by_class in (
            ("lac", "lac", False),
            ("aps", "aps", False),
            ("lac_by_class", "lac", True),
        ):
            limits = quantiles(points, classes, 1 - coverage, score, by_class)
            sizes[name] = float(np.count_nonzero(prediction_sets(p, limits, score)) / len(p))
    return {"coverage": coverage, "mean_size": sizes}
