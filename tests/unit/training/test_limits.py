"""Generators that end at a deadline."""

import threading
import time

import pytest

from agfmc.training.run import TimeUp, until


def collected(items, *more):
    """(what came, whether the time was up)"""
    found = []
    try:
        for item in until(items, *more):
            found.append(item)
    except TimeUp:
        return found, True
    return found, False


def test_no_deadline():
    assert collected(iter("abc"), None) == (["a", "b", "c"], False)


def test_a_deadline_far_away():
    assert collected((i for i in range(100)), time.monotonic() + 60) == (list(range(100)), False)


def test_errors_pass():
    def failing():
        yield 1
        raise ValueError("seven")

    with pytest.raises(ValueError, match="seven"):
        list(until(failing(), time.monotonic() + 60))


def test_a_deadline_that_has_passed():
    assert collected((1 / 0 for _ in [1]), time.monotonic()) == ([], True)


def test_an_item_that_takes_too_long():
    closed, release = threading.Event(), threading.Event()

    def slow():
        try:
            yield 1
            release.wait(60)
            yield 2
            yield 3
        finally:
            closed.set()

    assert collected(slow(), time.monotonic() + 0.3) == ([1], True)
    assert not closed.is_set()
    release.set()
    assert closed.wait(60)


def test_many_short_items_end_too():
    now = iter(range(10**9))
    found, up = collected((i for i in range(10**9)), 1000, lambda: next(now))
    assert up and 0 < len(found) < 2000


def test_a_consumer_that_leaves():
    closed = threading.Event()

    def endless():
        try:
            while True:
                yield 1
        finally:
            closed.set()

    items = until(endless(), time.monotonic() + 60)
    next(items)
    items.close()
    assert closed.wait(60)
