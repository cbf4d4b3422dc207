"""compare_control, nfold and tune_m: tables, and work that is kept."""

import csv
import functools
import io
import itertools
import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.cli import compare_control, main_of, nfold, run as wrapper, tune_m
from agfmc.control.learners import LEARNERS
from agfmc.experiments import binary_problems, comparison, tuning
from agfmc.data.libagf import read_cls, read_con, read_vec, write_std
from agfmc.data.normalisation import Normalisation
from agfmc.core.splits import stratified_sample
from data_files import write_cls, write_vec

OPTIONS = ("-n", "-+", "-c 5 -g 0.1")


@pytest.fixture
def data(folder, monkeypatch):
    """Data of classes 2, 5, 9 with names, and a cache folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    rng = np.random.default_rng(5)
    y = np.repeat([2, 5, 9], [16, 16, 12]).astype(np.int32)[rng.permutation(44)]
    write_vec(
        "train.vec", (rng.normal(size=(44, 4)) + y[:, None] * [0.3, -0.2, 0, 0]).astype(np.float32)
    )
    write_cls("train.cls", y)
    (folder / "train.names").write_text("a\nb\npine\nd\ne\nbirch\ng\nh\ni\nmoss\n")
    return folder


@pytest.mark.parametrize(
    "words", ["nfold one-vs-one train", "compare_control train ovo", "tune_m one-vs-one train"]
)
def test_programs_are_refused(run, data, words):
    run(*words.split(), "--", "./learn.py", status=2).refused("`--` before a program is for")


@pytest.fixture
def ask(run, data):
    return functools.partial(run, status=None)


def left_behind():
    data = Path("cache", "agfmc")
    return sorted(data.iterdir()) if data.exists() else []


def test_a_trial_is_what_the_commands_give(ask, data):
    _, text, _ = ask(
        "compare_control",
        *OPTIONS,
        "--trials",
        "1",
        "--seed",
        "7",
        "--json",
        "train",
        "one-vs-one",
        "tree",
    )
    rows = {(row["configuration"], row["decoder"]): row for row in json.loads(text)["rows"]}
    ask("agf_preprocess", "--stratified", "-f", "0.3", "--seed", "7", "train", "trn", "tst")
    for scheme, method, decoder in (("one-vs-one", "inverse", "inverse"), ("tree", "0", "full")):
        control = ask("print_control", "-Q", scheme, "trn")[1]
        ask("multi_borders", *OPTIONS, "--seed", "7", "trn", "m", "m.mbc", stdin=control)
        printed = ask(
            "classify_m", "-Q", method, "--tree", "full", "-a", "m.std", "m.mbc", "tst.vec", "out"
        )[1]
        Path("out.txt").write_text(printed)
        told = json.loads(ask("eval_uc", "--json", "tst.cls", "out", "out.txt")[1])
        row = rows[scheme, decoder]
        assert row["accuracy"]["mean"] == told["accuracy"]
        assert row["uncertainty_coefficient"]["mean"] == pytest.approx(
            told["uncertainty_coefficient"], abs=1e-12
        )
        # what is printed has six digits
        assert row["brier_winning"]["mean"] == pytest.approx(told["brier_winning"], abs=2e-6)
        assert row["brier_all"]["mean"] == pytest.approx(told["brier_all"], abs=2e-6)


def test_every_output_format_has_the_same_numbers(ask, data):
    words = (*OPTIONS, "-f", ".25", "--trials", "2", "train", "one-vs-one", "adjacent")
    table = json.loads(ask("compare_control", "--json", *words)[1])
    assert (table["points"], table["classes"], table["splits"]) == (44, 3, 2)
    plain = ask("compare_control", *words)[1].splitlines()
    assert plain[0].startswith(
        "44 points, 3 classes; 2 trials, 25 % of each class held out; "
        "options -c 5 -g 0.1. Scores are "
    )
    rows = list(csv.DictReader(io.StringIO(ask("compare_control", "--report=-.csv", *words)[1])))
    marked = ask("compare_control", "--report=-.md", *words)[1].splitlines()
    assert marked[0].startswith("| configuration | log loss ")
    best = max(range(2), key=lambda i: -table["rows"][i]["log_loss"]["pooled"])
    for i, row in enumerate(table["rows"]):
        text = f"{row['accuracy']['pooled']:.4f}"
        assert plain[4 + i].startswith(f"{row['configuration']} ({row['decoder']}) ")
        assert text in plain[4 + i] and text in marked[2 + i]
        assert float(rows[i]["accuracy"]) == pytest.approx(row["accuracy"]["pooled"], abs=1e-8)
        assert (" * " in plain[4 + i]) == ("**" + text in marked[2 + i]) == (i == best)
    assert len(left_behind()) == 1


@pytest.mark.long
def test_default_configurations(ask, data):
    status, text, _ = ask("compare_control", *OPTIONS, "--trials", "1", "--json", "train")
    rows = json.loads(text)["rows"]
    assert status == 0
    assert [row["configuration"] for row in rows] == [
        "one-vs-one",
        "one-vs-rest",
        "orthogonal",
        "adjacent",
        "tree",
        "tree",
        "empirical",
        "empirical",
        "ensemble",
    ]
    design = [row["design_s"]["pooled"] for row in rows]
    assert design[:6] == [0.0] * 6 and min(design[6:]) > 0
    assert not any("design_s" in row["best"] for row in rows)


def test_a_kept_state_serves_other_runs(ask, data):
    words = (*OPTIONS, "--state", "work", "--trials", "1", "--json", "train")
    first = ask("compare_control", *words, "one-vs-one")
    assert os.path.exists("work") and first[2] == ""
    again = ask("compare_control", *words, "one-vs-one")
    assert again[1] == first[1]
    assert "reused 1 result that was there already" in again[2]
    other = ask("compare_control", *words, "one-vs-one:vote")
    assert "reused 3 results that were there already" in other[2]  # the binary classifiers


@pytest.mark.parametrize(
    "words, status, message",
    [
        (("-f", ".2", "-d", "3", "train"), 2, "-f and -d exclude each other"),
        (("train", "nothing"), 2, "there is no file 'nothing', and there is no scheme"),
        (("train", "1v1", "one-vs-one"), 2, "one-vs-one is given twice"),
        (("-n", "-a", "f", "train"), 2, "leave -a out"),
        (("--state", "s", "--no-state", "train"), 2, "exclude each other"),
        (("-+", "-c 0", "train"), 2, "option -c: 0 is out of range"),
        (("missing",), 1, "missing.vec: cannot read"),
        (("-f", "1", "train"), 2, "expected a number between 0 and 1"),
        (("train", "trained"), 1, "trained:1:1"),
        (("train", "other"), 1, "class 3"),
        (("alone",), 1, "alone: holds one class"),
        (("--report", "a.xyz", "train"), 2, "expected a name that ends in"),
    ],
)
def test_refusals(ask, words, status, message, data):
    Path("trained").write_text("m-00 0 / 1; m-01 0 / 2; {2 5 9}")
    Path("other").write_text('"" 0 / 1; "" 0 / 2; {2 3 9}')
    write_vec("alone.vec", np.eye(5))
    write_cls("alone.cls", np.full(5, 3))
    got = ask("compare_control", "--trials", "1", *words)
    assert got[0] == status and message in got[2] and got[1] == ""
    assert len(got[2].splitlines()) == 1
    assert not left_behind()


def test_one_bad_configuration_does_not_spoil_the_rest(ask, data):
    Path("bad").write_text('"-s 1 -n .999" 0 / 1; "" 0 / 2; "" 1 / 2; {2 5 9}')
    status, text, messages = ask("compare_control", "--trials", "1", "train", "1v1", "bad")
    assert status == 3
    assert re.search(r"\nbad \(inverse\) .* failed ", text)
    assert "compare_control: bad:inverse: bad:1:1: " in messages
    assert "1 of 2 rows could not be computed" in messages


def test_held_out_points_are_written(ask, data):
    _, text, _ = ask("nfold", *OPTIONS, "-d", "4", "1v1", "train", "held")
    assert text.startswith("one-vs-one, inverse: 3 binary classifiers; each of 4 parts held out\n")
    assert "pine" in text and "moss" in text
    np.testing.assert_array_equal(read_cls("held.truth"), read_cls("train.cls"))
    told = json.loads(ask("eval_uc", "--json", "held.truth", "held", "held.txt")[1])
    own = json.loads(ask("nfold", *OPTIONS, "-d", "4", "--json", "1v1", "train")[1])
    assert own["accuracy"] == told["accuracy"]
    assert own["contingency"] == told["contingency"]
    assert own["brier_all"] == pytest.approx(told["brier_all"], abs=2e-6)
    assert own["over_splits"]["accuracy"]["mean"] == pytest.approx(own["accuracy"], abs=1e-12)
    assert len(own["over_splits"]["accuracy"]["values"]) == 4
    assert own["names"] == ["pine", "birch", "moss"]
    p = np.loadtxt("held.txt", skiprows=1)[:, :3]
    np.testing.assert_allclose(read_con("held.con"), (3 * p.max(axis=1) - 1) / 2, atol=2e-6)
    assert len(left_behind()) == 1


@pytest.mark.long
def test_probabilities_before_the_calibration_are_written_too(ask, data):
    _, text, _ = ask("nfold", *OPTIONS, "-d", "3", "--both", "1v1", "train", "held")
    told = json.loads(ask("nfold", *OPTIONS, "-d", "3", "--both", "--json", "1v1", "train")[1])
    assert text.splitlines()[1] == "not calibrated" and "\ncalibrated\n" in text
    assert told["calibrated"] and told["log_loss"] != told["uncalibrated"]["log_loss"]
    own = json.loads(
        ask("nfold", *OPTIONS, "-d", "3", "--uncalibrated", "--json", "1v1", "train", "own")[1]
    )
    assert not own["calibrated"] and not os.path.exists("own.raw.txt")
    assert own["log_loss"] == told["uncalibrated"]["log_loss"]
    assert Path("own.txt").read_bytes() == Path("held.raw.txt").read_bytes()
    assert Path("own.txt").read_bytes() != Path("held.txt").read_bytes()
    scores = json.loads(ask("eval_uc", "--json", "held.truth", "held", "held.txt")[1])
    assert scores["log_loss"] == pytest.approx(told["log_loss"], abs=1e-5)
    # a later run leaves none of them that are not its own
    ask("nfold", *OPTIONS, "-Q", "vote", "1v1", "train", "held")
    assert not os.path.exists("held.txt") and not os.path.exists("held.raw.txt")


@pytest.mark.long
def test_both_have_rows_of_their_own(ask, data):
    words = (*OPTIONS, "--trials", "2", "--json", "train", "1v1:inverse,vote", "tree:recursive")
    both = json.loads(ask("compare_control", "--both", *words)[1])
    assert [(row["decoder"], row["calibrated"]) for row in both["rows"]] == [
        ("inverse", True),
        ("inverse (uncalibrated)", False),
        ("vote", False),
        ("recursive", True),
        ("recursive (uncalibrated)", False),
    ]
    one, own, vote, *tree = both["rows"]
    assert one["accuracy"] == own["accuracy"] and one["log_loss"] != own["log_loss"]
    assert tree[0]["brier_winning"] != tree[1]["brier_winning"] and tree[0]["log_loss"] is None
    for flag, row in (("--uncalibrated", own), ("--no-state", one)):
        alone = json.loads(ask("compare_control", flag, *words)[1])["rows"]
        assert len(alone) == 3 and alone[0]["decoder"] == "inverse"
        assert alone[0]["log_loss"] == row["log_loss"]
    text = ask("compare_control", "--uncalibrated", "--trials", "1", "train", "1v1")[1]
    assert "; not calibrated. " in text.splitlines()[0]


def test_multi_class_nodes_and_logistic_regression_are_calibrated(ask, data):
    Path("k").write_text('"-k 5" K { 2 5 9 }')
    Path("mixed").write_text('"learner=logistic" { 2 " " L { 5 9 } }')
    rows = json.loads(ask("compare_control", "--trials", "1", "--json", "train", "k", "mixed")[1])[
        "rows"
    ]
    assert [row["calibrated"] for row in rows] == [True, True]


def test_random_splits_are_written_one_after_the_other(ask, data):
    _, _, _ = ask("nfold", *OPTIONS, "-f", ".25", "--trials", "2", "-b", "1v1", "train", "held")
    assert len(read_cls("held.truth")) == len(read_cls("held.cls")) == 2 * 11


def test_nfold_takes_trees_and_votes(ask, data):
    _, text, _ = ask("nfold", *OPTIONS, "-Q", "recursive", "tree", "train", "held")
    assert not os.path.exists("held.txt")
    assert "RMS error, winning class" in text and "RMS error, all classes  0" not in text
    _, text, _ = ask("nfold", *OPTIONS, "-b", "-Q", "vote", "1v1", "train", "held")
    assert "true classes" not in text


@pytest.mark.long
def test_nfold_has_parts_of_its_own(ask, data):
    """By default those of a search before do not judge its choice again."""
    words = ("--json", *OPTIONS, "-d", "2", "1v1", "train")
    own, seeded = (
        json.loads(ask("nfold", *more, *words)[1])["over_splits"]["log_loss"]["values"]
        for more in ((), ("--seed", "1"))
    )
    [row] = json.loads(ask("compare_control", "--json", *OPTIONS, "-d", "2", "train", "1v1")[1])[
        "rows"
    ]
    assert seeded == row["log_loss"]["values"] != own


@pytest.mark.parametrize(
    "words, status, message",
    [
        (("1v1:vote,inverse", "train"), 2, "one decoder"),
        (("1v1", "train", "-"), 2, "base name of several files"),
        (("-", "-", "out"), 2, "cannot both be standard input"),
        (("-d", "1", "1v1", "train"), 2, "out of range"),
        (("-d", "200", "1v1", "train"), 1, "cannot be divided"),
        (("1v1", "train", "no/such"), 1, "no/such.cls: cannot write"),
        (("-s", "1v1", "train"), 2, "unrecognized"),
    ],
)
def test_nfold_refuses(ask, words, status, message, data):
    got = ask("nfold", *words)
    assert got[0] == status and message in got[2] and got[1] == ""


@pytest.mark.long
def test_a_sample_of_the_rows_chooses(ask, data):
    words = ("tune_m", "-d", "3", "--space", "C=1 gamma=-3:-1", "--refine", "0", "one-vs-one")
    whole = ask(*words, "train")
    assert ask(*words, "--sample", "120", "train")[:2] == whole[:2]
    some = ask(*words, "--sample", "60", "train")
    assert some[0] == 0 and some[2] != whole[2]
    rows = stratified_sample(read_cls("train.cls"), 60, 1)
    write_vec("few.vec", read_vec("train.vec")[rows])
    write_cls("few.cls", read_cls("train.cls")[rows])
    Path("few.names").write_text(Path("train.names").read_text())
    assert ask(*words, "few")[1] == some[1]


def test_a_folder_may_have_the_name_of_a_scheme(ask, data):
    Path("tree").mkdir()
    ask("compare_control", "--trials", "1", "train", "1v1", "tree")


@pytest.mark.parametrize(
    "command, words, status, message",
    [
        ("compare_control", ("train.names",), 1, "LIBSVM text is read with -M"),
        ("nfold", ("-a", "narrow.std", "1v1", "train"), 1, "train: the data have 4 features"),
    ],
)
def test_messages_help(ask, command, words, status, message, data):
    write_std("narrow.std", Normalisation(np.eye(2, dtype=np.float32), np.zeros(2, np.float32)))
    got = ask(command, *words)
    assert got[0] == status and message in got[2] and len(got[2].splitlines()) == 1


QUICK = ("-d", "3", "--space", "C=-1:1 gamma=-3:-1", "--refine", "1")


def test_what_is_written_trains_and_keeps_the_score(ask, data):
    _, text, err = ask(
        "tune_m",
        *QUICK,
        "--space",
        "kernel=rbf",
        "--uncalibrated",
        "--json",
        "all.json",
        "-+",
        "-h 0",
        "one-vs-one",
        "train",
    )
    assert len(left_behind()) == 1
    assert text.startswith('# class 2: pine\n# class 5: birch\n# class 9: moss\n"-g ')
    assert text.count(' -h 0" ') == 3
    Path("tuned.mbc").write_text(text)
    ask("multi_borders", "tuned.mbc", "train", "m", "m.mbc")
    found = json.loads(Path("all.json").read_text())
    [told] = json.loads(
        ask(
            "compare_control",
            "-d",
            "3",
            "--platt",
            "loo",
            "--uncalibrated",
            "--json",
            "train",
            "tuned.mbc",
        )[1]
    )["rows"]
    best = found["points"][found["best"]]
    assert told["log_loss"]["pooled"] == best["score"] and best["options"] in err
    assert "one-vs-one (decoder inverse)" in err


@pytest.mark.long
def test_control_from_a_pipe_and_rows_of_their_own(ask, data):
    control = ask("print_control", "train")[1].replace('""', '"-c 3"', 1)
    _, text, _ = ask(
        "tune_m", *QUICK, "-Q", "vote", "--by", "accuracy", "-", "train", stdin=control
    )
    rows = [line for line in text.splitlines() if line.startswith('"')]
    assert rows[0] == '"-c 3" 0 / 1;' and len(set(row.split('"')[1] for row in rows[1:])) == 1


@pytest.mark.long
def test_commands_share_one_state_of_the_same_data(ask, monkeypatch, data):
    words = ("-d", "3", "--platt", "loo", "-+", "-c 2")
    first = ask("compare_control", *words, "train", "one-vs-one", "one-vs-rest")
    assert "reused" not in first[2]
    trained = []
    fit = binary_problems.fit
    monkeypatch.setattr(
        binary_problems,
        "fit",
        lambda jobs, *args, **more: trained.extend(jobs) or fit(jobs, *args, **more),
    )
    for command, more in (
        ("compare_control", ("train", "one-vs-one", "one-vs-rest")),
        ("nfold", ("--seed", "1", "one-vs-one", "train")),
    ):
        assert "reused" in ask(command, *words, *more)[2] and not trained
    assert (
        "reused"
        in ask(
            "tune_m",
            *words,
            "--space",
            "C=1:3:2 gamma=0:2:2",
            "--refine",
            "0",
            "one-vs-one",
            "train",
        )[2]
    )
    assert trained and len(left_behind()) == 1
    write_vec("other.vec", np.eye(4, dtype=np.float32)[np.arange(40) % 4])
    write_cls("other.cls", np.arange(40, dtype=np.int32) % 4)
    err = ask("nfold", "-d", "2", "one-vs-one", "other")[2]
    assert "reused" not in err and "other data" not in err and len(left_behind()) == 2


def test_a_state_of_other_data_is_told(ask, data):
    words = ("nfold", "-b", "-d", "2", "--state", "state", "one-vs-one")
    one = ask(*words, "train")
    assert "warning" not in one[2]
    assert "reused 6 results" in ask(*words, "train")[2]
    write_vec("other.vec", np.eye(4, dtype=np.float32)[np.arange(40) % 4])
    write_cls("other.cls", np.arange(40, dtype=np.int32) % 4)
    _, _, err = ask(*words, "other")
    assert err.count("are of other data: none can be reused") == 1
    assert "warning" not in ask(*words, "train")[2] + ask(*words, "other")[2]
    assert not left_behind()


def test_a_state_that_is_a_folder_of_other_files(ask, data):
    assert ask("nfold", "-d", "2", "--state", ".", "one-vs-one", "train") == (
        1,
        "",
        "nfold: .: cannot keep finished work here: it is a folder of other files\n",
    )
    Path("old").write_bytes(b"agfmc results 1\n")
    assert ask("nfold", "-d", "2", "--state", "old", "one-vs-one", "train") == (
        1,
        "",
        "nfold: old: cannot keep finished work here: expected a folder of results, found a "
        "file (a file of results of an earlier version is of no more use)\n",
    )


@pytest.mark.parametrize(
    "words, status, message",
    [
        (("-+", "-s 1", "one-vs-one", "train"), 2, "a nu-SVC has no C to search"),
        (("--space", "C=3:1", "one-vs-one", "train"), 2, "space: C: expected exponents of 2"),
        (("train", "one-vs-one"), 2, ": is the order of the operands right?"),
        (("-+", "-t 3", "one-vs-one", "train"), 2, "the sigmoid kernel (-t 3) cannot be searched"),
        (
            ("--space", "kernel=rbf,cubic", "one-vs-one", "train"),
            2,
            "expected linear, polynomial, rbf, laplacian, exponential",
        ),
        (("-Q", "recursive", "tree", "train"), 2, "the decoder gives no log loss: choose"),
        (("-Q", "inverse,vote", "one-vs-one", "train"), 2, "no decoder"),
        (
            ("--per-partition", "1v1", "train"),
            2,
            "no option --per-partition any more: all open rows",
        ),
        (("-", "-"), 2, "cannot both be standard input"),
        (("own.mbc", "train"), 2, "there is nothing to tune"),
        (("nu.mbc", "train", "--platt", "loo"), 2, "nu.mbc:2:1: platt loo is for C-SVC only"),
        (("one-vs-one", "nowhere", "--report", "no/where.json"), 1, "no/where.json: cannot write"),
        (("own.mbc", "train", "--report", "train.vec"), 2, "--report would overwrite train: "),
        (("own.mbc", "train", "--report=a.csv", "--report=./a.csv"), 2, "--report would overwrite"),
        (("one-vs-one", "nowhere", "--report=-.csv"), 2, "expected a file, not standard output"),
    ],
)
def test_errors_are_one_line(ask, words, status, message, data):
    Path("own.mbc").write_text('"-c 1" 0 / 1; "-c 1" 1 / 2; {2 5 9}')
    Path("nu.mbc").write_text('"" 0 / 1;\n"-s 1" 1 / 2; {2 5 9}')
    code, text, err = ask("tune_m", *QUICK, "--quiet", *words)
    assert (code, text) == (status, "") and message in err and err.count("\n") == 1, err
    assert err.startswith("tune_m: ")


@pytest.mark.few(1)
@pytest.mark.parametrize("name", [name for name, row in LEARNERS.items() if row.searched])
def test_every_learner_that_has_something_to_search_is_tuned(ask, name, data):
    row = LEARNERS[name]
    base = ("-+", f"learner={name}") if row.sides == 2 else ()
    Path("plan").write_text(f'"" {name} {{2 5 9}}')
    lows = [min(max(one.low, 0), one.most - one.step) for one in row.searched]
    grids = [
        f"--{one.column}={low:g}:{low + one.step:g}:{one.step:g}"
        for one, low in zip(row.searched, lows)
    ]
    status, text, err = ask(
        "tune_m",
        "-d",
        "2",
        "--refine",
        "0",
        *grids,
        *base,
        "plan" if row.sides is None else "one-vs-one",
        "train",
    )
    if "is not installed" in err:
        pytest.skip(err)
    assert status == 0 and re.search(r'"([^"]+)"', text), err
    assert all(f"{one.letter} " in err for one in row.searched), err


@pytest.mark.long
def test_a_second_search_tunes_the_nodes(ask, data):
    quick = ("-d", "2", "--refine", "0", "-+", "learner=linear", "-", "train")
    rows = ask("tune_m", *quick, stdin='"" {"" K {2 5} 9}')[1]
    _, text, err = ask("tune_m", *quick, stdin=rows)
    assert "-k 11" in err and re.search(r'"-k \d+" K', text)
    assert text.replace(re.search(r'"-k \d+" K', text)[0], '"" K') == rows
    status, text, err = ask("tune_m", *quick, stdin=text)
    assert (status, text) == (2, "") and "nothing to tune" in err


@pytest.mark.parametrize(
    "words, message",
    [
        (
            ("-+", "learner=linear", "--space", "gamma=0:2", "one-vs-one"),
            "learner=linear has no gamma",
        ),
        (
            ("-+", "learner=logistic", "--space", "kernel=rbf", "one-vs-one"),
            "has no kernel to search",
        ),
        (("--space", "k=0:2", "one-vs-one"), "space: learner=svm has no k to search"),
        (("--space", "k=-2:2", "nodes.mbc"), "expected exponents from 0 on, found -2"),
        (("--space", "C=0:2", "nodes.mbc"), "space: K has no C to search"),
        (("both.mbc",), "nodes of several learners, K and L"),
    ],
)
def test_what_a_learner_does_not_search(ask, words, message, data):
    Path("nodes.mbc").write_text('"" K {2 5 9}')
    Path("closed.mbc").write_text('" " K {2 5 9}')
    Path("both.mbc").write_text('"" K {"" L {2 5} 9}')
    code, text, err = ask("tune_m", *words, "train")
    assert (code, text) == (2, "") and message in err and err.count("\n") == 1, err


SHARED = ("-+", "learner=nystrom -m 15", "--space", "gamma=-4:0", "--refine", "0")


@pytest.mark.long
def test_shared_landmarks_are_tuned_without_parts(ask, data):
    _, text, err = ask(
        "tune_m",
        *SHARED,
        "-d",
        "3",
        "--json",
        "all.json",
        "--report=-.csv",
        "all.csv",
        "--uncalibrated",
        "one-vs-one",
        "train",
    )
    found = json.loads(Path("all.json").read_text())
    best = found["points"][found["best"]]
    assert f'"{best["options"]}" 0 / 1;' in text and best["options"].endswith(" -m 15")
    assert (found["left_out"], best["sd"], found["plan"]) == (44, None, "each of 3 parts held out")
    assert "tried, fast search, leave-one-out values of 44 points, by log loss.\n" in err
    lines = err.split("\nOptions that were tried\n")[1].splitlines()
    assert lines[2].split("  ")[0] == best["options"] and "±" not in lines[2]
    assert lines[-1].count("±") == lines[-2].count("±") == 6 and lines[-1].startswith("chosen ")
    assert "\nEstimate for new data: log loss " in err
    Path("tuned.mbc").write_text(text)
    words = ("--uncalibrated", "--json", "train", "tuned.mbc")
    [parts] = json.loads(ask("compare_control", "-d", "3", *words)[1])["rows"]
    assert parts["log_loss"] == found["whole"]["tuned"]["log_loss"]
    left_out = json.loads(ask("compare_control", "-d", "loo", *words)[1])
    assert left_out["rows"][0]["log_loss"]["pooled"] == best["score"]
    assert left_out["plan"] == "leave-one-out values"
    table = ask("compare_control", "-d", "loo", "train", "tuned.mbc")[1]
    assert "leave-one-out values of 44 points" in table and "test s" not in table
    ask("multi_borders", "tuned.mbc", "train", "m", "m.mbc")


@pytest.mark.long
def test_leave_one_out_scores_alone(ask, data):
    words = (*SHARED, "-d", "loo", "--report", "all.svg", "one-vs-one", "train")
    one = ask("tune_m", *words, "--space", "kernel=linear,rbf", "-j", "2")
    assert "leave-one-out values of 44 points" in one[2] and "±" not in one[2]
    assert ask("tune_m", *words, "--space", "kernel=linear,rbf", "--no-state")[:2] == one[:2]
    assert Path("all.svg").stat().st_size


@pytest.mark.long
def test_time_is_over_before_the_result_is_scored(ask, monkeypatch, data):
    words = (*SHARED, "one-vs-one", "train")
    whole = ask("tune_m", *words)
    score = tuning.WholeConfiguration.score
    clock = SimpleNamespace(monotonic=lambda: now[0])
    now = [0]

    def late(self, split, *more):
        now[0] = 0 if split.left_out else 100
        return score(self, split, *more)

    monkeypatch.setattr(tuning.WholeConfiguration, "score", late)
    monkeypatch.setattr("agfmc.cli.options.time", clock)
    monkeypatch.setattr("agfmc.experiments.racing.time", clock)
    status, text, err = ask("tune_m", *words, "--time-limit", "50")
    assert (status, text) == (0, whole[1])
    assert "the result is written, and not scored: time limit reached" in err


@pytest.mark.parametrize(
    "command, words, message",
    [
        (
            "tune_m",
            ("-d", "loo", "--trials", "3", *SHARED, "one-vs-one", "train"),
            "-d loo and --trials exclude each other",
        ),
        (
            "tune_m",
            ("-+", "learner=nystrom -m 999", "-d", "loo", "one-vs-one", "train"),
            "-m 999",
        ),
        (
            "tune_m",
            ("-d", "loo", "-Q", "vote", *SHARED, "one-vs-one", "train"),
            "gives no log loss",
        ),
        (
            "compare_control",
            ("-d", "loo", "train", "one-vs-one", "tree"),
            "one-vs-one, tree has others",
        ),
        (
            "compare_control",
            ("-d", "loo", "-f", ".5", "train"),
            "-f and -d exclude each other",
        ),
    ],
)
def test_what_shared_landmarks_cannot(ask, command, words, message, data):
    code, text, err = ask(command, *words)
    assert (code, text) == (2 if "-m 999" != message else 1, "") and message in err
    assert err.count("\n") == 1, err


NAME_OF = lambda command: command.__name__.rpartition(".")[2]

WORDS = {
    nfold: ("-d", "2", "one-vs-one", "train"),
    compare_control: ("-d", "2", "train", "one-vs-one"),
    tune_m: (
        "-d",
        "2",
        "--space",
        "kernel=linear C=0:2:2",
        "--refine",
        "0",
        "one-vs-one",
        "train",
    ),
}
GOES_ON = "the same command continues from there"


@pytest.fixture
def small(monkeypatch, tmp_path):
    """An empty folder with data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rng = np.random.default_rng(5)
    y = np.arange(60) % 3
    write_vec("train.vec", (rng.normal(size=(60, 2)) + 2 * np.eye(3)[y][:, :2]).astype(np.float32))
    write_cls("train.cls", y.astype(np.int32))


