"""Training and experiments killed, limited, repeated: the same bytes, nothing done twice."""

import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

PATIENCE = 60
CLASSES = 6
COUNT = CLASSES * (CLASSES - 1) // 2
WORDS = ("multi_borders", "-n", "-+", "-c 50 -g 2 -e 1e-4", "pairs", "big")
ENDLESS = "-t 1 -d 5 -g 5 -c 1e6 -e 1e-12 -h 0"


@pytest.fixture(scope="module")
def data(trained, tmp_path_factory):
    """A folder with big.vec, big.cls, the control file pairs, and the files of a whole run."""
    here = trained.at(tmp_path_factory.mktemp("data"))
    rng = np.random.default_rng(4)
    y = rng.integers(0, CLASSES, 1000)
    x = rng.normal(size=(1000, 5)) + np.eye(CLASSES)[y][:, :5]
    here.points("big", x, y)
    (here / "pairs").write_bytes(here.ok("print_control", "big"))
    before = here.files()
    here.ok(*WORDS, "m", "ctl")
    return before, here.files()


@pytest.fixture
def here(data, trained, tmp_path):
    """An empty folder with the data."""
    for name, content in data[0].items():
        (tmp_path / name).write_bytes(content)
    return trained.at(tmp_path)


@pytest.fixture
def whole(data, here):
    """The same folder after a whole run."""
    for name, content in data[1].items():
        (here / name).write_bytes(content)
    return here


