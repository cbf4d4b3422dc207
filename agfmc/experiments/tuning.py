"""Tuning: training options searched by cross-validation, and put into the control tree.

A search proposes points; a task scores them on the same splits, for the whole configuration or
for each of its binary problems.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..control.build import check_classes
from ..control.learners import PARAMETERS
from ..control.tree import Tree
from ..core.errors import AgfmcError, JobsFailed, UsageError, warn_user
from ..core.kernels import KERNELS, SEARCHED_KERNELS, TUNED_KERNELS
from ..core.splits import of_rows, rows_by_class
from ..core.text import partition_text
from ..executors.remote import threads_here
from ..executors.threads import available_cores, run_tasks
from ..files.result_store import key_of, ResultCache
from ..kernels.machine import decision_values
from ..learners.protocol import (
    check_learners,
    has_left_out,
    Job,
    parse_options,
    plan_jobs,
    SharedGroup,
)
from ..score.evaluation import Results
from ..score.rows import BY_OPTION, SCORES
from ..training.run import TimeUp
from .binary_problems import binary_model, problem_key, smaller_costs, train_missing
from .caches import to_record
from .candidates import (
    CANNOT_JUDGE,
    Candidate,
    decoders_for,
    open_nodes,
    open_rows,
    searched_options,
    with_options,
)
from .experiment import Experiment, clear_worker_caches
from .pooling import corrected, difference_of, FORECASTS, pooled
from .racing import (
    COMPARED,
    first_parts,
    HOPELESS,
    race,
    scores_of,
    Tuner,
    without_repeated_warnings,
)
from .results import search_result
from .search import scale_exponent, SearchedOptions, SearchSpace
from .trial import Outcome, run_trial

SEARCHES = {"fast": 1, "full": 2}  # how often each halves the step of the grids, at most
_SIDES = {"low": "smallest", "high": "largest"}
_OPTIONS = {row.name: f"--{column}" for column, row in PARAMETERS.items()}


# -- from data to a control tree -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TuningTask:
    """A candidate to be tuned in an `Experiment`, its tree for all of the data, and their scales.

    With `left_out` points are scored by leave-one-out values, and the splits judge the result
    alone. `design_s` are seconds of a core that the tree took.
    """

    experiment: Experiment
    candidate: Candidate
    tree: Tree
    scale: float
    features: int
    left_out: bool = False
    design_s: float = 0.0
    scales: Mapping = field(default_factory=dict)


def prepare_tuning(
    experiment: Experiment, candidate: Candidate, must_loo: bool = False
) -> TuningTask:
    """The `TuningTask` of a candidate; everything is checked that needs no training.

    With `must_loo` it is an error where `settings.loo` is not possible, as where rows with options
    in the control file are nu-SVC; else such controls are trained with folds.
    """
    settings = experiment.settings
    if candidate.tree is not None:
        settings = replace(settings, options=settings.options or candidate.tree.options)
    (tree, design_s), x = experiment.design_of(candidate)
    check_classes(tree, experiment.data.counts, "the data")
    searched_options(tree, settings.options)
    jobs = plan_jobs(tree, "m", settings.options, settings.seed)
    if must_loo:
        check_learners(jobs, loo=True)
    learned = decoders_for(tree, candidate.decoders)[0].decoder.takes == "learned"
    left_out = has_left_out(jobs) and not learned
    if experiment.plan.left_out and not left_out:
        raise UsageError(
            CANNOT_JUDGE
            if learned
            else "--loo is for a configuration all of whose classifiers are learner=nystrom"
        )
    if left_out and not experiment.plan.left_out:  # these come last
        experiment.check_splits()
    loo = settings.loo and not any(job.options.no_loo for job in jobs)
    experiment = replace(experiment, settings=replace(settings, loo=loo), quick_maps=True)
    scales = {
        name: scale_exponent(x, name)
        for name, kind in KERNELS.items()
        if kind.distance and not kind.in_libsvm
    }
    return TuningTask(
        experiment, candidate, tree, scale_exponent(x), x.shape[1], left_out, design_s, scales
    )


def tune(
    task: TuningTask,
    space: SearchSpace,
    *,
    by: str,
    search: str = "fast",
    per_partition: bool = False,
    deadline: float | None = None,
    progress=None,
) -> tuple:
    """Search a `SearchSpace`, and put the best options into the control tree; -> (result, tree).

    Raises the first error where nothing could be trained.

    Parameters
    ----------
    by : str, name of a score
    search : {"fast", "full"}, a race (`racing.race`), or every point on all splits
    per_partition : bool, each binary problem has a search for itself, and with a race its result is
        taken only where it is better than common options, on splits that chose neither
    deadline : float, optional, on the clock of `time.monotonic`

    Returns
    -------
    result : dict
        Keys: by, plan, search, decoder, complete, tried (number of points), left_out (the number of
        points whose leave-one-out values were scored, None where the splits were), estimate (score,
        error, points and how: what to expect of new data; None where nothing can tell) and either
        the keys of `search_result`, or partitions, a list of such with left, right and rows. Where
        the search did not score the whole configuration on the splits, whole, {"given", "tuned":
        {score: summary}} or None; with a race for each partition {"common", "tuned"}, common, the
        `search_result` of common options, and own, False where these were taken.
    tree : Tree or None
        None where the time limit came before anything was scored.
    """
    searched = searched_options(task.tree, task.experiment.settings.options)
    by_default, fast = space.kernels is None, search == "fast"
    space = space.for_options(searched)
    if by_default and space.kernels == SEARCHED_KERNELS and (megabytes := _lacking(task)):
        warn_user(
            f"the laplacian kernel is left out of the search: its kernel values need "
            f"--kernel-memory {megabytes}, or learner=nystrom"
        )
        space = space._replace(kernels=SEARCHED_KERNELS[:1])
    if per_partition and fast:
        if task.experiment.plan.count < 2:
            raise UsageError(
                "--per-partition is evaluated on splits that chose nothing: it needs "
                "at least two, as with -d 5, or --search full"
            )
        task = replace(task, left_out=False)
    experiment = task.experiment.left_out if task.left_out else task.experiment
    experiment = replace(experiment, along_cost=fast)
    tuner = Tuner(experiment, by, deadline, progress)
    whole = WholeConfiguration(task.candidate, task.tree, experiment)
    refine = SEARCHES[search] if space.refine is None else space.refine
    run = _Run(task, tuner, whole, space.grids(task.scale, task.scales), refine, searched)
    outcome, tree = (
        run.common(fast) if not per_partition else run.each_where_better() if fast else run.each()
    )
    return {
        "by": by,
        "plan": task.experiment.plan.description,
        "search": search,
        "decoder": whole.decoder,
        "complete": tuner.complete,
        "left_out": experiment.left_out_count if task.left_out else None,
        **outcome,
    }, tree


def _lacking(task):
    """The megabytes that tables of kernel values need, where the settings allow less; else 0."""
    settings, counts = task.experiment.settings, task.experiment.data.counts
    workers = settings.workers if isinstance(settings.workers, int) else 1
    jobs = [
        job
        for job in plan_jobs(task.tree, "m", settings.options, settings.seed)
        if getattr(job.options, "packing", "") == "nodes"
    ]
    sizes = [sum(counts[label] for label in job.labels) for job in jobs]
    whole = sum(counts[label] for label in {label for job in jobs for label in job.labels})
    needed = max(sizes, default=0) ** 2 * (workers or available_cores())
    if whole**2 <= sum(size**2 for size in sizes):  # one table for all
        needed = min(needed, whole**2)
    needed = -(-needed >> 17)
    return needed if needed > settings.kernel_memory else 0


@dataclass(frozen=True, eq=False)
class _Run:
    """A search that begins; searched: the `SearchedOptions` that it starts from."""

    task: TuningTask
    tuner: Tuner
    whole: WholeConfiguration
    grids: list
    refine: int
    searched: SearchedOptions

    def common(self, fast):
        """(part of the result, tree) with one set of options."""
        tuner = self.tuner
        parts = first_parts(tuner.experiment) if fast else tuner.parts
        (state,) = self._search(
            self.whole, parts if fast else None, [part for part in tuner.parts if part not in parts]
        )
        return self._common(state, parts)

    def _common(self, state, parts=()):
        task, tuner = self.task, self.tuner
        result = search_result(state, self.searched.point(task.features))
        tree = None if state.best is None else with_options(task.tree, state.best)
        if tuner.complete:
            _warn_of_borders([result])
        outcomes = [] if tree is None else list(state.outcomes[state.best].values())
        result |= {
            "tried": len(state.tried),
            "scores": scores_of(outcomes) if outcomes else None,
            "estimate": self._estimate(state, parts) if parts else None,
        }
        if task.left_out and not task.experiment.plan.left_out:
            result["whole"] = (
                self._whole(task.candidate, state.given, state.best)
                if tree is not None and tuner.complete
                else None
            )
        return result, tree

    def each(self):
        """(part of the result, tree) with options for each binary problem, on all splits."""
        task = self.task
        searches, texts, tried = self._partitions(None)
        result = {"tried": tried, "partitions": searches, "estimate": None, "whole": None}
        if texts is None:
            return result, None
        if self.tuner.complete:
            result["whole"] = self._whole(
                replace(task.candidate, tree=task.tree), self.searched.given, texts
            )
        return result, with_options(task.tree, texts)

    def each_where_better(self):
        """(part of the result, tree) with options for each binary problem, or common ones: of
        races, whose results the splits that chose neither judge."""
        task, tuner = self.task, self.tuner
        least = BinaryProblems(task.tree, tuner.experiment).least
        parts = first_parts(tuner.experiment, least / len(task.experiment.data.y), 2)
        rest = [part for part in tuner.parts if part not in parts]
        (state,) = self._search(self.whole, parts, [])
        common, tree = self._common(state)
        result = {
            "tried": common["tried"],
            "estimate": None,
            "partitions": [],
            "common": common,
            "own": False,
            "whole": None,
        }
        if tree is None or not tuner.complete:
            return result, tree
        result["partitions"], texts, tried = self._partitions(parts)
        result["tried"] += tried
        if not tuner.complete:
            return result, tree
        rows = {"common": state.best, "tuned": texts}
        whole = WholeConfiguration(
            replace(task.candidate, tree=task.tree), task.tree, tuner.experiment
        )
        tuner.total = tuner.done + 2 * tuner.work(rest)
        try:
            outcomes = {
                name: list(tuner.trials(whole, [(0, options)], rest)[0].values())
                for name, options in rows.items()
            }
        except TimeUp:
            tuner.complete = False
            return result, tree
        for outcome in sum(outcomes.values(), []):
            if isinstance(outcome, AgfmcError):
                raise outcome
        margin = difference_of(
            tuner.by, outcomes["tuned"], outcomes["common"], task.experiment.plan
        )
        is_better = margin.gain > margin.error
        names = ("tuned", "common") if is_better else ("common", "tuned")
        result |= {
            "own": is_better,
            "whole": {name: scores_of(parts) for name, parts in outcomes.items()},
            "estimate": self._corrected(
                whole,
                rows[names[0]],
                [outcomes[name] for name in names],
                rest,
                f"{self._names(rest)}, which decided between common options and those of "
                "each partition alone, and corrected for that",
            ),
        }
        return result, with_options(task.tree, texts) if is_better else tree

    def _search(self, scoring, parts, rest):
        """The `SearchState`s of a race on `parts`, or of a search on all splits where they are
        None; raises the first error where nothing could be trained."""
        states = race(self.tuner, scoring, self.grids, self.refine, parts, rest)
        if self.tuner.complete and all(state.best is None for state in states):
            raise next(
                result
                for state in states
                for result in state.tried.values()
                if isinstance(result, AgfmcError)
            )
        return states

    def _partitions(self, parts):
        """(results of a search for each binary problem, options for each row of the tree or None
        where nothing was scored, number of points)."""
        problems, given = (
            BinaryProblems(self.task.tree, self.tuner.experiment),
            self.searched.point(self.task.features),
        )
        states = self._search(problems, parts, [])
        searches = [
            {"left": list(left), "right": list(right), "rows": rows, **search_result(state, given)}
            for (left, right), rows, state in zip(problems.sides, problems.rows, states)
        ]
        if self.tuner.complete:
            _warn_of_borders(searches)
        texts = [""] * len(self.task.tree.rows)
        for state, rows in zip(states, problems.rows):
            for row in rows:
                texts[row] = state.best or state.given
        return (
            searches,
            tuple(texts) if any(state.best for state in states) else None,
            sum(len(state.tried) for state in states),
        )

    def _estimate(self, state, parts):
        """The estimate for new data, from the splits that had no say but in the choice between the
        last options; or from all where all chose."""
        best, tuner = state.best, self.tuner
        if best is None or not tuner.complete:
            return None
        judges = state.judges or parts
        # others are never chosen
        texts = [
            text
            for text in state.near(tuner.by, HOPELESS, COMPARED)
            if set(judges) <= set(state.outcomes[text])
        ]
        how = (
            "corrected for the choice among the options that were scored on these points"
            if not state.judges
            else f"which decided between the last {len(texts)} options "
            "alone, and corrected for that"
            if len(texts) > 1
            else "which decided nothing"
        )
        if not self.task.left_out:
            how = f"{self._names(judges)}, {how}"
        return self._corrected(
            self.whole,
            best,
            [[state.outcomes[text][part] for part in judges] for text in texts],
            judges,
            how,
        )

    def _corrected(self, whole, best, outcomes, parts, how):
        """The estimate as a dictionary, from outcomes of options, those of `best` first, on parts;
        changed by as much as the calibration maps of a final model change the score of `best` on
        the first of the parts."""
        tuner, seed = self.tuner, self.task.experiment.plan.seed
        rows = np.concatenate([tuner.held_out[part] for part in parts])
        estimate = {**corrected(tuner.by, outcomes, seed, rows=rows).words, "how": how}
        parts = parts[: len(first_parts(tuner.experiment))]
        if True not in tuner.experiment.calibrated:
            return estimate
        experiment = replace(tuner.experiment, quick_maps=False)
        final = replace(tuner, experiment=experiment, progress=None, _split=None)
        try:
            results = list(final.trials(whole.of(experiment), [(0, best)], parts)[0].values())
        except TimeUp:
            tuner.complete = False
            return None
        if not any(isinstance(result, AgfmcError) for result in results):
            estimate["score"] += pooled(tuner.by, results) - pooled(
                tuner.by, outcomes[0][: len(results)]
            )
        return estimate

    def _names(self, parts):
        plan = self.tuner.experiment.plan
        word = "part" if plan.parts and plan.trials == 1 else "split"
        numbers = [part.number + 1 for part in parts]
        return (
            f"{word} {numbers[0]}"
            if len(numbers) == 1
            else f"{word}s {numbers[0]} to {numbers[-1]}"
        )

    def _whole(self, candidate, given, best):
        """Scores of the whole configuration on the splits, with the best options and those
        given."""
        experiment, tree = self.task.experiment, self.task.tree
        whole = WholeConfiguration(candidate, tree, experiment)
        tuner = replace(self.tuner, experiment=experiment, held_out={}, _split=None)
        tuner.total = tuner.done + 2 * tuner.work(tuner.parts)
        with without_repeated_warnings():
            columns = {"given": tuner.summaries(whole, given, tuner.parts)}
            columns["tuned"] = (
                columns["given"] if best == given else tuner.summaries(whole, best, tuner.parts)
            )
        return None if None in columns.values() else columns


def _warn_of_borders(searches):
    """One warning for each limit of the search that a best point lies on."""
    limits = {}
    for search in searches:
        for limit in search["border"]:
            limits.setdefault(limit, []).append(search)
    for limit, there in limits.items():
        name, side = limit.split()
        where = (
            ""
            if "left" not in there[0]
            else " for "
            + ", ".join(partition_text(search, 28) for search in there[:4])
            + (f" and {len(there) - 4} more" if len(there) > 4 else "")
        )
        warn_user(
            f"the best {name}{where} is the {_SIDES[side]} that was tried: a wider "
            f"{_OPTIONS[name]} may find a better one"
        )


# -- trials of options on one split ----------------------------------------------------------------


class WholeConfiguration:
    """One search, in which all open rows of a configuration, laid out by the candidate, have the
    same options. `jobs` is the number of classifiers of a trial."""

    def __init__(self, candidate, tree, experiment):
        self._candidate, self._tree, self._experiment = candidate, tree, experiment
        self._trees = {}
        self.decoder = decoders_for(tree, candidate.decoders)[0].name
        self.searched = searched_options(tree, experiment.settings.options)
        self.rows = [[number for number, is_open in enumerate(open_rows(tree)) if is_open]]
        self.jobs = len(self.rows[0] or open_nodes(tree))

    def of(self, experiment) -> WholeConfiguration:
        """The search in another experiment with the same splits."""
        other = WholeConfiguration(self._candidate, self._tree, experiment)
        other._trees = self._trees
        return other

    def score(self, split, items, progress):
        """The `Outcome`, or the error, of each of `items` (0, options), where options are a text,
        or a tuple of texts for the rows."""
        if split.digest not in self._trees:
            self._trees[split.digest] = split.design_of(self._candidate, self._experiment).tree
        tree = self._trees[split.digest]
        trials = [replace(self._candidate, tree=with_options(tree, text)) for _, text in items]
        outcomes = run_trial(split, trials, self._experiment, first=True, progress=progress)
        return [outcome.error or outcome for outcome in outcomes]


class BinaryProblems:
    """A search for each different binary problem, sides of labels, among the open rows of a tree,
    with the rows that it stands in and the points of the smallest."""

    jobs = 1

    def __init__(self, tree, experiment):
        self._tree, self._experiment = tree, experiment
        rows = {}
        for number, (sides, is_open) in enumerate(zip(tree.sides(), open_rows(tree))):
            if is_open:
                rows.setdefault(tuple(tuple(sorted(side)) for side in sides), []).append(number)
        if not rows:
            raise UsageError(
                '--per-partition: no row of the control has "" for its options, and '
                "nodes are tuned together"
            )
        self.searched = searched_options(tree, experiment.settings.options)
        self.sides, self.rows = list(rows), list(rows.values())
        counts = experiment.data.counts
        self.least = min(
            sum(counts[label] for side in sides for label in side) for sides in self.sides
        )

    def job(self, number, text):
        """The `Job` of a problem with these options."""
        row, sides, options = self.rows[number][0], self.sides[number], parse_options(text)
        return Job(
            f"m-{row:02d}",
            sides,
            options,
            text,
            self._experiment.settings.seed,
            self._tree.place(self._tree.rows[row]),
            SharedGroup((sides,)) if options.uses_shared_landmarks else None,
        )

    def score(self, split, items, progress):
        """The `Outcome`, or the error, of each of `items` (problem, options)."""
        check_classes(self._tree, split.data.counts, "the data")
        settings, cache = self._experiment.settings, self._experiment.cache
        jobs = [self.job(*item) for item in items]
        keys = [problem_key(split, job, self._experiment) for job in jobs]
        smaller = smaller_costs(dict(zip(keys, jobs)), self._experiment)
        outcome_keys = [key_of("sides 6", key, split.test_digest, smaller[key]) for key in keys]
        rows_of = rows_by_class(split.test.y)
        parts = [_held_out(job, rows_of) for job in jobs]
        drawn = [
            [of_rows(split.test_weights, rows), of_rows(split.test.groups, rows)]
            for rows, _ in parts
        ]
        outcomes = [
            Outcome.from_record(
                number, "binary", cache.get(key), truth, np.array([0, 1]), drawn=of_points
            )
            for (number, _), key, (_, truth), of_points in zip(items, outcome_keys, parts, drawn)
        ]
        missing = [i for i, outcome in enumerate(outcomes) if outcome is None]
        trained = train_missing(
            dict(zip(keys, jobs)), split, self._experiment, progress, {keys[i] for i in missing}
        )

        def score(i):
            result, (rows, truth) = trained[keys[i]], parts[i]
            if isinstance(result, AgfmcError):
                return result
            model = binary_model(jobs[i], result, split.data.x)
            if split.left_out:
                f = result.values[np.argsort(np.argsort(rows))]
            else:
                f = decision_values(
                    model.kernel, model.sv, model.coef, model.rho, split.test.x[rows]
                )
            return _binary_outcome(items[i][0], model, f, truth, *drawn[i])

        for i, result in run_tasks(score, missing, threads_here(settings.workers)):
            outcomes[i] = result
            if not isinstance(result, AgfmcError):
                cache.put(outcome_keys[i], to_record(result))
        return outcomes


def _held_out(job, rows_of):
    """Rows (n,) of the test points of a job's classes, and their sides (n,), 0 and 1."""
    empty = np.empty(0, dtype=np.int64)
    sides = [
        np.concatenate([rows_of.get(label, empty) for label in labels]) for labels in job.sides
    ]
    return np.concatenate(sides), np.repeat(
        np.array([0, 1], dtype=np.int32), [len(side) for side in sides]
    )


