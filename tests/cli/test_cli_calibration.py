"""Calibrated answers from training to scores, and the file that multi_borders writes for them."""

import os
import re
import shlex
import shutil
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from agfmc.cli import main_of
from agfmc.core.errors import ModelError
from agfmc.calibration.file import read_calibration
from agfmc.data.libagf import read_cls
from data_files import write_cls, write_svm, write_vec

PAIRS = '"" 0 / 1; "" 0 / 2; "" 1 / 2; {2 5 9}'
TREE = '"" {2 "-t 0" {5 9}}'
NODES = '"-k 5" K {9 "" L {2 5}}'
MIXED = '"learner=logistic" 0 / 1; "" 0 / 2; "learner=logistic" 1 / 2; {2 5 9}'
TITLE = '{\n "format": "agfmc calibration"'


def save(name, y, seed=1):
    """Three overlapping classes, as NAME.vec, NAME.cls and NAME.svm."""
    y = np.asarray(y)
    x = np.random.default_rng(seed).normal(size=(len(y), 3)) * [1, 20, 0.1]
    x += np.searchsorted(np.unique(y), y)[:, None] * [1, 0, 0.05]
    write_vec(f"{name}.vec", x)
    write_cls(f"{name}.cls", y)
    write_svm(f"{name}.svm", x, y)


@pytest.fixture
def here(folder):
    save("trn", np.random.default_rng(3).permutation(np.repeat([9, 2, 5], 15)))
    save("tst", np.repeat([9, 2, 5], 100), 2)
    for name, text in (("pairs", PAIRS), ("tree", TREE), ("nodes", NODES), ("mixed", MIXED)):
        Path(name).write_text(text)
    return folder


@pytest.fixture
def train(here, run):
    """Function: `multi_borders -n WORDS trn MODEL CONTROL` -> `Done`; words end with the plan."""

    def call(*words, model="m", control="m.mbc", data="trn", status=0):
        return run("multi_borders", "-n", *words, data, model, control, status=status)

    return call


def files(*names):
    """{name: bytes} of files, None for what is not there."""
    return {name: Path(name).read_bytes() if os.path.exists(name) else None for name in names}


def printed(run, *words, points="tst.vec"):
    """What classify_m prints, and its classes."""
    out = run("classify_m", *words, points, "out").out
    return out, read_cls("out.cls").tolist()


# -- the decoders that are calibrated -----------------------------------------------------------


def test_other_decoders_on_request(train, run):
    train("pairs")
    assert set(read_calibration("m.mbc.cal").decoders) == {"inverse", "least-squares"}
    done = run("classify_m", "-Q", 7, "m.mbc", "tst.vec", "out")
    assert done.err == (
        "classify_m: warning: the decoder zadrozny is not calibrated: multi_borders --decoder "
        "zadrozny calibrates it in training, calibrate_m with holdout points\n"
    )
    own = printed(run, "-Q", 7, "--uncalibrated", "m.mbc")
    assert done.out == own[0] and run("classify_m", "m.mbc", "tst.vec", "out").err == ""
    for words in ("--max-error", ".3"), ("--coverage", ".8"):
        run("classify_m", "-Q", 7, *words, "m.mbc", "tst.vec", "out", status=1).refused(
            f"{words[0]} needs calibration points of the decoder zadrozny, and there are none: "
            "multi_borders --decoder zadrozny calibrates it in training, calibrate_m with holdout"
        )
    again = train("--decoder", "7,wu-lin-weng", "pairs")
    assert "kept from an earlier run: 3 of 3 classifiers" in again.err
    assert set(read_calibration("m.mbc.cal").decoders) == {
        "inverse",
        "least-squares",
        "wu-lin-weng",
        "zadrozny",
    }
    done = run("classify_m", "-Q", 7, "m.mbc", "tst.vec", "out")
    assert done.err == "" and done.out != own[0]
    run("classify_m", "-Q", 7, "--coverage", ".8", "m.mbc", "tst.vec", "out")


@pytest.mark.parametrize(
    "words, message",
    [
        (("--decoder", "vote"), "vote does not give the probabilities of all classes"),
        (("--decoder", "inverse,nonsense"), "no decoder 'nonsense'"),
        (("--decoder", "full"), "the decoder full is for trees"),
        (("--decoder", "7", "--uncalibrated"), "--decoder and --uncalibrated exclude each other"),
        (("--decoder", "7", "--only", "m-00"), "exclude each other"),
    ],
)
def test_decoders_refused_before_the_training(train, words, message):
    train(*words, "pairs", status=2).refused(message)
    assert not list(Path().glob("m-*"))


