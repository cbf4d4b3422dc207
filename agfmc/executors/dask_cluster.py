"""Workers of a dask.distributed cluster that is running somewhere.

The scheduler of a dask cluster: where it is, and whether what answers there is one.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import queue
import re
import uuid
import warnings
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass

from ..errors import and_more, CommandFailed, DataError, UsageError
from .threads import collect
from .worker_call import call, check_versions, lost, one_thread, raised, TRIES, versions, warn

__all__ = ["DaskPool", "address_of", "check_scheduler", "connected", "first_line"]

_PATIENCE = 10  # seconds for a scheduler to take us on, and for a first worker to be there
_SPREADS = 5  # of the data, before a cluster that loses all its workers is given up


@contextmanager
def connected(where):
    """A `DaskPool`; where: HOST:PORT, an address such as tls://HOST:PORT, or a scheduler file.

    The name of a file that ends as an address does, in a colon and digits, needs a slash.
    Raises `UsageError` without dask.distributed, and `CommandFailed` where no
    scheduler answers within five seconds, where there are no workers, or
    where they have other versions of what the results depend on.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError("--executor dask needs dask.distributed: pip install 'agfmc[dask]'") \
            from error
    address = address_of(where)
    with _quiet():
        check_scheduler(address, where)
        try:
            client = Client(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, RuntimeError) as error:
            raise CommandFailed(f"there is no scheduler of dask at {where}: "
                                f"{first_line(error)}") from error
        try:
            yield DaskPool(client, where)
        finally:
            client.close(timeout=_PATIENCE)


class DaskPool:
    """The workers that a client of dask.distributed knows.

    workers: threads of all of them;  together: of those that share a machine.
    """

    def __init__(self, client, where):
        self._client, self._where = client, where
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            raise CommandFailed(f"the cluster at {where} has no workers") from error
        self._versions = versions()
        for worker, found in client.run(versions, on_error="return").items():
            if isinstance(found, Exception):
                raise CommandFailed(f"the worker {worker} cannot do this work: "
                                    f"{first_line(found)}")
            check_versions(worker, found, self._versions)
        several = [worker for worker, one in client.run(one_thread).items() if not one]
        if several:
            warn(f"the worker {several[0]}{and_more(several)} may use several threads for one sum: "
                 "start it with OMP_NUM_THREADS=1, else the last digits may differ from those here")
        self.threads, machines = client.nthreads(), {}
        for worker, count in self.threads.items():
            machine = worker.rpartition(":")[0]
            machines[machine] = machines.get(machine, 0) + count
        self.workers = max(1, sum(self.threads.values()))
        self.together = max([1, *machines.values()])

    def run(self, function, shared, items, *, name, ordered=False, window=None, hear=warn):
        """As `ProcessPool.run`; the shared data are sent to all workers once.

        Raises `CommandFailed` where the scheduler goes away.
        """
        watch = _Watch(self, function, shared, name, hear)
        try:
            watch.begin()
            yield from collect(iter(items), watch.send, watch.receive, ordered,
                               window or 4 * self.workers)
        finally:
            watch.end()


@dataclass(eq=False)
class _Task:
    """What is known of one task.

    at: the worker that said that it began;  deaths: of workers while it ran;  rounds: how
    often it was submitted;  suspected: how often dask gave it up.
    """

    number: int
    item: object
    future: object = None
    at: str | None = None
    deaths: int = 0
    rounds: int = 0
    suspected: int = 0


