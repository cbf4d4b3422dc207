"""mbh2mbm --landmarks and --keep: smaller models, and what is said of them."""

import json
from pathlib import Path

import numpy as np
import pytest

from agfmc.data.libagf import read_cls, write_cls, write_vec


@pytest.fixture
def trained(folder, run):
    """A one-vs-rest configuration, m.mbc, of three classes in 40 features, and points."""
    generator = np.random.default_rng(2)
    y = np.arange(240) % 3
    x = (generator.normal(size=(240, 40)) + 1.5 * np.eye(40)[y]).astype(np.float32)
    for name, part in (("trn", slice(0, 150)), ("tst", slice(150, None))):
        write_vec(f"{name}.vec", x[part])
        write_cls(f"{name}.cls", y[part])
    design = run("print_control", "-Q", "one-vs-rest", 3).out
    run("multi_borders", "--quiet", "-n", "-", "trn", "m", "m.mbc", "-+", "-c 10 -g 0.02",
        stdin=design)


@pytest.mark.long
def test_a_smaller_model(trained, run):
    run("mbh2mbm", "-a", "m.std", "m.mbc", "m.mbm")
    err = run("mbh2mbm", "--landmarks", 60, "--data", "tst.vec", "m.mbm", "s.mbm").err
    assert "projected onto 60 of " in err and " of 90 points keep their class" in err
    assert "no faster" not in err
    info = json.loads(run("mbm_info", "--json", "s.mbm").out)
    assert info["support_vectors"] == 60
    told = [model["bound"] for model in info["binary_models"]]
    assert f"B {min(told):.2g}"[:4] in err
    lines = run("mbm_info", "s.mbm").out
    assert lines.count("(projected, within ") == 3
    assert "projected" not in next(line for line in lines.splitlines()
                                   if line.startswith("trained by"))
    changed = []
    for model in ("m.mbm", "s.mbm"):
        run("classify_m", "--quiet", "-Q", "-1", "-0", model, "tst.vec", "out")
        out = run("classify_m", "--quiet", "-Q", "-1", "-0", model, "tst.vec", "out").out
        changed.append(np.array([line.split()[:3] for line in out.splitlines()], dtype=float))
    assert (np.abs(changed[1] - changed[0]) <= np.array(told) + 1e-5).all()


def test_as_few_as_keep_classes(trained, run):
    done = run("mbh2mbm", "-a", "m.std", "--keep", ".95", "--data", "tst.vec", "m.mbc", "s.mbm")
    run("classify_m", "--quiet", "--uncalibrated", "-a", "m.std", "m.mbc", "tst.vec", "one")
    run("classify_m", "--quiet", "s.mbm", "tst.vec", "two")
    same = int((read_cls("one.cls") == read_cls("two.cls")).sum())
    assert f"{same} of 90 points keep their class" in done.err and same >= 86
    done = run("mbh2mbm", "-a", "m.std", "--keep", "1", "--data", "tst.vec", "m.mbc", "s.mbm")
    assert "90 of 90 points" in done.err or "nothing is projected" in done.err


@pytest.mark.long
def test_a_calibration_that_is_left_out(trained, run):
    err = run("mbh2mbm", "-a", "m.std", "--landmarks", 3, "m.mbc", "s.mbm").err
    left = Path("m.mbc.cal").exists()
    assert ("the calibration is left out" in err) == left
    assert json.loads(run("mbm_info", "--json", "s.mbm").out)["calibration"] is None
    err = run("mbh2mbm", "-a", "m.std", "--landmarks", 10000, "m.mbc", "s.mbm").err
    assert "nothing is projected" in err
    run("mbh2mbm", "--quiet", "-a", "m.std", "m.mbc", "m.mbm")
    assert Path("s.mbm").read_bytes() == Path("m.mbm").read_bytes()


@pytest.mark.few(1)
@pytest.mark.parametrize("words, text", [
    ("--landmarks 3 --keep .9 --data tst.vec", "--landmarks and --keep exclude each other"),
    ("--keep .9", "--keep needs --data"),
    ("--data tst.vec", "--data needs --landmarks or --keep"),
    ("--landmarks 3 -M", "-M, -A and --table are for --data"),
    ("--landmarks 0", "0 is out of range: expected 1 or more"),
    ("--keep 1.1 --data tst.vec", "expected a number from 0 to 1")])
def test_options_that_do_not_go_together(trained, run, words, text):
    assert text in run("mbh2mbm", *words.split(), "-a", "m.std", "m.mbc", "s.mbm", status=2).err
    assert not Path("s.mbm").exists()


@pytest.mark.long
def test_points_of_another_width(trained, run):
    write_vec("w.vec", np.zeros((3, 4)))
    assert "w.vec: has 4 features, the model needs 40" in run(
        "mbh2mbm", "--landmarks", 3, "--data", "w.vec", "-a", "m.std", "m.mbc", "s.mbm",
        status=1).err
