"""The search for training options: rounds of points, tried on the same splits.

Tuning from data to a control file: what is searched, and what is written.
"""

from __future__ import annotations

import math
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np

from ..control.build import check_classes
from ..errors import AgfmcError, AgfmcWarning, DataError, UsageError
from ..learners.protocol import check_loo, plan_jobs
from ..score.scores import SCORES
from .candidates import Candidate
from .comparison import summary
from .search_points import Axis, fixed_words, given_text, Grid, Search
from .splits import splits
from .trial import prepared
from .tuning_table import partition_text, plain_search
from .tuning_trial import open_rows, Problems, Whole, with_options

__all__ = ["Found", "Noted", "Start", "Tuner", "grids_for", "hushed", "prepare_tuning",
           "scale_exponent", "tune", "tuned"]

_LEAST = 24  # binary problems that are trained side by side, so that all cores are busy to the end
_GAMMA = Axis(-4.0, 4.0, 2.0)  # about the exponent of `scale_exponent`
_GAMMA_POLYNOMIAL = Axis(-2.0, 2.0, 2.0)
_COST = Axis(-1.0, 9.0, 2.0)
# said of each of thousands of fits, or of each split once more
_HUSHED = ("the (left|right) side .* has . sample", ".* of its probabilities did not converge",
           "features? .* constant")


def scale_exponent(x):
    """The whole number nearest to log2(1 / sum of the variances of the features of x (n, d)).

    2 to it is a gamma for which points at their typical distance have a kernel
    value of exp(-2); for normalised features it is near 1/d.
    """
    total = float(np.var(x, axis=0).sum())
    return float(round(-math.log2(total))) if 0.0 < total < math.inf else 0.0


def grids_for(kernels, degrees, coefficients, scale, log2c=None, log2g=None):
    """The `Grid`s of kernels, of degrees and of coefficients -r of polynomials.

    scale: as `scale_exponent` gives it;  log2c, log2g: `Axis`, or None for what suits the
    data.  Where coef0 is 0, gamma is only another factor of C, and is not searched; all
    polynomials of degree 1 are one, and that is the linear kernel if it is there.
    """
    grids = []
    for kernel in kernels:
        if kernel == "linear":
            # kernel values are larger by as much as C is smaller
            grids.append(Grid("linear", 0, 0.0, log2c or _COST.moved(scale), None))
        elif kernel == "rbf":
            grids.append(Grid("rbf", 0, 0.0, log2c or _COST, log2g or _GAMMA.moved(scale)))
        else:
            for degree in degrees:
                if degree == 1 and "linear" in kernels:
                    continue
                for coef0 in coefficients[:1] if degree == 1 else coefficients:
                    gamma = scale if coef0 == 0 or degree == 1 else \
                        log2g or _GAMMA_POLYNOMIAL.moved(scale)
                    grids.append(Grid("polynomial", degree, coef0, log2c or _COST, gamma))
    return grids


@dataclass(eq=False)
class Found:
    """What a search has found so far.

    search: `Search`;  tried: {options: {"mean", "sd", "values"}, or the error};  given: the
    options that there were before;  texts: {`Point`: options}.
    """

    search: Search
    given: str
    sign: int
    tried: dict = field(default_factory=dict)
    texts: dict = field(default_factory=dict)

    def summary(self, text):
        """Mean, deviation and values of options that were tried, or None."""
        result = self.tried.get(text)
        return result if isinstance(result, dict) else None

    @property
    def best(self):
        """The best options; those given unless others are better.  None where none were scored."""
        given, point = self.summary(self.given), self.search.best
        if point is None:
            return None if given is None else self.given
        better = given is None or \
            self.sign * (self.search.scores[point] - given["mean"]) > 0
        return self.texts[point] if better else self.given

    @property
    def error(self):
        """The first error there was, or None."""
        return next((result for result in self.tried.values()
                     if isinstance(result, AgfmcError)), None)


class Noted:
    """A `Ledger` that tells what it had before: `found` counts no results of this run."""

    def __init__(self, ledger):
        self._ledger, self._own = ledger, set()
        self.found = 0

    def get(self, key):
        """As the ledger does."""
        value = self._ledger.get(key)
        self.found += value is not None and key not in self._own
        return value

    def put(self, key, value):
        """As the ledger does."""
        self._own.add(key)
        self._ledger.put(key, value)

    def flush(self):
        """As the ledger does."""
        self._ledger.flush()


class _TimeUp(Exception):
    """The time limit has come."""


