"""Tasks of an experiment on the workers of an executor.

A task has the number of its split, and what to do with it.  The data go to each worker once, as
one object for the whole run; a worker makes the split anew, and keeps the last few.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ..executors.remote import run_remote
from ..models import Dataset, Normalisation
from ..training.fit import TrainingSettings
from .experiment import Experiment, PreparedSplit

__all__ = ["forgetting", "run_on_workers"]

_KEPT = 2  # splits on a worker, and data sets that are sent


@dataclass(frozen=True, eq=False)
class _Shared:
    """The data that each worker needs for every task."""

    data: Dataset
    normalisation: Normalisation | None


# an executor knows again what it has sent by its identity
_shared = functools.lru_cache(_KEPT)(_Shared)


def run_on_workers(function: Callable, experiment: Experiment, split: PreparedSplit,
                   items: Iterable, *, name: Callable) -> Iterator[tuple]:
    """Yield (item, function(split, experiment, item)), or the `AgfmcError` raised, as they finish.

    The settings of the experiment have the executor, and a worker's have one thread.
    function: of a module, so that workers can import it;  name(item): what messages call it.
    Raises as `run_remote` does.
    """
    settings = experiment.settings
    learned = None if settings.metric is None else _Learned(split.normalisation)
    task = function, split.part, learned, replace(
        experiment, data=None, cache=None, learned={}, settings=replace(
            settings, normalisation=None, metric=None, workers=1, sums=None))
    for (_, item), result in run_remote(
            settings.workers, _perform, _shared(experiment.data, settings.normalisation),
            ((task, item) for item in items), name=lambda entry: name(entry[1])):
        yield item, result


@contextmanager
def forgetting():
    """Data and splits that were kept for the tasks of a run go at its end, for `with`."""
    try:
        yield
    finally:
        _shared.cache_clear()
        _prepared.cache_clear()


@dataclass(frozen=True, eq=False)
class _Learned:
    """A normalisation with a learned metric, which the workers do not learn again."""

    normalisation: Normalisation

    def __eq__(self, other):
        return isinstance(other, _Learned) and hash(self) == hash(other)

    def __hash__(self):
        return hash(self.normalisation.digest())


def _perform(shared, entry):
    (function, part, learned, experiment), item = entry
    settings = experiment.settings
    normalised = settings.scale, settings.nsv, learned, settings.weighted_norm
    split = _prepared(shared, experiment.plan, normalised, settings.calibration, settings.seed,
                      part)
    return function(split, replace(experiment, data=shared.data, settings=replace(
        settings, normalisation=shared.normalisation)), item)


@functools.lru_cache(_KEPT)
def _prepared(shared, plan, normalised, calibration, seed, part):
    scale, nsv, learned, weighted_norm = normalised
    settings = TrainingSettings(scale=scale, nsv=nsv, normalisation=shared.normalisation,
                                calibration=calibration, seed=seed, weighted_norm=weighted_norm)
    if learned is not None:
        settings = replace(settings, scale=False, nsv=None, normalisation=learned.normalisation)
    return Experiment(shared.data, plan, settings).prepared(part)
