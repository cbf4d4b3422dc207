"""print_control: control files to the letter, designs from data, matrices and trees."""

import functools
import json
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.cli import main_of
from agfmc.control.matrix import rows_to_matrix, smallest_distances
from agfmc.designs.schemes import SCHEMES
from agfmc.control.build import code_rows
from agfmc.control.graphviz import format_dot
from agfmc.control.parse import parse
from agfmc.designs.design import design, matrix_of
from data_files import write_cls, write_vec

FROM_NUMBERS = [scheme for scheme in SCHEMES if "classes" in scheme.made_of]
ROWS = {
    "one-vs-rest": 5,
    "one-vs-one": 10,
    "tree": 4,
    "orthogonal": 8,
    "adjacent": 4,
    "tree-code": 4,
    "random": 8,
    "exhaustive": 15,
    "orthogonal-special": 6,
    "random-as-orthogonal": 8,
    "random-tree": 4,
    "ensemble": 40,
}


@pytest.fixture
def control(run, folder):
    """The command in an empty folder; -> its status, output, messages."""
    return functools.partial(run, "print_control", status=None)


def save(base, labels, names=()):
    rng = np.random.default_rng(2)
    labels = np.repeat(np.array(labels, dtype="<i4"), 6)
    x = (rng.normal(size=(len(labels), 3)) + labels[:, None]).astype("<f4")
    Path(f"{base}.vec").write_bytes(np.int32(3).tobytes() + x.tobytes())
    labels.tofile(f"{base}.cls")
    if names:
        with open(f"{base}.names", "w") as file:
            file.writelines(f"{name}\n" for name in names)


def test_classes_by_name_are_those_of_the_data(run, control, folder):
    """The names decide, and not the numbers that the data give them."""
    save("t", [0, 1, 2], ["oak", "elm tree", "ash"])
    answer = control("--by-name", "-Q", "one-vs-one", "t")
    assert answer.out.startswith("# class 0: oak\n") and '{ oak "elm tree" ash}\n' in answer.out
    Path("own.mbt").write_text('"" { oak "" { ash "elm tree" } }')
    run("multi_borders", "own.mbt", "t", "m", "m.mbc")
    assert Path("m.mbc").read_text().split()[-8:] == "{ 0 m.01 { 2 1 } }".split()
    Path("wrong.mbt").write_text('"" { oak "" { ash elm } }')
    told = run("multi_borders", "wrong.mbt", "t", "w", "w.mbc", status=1).err
    assert "wrong.mbt:1:19: class 3 'elm' has no samples in t" in told
    Path("plan.mbt").write_text(answer.out)
    assert "accuracy" in run("nfold", "-d", 2, "own.mbt", "t").out
    refused(control("--by-name", 3), 2, "class 0 has no name")


def refused(answer, status, text):
    assert answer[0] == status and answer[1] == ""
    line = answer[2]
    if line.startswith("usage: print_control "):  # there are no operands
        line = line[line.index("print_control: operands are missing: ") :]
    assert line.startswith("print_control: ") and line.count("\n") == 1
    assert text in line


def matrix(text):
    return np.array(
        [
            line.split()
            for line in text.splitlines()
            if not line.startswith("print_control: smallest distance")
        ],
        dtype=int,
    )


@pytest.mark.parametrize("scheme", FROM_NUMBERS, ids=lambda scheme: scheme.name)
def test_every_scheme_by_number_and_by_every_name(control, scheme):
    status, out, err = control("-Q", scheme.name, "5")
    assert (status, err) == (0, "")
    tree = parse(out)
    assert len(tree.rows) == ROWS[scheme.name]
    assert list(tree.classes) == [0, 1, 2, 3, 4]
    for name in (scheme.name, *scheme.aliases, scheme.name.upper(), scheme.name.replace("-", "_")):
        assert control("-Q", name, "5") == (0, out, "")
    assert control(f"--type={scheme.name}", "5") == (0, out, "")
    if scheme.number is not None:
        assert control(f"-Q{scheme.number}", "5") == (0, out, "")


