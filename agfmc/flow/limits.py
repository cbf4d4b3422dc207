"""Long work that ends when its time is up."""

from __future__ import annotations

import queue
import threading
import time

from ..workers.executors import start_threads

__all__ = ["TimeUp", "until"]


class TimeUp(Exception):
    """The time limit has come."""


def until(items, deadline, clock=time.monotonic):
    """Yield from the generator `items`, and raise `TimeUp` at the deadline; None: never.

    deadline: on `clock`.  The generator runs in a thread of its own, which is left behind
    at the deadline, as nothing can end a task in the middle; it is closed as soon as it
    yields again.
    """
    if deadline is None:
        yield from items
        return
    ready = queue.Queue(2)
    over = threading.Event()

    def run():
        end = None  # of the items
        try:
            for item in items:
                ready.put((item, None))
                if over.is_set() or clock() >= deadline:
                    end = TimeUp()
                    break
        except BaseException as error:
            end = error
        finally:
            items.close()
        ready.put((None, end or StopIteration()))

    try:
        if clock() >= deadline:
            raise TimeUp
        if not start_threads(1, run, daemon=True):
            for item in items:
                yield item
                if clock() >= deadline:
                    raise TimeUp
            return
        while True:
            try:
                item, end = ready.get(timeout=max(0.0, deadline - clock()))
            except queue.Empty:
                raise TimeUp from None
            if isinstance(end, StopIteration):
                return
            if end is not None:
                raise end
            yield item
    finally:
        over.set()
        while not ready.empty():  # makes room, so that the thread can end
            ready.get_nowait()
