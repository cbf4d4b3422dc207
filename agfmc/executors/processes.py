"""Processes of this machine as an executor: the standard pool, made anew when it breaks."""

from __future__ import annotations

import mmap
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading
import types
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection

from ..core.errors import CommandFailed
from .threads import ALONE

_shared: object = None  # of a worker process
_lock = threading.Lock()  # of what is changed for a moment while processes start


class ProcessPool(Executor):
    """An executor of `workers` processes, which begin with the first tasks.

    `together` is the number of tasks that share the memory of one machine.
    """

    def __init__(self, workers: int):
        self.workers = self.together = workers
        self._shared: object = None
        self._pool: ProcessPoolExecutor | None = None
        self._first = Future[int]()  # of the pool: it tells whether its workers can begin at all
        self._starts = 0  # of pools, since the last one whose workers began
        self._ended = False
        self._other_threads = threading.excepthook

    def submit(self, function, /, *args):
        """The `Future` of function(*args), for a function of a module."""
        if self._ended:
            raise RuntimeError("no tasks can be submitted after the shutdown")
        try:
            if self._pool is not None:
                with suppress(BrokenProcessPool), _starting():
                    return self._pool.submit(function, *args)
            with _starting():
                self._begin_pool()
                self._first = self._pool.submit(os.getpid)
                return self._pool.submit(function, *args)
        except BrokenProcessPool as error:  # a worker was killed while it began: as one at work
            lost = Future[None]()
            lost.set_exception(error)
            return lost
        except (OSError, RuntimeError) as error:
            raise CommandFailed(
                f"a worker process cannot be started: {error}: ask for fewer "
                "workers, or see ulimit -u and -v"
            ) from error

    def _begin_pool(self):
        if self._first.done() and self._first.exception() is None:
            self._starts = 0
        self._starts += 1
        _reserve_threads()
        threading.excepthook = self._end_tasks
        context = multiprocessing.get_context("spawn")
        # its end ends the workers, also where this process is killed
        reader, self._writer = context.Pipe(duplex=False)
        with tempfile.TemporaryFile() as file:
            pickle.dump(self._shared, file, 5)
            file.flush()
            shared = Connection(os.dup(file.fileno()), writable=False)
        self._pool = ProcessPoolExecutor(self.workers, context, _begin, (shared, reader))

    def _end_tasks(self, failure):
        """End the tasks with the thread that serves them, which would never be done."""
        if hasattr(failure.thread, "terminate_broken"):
            with suppress(RuntimeError, InvalidStateError):  # workers and tasks that have ended
                failure.thread.terminate_broken(None)
        else:
            self._other_threads(failure)

    def submit_with(self, shared: object, function: Callable, /, *args) -> Future:
        """The `Future` of function(shared, *args); `shared` is sent once to each process."""
        if shared is not self._shared:
            if self._pool is not None:
                self._pool.shutdown()
            self._shared, self._pool = shared, None
        return self.submit(_call_with_shared, function, *args)

    def lost(self, error: BaseException) -> str | None:
        """The end of the worker, if `error` belongs to a future whose worker may have ended.

        Raises `CommandFailed` where workers cannot even begin, as often as a lost task is tried.
        """
        if not isinstance(error, BrokenProcessPool):
            return None
        if self._ended:
            raise CommandFailed("the worker processes were stopped") from error
        begun = not self._first.done() or self._first.exception() is None
        if not begun and self._starts > ALONE:
            raise CommandFailed(
                "worker processes end before they begin to work: is there too "
                "little memory for so many?"
            ) from error
        return "a worker process has ended"

    def shutdown(self, wait=True, *, cancel_futures=True):
        """End all processes, whatever they do."""
        self._ended = True
        if self._pool is not None:
            threading.excepthook = self._other_threads
            self._writer.close()
            self._pool.shutdown(wait, cancel_futures=True)


def _reserve_threads():
    """`RuntimeError` where two threads more have no room, which the system keeps for the next.

    Those of the standard pool that cannot start are told to nobody, who waits for ever.
    """
    end = threading.Event()
    threads = []
    try:
        for _ in range(2):
            thread = threading.Thread(target=end.wait)
            thread.start()
            threads.append(thread)
    finally:
        end.set()
        for thread in threads:
            thread.join()


def refuse_modules(folder: str = ".") -> None:
    """`CommandFailed` where a folder has a module that has the name of one of Python's own."""
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") or os.path.exists(os.path.join(folder, name, "__init__.py")):
            if name.removesuffix(".py") in sys.stdlib_module_names:
                raise CommandFailed(
                    f"'{name}' in the current folder would be run in the place of "
                    "Python's own module of that name: run the command in another "
                    "folder, or with Python 3.11 or newer"
                )


@contextmanager
def _starting() -> Iterator[None]:
    """Processes that start get neither this one's script, nor modules of the current folder, nor
    Ctrl-C, which is for this one."""
    if sys.version_info < (3, 11):  # which knows no PYTHONSAFEPATH
        refuse_modules()
    with _lock:
        main = sys.modules["__main__"]
        safe = os.environ.get("PYTHONSAFEPATH")
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGQUIT})
        sys.modules["__main__"], os.environ["PYTHONSAFEPATH"] = types.ModuleType("__main__"), "1"
        try:
            yield
        finally:
            sys.modules["__main__"] = main
            del os.environ["PYTHONSAFEPATH"]
            if safe is not None:
                os.environ["PYTHONSAFEPATH"] = safe
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _begin(shared, reader):
    """Make this process a worker, which ends when nobody can write to `reader` any more.

    `shared` has the descriptor of a file, the pickle of what its tasks share: for what is written
    to the pipe of a process that was killed while it began, `multiprocessing` waits for ever.
    """
    global _shared
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        threading.Thread(target=_end_with, args=(reader,), daemon=True).start()
        with mmap.mmap(shared.fileno(), 0, access=mmap.ACCESS_READ) as data:
            _shared = pickle.loads(data)
    except Exception:  # no memory, another installation: `ProcessPool.lost` tells
        os._exit(1)


def _end_with(reader):
    with suppress(EOFError, OSError):
        reader.recv_bytes()
    os.kill(os.getpid(), signal.SIGKILL)


def _call_with_shared(function, *args):
    return function(_shared, *args)
