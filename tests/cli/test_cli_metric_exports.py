"""A learned metric is a normalisation: it goes with a model to libAGF and LIBSVM, and with -u."""

import shutil
import subprocess

import numpy as np
import pytest

from agfmc.models.libsvm import read_svm_model
from agfmc.data.libagf import read_std
from data_files import write_cls, write_vec

LEARNED = ("-n", "--learn-metric", 1, "--metric-options", "-m 30")
WAYS = {"svm": "-c 10 -g 0.3", "nystrom": "learner=nystrom -m 30 -g 0.3"}


@pytest.fixture(params=WAYS)
def here(request, folder, run):
    """Data, the same normalised, and models m of them."""
    random = np.random.default_rng(0)
    for name, n in ("train", 120), ("test", 60):
        y = np.arange(n) % 3
        x = random.normal(size=(n, 4))
        x[:, 0] += 2 * y
        x[:, 1] -= y
        write_vec(f"{name}.vec", x * [1, 10, 0.1, 1])
        write_cls(f"{name}.cls", y)
    (folder / "plan").write_text(run("print_control", "-Q", "one-vs-one", 3).out)
    run(
        "multi_borders",
        "--no-calibration",
        *LEARNED,
        "-+",
        WAYS[request.param],
        "plan",
        "train",
        "m",
        "m.mbc",
    )
    run("agf_preprocess", "--quiet", "-a", "m.std", "test", "testn")
    return WAYS[request.param]


def probabilities(text):
    return np.array([line.split()[:3] for line in text.splitlines()], float)


@pytest.mark.few(1)
def test_exports_give_the_same_answers(here, run):
    run("mbh2mbm", "--quiet", "-Z", "m.mbc", "m.mbaio")
    run("mbh2mbm", "--quiet", "--libsvm", "m.mbc", "m.model")
    own = run("classify_m", "--uncalibrated", "-a", "m.std", "m.mbc", "test.vec", "own").out
    for name in "m.mbaio", "m.model":
        there = run("classify_m", "--quiet", name, "testn.vec", "there").out
        # the points of a file are rounded to single precision
        assert np.allclose(probabilities(there), probabilities(own), rtol=0, atol=3e-6)
        assert np.array_equal(np.fromfile("there.cls", "<i4"), np.fromfile("own.cls", "<i4"))


@pytest.mark.few(1)
@pytest.mark.skipif(not shutil.which("svm-predict"), reason="svm-predict is not installed")
def test_svm_predict_gives_the_same_answers(here, run):
    run("mbh2mbm", "--quiet", "--libsvm", "m.mbc", "m.model")
    run("agf2ascii", "-M", "testn", "testn.svm")
    subprocess.run(["svm-predict", "-q", "-b", "1", "testn.svm", "m.model", "theirs"], check=True)
    own = run("classify_m", "--uncalibrated", "-a", "m.std", "m.mbc", "test.vec", "own").out
    theirs = np.loadtxt("theirs", skiprows=1)
    p = np.sort(probabilities(own))
    clear = p[:, -1] - p[:, -2] > 0.01  # its iteration stops early
    assert clear.mean() > 0.9
    assert np.array_equal(theirs[clear, 0], np.fromfile("own.cls", "<i4")[clear])
    assert np.allclose(theirs[:, 1:], probabilities(own), rtol=0, atol=5e-3)


@pytest.mark.few(1)
def test_unnormalised_support_vectors(here, run):
    """They are points as they were, and go through the map before kernel values."""
    run(
        "multi_borders",
        "--quiet",
        "--no-calibration",
        *LEARNED,
        "-u",
        "-+",
        here,
        "plan",
        "train",
        "u",
        "u.mbc",
    )
    assert np.array_equal(read_std("u.std").matrix, read_std("m.std").matrix)
    train = np.fromfile("train.vec", "<f4", offset=4).reshape(-1, 4)
    raw, mapped = (read_svm_model(f"{base}-00").sv for base in "um")
    assert all(np.isclose(train, one, rtol=1e-6).all(axis=1).any() for one in raw)
    assert np.allclose(read_std("m.std").apply(raw), mapped, rtol=0, atol=1e-5)
    own = run("classify_m", "--quiet", "-a", "m.std", "m.mbc", "test.vec", "own").out
    there = run("classify_m", "--quiet", "-u", "-a", "u.std", "u.mbc", "test.vec", "there").out
    assert np.allclose(probabilities(there), probabilities(own), rtol=0, atol=3e-6)
    run("mbh2mbm", "--quiet", "-a", "u.std", "u.mbc", "u.mbm")
    assert run("classify_m", "--quiet", "u.mbm", "test.vec", "one").out == there
    # formats without a place for a normalisation
    for form in "-Z", "--libsvm":
        run("mbh2mbm", "--quiet", form, "u.mbc", "u.there", status=1).refused("are not normalised")


@pytest.mark.few(1)
def test_both_commands_learn_the_same(here, run, folder):
    run("agf_preprocess", "--quiet", *LEARNED, "train", "p")
    assert (folder / "p.std").read_bytes() == (folder / "m.std").read_bytes()
    model = read_svm_model("m-00")
    assert model.provenance.metric[:3] == (1, 120, 3)
    run(
        "multi_borders",
        "--quiet",
        "--no-calibration",
        "-n",
        "-+",
        here,
        "plan",
        "train",
        "n",
        "n.mbc",
    )
    assert read_svm_model("n-00").provenance.metric is None
    done = run("classify_m", "-a", "n.std", "m.mbc", "test.vec", "x", status=None)
    assert "normalisation" in done.err  # another than the model's
