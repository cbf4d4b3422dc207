"""print_control: random trees and ensembles, by real commands."""

import functools

import numpy as np
import pytest

from agfmc.designs.random_trees import KINDS
from agfmc.designs.schemes import PARAMETERS
from agfmc.control.parse import parse
from agfmc.designs.design import design

NAMES = ("ant", "bee", "cat", "dog")


@pytest.fixture
def control(run, folder):
    """The command in a folder with data and control files; -> its status, output, messages."""
    generator = np.random.default_rng(3)
    y = np.arange(80) % 4
    x = generator.normal(size=(80, 2))
    x[:, 0] += np.array([0, 1.2, 5, 6.2])[y]
    (folder / "train").write_text(
        "".join(f"{NAMES[label]} 1:{a} 2:{b}\n" for label, (a, b) in zip(y, x))
    )
    call = functools.partial(run, "print_control", status=None)
    for name, words in (("tree", ["-Q", "tree", "-+", "-c 2"]), ("pairs", [])):
        (folder / name).write_text(call(*words, "4")[1])
    (folder / "trained").write_text("m-00 0 / 1 2 3;\nm-01 1 / 2 3;\nm-02 2 / 3;\n{0 1 2 3}\n")
    return call


def test_the_kinds_of_the_parameter_are_those_of_the_trees():
    assert PARAMETERS["kind"].choices == tuple(KINDS)


def test_random_trees(control):
    assert (
        parse(control("-Q", "random-tree", "--seed", "3", "6")[1]).sides()
        == design("random-tree", range(6), seed=3).sides()
    )
    status, out, err = control("-Q", "random-tree kind=data-balanced", "-M", "train")
    assert (status, err) == (0, "")
    assert parse(out).names == dict(enumerate(NAMES)) and len(parse(out).rows) == 3


@pytest.mark.parametrize(
    "parameters", ["", "kind=data-balanced", "of=random draws=4", "of=random-as-orthogonal"]
)
def test_ensembles_of_data(control, parameters):
    scheme = f"ensemble {parameters} members=3 average=geometric"
    answer = control("-Q", scheme, "-M", "-+", "-c 5", "train")
    tree = parse(answer[1])
    assert len(tree.members) == 3 and tree.decoder == "geometric" and answer[2] == ""
    assert {row.text for row in tree.rows} == {"-c 5"} and tree.names == dict(enumerate(NAMES))


def test_control_files_are_joined(control):
    tree = parse(control("-Q", "ensemble average=arithmetic", "tree", "pairs")[1])
    assert [len(one.rows) for one in tree.members] == [3, 6] and tree.decoder == "average"
    assert [row.text for row in tree.rows] == 3 * ["-c 2"] + 6 * [""]
    again = parse(control("-Q", "ensemble", "trained", "trained")[1])
    assert [row.text for row in again.rows] == 2 * ["m-00", "m-01", "m-02"]


@pytest.mark.parametrize(
    "words, status, text",
    [
        (["random-tree kind=best", "4"], 2, "parameter kind: expected uniform, class-balanced, "),
        (
            ["random-tree kind=data-balanced", "4"],
            2,
            "expected training data, found the num",
        ),
        (["random-tree draws=3", "4"], 2, "has no parameter 'draws': expected kind, seed"),
        (["random-tree", "-n", "-M", "train"], 2, "-n is for -Q empirical and adjacent-ordered"),
        (["best-tree", "-M", "train"], 2, "there is no scheme best-tree any more: empirical "),
        (
            ["tree", "--splits", "9", "4"],
            2,
            "there is no option --splits any more: print_control writes one scheme",
        ),
        (["random-tree", "4", "9"], 2, "nrow is for -Q random, "),
        (["tree", "tree", "pairs"], 2, "-Q ensemble joins control files"),
        (["ensemble", "5", "7"], 2, "the scheme ensemble of random-tree has no parameter 'rows'"),
        (["random rows=4", "5", "4"], 2, "nrow and the parameter rows exclude each other"),
        (["ensemble members=1", "4"], 2, "members: expected a whole number from 2 to 10000"),
        (["ensemble", "pairs"], 2, "-Q ensemble joins two control files or more: found one, pairs"),
        (["ensemble", "-", "-"], 2, "- is standard input, which can be read once"),
        (["ensemble members=2", "tree", "pairs"], 2, "parameter members is for new configurations"),
        (
            ["ensemble", "--options", "-c 1", "tree", "pairs"],
            2,
            "--options is for new configurations",
        ),
        (["ensemble", "tree", "nothing"], 1, "nothing: cannot read"),
        (
            ["ensemble", "tree", "trained"],
            1,
            "trained:1:1: expected training options in double quotes",
        ),
        (["ensemble", "trained", "tree"], 1, "tree:1:1: expected the name of a trained model"),
    ],
)
def test_refused(control, words, status, text):
    answer = control("-Q", *words)
    assert answer[:2] == (status, "") and answer[2].count("\n") == 1 and text in answer[2]
