"""print_control in-process: designs from data and tables, many draws, and pictures."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from agfmc.codes.matrix import smallest_distances
from agfmc.control.dot import format_dot
from agfmc.control.parse import parse
from agfmc.training.design import matrix_of
from agfmc.formats.vectors import read_cls, read_vec, write_cls, write_vec

TABLE = {"labels": [0, 1, 2, 3],
         "contingency": [[50, 1, 30, 0], [0, 60, 1, 9], [20, 0, 60, 1], [1, 11, 0, 70]]}
PAIRS = "0 1 9 0 9 1\n0 2 9 5 9 3\n0 3 9 0 9 0\n1 2 9 1 9 0\n1 3 9 4 9 2\n2 3 9 1 9 1\n"
UNTRAINED = '# class 1: x\n"-c 2" {\n  0\n  "" {\n    1\n    5\n  }\n}\n'
TRAINED = "m-00 0 / 1;\n{\n7\nm.01 {\n3\n4\n}\n}\n"


@pytest.fixture
def run(run, folder):
    """The command in an empty folder; -> its status, output, messages."""
    def call(*words, command="print_control", **more):
        return run(command, *words, status=None, **more)

    return call


def save(name, text):
    Path(name).write_text(text)


def tree_of(answer):
    assert (answer[0], answer[2]) == (0, "")
    return parse(answer[1])


def refused(answer, status, text):
    assert answer[0] == status and answer[1] == ""
    assert answer[2].startswith("print_control: ") and answer[2].count("\n") == 1
    assert text in answer[2]


def save_line():
    """Classes on a line at 0, 1, 2.1, 3.3, 4.6 and 6: a chain for one linkage, not for others."""
    generator = np.random.default_rng(0)
    y = np.repeat([3, 0, 5, 1, 4, 2], 10)
    x = np.repeat([0.0, 1.0, 2.1, 3.3, 4.6, 6.0], 10)[:, None] + generator.random((60, 2)) * 1e-3
    write_vec("line.vec", x.astype("f4"))
    write_cls("line.cls", y)


# Trees

def test_metrics_and_linkages(run):
    save_line()
    single = run("-Q", "3", "line")
    assert run("-Q", "3", "--metric", "hausdorff", "--linkage", "single", "line") == single
    assert len(tree_of(single).nodes) == 5
    assert max(node.depth for node in tree_of(single).nodes) == 4  # a chain
    for linkage in ("complete", "average"):
        tree = tree_of(run("-Q", "3", "--linkage", linkage, "line"))
        assert max(node.depth for node in tree.nodes) == 2
    # 0 is wide, 1 and 2 are narrow and beside each other
    save("wide.svm", "0 1:0\n0 1:8\n1 1:1\n1 1:1.1\n2 1:5\n2 1:5.1\n")
    assert tree_of(run("-Q", "3", "-M", "wide.svm")).labels == (2, 1, 0)
    assert tree_of(run("-Q", "3", "-M", "--metric", "mean-deviation",
                       "wide.svm")).labels == (2, 0, 1)


def test_a_tree_from_a_contingency_table(run):
    save("r.json", json.dumps(TABLE, indent=1))
    answer = run("-Q", "contingency", "r.json")
    tree = tree_of(answer)
    assert {frozenset(side) for side in tree.sides()[0]} == {frozenset({0, 2}), frozenset({1, 3})}
    for words in (["-Q", "confusion", "r.json"],
                  ["--linkage", "average", "-Q", "Contingency", "-"]):
        assert run(*words, stdin=json.dumps(TABLE)) == answer
    save("e.txt", PAIRS)
    assert {frozenset(side) for side in tree_of(run("-Q", "confusion", "e.txt")).sides()[0]} == \
        {frozenset({0, 2}), frozenset({1, 3})}
    save("names", "w\nx\ny\nz\n")
    assert tree_of(run("-Q", "confusion", "--names", "names", "e.txt")).names[2] == "y"
    assert '"-c 3" {' in run("-Q", "confusion", "--options", "-c 3", "e.txt")[1]


@pytest.mark.parametrize("words, status, text", [
    (["-Q", "contingency", "5"], 2, "expected a contingency table, found the number 5"),
    (["-Q", "ordered", "5"], 2, "expected training data or a contingency table"),
    (["-Q", "contingency", "nothing"], 1, "nothing: cannot read"),
    (["-Q", "ordered", "nothing"], 1, "nothing.vec: cannot read"),
    (["-Q", "contingency", "line"], 1, "line: cannot read"),
    (["-Q", "contingency", "bad"], 1, "bad: `labels` lists class 1 twice"),
    (["-Q", "ordered", "bad"], 1, "bad: `labels` lists class 1 twice"),
    (["-Q", "contingency", "two.svm"], 1, "two.svm: expected a contingency table"),
    (["-Q", "contingency", "-M", "two.svm"], 2, "-M and -A are for training data"),
    (["-Q", "contingency", "-n", "bad"], 2, "-n is for -Q empirical and adjacent-ordered"),
    (["-Q", "contingency", "--metric", "hausdorff", "bad"], 2, "--metric is for -Q empirical and"),
    (["-Q", "ordered", "--linkage", "single", "line"], 2, "--linkage is for -Q empirical and con"),
    (["-Q", "ordered", "-n", "good"], 2, "-n is for training data, and good holds"),
    (["-Q", "ordered", "--metric", "hausdorff", "good"], 2, "--metric is for training data"),
    (["-Q", "3", "--draws", "4", "line"], 2, "--draws is for -Q random and random-as-orthogonal"),
    (["--linkage", "single", "4"], 2, "not for one-vs-one"),
    (["-Q", "3", "--linkage", "ward", "line"], 2, "ward"),
    (["-Q", "3", "--metric", "l2", "line"], 2, "l2"),
    (["-Q", "7", "--draws", "0", "5"], 2, "1 to 10000000"),
    (["-Q", "none", "5"], 2, "there is no scheme 'none'"),
    (["-Q", "contingency", "line", "4"], 2, "nrow is for"),
    (["--dot", "-y", "f", "shown"], 2, "not for a control file that is shown"),
    (["--dot", "-G", "shown"], 2, "not for a control file that is shown"),
    (["--dot", "--options", "-c 2", "shown"], 2, "one that is shown keeps its own"),
    (["--dot", "two.svm"], 1, "two.svm:1:1"), (["shown"], 1, "there is no shown.cls; LIBSVM text is read with -M"),
    (["--plot", "a.txt", "4"], 2, "a.txt: expected a name that ends in .png"),
    (["--dot"], 2, "operands are missing")])
def test_refused(run, words, status, text):
    save_line()
    save("two.svm", "0 1:0 2:0\n1 1:1\n")
    save("bad", '{"labels": [0, 1, 1]}')
    save("good", json.dumps(TABLE))
    save("shown", UNTRAINED)
    if "--plot" in words:
        pytest.importorskip("matplotlib")
    refused(run(*words), status, text)


# Orders

def test_the_kind_of_the_operand(run):
    save_line()
    from_data = tree_of(run("-Q", "ordered", "line"))
    assert from_data.labels == (2, 4, 1, 5, 0, 3)
    save("line", "m 0 / 1;\n{5 6}\n")  # a file of the same name that holds something else
    assert tree_of(run("-Q", "ordered", "line")) == from_data
    save("line", json.dumps(TABLE))
    assert sorted(tree_of(run("-Q", "ordered", "line")).labels) == [0, 1, 2, 3]
    assert tree_of(run("-Q", "ordered", "-", stdin=PAIRS)).labels == (0, 2, 3, 1)
    save("text.svm", "1 1:5\n1 1:6\n0 1:1\n0 1:2\n2 1:3\n2 1:4\n")
    assert tree_of(run("-Q", "adjacent-ordered", "-M", "text.svm")).labels == (0, 2, 1)
    assert tree_of(run("-Q", "adjacent-ordered", "-M", "-n", "text.svm")).labels == (0, 2, 1)
    save("text.lvq", "1 1 1 1 0\n2 1 1 1 0\n9 1 1 1 1\n8 1 1 1 1\n")  # not errors of pairs
    assert tree_of(run("-Q", "ordered", "-A", "-H", "text.lvq")).labels == (0, 1)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_shuffled_labels_is_found(run, root, seed):
    """From data, from the table of a one-vs-one classification, and from errors of its pairs."""
    generator = np.random.default_rng(seed)
    x = read_vec(str(root / "sample_data" / "ordered.vec"))
    y = read_cls(str(root / "sample_data" / "ordered.cls"))
    shuffled = generator.permutation(8)
    rows = generator.permutation(len(y))
    for name, part in (("all", rows), ("train", rows[:600]), ("test", rows[600:])):
        write_vec(f"{name}.vec", x[part])
        write_cls(f"{name}.cls", shuffled[y[part]])
    order = tuple(shuffled.tolist())
    expected = order if order[0] < order[-1] else order[::-1]

    assert tree_of(run("-Q", "adjacent-ordered", "all")).labels == expected

    save("plan", run("train")[1])
    learnt = ["--quiet", "-+", "-t 0", "--cv-errors", "errors", "plan", "train", "m", "m.mbc"]
    assert run(*learnt, command="multi_borders")[0] == 0
    assert tree_of(run("-Q", "ordered", "errors")).labels == expected
    assert run("m.mbc", "test.vec", "r", command="classify_m")[0] == 0
    save("r.json", run("--json", "test.cls", "r", command="eval_uc")[1])
    tree = tree_of(run("-Q", "ordered", "r.json"))
    assert tree.labels == expected
    assert [row.left for row in tree.rows] == [tuple(range(i)) for i in range(1, 8)]


# Draws

@pytest.mark.parametrize("words", [["-Q", "7"], ["-Q", "7", "-G"], ["-Q", "16"]])
def test_draws(run, words):
    first = run(*words, "10")
    assert run(*words, "--draws", "1", "10") == first
    worth = []
    for draws in ("1", "10", "200"):
        answer = run(*words, "--draws", draws, "--seed", "3", "10")
        assert run(*words, "--draws", draws, "--seed", "3", "10") == answer
        rows, labels = matrix_of(tree_of(answer))
        worth.append(smallest_distances(rows, len(labels))[::-1])
    assert worth == sorted(worth) and worth[-1][0] > worth[0][0]
    told = run(*words, "-P", "--draws", "200", "--seed", "3", "10")[2].splitlines()[-1]
    assert told.endswith(f"rows {worth[-1][1]}, between columns {worth[-1][0]}")


# Pictures

@pytest.mark.parametrize("text", [UNTRAINED, TRAINED, "m K \"-k 3\" {\n0\n1\n2\n}\n"])
def test_a_control_file_is_shown_as_it_is(run, text):
    save("c.mbc", text)
    expected = format_dot(parse(text))
    assert run("--dot", "c.mbc") == (0, expected, "")
    assert run("--dot", "-", stdin=text) == (0, expected, "")
    save("names", "".join(f"n{i}\n" for i in range(9)))
    named = run("--dot", "--names", "names", "c.mbc")[1]
    assert named != expected and all(f"n{label}" in named for label in parse(text).labels)


def test_dot_of_schemes(run):
    assert run("--dot", "4") == (0, format_dot(tree_of(run("4"))), "")
    save_line()
    for words in (["-Q", "3", "line"], ["-Q", "0", "line"], ["line"]):
        assert run("--dot", *words) == (0, format_dot(tree_of(run(*words))), "")
    save("two.svm", "3 1:2\n5 1:4\n")
    assert run("--dot", "-M", "two.svm")[1] == format_dot(tree_of(run("-M", "two.svm")))
    save("c.mbc", UNTRAINED)
    assert run("--dot", "-Q", "9", "c.mbc")[1] == format_dot(tree_of(run("-Q", "9", "c.mbc")))


def test_the_matrix_of_a_file_that_is_shown(run):
    save("c.mbc", UNTRAINED)
    assert run("--dot", "-P", "c.mbc")[2].startswith("-1  1  1\n 0 -1  1\n")
    save("c.mbc", "m K \"-k 3\" {\n0\n1\n2\n}\n")
    refused(run("--dot", "-P", "c.mbc"), 1, "classifier of code K")


def test_pictures(run, monkeypatch):
    pytest.importorskip("matplotlib")
    import agfmc.picture.control as control

    drawn = []
    monkeypatch.setattr(control, "draw_control",
                        lambda path, tree, heights=None: drawn.append((path, tree, heights)))
    save_line()
    save("c.mbc", UNTRAINED)
    save("t.json", json.dumps(TABLE))
    for words in (["4"], ["-Q", "2", "5"], ["c.mbc"], ["-Q", "9", "c.mbc"],
                  ["-Q", "ordered", "line"], ["-Q", "ordered", "t.json"]):
        answer = run("--plot", "p.png", *words)
        shown = parse(UNTRAINED) if words == ["c.mbc"] else tree_of(run(*words))
        assert tree_of(answer).labels == shown.labels
        path, tree, heights = drawn.pop()
        assert (path, heights) == ("p.png", None) and tree.sides() == shown.sides()
    for words in (["-Q", "3", "line"], ["-Q", "3", "--linkage", "complete", "line"],
                  ["-Q", "contingency", "t.json"]):
        assert run("--plot", "p.svg", *words) == run(*words)
        path, tree, heights = drawn.pop()
        assert len(heights) == len(tree.nodes) and heights[0] == max(heights)
    assert run("--dot", "--plot", "p.pdf", "3") == run("--dot", "3")
    assert drawn.pop()[0] == "p.pdf" and not drawn


@pytest.mark.parametrize("words", [["5"], ["-Q", "3", "line"], ["-Q", "2", "6"]])
def test_pictures_are_files(run, words):
    pytest.importorskip("matplotlib")
    save_line()
    shutil.copy("line.cls", "p.png")
    assert run("--plot", "p.png", *words) == run(*words)
    with open("p.png", "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"
