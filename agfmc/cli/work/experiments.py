"""Experiments, opened for a request and closed, with their data and their result cache."""

from contextlib import contextmanager
from dataclasses import replace

from ...core.errors import DataError
from ...core.splits import stratified_sample
from ...data.cost_file import read_costs
from ...data.libagf import read_std
from ...data.training import load_training, with_source_in_errors
from ...data.weights import chosen_rows
from ...experiments.experiment import clear_worker_caches, Experiment
from ...experiments.results import data_words
from ...files.result_store import key_of, open_state, point_parts, ResultCache
from ..messages import counted, report

CONTINUES = "the same command continues from there"


def head_of(request, experiment):
    """The part of the results of an experiment about its data and their costs."""
    if request.costs is None:
        costs = {}
    else:
        costs = {"costs": request.costs}
    return {**costs, **data_words(experiment)}


@contextmanager
def opened_experiment(request):
    """The `Experiment` of a request, its data read, with its workers and a cache of results, for
    `with`."""
    source = request.source
    costs = request.costs
    normalisation = None
    data, _, _ = load_training(
        source, request.form, min_class=request.min_class, scales=request.scales
    )
    if request.sample is not None:
        data = chosen_rows(
            data, stratified_sample(data.y, request.sample, request.plan.seed, groups=data.groups)
        )
    if data.y.min() == data.y.max():
        raise DataError("holds one class: expected at least two", file=source)
    if costs is not None:
        costs = read_costs(costs, list(data.counts), data.name_of)
    if request.norm_file is not None:
        normalisation = read_std(request.norm_file)
        with with_source_in_errors(source):
            normalisation.apply(data.x[:1])  # or it does not fit the data
    experiment = Experiment(
        data,
        request.plan,
        replace(request.settings, normalisation=normalisation),
        calibrated=request.calibrated,
        costs=costs,
    )
    with (
        clear_worker_caches(),
        request.workers as pool,
        state(request.folder, request.stores, data) as cache,
    ):
        yield replace(experiment, cache=cache, settings=replace(experiment.settings, workers=pool))


@contextmanager
def state(folder, stores, data):
    """The cache of results on a `Dataset` in a folder, None for that of the data, for `with`; of no
    results unless it `stores` them. After a signal the cache is kept, and a report says so."""
    key = key_of("data", *point_parts(data))
    with open_state(folder, key) if stores else ResultCache(None) as cache:
        try:
            yield cache
        except Exception:
            raise
        except BaseException:
            if cache.keeps_anything():
                report(f"interrupted: {CONTINUES} ({cache.path})")
            raise


def report_reused(user):
    """A report of how many results were there before, of the `cache` of its user."""
    count = user.cache.reused
    if count:
        if count == 1:
            was = "was"
        else:
            was = "were"
        report(f"reused {counted(count, 'result')} that {was} there already ({user.cache.path})")