def kept():
    return [path.suffix for path in Path("cache").glob("agfmc/*")]


@pytest.mark.few(2)
@pytest.mark.parametrize("command", WORDS, ids=NAME_OF)
def test_results_that_could_not_be_printed(small, monkeypatch, capsys, command):
    with open("/dev/full", "w") as full, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", full)
        assert main_of(NAME_OF(command))(WORDS[command]) == 1
    assert "No space left" in capsys.readouterr().err and kept() == [".results"]
    assert main_of(NAME_OF(command))(WORDS[command]) == 0
    out, err = capsys.readouterr()
    assert out and "there already" in err and "reused" in err and kept() == [".results"]


@pytest.mark.parametrize("command", [nfold, compare_control], ids=NAME_OF)
def test_the_bar_is_gone_before_the_table(small, monkeypatch, command):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    both = Terminal()
    monkeypatch.setattr(sys, "stdout", both)
    monkeypatch.setattr(sys, "stderr", both)
    assert main_of(NAME_OF(command))(WORDS[command]) == 0
    before, table = both.getvalue().rsplit("\r\033[K", 1)
    assert "100%" in before and "one-vs-one" in table and table.endswith("\n")


def test_a_picture_that_could_not_be_drawn(small, monkeypatch, capsys):
    with monkeypatch.context() as patch:

        def draw(*words):
            raise OSError(28, "No space left on device", "p.svg")

        patch.setattr("agfmc.cli.work.nfold.draw_scores", draw)
        assert main_of("nfold")(["--report", "p.svg", *WORDS[nfold]]) == 1
    assert kept() == [".results"]


