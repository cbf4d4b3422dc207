"""--min-class: what comes of data with small classes is what comes of data without them."""

import importlib
import os
import shlex

import numpy as np
import pytest

from agfmc.formats.libsvm_data import write_svm
from agfmc.formats.vectors import read_cls, write_cls, write_vec


def call(command, *words):
    return importlib.import_module(f"agfmc.cli.{command}").main([str(word) for word in words])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Data of six classes as `rare`, and as `clean` without class 2, of 1 row, and 9, of 3."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    y = np.concatenate([rng.permutation(np.repeat([0, 1, 3, 4], 12)), [9, 2, 9, 9]])
    y = y[rng.permutation(len(y))].astype(np.int32)
    x = (rng.normal(size=(len(y), 3)) + np.stack([y, y % 3, y % 2], 1)).astype(np.float32)
    x[np.isin(y, (2, 9))] += 50  # which a normalisation would show
    large = ~np.isin(y, (2, 9))
    for name, rows in (("rare", slice(None)), ("clean", large)):
        write_vec(f"{name}.vec", x[rows])
        write_cls(f"{name}.cls", y[rows])
        write_svm(f"{name}.svm", x[rows], y[rows])
    return tmp_path


def printed(capsys, command, *words):
    capsys.readouterr()
    assert call(command, *words) == 0
    return capsys.readouterr().out


def files(*left_out):
    return {name: open(name, "rb").read() for name in os.listdir(".")
            if name.startswith("m") and name not in left_out}


def trained(*words):
    """The files of a training run, which go."""
    assert call("multi_borders", *words, "m", "m.mbc") == 0
    found = files()
    for name in found:
        os.remove(name)
    return found


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest", "adjacent", "exhaustive",
                                    "tree", "orthogonal", "random", "empirical",
                                    "adjacent-ordered"])
def test_designs_are_those_of_data_without_them(scheme, capsys):
    got = printed(capsys, "print_control", "-Q", scheme, "--min-class", 4, "rare")
    assert got == printed(capsys, "print_control", "-Q", scheme, "clean")
    assert got == printed(capsys, "print_control", "-Q", scheme, "--min-class", 4, "-M", "rare.svm")


def test_it_is_told_in_one_line(capsys):
    assert call("print_control", "--min-class", 4, "rare") == 0
    assert capsys.readouterr().err == (
        "print_control: warning: 2 of 6 classes have fewer than 4 samples and are left out: "
        "2 (1), 9 (3); 4 of 52 samples\n")
    assert call("print_control", "--min-class", 4, "clean") == 0
    assert call("print_control", "--min-class", 4, "--quiet", "rare") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest", "adjacent"])
@pytest.mark.parametrize("options", [["-n"], ["-S", "2"], ["-M"], ["--platt", "loo", "-j", "2"]])
def test_training_is_that_of_data_without_them(scheme, options, capsys):
    end = ".svm" if "-M" in options else ""
    for name in ("rare", "clean"):
        with open(f"{name}.mbt", "w") as file:
            file.write(printed(capsys, "print_control", "-Q", scheme, name))
    wanted = trained(*options, "clean.mbt", f"clean{end}")
    assert trained(*options, "--min-class", 4, "clean.mbt", f"rare{end}") == wanted
    capsys.readouterr()
    assert trained(*options, "--min-class", 4, "rare.mbt", f"rare{end}") == wanted
    size, left = {"one-vs-one": (15, 6), "one-vs-rest": (6, 4), "adjacent": (5, 3)}[scheme]
    assert f"rare.mbt: {left} of {size} classifiers remain without classes 2, 9\n" in \
        capsys.readouterr().err


