"""Names without their endings, formats known by the first bytes, and what is left out."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from data_files import write_cls, write_vec


@pytest.fixture(scope="module")
def trained(run, tmp_path_factory):
    """Data of three classes as binary files, text and tables, and models of them."""
    folder = tmp_path_factory.mktemp("names")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        _make(run)
    return folder


def _make(run):
    rng = np.random.default_rng(3)
    for base, n in (("trn", 20), ("tst", 10)):
        y = np.repeat([0, 1, 2], n)
        x = (rng.normal(size=(3 * n, 2)) + 2 * y[:, None]).astype(np.float32)
        write_vec(f"{base}.vec", x), write_cls(f"{base}.cls", y)
        points = [
            " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row)) for row in x.tolist()
        ]
        for name, labels in ((f"{base}-t.svm", y), (f"{base}-w.svm", np.array(["b", "c", "a"])[y])):
            Path(name).write_text("".join(map("{} {}\n".format, labels, points)))
        Path(f"{base}-c.csv").write_text(
            "Age,Size,segment\n"
            + "".join(f"{a},{b},{'pqr'[label]}\n" for (a, b), label in zip(x.tolist(), y))
        )
    for train, model in (("trn", "m"), ("trn-w.svm", "w"), ("trn-c.csv", "t")):
        words = {"m": [], "w": ["-M"], "t": ["--label", "segment"]}[model]
        plan = run("print_control", *words, train).out
        run("multi_borders", "--quiet", *words, "-", train, model, f"{model}.mbc", stdin=plan)
        run("mbh2mbm", "--quiet", f"{model}.mbc", f"{model}.mbm")
    Path("m.txt").write_text(run("classify_m", "m.mbm", "tst.vec", "ans").out)
    Path("w.txt").write_text(run("classify_m", "-M", "w.mbm", "tst-w.svm", "wans").out)
    run("classify_m", "-M", "w.mbm", "tst-w.svm", "wans.csv")
    run("classify_m", "--quiet", "--all-columns", "t.mbm", "tst-c.csv", "t.csv")
    shutil.copy("tst.cls", "held.truth"), shutil.copy("ans.cls", "held.cls")


@pytest.fixture
def there(trained, monkeypatch):
    monkeypatch.chdir(trained)


def test_the_base_of_answers_that_do_not_exist(there, run):
    run("eval_uc", "tst.cls", "other.cls", status=1).refused("eval_uc: other.cls: cannot read")


@pytest.mark.parametrize(
    "name, text", [("steps.sh", "agf_train a b\n"), ("steps", "#!/bin/sh\nls\n")]
)
def test_a_script_is_no_model(folder, run, name, text):
    Path(name).write_text(text)
    for command in (["mbm_info", name], ["classify_m", name, "tst.vec", "out"]):
        run(*command, status=1).refused(
            f"{name}:1:1: expected a control file or a model, found a script: run it, and give the"
        )


SAME = [  # a command line, one that has been the only way to say it, and what standard error tells
    ("mbm_info m", "mbm_info m.mbm", "'m' is taken for m.mbm"),
    ("classify_m m tst out", "classify_m m.mbm tst.vec out", "'tst' is taken for tst.vec"),
    ("classify_m m tst-t out", "classify_m -M m.mbm tst-t.svm out", "'tst-t' is taken for tst-t.s"),
    ("classify_m m.mbm tst-t.svm out", "classify_m -M m.mbm tst-t.svm out", "is LIBSVM text, and"),
    ("mbh2mbm m out.mbm", "mbh2mbm m.mbc out.mbm", "'m' is taken for m.mbc"),
    ("calibrate_m --data trn.vec m", "calibrate_m --data trn m.mbm", "'trn.vec' is taken for trn"),
    ("calibrate_m --data trn-t.svm m", "calibrate_m -M --data trn-t.svm m.mbm", "is LIBSVM text"),
    ("eval_uc tst ans", "eval_uc tst.cls ans", "'tst' is taken for tst.cls"),
    ("eval_uc tst.cls ans.cls", "eval_uc tst.cls ans", "'ans.cls' is taken for ans"),
    ("eval_uc held held", "eval_uc held.truth held", "'held' is taken for held.truth"),
    ("eval_uc tst-t.svm ans", "eval_uc tst.cls ans", ""),
    ("eval_uc tst.cls ans m", "eval_uc tst.cls ans m.txt", "'m' is taken for m.txt"),
    ("eval_uc t.csv", "eval_uc t.csv --truth segment", "the only one with the names"),
    ("eval_uc t.csv --truth Segment", "eval_uc t.csv --truth segment", "'segment' is taken for 'S"),
    ("cls_comp_stats tst ans.con", "cls_comp_stats tst.cls ans", "'ans.con' is taken for ans"),
    ("print_control -Q empirical trn.cls", "print_control -Q empirical trn", "is taken for trn"),
    ("print_control -Q ovr trn-t.svm", "print_control -Q one-vs-rest -M trn-t.svm", "LIBSVM text"),
    ("print_control -Q convert m", "print_control -Q convert m.mbc", "'m' is taken for m.mbc"),
    ("agf2ascii trn.vec", "agf2ascii trn", "'trn.vec' is taken for trn"),
    ("svm2agf trn-t out", "svm2agf trn-t.svm out", "'trn-t' is taken for trn-t.svm"),
    ("table2agf --label Segment trn-c out", "table2agf --label 3 trn-c.csv out", "for trn-c.csv"),
    ("agf_preprocess trn.vec out", "agf_preprocess trn out", "'trn.vec' is taken for trn"),
    ("nfold -d2 ovo trn-t.svm", "nfold -d2 -M one-vs-one trn-t.svm", "is LIBSVM text"),
]


@pytest.mark.few(2)
@pytest.mark.parametrize("short, long, note", SAME, ids=[row[0] for row in SAME])
def test_what_is_meant_is_taken(run, there, short, long, note):
    found = []
    for words in (short, long):
        before = {name: os.stat(name).st_mtime_ns for name in os.listdir()}
        done = run(*words.split())
        new = sorted(name for name in os.listdir() if name not in before)
        lines = [line for line in done.out.splitlines() if "seconds" not in line]
        found.append((lines, [Path(name).read_bytes() for name in new]))
        for name in new:
            os.remove(name)
        if words is short:
            assert note in done.err
    assert found[0] == found[1] and any(found[0])


def test_names_that_are_there_are_not_changed(run, there):
    for name in ("tree.mbt", "4.svm", "4.vec"):
        Path(name).write_text("no data")
    assert run("print_control", "4").err == run("classify_m", "m.mbm", "tst.vec", "out").err == ""
    assert run("nfold", "-d2", "tree", "trn").err.count("is taken for") == 0  # the scheme
    os.mkdir("m")
    assert run("mbm_info", "m").line("taken for m.mbm")
    os.rmdir("m")


@pytest.mark.long
def test_a_scheme_in_the_place_of_a_control_file(run, there):
    for scheme, words in (("ovr", []), ("empirical", ["-n"]), ("1", ["--min-class", "2"])):
        control = run("print_control", "-Q", scheme, *words, "trn").out
        run("multi_borders", *words, "-", "trn", "s", "s.mbc", stdin=control)
        expected = Path("s.mbc").read_bytes(), Path("s.mbc.cal").read_bytes()
        run("multi_borders", "--retrain", *words, scheme, "trn", "s", "s.mbc")
        assert (Path("s.mbc").read_bytes(), Path("s.mbc.cal").read_bytes()) == expected
    run("multi_borders", "-M", "ovr", "-", "s", "s.mbc", stdin="1 1:1\n", status=2).refused(
        "train is read twice where control is a scheme"
    )
    assert "--only=" in run("multi_borders", "-0", "ovo", "trn", "s", "s.mbc").out


def test_answers_on_standard_output(run, there):
    for words in (["t.mbm", "tst-c.csv"], ["m.mbm", "tst.vec"]):
        table = run("classify_m", *words, "out.csv") and Path("out.csv").read_text()
        assert run("classify_m", *words).out == run("classify_m", *words, "-").out == table
        assert table.startswith("row,class,p,p:")


def test_true_classes_that_are_words(run, there):
    """They are numbered by the names of the model or of the answers, or where all are there."""
    scores = run("eval_uc", "tst-w.svm", "wans", "w.txt").out
    Path("wans.names").write_text("a\nb\nc\n")
    assert "accuracy" in scores and run("eval_uc", "tst-w.svm", "wans").out.startswith("points")
    os.remove("wans.names")
    run("eval_uc", "tst-w.svm", "wans", "--model", "w", "--report", "r.html")
    run("eval_uc", "tst-w.svm", "wans", status=1).refused("give --names")


def test_columns_that_differ_in_case(run, there):
    Path("case.csv").write_text(Path("tst-c.csv").read_text().replace("Age,Size", "AGE,size"))
    done = run("classify_m", "t.mbm", "case.csv", "out.csv")
    assert done.err.count("case.csv: column 'AGE' is taken for 'Age' (and 1 more)") == 1
    assert Path("out.csv").read_text() == run("classify_m", "t.mbm", "tst-c.csv", "-").out
    two = "age,AGE,Size,segment\n1,2,3,p\n"
    Path("two.csv").write_text(two)
    for words in (
        ["classify_m", "t.mbm", "two.csv"],
        ["agf_train", "--label", "Age", "two.csv", "x.mbm"],
    ):
        run(*words, status=1).line(
            "no column 'Age', and several differ from it in case alone: 'AGE', 'age'"
        )


def test_the_column_of_the_true_classes(run, there):
    """By name, in the answers or the other table, or by its words; not where two could be it."""
    run("classify_m", "--quiet", "t.mbm", "tst-c.csv", "plain.csv")
    scores = run("eval_uc", "plain.csv", "--data", "tst-c.csv", "--truth", "segment").out
    done = run("eval_uc", "plain.csv", "--data", "tst-c.csv")
    assert done.out == scores and done.line("the only one with the names of the classes")
    done = run("eval_uc", "t.csv", "--model", "t.mbm", "--report", "r.html")
    assert done.err == ""  # the model knows the name
    text = Path("t.csv").read_text().splitlines()
    Path("two.csv").write_text(
        "".join(
            f"{line},{'no' if at == 0 else line.split(',')[2]}\n" for at, line in enumerate(text)
        )
    )
    run("eval_uc", "two.csv", status=2).refused("'segment', 'no' could hold them")
    run("eval_uc", "plain.csv", status=2).refused("--truth COLUMN names it")
    Path("two.csv").write_text(Path("two.csv").read_text().replace("segment", "TARGET"))
    assert run("eval_uc", "two.csv").out == scores