# -- from training to scores --------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize("plan", ["pairs", "tree", "nodes", "mixed"])
@pytest.mark.parametrize(
    "options",
    [[], ["--tree", "full"], ["--tree", "path"], ["--priors", "2=.2,5=.5,9=.3", "--tree", "full"]],
    ids=str,
)
def test_control_file_and_model_file_give_the_same(train, run, plan, options):
    train(plan)
    run("mbh2mbm", "-a", "m.std", "m.mbc", "m.mbm")
    own, wanted = (
        printed(run, *way, *options, "-a", "m.std", "m.mbc") for way in (["--uncalibrated"], [])
    )
    assert printed(run, *options, "m.mbm") == wanted
    assert printed(run, "--uncalibrated", *options, "m.mbm") == own
    run("mbh2mbm", "--uncalibrated", "-a", "m.std", "m.mbc", "u.mbm")
    assert printed(run, *options, "u.mbm") == own
    assert own[0] != wanted[0] or not own[0]


@pytest.mark.few(1)
@pytest.mark.parametrize("way", [["-n"], ["-S", "2"]], ids=str)
def test_support_vectors_as_they_were_have_the_same_calibration(here, run, way):
    run("multi_borders", *way, "pairs", "trn", "m", "m.mbc")
    run("multi_borders", *way, "-u", "pairs", "trn", "u", "u.mbc")
    assert read_calibration("u.mbc.cal").model == read_calibration("m.mbc.cal").model
    assert printed(run, "-a", "u.std", "u.mbc") == printed(run, "-a", "m.std", "m.mbc")
    run("multi_borders", "-a", "m.std", "pairs", "trn", "a", "a.mbc")  # one that is there
    assert files("a.mbc.cal")["a.mbc.cal"] == files("m.mbc.cal")["m.mbc.cal"]


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "plan, sizes",
    [
        ('"" {0 1}', [20, 9]),
        ('"" 0 1 / 2 3; "" 0 2 / 1 3; {0 1 2 3}', [20, 2, 15, 2]),
        ('"" {0 "" L {1 2}}', [20, 2, 9]),
        ('"-k 1" K {0 1 2}', [9, 2, 9]),
        ('"" {0 1}', [2, 2]),
    ],
)
def test_few_classes_and_few_samples(folder, run, plan, sizes):
    save("few", np.repeat(np.arange(len(sizes)), sizes))
    Path("plan").write_text(plan)
    run("multi_borders", "plan", "few", "m", "m.mbc")
    assert read_calibration("m.mbc.cal").counts == tuple(sizes)
    run("mbh2mbm", "m.mbc", "m.mbm")
    words = ("--tree", "full", "--header")
    p = printed(run, *words, "m.mbm", points="few.vec")
    assert printed(run, *words, "m.mbc", points="few.vec") == p
    columns = np.array([line.split()[:-1] for line in p[0].splitlines()[1:]], dtype=float)
    np.testing.assert_allclose(columns.sum(axis=1), 1, atol=1e-5)


# -- the same bytes -----------------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize("plan", ["pairs", "tree", "nodes", "mixed"])
def test_the_same_after_an_interruption(train, plan):
    train(plan)
    wanted = {path.name: path.read_bytes() for path in Path().glob("m*")}
    train("--time-limit", "0", "--retrain", plan, status=3)
    for name in sorted(wanted)[1::2]:
        if name not in ("mixed", "m.std"):
            os.remove(name)
    assert "kept from" in train(plan).err
    assert {name: Path(name).read_bytes() for name in wanted} == wanted
    os.remove("m.mbc.cal")
    assert "m.mbc.cal: calibrated with 45" in train(plan).err  # nothing is trained
    assert {name: Path(name).read_bytes() for name in wanted} == wanted


