"""Calibration of a configuration: held-out decision values in, a map for each decoder out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

import numpy as np

from ..answers.libagf_text import read_probabilities
from ..calibration.maps import (apply_map, fit_in_training,
                                fit_temperature)
from ..calibration.separate_points import DecodedData, CalibrationResult
from ..calibration.sets import answer_points, calibration_points
from ..calibration.types import Calibration, DecoderCalibration
from ..control.build import to_code, with_heading
from ..control.tree import Tree
from ..core.errors import AgfmcError, AgfmcWarning, DataError, ModelError, UsageError
from ..core.models import HeldOut, LearnedDecoder
from ..core.points import is_sparse
from ..core.probabilities import log_loss, probability
from ..core.text import listed
from ..data.libagf import read_cls, read_con
from ..data.types import Dataset
from ..data.weights import read_weights, weights_beside
from ..decode.ensemble import fit_weights
from ..decode.learned import fit_learned, LearnedFit
from ..learners.program_classifiers import Execution
from ..models.configuration import Configuration
from .classifier import Classifier
from .decision_values import MachineValues
from .decoding import calibrated_decodings, coding_matrix, decoders_of, Decoding, LEARNED_POINTS

# Calibration points times entries of the coding matrix: of decoders that suit it, and least
# squares;  of others;  of those that iterate, which are slow.

_BUDGETS = 1 << 28, 10_000_000, 300_000
_FEWEST, _FEWEST_OF_OTHERS = 1000, 250  # points; others have no map where theirs are fewer
_MOST_OF_OTHERS, _MOST_ITERATED = 2000, 500  # points, which are enough for two numbers
_NO_WEIGHT = 0.01  # of a member, times their number: what is written as 0
_LEARNED_VALUES = 4_000_000  # decision values that a decoder is fitted to, times classes


def calibrated(configuration: Configuration, held_out: HeldOut | None,
               wanted: Sequence[Decoding] | None = None,
               weights: str | None = None) -> Configuration:
    """The configuration with the `Calibration` that is fitted to held-out decision values.

    Without such values it is what it was.  wanted: as for `fit_calibration`;  weights: None, or
    those of the members of an ensemble are learned first.
    """
    if weights is not None:
        configuration = with_learned_weights(configuration, held_out)
    if held_out is None:
        return configuration
    return replace(configuration, calibration=fit_calibration(configuration, held_out, wanted))


def fit_calibration(configuration: Configuration, held_out: HeldOut,
                    wanted: Sequence[Decoding] | None = None, quick: bool = False,
                    losses: dict | None = None) -> Calibration:
    """Fit a map for each decoder that gives numbers for all classes: `fit_in_training`.

    wanted: the only decoders that have one, None for all, and for a learned one where it pays or
    the control tree names it;
    quick: every map is a temperature and a floor, fitted to a thousand points at most, and no
    points are kept;  losses: gets {key: (number of points, their log loss before, after)} of the
    decoders that keep points; where a tree is descended, of the probability that the answer is
    right.  Losses have the weights of the held-out points.

    The points are decoded with the decision values of classifiers that were trained without
    them; nothing is trained again.  The decoders that suit the configuration, and least squares,
    keep the points too, which thresholds and sets are made from: those that had no part in learning
    a metric, if there are such; others have a temperature and a floor in any case.
    """
    tree = configuration.tree
    classes = np.array(tree.classes)
    keeping, all_held_out = set() if quick else _main_decoders(tree), held_out
    held_out = _thinned(held_out, _FEWEST if quick else
                        max(_FEWEST, _BUDGETS[0] // _entries(tree)))
    column = np.searchsorted(classes, held_out.y)
    maps, tried = {}, []
    only = None if wanted is None else {one.calibration_key(tree) for one in wanted}
    for key, (points, p, answer) in held_out_answers(configuration, held_out, only).items():
        true, w = column[points], _weights(held_out, points)
        own = _apart(held_out, points)
        if key.startswith("recursive"):
            true = np.where(answer == true, 0, 1)
            fitted, kept = fit_temperature(p, true, w), None
            mapped = apply_map(fitted, p)
            if key in keeping:
                kept = answer_points(mapped[own, 0], held_out.y[own], true[own] == 0)
        elif key in keeping:
            known = next((one for one in tried if np.allclose(p, one[0], 0, 1e-9)), None)
            fitted, mapped = known[1:] if known else fit_in_training(p, true, weights=w)
            tried.append((p, fitted, mapped))
            answer = answer if fitted.kind == "temperature" else mapped.argmax(axis=1)
            kept = calibration_points(mapped[own], true[own], answer[own], classes)
        else:
            fitted, kept = fit_temperature(p, true, w), None
        if kept is not None and losses is not None:
            their = None if w is None else w[own]
            losses[key] = len(true[own]), log_loss(p[own], true[own], their), \
                log_loss(mapped[own], true[own], their)
        maps[key] = DecoderCalibration(fitted, kept)
    learned = None
    if "learned" in (only if only is not None else {
            one.calibration_key(tree) for one in decoders_of(tree, points=len(all_held_out.rows))}):
        with suppress(AgfmcError):  # too large, or a class without points
            learned, maps["learned"] = _learned(configuration, all_held_out)
    counts = np.bincount(column, minlength=len(classes))
    source = "training points, held out" + ("" if held_out.weights is None else ", weighted")
    return Calibration(configuration.digest(), tuple(tree.classes), source,
                       tuple(counts.tolist()), maps, learned)


def fit_learned_decoder(tree: Tree, r: np.ndarray, y: np.ndarray, seed: int = 1,
                        weights: np.ndarray | None = None) -> LearnedFit:
    """Fit a `LearnedDecoder` to held-out decision values r (c, m) of the rows of a tree.

    y (c,): columns of the true classes, labels ascending;  seed: of the folds;  weights (c,): of
    the points.  p (c, k) of the
    result, by fits without the points, is what a map and calibration points are made of.
    Raises `ModelError` for too many classes and classifiers, and for a multi-class node,
    `DataError` for a class without points.
    """
    if tree.directs:
        raise ModelError("a multi-class node has no decision values that a decoder could be "
                         "fitted to")
    code = coding_matrix(to_code(tree) if tree.hierarchical else tree)
    return fit_learned(code[:, np.argsort(tree.labels)], r, y, seed, weights)


def check_weights(way: str | None, tree: Tree, points: int) -> None:
    """Raise `UsageError`, before the training, where weights cannot be learned; None: none are.

    way: "held-out";  points: the number of those that are held out for calibration.
    """
    if way is None:
        return
    if way != "held-out":
        raise UsageError(f"weights are learned from 'held-out' points, not {way!r}")
    if not tree.is_ensemble:
        raise UsageError("weights are for the members of an ensemble, and this is one "
                         "configuration")
    if not points:
        raise UsageError("weights are learned from samples that are held out for the calibration: "
                         "there are none")


def with_learned_weights(configuration: Configuration, held_out: HeldOut | None) -> Configuration:
    """The ensemble with the weights of its members that have the least log loss of the average.

    They are fitted to the held-out decision values, `fit_weights`, stand in the heading of the
    tree, and are those of any average from then on.  Raises `ModelError` without such values.
    """
    if held_out is None:
        raise ModelError("the weights of its members cannot be learned: not all classifiers have "
                         "decision values of samples that were held out")
    given = HeldOutValues(configuration, held_out)
    classifier = Classifier(configuration, Decoding(calibrated=False), values=given)
    true, size = np.searchsorted(classifier.classes, held_out.y), len(held_out.rows)
    step, parts = given.rows(len(classifier.classes)), []
    for start in range(0, size, step):
        rows = given.load(start, min(start + step, size))
        parts.append(np.stack([p[rows, true[start + rows]] for p in classifier.by_member(rows)]))
    text = _in_words(fit_weights(np.concatenate(parts, axis=1), held_out.weights))
    return replace(configuration, tree=with_heading(configuration.tree, "weights", text))


def _in_words(weights):
    """Numbers with few digits and the sum 1, nearly the weights (M,); the smallest are 0."""
    weights = np.where(weights * len(weights) > _NO_WEIGHT, weights, 0.0)
    digits = 3 + len(str(len(weights)))
    units = np.rint(weights / weights.sum() * 10**digits).astype(np.int64)
    units[units.argmax()] += 10**digits - units.sum()
    return " ".join(f"{Decimal(unit).scaleb(-digits).normalize():f}" for unit in units.tolist())


def _learned(configuration, held_out):
    """A `LearnedDecoder` and its `DecoderCalibration`."""
    classes = np.array(configuration.tree.classes)
    given, size = HeldOutValues(configuration, held_out), len(held_out.rows)
    most = max(LEARNED_POINTS * len(classes), _LEARNED_VALUES // (given.count * len(classes)))
    taken = _share_of_classes(held_out.y, -(-size // most))
    step, parts = given.rows(len(classes)), []
    for start in range(0, size, step):
        rows = given.load(start, min(start + step, size))
        parts.append(given(range(given.count), rows[taken[start + rows]])[1])
    true, w = np.searchsorted(classes, held_out.y[taken]), _weights(held_out, taken)
    own = _apart(held_out, taken)
    fitted = fit_learned_decoder(configuration.tree, np.concatenate(parts), true, weights=w)
    found = fit_temperature(fitted.p, true, w)
    return fitted.decoder, DecoderCalibration(found, calibration_points(
        apply_map(found, fitted.p[own]), true[own], fitted.p[own].argmax(axis=1), classes))


def _apart(held_out, points):
    """Which of some of the held-out points had no part in learning a metric; all if none had."""
    apart = None if held_out.apart is None else held_out.apart[points]
    return slice(None) if apart is None or not apart.any() else apart


def _weights(held_out, points):
    """The weights of some of the held-out points, None where all count alike."""
    return None if held_out.weights is None else held_out.weights[points]


def _share_of_classes(y, stride):
    """True (c,) for the first point of each class in y (c,), and every one `stride` after it."""
    order = np.argsort(y, kind="stable")
    taken = np.empty(len(y), dtype=bool)
    taken[order] = (np.arange(len(y)) - np.searchsorted(y[order], y[order])) % stride == 0
    return taken


def held_out_answers(configuration: Configuration, held_out: HeldOut,
                     only: Collection | None = None) -> dict:
    """{key: (points, p (c', k), answer (c',))} of the calibration points, for decoders that suit.

    points (c',): their numbers, all of them, or fewer for decoders that do not suit the
    configuration, but for those that are wanted;  p: before any map, columns with ascending labels,
    or (p, 1 - p) of the answer where a tree is descended; answer: the column of the class, in the
    order of the labels.  only: keys of those wanted, None for all.
    """
    classes = np.array(configuration.tree.classes)
    given = HeldOutValues(configuration, held_out)
    size, main = len(held_out.rows), _main_decoders(configuration.tree)
    classifiers, taken, parts = {}, {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AgfmcWarning)  # of decoders that nobody asked for
        for key, decoding in calibrated_decodings(configuration.tree).items():
            if decoding.decoder.takes == "learned":
                continue  # its answers to the points that it is fitted to are not held out
            way = "path" if decoding.tree == "recursive" else decoding.tree
            stride = 1 if key in main or only else _stride(
                decoding.decoder, _entries(configuration.tree), size)
            if not stride or only is not None and key not in only:
                continue
            taken[key] = _share_of_classes(held_out.y, stride)
            with suppress(AgfmcError):  # the code does not suit this decoder
                classifiers[key] = Classifier(
                    configuration, replace(decoding, tree=way, calibrated=False), values=given)
        step = given.rows(len(classes))
        for start in range(0, size, step):
            everyone = given.load(start, min(start + step, size))
            for key, classifier in list(classifiers.items()):
                rows = everyone[taken[key][start + everyone]]
                try:
                    answers = classifier(rows)
                except AgfmcError:
                    del classifiers[key]
                    continue
                parts.setdefault(key, []).append((start + rows, answers.columns, answers.classes))
    return {key: _joined(parts[key], classes) for key in classifiers}


def _main_decoders(tree):
    """Keys of the decoders that suit a tree, and of least squares."""
    return {decoding.calibration_key(tree)
            for decoding in (*decoders_of(tree), Decoding(), Decoding(tree="full"))}


def _entries(tree):
    """The number of entries of the coding matrix of a tree."""
    return max(1, len(tree.rows) * len(tree.classes))


def _stride(method, entries, size):
    """s, where such a decoder is given every s-th of the points; 0 where that is too few."""
    few = min(_MOST_ITERATED, _BUDGETS[2] // entries) if method.iterates else \
        min(_MOST_OF_OTHERS, _BUDGETS[1] // entries)
    return 0 if few < min(_FEWEST_OF_OTHERS, size) else -(-size // few)


def _thinned(held_out, most):
    """Every s-th of the held-out points of each class, so that there are about so many."""
    step = -(-len(held_out.rows) // most)
    if step <= 1:
        return held_out
    taken = _share_of_classes(held_out.y, step)
    number = np.cumsum(taken) - 1
    kept = taken[held_out.point]
    return HeldOut(held_out.rows[taken], held_out.y[taken], held_out.x[np.flatnonzero(taken)],
                   number[held_out.point[kept]].astype(np.int32), held_out.classifier[kept],
                   held_out.value[kept],
                   {node: p[taken] for node, p in held_out.nodes.items()},
                   None if held_out.apart is None else held_out.apart[taken],
                   _weights(held_out, taken))


def _joined(parts, classes):
    points, p, answer = map(np.concatenate, zip(*parts))
    if p.shape[1] == 1:
        p = np.column_stack([p, 1.0 - p])
    return points, p, np.searchsorted(classes, answer)


class HeldOutValues:
    """Decision values of calibration points, in the place of the classifiers of a `Configuration`.

    held_out: a `HeldOut`.  Points are numbers of rows of the block that was loaded; nodes: {node
    number: an object with probabilities(rows)}.
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
        return self._machines.rows(k)

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
        if len(columns) == self.count:  # all, in their order
            return self._f[x], self._r[x]
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
_HALF_DIGIT = 0.51e-6  # by which a probability in a text is rounded, at most


# Answers to points


def kept_decodings(configuration: Configuration) -> dict[str, Decoding]:
    """{key: `Decoding`} of the decoders whose calibration points training keeps.

    Those that suit the configuration, in their order, then least squares and, for a tree, full,
    and learned where the model has it.
    """
    tree = configuration.tree
    found: dict[str, Decoding] = {}
    for decoding in (*decoders_of(tree), Decoding(), Decoding(tree="full"),
                     *([Decoding("learned", "flat")] if _learned_decoder(configuration) else [])):
        key = decoding.calibration_key(tree)
        if key is not None:
            found.setdefault(key, decoding)
    return found


def answers_of_data(configuration: Configuration, decoding: Decoding, data: Dataset, kind: str,
                    source: str, workers: int = 1) -> DecodedData:
    """The `DecodedData` points of a `Dataset`, with its weights; kind: of its `InputFormat`.

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
    fits = decoding.decoder.takes == "learned" and not _learned_decoder(configuration)
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
        return DecodedData(fitted.p, y, fitted.p.argmax(axis=1), source, fitted.decoder, weights)
    if p.shape[1] == 1:
        p = np.column_stack([p, 1 - p])
    return DecodedData(p, y, np.searchsorted(tree.classes, answers.classes), source,
                       weights=weights)


def _learned_decoder(configuration):
    """The `LearnedDecoder` of a configuration, or None."""
    return configuration.calibration and configuration.calibration.learned


def answers_of_files(configuration: Configuration, key: str, base: str) -> DecodedData:
    """The `DecodedData` points in base.truth, .cls, and .raw.txt or .txt, as nfold writes them.

    base.raw.txt has the probabilities before any map, and their classes; base.txt and base.cls
    take its place where it is not there.  Where a tree is descended, the confidence ratings,
    base.raw.con or base.con, are what there is.  Weights of the points are in base.wgt, if it is
    there; those of weight 0 are left out.
    """
    if key == "learned" and not _learned_decoder(configuration):
        raise UsageError("the model has no learned decoder, and the answers of a cross-validation "
                         "hold no decision values that one could be fitted to: --data has")
    classes = configuration.tree.classes
    truth = read_cls(f"{base}.truth")
    answer = _columns(read_cls(f"{base}.cls", n=len(truth)), classes, f"{base}.cls")
    y = _columns(truth, classes, f"{base}.truth")
    if key.startswith("recursive"):
        path = _first(f"{base}.raw.con", f"{base}.con")
        p = probability(read_con(path, n=len(truth)), len(classes))
        return _with_weights(DecodedData(np.column_stack([p, 1 - p]), y, answer, base))
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
    return _with_weights(DecodedData(table.p / np.where(rounded, sums, 1), y, answer, base))


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


# A calibration with other entries


def with_decoders(configuration: Configuration, found: dict[str, CalibrationResult], y: np.ndarray,
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