@pytest.mark.parametrize(
    "command, work",
    [(nfold, "cross_validate"), (compare_control, "compare")],
    ids=["nfold", "compare_control"],
)
@pytest.mark.parametrize("where", ["kept", "refused", "no", "nothing"])
def test_messages_of_an_interrupted_run(small, monkeypatch, capsys, command, work, where):
    real = getattr(comparison, work)

    def interrupted(*args, **more):
        if where != "nothing":
            real(*args, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(f"agfmc.cli.work.{NAME_OF(command)}.{work}", interrupted)
    monkeypatch.setattr(wrapper, "_leave", lambda status: None)
    if where == "refused":
        os.makedirs("cache/agfmc")
        os.chmod("cache/agfmc", 0o777)
    with pytest.raises(KeyboardInterrupt):
        main_of(NAME_OF(command))([*WORDS[command], *["--no-state"] * (where == "no")])
    err = capsys.readouterr().err
    assert ("an interrupted run would start from the beginning" in err) == (where == "refused")
    assert (GOES_ON in err) == (where == "kept") == (kept() == [".results"])


@pytest.mark.parametrize("where", ["kept", "refused"])
def test_what_is_said_when_the_time_is_over(small, monkeypatch, capsys, where):
    if where == "refused":
        os.makedirs("cache/agfmc")
        os.chmod("cache/agfmc", 0o777)
    clock = SimpleNamespace(monotonic=itertools.count().__next__)  # a second at each look
    monkeypatch.setattr("agfmc.cli.options.time", clock)
    monkeypatch.setattr("agfmc.experiments.racing.time", clock)
    assert main_of("tune_m")([*WORDS[tune_m], "--time-limit", "3"]) == 3
    err = capsys.readouterr().err
    assert "time limit reached" in err and (GOES_ON in err) == (where == "kept")
