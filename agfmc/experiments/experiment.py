"""Experiments: data, how they are split, and the results of an earlier run.

Trials run in this process or on the workers of an executor.  A task for a worker is the number of a
split and what to do with it: the data go to each worker once, and it makes the split anew.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np

from ..core.costs import CostMatrix
from ..core.errors import AgfmcNotice, AgfmcWarning, and_more, DataError, warn_user
from ..core.splits import (
    calibration_rows,
    derived_seed,
    nested_sample,
    of_rows,
    split_stratified,
    stratified_parts,
    stratified_sample,
)
from ..data.groups import check_groups
from ..data.normalisation import Normalisation
from ..data.types import Dataset
from ..data.weights import chosen_rows
from ..executors.remote import run_remote
from ..files.result_store import key_of, point_parts, ResultCache
from ..training.fit import HeldOutRequest, TrainingSettings
from ..training.held_out import CALIBRATION_POINTS
from .candidates import Design, design_of


_FEWEST = 2  # samples of a class in a training part


class SplitPlan(NamedTuple):
    """The splits of the data: random ones, or parts of which each is held out once.

    Attributes
    ----------
    fraction : share of each class held out at random, `trials` times
    left_out : in place of all that, everything is trained on, and the calibration points are
        answered by their exact leave-one-out decision values
    share : of each training part a stratified sample of this share is used
    """

    fraction: float | None = 0.3
    parts: int | None = None
    trials: int = 10
    seed: int = 1
    left_out: bool = False
    share: float = 1.0

    @property
    def count(self) -> int:
        """Number of splits."""
        if self.left_out:
            return 1
        return self.trials * (self.parts or 1)

    @property
    def ratio(self) -> float:
        """Points for testing by points for training, as `score.significance` takes it."""
        if self.parts:
            return 1 / (self.parts - 1)
        return self.fraction / (1 - self.fraction)

    @property
    def held_out(self) -> float:
        """The share of the points that a split holds out."""
        if self.left_out:
            return 1.0
        if self.parts:
            return 1 / self.parts
        return self.fraction

    @property
    def description(self) -> str:
        """The plan as a table begins with it."""
        if self.left_out:
            return "leave-one-out values"
        if self.parts:
            if self.trials == 1:
                times = ""
            else:
                times = f", {self.trials} times"
            return f"each of {self.parts} parts held out{times}"
        return (
            f"{self.trials} trial{'s' if self.trials > 1 else ''}, "
            f"{100 * self.fraction:g} % of each class held out"
        )


class Split(NamedTuple):
    """A split: its name, and the rows, ascending, of either part."""

    name: str
    train: np.ndarray
    test: np.ndarray


class Part(NamedTuple):
    """A split by its number, from 0, with about `rows` points of each part of it, None for all."""

    number: int
    rows: int | None = None


def splits(y: np.ndarray, plan: SplitPlan, groups: np.ndarray | None = None) -> Iterator[Split]:
    """Yield the `plan.count` `Split`s of labels y (n,), which do not divide `groups` (n,)."""
    for trial in range(plan.trials):
        name = f"trial {trial + 1}"
        seed = derived_seed(plan.seed, trial)
        if plan.parts is None:
            yield Split(name, *split_stratified(y, plan.fraction, seed, groups))
            continue
        part = stratified_parts(y, plan.parts, seed, groups)
        for number in range(plan.parts):
            yield Split(
                f"{name}, part {number + 1}",
                np.flatnonzero(part != number),
                np.flatnonzero(part == number),
            )


@dataclass(frozen=True, eq=False)
class PreparedSplit:
    """A split with its points: `data` of the training part, and `test`, both normalised.

    Attributes
    ----------
    rows : rows of the test part in the data
    left_out : the test part are points of the training part, each answered as if it were not
    part : what `Experiment.prepared` makes it from
    """

    name: str
    data: Dataset
    test: Dataset
    rows: np.ndarray
    digest: str
    left_out: bool = False
    part: Part | None = None
    normalisation: Normalisation | None = None

    @cached_property
    def test_digest(self) -> str:
        """The digest of both parts."""
        return key_of("test", self.digest, *point_parts(self.test))

    def calibration_rows(self, experiment: Experiment) -> np.ndarray | None:
        """The rows (c,), ascending, of the training part that are its calibration points."""
        count = experiment.calibration
        y = self.data.y
        if count:
            return calibration_rows(y, np.unique(y).tolist(), count, experiment.settings.seed)
        return None

    def held_out_request(self, experiment: Experiment) -> HeldOutRequest:
        """The request for the decision values of the calibration points."""
        return HeldOutRequest.of(len(self.data.y), self.calibration_rows(experiment))

    def design_of(self, candidate, experiment: Experiment) -> Design:
        """The `Design` of a `Candidate` for the training part."""
        return design_of(candidate, self.data, self.data.name_of, experiment.cache)

    @property
    def test_weights(self) -> np.ndarray | None:
        """The weights (n,) of the points of the test part, or None."""
        return self.test.weights and self.test.weights.w


def prepare_split(split: Split, data: Dataset, settings: TrainingSettings) -> PreparedSplit:
    """The `PreparedSplit` of a `Split` of a `Dataset`, with two samples of each class to train
    on."""
    _check_training_part(split, data)
    train, test = (chosen_rows(data, rows) for rows in split[1:])
    normalisation = _normalisation(settings, train)
    train, test = (replace(part, x=_normalised(normalisation, part.x)) for part in (train, test))
    return PreparedSplit(
        split.name,
        train,
        test,
        split.test,
        key_of("points", *point_parts(train)),
        normalisation=normalisation,
    )


def _normalisation(settings, part):
    if not settings.fits_normalisation:
        return settings.normalisation
    with warnings.catch_warnings():
        # not one for each split
        warnings.simplefilter("ignore", AgfmcWarning)
        normalisation = settings.fit_normalisation(part)
    if normalisation.dropped:
        warn_user("features that are constant in a training part are left out there", AgfmcNotice)
    return normalisation


def _normalised(normalisation, x):
    if normalisation is None:
        return np.asarray(x, dtype=np.float64)
    return normalisation.apply(x)


def _check_training_part(split, data):
    y = data.y
    labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    there = np.bincount(codes[split.train], minlength=len(labels))
    few = np.flatnonzero(there < _FEWEST)
    if len(few):
        least = 1 + int(counts[few].max())
        first = few[0]
        raise DataError(
            f"class {data.name_of.get(labels[first], labels[first])}{and_more(few)}, "
            f"of {counts[first]} sample{'' if counts[first] == 1 else 's'}, has "
            f"{there[first]} in the training part of {split.name}: expected at least "
            f"2; `min_class={least}` leaves out the classes with fewer than {least} "
            "samples"
        )
    if data.groups is not None:
        where = f" in the training part of {split.name}"
        check_groups(data, where=where, rows=split.train, remedy=True)


@dataclass(frozen=True, eq=False)
class Experiment:
    """Raw data, the plan of their splits, the settings, and the cache of results.

    Attributes
    ----------
    settings : their scale and nsv normalise with statistics of each training part
    cache : of no results before the trials begin
    calibrated : answers that are scored, True for calibrated ones, False for those of the decoder
        itself
    quick_maps : the calibration maps are temperatures fitted to a thousand points, as where very
        many configurations are tried
    along_cost : of problems that differ in C alone and are trained in one call, those with larger C
        have the solution of the smallest at which it is unbounded
    timed : answers to points that are left out are timed, too
    costs : costs of the answers, classes in ascending order: decoders that give the probabilities
        of all classes answer by them, and the mean cost is one of the scores
    """

    data: Dataset
    plan: SplitPlan
    settings: TrainingSettings = TrainingSettings()
    cache: ResultCache = ResultCache(None)
    calibrated: tuple[bool, ...] = (True,)
    quick_maps: bool = False
    along_cost: bool = False
    timed: bool = False
    costs: CostMatrix | None = None

    @property
    def calibration(self) -> int:
        """At most so many points of a training part serve the calibration; 0: none."""
        if self.plan.left_out:  # these points are the answers, calibrated or not
            return self.settings.calibration or CALIBRATION_POINTS
        if True in self.calibrated:
            return self.settings.calibration
        return 0

    @property
    def least_calibration(self) -> int:
        """A number of calibration points that every split has; 0 where the scores are theirs: a
        decoder that is fitted to them cannot be judged by them."""
        if self.plan.left_out:
            return 0
        trained = int(len(self.data.y) * (1 - self.plan.held_out) * self.plan.share)
        return min(self.calibration, trained - len(np.unique(self.data.y)))

    def training_size(self, part: Part) -> int:
        """About how many points a `Part` has for training."""
        if self.plan.left_out:
            share = 1.0
        else:
            share = 1 - self.plan.held_out
        return min(part.rows or len(self.data.y), int(len(self.data.y) * share))

    def splits(self) -> Iterator[PreparedSplit]:
        """Yield the `PreparedSplit`s, one after the other."""
        return map(self.prepared, map(Part, range(self.plan.count)))

    def prepared(self, part: Part) -> PreparedSplit:
        """The `PreparedSplit` of a `Part`."""
        y = self.data.y
        seed = self.plan.seed
        groups = self.data.groups
        if self.plan.left_out:
            rows = stratified_sample(y, part.rows or len(y), seed, groups=groups)
            split = prepare_split(
                Split("all points", rows, rows[self._left_out_rows(y[rows])]),
                self.data,
                self.settings,
            )
            return replace(split, left_out=True, part=part)
        split = next(islice(splits(y, self.plan, groups), part.number, None))
        if self.plan.share < 1:
            split = split._replace(
                train=split.train[
                    nested_sample(
                        y[split.train], self.plan.share, seed, _FEWEST, of_rows(groups, split.train)
                    )
                ]
            )
        if part.rows is not None:
            split = Split(
                split.name,
                *(
                    rows[stratified_sample(y[rows], part.rows, seed, groups=of_rows(groups, rows))]
                    for rows in split[1:]
                ),
            )
        return replace(prepare_split(split, self.data, self.settings), part=part)

    def check_splits(self) -> None:
        """Raise `DataError` where a class has fewer than two samples in a training part."""
        for split in splits(self.data.y, self.plan, self.data.groups):
            _check_training_part(split, self.data)

    @property
    def left_out(self) -> Experiment:
        """The experiment with leave-one-out values in the place of the splits."""
        return replace(self, plan=SplitPlan(seed=self.plan.seed, left_out=True))

    @property
    def left_out_count(self) -> int:
        """The number of points that are left out."""
        return len(self._left_out_rows(self.data.y))

    def _left_out_rows(self, y):
        return calibration_rows(
            y,
            np.unique(self.data.y).tolist(),
            self.settings.calibration or CALIBRATION_POINTS,
            self.settings.seed,
        )

    def design_of(self, candidate) -> tuple:
        """(`Design` of a `Candidate` for all of the data, its points normalised)."""
        data = self.data
        x = _normalised(_normalisation(self.settings, data), data.x)
        return design_of(candidate, replace(data, x=x), data.name_of, self.cache), x


def part_of(progress, done: int, total: int, words: str = ""):
    """Progress(done, total, words) within one of `total` equal parts, `done` of them behind."""
    if progress is None:
        return None

    def follow(part, whole, *more):
        text = "; ".join(word for word in (words, *more) if word)
        progress(
            1000 * done + 1000 * part // max(whole, 1),
            1000 * total,
            *([text] if text else []),
        )

    return follow


# -- on workers ------------------------------------------------------------------------------------

_SPLITS = 2  # that a worker keeps
_splits: dict = {}  # of this worker, by the digests of their points


def run_on_workers(
    function: Callable,
    experiment: Experiment,
    split: PreparedSplit,
    items: Iterable,
    *,
    name: Callable,
) -> Iterator[tuple]:
    """Yield (item, function(split, experiment, item)), or the `AgfmcError` raised, as they finish.

    The settings of the experiment have the executor, and a worker's have one thread. Workers import
    `function`, which is one of a module; messages call an item name(item). Raises as `run_remote`
    does.
    """
    task = (
        function,
        (split.test_digest, split.left_out),
        split.part,
        replace(
            experiment,
            data=None,
            cache=ResultCache(None),
            settings=replace(experiment.settings, workers=1),
        ),
    )
    for (_, item), result in run_remote(
        experiment.settings.workers,
        _perform,
        experiment.data,
        ((task, item) for item in items),
        name=lambda entry: name(entry[1]),
    ):
        yield item, result


def _perform(data, entry):
    (function, key, part, experiment), item = entry
    experiment = replace(experiment, data=data)
    split = _splits.get(key)
    if split is None:
        while len(_splits) >= _SPLITS:
            _splits.pop(next(iter(_splits)), None)
        split = _splits[key] = experiment.prepared(part)
    return function(split, experiment, item)


@contextmanager
def clear_worker_caches():
    """Splits that were stored for the tasks of a run go at its end, for `with`."""
    try:
        yield
    finally:
        _splits.clear()
