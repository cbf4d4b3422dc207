"""print_control in-process: every scheme, every option, what it refuses."""

import functools
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.cli.print_control import main
from agfmc.codes.matrix import rows_to_matrix
from agfmc.codes.schemes import SCHEMES
from agfmc.control.build import code_rows
from agfmc.control.parse import parse
from agfmc.training.design import design

FROM_NUMBERS = [scheme for scheme in SCHEMES if "classes" in scheme.made_of]
ROWS = {0: 5, 1: 10, 2: 4, 4: 8, 5: 4, 6: 4, 7: 8, 8: 15, 10: 6, 16: 8}


@pytest.fixture
def run(run, folder):
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


def refused(answer, status, text):
    assert answer[0] == status and answer[1] == ""
    assert answer[2].startswith("print_control: ") and answer[2].count("\n") == 1
    assert text in answer[2]


def matrix(text):
    return np.array([line.split() for line in text.splitlines()
                     if not line.startswith("print_control: smallest distance")], dtype=int)


@pytest.mark.parametrize("scheme", FROM_NUMBERS, ids=lambda scheme: scheme.name)
def test_every_scheme_by_number_and_by_every_name(run, scheme):
    status, out, err = run("-Q", str(scheme.number), "5")
    assert (status, err) == (0, "")
    tree = parse(out)
    assert len(tree.rows) == ROWS[scheme.number]
    assert list(tree.classes) == [0, 1, 2, 3, 4]
    for name in (scheme.name, *scheme.aliases, scheme.name.upper(), scheme.name.replace("-", "_")):
        assert run("-Q", name, "5") == (0, out, "")
    assert run(f"-Q{scheme.number}", "5") == run(f"--type={scheme.name}", "5") == (0, out, "")


def test_every_scheme_is_here():
    assert {scheme.number for scheme in FROM_NUMBERS} == set(ROWS)


