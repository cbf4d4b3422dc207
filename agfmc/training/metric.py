"""Learning of a metric: a linear map of the features after which a kernel fits the classes.

A machine with a row for each class (one-vs-rest), least squares on landmarks as of
`landmarks.learner`, is trained on the points; `landmarks.gradients` makes the metric M of its
gradients; the points become x M^(1/2), and the machine is trained again, for some rounds.  The map
is a normalisation, and any learner can follow.
"""

from __future__ import annotations

import itertools
import math
import os
import re
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

from ..core.errors import AgfmcWarning, DataError, UsageError, warn_user
from ..core.memory import memory_limit
from ..core.kernels import kernel_word
from ..core.models import Kernel
from ..core.points import has_missing, packed
from ..core.probabilities import mean, standard_error
from ..core.splits import of_rows, split_stratified, stratified_parts, stratified_sample
from ..data.libagf import read_std
from ..data.metric_file import metric_path
from ..data.normalisation import (
    blocks,
    feature_names,
    fit_normalisation,
    LearnedMetric,
    moments,
    Normalisation,
)
from ..data.types import Dataset
from ..executors.remote import threads_here
from ..executors.threads import run_tasks
from ..landmarks.features import Landmarks
from ..landmarks.gradients import gradient_products, metric_of, WITH_GRADIENT
from ..landmarks.learner import NystromOptions, Ridge, RidgeSearch
from ..learners.options import scan
from ..learners.platt import fit_sigmoid

MOST_ROUNDS = 3  # that are tried where the number is not given
FEWEST = 30  # points; of fewer a metric is hardly more than chance
LANDMARKS = 1000  # by default; more change little
_POINTS = 10_000  # of a machine, of which more make hardly another metric
_VALUES = 1 << 25  # in their table, at most
_JUDGED = 1000  # points that lambda is judged by
_TRIED, _TRIED_LANDMARKS = 2500, 500  # points and landmarks where gamma, or rounds, are tried
_VARIANCES = 0.5, 1.0, 2.0, 4.0  # gamma, times the total variance of the points
_PARTS = 3  # in which numbers of rounds are tried
_PAIRS, _PAIR_LANDMARKS = 60, 300  # pairs of classes that judge, and landmarks
_RIDGES = 0.1, 0.01, 1.0  # lambda of the pairs
_BLOCK = 1024  # points for one product
_GRADIENTS, _FEW_GRADIENTS = 2000, 200  # points whose gradients are taken, at most and at least,
_WORK = 2e10  # as many as take so many multiplications
_TABLES, _LANDMARK_TABLES = 6, 5  # of d x d, and of p x p numbers that are in memory together
_FLOOR = 0.02  # share of the unit matrix in a metric
_GAMMAS = 1e-9, 1e9  # beyond, all kernel values are 0 or all are 1
_MANY = 2000  # features
_FAINT = 1e-20  # part of the squares of values, a variance below which is rounding
_EACH_CLASS = 5  # landmarks of it, and points of samples
_SHARE = 3  # fourths of the points, which have a part in the learning at most


