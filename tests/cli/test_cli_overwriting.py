"""Outputs with the names of inputs or of each other, and class names that differ."""

import os
from pathlib import Path

import numpy as np
import pytest

from agfmc.formats.lvq import write_lvq
from agfmc.formats.libsvm_data import write_svm
from agfmc.formats.vectors import read_cls, read_vec, write_cls, write_vec


@pytest.fixture(autouse=True)
def folder(folder):
    """A folder with data of three classes in all formats, a plan, and answers in text."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 30)
    x = rng.normal(size=(90, 3)) + y[:, None]
    write_vec("trn.vec", x)
    write_cls("trn.cls", y)
    write_svm("t.svm", x, y)
    write_lvq("t.lvq", x, y)
    (folder / "plan").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
    (folder / "p.txt").write_text("".join(f".5 .3 .2 {label}\n" for label in y))
    (folder / "r.svg").write_text("1 .5 .2\n")
    for name in ("y.vec", "y.cls", "y.names"):
        os.link("t.lvq", name)
    for name in ("part-01.vec", "part-01.cls"):
        os.link(f"trn{name[-4:]}", name)
    os.symlink("trn.vec", "link.con")
    os.symlink("trn.vec", "half.vec")
    return folder


def contents():
    return {name: open(name, "rb").read() for name in os.listdir() if os.path.isfile(name)}


def refused(run, words, text="would overwrite an input"):
    """Status 2 and one line with the text, and every file is as it was."""
    before = contents()
    err = run(*words.split(), status=2).err
    assert err.count("\n") == 1 and text in err
    assert contents() == before


@pytest.mark.parametrize("words", [
    "agf_preprocess -f .3 trn trn b", "agf_preprocess -f .3 trn a trn",
    "agf_preprocess trn ./trn 0 / 1", "agf_preprocess -d 2 part-01 part",
    "agf_preprocess -n -a trn.vec trn x", "agf_preprocess -z trn half",
    "agf_preprocess -a trn.cls part-01 trn", "agf_preprocess -M -f .5 t.svm t.svm u",
    "agf_preprocess -A t.lvq t.lvq 0 / 1", "agf_preprocess -M -n -a t.svm t.svm u",
    "agf2ascii trn trn.cls", "agf2ascii -M trn ./trn.vec", "agf2ascii -C trn.vec trn.vec",
    "lvq2agf y.vec y", "lvq2agf y.cls y", "lvq2agf -o y.vec y", "svm2agf y.names y",
    "svm2agf --names trn.cls t.svm trn", "svm2agf -U --names y.names t.svm y",
    "validate_probabilities -H trn.cls p.txt trn.cls",
    "validate_probabilities -H trn.cls p.txt p.txt",
    "validate_probabilities -b trn.cls part-01 part-01.cls",
    "order_classes --path -n -a trn.cls plan trn", "order_classes --path -n -a plan plan trn",
    "simulate_decoders --similarity r.svg --plot r.svg"])
def test_no_output_takes_the_place_of_an_input(run, words):
    refused(run, words)


@pytest.mark.parametrize("words", [
    "agf_preprocess -n -a x.vec trn x", "agf_preprocess -f .5 trn x ./x",
    "agf_preprocess -n -a trn.vec trn trn", "agf_preprocess -M -n -f .5 t.svm x x.std",
    "agf_preprocess -M -1 -n -a - t.svm"])
def test_no_two_outputs_have_one_name(run, words):
    refused(run, words, "two outputs would go to")


@pytest.mark.parametrize("words, what", [
    ("-n -a trn.cls plan trn m m.mbc", "the normalisation would be 'trn.cls'"),
    ("-n -a plan plan trn m m.mbc", "the normalisation would be 'plan'"),
    ("-M -n -a t.svm plan t.svm m m.mbc", "the normalisation would be 't.svm'"),
    ("-n -a m.mbc plan trn m m.mbc", "that is the normalisation already"),
    ("--only m-01 -n -a trn.cls plan trn m x", "the normalisation would be 'trn.cls'"),
    ("plan trn m trn.vec", "control-out would be 'trn.vec'"), ("plan trn m plan", " would be "),
    ("-n plan trn m m.std", "would be"), ("-a trn.std plan trn m trn.std", " would be "),
    ("-M tree t.svm t.svm out.mbc", " would be "),
    ("--cv-errors trn.cls plan trn m m.mbc", "the file of --cv-errors would be 'trn.cls'"),
    ("--cv-errors plan plan trn m m.mbc", "the file of --cv-errors would be 'plan'"),
    ("--cv-errors ./m.mbc plan trn m m.mbc", "that is control-out already"),
    ("--cv-errors m-01 plan trn m m.mbc", "that is the file of --cv-errors already"),
    ("--cv-errors e -n -a e plan trn m m.mbc", "that is the normalisation already")])
def test_no_output_of_the_training_takes_another_place(run, folder, words, what):
    (folder / "tree").write_text('"" {0 "" {1 2}}')
    run("agf_preprocess", "-n", "trn", "x")
    os.rename("x.std", "trn.std")
    refused(run, f"multi_borders {words}", what)


def test_a_normalisation_is_written_again(run):
    for _ in range(2):
        run("multi_borders", "-n", "-a", "n.std", "--cv-errors", "e", "plan", "trn", "m", "m.mbc")


@pytest.mark.parametrize("words", [
    "--priors new.cls m.mbc trn.vec new", "m.mbc trn.vec link",
    "--priors .2,.2,.6 --trained-priors new.cls m.mbc trn.vec new"])
def test_no_answer_takes_the_place_of_an_input(run, words):
    run("multi_borders", "plan", "trn", "m", "m.mbc")
    os.link("trn.cls", "new.cls")
    refused(run, f"classify_m {words}")
    refused(run, "classify_m m.mbc trn.vec trn", "the labels of trn.vec")


@pytest.mark.parametrize("words", [
    "agf_preprocess -B trn trn", "agf_preprocess -n ./trn trn", "agf_preprocess -M -z t.svm t.svm",
    "agf_preprocess -A -B t.lvq ./t.lvq"])
def test_a_whole_conversion_may_be_in_place(run, words):
    *_, name = words.split()
    run(*words.split())
    if name == "trn":
        assert len(read_vec("trn.vec")) == len(read_cls("trn.cls")) == 90
    else:
        assert len(open(name).readlines()) == 90 + name.endswith("lvq")


def test_text_may_have_the_name_of_a_file_that_is_not_written(run):
    os.rename("t.svm", "u.dat")
    run("svm2agf", "u.dat", "u")
    run("lvq2agf", "-o", "y.cls", "y")
    assert open("y.cls").readline() == "3\n"


def test_names_may_be_those_of_the_output(run):
    Path("w.svm").write_text("b 1:1\na 1:2\n")
    Path("w.names").write_text("c\nb\na\n")
    run("svm2agf", "--names", "w.names", "w.svm", "w")
    assert Path("w.names").read_text() == "c\nb\na\n" and read_cls("w.cls").tolist() == [1, 2]


def answers(run, model, names):
    """What classify_m says about points with such names."""
    Path("trn.names").write_text(names)
    return run("classify_m", model, "trn.vec", "x").err


def test_class_names_that_differ_give_a_warning(run):
    with open("plan", "r+") as file:
        text = file.read()
        file.seek(0)
        file.write("# class 0: cat\n# class 1: dog\n# class 2: owl\n" + text)
    run("multi_borders", "plan", "trn", "m", "m.mbc")
    run("mbh2mbm", "m.mbc", "m.mbm")
    for model in ("m.mbc", "m.mbm"):
        told = answers(run, model, "dog\nowl\n")
        assert told.count("\n") == 1 and "--names of svm2agf and lvq2agf" in told
        assert f"trn.names: class 0 is 'dog', in {model} 'cat' (and 1 more):" in told
        assert "class 1 is 'ape', in" in answers(run, model, "cat\nape\nowl\nyak\n")
        for names in ("cat\ndog\nowl\n", "cat\n", "cat\ndog\nowl\nyak\n"):
            assert answers(run, model, names) == ""
    assert answers(run, "m.mbm", "cat\n\nowl\n") == ""  # no names, but points all the same
    os.unlink("trn.names")
    Path("plan").write_text(text)
    run("multi_borders", "plan", "trn", "m", "m.mbc")
    assert answers(run, "m.mbc", "dog\nowl\n") == ""


@pytest.mark.parametrize("text, words, problem", [
    ("# c\n0 1:1\n\n1 1:1e300\n", "svm2agf in b", "in:4: a value is too large"),
    ("0 1:1\n1 1:3 2:-3.41e38 # x\n", "svm2agf -U in b", "in:2: a value is too large"),
    ("0 1:1\n1e39 1:1\n", "svm2agf -L in b", "in:2: a value is too large"),
    ("\n1\n\n1e300 0\n", "lvq2agf in b", "in:4: a value is too large")])
def test_what_binary_files_cannot_hold_is_refused_with_its_line(run, text, words, problem):
    Path("in").write_text(text)
    err = run(*words.split(), status=1).err
    assert err.count("\n") == 1 and problem in err and not os.path.exists("b.vec")


def test_the_largest_float32_has_a_place(run):
    limit = float(np.finfo(np.float32).max)
    Path("in").write_text(f"0 1:{limit!r}\n1 1:{-limit!r}\n")
    run("svm2agf", "in", "b")
    assert read_vec("b.vec").ravel().tolist() == [limit, -limit]


@pytest.mark.parametrize("words", [["mbh2mbm", "m.mbc", "-"], ["mbh2mbm", "m.mbc", ""],
                                   ["classify_m", "m.mbc", "trn.vec", "-"]])
def test_standard_output_is_no_name_of_files(run, words):
    before = sorted(os.listdir())
    assert "expected " in run(*words, status=2).err and sorted(os.listdir()) == before