def test_every_scheme_is_here():
    assert {scheme.name for scheme in FROM_NUMBERS} == set(ROWS), "ROWS lacks a scheme"


@pytest.mark.few(5)
@pytest.mark.parametrize("scheme", FROM_NUMBERS, ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("k", [2, 3, 4, 9, 16])
def test_every_number_of_classes(control, scheme, k):
    status, out, err = control("-Q", scheme.name, str(k))
    if k < 4 and scheme.name == "orthogonal-special":
        return refused((status, out, err), 2, "at least 4 classes")
    if k == 2 and scheme.name == "ensemble":
        return refused((status, out, err), 2, "random-tree has 1 different configuration of")
    assert status == 0
    tree = parse(out)
    assert len(tree.classes) == k
    assert bool(err) == (k < 4 and "orthogonal" in scheme.name)
    if k > 3:
        assert tree.sides() == design(scheme.name, range(k)).sides()
    # the distances of the 32,767 rows of `exhaustive` take minutes
    if k > 3 and (k < 16 or scheme.name != "exhaustive"):
        shown = matrix(control("-Q", scheme.name, "-P", str(k))[2])
        by_label = rows_to_matrix(code_rows(tree), k)[:, np.argsort(tree.labels)]
        np.testing.assert_array_equal(shown, by_label)


def test_layout_is_that_of_libagf(control):
    assert control("-Q", "0", "3")[1] == '"" 1 2 / 0;\n"" 0 2 / 1;\n"" 0 1 / 2;\n{ 0 1 2}\n'
    assert control("-Q", "2", "3")[1] == '"" {\n  0\n  "" {\n    1\n    2\n  }\n}\n'


def test_one_vs_one_is_the_default(control):
    assert control("4") == control("-Q", "1", "4")


@pytest.mark.parametrize("k, rows, instead", [(2, 1, "the only partition"), (3, 3, "one-vs-rest")])
@pytest.mark.parametrize("scheme", ["4", "16"])
def test_orthogonal_codes_that_do_not_exist(control, scheme, k, rows, instead):
    status, out, err = control("-Q", scheme, str(k))
    assert status == 0 and len(parse(out).rows) == rows
    assert err.startswith("print_control: warning: no orthogonal code exists for")
    assert instead in err
    assert err.count("\n") == 1
    assert control("--quiet", "-Q", scheme, str(k)) == (0, out, "")


def test_matrix_goes_to_standard_error(control):
    plain = control("-Q", "0", "3")
    status, out, err = control("-Q", "0", "-P", "3")
    assert (status, out) == plain[:2]
    assert matrix(err).tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    assert err.splitlines()[-1].startswith("print_control: smallest distance between rows ")


def test_orthogonal_columns(control):
    a = matrix(control("-Q", "4", "-P", "6")[2])
    assert np.array_equal(a.T @ a, 8 * np.eye(6))
    b = matrix(control("-Q", "4", "-P", "-Y", "6")[2])
    assert b.shape == (7, 6)
    c = matrix(control("-Q", "10", "-P", "8", "9")[2])
    gram = c.T @ c
    assert not (gram - np.diag(np.diag(gram))).any() and set(c.ravel()) == {-1, 0, 1}


def test_random_codes(control):
    a = matrix(control("-Q", "7", "-P", "5")[2])
    assert a.shape == (8, 5) and (a == 0).any()
    b = matrix(control("-Q", "7", "-P", "-G", "5", "12")[2])
    assert b.shape == (12, 5) and not (b == 0).any()
    assert matrix(control("-Q", "16", "-P", "5")[2]).all()
    for rows in (a, b):
        assert len({tuple(row * row[row != 0][0]) for row in rows}) == len(rows)


@pytest.mark.parametrize("words", [["-Q", "7", "9"], ["-Q", "16", "9"], ["-Q7", "-G", "9", "10"]])
def test_seeds(control, words):
    first = control("--seed", "1", *words)
    assert first[0] == 0 and control(*words) == first == control("--seed", "1", *words)
    assert len({control("--seed", str(seed), *words)[1] for seed in range(6)}) == 6


@pytest.mark.parametrize("words, exist", [(["4", "100"], 25), (["-G", "4", "8"], 7)])
def test_more_random_rows_than_there_are(control, words, exist):
    refused(control("-Q", "7", *words), 2, f"only {exist} exist")
    most = [*words[:-1], str(exist)]
    assert len(parse(control("-Q", "7", *most)[1]).rows) == exist


@pytest.mark.parametrize(
    "words, status, text",
    [
        (["-Q", "7", "9", "2"], 2, "at least 3 rows, not 2"),
        (["-Q", "17", "4"], 2, "16 random-as-orthogonal"),
        (["-Q", "-1", "4"], 2, "there is no scheme '-1'"),
        (["-Q", "8", "40"], 2, "at most 20 classes"),
        (["4", "5"], 2, "nrow is for -Q random, orth"),
        (["-Q", "7", "4", "0"], 2, "1 or more"),
        (["-Q", "7", "4", "x"], 2, "expected a whole number"),
        (["-Q", "3", "4"], 2, "expected training data"),
        (["1"], 2, "at least 2 classes"),
        (["100001"], 2, "100000"),
        (["-Q", "10", "8", "3"], 2, "possible:"),
        (["nothing"], 1, "nothing.cls: cannot read"),
        (["-M", "-A", "x"], 2, "exclude each other"),
        (["--names", "nothing", "3"], 1, "nothing: cannot read"),
        ([], 2, "operands are missing"),
        (["3", "4", "5"], 2, "unrecognized"),
        (["-Q"], 2, "expected a value"),
        (["--seed", "x", "3"], 2, "whole number"),
        (["-Q", "9", "nothing"], 1, "nothing: cannot read"),
        (["-Q", "9", "--options", "-c 2", "-"], 2, "--options"),
        (["-Q", "9", "-"], 1, "standard input:1:1: expected a control file, found an empty one"),
        (["three\nlines\n"], 1, "three\\nlines\\n.cls"),
    ],
)
def test_refused(control, words, status, text):
    refused(control(*words), status, text)


@pytest.mark.parametrize(
    "words, plain, told",
    [
        (["-Q", "one-vs-one", "-n", "4"], ["4"], "-n is for -Q empirical and adjacent-ordered"),
        (["-Q", "0", "-S", "2", "-a", "f.std", "4"], ["-Q", "0", "4"], "-a is for"),
        (
            ["-Q", "5", "-G", "4"],
            ["-Q", "5", "4"],
            "-G is for -Q random and ensemble, and changes nothing in adj",
        ),
        (["-Y", "4"], ["4"], "-Y is for -Q orthogonal, and"),
    ],
)
def test_options_of_libagf_without_effect_give_a_warning(control, words, plain, told):
    status, out, err = control(*words)
    assert (status, out) == (0, control(*plain)[1])
    assert told in err and err.count("\n") == words.count("-S") + 1
    assert control("--quiet", *words) == (0, out, "")


def test_fewer_rows_than_determine_probabilities(control):
    """libAGF takes them; the classes can be told apart all the same."""
    status, out, err = control("-Q", "7", "8", "6")
    assert status == 0 and len(parse(out).rows) == 6
    assert err == (
        "print_control: warning: 6 rows do not determine the probabilities of 8 classes:"
        " at least 7 are needed\n"
    )


@pytest.mark.parametrize(
    "words, text",
    [
        (
            ["10000"],
            "a code of 49995000 rows for 10000 classes is too large to be read again: rows "
            "times classes may be 536870912 at most; print_control -Q tree has no such limit",
        ),
        (["1025"], "a code of 524800 rows for 1025 classes"),
        (["-Q", "0", "8000"], "it would have 297 MiB of text, and 256 are the most; print_control"),
        (["-Q", "4", "10000"], "a code of at least 10000 rows for 10000 classes"),
        (["-Q", "5", "100000"], "rows times classes"),
        (["-Q", "6", "23171"], "rows times classes"),
        (["-Q", "7", "-G", "8000"], "297 MiB"),
        (["-Q", "7", "9", "99999999"], "rows times classes"),
        (["many"], "for 1025 classes"),
        (["-Q", "ordered", "-M", "far.svm"], "a code of 7999 rows for 8000 classes"),
    ],
)
def test_codes_too_large_to_be_read(control, words, text):
    if "many" in words:
        np.arange(1025, dtype="<i4").tofile("many.cls")
    if "far.svm" in words:
        with open("far.svm", "w") as file:
            file.writelines(f"{i} 1:{i}\n" for i in range(8000))
    refused(control(*words), 2, text)


def test_trees_too_large_to_be_read(control, monkeypatch):
    code = control("-Q", "2", "--options", "a b", "2000")[1]
    monkeypatch.setattr("agfmc.control.parse.MAX_CELLS", 1999 * 2000 - 1)
    refused(
        control("-Q", "9", "-", stdin=code),
        1,
        "the control file would be too large to be read "
        "again: the coding matrices up to here have 3998000 entries: there may be 3997999 at "
        "most",
    )
    monkeypatch.setattr("agfmc.control.parse.MAX_CELLS", 1999 * 2000)
    assert control("-Q", "9", "-", stdin=code)[0] == 0
    size = len(control("-Q", "0", "--options", "\u00fc", "9")[1].encode())
    for largest in (size, size - 1):
        monkeypatch.setattr("agfmc.control.write.MAX_TEXT", largest)
        answer = control("-Q", "0", "--options", "\u00fc", "9")
        assert answer[0] == 0 if largest == size else "MiB of text" in answer[2]
    monkeypatch.setattr("agfmc.control.write.MAX_TEXT", 10**9)
    save("near", (0, 1, 2, 3))
    monkeypatch.setattr("agfmc.control.write.MAX_DEPTH", 1)
    refused(control("-Q", "3", "near"), 1, "again: nested deeper than 1 levels")
    monkeypatch.setattr("agfmc.core.memory.memory_limit", lambda: 2 * 21 * 16 - 2)
    refused(control("-Q", "3", "near"), 1, "the distances of 4 classes are more than")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words",
    [
        ["-Q", "5", "500"],
        ["-Q", "0", "500"],
        ["-Q", "4", "500"],
        ["200"],
        ["--options", "-c 2", "-Q", "8", "14"],
    ],
)
def test_rows_are_written_one_by_one(control, monkeypatch, words):
    """Memory does not grow with the text, which is longer than all that is held at once."""
    assert control(*words[:-1], "5")[0] == 0  # what is loaded for it
    size = 0

    def write(text):
        nonlocal size
        size += len(text)

    monkeypatch.setattr(
        sys, "stdout", SimpleNamespace(write=write, flush=lambda: None, isatty=lambda: False)
    )
    tracemalloc.start()
    try:
        assert main_of("print_control")(words) == 0
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < size


