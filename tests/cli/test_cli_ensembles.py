"""Ensembles through the commands: one control file from print_control to scores."""

import json
import os
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from agfmc.models.control_files import read_control, write_control
from data_files import write_cls, write_vec

TREE = '"" {"" {0 2} "" {5 6}}\n'
PAIRS = '"" 0 / 1; "" 0 / 2; "" 0 / 3; "" 1 / 2; "" 1 / 3; "" 2 / 3; {0 2 5 6}\n'
REST = '"" 0 / 1 2 3; "" 1 / 0 2 3; "" 2 / 0 1 3; "" 3 / 0 1 2; {5 0 6 2}\n'
TRAINED = (
    "m.e00 m.e00.00 m.e00.01 m.e00.00 m.e01-01 m.e01-02 m.e01-03 m.e01-04 m.e00.01 "
    "m.e02-00 m.e02-01 m.e02-02 m.e02-03".split()
)


def save_inputs():
    rng = np.random.default_rng(4)
    y = rng.permutation(np.repeat([0, 2, 5, 6], 20))
    x = rng.normal(size=(80, 3)) + np.searchsorted([0, 2, 5, 6], y)[:, None] * [1, -0.5, 0.3]
    write_vec("trn.vec", x)
    write_cls("trn.cls", y)
    Path("joint").write_text(TREE + PAIRS + REST)
    Path("tree").write_text(TREE)


@pytest.fixture
def here(folder):
    save_inputs()
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory, run):
    """A folder with the trained ensemble, and what the training said."""
    place = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        save_inputs()
        return place, run("multi_borders", "joint", "trn", "m", "m.mbc")


@pytest.fixture
def trained(models, folder):
    place, said = models
    shutil.copytree(place, folder, dirs_exist_ok=True)
    return said


def contents(*but):
    """{name: bytes} of the files that are there."""
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.name not in but}


def test_from_training_to_answers(trained, run):
    tree = read_control("m.mbc")
    assert [row.text for row in tree.rows] == TRAINED and tree.roots == (0, 3, 4)
    assert sorted(path.name for path in Path().glob("m.e*")) == sorted(set(TRAINED))
    assert "(average least-squares, " in trained.err
    run("mbh2mbm", "--quiet", "m.mbc", "m.mbm")
    wanted = run("classify_m", "--header", "m.mbc", "trn.vec", "out").out
    assert wanted.startswith("labels 0 2 5 6\n")
    for words in (
        ["m.mbm"],
        ["--tree", "average", "m.mbc"],
        ["--tree", "full", "m.mbm"],
        ["-Q", 0, "m.mbc"],
        ["-j", 3, "m.mbc"],
    ):
        assert run("classify_m", "--header", *words, "trn.vec", "out").out == wanted
    geometric = run("classify_m", "--header", "--tree", "geometric", "m.mbc", "trn.vec", "out").out
    assert geometric != wanted
    assert run("classify_m", "-0", "m.mbm", "trn.vec", "out").out.split("\n")[0].count(".") == 13
    counted = run("classify_m", "--count", "m.mbm", "trn.vec", "out")
    assert "13.00 of 13 binary classifiers" in counted.err


def test_the_average_is_that_of_the_members(trained, run):
    members = []
    for number, tree in enumerate(read_control("m.mbc").members):
        write_control(f"{number}.mbc", tree)
        members.append(
            numbers(
                run(
                    "classify_m",
                    "--uncalibrated",
                    "--tree",
                    "full",
                    f"{number}.mbc",
                    "trn.vec",
                    "own",
                ).out
            )
        )
    whole = numbers(run("classify_m", "--uncalibrated", "m.mbc", "trn.vec", "out").out)
    assert np.allclose(whole, np.mean(members, axis=0), atol=2e-6)


def numbers(text):
    return np.array([line.split()[:4] for line in text.splitlines()], dtype=float)


@pytest.mark.few(1)
@pytest.mark.parametrize("words", [["-j", 2], ["-j", "processes:2"]], ids=str)
def test_the_same_files_for_any_workers(trained, run, words):
    before = contents()
    for name in before:
        if name.startswith("m"):
            os.remove(name)
    run("multi_borders", *words, "joint", "trn", "m", "m.mbc")
    assert contents() == before


def test_going_on_from_what_is_there(trained, run):
    before = contents()
    os.remove("m.e00.01")  # which two members name
    os.remove("m.mbc")
    again = run("multi_borders", "joint", "trn", "m", "m.mbc")
    assert "kept from an earlier run: 10 of 11 classifiers" in again.err
    assert contents() == before


def test_one_command_for_each_classifier(trained, run):
    before = contents()
    for name in before:
        if name.startswith("m"):
            os.remove(name)
    lines = run("multi_borders", "-0", "joint", "trn", "m", "m.mbc").out.splitlines()
    assert len(lines) == 11 and read_control("m.mbc").roots == (0, 3, 4)
    for line in lines:
        words = shlex.split(line)
        run("multi_borders", *words[[word.startswith("--only=") for word in words].index(True) :])
    run("multi_borders", "joint", "trn", "m", "m.mbc")
    assert contents() == before


