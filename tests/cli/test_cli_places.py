"""Outputs in the place of inputs or of each other, and names of classes that do not agree."""

import importlib
import os

import numpy as np
import pytest

from agfmc.formats.lvq import write_lvq
from agfmc.formats.libsvm_data import write_svm
from agfmc.formats.vectors import read_cls, read_vec, write_cls, write_vec


def call(command, *words):
    return importlib.import_module(f"agfmc.cli.{command}").main([str(word) for word in words])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, capsys):
    """A folder with data of three classes in all formats, a plan, and answers in text."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 30)
    x = rng.normal(size=(90, 3)) + y[:, None]
    write_vec("trn.vec", x)
    write_cls("trn.cls", y)
    write_svm("t.svm", x, y)
    write_lvq("t.lvq", x, y)
    (tmp_path / "plan").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
    (tmp_path / "p.txt").write_text("".join(f".5 .3 .2 {label}\n" for label in y))
    (tmp_path / "r.svg").write_text("1 .5 .2\n")
    for name in ("y.vec", "y.cls", "y.names"):
        os.link("t.lvq", name)
    for name in ("part-01.vec", "part-01.cls"):
        os.link(f"trn{name[-4:]}", name)
    os.symlink("trn.vec", "link.con")
    os.symlink("trn.vec", "half.vec")
    return tmp_path


def contents():
    return {name: open(name, "rb").read() for name in os.listdir() if os.path.isfile(name)}


def refused(capsys, words, text="would take the place of an input"):
    """Status 2 and one line with the text, and every file is as it was."""
    before = contents()
    capsys.readouterr()
    assert call(*words.split()) == 2
    err = capsys.readouterr().err
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
def test_no_output_takes_the_place_of_an_input(capsys, words):
    refused(capsys, words)


@pytest.mark.parametrize("words", [
    "agf_preprocess -n -a x.vec trn x", "agf_preprocess -f .5 trn x ./x",
    "agf_preprocess -n -a trn.vec trn trn", "agf_preprocess -M -n -f .5 t.svm x x.std",
    "agf_preprocess -M -1 -n -a - t.svm"])
def test_no_two_outputs_have_one_name(capsys, words):
    refused(capsys, words, "two outputs would go to")


@pytest.mark.parametrize("words, what", [
    ("-n -a trn.cls plan trn m m.mbc", "the normalisation would be 'trn.cls'"),
    ("-n -a plan plan trn m m.mbc", "the normalisation would be 'plan'"),
    ("-M -n -a t.svm plan t.svm m m.mbc", "the normalisation would be 't.svm'"),
    ("-n -a m.mbc plan trn m m.mbc", "that is the normalisation already"),
    ("--only m-01 -n -a trn.cls plan trn m x", "the normalisation would be 'trn.cls'"),
    ("--cv-errors trn.cls plan trn m m.mbc", "the file of --cv-errors would be 'trn.cls'"),
    ("--cv-errors plan plan trn m m.mbc", "the file of --cv-errors would be 'plan'"),
    ("--cv-errors ./m.mbc plan trn m m.mbc", "that is control-out already"),
    ("--cv-errors m-01 plan trn m m.mbc", "that is the file of --cv-errors already"),
    ("--cv-errors e -n -a e plan trn m m.mbc", "that is the normalisation already")])
def test_no_output_of_the_training_takes_another_place(capsys, words, what):
    refused(capsys, f"multi_borders {words}", what)


def test_a_normalisation_is_written_again(capsys):
    for _ in range(2):
        assert call("multi_borders", "-n", "-a", "n.std", "--cv-errors", "e", "plan", "trn", "m",
                    "m.mbc") == 0


@pytest.mark.parametrize("words", [
    "--priors new.cls m.mbc trn.vec new", "m.mbc trn.vec link",
    "--priors .2,.2,.6 --trained-priors new.cls m.mbc trn.vec new"])
def test_no_answer_takes_the_place_of_an_input(capsys, words):
    assert call("multi_borders", "plan", "trn", "m", "m.mbc") == 0
    os.link("trn.cls", "new.cls")
    refused(capsys, f"classify_m {words}")


@pytest.mark.parametrize("words", [
    "agf_preprocess -B trn trn", "agf_preprocess -n ./trn trn", "agf_preprocess -M -z t.svm t.svm",
    "agf_preprocess -A -B t.lvq ./t.lvq"])
def test_a_whole_conversion_may_be_in_place(words):
    *_, name = words.split()
    assert call(*words.split()) == 0
    if name == "trn":
        assert len(read_vec("trn.vec")) == len(read_cls("trn.cls")) == 90
    else:
        assert len(open(name).readlines()) == 90 + name.endswith("lvq")


def test_text_may_have_the_name_of_a_file_that_is_not_written():
    os.rename("t.svm", "u.dat")
    assert call("svm2agf", "u.dat", "u") == 0
    assert call("lvq2agf", "-o", "y.cls", "y") == 0
    assert open("y.cls").readline() == "3\n"


def test_names_may_be_those_of_the_output():
    with open("w.svm", "w") as file:
        file.write("b 1:1\na 1:2\n")
    with open("w.names", "w") as file:
        file.write("c\nb\na\n")
    assert call("svm2agf", "--names", "w.names", "w.svm", "w") == 0
    assert open("w.names").read() == "c\nb\na\n" and read_cls("w.cls").tolist() == [1, 2]


def answers(capsys, model, names):
    """What classify_m says about points with such names."""
    with open("trn.names", "w") as file:
        file.write(names)
    capsys.readouterr()
    assert call("classify_m", model, "trn.vec", "x") == 0
    return capsys.readouterr().err


def test_names_that_do_not_agree_are_told(capsys):
    with open("plan", "r+") as file:
        text = file.read()
        file.seek(0)
        file.write("# class 0: cat\n# class 1: dog\n# class 2: owl\n" + text)
    assert call("multi_borders", "plan", "trn", "m", "m.mbc") == 0
    assert call("mbh2mbm", "m.mbc", "m.mbm") == 0
    for model in ("m.mbc", "m.mbm"):
        told = answers(capsys, model, "dog\nowl\n")
        assert told.count("\n") == 1 and "--names of svm2agf and lvq2agf" in told
        assert f"trn.names: class 0 is 'dog', in {model} 'cat' (and 1 more):" in told
        assert "class 1 is 'ape', in" in answers(capsys, model, "cat\nape\nowl\nyak\n")
        for names in ("cat\ndog\nowl\n", "cat\n", "cat\ndog\nowl\nyak\n"):
            assert answers(capsys, model, names) == ""
    assert answers(capsys, "m.mbm", "cat\n\nowl\n") == ""  # no names, but points all the same
    os.unlink("trn.names")
    with open("plan", "w") as file:
        file.write(text)
    assert call("multi_borders", "plan", "trn", "m", "m.mbc") == 0
    assert answers(capsys, "m.mbc", "dog\nowl\n") == ""


@pytest.mark.parametrize("text, words, problem", [
    ("# c\n0 1:1\n\n1 1:1e300\n", "svm2agf in b", "in:4: a value is too large"),
    ("0 1:1\n1 1:3 2:-3.41e38 # x\n", "svm2agf -U in b", "in:2: a value is too large"),
    ("0 1:1\n1e39 1:1\n", "svm2agf -L in b", "in:2: a value is too large"),
    ("\n1\n\n1e300 0\n", "lvq2agf in b", "in:4: a value is too large")])
def test_what_has_no_place_in_binary_files_is_told_with_its_line(capsys, text, words, problem):
    with open("in", "w") as file:
        file.write(text)
    assert call(*words.split()) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and problem in err and not os.path.exists("b.vec")


def test_the_largest_float32_has_a_place():
    limit = float(np.finfo(np.float32).max)
    with open("in", "w") as file:
        file.write(f"0 1:{limit!r}\n1 1:{-limit!r}\n")
    assert call("svm2agf", "in", "b") == 0
    assert read_vec("b.vec").ravel().tolist() == [limit, -limit]


@pytest.mark.parametrize("words", [["mbh2mbm", "m.mbc", "-"], ["mbh2mbm", "m.mbc", ""],
                                   ["classify_m", "m.mbc", "trn.vec", "-"]])
def test_standard_output_is_no_name_of_files(capsys, words):
    before = sorted(os.listdir())
    assert call(*words) == 2
    assert "expected " in capsys.readouterr().err and sorted(os.listdir()) == before
