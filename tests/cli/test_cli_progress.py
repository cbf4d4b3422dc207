"""How far the work is: lines for a log file, a bar for a terminal, by a clock of the test."""

import argparse
import io
import sys

import pytest

from agfmc.cli.messages import Progress
from agfmc.cli.options import time_span


class Terminal(io.StringIO):
    def isatty(self):
        return True


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
        return clock, Progress(argparse.Namespace(quiet=quiet), "training", "multi_borders", clock)

    return make


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
        "multi_borders: training 18 % (18 of 100 classifiers), 0:13:40 left"]


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
    assert drawn[1].startswith("training [#######.......................]  25% 0:00:03 left")
    assert drawn[2].startswith("training [######################........]  75% 0:00:01 left")
    assert "100%" in drawn[3] and drawn[4] == "\033[K" and "\n" not in text


def test_a_bar_after_an_interruption(progress):
    assert "  95% 0:00:10 left" in told(progress, Terminal(), [1, 2, 4, 8, 10], earlier=90)


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_quiet(progress, stream):
    assert told(progress, stream(), [100, 200, 300], quiet=True) == ""


@pytest.mark.parametrize("text, seconds", [
    ("0", 0), ("90", 90), ("1.5", 1.5), (".5", .5), ("1:30", 90), ("2:03:04", 7384),
    ("100:00:00", 360000)])
def test_time_spans(text, seconds):
    assert time_span(text) == seconds


@pytest.mark.parametrize("text", ["", "-1", "x", "1:2:3:4", "1:60", "1:99:00", "nan", "inf", "1e3",
                                  "1:2", ":30", "1: 30", "٣"])
def test_no_time_spans(text):
    with pytest.raises(argparse.ArgumentTypeError, match="expected seconds, M:SS or H:MM:SS"):
        time_span(text)
