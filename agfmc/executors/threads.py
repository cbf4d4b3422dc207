"""Tasks on any `concurrent.futures` executor, a bounded number at a time; threads as one.

LIBSVM and NumPy release the interpreter's lock, so threads share the data
and still run side by side.  Results do not depend on the number of threads.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future


def available_cores() -> int:
    """The number of cores that this process may use, by its affinity and its control group."""
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


def outcomes(submit: Callable, items: Iterable, window: int, *, ordered: bool = False,
             retry: Callable | None = None) -> Iterator[tuple]:
    """Yield (item, future) when the future that submit(item) gave is done.

    ordered: in the order of `items`, else as they finish.  At most `window` items are
    taken ahead of what was yielded, so that memory stays bounded.  retry(item, future): None, or
    "again" or "alone" where the item is to be submitted again, at once or when no other future is
    pending.  Futures that have not begun are cancelled when the generator is closed.
    """
    entries = enumerate(items)
    done: queue.SimpleQueue = queue.SimpleQueue()
    pending: dict[Future, tuple] = {}
    waiting: dict[int, tuple] = {}
    turn = 0
    alone: deque = deque()
    single = None

    def begin(number, item):
        future = submit(item)
        pending[future] = number, item
        future.add_done_callback(done.put)

    def refill():
        nonlocal single
        if single in pending:
            return
        while not alone and len(pending) + len(waiting) < window and (
                entry := next(entries, None)) is not None:
            begin(*entry)
        if alone and not pending:
            begin(*alone.popleft())
            single = next(iter(pending))

    try:
        refill()
        while pending:
            future = done.get()
            number, item = pending.pop(future)
            how = None if retry is None else retry(item, future)
            if how == "again":
                begin(number, item)
            elif how == "alone":
                alone.append((number, item))
            else:
                waiting[number] = item, future
            while waiting and (not ordered or turn in waiting):
                yield waiting.pop(turn) if ordered else waiting.popitem()[1]
                turn += 1
                refill()
            refill()
    finally:
        for future in pending:
            future.cancel()


def run_tasks(function: Callable, items: Iterable, workers: int, *, ordered: bool = True,
              inline: bool = True, window: int | None = None) -> Iterator[tuple]:
    """Yield (item, function(item)) with `workers` threads.

    ordered, window (default 4 a worker): as for `outcomes`.  With one worker and `inline`,
    no thread is made; without `inline` a signal can interrupt the caller while a long
    task runs.  An exception of a task is raised here, in its turn.
    """
    if workers <= 1 and inline:
        for item in items:
            yield item, function(item)
        return
    threads = Threads(max(workers, 1))
    try:
        for item, future in outcomes(lambda item: threads.submit(function, item), items,
                                     window or 4 * max(workers, 1), ordered=ordered):
            yield item, future.result()
    finally:  # a busy thread finishes its task first
        threads.shutdown(wait=False)


def start_threads(count: int, function: Callable, *args) -> list[threading.Thread]:
    """`count` running daemon threads of function(*args), or as many as the system allows."""
    threads = []
    for _ in range(count):
        thread = threading.Thread(target=function, args=args, daemon=True)
        try:
            thread.start()
        except (RuntimeError, MemoryError):  # a limit of the user's processes, no room for a stack
            break
        threads.append(thread)
    return threads


class Threads(Executor):
    """An executor of `count` threads, or of as many as the system allows.

    `ThreadPoolExecutor` joins its threads when the program ends, so that Ctrl-C would wait
    for a classifier to be trained, and its `submit` fails where a thread cannot be started.
    """

    def __init__(self, count: int):
        self._tasks: queue.SimpleQueue = queue.SimpleQueue()
        self._ended = False
        self._threads = start_threads(count, self._serve)

    def submit(self, function, /, *args, **kwargs):
        """The `Future` of a call; it is done at once where there are no threads."""
        if self._ended:
            raise RuntimeError("no tasks can be submitted after the shutdown")
        future = Future()
        if self._threads:
            self._tasks.put((future, function, args, kwargs))
        else:
            _perform(future, function, args, kwargs)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        """Let the threads end when the queue is empty; cancel_futures: empty it."""
        self._ended = True
        while cancel_futures:
            try:
                task = self._tasks.get_nowait()
            except queue.Empty:
                break
            if task is not None:
                task[0].cancel()
        for _ in self._threads:
            self._tasks.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def _serve(self):
        while (task := self._tasks.get()) is not None:
            _perform(*task)
            del task  # else the result would live until the next task comes


def _perform(future, function, args, kwargs):
    if future.set_running_or_notify_cancel():
        try:
            future.set_result(function(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)


class Background:
    """A context manager whose call hands work to threads, and that ends when all is done.

    For what waits rather than computes, such as bringing files to the disk.
    At most `most` calls are under way; the next one waits.  An error is raised by a later
    call, or at the end, and what has not begun by then is not begun.
    """

    def __init__(self, threads: int = 4, most: int = 16):
        self._count, self._most = threads, most
        self._calls: deque[Future] = deque()
        self._error = None

    def __enter__(self):
        self._threads = Threads(self._count)
        return self

    def __call__(self, function, *args):
        """Call function(*args) in the background, in the order of the calls."""
        while self._calls and (len(self._calls) >= self._most or self._calls[0].done()):
            self._calls.popleft().result()
        self._calls.append(self._threads.submit(self._call, function, *args))

    def _call(self, function, *args):
        if self._error is None:
            try:
                function(*args)
            except BaseException as error:
                self._error = error
                raise

    def __exit__(self, kind, error, trace):
        try:
            self._threads.shutdown()
        except BaseException:
            self._threads.shutdown()  # a signal: still leave no file half written
            raise
        if kind is None and self._error is not None:
            raise self._error