@dataclass(eq=False)
class Tuner:
    """Everything that scoring options takes.

    data: raw `Dataset`;  plan, settings, ledger;  by: name of the score;  deadline: on the
    clock of `time.monotonic`, or None;  progress: as for `compare`;  complete: False
    after the time was over.
    """

    data: object
    plan: object
    settings: object
    by: str
    deadline: float | None = None
    progress: object = None
    complete: bool = True
    done: int = 0
    taken: int = 0
    total: int = 1

    @property
    def sign(self):
        """1 where larger scores are better, else -1."""
        return SCORES[self.by].sign

    def trials(self, task, items):
        """For each of `items` (number, options), the scores or errors on all splits."""
        results = [[] for _ in items]
        for split in splits(self.data.y, self.plan):
            self._check_time()
            trained = []

            def note(part, whole):
                trained.append(part)
                if self.progress is not None:
                    here = 1000 * len(items) * part // max(whole, 1)
                    self.progress(1000 * (self.done - self.taken) + here,
                                  1000 * max(self.total - self.taken, 1))
                self._check_time()

            stage = prepared(split, self.data, self.settings)
            for scores, result in zip(results, task.score(stage, items, note)):
                scores.append(result)
            self.done += len(items)
            if not trained:
                self.taken += len(items)  # of an earlier run: they tell nothing of the time
        return results

    def _check_time(self):
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise _TimeUp

    def noted(self, results):
        """{"mean", "sd", "values"} of the scores of all splits, or an error."""
        error = next((part for part in results if isinstance(part, AgfmcError)), None)
        if error is not None:
            return error
        values = [part[self.by] for part in results]
        sound = [value for value in values if value is not None and math.isfinite(value)]
        if not sound:
            if all(part["accuracy"] is None for part in results):
                return DataError("no part that was held out has samples of it")
            raise UsageError(f"the decoder gives no {self.by.replace('_', ' ')}: choose "
                             "another score with --by, or another decoder with -Q")
        return {**summary(sound), "values": values}

    def whole(self, task, texts):
        """{name of `SCORES`: summary or None} of options for a whole configuration.

        None where it cannot be trained, and where the time is over before.
        """
        try:
            parts = self.trials(task, [(0, texts)])[0]
        except _TimeUp:
            return None
        if any(isinstance(part, AgfmcError) for part in parts):
            return None
        return {name: None if any(part[name] is None for part in parts) else
                summary([part[name] for part in parts]) for name in SCORES}


def tune(tuner, task, grids, base, refine):
    """Search `grids` for each of the searches of `task`; -> a list of `Found`.

    task: a `Whole`, or `Problems`;  base: the options as they are, whose other words than
    kernel and C go into every trial.  Ends early when the time is over, which
    `tuner.complete` tells.
    """
    count = len(getattr(task, "sides", "1"))
    fixed, given = fixed_words(base), given_text(base)
    found = [Found(Search(grids, refine, tuner.sign), given, tuner.sign) for _ in range(count)]
    with hushed():
        try:
            _try(tuner, task, found, [(number, None) for number in range(count)], fixed)
            while wanted := [(number, point) for number, one in enumerate(found)
                             for point in one.search.wanted()]:
                for batch in _batches(wanted, task.jobs):
                    _try(tuner, task, found, batch, fixed)
        except _TimeUp:
            tuner.complete = False
    return found


@contextmanager
def hushed():
    """Without warnings that would come for each of thousands of fits, or for each split."""
    with warnings.catch_warnings():
        for words in _HUSHED:
            warnings.filterwarnings("ignore", words, AgfmcWarning)
        yield


def _batches(wanted, jobs):
    """Points with the same kernel and gamma together: they share kernel values."""
    def kernel(item):
        return item[1][:4]

    order = {}
    for item in wanted:
        order.setdefault(kernel(item), len(order))
    batch = []
    for _, group in groupby(sorted(wanted, key=lambda item: order[kernel(item)]), kernel):
        batch += group
        if len(batch) * jobs >= _LEAST:
            yield batch
            batch = []
    if batch:
        yield batch


def _try(tuner, task, found, batch, fixed):
    """Score (number, `Point`, or None for the options that are given)."""
    texts = [found[number].given if point is None else point.text(fixed)
             for number, point in batch]
    fresh = [(number, text) for (number, _), text in zip(batch, texts)
             if text not in found[number].tried]
    tuner.total = max(tuner.done + len(fresh) * tuner.plan.count,
                      sum(one.search.expected for one in found) * tuner.plan.count)
    if fresh:
        for (number, text), results in zip(fresh, tuner.trials(task, fresh)):
            found[number].tried[text] = tuner.noted(results)
    for (number, point), text in zip(batch, texts):
        if point is not None:
            one = found[number]
            one.texts[point] = text
            scored = one.summary(text)
            one.search.tell(point, None if scored is None else scored["mean"])


@dataclass(frozen=True, eq=False)
class Start:
    """What is known before the search.

    data: raw `Dataset`;  candidate, settings;  base: the options that are given;  tree: the
    control tree for all of the data;  scale: as `scale_exponent` gives it;  features: after
    the normalisation.
    """

    data: object
    candidate: object
    settings: object
    base: str
    tree: object
    scale: float
    features: int


