"""The decoder learned: fitted by multi_borders or calibrate_m, used by classify_m."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from agfmc import load
from agfmc.calibration.file import read_calibration
from agfmc.data.libagf import read_cls
from data_files import write_cls, write_vec

LABELS = np.array([2, 5, 9])
REST = '# decoder: learned\n"" 0 / 1 2; "" 1 / 0 2; "" 0 1 / 2; {9 2 5}'


def points(seed, n):
    generator = np.random.default_rng(seed)
    y = generator.integers(3, size=n)
    x = generator.normal(size=(n, 3))
    x[np.arange(n), y] += 2
    return x.astype(np.float32), LABELS[y]


@pytest.fixture(scope="module")
def made(run, tmp_path_factory):
    """A folder with trained configurations of classes 2, 5, 9, and points kept apart."""
    folder = tmp_path_factory.mktemp("learned")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, seed, n in (("trn", 1, 210), ("apart", 2, 300), ("test", 3, 300)):
            x, y = points(seed, n)
            write_vec(f"{name}.vec", x)
            write_cls(f"{name}.cls", y)
        for name, text in (
            ("rest", REST),
            ("tree", '"" { 5 "" { 9 2 } }'),
            ("pairs", '"" 0 / 1; "" 0 / 2; "" 1 / 2; {2 5 9}'),
        ):
            Path("plan").write_text(text)
            run("multi_borders", "--quiet", "plan", "trn", name, f"{name}.mbc")
            run("mbh2mbm", "--quiet", f"{name}.mbc", f"{name}.mbm")
        Path("plan").write_text(REST)
    return folder


@pytest.fixture
def here(made, folder):
    """A copy of that folder, which is the current one."""
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return folder


def answers(run, *words):
    """The probabilities that classify_m prints, and the classes."""
    out = run("classify_m", *words, "test.vec", "out").out
    return np.loadtxt(out.splitlines(), ndmin=2)[:, :-1], read_cls("out.cls")


def test_fitted_in_training(run, here):
    run("multi_borders", "--quiet", "-j", 2, "plan", "trn", "rest", "again.mbc", "--retrain")
    assert Path("again.mbc.cal").read_bytes() == Path("rest.mbc.cal").read_bytes()
    learned = read_calibration("rest.mbc.cal").learned
    assert learned.weights.shape == (3, 3)
    p, classes = answers(run, "-Q", "learned", "rest.mbc")
    for words in (("rest.mbm",), ("-j", 2, "rest.mbm")):
        again = answers(run, "-Q", "learned", *words)
        np.testing.assert_array_equal(again[0], p)
        np.testing.assert_array_equal(again[1], classes)
    assert np.mean(classes == read_cls("test.cls")) > 0.8
    own, own_classes = answers(run, "--uncalibrated", "-Q", "learned", "rest.mbm")
    assert not np.array_equal(own, p)
    np.testing.assert_array_equal(own_classes, classes)
    assert "a learned decoder\n" in run("mbm_info", "rest.mbm").out
    run("multi_borders", "--quiet", "--uncalibrated", "plan", "trn", "bare", "bare.mbc")
    run("classify_m", "-Q", "learned", "bare.mbc", "test.vec", "out", status=1).refused(
        "the model has no learned decoder"
    )


@pytest.mark.long
@pytest.mark.parametrize("model", ["pairs.mbm", "pairs.mbc"])
def test_fitted_to_points_kept_apart(run, here, model):
    before = load(model).calibration
    run("classify_m", "-Q", "learned", model, "test.vec", "out", status=1).refused(
        "the model has no learned decoder: "
    )
    printed = run("calibrate_m", "--data", "apart", "-Q", "learned", model, "-o", "new.mbm").out
    assert printed.startswith("learned: 300 points of 3 classes; ")
    after = load("new.mbm").calibration
    assert set(after.decoders) == {*before.decoders, "learned"}
    p, classes = answers(run, "-Q", "learned", "new.mbm")
    assert np.mean(classes == read_cls("test.cls")) > 0.8
    # now that it is there, the map alone is fitted; other points, another decoder, if asked for
    run("calibrate_m", "--data", "test", "-Q", "learned", "new.mbm", "-o", "newer.mbm")
    newer = load("newer.mbm").calibration
    assert newer.learned.weights.tobytes() == after.learned.weights.tobytes()
    assert len(newer.decoders["learned"].points.label) == 300
    run(
        "calibrate_m",
        "--data",
        "test",
        "--uncalibrated",
        "-Q",
        "learned",
        "new.mbm",
        "-o",
        "other.mbm",
    )
    other = load("other.mbm").calibration
    assert other.learned.weights.tobytes() != after.learned.weights.tobytes()
    assert set(other.decoders) == {"learned"}


@pytest.mark.parametrize(
    "words, status, message",
    [
        (
            ("calibrate_m", "--from", "held", "-Q", "learned", "pairs.mbm"),
            2,
            "the model has no learned decoder, and the answers of a cross-validation hold no decision",
        ),
        (
            ("classify_m", "-c", "0", "-Q", "learned", "rest.mbm", "test.vec", "out"),
            2,
            "-c: a learned decoder was fitted to the probabilities of the models' own sigmoids",
        ),
    ],
)
def test_refused(run, here, words, status, message):
    run(*words, status=status).refused(message)
