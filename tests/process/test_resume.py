"""Experiments that are killed, and started again: the same answers, nothing done twice."""

import json
import re
import signal
import subprocess
import time

import numpy as np
import pytest

PATIENCE = 60
WORDS = ("compare_control", "-n", "--trials", "6", "-+", "-c 20", "--json", "big", "one-vs-one",
         "one-vs-rest", "adjacent", "tree")


@pytest.fixture
def big(place):
    """`place` with big.vec, big.cls, and a cache folder of its own."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 6, 900)
    x = rng.normal(size=(900, 5)) + 1.5 * np.eye(6)[y][:, :5]
    (place / "big.vec").write_bytes(np.int32(5).tobytes() + x.astype("<f4").tobytes())
    (place / "big.cls").write_bytes(y.astype("<i4").tobytes())
    place.env = {**place.env, "XDG_CACHE_HOME": str(place / "cache")}
    return place


def scores(text):
    return [{name: row[name] for name in ("configuration", "decoder", "accuracy", "brier_all",
                                          "brier_winning", "log_loss", "difference")}
            for row in json.loads(text)["rows"]]


def wait_for_work(place, process):
    """Until something is finished and on the disk."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, process.stderr.read()
        if any(path.stat().st_size > 100 for path in place.folder.glob("cache/agfmc/*.results")):
            return
        time.sleep(0.02)
    raise AssertionError("nothing was finished")


@pytest.mark.parametrize("number", [
    signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)], ids=lambda n: n.name)
def test_comparison_goes_on(big, number):
    whole = scores(big.ok(*WORDS, "--no-state"))
    assert not list(big.folder.glob("cache/**/*.results"))
    with big.start(*WORDS, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for_work(big, process)
        process.send_signal(number)
        _, messages = process.communicate(timeout=PATIENCE)
    told = b"interrupted: the same command goes on from there" in messages
    assert told == (number != signal.SIGKILL)
    assert process.returncode == (-9 if number == signal.SIGKILL else 143)
    done = big.run(*WORDS)
    assert done.returncode == 0
    found = re.search(rb"(\d+) results of an earlier run were taken over", done.stderr)
    assert found and int(found[1]) > 0
    assert scores(done.stdout) == whole
    assert not list(big.folder.glob("cache/agfmc/*"))


def test_nothing_readable_by_others_is_kept(big):
    with big.start(*WORDS, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for_work(big, process)
        process.kill()
        process.communicate(timeout=PATIENCE)
    (path,) = big.folder.glob("cache/agfmc/*.results")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
