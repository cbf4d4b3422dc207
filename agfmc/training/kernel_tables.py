"""Tables of kernel values: jobs that share one, have one to themselves, or have none."""

from __future__ import annotations

import time

import numpy as np

from ..core.errors import UsageError
from ..core.kernels import KERNELS
from ..core.memory import KERNEL_MEMORY
from ..core.points import is_sparse
from ..executors.threads import run_tasks
from ..learners.kernel_table import KernelTable, most_rows, rounding, table_pays

PACKED = 256  # megabytes of points that are packed together; else each job's apart
_SPREAD = 4  # jobs a worker, before a whole job may be one task


class Tables:
    """The tables of kernel values that the fits of each job use.

    Jobs with the same radial kernel share one table of all their points where it fits into the
    memory, saves more than it costs, and has no more values than tables for each job; where there
    are many jobs, half as many at most. Else each of many jobs has a table for itself while a
    worker is busy with it, if that pays.
    Where all points packed for LIBSVM or LIBLINEAR would take more than `PACKED` megabytes and the
    workers need only some at a time, each packs the points of its job. Models are the same.

    Kernels that LIBSVM does not have need tables, whether these pay or not. Raises `UsageError`
    where the memory does not hold them.

    Parameters
    ----------
    x : array or SparsePoints (n, d), all points
    jobs : sequence, binary `Job`s
    rows_of : dict, {label: rows of x}
    fits : dict, {name of a job: how many fits on all its points it amounts to}
    megabytes : float, for all tables
    """

    def __init__(self, x, jobs, rows_of, fits, workers, megabytes):
        self._x = x
        self._rows_of = rows_of
        self._workers = max(workers, 1)
        self._bounds, self._shared, self._separate = {}, {}, set()  # by kernel, and names of jobs
        self._seconds = {}  # of a core for a common table, as much as falls to a job
        self._packed = {}  # by the key of a learner
        sizes = [self._points(job) for job in jobs]
        values = x.counts.sum() if is_sparse(x) else x.shape[0] * x.shape[1]  # 2^16 are a megabyte
        self._apart = values >> 16 > PACKED and self._workers * max(sizes, default=0) < len(x)
        for job in [] if self._apart else jobs:
            if job.options.packing not in self._packed:
                self._packed[job.options.packing] = job.options.pack(x)
        groups = {}
        for job in jobs:
            kernel = job.options.kernel_for(x.shape[1])
            if job.options.packing == "nodes" and (
                not KERNELS[kernel.kind].in_libsvm
                or kernel.kind == "rbf"
                and megabytes
                and not is_sparse(x)
            ):
                groups.setdefault(kernel, []).append(job)
        for kernel, group in groups.items():
            self._bounds[kernel] = rounding(x, kernel.gamma) if kernel.kind == "rbf" else 0.0
            if self._bounds[kernel] is not None:
                megabytes -= self._choose(kernel, group, fits, megabytes)

    def _choose(self, kernel, jobs, fits, megabytes):
        """Choose the tables of the jobs of one kernel; return megabytes of their common table."""
        d = self._x.shape[1]
        needed = not KERNELS[kernel.kind].in_libsvm
        sizes = [self._points(job) for job in jobs]
        times = [fits[job.name] for job in jobs]
        labels = sorted({label for job in jobs for label in job.labels})
        size = sum(len(self._rows_of[label]) for label in labels)
        most = most_rows(megabytes // self._workers)
        whole = sum(samples**2 for samples in sizes)
        several = max(times) > 1 and len(jobs) >= _SPREAD * self._workers
        # those of pairs of classes have less than twice the values, and go when a job is finished
        short_lived = several and max(sizes) <= most and whole < 2 * size**2
        if (
            not short_lived
            and size <= most_rows(megabytes)
            and size**2 <= whole
            and (needed or table_pays(size, list(zip(sizes, times)), d))
        ):
            rows = np.concatenate([self._rows_of[label] for label in labels])
            table = KernelTable(self._x, rows, kernel, self._bounds[kernel])

            def fill(block):
                start = time.thread_time()
                table.fill(block)
                return time.thread_time() - start

            seconds = sum(
                spent for _, spent in run_tasks(fill, table.blocks, self._workers, inline=False)
            )
            self._seconds.update(
                (job.name, seconds * samples**2 / whole) for job, samples in zip(jobs, sizes)
            )
            self._shared[kernel] = table
            return size * (size + 2) / 2**17
        if needed:
            if max(sizes) > most:
                job = jobs[np.argmax(sizes)]
                room = -(-(max(sizes) ** 2) >> 17)
                raise job.place.error(
                    UsageError,
                    f"the {kernel.kind} kernel needs all kernel values of the "
                    f"{max(sizes)} samples of {job.title}, {room} MB for each worker: expected "
                    f"{KERNEL_MEMORY}={room * self._workers} or more in the environment, or "
                    "learner=nystrom, which needs no such table",
                )
            self._separate.update(job.name for job in jobs)
        elif several:
            self._separate.update(
                job.name
                for job, samples, count in zip(jobs, sizes, times)
                if count > 1 and samples <= most and table_pays(samples, [(samples, count)], d)
            )
        return 0

    def _points(self, job):
        return sum(len(self._rows_of[label]) for label in job.labels)

    def seconds(self, job):
        """The core seconds of a job: its share of the common table, by the squares of sizes."""
        return self._seconds.get(job.name, 0.0)

    def has_own(self, job):
        """Return whether the fits of a job are one task, as it has its own points."""
        return self._apart or job.name in self._separate

    def of(self, job, rows, several):
        """A `KernelTable`, or what the learner makes of all points, for a job on x[rows].

        `several` says that there is more than one fit. A table of this job alone is valid until
        this thread calls again.
        """
        kernel = job.options.kernel_for(self._x.shape[1])
        separate = job.name in self._separate and (several or not KERNELS[kernel.kind].in_libsvm)
        if not separate:
            if job.options.packing == "nodes" and kernel in self._shared:
                return self._shared[kernel]
            if self._apart:
                return job.options.pack(self._x, rows)
            return self._packed[job.options.packing]
        table = KernelTable(self._x, rows, kernel, self._bounds[kernel], reuse=True)
        for block in table.blocks:
            table.fill(block)
        return table