def models(place):
    """{name: (inode, time)} of the model files."""
    return {
        path.name: (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in place.folder.glob("m-??")
    }


def kept(done):
    found = re.search(r"kept from an earlier run: (\d+) of (\d+) classifiers", done.err)
    return int(found[1]) if found else 0


@pytest.mark.few(1)
@pytest.mark.parametrize("threads, when", [("1", 1), ("1", 8), ("2", 3), ("2", 9)])
def test_killed_in_the_middle(here, data, threads, when, wait):
    with here.start(*WORDS, "-j", threads, "m", "ctl") as process:
        wait(lambda: len(models(here)) >= when, process)
        process.kill()
        process.communicate(timeout=PATIENCE)
    before = models(here)
    assert when <= len(before) < COUNT and not (here / "ctl").exists()
    done = here.call(*WORDS, "-j", threads, "m", "ctl")
    assert (done.status, kept(done)) == (0, len(before))
    after = models(here)
    assert {name: after[name] for name in before} == before
    files = {
        name: content for name, content in here.files().items() if not name.startswith(".agfmc-")
    }  # kill -9 may leave one
    assert files == data[1]


def test_only_what_is_missing_or_changed(whole, data):
    here, before = whole, models(whole)
    (here / "m-03").unlink()
    (here / "m-07").write_bytes((here / "m-07").read_bytes().replace(b"rho ", b"rho 1"))
    done = here.call(*WORDS, "m", "ctl")
    assert (done.status, kept(done)) == (0, COUNT - 2)
    same = dict(before.items() & models(here).items())
    assert set(before) - set(same) == {"m-03", "m-07"}
    assert here.files() == data[1]


@pytest.mark.long
def test_held_out_samples_need_training(whole):
    here, before = whole, models(whole)
    done = here.call(*WORDS, "--cv-errors", "pairs.txt", "m", "ctl")
    assert done.status == 0 and "all are trained again" in done.err
    assert not before.items() & models(here).items()
    assert (here / "pairs.txt").stat().st_size


@pytest.mark.long
def test_a_time_limit(here, data):
    done = here.call(*WORDS, "--time-limit", "0", "m", "ctl")
    assert done.status == 3 and models(here) == {} and not (here / "ctl").exists()
    assert done.err == (
        f"multi_borders: time limit reached: 0 of {COUNT} classifiers "
        "are trained; the same command continues from there\n"
    )
    finished = 0
    for _ in range(60):
        before = models(here)
        done = here.call(*WORDS, "--time-limit", "0.5", "m", "ctl")
        assert kept(done) == len(before) and before.items() <= models(here).items()
        if done.status == 0:
            break
        assert done.status == 3 and not (here / "ctl").exists()
        told = re.search(r"time limit reached: (\d+) of 15 classifiers", done.err)
        assert int(told[1]) == len(models(here)) >= finished
        finished = int(told[1])
    else:
        here.ok(*WORDS, "m", "ctl")
    assert here.files() == data[1]


@pytest.mark.long
def test_a_fit_in_the_middle_does_not_hold_the_limit(here):
    (here / "slow").write_text('"-t 0 -c 1e-6" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
    rng = np.random.default_rng(4)
    x = rng.normal(size=(3000, 4))
    here.points("hard", x, rng.choice([0, 1, 2], 3000))
    begin = time.monotonic()
    done = here.run(
        "multi_borders", "-+", ENDLESS, "-j", "2", "--time-limit", "2", "slow", "hard", "m", "ctl"
    )
    assert done.returncode == 3 and time.monotonic() - begin < PATIENCE / 2
    assert b"time limit reached: 1 of 3 classifiers" in done.stderr
    assert set(models(here)) == {"m-00"} and not list(here.folder.glob(".agfmc-*"))


@pytest.mark.parametrize(
    "words, told",
    [
        (["--", "svm-train"], "-- COMMAND and --time-limit exclude each other"),
        (["--cv-errors", "x"], "--time-limit and --cv-errors exclude each other"),
    ],
)
def test_what_begins_anew_has_no_time_limit(here, words, told):
    done = here.call("multi_borders", "--time-limit", "9", *words, "pairs", "big", "m", "ctl")
    assert done.status == 2 and told in done.err


def test_training_all_is_not_how_to_go_on(here):
    done = here.call(*WORDS, "--retrain", "--time-limit", "0", "m", "ctl")
    assert done.status == 3
    assert "the same command without --retrain continues from there" in done.err


RESUME_WORDS = (
    "compare_control",
    "-n",
    "--trials",
    "4",
    "-+",
    "-c 20",
    "--json",
    "big",
    "one-vs-one",
    "one-vs-rest",
    "adjacent",
    "tree",
)


@pytest.fixture
def big(place):
    """`place` with big.vec, big.cls, and a cache folder of its own."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 6, 400)
    x = rng.normal(size=(400, 5)) + 1.5 * np.eye(6)[y][:, :5]
    place.points("big", x, y)
    place.env = {**place.env, "XDG_CACHE_HOME": str(place / "cache")}
    return place


def scores(text):
    return [
        {
            name: row[name]
            for name in (
                "configuration",
                "decoder",
                "accuracy",
                "brier_all",
                "brier_winning",
                "log_loss",
                "difference",
            )
        }
        for row in json.loads(text)["rows"]
    ]


def finished(place):
    """Is something finished and on the disk?"""
    return any(
        path.is_file() and path.stat().st_size > 100
        for path in place.folder.glob("cache/agfmc/*.results")
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "number",
    [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)],
    ids=lambda n: n.name,
)
def test_comparison_goes_on(big, number, wait):
    whole = scores(big.ok(*RESUME_WORDS, "--no-state"))
    assert not list(big.folder.glob("cache/**/*.results"))
    with big.start(*RESUME_WORDS) as process:
        wait(lambda: finished(big), process)
        process.send_signal(number)
        _, messages = process.communicate(timeout=PATIENCE)
    if number == signal.SIGKILL:  # what is kept is not for others to read
        (path,) = big.folder.glob("cache/agfmc/*.results")
        assert path.stat().st_mode & 0o777 == 0o600
    told = b"interrupted: the same command continues from there" in messages
    assert told == (number != signal.SIGKILL)
    assert process.returncode == (-9 if number == signal.SIGKILL else 143)
    done = big.run(*RESUME_WORDS)
    assert done.returncode == 0
    found = re.search(rb"reused (\d+) results? that w(?:ere|as) there already", done.stderr)
    assert found and int(found[1]) > 0
    assert scores(done.stdout) == whole
    assert len(list(big.folder.glob("cache/agfmc/*"))) == 1


SOAK_PATIENCE = 3000

# Runs the chain in one process, again and again; tells what it holds after each round.
CHAIN = """
import gc, importlib, json, os, sys, threading, time
rounds, pictures = int(sys.argv[1]), sys.argv[2] == "pictures"
resource = importlib.import_module("resource")

def call(command, *words, status=0):
    got = importlib.import_module("agfmc.cli").main_of(command)(list(words))
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
        call("eval_uc", "--report", "p.svg", "tst.cls", "out")
    if number % 20 == 3:
        call("multi_borders", "-n", "--retrain", "-j", "processes:1", "-+", "-c 5", "plan",
             "trn", "t", "tctl")
    print(json.dumps(held()), file=sys.__stderr__, flush=True)
"""


def soak(place, rounds, pictures="no", code=CHAIN):
    """What the process held after each round."""
    (place / "tmp").mkdir()
    (place / "names").write_text("".join(f"n{i}\n" for i in range(10)))
    (place / "short.vec").write_bytes((place / "tst.vec").read_bytes()[:-3])
    env = {**place.env, "TMPDIR": str(place / "tmp"), "XDG_CACHE_HOME": str(place / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", code, str(rounds), pictures],
        cwd=place.folder,
        env=env,
        capture_output=True,
        timeout=SOAK_PATIENCE,
    )
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


@pytest.mark.long
def test_a_few_rounds(place):
    check(soak(place, 6), 4, 8 << 20)
