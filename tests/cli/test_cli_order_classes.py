"""order_classes in-process: both orders, where the priors come from, what it refuses."""

import re
from pathlib import Path

import numpy as np
import pytest

from agfmc.codes.dag_order import best_order, expected_accuracy
from agfmc.control.parse import parse
from agfmc.formats.confusions import read_pair_errors
from agfmc.formats.libsvm_data import write_svm
from agfmc.formats.vectors import read_std, write_cls, write_vec

PRIORS = [.1, .1, .2, .4, .2]
TRAINED = "# class 4: four\nm-00 0 / 1;\nm-01 2 / 0;\n'x y' 1 / 2;\n{ 7 4 9 }\n".replace("'", '"')


@pytest.fixture
def run(run, folder):
    """The command in an empty folder; -> its status, output, messages."""
    def call(*words, command="order_classes", **more):
        return run(command, *words, status=None, **more)

    return call


@pytest.fixture
def plan(run):
    """`c`: one against one for five classes."""
    text = run("-Q", "1", "5", command="print_control")[1]
    Path("c").write_text(text)
    return parse(text)


def save(base, counts, names=False, spread=.3):
    """Classes on a line, in the order of `counts`, {label: samples}."""
    rng = np.random.default_rng(2)
    y = np.repeat(list(counts), list(counts.values()))
    place = np.repeat(np.arange(len(counts)), list(counts.values()))
    x = np.stack([place, 50 * rng.normal(size=len(y))], axis=1) + \
        rng.normal(scale=spread, size=(len(y), 2))
    write_vec(f"{base}.vec", x.astype(np.float32))
    write_cls(f"{base}.cls", y)
    write_svm(f"{base}.svm", x, y)


def write(name, text):
    Path(name).write_text(text)


def accuracies(message):
    return [float(x) for x in re.search(r"accuracy (\S+) before, (\S+) now", message).groups()]


def refused(answer, status, text):
    assert answer[0] == status and answer[1] == ""
    assert answer[2].startswith("order_classes: ") and answer[2].count("\n") == 1
    assert text in answer[2]


def test_the_rows_tell_apart_what_they_did(run, plan):
    status, out, err = run("--priors", ",".join(map(str, PRIORS)), "c")
    tree = parse(out)
    assert status == 0 and tree.labels == (0, 2, 3, 4, 1)
    assert tree.sides() == plan.sides()
    assert [row.text for row in tree.rows] == [row.text for row in plan.rows]
    e = np.full((5, 5), .1)
    assert err.startswith("order_classes: greedy")
    assert accuracies(err) == pytest.approx(
        [expected_accuracy(range(5), PRIORS, e), expected_accuracy(tree.labels, PRIORS, e)],
        abs=1e-6)


def test_error_rate_changes_the_report_alone(run, plan):
    words = ("--priors", ",".join(map(str, PRIORS)), "c")
    first, second = run(*words), run("--error-rate", ".3", *words)
    assert first[1] == second[1]
    assert accuracies(second[2])[1] == pytest.approx(
        expected_accuracy(parse(second[1]).labels, PRIORS, np.full((5, 5), .3)), abs=1e-6)
    assert run("--quiet", *words) == (0, first[1], "")


def test_a_trained_file_keeps_names_labels_and_sides(run):
    before = parse(TRAINED)
    status, out, _ = run("--priors", ".5,.2,.3", "-", stdin=TRAINED)  # of 4, 7, 9
    after = parse(out)
    assert status == 0 and after.labels == (7, 4, 9)
    assert run("--priors", ".1,.2,.7", "-", stdin=TRAINED)[1].split("{")[1].split("}")[0].split() \
        == ["4", "9", "7"]
    assert after.sides() == before.sides() and after.names == {4: "four"}
    assert [row.text for row in after.rows] == ["m-00", "m-01", "x y"]


def test_a_pipeline_and_its_own_output(run, plan):
    first = run("--priors", ".1,.3,.2,.3,.1", "c")
    again = run("--priors", ".1,.3,.2,.3,.1", "-", stdin=first[1])
    assert again[1] == first[1]
    assert accuracies(again[2])[0] == accuracies(again[2])[1] == accuracies(first[2])[1]


@pytest.mark.parametrize("words", [["trn"], ["-M", "trn.svm"], ["-A", "trn.lvq"],
                                   ["-A", "-H", "bare.lvq"]])
