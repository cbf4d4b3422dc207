"""Calibration of a trained configuration by points that it was not trained on.

The points are classified without a calibration, or their answers come from files of
cross-validation; `recalibrate` fits the map of a decoder, measures by cross-validation what it
does, and keeps the points, each as the map that was fitted without its fold answers it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from ..calibration.maps import apply_map, choose_map, compare_maps, held_out_map, KINDS, refit
from ..calibration.sets import (
    calibration_points,
    fill_empty_sets,
    prediction_sets,
    quantiles,
)
from ..calibration.thresholds import error_threshold
from ..calibration.types import Calibration, CalibrationPoints, DecoderCalibration, ProbabilityMap
from ..core.answers import Results
from ..core.errors import AgfmcWarning, DataError, warn_user
from ..core.probabilities import losses, mean, weights_or_ones
from ..core.splits import FOLDS, stratified_folds
from ..core.text import listed
from ..models.configuration import Configuration
from ..score.intervals import effective_number, resampled, resampled_summary
from ..score.probabilities import calibration, expected_calibration_error
from .decoding import Decoding, suited_decodings
from .known_points import answers_alike, map_columns

_COMPARED = "log_loss", "brier", "calibration_error", "accuracy"  # scores
ERRORS = (0.01, 0.02, 0.05, 0.1)  # for which thresholds are shown
COVERAGES = (0.9, 0.95, 0.99)  # for which sizes of sets are shown
_RESAMPLES = 1000
_FEW, _FEW_OF_CLASS = 100, 10  # points below which there is a warning
_BINS = 10


def calibrated_points(
    results: Results, p: np.ndarray, kind: str
) -> tuple[CalibrationPoints, np.ndarray]:
    """`CalibrationPoints` of points after a map of a kind, and answers (n,) by it.

    p (n, c) are what the map makes of their `map_columns`.
    """
    answer = results.answer
    if results.p is None:
        p = p[:, 0]
        right = results.result == results.truth
        p_true = np.where(right, p, 1 - p)
        label = results.truth.astype(np.int32)
        points = CalibrationPoints(label, p_true, np.ones(len(p)), p, right, results.left)
        return points, answer
    if not KINDS[kind].keeps_order:
        answer = p.argmax(axis=1)
    return calibration_points(p, results.y, answer, results.labels), answer


def recalibrate(
    results: Results,
    key: str,
    kind: str = "auto",
    seed: int = 1,
    folds: int = FOLDS,
    stored: ProbabilityMap | None = None,
) -> tuple[DecoderCalibration, dict]:
    """Fit a map of `kind` ("auto" or of `MAP_KINDS`) for the decoder `key`.

    Returns the calibration of the decoder, and a report of plain values, with the log loss of
    `stored` too, a map fitted to other points. Warns where there are few points, or none of a
    class. Maps and scores have the weights of the points; thresholds and sets count points, for
    which their guarantees are.
    """
    p, true = map_columns(results)
    y = results.y
    classes = results.labels
    weights = results.weights
    descended = results.p is None
    absent = _absent_classes(y, classes, results.source)
    if len(y) < 2:
        raise DataError(
            "a map needs two points at least, to be fitted without one of them", file=results.source
        )
    trials = compare_maps(p, true, kind, seed, folds, weights, results.groups)
    chosen = choose_map(trials, weights, results.groups)
    fold = stratified_folds(true, seed, folds, results.groups)
    after = held_out_map(chosen.maps, p, fold)
    points, answer = calibrated_points(results, after, chosen.kind)
    fitted = refit(chosen, p, true, weights)
    if descended:
        columns = (np.zeros(len(y), dtype=int),) * 2
    else:
        columns = (results.answer, answer)
    report = {
        "decoder": key,
        "source": results.source,
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
        "scores": _scores((p, after), true, columns, resampled(y, seed, results.groups), weights),
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
    return DecoderCalibration(fitted, points), report


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
    unit = weights_or_ones(weights, len(y))
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
        for name in _COMPARED:
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
        for name in _COMPARED
    }


def _threshold(points, error):
    try:
        threshold, accepted = error_threshold(points.p_largest, points.right, error)
    except DataError as reason:
        return {"max_error": error, "threshold": None, "answered": None, "why": reason.message}
    return {
        "max_error": error,
        "threshold": threshold,
        "answered": accepted / len(points.right),
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
            sets = prediction_sets(p, limits, score)
            fill_empty_sets(sets, p)
            sizes[name] = float(np.count_nonzero(sets) / len(p))
    return {"coverage": coverage, "mean_size": sizes}


def recalibrated(
    configuration: Configuration,
    answers: Iterable[tuple[str, Results]],
    kind: str = "auto",
    seed: int = 1,
    folds: int = FOLDS,
    stored: Mapping = MappingProxyType({}),
) -> tuple[Configuration, list[dict]]:
    """The configuration with maps of decoders fitted to holdout points, and reports on them.

    `answers` are (key of a decoder, its `Results`), and `stored` {key: `DecoderCalibration`}
    that the reports compare. The other arguments are as for `recalibrate`.
    """
    decoders: dict[str, DecoderCalibration] = {}
    reports: dict[str, dict] = {}
    fitted: dict[str, Results] = {}
    for key, answered in answers:
        equal = next((other for other in fitted if answers_alike(fitted[other], answered)), None)
        if equal is None:
            fitted[key] = answered
            decoders[key], reports[key] = recalibrate(
                answered,
                key,
                kind,
                seed,
                folds,
                stored[key].map if key in stored else None,
            )
        else:
            decoders[key] = decoders[equal]
            reports[key] = {**reports[equal], "decoder": key}
    return with_decoders(configuration, decoders, answered), list(reports.values())


def default_decodings(configuration: Configuration) -> dict[str, Decoding]:
    """{key: `Decoding`} of the decoders that are calibrated where none is chosen.

    Those that suit the configuration, in their order, then least squares and, for a tree, full,
    and learned where the model has it.
    """
    tree = configuration.tree
    decodings = suited_decodings(tree)
    if configuration.calibration and configuration.calibration.learned:
        decodings.setdefault("learned", Decoding("learned", "flat"))
    return decodings


def with_decoders(
    configuration: Configuration, decoders: Mapping[str, DecoderCalibration], results: Results
) -> Configuration:
    """The configuration whose calibration has these entries in place of its own.

    They were fitted to the points of `results`, which the calibration counts where it has none yet,
    and whose learned decoder takes the place of the one in the calibration.
    """
    old = configuration.calibration
    classes = configuration.tree.classes
    if old is None:
        counts = tuple(np.bincount(results.y, minlength=len(classes)).tolist())
        old = Calibration(configuration.digest(), tuple(classes), "", counts, {})
    # of each decoder the last source alone
    sources = [
        part for part in old.source.split("; ") if part and part.partition(": ")[0] not in decoders
    ]
    weighted = "" if results.weights is None else "weighted "
    points = f"{len(results.y)} {weighted}points of {results.source.replace(';', ',')}"
    sources += [f"{key}: {points}" for key in decoders]
    return replace(
        configuration,
        calibration=replace(
            old,
            source="; ".join(sources),
            decoders={**old.decoders, **decoders},
            learned=results.learned or old.learned,
        ),
    )
