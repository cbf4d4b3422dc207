"""multi_borders with weights: copies, resumed runs, workers, class weights, priors of training."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from data_files import write_cls, write_vec

LEARNERS = "", "learner=linear", "learner=logistic", "learner=nystrom -m 20"


@pytest.fixture(autouse=True)
def data(folder):
    """90 points of 3 classes, t, with whole weights w.txt, and the copies that they stand for."""
    rng = np.random.default_rng(5)
    y = rng.choice(3, 90, p=[0.6, 0.3, 0.1]).astype(np.int32)
    x = (rng.normal(size=(90, 2)) + np.array([[0, 0], [2, 0], [0, 2]])[y]).astype(np.float32)
    w = rng.integers(1, 4, 90)
    write_vec("t.vec", x)
    write_cls("t.cls", y)
    write_vec("copies.vec", np.repeat(x, w, axis=0))
    write_cls("copies.cls", np.repeat(y, w))
    Path("w.txt").write_text("\n".join(map(str, w)))
    Path("code").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
    return x, y, w


def trained(run, *options, data="t", base="m"):
    """What training writes to standard error; the models are base-00 ..., and base.mbc."""
    Path(base).write_text(Path("code").read_text())
    return run("multi_borders", *options, "--no-names", "code", data, base, f"{base}.mbc").err


def files(base="m"):
    return {path.name: path.read_bytes() for path in Path().glob(f"{base}[-.]*")}


def answers(run, *options, model="m.mbc"):
    """p (n, k) and classes (n,) of the points t."""
    lines = run("classify_m", "--quiet", *options, model, "t.vec", "out").out.splitlines()
    rows = np.array([line.split() for line in lines], dtype=float)
    return rows[:, :-1], rows[:, -1]


def test_whole_weights_are_copies(run):
    """The classifiers and probabilities of logistic regression, where nothing is drawn."""
    options = ["-+", "learner=logistic -c 3", "--uncalibrated", "-n"]
    trained(run, *options, "--weight", "w.txt")
    trained(run, *options, data="copies", base="c")
    one, other = answers(run, "-a", "m.std"), answers(run, "-a", "c.std", model="c.mbc")
    np.testing.assert_allclose(one[0], other[0], atol=1.01e-6)  # six decimals are printed
    np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.few(1)
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_later_run_notices_changed_weights(run, learner):
    weights = ["-+", learner, "--weight", "w.txt"]
    trained(run, *weights)
    before = files()
    assert "kept from an earlier run: 3 of 3" in trained(run, *weights) and files() == before
    assert "kept" not in trained(run, *weights, "--class-weight", "0=2,1=2,2=2")
    trained(run, *weights)
    w = Path("w.txt").read_text().split()
    y = np.fromfile("t.cls", "<i4")
    w[int(np.flatnonzero(y == 2)[0])] = "7.5"
    Path("w.txt").write_text("\n".join(w))
    shared = "nystrom" in learner  # one pass over all points
    assert ("kept from an earlier run: 1 of 3" in trained(run, *weights)) == (not shared)
    assert files()["m.mbc.cal"] != before["m.mbc.cal"]
    assert "kept" not in trained(run, "-+", learner)


def test_weights_of_one_are_none(run):
    trained(run)
    before = files()
    Path("t.wgt").write_bytes(np.ones(90, "<f4").tobytes())
    trained(run, "--retrain")
    assert files() == before
    Path("t.wgt").write_bytes(np.full(90, 2, "<f4").tobytes())
    err = trained(run)
    assert "t.wgt (--weight none" in err and files() != before
    trained(run, "--weight", "none")
    assert files() == before


def test_class_weights_and_priors(run, data):
    """Balanced classes find more of the rare one, and --priors training turns them back."""
    trained(run, "-+", "learner=logistic")
    plain, classes = answers(run)
    trained(run, "-+", "learner=logistic", "--class-weight", "balanced")
    balanced, more = answers(run)
    back, again = answers(run, "--priors", "training")
    rare = data[1] == 2
    assert (more[rare] == 2).sum() > (classes[rare] == 2).sum()
    assert abs(back - plain).mean() < 0.5 * abs(balanced - plain).mean()
    given, _ = answers(run, "--priors", ",".join(map(str, np.bincount(data[1]) / 90)))
    np.testing.assert_allclose(given, back, atol=2e-6)
    assert (again == back.argmax(axis=1)).all()


def test_costs_come_on_top_of_class_weights(run):
    trained(run, "-+", "learner=logistic", "--class-weight", "2=5")
    Path("costs").write_text("0 1 2\n0 1 1\n1 0 1\n9 9 0\n")
    words = ["--costs", "costs", "m.mbc", "t.vec", "out"]
    assert "class weights, and costs come on top" in run("classify_m", *words).err
    assert "class weights" not in run("classify_m", "--priors", "training", *words).err


@pytest.mark.long
def test_models_tell_the_sums_of_weights(run, data):
    trained(run, "--weight", "w.txt", "--class-weight", "2=4")
    sums = np.bincount(data[1], data[2])
    out = run("mbm_info", "m.mbc").out
    weights = " ".join(f"{total:g}" for total in sums * [1, 1, 4])
    assert f"of the classes {weights}" in out
    assert "of the classes " + " ".join(f"{total:g}" for total in sums) in out
    run("mbh2mbm", "m.mbc", "m.mbm")
    assert run("mbm_info", "m.mbm").out.count(f"of the classes {weights}") == 1
    shutil.copy("m-00", "kept")
    trained(run)
    shutil.copy("kept", "m-00")
    err = run("mbh2mbm", "--uncalibrated", "m.mbc", "m.mbm").err
    assert "some models were trained with weights of the samples, others without" in err


@pytest.mark.long
def test_points_without_class_weights_for_a_model_with_them(run):
    trained(run, "-+", "learner=logistic", "--class-weight", "2=5")
    told = "was trained with class weights, and the points have none"
    assert told in run("calibrate_m", "--data", "t", "m.mbc").err
    assert told not in run("calibrate_m", "--data", "t", "--class-weight", "2=5", "m.mbc").err


def test_the_file_of_class_weights_is_no_output(run):
    Path("f").write_text("2 5\n")
    run("multi_borders", "--class-weight", "f", "code", "t", "m", "f", status=2).refused(
        "control-out would overwrite --class-weight: both are the file f;"
    )
    assert Path("f").read_text() == "2 5\n"
    run("multi_borders", "--weight", "none", "code", "t", "m", "none")
