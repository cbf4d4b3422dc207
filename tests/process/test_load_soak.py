"""Many runs, one after the other and side by side: nothing grows, and all give the same bytes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 3000

# Runs the chain in one process, again and again; tells what it holds after each round.
CHAIN = """
import gc, importlib, json, os, sys, threading, time
rounds, pictures = int(sys.argv[1]), sys.argv[2] == "pictures"
resource = importlib.import_module("resource")

def call(command, *words, status=0):
    got = importlib.import_module("agfmc.cli." + command).main(list(words))
    assert got == status, (command, words, got)

def held():
    gc.collect()
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return {"rss": pages * resource.getpagesize(), "files": len(os.listdir("/proc/self/fd")),
            "threads": threading.active_count(), "tasks": len(os.listdir("/proc/self/task")),
            "objects": len(gc.get_objects()), "temporary": len(os.listdir(os.environ["TMPDIR"])),
            "here": len(os.listdir("."))}

null = os.open(os.devnull, os.O_WRONLY)
os.dup2(null, 1)
for number in range(rounds):
    call("svm2agf", "trn.svm", "s")
    call("agf_preprocess", "-n", "-a", "s.std", "s", "s1")
    call("print_control", "--names", "names", "trn")
    call("multi_borders", "-n", "--retrain", "-j", "2", "-+", "-c 5", "plan", "trn", "t", "tctl")
    call("multi_borders", "-n", "-+", "-c 5", "plan", "trn", "t", "tctl")
    call("mbh2mbm", "-a", "t.std", "tctl", "t.mbm")
    call("classify_m", "-j", "2", "--header", "t.mbm", "tst.vec", "out")
    call("classify_m", "-Q", "ddag", "t.mbm", "tst.vec", "out")
    call("eval_uc", "tst.cls", "out")
    call("mbm_info", "t.mbm")
    call("nfold", "-d", "2", "-b", "plan", "trn")
    call("multi_borders", "-M", "-j", "2", "--", "cp", "plan", "trn.svm", "x", "xctl")
    call("classify_m", "nothing", "tst.vec", "out", status=1)
    call("classify_m", "-Q", "nothing", "t.mbm", "tst.vec", "out", status=2)
    call("classify_m", "t.mbm", "short.vec", "out", status=1)
    if pictures:
        call("eval_uc", "--plot", "p.svg", "tst.cls", "out")
    if number % 20 == 3:
        call("multi_borders", "-n", "--retrain", "--executor", "processes:1", "-+", "-c 5", "plan",
             "trn", "t", "tctl")
    print(json.dumps(held()), file=sys.__stderr__, flush=True)
"""


def soak(place, rounds, pictures="no", code=CHAIN):
    """What the process held after each round."""
    (place / "tmp").mkdir()
    (place / "names").write_text("".join(f"n{i}\n" for i in range(10)))
    (place / "short.vec").write_bytes((place / "tst.vec").read_bytes()[:-3])
    env = {**place.env, "TMPDIR": str(place / "tmp"), "XDG_CACHE_HOME": str(place / "cache")}
    done = subprocess.run([sys.executable, "-c", code, str(rounds), pictures], cwd=place.folder,
                          env=env, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    told = [json.loads(line) for line in done.stderr.decode().splitlines() if line.startswith("{")]
    assert len(told) == rounds
    return told


def check(told, warm, grows):
    """Nothing grows after the first `warm` rounds; memory less than `grows` bytes."""
    first, last = told[warm], told[-1]
    for what in ("files", "threads", "temporary", "here"):
        assert first[what] == last[what], (what, first, last)
    assert last["tasks"] <= first["tasks"] + 1
    # the tables of regular expressions and the like fill up slowly
    assert last["objects"] <= first["objects"] + 2000, (first, last)
    assert last["rss"] - first["rss"] < grows, (first, last)


def test_a_few_rounds(place):
    check(soak(place, 6), 4, 8 << 20)


@pytest.mark.long
def test_two_hundred_rounds(place):
    pytest.importorskip("matplotlib")
    told = soak(place, 200, "pictures")
    check(told, 40, 6 << 20)
    print(f"\n200 rounds of 16 commands; memory {told[40]['rss'] >> 10} KiB after 40 rounds, "
          f"{told[-1]['rss'] >> 10} KiB at the end; {told[-1]['files']} files open")


ESTIMATOR = """
import gc, json, os, sys, threading
import numpy as np
from agfmc.estimators import MultiClassFromBinary
from sklearn.base import clone
rng = np.random.default_rng(1)
y = np.tile(np.arange(3), 30)
x = rng.normal(size=(90, 3)) + 2 * np.eye(3)[y]
first = None
for number in range(int(sys.argv[1])):
    model = clone(MultiClassFromBinary(n_jobs=2)).fit(x, y)
    p = model.predict_proba(x)
    first = p.tobytes() if first is None else first
    assert p.tobytes() == first
    gc.collect()
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    print(json.dumps({"rss": pages * 4096, "files": len(os.listdir("/proc/self/fd")),
          "threads": threading.active_count(), "tasks": len(os.listdir("/proc/self/task")),
          "objects": len(gc.get_objects()), "temporary": len(os.listdir(os.environ["TMPDIR"])),
          "here": len(os.listdir("."))}), file=sys.stderr)
