"""Threads: order, bounded reading ahead, exceptions, none left behind, few or none to be had."""

import random
import threading
import time

import pytest

from agfmc.executors.threads import available_cores, Background, run_tasks, Threads
from agfmc.training.run import TimeUp, until

CASES = [(1, True), (1, False), (2, True), (5, False)]


@pytest.mark.parametrize("workers, inline", CASES)
def test_ordered(workers, inline):
    def slow(i):
        time.sleep(random.Random(i).random() * 0.003)
        return i * i

    got = list(run_tasks(slow, range(40), workers, inline=inline))
    assert got == [(i, i * i) for i in range(40)]


@pytest.mark.parametrize("workers, inline", CASES)
def test_unordered_gives_everything_once(workers, inline):
    got = list(run_tasks(str, range(40), workers, ordered=False, inline=inline))
    assert sorted(got) == [(i, str(i)) for i in range(40)]


def test_unordered_does_not_wait_for_the_slow_one():
    gate = threading.Event()

    def task(i):
        if i == 0:
            assert gate.wait(30)
        return i

    tasks = run_tasks(task, range(3), 2, ordered=False)
    assert {next(tasks)[0], next(tasks)[0]} == {1, 2}
    gate.set()
    assert next(tasks)[0] == 0


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("window", [1, 3, None])
def test_reads_no_further_ahead_than_its_window(ordered, window):
    taken = yielded = 0
    most = 0

    def items():
        nonlocal taken, most
        for i in range(60):
            taken += 1
            most = max(most, taken - yielded)
            yield i

    for _ in run_tasks(lambda i: i, items(), 2, ordered=ordered, window=window):
        yielded += 1
    assert taken == yielded == 60
    assert most <= (window or 8) + 1


@pytest.mark.parametrize("workers, inline", CASES)
def test_no_items(workers, inline):
    assert list(run_tasks(str, [], workers, inline=inline)) == []


def gone(before):
    end = time.monotonic() + 30
    while set(threading.enumerate()) - before and time.monotonic() < end:
        time.sleep(0.005)
    return not set(threading.enumerate()) - before


@pytest.mark.parametrize("workers, inline", CASES)
def test_an_exception_arrives_and_the_threads_leave(workers, inline):
    before = set(threading.enumerate())
    started = []

    def task(i):
        started.append(i)
        if i == 7:
            raise ValueError("seven")
        return i

    with pytest.raises(ValueError, match="^seven$"):
        list(run_tasks(task, range(10**6), workers, inline=inline))
    assert gone(before) and len(started) < 200


@pytest.mark.parametrize("workers, inline", CASES)
def test_an_exception_of_the_items_arrives(workers, inline):
    def items():
        yield 1
        raise OSError("cut")

    before = set(threading.enumerate())
    with pytest.raises(OSError, match="^cut$"):
        list(run_tasks(str, items(), workers, inline=inline))
    assert gone(before)


@pytest.mark.parametrize("ordered", [True, False])
def test_a_caller_that_stops_early(ordered):
    before = set(threading.enumerate())
    started = []
    tasks = run_tasks(started.append, range(10**6), 3, ordered=ordered)
    next(tasks)
    tasks.close()
    assert gone(before) and len(started) < 100


def test_one_worker_inline_makes_no_thread():
    names = [name for _, name in run_tasks(lambda i: threading.current_thread().name, range(3), 1)]
    assert set(names) == {threading.current_thread().name}
    other = [
        name
        for _, name in run_tasks(
            lambda i: threading.current_thread().name, range(3), 1, inline=False
        )
    ]
    assert threading.current_thread().name not in other


def test_cores():
    assert available_cores() >= 1


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
    assert len(Threads(5)._threads) == 2
