"""Decoders of one-vs-one classifiers as commands: held-out pair errors, class orders, costs."""

import re
from itertools import combinations

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.prediction.configuration import load
from agfmc.formats.confusions import read_pair_errors
from agfmc.formats.vectors import read_cls, read_vec, write_cls, write_vec

LABELS = (1, 4, 6, 7)


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    """Data of four overlapping classes, a one-vs-one configuration with its pair errors."""
    folder = tmp_path_factory.mktemp("asking")
    rng = np.random.default_rng(11)
    for name, n in (("trn", 60), ("tst", 50)):
        y = np.repeat(LABELS, n)
        x = rng.normal(size=(len(y), 3)) + 1.5 * np.eye(4)[np.repeat(range(4), n)][:, :3]
        order = rng.permutation(len(y))
        write_vec(folder / f"{name}.vec", x[order].astype(np.float32))
        write_cls(folder / f"{name}.cls", y[order].astype(np.int32))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (folder / "plan").write_text(" ".join(
            f'"" {i} / {j};' for i, j in combinations(range(4), 2)) + " {4 1 7 6}\n")
        run("multi_borders", "--cv-errors", "errors", "--cv-irrelevant", "plan", "trn", "m", "ctl")
        run("mbh2mbm", "--quiet", "ctl", "all.mbm")
    return folder


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def test_errors_of_pairs(here, run):
    counted = read_pair_errors("errors")
    assert counted.labels == LABELS
    off = ~np.eye(4, dtype=bool)
    assert (counted.n[off] == 60).all() and (counted.errors <= counted.n).all()
    # they are held out: more errors than on the training samples themselves, fewer than guessing
    done = run("classify_m", "-Q", "-1", "all.mbm", "trn.vec", "told")
    r = np.array([line.split() for line in done.out.splitlines()], dtype=float)
    y = read_cls("trn.cls")
    rows = parse((here / "ctl").read_text()).sides()
    resubstituted = sum(np.count_nonzero((r[:, i] >= 0)[y == left[0]])
                        + np.count_nonzero((r[:, i] < 0)[y == right[0]])
                        for i, (left, right) in enumerate(rows))
    assert resubstituted < counted.errors.sum() < 0.5 * counted.n.sum()
    # where the classifiers send others is not held out: they never saw them
    for i, ((left,), (right,)) in enumerate(rows):
        a, b = LABELS.index(left), LABELS.index(right)
        for t, label in enumerate(LABELS):
            if label not in (left, right):
                assert counted.irrelevant[t, a, b] == 60
                assert counted.wins[t, a, b] == np.count_nonzero((r[:, i] < 0)[y == label])


def test_parts_are_the_whole(here, run):
    lines = run("multi_borders", "-0", "--cv-errors", "part", "plan", "trn", "n",
                "nctl").out.splitlines()
    assert len(lines) == 6 and all("--cv-errors=part.n-0" in line for line in lines)
    for i in range(6):
        run("multi_borders", f"--only=n-{i:02d}", "--options=", f"--cv-errors=part.{i}", "nctl",
            "trn", "n", "nctl")
    (here / "parts").write_text("".join((here / f"part.{i}").read_text() for i in range(6)))
    whole, parts = read_pair_errors("errors"), read_pair_errors("parts")
    np.testing.assert_array_equal(parts.n, whole.n)
    np.testing.assert_array_equal(parts.errors, whole.errors)
    assert parts.irrelevant is None


def test_an_order_changes_the_way_and_not_the_models(here, run):
    _, text, told = run("order_classes", "--errors", "errors", "ctl")
    assert "branch and bound" in told
    (here / "ordered").write_text(text)
    assert parse(text).sides() == parse((here / "ctl").read_text()).sides()
    assert sorted(parse(text).labels) == list(LABELS)
    classes = {}
    for control in ("ctl", "ordered"):
        for method in ("ddag", "max-win"):
            run("classify_m", "-Q", method, control, "tst.vec", "o")
            classes[control, method] = read_cls("o.cls")
    np.testing.assert_array_equal(classes["ctl", "max-win"], classes["ordered", "max-win"])
    truth = read_cls("tst.cls")
    assert all((found == truth).mean() > 0.6 for found in classes.values())


