"""nfold, compare_control, tune_m with weights: scores by them, kept results, files of answers."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from agfmc.data.libagf import read_cls
from agfmc.data.weights import read_weights
from data_files import write_cls, write_vec

N = 90
FAST = ("-+", "learner=logistic", "--uncalibrated")
ALREADY = "there already"  # in the report of results that were taken
SEARCH = (*FAST, "-d", "2", "--search", "full", "--refine", "0")


@pytest.fixture(autouse=True)
def data(folder, monkeypatch):
    """90 points of 3 classes t.vec, t.cls, weights w.txt and v.txt; a cache folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], [45, 30, 15])[rng.permutation(N)]
    write_vec("t.vec", (rng.normal(size=(N, 2)) + y[:, None]).astype(np.float32))
    write_cls("t.cls", y)
    w = rng.integers(1, 9, N) / 4
    for name, weights in (("w", w), ("v", w[::-1])):
        Path(f"{name}.txt").write_text("".join(f"{one!r}\n" for one in weights.tolist()))
    return y, w


def without_times(text):
    """Results without the lines and columns of seconds."""
    return [
        cells[:3] + cells[9:]
        for line in text.splitlines()
        if ", seconds" not in line
        for cells in [line.split(",")]
    ]


def test_scores_of_nfold_are_those_of_its_files(run, data):
    y, w = data
    done = run(
        "nfold",
        "-d",
        3,
        "--json",
        "--weight",
        "w.txt",
        "--class-weight",
        "2=3",
        "-+",
        "learner=logistic",
        "one-vs-rest",
        "t",
        "out",
    )
    scores = json.loads(done.out)
    w = w * np.where(y == 2, 3, 1)
    assert (read_weights("out.wgt", N) == w.astype(np.float32)).all()
    lines = Path("out.txt").read_text().splitlines()
    p = np.array([line.split()[:-1] for line in lines[1:]], dtype=float)
    assert lines[0] == "labels 0 1 2" and (read_cls("out.truth") == y).all()
    loss = np.average(-np.log(p[np.arange(N), y]), weights=w)
    right = np.average(read_cls("out.cls") == y, weights=w)
    for found in (
        scores,
        {name: scores["over_splits"][name]["pooled"] for name in ("log_loss", "accuracy")},
    ):
        assert found["log_loss"] == pytest.approx(loss, abs=1e-5)  # six digits of p
        assert found["accuracy"] == pytest.approx(right, abs=1e-12)
    assert (
        scores["weights"] == "of samples and classes (0=1, 1=1, 2=3); scores count the points "
        "by them"
    )
    assert scores["priors"] == pytest.approx([w[y == label].sum() / w.sum() for label in range(3)])
    told = json.loads(
        run("eval_uc", "--json", "--weight", "out.wgt", "out.truth", "out", "out.txt").out
    )
    assert told["log_loss"] == pytest.approx(loss, abs=1e-5)
    run("nfold", "-d", 3, "-b", *FAST, "one-vs-rest", "t", "out")
    assert not Path("out.wgt").exists()


def test_balanced_classes_make_the_accuracy_balanced(run):
    scores = json.loads(
        run("nfold", "--json", "-d", 2, "--class-weight", "balanced", *FAST, "one-vs-one", "t").out
    )
    assert scores["accuracy"] == pytest.approx(scores["balanced_accuracy"], abs=1e-12)
    assert scores["over_splits"]["accuracy"]["pooled"] == scores["accuracy"]
    assert scores["priors"] == pytest.approx([1 / 3] * 3)


def test_class_weights_from_standard_input(run):
    done = run(
        "nfold", "-b", "-d", 2, "--class-weight", "-", *FAST, "one-vs-one", "t", stdin=b"2 3\n"
    )
    assert "Weights: of classes (0=1, 1=1, 2=3)" in done.out


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words",
    [
        ("nfold", "-b", "-d", "2", *FAST, "one-vs-one", "t"),
        (
            "compare_control",
            "--report=-.csv",
            "-d",
            "2",
            *FAST,
            "t",
            "one-vs-one:inverse",
            "empirical:full",
        ),
        ("tune_m", *SEARCH, "--space", "C=0:2", "one-vs-one", "t"),
    ],
    ids=lambda words: words[0],
)
def test_results_with_other_weights_are_not_taken(run, words):
    """Neither from the automatic cache nor from a file that all runs share."""
    command, *words = words
    shared = (*words, "--state", "kept")
    plain = run(command, *shared)
    first = run(command, "--weight", "w.txt", *shared)
    assert ALREADY not in first.err
    again = run(command, "--weight", "w.txt", *shared)
    assert ALREADY in again.err and without_times(again.out) == without_times(first.out)
    other = run(command, "--weight", "v.txt", *shared)
    alone = run(command, "--weight", "v.txt", "--no-state", *words)
    assert without_times(other.out) == without_times(alone.out)
    table = [done.err if command == "tune_m" else done.out for done in (plain, first, other)]
    assert len({re.sub(r".*(reused|results in|[wW]eights:).*\n", "", text) for text in table}) == 3
    if command != "compare_control":  # CSV has no head
        head = "Weights: of samples; scores count the points by them.\n"
        assert head in table[1] and "Weights:" not in table[0]
    back = run(command, *shared)
    assert ALREADY in back.err and without_times(back.out) == without_times(plain.out)
    run(command, "--weight", "w.txt", *words)
    assert ALREADY not in run(command, "--weight", "v.txt", *words).err