def test_priors_from_data(run, plan, words):
    save("trn", {0: 10, 1: 10, 2: 20, 3: 40, 4: 20})
    rows = "".join(f"{i} {label}\n" for i, label in enumerate([0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 0, 1,
                                                               2, 2, 3, 3, 3, 3, 4, 4]))
    write("trn.lvq", "1\n" + rows)
    write("bare.lvq", rows)
    status, out, err = run("c", *words)
    given = run("--priors", ",".join(map(str, PRIORS)), "c")
    assert (status, out, err) == given


def test_priors_are_made_to_sum_to_one(run, plan):
    status, out, err = run("--priors", "1,1,2,4,2", "c")
    given = run("--priors", ",".join(map(str, PRIORS)), "c")
    assert (status, out) == given[:2]
    warning, rest = err.split("\n", 1)
    assert warning == "order_classes: warning: the priors sum to 10: they are divided by that"
    assert rest == given[2]


def error_file(k, seed=0, third=False):
    rng = np.random.default_rng(seed)
    lines = ["# errors\n"]
    for i in range(k):
        for j in range(i):
            lines.append(f"{i} {j} {10 + i} {rng.integers(0, 5)} {10 + j} {rng.integers(0, 5)}\n")
            if third:
                lines += [f"{t} {i} {j} 20 {rng.integers(0, 21)}\n" for t in range(k)
                          if t not in (i, j)]
    return "".join(lines)


@pytest.mark.parametrize("third", [False, True])
def test_errors_give_the_best_order(run, plan, third):
    write("e.txt", error_file(5, third=third))
    errors = read_pair_errors("e.txt")
    priors = np.arange(10, 15) / 60
    order, value, _ = best_order(priors, errors.error_rates(), errors.shares())
    status, out, err = run("--errors", "e.txt", "c")
    assert status == 0 and parse(out).labels == tuple(order)
    assert parse(out).sides() == plan.sides()
    assert "the best order there is" in err
    assert accuracies(err) == pytest.approx(
        [expected_accuracy(range(5), priors, errors.error_rates(), errors.shares()), value],
        abs=1e-6)
    searched = run("--errors", "e.txt", "--exact-up-to", "4", "--seed", "2", "c")
    assert "local search" in searched[2] and accuracies(searched[2])[1] == accuracies(err)[1]
    other = run("--errors", "-", "--priors", "0,0,1,1,0", "c", stdin=error_file(5, third=third))
    assert accuracies(other[2])[1] != accuracies(err)[1]


def test_errors_of_more_classes_than_needed_and_of_fewer(run, plan):
    write("e.txt", error_file(7))
    assert run("--errors", "e.txt", "c")[0] == 0
    write("e.txt", error_file(4))
    refused(run("--errors", "e.txt", "c"), 1, "e.txt: has no errors of class 4")
    write("e.txt", error_file(5).replace("3 2 ", "# "))
    refused(run("--errors", "e.txt", "c"), 1, "e.txt: has no errors of the pair 2 3")
    write("e.txt", "0 1 5 6 5 5\n")
    refused(run("--errors", "e.txt", "c"), 1, "e.txt:1: 6 errors on class 0")


def test_path_puts_ordered_classes_in_order(run):
    save("trn", {3: 30, 0: 40, 4: 30, 1: 20, 2: 30})
    adjacent = run("-Q", "5", "trn", command="print_control")[1]
    status, out, err = run("--path", "-", "trn", stdin=adjacent)
    assert status == 0
    # the second feature is noise that hides the first
    assert parse(out).labels != (2, 1, 4, 0, 3)
    save("trn", {3: 30, 0: 40, 4: 30, 1: 20, 2: 30}, spread=.1)
    x = np.fromfile("trn.vec", "<f4", offset=4).reshape(-1, 2)
    x[:, 1] /= 1000
    write_vec("trn.vec", x)
    for words in ([], ["--metric", "hausdorff"], ["--metric", "mean-deviation"]):
        status, out, err = run("--path", *words, "-", "trn", stdin=adjacent)
        tree = parse(out)
        assert status == 0 and tree.labels == (2, 1, 4, 0, 3)
        rows, old = tree.rows, parse(adjacent).rows
        assert [(r.text, r.left, r.right) for r in rows] == [(r.text, r.left, r.right) for r in old]
        # row i: the first i + 1 classes of the path, and the others
        assert tree.sides()[1] == ((2, 1), (4, 0, 3))
        before, now = re.search(r"length of the path (\S+) before, (\S+) now", err).groups()
        assert "the shortest path there is" in err and float(now) < float(before)
    again = run("--path", "-", "trn", stdin=out)
    assert again[1] == out


