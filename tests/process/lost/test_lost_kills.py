"""Commands killed at random moments, or run at the same time, over older good files."""

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest


CHAIN = (
    "agf_preprocess -n -z -f 0.3 trn pa pb",
    "svm2agf trn-words.svm words",
    "print_control -n -a best.std -Q 3 --report tree.svg pa",
    "multi_borders -n plan pa m ctl",
    "multi_borders -n -j 2 --cv-errors errors.txt plan pa t tctl",
    "multi_borders -j processes:2 plan pa r rctl",
    "mbh2mbm -a m.std ctl all.mbm",
    "classify_m all.mbm pb.vec out",
    "classify_m -j 2 tctl pb.vec out2",
    "eval_uc --report scores.svg pb.cls out",
    "compare_control --trials 4 --state cstate --json pa one-vs-one tree",
    "tune_m --space C=-1:3:2 --space gamma=-4:0:2 --refine 0 --state tstate --report j.json "
    "--report v.csv plan pa",
)
OLDER = (
    "agf_preprocess -n -z --seed 9 -f 0.3 trn pa pb",
    "print_control -n -a best.std -Q 3 --report tree.svg pa",
    "multi_borders -n plan pa m ctl",
    "multi_borders -n --cv-errors errors.txt plan pa t tctl",
    "multi_borders plan pa r rctl",
    "mbh2mbm -a m.std ctl all.mbm",
    "classify_m -Q 3 all.mbm pb.vec out",
    "classify_m tctl pb.vec out2",
    "eval_uc --report scores.svg pb.cls out",
)
SECONDS = ("j.json", "v.csv")  # tell how long something took


def mine(files):
    """{name: bytes} without what kill -9 may leave, and what differs from run to run."""
    return {
        name: content
        for name, content in files.items()
        if not name.startswith((".agfmc-", "cstate", "tstate")) and name not in SECONDS
    }


def scores(text):
    return [
        {name: row[name] for name in ("configuration", "accuracy", "log_loss")}
        for row in json.loads(text)["rows"]
    ]


def killed(place, words, moment, number):
    """Run a command until the moment; -> status."""

    def defaults():
        for name in (signal.SIGINT, signal.SIGHUP):
            signal.signal(name, signal.SIG_DFL)

    with place.start(*words, stdout=subprocess.DEVNULL, preexec_fn=defaults) as process:
        end = time.monotonic() + moment
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.0005)
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
    if number != signal.SIGKILL and process.returncode != 0:
        assert process.returncode in (128 + number, -number), err
        assert b"internal error" not in err, err
        # the interpreter itself may be interrupted before the first line of the command
        assert b"Traceback" not in err or b"/bin/" not in err and b"/agfmc/" not in err, err
    return process.returncode


def harm(place, seed, kills, chain=CHAIN):
    """Kill each step of a chain so many times, and check all files; -> how many ended so."""
    rng = random.Random(seed)
    older = (
        OLDER
        if chain is CHAIN
        else [
            line
            for line in OLDER
            if line.startswith(("agf", "multi_borders -n plan", "mbh", "classify_m -Q"))
        ]
    )
    place.shell("; ".join(f"{line} >older" for line in older))
    (place / "older").unlink()
    whole = place.at(place.folder.parent / "whole")
    shutil.copytree(place.folder, whole.folder)
    ended = 0
    for line in chain:
        words = line.split()
        before = mine(whole.files())
        begin = time.monotonic()
        printed = whole.ok(*words)
        lasted = time.monotonic() - begin
        new = mine(whole.files())
        outputs = {name for name in new if new[name] != before.get(name)} | set(SECONDS)
        for turn in range(kills):
            # the end, where files are written, more often than the beginning
            moment = lasted * (rng.uniform(0.1, 1) if turn % 2 else rng.uniform(0.6, 1.05))
            number = (
                signal.SIGKILL
                if turn % 5
                else rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
            )
            there = {name for name in os.listdir(place.folder) if name.startswith(".agfmc-")}
            status = killed(place, words, moment, number)
            ended += status != 0
            at = f"{line}: signal {number} after {moment:.3f} s of {lasted:.3f} s, status {status}"
            now = place.files()
            for name, content in mine(now).items():
                assert content in (before.get(name), new.get(name)), (at, name)
            assert not set(before) - set(now) - outputs - {"ctl", "tctl", "rctl"}, at
            if (place / "j.json").exists():
                json.loads((place / "j.json").read_text())
            if number != signal.SIGKILL:
                left = {name for name in os.listdir(place.folder) if name.startswith(".agfmc-")}
                assert left <= there, at
        again = place.ok(*words)
        assert mine(place.files()) == new, line
        if words[0] == "compare_control":
            assert scores(again) == scores(printed)
        else:
            assert again == printed, line
    return ended


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_a_chain_that_is_killed_often(place, seed):
    assert harm(place, seed, 20) >= 60


