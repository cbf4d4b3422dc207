"""The driver of training: what a store has of the jobs is taken, the rest is trained and put there."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from ..core.errors import AgfmcError
from ..data.types import Dataset
from ..executors.remote import workers_of
from ..learners.protocol import Fitted, Job
from .fit import fit, HeldOutRequest, TrainingSettings

_TURN = 4  # jobs a worker


class Store(Protocol):
    """Results of jobs: model files, records in a file, or nothing (`Memory`).

    Attributes
    ----------
    several : other processes may be at the same jobs
    smaller : {name of a job: names of jobs, with smaller C alone, ascending}: the first of these
        whose result is `unbounded` is that of the job
    """

    several: bool
    smaller: Mapping[str, tuple[str, ...]]

    def get(self, job: Job) -> Any:
        """The result of a job, or None."""

    def put(self, fitted: Fitted) -> Any:
        """Keep what has been trained; returns the result."""


class Memory:
    """The store of those who keep the results themselves."""

    several = False
    smaller: Mapping = {}

    def get(self, job):
        """None: no job is finished before."""

    def put(self, fitted):
        """The `Fitted` as it is."""
        return fitted


def train(
    jobs: list[Job],
    data: Dataset,
    settings: TrainingSettings,
    store: Store = Memory(),
    *,
    requested: HeldOutRequest | None = None,
    progress: Callable | None = None,
    way: Callable = fit,
) -> Iterator[tuple[Job, Any]]:
    """Yield (job, result of the store, or the error of its learner) of binary jobs, each once.

    Where other processes are at the same jobs, these are done in turns of a few, in an order of this
    process, and each turn begins with another look into the store.

    Parameters
    ----------
    jobs : with names that differ
    data : points after the normalisation of the settings
    progress, requested : as for `fit`
    way : function that trains in the place of `fit`
    """
    for turn in _turns(jobs, settings, store):
        results: dict = {}
        stored = {job.name: store.get(job) for job in turn}
        while left := [job for job in turn if job.name not in results]:
            missing = []
            for job in _without_waiting(left, store.smaller):
                # not stored: another call may have no smaller C
                equal = (
                    results[name]
                    for name in store.smaller.get(job.name, ())
                    if getattr(results[name], "unbounded", False)
                )
                result = next(equal, stored[job.name])
                if result is None:
                    missing.append(job)
                else:
                    results[job.name] = result
                    yield job, result
            if not missing:
                continue
            for fitted in way(missing, data, settings, progress, requested):
                if isinstance(fitted.model, AgfmcError):
                    result = fitted.model
                else:
                    result = store.put(fitted)
                results[fitted.job.name] = result
                yield fitted.job, result


def _without_waiting(jobs, smaller):
    """The jobs whose smaller C are none of these."""
    names = {job.name for job in jobs}
    return [job for job in jobs if names.isdisjoint(smaller.get(job.name, ()))]


def _turns(jobs, settings, store):
    """Yield parts of the jobs; those of the same sides or group stay together."""
    if not store.several:
        yield jobs
        return
    groups: dict = {}
    for job in jobs:
        groups.setdefault(job.together or job.sides, []).append(job)
    turn: list = []
    for group in shuffled_for(store, list(groups.values())):
        turn += group
        if len(turn) >= _TURN * workers_of(settings.workers):
            yield turn
            turn = []
    if turn:
        yield turn


def shuffled_for(store: Store, items: list) -> list:
    """The items in the order in which this process does them: another one does them elsewhere.

    At random where others may be at the same work, so that each finds much of it done.
    """
    if store.several:
        return random.SystemRandom().sample(items, len(items))
    return items