def test_operands_behind_two_dashes(control):
    assert control("--", "3") == control("3")
    refused(control("--", "3", "-Q"), 2, "expected a whole number, found '-Q'")
    refused(control("--", "-Q"), 1, "-Q.cls: cannot read")


def test_convert_from_standard_input(control):
    status, out, err = control("-Q", "9", "-", stdin='"-c 1" { "" {0 1} ". " {3 2}}\n')
    assert (status, err) == (0, "")
    assert parse(out).labels == (0, 1, 3, 2)
    assert out == '"-c 1" 0 1 / 2 3;\n"" 0 / 1;\n". " 2 / 3;\n{ 0 1 3 2}\n'


def test_convert_a_trained_file(control):
    status, out, err = control("-Q", "9", "-P", "-", stdin="m { m.00 {2 5} 9}")
    assert status == 0 and out.startswith("m 0 1 / 2;\nm.00 0 / 1;\n")
    assert matrix(err).tolist() == [[-1, -1, 1], [-1, 1, 0]]
    assert control("-Q", "9", "-", stdin=out)[:2] == (0, out)


def test_labels_and_names_from_data(control):
    save("gaps", (5, 2, 9))
    assert control("-Q", "0", "gaps") == (
        0,
        '"" 1 2 / 0;\n"" 0 2 / 1;\n"" 0 1 / 2;\n{ 2 5 9}\n',
        "",
    )
    save("named", (1, 0), ("b irch", "pine"))
    assert control("named")[1] == '# class 0: b irch\n# class 1: pine\n"" 0 / 1;\n{ 0 1}\n'
    Path("words.svm").write_text("pine 1:2\nbirch 1:1\npine 1:3\n")
    assert control("-M", "words.svm")[1] == '# class 0: birch\n# class 1: pine\n"" 0 / 1;\n{ 0 1}\n'
    Path("own").write_text("x\ny\n")
    assert control("--names", "own", "named")[1].startswith("# class 0: x\n# class 1: y\n")
    assert control("--names", "own", "2")[1].startswith("# class 0: x\n# class 1: y\n")


