"""eval_uc in-process on answers small enough to score by hand."""

import json
import math

import numpy as np
import pytest


@pytest.fixture
def files(monkeypatch, tmp_path):
    """truth.cls, out.cls, out.con and probs: four points, classes 2 and 7, one mistake."""
    monkeypatch.chdir(tmp_path)
    p = np.array([[0.75, 0.25], [1.0, 0.0], [0.25, 0.75], [0.5, 0.5]])
    answers = np.array([2, 2, 7, 2], dtype="<i4")
    np.array([2, 2, 7, 7], dtype="<i4").tofile("truth.cls")
    answers.tofile("out.cls")
    (2 * p.max(axis=1) - 1).astype("<f4").tofile("out.con")
    lines = [f" {a:9.6f} {b:9.6f}{c: 4d}\n" for (a, b), c in zip(p, answers)]
    (tmp_path / "probs").write_text("labels 2 7\n" + "".join(lines))
    (tmp_path / "bare").write_text("".join(lines))


def printed(run, *words):
    done = run("eval_uc", *words)
    assert done.err == ""
    return done.out


# H(truth) = log 2; rows of the table: 2 -> (2, 0), 7 -> (1, 1)
UNCERTAINTY = (math.log(2) - 0.75 * (math.log(3) - 2 / 3 * math.log(2))) / math.log(2)


def test_brief(files, run):
    wanted = f"{0.75:6.4f} {UNCERTAINTY:6.4f}\n"
    head, line = printed(run, "-b", "truth.cls", "out").splitlines(True)
    assert line == wanted and "accuracy" in head
    assert printed(run, "-b", "-H", "truth.cls", "out") == wanted


def test_brier(files, run):
    # sqrt of the mean over points (and over classes, for all) of (p - truth)^2
    json_all = json.loads(printed(run, "--json", "truth.cls", "out", "probs"))
    value = math.sqrt((0.25**2 + 0.25**2 + 0.5**2) / 4)  # with two classes both are the same
    for key, words in (("brier_all", ["-B", "-H"]), ("brier_winning", ["-B", "-b", "-H"])):
        assert json_all[key] == pytest.approx(value)
        assert printed(run, *words, "truth.cls", "out", "probs") == f"{value:8.6f}\n"
    assert printed(run, "-B", "truth.cls", "out", "probs").count("\n") == 2


def test_number_of_classes_comes_from_k_labels_or_columns(files, run):
    wanted = printed(run, "-B", "-b", "truth.cls", "out", "probs")
    assert printed(run, "-B", "-b", "-k", "2", "truth.cls", "out") == wanted
    assert printed(run, "-B", "-b", "--labels", "2,7", "truth.cls", "out") == wanted
    assert printed(run, "-B", "-b", "truth.cls", "out", "bare") == wanted
    assert "not told" in printed(run, "truth.cls", "out")


def test_json(files, run):
    scores = json.loads(printed(run, "--json", "truth.cls", "out"))
    assert scores["accuracy"] == 0.75 and scores["labels"] == [2, 7] and scores["points"] == 4
    assert scores["uncertainty_coefficient"] == pytest.approx(UNCERTAINTY)
    assert scores["contingency"] == [[2, 0], [1, 1]]
    assert scores["classes"] is None and scores["brier_all"] is None
    assert json.loads(printed(run, "--json", "-k2", "truth.cls", "out"))["classes"] == 2


def test_page(files, run):
    page = printed(run, "-q", "5", "truth.cls", "out", "probs")
    assert "accuracy                    0.750000\n" in page
    assert "  2 7\n2 2 0\n7 1 1\n" in page
    bins = page.split("std.error\n")[1].splitlines()[:-1]
    assert len(bins) == 5 and bins[0].startswith("    0.0000 - 0.2000         0")
    # the winners have 0.75, 1, 0.75 and 0.5
    assert [int(line[20:30]) for line in bins] == [0, 0, 1, 2, 1]


def test_probabilities_of_another_run(files, run, tmp_path):
    np.array([2, 7, 7, 2], dtype="<i4").tofile("out.cls")
    assert "not of one run" in run("eval_uc", "truth.cls", "out", "probs", status=1).err


def test_labels_without_a_numbering_are_refused(files, run, tmp_path):
    text = (tmp_path / "bare").read_text().replace("   2\n", "  0.0   2\n").replace(
        "   7\n", "  0.0   7\n")
    (tmp_path / "three").write_text(text)
    assert "give --labels" in run("eval_uc", "truth.cls", "out", "three", status=2).err
    run("eval_uc", "--labels", "2,7,8", "truth.cls", "out", "three")


