"""Training, from jobs and data to binary models, by threads or on the workers of an executor.

The models are the same, byte for byte, on machines whose arithmetic is.
"""

from __future__ import annotations

import functools
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np

from .._version import __version__
from ..arrays import is_sparse
from ..errors import AgfmcError, AgfmcWarning
from ..kernel.machine import decision_values
from ..kernel.values import PreparedKernel
from ..models import BinaryModel, Normalisation
from ..provenance import Provenance
from ..learners import calibration
from ..learners.jobs import check_jobs, check_learners, problem, rows_by_class
from ..learners.calibration import loo_values
from ..learners.nodes import Solution
from ..executors.remote import run_remote, workers_of
from ..executors.threads import run_tasks
from .kernel_tables import MEGABYTES, Tables

__all__ = ["fit"]

_ITSELF = -1  # among the folds of a job: the classifier, trained on all its samples


@dataclass(eq=False)
class _Work:
    """One job on its way: its samples, and what has come back.

    fold (l,): of each sample, or None where leaving out single ones is to do;
    values (l,): decision values of samples that were not trained on;
    left: fits that are still to come;  seconds: of a core that it took so far.
    """

    job: object
    rows: np.ndarray
    side: np.ndarray
    left: int = 1
    fold: np.ndarray | None = None
    values: np.ndarray | None = None
    solution: object = None
    error: object = None
    seconds: float = 0.0

    def deal(self):
        """Draw the folds; -> how many there are."""
        self.fold = calibration.folds(self.side, calibration.job_seed(self.job.seed, self.job.left,
                                                          self.job.right))
        self.values = np.empty(len(self.fold))
        count = int(self.fold.max()) + 1
        self.left += count
        return count

    def take(self, part, result):
        """Keep the result of one fit."""
        self.left -= 1
        if isinstance(result, AgfmcError):
            self.error = self.error or result
        elif part == _ITSELF:
            self.solution, values = result
            self.values = self.values if values is None else values
        else:
            self.values[self.fold == part] = result

    @property
    def needs_folds(self):
        """True where leaving out single samples was too much work."""
        return self.values is None and self.error is None and \
            not self.job.options.own_probabilities


def fit(jobs, x, y, workers=1, progress=None, normalisation=None, held_out=None, *, loo=False,
        kernel_memory=MEGABYTES, spent=None):
    """Train `jobs` on points x (n, d), an array or `SparsePoints`, with labels y (n,).

    Yields (job, model, rows): a `BinaryModel` and the rows of x that are its
    support vectors, as jobs finish; the order depends on `workers`, the
    models do not.  rows is None for a learner whose models are made of vectors
    of its own; a job that its learner refuses comes as (job, error, None).
    Each job is six fits, the classifier itself and five folds whose decision
    values fit the probabilities (Platt 1999), and the fits of all jobs share
    the workers; a learner with probabilities of its own needs only the first,
    unless held_out asks.  progress: called with (fits done, all fits); normalisation:
    the one that x went through, or None, whose digest the models tell;
    held_out: called with (job, side (l,), right (l,), model) for each job that is
    done, right telling where its samples were sent when they were held out.
    loo: the decision values come from the classifier itself (`loo_values`), and
    there are folds only where that would be more work; kernel_memory: megabytes for
    tables of kernel values, which change nothing but the time;  spent: called with
    (job, seconds of a core that it took) before it is yielded.  Raises
    `DataError` before any training where a side has fewer than two samples, and
    `UsageError` for a learner that is not there, or that cannot do without folds.

    workers: how many threads, or an executor of `concurrent.futures`, whose workers are then
    sent whole jobs, and get kernel_memory on each machine; progress counts jobs, and a job
    whose workers died comes as (job, error, None) too.
    """
    check_learners(jobs, loo)
    rows_of = rows_by_class(y)
    few = check_jobs(jobs, {label: len(rows) for label, rows in rows_of.items()})
    if few:
        more = f" (and {len(few) - 1} more)" if len(few) > 1 else ""
        warnings.warn(f"{few[0]}{more}: its probabilities rest on very little "
                      "(--min-class 5 leaves out classes with fewer than 5 samples)",
                      AgfmcWarning, stacklevel=2)
    fitting = _fit_by_threads if isinstance(workers, int) else _fit_elsewhere
    yield from fitting(workers, jobs, x, y, rows_of, progress, normalisation, held_out, loo,
                       kernel_memory, spent)