def test_tree_from_data(control):
    save("near", (0, 4, 5))
    status, out, err = control("-Q", "3", "near")
    assert (status, err) == (0, "")
    tree = parse(out)
    assert len(tree.rows) == 2 and {
        frozenset(tree.sides()[1][0]),
        frozenset(tree.sides()[1][1]),
    } == {frozenset({4}), frozenset({5})}
    assert control("-Q", "3", "-n", "-a", "near.std", "near")[0] == 0
    assert control("-Q", "3", "-a", "near.std", "near") == control("-Q", "3", "-n", "near")


def test_data_of_one_class(control):
    save("one", (7,))
    for scheme in ("1", "3"):
        refused(control("-Q", scheme, "one"), 1, "one: holds one class")


def test_options_in_the_quotes(control):
    assert control("--options", "-c 5", "2")[1] == '"-c 5" 0 / 1;\n{ 0 1}\n'
    status, out, _ = control("--options", 'a"b\\', "2")
    assert status == 0 and parse(out).rows[0].text == 'a"b\\'


TABLE = {
    "labels": [0, 1, 2, 3],
    "contingency": [[50, 1, 30, 0], [0, 60, 1, 9], [20, 0, 60, 1], [1, 11, 0, 70]],
}
PAIRS = "0 1 9 0 9 1\n0 2 9 5 9 3\n0 3 9 0 9 0\n1 2 9 1 9 0\n1 3 9 4 9 2\n2 3 9 1 9 1\n"
UNTRAINED = '# class 1: x\n"-c 2" {\n  0\n  "" {\n    1\n    5\n  }\n}\n'
TRAINED = "m-00 0 / 1;\n{\n7\nm.01 {\n3\n4\n}\n}\n"


