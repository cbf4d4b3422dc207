"""Signals in the middle of the work: the documented status, silence, no temporary files."""

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from agfmc.cli import run
from agfmc.cli.print_control import get_parser
from agfmc.cli.signals import Terminated

PATIENCE = 60
ROOT = Path(__file__).resolve().parents[2]
COMMANDS = sorted(path.name for path in (ROOT / "bin").iterdir())
HARD = "-t 1 -d 5 -g 5 -c 1e6 -e 1e-12 -h 0"
DROPPING = ("import callback", "import lock", "weak reference", "__del__", "except")
# PLACE SIGNAL COMMAND WORDS: the signal comes where Python or a library drops what is raised
DROPPED = """
import importlib, os, signal, sys, weakref

place, number, command = sys.argv[1], int(sys.argv[2]), sys.argv[3]

def send(*_):
    sys.setprofile(None)
    os.kill(os.getpid(), number)
    for _ in range(100):
        pass

class Victim:
    pass

def watch(frame, event, what):
    name = frame.f_code.co_name
    if place.startswith("import"):
        if name == "cb" and "importlib" in frame.f_code.co_filename and (
                event == "call" if place == "import callback"
                else event == "c_return" and what.__name__ == "acquire_lock"):
            send()
    elif event == "return" and name == "temporary_name":
        if place == "__del__":
            Victim.__del__ = send
        victim = Victim()
        if place == "weak reference":
            kept = weakref.ref(victim, send)
        if place == "except":
            try:
                send()
            except BaseException:
                pass
        del victim

def begin(frame, event, what):
    if frame.f_code.co_name == ("_run" if place.startswith("import") else "temporary_name"):
        sys.setprofile(watch)

main = importlib.import_module("agfmc.cli").main_of(command)
sys.setprofile(begin)
sys.exit(main(sys.argv[4:]))
"""


@pytest.fixture
def hard(place):
    """`place` with hard.vec, hard.cls: labels at random, which no machine learns soon.

    The first classifier of the control file `slow` is easy: its model tells that the
    training has begun.
    """
    rng = np.random.default_rng(4)
    x = rng.normal(size=(2000, 4)).astype("<f4")
    place.points("hard", x, rng.choice([2, 5, 9], 2000))
    (place / "slow").write_text('"-t 0 -c 1e-6" 0 / 1; "" 0 / 2; "" 1 / 2; {2 5 9}')
    return place


def defaults():
    # a test run in the background has the interrupt ignored, and its children would too
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.few(1)
@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT],
    ids=lambda number: number.name,
)
def test_training(hard, number, threads, wait):
    before = hard.files()
    with hard.start(
        "multi_borders",
        "-n",
        "-j",
        threads,
        "-+",
        HARD,
        "slow",
        "hard",
        "h",
        "hctl",
        preexec_fn=defaults,
    ) as process:
        wait(lambda: list(hard.folder.glob("h-00")), process)
        time.sleep(0.1)
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number
    assert (out, err) == (b"", b"")
    after = hard.files()
    del after["h.std"], after["h-00"]  # finished work is kept
    assert after == before


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_classification_that_waits_for_points(place, number, wait):
    before = place.files()
    with place.start(
        "classify_m", "all.mbm", "-", "out", stdin=subprocess.PIPE, preexec_fn=defaults
    ) as process:
        process.stdin.write((place / "tst.vec").read_bytes())
        process.stdin.flush()
        wait(lambda: list(place.folder.glob(".agfmc-*")), process)
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (128 + number, b"")
    assert place.files() == before


def test_nohup(hard, wait):
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with hard.start(
        "multi_borders", "-n", "-+", HARD, "slow", "hard", "h", "hctl", preexec_fn=ignore
    ) as process:
        wait(lambda: list(hard.folder.glob("h-00")), process)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        assert process.poll() is None
        process.terminate()
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 143


LOADING = """
import importlib, os, signal, sys
from importlib.machinery import ExtensionFileLoader

def load(loader, spec):  # in the place of a library that never comes back to Python
    signal.pthread_kill(main, int(sys.argv[1]))
    os.write(1, b"survived")
    os._exit(0)

import threading
main = threading.get_ident()
run = importlib.import_module("agfmc.cli").main_of("multi_borders")
ExtensionFileLoader.create_module = load
signal.signal(signal.SIGINT, signal.SIG_DFL)
run(["plan", "trn", "x", "xctl"])
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_library_that_hangs_while_it_is_loaded(place, number):
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(int(number))],
        cwd=place.folder,
        env=place.env,
        capture_output=True,
        timeout=PATIENCE,
        preexec_fn=defaults,
    )
    assert (done.returncode, done.stdout, done.stderr) == (-number, b"", b"")


@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_before_the_command_is_loaded(tmp_path, command):
    """The package that is imported here sends it: the first line of a command comes before."""
    (tmp_path / "agfmc").mkdir()
    (tmp_path / "agfmc" / "__init__.py").write_text("import os; os.kill(os.getpid(), 2)")
    done = subprocess.run(
        [sys.executable, "-S", str(ROOT / "bin" / command)],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        timeout=PATIENCE,
        preexec_fn=defaults,
    )
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


def dropped(place, at, number, command, *words):
    """A command that gets the signal where what is raised is dropped; -> (status, stderr)."""
    done = subprocess.run(
        [sys.executable, "-c", DROPPED, at, str(int(number)), command, *words],
        cwd=place.folder,
        env=place.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
        preexec_fn=defaults,
    )
    return done.returncode, done.stderr


@pytest.mark.few(1)
@pytest.mark.parametrize("at", DROPPING)
def test_a_signal_that_is_dropped_comes_again(hard, at):
    before = hard.files()
    assert dropped(
        hard,
        at,
        signal.SIGINT,
        "multi_borders",
        "-n",
        "-j",
        "2",
        "-+",
        HARD,
        "slow",
        "hard",
        "h",
        "hctl",
    ) == (130, b"")
    after = hard.files()
    for name in ("h.std", "h-00"):  # finished work is kept
        after.pop(name, None)
    assert after == before


@pytest.mark.parametrize("number", [signal.SIGTERM, None])
def test_a_caller_has_its_own_timer_and_handlers_again(monkeypatch, number):
    def state():
        return [
            signal.getsignal(name) for name in (signal.SIGALRM, signal.SIGTERM)
        ], sys.unraisablehook

    def execute(args):
        if number is not None:
            signal.raise_signal(number)

    monkeypatch.setattr(run, "_leave", lambda status: None)
    kept = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 1000, 7)
    try:
        before = state()
        if number is None:
            assert run.run_command(get_parser(), execute, ["3"]) == 0
        else:
            with pytest.raises(Terminated):
                run.run_command(get_parser(), execute, ["3"])
        left, interval = signal.getitimer(signal.ITIMER_REAL)
        assert 0 < left <= 1000 and interval == 7
        assert state() == before
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, kept)


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        "multi_borders -n -j {} plan trn x xctl",
        "classify_m -j {} ctl tst.vec out",
        "classify_m -j {} all.mbm tst.vec out",
        "nfold -j {} -d 3 plan trn nf",
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("at", DROPPING)
def test_every_signal_that_is_dropped_ends_the_command(place, at, number, threads, words):
    whole = place.at(place.folder.parent / "whole")
    shutil.copytree(place.folder, whole.folder)
    words = words.format(threads).split()
    whole.ok(*words)
    status, err = dropped(place, at, number, *words)
    assert status == 128 + number
    assert b"Traceback" not in err and b"ignored" not in err
    new = whole.files()
    for name, content in place.files().items():
        assert content == new[name]
