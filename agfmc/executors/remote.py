"""Tasks on workers elsewhere: processes of this machine, a cluster, any executor given.

An executor is one of `concurrent.futures`: `ProcessPoolExecutor`, `MPIPoolExecutor` of
mpi4py, or one of `open_executor`.  It may have more than such a one, which is used then:

    submit_with(shared, function, *args)  the future of function(shared, *args), where
                                          `shared` goes to each worker once, also for
                                          several calls of `run_remote`
    lost(error)                           the end of the worker that a future may have had, in
                                          words, where that is its error; else None
    tries                                 how often a lost task is repeated (default 2)
    workers, num_workers                  how many tasks run at a time
    together                              how many of them share the memory of a machine
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor

from ..core.errors import (
    AgfmcError,
    AgfmcWarning,
    CommandFailed,
    UsageError,
    lacks_memory,
    warn_user,
)
from ..core.provenance import libsvm_version
from ..core.version import __version__
from .threads import ALONE, available_cores, outcomes

_collecting = threading.local()


class SharedDataUnavailable:
    """The result of a task whose worker cannot get at what `shared` only refers to."""


def executor_kind(text: str) -> tuple[str, str]:
    """(kind, rest) of the text that names an executor; `UsageError` for any other text.

    `processes` and `processes:N` are N processes of this machine, by default one for each core;
    `threads` and `threads:N` are as many threads; `dask:HOST:PORT` and `dask:FILE` are a running
    cluster, by the address of its scheduler or the file that it wrote.
    """
    kind, _, rest = text.partition(":")
    if (
        kind == "dask"
        and rest
        or kind in ("processes", "threads")
        and (rest == "" or rest.isascii() and rest.isdecimal() and 0 < int(rest) <= 1024)
    ):
        return kind, rest
    raise UsageError(
        "expected a number of threads, processes:N, N from 1 to 1024, dask:HOST:PORT or "
        f"dask:FILE, found '{text}'"
    )


@contextlib.contextmanager
def open_executor(text: str) -> Iterator[Executor | int]:
    """The executor that `text` names, as `executor_kind` takes it; its workers end with the block.

    Threads are a number, as wherever an executor may be given.  Raises `UsageError` for other text
    and for what is not installed, `CommandFailed` where no scheduler answers.
    """
    kind, rest = executor_kind(text)
    if kind == "dask":
        from .dask_cluster import connected

        with connected(rest) as pool:
            yield pool
        return
    workers = int(rest or available_cores())
    if kind == "threads":
        yield workers
        return
    from .processes import ProcessPool

    with ProcessPool(workers) as pool:
        yield pool


def workers_of(executor: Executor | int) -> int:
    """The number of tasks that an executor runs at a time; the cores here where it is not known."""
    if isinstance(executor, int) and executor:
        return executor
    return (
        getattr(executor, "workers", None)
        or getattr(executor, "num_workers", None)
        or available_cores()
    )


def together_of(executor: Executor) -> int:
    """The number of tasks that share the memory of a machine; all of them where it is not known."""
    return getattr(executor, "together", None) or workers_of(executor)


def run_remote(
    executor: Executor,
    function: Callable,
    shared: object,
    items: Iterable,
    *,
    name: Callable,
    ordered: bool | int = False,
    part: Callable | None = None,
) -> Iterator[tuple]:
    """Yield (item, result) with result = function(shared, item), or the `AgfmcError` it raised.

    Tasks that are lost with a worker are repeated, the second time one by one: the task that ends
    its worker has an error for its result. Warnings of tasks are given here.

    Parameters
    ----------
    function : function of a module, workers import it
    name : function of an item, what messages call the item
    ordered : bool or int, as for `outcomes`, or the number of the window, by default 4 a worker
    part : function of (shared, item), optional, what is sent with an item in place of `shared`
        where less is enough: by an executor without `submit_with`, where `shared` is None, and from
        the first result on that is `SharedDataUnavailable`

    Raises
    ------
    CommandFailed
        Where the workers cannot be used. Any other exception of a task is raised, too.
    """
    home = _process()
    once = shared is not None and hasattr(executor, "submit_with")
    by_parts = part is not None and not once
    tries = getattr(executor, "tries", ALONE)
    warned = 0
    window = 4 * workers_of(executor) if isinstance(ordered, bool) else ordered

    def submit(item):
        if by_parts:
            return executor.submit(_call, part(shared, item), function, home, item)
        if once:
            return executor.submit_with(shared, _call, function, home, item)
        return executor.submit(_call, shared, function, home, item)

    def lost(future):
        error = CancelledError() if future.cancelled() else future.exception()
        return executor.lost(error) if error is not None and hasattr(executor, "lost") else None

    def retry(item, future, losses):
        nonlocal by_parts, warned
        if not future.cancelled() and future.exception() is None:
            if not isinstance(future.result()[0], SharedDataUnavailable):
                return None
            by_parts = True
            return losses
        reason = lost(future)
        if reason is None or losses == tries:
            return None
        if losses == warned:  # of all that were lost at once, one
            warned += 1
            warn_user(f"{name(item)}: {reason}; retrying")
        return losses + 1

    try:
        for item, future in outcomes(submit, items, window, ordered=bool(ordered), retry=retry):
            reason = lost(future)
            if reason is not None:
                yield item, CommandFailed(f"{name(item)}: {reason}; giving up")
                continue
            result, texts = future.result()
            for text, kind in texts:
                warn_user(text, kind)
            yield item, result
    except (BrokenExecutor, CancelledError) as error:
        raise CommandFailed(f"the workers have ended: {error or 'they were stopped'}") from error


def _process():
    """(machine, number, versions of all that results depend on) of this process."""
    return platform.node(), os.getpid(), _versions()


@functools.cache
def _versions():
    return {
        "agfmc": __version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "LIBSVM": libsvm_version(),
    }


def _call(shared, function, home, item):
    """The answer of a worker: (result, or the `AgfmcError` raised; texts and kinds of warnings).

    `home` is the `_process` of the one that gets the result.
    """
    node, number, versions = _process()
    texts = []
    elsewhere = (node, number) != home[:2]
    if elsewhere:
        for what, version in home[2].items():
            if versions[what] != version:
                raise CommandFailed(
                    f"process {number} of {node} has {what} {versions[what]}, and "
                    f"here it is {version}: both must be the same"
                )
        _collect_warnings()
        _collecting.texts = texts
    try:
        return function(shared, item), texts
    except AgfmcError as error:
        return error, texts
    except Exception as error:
        if not elsewhere:
            raise
        if lacks_memory(error):
            kind = MemoryError
        else:
            kind = RuntimeError
        raise kind(f"on a worker: {type(error).__name__}: {error}") from None
    finally:
        _collecting.texts = None


def _collect_warnings():
    """Have this process, a worker, collect the warnings of each thread for its caller.

    `warnings.catch_warnings` belongs to the whole process, and workers have threads.
    """
    before = warnings.showwarning
    if getattr(before, "collects", False):
        return

    def show(message, category, *place, **more):
        texts = getattr(_collecting, "texts", None)
        if texts is not None and issubclass(category, AgfmcWarning):
            texts.append((str(message), category))
        else:
            before(message, category, *place, **more)

    show.collects = True
    warnings.showwarning = show
    warnings.simplefilter("always", AgfmcWarning)