def test_of_nested_controls_what_is_left_is_trained(folder, capsys):
    """Rows with zeros, a node that is replaced by its branch, a direct classifier, no samples."""
    for nested, left in (
            ('"-c 2" 0 1 / 2; "-c 3" 0 / 1; "." 0 / 2; { "" 0 / 1; {9 0} "-t 0" { "-c 4" {1 2} '
             '"" {4 7} } 3 }',
             '"-c 2" 0 1 / 2; "-c 3" 0 / 1; "-c 3" 0 / 2; { 0 "-t 0" {1 4} 3 }'),
            ('"" L { 0 2 "-k 3" K {1 9 3} 4 }', '"" L { 0 "-k 3" K {1 3} 4 }'),
            ('"" { 9 "" L { 0 "" { 2 "" {1 3} } 4 } }', '"" L { 0 "" {1 3} 4 }')):
        (folder / "nested").write_text(nested)
        (folder / "left").write_text(left)
        wanted = trained("left", "clean")
        assert trained("--min-class", 4, "nested", "rare") == wanted


def test_answers_never_name_them(folder, capsys):
    (folder / "plan").write_text(printed(capsys, "print_control", "rare"))
    assert call("multi_borders", "--min-class", 4, "plan", "rare", "m", "m.mbc") == 0
    (folder / "p.txt").write_text(printed(capsys, "classify_m", "--header", "m.mbc", "rare.vec",
                                          "ans"))
    assert not np.isin(read_cls("ans.cls"), (2, 9)).any()
    assert printed(capsys, "classify_m", "--header", "m.mbc", "clean.vec", "a2").startswith(
        "labels 0 1 3 4\n")
    right = np.mean(read_cls("ans.cls") == read_cls("rare.cls"))
    assert f"accuracy                    {right:.6f}" in printed(capsys, "eval_uc", "rare.cls",
                                                                 "ans")
    assert call("eval_uc", "rare.cls", "ans", "p.txt") == 1
    assert "without p.txt, and such points count as wrong" in capsys.readouterr().err


def test_class_names_stay(folder, capsys):
    words = np.array("ash bay cat doe elk f g h i yew".split())
    x, y = np.fromfile("rare.vec", "<f4")[1:].reshape(-1, 3), read_cls("rare.cls")
    write_svm("words.svm", x, y, names=tuple(words))
    design = printed(capsys, "print_control", "-M", "--min-class", 4, "words.svm")
    (folder / "plan").write_text(design)
    assert "doe" in design and "cat" not in design and "yew" not in design
    assert call("multi_borders", "-M", "--min-class", 4, "plan", "words.svm", "m", "m.mbc") == 0
    assert "2 'cat' (1), 5 'yew' (3)" in capsys.readouterr().err


def test_printed_commands_and_resume(folder, capsys):
    (folder / "plan").write_text(printed(capsys, "print_control", "rare"))
    wanted = trained("-n", "plan", "--min-class", 4, "rare")
    lines = printed(capsys, "multi_borders", "-0", "-n", "--min-class", 4, "plan", "rare", "m",
                    "m.mbc").splitlines()
    assert len(lines) == 6
    for line in lines:
        words = shlex.split(line)
        at = next(i for i, word in enumerate(words) if word.startswith("--only="))
        assert "--min-class=4" in words and call("multi_borders", *words[at:]) == 0
    assert files() == wanted
    os.remove("m-03")
    capsys.readouterr()
    assert call("multi_borders", "-n", "--min-class", 4, "plan", "rare", "m", "m.mbc") == 0
    assert "kept from an earlier run: 5 of 6" in capsys.readouterr().err
    assert files() == wanted
    assert call("multi_borders", "--min-class", 4, "--only", "m-06", "plan", "rare", "m",
                "m.mbc") == 2


@pytest.mark.parametrize("control", ["one-vs-one", "rare.mbt"])
def test_evaluation_is_that_of_data_without_them(control, folder, capsys):
    for name in ("rare", "clean"):
        (folder / f"{name}.mbt").write_text(printed(capsys, "print_control", name))
    clean = control.replace("rare", "clean")
    assert call("nfold", "-n", "-d", 3, "--min-class", 4, control, "rare", "r") == 0
    assert call("nfold", "-n", "-d", 3, clean, "clean", "c") == 0
    for end in ("cls", "con", "txt", "truth"):
        assert (folder / f"r.{end}").read_bytes() == (folder / f"c.{end}").read_bytes()
    options = ("--trials", 2, "--csv")
    tables = [[line.split(",")[9:] for line in printed(capsys, "compare_control", *options, *words)
               .splitlines()] for words in (["--min-class", 4, "rare", control], ["clean", clean])]
    assert tables[0] == tables[1]
    small = ("--log2c", "0:2", "--log2g", "-2:0", "--refine", 0, "--quiet")
    assert printed(capsys, "tune_m", *small, "--min-class", 4, control, "rare") == \
        printed(capsys, "tune_m", *small, clean, "clean")


