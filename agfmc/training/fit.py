"""Training of binary classifiers, by threads or on the workers of an executor.

The models are the same, byte for byte, on machines whose arithmetic is.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

import numpy as np

from ..core import splits
from ..core.errors import AgfmcError, and_more, UsageError, warn_user
from ..core.memory import kernel_memory
from ..core.models import BinaryModel
from ..core.points import is_sparse, row_digests
from ..core.provenance import Provenance
from ..core.splits import rows_by_class
from ..core.version import __version__
from ..data.groups import check_groups
from ..data.normalisation import fit_normalisation, Normalisation
from ..data.types import Dataset
from ..data.weights import chosen_rows
from ..executors.remote import run_remote, together_of
from ..executors.threads import available_cores, run_tasks
from ..kernels.machine import decision_values
from ..kernels.values import PreparedKernel
from ..landmarks.features import check_landmarks
from ..landmarks.training import train_shared
from ..learners import platt
from ..learners.estimators import MemberLearners
from ..learners.options import BinaryLearner
from ..learners.leave_one_out import is_unbounded, loo_values
from ..learners.points import Solution
from ..learners.protocol import (
    check_jobs,
    check_learners,
    check_missing,
    Fitted,
    for_weights,
    Job,
    leaves_one_out,
    Samples,
    samples,
)
from .held_out import CALIBRATION_POINTS
from .kernel_tables import Tables

_FULL_FIT = -1  # among the folds of a job: the classifier, trained on all its samples


@dataclass(frozen=True)
class TrainingSettings:
    """The settings common to all jobs of a run.

    Attributes
    ----------
    options : training options where a control file has `""`, as text or as a learner; or the
        estimators of all binary classifiers
    platt : where the decision values that probabilities are fitted to come from, "loo", "cv" or
        "auto", as of `leaves_one_out`
    normalisation : normalisation of the points, or None
    scale, nsv : in its place, one that is fitted to the points: by standard deviations, by so many
        singular vectors
    calibration : number of held-out training points that calibrate the probabilities at most
    workers : threads, 0 for all cores, or an executor of `concurrent.futures`, whose workers are
        sent whole jobs
    kernel_memory : MiB on each machine for kernel values, None for those of `core.memory`
    decoders : names of decoders that are calibrated beside the one that answers
    member_weights : "held-out" where those of an ensemble are to be learned, or None
    lone_samples : classes of one sample are trained, where there are no groups
    """

    options: str | BinaryLearner | MemberLearners = ""
    seed: int = 1
    scale: bool = False
    nsv: int | None = None
    normalisation: Normalisation | None = None
    platt: str = "auto"
    calibration: int = CALIBRATION_POINTS
    workers: int | Executor = 1
    kernel_memory: int | None = None
    decoders: tuple[str, ...] = ()
    member_weights: str | None = None
    lone_samples: bool = False

    @property
    def kernel_megabytes(self) -> int:
        """MiB on each machine for kernel values."""
        if self.kernel_memory is not None:
            return self.kernel_memory
        return kernel_memory(here=isinstance(self.workers, int))

    @property
    def fits_normalisation(self) -> bool:
        """True if a normalisation is to be fitted to the points."""
        return self.scale or self.nsv is not None

    @property
    def normalised(self) -> str | None:
        """The digest of the normalisation, for the `Provenance` of models."""
        if self.normalisation is None:
            return None
        return self.normalisation.digest()

    def fit_normalisation(self, data: Dataset) -> Normalisation:
        """The Normalisation of the points of a `Dataset`.

        Raises `UsageError` where there is one for them already.
        """
        if self.normalisation is not None:
            raise UsageError(
                "points have one normalisation: it cannot be given and be fitted too (scale, nsv)"
            )
        if data.weights is None:
            w = None
        else:
            w = data.weights.w
        return fit_normalisation(data.x, self.scale, self.nsv, w)


@dataclass(eq=False)
class _Training:
    """The state of one job in training: its samples and results, from one thread or several.

    Attributes
    ----------
    with_folds : the job begins with folds
    chosen : positions of its calibration points among the samples, rows ascending, or None
    chosen_only : the folds serve these alone
    fold : fold (l,) of each sample, -1 where it is never held out, or None where single ones are
        left out
    values : decision values (l,) of samples that were not trained on
    seconds : seconds of a core so far
    equal : digests (n,) of all points, for leaving out, or None where all differ
    groups : groups (l,) of the samples, or None
    converged : no fit, of a fold neither, stopped at a limit of iterations
    """

    job: Job
    rows: np.ndarray
    side: np.ndarray
    with_folds: bool
    chosen: np.ndarray | None = None
    chosen_only: bool = False
    left: int = 1
    fold: np.ndarray | None = None
    values: np.ndarray | None = None
    solution: object = None
    error: object = None
    seconds: float = 0.0
    w: np.ndarray | None = None
    equal: np.ndarray | None = None
    groups: np.ndarray | None = None
    converged: bool = True
    lock: object = field(default_factory=threading.Lock)

    def parts(self):
        return [_FULL_FIT, *range(self.draw_folds() if self.with_folds else 0)]

    def draw_folds(self):
        seed = splits.job_seed(self.job.seed, *self.job.sides)
        if self.chosen_only and len(self.chosen) < len(self.side):
            self.fold = platt.folds_of(self.side, self.chosen, seed)
        else:
            self.fold = platt.folds(self.side, seed, groups=self.groups)
        self.values = np.full(len(self.fold), np.nan)
        if not self.chosen_only:
            # without the only sample of a side all is the other side, as svm-train takes it
            alone = self.fold < 0
            self.values[alone] = np.where(self.side[alone] == 1, -1.0, 1.0)
        count = int(self.fold.max(initial=-1)) + 1
        self.left += count
        return count

    def add_results(self, results, seconds):
        """Store [(part, result or error)] of some fits; return whether the job is finished."""
        with self.lock:
            for part, result in results:
                if isinstance(result, AgfmcError):
                    self.error = self.error or result
                elif part == _FULL_FIT:
                    self.solution, values = result
                    if values is not None:
                        self.values = values
                    elif self.needs_folds and len(self.side) == 2:
                        self.draw_folds()  # there are none, and both values are known
                else:
                    self.values[self.fold == part] = result
            self.left -= len(results)
            self.seconds += seconds
            return self.left == 0 and not self.needs_folds

    @property
    def needs_folds(self):
        """True if leaving out single samples was too much work, or is in doubt."""
        return (
            self.values is None and self.error is None and not self.job.options.gives_probabilities
        )


def fit(
    jobs: list[Job],
    data: Dataset,
    settings: TrainingSettings = TrainingSettings(),
    progress: Callable[[int, int], None] | None = None,
    requested: HeldOutRequest | None = None,
) -> Iterator[Fitted]:
    """Train binary `jobs` on points with labels; groups of them are held out as a whole.

    Yields `Fitted` as jobs finish; the order depends on the workers, the models do not. Each job is
    one fit, and where its samples are not left out by a formula (`leaves_one_out`) five more: folds
    whose decision values fit the probabilities (Platt 1999). The fits of all jobs share the
    threads; a learner that gives probabilities needs only the first, unless a `HeldOutRequest` asks
    for more. The points went through the normalisation of the settings already. progress(fits done, all
    fits) has jobs in their place where an executor has the workers. Raises `DataError` before any
    training where a side has fewer than two samples, and `UsageError` for a learner that is not
    installed, that needs folds, or that takes no weights.
    """
    x = data.x
    if data.weights is not None:
        jobs = for_weights(jobs)
    if requested is None:
        requested = HeldOutRequest()
    check_fit(jobs, data, settings)
    if isinstance(x, np.ndarray):
        check_missing(jobs, x)
    shared = [job for job in jobs if job.options.uses_shared_landmarks]
    jobs = [job for job in jobs if not job.options.uses_shared_landmarks]
    if jobs or len({job.together for job in shared}) > 1:
        check_landmarks(shared, data, settings.kernel_megabytes)  # before anything is trained
    if jobs:
        sparse = is_sparse(x) and all(job.options.keeps_sparse for job in jobs)
        # points of a .vec file become float64 block by block: it may be larger than the memory
        if not (sparse or isinstance(x, np.ndarray) and x.dtype == np.float32):
            x = np.asarray(x, dtype=np.float64)
        if isinstance(settings.workers, int):
            way = _fit_by_threads
        else:
            way = _fit_elsewhere
        # rows are those of these points
        yield from way(jobs, (replace(data, x=x, rows=None), settings, requested), progress)
    yield from train_shared(shared, replace(data, x=x), settings, progress, requested)


def check_fit(jobs: list[Job], data: Dataset, settings: TrainingSettings) -> None:
    """Raise the errors of `fit` about jobs, labels, groups and learners; warn of few samples."""
    check_learners(jobs, settings.platt)
    check_groups(replace(data, names=None, group_names=None))
    grouped = data.groups is not None
    few = check_jobs(
        jobs,
        data.counts,
        lambda job: settings.lone_samples and not grouped,
    )
    if few:
        warn_user(
            f"{few[0]}{and_more(few)}: its probabilities rest on very few samples "
            "(`min_class=5` leaves out classes with fewer than 5 samples)"
        )


def deciding_parts(job: Job, platt: str, grouped: bool) -> list:
    """What of a job decides the bytes of its model, beside the points: learner, sides, and whether
    samples are left out by a formula.

    Seals of model files and keys of stored results are made of it.
    """
    loo = job.is_binary and leaves_one_out(job.options, platt, grouped)
    return [job.options.identity(job), [sorted(side) for side in job.sides], loo]


@dataclass(frozen=True, eq=False)
class HeldOutRequest:
    """Results that are requested of samples that are held out.

    Attributes
    ----------
    sides : the side that each sample is sent to is requested
    chosen : mask (n,), among all points, of the calibration points whose decision values are
        requested, or None
    """

    sides: bool = False
    chosen: np.ndarray | None = None

    @classmethod
    def of(
        cls, n: int, calibration_rows: np.ndarray | None = None, sides: bool = False
    ) -> HeldOutRequest:
        """The request for n points, with calibration points in rows (c,), or None."""
        if calibration_rows is None:
            return cls(sides)
        return cls(sides, np.isin(np.arange(n), calibration_rows))

    def with_folds(self, job, loo):
        """Return whether the job begins with folds; loo: as of `leaves_one_out`."""
        if job.options.holds_out:
            return False
        if job.options.gives_probabilities:
            return self.sides or self.chosen is not None
        return not loo

    def work(self, job, part, loo, data):
        """The `_Training` of a job with its `Samples` of a `Dataset`."""
        chosen = None
        if self.chosen is not None:
            chosen = np.flatnonzero(self.chosen[part.rows])
            chosen = chosen[np.argsort(part.rows[chosen])]
        return _Training(
            job,
            part.rows,
            part.side,
            self.with_folds(job, loo),
            chosen,
            # folds, of single samples, would not be needed but for the calibration points
            job.options.gives_probabilities and not self.sides and data.groups is None,
            w=data.weights and data.weights.w[part.rows],
            groups=splits.of_rows(data.groups, part.rows),
        )


def _fit_by_threads(jobs, work, progress):
    data, settings, requested = work
    x = data.x
    rows_of = rows_by_class(data.y)
    workers = settings.workers or available_cores()
    grouped = data.groups is not None
    loo = {job.name: leaves_one_out(job.options, settings.platt, grouped) for job in jobs}
    # each of the five folds trains on four fifths: 5 (4/5)^2 of the work, which goes by squares
    fits = {name: 1.0 if alone else 4.2 for name, alone in loo.items()}
    tables = Tables(x, jobs, rows_of, fits, workers, settings.kernel_megabytes)
    finish = functools.partial(_finished, data, settings, requested)
    done = 0
    expected = {
        job.name: platt.FOLDS if requested.with_folds(job, loo[job.name]) else 0 for job in jobs
    }
    total = len(jobs) + sum(expected.values())
    again = []
    for work, (count, outcome) in _outcomes(
        functools.partial(_task, x, tables, finish),
        _items(jobs, rows_of, tables, data, requested, loo),
        again,
        workers,
    ):
        if work.needs_folds:
            total += work.draw_folds()
            again.append(work)
        done += count
        if expected.pop(work.job.name, 0):  # of few samples there are fewer folds
            total += int(work.fold.max(initial=-1)) + 1 - platt.FOLDS
        if outcome is not None:
            fitted, converged = outcome
            if not work.converged:
                warn_user(
                    f"{work.job.title} did not converge within the limit of "
                    "iterations: normalise the data, or try a smaller C (-c) or a larger "
                    "tolerance (-e)"
                )
            if not converged:
                warn_user(f"{work.job.title}: the fit of its probabilities did not converge")
            yield fitted
        if progress is not None:  # after what is finished: it may end the work
            progress(done, total)
    if again and settings.platt == "loo":
        names = sorted(work.job.title for work in again)
        warn_user(
            f"{names[0]}{and_more(names)}: leaving out single samples by the formula is "
            "inexact or takes too much memory here: folds are used"
        )


def _items(jobs, rows_of, tables, data, requested, loo):
    """(work, its fits that are one task, None for all) of every job; loo: {name of a job: samples
    of it are left out by the formula}."""
    equal = None
    if any(loo.values()):
        equal = row_digests(data.x)
        if len(np.unique(equal)) == len(equal):
            equal = None
    for job in jobs:
        work = requested.work(job, samples(job, rows_of), loo[job.name], data)
        work.equal = equal
        yield from (
            [(work, None)] if tables.has_own(job) else [(work, [one]) for one in work.parts()]
        )


def _outcomes(task, items, again, workers):
    """(work, outcome) of all tasks, and then of the folds of those that are in `again` by then."""
    folds = ((work, [fold]) for work in again for fold in range(work.left))
    for tasks in (items, folds):
        yield from (
            (work, outcome)
            for (work, _), outcome in run_tasks(task, tasks, workers, ordered=False, inline=False)
        )


def _task(x, tables, finish, item):
    """(number of fits of a task, what `finish` makes of the job after its last one, or None)."""
    work, parts = item
    start = time.thread_time()
    if parts is None:
        parts = work.parts()
    nodes = tables.of(work.job, work.rows, len(parts) > 1)
    results = []
    for part in parts:
        try:
            results.append((part, _one_fit(x, nodes, work, part)))
        except AgfmcError as error:
            results.append(
                (part, work.job.place.error(type(error), f"{work.job.title}: {error.message}"))
            )
    last = work.add_results(results, time.thread_time() - start)
    return len(results), finish(work, tables.seconds(work.job)) if last else None


def _one_fit(x, nodes, work, part):
    """Decision values of the samples of a fold; or the classifier, with its own or None."""
    options = work.job.options
    kernel = options.kernel_for(x.shape[1])
    if part == _FULL_FIT:
        solution = _solved(work, nodes, slice(None))
        if options.holds_out:
            values = solution.held_out
        elif work.fold is not None or options.gives_probabilities:
            values = None
        else:
            values = loo_values(
                lambda a, b: PreparedKernel(kernel, b).values(a).T,
                x,
                Samples(work.rows, work.side, work.w, work.equal),
                solution,
                options,
                table=nodes if getattr(nodes, "exact", False) else None,
            )
        return _flat(solution, x, work.rows, kernel), values
    train = work.fold != part
    rows = work.rows[train]
    solution = _solved(work, nodes, train)
    if solution.function is not None:
        return solution.function(x[work.rows[~train]])
    solution = _flat(solution, x, rows, kernel)
    return decision_values(
        kernel, solution.points(x, rows), solution.coef, solution.rho, x[work.rows[~train]]
    )


def _solved(work, nodes, train):
    """The `Solution` of the samples `train`; learners that hold samples out do so by groups."""
    options = work.job.options
    if options.holds_out and work.groups is not None:
        more = {"groups": work.groups[train]}
    else:
        more = {}
    solution = options.solve(
        nodes, work.rows[train], work.side[train], splits.of_rows(work.w, train), **more
    )
    if not solution.converged:
        work.converged = False
    return solution


def _flat(solution, x, rows, kernel):
    """A linear machine of sparse points as one plane, which is smaller and as good."""
    if solution.vectors is not None or not is_sparse(x) or kernel.kind != "linear":
        return solution
    return Solution.plane(
        x[rows[solution.sv]].combined(solution.coef), -solution.rho, solution.labels
    )


def _finished(data, settings, requested, work, seconds):
    """(`Fitted`, the fit of its probabilities converged); seconds: besides those of its tasks."""
    solution = work.solution
    job = work.job
    x = data.x
    seconds += work.seconds
    if work.error is not None:
        return Fitted(job, work.error, seconds=seconds), True
    options = job.options
    first = work.side == solution.labels[0]
    if options.corrects_probabilities and work.values is not None:
        a, b, converged = platt.fit_log_odds(work.values, first, work.fold, work.w)
        source = f"own probabilities, folds {work.fold.max() + 1}"
    elif options.gives_probabilities:
        a = -1.0
        b = 0.0
        converged = True
        source = "own probabilities"
    else:
        a, b, converged = platt.fit_sigmoid(work.values, first, w=work.w)
        if a > 0 and work.fold is None:
            # where points tell nothing, each is nearer to the other side when it is left out
            a, b, converged = platt.fit_sigmoid(np.zeros_like(work.values), first, w=work.w)
        if work.fold is None:
            source = "platt loo"
        else:
            source = f"folds {work.fold.max() + 1}"
    sums = None, None
    if work.w is not None:
        sums = data.weights[work.rows].of_sides(data.y[work.rows], job.sides)
    provenance = Provenance(
        __version__,
        options.made_by() or None,
        options.canonical(),
        features=x.shape[1],
        probabilities=source,
        seed=job.seed,
        normalised=settings.normalised,
    ).with_samples(
        (np.count_nonzero(work.side == 0), np.count_nonzero(work.side)),
        job.sides,
        sums,
        work.groups,
    )
    vectors = solution.points(x, work.rows)
    if not is_sparse(vectors):
        vectors = np.asarray(vectors, dtype=np.float64)
    model = BinaryModel(
        job.name,
        options.svm_type,
        options.kernel_for(x.shape[1]),
        vectors,
        solution.coef,
        solution.rho,
        solution.labels,
        solution.n_sv,
        (a, b),
        provenance,
        x.shape[1],
        solution.function,
    )
    fitted = Fitted(
        job,
        model,
        None if solution.sv is None else work.rows[solution.sv],
        seconds,
        unbounded=work.fold is None and is_unbounded(solution, options, work.side, work.w),
    )
    if requested.sides:
        a, b = model.scale
        fitted = fitted._replace(side=work.side, held_out=a * work.values + b >= 0)
    if requested.chosen is not None:
        fitted = fitted._replace(values=work.values[work.chosen].astype(np.float32))
    return fitted, converged


def _part(work, job):
    """The points, settings and request of a job: with its samples alone."""
    data, settings, requested = work
    rows = np.flatnonzero(np.isin(data.y, job.labels))
    if len(rows) == len(data.y):
        return work
    chosen = splits.of_rows(requested.chosen, rows)
    return chosen_rows(data, rows), settings, replace(requested, chosen=chosen)


def _fit_elsewhere(jobs, work, progress):
    data, settings, requested = work
    executor = settings.workers
    settings = replace(
        settings, workers=1, kernel_memory=settings.kernel_megabytes // together_of(executor)
    )
    for done, (job, result) in enumerate(
        run_remote(
            executor,
            fit_one,
            (data, settings, requested),
            jobs,
            name=lambda job: job.title,
            part=_part,
        ),
        1,
    ):
        if isinstance(result, AgfmcError):
            result = Fitted(job, job.place.error(type(result), result.message))
        elif result.rows is not None:
            result = result._replace(
                model=replace(result.model, sv=np.asarray(data.x[result.rows], dtype=np.float64))
            )
        yield result._replace(job=job)
        if progress is not None:  # after what is finished: it may end the work
            progress(done, len(jobs))


def fit_one(work: tuple, job: Job) -> Fitted:
    """The `fit` of one job on a worker, to the samples of its classes, without its checks.

    `work` are the data, whose rows are None, the settings and the request. The model comes without
    the support vectors, where they are x[rows].
    """
    work = _part(work, job)
    (fitted,) = _fit_by_threads([job], work, None)
    if fitted.rows is None:
        return fitted
    rows = fitted.rows
    if work[0].rows is not None:
        rows = work[0].rows[rows]
    return fitted._replace(model=replace(fitted.model, sv=None), rows=rows)