@dataclass(frozen=True)
class MetricOptions:
    """Options for learning a metric from the classes.

    Parameters
    ----------
    rounds : int or "auto", default=None
        Number of rounds; None and "auto": the number, up to `MOST_ROUNDS`, that is best on holdout
        parts of the training data.
    diagonal : bool, default=False
        Learn weights of the features alone, which suits thousands of features.
    components : float, default=None
        Number of directions to keep or, below 1, the share of the trace that they must reach;
        None: all directions.
    machine : NystromOptions or str
        Landmarks, gamma and penalty of the least-squares classifiers that the metric is learned
        with, such as "-m 500 -g auto -l 0.1"; those that are missing are chosen automatically.

    Raises
    ------
    UsageError
        If a value is out of range.
    """

    rounds: int | str | None = None
    diagonal: bool = False
    components: float | None = None
    machine: NystromOptions | str = NystromOptions()

    def __post_init__(self):
        if isinstance(self.machine, str):
            object.__setattr__(self, "machine", machine_options(self.machine))
        if self.rounds == "auto":
            object.__setattr__(self, "rounds", None)
        for name, kind, expected in (
            ("rounds", Integral, "a whole number, or None or 'auto' for as many as help"),
            ("diagonal", (bool, np.bool_), "True or False"),
            ("components", Real, "a number or None"),
            ("machine", NystromOptions, 'a text such as "-m 500 -g auto"'),
        ):
            value = getattr(self, name)
            if not isinstance(value, kind) and (value is not None or "None" not in expected):
                raise UsageError(f"{name} of a metric: expected {expected}, found {value!r}")
        if self.rounds is not None and not 0 <= self.rounds <= 20:
            raise UsageError(f"expected 0 to 20 rounds of a metric, found {self.rounds}")
        count = self.components
        if count is not None and not (0 < count < 1 or count >= 1 and count % 1 == 0):
            raise UsageError(
                f"expected a whole number of components, or a share below 1, found {count:g}"
            )
        if count is not None and self.rounds == 0:
            raise UsageError(
                "components of a metric need 1 round or more: without a round no "
                "direction matters more than another"
            )
        machine, gamma = self.machine, self.machine.gamma
        if machine.kernel not in WITH_GRADIENT or machine != NystromOptions(
            machine.landmarks, machine.kernel, gamma=gamma, ridge=machine.ridge
        ):
            raise UsageError(
                "the machine of a metric (--metric-options) has -m LANDMARKS, "
                "-g GAMMA, -l LAMBDA and -t KERNEL alone, one of " + ", ".join(WITH_GRADIENT)
            )
        if machine.kernel == "laplacian" and not self.diagonal:
            raise UsageError("the laplacian kernel learns weights of features alone: --diagonal")
        if gamma is not None and not _GAMMAS[0] <= gamma <= _GAMMAS[1]:
            raise UsageError(
                f"the machine of a metric (--metric-options) takes -g from "
                f"{_GAMMAS[0]:g} to {_GAMMAS[1]:g}, found {gamma:g}: 1 / features, "
                "or -g auto, suits normalised points"
            )

    def canonical(self) -> str:
        """The settings that decide the result, in one fixed spelling."""
        words = [
            f"-m {self.machine.landmarks or LANDMARKS}",
            f"-g {'auto' if self.machine.gamma is None else repr(self.machine.gamma)}",
            f"-l {'auto' if self.machine.ridge is None else repr(self.machine.ridge)}",
        ]
        if self.machine.kernel != "rbf":
            words.append(f"-t {kernel_word(self.machine.kernel)}")
        if self.diagonal:
            words.append("diagonal")
        if self.components is not None:
            words.append(f"components {self.components:g}")
        return " ".join(words)


def machine_options(text: str) -> NystromOptions:
    """The options of the machine in a text such as "-m 500 -g auto -l 0.1"; else `UsageError`."""
    known = {letter: NystromOptions.letters[letter] for letter in ("-m", "-l", "-t")}
    known["-g"] = ("gamma", 0, math.inf, False, True)
    with suppress(UsageError):
        return NystromOptions(
            **scan(text, known, weighted=False, words={"-g": "auto", "-l": "auto"})[0]
        )
    raise UsageError(
        f"the machine of a metric (--metric-options) '{' '.join(text.split())}': "
        "expected -m LANDMARKS, 2 or more, -g GAMMA, from 1e-9 to 1e9 or auto, -l "
        f"LAMBDA, above 0 or auto, and -t KERNEL, one of {', '.join(WITH_GRADIENT)}"
    )


def metric_options(metric: MetricOptions | str | None) -> MetricOptions | None:
    """The `MetricOptions` of the words "learned" and "diagonal", or those that are given."""
    if metric is None or isinstance(metric, MetricOptions):
        return metric
    if not isinstance(metric, str) or metric not in ("learned", "diagonal"):
        raise UsageError(
            "expected the metric 'learned', 'diagonal', None or an "
            f"agfmc.MetricOptions, found {metric!r}"
        )
    return MetricOptions(diagonal=metric == "diagonal")


def fitted_normalisation(
    data: Dataset,
    *,
    scale: bool = True,
    nsv: int | None = None,
    metric: MetricOptions | None = None,
    **learning,
) -> Normalisation:
    """The Normalisation fitted to the points of a `Dataset`, and to their labels for a `metric`.

    Parameters
    ----------
    scale, nsv : bool, int, as for `fit_normalisation`, but a metric is learned from features
        divided by their standard deviations unless nsv says else
    **learning : `seed` and `workers`, as of `learn_metric`
    """
    if metric is not None and has_missing(data.x):
        raise DataError("points hold NaN: a metric is learned from points without missing values")
    base = fit_normalisation(
        data.x,
        scale=scale or nsv is None,
        nsv=nsv,
        w=None if data.weights is None else data.weights.w,
    )
    return base if metric is None else learn_metric(data, base, metric, **learning)


