"""Calibration of a trained configuration by points kept apart: a map for a decoder, and a report.

The points are classified without a calibration, or their answers come from files of
cross-validation; `recalibrate` fits the map, measures by cross-validation what it does, and keeps
the points, each as the map that was fitted without its fold answers it, for thresholds and sets.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..decode.maps import (apply_map, choose_map, compare_maps, FOLDS, held_out_map, losses,
                           MapTrial, refit)
from ..decode.sets import answer_points, calibration_points, prediction_sets, quantiles
from ..decode.thresholds import error_threshold
from ..errors import AgfmcWarning, DataError, UsageError
from ..formats.probability_text import read_probabilities
from ..formats.vectors import read_cls, read_con
from ..formats.weights_file import read_weights, weights_beside
from ..models import (Calibration, Configuration, Dataset, DecoderCalibration, LearnedDecoder,
                      ProbabilityMap)
from ..score.intervals import effective_number, resampled, resampled_summary
from ..score.probabilities import calibration, expected_calibration_error, probability
from ..weights import mean
from .calibration import fit_learned_decoder
from .classifier import Classifier
from .decoding import decoders_of, Decoding
from .external import Execution
from .proportions import listed

__all__ = ["Answered", "COVERAGES", "ERRORS", "Recalibrated", "answers_of_data", "answers_of_files",
           "format_reports", "kept_decodings", "recalibrate", "with_decoders"]

ERRORS = (0.01, 0.02, 0.05, 0.1)  # for which thresholds are shown
COVERAGES = (0.9, 0.95, 0.99)  # for which sizes of sets are shown
_RESAMPLES = 1000
_FEW, _FEW_OF_CLASS = 100, 10  # points below which there is a warning
_BINS = 10
_HALF_DIGIT = 0.51e-6  # by which a probability in a text is rounded, at most


@dataclass(frozen=True, eq=False)
class Answered:
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

    def same(self, other: Answered) -> bool:
        """True where another decoder answers the same but for rounding."""
        return self.p.shape == other.p.shape and np.array_equal(self.answer, other.answer) \
            and np.allclose(self.p, other.p, 0, 1e-9)


class Recalibrated(NamedTuple):
    """The calibration of a decoder, with what is told of it: plain values."""

    calibration: DecoderCalibration
    report: dict

    def of(self, key: str) -> Recalibrated:
        """The same for another decoder, which answers the same."""
        return Recalibrated(self.calibration, {**self.report, "decoder": key})


# Answers to points

def kept_decodings(configuration: Configuration) -> dict[str, Decoding]:
    """{key: `Decoding`} of the decoders whose calibration points training keeps.

    Those that suit the configuration, in their order, then least squares and, for a tree, full,
    and learned where the model has it.
    """
    tree = configuration.tree
    found: dict[str, Decoding] = {}
    for decoding in (*decoders_of(tree), Decoding(), Decoding(tree="full"),
                     *([Decoding("learned", "flat")] if _learned(configuration) else [])):
        key = decoding.calibration_key(tree)
        if key is not None:
            found.setdefault(key, decoding)
    return found


def answers_of_data(configuration: Configuration, decoding: Decoding, data: Dataset, kind: str,
                    source: str, workers: int = 1) -> Answered:
    """The `Answered` points of a `Dataset`, with its weights; kind: of its `InputFormat`.

    A learned decoder that the configuration lacks is fitted to them.  Raises `DataError` for
    classes that the configuration does not know.
    """
    tree = configuration.tree
    y = _columns(data.y, tree.classes, source)
    other = [label for label, name in data.name_of.items()
             if tree.names.get(label, name) != name]
    if other:
        raise DataError(f"class {other[0]} is '{data.names[other[0]]}', in the model "
                        f"'{tree.names[other[0]]}': the labels mean other classes", file=source)
    way = "path" if decoding.tree == "recursive" else decoding.tree
    fits = decoding.decoder.takes == "learned" and not _learned(configuration)
    classifier = Classifier(
        configuration, Decoding("binary") if fits else
        replace(decoding, tree=way, calibrated=False), Execution(kind))
    x = np.asarray(data.x)
    lacking = (classifier.features or 0) - x.shape[1]
    if kind == "svm" and lacking > 0:  # such text may leave the last features out
        x = np.pad(x, [(0, 0), (0, lacking)])
    answers = classifier.classify(x, workers)
    p = answers.columns
    weights = None if data.weights is None else data.weights.w
    if fits:
        fitted = fit_learned_decoder(tree, p, y, weights=weights)
        return Answered(fitted.p, y, fitted.p.argmax(axis=1), source, fitted.decoder, weights)
    if p.shape[1] == 1:
        p = np.column_stack([p, 1 - p])
    return Answered(p, y, np.searchsorted(tree.classes, answers.classes), source, weights=weights)


def _learned(configuration):
    """The `LearnedDecoder` of a configuration, or None."""
    return configuration.calibration and configuration.calibration.learned


def answers_of_files(configuration: Configuration, key: str, base: str) -> Answered:
    """The `Answered` points in base.truth, .cls, and .raw.txt or .txt, as nfold writes them.

    base.raw.txt has the probabilities before any map, and their classes; base.txt and base.cls
    take its place where it is not there.  Where a tree is descended, the confidence ratings,
    base.raw.con or base.con, are what there is.  Weights of the points are in base.wgt, if it is
    there; those of weight 0 are left out.
    """
    if key == "learned" and not _learned(configuration):
        raise UsageError("the model has no learned decoder, and the answers of a cross-validation "
                         "hold no decision values that one could be fitted to: --data has")
    classes = configuration.tree.classes
    truth = read_cls(f"{base}.truth")
    answer = _columns(read_cls(f"{base}.cls", n=len(truth)), classes, f"{base}.cls")
    y = _columns(truth, classes, f"{base}.truth")
    if key.startswith("recursive"):
        path = _first(f"{base}.raw.con", f"{base}.con")
        p = probability(read_con(path, n=len(truth)), len(classes))
        return _with_weights(Answered(np.column_stack([p, 1 - p]), y, answer, base))
    path = _first(f"{base}.raw.txt", f"{base}.txt")
    table = read_probabilities(path)
    labels = table.labels
    if table.p.shape[1] != len(classes) or labels is not None and \
            not np.array_equal(labels, classes):
        raise DataError(f"has probabilities of {table.p.shape[1]} classes"
                        + ("" if labels is None else f" ({listed(labels.tolist())})")
                        + f", the model has {len(classes)} ({listed(classes)})", file=path)
    if len(table.p) != len(truth):
        raise DataError(f"has {len(table.p)} lines of probabilities, but there are "
                        f"{len(truth)} points", file=path)
    if np.median(np.abs(table.p.sum(axis=1) - 1)) > 0.2:
        raise DataError("the values are votes, not probabilities, which alone have a calibration",
                        file=path)
    if path == f"{base}.raw.txt":  # a map may have changed the answers in base.cls
        answer = _columns(table.classes, classes, path)
    elif not np.array_equal(table.classes, np.asarray(classes)[answer]):
        row = int(np.argmax(table.classes != np.asarray(classes)[answer]))
        raise DataError(f"the class of point {row} (from 0) is {table.classes[row]}, but "
                        f"{classes[answer[row]]} in {base}.cls: they are not of one run",
                        file=path)
    sums = table.p.sum(axis=1, keepdims=True)  # 1 but for the rounding of the text to six digits
    rounded = np.abs(sums - 1) <= _HALF_DIGIT * len(classes)
    return _with_weights(Answered(table.p / np.where(rounded, sums, 1), y, answer, base))


def _with_weights(answered):
    """The points of files with the weights beside them, if there are some."""
    path = weights_beside(answered.source)
    if path is None:
        return answered
    w = read_weights(path, len(answered.y))
    warnings.warn(f"the points of {answered.source} have the weights in {path}", AgfmcWarning,
                  stacklevel=4)
    some = w > 0
    return replace(answered, p=answered.p[some], y=answered.y[some], answer=answered.answer[some],
                   weights=w[some])


def _first(path, other):
    return path if os.path.exists(path) else other


def _columns(labels, classes, source):
    """The columns (n,) of labels (n,), in the order of the classes, ascending."""
    column = np.searchsorted(classes, labels).clip(0, len(classes) - 1)
    strange = np.asarray(classes)[column] != labels
    if strange.any():
        raise DataError(f"holds class {labels[np.argmax(strange)]}, which is not one of the "
                        f"classes of the model ({listed(classes)})", file=source)
    return column


# Fitting and measuring

def recalibrate(answered: Answered, key: str, classes: Sequence[int], kind: str = "auto",
                seed: int = 1, folds: int = FOLDS,
                stored: ProbabilityMap | None = None) -> Recalibrated:
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
    if not descended and chosen.kind not in ("none", "temperature"):
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
    return Recalibrated(DecoderCalibration(fitted, points), report)


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
        for name in _NAMES:
            found[name, "difference"] = found[name, "after"] - found[name, "before"]
        return found

    values = scores(np.ones(len(y)))
    intervals = resampled_summary(values, scores, resamples, _RESAMPLES)
    return {name: {when: {"value": float(values[name, when]), "low": intervals[name, when].low,
                          "high": intervals[name, when].high}
                   for when in ("before", "after", "difference")} for name in _NAMES}


_NAMES = {"log_loss": "log loss", "brier": "Brier score", "calibration_error": "calibration error",
          "accuracy": "accuracy"}


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


# A calibration with other entries

def with_decoders(configuration: Configuration, found: dict[str, Recalibrated], y: np.ndarray,
                  learned: LearnedDecoder | None = None) -> Configuration:
    """The configuration whose calibration has these entries in place of its own.

    y (n,): columns of the classes of their points; the calibration counts its own where it has
    some;  learned: takes the place of its own, unless it is None.
    """
    old = configuration.calibration
    classes = configuration.tree.classes
    if old is None:
        counts = tuple(np.bincount(y, minlength=len(classes)).tolist())
        old = Calibration(configuration.digest(), tuple(classes), "", counts, {})
    # of each decoder the last source alone
    sources = [part for part in old.source.split("; ")
               if part and part.partition(": ")[0] not in found]
    sources += [f"{key}: {one.report['points']} "
                + ("weighted " if "sum_of_weights" in one.report else "") + "points of "
                + one.report["source"].replace(";", ",") for key, one in found.items()]
    decoders = {**old.decoders, **{key: one.calibration for key, one in found.items()}}
    return replace(configuration, calibration=replace(
        old, source="; ".join(sources), decoders=decoders, learned=learned or old.learned))


# The report as text

def format_reports(reports: Sequence[dict]) -> str:
    """Reports of decoders as pages of text, those of decoders with equal ones together."""
    pages: dict[str, list[str]] = {}
    for report in reports:
        pages.setdefault(_page(report), []).append(report["decoder"])
    return "\n".join(f"{', '.join(keys)}: {page}" for page, keys in pages.items())


def _page(report):
    fitted = f"{report['map']} map"
    if report["temperature"] is not None:
        fitted = f"temperature {report['temperature']:.4g}, floor {report['floor']:.2g}"
    elif report["ridge"] is not None:
        fitted += f", ridge {report['ridge']:g}, floor {report['floor']:.2g}"
    weighted = "" if "effective_points" not in report else \
        f", which count as {report['effective_points']:.4g} of equal weight"
    lines = [f"{report['points']} points of {report['classes']} classes{weighted}; {fitted}"]
    if len(report["compared"]) > 1:
        lines.append("log loss: " + ", ".join(
            f"{kind} {value:.4f}" for kind, value in report["compared"].items()))
    lines += ["", f"{'':19s}{'before':26s}{'after':26s}difference"]
    for name, title in _NAMES.items():
        cells = [_interval(report["scores"][name][when], sign)
                 for when, sign in (("before", ""), ("after", ""), ("difference", "+"))]
        lines.append(f"{title:19s}{cells[0]:26s}{cells[1]:26s}{cells[2]}")
    lines += ["", f"{'error at most':19s}{'probability from':26s}points answered"]
    for row in report["thresholds"]:
        lines.append(f"{row['max_error']:<19g}" + (
            f"{'-':26s}{_why(row)}" if row["threshold"] is None else
            f"{row['threshold']:<26g}{100 * row['answered']:.1f} %"))
    if report["sets"]:
        lines += ["", f"{'coverage':19s}{'mean size of sets':26s}{'with aps':26s}by class"]
        lines += [f"{row['coverage']:<19g}" + "".join(
            f"{row['mean_size'][name]:<26.3f}" for name in ("lac", "aps", "lac_by_class")).rstrip()
            for row in report["sets"]]
    return "\n".join(lines) + "\n"


def _interval(score, sign):
    return f"{score['value']:{sign}.4f} ({score['low']:{sign}.4f} {score['high']:{sign}.4f})"


def _why(row):
    """Why there is no threshold, in short."""
    return row["why"].partition(": ")[2].partition(" (")[0]
