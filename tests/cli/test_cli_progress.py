"""How far the work is: lines for a log file, one line of a terminal, by a clock of the test."""

import argparse
import io
import logging
import os
import sys

import pytest

from agfmc.cli.messages import CommandLog, logged, Progress
from agfmc.cli.option_types import time_span


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def fileno(self):
        return 2


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def progress(monkeypatch):
    """-> function(stream, quiet) that gives the clock and a `Progress`."""

    def make(stream, quiet=False):
        clock = Clock()
        monkeypatch.setattr("sys.stderr", stream)
        log.handler.setLevel(logging.ERROR if quiet else logging.INFO)
        return clock, Progress("training", clock=clock)

    log = CommandLog("multi_borders")
    with logged(log):
        yield make


def told(progress, stream, times, total=100, words="", earlier=0, quiet=False):
    """What is written when one unit of work after the other is done at these times."""
    clock, bar = progress(stream, quiet)
    with bar:
        for done, at in enumerate(times, earlier + 1):
            clock.now = 1000.0 + at
            bar(done, total, words and words.format(done), earlier)
    return stream.getvalue()


class GoneTerminal(Terminal):
    """A terminal whose window was closed after so many writes."""

    def __init__(self, left):
        super().__init__()
        self.left = left

    def write(self, text):
        self.left -= 1
        if self.left < 0:
            raise OSError(5, "Input/output error")
        return super().write(text)


@pytest.mark.parametrize("left", [0, 1, 2])
def test_the_work_goes_on_without_its_terminal(progress, left):
    stream = GoneTerminal(left)
    assert told(progress, stream, [1, 2], 2).count("training") == left
    assert stream.left == -1  # and nothing more is tried


def test_nothing_in_a_log_for_short_work(progress):
    assert told(progress, io.StringIO(), [1, 30, 59.9], 3) == ""


def test_a_line_a_minute_in_a_log(progress):
    text = told(progress, io.StringIO(), range(10, 200, 10), words="{} of 100 classifiers")
    assert text.splitlines() == [
        "multi_borders: training 6 % (6 of 100 classifiers), 0:15:40 left",
        "multi_borders: training 12 % (12 of 100 classifiers), 0:14:40 left",
        "multi_borders: training 18 % (18 of 100 classifiers), 0:13:40 left",
    ]


def test_work_that_comes_seldom(progress):
    text = told(progress, io.StringIO(), [3600], 2)
    assert text == "multi_borders: training 50 %, 1:00:00 left\n"


def test_what_was_there_before_is_no_speed(progress):
    text = told(progress, io.StringIO(), [61], earlier=89)
    assert text == "multi_borders: training 90 %, 0:10:10 left\n"  # ten more, 61 seconds each


def test_no_time_left_is_estimated_before_any_work_is_done(progress):
    clock, bar = progress(io.StringIO())
    clock.now += 70
    bar(50, 100, "", 50)
    assert sys.stderr.getvalue() == "multi_borders: training 50 %\n"


def test_a_bar_on_a_terminal(progress):
    text = told(progress, Terminal(), [1, 1.05, 2, 100], 4)
    drawn = text.split("\r")
    assert len(drawn) == 5  # 1.05 follows too soon; the last one clears the line
    assert drawn[1] == "training [#####...............]  25% 0:00:03 left\033[K"
    assert drawn[2] == "training [###############.....]  75% 0:00:01 left\033[K"
    assert "100%" in drawn[3] and drawn[4] == "\033[K" and "\n" not in text


def test_a_bar_after_an_interruption(progress):
    assert "  95% 0:00:10 left" in told(progress, Terminal(), [1, 2, 4, 8, 10], earlier=90)


@pytest.mark.parametrize(
    "columns, line",
    [
        (82, "training [##########..........]  50% 0:00:01 left, -c 8, part 1; best -c 2: .0907"),
        (81, "training  50% 0:00:01 left, -c 8, part 1; best -c 2: .0907"),
        (59, "training  50% 0:00:01 left, -c 8, part 1; best -c 2: .0907"),
        (58, "training  50% 0:00:01 left, -c 8, part 1; best -c 2: ...."),
        (5, "t..."),
        (3, ".."),
        (0, "training  50% 0:00:01 left, -c 8, part 1; best -c 2: .0907"),
    ],
)
def test_a_terminal_line_is_not_wrapped(progress, monkeypatch, columns, line):
    monkeypatch.setattr("os.get_terminal_size", lambda number: os.terminal_size((columns, 24)))
    text = told(progress, Terminal(), [1], 2, "-c 8, part 1; best -c 2: .0907")
    assert text == f"\r{line}\033[K\r\033[K" and len(line) < (columns or 80)


def test_wide_and_unseen_characters_of_a_terminal_line(progress, monkeypatch):
    monkeypatch.setattr("os.get_terminal_size", lambda number: os.terminal_size((38, 24)))
    for words, shown in (
        ("樹a木b林c", "樹a木b林c"),
        ("樹a木b林cd", "樹a木b..."),
        ("a\n\033", r"a\n\x1b"),
    ):
        assert f"0:00:01 left, {shown}\033[K" in told(progress, Terminal(), [1], 2, words)


def test_the_time_left_is_that_of_the_last_part_of_the_work(progress):
    clock, bar = progress(io.StringIO())
    for done in range(1, 61):  # slow, then ten times faster
        clock.now += 60
        bar(done, 1000)
    for done in range(70, 1000, 10):
        clock.now += 60
        bar(done, 1000)
    lines = sys.stderr.getvalue().splitlines()
    assert lines[59] == "multi_borders: training 6 %, 15:40:00 left"
    assert lines[89] == "multi_borders: training 36 %, 1:04:00 left"


def test_the_time_left_where_there_is_more_work_than_was_said(progress):
    clock, bar = progress(io.StringIO())
    for done, total in ((10, 20), (20, 100), (20, 100), (20, 20)):
        clock.now += 60
        bar(done, total)
    assert [line.partition(" %")[2] for line in sys.stderr.getvalue().splitlines()] == [
        ", 0:01:00 left",
        ", 0:08:00 left",
        ", 0:16:00 left",
        "",
    ]


@pytest.mark.parametrize("limit, left", [(3600, "0:05:00"), (150, "0:01:30"), (10, "0:00:00")])
def test_no_more_time_is_left_than_the_limit_leaves(monkeypatch, limit, left):
    clock = Clock()
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with logged(CommandLog("tune_m")):
        bar = Progress("tuning", clock.now + limit, clock=clock)
        clock.now += 60
        bar(1, 6)
    assert sys.stderr.getvalue() == f"tune_m: tuning 16 %, {left} left\n"


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_quiet(progress, stream):
    assert told(progress, stream(), [100, 200, 300], quiet=True) == ""


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("0", 0),
        ("90", 90),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1:30", 90),
        ("2:03:04", 7384),
        ("100:00:00", 360000),
    ],
)
def test_time_spans(text, seconds):
    assert time_span(text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "-1", "x", "1:2:3:4", "1:60", "1:99:00", "nan", "inf", "1e3", "1:2", ":30", "1: 30", "٣"],
)
def test_no_time_spans(text):
    with pytest.raises(argparse.ArgumentTypeError, match="expected seconds, M:SS or H:MM:SS"):
        time_span(text)