def _fit_by_threads(workers, jobs, x, y, rows_of, progress, normalisation, held_out, loo,
                    kernel_memory, spent):
    normalised = None if normalisation is None else normalisation.digest()
    linear = all(job.options.kernel_for(1).kind == "linear" for job in jobs)
    # points of a .vec file become float64 block by block: it may be larger than the memory
    if not (is_sparse(x) and linear or isinstance(x, np.ndarray) and x.dtype == np.float32):
        x = np.asarray(x, dtype=np.float64)
    # each of the five folds trains on four fifths: 5 (4/5)^2 of the work, which goes by squares
    tables = Tables(x, jobs, rows_of, 1.0 if loo else 4.2, workers, kernel_memory)
    done = 0
    total = len(jobs) + sum(calibration.fold_count(*(sum(len(rows_of[label]) for label in side)
                                                     for side in (job.left, job.right)))
                            for job in jobs if _with_folds(job, loo, held_out))
    again = []
    for work, (results, seconds) in _outcomes(functools.partial(_task, x, tables),
                                              _items(jobs, rows_of, tables, loo, held_out), again,
                                              workers):
        work.seconds += seconds
        for part, result in results:
            work.take(part, result)
        if work.needs_folds:
            total += work.deal()
            again.append(work)
        done += len(results)
        if work.left == 0:
            if spent is not None:
                spent(work.job, work.seconds + tables.seconds(work.job))
            if work.error is not None:
                yield work.job, work.error, None
            else:
                model, rows = _assemble(work, x, normalised)
                if held_out is not None:
                    a, b = model.scale
                    held_out(work.job, work.side, a * work.values + b >= 0, model)
                yield work.job, model, rows
        if progress is not None:  # which may end the work: what is finished is handed out first
            progress(done, total)


def _with_folds(job, loo, held_out):
    """True where the job begins with folds."""
    return held_out is not None if job.options.own_probabilities else not loo


def _items(jobs, rows_of, tables, loo, held_out):
    """(work, its fits that are one task) of every job."""
    for job in jobs:
        part = problem(job, rows_of)
        work = _Work(job, part.rows, part.side)
        fits = [_ITSELF]
        if _with_folds(job, loo, held_out):
            fits += range(work.deal())
        yield from [(work, fits)] if tables.has_own(job) else [(work, [one]) for one in fits]


def _outcomes(task, items, again, workers):
    """(work, results) of all tasks, and then of the folds of what came to be in `again`."""
    yield from ((work, results) for (work, _), results in
                run_tasks(task, items, workers, ordered=False, inline=False))
    if again:
        folds = ((work, [fold]) for work in again for fold in range(work.left))
        yield from ((work, results) for (work, _), results in
                    run_tasks(task, folds, workers, ordered=False, inline=False))


def _task(x, tables, item):
    """[(part, result or error)] of the fits of one task, and its seconds of a core."""
    work, parts = item
    start = time.thread_time()
    nodes = tables.of(work.job, work.rows, len(parts) > 1)
    results = []
    for part in parts:
        try:
            results.append((part, _one_fit(x, nodes, work, part)))
        except AgfmcError as error:
            results.append((part, work.job.place.error(
                type(error), f"'{work.job.name}': {error.message}")))
    return results, time.thread_time() - start


def _one_fit(x, nodes, work, part):
    """Decision values of the samples of a fold; or the classifier, with its own or None."""
    options = work.job.options
    kernel = options.kernel_for(x.shape[1])
    if part == _ITSELF:
        solution = options.solve(nodes, work.rows, work.side)
        values = None if work.fold is not None or options.own_probabilities else loo_values(
            functools.partial(_kernel_values, kernel), x, work.rows, solution, options)
        return _flat(solution, x, work.rows), values
    train = work.fold != part
    rows = work.rows[train]
    solution = _flat(options.solve(nodes, rows, work.side[train]), x, rows)
    return decision_values(kernel, solution.points(x, rows), solution.coef, solution.rho,
                           x[work.rows[~train]])


def _kernel_values(kernel, a, b):
    """K (p, q) of points a (p, d) and b (q, d)."""
    return a.products(b) if is_sparse(a) else PreparedKernel(kernel, b).values(a).T