def save_designs(name, text):
    Path(name).write_text(text)


def tree_of(answer):
    assert (answer[0], answer[2]) == (0, "")
    return parse(answer[1])


def save_line():
    """Classes on a line at 0, 1, 2.1, 3.3, 4.6 and 6: a chain for one linkage, not for others."""
    generator = np.random.default_rng(0)
    y = np.repeat([3, 0, 5, 1, 4, 2], 10)
    x = np.repeat([0.0, 1.0, 2.1, 3.3, 4.6, 6.0], 10)[:, None] + generator.random((60, 2)) * 1e-3
    write_vec("line.vec", x.astype("f4"))
    write_cls("line.cls", y)


# Trees


def test_metrics_and_linkages(control):
    save_line()
    single = control("-Q", "3", "line")
    assert control("-Q", "3 metric=hausdorff linkage=single", "line") == single
    status, out, err = control("--linkage", "single", "-Q", "3", "line")  # as it was before
    assert (status, out) == single[:2] and err.endswith("another name: -Q linkage=single\n")
    assert len(tree_of(single).nodes) == 5
    assert max(node.depth for node in tree_of(single).nodes) == 4  # a chain
    for linkage in ("complete", "average"):
        tree = tree_of(control("-Q", f"3 linkage={linkage}", "line"))
        assert max(node.depth for node in tree.nodes) == 2
    # 0 is wide, 1 and 2 are narrow and beside each other
    save_designs("wide.svm", "0 1:0\n0 1:8\n1 1:1\n1 1:1.1\n2 1:5\n2 1:5.1\n")
    assert tree_of(control("-Q", "3", "-M", "wide.svm")).labels == (2, 1, 0)
    tree = tree_of(control("-Q", "3 metric=mean-deviation", "-M", "wide.svm"))
    assert tree.labels == (2, 0, 1)


