"""The option of commands whose work can be done elsewhere: --executor."""

from __future__ import annotations

import contextlib

from ..errors import UsageError

__all__ = ["add_executor", "check_executor", "executor", "fitting"]


def add_executor(group):
    """Add --executor to a group that has -j."""
    group.add_argument("--executor", metavar="WHERE",
                       help="workers elsewhere, in place of -j: dask:HOST:PORT or dask:FILE, a "
                            "running dask.distributed cluster by its scheduler's address or "
                            "scheduler file; or processes:N, N processes here (processes: one for "
                            "each core). Results do not depend on it")


def check_executor(args):
    """Refuse --executor with -j, and text that names none."""
    if args.executor is None:
        return
    from ..flow.remote import executor_words

    if args.jobs != 1:
        raise UsageError("-j and --executor exclude each other")
    executor_words(args.executor)


def executor(args):
    """A context manager: the pool of --executor, or None without it."""
    if args.executor is None:
        return contextlib.nullcontext()
    from ..flow.remote import open_executor

    return open_executor(args.executor)


def fitting(pool):
    """The arguments of `train` that have a pool's workers do it; none without a pool."""
    if pool is None:
        return {}
    import functools

    from ..flow.remote import remote_fit

    return {"fitting": functools.partial(remote_fit, pool)}
