"""compare_control and nfold in-process: what they print, and that the other commands agree."""

import csv
import functools
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest

from agfmc.formats.vectors import read_cls, read_con, write_cls, write_std, write_vec
from agfmc.models import Normalisation

OPTIONS = ("-n", "-+", "-c 5 -g 0.1")


@pytest.fixture(autouse=True)
def folder(folder, monkeypatch):
    """Data of classes 2, 5, 9 with names, and a cache folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    rng = np.random.default_rng(5)
    y = np.repeat([2, 5, 9], [40, 50, 30]).astype(np.int32)[rng.permutation(120)]
    write_vec("train.vec", (rng.normal(size=(120, 4)) + y[:, None] * [.3, -.2, 0, 0])
              .astype(np.float32))
    write_cls("train.cls", y)
    (folder / "train.names").write_text("a\nb\npine\nd\ne\nbirch\ng\nh\ni\nmoss\n")
    return folder


@pytest.fixture
def run(run):
    return functools.partial(run, status=None)


def left_behind():
    folder = Path("cache", "agfmc")
    return sorted(folder.iterdir()) if folder.exists() else []


def test_a_trial_is_what_the_commands_give(run):
    _, text, _ = run("compare_control", *OPTIONS, "--trials", "1", "--seed", "7", "--json",
                     "train", "one-vs-one", "tree")
    rows = {(row["configuration"], row["decoder"]): row for row in json.loads(text)["rows"]}
    run("agf_preprocess", "--stratified", "-f", "0.3", "--seed", "7", "train", "trn", "tst")
    for scheme, method, decoder in (("one-vs-one", "inverse", "inverse"),
                                    ("tree", "0", "recursive")):
        control = run("print_control", "-Q", scheme, "trn")[1]
        run("multi_borders", *OPTIONS, "--seed", "7", "trn", "m", "m.mbc", stdin=control)
        printed = run("classify_m", "-Q", method, "-a", "m.std", "m.mbc", "tst.vec", "out")[1]
        Path("out.txt").write_text(printed)
        words = ["tst.cls", "out", *(["out.txt"] if printed else ["-k", "3"])]
        told = json.loads(run("eval_uc", "--json", *words)[1])
        row = rows[scheme, decoder]
        assert row["accuracy"]["mean"] == told["accuracy"]
        assert row["uncertainty_coefficient"]["mean"] == pytest.approx(
            told["uncertainty_coefficient"], abs=1e-12)
        # what is printed has six digits
        assert row["brier_winning"]["mean"] == pytest.approx(told["brier_winning"], abs=2e-6)
        if printed:
            assert row["brier_all"]["mean"] == pytest.approx(told["brier_all"], abs=2e-6)


def test_every_output_format_has_the_same_numbers(run):
    words = (*OPTIONS, "-f", ".25", "--trials", "2", "train", "one-vs-one", "adjacent")
    table = json.loads(run("compare_control", "--json", *words)[1])
    assert (table["points"], table["classes"], table["splits"]) == (120, 3, 2)
    plain = run("compare_control", *words)[1].splitlines()
    assert plain[0] == "120 points, 3 classes; 2 trials, 25 % of each class held out, " \
                       "options -c 5 -g 0.1"
    rows = list(csv.DictReader(io.StringIO(run("compare_control", "--csv", *words)[1])))
    marked = run("compare_control", "--markdown", *words)[1].splitlines()
    assert marked[0].startswith("| configuration | decoder ")
    for i, row in enumerate(table["rows"]):
        text = f"{row['accuracy']['mean']:.4f}".lstrip("0")
        assert plain[2 + i].split()[:2] == [row["configuration"], row["decoder"]]
        assert text in plain[2 + i] and text in marked[2 + i]
        assert float(rows[i]["accuracy"]) == pytest.approx(row["accuracy"]["mean"], abs=1e-8)
        best = "accuracy" in row["best"]
        cell = next(word for word in plain[2 + i].split() if word.startswith(text))
        assert cell.endswith("*") == best
        assert ("**" + text in marked[2 + i]) == best
    assert not left_behind()


def test_default_configurations(run):
    status, text, _ = run("compare_control", *OPTIONS, "--trials", "1", "--json", "train")
    rows = json.loads(text)["rows"]
    assert status == 0
    assert [row["configuration"] for row in rows] == [
        "one-vs-one", "one-vs-rest", "orthogonal", "adjacent", "tree", "tree", "empirical",
        "empirical"]


def test_a_kept_state_serves_other_runs(run):
    words = (*OPTIONS, "--state", "work", "--trials", "1", "--json", "train")
    first = run("compare_control", *words, "one-vs-one")
    assert os.path.exists("work") and first[2] == ""
    again = run("compare_control", *words, "one-vs-one")
    assert again[1] == first[1]
    assert "reused 1 result of an earlier run" in again[2]
    other = run("compare_control", *words, "one-vs-one:vote")
    assert "reused 3 results of an earlier run" in other[2]  # the binary classifiers


@pytest.mark.parametrize("words, status, message", [
    (("-f", ".2", "-d", "3", "train"), 2, "-f and -d exclude each other"),
    (("--csv", "--json", "train"), 2, "exclude each other"),
    (("train", "nothing"), 2, "there is no file 'nothing', and there is no scheme"),
    (("train", "1v1", "one-vs-one"), 2, "one-vs-one is given twice"),
    (("train", "1v1:strange"), 2, "no decoder 'strange'"),
    (("-Q", "vote,strange", "train"), 2, "no decoder 'strange'"),
    (("--against", "tree", "train", "1v1"), 2, "expected one of one-vs-one"),
    (("-n", "-a", "f", "train"), 2, "leave -a out"),
    (("--state", "s", "--no-state", "train"), 2, "exclude each other"),
    (("-+", "-c 0", "train"), 2, "option -c: 0 is out of range"),
    (("missing",), 1, "missing.vec: cannot read"),
    (("-f", "1", "train"), 2, "expected a number between 0 and 1"),
    (("train", "trained"), 1, "trained:1:1"),
    (("train", "other"), 1, "class 3"), (("alone",), 1, "alone: holds one class"),
    (("--plot", "a.xyz", "train"), 2, "expected a name that ends in")])
def test_refusals(run, words, status, message):
    Path("trained").write_text("m-00 0 / 1; m-01 0 / 2; {2 5 9}")
    Path("other").write_text('"" 0 / 1; "" 0 / 2; {2 3 9}')
    write_vec("alone.vec", np.eye(5))
    write_cls("alone.cls", np.full(5, 3))
    got = run("compare_control", "--trials", "1", *words)
    assert got[0] == status and message in got[2] and got[1] == ""
    assert len(got[2].splitlines()) == 1
    assert not left_behind()


def test_one_bad_configuration_does_not_spoil_the_rest(run):
    Path("bad").write_text('"-s 1 -n .999" 0 / 1; "" 0 / 2; "" 1 / 2; {2 5 9}')
    status, text, messages = run("compare_control", "--trials", "1", "train", "1v1", "bad")
    assert status == 3
    assert "bad            inverse  " in text and "failed" in text
    assert "compare_control: bad:inverse: bad:1:1: " in messages
    assert "1 of 2 rows could not be computed" in messages


def test_held_out_points_are_written(run):
    _, text, _ = run("nfold", *OPTIONS, "-d", "4", "1v1", "train", "held")
    assert text.startswith("one-vs-one, inverse: 3 binary classifiers; each of 4 parts held out\n")
    assert "pine" in text and "moss" in text
    np.testing.assert_array_equal(read_cls("held.truth"), read_cls("train.cls"))
    told = json.loads(run("eval_uc", "--json", "held.truth", "held", "held.txt")[1])
    own = json.loads(run("nfold", *OPTIONS, "-d", "4", "--json", "1v1", "train")[1])
    assert own["accuracy"] == told["accuracy"]
    assert own["contingency"] == told["contingency"]
    assert own["brier_all"] == pytest.approx(told["brier_all"], abs=2e-6)
    assert own["over_splits"]["accuracy"]["mean"] == pytest.approx(own["accuracy"], abs=1e-12)
    assert len(own["over_splits"]["accuracy"]["values"]) == 4
    assert own["names"] == ["pine", "birch", "moss"]
    p = np.loadtxt("held.txt", skiprows=1)[:, :3]
    np.testing.assert_allclose(read_con("held.con"), (3 * p.max(axis=1) - 1) / 2, atol=2e-6)
    assert not left_behind()


def test_random_splits_are_written_one_after_the_other(run):
    _, _, _ = run("nfold", *OPTIONS, "-f", ".25", "--trials", "2", "-b", "1v1", "train", "held")
    assert len(read_cls("held.truth")) == len(read_cls("held.cls")) == 2 * 31


def test_nfold_takes_trees_and_votes(run):
    _, text, _ = run("nfold", *OPTIONS, "-Q", "recursive", "tree", "train", "held")
    assert not os.path.exists("held.txt")
    assert "Brier score, all classes" in text
    _, text, _ = run("nfold", *OPTIONS, "-b", "-Q", "vote", "1v1", "train", "held")
    assert "contingency" not in text


@pytest.mark.parametrize("words, status, message", [
    (("1v1:vote,inverse", "train"), 2, "one decoder"),
    (("1v1", "train", "-"), 2, "base name of several files"),
    (("-", "-", "out"), 2, "cannot both be standard input"),
    (("-d", "1", "1v1", "train"), 2, "out of range"),
    (("-d", "200", "1v1", "train"), 1, "cannot be divided"),
    (("1v1", "train", "no/such"), 1, "no/such.cls: cannot write"),
    (("-s", "1v1", "train"), 2, "unrecognized")])
def test_nfold_refuses(run, words, status, message):
    got = run("nfold", *words)
    assert got[0] == status and message in got[2] and got[1] == ""


@pytest.fixture
def classes(run):
    """print_control --best; -> status, output, messages."""
    return functools.partial(run, "print_control", "--best")


@pytest.mark.long
def test_adjacent_is_best_for_ordered_classes(classes, root):
    status, text, messages = classes("-n", "--options", "-c 10 -g 0.005", "--trials", "1",
                                     root / "sample_data" / "ordered")
    assert status == 0
    assert messages.endswith("best by uncertainty: adjacent, to be used with classify_m -Q "
                             "least-squares\n")
    assert text.splitlines()[0] == '"-c 10 -g 0.005" 0 / 1 2 3 4 5 6 7;'
    assert text.splitlines()[-1] == "{ 0 1 2 3 4 5 6 7}"
    assert not left_behind()


@pytest.mark.long
def test_one_vs_one_is_best_for_digits(classes, root):
    status, text, messages = classes("-Q", "one-vs-one,one-vs-rest,adjacent,tree", "-n",
                                     "--options", "-c 50 -g 0.01", "--trials", "1", "-M",
                                     root / "sample_data" / "digits.svm")
    assert status == 0
    assert messages.endswith("best by uncertainty: one-vs-one, to be used with classify_m -Q "
                             "inverse\n")
    assert len(text.splitlines()) == 46


@pytest.mark.long
def test_shuffled_order_is_recovered(classes, root, tmp_path):
    """The labels in any order: an adjacent code over the right order is best again."""
    data = Path(root / "sample_data" / "ordered")
    order = np.random.default_rng(2).permutation(8)
    Path("mixed.vec").write_bytes(data.with_suffix(".vec").read_bytes())
    write_cls("mixed.cls", order[read_cls(data.with_suffix(".cls"))].astype(np.int32))
    status, text, messages = classes("-n", "--options", "-c 10 -g 0.005", "--trials", "1", "mixed")
    assert status == 0 and "best by uncertainty: adjacent-ordered" in messages
    found = [int(word) for word in text.splitlines()[-1].strip("{} ").split()]
    assert found in (order.tolist(), order[::-1].tolist())


def test_a_tree_may_be_best_as_a_code(classes, run):
    status, text, messages = classes("-Q", "tree:least-squares", "train")
    assert status == 0 and "tree, to be used with classify_m -Q least-squares" in messages
    assert text.endswith('"" 0 / 1 2;\n"" 1 / 2;\n{ 2 5 9}\n')
    assert classes("-Q", "tree:recursive", "train")[1].splitlines()[3] == '"" {'


@pytest.mark.parametrize("words, status, message", [
    (("5",), 2, "cannot know them by their number of classes: found 5"),
    (("-Q", "convert", "train"), 2, "starts from a file"),
    (("-Q", "strange", "train"), 2, "no file 'strange'")])
def test_best_refuses(classes, run, words, status, message):
    got = classes(*words)
    assert got[0] == status and message in got[2] and got[1] == ""


def test_options_of_best_alone(run):
    got = run("print_control", "-d", "3", "5")
    assert got[0] == 2 and "-d goes with --best" in got[2]


def test_inputs_are_not_overwritten(run):
    before = Path("train.cls").read_bytes()
    got = run("nfold", "1v1", "train", "train")
    assert got[0] == 2 and "would take the place of an input" in got[2]
    assert Path("train.cls").read_bytes() == before
    Path("plan").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; { 2 5 9 }')
    run("multi_borders", "plan", "train", "m", "m.mbc")
    for out in ("m.mbc", "m-00"):
        kept = Path(out).read_bytes()
        got = run("mbh2mbm", "m.mbc", out)
        assert got[0] == 2 and "would take the place of an input" in got[2]
        assert Path(out).read_bytes() == kept
    values = np.arange(9, dtype="<f4").tobytes()
    Path("v.dat").write_bytes(values)
    got = run("float_to_class", "v.dat", "v.dat", "0", "9")
    assert got[0] == 2 and Path("v.dat").read_bytes() == values


def test_a_folder_may_have_the_name_of_a_scheme(run):
    Path("tree").mkdir()
    run("compare_control", "--trials", "1", "train", "1v1", "tree")


def test_equal_names_are_refused_by_best(classes, run):
    got = classes("-Q", "one-vs-one:vote,one-vs-one:inverse", "train")
    assert got[0] == 2 and "given twice" in got[2]


@pytest.mark.parametrize("command, words, status, message", [
    ("compare_control", ("train.vec",), 1, "expected the base name of the data, train"),
    ("compare_control", ("train.names",), 1, "LIBSVM text is read with -M"),
    ("print_control", ("-Q", "5", "train.cls"), 1, "expected the base name of the data, train"),
    ("multi_borders", ("one-vs-one", "train", "m", "c"), 2,
     "print_control -Q one-vs-one train | multi_borders"),
    ("nfold", ("-a", "narrow.std", "1v1", "train"), 1, "train: the data have 4 features")])
def test_messages_help(run, command, words, status, message):
    write_std("narrow.std", Normalisation(np.eye(2, dtype=np.float32), np.zeros(2, np.float32)))
    got = run(command, *words)
    assert got[0] == status and message in got[2] and len(got[2].splitlines()) == 1


def test_points_of_a_normalised_training_give_a_warning(run):
    control = run("print_control", "train")[1]
    run("multi_borders", "-n", "train", "m", "m.mbc", stdin=control)
    _, with_it, messages = run("classify_m", "-a", "m.std", "m.mbc", "train.vec", "out")
    assert messages == ""
    _, without, messages = run("classify_m", "m.mbc", "train.vec", "out")
    assert "the points are taken as normalised already" in messages
    assert without != with_it
