"""print_control -Q best-tree: a search that is killed goes on where it was."""

import functools
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from agfmc.control.parse import parse
from data_files import write_cls, write_vec

ROOT = Path(__file__).resolve().parents[2]
WORDS = ("-Q", "best-tree", "--search-options", "-m 10 -g 0.3 -l 0.1", "-j", "1")
# each set of classes takes a while, and is on the disk at once
SLOW = """
import sys, time
from agfmc.cli import main_of
from agfmc.designs.split_costs import SplitCosts
quick = SplitCosts._costs
SplitCosts._costs = lambda self, request: time.sleep(0.1) or quick(self, request)
sys.exit(main_of('print_control')())
"""


@pytest.fixture
def ask(run, folder, monkeypatch):
    """A command in a folder with points of five classes, and a cache folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    rng = np.random.default_rng(2)
    y = np.repeat(np.arange(5), 12)
    write_vec("train.vec", (rng.normal(size=(60, 2)) + y[:, None] * [0.8, 0.0]).astype(np.float32))
    write_cls("train.cls", y)
    return functools.partial(run, "print_control", *WORDS, status=None)


def test_a_killed_search_goes_on(ask):
    whole = ask("train")
    assert whole[::2] == (0, "") and not os.path.exists("cache")  # short searches keep nothing
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, *WORDS, "--state", "state", "train"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        deadline = time.monotonic() + 30
        while (
            process.poll() is None
            and time.monotonic() < deadline
            and not (len(os.listdir("state") if os.path.exists("state") else ()) > 6)
        ):
            time.sleep(0.01)
        process.kill()
        assert process.communicate()[0] == b"" and process.returncode == -signal.SIGKILL
    again = ask("--state", "state", "train")
    assert again[:2] == whole[:2]
    assert 0 < int(again[2].split("reused ")[1].split()[0]) < 26  # sets of two classes or more
    third = ask("--state", "state", "-j", "2", "train")
    assert third[1] == whole[1] and "reused 26 results that were there already" in third[2]


def test_other_searches_take_no_results_of_this_one(ask):
    ask("--state", "state", "train")
    for words in (
        ("--seed", "2"),
        ("--by", "error"),
        ("--search-options", "-m 9 -g 0.3 -l 0.1"),
        ("-n",),
    ):
        status, text, message = ask("--state", "state", *words, "train")
        assert status == 0 and "there already" not in message and text == ask(*words, "train")[1]


def test_ensembles_of_best_heed_their_options(run, ask):
    words = (
        "print_control",
        "--best",
        "-d",
        "2",
        "--trials",
        "1",
        "--no-state",
        "--options",
        "learner=nystrom -m 20",
        "-Q",
    )
    ensemble = run(*words, "ensemble", "--of", "best-tree", "--members", "3", "train", status=None)[
        1
    ]
    assert len(parse(ensemble).roots) == 3


def test_state_is_for_searches(ask):
    assert "exclude each other" in ask("--state", "state", "--no-state", "train")[2]
    status, _, message = ask("-Q", "tree", "--search-options", "", "--state", "state", "train")
    assert status == 2 and "--state needs --best" in message
