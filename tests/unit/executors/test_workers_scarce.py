"""Threads that cannot be started, or die: the work is done all the same, or an error, no wait."""

import threading
import time

import pytest

from agfmc.training.run import TimeUp, until
from agfmc.executors import threads
from agfmc.executors.threads import Background, run_tasks, start_threads


@pytest.fixture
def scarce(monkeypatch):
    """Function that lets so many threads more be started."""
    start = threading.Thread.start

    def allow(count):
        left = [count]

        def begin(thread):
            left[0] -= 1
            if left[0] < 0:
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", begin)

    return allow


@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize("ordered", [True, False])
def test_tasks_are_done_by_those_that_are_there(scarce, count, ordered):
    scarce(count)
    done = list(run_tasks(abs, range(-50, 0), 8, ordered=ordered, inline=False))
    assert sorted(done) == [(number, -number) for number in range(-50, 0)]


@pytest.mark.parametrize("count", [0, 1])
def test_background(scarce, count):
    scarce(count)
    done = []
    with Background() as background:
        for number in range(30):
            background(done.append, number)
    assert done == list(range(30))
    scarce(count)
    with pytest.raises(ZeroDivisionError), Background() as background:
        background(divmod, 1, 0)


def test_a_time_limit_without_a_thread(scarce):
    scarce(0)
    assert list(until(iter([1, 2]), time.monotonic() + 60)) == [1, 2]
    now = iter([0.0, 1.0, 5.0, 9.0])
    given = []
    with pytest.raises(TimeUp):
        given.extend([item for item in until(iter([1, 2, 3]), 4.0, lambda: next(now))])


def test_fewer_threads(scarce):
    scarce(2)
    assert len(start_threads(5, list)) == 2


def test_a_thread_that_dies_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(threads, "_PATIENCE", 0.05)
    monkeypatch.setattr(threads, "_work", lambda function, tasks, results: tasks.get())
    with pytest.raises(MemoryError, match="a thread has ended"):
        list(run_tasks(abs, range(5), 2))


def test_a_thread_that_never_begins_is_not_waited_for(monkeypatch):
    """As where its first step finds no memory: nobody says that it has begun."""
    monkeypatch.setattr(threads, "_LONGEST", 0.05)
    monkeypatch.setattr(threading.Thread, "_bootstrap_inner", lambda thread: None)
    assert list(run_tasks(abs, [-1, -2], 2)) == [(-1, 1), (-2, 2)]