def together(place, *commands, **more):
    """-> [(status, standard output, standard error)] of commands that run side by side."""
    running = [place.start(*words, **more) for words in commands]
    done = [process.communicate(timeout=120) for process in running]
    return [(process.returncode, *streams) for process, streams in zip(running, done)]


def files_of(place, *commands, names):
    """{name: bytes} of `names` after each of the commands, alone."""
    found = []
    for words in commands:
        place.ok(*words)
        found.append({name: (place / name).read_bytes() for name in names})
    return found


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words",
    [
        ("mbh2mbm", "ctl", "both.mbm"),
        ("classify_m", "all.mbm", "tst.vec", "both"),
        ("classify_m", "-j", "2", "all.mbm", "tst.vec", "both"),
        ("agf_preprocess", "-n", "-z", "-f", "0.5", "trn", "both", "other"),
    ],
    ids=lambda w: w[0],
)
def test_the_same_twice(place, words):
    place.ok(*words)
    wanted = place.files()
    for status, out, err in together(place, words, words, words):
        assert status == 0, err
    assert place.files() == wanted


@pytest.mark.long
def test_answers_of_one_run(place):
    commands = [("classify_m", "-Q", method, "all.mbm", "tst.vec", "out") for method in "03"]
    names = ["out.cls", "out.con"]
    alone = files_of(place, *commands, names=names)
    assert alone[0]["out.con"] != alone[1]["out.con"]
    for _ in range(3):
        assert [done[0] for done in together(place, *commands)] == [0, 0]
        assert {name: (place / name).read_bytes() for name in names} in alone
    assert not list(place.folder.glob(".agfmc-*"))


def check_training(place, done, alone, names):
    """After runs at once: models are whole, and a control file names those of one run only."""
    assert not list(place.folder.glob(".agfmc-*"))
    models = {name: (place / name).read_bytes() for name in names if (place / name).exists()}
    for name, content in models.items():
        assert content in [files[name] for files in alone], name
    for status, _, err in done:
        assert status in (0, 3), err
        if status == 3:
            assert err.count(b"\n") == 1 and b"another run took the same names" in err, err
    if (place / "ctl").exists():
        assert models in alone
        place.ok("mbh2mbm", "ctl", "x.mbm")


@pytest.mark.long
@pytest.mark.parametrize("times", [2, pytest.param(25, marks=pytest.mark.long)])
def test_training_with_other_options(place, times):
    commands = [
        ("multi_borders", "--retrain", "--seed", seed, "plan", "trn", "m", "ctl") for seed in "123"
    ]
    names = ("m-00", "m-01", "m-02")
    alone = files_of(place, *commands, names=names)
    for _ in range(times):
        check_training(place, together(place, *commands), alone, names)
    place.ok(*commands[1])
    assert {name: (place / name).read_bytes() for name in names} == alone[1]


