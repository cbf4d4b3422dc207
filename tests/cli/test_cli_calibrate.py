"""calibrate_m, and what classify_m does with thresholds and sets."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from agfmc.decode.maps import apply_map, fit_temperature
from agfmc.formats.calibration_file import read_calibration
from agfmc.formats.vectors import write_cls, write_vec
from agfmc.prediction.classifier import Classifier
from agfmc.prediction.configuration import load
from agfmc.prediction.decoding import Decoding

LABELS = np.array([2, 5, 9], dtype=np.int32)


def points(seed, n):
    rng = np.random.default_rng(seed)
    column = rng.integers(0, 3, n)
    x = rng.normal(size=(n, 3)) + np.where(column == 1, -1.2, 1.5 * (column == 2))[:, None]
    return x.astype(np.float32), LABELS[column]


@pytest.fixture(scope="module")
def made(run, tmp_path_factory):
    """A folder with trained configurations of classes 2, 5, 9, and points kept apart."""
    folder = tmp_path_factory.mktemp("calibrated")
    here = os.getcwd()
    os.chdir(folder)
    try:
        for name, seed, n in (("trn", 1, 150), ("apart", 2, 300), ("test", 3, 200)):
            x, y = points(seed, n)
            write_vec(f"{name}.vec", x)
            write_cls(f"{name}.cls", y)
        for name, text in (("pairs", '"" 0 / 1; "" 0 / 2; "" 1 / 2; {2 5 9}'),
                           ("tree", '"" { 5 "" { 9 2 } }')):
            Path("plan").write_text(text)
            run("multi_borders", "--quiet", "plan", "trn", name, f"{name}.mbc")
            run("mbh2mbm", "--quiet", f"{name}.mbc", f"{name}.mbm")
        os.remove("plan")
    finally:
        os.chdir(here)
    return folder


@pytest.fixture
def here(made, folder):
    """A copy of that folder, which is the current one."""
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return folder


def test_the_model_is_written_with_the_map(run, here):
    before = load("pairs.mbm")
    done = run("calibrate_m", "--data", "apart", "--map", "temperature", "pairs.mbm", "-o",
               "pairs.mbm")
    assert done.err == ""
    assert done.out.startswith("inverse, least-squares: 300 points of 3 classes; temperature ")
    x, y = points(2, 300)
    p = Classifier(before, Decoding(calibrated=False))(x).columns
    expected = fit_temperature(p, np.searchsorted(LABELS, y))
    after = load("pairs.mbm")
    found = after.calibration.decoders["least-squares"].map
    assert (found.weights, found.floor) == (expected.weights, expected.floor)
    assert after.calibration.decoders["renormalised"].points is None
    assert after.calibration.source.endswith("; least-squares: 300 points of apart")
    np.testing.assert_array_equal(Classifier(after, Decoding())(x).columns,
                                  apply_map(expected, p))
    assert after.digest() == before.digest()


def test_a_calibration_alone_beside_the_control_file(run, here):
    run("calibrate_m", "--data", "apart", "-Q", "least-squares", "pairs.mbc", "-o",
        "pairs.mbc.cal")
    run("calibrate_m", "--data", "apart", "-Q", "0", "pairs.mbc", "-o", "model.mbm")
    alone = read_calibration("pairs.mbc.cal").decoders["least-squares"]
    whole = load("model.mbm").calibration.decoders["least-squares"]
    assert alone.map.kind == whole.map.kind
    np.testing.assert_array_equal(alone.points.p_true, whole.points.p_true)
    printed = run("classify_m", "pairs.mbc", "test.vec", "a").out
    assert printed == run("classify_m", "model.mbm", "test.vec", "b").out
    assert printed != run("classify_m", "--uncalibrated", "model.mbm", "test.vec", "b").out


def test_json_and_text_have_the_same_numbers(run, here):
    words = ("calibrate_m", "--data", "apart", "tree.mbm")
    reports = json.loads(run(*words, "--json").out)
    assert [one["decoder"] for one in reports] == ["recursive", "least-squares", "full"]
    text = run(*words, "-j", 2).out
    for one in reports:
        assert one["decoder"] in text
        assert f"{one['scores']['log_loss']['after']['value']:.4f}" in text
    assert run(*words).out == text
    assert run(*words, "--seed", 2).out != text
    assert [one["decoder"] for one in json.loads(
        run(*words, "--tree", "full", "--json").out)] == ["full"]


def test_answers_of_a_cross_validation(run, here, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))
    run("nfold", "--quiet", "one-vs-one", "trn", "held")
    report, = json.loads(run("calibrate_m", "--json", "--from", "held", "pairs.mbm", "-o",
                             "new.mbm").out)
    assert (report["decoder"], report["points"]) == ("inverse", 150)
    assert "stored" not in report["compared"]
    assert load("new.mbm").calibration.source.endswith("; inverse: 150 points of held")


def test_text_and_points_of_few_features(run, here):
    x, y = points(2, 300)
    x[:, 2] = 0
    write_vec("apart.vec", x)
    Path("apart.svm").write_text("".join(
        f"{label} 1:{float(a)!r} 2:{float(b)!r}\n" for label, (a, b, _) in zip(y, x)))
    assert run("calibrate_m", "-M", "--data", "apart.svm", "pairs.mbm").out == \
        run("calibrate_m", "--data", "apart", "pairs.mbm").out


@pytest.mark.parametrize("words, status, message", [
    ("pairs.mbm", 2, "expected points, either --data or --from"),
    ("--data apart --from held pairs.mbm", 2, "--data and --from exclude each other"),
    ("--from held -M pairs.mbm", 2, "-M and -A are for --data"),
    ("--data apart -o apart.cls pairs.mbm", 2, "would overwrite an input"),
    ("--data apart -o pairs.mbc pairs.mbc", 2, "would overwrite an input"),
    ("--data apart -o pairs-00 pairs.mbc", 2, "would overwrite an input"),
    ("--data apart -o - pairs.mbm", 2, "expected the name of a file for the model, found '-'"),
    ("--data apart --tree full pairs.mbm", 2, "--tree is for trees, and pairs.mbm is none"),
    ("--data apart -Q vote pairs.mbm", 2, "the decoder vote does not give the probabilities"),
    ("--data apart -Q ddag pairs.mbm", 2, "the decoder ddag does not give the probabilities"),
    ("--data apart --map spline pairs.mbm", 2, "spline"),
    ("--data nowhere pairs.mbm", 1, "nowhere"),
    ("--from nowhere pairs.mbm", 1, "nowhere.truth")])
def test_refused(run, here, words, status, message):
    run("calibrate_m", *words.split(), status=status).refused(message)
