"""eval_uc: its page, its JSON, and its numbers by their formulas."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from agfmc.score.rows import PAGE, SCORES


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
    assert "unknown (-k)" in printed(run, "truth.cls", "out")


def test_json(files, run):
    scores = json.loads(printed(run, "--json", "truth.cls", "out"))
    assert scores["accuracy"] == 0.75 and scores["labels"] == [2, 7] and scores["points"] == 4
    assert scores["uncertainty_coefficient"] == pytest.approx(UNCERTAINTY)
    assert scores["contingency"] == [[2, 0], [1, 1]]
    assert scores["classes"] is None and scores["brier_all"] is None
    assert json.loads(printed(run, "--json", "-k2", "truth.cls", "out"))["classes"] == 2


def test_page(files, run):
    page = printed(run, "truth.cls", "out", "probs")
    assert "\naccuracy                    0.7500  0.3006 to 0.9544 " in page
    assert page.endswith("""
Each class against all others.                    Rows are true classes, columns answers.
class      F1  precision  recall     AUC  points    2 7
2      0.8000     0.6667  1.0000  1.0000       2  2 2 0
7      0.6667     1.0000  0.5000  1.0000       2  7 1 1
""")
    page = printed(run, "-q", "5", "--by-class", "truth.cls", "out", "probs")
    bins = page.split("std.error\n")[1].splitlines()[:3]
    # the winners have 0.75, 1, 0.75 and 0.5
    assert [line.split()[:3] for line in bins] == [
        ["0.4000", "0.6000", "1"],
        ["0.6000", "0.8000", "2"],
        ["0.8000", "1.0000", "1"],
    ]


def test_probabilities_of_another_run(files, run, tmp_path):
    np.array([2, 7, 7, 2], dtype="<i4").tofile("out.cls")
    assert "not of one run" in run("eval_uc", "truth.cls", "out", "probs", status=1).err


def test_labels_without_a_numbering_are_refused(files, run, tmp_path):
    text = (
        (tmp_path / "bare")
        .read_text()
        .replace("   2\n", "  0.0   2\n")
        .replace("   7\n", "  0.0   7\n")
    )
    (tmp_path / "three").write_text(text)
    assert "give --labels" in run("eval_uc", "truth.cls", "out", "three", status=2).err
    run("eval_uc", "--labels", "2,7,8", "truth.cls", "out", "three")


def test_page_with_names(files, run, tmp_path):
    bare = printed(run, "truth.cls", "out", "probs")
    names = [f"name {i}" for i in range(8)]
    names[2], names[7] = "a name of rather more than thirty columns", "\u6c34"
    (tmp_path / "truth.names").write_text("".join(f"{name}\n" for name in names), "utf-8")
    page = printed(run, "truth.cls", "out", "probs")
    parts = page.split("\n\n")
    assert parts[0] == bare.split("\n\n")[0] and "\n  2 7\n2 2 0\n7 1 1\n" in parts[2]
    rows = [row.split() for row in parts[1].splitlines()[2:]]
    assert [row[:2] + row[-1:] for row in rows] == [["a", "name", "2"], ["\u6c34", "0.6667", "7"]]
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
    assert scores["points"] == 4 and scores["priors"] == pytest.approx([0.2, 0.8])
    assert scores["contingency"] == [[pytest.approx(0.8), 0], [pytest.approx(1.6)] * 2]
    assert scores["accuracy"] == pytest.approx(0.6)
    assert scores["log_loss"] == pytest.approx(
        -(0.4 * math.log(0.75) + 1.6 * (math.log(0.75) + math.log(0.5))) / 4
    )
    assert scores["brier_all"] == pytest.approx(
        math.sqrt((0.4 * 0.25**2 + 1.6 * (0.25**2 + 0.5**2)) / 4)
    )
    page = printed(run, "--priors", "7=0.8,2=0.2", "--by-class", "truth.cls", "out", "probs")
    assert "Scores of all points, weighted; " in page
    assert [line[-11:] for line in page.split("sums of weights.\n")[1].splitlines()[:3]] == [
        "     2    7",
        "2 0.80    0",
        "7 1.60 1.60",
    ]
    assert "0.5000 0.6000 1.6000 0.5000 0.0000 0.5000" in " ".join(page.split())
    assert printed(run, "-b", "-H", "--priors", "truth.cls", "truth.cls", "out") == printed(
        run, "-b", "-H", "truth.cls", "out"
    )


def test_priors_that_the_truth_cannot_stand_for(files, run):
    for words, says in (
        (
            ["--priors", "2=.2,7=.7,8=.1", "--labels", "2,7,8"],
            "no sample is of class 8, whose prior is 0.1",
        ),
        (["--priors", "2=.2,7=.7,8=.1"], "class 8 is not one of the classes 2 7"),
        (["--priors", "1"], "expected 2 numbers"),
        (["--priors", "2=1"], "none for 7"),
    ):
        assert says in run("eval_uc", *words, "truth.cls", "out", status=None).refused()
    assert printed(run, "-b", "--priors", "0.2,0.8,0", "--labels", "2,7,8", "truth.cls", "out")


def test_plot(files, run, tmp_path):
    (tmp_path / "truth.names").write_text("\n".join("abcdefgh"))
    page = printed(run, "truth.cls", "out", "probs")
    for words in (["probs", "--priors", "0.2,0.8"], ["-b"]):
        printed(run, "--report", "x.svg", "truth.cls", "out", *words)
        assert b"<svg" in (tmp_path / "x.svg").read_bytes()
        (tmp_path / "x.svg").unlink()
    assert printed(run, "--report", "x.svg", "truth.cls", "out", "probs") == page
    assert (tmp_path / "x.svg").read_bytes().startswith(b"<?xml")


def test_plot_of_no_known_kind_is_refused_before_anything_is_read(files, run, tmp_path):
    assert "x.gif" in run("eval_uc", "--report", "x.gif", "gone.cls", "gone", status=2).err


def test_results_given_as_the_truth_give_a_warning(files, run):
    for words, status in ((["-b", "out.cls", "truth"], 0), (["out.cls", "truth", "probs"], 1)):
        done = run("eval_uc", *words, status=status)
        assert (
            "out.cls has a file out.con, as results have, and truth.cls has none: the true "
            "classes come first" in done.err
        )


def test_classes_with_another_numbering_give_a_warning(monkeypatch, tmp_path, run):
    monkeypatch.chdir(tmp_path)
    truth = np.arange(100, dtype="<i4") % 4
    truth.tofile("out.cls")
    for shift, told in ((1, True), (0, False)):
        (truth + shift).tofile("truth.cls")
        done = run("eval_uc", "-b", "truth.cls", "out")
        assert ("numbered differently from the truth" in done.err) == told


def test_one_class_alone_and_answers_that_are_all_right(monkeypatch, tmp_path, run):
    monkeypatch.chdir(tmp_path)
    for truth, answer, accuracy, uncertainty in (
        ([3, 3], [3, 3], 1.0, None),
        ([3, 5], [3, 5], 1.0, 1.0),
        ([3, 5], [5, 3], 0.0, 1.0),
        ([3, 5], [3, 3], 0.5, 0.0),
        ([3, 3], [3, 5], 0.5, None),
        ([3, 5], [-1, -1], None, 0.0),
    ):
        np.array(truth, "<i4").tofile("truth.cls")
        np.array(answer, "<i4").tofile("out.cls")
        told = json.loads(printed(run, "--json", "truth.cls", "out"))
        assert told["accuracy"] == accuracy
        assert told["uncertainty_coefficient"] == (
            None if uncertainty is None else pytest.approx(uncertainty, abs=1e-12)
        )


@pytest.fixture
def ten(monkeypatch, tmp_path):
    """Ten points of the classes 2, 5 and 7: truth.cls, out.cls, p, and what belongs to them."""
    monkeypatch.chdir(tmp_path)
    labels = np.array([2, 5, 7])
    p = np.array(
        [
            [0.7, 0.2, 0.1],
            [0.1, 0.8, 0.1],
            [0.3, 0.3, 0.4],
            [0.6, 0.3, 0.1],
            [0.2, 0.5, 0.3],
            [0.05, 0.05, 0.9],
            [0.4, 0.35, 0.25],
            [0.9, 0.05, 0.05],
            [0.15, 0.7, 0.15],
            [0.33, 0.33, 0.34],
        ]
    )
    answers = labels[p.argmax(axis=1)].astype("<i4")
    labels[[0, 1, 2, 1, 1, 2, 0, 0, 2, 0]].astype("<i4").tofile("truth.cls")
    answers.tofile("out.cls")

    def lines(values):
        return "labels 2 5 7\n" + "".join(
            " ".join(f"{v:.6f}" for v in row) + f" {c}\n" for row, c in zip(values, answers)
        )

    (tmp_path / "p").write_text(lines(p))
    (tmp_path / "raw").write_text(lines(np.where(p < 0.06, 0, p)))  # a point of class 7: p = .05
    (tmp_path / "out.sets").write_text("2\n5\n2 5 7\n2 5\n5 7\n7\n2 5\n2\n5\n-\n")


@pytest.mark.parametrize("more", [(), ("--priors", "0.2,0.5,0.3")])
def test_the_page_has_the_numbers_of_json(ten, run, more):
    answers = np.fromfile("out.cls", "<i4")
    answers[:2] = -1
    answers.tofile("out.cls")
    text = Path("p").read_text().splitlines()
    text[1:3] = [f"{line[:-1]}-1" for line in text[1:3]]
    Path("p").write_text("\n".join(text) + "\n")
    page = printed(run, "--by-class", *more, "truth.cls", "out", "p")
    told = json.loads(printed(run, "--json", *more, "truth.cls", "out", "p"))
    found = dict(re.split(" {2,}", line)[:2] for line in page.splitlines() if "  " in line[1:])
    for name in {*SCORES, "expected_calibration_error"} - {"brier_winning"}:
        title = PAGE[name].title + " of the answered" * (name == "accuracy")
        assert float(found[title]) == pytest.approx(told[name], abs=0.51e-4), name
    assert (found["points"], found["rejected"]) == ("10", "2")
    table = page.split("weights.\n" if more else "answers.\n")[1].splitlines()
    assert table[0].split()[-4:] == ["2", "5", "7", "rejected"]
    np.testing.assert_allclose(
        [list(map(float, line.split()[-4:])) for line in table[1:4]],
        told["contingency"],
        atol=0.00501,
    )
    bins = page.split("std.error\n")[1].split("\n\n")[0].splitlines()
    keys = "lower", "upper", "count", "forecast", "observed", "error"
    for line, row in zip(bins, filter(lambda row: row["count"], told["calibration"]), strict=True):
        np.testing.assert_allclose(
            [float(v) for v in line.split()], [row[key] for key in keys], rtol=0, atol=0.51e-4
        )


def test_csv_and_json_have_the_same_numbers(ten, run):
    told = [
        "--top-accuracy",
        "2",
        "--ordered",
        "--by-class",
        "--sets",
        "out.sets",
        "--before",
        "raw",
        "truth.cls",
        "out",
        "p",
    ]
    scores = json.loads(printed(run, "--json", *told))
    rows = [line.split(",") for line in printed(run, "--report=-.csv", *told).splitlines()]
    assert rows.pop(0) == ["score", "class", "value", "low", "high"]
    found = {(name, label): numbers for name, label, *numbers in rows}
    assert len(found) == len(rows)
    plain = {name: value for name, value in scores.items() if isinstance(value, float)}
    assert len(plain) > 20 and set(plain) <= {name for name, label in found if not label}
    for name, value in plain.items():
        assert float(found[name, ""][0]) == pytest.approx(value, rel=1e-8), name
    low, high = scores["intervals"]["accuracy"]
    assert [float(word) for word in found["accuracy", ""][1:]] == pytest.approx([low, high])
    assert found["log_loss", ""][1:] == ["", ""]
    for row in scores["by_class"]:
        assert float(found["recall", str(row["label"])][0]) == pytest.approx(row["recall"])
    for row in scores["sets"]["by_class"]:
        assert [float(word) for word in found["set_coverage", str(row["label"])]] == pytest.approx(
            [row["coverage"], row["low"], row["high"]]
        )
    assert float(found["error_at_coverage_0.5", ""][0]) == pytest.approx(0.2)
    assert float(found["log_loss_before", ""][0]) == pytest.approx(scores["before"]["log_loss"])


def test_the_surest_points(ten, run):
    scores = json.loads(printed(run, "--json", "truth.cls", "out", "p"))
    assert scores["aurc"] == pytest.approx(0.1716269841) and scores["e_aurc"] < scores["aurc"]
    errors = {row["coverage"]: row["error"] for row in scores["risk_coverage"]}
    assert [errors[share] for share in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1)] == pytest.approx(
        [1 / 5, 1 / 3, 2 / 7, 1 / 4, 2 / 9, 5 / 19, 3 / 10]
    )


def test_sets(ten, run):
    page = printed(run, "--sets", "out.sets", "truth.cls", "out", "p")
    # Clopper and Pearson's interval of 8 of 10
    assert (
        "\nSets of classes: 80.0% of the sets hold the true class (95 %: 44.4% to 97.5%); "
        "mean size 1.40; 40.0% are the true class alone; 1 set is empty.\n" in page
    )
    assert "classes  points  share\n      0       1  10.0%\n" in page
    rows = page.split("mean size\n")[1].splitlines()[:3]
    assert [row.split()[:3] for row in rows] == [
        ["2", "4", "0.7500"],
        ["5", "3", "1.0000"],
        ["7", "3", "0.6667"],
    ]


def test_sets_in_a_tree(ten, run, tmp_path):
    (tmp_path / "tree").write_text("a {7 b {5 2}}\n")
    (tmp_path / "in.sets").write_text("2\n5\n2 5 7\n2 5\n5\n7\n2 5\n2\n5\n7\n")
    words = "--sets", "in.sets", "--control", "tree", "truth.cls", "out", "p"
    # depths: classes 5 and 2 have 2, class 7 and the node above the others 1
    assert (
        f"Hierarchical precision: {11 / 14:.4f}. Hierarchical recall: {11 / 17:.4f}. "
        f"Hierarchical f1: {22 / 31:.4f}.\n" in printed(run, *words)
    )
    scores = json.loads(printed(run, "--json", *words))["sets"]
    assert scores["hierarchical_f"] == pytest.approx(22 / 31)
    rows = dict(
        line.split(",")[:3:2] for line in printed(run, "--report=-.csv", *words).splitlines()
    )
    assert float(rows["hierarchical_recall"]) == pytest.approx(11 / 17)
    assert float(rows["exact_sets"]) == 0.5
    # weights of the true classes 2, 5, 7, which occur 4, 3 and 3 times
    scores = json.loads(printed(run, "--json", "--priors", "0,0,1", *words))["sets"]
    assert [scores[f"hierarchical_{what}"] for what in ("precision", "recall")] == pytest.approx(
        [1 / 3, 1 / 3]
    )


@pytest.mark.parametrize(
    "sets, tree, told",
    [
        (
            "2\n" * 9 + "5 7\n",
            "a {7 b {5 2}}",
            "in.sets:10: expected a class, or all classes below a "
            "node of the tree in tree, found 5 7",
        ),
        (
            "7 2\n" * 10,
            "a {7 b {5 2}}",
            "in.sets:1: expected a class, or all classes below a "
            "node of the tree in tree, found 7 2",
        ),
        (
            "2\n-\n" + "2\n" * 8,
            "a {7 b {5 2}}",
            "in.sets:2: expected a class, or all classes below a "
            "node of the tree in tree, found an empty set",
        ),
        ("2\n" * 10, "a {5 2}", "tree: the tree has no class 7"),
        ("2\n" * 10, "a {7 b {5 2}} c {5 d {7 2}}", "tree: sets are nodes of one tree"),
        ("2\n" * 10, "a {5 7", "tree:1:"),
    ],
)
def test_sets_that_are_no_nodes(ten, run, tmp_path, sets, tree, told):
    (tmp_path / "tree").write_text(tree)
    (tmp_path / "in.sets").write_text(sets)
    words = "--sets", "in.sets", "--control", "tree", "truth.cls", "out"
    assert told in run("eval_uc", *words, status=1).refused()
    assert "--control needs --sets" in run("eval_uc", *words[2:], status=2).refused()


def test_before_and_after(ten, run):
    page = printed(run, "--before", "raw", "truth.cls", "out", "p")
    lines = page.split("\nBefore and after\n")[1].splitlines()[2:5]
    scores = json.loads(printed(run, "--json", "truth.cls", "out", "p"))
    old = json.loads(printed(run, "--json", "truth.cls", "out", "raw"))
    for line, name in zip(lines, ("log_loss", "brier", "expected_calibration_error")):
        before, after, change, error = line.split()[-4:]
        assert float(before) == pytest.approx(old[name], abs=0.51e-4)
        assert float(after) == pytest.approx(scores[name], abs=0.51e-4)
        assert float(change) == pytest.approx(scores[name] - old[name], abs=0.51e-4)
        assert (error == "-") == (name == "expected_calibration_error")
    for words, says in (
        (["--before", "raw", "truth.cls", "out"], "give the file that classify_m"),
        (["--before", "out.sets", "truth.cls", "out", "p"], "expected"),
    ):
        assert says in run("eval_uc", *words, status=None).refused()


def test_options_that_need_probabilities(ten, run):
    for option in (["--top-accuracy", "2"], ["--by-class"]):
        assert (
            f"{option[0]} needs probabilities"
            in run("eval_uc", *option, "truth.cls", "out", status=2).err
        )
    assert (
        "--json and --report -.csv exclude each other"
        in run("eval_uc", "--json", "--report=-.csv", "truth.cls", "out", status=2).err
    )


def test_sets_of_others(ten, run, tmp_path):
    (tmp_path / "few.sets").write_text("2\n")
    assert (
        "has 1 rows, but there are 10 points"
        in run("eval_uc", "--sets", "few.sets", "truth.cls", "out", "p", status=1).err
    )
    (tmp_path / "odd.sets").write_text("2\n" * 9 + "3\n")
    assert (
        "odd.sets:10: class 3 is not one of"
        in run("eval_uc", "--sets", "odd.sets", "truth.cls", "out", "p", status=1).err
    )


def test_zeros_are_told(ten, run):
    p = printed(run, "truth.cls", "out", "p")
    assert "had the probability 0" not in p
    words = Path("p").read_text().splitlines()
    words[3] = "0.5 0.5 0.0 2"
    Path("zero").write_text(
        "\n".join(words).replace("0.330000 0.330000 0.340000 7", "0.33 0.33 0.34 7") + "\n"
    )
    np.array([2, 5, 2, 2, 5, 7, 2, 2, 5, 7], "<i4").tofile("out.cls")
    assert "The true class of 1 point had the probability 0." in printed(
        run, "truth.cls", "out", "zero"
    )


def test_values_that_are_no_probabilities(ten, run):
    text = Path("p").read_text().replace("0.700000 0.200000 0.100000", "1.200000 -0.3 0.1")
    Path("odd").write_text(text)
    done = run("eval_uc", "truth.cls", "out", "odd")
    assert "the probabilities in odd go from -0.3 to 1.2" in done.err and "log loss" in done.out


def test_many_classes_have_short_tables(monkeypatch, tmp_path, run):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = np.arange(300) % 60
    answer = np.where(rng.random(300) < 0.5, truth, rng.integers(0, 60, 300))
    truth.astype("<i4").tofile("truth.cls")
    answer.astype("<i4").tofile("out.cls")
    page = printed(run, "truth.cls", "out")
    assert "These are 40 of 60 classes, those with the least F1: " in page
    assert "most often taken for" in page and "Rows are true classes" not in page
    assert len(page.splitlines()) < 60
    rows = page.split("Each class against all others.\n")[1].splitlines()[1:41]
    values = [float(row.split()[1]) for row in rows]
    scores = json.loads(printed(run, "--json", "truth.cls", "out"))
    assert values == pytest.approx(
        sorted(row["f1"] for row in scores["by_class"])[:40], abs=0.51e-4
    )
    assert len(scores["contingency"]) == 60
