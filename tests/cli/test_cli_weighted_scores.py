"""eval_uc and cls_comp_stats with weights of points and classes."""

import json
from pathlib import Path

import numpy as np
import pytest

from agfmc.answers.libagf_text import format_points
from agfmc.data.libagf import con_bytes
from agfmc.core.probabilities import confidence
from data_files import write_cls

LABELS = np.array([2, 5, 7])
N = 60


@pytest.fixture
def here(monkeypatch, tmp_path):
    """Truth t.cls and answers r.cls, .con, r.txt of 60 points, and c.* of their copies; -> how many
    copies there are (60,), which w.txt has as weights."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    p = np.round(rng.dirichlet(np.ones(3), N), 6)
    truth, w = rng.integers(0, 3, N), rng.integers(0, 4, N)
    for base, rows in (("", np.arange(N)), ("c", np.repeat(np.arange(N), w))):
        answers = p[rows].argmax(axis=1)
        write_cls(f"{base}t.cls", LABELS[truth[rows]])
        write_cls(f"{base}r.cls", LABELS[answers])
        Path(f"{base}r.con").write_bytes(con_bytes(confidence(p[rows].max(axis=1), 3)))
        Path(f"{base}r.txt").write_bytes(
            b"labels 2 5 7\n" + format_points(p[rows], LABELS[answers])
        )
        heads = "id,class,p,p:2,p:5,p:7,weight,kind"
        Path(f"{base}r.csv").write_text(
            "\n".join(
                [
                    heads,
                    *(
                        f"{i},{LABELS[j]},{max(row):.6f},{row[0]:.6f},{row[1]:.6f},{row[2]:.6f},{v},{LABELS[t]}"
                        for i, (j, row, v, t) in enumerate(
                            zip(answers, p[rows], w[rows], truth[rows])
                        )
                    ),
                ]
            )
        )
    Path("w.txt").write_text("# weights\n" + "\n".join(map(str, w)))
    return w


def scored(run, *words):
    done = run("eval_uc", "--json", *words)
    return json.loads(done.out), done.err


NAMES = (
    "accuracy",
    "log_loss",
    "brier",
    "uncertainty_coefficient",
    "balanced_accuracy",
    "macro_f1",
    "cohen_kappa",
    "matthews",
    "macro_auc",
    "expected_calibration_error",
    "aurc",
)


def test_weights_are_copies(run, here):
    found, err = scored(run, "--weight", "w.txt", "t.cls", "r", "r.txt")
    wanted, _ = scored(run, "ct.cls", "cr", "cr.txt")
    assert f"{(here == 0).sum()} of 60 points have weight 0 and are left out" in err
    for name in NAMES:
        assert found[name] == pytest.approx(wanted[name], abs=1e-12), name
    assert found["contingency"] == wanted["contingency"]
    assert found["points"] == (here > 0).sum() and wanted["points"] == here.sum()
    page = run("eval_uc", "--weight", "w.txt", "t.cls", "r", "r.txt").out
    assert f"points            {(here > 0).sum()}\nScores of all points, weighted; " in page
    assert (
        run("eval_uc", "-b", "--weight", "w.txt", "t.cls", "r").out
        == run("eval_uc", "-b", "ct.cls", "cr").out
    )


def test_weights_beside_the_truth(run, here):
    plain, err = scored(run, "t.cls", "r", "r.txt")
    assert err == ""
    here.astype("<f4").tofile("t.wgt")
    wanted, _ = scored(run, "--weight", "w.txt", "t.cls", "r", "r.txt")
    found, err = scored(run, "t.cls", "r", "r.txt")
    assert found == wanted
    assert "the points of t.cls have the weights in t.wgt (--weight none" in err
    assert scored(run, "--weight", "none", "t.cls", "r", "r.txt") == (plain, "")
    Path("t.cls").rename("t.truth")
    assert scored(run, "t.truth", "r", "r.txt")[0] == found
    np.ones(60, "<f4").tofile("t.wgt")
    assert scored(run, "t.truth", "r", "r.txt")[0] == plain


def test_columns_of_weights(run, here):
    wanted, _ = scored(run, "--weight", "w.txt", "t.cls", "r", "r.txt")
    found, _ = scored(run, "--truth", "kind", "--weight", "weight", "r.csv")
    for name in NAMES:
        assert found[name] == pytest.approx(wanted[name], abs=1e-12), name
    of_file, _ = scored(run, "--truth", "kind", "--weight", "w.txt", "r.csv")
    assert [of_file[name] for name in NAMES] == [wanted[name] for name in NAMES]
    rows = [line.split(",") for line in Path("r.csv").read_text().splitlines()]
    Path("a.csv").write_text("\n".join(",".join(row[:6]) for row in rows))
    other = [rows[0], *rows[:0:-1]]
    Path("truth.csv").write_text("\n".join(",".join((row[7], row[0], row[6])) for row in other))
    joined = "--truth", "kind", "--data", "truth.csv", "--weight", "3", "a.csv"
    assert scored(run, *joined)[0] == found
    assert scored(run, *joined[:4], "a.csv")[0]["points"] == 60
    balanced, _ = scored(run, "--class-weight", "balanced", *joined)
    assert balanced["priors"] == pytest.approx([1 / 3] * 3, abs=1e-12)
    assert balanced["accuracy"] == pytest.approx(found["balanced_accuracy"], abs=1e-12)


def test_weights_of_classes(run, here):
    Path("t.names").write_text("a\nb\nant\nc\nd\nbee\ne\ncat\n")
    write_cls("t.cls", np.fromfile("t.cls", "<i4"))
    found, _ = scored(run, "--weight", "w.txt", "--class-weight", "bee=2,7=0.5", "t.cls", "r")
    truth = np.fromfile("t.cls", "<i4")
    w = here * np.array([1, 2, 0.5])[np.searchsorted(LABELS, truth)]
    assert found["accuracy"] == pytest.approx(
        np.average(truth == np.fromfile("r.cls", "<i4"), weights=w), abs=1e-12
    )
    Path("cw").write_text("5 2\ncat .5\n")
    assert scored(run, "--weight", "w.txt", "--class-weight", "cw", "t.cls", "r")[0] == found
    shares, _ = scored(run, "--weight", "w.txt", "--priors", ".2,.3,.5", "t.cls", "r")
    assert shares["priors"] == pytest.approx([0.2, 0.3, 0.5], abs=1e-12)


def test_tables_in_the_layout_of_libagf(run, here):
    wanted = run("cls_comp_stats", "ct.cls", "cr").out.split()
    found = run("cls_comp_stats", "--weight", "w.txt", "t.cls", "r")
    assert "have weight 0" in found.err
    words = found.out.split()
    assert len(words) == len(wanted)
    for one, other in zip(words, wanted):
        try:
            assert float(one) == float(other)
        except ValueError:
            assert one == other
    assert (
        run("cls_comp_stats", "-b", "--weight", "w.txt", "t.cls", "r").out
        == run("cls_comp_stats", "-b", "ct.cls", "cr").out
    )
    plain = run("cls_comp_stats", "t.cls", "r").out
    here.astype("<f4").tofile("t.wgt")
    assert run("cls_comp_stats", "t.cls", "r").out == found.out
    assert run("cls_comp_stats", "--weight", "none", "t.cls", "r").out == plain


@pytest.mark.parametrize(
    "words, told",
    [
        ("--weight gone t.cls r", "gone: cannot read"),
        ("--weight short t.cls r", "short: has 2 weights, but there are 60 points"),
        ("--weight below t.cls r", "below:2: expected one weight in each line"),
        ("--weight nothing t.cls r", "all 60 points have weight 0"),
        ("--class-weight 3=2 t.cls r", "no class '3'"),
        ("--class-weight balanced --priors .2,.3,.5 t.cls r", "exclude each other"),
        ("--truth kind --weight gone r.csv", "there is no file of that name either"),
        ("--truth kind --weight short r.csv", "short: has 2 weights, but there are 60 points"),
        ("--truth kind --weight below r.csv", "r.csv:2: row 1: column 'below' has the weight -1"),
        ("--truth kind --weight lacking r.csv", "r.csv:3: row 2: column 'lacking' has no number"),
        ("--weight - - r", "standard input"),
    ],
)
def test_errors(run, here, words, told):
    Path("short").write_text("1\n2\n")
    Path("below").write_text("1\n-1\n")
    Path("nothing").write_text("0\n" * 60)
    lines = Path("r.csv").read_text().splitlines()
    Path("r.csv").write_text(
        "\n".join(
            f"{line},{more}"
            for line, more in zip(lines, ["below,lacking", "-1,1", "1,", *["1,1"] * 58])
        )
    )
    done = run("eval_uc", *words.split(), status=None)
    assert done.status in (1, 2) and told in done.err and done.err.count("\n") == 1