def _flat(solution, x, rows):
    """A linear machine of sparse points as one plane, which is smaller and as good."""
    if solution.vectors is not None or not is_sparse(x):
        return solution
    return Solution.plane(x[rows[solution.sv]].combined(solution.coef), -solution.rho,
                          solution.labels)


def _assemble(work, x, normalised):
    """The finished model of a job, and the rows of its support vectors, if it has such."""
    solution, job = work.solution, work.job
    options = job.options
    if options.own_probabilities:
        a, b, source = -1.0, 0.0, "own probabilities"
    else:
        a, b, converged = calibration.fit_sigmoid(work.values, work.side == solution.labels[0])
        if not converged:
            warnings.warn(f"'{job.name}': the fit of its probabilities did not converge",
                          AgfmcWarning, stacklevel=3)
        source = "platt loo" if work.fold is None else f"folds {work.fold.max() + 1}"
    provenance = Provenance.of_training(
        version=__version__, library=options.made_by(), options=options.canonical(),
        features=x.shape[1], probabilities=source, seed=job.seed,
        samples=(np.count_nonzero(work.side == 0), np.count_nonzero(work.side)),
        sides=(job.left, job.right), normalisation=normalised)
    model = BinaryModel(job.name, options.svm_type, options.kernel_for(x.shape[1]),
                        np.asarray(solution.points(x, work.rows), dtype=np.float64),
                        solution.coef, solution.rho,
                        solution.labels, solution.n_sv, (a, b), provenance, x.shape[1])
    return model, None if solution.sv is None else work.rows[solution.sv]


@dataclass(frozen=True, eq=False)
class _Data:
    """Points x (n, d) and labels y (n,), rows (n,) of all points, and the arguments of `fit`.

    holding: true where `held_out` is given.
    """

    x: np.ndarray
    y: np.ndarray
    rows: np.ndarray
    normalisation: Normalisation | None
    holding: bool
    loo: bool
    kernel_memory: int

    def part(self, job):
        """The data with the samples of a job alone."""
        own = np.flatnonzero(np.isin(self.y, job.left + job.right))
        if len(own) == len(self.y):
            return self
        return replace(self, x=self.x[own], y=self.y[own], rows=self.rows[own])


@dataclass(frozen=True, eq=False)
class _Trained:
    """A model without its support vectors, which are x[rows], as a worker returns it.

    right (l,): where the samples of the job were sent when held out, or None;
    seconds: of a core.
    """

    model: BinaryModel
    rows: np.ndarray | None
    right: np.ndarray | None
    seconds: float


def _fit_elsewhere(executor, jobs, x, y, rows_of, progress, normalisation, held_out, loo,
                   kernel_memory, spent):
    if is_sparse(x) and not all(job.options.kernel_for(1).kind == "linear" for job in jobs):
        x = np.asarray(x)  # for all of them, as with threads
    together = getattr(executor, "together", None) or workers_of(executor)
    data = _Data(x, y, np.arange(len(y)), normalisation, held_out is not None, loo,
                 kernel_memory // together)
    for done, (job, result) in enumerate(run_remote(
            executor, _fit_one, data, jobs, name=lambda job: f"'{job.name}'", part=_Data.part), 1):
        if isinstance(result, AgfmcError):
            yield job, job.place.error(type(result), result.message), None
        else:
            if spent is not None:
                spent(job, result.seconds)
            model = result.model if result.rows is None else replace(
                result.model, sv=np.asarray(x[result.rows], dtype=np.float64))
            if held_out is not None:
                held_out(job, problem(job, rows_of).side, result.right, model)
            yield job, model, result.rows
        if progress is not None:  # which may end the work: what is finished is handed out first
            progress(done, len(jobs))


def _fit_one(data, job):
    """On a worker: `fit` of one job, to the samples that it is about; -> `_Trained`."""
    data = data.part(job)
    right, seconds = [None], [0.0]

    def hold(job, side, sent, model):
        right[0] = sent

    def spend(job, spent):
        seconds[0] = spent

    (_, model, rows), = _fit_by_threads(
        1, [job], data.x, data.y, rows_by_class(data.y), None, data.normalisation,
        hold if data.holding else None, data.loo, data.kernel_memory, spend)
    if isinstance(model, AgfmcError):
        return model
    if rows is not None:
        model, rows = replace(model, sv=None), data.rows[rows]
    return _Trained(model, rows, right[0], seconds[0])
