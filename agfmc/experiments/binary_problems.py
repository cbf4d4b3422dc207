"""The binary problems of many configurations on one training set, each trained once."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from ..core.errors import AgfmcError, AgfmcWarning
from ..core.forest import Forest
from ..core.models import BinaryModel
from ..core.points import label_counts
from ..core.provenance import Provenance
from ..executors.remote import together_of
from ..files.result_store import CLASSIFIER, from_record, Record, result_key, to_record
from ..learners.protocol import Fitted, for_weights
from ..training.driver import train
from ..training.fit import check_fit, deciding_parts, fit, fit_one
from .experiment import Experiment, run_on_workers


@dataclass(frozen=True, eq=False)
class Trained:
    """A binary classifier by the rows (l,) of the training part that are its support vectors.

    The other fields are as in `BinaryModel` and `Fitted`.

    Attributes
    ----------
    vectors : vectors (s, d) of a learner that makes its own, without `rows`
    values : held-out decision values (c,) of the calibration points of its classes, or None
    forest : boosted trees, or None
    """

    rows: Annotated[np.ndarray, "<i8", 1]
    coef: Annotated[np.ndarray, "<f8", 1]
    rho: float
    labels: tuple[int, int]
    n_sv: tuple[Annotated[int, range(2**31)], Annotated[int, range(2**31)]]
    platt: tuple[float, float]
    seconds: float
    vectors: Annotated[np.ndarray | None, "<f8", 2] = None
    values: Annotated[np.ndarray | None, "<f4", 1] = None
    unbounded: bool = False
    forest: Forest | None = None

    @classmethod
    def of(cls, fitted: Fitted) -> Trained:
        """The classifier of a `Fitted` whose training has not failed."""
        model = fitted.model
        rows = fitted.rows
        vectors = None
        if rows is None:
            rows = np.empty(0, dtype=np.int64)
            vectors = np.asarray(model.sv)
        return cls(
            rows,
            model.coef,
            model.rho,
            model.labels,
            model.n_sv,
            model.platt,
            fitted.seconds,
            vectors,
            fitted.values,
            fitted.unbounded,
            model.function,
        )

    @classmethod
    def from_record(cls, record: Record | None, n: int) -> Trained | None:
        """The classifier in a record on n training points, or None where it cannot be one."""

        def checked(trained):
            rows = trained.rows
            vectors = trained.vectors
            count = len(trained.coef)
            sound = (
                sorted(trained.labels) == [0, 1]
                and sum(trained.n_sv) == count
                and (
                    len(rows) == count and 0 <= rows.min(initial=0) and rows.max(initial=0) < n
                    if vectors is None
                    else not len(rows) and len(vectors) == count
                )
            )
            if trained.forest is not None:
                trained.forest.check(ValueError)
            if sound:
                return trained
            return None

        return from_record(cls, record, checked)


def problem_key(split, job, experiment: Experiment) -> str:
    """The key of a binary problem: equal partitions with equal options are one problem."""
    return CLASSIFIER + result_key(
        "binary 8",
        split.digest,
        *deciding_parts(job, experiment.settings.platt, split.data.groups is not None),
        experiment.calibration,
    )


class _Problems:
    """The cache of an experiment as the store of binary problems, whose jobs have readable names.

    `keys` is {name of a job: key}, `smaller` that of `smaller_costs`.
    """

    def __init__(self, keys, smaller, split, experiment):
        self._keys = keys
        self._cache = experiment.cache
        self._size = len(split.data.y)
        self.reused: set = set()
        self._calibrating = None
        rows = split.calibration_rows(experiment)
        if rows is not None:
            self._calibrating = label_counts(split.data.y[rows])
        self.several = experiment.cache.several
        names = {key: name for name, key in keys.items()}
        self.smaller = {
            name: tuple(names[before] for before in smaller[key]) for name, key in keys.items()
        }

    def get(self, job):
        """The `Trained` of a job, None where there is none with so many calibration points."""
        trained = Trained.from_record(self._cache.get(self._keys[job.name]), self._size)
        if trained is None:
            return None
        count = None
        if self._calibrating is not None:
            count = sum(self._calibrating.get(label, 0) for label in job.labels)
        if count != (None if trained.values is None else len(trained.values)):
            return None
        self.reused.add(job.name)
        return trained

    def put(self, fitted):
        """Keep a classifier; returns its `Trained`."""
        trained = Trained.of(fitted)
        self._cache.put(self._keys[fitted.job.name], to_record(trained))
        return trained


def train_missing(
    problems: dict, split, experiment: Experiment, progress=None, needed=None
) -> dict:
    """{key: `Trained`, or the error of its learner} of the problems {key: job}.

    `needed` are the keys of those that are needed, by default all; of the others those are trained
    that come before one of these along C. What the cache has is not trained again. progress(done,
    total) is in units of work.
    """
    smaller = smaller_costs(problems, experiment)
    needed = set(problems if needed is None else needed)
    needed = needed.union(*(smaller[key] for key in needed))
    keys = _readable_names({key: job for key, job in problems.items() if key in needed})
    jobs = [
        replace(problems[key], name=name, names=split.data.name_of) for name, key in keys.items()
    ]
    counts = split.data.counts
    work = {job.name: sum(counts[label] for label in job.labels) ** 2 for job in jobs}
    whole = sum(work.values())
    done = 0

    def follow(share):
        if progress is not None:
            progress(done + int(share), whole)

    def fit_missing(jobs, *_):
        return _fitted(jobs, split, experiment, follow, work)

    store = _Problems(keys, smaller, split, experiment)
    results = {}
    for job, result in train(jobs, split.data, experiment.settings, store, way=fit_missing):
        results[keys[job.name]] = result
        if job.name in store.reused:
            whole -= work[job.name]
        else:
            done += work[job.name]
            follow(0)
    return results


def smaller_costs(problems: dict, experiment: Experiment) -> dict:
    """{key: keys of the problems, with smaller C alone, whose solution may stand for it,
    ascending}."""
    lines: dict = {}
    for key, job in problems.items() if experiment.along_cost else ():
        cost = getattr(job.options, "C", None)
        if cost is not None:
            lines.setdefault((job.sides, job.seed, job.options.changed(C=1.0)), []).append(
                (cost, key)
            )
    smaller: dict = dict.fromkeys(problems, ())
    for line in lines.values():
        line.sort()
        for number, (_, key) in enumerate(line):
            smaller[key] = tuple(before for _, before in line[:number])
    return smaller


def _fitted(jobs, split, experiment, follow, work):
    """Yield `Fitted` of the jobs: first those that are trained one by one, then groups."""
    settings = experiment.settings
    if split.data.weights is not None:
        jobs = for_weights(jobs)
    groups = {}
    for job in jobs:
        if (
            job.together is not None
            and not split.left_out
            and (  # of all the data
                job.options.n_landmarks or 0
            )
            <= len(split.data.y) + len(split.rows)
        ):
            job = replace(job, options=job.options.changed(clipped=True))
        groups.setdefault(job.together, []).append(job)
    alone = groups.pop(None, [])
    if not isinstance(settings.workers, int):
        yield from _fitted_on_workers(alone, groups.values(), split, experiment)
        return
    if alone:
        yield from _fit(alone, split, experiment)
    for group in groups.values():
        whole = sum(work[job.name] for job in group)
        yield from _fit_group(
            split,
            experiment,
            group,
            lambda done, total, whole=whole: follow(whole * done / max(total, 1)),
        )


def _fit(jobs, split, experiment, progress=None):
    return fit(jobs, split.data, experiment.settings, progress, split.held_out_request(experiment))


def _fit_group(split, experiment, group, progress=None):
    start = time.process_time()
    with warnings.catch_warnings():
        # of each training part others; the training of the whole tells how many
        warnings.filterwarnings("ignore", ".*landmarks.* depend on .*others", AgfmcWarning)
        try:
            results = list(_fit(group, split, experiment, progress))
        except AgfmcError as error:
            results = [Fitted(job, error) for job in group]
    seconds = (time.process_time() - start) / len(group)
    return [fitted._replace(seconds=seconds) for fitted in results]


def _fitted_on_workers(alone, groups, split, experiment):
    settings = experiment.settings
    check_fit(alone, split.data, settings)
    megabytes = settings.kernel_megabytes
    share = megabytes // together_of(settings.workers)
    tasks = [
        *(([job], share) for job in alone),
        # a group has as much as here, or it might be refused
        *((jobs, megabytes) for jobs in groups),
    ]
    for (jobs, _), result in run_on_workers(
        _fit_task, experiment, split, tasks, name=lambda task: task[0][0].title
    ):
        for number, job in enumerate(jobs):
            yield (
                Fitted(job, result)
                if isinstance(result, AgfmcError)
                else result[number]._replace(job=job)
            )


def _fit_task(split, experiment, task):
    """The `Fitted` of one job, or of a group, on a worker; task: jobs and megabytes for tables.

    Support vectors that are points of the split are not sent.
    """
    jobs, megabytes = task
    settings = replace(experiment.settings, kernel_memory=megabytes)
    if jobs[0].together is None:
        data = replace(split.data, rows=None)
        return [fit_one((data, settings, split.held_out_request(experiment)), jobs[0])]
    results = {
        fitted.job.name: fitted
        for fitted in _fit_group(split, replace(experiment, settings=settings), jobs)
    }
    return [
        fitted
        if fitted.rows is None or isinstance(fitted.model, AgfmcError)
        else fitted._replace(model=replace(fitted.model, sv=None))
        for fitted in (results[job.name] for job in jobs)
    ]


def _readable_names(problems):
    names = {}
    for key, job in problems.items():
        text = " / ".join(
            " ".join(map(str, side[:8])) + (" ..." if len(side) > 8 else "") for side in job.sides
        )
        name, number = text, 1
        while name in names:
            number += 1
            name = f"{text} ({number})"
        names[name] = key
    return names


def binary_model(job, trained: Trained, x: np.ndarray, shared: dict | None = None) -> BinaryModel:
    """The `BinaryModel` of a job; shared: of the caller, for support vectors in common."""
    sv = trained.vectors
    if sv is None:
        shared = {} if shared is None or job.together is None else shared
        key = job.together, trained.rows.tobytes()
        if key not in shared:
            shared[key] = np.asarray(x[trained.rows], dtype=np.float64)
        sv = shared[key]
    return BinaryModel(
        job.name,
        job.options.svm_type,
        job.options.kernel_for(x.shape[1]),
        sv,
        trained.coef,
        trained.rho,
        trained.labels,
        trained.n_sv,
        trained.platt,
        Provenance(options=job.options.canonical()),
        x.shape[1],
        trained.forest,
    )
