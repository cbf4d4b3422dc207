"""An executor of processes of this machine, which may die one by one.

`ProcessPoolExecutor` is broken as a whole when a worker dies, and does not record which task
it had.  Here a thread hands tasks to each process: the one task is lost, and the thread
starts another process.
"""

from __future__ import annotations

import errno
import os
import pickle
import queue
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

from ..errors import CommandFailed
from .threads import start_threads, Threads

__all__ = ["ProcessPool", "WorkerLost", "serve"]

_START = ("import sys; sys.excepthook = lambda *_: None; sys.path[:] = {}; "  # its end tells enough
          "from agfmc.executors.processes import serve; serve({})")
_TOO_MANY = "this user may have no more processes and threads (ulimit -u): ask for fewer workers"
_PATIENCE = 1.0  # seconds for a process that has closed its socket to end


class WorkerLost(Exception):
    """The end of a worker in the middle of a task."""


class ProcessPool(Threads):
    """An executor of `workers` processes; each is started with its first task.

    together: how many tasks share the memory of one machine.
    """

    def __init__(self, workers: int):
        self.workers = self.together = workers
        self._mine = threading.local()  # worker: the process of a thread
        self._all: list[_Worker] = []
        self._lock = threading.Lock()
        super().__init__(workers)

    def submit(self, function, /, *args):
        """The `Future` of function(*args), for a function of a module."""
        return self.submit_with(None, function, *args)

    def submit_with(self, shared, function, /, *args):
        """The `Future` of function(shared, *args); `shared`, if not None, is sent once."""
        return super().submit(self._call, shared, function, args)

    @staticmethod
    def lost(error: BaseException) -> str | None:
        """The end of the worker, if `error` belongs to a future whose worker ended."""
        return str(error) if isinstance(error, WorkerLost) else None

    def shutdown(self, wait=True, *, cancel_futures=False):
        """As of any executor; the worker processes end with it."""
        super().shutdown(wait, cancel_futures=cancel_futures)
        if wait:
            self.kill_workers()

    def kill_workers(self):
        """End all processes, whatever they do."""
        with self._lock:
            self._ended = True
        for worker in self._all:
            worker.process.kill()
        super().shutdown(cancel_futures=True)
        for worker in self._all:
            worker.end()

    def _call(self, shared, function, args):
        worker = getattr(self._mine, "worker", None)
        if worker is None:
            with self._lock:
                if self._ended:
                    raise CommandFailed("the workers have been stopped")
                worker = _Worker()
                self._all.append(worker)
            worker.greet()
            self._mine.worker = worker
        try:
            result, error = worker.call(shared, function, args)
        except BaseException:  # nothing can be sent after half a message
            self._mine.worker = None
            worker.end()
            raise
        if error is not None:
            raise error
        return result


class _Worker:
    """One process, and our end of the socket between us."""

    def __init__(self):
        try:
            ours, theirs = socket.socketpair()
            with ours, theirs:
                self._file = ours.makefile("rwb")
                # by itself, -c would look for modules in the current folder first
                self.process = subprocess.Popen(
                    [sys.executable, "-c", _START.format(sys.path, theirs.fileno())],
                    pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, start_new_session=True)
        except OSError as error:
            reason = _TOO_MANY if error.errno == errno.EAGAIN else error.strerror or error
            raise CommandFailed(f"a worker process cannot be started: {reason}") from error
        self._shared = None

    def greet(self):
        """Wait until it is ready; `CommandFailed` where it cannot work."""
        try:
            error = pickle.load(self._file)
        except (EOFError, OSError):
            raise CommandFailed(
                f"a worker process ended {self.end()} before it was ready to work") from None
        if error is not None:
            self.end()
            raise error

    def call(self, shared, function, args):
        """(result, error), one of which is None; `WorkerLost` where the process ends."""
        new = shared is not None and shared is not self._shared
        try:
            with suppress(OSError):  # of a process that ended: so does the answer
                _send(self._file, (shared if new else None, shared is not None, function, args))
            self._shared = shared
            answer = pickle.load(self._file)
        except (EOFError, OSError, pickle.UnpicklingError):
            raise WorkerLost(f"worker process {self.process.pid} ended {self.end()}") from None
        if isinstance(answer, CommandFailed):  # its last word
            raise answer
        return answer

    def end(self):
        """Stop it; -> how it ended, in words."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_PATIENCE)
        self.process.kill()
        status = self.process.wait()
        with suppress(OSError, ValueError):
            self._file.close()
        return f"by signal {-status}" if status < 0 else f"with status {status}"


def _send(file, message):
    pickle.dump(message, file, protocol=5)
    file.flush()


def serve(number: int) -> None:
    """Be a worker, at the socket of that number, until whoever made it is gone."""
    file = socket.socket(fileno=number).makefile("rwb")
    tasks: queue.SimpleQueue = queue.SimpleQueue()
    if not start_threads(1, _listen, file, tasks):
        _send(file, CommandFailed(f"a worker process cannot begin to work: {_TOO_MANY}"))
        return
    _send(file, None)
    shared = None
    while True:
        new, with_shared, function, args = tasks.get()
        shared = shared if new is None else new
        del new
        result = problem = None
        try:
            result = function(*((shared, *args) if with_shared else args))
        except BaseException as error:
            problem = error
        try:
            data = pickle.dumps((result, problem), protocol=5)
        except Exception as error:
            data = pickle.dumps((None, RuntimeError(f"a result cannot be sent: {error}")))
        file.write(data)
        file.flush()


def _listen(file, tasks):
    """Receive what is sent; a worker whose parent is gone ends at once, not after its task."""
    try:
        while True:
            tasks.put(pickle.load(file))
    except (EOFError, OSError):
        pass
    except BaseException as error:  # it has no work then, and its parent waits for an answer
        _send(file, CommandFailed(f"a worker process cannot load its task: {error}"))
    finally:
        os.kill(os.getpid(), signal.SIGKILL)
