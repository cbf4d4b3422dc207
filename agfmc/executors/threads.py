"""Many tasks on the cores of this machine, in threads.

LIBSVM and NumPy release the interpreter's lock, so threads share the data
and still run side by side.  Results do not depend on the number of threads.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading

__all__ = ["Background", "available_cores", "collect", "run_tasks", "start_threads"]

_LONGEST = 20.0  # seconds for a thread to begin
_PATIENCE = 2.0  # seconds between two looks at the threads that are waited for


def available_cores():
    """How many cores this process may use, by its affinity and its control group."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota, period = file.read().split()
        if quota != "max":
            cores = min(cores, max(1, round(int(quota) / int(period))))
    except (OSError, ValueError):
        pass
    return cores


def run_tasks(function, items, workers, *, ordered=True, inline=True, window=None):
    """Yield (item, function(item)) with `workers` threads.

    ordered: in the order of `items`, else as they finish.  At most `window`
    items (default 4 a worker) are taken from `items` ahead of what was
    yielded, so that memory stays bounded.  With one worker and `inline`, no
    thread is made; without `inline` a signal can interrupt the caller while a
    long task runs.  An exception of a task is raised here, in
    its turn.
    """
    if workers <= 1 and inline:
        for item in items:
            yield item, function(item)
        return
    tasks, results = queue.SimpleQueue(), queue.SimpleQueue()
    threads = start_threads(max(workers, 1), _work, function, tasks, results, daemon=True)
    if not threads:
        yield from ((item, function(item)) for item in items)
        return
    try:
        yield from collect(iter(items), tasks.put, lambda: _result(results, threads), ordered,
                           window or 4 * max(workers, 1))
    finally:
        # Idle threads leave; a busy one finishes its task and then finds its place closed.
        while True:
            try:
                tasks.get_nowait()
            except queue.Empty:
                break
        for _ in threads:
            tasks.put(None)


def _result(results, threads):
    """What a thread hands over; MemoryError where one has died before it could hand anything."""
    while True:
        try:
            return results.get(timeout=_PATIENCE)
        except queue.Empty:
            if not all(thread.is_alive() for thread in threads):
                raise MemoryError("a thread has ended in the middle of its work") from None


class _Begun(threading.Event):
    """The sign that a thread has begun, for which `Thread.start` waits, but not without end."""

    def wait(self, timeout=None):
        if not super().wait(_LONGEST if timeout is None else timeout):
            raise MemoryError("a thread did not begin")
        return True


def start_threads(count, function, *args, daemon=False):
    """`count` running threads that call function(*args), or as many as the system allows."""
    threads = []
    for _ in range(count):
        try:
            thread = threading.Thread(target=function, args=args, daemon=daemon)
            thread._started = _Begun()  # else `start` waits for ever where memory is short
            thread.start()
        except (RuntimeError, MemoryError):  # a limit of the user's processes, no room for a stack
            break
        threads.append(thread)
    return threads


class Background:
    """A context manager whose call hands work to other threads, and that ends when all is done.

    For what waits rather than computes, such as bringing files to the disk.
    `most` calls may wait; the next one blocks.  After an error of one nothing more is
    begun: it is raised by the next call, or at the end.
    """

    def __init__(self, threads=4, most=16):
        self._tasks = queue.Queue(most)
        self._error = None
        self._count = threads
        self._threads = []

    def __enter__(self):
        self._threads = start_threads(self._count, self._work)
        return self

    def __call__(self, function, *args):
        if self._error is not None:
            raise self._error
        if not self._threads:
            function(*args)
            return
        self._tasks.put((function, args))

    def _work(self):
        while (task := self._tasks.get()) is not None:
            function, args = task
            try:
                if self._error is None:
                    function(*args)
            except BaseException as error:
                self._error = error

    def __exit__(self, kind, error, trace):
        for _ in self._threads:
            self._tasks.put(None)
        try:
            self._join()
        except BaseException:
            self._join()  # a signal: still leave no file half written
            raise
        if kind is None and self._error is not None:
            raise self._error

    def _join(self):
        for thread in self._threads:
            thread.join()


def _work(function, tasks, results):
    while (task := tasks.get()) is not None:
        number, item = task
        try:
            results.put((number, item, function(item), None))
        except BaseException as error:
            results.put((number, item, None, error))


def collect(items, send, receive, ordered, window):
    """Yield (item, result) of each of `items`, an iterator, wherever the work is done.

    send((number, item)) hands one out, and `window` of them are out at most;
    receive() -> (number, item, result, error) of any that is done.
    """
    waiting = {}
    sent = received = yielded = 0
    for item in itertools.islice(items, window):
        send((sent, item))
        sent += 1
    while received < sent:
        number, item, result, error = receive()
        received += 1
        waiting[number] = (item, result, error)
        while waiting and (not ordered or yielded in waiting):
            item, result, error = waiting.pop(yielded) if ordered else waiting.popitem()[1]
            if error is not None:
                raise error
            yield item, result
            yielded += 1
            for item in itertools.islice(items, 1):
                send((sent, item))
                sent += 1
