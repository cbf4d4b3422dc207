"""Training that is killed, limited and started again: the same bytes, nothing done twice."""

import re
import subprocess
import time

import numpy as np
import pytest

PATIENCE = 60
CLASSES = 8
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


def models(place):
    """{name: (inode, time)} of the model files."""
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns)
            for path in place.folder.glob("m-??")}


def kept(done):
    found = re.search(rb"kept from an earlier run: (\d+) of (\d+) classifiers", done.stderr)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("threads, when", [("1", 1), ("1", 11), ("2", 5), ("2", 16)])
def test_killed_in_the_middle(here, data, threads, when, wait):
    with here.start(*WORDS, "-j", threads, "m", "ctl") as process:
        wait(lambda: len(models(here)) >= when, process)
        process.kill()
        process.communicate(timeout=PATIENCE)
    before = models(here)
    assert when <= len(before) < COUNT and not (here / "ctl").exists()
    done = here.run(*WORDS, "-j", threads, "m", "ctl")
    assert (done.returncode, kept(done)) == (0, len(before))
    after = models(here)
    assert {name: after[name] for name in before} == before
    files = {name: content for name, content in here.files().items()
             if not name.startswith(".agfmc-")}  # kill -9 may leave one
    assert files == data[1]


def test_killed_again_and_again(here, data):
    rng = np.random.default_rng()
    seen = {}
    for _ in range(40):
        with here.start(*WORDS, "m", "ctl") as process:
            try:
                process.wait(timeout=0.4 + 0.4 * rng.random())
            except subprocess.TimeoutExpired:
                process.kill()
            process.communicate(timeout=PATIENCE)
        assert seen.items() <= models(here).items()
        seen = models(here)
        if process.returncode == 0:
            break
    assert here.run(*WORDS, "m", "ctl").returncode == 0
    assert {name: content for name, content in here.files().items()
            if not name.startswith(".agfmc-")} == data[1]


def test_a_finished_run_again(here, data):
    here.ok(*WORDS, "m", "ctl")
    before = models(here)
    done = here.run(*WORDS, "-j", "2", "--kernel-memory", "0", "m", "ctl")
    assert (done.returncode, kept(done)) == (0, COUNT) and models(here) == before
    done = here.run(*WORDS, "--quiet", "m", "ctl")
    assert (done.returncode, done.stderr) == (0, b"") and models(here) == before
    done = here.run(*WORDS, "--retrain", "m", "ctl")
    assert (done.returncode, done.stderr) == (0, b"")
    assert not before.items() & models(here).items()
    assert here.files() == data[1]


def test_only_what_is_missing_or_changed(here, data):
    here.ok(*WORDS, "m", "ctl")
    before = models(here)
    (here / "m-03").unlink()
    (here / "m-07").write_bytes((here / "m-07").read_bytes().replace(b"rho ", b"rho 1"))
    done = here.run(*WORDS, "m", "ctl")
    assert (done.returncode, kept(done)) == (0, COUNT - 2)
    same = dict(before.items() & models(here).items())
    assert set(before) - set(same) == {"m-03", "m-07"}
    assert here.files() == data[1]
    done = here.run(*WORDS, "--seed", "2", "m", "ctl")
    assert (done.returncode, kept(done)) == (0, 0)
    assert here.files().keys() == data[1].keys()


def test_held_out_samples_need_training(here):
    here.ok(*WORDS, "m", "ctl")
    before = models(here)
    done = here.run(*WORDS, "--cv-errors", "pairs.txt", "m", "ctl")
    assert done.returncode == 0 and b"all are trained again" in done.stderr
    assert not before.items() & models(here).items()
    assert (here / "pairs.txt").stat().st_size


def test_commands_of_a_job_array_started_again(place):
    whole = {name: content for name, content in place.files().items() if name.startswith("m-")}
    for name in whole:
        (place / name).unlink()
    words = "-0", "plan", "trn", "m", "ctl"
    lines = place.ok("multi_borders", *words).decode().splitlines()
    place.shell("\n".join(lines[:2]))
    before = models(place)
    assert len(before) == 2
    done = [subprocess.run(["sh", "-ec", line], cwd=place.folder, env=place.env, check=True,
                           capture_output=True, timeout=PATIENCE) for line in lines]
    assert [kept(one) for one in done] == [1, 1, 0]
    assert before.items() <= models(place).items()
    assert {name: (place / name).read_bytes() for name in models(place)} == whole
    again = place.ok("multi_borders", "--retrain", "--time-limit", "1:00", *words).splitlines()
    assert all(b"--retrain --time-limit=60.0" in line for line in again)
    place.shell(again[0].decode())
    assert before["m-00"] != models(place)["m-00"]


def test_a_time_limit(here, data):
    done = here.run(*WORDS, "--time-limit", "0", "m", "ctl")
    assert done.returncode == 3 and models(here) == {} and not (here / "ctl").exists()
    assert done.stderr.decode() == (f"multi_borders: time limit reached: 0 of {COUNT} classifiers "
                                    "are trained; the same command continues from there\n")
    finished = 0
    for _ in range(60):
        before = models(here)
        done = here.run(*WORDS, "--time-limit", "0.5", "m", "ctl")
        assert kept(done) == len(before) and before.items() <= models(here).items()
        if done.returncode == 0:
            break
        assert done.returncode == 3 and not (here / "ctl").exists()
        told = re.search(rb"time limit reached: (\d+) of 28 classifiers", done.stderr)
        assert int(told[1]) == len(models(here)) >= finished
        finished = int(told[1])
    else:
        here.ok(*WORDS, "m", "ctl")
    assert here.files() == data[1]


def test_a_fit_in_the_middle_does_not_hold_the_limit(here):
    (here / "slow").write_text('"-t 0 -c 1e-6" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
    rng = np.random.default_rng(4)
    x = rng.normal(size=(3000, 4))
    here.points("hard", x, rng.choice([0, 1, 2], 3000))
    begin = time.monotonic()
    done = here.run("multi_borders", "-+", ENDLESS, "-j", "2", "--time-limit", "1", "slow", "hard",
                    "m", "ctl")
    assert done.returncode == 3 and time.monotonic() - begin < PATIENCE / 2
    assert b"time limit reached: 1 of 3 classifiers" in done.stderr
    assert set(models(here)) == {"m-00"} and not list(here.folder.glob(".agfmc-*"))


@pytest.mark.parametrize("words, told", [
    (["--", "svm-train"], b"--time-limit and -- exclude each other"),
    (["--cv-errors", "x"], b"--time-limit and --cv-errors exclude each other")])
def test_what_begins_anew_has_no_time_limit(here, words, told):
    done = here.run("multi_borders", "--time-limit", "9", *words, "pairs", "big", "m", "ctl")
    assert done.returncode == 2 and told in done.stderr


def test_training_all_is_not_how_to_go_on(here):
    done = here.run(*WORDS, "--retrain", "--time-limit", "0", "m", "ctl")
    assert done.returncode == 3
    assert b"the same command without --retrain continues from there" in done.stderr