def learn_metric(
    data: Dataset,
    base: Normalisation,
    options: MetricOptions = MetricOptions(),
    *,
    seed: int = 1,
    workers: int | Executor = 1,
) -> Normalisation:
    """The Normalisation that is `base` followed by the map that is learned from x (n, d), y (n,).

    The total variance of what it gives is the number of its features, as it is after a division by
    standard deviations: the same values of gamma suit. Results do not depend on the workers.
    The variance of points is that without weights.

    Raises `DataError` for points of one class, more features or landmarks than the memory allows,
    and a lambda that is too small for rounding.
    """
    x, y, weights, groups = data.x, data.y, data.weights, data.groups
    labels = np.unique(y)
    if len(labels) < 2:
        raise DataError("a metric is learned from two classes or more, found one")
    d = base.matrix.shape[1]
    if options.components is not None and options.components > d:
        raise DataError(f"{options.components:g} components are too many: there are {d} features")
    rows = learned_rows(data, seed)
    _check_memory(options, len(rows), d, len(labels))
    raw = np.asarray(x[rows])
    learner = _Learner(options, seed, threads_here(workers))
    points = _Points(
        base.apply(raw),
        np.searchsorted(labels, y[rows]),
        len(labels),
        np.ones(len(rows)) if weights is None else weights.w[rows],
        of_rows(groups, rows),
    )
    rounds, losses, linear = options.rounds, (), _unit(d, options.diagonal)
    if rounds != 0:
        learner = learner.with_chosen_parameters(points)
    if rounds is None:
        rounds, losses = learner.choose_rounds(points)
    for _ in range(rounds):
        linear = learner.next_map(points, linear)
    of_features = _feature_weights(
        base, np.sqrt(linear) if options.machine.kernel == "laplacian" else linear, raw
    )
    matrix = base.matrix
    if rounds or options.components is not None:
        linear = _scaled(_main_directions(linear, options.components), points.x)
        with np.errstate(over="ignore"):
            matrix = _mapped(base.matrix.astype(np.float64), linear).astype(np.float32)
        if not np.isfinite(matrix).all():
            raise DataError(
                "the features vary too little for a learned metric in single "
                "precision: multiply the data by a power of ten"
            )
    return replace(
        base,
        matrix=matrix,
        metric=LearnedMetric(
            rounds,
            len(y),
            len(labels),
            data_digest(x, y),
            f"{options.canonical()} seed {seed}",
            of_features,
            losses,
            rows,
            feature_names(len(base.mean)),
        ),
    )