# -- the file -----------------------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize("folder_of_models", [None, "models"])
def test_standard_output_and_pipes_leave_it_beside_the_models(here, train, folder_of_models):
    more = ()
    if folder_of_models:
        Path(folder_of_models).mkdir()
        more = ("-y", folder_of_models)
    path = Path(folder_of_models or "", "m.cal")
    train(*more, "pairs")
    wanted = files("m.mbc", "m.mbc.cal")
    done = train(*more, "pairs", control="-")
    assert done.raw == wanted["m.mbc"] and f"{path}: calibrated" in done.err
    assert path.read_bytes() == wanted["m.mbc.cal"] and not os.path.exists("-.cal")
    path.unlink()
    os.mkfifo("pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_bytes()))
    reader.start()
    train(*more, "pairs", control="pipe")
    reader.join()
    assert read == [wanted["m.mbc"]] and path.read_bytes() == wanted["m.mbc.cal"]
    assert not os.path.exists("pipe.cal")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_a_stream_that_is_a_file_leaves_it_beside_the_models(here, monkeypatch):
    """As by `multi_borders ... /dev/stdout > m.mbc`."""
    for folder in ("/dev/fd", "/proc/self/fd"):
        with open("m.mbc", "w") as opened, monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", opened)
            assert (
                main_of("multi_borders")(["pairs", "trn", "m", f"{folder}/{opened.fileno()}"]) == 0
            )
        assert Path("m.mbc").read_text().startswith("m-00 0 / 1;")
        assert Path("m.cal").read_text().startswith(TITLE)
        os.remove("m.cal")


@pytest.mark.few(1)
@pytest.mark.parametrize("control", ["c 'o\"n;t", "ü\t", "a.cal", "\udcff", "x" * 250])
def test_odd_names(train, run, control):
    train("pairs", control=control)
    assert os.path.exists(f"{control}.cal")
    assert printed(run, "-a", "m.std", control) != printed(
        run, "--uncalibrated", "-a", "m.std", control
    )


def test_a_name_with_no_room_for_its_end(train):
    train("pairs", control="x" * 253, status=1).refused("too long", "shorter name of control-out")
    train("--uncalibrated", "pairs", control="x" * 253)


def test_in_a_folder_of_its_own(here, train, run):
    Path("sub").mkdir()
    train("pairs", control="sub/m.mbc")
    assert sorted(os.listdir("sub")) == ["m.mbc", "m.mbc.cal"]
    assert "does not" not in printed(run, "-a", "m.std", "-y", ".", "sub/m.mbc")[0]
    Path("link").symlink_to("sub/m.mbc")
    train("pairs", control="link")
    assert Path("link.cal").is_file() and Path("link").is_symlink()


@pytest.mark.parametrize("words", [(), ("--uncalibrated",), ("-0",)], ids=str)
@pytest.mark.parametrize("held", ["", "precious", "agfmc calibratio", TITLE.upper()])
def test_a_file_that_is_no_calibration_is_not_replaced(here, train, words, held):
    for path, control in (("m.mbc.cal", "m.mbc"), ("m.cal", "-")):
        if words == ("-0",) and control == "-":
            continue
        Path(path).write_text(held)
        before = sorted(os.listdir())
        done = train(*words, "pairs", control=control, status=1)
        done.refused(f"{path}: is no calibration", "expected another name of control-out")
        assert Path(path).read_text() == held and sorted(os.listdir()) == before
        os.remove(path)


@pytest.mark.few(1)
@pytest.mark.parametrize("words", [("--uncalibrated",), ("-0",)], ids=str)
def test_that_of_an_earlier_run_goes(train, run, words):
    train("pairs")
    train(*words, "pairs")
    assert not os.path.exists("m.mbc.cal") and os.path.exists("m.mbc")
    train("pairs")
    train("--uncalibrated", "pairs", control="-")  # that one is another configuration's
    assert os.path.exists("m.mbc.cal")


def test_it_stays_with_a_run_that_writes_no_control_file(train):
    train("pairs")
    wanted = files("m.mbc", "m.mbc.cal")
    train("--only", "m-01", "--retrain", "pairs")
    assert files(*wanted) == wanted
    train("--retrain", "--time-limit", "0", "pairs", status=3)
    assert files(*wanted) == wanted


def test_a_model_trained_anew_does_not_fit_it(train, run):
    train("pairs")
    train("--only", "m-01", "-+", "-c 7", "pairs")
    run("classify_m", "-a", "m.std", "m.mbc", "tst.vec", "out", status=1).refused(
        "m.mbc.cal: is the calibration of other classifiers", "--uncalibrated"
    )
    run("mbh2mbm", "-a", "m.std", "m.mbc", "m.mbm", status=1).refused("of other classifiers")
    printed(run, "--uncalibrated", "-a", "m.std", "m.mbc")


@pytest.mark.parametrize(
    "words, told",
    [
        (["x.cal", "trn", "m", "x"], "the calibration would overwrite control: "),
        (["tree", "trn", "x.cal", "x"], "a binary model would overwrite the calibration: "),
        (
            ["-a", "x.cal", "pairs", "trn", "m", "x"],
            "the calibration would overwrite --norm-file: ",
        ),
        (["--cv-errors", "x.cal", "pairs", "trn", "m", "x"], "overwrite --cv-errors: "),
        (["-M", "pairs", "x.cal", "m", "x"], "the calibration would overwrite train: "),
    ],
)
def test_no_input_and_no_other_output_becomes_it(here, run, words, told):
    if "tree" not in words and "--cv-errors" not in words:
        run("multi_borders", "-n", "pairs", "trn", "s", "s.mbc")
        shutil.copy({"x.cal": "pairs", "-a": "s.std", "-M": "trn.svm"}[words[0]], "x.cal")
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    run("multi_borders", "-a", "none", *words, status=2).refused(told)
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "change, told",
    [
        (lambda text: "", "expected a model, found an empty file"),
        (lambda text: "class 0\n", ".cal:1: expected 'agfmc calibration', found no JSON"),
        (lambda text: text[: len(text) // 2], ".cal:"),
        (lambda text: text.replace("floor", "roof", 1), "its checksum disagrees"),
        (lambda text: text.replace("[2, 5, 9]", "[2, 5, 8]", 1), "its checksum disagrees"),
        (lambda text: re.sub('"sum".*', "", text).replace("[2, 5, 9]", "[2, 5, 8]", 1), ".cal:"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ["classify_m", "-a", "m.std", "m.mbc", "tst.vec", "out"],
        ["mbh2mbm", "-a", "m.std", "m.mbc", "m.mbm"],
    ],
    ids=lambda words: words[0],
)
def test_damaged_and_foreign_calibrations_are_refused(train, run, change, told, command):
    train("pairs")
    path = Path("m.mbc.cal")
    path.write_text(change(path.read_text()))
    before = sorted(os.listdir())
    run(*command, status=1).refused("m.mbc.cal", told)
    assert sorted(os.listdir()) == before
    run(command[0], "--uncalibrated", *command[1:])


# -- without one --------------------------------------------------------------------------------


def test_a_node_of_another_program_has_none(train, run):
    """And commands of -0 train what a run of all trains."""
    Path("plan").write_text('"" {"true" G {2 5} 9}')
    train("plan").line("the probabilities are not calibrated: another program")
    assert not os.path.exists("m.mbc.cal")
    wanted = {path.name: path.read_bytes() for path in Path().glob("m[.0-9]*")}
    for line in train("-0", "plan").out.splitlines():
        words = shlex.split(line)
        run("multi_borders", *words[[word.startswith("--only=") for word in words].index(True) :])
    assert {path.name: path.read_bytes() for path in Path().glob("m[.0-9]*")} == wanted


def test_models_are_what_they_were(train):
    train("--uncalibrated", "pairs")
    plain = files("m-00", "m-01", "m-02", "m.mbc")
    train("pairs")
    for name, raw in files(*plain).items():
        lines = [line for line in raw.split(b"\n") if not line.startswith(b"# agfmc held out")]
        assert [line for line in lines if b'"sum": ' not in line] == [
            line for line in plain[name].split(b"\n") if b'"sum": ' not in line
        ]


@pytest.mark.long
def test_what_cannot_be_calibrated_is_trained_all_the_same(train, run, monkeypatch):
    """For hours, perhaps: the control file is there."""
    train("pairs", control="other.mbc")
    for error, told in (
        (ModelError("beyond the memory"), "beyond the memory"),
        (MemoryError(), "not enough memory"),
    ):

        def fail(*words, error=error):
            raise error

        train("pairs")
        with monkeypatch.context() as patch:
            patch.setattr("agfmc.cli.work.multi_borders.merged", fail)
            done = train("pairs")
        assert f"warning: the probabilities are not calibrated: {told}\n" in done.err
        assert files("m.mbc") == {"m.mbc": files("other.mbc")["other.mbc"]}
        assert not os.path.exists("m.mbc.cal")
        printed(run, "-a", "m.std", "m.mbc")