"""


@pytest.mark.long
def test_estimators_in_a_loop(place):
    pytest.importorskip("sklearn")
    check(soak(place, 200, code=ESTIMATOR), 40, 6 << 20)


@pytest.mark.long
def test_two_hundred_chains_of_processes(place):
    """As a batch script has them: the same bytes each time, and no file that was not there."""
    (place / "tmp").mkdir()
    place.env.update(TMPDIR=str(place / "tmp"), XDG_CACHE_HOME=str(place / "cache"))
    script = ("print_control trn | multi_borders --retrain -n - trn l lctl; "
              "mbh2mbm -a l.std lctl l.mbm; classify_m l.mbm tst.vec lout > l.txt")
    place.shell(script)
    wanted = place.files()
    for _ in range(200):
        place.shell(script)
        assert place.files() == wanted
    assert os.listdir(place / "tmp") == [] and not (place / "cache").exists()


def together(place, works):
    """Start all of (words, stdin bytes or None), wait for all; -> [(status, out, err)]."""
    running, files = [], []
    for words, data in works:
        if data is not None:
            files.append(open(place / data, "rb"))
        running.append(place.start(*words,
                                   stdin=files[-1] if data is not None else subprocess.DEVNULL))
    results = []
    for process in running:
        out, err = process.communicate(timeout=600)
        results.append((process.returncode, out, err))
    for file in files:
        file.close()
    return results


@pytest.mark.parametrize("count", [6, pytest.param(50, marks=pytest.mark.long)])
def test_side_by_side_on_one_model(many, count):
    wanted = many.ok("classify_m", "all.mbm", "many.vec", "one")
    ways = [(("all.mbm", "many.vec"), None), (("all.mbm", "-"), "many.vec"),
            (("-j", "2", "all.mbm", "many.vec"), None), (("ctl", "many.vec"), None),
            (("-", "many.vec"), "all.mbm"), (("--executor", "processes:1", "all.mbm", "many.vec"),
                                             None)]
    works = [(("classify_m", *ways[i % 6][0], f"out{i}"), ways[i % 6][1]) for i in range(count)]
    for number, (status, out, err) in enumerate(together(many, works)):
        assert (status, err) == (0, b""), (number, err)
        assert out == wanted, number
        for end in ("cls", "con"):
            assert (many / f"out{number}.{end}").read_bytes() == \
                (many / f"one.{end}").read_bytes()


@pytest.mark.parametrize("count", [4, pytest.param(50, marks=pytest.mark.long)])
def test_trainings_side_by_side_into_the_same_folder(place, count):
    """Resuming, new and repeated trainings of the same models: all succeed, with the same bytes."""
    place.ok("multi_borders", "-n", "plan", "trn", "a", "actl")
    for number in range(max(1, count // 10)):
        if number % 2:
            (place / "b-01").unlink()  # some begin with a part of the work done
            (place / "bctl").unlink()
        works = [(("multi_borders", *(["--retrain"] if i % 3 == 1 else []),
                   *(["-j", "2"] if i % 2 else []), "-n", "plan", "trn", "b", "bctl"), None)
                 for i in range(min(count, 10))]
        for status, out, err in together(place, works):
            assert status == 0 and err.count(b"\n") <= 1, err
        for name in ("-00", "-01", "-02", ".std"):
            assert (place / f"b{name}").read_bytes() == (place / f"a{name}").read_bytes()
        assert (place / "bctl").read_bytes() == \
            (place / "actl").read_bytes().replace(b"a-", b"b-")
        assert not list(place.folder.glob(".agfmc*"))


@pytest.mark.long
def test_nice_and_a_busy_machine(many):
    """Nothing depends on who is faster."""
    wanted = many.ok("classify_m", "all.mbm", "many.vec", "one")
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        with many.start("classify_m", "-j", "3", "all.mbm", "many.vec", "two",
                        preexec_fn=lambda: os.nice(19)) as process:
            out, _ = process.communicate(timeout=120)
    finally:
        for one in spinning:
            one.kill()
            one.wait()
    assert process.returncode == 0 and out == wanted