def learned_rows(data: Dataset, seed: int) -> np.ndarray:
    """The rows, ascending, of a `Dataset` that have a part in the learning.

    Of each class the rest, a quarter at least where it has more than a few points, is left for
    the calibration of probabilities and sets of a model after the map: whole groups, if there are
    groups.
    """
    n, d = data.x.shape
    most = min(_POINTS, max(_TRIED, _VALUES // d), -(-n * _SHARE // 4))
    if data.groups is not None:
        return split_stratified(data.y, 1 - most / n, seed, data.groups)[0]
    return stratified_sample(data.y, most, seed, _EACH_CLASS)


def without_part(normalisation: Normalisation | None, y: np.ndarray) -> np.ndarray | None:
    """A mask (n,) of the training points that had no part in learning a metric, or None.

    `y` (n,) are the labels of the points that it was learned from.
    """
    metric = None if normalisation is None else normalisation.metric
    if metric is None or not metric.rounds or metric.rows is None:
        return None
    return ~np.isin(np.arange(len(y)), metric.rows)


def with_rows(normalisation: Normalisation, data: Dataset) -> Normalisation:
    """A Normalisation from a file, with the rows that its metric was learned from.

    It stays as it is where these are not the points and labels of the `Dataset`.
    """
    metric = normalisation.metric
    seed = re.search(r" seed ([0-9]{1,19})\Z", "" if metric is None else metric.settings)
    if not seed or metric.data != data_digest(data.x, data.y):
        return normalisation
    return replace(normalisation, metric=replace(metric, rows=learned_rows(data, int(seed[1]))))


def _check_memory(options, n, d, k):
    needed = 8 * _TABLES * d**2
    if not options.diagonal and needed > memory_limit():
        raise DataError(
            f"a metric of {d} features needs {needed / 2**30:.1f} GiB: choose weights "
            "of features (--diagonal), or fewer features by singular vectors (-S)"
        )
    if not options.diagonal and d > _MANY:
        warn_user(
            f"a metric of {d} features takes its time: weights of features (--diagonal), "
            "or fewer features by singular vectors (-S), are quicker"
        )
    p = min(n, max(options.machine.landmarks or LANDMARKS, k))
    needed = 8 * (_LANDMARK_TABLES * p**2 + n * (p + 3 * k + 4 * d))
    if needed > memory_limit():
        raise DataError(
            f"a metric from {p} landmarks and {n} points of {k} classes needs "
            f"{needed / 2**30:.1f} GiB: choose fewer landmarks (--metric-options "
            '"-m LANDMARKS"), or data with fewer features or classes'
        )


class _Points(NamedTuple):
    """Points x (n, d), their classes y (n,) from 0, the number of classes k, their weights, and
    their groups or None."""

    x: np.ndarray
    y: np.ndarray
    k: int
    w: np.ndarray
    groups: np.ndarray | None = None

    def rows(self, rows):
        return self._replace(
            x=self.x[rows], y=self.y[rows], w=self.w[rows], groups=of_rows(self.groups, rows)
        )

    def sample(self, count, seed):
        """About so many points, of each class its share, and one at least."""
        rows = stratified_sample(self.y, count, seed, max(1, min(_EACH_CLASS, count // self.k)))
        return self if len(rows) == len(self.y) else self.rows(rows)

    def mapped(self, linear):
        """The points after a map, of which a multiple is taken that fits their variance."""
        return self._replace(x=_mapped(self.x, _scaled(linear, self.x)))

    @property
    def unit(self):
        """The power of ten next to the mean weight, which lambda is measured in."""
        return 10.0 ** round(np.log10(self.w.mean()).item())


class _Machine(NamedTuple):
    """The machine with a row for each class, f(x) = v^T phi(x) + b.

    `gamma` and `ridge` are those of its options, `error` that of points that are left out.
    """

    landmarks: Landmarks
    gamma: float
    ridge: float
    v: np.ndarray
    b: np.ndarray
    error: float


def _solve(grams, phi, targets, w, ridge):
    """(`Ridge`, v (p, m), b (m,)) of targets (m, n) of points with features phi (p, n)."""
    total = float(w.sum())
    made = Ridge([(gram, 1.0) for gram in grams], phi @ w, total, ridge)
    return made, *made.solve(phi @ (targets * w).T, targets @ w / total)


@dataclass(frozen=True)
class _Learner:
    """The learning with some options, a seed and a number of threads."""

    options: MetricOptions
    seed: int
    threads: int

    def each(self, function: Callable, items) -> Iterator:
        """Results of function(item), in the order of the items, by the threads."""
        return (result for _, result in run_tasks(function, items, self.threads))

    def next_map(self, points: _Points, linear: np.ndarray) -> np.ndarray:
        """The map M^(1/2), (d, d) or (d,), by the gradients of a machine after the map before."""
        scaled = _scaled(linear, points.x)
        machine = self._trained(points.mapped(linear), self.options.machine.gamma)
        beta = machine.landmarks.coefficients(machine.v)
        count = _WORK / (beta.size * points.x.shape[1])
        # with another seed: at a landmark itself its own part of the gradient is 0
        some = points.sample(int(min(_GRADIENTS, max(_FEW_GRADIENTS, count))), self.seed + 1)
        x = _mapped(some.x, scaled)
        products = sum(
            self.each(
                lambda part: gradient_products(
                    machine.landmarks, beta, x[part], self.options.diagonal, some.w[part]
                ),
                _parts(len(x)),
            )
        )
        # gradients by x, where the machine has x times the map
        products = products * scaled**2 if scaled.ndim == 1 else scaled @ products @ scaled.T
        metric, root = metric_of(products / some.w.sum(), _FLOOR)
        # the distance of a laplacian kernel is a sum of differences, not of their squares
        return metric if self.options.machine.kernel == "laplacian" else root

    def with_chosen_parameters(self, points: _Points) -> _Learner:
        """The learner with gamma and lambda of the options, or the best of some for the points.

        They serve all rounds: others for each make hardly another metric.
        """
        options, d = self.options.machine, points.x.shape[1]
        if options.gamma is not None and options.ridge is not None:
            return self
        some = points.sample(_TRIED, self.seed).mapped(_unit(d, True))
        gammas = _gammas(options.kernel, d) if options.gamma is None else [options.gamma]
        best = min(
            (self._for_trials()._trained(some, gamma) for gamma in gammas),
            key=lambda machine: machine.error,
        )
        return self._with(gamma=best.gamma, ridge=best.ridge)

    def _for_trials(self):
        return self._with(
            landmarks=min(self.options.machine.landmarks or LANDMARKS, _TRIED_LANDMARKS)
        )

    def _with(self, **machine):
        return replace(
            self, options=replace(self.options, machine=replace(self.options.machine, **machine))
        )

    def _trained(self, points, gamma):
        """The `_Machine` of points."""
        landmarks = Landmarks(
            Kernel(self.options.machine.kernel, gamma),
            points.sample(self.options.machine.landmarks or LANDMARKS, self.seed).x,
        )
        p, n = len(landmarks), len(points.x)
        gram, phi = np.zeros((p, p)), np.empty((p, n))

        def product(part):
            phi[:, part] = landmarks.features(landmarks.kernel_values(points.x[part]))
            scaled = phi[:, part] * np.sqrt(points.w[part])
            return scaled @ scaled.T

        for part in self.each(product, _parts(n)):
            gram += part
        gram = packed(gram)
        targets = np.where(points.y == np.arange(points.k)[:, None], 1.0, -1.0)
        ridge = self.options.machine.ridge
        if ridge is None:
            search = RidgeSearch(landmarks.scale * points.unit)
            while search.trial is not None:
                search.record(self._solved(gram, phi, targets, points, search.trial)[-1])
            ridge = search.best
        return _Machine(landmarks, gamma, ridge, *self._solved(gram, phi, targets, points, ridge))

    def _solved(self, gram, phi, targets, points, ridge):
        """(v (p, k), b (k,), mean squared error of points that are left out)."""
        try:
            made, v, b = _solve([gram], phi, targets, points.w, ridge)
        except DataError as error:
            if self.options.machine.ridge is not None:
                raise DataError(f"--metric-options: {error.message}") from None
            return None, None, float("inf")
        step, groups = -(-len(points.y) // _JUDGED), points.groups
        if groups is not None:  # all of a group are left out together
            step = 1

        def squares(part):
            some, t = phi[:, part][:, ::step], targets[:, part][:, ::step]
            w = points.w[part][::step]
            error = (made.leave_out(t, v.T @ some + b[:, None], some, w, groups) - t) ** 2
            return np.sum(error @ w), len(t) * w.sum()

        sums, sizes = zip(
            *self.each(squares, _parts(len(points.y)) if groups is None else [slice(None)])
        )
        return v, b, float(sum(sums) / sum(sizes))

    def choose_rounds(self, points: _Points) -> tuple:
        """(rounds, `LearnedMetric.losses`): the fewest within a standard error of the best.

        Loss: the log loss of pairs of classes, for points of parts that no map and no machine was
        made from: what the machine of one-vs-rest rows gains is not always a gain of others.  Of
        few points there are no parts, and no rounds, or one where components are requested.
        """
        fewest = 0 if self.options.components is None else 1
        some = points.sample(_TRIED, self.seed)
        if len(some.x) < FEWEST:
            return fewest, ()
        part = stratified_parts(some.y, _PARTS, self.seed, some.groups)
        alone = replace(self._for_trials(), threads=1)
        judge = _PairJudge.of(some, part == 0, self.seed, self.options.machine.kernel)
        losses = np.empty((MOST_ROUNDS + 1, len(part)))
        for number, of_part in enumerate(
            self.each(
                lambda number: alone.losses_of_part(some, part == number, judge), range(_PARTS)
            )
        ):
            losses[:, part == number] = of_part
        judged = np.isfinite(losses).all(axis=0)  # of points that a pair has
        losses = losses[:, judged]
        if losses.shape[1] < FEWEST:
            return fewest, ()
        w, groups = some.w[judged], of_rows(some.groups, judged)
        means = np.array([mean(one, w) for one in losses])
        best = fewest + np.argmin(means[fewest:])
        errors = [standard_error(one - losses[best], w, groups) for one in losses]
        rounds = next(
            number
            for number in range(fewest, len(means))
            if means[number] <= means[best] + errors[number]
        )
        return rounds, tuple(zip(means.tolist(), errors))

    def losses_of_part(self, points, held_out, judge):
        """The losses (rounds + 1, n) of points held out, by a judge."""
        train, test = points.rows(~held_out), points.rows(held_out)
        linear, losses = _unit(points.x.shape[1], self.options.diagonal), []
        for number in range(MOST_ROUNDS + 1):
            scaled = _scaled(linear, train.x)
            losses.append(
                judge(*(part._replace(x=_mapped(part.x, scaled)) for part in (train, test)))
            )
            if number < MOST_ROUNDS:
                linear = self.next_map(train, linear)
        return np.array(losses)


def _gammas(kind, d):
    """The values of gamma to try for d features of unit variance."""
    return [share / (d**0.5 if kind == "exponential" else d) for share in _VARIANCES]


class _PairJudge(NamedTuple):
    """Log losses of points by classifiers of pairs of classes, least squares on landmarks.

    `pairs` is [(class, class), ...]; `kernel` and `ridge` are those of all of them.
    """

    pairs: list
    seed: int
    kernel: Kernel
    ridge: float

    @classmethod
    def of(cls, points: _Points, held_out: np.ndarray, seed: int, kind: str) -> _PairJudge:
        """The one whose losses of a part of the points, before any map, are the least."""
        pairs = list(itertools.combinations(range(points.k), 2))
        if len(pairs) > _PAIRS:
            chosen = np.random.default_rng(seed).choice(len(pairs), _PAIRS, replace=False)
            pairs = [pairs[number] for number in np.sort(chosen)]
        d = points.x.shape[1]
        points = points.mapped(_unit(d, True))
        train, test = points.rows(~held_out), points.rows(held_out)

        def loss(judge):
            values = judge(train, test)
            judged = np.isfinite(values)
            return mean(values[judged], test.w[judged]) if judged.any() else float("inf")

        judge = min(
            (cls(pairs, seed, Kernel(kind, gamma), _RIDGES[0]) for gamma in _gammas(kind, d)),
            key=loss,
        )
        return min((judge._replace(ridge=ridge) for ridge in _RIDGES), key=loss)

    def __call__(self, train: _Points, test: _Points) -> np.ndarray:
        """The mean loss (n,) of each test point, of the pairs that have its class; NaN for none."""
        landmarks = Landmarks(self.kernel, train.sample(_PAIR_LANDMARKS, self.seed).x)
        phi, phi_test = (
            landmarks.features(landmarks.kernel_values(part.x)) for part in (train, test)
        )
        of_class = [phi[:, train.y == label] for label in range(train.k)]
        weights = [train.w[train.y == label] for label in range(train.k)]
        groups = (
            None
            if train.groups is None
            else [train.groups[train.y == label] for label in range(train.k)]
        )
        grams = [packed((part * w) @ part.T) for part, w in zip(of_class, weights)]
        total, count = np.zeros(len(test.y)), np.zeros(len(test.y))
        for pair in self.pairs:
            sizes = [of_class[label].shape[1] for label in pair]
            if 0 in sizes:
                continue
            both = np.concatenate([of_class[label] for label in pair], axis=1)
            t = np.repeat([-1.0, 1.0], sizes)
            w = np.concatenate([weights[label] for label in pair])
            ridge, v, b = _solve(
                [grams[label] for label in pair], both, t[None], w, self.ridge * train.unit
            )
            left = ridge.leave_out(
                t[None],
                (v[:, 0] @ both + b)[None],
                both,
                w,
                groups and np.concatenate([groups[label] for label in pair]),
            )[0]
            slope, offset, _ = fit_sigmoid(left, t > 0, w=w)
            for label, sign in zip(pair, (-1.0, 1.0)):
                rows = test.y == label
                f = v[:, 0] @ phi_test[:, rows] + b
                total[rows] += np.logaddexp(0.0, sign * (slope * f + offset))
                count[rows] += 1
        with np.errstate(invalid="ignore"):
            return total / count


def _parts(n):
    return [slice(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK)]


def _unit(d, diagonal):
    """The map that changes nothing, (d,) for a diagonal one, else (d, d)."""
    return np.ones(d) if diagonal else np.eye(d)


def _mapped(x, linear):
    return x * linear if linear.ndim == 1 else x @ linear


def _scaled(linear, x):
    """A multiple of a map after which the total variance of x (n, d) is the number of columns.

    Points of a sample may all be alike: then it is the map itself.
    """
    x = _mapped(x, linear)
    variance = x.var(axis=0).sum()
    return (
        linear * np.sqrt(linear.shape[-1] / variance)
        if variance > _FAINT * np.mean(x**2)
        else linear
    )


def _main_directions(linear, components):
    """The map (d, D) to the first directions of a metric, of M^(1/2) (d, d) or (d,).

    `components` is their number, or their share of the trace; None for the map as it is.
    """
    if components is None:
        return linear
    if linear.ndim == 1:
        order = np.argsort(-linear, kind="stable")
        root, axes = linear[order], None
    else:
        root, axes = np.linalg.eigh(linear)
        root, axes = np.maximum(root[::-1], 0.0), axes[:, ::-1]
    share = np.cumsum(root**2 - _FLOOR)
    count = (
        int(components) if components >= 1 else 1 + int(np.sum(share[:-1] < components * share[-1]))
    )
    if axes is None:
        axes = np.zeros((len(linear), count))
        axes[order[:count], np.arange(count)] = 1.0
    axes = axes[:, :count]
    largest = axes[np.argmax(np.abs(axes), axis=0), np.arange(count)]
    return axes * np.where(largest < 0, -1.0, 1.0) * root[:count]


def _feature_weights(base, linear, raw):
    """The diagonal (D1,) of the metric for standardised features, with mean 1 over those used.

    `raw` (n, D1) are the points as they were, whose variances serve where `base` mixes features.
    """
    whole = _mapped(base.matrix.astype(np.float64), linear)
    raw = raw.astype(np.float64)
    variance = raw.var(axis=0)
    variance[variance <= _FAINT * np.mean(raw**2, axis=0)] = 0.0
    weights = (whole**2).sum(axis=1) * variance
    used = weights > 0
    return weights / weights[used].mean() if used.any() else whole.any(axis=1).astype(np.float64)


def data_digest(x: np.ndarray, y: np.ndarray) -> str:
    """Sixteen hexadecimal digits of points x (n, d) and labels y (n,), whatever their weights."""
    digest = sha256(np.ascontiguousarray(y, "<i4").data)
    for block in blocks(x):
        digest.update(np.ascontiguousarray(block, "<f4").data)
    return digest.hexdigest()[:16]


def warn_of_metric(file: str, learned: LearnedMetric | None, data: Dataset) -> None:
    """Warn where held-out points had a part in the normalisation that was read."""
    if learned is None or not learned.rounds:
        return
    these = learned.data == data_digest(data.x, data.y)
    which = (
        "these points, held-out ones among them: the scores are"
        if these
        else f"{learned.points} points: where held-out ones are among them, the scores are"
    )
    warn_user(
        f"{file}: its metric was learned from {which} too good; -n --learn-metric in "
        "its place learns one from each training part"
    )


def warn_of_mapped(source: str, data: Dataset) -> None:
    """Warn where data lie beside the record of a metric that they went through."""
    path = f"{source}.std"
    if source == "-" or not os.path.isfile(path) or not os.path.isfile(metric_path(path)):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AgfmcWarning)  # a damaged record says nothing
            normalisation = read_std(path)
    except DataError:
        return
    learned = normalisation.metric
    if learned is None or not learned.rounds or data.x.shape[1] != normalisation.matrix.shape[1]:
        return
    mean, std = moments(data.x)  # of points that the map has not centred, or those it is made from
    if mean @ mean > 1e-4 * (std @ std) or learned.data == data_digest(data.x, data.y):
        return
    warn_user(
        f"{source}: these points went through a metric that was learned from their "
        f"classes ({metric_path(path)}): the scores are too good; give the data as they "
        "were, with -n --learn-metric"
    )