def test_page_with_names(files, run, tmp_path):
    bare = printed(run, "truth.cls", "out", "probs")
    names = [f"name {i}" for i in range(8)]
    names[2], names[7] = "a name of rather more than thirty columns", "\u6c34"
    (tmp_path / "truth.names").write_text("".join(f"{name}\n" for name in names), "utf-8")
    page = printed(run, "truth.cls", "out", "probs")
    rows = page.split("result)\n")[1].splitlines()[:3]
    assert rows == [" " * 34 + " 2 7", "2 a name of rather more than th... 2 0",
                    "7 \u6c34" + " " * 30 + " 1 1"]
    # nothing else has changed
    assert [line for line in page.splitlines() if line not in rows] == \
        [line for line in bare.splitlines() if line not in ("  2 7", "2 2 0", "7 1 1")]
    scores = json.loads(printed(run, "--json", "truth.cls", "out"))
    assert scores["names"] == [names[2], names[7]]
    (tmp_path / "more.names").write_text("\n".join("abcdefgh"))
    scores = json.loads(printed(run, "--json", "--names", "more.names", "truth.cls", "out"))
    assert scores["names"] == ["c", "h"]


def test_names_that_are_too_few(files, run, tmp_path):
    bare = printed(run, "truth.cls", "out")
    (tmp_path / "truth.names").write_text("a\nb\nc\n")
    assert printed(run, "-b", "truth.cls", "out")  # no names are wanted, and none looked for
    _, out, err = run("eval_uc", "truth.cls", "out")
    assert out == bare and "truth.names: holds no name for class 7" in err
    done = run("eval_uc", "--names", "truth.names", "truth.cls", "out", status=1)
    assert "holds no name for class 7 (line 8)" in done.err


def test_priors(files, run):
    # class 2 weighs 0.2/0.5 and class 7 0.8/0.5
    scores = json.loads(printed(run, "--json", "--priors", "0.2,0.8", "truth.cls", "out", "probs"))
    assert scores["points"] == 4 and scores["priors"] == pytest.approx([.2, .8])
    assert scores["contingency"] == [[pytest.approx(.8), 0], [pytest.approx(1.6)] * 2]
    assert scores["accuracy"] == pytest.approx(.6)
    assert scores["log_loss"] == pytest.approx(
        -(.4 * math.log(.75) + 1.6 * (math.log(.75) + math.log(.5))) / 4)
    assert scores["brier_all"] == pytest.approx(
        math.sqrt((.4 * .25**2 + 1.6 * (.25**2 + .5**2)) / 4))
    page = printed(run, "--priors", "7=0.8,2=0.2", "truth.cls", "out", "probs")
    assert "points                      4, weighted\n" in page
    assert "result; weighted)\n     2    7\n2 0.80    0\n7 1.60 1.60\n" in page
    assert "0.5000 - 0.6000      1.60  0.500000  0.000000   0.500000\n" in page
    assert printed(run, "-b", "-H", "--priors", "truth.cls", "truth.cls", "out") == \
        printed(run, "-b", "-H", "truth.cls", "out")


def test_priors_that_the_truth_cannot_stand_for(files, run):
    for words, says in ((["--priors", "2=.2,7=.7,8=.1", "--labels", "2,7,8"],
                         "no sample is of class 8, whose prior is 0.1"),
                        (["--priors", "2=.2,7=.7,8=.1"], "class 8 is not one of the classes 2 7"),
                        (["--priors", "1"], "expected 2 numbers"),
                        (["--priors", "2=1"], "none for 7")):
        assert says in run("eval_uc", *words, "truth.cls", "out", status=None).refused()
    assert printed(run, "-b", "--priors", "0.2,0.8,0", "--labels", "2,7,8", "truth.cls", "out")


def test_plot(files, run, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "truth.names").write_text("\n".join("abcdefgh"))
    page = printed(run, "truth.cls", "out", "probs")
    for words in (["probs"], [], ["probs", "--priors", "0.2,0.8"], ["-b"]):
        printed(run, "--plot", "x.svg", "truth.cls", "out", *words)
        assert b"<svg" in (tmp_path / "x.svg").read_bytes()
        (tmp_path / "x.svg").unlink()
    assert printed(run, "--plot", "x.png", "truth.cls", "out", "probs") == page
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_plot_of_no_known_kind_is_refused_before_anything_is_read(files, run, tmp_path):
    assert "x.gif" in run("eval_uc", "--plot", "x.gif", "gone.cls", "gone", status=2).err


def test_results_given_as_the_truth_give_a_warning(files, run):
    for words, status in ((["-b", "out.cls", "truth"], 0), (["out.cls", "truth", "probs"], 1)):
        done = run("eval_uc", *words, status=status)
        assert "out.cls has out.con beside it, as results have, and truth.cls has none: the true " \
            "classes come first" in done.err


def test_classes_with_another_numbering_give_a_warning(monkeypatch, tmp_path, run):
    monkeypatch.chdir(tmp_path)
    truth = np.arange(100, dtype="<i4") % 4
    truth.tofile("out.cls")
    for shift, told in ((1, True), (0, False)):
        (truth + shift).tofile("truth.cls")
        done = run("eval_uc", "-b", "truth.cls", "out")
        assert ("numbered otherwise than the truth" in done.err) == told