@pytest.mark.long
def test_a_model_of_another_run_is_noticed(place):
    """Another run replaces a model of this one before it has come to its end."""
    place.ok("multi_borders", "--seed", "7", "plan", "trn", "other", "octl")
    for name in ("m-00", "m-01", "m-02", "ctl"):
        (place / name).unlink()
    rng = np.random.default_rng(4)
    x = rng.normal(size=(2000, 4)).astype("<f4")
    (place / "hard.vec").write_bytes(np.int32(4).tobytes() + x.tobytes())
    (place / "hard.cls").write_bytes(rng.choice([2, 5, 9], 2000).astype("<i4").tobytes())
    (place / "slow").write_text('"-t 0 -c 1e-6" 0 / 1; "" 0 / 2; "-c 1e-6" 1 / 2; {2 5 9}')
    with place.start("multi_borders", "-+", "-c 100 -g 4", "slow", "hard", "m", "ctl") as process:
        while not (place / "m-00").exists():
            assert process.poll() is None, process.stderr.read()
        (place / "m-00").write_bytes((place / "other-00").read_bytes())
        _, err = process.communicate(timeout=120)
    assert process.returncode == 3
    assert err == (
        b"multi_borders: 'm-00' is no longer what this run has written: another run "
        b"took the same names. control-out is not written; the same command "
        b"continues from there\n"
    )
    assert not (place / "ctl").exists()


@pytest.mark.long
def test_models_of_two_runs_under_one_control_file(place):
    """Which multi_borders does not leave, but copying and killing can make."""
    place.ok("multi_borders", "-n", "plan", "trn", "n", "nctl")
    kept = (place / "n-01").read_bytes()
    (place / "n-01").write_bytes((place / "m-01").read_bytes())
    for words in (("mbh2mbm", "nctl", "x.mbm"), ("classify_m", "nctl", "tst.vec", "x")):
        done = place.run(*words)
        assert done.returncode == 1 and b"trained with different normalisations" in done.stderr
    (place / "n-01").write_bytes(kept)
    place.ok("mbh2mbm", "nctl", "x.mbm")
    # fewer samples of a class
    x = (place / "trn.vec").read_bytes()
    (place / "few.vec").write_bytes(x[: 4 + 16 * 60])
    (place / "few.cls").write_bytes((place / "trn.cls").read_bytes()[:240])
    place.ok("multi_borders", "plan", "few", "f", "fctl")
    (place / "m-01").write_bytes((place / "f-01").read_bytes())
    done = place.run("mbh2mbm", "ctl", "x.mbm")
    assert done.returncode == 1 and b"is the calibration of other classifiers" in done.stderr
    done = place.run("mbh2mbm", "--uncalibrated", "ctl", "x.mbm")
    assert done.returncode == 0
    assert b"warning: ctl: the models record different numbers of samples" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    "state",
    [
        ["--state", "st"],
        pytest.param([], marks=pytest.mark.long),
        pytest.param(["--no-state"], marks=pytest.mark.long),
    ],
    ids=str,
)
def test_comparisons_at_once(place, state):
    place.env = {**place.env, "XDG_CACHE_HOME": str(place / "cache")}
    words = ("compare_control", "--trials", "3", "--json", *state, "trn", "one-vs-one", "tree")
    alone = scores(place.ok(*words))
    shutil.rmtree(place / "st", ignore_errors=True)
    shutil.rmtree(place / "cache", ignore_errors=True)
    for status, out, err in together(place, words, words, words):
        assert status == 0, err
        assert scores(out) == alone
    assert (place / "st").exists() == (state == ["--state", "st"])
    assert len(list(place.folder.glob("cache/agfmc/*"))) == (not state)


@pytest.mark.long
def test_a_temporary_file_of_a_run_that_was_killed(place):
    """Nothing reads it, nothing removes it: it may be that of a run on another machine."""
    (place / ".agfmc-0123456789abcdef").write_bytes(b"x" * 100)
    os.mkdir(place / ".agfmc-0123456789abcdee")
    for words in itertools.islice(
        [("mbh2mbm", "ctl", "x.mbm"), ("multi_borders", "--retrain", "plan", "trn", "m", "ctl")], 2
    ):
        assert place.run(*words).returncode == 0
    assert (place / ".agfmc-0123456789abcdef").read_bytes() == b"x" * 100
