"""classify_m --stop and --top-accuracy, and eval_uc of sets in a tree, on the ordered sample."""

import json
from pathlib import Path

import numpy as np
import pytest

from agfmc.answers.libagf_text import read_sets
from agfmc.data.libagf import read_cls, read_con, read_vec
from data_files import write_cls, write_vec

# A matrix of three branches, of which one is a class and the others are trees, out of order.
NESTED = '"" 0 / 1; "" 0 / 2; "" 1 / 2; { "" {3 "" {0 2}} 1 "" { "" {6 4} "" {7 5} } }'
CLASSES = 8


@pytest.fixture(scope="module")
def made(run, root, tmp_path_factory):
    """Points tst.vec and .cls of the sample, a tree with a coded root, and pairs of 4 classes."""
    folder = tmp_path_factory.mktemp("few")
    x, y = (
        read(str(root / "sample_data" / f"ordered.{end}"))
        for read, end in ((read_vec, "vec"), (read_cls, "cls"))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, some in (("trn", slice(None, None, 4)), ("tst", slice(1, 400, 2))):
            write_vec(f"{name}.vec", x[some])
            write_cls(f"{name}.cls", y[some])
        Path("nested.mbt").write_text(NESTED)
        Path("pairs.mbt").write_text(run("print_control", "-Q", "one-vs-one", CLASSES).out)
        for name in ("nested", "pairs"):
            run(
                "multi_borders",
                "--quiet",
                "-+",
                "learner=nystrom -m 60 -g .01",
                f"{name}.mbt",
                "trn",
                name,
                f"{name}.mbc",
            )
            run("mbh2mbm", "--quiet", f"{name}.mbc", f"{name}.mbm")
        run(
            "classify_m",
            "--quiet",
            "--tree",
            "full",
            "--uncalibrated",
            "nested.mbm",
            "tst.vec",
            "full",
        )
    return folder


@pytest.fixture
def here(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


def table(run, *words):
    out = run("classify_m", "--quiet", *words, "tst.vec", "out").out
    return np.array([line.split() for line in out.splitlines()], dtype=float)


def test_the_most_probable_classes_of_a_tree(here, run):
    p = table(run, "--tree", "full", "--uncalibrated", "nested.mbm")[:, :-1]
    counts = []
    for top in (1, 3, 8, 30):
        done = run("classify_m", "--top", top, "--count", "nested.mbm", "tst.vec", "out")
        found = np.array([line.split() for line in done.out.splitlines()], dtype=float)
        assert found.shape == (200, 2 * min(top, 8))
        np.testing.assert_allclose(found[:, 1::2], -np.sort(-p, axis=1)[:, :top], atol=1.1e-6)
        np.testing.assert_allclose(
            np.take_along_axis(p, found[:, ::2].astype(int), axis=1), found[:, 1::2], atol=1.1e-6
        )
        assert (np.diff(np.sort(found[:, ::2])) > 0).all()
        np.testing.assert_array_equal(read_cls("out.cls"), read_cls("full.cls"))
        np.testing.assert_allclose(read_con("out.con"), read_con("full.con"), rtol=1e-6)
        counts.append(float(done.err.split(" of 8 binary")[0].split()[-1]))
    assert counts[0] < counts[1] < counts[2] == counts[3] == 8


@pytest.mark.parametrize(
    "words",
    [
        ["--tree", "full", "nested.mbm"],
        ["pairs.mbm"],
        ["-Q", "1", "pairs.mbc"],
        ["--priors", "8,1,1,1,1,1,1,1", "pairs.mbm"],
    ],
)
def test_the_most_probable_classes_of_other_decoders(here, run, words):
    """Calibrated, and with priors, as the probabilities of all classes are."""
    whole = table(run, *words)
    classes = read_cls("out.cls")
    found = table(run, "--top", "3", "--header", *words)
    np.testing.assert_array_equal(found[:, 1::2], -np.sort(-whole[:, :-1], axis=1)[:, :3])
    np.testing.assert_array_equal(found[:, 0], classes)
    np.testing.assert_array_equal(read_cls("out.cls"), classes)
    assert whole.shape == (200, 9)


def test_the_decoder_that_a_model_names(here, run):
    Path("named.mbc").write_text("# decoder: full\n" + Path("nested.mbc").read_text())
    plain = run("classify_m", "--quiet", "--stop", ".8", "nested.mbm", "tst.vec", "o").out
    assert run("classify_m", "--quiet", "--stop", ".8", "named.mbc", "tst.vec", "o").out == plain
    all_asked = run("classify_m", "--count", "--top", "2", "named.mbc", "tst.vec", "o")
    assert "8.00 of 8 binary classifiers" in all_asked.err


def test_nodes_with_a_coverage(here, run):
    """From training, and from other points; the files of the model keep what is needed."""
    sizes, truth = [], read_cls("tst.cls")
    run(
        "calibrate_m",
        "--quiet",
        "--map",
        "temperature",
        "--data",
        "tst",
        "nested.mbm",
        "-o",
        "again.mbm",
    )
    for model, coverage in (
        ("nested.mbc", ".8"),
        ("nested.mbm", ".8"),
        ("again.mbm", ".8"),
        ("again.mbm", ".95"),
    ):
        done = run("classify_m", "--stop", "auto", "--coverage", coverage, model, "tst.vec", "out")
        sets = read_sets("out.sets")
        sizes.append(sets.size.mean())
        done.line(
            f"{sizes[-1]:.2f} classes in an answer on average, {np.sum(sets.size == 1)} of "
            "200 answers one class"
        )
        covered = json.loads(
            run(
                "eval_uc",
                "--json",
                "--sets",
                "out.sets",
                "--control",
                "nested.mbt",
                "tst.cls",
                "out",
            ).out
        )["sets"]["coverage"]
        assert covered > float(coverage) - 0.05
    assert sizes[0] == sizes[1] and 1 < sizes[2] < sizes[3]
    assert covered >= 0.95  # of the calibration points themselves
    np.testing.assert_array_equal(read_cls("out.cls", negative=True) >= 0, sets.size == 1)
    assert len(truth) == len(sets.size)


def test_scores_in_the_tree(here, run):
    scores = {}
    for stop in (".001", ".7", "1"):
        done = run("classify_m", "--stop", stop, "nested.mbm", "tst.vec", "out")
        size = read_sets("out.sets").size
        done.line(
            f"{size.mean():.2f} classes in an answer on average, {np.sum(size == 1)} of 200 "
            "answers one class"
        )
        found = [
            json.loads(
                run(
                    "eval_uc",
                    "--json",
                    "--sets",
                    "out.sets",
                    "--control",
                    control,
                    "tst.cls",
                    "out",
                ).out
            )["sets"]
            for control in ("nested.mbt", "nested.mbc", "nested.mbm")
        ]
        assert found[0] == found[1] == found[2]
        scores[stop] = found[0]
    plain, some, none = scores.values()
    assert plain["exact"] == plain["coverage"] and none["exact"] == 0 == none["hierarchical_recall"]
    assert none["hierarchical_precision"] is None and none["coverage"] == 1
    assert plain["hierarchical_precision"] < some["hierarchical_precision"]
    assert plain["hierarchical_recall"] > some["hierarchical_recall"]
    assert plain["coverage"] < some["coverage"] and plain["exact"] > some["exact"]


@pytest.mark.parametrize(
    "words, message",
    [
        ("--stop 2 nested.mbm", "from 0 to 1"),
        ("--stop 0 nested.mbm", "above 0"),
        ("--stop .9 pairs.mbm", "--stop is for decision trees"),
        ("--stop auto --coverage .9 pairs.mbm", "--stop is for decision trees"),
        ("--stop .9 --coverage .9 nested.mbm", "cannot be combined with --coverage"),
        ("--stop .9 --priors 1,1,1,1,1,1,1,1 nested.mbm", "cannot be combined with --priors"),
        ("--stop .9 -Q -1 nested.mbm", "cannot be combined with -Q binary"),
        ("--stop .9 --quantity nested.mbm", "--quantity and --stop exclude each other"),
        ("--stop .9 -O cat nested.mbc", "-O and --stop exclude each other"),
        ("--top 0 nested.mbm", "1 or more"),
        ("--top 2 -0 nested.mbm", "not -0"),
        ("--top 2 --quantity pairs.mbm", "--quantity and --top exclude each other"),
        ("--top 2 -O cat nested.mbc", "-O and --top exclude each other"),
    ],
)
def test_what_does_not_go_together(here, run, words, message):
    told = run("classify_m", *words.split(), "tst.vec", "never", status=2).err
    assert message in told and len(told.splitlines()) == 1
    assert not list(here.glob("never*"))
