"""Workers that are processes: the same bytes, a death survived, nobody left behind."""

import contextlib
import glob
import os
import signal
import time

import numpy as np
import pytest

PATIENCE = 60


@pytest.fixture
def slow(place):
    """`place` with big.vec, big.cls and bigplan: three classifiers that take a second or so."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 2200)
    x = rng.normal(size=(2200, 6)) + 0.7 * np.eye(3)[y][:, [0, 1, 2, 0, 1, 2]]
    place.points("big", x, y)
    (place / "bigplan").write_bytes(place.ok("print_control", "big"))
    return place


def workers_of(process):
    """Process numbers of the workers that a command has started."""
    found = []
    for path in glob.glob(f"/proc/{process.pid}/task/*/children"):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            for number in map(int, file.read().split()):
                with open(f"/proc/{number}/cmdline", "rb") as line:
                    if b"multiprocessing.spawn" in line.read():
                        found.append(number)
    return found


def busy_worker(process):
    """A worker that has used a third of a second of a core, and so is at work."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for number in workers_of(process):
            with open(f"/proc/{number}/stat", encoding="ascii") as file:
                used = int(file.read().rpartition(")")[2].split()[11])
            if used >= 0.3 * os.sysconf("SC_CLK_TCK"):
                return number
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    raise AssertionError("no worker is at work")


def test_same_models_and_answers(place, many):
    here, there = place.below("here"), place.below("there")
    words = ("-n", "-+", "-c 3", "--cv-errors", "errors", "../plan", "../trn", "m", "ctl")
    here.ok("multi_borders", *words)
    there.ok("multi_borders", "-jprocesses:2", *words)
    assert here.files() == there.files() and len(here.files()) == 7
    words = ("-a", "m.std", "ctl", "../many.vec", "out")
    assert here.ok("classify_m", *words) == there.ok("classify_m", "-j", "processes:2", *words)
    assert here.files() == there.files()


# The first worker that comes to the function links `at` to its number, and stays there.
STAYS = """import os, sys, time
if "-c" in sys.orig_argv:
    import {module} as module
    def stays(*args, real=module.{function}):
        try:
            os.symlink(str(os.getpid()), {at!r})
        except FileExistsError:
            return real(*args)
        time.sleep(600)
    module.{function} = stays
"""


@pytest.fixture
def kill_worker(place, wait):
    """Function that runs a command, and kills a worker in the function; -> stderr."""

    def kill_worker(here, module, function, *words):
        at = place / "at"
        (place / "site").mkdir()
        (place / "site" / "sitecustomize.py").write_text(
            STAYS.format(module=module, function=function, at=str(at))
        )
        here.env = {**here.env, "PYTHONPATH": f"{here.env['PYTHONPATH']}:{place / 'site'}"}
        with here.start(*words, "-jprocesses:2") as process:
            wait(at.is_symlink, process)
            number = int(os.readlink(at))
            os.kill(number, signal.SIGKILL)
            _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said.decode()
        return said

    return kill_worker


@pytest.mark.long
def test_worker_killed(place, kill_worker):
    here, there = place.below("here"), place.below("there")
    words = ("multi_borders", "-+", "-c 100", "../plan", "../trn", "m", "ctl")
    here.ok(*words)
    said = kill_worker(there, "agfmc.training.fit", "fit_one", *words)
    assert here.files() == there.files() and len(here.files()) == 5
    assert b": a worker process has ended; retrying" in said


@pytest.mark.long
def test_worker_killed_while_it_makes_sums(place, kill_worker):
    y = np.arange(10_000) % 3
    x = np.random.default_rng(4).normal(size=(len(y), 6)) + np.eye(3)[y][:, [0, 1, 2, 0, 1, 2]]
    place.points("big", x, y)
    (place / "rest").write_text('"" 0 / 1 2; "" 0 1 / 2; {0 1 2}')
    here, there = place.below("here"), place.below("there")
    words = ("multi_borders", "-+", "learner=nystrom -m 90", "../rest", "../big", "m", "ctl")
    here.ok(*words)
    said = kill_worker(there, "agfmc.landmarks.sums", "_sums_elsewhere", *words)
    assert here.files() == there.files() and len(here.files()) == 4
    assert b"multi_borders: warning: sums of rows " in said
    assert b": a worker process has ended; retrying" in said


@pytest.mark.few(1)
@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda n: n.name)
def test_no_worker_is_left_behind(slow, number, wait, gone):
    with slow.start(
        "multi_borders", "-jprocesses:2", "-+", "-c 100", "bigplan", "big", "b", "bctl"
    ) as process:
        busy_worker(process)
        workers = workers_of(process)
        process.send_signal(number)
        process.communicate(timeout=PATIENCE)
    assert len(workers) == 2
    wait(lambda: all(map(gone, workers)))


@pytest.mark.long
def test_worker_killed_in_an_experiment(place, kill_worker):
    words = ("nfold", "-d", "2", "-b", "-+", "-c 20", "--no-state", "plan", "trn")
    place.ok(*words, "here")
    said = kill_worker(place, "agfmc.experiments.experiment", "_perform", *words, "there")
    for end in (".cls", ".con", ".txt", ".raw.txt"):
        assert (place / f"here{end}").read_bytes() == (place / f"there{end}").read_bytes()
    assert b": a worker process has ended; retrying" in said


NO_THREADS = """import sys, threading
def start(thread):
    raise RuntimeError("can't start new thread")
if "-c" in sys.orig_argv:
    threading.Thread.start = start
"""
NO_LIBRARIES = """import sys
if "-c" in sys.orig_argv:
    sys.modules["numpy"] = None
"""


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words",
    [
        "multi_borders -j processes:2 plan trn x xctl",
        "classify_m -j processes:2 all.mbm tst.vec out",
    ],
)
@pytest.mark.parametrize(
    "program, told",
    [
        (
            NO_THREADS,
            b": worker processes end before they begin to work: is there too little memory "
            b"for so many?\n",
        ),
        (
            NO_LIBRARIES,
            b": worker processes end before they begin to work: is there too little memory "
            b"for so many?\n",
        ),
    ],
    ids=["threads", "libraries"],
)
def test_workers_that_cannot_work(place, words, program, told):
    (place / "site").mkdir()
    (place / "site" / "sitecustomize.py").write_text(program)
    place.env["PYTHONPATH"] += f"{os.pathsep}{place / 'site'}"
    before = place.files()
    done = place.run(*words.split())
    *retries, error = done.stderr.splitlines(keepends=True)
    assert (done.returncode, error) == (1, words.split()[0].encode() + told)
    assert 1 <= len(retries) <= 2
    assert all(line.endswith(b": a worker process has ended; retrying\n") for line in retries)
    assert place.files() == before


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words, told",
    [
        (("-jproceses",), "expected a number of threads, processes:N, N from 1 to 1024, dask:"),
        (
            ("-jprocesses:0",),
            "dask:HOST:PORT or dask:FILE, found 'processes:0'",
        ),
        (("-jdask:nowhere",), "expected HOST:PORT or a scheduler file"),
        (("-jprocesses:2", "-O", "cat"), "external programs run on this machine only"),
    ],
)
def test_wrong_executors(place, words, told):
    if "scheduler file" in told:
        pytest.importorskip("distributed")
    place.call(
        "classify_m",
        *words,
        "all.mbm",
        "tst.vec",
        "out",
        status=1 if "scheduler file" in told else 2,
    ).refused(told)
    assert not (place / "out.cls").exists()