@pytest.mark.parametrize("method, asked", [
    ("ddag", "3.00"), ("adag", "3.00"), ("max-win", "6.00"), ("0", "6.00"), ("poll", None)])
def test_count(here, run, method, asked):
    _, out, told = run("classify_m", "--count", "--margins", "-Q", method, "all.mbm", "tst.vec",
                       "o")
    found = re.search(r"([\d.]+) of 6 binary classifiers and ([\d.]+) of (\d+) kernel evaluations "
                      r"per point", told)
    total = len(load("all.mbm").machines.sv)
    assert int(found[3]) == total
    if asked is not None:
        assert found[1] == asked
    if asked == "6.00":
        assert found[2] == f"{total}.00"
    if asked == "3.00":
        assert float(found[2]) < total
    assert re.search(r"sum of 1/margin\^2 over 6 binary classifiers: \d", told)
    width = 4 if method == "0" else 1
    assert all(len(line.split()) == width + 1 for line in out.splitlines())
    assert len(out.splitlines()) == 200


def test_results_do_not_depend_on_threads_or_blocks(here, run):
    write_vec("many.vec", np.tile(read_vec("tst.vec"), (30, 1)))
    for method in ("ddag", "poll", "and"):
        seen = []
        for jobs in ("1", "2"):
            done = run("classify_m", "--quiet", "-j", jobs, "-Q", method, "all.mbm", "many.vec",
                       "o")
            seen.append((done.out, (here / "o.cls").read_bytes(), (here / "o.con").read_bytes()))
        assert seen[0] == seen[1]
        assert seen[0][0] == 30 * run("classify_m", "--quiet", "-Q", method, "all.mbm", "tst.vec",
                                      "o").out


def test_and_rejects(here, run):
    _, _, told = run("classify_m", "-Q", "and", "all.mbm", "tst.vec", "o")
    classes = read_cls("o.cls", negative=True)
    assert f"{np.count_nonzero(classes < 0)} of 200 points rejected" in told
    run("classify_m", "-Q", "ddag", "all.mbm", "tst.vec", "d")
    np.testing.assert_array_equal(read_cls("d.cls")[classes >= 0], classes[classes >= 0])


def test_radag(here, run):
    done = run("classify_m", "-Q", "radag", "--count", "--pair-errors", "errors", "all.mbm",
               "tst.vec", "o")
    assert "3.00 of 6 binary classifiers" in done.err


@pytest.mark.parametrize("words, message", [
    ("classify_m --top 2 all.mbm tst.vec o", "--top goes with -Q poll"),
    ("classify_m -Q poll --opponents 0 all.mbm tst.vec o", "opponents"),
    ("classify_m -Q poll --opponents xlog all.mbm tst.vec o", "opponents"),
    ("classify_m -Q radag all.mbm tst.vec o", "--pair-errors"),
    ("classify_m -Q ddag --pair-errors errors all.mbm tst.vec o", "goes with -Q radag"),
    ("classify_m -Q argmax all.mbm tst.vec o", "one-vs-rest"),
    ("classify_m -Q loss:zero all.mbm tst.vec o", "no decoder 'loss:zero'"),
    ("classify_m -Q loss:hinge -O cat ctl tst.vec x", "decision values"),
    ("classify_m --count -O cat ctl tst.vec x", "--count"),
    ("multi_borders --cv-irrelevant plan trn m o", "goes with --cv-errors"),
    ("multi_borders --cv-errors e -- cat plan trn m o", "does not go with --")])
def test_what_does_not_go_together(here, run, words, message):
    assert message in run(*words.split(), status=2).err


def test_errors_of_pairs_are_for_pairs(here, run):
    (here / "rest").write_text('"" 0 / 1 2 3; {1 4 6 7}\n')
    assert run("multi_borders", "--cv-errors", "e", "rest", "trn", "x", "xctl",
               status=2).err.startswith("multi_borders: rest:1:1: --cv-errors is for one-vs")
    assert not (here / "xctl").exists()
