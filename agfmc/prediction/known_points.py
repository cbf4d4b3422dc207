"""Points of known classes, as a decoder answers them before any calibration map.

They are training points that were held out, the points of a `Dataset`, or files of answers.
"""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from ..control.build import to_code
from ..control.tree import Tree
from ..core.answers import Results
from ..core.errors import (
    AgfmcError,
    AgfmcWarning,
    DataError,
    ModelError,
    UsageError,
    warn_user,
)
from ..core.models import HeldOut
from ..core.points import is_sparse
from ..core.probabilities import probability, refuted_probabilities, weights_or_ones
from ..core.splits import of_rows
from ..core.text import listed
from ..data.groups import group_numbers_beside
from ..data.libagf import read_cls, read_con
from ..data.printed import check_answers, read_probabilities
from ..data.types import Dataset
from ..data.weights import read_weights, weights_beside
from ..decode.learned import fit_learned, LearnedFit
from ..models.configuration import Configuration
from .classifier import Classifier
from .decision_values import MachineValues
from .decoding import AUTO, coding_matrix, Decoding, LEARNED_POINTS

_MOST_NUMBERS = 1 << 28  # points times entries of the coding matrix
FEWEST = 1000  # points that are decoded, of any number of entries
_LEARNED_VALUES = 4_000_000  # decision values that a decoder is fitted to, times classes
_HALF_DIGIT = 0.51e-6  # by which a probability in a text is rounded, at most


def map_columns(results: Results) -> tuple[np.ndarray, np.ndarray]:
    """What a map is fitted to: probabilities (n, c) and true columns (n,).

    Where a tree was descended they are (p, 1 - p) of the answer, which is right or wrong.
    """
    if results.p is not None:
        return results.p, results.y
    winner = results.winner
    return np.column_stack([winner, 1 - winner]), np.where(results.result == results.truth, 0, 1)


def answers_alike(one: Results, other: Results) -> bool:
    """Return whether two decoders answer the same but for rounding."""
    p = map_columns(one)[0]
    q = map_columns(other)[0]
    return (
        p.shape == q.shape
        and np.array_equal(one.result, other.result)
        and np.allclose(p, q, 0, 1e-9)
    )


def held_out_answers(
    configuration: Configuration,
    held_out: HeldOut,
    decodings: Mapping[str, Decoding],
    left_out: Sequence[bool] = (False,),
) -> list[dict[str, Results]]:
    """{key: `Results`} of held-out points, of each of these {key: `Decoding`} that suits.

    There is one for each of `left_out`, True where the sigmoids of the classifiers are those
    without the point.
    """
    tree = configuration.tree
    labels = np.array(tree.classes)
    values = HeldOutValues(configuration, held_out)
    classifiers = {}
    parts: dict[tuple, list] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AgfmcWarning)  # of decoders that were not requested
        for key, decoding in decodings.items():
            with suppress(AgfmcError):  # the code does not suit this decoder
                classifiers[key] = Classifier(
                    configuration, _uncalibrated(decoding, tree), values=values
                )
        for start, rows in values.blocks(len(tree.classes)):
            truth = held_out.y[start + rows]
            for without in left_out:
                values.take(without)
                for key, classifier in list(classifiers.items()):
                    try:
                        answers = classifier(rows)
                    except AgfmcError:
                        del classifiers[key]
                        continue
                    part = _answered(answers, truth, classifier)
                    parts.setdefault((key, without), []).append(part)

    def results(blocks):
        fields = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
        return Results(
            held_out.y,
            labels=labels,
            **fields,
            weights=held_out.weights,
            groups=held_out.groups,
            source="held-out points",
        )

    return [{key: results(parts[key, without]) for key in classifiers} for without in left_out]


