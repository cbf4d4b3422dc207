"""Which calibration a configuration on disk has: that beside it, inside it, named, or none."""

import os
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hostile_store import calibration

import agfmc
from agfmc.core.errors import DataError, ModelError, UsageError
from agfmc.calibration.file import format_calibration
from agfmc.models.files import ModelSource


@pytest.fixture
def trained(folder, run):
    """Names of a control file and what was made of it in the current folder."""
    x = np.random.default_rng(1).normal(size=(45, 2))
    y = np.arange(45) % 3
    lines = [f"{c} 1:{a + c:.3f} 2:{b - c:.3f}\n" for c, (a, b) in zip(y, x)]
    (folder / "train").write_text("".join(lines))
    for scheme, name in ((1, "m"), (0, "other")):
        (folder / "design").write_text(run("print_control", "-Q", scheme, 3).out)
        run("multi_borders", "--quiet", "-M", "design", "train", name, f"{name}.mbc")
    for name in ("m.mbc.cal", "other.mbc.cal"):
        if os.path.exists(name):
            os.remove(name)
    configuration = agfmc.load("m.mbc", uncalibrated=True)
    found = calibration(configuration.digest(), configuration.tree.classes, 3)
    text = format_calibration(found)
    return SimpleNamespace(
        path="m.mbc",
        text=text,
        beside=folder / "m.mbc.cal",
        configuration=configuration,
        calibration=found,
        changed=format_calibration(replace(found, source="elsewhere")),
    )


def source_of(path, **options):
    found = agfmc.load(path, **options).calibration
    return None if found is None else found.source


def test_beside_a_control_file(trained):
    assert source_of(trained.path) is None
    trained.beside.write_text(trained.text)
    assert source_of(trained.path) == trained.calibration.source
    assert source_of(trained.path, uncalibrated=True) is None


def test_a_named_file_comes_first(trained, folder):
    trained.beside.write_text(trained.text)
    (folder / "x.cal").write_text(trained.changed)
    assert source_of(trained.path, calibration="x.cal") == "elsewhere"
    assert source_of(trained.path, calibration=folder / "x.cal") == "elsewhere"
    with pytest.raises(DataError, match="No such file"):
        agfmc.load(trained.path, calibration="y.cal")


def test_in_a_model_file(trained, folder):
    replace(trained.configuration, calibration=trained.calibration).save("m.mbm")
    (folder / "m.mbm.cal").write_text("of no control file, and not read")
    (folder / "x.cal").write_text(trained.changed)
    assert source_of("m.mbm") == trained.calibration.source
    assert source_of("m.mbm", calibration="x.cal") == "elsewhere"
    assert source_of("m.mbm", uncalibrated=True) is None


def test_models_of_other_programs_have_none_but_the_one_named(trained, folder):
    (folder / "x.cal").write_text(trained.text)
    trained.configuration.export("m.svm", "svm")
    trained.configuration.export("m.mbaio", "ascii")
    for name in ("m.svm", "m.mbaio"):
        (folder / f"{name}.cal").write_text("not read")
        assert source_of(name) is None
    assert source_of("m.svm", calibration="x.cal") == trained.calibration.source


def test_that_of_other_classifiers_is_refused(trained, folder, run):
    (folder / "other.mbc.cal").write_text(trained.text)
    with pytest.raises(ModelError, match="of other classifiers than those of other.mbc: `uncali"):
        agfmc.load("other.mbc")
    run("classify_m", "-M", "other.mbc", "train", "out", status=1).refused(
        "classify_m: other.mbc.cal: is the calibration of other classifiers", "--uncalibrated"
    )
    run("classify_m", "-M", "--uncalibrated", "other.mbc", "train", "out")
    labels = replace(trained.calibration, classes=(0, 1, 3), decoders={})
    trained.beside.write_text(format_calibration(labels))
    with pytest.raises(ModelError, match="m.mbc.cal: is the calibration of other classifiers"):
        agfmc.load(trained.path)


def test_what_lies_beside_may_be_a_strangers(trained):
    trained.beside.write_text('{"format": "agfmc calibration"}')
    with pytest.raises(ModelError, match="m.mbc.cal: has version null"):
        agfmc.load(trained.path)
    trained.beside.unlink()
    os.mkfifo(trained.beside)
    with pytest.raises(DataError, match="m.mbc.cal: cannot read: expected a regular file"):
        agfmc.load(trained.path)
    trained.beside.unlink()
    trained.beside.symlink_to("nowhere")
    with pytest.raises(DataError, match="m.mbc.cal: cannot read"):
        agfmc.load(trained.path)


def test_options_that_exclude_each_other():
    for options in ({"uncalibrated": True}, {"foreign": True}):
        with pytest.raises(UsageError, match="`calibration` cannot be combined with"):
            ModelSource("m", calibration="x", **options)


def test_a_tree_as_a_code_keeps_it(trained, folder):
    calibrated = replace(trained.configuration, calibration=trained.calibration)
    code = calibrated.as_code()
    assert code.calibration.decoders is trained.calibration.decoders
    assert code.fits(code.calibration)
    assert calibrated.renamed({0: "zero"}).calibration is trained.calibration
    code.save("code.mbm")
    assert source_of("code.mbm") == trained.calibration.source


def test_commands(trained, folder, run):
    trained.beside.write_text(trained.text)
    (folder / "x.cal").write_text(trained.changed)
    run("mbh2mbm", "m.mbc", "m.mbm").line(
        "with a calibration of 4 decoders; classify new data with: classify_m m.mbm NEW.vec answers"
    )
    assert source_of("m.mbm") == trained.calibration.source
    assert "calibration" not in run("mbh2mbm", "--uncalibrated", "m.mbc", "m.mbm").err
    assert source_of("m.mbm") is None
    run("mbh2mbm", "--calibration", "x.cal", "m.mbm", "n.mbm").line("with a calibration")
    assert source_of("n.mbm") == "elsewhere"
    run("mbh2mbm", "--libsvm", "m.mbc", "m.svm").line(
        ", without the calibration: that format cannot store it"
    )
    assert "calibr" not in run("mbh2mbm", "-Z", "--uncalibrated", "m.mbc", "m.mbaio").err
    run("mbh2mbm", "-Z", "--calibration", "x.cal", "m.mbc", "m.mbaio", status=2).refused(
        "-Z and --calibration exclude each other"
    )
    run("mbh2mbm", "m.mbc", "m.mbc.cal", status=2)
    text = run("mbm_info", "n.mbm").out
    assert "calibration       elsewhere, of the classes 3 3 3\n" in text
    assert "least-squares: temperature 0.7, floor 0.003333, 9 calibration points\n" in text
    assert "a learned decoder\n" in text
    assert "calibration       none\n" in run("mbm_info", "--uncalibrated", "m.mbc").out
    assert '"learned": true' in run("mbm_info", "--json", "--calibration", "x.cal", "m.mbc").out
