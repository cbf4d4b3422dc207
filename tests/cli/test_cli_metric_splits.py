"""Experiments whose features have a learned metric: in each training part its own."""

import json
from pathlib import Path

import numpy as np
import pytest

from agfmc.api.estimator import MultiClassFromBinary
from agfmc.training.metric import MetricOptions
from agfmc.data.reading import read_training
from agfmc.data.libagf import read_std
from agfmc.data.types import InputFormat
from data_files import write_cls, write_vec

LEARN = ("-n", "--learn-metric", "1", "--metric-options", "-m 30")
QUICK = ("-d", "3", "--log2c", "0:2:2", "--log2g=-3:-1:2", "--refine", "0")


@pytest.fixture
def data(folder, monkeypatch):
    """Data of classes 2, 5, 9: two features that matter and two that do not."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    rng = np.random.default_rng(5)
    y = np.repeat([2, 5, 9], [40, 50, 30]).astype(np.int32)[rng.permutation(120)]
    x = rng.normal(size=(120, 4))
    x[:, 0] += np.where(y == 2, 2.5, 0)
    x[:, 1] += np.where(y == 9, 2, 0)
    write_vec("train.vec", (x * [1, 2, 3, 4]).astype(np.float32))
    write_cls("train.cls", y)
    return folder


@pytest.fixture
def compare(run):
    """A function: options -> the rows of compare_control."""

    def compare(*words):
        return json.loads(
            run("compare_control", "-d", "2", "--json", *words, "train", "one-vs-one").out
        )["rows"]

    return compare


def test_a_trial_is_what_the_commands_give(run, compare, data):
    seed = ("--seed", "7")
    [row] = json.loads(
        run("compare_control", *LEARN, "--trials", "1", *seed, "--json", "train", "one-vs-one").out
    )["rows"]
    run("agf_preprocess", "--stratified", "-f", "0.3", *seed, "train", "trn", "tst")
    control = run("print_control", "trn").out
    run("multi_borders", *LEARN, *seed, "trn", "m", "m.mbc", stdin=control)
    run("mbh2mbm", "-a", "m.std", "m.mbc", "m.mbm")
    Path("out.txt").write_text(run("classify_m", "-Q", "inverse", "m.mbm", "tst.vec", "out").out)
    told = json.loads(run("eval_uc", "--json", "tst.cls", "out", "out.txt").out)
    assert row["accuracy"]["mean"] == told["accuracy"]
    assert row["brier_all"]["mean"] == pytest.approx(told["brier_all"], abs=2e-6)
    # the estimator and the commands: the same numbers
    part, test = (read_training(name, InputFormat()) for name in ("trn", "tst"))
    options = MetricOptions(1, machine="-m 30")
    model = MultiClassFromBinary(metric=options, random_state=7).fit(part.x, part.y)
    np.testing.assert_array_equal(
        model.configuration_.normalisation.matrix, read_std("m.std").matrix
    )
    model.save("own.mbm")
    assert Path("own.mbm").read_bytes() == Path("m.mbm").read_bytes()
    scores = MultiClassFromBinary.load("m.mbm").predict_proba(test.x)
    np.testing.assert_array_equal(model.predict_proba(test.x), scores)


@pytest.mark.long
def test_shared_landmarks_are_not_judged_by_values_that_the_metric_has_seen(run, data):
    words = (
        "tune_m",
        "-d",
        "3",
        "--log2g=-3:-1:2",
        "--refine",
        "0",
        "-+",
        "learner=nystrom -m 20",
        "--json",
        "all.json",
    )
    run(*words, "-n", "one-vs-rest", "train")
    assert json.loads(Path("all.json").read_text())["left_out"] == 120
    run(*words, *LEARN, "one-vs-rest", "train")
    found = json.loads(Path("all.json").read_text())
    assert found["left_out"] is None and len(found["points"][found["best"]]["values"]) == 3
    for command in (
        ("compare_control", "--loo", *LEARN, "train", "one-vs-rest"),
        ("tune_m", "--loo", *LEARN, "-+", "learner=nystrom -m 20", "one-vs-rest", "train"),
    ):
        run(*command, status=2).refused("leave --loo out")


@pytest.mark.long
def test_heads_tell_of_it(run, data):
    told = (
        "divided by deviations, metric learned in 1 round in each training part (-m 30 -g "
        "auto -l auto seed 1)"
    )
    base = "--no-state", "-d", "2", "--uncalibrated"
    nfold, compared = ("nfold", *base, "-b"), ("compare_control", *base)
    for command, operands in (
        (nfold, ("one-vs-rest", "train")),
        (compared, ("train", "one-vs-rest")),
    ):
        lines = run(*command, *LEARN, *operands).out.splitlines()
        assert lines[1].lower().strip(".") == f"features: {told}"
        assert json.loads(run(*command, *LEARN, "--json", *operands).out)["features"] == told
        assert "features:" not in run(*command, "-n", *operands).out.lower()
        assert "features" not in json.loads(run(*command, "-n", "--json", *operands).out)
    words = ("tune_m", *base, *QUICK, "--json", "one.json")
    tuned = run(
        *words,
        "-S",
        "3",
        "--learn-metric",
        "--diagonal",
        "--metric-options",
        "-m 20",
        "one-vs-rest",
        "train",
    )
    line = (
        "features: 3 singular vectors, metric learned in each training part (-m 20 -g auto -l "
        "auto diagonal seed 1)"
    )
    assert f", by log loss.\nF{line[1:]}.\n" in tuned.err and tuned.out.startswith(f"# {line}\n")
    assert line.endswith(json.loads(Path("one.json").read_text())["features"])
    plain = run(*words, "-n", "one-vs-rest", "train")
    assert "features" not in plain.out + plain.err.lower() + Path("one.json").read_text()
    Path("tuned.mbc").write_text(tuned.out)
    assert "warning" not in run("print_control", "--dot", "tuned.mbc").err
    assert (
        "features: "
        in run(
            "print_control",
            "--best",
            "-d",
            "2",
            "--trials",
            "1",
            *LEARN,
            "-Q",
            "one-vs-one,one-vs-rest",
            "train",
        ).err
    )
