"""--min-class: what comes of data with small classes is what comes of data without them."""

import os
import shlex
from pathlib import Path

import numpy as np
import pytest

from agfmc.formats.libsvm_data import write_svm
from agfmc.formats.vectors import read_cls, write_cls, write_vec


@pytest.fixture(autouse=True)
def folder(folder):
    """Data of six classes as `rare`, and as `clean` without class 2, of 1 row, and 9, of 3."""
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
    return folder


def files(*left_out):
    return {name: open(name, "rb").read() for name in os.listdir(".")
            if name.startswith("m") and name not in left_out}


@pytest.fixture
def trained(run):
    """Function: the files of a training run, which go."""
    def trained(*words):
        run("multi_borders", *words, "m", "m.mbc")
        found = files()
        for name in found:
            os.remove(name)
        return found

    return trained


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest", "adjacent", "exhaustive",
                                    "tree", "orthogonal", "random", "empirical",
                                    "adjacent-ordered"])
def test_designs_are_those_of_data_without_them(scheme, run):
    got = run("print_control", "-Q", scheme, "--min-class", 4, "rare").out
    assert got == run("print_control", "-Q", scheme, "clean").out
    assert got == run("print_control", "-Q", scheme, "--min-class", 4, "-M", "rare.svm").out


def test_one_warning_names_the_classes_left_out(run):
    done = run("print_control", "--min-class", 4, "rare")
    assert done.err == (
        "print_control: warning: 2 of 6 classes have fewer than 4 samples and are left out: "
        "2 (1), 9 (3); 4 of 52 samples\n")
    run("print_control", "--min-class", 4, "clean")
    assert run("print_control", "--min-class", 4, "--quiet", "rare").err == ""


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest", "adjacent"])
@pytest.mark.parametrize("options", [["-n"], ["-S", "2"], ["-M"], ["--platt", "loo", "-j", "2"]])
def test_training_is_that_of_data_without_them(scheme, options, run, trained):
    end = ".svm" if "-M" in options else ""
    for name in ("rare", "clean"):
        Path(f"{name}.mbt").write_text(run("print_control", "-Q", scheme, name).out)
    wanted = trained(*options, "clean.mbt", f"clean{end}")
    assert trained(*options, "--min-class", 4, "clean.mbt", f"rare{end}") == wanted
    assert trained(*options, "--min-class", 4, "rare.mbt", f"rare{end}") == wanted
    told = run("multi_borders", *options, "--min-class", 4, "rare.mbt", f"rare{end}", "m", "c").err
    size, left = {"one-vs-one": (15, 6), "one-vs-rest": (6, 4), "adjacent": (5, 3)}[scheme]
    assert f"rare.mbt: {left} of {size} classifiers remain without classes 2, 9\n" in told


def test_of_nested_controls_what_is_left_is_trained(folder, trained):
    """Rows with zeros, a node that is replaced by its branch, a direct classifier, no samples."""
    for nested, left in (
            ('"-c 2" 0 1 / 2; "-c 3" 0 / 1; "." 0 / 2; { "" 0 / 1; {9 0} "-t 0" { "-c 4" {1 2} '
             '"" {4 7} } 3 }', '"-c 2" 0 1 / 2; "-c 3" 0 / 1; "-c 3" 0 / 2; { 0 "-t 0" {1 4} 3 }'),
            ('"" L { 0 2 "-k 3" K {1 9 3} 4 }', '"" L { 0 "-k 3" K {1 3} 4 }'),
            ('"" { 9 "" L { 0 "" { 2 "" {1 3} } 4 } }', '"" L { 0 "" {1 3} 4 }')):
        (folder / "nested").write_text(nested)
        (folder / "left").write_text(left)
        wanted = trained("left", "clean")
        assert trained("--min-class", 4, "nested", "rare") == wanted


def test_answers_never_name_them(folder, run):
    (folder / "plan").write_text(run("print_control", "rare").out)
    run("multi_borders", "--min-class", 4, "plan", "rare", "m", "m.mbc")
    (folder / "p.txt").write_text(run("classify_m", "--header", "m.mbc", "rare.vec", "ans").out)
    assert not np.isin(read_cls("ans.cls"), (2, 9)).any()
    assert run("classify_m", "--header", "m.mbc", "clean.vec", "a2").out.startswith(
        "labels 0 1 3 4\n")
    right = np.mean(read_cls("ans.cls") == read_cls("rare.cls"))
    assert f"accuracy                    {right:.6f}" in run("eval_uc", "rare.cls", "ans").out
    done = run("eval_uc", "rare.cls", "ans", "p.txt", status=1)
    assert "without p.txt, and such points count as wrong" in done.err