def learned_answers(configuration: Configuration, held_out: HeldOut) -> Results:
    """`Results` of held-out points by a learned decoder that is fitted to them.

    Raises as `fit_learned_decoder`.
    """
    classes = configuration.tree.classes
    values = HeldOutValues(configuration, held_out)
    most = max(LEARNED_POINTS * len(classes), _LEARNED_VALUES // (values.count * len(classes)))
    chosen = share_of_classes(held_out.y, -(-len(held_out.rows) // most))
    r = np.concatenate(
        [
            values(range(values.count), rows[chosen[start + rows]])[1]
            for start, rows in values.blocks(len(classes))
        ]
    )
    return _by_learned(
        configuration.tree,
        r,
        held_out.y[chosen],
        "held-out points",
        of_rows(held_out.weights, chosen),
        of_rows(held_out.groups, chosen),
    )


def _by_learned(tree, r, truth, source, weights, groups):
    labels = np.array(tree.classes)
    y = np.searchsorted(labels, truth)
    fitted = fit_learned_decoder(tree, r, y, weights, groups)
    return Results(
        truth,
        labels[fitted.p.argmax(axis=1)],
        labels,
        p=fitted.p,
        weights=weights,
        groups=groups,
        source=source,
        learned=fitted.decoder,
    )


def fit_learned_decoder(
    tree: Tree,
    r: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> LearnedFit:
    """Fit a `LearnedDecoder` to held-out decision values r (c, m) of the rows of a tree.

    `y` (c,) are columns of the true classes, labels ascending; `weights` and
    `groups` (c,) are those of the points. p (c, k) of the result is by fits without
    the points. Raises `ModelError` for too many classes and classifiers, and for a multi-class
    node, `DataError` for a class without points.
    """
    if tree.directs:
        raise ModelError(
            "a multi-class node has no decision values that a decoder could be fitted to"
        )
    code = coding_matrix(to_code(tree) if tree.hierarchical else tree)
    return fit_learned(code[:, np.argsort(tree.labels)], r, y, weights=weights, groups=groups)


def _uncalibrated(decoding, tree, kind="binary"):
    """The `Decoding` of points of a kind, without a calibration, priors or costs."""
    stop = AUTO if decoding.descends(tree) else None
    return Decoding(decoding.method, decoding.tree, calibrated=False, stop=stop, points=kind)


def _answered(answers, truth, classifier):
    """Fields of `Results`: the answers, with the probabilities of all classes, or where a tree was
    descended with that of the answer, and `left`."""
    if not classifier.decoding.descends(classifier.tree):
        return {"result": answers.classes, "p": answers.columns}
    y = np.searchsorted(classifier.classes, truth)
    left = answers.columns[np.arange(len(y)), y]
    return {"result": answers.classes, "winner": answers.winner, "left": left}


def share_of_classes(y, stride):
    """A mask (c,): the first point of each class in y (c,), and every one `stride` after it."""
    order = np.argsort(y, kind="stable")
    chosen = np.empty(len(y), dtype=bool)
    chosen[order] = (np.arange(len(y)) - np.searchsorted(y[order], y[order])) % stride == 0
    return chosen


def thinned(held_out, most):
    """Every s-th of the held-out points of each class, so that there are about so many."""
    step = -(-len(held_out.rows) // most)
    if step <= 1:
        return held_out
    chosen = share_of_classes(held_out.y, step)
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


def most_points(tree):
    """The number of points whose probabilities are held in memory, at most."""
    return max(FEWEST, _MOST_NUMBERS // max(1, len(tree.rows) * len(tree.classes)))


class HeldOutValues:
    """Decision values of calibration points, in the place of the classifiers of a `Configuration`.

    Points are numbers of rows of the block that was loaded; `nodes` is {node number: an object with
    probabilities(rows)}.
    """

    has_probabilities = has_decision_values = True
    features = None

    def __init__(self, configuration, held_out):
        self._configuration = configuration
        self._machines = MachineValues(configuration)
        self._held_out = held_out
        self.count = self._machines.count
        self.rows = self._machines.rows
        self.turned = self._machines.turned
        self._start = 0
        self.nodes = {
            number: SimpleNamespace(probabilities=functools.partial(self._of_node, p))
            for number, p in held_out.nodes.items()
        }

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
            self._part = part = slice(*np.searchsorted(held_out.point, (start, stop)))
            self._entries = held_out.point[part] - start, held_out.classifier[part]
            f[self._entries] = held_out.value[part]
            self._f = f
            self.take(False)
        self._start = start
        return np.arange(stop - start)

    def _of_node(self, p, x):
        return p[self._start + x]

    def take(self, left_out):
        """Take the sigmoids of the classifiers, or those without each point."""
        if self.count:
            self._r = self._machines.differences(self._f, range(self.count))
            if left_out:
                self._r[self._entries] = self._left_out[self._part]

    @functools.cached_property
    def _left_out(self):
        return _left_out(self._configuration, self._held_out)

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
    w = weights_or_ones(of_rows(held_out.weights, point), len(f))
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


def answers_of_data(
    configuration: Configuration,
    decoding: Decoding,
    data: Dataset,
    kind: str,
    source: str,
    workers: int = 1,
) -> Results:
    """The `Results` points of a `Dataset`, with its weights; kind: of its `InputFormat`.

    A learned decoder that the configuration lacks is fitted to them.  Raises `DataError` for
    classes that the configuration does not know.
    """
    tree = configuration.tree
    columns_of_data(tree, data, source)
    fits = decoding.decoder.takes == "learned" and not _learned_decoder(configuration)
    if fits:
        decoding = Decoding("binary", points=kind)
    else:
        decoding = _uncalibrated(decoding, tree, kind)
    classifier = Classifier(configuration, decoding)
    answers = classifier.classify(widened(data.x, classifier, kind), workers)
    weights = data.weights and data.weights.w
    if fits:
        return _by_learned(tree, answers.columns, data.y, source, weights, data.groups)
    return Results(
        data.y,
        labels=np.array(tree.classes),
        **_answered(answers, data.y, classifier),
        weights=weights,
        groups=data.groups,
        source=source,
    )


def columns_of_data(tree, data, source):
    """The true columns (n,) of a `Dataset`; `DataError` for classes that the tree does not have."""
    other = [label for label, name in data.name_of.items() if tree.names.get(label, name) != name]
    y = _columns(data.y, tree.classes, source)
    if other:
        raise DataError(
            f"class {other[0]} is '{data.names[other[0]]}', in the model "
            f"'{tree.names[other[0]]}': the labels mean other classes",
            file=source,
        )
    return y


def widened(x, classifier, kind):
    """Points x (n, d) with all features: LIBSVM text may leave the last ones out."""
    x = np.asarray(x)
    missing = (classifier.features or 0) - x.shape[1]
    if kind == "svm" and missing > 0:
        return np.pad(x, [(0, 0), (0, missing)])
    return x


def _learned_decoder(configuration):
    return configuration.calibration and configuration.calibration.learned


def answers_of_files(configuration: Configuration, key: str, base: str) -> Results:
    """The `Results` points in base.truth, .cls, and .raw.txt or .txt, as nfold writes them.

    base.raw.txt has the probabilities before any map, and their classes; base.txt and base.cls
    take its place where it is not there.  Where a tree is descended, the confidence ratings,
    base.raw.con or base.con, are what there is.  Weights of the points are in base.wgt, if it is
    there, and groups in base.grp; points of weight 0 are left out.
    """
    if key == "learned" and not _learned_decoder(configuration):
        raise UsageError(
            "the model has no learned decoder, and the answers of a cross-validation "
            "hold no decision values that one could be fitted to: `data` has"
        )
    classes = np.array(configuration.tree.classes)
    truth = read_cls(f"{base}.truth")
    result = read_cls(f"{base}.cls", n=len(truth))
    for labels, file in (result, f"{base}.cls"), (truth, f"{base}.truth"):
        _columns(labels, classes, file)
    if key.startswith("recursive"):
        ending = "con"
    else:
        ending = "txt"
    if os.path.exists(f"{base}.raw.{ending}"):
        path = f"{base}.raw.{ending}"
    else:
        path = f"{base}.{ending}"
    if ending == "con":
        winner = probability(read_con(path, n=len(truth)), len(classes))
        return _with_weights(Results(truth, result, classes, winner=winner, source=base))
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
    before = path == f"{base}.raw.txt"  # a map may have changed the answers in base.cls
    check_answers(table, result, path, base, others=before)
    problem = refuted_probabilities(table.p)
    if problem:
        raise DataError(f"the values {problem}", file=path)
    if before:
        _columns(table.classes, classes, path)
        result = table.classes
    sums = table.p.sum(axis=1, keepdims=True)  # 1 but for the rounding of the text to six digits
    rounded = np.abs(sums - 1) <= _HALF_DIGIT * len(classes)
    p = table.p / np.where(rounded, sums, 1)
    return _with_weights(Results(truth, result, classes, p=p, source=base))


def _with_weights(results):
    n = len(results.truth)
    results = replace(results, groups=group_numbers_beside(results.source, n))
    path = weights_beside(results.source)
    if path is None:
        return results
    w = read_weights(path, n)
    warn_user(f"the points of {results.source} have the weights in {path}")
    return replace(results, weights=w).chosen(w > 0)


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