def test_a_tree_from_a_contingency_table(control):
    save_designs("r.json", json.dumps(TABLE, indent=1))
    answer = control("-Q", "contingency", "r.json")
    tree = tree_of(answer)
    assert {frozenset(side) for side in tree.sides()[0]} == {frozenset({0, 2}), frozenset({1, 3})}
    for words in (
        ["-Q", "confusion", "r.json"],
        ["-Q", "Contingency linkage=average", "-"],
    ):
        assert control(*words, stdin=json.dumps(TABLE)) == answer
    save_designs("e.txt", PAIRS)
    tree = tree_of(control("-Q", "confusion", "e.txt"))
    assert {frozenset(side) for side in tree.sides()[0]} == {frozenset({0, 2}), frozenset({1, 3})}
    save_designs("names", "w\nx\ny\nz\n")
    assert tree_of(control("-Q", "confusion", "--names", "names", "e.txt")).names[2] == "y"
    assert '"-c 3" {' in control("-Q", "confusion", "--options", "-c 3", "e.txt")[1]


@pytest.mark.parametrize(
    "words, status, text",
    [
        (["-Q", "contingency", "5"], 2, "expected a contingency table, found the number 5"),
        (["-Q", "ordered", "nothing"], 1, "nothing.vec: cannot read"),
        (["-Q", "contingency", "line"], 1, "line: cannot read"),
        (["-Q", "contingency", "bad"], 1, 'bad: "labels" lists class 1 twice'),
        (["-Q", "contingency", "-M", "two.svm"], 2, "-M and -A are for training data"),
        (["-Q", "contingency", "-n", "bad"], 2, "-n is for -Q empirical and adjacent-ordered"),
        (
            ["-Q", "contingency metric=hausdorff", "bad"],
            2,
            "the scheme contingency has no parameter 'metric': expected linkage",
        ),
        (["-Q", "ordered linkage=single", "line"], 2, "has no parameter 'linkage'"),
        (["-Q", "ordered", "-n", "good"], 2, "-n is for training data, and good holds"),
        (["-Q", "3 draws=4", "line"], 2, "no parameter 'draws': expected metric, linkage"),
        (["-Q", "3 linkage=ward", "line"], 2, "ward"),
        (["-Q", "3 metric=l2", "line"], 2, "l2"),
        (["-Q", "7 draws=0", "5"], 2, "1 to 1000000000"),
        (["-Q", "contingency", "line", "4"], 2, "nrow is for"),
        (["--report=-.dot", "-y", "f", "shown"], 2, "not for a control file that is shown"),
        (["--report=-.dot", "--options", "-c 2", "shown"], 2, "one that is shown keeps its own"),
        (["shown"], 1, "there is no shown.cls; LIBSVM text is read with -M"),
        (["--report", "a.txt", "4"], 2, "a.txt: expected a name that ends in .svg"),
    ],
)
def test_refused_designs(control, words, status, text):
    save_line()
    save_designs("two.svm", "0 1:0 2:0\n1 1:1\n")
    save_designs("bad", json.dumps({"labels": [0, 1, 1], "contingency": [[1] * 3] * 3}))
    save_designs("good", json.dumps(TABLE))
    save_designs("shown", UNTRAINED)
    refused(control(*words), status, text)


# Orders