@pytest.mark.parametrize("scheme", FROM_NUMBERS, ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("k", [2, 3, 4, 9, 16])
def test_every_number_of_classes(run, scheme, k):
    status, out, err = run("-Q", scheme.name, str(k))
    if k < 4 and scheme.name == "orthogonal-special":
        return refused((status, out, err), 2, "at least 4 classes")
    assert status == 0
    tree = parse(out)
    assert len(tree.classes) == k
    assert bool(err) == (k < 4 and "orthogonal" in scheme.name)
    if k > 3:
        assert tree.sides() == design(scheme.name, range(k)).sides()
        shown = matrix(run("-Q", scheme.name, "-P", str(k))[2])
        np.testing.assert_array_equal(shown, rows_to_matrix(code_rows(tree), k))


def test_layout_is_that_of_libagf(run):
    assert run("-Q", "0", "3")[1] == '"" 1 2 / 0;\n"" 0 2 / 1;\n"" 0 1 / 2;\n{ 0 1 2}\n'
    assert run("-Q", "2", "3")[1] == '"" {\n  0\n  "" {\n    1\n    2\n  }\n}\n'


def test_one_vs_one_is_the_default(run):
    assert run("4") == run("-Q", "1", "4")


@pytest.mark.parametrize("k, rows, instead", [(2, 1, "the only partition"), (3, 3, "one-vs-rest")])
@pytest.mark.parametrize("scheme", ["4", "16"])
def test_orthogonal_codes_that_do_not_exist(run, scheme, k, rows, instead):
    status, out, err = run("-Q", scheme, str(k))
    assert status == 0 and len(parse(out).rows) == rows
    assert err.startswith("print_control: warning: no orthogonal code exists for")
    assert instead in err
    assert err.count("\n") == 1
    assert run("--quiet", "-Q", scheme, str(k)) == (0, out, "")


def test_matrix_goes_to_standard_error(run):
    plain = run("-Q", "0", "3")
    status, out, err = run("-Q", "0", "-P", "3")
    assert (status, out) == plain[:2]
    assert matrix(err).tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    assert err.splitlines()[-1].startswith("print_control: smallest distance between rows ")


def test_orthogonal_columns(run):
    a = matrix(run("-Q", "4", "-P", "6")[2])
    assert np.array_equal(a.T @ a, 8 * np.eye(6))
    b = matrix(run("-Q", "4", "-P", "-Y", "6")[2])
    assert b.shape == (7, 6)
    c = matrix(run("-Q", "10", "-P", "8", "9")[2])
    gram = c.T @ c
    assert not (gram - np.diag(np.diag(gram))).any() and set(c.ravel()) == {-1, 0, 1}


def test_random_codes(run):
    a = matrix(run("-Q", "7", "-P", "5")[2])
    assert a.shape == (8, 5) and (a == 0).any()
    b = matrix(run("-Q", "7", "-P", "-G", "5", "12")[2])
    assert b.shape == (12, 5) and not (b == 0).any()
    assert matrix(run("-Q", "16", "-P", "5")[2]).all()
    for rows in (a, b):
        assert len({tuple(row * row[row != 0][0]) for row in rows}) == len(rows)


@pytest.mark.parametrize("words", [["-Q", "7", "9"], ["-Q", "16", "9"], ["-Q7", "-G", "9", "10"]])
def test_seeds(run, words):
    first = run("--seed", "1", *words)
    assert first[0] == 0 and run(*words) == first == run("--seed", "1", *words)
    assert len({run("--seed", str(seed), *words)[1] for seed in range(6)}) == 6


@pytest.mark.parametrize("words, exist", [(["4", "100"], 25), (["-G", "4", "8"], 7)])
def test_more_random_rows_than_there_are(run, words, exist):
    refused(run("-Q", "7", *words), 2, f"only {exist} exist")
    most = [*words[:-1], str(exist)]
    assert len(parse(run("-Q", "7", *most)[1]).rows) == exist


@pytest.mark.parametrize("words, status, text", [
    (["-Q", "7", "9", "2"], 2, "at least 3 rows, not 2"),
    (["-Q", "17", "4"], 2, "16 random-as-orthogonal"),
    (["-Q", "-1", "4"], 2, "there is no scheme '-1'"),
    (["-Q", "8", "40"], 2, "at most 20 classes"),
    (["4", "5"], 2, "nrow is for -Q random and orth"),
    (["-Q", "7", "4", "0"], 2, "1 or more"),
    (["-Q", "7", "4", "x"], 2, "expected a whole number"),
    (["-Q", "3", "4"], 2, "expected training data"),
    (["1"], 2, "at least 2 classes"), (["0"], 2, "at least 2 classes"),
    (["100001"], 2, "100000"), (["9" * 30], 2, "100000"),
    (["-Q", "10", "8", "3"], 2, "possible:"),
    (["nothing"], 1, "nothing.cls: cannot read"), (["-M", "nothing"], 1, "nothing: cannot read"),
    (["-M", "-A", "x"], 2, "exclude each other"),
    (["--names", "nothing", "3"], 1, "nothing: cannot read"),
    ([], 2, "operands are missing"), (["3", "4", "5"], 2, "unrecognized"), (["--frob", "3"], 2, "--frob"),
    (["-Q"], 2, "expected a value"), (["--seed", "x", "3"], 2, "whole number"),
    (["-Q", "9", "nothing"], 1, "nothing: cannot read"),
    (["-Q", "9", "--options", "-c 2", "-"], 2, "--options"),
    (["-Q", "9", "-"], 1, "standard input:1:1: expected a control file, found an empty one"),
    (["three\nlines\n"], 1, "three\\nlines\\n.cls")])
def test_refused(run, words, status, text):
    refused(run(*words), status, text)


@pytest.mark.parametrize("words, plain, told", [
    (["-Q", "one-vs-one", "-n", "4"], ["4"], "-n is for -Q empirical and adjacent-ordered, and "
     "changes nothing in one-vs-one"),
    (["-Q", "0", "-S", "2", "-a", "f.std", "4"], ["-Q", "0", "4"], "-a is for"),
    (["-Q", "5", "-G", "4"], ["-Q", "5", "4"], "-G is for -Q random, and changes nothing in adj"),
    (["-Y", "4"], ["4"], "-Y is for -Q orthogonal, and")])
def test_options_of_libagf_without_effect_give_a_warning(run, words, plain, told):
    status, out, err = run(*words)
    assert (status, out) == (0, run(*plain)[1])
    assert told in err and err.count("\n") == words.count("-S") + 1
    assert run("--quiet", *words) == (0, out, "")


def test_fewer_rows_than_determine_probabilities(run):
    """libAGF takes them; the classes can be told apart all the same."""
    status, out, err = run("-Q", "7", "8", "6")
    assert status == 0 and len(parse(out).rows) == 6
    assert err == ("print_control: warning: 6 rows do not determine the probabilities of 8 classes:"
                   " at least 7 are needed\n")


@pytest.mark.parametrize("words, text", [
    (["10000"], "a code of 49995000 rows for 10000 classes is too large to be read again: rows "
     "times classes may be 536870912 at most; print_control -Q tree has no such limit"),
    (["1025"], "a code of 524800 rows for 1025 classes"),
    (["-Q", "0", "8000"], "it would have 297 MiB of text, and 256 are the most; print_control"),
    (["-Q", "4", "10000"], "a code of at least 10000 rows for 10000 classes"),
    (["-Q", "5", "100000"], "rows times classes"), (["-Q", "6", "23171"], "rows times classes"),
    (["-Q", "7", "10000"], "308 MiB"), (["-Q", "7", "-G", "8000"], "297 MiB"),
    (["-Q", "7", "9", "99999999"], "rows times classes"), (["-Q", "16", "8000"], "297 MiB"),
    (["-Q", "10", "30000"], "rows times classes"), (["many"], "for 1025 classes"),
    (["-Q", "ordered", "-M", "far.svm"], "a code of 7999 rows for 8000 classes")])
def test_codes_too_large_to_be_read(run, words, text):
    if "many" in words:
        np.arange(1025, dtype="<i4").tofile("many.cls")
    if "far.svm" in words:
        with open("far.svm", "w") as file:
            file.writelines(f"{i} 1:{i}\n" for i in range(8000))
    refused(run(*words), 2, text)


def test_trees_too_large_to_be_read(run, monkeypatch):
    code = run("-Q", "2", "--options", "a b", "2000")[1]
    monkeypatch.setattr("agfmc.control.parse.MAX_CELLS", 1999 * 2000 - 1)
    refused(run("-Q", "9", "-", stdin=code), 1, "the control file would be too large to be read "
            "again: the coding matrices up to here have 3998000 entries: there may be 3997999 at "
            "most")
    monkeypatch.setattr("agfmc.control.parse.MAX_CELLS", 1999 * 2000)
    assert run("-Q", "9", "-", stdin=code)[0] == 0
    size = len(run("-Q", "0", "--options", "\u00fc", "9")[1].encode())
    for largest in (size, size - 1):
        monkeypatch.setattr("agfmc.control.write.MAX_TEXT", largest)
        answer = run("-Q", "0", "--options", "\u00fc", "9")
        assert answer[0] == 0 if largest == size else "MiB of text" in answer[2]
    monkeypatch.setattr("agfmc.control.write.MAX_TEXT", 10**9)
    save("near", (0, 1, 2, 3))
    monkeypatch.setattr("agfmc.control.write.MAX_DEPTH", 1)
    refused(run("-Q", "3", "near"), 1, "again: nested deeper than 1 levels")
    monkeypatch.setattr("agfmc.formats.inputs.memory_limit", lambda: 2 * 21 * 16 - 2)
    refused(run("-Q", "3", "near"), 1, "the distances of 4 classes are more than")


@pytest.mark.parametrize("words", [["-Q", "5", "500"], ["-Q", "0", "500"], ["-Q", "4", "500"],
                                   ["120"], ["--options", "-c 2", "-Q", "8", "13"]])
def test_rows_are_written_one_by_one(run, monkeypatch, words):
    """Memory does not grow with the text, which is longer than all that is held at once."""
    assert run(*words[:-1], "5")[0] == 0  # what is loaded for it
    size = 0

    def write(text):
        nonlocal size
        size += len(text)

    monkeypatch.setattr(sys, "stdout", SimpleNamespace(
        write=write, flush=lambda: None, isatty=lambda: False))
    tracemalloc.start()
    try:
        assert main(words) == 0
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < size


def test_operands_behind_two_dashes(run):
    assert run("--", "3") == run("3")
    refused(run("--", "3", "-Q"), 2, "expected a whole number, found '-Q'")
    refused(run("--", "-Q"), 1, "-Q.cls: cannot read")


def test_convert_from_standard_input(run):
    status, out, err = run("-Q", "9", "-", stdin='"-c 1" { "" {0 1} ". " {3 2}}\n')
    assert (status, err) == (0, "")
    assert parse(out).labels == (0, 1, 3, 2)
    assert out == '"-c 1" 0 1 / 2 3;\n"" 0 / 1;\n". " 2 / 3;\n{ 0 1 3 2}\n'


def test_convert_a_trained_file(run):
    status, out, err = run("-Q", "9", "-P", "-", stdin="m { m.00 {2 5} 9}")
    assert status == 0 and out.startswith("m 0 1 / 2;\nm.00 0 / 1;\n")
    assert matrix(err).tolist() == [[-1, -1, 1], [-1, 1, 0]]
    assert run("-Q", "9", "-", stdin=out)[:2] == (0, out)


def test_labels_and_names_from_data(run):
    save("gaps", (5, 2, 9))
    assert run("-Q", "0", "gaps") == (0, '"" 1 2 / 0;\n"" 0 2 / 1;\n"" 0 1 / 2;\n{ 2 5 9}\n', "")
    save("named", (1, 0), ("b irch", "pine"))
    assert run("named")[1] == '# class 0: b irch\n# class 1: pine\n"" 0 / 1;\n{ 0 1}\n'
    Path("words.svm").write_text("pine 1:2\nbirch 1:1\npine 1:3\n")
    assert run("-M", "words.svm")[1] == '# class 0: birch\n# class 1: pine\n"" 0 / 1;\n{ 0 1}\n'
    Path("own").write_text("x\ny\n")
    assert run("--names", "own", "named")[1].startswith("# class 0: x\n# class 1: y\n")
    assert run("--names", "own", "2")[1].startswith("# class 0: x\n# class 1: y\n")


def test_tree_from_data(run):
    save("near", (0, 4, 5))
    status, out, err = run("-Q", "3", "near")
    assert (status, err) == (0, "")
    tree = parse(out)
    assert len(tree.rows) == 2 and {frozenset(tree.sides()[1][0]), frozenset(tree.sides()[1][1])} \
        == {frozenset({4}), frozenset({5})}
    assert run("-Q", "3", "-n", "-a", "near.std", "near")[0] == 0
    assert run("-Q", "3", "-a", "near.std", "near") == run("-Q", "3", "-n", "near")


def test_data_of_one_class(run):
    save("one", (7,))
    for scheme in ("1", "3"):
        refused(run("-Q", scheme, "one"), 1, "one: holds one class")


def test_options_in_the_quotes(run):
    assert run("--options", "-c 5", "2")[1] == '"-c 5" 0 / 1;\n{ 0 1}\n'
    status, out, _ = run("--options", 'a"b\\', "2")
    assert status == 0 and parse(out).rows[0].text == 'a"b\\'
