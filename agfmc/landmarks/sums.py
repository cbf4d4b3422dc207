"""Sums over points of the features on shared landmarks, by ranges of rows and blocks of classes.

Row numbers are cut into fixed ranges.  Classes that stand on a side of the same classifiers are a
*block*: a task makes the sums of one block over one range, and what tasks make is added in the
order of the ranges.  The sums of a classifier are those of its blocks, in their order.  Hence they
do not depend on the number of workers, nor on the memory for them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..core.errors import AgfmcError, DataError
from ..core.lazy_points import is_lazy
from ..core.points import packed, unpacked
from ..core.splits import calibration_rows
from ..core.weights import total_weights
from ..executors.remote import SharedDataUnavailable, run_remote, workers_of
from ..executors.threads import available_cores, run_tasks
from ..kernels.machine import as_slice
from .features import Landmarks, landmarks_of, MEGABYTE

_BLOCK = 2048  # points for one product
_RANGE = 2048, 131_072  # the fewest and the most rows of a range
_TASKS = 24  # in all, where ranges of these sizes allow
_RANGES = 400  # the most, though they be larger then
# Multiplications for the sums beyond which those of kernel values are made, and turned into those
# of features at the end: half the work.  It costs digits: lambda must be this many times as large
# as the rounding of N, times the condition of the landmarks.
_RAW = 1e12
_ROUNDING = 1e4 * np.finfo(np.float64).eps
SEARCHED = 5000  # points that lambda is judged by


@dataclass(frozen=True, eq=False)
class Problem:
    """The work of the tasks: points x (n, d), labels y (n,), and the landmarks of a group.

    Attributes
    ----------
    w : weights (n,) of the points
    raw : sums are of kernel values, in place of features
    first : row of all points that these begin with
    """

    landmarks: Landmarks
    x: np.ndarray
    y: np.ndarray
    w: np.ndarray
    raw: bool = False
    first: int = 0

    def shared(self):
        """The problem as workers elsewhere get it, points in a file by reference; else None."""
        if getattr(self.x, "source", None) is None:
            return None
        return replace(
            self, x=_Reference(*self.x.__reduce__()), y=None, w=None, landmarks=self._for_sums()
        )

    def with_labels(self, item):
        """An item, and the labels and weights of its range, for a worker that reads the points."""
        y = self.y[item[1] : item[2]]
        if y.min() >= 0:
            y = y.astype(np.min_scalar_type(int(y.max())))  # often a byte for each
        return *item, y, self.w[item[1] : item[2]]

    def part(self, item):
        """The problem with the points, labels and weights of an item alone."""
        _, start, stop, labels = item[:4]
        rows = start + np.flatnonzero(np.isin(self.y[start:stop], labels))
        return replace(
            self,
            x=np.ascontiguousarray(self.x[as_slice(rows)]),
            y=self.y[rows],
            w=self.w[rows],
            first=start,
            landmarks=self._for_sums(),
        )

    def _for_sums(self):
        if self.raw:
            return self.landmarks.without_factor()
        return self.landmarks

    def kernel_values(self, rows):
        """K (p, n) of ascending rows."""
        return self.landmarks.kernel_values(self.x[as_slice(rows)])

    def features(self, rows):
        """phi (p, n) of ascending rows."""
        return self.landmarks.features(self.kernel_values(rows))


class _Reference:
    """Points in a file, for workers that open it when they need it: opener(*args)."""

    def __init__(self, opener, args):
        self._opener, self._args = opener, args

    def __reduce__(self):
        return _Reference, (self._opener, self._args)

    @functools.cached_property
    def points(self):
        return self._opener(*self._args)


@np.errstate(over="ignore", invalid="ignore")  # `Ridge` looks at the sums
def range_sums(problem: Problem, item: tuple) -> tuple:
    """Sums of the points of c classes in a range of rows: G, `packed`; s (c, p) and n (c,).

    `item` is (number, start, stop, labels) of the range and the classes.
    """
    _, start, stop, labels = item
    start -= problem.first
    stop -= problem.first
    rows = start + np.flatnonzero(np.isin(problem.y[start:stop], labels))
    p = len(problem.landmarks)
    gram = np.zeros((p, p))
    total = np.zeros((len(labels), p))
    weight = np.zeros(len(labels))
    for first in range(0, len(rows), _BLOCK):
        part = rows[first : first + _BLOCK]
        if problem.raw:
            phi = problem.kernel_values(part)
        else:
            phi = problem.features(part)
        of_class = np.equal.outer(np.asarray(labels), problem.y[part]) * problem.w[part]
        total += of_class @ phi.T
        weight += of_class.sum(axis=1)
        phi *= np.sqrt(problem.w[part])
        gram += phi @ phi.T  # the result is symmetric, and half the work of other products
    return packed(gram), total, weight


def _sums_elsewhere(problem, item):
    """The `range_sums` of a worker."""
    if isinstance(problem.x, _Reference):
        _, start, stop, _, y, w = item
        try:
            x = problem.x.points
        except DataError:
            return SharedDataUnavailable()
        problem = replace(problem, x=x.selected(np.arange(start, stop)), y=y, w=w, first=start)
    return range_sums(problem, item[:4])


class Sums:
    """The sums G of the sets of classes of a group, made in as many passes as memory demands.

    `total` {label: s (p,)} and `weight` {label: n} grow with the passes of `work`.
    """

    def __init__(self, group, work, megabytes):
        self._group, self._work = group, work
        self.total = {}
        self.weight = {}
        self._grams = {}
        p = len(group.problem.landmarks)
        self._capacity = max(2, megabytes * MEGABYTE // (4 * p * (p + 1)))  # see `check_landmarks`

    def passes(self, sets) -> Iterator[tuple]:
        """Yield (sets, function that gives those of one) until all sets had their turn.

        It gives [(G, `packed`, factor), ...], which add up to the sum of a set.
        """
        sets = list(sets)
        while sets:
            now = []
            needed = set(self._grams)
            if len(needed | self._needed(sets)) > self._capacity:
                needed = set()
            for one in sets:
                more = needed | self._needed([one])
                if len(more) <= self._capacity:
                    now.append(one)
                    needed = more
            if not now:  # each set has more blocks than there is room for: they are added at once
                now = sets[: self._capacity // 2]
                wholes = self._added(now)
                yield now, lambda one, wholes=wholes: [(wholes[one], 1.0)]
                sets = sets[len(now) :]
                continue
            self._grams = {number: self._grams[number] for number in needed & set(self._grams)}
            self._make(sorted(needed - set(self._grams)))
            yield (
                now,
                lambda one: [(self._grams[number], factor) for number, factor in self._parts(one)],
            )
            sets = [one for one in sets if one not in now]

    def _needed(self, sets):
        return {number for one in sets for number, _ in self._parts(one)}

    def _parts(self, one):
        """[(number of a block, factor)] of a set of classes."""
        factors = dict(one)
        return [
            (number, factors[labels[0]])
            for number, labels in enumerate(self._group.class_blocks)
            if labels[0] in factors
        ]

    def _added(self, sets):
        """{set: G} of some sets, whose blocks are made a few at a time."""
        wholes = dict.fromkeys(sets, 0.0)
        factors = {one: dict(self._parts(one)) for one in sets}
        numbers = sorted(self._needed(sets))
        step = self._capacity - len(sets)
        for start in range(0, len(numbers), step):
            self._grams = {}
            self._make(numbers[start : start + step])
            for number in sorted(self._grams):
                for one in sets:
                    if number in factors[one]:
                        wholes[one] += self._grams[number] * factors[one][number]
        self._grams = {}
        return wholes

    def _make(self, numbers):
        """Make the sums of some blocks, by their numbers, in one pass over the points."""
        if not numbers:
            return
        names = {self._group.class_blocks[number]: number for number in numbers}
        items = [
            (number, *span, labels)
            for number, span in enumerate(self._group.ranges)
            for labels in names
        ]
        sums = {}
        for labels, more in self._work.sums(items, names):
            if labels in sums:
                for mine, part in zip(sums[labels], more):
                    mine += part
            else:
                sums[labels] = more
        for labels, (gram, total, weight) in sums.items():
            self._grams[names[labels]] = gram
            self.total.update(zip(labels, total))
            self.weight.update(zip(labels, weight.tolist()))
        if self._group.problem.raw:
            landmarks = self._group.problem.landmarks
            features = landmarks.features
            for labels, number in names.items():
                gram = features(unpacked(self._grams[number], len(landmarks)))
                self._grams[number] = packed(features(gram.T))
                for label in labels:
                    self.total[label] = features(self.total[label][:, None])[:, 0]


def factors_of(options, sides):
    """((label, factor of its points), ...), labels ascending, of a classifier."""
    weights = dict(options.weights)
    return tuple(
        sorted(
            (label, weights.get(number, 1.0)) for number, side in enumerate(sides) for label in side
        )
    )


def row_ranges(blocks: int, n: int) -> list[tuple[int, int]]:
    """(start, stop) of the ranges that n rows are cut into, where there are so many blocks."""
    step = -(-n * blocks // _TASKS)
    step = max(min(max(step, _RANGE[0]), _RANGE[1]), -(-n // _RANGES))
    step = -(-step // _RANGE[0]) * _RANGE[0]
    return [(start, min(start + step, n)) for start in range(0, n, step)]


class Group:
    """Classifiers with the same options: their landmarks, and what is to be done for them.

    `requested` is as of `train_shared`. Attributes `counts` and `totals` are {label: points} and {label:
    sum of their weights}, and `mean_weight` is that of the points of these classifiers.
    """

    def __init__(self, jobs, data, megabytes, requested):
        job = jobs[0]
        self.jobs = jobs
        self.options = job.options
        self.seed = job.seed
        together = job.together
        self.labels = together.labels
        self.sets = {}  # {((label, factor), ...): the sides of its classifiers}
        for sides in together.sides:
            self.sets.setdefault(factors_of(job.options, sides), []).append(sides)
        by_use = {}  # labels, ascending, that stand on a side of the same classifiers
        factors = list(map(dict, self.sets))
        for label in self.labels:
            by_use.setdefault(tuple(one.get(label) for one in factors), []).append(label)
        self.class_blocks = sorted(map(tuple, by_use.values()))
        y = data.y
        self.weights = data.weights
        if data.weights is None:
            w = np.broadcast_to(1.0, len(y))
        else:
            w = data.weights.w
        self.counts = data.counts
        self.totals = total_weights(y, w)
        n = sum(self.counts[label] for label in self.labels)
        total = sum(self.totals[label] for label in self.labels)
        self.mean_weight = total / n
        drawn, landmarks = landmarks_of(job, data, megabytes)
        raw = n * len(landmarks) ** 2 > _RAW
        self.least = 0.0
        if raw:
            self.least = _ROUNDING * total * landmarks.scale * landmarks.condition
        if self.options.alpha is not None and self.options.alpha < self.least:
            raise job.place.error(
                DataError,
                f"-l {self.options.alpha:g} is lost in the rounding "
                f"of so many points: expected {self.least:.2g} or more",
            )
        self.rows = drawn[landmarks.pivots]
        self.dropped = len(drawn) - len(self.rows)
        self.problem = Problem(landmarks, data.x, y, w, raw)
        self.ranges = row_ranges(len(self.class_blocks), len(y))
        self.groups = data.groups
        count = self.options.left_out
        if requested.sides:
            count = None
        self.left_out = self._left_out(y, count, requested.chosen)

    def blocks_of(self, labels):
        """The blocks of points of some classes that are left out, tuples of (label, number).

        All points of a group are in one block, as they are left out together.
        """
        blocks = [
            [(label, number) for number in range(len(self.left_out[label]))] for label in labels
        ]
        if self.groups is None:
            return [(one,) for of_class in blocks for one in of_class]
        return [block for block in zip(*blocks) if len(self.rows_of(block))]

    def rows_of(self, block, step=1):
        """The rows of every step-th point of a block of points that are left out.

        They are ascending where there are groups, else they stand class by class.
        """
        rows = np.concatenate([self.left_out[label][number][::step] for label, number in block])
        if self.groups is None:
            return rows
        return np.sort(rows)

    def _left_out(self, y, count, chosen):
        """{label: blocks of rows} of the points that are left out, which are all in groups."""
        if self.groups is not None:
            number = (np.cumsum(np.bincount(self.groups)) // _BLOCK)[self.groups]  # of the block
            rows = np.argsort(number, kind="stable")
            of_class = {label: rows[y[rows] == label] for label in self.labels}
            return {
                label: np.split(part, np.searchsorted(number[part], np.arange(1, number.max() + 1)))
                for label, part in of_class.items()
            }
        if count is None:
            take = np.isin(y, self.labels)
        else:
            take = np.zeros(len(y), dtype=bool)
            take[calibration_rows(y, self.labels, count, self.seed)] = True
            if chosen is not None:
                take |= chosen & np.isin(y, self.labels)
        rows = np.flatnonzero(take)
        labels = y[rows]
        return {
            label: [
                part[start : start + _BLOCK]
                for part in [rows[labels == label]]
                for start in range(0, len(part), _BLOCK)
            ]
            for label in self.labels
        }


class Work:
    """The tasks of a group: their run on threads or an executor, and their progress.

    `workers` are threads here. progress(share) is called with the share that is done: a step is the
    sums of a range and block, or the solution of a set of classes.
    """

    def __init__(self, group, settings, progress):
        self._group, self._progress = group, progress
        self._executor = None
        self.workers = settings.workers or available_cores()
        if not isinstance(settings.workers, int):
            self._executor = settings.workers
            self.workers = available_cores()
        self._megabytes = settings.kernel_megabytes
        self._planned = dict.fromkeys(group.class_blocks, len(group.ranges))
        self._done, self._total = 0, sum(self._planned.values())

    def sums(self, items, class_blocks):
        """Yield (labels, `range_sums`) of items, in their order; then those blocks are complete."""
        for labels in class_blocks:  # known now: some may be made again
            self._total -= self._planned.pop(labels, 0)
        self._total += len(items)
        for item, sums in self._outcomes(items):
            self.check()
            yield item[3], sums
            self.report()

    def _outcomes(self, items):
        """(item, `range_sums`) in their order.

        In memory are, of p^2 numbers each, the sums so far of every block, two for each thread that
        is at work, and one that waits; of an executor half of that for each worker, and for as
        many again that wait.  With two threads and one block a process takes .43 GB with p = 2000,
        1.2 GB with 4000; with two processes the largest .41 and .82.
        """
        problem = self._group.problem
        if self._executor is None:
            yield from run_tasks(
                functools.partial(range_sums, problem),
                items,
                self.workers,
                inline=False,
                window=self.workers + 1,
            )
            return
        p = len(problem.landmarks)
        workers = workers_of(self._executor)
        more = self._megabytes * MEGABYTE // (4 * p * p)
        shared = problem.shared()
        for item, sums in run_remote(
            self._executor,
            _sums_elsewhere,
            shared,
            items if shared is None else map(problem.with_labels, items),
            name=lambda item: f"sums of rows {item[1]} to {item[2] - 1}",
            ordered=workers + max(1, min(more, workers)),
            part=lambda _, item: problem.part(item),
        ):
            if isinstance(sums, AgfmcError):
                raise sums
            yield item[:4], tuple(map(np.array, sums))

    def check(self):
        """Raise `DataError` where the file of the points changed since it was opened."""
        if is_lazy(self._group.problem.x):
            self._group.problem.x.check()

    def plan(self, steps):
        """There are so many steps besides the sums."""
        self._total += steps

    def report(self):
        """A step is done."""
        self._done += 1
        if self._progress is not None:
            self._progress(min(1.0, self._done / max(self._total, 1)))

    def each(self, function, items):
        """Yield (item, function(item, spread)): items side by side, or what spreads for one.

        spread(function, parts) is `map`.
        """
        if len(items) >= 2 * self.workers:
            results = run_tasks(lambda item: function(item, map), items, self.workers, inline=False)
        else:
            results = ((item, function(item, self._spread)) for item in items)
        for item, result in results:
            yield item, result
            self.report()  # may end the work: this is handed out by now

    def _spread(self, function, parts):
        return (result for _, result in run_tasks(function, parts, self.workers, inline=False))
