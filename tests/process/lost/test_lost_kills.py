"""A chain of commands that is killed at random moments, into a folder with older good files."""

import json
import os
import random
import shutil
import signal
import subprocess
import time

import pytest

CHAIN = (
    "agf_preprocess -n -z -f 0.3 trn pa pb", "svm2agf trn-words.svm words",
    "print_control -n -a best.std -Q 3 --plot tree.svg pa", "multi_borders -n plan pa m ctl",
    "multi_borders -n -j 2 --cv-errors errors.txt plan pa t tctl",
    "multi_borders --executor processes:2 plan pa r rctl", "mbh2mbm -a m.std ctl all.mbm",
    "classify_m all.mbm pb.vec out", "classify_m -j 2 tctl pb.vec out2",
    "eval_uc --plot scores.svg pb.cls out",
    "compare_control --trials 4 --state cstate --json pa one-vs-one tree",
    "tune_m --log2c=-1:3:2 --log2g=-4:0:2 --refine 0 --state tstate --json j --csv v plan pa",
)
OLDER = ("agf_preprocess -n -z --seed 9 -f 0.3 trn pa pb",
         "print_control -n -a best.std -Q 3 --plot tree.svg pa", "multi_borders -n plan pa m ctl",
         "multi_borders -n --cv-errors errors.txt plan pa t tctl", "multi_borders plan pa r rctl",
         "mbh2mbm -a m.std ctl all.mbm", "classify_m -Q 3 all.mbm pb.vec out",
         "classify_m tctl pb.vec out2", "eval_uc --plot scores.svg pb.cls out")
SECONDS = ("j", "v")  # tell how long something took


def mine(files):
    """{name: bytes} without what kill -9 may leave, and what differs from run to run."""
    return {name: content for name, content in files.items()
            if not name.startswith((".agfmc-", "cstate", "tstate")) and name not in SECONDS}


def scores(text):
    return [{name: row[name] for name in ("configuration", "accuracy", "log_loss")}
            for row in json.loads(text)["rows"]]


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
    older = OLDER if chain is CHAIN else [
        line for line in OLDER
        if line.startswith(("agf", "multi_borders -n plan", "mbh", "classify_m -Q"))]
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
            number = signal.SIGKILL if turn % 5 else rng.choice(
                [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
            there = {name for name in os.listdir(place.folder) if name.startswith(".agfmc-")}
            status = killed(place, words, moment, number)
            ended += status != 0
            at = f"{line}: signal {number} after {moment:.3f} s of {lasted:.3f} s, status {status}"
            now = place.files()
            for name, content in mine(now).items():
                assert content in (before.get(name), new.get(name)), (at, name)
            assert not set(before) - set(now) - outputs - {"ctl", "tctl", "rctl"}, at
            if (place / "j").exists():
                json.loads((place / "j").read_text())
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


def test_a_chain_that_is_killed(place):
    chain = [line for line in CHAIN if line.startswith(("agf", "multi_borders -n plan", "mbh"))]
    chain += [line for line in CHAIN if line.startswith("classify_m all")]
    assert harm(place, 1, 4, chain) >= 8


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_a_chain_that_is_killed_often(place, seed, record_property):
    ended = harm(place, seed, 20)
    record_property("kills", ended)
    print(f"seed {seed}: {ended} kills landed before the end")
    assert ended >= 60