def test_the_kind_of_the_operand(control):
    save_line()
    from_data = tree_of(control("-Q", "ordered", "line"))
    assert from_data.labels == (2, 4, 1, 5, 0, 3)
    save_designs("line", "m 0 / 1;\n{5 6}\n")  # a file of the same name that holds something else
    assert tree_of(control("-Q", "ordered", "line")) == from_data
    save_designs("line", json.dumps(TABLE))
    assert sorted(tree_of(control("-Q", "ordered", "line")).labels) == [0, 1, 2, 3]
    assert tree_of(control("-Q", "ordered", "-", stdin=PAIRS)).labels == (0, 2, 3, 1)
    save_designs("text.svm", "1 1:5\n1 1:6\n0 1:1\n0 1:2\n2 1:3\n2 1:4\n")
    assert tree_of(control("-Q", "adjacent-ordered", "-M", "text.svm")).labels == (0, 2, 1)
    assert tree_of(control("-Q", "adjacent-ordered", "-M", "-n", "text.svm")).labels == (0, 2, 1)
    save_designs("text.lvq", "1 1 1 1 0\n2 1 1 1 0\n9 1 1 1 1\n8 1 1 1 1\n")  # not errors of pairs
    assert tree_of(control("-Q", "ordered", "-A", "-H", "text.lvq")).labels == (0, 1)


# Draws


@pytest.mark.parametrize("words", [["-Q", "7"], ["-Q", "7", "-G"], ["-Q", "16"]])
def test_draws(control, words):
    first = control(*words, "10")
    scheme = words[1]
    assert control("-Q", f"{scheme} draws=1", *words[2:], "10") == first
    worth = []
    for draws in ("1", "10", "200"):
        called = ("-Q", f"{scheme} draws={draws}", *words[2:], "10")
        answer = control(*called, "--seed", "3")
        assert control(*called, "--seed", "3") == answer
        rows, labels = matrix_of(tree_of(answer))
        worth.append(smallest_distances(rows, len(labels))[::-1])
    assert worth == sorted(worth) and worth[-1][0] > worth[0][0]
    told = control(*called, "-P", "--seed", "3")[2].splitlines()[-1]
    assert told.endswith(f"rows {worth[-1][1]}, between columns {worth[-1][0]}")


# Pictures


@pytest.mark.parametrize("text", [UNTRAINED, TRAINED, 'm K "-k 3" {\n0\n1\n2\n}\n'])
def test_a_control_file_is_shown_as_it_is(control, text):
    save_designs("c.mbc", text)
    expected = format_dot(parse(text))
    assert control("--report=-.dot", "c.mbc") == (0, expected, "")
    assert control("--report=-.dot", "-", stdin=text) == (0, expected, "")
    save_designs("names", "".join(f"n{i}\n" for i in range(9)))
    named = control("--report=-.dot", "--names", "names", "c.mbc")[1]
    assert named != expected and all(f"n{label}" in named for label in parse(text).labels)


def test_dot_of_schemes(control):
    assert control("--report=-.dot", "4") == (0, format_dot(tree_of(control("4"))), "")
    save_line()
    for words in (["-Q", "3", "line"], ["-Q", "0", "line"], ["line"]):
        assert control("--report=-.dot", *words) == (0, format_dot(tree_of(control(*words))), "")
    save_designs("two.svm", "3 1:2\n5 1:4\n")
    assert control("--report=-.dot", "-M", "two.svm")[1] == format_dot(
        tree_of(control("-M", "two.svm"))
    )
    save_designs("c.mbc", UNTRAINED)
    assert control("--report=-.dot", "-Q", "9", "c.mbc")[1] == format_dot(
        tree_of(control("-Q", "9", "c.mbc"))
    )


def test_the_matrix_of_a_file_that_is_shown(control):
    save_designs("c.mbc", UNTRAINED)
    assert control("--report=-.dot", "-P", "c.mbc")[2].startswith("-1  1  1\n 0 -1  1\n")
    save_designs("c.mbc", 'm K "-k 3" {\n0\n1\n2\n}\n')
    refused(control("--report=-.dot", "-P", "c.mbc"), 1, "classifier of code K")


