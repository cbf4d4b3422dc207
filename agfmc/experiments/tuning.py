"""Tuning: training options searched by cross-validation, and put into the control tree.

A search proposes points; a task scores them on the same splits, for the whole configuration or
for each of its binary problems.
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
from ..control.learners import PARAMETERS
from ..control.tree import Tree
from ..errors import AgfmcError, AgfmcWarning, DataError, UsageError
from ..executors.threads import run_tasks
from ..kernel.machine import decision_values
from ..learners.protocol import (check_loo, has_left_out, Job, parse_options, plan_jobs,
                                 rows_by_class, Together)
from ..prediction.evaluation import Results
from ..score.scores import SCORES
from ..training.run import TimeUp
from .binary_problems import binary_model, problem_key, train_missing
from .candidates import Candidate, decoders_for
from .experiment import Experiment
from .open_options import open_nodes, open_rows, searched_options, with_options
from .pooling import pooled, summary, zero_probability
from .result_cache import key_of
from .search import scale_exponent, Search, SearchSpace
from .tables import partition_text, search_result
from .trial import Outcome, run_trial

__all__ = ["BinaryProblems", "SearchState", "Tuner", "TuningTask", "WholeConfiguration",
           "prepare_tuning", "search_options", "tune"]

_LEAST = 24  # binary problems that are trained side by side, so that all cores are busy to the end
# warnings about each of thousands of fits, or about each split once more
_REPEATED = ("the (left|right) side .* has . sample", ".* of its probabilities did not converge",
             "features? .* constant")
_SIDES = {"low": "smallest", "high": "largest"}
_OPTIONS = {one.name: f"--{column}" for column, one in PARAMETERS.items()}


# -- from data to a control tree -------------------------------------------------------------------

@dataclass(frozen=True, eq=False)
class TuningTask:
    """A candidate to be tuned in an `Experiment`.

    tree: the control tree for all of the data;  scale: as `scale_exponent` gives it;
    features: their number after the normalisation;  left_out: points are scored by leave-one-out
    values, and the splits judge the result alone.
    """

    experiment: Experiment
    candidate: Candidate
    tree: Tree
    scale: float
    features: int
    left_out: bool = False


def prepare_tuning(experiment: Experiment, candidate: Candidate,
                   must_loo: bool = False) -> TuningTask:
    """The `TuningTask` of a candidate; everything is checked that needs no training.

    must_loo: it is an error where `settings.loo` is not possible, as rows with options of
    their own are nu-SVC; else such controls are trained with folds.
    """
    settings = experiment.settings
    tree, x = experiment.tree_of(candidate)
    check_classes(tree, experiment.data.counts, "the data")
    searched_options(tree, settings.options)
    jobs = plan_jobs(tree, "m", settings.options, settings.seed)
    if must_loo:
        check_loo(jobs)
    learned = decoders_for(tree, candidate.wanted)[0].decoder.takes == "learned"
    left_out = has_left_out(jobs) and not learned
    if experiment.plan.left_out and not left_out:
        raise UsageError("a learned decoder is fitted to the leave-one-out values: --loo cannot "
                         "judge it" if learned else "--loo is for a configuration all of whose "
                         "classifiers are learner=nystrom")
    if left_out and not experiment.plan.left_out:  # these come last
        experiment.check_splits()
    loo = settings.loo and not any(job.options.no_loo for job in jobs)
    experiment = replace(experiment, settings=replace(settings, loo=loo), quick_maps=True)
    return TuningTask(experiment, candidate, tree, scale_exponent(x), x.shape[1], left_out)


def tune(task: TuningTask, space: SearchSpace, *, by: str, per_partition: bool = False,
         deadline: float | None = None, progress=None) -> tuple:
    """Search a `SearchSpace`, and put the best options into the control tree; -> (result, tree).

    by: name of a score;  deadline: on the clock of `time.monotonic`.  result: by, plan, decoder,
    complete, tried (number of points), left_out (the number of points whose leave-one-out values
    were scored, None where the splits were) and either the keys of `search_result`, or
    partitions, a list of such with left, right and rows; and, where the search did not score the
    whole configuration on the splits, whole, {"given", "tuned": {score: summary}} or None.  tree:
    None where the time limit came before anything was scored.  Raises the first error where
    nothing could be trained.
    """
    searched = searched_options(task.tree, task.experiment.settings.options)
    space = space.for_options(searched)
    experiment = task.experiment.left_out if task.left_out else task.experiment
    tuner = Tuner(experiment, by, deadline, progress)
    whole = WholeConfiguration(task.candidate, task.tree, experiment)
    scoring = BinaryProblems(task.tree, experiment) if per_partition else whole
    states = search_options(tuner, scoring, space.grids(task.scale), space.refine)
    scored = any(state.search.best is not None for state in states)
    if not scored and tuner.complete:
        for state in states:
            if state.error is not None:
                raise state.error
    searches = [search_result(state, searched.point(task.features)) for state in states]
    if not scored:  # the options given are not the result of a search
        searches = [{**search, "best": None} for search in searches]
    result = {"by": by, "plan": task.experiment.plan.description, "decoder": whole.decoder,
              "complete": tuner.complete, "tried": sum(len(state.tried) for state in states),
              "left_out": len(experiment.left_out_rows()) if task.left_out else None}
    if per_partition:
        searches = [{"left": list(left), "right": list(right), "rows": rows, **search}
                    for (left, right), rows, search in zip(scoring.sides, scoring.rows, searches)]
    if tuner.complete:
        _warn_of_borders(searches)
    texts = [""] * len(task.tree.rows)
    for state, rows in zip(states, scoring.rows):
        for row in rows:
            texts[row] = state.best or state.given
    if not per_partition:
        texts = states[0].best or states[0].given
    tree = with_options(task.tree, texts) if scored else None
    result |= {"partitions": searches} if per_partition else searches[0]
    judged = per_partition or task.left_out and not task.experiment.plan.left_out
    if not judged:
        return result, tree
    candidate, best = task.candidate, states[0].best
    if per_partition:  # texts are for the rows of this tree
        candidate, best = replace(candidate, tree=task.tree), tuple(texts)
    compared = _compared(replace(task, candidate=candidate), tuner, states[0].given, best) \
        if scored and tuner.complete else None
    return {**result, "whole": compared}, tree


def _compared(task, tuner, given, best):
    """Scores of the whole configuration on the splits, with the best options and those given."""
    whole = WholeConfiguration(task.candidate, task.tree, task.experiment)
    tuner = replace(tuner, experiment=task.experiment,
                    total=tuner.done + 2 * task.experiment.plan.count)
    with _without_repeated_warnings():
        columns = {"given": tuner.summaries(whole, given)}
        columns["tuned"] = columns["given"] if best == given else tuner.summaries(whole, best)
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


# -- rounds of points ------------------------------------------------------------------------------

@dataclass(eq=False)
class SearchState:
    """A search, and all options that were tried in it.

    search: `Search`;  given: the options that there were before;  sign: 1 where larger scores
    are better, else -1;  tried: {options: the result of `Tuner.summary`};
    texts: {`Point`: options}.
    """

    search: Search
    given: str
    sign: int
    tried: dict = field(default_factory=dict)
    texts: dict = field(default_factory=dict)

    def summary(self, text):
        """The summary of options that were tried, or None."""
        result = self.tried.get(text)
        return result if isinstance(result, dict) else None

    @property
    def best(self):
        """The best options; those given unless others are better.  None where none were scored."""
        given, point = self.summary(self.given), self.search.best
        if point is None:
            return None if given is None else self.given
        better = given is None or \
            self.sign * (self.search.scores[point] - given["pooled"]) > 0
        return self.texts[point] if better else self.given

    @property
    def error(self):
        """The first error there was, or None."""
        return next((result for result in self.tried.values()
                     if isinstance(result, AgfmcError)), None)


@dataclass(eq=False)
class Tuner:
    """Scores of options on all splits of an `Experiment`, until the time limit.

    by: name of the score;  deadline: on the clock of `time.monotonic`, or None;  progress: as
    for `compare`;  complete: False after the time limit was reached;  done, total: trials on a
    split, of which `reused` were of an earlier run.
    """

    experiment: Experiment
    by: str
    deadline: float | None = None
    progress: object = None
    complete: bool = True
    done: int = 0
    reused: int = 0
    total: int = 1

    def trials(self, task, items):
        """For each of `items` (number of the search, options), `Outcome`s or errors on all splits.

        Raises `TimeUp` at the time limit.
        """
        results = [[] for _ in items]
        for split in self.experiment.splits():
            self._check_time()
            parts = []

            def follow(part, whole):
                parts.append(part)
                if self.progress is not None:
                    here = 1000 * len(items) * part // max(whole, 1)
                    self.progress(1000 * (self.done - self.reused) + here,
                                  1000 * max(self.total - self.reused, 1))
                self._check_time()

            for scores, result in zip(results, task.score(split, items, follow)):
                scores.append(result)
            self.done += len(items)
            if not parts:
                self.reused += len(items)  # of an earlier run: no measure of the time needed
        return results

    def _check_time(self):
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise TimeUp

    def summary(self, results):
        """{"pooled", "mean", "sd", "values", "zero_probability"} of the scores of all splits, as in
        `compare`, or an error.

        values: None on splits that hold out no sample of a binary problem.
        """
        error = next((part for part in results if isinstance(part, AgfmcError)), None)
        if error is not None:
            return error
        values = [part.scores[self.by] for part in results]
        sound = [part for part, value in zip(results, values)
                 if value is not None and math.isfinite(value)]
        if not sound:
            if not any(len(part.truth) for part in results):
                return DataError("no part that was held out has samples of it")
            raise UsageError(f"the decoder gives no {SCORES[self.by].title}: choose another score "
                             "with --by, or another decoder with -Q")
        return {**summary([part.scores[self.by] for part in sound], pooled(self.by, sound)),
                "values": values, "zero_probability": zero_probability(sound)}

    def summaries(self, task, texts):
        """{name of `SCORES`: summary or None} of options for a whole configuration.

        None where it cannot be trained, and at the time limit, with a warning.
        """
        try:
            [parts] = self.trials(task, [(0, texts)])
            error = next((part for part in parts if isinstance(part, AgfmcError)), None)
        except TimeUp:
            error = "time limit reached"
        if error is not None:
            warnings.warn(f"the result is written, and not scored: {error}", AgfmcWarning,
                          stacklevel=4)
            return None
        return {name: None if any(part.scores[name] is None for part in parts) else
                summary([part.scores[name] for part in parts], pooled(name, parts))
                for name in SCORES}


def search_options(tuner: Tuner, task, grids: list, refine: int) -> list[SearchState]:
    """Search `grids` for each of the searches of `task`; -> a list of `SearchState`.

    task: a `WholeConfiguration`, or `BinaryProblems`.  Words of the options as they are, other
    than kernel and C, go into every trial.  Ends early at the time limit, and `tuner.complete`
    is False then.
    """
    sign = SCORES[tuner.by].sign
    fixed, given = task.searched.fixed, task.searched.given
    states = [SearchState(Search(grids, refine, sign), given, sign) for _ in task.rows]
    with _without_repeated_warnings():
        try:
            _score(tuner, task, states, [(number, None) for number in range(len(states))], fixed)
            while items := [(number, point) for number, state in enumerate(states)
                            for point in state.search.next_points()]:
                for batch in _batches(items, task.jobs):
                    _score(tuner, task, states, batch, fixed)
        except TimeUp:
            tuner.complete = False
    return states


@contextmanager
def _without_repeated_warnings():
    """Without warnings that would come for each of thousands of fits, or for each split."""
    with warnings.catch_warnings():
        for pattern in _REPEATED:
            warnings.filterwarnings("ignore", pattern, AgfmcWarning)
        yield


def _batches(items, jobs):
    """Points with the same kernel and gamma together: they share kernel values."""
    def kernel(item):
        return item[1][:4]

    order = {}
    for item in items:
        order.setdefault(kernel(item), len(order))
    batch = []
    for _, group in groupby(sorted(items, key=lambda item: order[kernel(item)]), kernel):
        batch += group
        if len(batch) * jobs >= _LEAST:
            yield batch
            batch = []
    if batch:
        yield batch


def _score(tuner, task, states, batch, fixed):
    """Score (number, `Point`, or None for the options that are given)."""
    texts = [states[number].given if point is None else point.text(fixed)
             for number, point in batch]
    fresh = [(number, text) for (number, _), text in zip(batch, texts)
             if text not in states[number].tried]
    count = tuner.experiment.plan.count
    tuner.total = max(tuner.done + len(fresh) * count,
                      sum(state.search.expected for state in states) * count)
    if fresh:
        for (number, text), results in zip(fresh, tuner.trials(task, fresh)):
            states[number].tried[text] = tuner.summary(results)
    for (number, point), text in zip(batch, texts):
        if point is not None:
            state = states[number]
            state.texts[point] = text
            scored = state.summary(text)
            state.search.record(point, None if scored is None else scored["pooled"])


# -- trials of options on one split ----------------------------------------------------------------

class WholeConfiguration:
    """One search, in which all open rows of a configuration have the same options.

    candidate: lays out the trees of the training parts;  tree: for all of the data;
    searched: `SearchedOptions`;  rows: of the tree, for the one search, none where nodes are
    tuned;  jobs: classifiers of a trial.
    """

    def __init__(self, candidate, tree, experiment):
        self._candidate, self._experiment = candidate, experiment
        self._trees = {}
        self.decoder = decoders_for(tree, candidate.wanted)[0].name
        self.searched = searched_options(tree, experiment.settings.options)
        self.rows = [[number for number, is_open in enumerate(open_rows(tree)) if is_open]]
        self.jobs = len(self.rows[0] or open_nodes(tree))

    def score(self, split, items, progress):
        """The `Outcome`, or the error, of each of `items` (0, options).

        The options may be a text, or a tuple of texts for the rows.
        """
        if split.name not in self._trees:
            self._trees[split.name] = self._candidate.tree_for(split.x, split.y, split.names)
        tree = self._trees[split.name]
        trials = [replace(self._candidate, tree=with_options(tree, text)) for _, text in items]
        outcomes = run_trial(split, trials, self._experiment, first=True, progress=progress)
        return [outcome if outcome.error is None else outcome.error for outcome in outcomes]


class BinaryProblems:
    """A search for each different binary problem among the open rows of a tree.

    sides: (left, right) labels of each problem;  rows: the rows of `tree` that it stands in.
    """

    jobs = 1

    def __init__(self, tree, experiment):
        self._tree, self._experiment = tree, experiment
        rows = {}
        for number, (sides, is_open) in enumerate(zip(tree.sides(), open_rows(tree))):
            if is_open:
                key = tuple(tuple(sorted(side)) for side in sides)
                rows.setdefault(key, []).append(number)
        if not rows:
            raise UsageError("--per-partition: no row of the control has \"\" for its options, and "
                             "nodes are tuned together")
        self.searched = searched_options(tree, experiment.settings.options)
        self.sides, self.rows = list(rows), list(rows.values())

    def job(self, number, text):
        """The `Job` of a problem with these options."""
        row, sides, options = self.rows[number][0], self.sides[number], parse_options(text)
        return Job(f"m-{row:02d}", sides, options, text, self._experiment.settings.seed,
                   self._tree.place(self._tree.rows[row]),
                   Together((sides,)) if options.shares else None)

    def score(self, split, items, progress):
        """The `Outcome`, or the error, of each of `items` (problem, options)."""
        check_classes(self._tree, split.counts, "the data")
        settings, cache = self._experiment.settings, self._experiment.cache
        jobs = [self.job(*item) for item in items]
        keys = [problem_key(split, job, self._experiment) for job in jobs]
        outcome_keys = [key_of("sides 2", key, split.test_digest) for key in keys]
        rows_of = rows_by_class(split.test_y)
        parts = [_held_out(job, rows_of) for job in jobs]
        outcomes = [None if data is None else Outcome.from_bytes(
            number, "binary", data, truth, np.array([0, 1])) for (number, _), data, (_, truth) in
            zip(items, map(cache.get, outcome_keys), parts)]
        missing = [i for i, known in enumerate(outcomes) if known is None]
        trained = train_missing(dict(zip(keys, jobs)), split, self._experiment, progress,
                                {keys[i] for i in missing})

        def score(i):
            result, (rows, truth) = trained[keys[i]], parts[i]
            if isinstance(result, AgfmcError):
                return result
            model = binary_model(jobs[i], result, split.x)
            if split.left_out:
                f = result.values[np.argsort(np.argsort(rows))]
            else:
                f = decision_values(model.kernel, model.sv, model.coef, model.rho,
                                    split.test_x[rows])
            return _binary_outcome(items[i][0], model, f, truth)

        for i, result in run_tasks(score, missing, settings.workers):
            outcomes[i] = result
            if not isinstance(result, AgfmcError):
                cache.put(outcome_keys[i], result.to_bytes())
        cache.flush()
        return outcomes


def _held_out(job, rows_of):
    """Rows (n,) of the test points of a job's classes, and their sides (n,), 0 and 1."""
    empty = np.empty(0, dtype=np.int64)
    sides = [np.concatenate([rows_of.get(label, empty) for label in labels])
             for labels in job.sides]
    return np.concatenate(sides), np.repeat(np.array([0, 1], dtype=np.int32),
                                            [len(side) for side in sides])


def _binary_outcome(number, model, f, truth):
    """The `Outcome` of a binary classifier, sides for classes; f (n,): its decision values."""
    fields = {"candidate": number, "decoder": "binary", "classifiers": 1}
    if not len(truth):
        return Outcome(**fields, scores=dict.fromkeys(SCORES), truth=truth, classes=truth,
                       forecasts=np.empty((3, 0), dtype=np.float32))
    a, b = model.scale
    p = 0.5 * (1.0 + np.tanh(a * f + b))  # of the right side
    p = np.column_stack([1.0 - p, p])
    return Outcome.of(Results(truth, (a * f + b >= 0).astype(np.int32), np.array([0, 1]), 2,
                              p.max(axis=1), p), **fields)
