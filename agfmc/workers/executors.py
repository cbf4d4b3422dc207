"""Many tasks on the cores of this machine, in threads.

LIBSVM and NumPy release the interpreter's lock, so threads share the data
and still run side by side.  Results do not depend on the number of threads.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading

__all__ = ["Background", "available_cores", "collect", "run_tasks"]


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
    threads = [threading.Thread(target=_work, args=(function, tasks, results), daemon=True)
               for _ in range(max(workers, 1))]
    for thread in threads:
        thread.start()
    try:
        yield from collect(iter(items), tasks.put, results.get, ordered,
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


class Background:
    """A context manager whose call hands work to other threads, and that ends when all is done.

    For what waits rather than computes, such as bringing files to the disk.
    `most` calls may wait; the next one blocks.  After an error of one nothing more is
    begun: it is raised by the next call, or at the end.
    """

    def __init__(self, threads=4, most=16):
        self._tasks = queue.Queue(most)
        self._error = None
        self._threads = [threading.Thread(target=self._work) for _ in range(threads)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __call__(self, function, *args):
        if self._error is not None:
            raise self._error
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