def test_pictures(control, monkeypatch):
    import agfmc.report.chart_control as charts

    drawn = []
    monkeypatch.setattr(
        charts, "draw_control", lambda path, tree, heights=None: drawn.append((path, tree, heights))
    )
    save_line()
    save_designs("c.mbc", UNTRAINED)
    save_designs("t.json", json.dumps(TABLE))
    for words in (
        ["4"],
        ["-Q", "2", "5"],
        ["c.mbc"],
        ["-Q", "9", "c.mbc"],
        ["-Q", "ordered", "line"],
        ["-Q", "ordered", "t.json"],
    ):
        answer = control("--report", "p.svg", *words)
        shown = parse(UNTRAINED) if words == ["c.mbc"] else tree_of(control(*words))
        assert tree_of(answer).labels == shown.labels
        path, tree, heights = drawn.pop()
        assert (path, heights) == ("p.svg", None) and tree.sides() == shown.sides()
    for words in (
        ["-Q", "3", "line"],
        ["-Q", "3 linkage=complete", "line"],
        ["-Q", "contingency", "t.json"],
    ):
        assert control("--report", "p.svg", *words) == control(*words)
        path, tree, heights = drawn.pop()
        assert len(heights) == len(tree.nodes) and heights[0] == max(heights)
    assert control("--report=-.dot", "--report", "p.svg", "3") == control("--report=-.dot", "3")
    assert drawn.pop()[0] == "p.svg" and not drawn


def test_a_scheme_with_its_parameters_is_a_control_of_every_command(control, run):
    save_line()
    scheme = "3 linkage=complete"
    plan = control("-Q", scheme, "line")[1]
    Path("plan").write_text(plan)
    options = ("-+", "-t 0", "--no-state")
    run("multi_borders", "--uncalibrated", "-+", "-t 0", scheme, "line", "m", "m.mbc")
    run("multi_borders", "--uncalibrated", "-+", "-t 0", "plan", "line", "m", "n.mbc")
    assert Path("m.mbc").read_bytes() == Path("n.mbc").read_bytes()
    words = (*options, "-d", "2", "--trials", "1", "--json")
    told = run("compare_control", *words, "line", scheme, "empirical", "plan").out
    names = [row["configuration"] for row in json.loads(told)["rows"]]
    assert {"empirical linkage=complete", "empirical", "plan"} == set(names)
    scores = json.loads(run("nfold", *words, scheme, "line").out)
    assert scores["configuration"] == "empirical linkage=complete" and scores["classifiers"] == 5
    tuned = run(
        "tune_m", "-d", "2", "--space", "C=0", "--refine", "0", *options, scheme, "line"
    ).out
    assert parse(tuned).sides() == parse(plan).sides()
    wrong = run("compare_control", "--draws", "3", "line", "random", status=2)
    assert 'as in compare_control DATA "random rows=20' in wrong.line("no option --draws any more")


def test_a_matrix_in_text_is_a_control_file(control, folder):
    answer = control("-P", "-Q", "random rows=6", 5)
    matrix = answer.err.rpartition("print_control")[0]
    Path("m.txt").write_text(f"# own\n{matrix}")
    assert control("-Q", "convert", "m.txt").out == answer.out
    Path("n").write_text("a\nb\nc d\nd\ne\n")
    named = control("-Q", "convert", "--names", "n", "--by-name", "m.txt").out
    assert '{ a b "c d" d e}' in named and "# class" not in named
    for text, told in (
        ("-1 1 0\n-1 0\n", "m.txt:2: the row has 2 numbers, the first one 3"),
        ("-1 1 2\n", "m.txt:1: expected -1, 0 or 1 in a coding matrix, found '2'"),
        ("-1 0\n", "row 1 of the coding matrix has one side"),
    ):
        Path("m.txt").write_text(text)
        answer = control("-Q", "convert", "m.txt")
        assert answer.status in (1, 2) and told in answer.err and answer.out == ""