def prepare_tuning(data, candidate, settings, base, must_loo=False):
    """The `Start` of a search; everything is checked that needs no training.

    must_loo: it is an error where `settings.loo` is not possible, as rows with options of
    their own are nu-SVC; else such controls are trained with folds.
    """
    fixed_words(base)
    (x,) = settings.normalised(data.x)
    names = dict(enumerate(data.names or ()))
    tree = candidate.tree_for(x, data.y, names)
    counts = {int(label): int((data.y == label).sum()) for label in set(data.y.tolist())}
    check_classes(tree, counts, "the data")
    if not any(open_rows(tree)):
        raise UsageError('there is nothing to tune: no row of the control has "" for its options')
    jobs = plan_jobs(tree, "m", base, settings.seed)
    no_loo = any(job.options.no_loo for job in jobs)
    if must_loo:
        check_loo(jobs)
    return Start(data, candidate, replace(settings, loo=settings.loo and not no_loo), base, tree,
                 scale_exponent(x), x.shape[1])


def tuned(start, plan, ledger, *, by, per_partition=False, kernels=("rbf",), degrees=range(1, 7),
          coefficients=(0.0, 1.0), log2c=None, log2g=None, refine=2, deadline=None,
          progress=None):
    """Search, and put what is found into the control tree; -> (result, tree).

    by: name of a score;  log2c, log2g: (low, high, step) of exponents or None;
    deadline: on the clock of `time.monotonic`.  result: by, plan, decoder, complete, tried
    (number of points) and either the keys of `plain_search`, or partitions, a list of
    such with left, right and rows, and whole, {"given", "tuned": {score: summary}} or None.
    tree: None where the time was over before anything was scored.  Raises the first error
    where nothing could be trained.
    """
    grids = grids_for(kernels, degrees, coefficients, start.scale,
                      None if log2c is None else Axis(*log2c),
                      None if log2g is None else Axis(*log2g))
    tuner = Tuner(start.data, plan, start.settings, by, deadline, progress)
    whole = Whole(start.candidate, start.tree, start.settings, ledger)
    task = Problems(start.tree, start.settings, ledger) if per_partition else whole
    found = tune(tuner, task, grids, start.base, refine)
    if all(one.search.best is None for one in found):
        error = next((one.error for one in found if one.error is not None), None)
        if error is not None and tuner.complete:
            raise error
        found_texts = None  # the options given are no find
    else:
        found_texts = [one.best or one.given for one in found]
    searches = [plain_search(one, start.features) for one in found]
    if found_texts is None:
        searches = [{**search, "best": None} for search in searches]
    result = {"by": by, "plan": plan.words, "decoder": whole.decoder,
              "complete": tuner.complete, "tried": sum(len(one.tried) for one in found)}
    if per_partition:
        searches = [{"left": list(left), "right": list(right), "rows": rows, **search}
                    for (left, right), rows, search in zip(task.sides, task.rows, searches)]
    if tuner.complete:
        _warn_of_borders(searches)
    tree = None
    if not per_partition:
        if found_texts is not None:
            tree = with_options(start.tree, found_texts[0])
        return {**result, **searches[0]}, tree
    compared = None
    if found_texts is not None:
        texts = [""] * len(start.tree.rows)
        for text, rows in zip(found_texts, task.rows):
            for row in rows:
                texts[row] = text
        tree = with_options(start.tree, texts)
        if tuner.complete:
            compared = _compared(start, tuner, ledger, found[0].given, tuple(texts))
    return {**result, "partitions": searches, "whole": compared}, tree


def _compared(start, tuner, ledger, given, texts):
    """Scores of the whole configuration, with options for each row and with those given."""
    fixed = Candidate(start.candidate.name, start.tree, None, start.candidate.wanted)
    task = Whole(fixed, start.tree, start.settings, ledger)
    tuner.total = tuner.done + 2 * tuner.plan.count
    with hushed():
        columns = {"given": tuner.whole(task, given), "tuned": tuner.whole(task, texts)}
    return None if None in columns.values() else columns


def _warn_of_borders(searches):
    """One warning for each limit of the search that a best point lies on."""
    limits = {}
    for search in searches:
        for limit in search["border"]:
            limits.setdefault(limit, []).append(search)
    for limit, there in limits.items():
        name, side = limit.split()
        where = "" if "left" not in there[0] else " for " + ", ".join(
            partition_text(search, 28) for search in there[:4]) + (
            f" and {len(there) - 4} more" if len(there) > 4 else "")
        warnings.warn(f"the best {name}{where} is the {_SIDES[side]} that was tried: a wider "
                      f"{_OPTIONS[name]} may find a better one", AgfmcWarning, stacklevel=3)


_SIDES = {"low": "smallest", "high": "largest"}
_OPTIONS = {"C": "--log2c", "gamma": "--log2g"}
