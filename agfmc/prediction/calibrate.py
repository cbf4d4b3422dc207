"""Calibration of a configuration: held-out decision values in, a map for each decoder out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import compress
from types import MappingProxyType

import numpy as np

from ..calibration.maps import apply_map, fit_in_training, fit_temperature
from ..calibration.separate_points import CalibrationResult, DecodedData, mapped_points, recalibrate
from ..calibration.types import Calibration, DecoderCalibration
from ..control.build import to_code, with_heading
from ..control.tree import changed, Tree, TREE_DECODERS
from ..core.errors import AgfmcError, AgfmcWarning, DataError, ModelError, UsageError, warn_user
from ..core.models import HeldOut, LearnedDecoder
from ..core.points import is_sparse
from ..core.probabilities import log_loss, probability, refuted_probabilities, SMALLEST
from ..core.splits import FOLDS, of_rows
from ..core.text import listed
from ..data.groups import group_numbers_beside
from ..data.printed import read_probabilities
from ..data.libagf import read_cls, read_con
from ..data.types import Dataset
from ..data.weights import read_weights, weights_beside
from ..decode.ensemble import average, fit_weights
from ..decode.learned import fit_learned, LearnedFit
from ..learners.programs import Execution
from ..models.configuration import Configuration
from ..models.join import join_members, members_of
from .classifier import Classifier
from .decision_values import MachineValues
from .decoding import (
    AUTO,
    calibrated_decodings,
    coding_matrix,
    decoders_of,
    Decoding,
    LEARNED_POINTS,
)

# Calibration points times entries of the coding matrix: of decoders that suit it, and least
# squares;  of others;  of those that iterate, which are slow.
_BUDGETS = 1 << 28, 10_000_000, 300_000
_FEWEST, _FEWEST_OF_OTHERS = 1000, 250  # points; others have no map where theirs are fewer
_MOST_OF_OTHERS, _MOST_ITERATED = 2000, 500  # points, which are enough for two numbers
_LEAST_WEIGHT = 0.02  # of a member, or half of an equal share where that is less
_LEARNED_VALUES = 4_000_000  # decision values that a decoder is fitted to, times classes
_HALF_DIGIT = 0.51e-6  # by which a probability in a text is rounded, at most


def calibrated(
    configuration: Configuration,
    held_out: HeldOut | None,
    requested: Sequence[Decoding] | None = None,
    weights: str | None = None,
    chooses: bool = False,
) -> Configuration:
    """The configuration with the `Calibration` that is fitted to held-out decision values.

    Without such values it is what it was. `requested` is as for `fit_calibration`; with `weights`
    those of the members of an ensemble are learned first. With `chooses` the tree names the learned
    decoder where that has the least log loss of the points held out.
    """
    if weights is not None:
        configuration, held_out = with_learned_weights(configuration, held_out)
    if held_out is None:
        return configuration
    tree = configuration.tree
    losses = {}
    calibration = fit_calibration(configuration, held_out, requested, losses=losses)
    if chooses and min(losses, key=lambda key: losses[key][-1], default="") == "learned":
        tree = with_heading(tree, "decoder", "learned")
    return replace(configuration, tree=tree, calibration=calibration)


def fit_calibration(
    configuration: Configuration,
    held_out: HeldOut,
    requested: Sequence[Decoding] | None = None,
    quick: bool = False,
    losses: dict | None = None,
) -> Calibration:
    """Fit a map for each decoder that gives numbers for all classes: `fit_in_training`.

    The points are decoded with the decision values of classifiers that were trained without them;
    nothing is trained again. The decoders that suit the configuration, and least squares, keep the
    points too, which thresholds and sets are made from; others have a temperature and a floor in any
    case. As the sigmoids of the classifiers were fitted to these points, each is stored as sigmoids
    without it would answer it.

    Parameters
    ----------
    requested : sequence, optional, the only decoders that have a map, None for all, and for a
        learned one where it pays or the control tree names it
    quick : bool, every map is a temperature and a floor, fitted to a thousand points at most, and
        no points are stored
    losses : dict, optional
        Gets {key: (number of points, their log loss before, after)} of the decoders that store
        points; where a tree is descended, of the probability that the answer is right.
    """
    tree = configuration.tree
    classes = np.array(tree.classes)
    if quick:
        keeping = {}
    else:
        keeping = _main_decodings(tree)
    points = _thinned(held_out, _FEWEST if quick else _most_points(tree))
    column = np.searchsorted(classes, points.y)
    maps = {}
    tried = []
    if requested is None:
        only = None
    else:
        only = {one.calibration_key(tree) for one in requested}
    if keeping:
        left_out = held_out_answers(
            configuration,
            points,
            set(keeping).intersection(keeping if only is None else only),
            True,
        )
    else:
        left_out = {}
    for key, (rows, p, answer, _) in held_out_answers(configuration, points, only).items():
        y = column[rows]
        w = of_rows(points.weights, rows)
        groups = of_rows(points.groups, rows)
        if key.startswith("recursive"):
            true = np.where(answer == y, 0, 1)
        else:
            true = y
        if key not in keeping:
            maps[key] = DecoderCalibration(fit_temperature(p, true, w))
            continue
        if key.startswith("recursive"):
            fitted = fit_temperature(p, true, w)
            mapped = partial(apply_map, fitted)
        else:
            known = next((one for one in tried if np.allclose(p, one[0], 0, 1e-9)), None)
            fitted, mapped = (
                known[1:] if known else fit_in_training(p, true, weights=w, groups=groups)
            )
            tried.append((p, fitted, mapped))
        _, q, answer, left = left_out[key]
        maps[key] = DecoderCalibration(
            fitted,
            mapped_points(mapped(q), y, answer, fitted.kind, key, classes, left)[0],
        )
        if losses is not None:
            losses[key] = (
                len(true),
                *(log_loss(q, true, w) for q in (p, mapped(p))),
            )
    learned = None
    if "learned" in (
        only
        if only is not None
        else {one.calibration_key(tree) for one in decoders_of(tree, points=len(held_out.rows))}
    ):
        with suppress(AgfmcError):  # too large, or a class without points
            learned, maps["learned"] = _learned(configuration, held_out, losses)
    counts = np.bincount(column, minlength=len(classes))
    source = "training points, held out" + ("" if points.weights is None else ", weighted")
    return Calibration(
        configuration.digest(), tuple(tree.classes), source, tuple(counts.tolist()), maps, learned
    )


def fit_learned_decoder(
    tree: Tree,
    r: np.ndarray,
    y: np.ndarray,
    seed: int = 1,
    weights: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> LearnedFit:
    """Fit a `LearnedDecoder` to held-out decision values r (c, m) of the rows of a tree.

    `y` (c,) are columns of the true classes, labels ascending; `seed` is that of the folds;
    `weights` and `groups` (c,) are those of the points. p (c, k) of the result is by fits without
    the points. Raises `ModelError` for too many classes and classifiers, and for a multi-class
    node, `DataError` for a class without points.
    """
    if tree.directs:
        raise ModelError(
            "a multi-class node has no decision values that a decoder could be fitted to"
        )
    code = coding_matrix(to_code(tree) if tree.hierarchical else tree)
    return fit_learned(code[:, np.argsort(tree.labels)], r, y, seed, weights, groups)


def check_weights(way: str | None, tree: Tree, points: int) -> None:
    """Raise `UsageError`, before the training, where weights of members cannot be learned.

    `way` is "held-out", or None where nothing is learned; `points` are held out for calibration.
    """
    if way is None:
        return
    if way != "held-out":
        raise UsageError(f"weights are learned from 'held-out' points, not {way!r}")
    if not tree.is_ensemble:
        raise UsageError(
            "weights are for the members of an ensemble, and this is one configuration"
        )
    if not points:
        raise UsageError(
            "weights are learned from samples that are held out for the calibration: there are none"
        )


def with_learned_weights(
    configuration: Configuration, held_out: HeldOut | None
) -> tuple[Configuration, HeldOut]:
    """The ensemble with weights of its members that suit its held-out decision values.

    They stand in the heading of the tree, and are those of any average from then on.  Members of
    small weights are left out, of the values too.  Raises `ModelError` without such values.
    """
    if held_out is None:
        raise ModelError(
            "the weights of its members cannot be learned: not all classifiers have "
            "decision values of samples that were held out"
        )
    points = _thinned(held_out, _most_points(configuration.tree))
    values = HeldOutValues(configuration, points)
    classifier = Classifier(configuration, Decoding(calibrated=False), values=values)
    parts = [classifier.by_member(rows) for _, rows in values.blocks(len(classifier.classes))]
    true = np.searchsorted(classifier.classes, points.y)
    weighed, remaining = _weighed(configuration, parts, true, points.weights)
    if len(remaining) == len(configuration.tree.roots):
        return weighed, held_out
    owner = [
        number for number, member in enumerate(configuration.tree.members) for _ in member.rows
    ]
    rows = np.flatnonzero(np.isin(owner, remaining))
    nodes = [
        number
        for member in remaining
        for number in range(len(configuration.tree.nodes))[configuration.tree.parts[member]]
    ]
    some = np.isin(held_out.classifier, rows)
    return weighed, replace(
        held_out,
        point=held_out.point[some],
        value=held_out.value[some],
        classifier=np.searchsorted(rows, held_out.classifier[some]).astype(np.int32),
        nodes={nodes.index(number): p for number, p in held_out.nodes.items() if number in nodes},
    )


def weighed_by_data(
    configuration: Configuration, data: Dataset, kind: str, source: str
) -> tuple[Configuration, list[int]]:
    """The ensemble with weights as of `with_learned_weights`, from points that no member has seen.

    Returns it with the numbers of the members that stay. `kind` and `source` are as for
    `answers_of_data`.
    """
    y = _true_columns(configuration.tree, data, source)
    classifier = Classifier(configuration, Decoding(calibrated=False), Execution(kind))
    chosen = np.flatnonzero(_share_of_classes(y, -(-len(y) // _most_points(configuration.tree))))
    x = _widened(data.x, classifier, kind)
    step = classifier.rows
    parts = [
        classifier.by_member(x[chosen[start : start + step]])
        for start in range(0, len(chosen), step)
    ]
    return _weighed(configuration, parts, y[chosen], data.weights and data.weights.w[chosen])


def _most_points(tree):
    """The number of points whose probabilities are held in memory, at most."""
    return max(_FEWEST, _BUDGETS[0] // _entries(tree))


def _weighed(configuration, parts, y, w):
    """The ensemble with the weights that suit points, and the numbers of the members that stay.

    parts: of each block of points, p (n, k) of each member;  y, w: true columns and weights of all
    points.  Members with the same kind and options, such as random trees, keep their proportions
    and are judged by their average, with the temperature that suits it: averages are not equally
    sure of themselves.  The weights are halfway between those before and `fit_weights`, which
    alone overfits the points.
    """
    old = configuration.tree
    tree = configuration.tree
    members = members_of(configuration)
    before = np.maximum(old.weights, SMALLEST)
    alike: dict = {}
    for number, member in enumerate(members):
        options = frozenset(made.options for made in member.provenances)
        alike.setdefault((member.tree.kind, options), []).append(number)
    if len(alike) > 1:
        units = list(alike.values())
    else:
        units = [[number] for number in range(len(members))]
    p = np.stack(
        [
            _true_probabilities(
                average(
                    (np.concatenate([block[number] for block in parts]) for number in unit),
                    before[unit] / before[unit].sum(),
                ),
                y,
                w,
            )
            for unit in units
        ]
    )
    stay = fit_weights(p, w) >= min(_LEAST_WEIGHT, 0.5 / len(p))
    shares = np.array([before[unit].sum() for unit in units])[stay]
    factors = fit_weights(p[stay], w) / shares + 1 / shares.sum()
    factor = {
        number: factor for unit, factor in zip(compress(units, stay), factors) for number in unit
    }
    remaining = sorted(factor)
    if len(remaining) < len(members):
        configuration = join_members([members[number] for number in remaining], None)
        average_only = len(remaining) == 1 and TREE_DECODERS.get(old.decoder) == "ensembles"
        tree = changed(
            configuration.tree,
            source=old.source,
            headings={
                word: heading
                for word, heading in old.headings.items()
                if word != "weights" and not (word == "decoder" and average_only)
            },
        )
        if len(remaining) == 1 and tree.hierarchical and tree.decoder is None:
            tree = with_heading(tree, "decoder", "full")  # all probabilities, as an average has
    if tree.is_ensemble:
        tree = with_heading(
            tree,
            "weights",
            _in_words(np.array([before[number] * factor[number] for number in remaining])),
        )
    return replace(configuration, tree=tree), remaining


def _true_probabilities(p, y, w):
    """The probabilities (n,) of the true columns y, after the temperature that suits p (n, k)."""
    return apply_map(fit_temperature(p, y, w), p)[np.arange(len(y)), y]


def _in_words(weights):
    """Numbers with few digits and the sum 1, nearly the weights (M,)."""
    digits = 3 + len(str(len(weights)))
    units = np.rint(weights / weights.sum() * 10**digits).astype(np.int64)
    units[units.argmax()] += 10**digits - units.sum()
    return " ".join(f"{Decimal(unit).scaleb(-digits).normalize():f}" for unit in units.tolist())


def _learned(configuration, held_out, losses):
    classes = np.array(configuration.tree.classes)
    size = len(held_out.rows)
    values = HeldOutValues(configuration, held_out)
    most = max(LEARNED_POINTS * len(classes), _LEARNED_VALUES // (values.count * len(classes)))
    chosen = _share_of_classes(held_out.y, -(-size // most))
    r = np.concatenate(
        [
            values(range(values.count), rows[chosen[start + rows]])[1]
            for start, rows in values.blocks(len(classes))
        ]
    )
    true = np.searchsorted(classes, held_out.y[chosen])
    w = of_rows(held_out.weights, chosen)
    fitted = fit_learned_decoder(
        configuration.tree, r, true, weights=w, groups=of_rows(held_out.groups, chosen)
    )
    temperature = fit_temperature(fitted.p, true, w)
    p = fitted.p
    mapped = apply_map(temperature, p)
    if losses is not None:
        losses["learned"] = len(true), log_loss(p, true, w), log_loss(mapped, true, w)
    return fitted.decoder, DecoderCalibration(
        temperature,
        mapped_points(mapped, true, p.argmax(axis=1), "temperature", "learned", classes)[0],
    )


def _share_of_classes(y, stride):
    """A mask (c,): the first point of each class in y (c,), and every one `stride` after it."""
    order = np.argsort(y, kind="stable")
    chosen = np.empty(len(y), dtype=bool)
    chosen[order] = (np.arange(len(y)) - np.searchsorted(y[order], y[order])) % stride == 0
    return chosen


def _thinned(held_out, most):
    """Every s-th of the held-out points of each class, so that there are about so many."""
    step = -(-len(held_out.rows) // most)
    if step <= 1:
        return held_out
    chosen = _share_of_classes(held_out.y, step)
    number = np.cumsum(chosen) - 1
    values = chosen[held_out.point]
    return HeldOut(
        held_out.rows[chosen],
        held_out.y[chosen],
        held_out.x[np.flatnonzero(chosen)],
        number[held_out.point[values]].astype(np.int32),
        held_out.classifier[values],
        held_out.value[values],
        {node: p[chosen] for node, p in held_out.nodes.items()},
        of_rows(held_out.weights, chosen),
        of_rows(held_out.groups, chosen),
    )


def held_out_answers(
    configuration: Configuration,
    held_out: HeldOut,
    only: Collection | None = None,
    left_out: bool = False,
) -> dict:
    """{key: (points, p (c', k), answer (c',), left)} of the calibration points, for decoders that
    suit.

    points (c',) are their numbers, fewer than all for decoders that do not suit the configuration
    and are not requested; p is before any map, columns with ascending labels, or (p, 1 - p) of the
    answer where a tree is descended; answer is the column of the class; left (c',) is as in
    `CalibrationPoints`. `only` has the keys of the requested decoders, None for all. With
    `left_out` the sigmoids of the classifiers are those without the point.
    """
    tree = configuration.tree
    size = len(held_out.rows)
    values = HeldOutValues(configuration, held_out, left_out)
    main = _main_decodings(tree)
    classifiers = {}
    chosen = {}
    parts = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AgfmcWarning)  # of decoders that were not requested
        for key, decoding in calibrated_decodings(tree).items():
            # a learned decoder's answers to the points that it is fitted to are not held out
            if decoding.decoder.takes == "learned" or only is not None and key not in only:
                continue
            if key in main or only:
                stride = 1
            else:
                stride = _stride(decoding.decoder, _entries(tree), size)
            if stride:
                chosen[key] = _share_of_classes(held_out.y, stride)
                with suppress(AgfmcError):  # the code does not suit this decoder
                    classifiers[key] = Classifier(
                        configuration, _uncalibrated(decoding, tree), values=values
                    )
        for start, everyone in values.blocks(len(tree.classes)):
            for key, classifier in list(classifiers.items()):
                rows = everyone[chosen[key][start + everyone]]
                try:
                    answers = classifier(rows)
                except AgfmcError:
                    del classifiers[key]
                    continue
                y = np.searchsorted(tree.classes, held_out.y[start + rows])
                parts.setdefault(key, []).append((start + rows, *_answered(answers, y, classifier)))
    return {
        key: tuple(None if part[0] is None else np.concatenate(part) for part in zip(*parts[key]))
        for key in classifiers
    }


def _uncalibrated(decoding, tree):
    return replace(decoding, stop=AUTO if decoding.descends(tree) else None, calibrated=False)


def _answered(answers, y, classifier):
    """p (n, k), or (p, 1 - p) of the answer, its column, and `left` (n,), of true columns y."""
    p = answers.columns
    left = None
    answer = np.searchsorted(classifier.classes, answers.classes)
    if classifier.decoding.descends(classifier.tree):
        p, left = _two_columns(answers.winner), p[np.arange(len(y)), y]
    return p, answer, left


def _two_columns(p):
    """(p, 1 - p) (n, 2) of p (n,)."""
    return np.column_stack([p, 1 - p])


def _main_decodings(tree):
    """{key: `Decoding`} of the decoders that suit a tree, and of least squares, in their order."""
    decodings = {}
    for decoding in (*decoders_of(tree), Decoding(), Decoding(tree="full")):
        decodings.setdefault(decoding.calibration_key(tree), decoding)
    decodings.pop(None, None)
    return decodings


def _entries(tree):
    return max(1, len(tree.rows) * len(tree.classes))


def _stride(method, entries, size):
    """s, where such a decoder is given every s-th of the points; 0 where that is too few."""
    if method.iterates:
        few = min(_MOST_ITERATED, _BUDGETS[2] // entries)
    else:
        few = min(_MOST_OF_OTHERS, _BUDGETS[1] // entries)
    if few < min(_FEWEST_OF_OTHERS, size):
        return 0
    return -(-size // few)


class HeldOutValues:
    """Decision values of calibration points, in the place of the classifiers of a `Configuration`.

    Points are numbers of rows of the block that was loaded; `nodes` is {node number: an object with
    probabilities(rows)}. `left_out` is as for `held_out_answers`.
    """

    has_probabilities = has_decision_values = True
    features = None

    def __init__(self, configuration, held_out, left_out=False):
        if left_out:
            self._left_out = _left_out(configuration, held_out)
        else:
            self._left_out = None
        self._machines = MachineValues(configuration)
        self._held_out = held_out
        self.count = self._machines.count
        self.rows = self._machines.rows
        self.turned = self._machines.turned
        self.nodes = {number: _HeldOutNode(p) for number, p in held_out.nodes.items()}

    def load(self, start, stop):
        """Take the points from start to stop; -> their numbers (n,)."""
        held_out = self._held_out
        everyone = range(self.count)
        if self.count:
            if len(held_out.value) == self.count * len(held_out.rows):  # all were held out by all
                f = np.empty((stop - start, self.count))
            else:
                x = held_out.x[start:stop]
                if not (self._machines.takes_sparse and is_sparse(x)):
                    x = np.asarray(x, dtype=np.float64)
                f = np.array(self._machines(everyone, x)[0])
            part = slice(*np.searchsorted(held_out.point, (start, stop)))
            entries = held_out.point[part] - start, held_out.classifier[part]
            f[entries] = held_out.value[part]
            self._f, self._r = f, self._machines.differences(f, everyone)
            if self._left_out is not None:
                self._r[entries] = self._left_out[part]
        for node in self.nodes.values():
            node.start = start
        return np.arange(stop - start)

    def blocks(self, k):
        """Load the points block by block, for k classes; yield (the first, numbers (n,))."""
        size = len(self._held_out.rows)
        step = self.rows(k)
        for start in range(0, size, step):
            yield start, self.load(start, min(start + step, size))

    def prepared(self, x):
        """The numbers as they are."""
        return x

    def __call__(self, columns, x):
        """f and r, (n, m'), of the classifiers `columns` for points x, numbers of rows."""
        if len(columns) == self.count:  # all, in their order
            return self._f[x], self._r[x]
        return self._f[x][:, list(columns)], self._r[x][:, list(columns)]


def _left_out(configuration, held_out):
    """r (e,) of the held-out values by sigmoids that are fitted without their point, or its group.

    Nearly: one Newton step from the sigmoid of all points. K. R. Rad and A. Maleki, "A scalable
    estimate of the out-of-sample prediction error via approximate leave-one-out cross-validation",
    JRSS B 82, 2020. Classifiers that give probabilities themselves have no sigmoid that was fitted.
    """
    machines = configuration.machines
    f = held_out.value
    row = held_out.classifier
    point = held_out.point
    classes = configuration.tree.classes
    column = {label: number for number, label in enumerate(classes)}
    on_right = [
        number * len(classes) + column[label]  # of all classifiers and classes
        for number, (_, side) in enumerate(configuration.tree.sides())
        for label in side
    ]
    right = np.isin(
        row * np.int64(len(classes)) + np.searchsorted(classes, held_out.y)[point], on_right
    )
    if held_out.weights is None:
        w = np.ones(len(f))
    else:
        w = held_out.weights[point]
    if held_out.groups is None:
        groups = np.arange(len(held_out.y))
    else:
        groups = np.unique(held_out.groups, return_inverse=True)[1]
    together = np.unique(row * np.int64(len(groups)) + groups[point], return_inverse=True)[1]
    many, of_right = (np.bincount(row, part)[row] for part in (w, w * right))
    target = np.where(right, (of_right + 1) / (of_right + 2), 1 / (many - of_right + 2))
    a = machines.a[row]
    b = machines.b[row]
    z = 2 * (a * f + b)
    p = (1 + np.tanh(z / 2)) / 2
    curve = w * p * (1 - p)
    slope = w * (p - target)
    h = [np.bincount(row, curve * f**power)[row] for power in range(3)]
    whole = h[0] * h[2] - h[1] ** 2
    h = [part - np.bincount(together, curve * f**power)[together] for power, part in enumerate(h)]
    g0, g1 = (np.bincount(together, slope * f**power)[together] for power in range(2))
    step = (h[0] * g1 - h[1] * g0) * f + h[2] * g0 - h[1] * g1
    step /= np.maximum(h[0] * h[2] - h[1] ** 2, 0.01 * whole + 1e-300)
    fitted = (a != 0) & ((abs(a) != 0.5) | (b != 0))
    return np.tanh((z + np.where(fitted, step, 0)) / 2)


class _HeldOutNode:
    """Probabilities p (c, branches) of all calibration points by a multi-class node."""

    start = 0

    def __init__(self, p):
        self._p = p

    def probabilities(self, x):
        return self._p[self.start + x]


def stored_decodings(configuration: Configuration) -> dict[str, Decoding]:
    """{key: `Decoding`} of the decoders whose calibration points training stores.

    Those that suit the configuration, in their order, then least squares and, for a tree, full,
    and learned where the model has it.
    """
    tree = configuration.tree
    decodings = _main_decodings(tree)
    if _learned_decoder(configuration):
        learned = Decoding("learned", "flat")
        decodings.setdefault(learned.calibration_key(tree), learned)
    return decodings


def answers_of_data(
    configuration: Configuration,
    decoding: Decoding,
    data: Dataset,
    kind: str,
    source: str,
    workers: int = 1,
) -> DecodedData:
    """The `DecodedData` points of a `Dataset`, with its weights; kind: of its `InputFormat`.

    A learned decoder that the configuration lacks is fitted to them.  Raises `DataError` for
    classes that the configuration does not know.
    """
    tree = configuration.tree
    y = _true_columns(tree, data, source)
    fits = decoding.decoder.takes == "learned" and not _learned_decoder(configuration)
    classifier = Classifier(
        configuration,
        Decoding("binary") if fits else _uncalibrated(decoding, tree),
        Execution(kind),
    )
    answers = classifier.classify(_widened(data.x, classifier, kind), workers)
    weights = data.weights and data.weights.w
    learned = None
    left = None
    if fits:
        learned, p, *_ = fit_learned_decoder(
            tree, answers.columns, y, weights=weights, groups=data.groups
        )
        answer = p.argmax(axis=1)
    else:
        p, answer, left = _answered(answers, y, classifier)
    return DecodedData(p, y, answer, source, learned, weights, left, data.groups)


def _true_columns(tree, data, source):
    other = [label for label, name in data.name_of.items() if tree.names.get(label, name) != name]
    y = _columns(data.y, tree.classes, source)
    if other:
        raise DataError(
            f"class {other[0]} is '{data.names[other[0]]}', in the model "
            f"'{tree.names[other[0]]}': the labels mean other classes",
            file=source,
        )
    return y


def _widened(x, classifier, kind):
    """Points x (n, d) with all features: LIBSVM text may leave the last ones out."""
    x = np.asarray(x)
    missing = (classifier.features or 0) - x.shape[1]
    if kind == "svm" and missing > 0:
        return np.pad(x, [(0, 0), (0, missing)])
    return x


def _learned_decoder(configuration):
    return configuration.calibration and configuration.calibration.learned


def answers_of_files(configuration: Configuration, key: str, base: str) -> DecodedData:
    """The `DecodedData` points in base.truth, .cls, and .raw.txt or .txt, as nfold writes them.

    base.raw.txt has the probabilities before any map, and their classes; base.txt and base.cls
    take its place where it is not there.  Where a tree is descended, the confidence ratings,
    base.raw.con or base.con, are what there is.  Weights of the points are in base.wgt, if it is
    there, and groups in base.grp; points of weight 0 are left out.
    """
    if key == "learned" and not _learned_decoder(configuration):
        raise UsageError(
            "the model has no learned decoder, and the answers of a cross-validation "
            "hold no decision values that one could be fitted to: --data has"
        )
    classes = np.array(configuration.tree.classes)
    truth = read_cls(f"{base}.truth")
    answer = _columns(read_cls(f"{base}.cls", n=len(truth)), classes, f"{base}.cls")
    y = _columns(truth, classes, f"{base}.truth")
    if key.startswith("recursive"):
        ending = "con"
    else:
        ending = "txt"
    if os.path.exists(f"{base}.raw.{ending}"):
        path = f"{base}.raw.{ending}"
    else:
        path = f"{base}.{ending}"
    if ending == "con":
        p = _two_columns(probability(read_con(path, n=len(truth)), len(classes)))
        return _with_weights(DecodedData(p, y, answer, base))
    table = read_probabilities(path)
    labels = table.labels
    if (
        table.p.shape[1] != len(classes)
        or labels is not None
        and not np.array_equal(labels, classes)
    ):
        raise DataError(
            f"has probabilities of {table.p.shape[1]} classes"
            + ("" if labels is None else f" ({listed(labels.tolist())})")
            + f", the model has {len(classes)} ({listed(classes)})",
            file=path,
        )
    if len(table.p) != len(truth):
        raise DataError(
            f"has {len(table.p)} rows of probabilities, but there are {len(truth)} points",
            file=path,
        )
    problem = refuted_probabilities(table.p)
    if problem:
        raise DataError(f"the values {problem}", file=path)
    if path == f"{base}.raw.txt":  # a map may have changed the answers in base.cls
        answer = _columns(table.classes, classes, path)
    elif (wrong := table.classes != classes[answer]).any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"the class of row {row + 1} is {table.classes[row]}, but "
            f"{classes[answer[row]]} in {base}.cls: they are not of one run",
            file=path,
        )
    sums = table.p.sum(axis=1, keepdims=True)  # 1 but for the rounding of the text to six digits
    rounded = np.abs(sums - 1) <= _HALF_DIGIT * len(classes)
    return _with_weights(DecodedData(table.p / np.where(rounded, sums, 1), y, answer, base))


def _with_weights(decoded):
    decoded = replace(decoded, groups=group_numbers_beside(decoded.source, len(decoded.y)))
    path = weights_beside(decoded.source)
    if path is None:
        return decoded
    w = read_weights(path, len(decoded.y))
    warn_user(f"the points of {decoded.source} have the weights in {path}")
    part = w > 0
    return replace(
        decoded,
        p=decoded.p[part],
        y=decoded.y[part],
        answer=decoded.answer[part],
        weights=w[part],
        groups=of_rows(decoded.groups, part),
    )


def _columns(labels, classes, source):
    column = np.searchsorted(classes, labels).clip(0, len(classes) - 1)
    strange = np.asarray(classes)[column] != labels
    if strange.any():
        raise DataError(
            f"holds class {labels[np.argmax(strange)]}, which is not one of the "
            f"classes of the model ({listed(classes)})",
            file=source,
        )
    return column


def recalibrated(
    configuration: Configuration,
    answers: Iterable[tuple[str, DecodedData]],
    kind: str = "auto",
    seed: int = 1,
    folds: int = FOLDS,
    stored: Mapping = MappingProxyType({}),
) -> tuple[Configuration, list[dict]]:
    """The configuration with maps of decoders fitted to holdout points, and reports on them.

    `answers` are (key of a decoder, its `DecodedData`), and `stored` {key: `DecoderCalibration`}
    that the reports compare. The other arguments are as for `recalibrate`.
    """
    results: dict[str, CalibrationResult] = {}
    fitted: dict[str, DecodedData] = {}
    for key, answered in answers:
        known = next((other for other, one in fitted.items() if one.same(answered)), None)
        if known is None:
            fitted[key] = answered
            results[key] = recalibrate(
                answered,
                key,
                configuration.tree.classes,
                kind,
                seed,
                folds,
                stored[key].map if key in stored else None,
            )
        else:
            results[key] = results[known].of(key)
    return with_decoders(configuration, results, answered.y, answered.learned), [
        one.report for one in results.values()
    ]


def with_decoders(
    configuration: Configuration,
    results: dict[str, CalibrationResult],
    y: np.ndarray,
    learned: LearnedDecoder | None = None,
) -> Configuration:
    """The configuration whose calibration has these entries in place of its own.

    `y` (n,) are columns of the classes of their points, which the calibration counts where it has
    none yet; `learned` takes the place of the one in the calibration.
    """
    old = configuration.calibration
    classes = configuration.tree.classes
    if old is None:
        counts = tuple(np.bincount(y, minlength=len(classes)).tolist())
        old = Calibration(configuration.digest(), tuple(classes), "", counts, {})
    # of each decoder the last source alone
    sources = [
        part for part in old.source.split("; ") if part and part.partition(": ")[0] not in results
    ]
    sources += [
        f"{key}: {one.report['points']} "
        + ("weighted " if "sum_of_weights" in one.report else "")
        + "points of "
        + one.report["source"].replace(";", ",")
        for key, one in results.items()
    ]
    decoders = {**old.decoders, **{key: one.calibration for key, one in results.items()}}
    return replace(
        configuration,
        calibration=replace(
            old, source="; ".join(sources), decoders=decoders, learned=learned or old.learned
        ),
    )