def test_the_best_configuration_is_that_of_data_without_them(capsys):
    options = ("--best", "-Q", "one-vs-one,adjacent", "--quiet", "-d", "3", "--trials", 1)
    assert printed(capsys, "print_control", *options, "--min-class", 4, "rare") == \
        printed(capsys, "print_control", *options, "clean")


def test_orders_are_those_of_data_without_them(folder, capsys):
    for name in ("rare", "clean"):
        (folder / name).write_text(printed(capsys, "print_control", "-Q", "adjacent", name))
        (folder / f"{name}1").write_text(printed(capsys, "print_control", name))
    assert printed(capsys, "order_classes", "--path", "--min-class", 4, "rare", "rare") == \
        printed(capsys, "order_classes", "--path", "clean", "clean")
    assert printed(capsys, "order_classes", "--min-class", 4, "rare1", "rare") == \
        printed(capsys, "order_classes", "clean1", "clean")


@pytest.mark.parametrize("words, told", [
    (["compare_control", "rare", "one-vs-one"],
     "class 2, of 1 sample, has 1 in the training part of trial 1: expected at least 2; "
     "--min-class 2 leaves out the classes with fewer than 2 samples"),
    (["nfold", "-d", "4", "one-vs-one", "rare"], "class 2, of 1 sample, has "),
    (["nfold", "-d", "2", "one-vs-one", "--min-class", "2", "rare"],
     "class 9, of 3 samples, has 1 in the training part of trial 1, part 1: expected at least "
     "2; --min-class 4 leaves out the classes with fewer than 4 samples"),
    (["tune_m", "one-vs-one", "rare"], "class 2 has one sample in the data: expected "
     "at least 2, or --min-class 2"),
    (["multi_borders", "plan", "rare", "m", "m.mbc"], "class 2 has one sample in rare: "
     "expected at least 2, or --min-class 2, which leaves out the classes with fewer than 2"),
    (["multi_borders", "clean", "rare", "m", "m.mbc"], "which the control file does not name; "
     "--min-class 4 leaves out the classes with fewer than 4 samples"),
])
def test_messages_tell_the_way_out(words, told, folder, capsys):
    (folder / "plan").write_text(printed(capsys, "print_control", "rare"))
    (folder / "clean").write_text(printed(capsys, "print_control", "clean"))
    assert call(*words) == 1
    assert told in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("words, status, told", [
    (["print_control", "--min-class", "13", "rare"], 1, "no classes of 6 would be left"),
    (["multi_borders", "--min-class", "13", "plan", "rare", "m", "m.mbc"], 1, "no classes of 6"),
    (["multi_borders", "--min-class", "4", "two", "rare", "m", "m.mbc"], 1,
     "two: names fewer than two of the classes"),
    (["multi_borders", "--min-class", "4", "zeros", "rare", "m", "m.mbc"], 1,
     "zeros:1:1: without the classes that are left out, a branch of this coding matrix stands in no "
     "partition: `print_control --min-class N DATA` writes one for the classes that are left"),
    (["print_control", "--min-class", "4", "10"], 2, "counts"),
    (["print_control", "-Q", "convert", "--min-class", "4", "plan"], 2, "counts"),
    (["order_classes", "--min-class", "4", "plan"], 2, "there is none"),
    (["multi_borders", "--min-class", "0", "plan", "rare", "m", "m.mbc"], 2, "out of range"),
])
def test_what_is_refused(words, status, told, folder, capsys):
    (folder / "plan").write_text(printed(capsys, "print_control", "rare"))
    (folder / "two").write_text('"" 0/1; "" 1/2; "" 0/2; {2 9 1}')
    (folder / "zeros").write_text('"" 0/1; "" 0/2; "" 0/3; "" 0/4; {2 0 1 3 4}')
    assert call(*words) == status
    assert told in capsys.readouterr().err
