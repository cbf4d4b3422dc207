"""Training, from jobs and data to binary models."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from .._version import __version__
from ..errors import AgfmcError, AgfmcWarning
from ..kernel.machine import decision_values
from ..models import BinaryModel
from ..train import platt, svm
from ..train.jobs import check_jobs, problem
from .executors import run_tasks

__all__ = ["fit", "rows_by_class"]


def rows_by_class(y):
    """{label: ascending row numbers} of labels y (n,)."""
    order = np.argsort(y, kind="stable")
    labels, starts = np.unique(y[order], return_index=True)
    return {int(label): rows for label, rows in zip(labels, np.split(order, starts[1:]))}


@dataclass(eq=False)
class _Work:
    """One job on its way: its samples, their folds, and what has come back."""

    job: object
    rows: np.ndarray
    side: np.ndarray
    fold: np.ndarray
    values: np.ndarray
    left: int
    solution: object = None
    error: object = None


def fit(jobs, x, y, workers=1, progress=None, normalisation=None, held_out=None):
    """Train `jobs` on points x (n, d) with labels y (n,).

    Yields (job, model, rows): a `BinaryModel` and the rows of x that are its
    support vectors, as jobs finish; the order depends on `workers`, the
    models do not.  A job that LIBSVM refuses comes as (job, error, None).
    Each job is six tasks, the classifier itself and five folds whose decision
    values fit the probabilities (Platt 1999), and the tasks of all jobs share
    the workers.  progress: called with (tasks done, all tasks); normalisation:
    the one that x went through, or None, whose digest the models tell;
    held_out: called with (job, side (l,), right (l,), model) for each job that is
    done, right telling where its samples were sent when they were held out.  Raises
    `DataError` before any training where a side has fewer than two samples.
    """
    rows_of = rows_by_class(y)
    counts = {label: len(rows) for label, rows in rows_of.items()}
    few = check_jobs(jobs, counts)
    if few:
        more = f" (and {len(few) - 1} more)" if len(few) > 1 else ""
        warnings.warn(f"{few[0]}{more}: its probabilities rest on very little",
                      AgfmcWarning, stacklevel=2)
    normalised = "" if normalisation is None else f"; normalised {normalisation.digest()}"
    x = np.ascontiguousarray(x, dtype=np.float64)
    nodes = svm.Nodes(x)

    def task(item):
        work, fold = item
        try:
            if fold < 0:
                return svm.solve(nodes, work.rows, work.side, work.job.options)
            train = work.fold != fold
            rows = work.rows[train]
            part = svm.solve(nodes, rows, work.side[train], work.job.options)
            kernel = work.job.options.kernel_for(nodes.features)
            return decision_values(kernel, x[rows[part.sv]], part.coef, part.rho,
                                   x[work.rows[~train]])
        except AgfmcError as error:
            file, line, column = work.job.place
            return type(error)(f"'{work.job.name}': {error.message}", file=file, line=line,
                               column=column)

    done = 0
    total = sum(1 + platt.fold_count(*(sum(counts[label] for label in side)
                                       for side in (job.left, job.right))) for job in jobs)
    for (work, fold), result in run_tasks(task, _tasks(jobs, rows_of), workers, ordered=False,
                                          inline=False):
        if isinstance(result, AgfmcError):
            work.error = work.error or result
        elif fold < 0:
            work.solution = result
        else:
            work.values[work.fold == fold] = result
        work.left -= 1
        done += 1
        if progress is not None:
            progress(done, total)
        if work.left == 0:
            if work.error is not None:
                yield work.job, work.error, None
                continue
            model, rows = _assemble(work, x, normalised)
            if held_out is not None:
                a, b = model.scale
                held_out(work.job, work.side, a * work.values + b >= 0, model)
            yield work.job, model, rows


def _tasks(jobs, rows_of):
    """(work, fold) of every job; fold -1 is the classifier itself."""
    for job in jobs:
        part = problem(job, rows_of)
        fold = platt.folds(part.side, platt.job_seed(job.seed, job.left, job.right))
        count = int(fold.max()) + 1
        work = _Work(job, part.rows, part.side, fold, np.empty(len(fold)), count + 1)
        for number in range(-1, count):
            yield work, number


def _assemble(work, x, normalised):
    """The finished model of a job, and the rows of its support vectors."""
    solution, job = work.solution, work.job
    a, b, converged = platt.fit_sigmoid(work.values, work.side == solution.labels[0])
    if not converged:
        warnings.warn(f"'{job.name}': the fit of its probabilities did not converge",
                      AgfmcWarning, stacklevel=3)
    rows = work.rows[solution.sv]
    settings = (f"{__version__}; libsvm {svm.library_version()}; "
                f"options {job.options.canonical()}; features {x.shape[1]}; "
                f"folds {work.fold.max() + 1}; seed {job.seed}{normalised}")
    return BinaryModel(job.name, job.options.svm_type, job.options.kernel_for(x.shape[1]),
                       x[rows], solution.coef, solution.rho, solution.labels, solution.n_sv,
                       (a, b), settings, x.shape[1]), rows
