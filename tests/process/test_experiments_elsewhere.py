"""Experiments on workers: the same tables, whoever dies, and a killed run goes on."""

import json

import numpy as np
import pytest


EXECUTORS = ("processes:2",)  # threads:2 is -j 2, of which other tests are
TIMES = ("design_s", "train_s", "classify_s", "best")
COMPARE = (
    "compare_control",
    "-d",
    "2",
    "--both",
    "-+",
    "-c 3",
    "--json",
    "big",
    "one-vs-one",
    "tree:full,inverse",
    "empirical",
    "ensemble",
    "nodes",
    "shared",
)
TUNE = (
    "tune_m",
    "-d",
    "3",
    "--space",
    "gamma=-2:0:2",
    "--refine",
    "0",
    "--report",
    "tried.csv",
    "one-vs-one",
    "big",
)


@pytest.fixture
def big(place):
    """`place` with big.vec and big.cls, and control files of nodes and of shared landmarks."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 4, 240)
    place.points("big", rng.normal(size=(240, 4)) + 1.5 * np.eye(4)[y], y)
    (place / "nodes").write_text('"-c 3" { "-k 5" K { 0 1 } "" { 2 3 } }')
    (place / "shared").write_text(
        '"learner=nystrom -m 40" 0 / 1 2 3; "learner=nystrom -m 40" 1 / 0 2 3; '
        '"learner=nystrom -m 40" 2 / 0 1 3; "learner=nystrom -m 40" 3 / 0 1 2; {0 1 2 3}'
    )
    place.env = {**place.env, "XDG_CACHE_HOME": str(place / "cache")}
    return place


def table(text):
    """The JSON without times, and what depends on them."""
    return json.loads(
        text,
        object_hook=lambda found: {key: value for key, value in found.items() if key not in TIMES},
    )


@pytest.mark.long
@pytest.mark.parametrize("executor", EXECUTORS)
def test_same_tables(big, executor):
    for words in (COMPARE, ("nfold", "-n", "-d", "2", "--json", "one-vs-rest", "big", "held")):
        one = table(big.ok(*words, "--no-state"))
        files = big.files()
        assert table(big.ok(*words, "--no-state", "-j", executor)) == one
        assert big.files() == files


@pytest.mark.long
@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    "more",
    [
        (
            "--space",
            "C=0:2:2",
        ),
        ("-+", "learner=nystrom -m 30"),
        ("--space", "C=0:0", "-n"),
    ],
)
def test_same_search(big, executor, more):
    one = big.ok(*TUNE, *more, "--no-state")
    tried = (big / "tried.csv").read_bytes()
    assert big.ok(*TUNE, *more, "--no-state", f"-j{executor}") == one
    assert (big / "tried.csv").read_bytes() == tried


@pytest.mark.long
def test_error_of_a_learner_comes_back_as_it_is(big):
    words = ("compare_control", "--no-state", "-d", "2", "-+", "-s 1 -n 1", "--json", "big", "tree")
    one, two = big.call(*words), big.run(*words, "-jprocesses:2")
    assert one.status == two.returncode == 3
    assert (one.out, one.err) == (two.stdout.decode(), two.stderr.decode())


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words, status, told",
    [
        (
            ("-jproceses",),
            2,
            "expected a number of threads, processes:N, N from 1 to 1024, dask:",
        ),
        (("-jdask:nowhere",), 1, "expected HOST:PORT or a scheduler file"),
        (("-jdask:127.0.0.1:1",), 1, "there is no scheduler of dask at 127.0.0.1:1"),
    ],
)
def test_wrong_executors(big, words, status, told):
    if "dask:1" in words[0] or "scheduler" in told:
        pytest.importorskip("distributed")
    commands = (TUNE, ("nfold", "-d", "2", "one-vs-one", "big"))
    for command in commands[:1] if "no scheduler" in told else commands:  # which is waited for
        big.call(*command, *words, status=status).refused(told)
    assert not (big / "cache").exists()
