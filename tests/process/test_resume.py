"""Experiments that are killed, and started again: the same answers, nothing done twice."""

import json
import re
import signal

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
    place.points("big", x, y)
    place.env = {**place.env, "XDG_CACHE_HOME": str(place / "cache")}
    return place


def scores(text):
    return [{name: row[name] for name in ("configuration", "decoder", "accuracy", "brier_all",
                                          "brier_winning", "log_loss", "difference")}
            for row in json.loads(text)["rows"]]


def finished(place):
    """Is something finished and on the disk?"""
    return any(path.stat().st_size > 100 for path in place.folder.glob("cache/agfmc/*.results"))


@pytest.mark.parametrize("number", [
    signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)], ids=lambda n: n.name)
def test_comparison_goes_on(big, number, wait):
    whole = scores(big.ok(*WORDS, "--no-state"))
    assert not list(big.folder.glob("cache/**/*.results"))
    with big.start(*WORDS) as process:
        wait(lambda: finished(big), process)
        process.send_signal(number)
        _, messages = process.communicate(timeout=PATIENCE)
    told = b"interrupted: the same command continues from there" in messages
    assert told == (number != signal.SIGKILL)
    assert process.returncode == (-9 if number == signal.SIGKILL else 143)
    done = big.run(*WORDS)
    assert done.returncode == 0
    found = re.search(rb"reused (\d+) results? of an earlier run", done.stderr)
    assert found and int(found[1]) > 0
    assert scores(done.stdout) == whole
    assert not list(big.folder.glob("cache/agfmc/*"))


def test_nothing_readable_by_others_is_kept(big, wait):
    with big.start(*WORDS) as process:
        wait(lambda: finished(big), process)
        process.kill()
        process.communicate(timeout=PATIENCE)
    (path,) = big.folder.glob("cache/agfmc/*.results")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