def test_class_names_stay(folder, run):
    words = np.array("ash bay cat doe elk f g h i yew".split())
    x, y = np.fromfile("rare.vec", "<f4")[1:].reshape(-1, 3), read_cls("rare.cls")
    write_svm("words.svm", x, y, names=tuple(words))
    design = run("print_control", "-M", "--min-class", 4, "words.svm").out
    (folder / "plan").write_text(design)
    assert "doe" in design and "cat" not in design and "yew" not in design
    done = run("multi_borders", "-M", "--min-class", 4, "plan", "words.svm", "m", "m.mbc")
    assert "2 'cat' (1), 5 'yew' (3)" in done.err


def test_printed_commands_and_resume(folder, run, trained):
    (folder / "plan").write_text(run("print_control", "rare").out)
    wanted = trained("-n", "plan", "--min-class", 4, "rare")
    lines = run("multi_borders", "-0", "-n", "--min-class", 4, "plan", "rare", "m",
                "m.mbc").out.splitlines()
    assert len(lines) == 6
    for line in lines:
        words = shlex.split(line)
        at = next(i for i, word in enumerate(words) if word.startswith("--only="))
        assert "--min-class=4" in words
        run("multi_borders", *words[at:])
    assert files() == wanted
    os.remove("m-03")
    done = run("multi_borders", "-n", "--min-class", 4, "plan", "rare", "m", "m.mbc")
    assert "kept from an earlier run: 5 of 6" in done.err
    assert files() == wanted
    run("multi_borders", "--min-class", 4, "--only", "m-06", "plan", "rare", "m", "m.mbc", status=2)


@pytest.mark.parametrize("control", ["one-vs-one", "rare.mbt"])
def test_evaluation_is_that_of_data_without_them(control, folder, run):
    for name in ("rare", "clean"):
        (folder / f"{name}.mbt").write_text(run("print_control", name).out)
    clean = control.replace("rare", "clean")
    run("nfold", "-n", "-d", 3, "--min-class", 4, control, "rare", "r")
    run("nfold", "-n", "-d", 3, clean, "clean", "c")
    for end in ("cls", "con", "txt", "truth"):
        assert (folder / f"r.{end}").read_bytes() == (folder / f"c.{end}").read_bytes()
    options = ("--trials", 2, "--csv")
    tables = [[line.split(",")[9:] for line in run("compare_control", *options, *words).out
               .splitlines()] for words in (["--min-class", 4, "rare", control], ["clean", clean])]
    assert tables[0] == tables[1]
    small = ("--log2c", "0:2", "--log2g", "-2:0", "--refine", 0, "--quiet")
    assert run("tune_m", *small, "--min-class", 4, control, "rare").out == \
        run("tune_m", *small, clean, "clean").out


def test_the_best_configuration_is_that_of_data_without_them(run):
    options = ("--best", "-Q", "one-vs-one,adjacent", "--quiet", "-d", "3", "--trials", 1)
    assert run("print_control", *options, "--min-class", 4, "rare").out == \
        run("print_control", *options, "clean").out


def test_orders_are_those_of_data_without_them(folder, run):
    for name in ("rare", "clean"):
        (folder / name).write_text(run("print_control", "-Q", "adjacent", name).out)
        (folder / f"{name}1").write_text(run("print_control", name).out)
    assert run("order_classes", "--path", "--min-class", 4, "rare", "rare").out == \
        run("order_classes", "--path", "clean", "clean").out
    assert run("order_classes", "--min-class", 4, "rare1", "rare").out == \
        run("order_classes", "clean1", "clean").out


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
     "--min-class 4 leaves out the classes with fewer than 4 samples")])
def test_messages_recommend_min_class(words, told, folder, run):
    (folder / "plan").write_text(run("print_control", "rare").out)
    (folder / "clean").write_text(run("print_control", "clean").out)
    assert told in run(*words, status=1).err.splitlines()[-1]


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
    (["multi_borders", "--min-class", "0", "plan", "rare", "m", "m.mbc"], 2, "out of range")])
def test_what_is_refused(words, status, told, folder, run):
    (folder / "plan").write_text(run("print_control", "rare").out)
    (folder / "two").write_text('"" 0/1; "" 1/2; "" 0/2; {2 9 1}')
    (folder / "zeros").write_text('"" 0/1; "" 0/2; "" 0/3; "" 0/4; {2 0 1 3 4}')
    assert told in run(*words, status=status).err