def _binary_outcome(number, model, f, truth, w, groups):
    """The `Outcome` of a binary classifier, sides for classes, by its decision values f (n,); w
    and `groups` (n,) are those of the points, or None."""
    fields = {"candidate": number, "decoder": "binary", "classifiers": 1}
    if not len(truth):
        return Outcome(
            **fields,
            scores=dict.fromkeys(SCORES),
            truth=truth,
            classes=truth,
            forecasts=np.empty((FORECASTS, 0), dtype=np.float32),
            weights=w,
        )
    a, b = model.scale
    p = 0.5 * (1.0 + np.tanh(a * f + b))  # of the right side
    p = np.column_stack([1.0 - p, p])
    return Outcome.of(
        Results(
            truth,
            (a * f + b >= 0).astype(np.int32),
            np.array([0, 1]),
            2,
            p.max(axis=1),
            p,
            w,
            groups=groups,
        ),
        **fields,
    )


def find_options(
    experiment: Experiment,
    candidate: Candidate,
    *,
    by: str = "log_loss",
    search: str = "fast",
    time_limit: float | None = None,
    space: SearchSpace | None = None,
    progress=None,
) -> tuple[dict, Tree]:
    """The best training options of a candidate's open rows; -> (result, control tree with them).

    The experiment needs no cache. The result is that of `tuning.tune`.

    Parameters
    ----------
    by : str, name of a score, also as tune_m has it (log-loss)
    search : {"fast", "full"}
    time_limit : float, optional, in seconds
    space : SearchSpace, optional, by default the kernels of tune_m
    progress : function of (done, total, words), optional

    Raises
    ------
    UsageError : for a search that cannot be
    JobsFailed : where the time limit came before anything was scored
    """
    start, by = time.monotonic(), BY_OPTION.get(by, by)
    space = SearchSpace() if space is None else space
    if not isinstance(space, SearchSpace):
        raise UsageError(f"space: expected an agfmc.SearchSpace, found {space!r}")
    kernels = (("kernels", kernel, TUNED_KERNELS) for kernel in space.kernels or ())
    for word, value, known in (("by", by, SCORES), ("search", search, SEARCHES), *kernels):
        if value not in known:
            raise UsageError(f"{word}: expected one of {', '.join(known)}, found {value!r}")
    if time_limit is not None and not time_limit >= 0:
        raise UsageError(f"time_limit: expected seconds or None, found {time_limit!r}")
    with clear_worker_caches(), ResultCache(None) as cache:
        task = prepare_tuning(
            replace(
                experiment,
                cache=cache,
                settings=replace(
                    experiment.settings, workers=experiment.settings.workers or available_cores()
                ),
            ),
            candidate,
        )
        result, tree = tune(
            task,
            space,
            by=by,
            search=search,
            progress=progress,
            deadline=None if time_limit is None else start + time_limit,
        )
    if tree is None:
        raise JobsFailed(
            f"the time limit of {time_limit:g} s was reached before anything was "
            "scored: give more time"
        )
    return result, tree
