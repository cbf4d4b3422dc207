"""Tuning: training options searched by cross-validation, and put into the control tree.

A search proposes points; a task scores them on the same splits.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..control.build import check_classes
from ..control.tree import Tree
from ..core.errors import AgfmcError, JobsFailed, UsageError, warn_user
from ..core.kernels import KERNELS, SEARCHED_KERNELS, TUNED_KERNELS
from ..core.memory import KERNEL_MEMORY, kernel_memory
from ..executors.threads import available_cores
from ..files.result_store import ResultCache
from ..learners.protocol import (
    check_learners,
    has_left_out,
    plan_jobs,
)
from ..score.rows import BY_OPTION, SCORES
from ..training.run import TimeUp
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
from .pooling import corrected, pooled
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
from .search import read_space, scale_exponent, SearchedOptions, SearchSpace
from .trial import run_trial

SEARCHES = {"fast": 1, "full": 2}  # how often each halves the step of the grids, at most
_SIDES = {"low": "smallest", "high": "largest"}


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


def prepare_tuning(experiment: Experiment, candidate: Candidate) -> TuningTask:
    """The `TuningTask` of a candidate; everything is checked that needs no training."""
    settings = experiment.settings
    if candidate.tree is not None:
        settings = replace(settings, options=settings.options or candidate.tree.options)
    (tree, design_s), x = experiment.design_of(candidate)
    check_classes(tree, experiment.data.counts, "the data", names=experiment.data.name_of)
    searched_options(tree, settings.options)
    jobs = plan_jobs(tree, "m", settings.options, settings.seed)
    check_learners(jobs, settings.platt)
    learned = decoders_for(tree, candidate.decoders)[0].decoder.takes == "learned"
    left_out = has_left_out(jobs) and not learned
    if experiment.plan.left_out and not left_out:
        raise UsageError(
            CANNOT_JUDGE
            if learned
            else "leave-one-out values are of a configuration all of whose classifiers are "
            "learner=nystrom"
        )
    if left_out and not experiment.plan.left_out:  # these come last
        experiment.check_splits()
    experiment = replace(experiment, settings=settings, quick_maps=True)
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
    deadline: float | None = None,
    progress=None,
) -> tuple:
    """Search a `SearchSpace`, and put the best options into the control tree; -> (result, tree).

    Raises the first error where nothing could be trained.

    Parameters
    ----------
    by : str, name of a score
    search : {"fast", "full"}, a race (`racing.race`), or every point on all splits
    deadline : float, optional, on the clock of `time.monotonic`

    Returns
    -------
    result : dict
        Keys: by, plan, search, decoder, complete, tried (number of points), left_out (the number of
        points whose leave-one-out values were scored, None where the splits were), estimate (score,
        error, points and how: what to expect of new data; None where nothing can tell) and the keys
        of `search_result`. Where the search did not score the configuration on the splits, whole,
        {"given", "tuned": {score: summary}} or None.
    tree : Tree or None
        None where the time limit came before anything was scored.
    """
    searched = searched_options(task.tree, task.experiment.settings.options)
    by_default = space.kernels is None
    fast = search == "fast"
    space = space.for_options(searched)
    if by_default and space.kernels == SEARCHED_KERNELS and (megabytes := _lacking(task)):
        warn_user(
            f"the laplacian kernel is left out of the search: its kernel values need "
            f"{KERNEL_MEMORY}={megabytes} in the environment, or learner=nystrom"
        )
        space = space._replace(kernels=SEARCHED_KERNELS[:1])
    if task.left_out:
        experiment = task.experiment.left_out
    else:
        experiment = task.experiment
    experiment = replace(experiment, along_cost=fast)
    tuner = Tuner(experiment, by, deadline, progress)
    whole = WholeConfiguration(task.candidate, task.tree, experiment)
    if space.refine is None:
        refine = SEARCHES[search]
    else:
        refine = space.refine
    run = _Run(task, tuner, whole, space.grids(task.scale, task.scales), refine, searched)
    outcome, tree = run.search(fast)
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
    settings = task.experiment.settings
    counts = task.experiment.data.counts
    if isinstance(settings.workers, int):
        workers = settings.workers
    else:
        workers = 1
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
    # not what is free here and now: the search would depend on it
    given = settings.kernel_memory
    if given is None:
        limit = kernel_memory(here=False)
    else:
        limit = given
    if needed > limit:
        return needed
    return 0


@dataclass(frozen=True, eq=False)
class _Run:
    """A search that begins; searched: the `SearchedOptions` that it starts from."""

    task: TuningTask
    tuner: Tuner
    whole: WholeConfiguration
    grids: list
    refine: int
    searched: SearchedOptions

    def search(self, fast):
        """(part of the result, tree) of a race, or of a search on all splits; raises the first
        error where nothing could be trained."""
        task = self.task
        tuner = self.tuner
        if fast:
            parts = first_parts(tuner.experiment)
        else:
            parts = tuner.parts
        rest = [part for part in tuner.parts if part not in parts]
        state = race(tuner, self.whole, self.grids, self.refine, parts if fast else None, rest)
        if tuner.complete and state.best is None:
            raise next(result for result in state.tried.values() if isinstance(result, AgfmcError))
        result = search_result(state, self.searched.point(task.features))
        if state.best is None:
            tree = None
        else:
            tree = with_options(task.tree, state.best)
        if tuner.complete:
            _warn_of_borders(result["border"])
        if tree is None:
            outcomes = []
        else:
            outcomes = list(state.outcomes[state.best].values())
        result |= {
            "tried": len(state.tried),
            "scores": scores_of(outcomes) if outcomes else None,
            "estimate": self._estimate(state, parts),
        }
        if task.left_out and not task.experiment.plan.left_out:
            result["whole"] = (
                self._whole(state.given, state.best)
                if tree is not None and tuner.complete
                else None
            )
        return result, tree

    def _estimate(self, state, parts):
        """The estimate for new data, from the splits that had no say but in the choice between the
        last options; or from all where all chose."""
        best = state.best
        tuner = self.tuner
        if best is None or not tuner.complete:
            return None
        judges = state.judges or parts
        # others are never chosen
        texts = [
            text
            for text in state.near(tuner.by, HOPELESS, COMPARED)
            if set(judges) <= set(state.outcomes[text])
        ]
        if not state.judges:
            how = "corrected for the choice among the options that were scored on these points"
        elif len(texts) > 1:
            how = (
                f"which decided between the last {len(texts)} options alone, and corrected for that"
            )
        else:
            how = "which decided nothing"
        if not self.task.left_out:
            how = f"{self._names(judges)}, {how}"
        return self._corrected(
            best,
            [[state.outcomes[text][part] for part in judges] for text in texts],
            judges,
            how,
        )

    def _corrected(self, best, outcomes, parts, how):
        """The estimate as a dictionary, from outcomes of options, those of `best` first, on parts;
        changed by as much as the calibration maps of a final model change the score of `best` on
        the first of the parts."""
        tuner = self.tuner
        seed = self.task.experiment.plan.seed
        rows = np.concatenate([tuner.held_out[part] for part in parts])
        estimate = {**corrected(tuner.by, outcomes, seed, rows=rows).words, "how": how}
        parts = parts[: len(first_parts(tuner.experiment))]
        if True not in tuner.experiment.calibrated:
            return estimate
        experiment = replace(tuner.experiment, quick_maps=False)
        final = replace(tuner, experiment=experiment, progress=None, _split=None)
        try:
            results = list(final.trials(self.whole.of(experiment), [best], parts)[0].values())
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
        if plan.parts and plan.trials == 1:
            word = "part"
        else:
            word = "split"
        numbers = [part.number + 1 for part in parts]
        if len(numbers) == 1:
            return f"{word} {numbers[0]}"
        return f"{word}s {numbers[0]} to {numbers[-1]}"

    def _whole(self, given, best):
        """Scores of the configuration on the splits, with the best options and those given."""
        experiment = self.task.experiment
        whole = self.whole.of(experiment)
        tuner = replace(self.tuner, experiment=experiment, held_out={}, _split=None)
        tuner.total = tuner.done + 2 * tuner.work(tuner.parts)
        with without_repeated_warnings():
            columns = {"given": tuner.summaries(whole, given, tuner.parts)}
            columns["tuned"] = (
                columns["given"] if best == given else tuner.summaries(whole, best, tuner.parts)
            )
        if None in columns.values():
            return None
        return columns


def _warn_of_borders(limits):
    """A warning for each limit of the search that the best point lies on."""
    for limit in limits:
        name, side = limit.split()
        warn_user(
            f"the best {name} is the {_SIDES[side]} that was tried: a wider space "
            "may find a better one"
        )


# -- trials of options on one split ----------------------------------------------------------------


class WholeConfiguration:
    """A configuration, laid out by the candidate, all of whose open rows have the same options.
    `jobs` is the number of classifiers of a trial."""

    def __init__(self, candidate, tree, experiment):
        self._candidate, self._tree, self._experiment = candidate, tree, experiment
        self._trees = {}
        self.decoder = decoders_for(tree, candidate.decoders)[0].name
        self.searched = searched_options(tree, experiment.settings.options)
        self.jobs = sum(open_rows(tree)) or len(open_nodes(tree))

    def of(self, experiment) -> WholeConfiguration:
        """The search in another experiment with the same splits."""
        other = WholeConfiguration(self._candidate, self._tree, experiment)
        other._trees = self._trees
        return other

    def score(self, split, texts, progress):
        """The `Outcome`, or the error, with each of the options."""
        if split.digest not in self._trees:
            self._trees[split.digest] = split.design_of(self._candidate, self._experiment).tree
        tree = self._trees[split.digest]
        trials = [replace(self._candidate, tree=with_options(tree, text)) for text in texts]
        outcomes = run_trial(split, trials, self._experiment, first=True, progress=progress)
        return [outcome.error or outcome for outcome in outcomes]


def find_options(
    experiment: Experiment,
    candidate: Candidate,
    *,
    by: str = "log_loss",
    search: str = "fast",
    time_limit: float | None = None,
    space: SearchSpace | str | None = None,
    progress=None,
) -> tuple[dict, Tree]:
    """The best training options of a candidate's open rows; -> (result, control tree with them).

    The experiment needs no cache. The result is that of `tuning.tune`.

    Parameters
    ----------
    by : str, name of a score, also as tune_m has it (log-loss)
    search : {"fast", "full"}
    time_limit : float, optional, in seconds
    space : SearchSpace or its text, optional, by default the kernels of tune_m
    progress : function of (done, total, words), optional

    Raises
    ------
    UsageError : for a search that cannot be
    JobsFailed : where the time limit came before anything was scored
    """
    start, by = time.monotonic(), BY_OPTION.get(by, by)
    if space is None:
        space = SearchSpace()
    if isinstance(space, str):
        space = read_space(space)
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
