"""Nested tuning: options searched inside each training part, judged by the points held out of it.

Whoever tunes on all of the data and then cross-validates the result scores options that were chosen
by the same points.  Here the search is a part of the training.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field, replace

import numpy as np

from ..core.errors import AgfmcError, AgfmcWarning, JobsFailed, UsageError
from ..data.weights import chosen_rows
from ..files.result_store import is_number, key_of, point_parts, Record, result_key
from .candidates import Candidate, open_nodes, open_rows
from .experiment import Experiment, part_of, PreparedSplit, SplitPlan
from .search import SearchSpace
from .trial import Outcome, run_trial
from .tuning import prepare_tuning, tune

_PARTS = 5  # of a training part, as of `tune_m`
_WEIGHT = 20  # of a search in the progress, beside 1 for the trial of all candidates


@dataclass(eq=False)
class NestedTuning:
    """A search for options inside each training part, for `compare` and `cross_validate`.

    The other fields are as for `tune`.

    Attributes
    ----------
    untuned : names of candidates all of whose classifiers have options already
    records : plain values of each search, seconds of processor time among them
    """

    by: str = "log_loss"
    search: str = "fast"
    time_limit: float | None = None
    space: SearchSpace = SearchSpace()
    untuned: list = field(default_factory=list)
    records: list = field(default_factory=list)

    @property
    def words(self) -> dict:
        """Searches and their results, as plain values."""
        return {
            "by": self.by,
            "search": self.search,
            "plan": _inner_plan(1).description,
            "untuned": self.untuned,
            "searches": self.records,
        }

    def check(self, experiment: Experiment, candidates: list) -> None:
        """Raise the errors that need no training; sets `untuned`."""
        if experiment.plan.left_out:
            raise UsageError("--tune searches inside training parts: leave --loo out")
        experiment.check_splits(_inner_plan(experiment.settings.seed))
        # the rows of a scheme are all open
        self.untuned = [
            candidate.name
            for candidate in candidates
            if candidate.tree is not None
            and not any(open_rows(candidate.tree))
            and not open_nodes(candidate.tree)
        ]
        if len(self.untuned) == len(candidates):
            raise UsageError(
                'there is nothing to tune: no row or node of the control has "" for '
                'its options: give the control that tune_m was given, with "" in '
                "its rows"
            )

    def trial(
        self,
        split: PreparedSplit,
        candidates: list,
        experiment: Experiment,
        *,
        progress=None,
        **how,
    ) -> list[Outcome]:
        """A trial, as `run_trial`, of the candidates with the options searched for them.

        Where a search fails, the outcomes of its candidate hold the error.
        """
        tuned, failed = list(candidates), {}
        numbers = [
            number
            for number, candidate in enumerate(candidates)
            if candidate.name not in self.untuned
        ]
        whole, inner = _WEIGHT * len(numbers) + 1, _inside(split, experiment)
        for done, number in enumerate(numbers):
            follow = part_of(progress, _WEIGHT * done, whole, size=_WEIGHT)
            try:
                tuned[number] = self._tuned(candidates[number], split.name, inner, follow)
            except AgfmcError as error:
                failed[number] = error
        outcomes = run_trial(
            split, tuned, experiment, **how, progress=part_of(progress, whole - 1, whole)
        )
        return [
            replace(outcome, error=failed.get(outcome.candidate, outcome.error))
            for outcome in outcomes
        ]

    def _tuned(self, candidate, name, inner, progress) -> Candidate:
        """The candidate with the best options in an `Experiment` in a split; adds to `records`."""
        settings = inner.settings
        key = result_key(
            "search seconds",
            key_of("raw", *point_parts(inner.data)),
            repr(
                (
                    candidate,
                    settings.options,
                    settings.scale,
                    settings.nsv,
                    settings.normalised,
                    settings.seed,
                    self.by,
                    self.search,
                    self.space,
                )
            ),
        )
        start = time.process_time()
        deadline = None if self.time_limit is None else time.monotonic() + self.time_limit
        with warnings.catch_warnings():  # of each training part another one
            warnings.filterwarnings("ignore", "the best .* that was tried", AgfmcWarning)
            task = prepare_tuning(inner, candidate)
            result, tree = tune(
                task,
                self.space,
                by=self.by,
                search=self.search,
                deadline=deadline,
                progress=progress,
            )
        if tree is None:
            raise JobsFailed(
                f"{name}: time limit of the search reached before anything was finished"
            )
        stored, seconds = inner.cache.get(key), time.process_time() - start
        if stored is not None and is_number(stored.head):  # of an earlier run
            seconds = float(stored.head)
        elif result["complete"]:
            inner.cache.put(key, Record(seconds))
        best = result["points"][result["best"]]
        self.records.append(
            {
                "configuration": candidate.name,
                "split": name,
                "options": best["options"],
                "tried": result["tried"],
                "searched": best["score"],
                "estimate": result["estimate"],
                "complete": result["complete"],
                "seconds": seconds,
            }
        )
        return replace(candidate, tree=tree, design_s=task.design_s)


def _inner_plan(seed):
    return SplitPlan(None, _PARTS, 1, seed)


def _inside(split, experiment):
    """The `Experiment` of a search inside the training part of a split of another."""
    settings = experiment.settings
    data = chosen_rows(experiment.data, np.setdiff1d(np.arange(len(experiment.data.y)), split.rows))
    return replace(
        experiment,
        data=data,
        plan=_inner_plan(settings.seed),
        settings=replace(settings, loo=True),
        calibrated=experiment.calibrated[:1],
    )
