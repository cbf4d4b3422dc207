"""Finished work is kept until its result is out, and is spoken of only where it is kept."""

import io
import itertools
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.cli import compare_control, nfold, print_control, run as wrapper, tune_m
from agfmc.experiments import comparison
from agfmc.formats.vectors import write_cls, write_vec

WORDS = {
    nfold: ("-d", "2", "one-vs-one", "train"), compare_control: ("-d", "2", "train", "one-vs-one"),
    tune_m: ("-d", "2", "--kernels", "linear", "--log2c", "0:2:2", "--refine", "0", "one-vs-one",
             "train"),
    print_control: ("--best", "-d", "2", "--trials", "1", "-Q", "one-vs-one", "train")}
GOES_ON = "the same command continues from there"


@pytest.fixture
def place(monkeypatch, tmp_path):
    """An empty folder with data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rng = np.random.default_rng(5)
    y = np.arange(60) % 3
    write_vec("train.vec", (rng.normal(size=(60, 2)) + 2 * np.eye(3)[y][:, :2]).astype(np.float32))
    write_cls("train.cls", y.astype(np.int32))


def kept():
    return [path.suffix for path in Path("cache").glob("agfmc/*")]


@pytest.mark.parametrize("command", WORDS, ids=lambda c: c.PROG)
def test_results_that_could_not_be_printed(place, monkeypatch, capsys, command):
    with open("/dev/full", "w") as full, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", full)
        assert command.main(WORDS[command]) == 1
    assert "No space left" in capsys.readouterr().err and kept() == [".results"]
    assert command.main(WORDS[command]) == 0
    out, err = capsys.readouterr()
    assert out and "of an earlier run" in err and "reused" in err and kept() == []


@pytest.mark.parametrize("command", [nfold, compare_control], ids=lambda c: c.PROG)
def test_the_bar_is_gone_before_the_table(place, monkeypatch, command):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    both = Terminal()
    monkeypatch.setattr(sys, "stdout", both)
    monkeypatch.setattr(sys, "stderr", both)
    assert command.main(WORDS[command]) == 0
    before, table = both.getvalue().rsplit("\r\033[K", 1)
    assert "100%" in before and "one-vs-one" in table and table.endswith("\n")


def test_a_picture_that_could_not_be_drawn(place, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    with monkeypatch.context() as patch:
        def draw(*words):
            raise OSError(28, "No space left on device", "p.png")
        patch.setattr("agfmc.picture.scores.draw_scores", draw)
        assert nfold.main(["--plot", "p.png", *WORDS[nfold]]) == 1
    assert kept() == [".results"]


def test_the_best_control_though_its_table_is_lost(place, monkeypatch, capsys):
    words = WORDS[print_control]
    assert print_control.main(words) == 0
    want = capsys.readouterr().out
    with open("/dev/full", "w", buffering=1) as full, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", full)
        assert print_control.main(words) == 0
    assert capsys.readouterr().out == want and want


@pytest.mark.parametrize("command, room, work", [
    (nfold, comparison, "cross_validate"), (compare_control, comparison, "compare")],
    ids=["nfold", "compare_control"])
@pytest.mark.parametrize("where", ["kept", "refused", "no", "nothing"])
def test_messages_of_an_interrupted_run(place, monkeypatch, capsys, command, room, work, where):
    real = getattr(room, work)

    def interrupted(*args, **more):
        if where != "nothing":
            real(*args, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(room, work, interrupted)
    monkeypatch.setattr(wrapper, "_leave", lambda status: None)
    if where == "refused":
        os.makedirs("cache/agfmc")
        os.chmod("cache/agfmc", 0o777)
    with pytest.raises(KeyboardInterrupt):
        command.main([*WORDS[command], *["--no-state"] * (where == "no")])
    err = capsys.readouterr().err
    assert ("an interrupted run would begin again" in err) == (where == "refused")
    assert (GOES_ON in err) == (where == "kept") == (kept() == [".results"])


@pytest.mark.parametrize("where", ["kept", "refused"])
def test_what_is_said_when_the_time_is_over(place, monkeypatch, capsys, where):
    if where == "refused":
        os.makedirs("cache/agfmc")
        os.chmod("cache/agfmc", 0o777)
    clock = SimpleNamespace(monotonic=itertools.count().__next__)  # a second at each look
    monkeypatch.setattr("agfmc.cli.tune_m.time", clock)
    monkeypatch.setattr("agfmc.experiments.tuning.time", clock)
    assert tune_m.main([*WORDS[tune_m], "--time-limit", "3"]) == 3
    err = capsys.readouterr().err
    assert "time limit reached" in err and (GOES_ON in err) == (where == "kept")