@pytest.mark.long
def test_learned_weights(here, run):
    with open("joint", "a") as file:  # a member that learns its samples by heart
        file.write("\n" + TREE.replace('""', '"-g 1000"'))
    err = run("multi_borders", "--member-weights", "held-out", "joint", "trn", "m", "m.mbc").err
    tree = read_control("m.mbc")
    text = tree.headings["weights"].text
    assert f"weights of the members: {text}; 1 of small weights left out\n" in err
    assert len(text.split()) == len(tree.roots) == 3
    run("classify_m", "m.mbc", "trn.vec", "out")
    before = contents("out.cls", "out.con")
    run("multi_borders", "--member-weights", "held-out", "joint", "trn", "m", "m.mbc")
    assert contents("out.cls", "out.con") == before
    Path("m.mbc").write_text(Path("m.mbc").read_text().replace(text, "1 1 1"))
    run("classify_m", "m.mbc", "trn.vec", "out", status=1).refused(
        "is the calibration of other classifiers"
    )
    run("multi_borders", "--no-names", "--member-weights", "held-out", "joint", "trn", "m", "m.mbc")
    run("classify_m", "m.mbc", "trn.vec", "out")


@pytest.mark.parametrize(
    "words, message",
    [
        (["--member-weights", "held-out", "tree", "trn"], "for the members of an ensemble"),
        (
            ["--member-weights", "held-out", "--uncalibrated", "joint", "trn"],
            "--member-weights and --uncalibrated exclude each other",
        ),
        (
            ["--member-weights", "held-out", "-0", "joint", "trn"],
            "--member-weights and -0 exclude each other",
        ),
        (
            ["--member-weights", "held-out", "--only", "m.e00", "joint", "trn"],
            "--member-weights and --only exclude each other",
        ),
        (["--cv-errors", "f", "joint", "trn"], "--cv-errors is for one-vs-one"),
    ],
)
def test_what_training_refuses(here, run, words, message):
    before = contents()
    assert message in run("multi_borders", *words, "m", "m.mbc", status=None).refused()
    assert contents() == before


@pytest.mark.parametrize(
    "words, message",
    [
        (
            ["--tree", "path", "m.mbc"],
            "--tree path descends one tree, and m.mbc is an ensemble: leave "
            "it out, or choose average or geometric",
        ),
        (["-Q", "max-win", "m.mbc"], "not for one in an ensemble"),
    ],
)
def test_what_classification_refuses(trained, run, words, message):
    run("classify_m", *words, "trn.vec", "out", status=2).refused(message)


@pytest.mark.long
def test_calibration_by_other_points(trained, run):
    run("mbh2mbm", "--quiet", "m.mbc", "m.mbm")
    words = ["--quiet", "--json", "--map", "none", "--data", "trn"]
    report = json.loads(
        run("calibrate_m", *words, "--tree", "geometric", "-o", "n.mbm", "m.mbm").out
    )
    assert [one["decoder"] for one in report] == ["geometric least-squares"]
    run("classify_m", "--tree", "geometric", "--coverage", 0.8, "n.mbm", "trn.vec", "out")
    report = json.loads(run("calibrate_m", *words, "m.mbc").out)
    assert [one["decoder"] for one in report] == ["average least-squares"]
    run("calibrate_m", "--data", "trn", "--tree", "full", "m.mbc", status=2).refused(
        "--tree full is for trees, and m.mbc is an ensemble"
    )


def test_what_is_told_of_them(trained, run):
    text = run("mbm_info", "m.mbc").out
    assert "configuration     ensemble, 13 binary models" in text
    assert "weights           equal" in text
    assert "shared            2 partitions have the binary model of another member: 11" in text
    assert json.loads(run("mbm_info", "--json", "m.mbc").out)["members"][1] == {
        "configuration": "coding matrix",
        "weight": 1 / 3,
        "binary_models": 6,
        "kernel_values": 76,
        "trees": 0,
    }
    for option, what in (("--libsvm", "a LIBSVM model"), ("-Z", "libAGF's ASCII model")):
        run("mbh2mbm", option, "m.mbc", "x", status=1).refused(
            f"{what} holds one configuration, and this is an ensemble of 3"
        )


def test_weights_matter_to_a_kept_result(here, run):
    rows = []
    for weights in ("1 1 1", "1 0 0"):
        Path("joint").write_text(f"# weights: {weights}\n{TREE}{PAIRS}{REST}")
        rows.append(
            json.loads(
                run(
                    "compare_control",
                    "-f",
                    0.3,
                    "--trials",
                    2,
                    "--json",
                    "--state",
                    "kept",
                    "trn",
                    "joint",
                ).out
            )["rows"][0]["log_loss"]
        )
    assert rows[0] != rows[1]


def test_designs(here, run):
    shown = run("print_control", "-Q", "convert", "-P", "joint")
    assert shown.out.count("/") == 13 and "-1  1 -1 -1\n" not in shown.out
    assert shown.err.splitlines()[0] == "-1 -1  1  1" and shown.err.splitlines()[9] == " 1  1 -1  1"
    assert run("print_control", "--report=-.dot", "joint").out.count("subgraph cluster") == 3
    run("order_classes", "joint", "trn", status=1).refused("found an ensemble")


@pytest.mark.long
def test_pictures(here, run):
    Path("many").write_text(TREE * 9)
    for name in ("joint", "many"):
        run("print_control", "--report", f"{name}.svg", name)
    text = Path("many.svg").read_text()
    assert "ensemble of 9 configurations, the first 6" in text
    assert "Member 6 of 9, weight 0.111" in text and "Member 7" not in text
    assert "ensemble of 3 conf" in Path("joint.svg").read_text()
