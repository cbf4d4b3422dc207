"""print_control: random trees, the best of many, ensembles, and costs, by real commands."""

import functools

import numpy as np
import pytest

from agfmc.cli.designs import _KINDS
from agfmc.designs.random_trees import KINDS
from agfmc.control.parse import parse
from agfmc.designs.design import design

NAMES = ("ant", "bee", "cat", "dog")
QUICK = ("--search-options", "-m 25 -g 0.3 -l 0.05")


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
    (folder / "costs").write_text(
        "ant bee cat dog\n"
        + "".join(
            " ".join("9" if {i, j} == {0, 3} else "2" if i == j else "3" for j in range(4)) + "\n"
            for i in range(4)
        )
    )
    return call


def comments(answer):
    assert answer[0] == 0
    return [line[2:] for line in answer[1].splitlines() if line.startswith("# ")]


def test_the_kinds_of_the_option_are_those_of_the_trees():
    assert list(_KINDS) == list(KINDS)


def test_random_trees(control):
    assert (
        parse(control("-Q", "random-tree", "--seed", "3", "6")[1]).sides()
        == design("random-tree", range(6), seed=3).sides()
    )
    status, out, err = control("-Q", "random-tree", "-M", "--kind", "data-balanced", "train")
    assert (status, err) == (0, "")
    assert parse(out).names == dict(enumerate(NAMES)) and len(parse(out).rows) == 3


def test_the_best_of_all_fifteen_draws_is_the_best_tree(control):
    best = control("-Q", "best-tree", "-M", *QUICK, "train")
    drawn = control("-Q", "random-tree", "-M", *QUICK, "--draws", "15", "train")
    assert parse(best[1]).sides() == parse(drawn[1]).sides()
    one, other = comments(best), comments(drawn)
    assert one[0].removeprefix("best-tree") == other[0].removeprefix("random-tree")
    assert other[1].startswith("the best of 15 different random trees, uniform, of seed 1")
    for jobs in ("1", "3"):
        assert (
            control("-Q", "random-tree", "-M", *QUICK, "--draws", "15", "-j", jobs, "train")
            == drawn
        )


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--draws", "8"),
        ("--of", "best-tree"),
        ("--of", "random", "--draws", "4"),
        ("--of", "16"),
    ],
)
def test_ensembles_of_data(control, words):
    quick = QUICK if words in (("--draws", "8"), ("--of", "best-tree")) else ()
    answer = control(
        "-Q",
        "ensemble",
        "-M",
        *words,
        *quick,
        "--members",
        "3",
        "--average",
        "geometric",
        "-+",
        "-c 5",
        "train",
    )
    tree = parse(answer[1])
    assert len(tree.members) == 3 and tree.decoder == "geometric" and answer[2] == ""
    assert {row.text for row in tree.rows} == {"-c 5"} and tree.names == dict(enumerate(NAMES))
    assert comments(answer)[0].startswith("ensemble of 3 configurations of the scheme ")


def test_control_files_are_joined(control):
    tree = parse(control("-Q", "ensemble", "tree", "pairs", "--average", "arithmetic")[1])
    assert [len(one.rows) for one in tree.members] == [3, 6] and tree.decoder == "average"
    assert [row.text for row in tree.rows] == 3 * ["-c 2"] + 6 * [""]
    again = parse(control("-Q", "ensemble", "trained", "trained")[1])
    assert [row.text for row in again.rows] == 2 * ["m-00", "m-01", "m-02"]


def test_costs_decide(control, folder):
    """Ants and dogs are far apart, and costly to take for each other; a constant of each true
    class changes nothing."""
    answer = control("-Q", "best-tree", "-M", *QUICK, "--by", "cost:costs", "train")
    assert comments(answer)[0].startswith(
        "best-tree: leave-one-out cost above that of right answers 0."
    )
    rows = (folder / "costs").read_text().replace("9", "7").replace("3", "1").replace("2", "0")
    (folder / "others").write_text(rows)
    assert control("-Q", "best-tree", "-M", *QUICK, "--by", "cost:others", "train") == answer
    names = ("--by", "cost:costs", *QUICK, "--draws", "15", "train")
    drawn = control("-Q", "random-tree", "-M", *names)
    assert parse(drawn[1]).sides() == parse(answer[1]).sides()


@pytest.mark.parametrize(
    "words, status, text",
    [
        (["random-tree", "--kind", "best", "4"], 2, "--kind"),
        (
            ["random-tree", "--kind", "data-balanced", "4"],
            2,
            "expected training data, found the num",
        ),
        (
            ["random-tree", "--by", "error", "-M", "train"],
            2,
            "--by is for -Q best-tree, random-tree with --draws and -Q ensemble --of best-tree or with "
            "--draws, not for random-tree",
        ),
        (["random-tree", "--draws", "3", "--splits", "9", "-M", "train"], 2, "--splits is for -Q"),
        (["random-tree", "--of", "random", "4"], 2, "--of is for -Q ensemble, not for random-tree"),
        (["random-tree", "4", "9"], 2, "nrow is for -Q random, "),
        (["tree", "tree", "pairs"], 2, "-Q ensemble joins control files"),
        (["ensemble", "--of", "tree", "4"], 2, "expected one of random-tree, best-tree, random, "),
        (["ensemble", "--of", "random", "--kind", "uniform", "4"], 2, "--kind is not for an ens"),
        (
            ["ensemble", "--balance", "1", "-M", "train"],
            2,
            "--balance is for -Q best-tree and -Q "
            "ensemble --of best-tree, not for an ensemble of random-tree (--of)",
        ),
        (["ensemble", "--members", "1", "4"], 2, "out of range"),
        (["ensemble", "pairs"], 2, "-Q ensemble joins two control files or more: found one, pairs"),
        (["ensemble", "-", "-"], 2, "- is standard input, which can be read once"),
        (["ensemble", "--members", "2", "tree", "pairs"], 2, "--members is for new configurations"),
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
        (["tree", "--average", "geometric", "4"], 2, "--average is for -Q ensemble, not for tree"),
        (["best-tree", "--by", "cost:", "-M", "train"], 2, "expected log-loss, error or cost:FILE"),
        (["best-tree", "--by", "cost:tree", "-M", "train"], 1, "tree:1: class 0, 'ant', has no"),
    ],
)
def test_refused(control, words, status, text):
    answer = control("-Q", *words)
    assert answer[:2] == (status, "") and answer[2].count("\n") == 1 and text in answer[2]


def test_best_tries_them(control):
    answer = control(
        "--best",
        "-Q",
        "ensemble,random-tree",
        "--members",
        "2",
        "--kind",
        "class-balanced",
        "-d",
        "2",
        "--trials",
        "1",
        "--no-state",
        "-j",
        "1",
        "-M",
        "train",
    )
    assert answer[0] == 0 and "\nensemble " in answer[2] and "\nrandom-tree " in answer[2]
    made = parse(answer[1])
    assert all(len(left) == len(right) for one in made.members for left, right in one.sides()[:1])
    assert "--average is for" in control("--best", "--average", "geometric", "-M", "train")[2]
