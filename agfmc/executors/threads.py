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
from concurrent.futures import Future


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


ALONE = 2  # losses after which a task runs when no other does, so that its worker's end is its own


def outcomes(
    submit: Callable,
    items: Iterable,
    window: int,
    *,
    ordered: bool = False,
    retry: Callable | None = None,
) -> Iterator[tuple]:
    """Yield (item, future) when the future that submit(item) gave is done.

    They come in the order of `items` if `ordered`, else as they finish. At most `window` items are
    taken ahead of what was yielded, so that memory stays bounded. retry(item, future, losses) is
    the number of times that the item was lost now, if it is to be submitted again, else None; with
    `ALONE` losses it runs when no other future is pending. Futures that have not begun are
    cancelled when the generator is closed.
    """
    entries = ((number, item, 0) for number, item in enumerate(items))
    done: queue.SimpleQueue = queue.SimpleQueue()
    pending: dict[Future, tuple] = {}
    finished: dict[int, tuple] = {}
    alone: deque = deque()
    turn = 0

    def begin(entry):
        future = submit(entry[1])
        pending[future] = entry
        future.add_done_callback(done.put)

    def refill():
        if any(losses >= ALONE for _, _, losses in pending.values()):
            return
        while (
            not alone
            and len(pending) + len(finished) < window
            and (entry := next(entries, None)) is not None
        ):
            begin(entry)
        if alone and not pending:
            begin(alone.popleft())

    try:
        refill()
        while pending:
            future = done.get()
            number, item, losses = pending.pop(future)
            if retry is None:
                again = None
            else:
                again = retry(item, future, losses)
            if again is None:
                finished[number] = item, future
            elif again < ALONE:
                begin((number, item, again))
            else:
                alone.append((number, item, again))
            while finished and (not ordered or turn in finished):
                yield finished.pop(turn) if ordered else finished.popitem()[1]
                turn += 1
                refill()
            refill()
    finally:
        for future in pending:
            future.cancel()


def run_tasks(
    function: Callable,
    items: Iterable,
    workers: int,
    *,
    ordered: bool = True,
    inline: bool = True,
    window: int | None = None,
) -> Iterator[tuple]:
    """Yield (item, function(item)) with `workers` threads.

    `ordered` and `window` (default 4 a worker) are as for `outcomes`. With one worker and `inline`,
    no thread is made; without `inline` a signal can interrupt the caller while a long task runs. An
    exception of a task is raised here, in its turn.
    """
    if workers <= 1 and inline:
        for item in items:
            yield item, function(item)
        return
    threads = Threads(max(workers, 1))
    try:
        for item, future in outcomes(
            lambda item: threads.submit(function, item),
            items,
            window or 4 * max(workers, 1),
            ordered=ordered,
        ):
            yield item, future.result()
    finally:  # a busy thread finishes its task first
        threads.shutdown(wait=False)


class Threads:
    """`count` daemon threads that call what is submitted, or as many as the system allows.

    `ThreadPoolExecutor` joins its threads when the program ends, so that Ctrl-C would wait
    for a classifier to be trained, and its `submit` fails where a thread cannot be started.
    """

    def __init__(self, count: int):
        self._tasks: queue.SimpleQueue = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        for _ in range(count):
            thread = threading.Thread(target=self._serve, daemon=True)
            try:
                thread.start()
            except (RuntimeError, MemoryError):  # a limit of the user's processes, no room
                break
            self._threads.append(thread)

    def submit(self, function, /, *args) -> Future:
        """The `Future` of a call; it is done at once where there are no threads."""
        future: Future = Future()
        self._tasks.put((future, function, args))
        if not self._threads:
            self._perform(*self._tasks.get())
        return future

    def shutdown(self, wait=True):
        """Let the threads end when the queue is empty."""
        for _ in self._threads:
            self._tasks.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def _serve(self):
        while (task := self._tasks.get()) is not None:
            self._perform(*task)
            del task  # else the result would live until the next task comes

    def _perform(self, future, function, args):
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(function(*args))
            except BaseException as error:
                future.set_exception(error)


class Background:
    """A context manager whose call hands work to threads, and that ends when all is done.

    For what waits rather than computes, such as bringing files to the disk.
    At most 16 calls are under way; the next one waits.  An error is raised by a later
    call, or at the end.
    """

    def __init__(self):
        self._threads = Threads(4)
        self._calls: deque[Future] = deque()

    def __enter__(self):
        return self

    def __call__(self, function, *args):
        """Call function(*args) in the background, in the order of the calls."""
        while self._calls and (len(self._calls) >= 16 or self._calls[0].done()):
            self._calls.popleft().result()
        self._calls.append(self._threads.submit(function, *args))

    def __exit__(self, kind, error, trace):
        try:
            self._threads.shutdown()
        except BaseException:
            self._threads.shutdown()  # a signal: still leave no file half written
            raise
        while self._calls and kind is None:
            self._calls.popleft().result()