def test_path_normalises_as_print_control_does(run):
    save("trn", {1: 30, 0: 30, 2: 30})
    adjacent = run("-Q", "5", "3", command="print_control")[1]
    plain = run("--path", "-", "trn", stdin=adjacent)
    scaled = run("--path", "-n", "-a", "f.std", "-", "trn", stdin=adjacent)
    assert scaled[0] == 0 and scaled[2] != plain[2]
    assert read_std("f.std").matrix.shape == (2, 2)
    assert run("--path", "-a", "f.std", "-", "trn", stdin=adjacent) == scaled
    assert run("--path", "-n", "-M", "-", "trn.svm", stdin=adjacent)[1] == scaled[1]
    assert run("--path", "-n", "-S", "1", "-", "trn", stdin=adjacent)[0] == 0


TREE = '"" {\n 0\n 1\n}\n'


@pytest.mark.parametrize("text, message", [
    ('"" 0 / 1; "" 0 / 2; { 0 1 2 }', "no classifier tells classes 1 and 2 apart"),
    ('"" 0 / 1;\n"" 0 / 2;\n"" 1 2 / 0;\n{ 0 1 2 }', "3:1: expected one class on each side"),
    ('"" 0 / 1;\n"" 0 / 2;\n"" 1 / 0;\n{ 0 1 2 }', "3:1: classes 0 and 1 are told apart on line 1"),
    (TREE, "expected one coding matrix, found a tree"),
    ('"" { "" 0 / 1; { 0 1 } 2 }', "found a tree"),
    ('"-k 3" K { 0 1 2 }', "found a classifier of code K"),
    ("{", "1:1:")])
def test_other_control_files_are_refused(run, text, message):
    refused(run("-", stdin=text), 1, message)


def test_path_refuses_what_is_trained_and_trees(run):
    save("trn", {4: 9, 7: 9, 9: 9})
    refused(run("--path", "-", "trn", stdin=TRAINED), 1, "is this file trained already?")
    refused(run("--path", "-", "trn", stdin=TREE), 1, "found a tree")


def test_data_of_other_classes_are_refused(run, plan):
    save("few", {0: 5, 1: 5, 2: 5, 3: 5})
    save("many", {i: 5 for i in range(6)})
    for words in ([], ["--path"]):
        refused(run(*words, "c", "few"), 1, "class 4 has no samples in few")
        refused(run(*words, "c", "many"), 1, "hold class 5, which the control file does not name")
        assert run(*words, "c", "none")[0] == 1


@pytest.mark.parametrize("words, message", [
    (["--path", "c"], "--path needs training data"),
    (["--path", "--errors", "e", "c", "trn"], "--errors is for DDAGs"),
    (["--path", "--error-rate", ".1", "c", "trn"], "--error-rate is for DDAGs"),
    (["--path", "--exact-up-to", "3", "c", "trn"], "--exact-up-to is for DDAGs"),
    (["--metric", "hausdorff", "c", "trn"], "--metric is for --path"),
    (["-n", "c", "trn"], "-n is for --path"),
    (["-S", "1", "c", "trn"], "-S is for --path"),
    (["-a", "f", "c", "trn"], "-a is for --path"),
    (["-M", "c"], "-M and -A say what train is"),
    (["--priors", "1,2", "c", "trn"], "--priors and train exclude each other"),
    (["--priors", "1,2", "c"], "expected 5 priors, one for each class, found 2"),
    (["--priors", "1,1,1,1,-1", "c"], "not negative"),
    (["--priors", "0,0,0,0,0", "c"], "nor all 0"),
    (["--priors", "1,x", "c"], "expected a number, found 'x'"),
    (["--errors", "e", "--error-rate", ".1", "c"], "exclude each other"),
    (["--exact-up-to", "5", "c"], "--exact-up-to goes with --errors"),
    (["--exact-up-to", "15", "--errors", "e", "c"], "15 is out of range"),
    (["--error-rate", "1.5", "c"], "expected a number from 0 to 1"),
    (["--errors", "-", "-"], "can be standard input"),
    (["--path", "--metric", "x", "c", "trn"], "invalid choice")])
def test_wrong_command_lines(run, plan, words, message):
    refused(run(*words), 2, message)
