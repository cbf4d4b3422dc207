"""Workers that are processes of this machine, and may die one by one.

Each has a socket of its own, so that it is known what a worker was doing when it
died: that task alone is begun again, by a new worker.
"""

from __future__ import annotations

import errno
import importlib
import os
import queue
import signal
import socket
import subprocess
import sys
from collections import deque
from contextlib import suppress

from ..errors import CommandFailed
from .worker_call import call, lost, raised, TRIES, warn
from .threads import collect, start_threads
from .wire_format import Channel, ready

__all__ = ["ProcessPool", "serve"]

_START = ("import sys; sys.excepthook = lambda *_: None; sys.path[:] = {}; "  # its end tells enough
          "from agfmc.executors.processes import serve; serve(*{})")
_TOO_MANY = "this user may have no more processes and threads (ulimit -u): ask for fewer workers"
_PATIENCE = 1.0  # seconds for a process that has closed its socket to end


class ProcessPool:
    """`workers` processes, made for each `run` and gone after it.

    together: how many tasks share the memory of one machine.
    """

    def __init__(self, workers):
        self.workers = self.together = workers
        self._crews = []

    def run(self, function, shared, items, *, name, ordered=False, window=None, hear=warn):
        """Yield (item, result) with result = function(shared, item), or an `AgfmcError`.

        function: of a module, as it is known elsewhere by its name alone;  shared:
        goes to each worker once;  name(item): what messages call it;  ordered, window:
        as for `run_tasks`;  hear: called with the text of each warning.  The task of a
        worker that dies is begun once more, and then its result is the error.  Raises
        any other exception of a task, and `CommandFailed` where workers cannot be
        started.
        """
        crew = _Crew(function, shared, name, hear)
        self._crews.append(crew)
        try:
            crew.start(self.workers)
            yield from collect(iter(items), crew.send, crew.receive, ordered,
                               window or 4 * self.workers)
        finally:
            crew.end()
            self._crews.remove(crew)

    def close(self):
        """Stop all processes, also of runs that were left behind in another thread."""
        for crew in list(self._crews):
            crew.end()


class _Worker:
    """One process; task: (number, item) that it works on, or None."""

    def __init__(self, function):
        try:
            ours, theirs = socket.socketpair()
            self.pipe = Channel(ours)
        except OSError as error:
            raise _not_started(error) from error
        try:
            with theirs:
                what = theirs.fileno(), function.__module__, function.__qualname__
                # by itself, -c would look for modules in the current folder first
                self.process = subprocess.Popen(
                    [sys.executable, "-c", _START.format(sys.path, what)],
                    pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, start_new_session=True)
        except OSError as error:
            self.pipe.close()
            raise _not_started(error) from error
        self.task = None
        self.ready = False

    def send(self, message):
        """Hand something over; a worker that is dead is found so when its answer is read."""
        try:
            self.pipe.send(message)
        except OSError:
            pass

    def end(self):
        """Stop it, whatever it does; -> how it ended, in words."""
        self.pipe.close()
        self.process.kill()
        status = self.process.wait()
        return f"by signal {-status}" if status < 0 else f"with status {status}"


def _not_started(error):
    reason = _TOO_MANY if error.errno == errno.EAGAIN else error.strerror or error
    return CommandFailed(f"a worker process cannot be started: {reason}")


class _Crew:
    """The processes of one run, and what is still to be handed to them."""

    def __init__(self, function, shared, name, hear):
        self._function, self._shared = function, shared
        self._name, self._hear = name, hear
        self._workers = []
        self._waiting = deque()
        self._deaths = {}
        self._ended = False

    def start(self, count):
        """So many more workers; they load what they need side by side."""
        new = []
        for _ in range(count):
            new.append(_Worker(self._function))
            self._workers.append(new[-1])
        for worker in new:
            worker.send(self._shared)

    def send(self, task):
        """Take a (number, item) into the queue."""
        self._waiting.append(task)

    def receive(self):
        """(number, item, result, error) of a task that is done."""
        while not self._ended:
            for worker in self._workers:
                if worker.ready and worker.task is None and self._waiting:
                    worker.task = self._waiting.popleft()
                    worker.send(worker.task[1])
            at = {worker.pipe: worker for worker in self._workers}
            for pipe in ready(at):
                done = self._heard(at[pipe])
                if done is not None:
                    return done
        raise CommandFailed("the workers have been stopped")

    def _heard(self, worker):
        """What a worker's answer, or its end, comes to; None where nothing is done yet."""
        try:
            answer = worker.pipe.receive()
        except (EOFError, OSError):
            return self._died(worker)
        if not worker.ready:
            if answer is not None:  # why it cannot work
                raise answer
            worker.ready = True
            return None
        (number, item), worker.task = worker.task, None
        result, texts = answer
        for text in texts:
            self._hear(text)
        return number, item, raised(result), None

    def _died(self, worker):
        if self._ended:
            return None
        self._workers.remove(worker)
        with suppress(subprocess.TimeoutExpired):
            worker.process.wait(_PATIENCE)
        process, end = worker.process.pid, worker.end()
        if not worker.ready:
            raise CommandFailed(f"a worker process ended {end} before it was ready to work")
        self.start(1)
        if worker.task is None:
            return None
        number, item = worker.task
        deaths = self._deaths[number] = self._deaths.get(number, 0) + 1
        told = f"worker process {process} ended {end} while it worked on {self._name(item)}"
        if deaths < TRIES:
            self._hear(f"{told}, which is begun once more")
            self._waiting.appendleft(worker.task)
            return None
        return number, item, lost(told), None

    def end(self):
        """Stop all of them."""
        self._ended = True
        while self._workers:
            self._workers.pop().end()


def serve(number, module, name):
    """Be a worker, at the socket of that number, until whoever made it is gone.

    module, name: of the function that is called with what is sent.
    """
    function = getattr(importlib.import_module(module), name)
    pipe = Channel(socket.socket(fileno=number))
    messages = queue.SimpleQueue()
    if not start_threads(1, _listen, pipe, messages, daemon=True):
        pipe.send(CommandFailed(f"a worker process cannot begin to work: {_TOO_MANY}"))
        return
    shared = messages.get()
    pipe.send(None)
    while True:
        pipe.send(call(function, shared, messages.get()))


def _listen(pipe, messages):
    """Take what is sent; a worker whose master is gone ends at once, and not when it is done.

    It ends as well where it cannot take something in: its master would wait for ever.
    """
    try:
        while True:
            messages.put(pipe.receive())
    finally:
        os.kill(os.getpid(), signal.SIGKILL)