class _Watch:
    """One run: the tasks that are out, and the news of them.

    News are ("done", key, round), ("begun", key, worker) and ("gone", worker, None): the
    first from the futures, the others events of the scheduler.
    """

    def __init__(self, pool, function, shared, name, hear):
        self._pool, self._client = pool, pool._client
        self._function, self._shared = function, shared
        self._name, self._hear = name, hear
        self._topic = f"agfmc-{uuid.uuid4().hex[:12]}"
        self._news = queue.SimpleQueue()
        self._tasks = {}
        self._followed = set()
        self._begun = {}  # the last tasks that began at each worker, one for each thread
        self._data = None
        self._spreads = 0

    def begin(self):
        """Listen, and send the shared data."""
        self._client.subscribe_topic(self._topic, lambda event: self._news.put(
            ("begun", event[1]["key"], event[1]["worker"])))
        for worker in self._client.nthreads():
            self._follow(worker)
        self._spread()

    def _follow(self, worker):
        """Hear when a worker goes.  The topic "all" would tell too, but its messages about
        what other clients do cannot all be sent, and end the connection."""
        if worker in self._followed:
            return
        self._followed.add(worker)

        def changed(event):
            if isinstance(event[1], dict) and event[1].get("action") == "remove-worker":
                self._news.put(("gone", worker, None))

        self._client.subscribe_topic(worker, changed)

    def _spread(self):
        self._spreads += 1
        if self._spreads > _SPREADS:
            raise CommandFailed(f"all workers of the cluster at {self._pool._where} were lost, "
                                f"{_SPREADS} times")
        try:
            (self._data,) = self._client.scatter([self._shared], broadcast=True, hash=False)
        except (OSError, TimeoutError) as error:
            raise CommandFailed(f"the data cannot be sent to the workers of {self._pool._where}: "
                                f"{first_line(error)}") from error

    def send(self, pair):
        """Hand (number, item) to the cluster."""
        self._submit(f"{self._topic}-{pair[0]}", _Task(*pair))

    def _submit(self, key, task):
        task.rounds += 1
        self._tasks[key] = task
        task.future = self._client.submit(
            _work, self._pool._versions, self._topic, key, self._function, self._data, task.item,
            key=f"{key}-{task.rounds}", pure=False)
        news = ("done", key, task.rounds)
        task.future.add_done_callback(lambda future: self._news.put(news))

    def receive(self):
        """(number, item, result, error) of a task that is done."""
        while True:
            what, key, value = self._news.get()
            done = None
            if what == "gone":
                self._gone(key)
            elif key in self._tasks:
                task = self._tasks[key]
                if what == "begun":
                    self._follow(value)
                    if task.at is not None:  # how it went is not known
                        self._gone(task.at)
                    task.at = value
                    self._begun.setdefault(value, deque(
                        maxlen=self._pool.threads.get(value, 1))).append(key)
                elif what == "failed":
                    done = value
                elif value == task.rounds:
                    done = self._done(key, task)
            if done is not None:
                task = self._tasks.pop(key)
                task.future.release()
                return task.number, task.item, done, None

    def _gone(self, worker):
        """Name what was lost with a worker; dask begins it again by itself."""
        for key in self._begun.pop(worker, ()):  # those before have ended, if not arrived
            task = self._tasks.get(key)
            if task is None or task.at != worker or task.future.status in ("finished", "error"):
                continue
            task.at = None
            task.deaths += 1
            told = f"worker {worker} is gone while it worked on {self._name(task.item)}"
            if task.deaths < TRIES:
                self._hear(f"{told}, which is begun once more")
            else:
                task.future.cancel()
                self._news.put(("failed", key, lost(told)))

    def _done(self, key, task):
        """The result of a future that is done; None where it had to be sent again."""
        from distributed import KilledWorker

        try:
            result, texts = task.future.result()
        except KilledWorker:
            # dask suspects every task that was waiting at workers that died, and so may be wrong
            task.suspected += 1
            if task.suspected >= TRIES:
                return lost(f"workers are gone while they had {self._name(task.item)}")
            self._submit(key, task)
            return None
        except Exception as error:
            lost_connection = isinstance(error, OSError)
            if not lost_connection and type(error).__name__ not in ("CancelledError",
                                                                    "FutureCancelledError"):
                raise
            if lost_connection or self._client.status != "running":
                raise CommandFailed(f"the scheduler at {self._pool._where} went away") from error
            if self._data.status != "finished":  # it went with the last worker that held it
                self._spread()
            self._submit(key, task)
            return None
        for text in texts:
            self._hear(text)
        return raised(result)

    def end(self):
        """Give up what is still out."""
        if self._client.status != "running":
            return
        for topic in (self._topic, *self._followed):
            self._client.unsubscribe_topic(topic)
        futures = [task.future for task in self._tasks.values()]
        if futures:
            self._client.cancel(futures)


def _work(expected, topic, key, function, shared, item):
    """On the worker: say that it begins, and call."""
    from distributed import get_worker

    worker = get_worker()
    worker.log_event(topic, {"key": key, "worker": worker.address})
    try:
        check_versions(worker.address, versions(), expected)  # it may have come later
    except CommandFailed as error:
        return error, []
    return call(function, shared, item)


@contextmanager
def _quiet():
    """No words of distributed's own on standard error: what matters is raised or warned of."""
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict
               if name.split(".")[0] in ("distributed", "tornado")]
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


_ANSWER = 5  # seconds for a scheduler to say that it is one


def address_of(where):
    """The address of a scheduler, which may stand in the file that it wrote."""
    # a file of that name in the current folder may be a stranger's, and lead elsewhere
    if re.fullmatch(r"([a-z]+://)?[^/]*:[0-9]+", where):
        return where
    if not os.path.isfile(where):
        raise UsageError(f"expected HOST:PORT or a scheduler file of dask, found '{where}'")
    try:
        with open(where, encoding="utf-8") as file:
            return str(json.load(file)["address"])
    except (ValueError, TypeError, KeyError) as error:
        raise DataError("expected a scheduler file of dask: it names no address", file=where) \
            from error


def check_scheduler(address, where):
    """Raise `CommandFailed` where no scheduler answers: a client would wait for one for long."""
    from distributed.utils import LoopRunner

    try:  # in a thread, as the client does: the caller may have an event loop, as notebooks do
        found = LoopRunner().run_sync(_identity, address, callback_timeout=_ANSWER + 1)["type"]
        reason = None if found == "Scheduler" else f"a {found} answers"
    except (OSError, RuntimeError, asyncio.TimeoutError) as error:
        while isinstance(error.__cause__, Exception):
            error = error.__cause__
        late = isinstance(error, (TimeoutError, asyncio.TimeoutError))
        reason = f"no answer in {_ANSWER} seconds" if late else \
            getattr(error, "strerror", None) or first_line(error)
    except (TypeError, ValueError) as error:
        reason = f"it cannot be spoken with: {first_line(error)}"
    except Exception:  # of reading bytes that are not meant for us
        reason = "something else answers (a scheduler's own port is 8786)"
    if reason is not None:
        raise CommandFailed(f"there is no scheduler of dask at {where}: {reason}")


async def _identity(address):
    from distributed import Security
    from distributed.core import rpc

    async with rpc(address, timeout=_ANSWER, deserialize=False,
                   connection_args=Security().get_connection_args("client")) as scheduler:
        return await scheduler.identity()


def first_line(error):
    """What an error says, in one line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
