"""Finished models joined by mbh2mbm: weights, calibration, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

import agfmc
from data_files import write_cls, write_vec


@pytest.fixture(scope="module")
def models(tmp_path_factory, run):
    """A folder with three models of the same classes, one of them useless, and holdout data."""
    place = tmp_path_factory.mktemp("joined")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for name, n, seed in (("trn", 150, 1), ("hold", 60, 2)):
            rng = np.random.default_rng(seed)
            x = rng.normal(size=(n, 3)).astype(np.float32)
            y = 1 * (x[:, 0] + 0.3 * rng.normal(size=n) > 0) + (x[:, 1] > 0.3)
            write_vec(f"{name}.vec", x)
            write_cls(f"{name}.cls", y)
            write_vec("bad.vec", x)
            write_cls("bad.cls", rng.permutation(y))
        for name, *words in (
            ("a", "-n", "-+", "-g .5 -c 4", "one-vs-one", "trn"),
            ("b", "-+", "learner=nystrom -m 12", "one-vs-rest", "trn"),
            ("c", "-+", "-g 1 -c 8", "one-vs-one", "bad"),
        ):
            run("multi_borders", "--quiet", *words, name, f"{name}.mbc")
        run("mbh2mbm", "--quiet", "a.mbc", "a.mbm")
    return place


@pytest.fixture
def here(models, monkeypatch):
    monkeypatch.chdir(models)
    return models


def test_equal_weights(here, run):
    done = run("mbh2mbm", "--join", "a.mbm", "b.mbc", "-o", "equal.mbm")
    assert done.err.count("\n") == 2 and "the average is not calibrated" in done.err
    assert agfmc.load("equal.mbm").tree.weights == (0.5, 0.5)
    info = json.loads(run("mbm_info", "--json", "equal.mbm").out)
    assert [one["weight"] for one in info["members"]] == [0.5, 0.5] and info["normalised"]
    assert "weight 0.5, for each point" in run("mbm_info", "equal.mbm").out
    counted = run("classify_m", "--count", "equal.mbm", "hold.vec", "out.csv").err
    assert (
        f"member 2: coding matrix of 3, weight 0.5, for each point "
        f"{info['members'][1]['kernel_values']} kernel values\n" in counted
    )
    for form in ("-Z", "--libsvm"):
        run("mbh2mbm", form, "equal.mbm", "other", status=1).refused("is an ensemble of 2")
    assert not Path("other").exists()


@pytest.mark.long
def test_learned_weights_and_a_calibration(here, run):
    words = ["--data", "hold", "--member-weights", "held-out", "-o"]
    done = run("mbh2mbm", "--join", "a.mbm", "b.mbc", "c.mbc", *words, "w.mbm")
    assert "; left out: c.mbc\n" in done.err and "calibrated with 60 points: log loss" in done.err
    model = agfmc.load("w.mbm")
    assert len(model.tree.roots) == 2 and model.fits(model.calibration)
    assert "average least-squares" in model.calibration.decoders
    again = run("mbh2mbm", "--join", "a.mbm", "b.mbc", "c.mbc", *words, "again.mbm")
    assert Path("w.mbm").read_bytes() == Path("again.mbm").read_bytes() and again.err.count(
        "\n"
    ) == done.err.count("\n")
    run("mbh2mbm", "--quiet", "--join", "a.mbm", "c.mbc", *words, "one.mbm")
    assert not agfmc.load("one.mbm").tree.is_ensemble
    run("classify_m", "one.mbm", "hold.vec", "one.csv")


@pytest.mark.parametrize(
    "words, message",
    [
        (["--join", "a.mbm", "-o", "out.mbm"], "--join needs two models or more"),
        (["--join", "a.mbm", "b.mbc"], "--join needs -o"),
        (["a.mbm", "b.mbc", "out.mbm"], "expected control out"),
        (["a.mbm"], "expected control out"),
        (["--data", "hold", "a.mbm", "out.mbm"], "--data needs --join"),
        (
            ["--member-weights", "held-out", "--join", "a.mbm", "b.mbc", "-o", "out.mbm"],
            "--member-weights needs --data",
        ),
        (["--uncalibrated", "--join", "a.mbm", "b.mbc", "-o", "out.mbm"], "--data calibrates"),
        (["--join", "a.mbm", "b.mbc", "-o", "a.mbm"], "a.mbm"),
    ],
)
def test_what_is_refused(here, run, words, message):
    before = Path("a.mbm").read_bytes()
    assert message in run("mbh2mbm", *words, status=2).refused()
    assert not Path("out.mbm").exists() and Path("a.mbm").read_bytes() == before
