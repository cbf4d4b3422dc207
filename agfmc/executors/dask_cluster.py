"""An executor of the workers of a dask.distributed cluster: dask's own, and shared data."""

from __future__ import annotations

import json
import logging
import os
import re
import warnings
from collections import Counter
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager

from ..core.errors import CommandFailed, DataError, needed_library, warn_user

_TIMEOUT_S = 10  # for a scheduler to answer, and for a first worker to be there


@contextmanager
def connected(where):
    """A `DaskPool`; where: HOST:PORT, an address such as tls://HOST:PORT, or a scheduler file.

    The name of a file that ends as an address does, in a colon and digits, needs a slash.
    Raises `UsageError` without dask.distributed, and `CommandFailed` where no scheduler answers
    within ten seconds, and where there are no workers, or they do not have this package.
    """
    with needed_library("dask needs dask.distributed: pip install 'agfmc[dask]'"):
        from distributed import Client
    address = address_of(where)
    with _quiet():
        try:
            client = Client(address, timeout=_TIMEOUT_S, set_as_default=False)
        except Exception as error:  # of bytes that another server sends, too
            raise CommandFailed(
                f"there is no scheduler of dask at {where}: {_first_line(error)}"
            ) from error
        try:
            yield DaskPool(client, where)
        finally:
            client.close(timeout=_TIMEOUT_S)


class DaskPool(Executor):
    """An executor of the workers that a client of dask.distributed knows.

    dask itself repeats a task whose worker is gone, and gives it up after some such workers.
    `workers` is the number of threads of all workers, `together` that of workers that share a
    machine.
    """

    tries = 1

    def __init__(self, client, where):
        self._client, self._where = client, where
        try:
            client.wait_for_workers(1, timeout=_TIMEOUT_S)
            is_single = client.run(_is_single_threaded)
        except Exception as error:  # of a worker without this package, too
            raise CommandFailed(
                f"the workers at {where} cannot be used: {_first_line(error)}"
            ) from error
        if not all(is_single.values()):
            warn_user(
                "workers may use several threads for one sum: start them with "
                "OMP_NUM_THREADS=1, else the last digits may differ from those here"
            )
        machines = Counter()
        for worker, count in client.nthreads().items():
            machines[worker.rpartition(":")[0]] += count
        self.workers = machines.total()
        self.together = max(machines.values())
        self._futures = client.get_executor(pure=False)
        self._shared = self._data = None

    def submit(self, function, /, *args):
        """The `Future` of function(*args)."""
        return self._futures.submit(function, *args)

    def submit_with(self, shared, function, /, *args):
        """The `Future` of function(shared, *args); `shared` is sent to all workers once."""
        # it goes with the last worker that holds it
        if self._shared is not shared or self._data.status != "finished":
            try:
                (self._data,) = self._client.scatter([shared], broadcast=True, hash=False)
            except (OSError, TimeoutError) as error:
                raise CommandFailed(
                    f"the data cannot be sent to the workers of {self._where}: {_first_line(error)}"
                ) from error
            self._shared = shared
        return self.submit(function, self._data, *args)

    def lost(self, error: BaseException) -> str | None:
        """The end of the workers, if `error` belongs to a future that was given up for it."""
        from distributed import KilledWorker

        if isinstance(error, KilledWorker):
            return "all workers that began it ended"
        if not isinstance(error, (CancelledError, OSError)):
            return None
        if isinstance(error, OSError) or self._client.status != "running":
            raise CommandFailed(f"lost the scheduler at {self._where}") from error
        return "all workers that had the data ended"


def _is_single_threaded():
    """Return whether BLAS uses one thread on this worker: several add in another order."""
    names = "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"
    return next((os.environ[name] for name in names if os.environ.get(name)), None) == "1"


@contextmanager
def _quiet():
    """Log messages of distributed do not appear: what matters is raised or warned of."""
    loggers = [
        logging.getLogger(name)
        for name in logging.root.manager.loggerDict
        if name.split(".")[0] in ("distributed", "tornado")
    ]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="distributed")
            yield
    finally:
        for logger, level in zip(loggers, levels):
            logger.setLevel(level)


def address_of(where):
    """The address of a scheduler, which may stand in the file that it wrote."""
    # a file of that name in the current folder may be a stranger's, and lead elsewhere
    if re.fullmatch(r"([a-z]+://)?[^/]*:[0-9]+", where):
        return where
    try:
        with open(where, encoding="utf-8") as file:
            return str(json.load(file)["address"])
    except OSError as error:
        raise DataError(
            f"cannot read {where}: {error.strerror}: expected HOST:PORT or a scheduler file of dask"
        ) from error
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(
            "expected a scheduler file of dask: it names no address", file=where
        ) from error


def _first_line(error):
    return (str(error).strip() or type(error).__name__).splitlines()[0]
