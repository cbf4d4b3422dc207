"""Training on workers elsewhere: whole jobs go out, coefficients and row numbers come back.

The data go to each worker once.  The models are those that `fit` makes here, byte
for byte, on machines whose arithmetic is the same.
"""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import is_sparse
from ..errors import AgfmcError, AgfmcWarning, and_more, UsageError
from ..models import Normalisation
from ..learners.jobs import check_jobs, check_learners, problem, rows_by_class
from ..executors.threads import available_cores
from .fit import fit
from .kernel_tables import MEGABYTES

__all__ = ["executor_words", "open_executor", "remote_fit"]


def executor_words(text):
    """(kind, rest) of the text of an executor; UsageError where it is none.

    `processes`, `processes:N`: N processes of this machine, by default one for
    each core;  `dask:HOST:PORT`, `dask:FILE`: a running cluster, by the address of its
    scheduler or the file that it wrote.
    """
    kind, _, rest = text.partition(":")
    if kind == "dask" and rest or kind == "processes" and (
            rest == "" or rest.isascii() and rest.isdecimal() and 0 < int(rest) <= 1024):
        return kind, rest
    raise UsageError("expected dask:HOST:PORT, dask:FILE or processes:N as executor, found "
                     f"'{text}'")


@contextlib.contextmanager
def open_executor(text):
    """A pool of the workers that `text` names, as `executor_words` takes it.

    pool.run(function, shared, items, name=...) yields (item, result); see
    `ProcessPool.run`.  Raises `UsageError` for other text and for what is not
    installed, `CommandFailed` where nobody answers.
    """
    kind, rest = executor_words(text)
    if kind == "processes":
        from ..executors.processes import ProcessPool

        with contextlib.closing(ProcessPool(int(rest or available_cores()))) as pool:
            yield pool
        return
    from ..executors.dask_cluster import connected

    with connected(rest) as pool:
        yield pool


@dataclass(frozen=True, eq=False)
class _Data:
    """What every worker is sent: points x (n, d), labels y (n,), and the arguments of `fit`."""

    x: np.ndarray
    y: np.ndarray
    normalisation: Normalisation | None
    holding: bool
    loo: bool
    kernel_memory: int


@dataclass(frozen=True, eq=False)
class _Trained:
    """What comes back: a model without its support vectors, which are x[rows].

    right (l,): where the samples of the job were sent when held out, or None;
    seconds: of a core.
    """

    model: object
    rows: np.ndarray | None
    right: np.ndarray | None
    seconds: float


def remote_fit(pool, jobs, x, y, workers=None, progress=None, normalisation=None, held_out=None, *,
               loo=False, kernel_memory=MEGABYTES, spent=None):
    """As `fit`, on the workers of a pool; `workers` is not used, as these are the pool's.

    progress: called with (jobs done, all jobs);  kernel_memory: megabytes on each machine.
    A job whose workers died twice comes as (job, error, None) too.
    """
    check_learners(jobs, loo)
    rows_of = rows_by_class(y)
    few = check_jobs(jobs, {label: len(rows) for label, rows in rows_of.items()})
    if few:
        warnings.warn(f"{few[0]}{and_more(few)}: its probabilities rest on very little "
                      "(--min-class 5 leaves out classes with fewer than 5 samples)",
                      AgfmcWarning, stacklevel=2)

    def hear(text):
        if not text.startswith(tuple(few)):  # that has been said
            warnings.warn(text, AgfmcWarning, stacklevel=3)

    if is_sparse(x) and not all(job.options.kernel_for(1).kind == "linear" for job in jobs):
        x = np.asarray(x)  # for all of them, as `fit` has it
    data = _Data(x, y, normalisation, held_out is not None, loo, kernel_memory // pool.together)
    for done, (job, result) in enumerate(pool.run(
            _fit_one, data, jobs, name=lambda job: f"'{job.name}'", window=max(1, len(jobs)),
            hear=hear), 1):
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
    own = np.flatnonzero(np.isin(data.y, job.left + job.right))
    x, y = (data.x, data.y) if len(own) == len(data.y) else (data.x[own], data.y[own])
    held, seconds = [None], [0.0]

    def hold(job, side, right, model):
        held[0] = right

    def spend(job, spent):
        seconds[0] = spent

    (_, model, rows), = fit([job], x, y, 1, None, data.normalisation,
                            hold if data.holding else None, loo=data.loo,
                            kernel_memory=data.kernel_memory, spent=spend)
    if isinstance(model, AgfmcError):
        return model
    if rows is not None:
        model, rows = replace(model, sv=None), own[rows]
    return _Trained(model, rows, held[0], seconds[0])
