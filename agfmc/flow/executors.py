"""Many tasks on the cores of this machine, in threads.

LIBSVM and NumPy release the interpreter's lock, so threads share the data
and still run side by side.  Results do not depend on the number of threads.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading

__all__ = ["available_cores", "run_tasks"]


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
        yield from _collect(iter(items), tasks, results, ordered, window or 4 * max(workers, 1))
    finally:
        # Idle threads leave; a busy one finishes its task and then finds its place closed.
        while True:
            try:
                tasks.get_nowait()
            except queue.Empty:
                break
        for _ in threads:
            tasks.put(None)


def _work(function, tasks, results):
    while (task := tasks.get()) is not None:
        number, item = task
        try:
            results.put((number, item, function(item), None))
        except BaseException as error:
            results.put((number, item, None, error))


def _collect(items, tasks, results, ordered, window):
    waiting = {}
    sent = received = yielded = 0
    for item in itertools.islice(items, window):
        tasks.put((sent, item))
        sent += 1
    while received < sent:
        number, item, result, error = results.get()
        received += 1
        waiting[number] = (item, result, error)
        while waiting and (not ordered or yielded in waiting):
            item, result, error = waiting.pop(yielded) if ordered else waiting.popitem()[1]
            if error is not None:
                raise error
            yield item, result
            yielded += 1
            for item in itertools.islice(items, 1):
                tasks.put((sent, item))
                sent += 1
