"""Commands in libAGF's words and columns: printed layouts to the letter, files, refusals."""

import io
import math
import re

import numpy as np
import pytest

from agfmc.score.evaluation import evaluate
from agfmc.answers.results import load_results
from agfmc.answers.libagf_reports import convert_svm_output

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def printed(run):
    """Function: what a command prints; its only words on standard error hold `warning`."""

    def output(*words, warning=None, **more):
        _, out, err = run(*words, **more)
        assert err == "" if warning is None else re.search(f"warning: .*{warning}", err), err
        return out

    return output


@pytest.fixture
def refused(run):
    """Function: the one line of error of a command that ends with `status`."""
    return lambda status, *words: run(*words, status=status).refused()


def write(truth, result, con=None, base="out"):
    np.array(truth, "<i4").tofile("truth.cls")
    np.array(result, "<i4").tofile(f"{base}.cls")
    if con is not None:
        np.array(con, "<f4").tofile(f"{base}.con")


# in common: log 2 - (3/4)(log 3 - (2/3) log 2); H(result) = log 4 - (3/4) log 3; H(truth) = log 2
SHARED = math.log(2) - 0.75 * (math.log(3) - 2 / 3 * math.log(2))
RESULTS = math.log(4) - 0.75 * math.log(3)
COMPARISON = f"""\
        retrieval
truth     0     1     2     3     tot
  0       2     0     0     0       2
  1       0     0     0     0       0
  2       1     0     0     1       2

total     3     0     0     1{" "}

U C (reverse): {SHARED / RESULTS:f}
U C (total): {2 * SHARED / (RESULTS + math.log(2)):f}
Uncertainty coefficient: {SHARED / math.log(2):f}
Accuracy: 0.500000
"""


def test_comparison_with_gaps_in_the_labels(printed):
    write([0, 2, 0, 2], [0, 3, 0, 0])
    assert printed("cls_comp_stats", "truth.cls", "out") == COMPARISON
    brief = f"{0.5:6.4f} {SHARED / math.log(2):6.4f}\n"
    assert printed("cls_comp_stats", "-b", "truth.cls", "out") == "Acc.   U.C.\n" + brief
    assert printed("cls_comp_stats", "-b", "-H", "truth.cls", "out") == brief


def test_confidence_of_three_classes(printed):
    write([0, 1, 2, 2, 1], [0, 1, 2, 0, 2], [1.0, 0.75, 0.125, 0.0625, -0.5])
    page = printed("cls_comp_stats", "-q", "4", "truth.cls", "out")
    # bins: 0.125, 0.0625 and -0.5 (1 of 3 right); nothing; nothing; 0.75 and 1
    assert page.split("Accuracy: 0.600000\n")[1] == (
        "\nAccuracy vs. confidence:\n\n"
        "    -0.104      0.000\n"
        "         -          -\n"
        "         -          -\n"
        "     0.875      1.000\n\n"
    )
    assert "confidence" not in printed("cls_comp_stats", "-q0", "truth.cls", "out")
    assert (
        len(printed("cls_comp_stats", "truth.cls", "out").split("confidence:\n\n")[1].splitlines())
        == 11
    )


def test_probability_difference_of_two_classes(printed):
    write([0, 0, 1, 1, 1], [0, 0, 0, 1, 1], [1.0, 0.75, 0.25, 0.25, 0.75])
    page = printed("cls_comp_stats", "-q2", "truth.cls", "out")
    # -1 and -0.75, both right; -0.25, wrong; 0.25, right; 0.75, right
    assert page.split("Accuracy: 0.800000\n")[1] == (
        "\nAccuracy vs. probability difference:\n\n"
        "    -0.875     -1.000\n"
        "    -0.250      1.000\n"
        "     0.250      1.000\n"
        "     0.750      1.000\n\n"
    )


def test_rejected_points_count_as_wrong(printed):
    write([0, 1, 1, 0], [0, 1, -1, -1], [0.5, 0.5, 0.9, 0.9])
    page = printed("cls_comp_stats", "-q", "1", "truth.cls", "out", warning="2 of 4 .* rejected")
    assert page.startswith(
        "        retrieval\ntruth     0     1     tot\n"
        "  0       1     0       2\n  1       0     1       2\n\n"
        "total     1     1 \n\n"
    )
    assert "Accuracy: 0.500000\n" in page
    assert page.endswith("    -0.500     -1.000\n     0.500      1.000\n\n")
    scores = evaluate(load_results("truth.cls", "out"))
    assert f"Uncertainty coefficient: {scores['uncertainty_coefficient']:f}\n" in page
    write([0, 1], [-1, -1], [0.5, 0.5])
    page = printed("cls_comp_stats", "truth.cls", "out", warning="2 of 2")
    assert page.endswith("         -          -\n\n")
    assert "\ntruth     tot\n  0         1\n  1         1\n\ntotal \n\n" in page
    assert "U C (reverse): -\n" in page


def test_undefined_coefficient(printed):
    write([1, 1], [1, 0])
    assert printed("cls_comp_stats", "-b", "-H", "truth.cls", "out") == "0.5000      -\n"
    assert "Uncertainty coefficient: -\nAccuracy: 0.500000\n" in printed(
        "cls_comp_stats", "truth.cls", "out"
    )


@pytest.mark.parametrize(
    "truth, result, message",
    [
        ([0, 1, 1], [0, 1, 2], "2 classes are assumed.*class 2 is among the results"),
        ([0, 2, 5], [0, 2, 5], "6 classes are assumed.*only 3 of them occur"),
    ],
)
def test_an_assumed_number_of_classes_that_the_labels_contradict(printed, truth, result, message):
    write(truth, result, [0.5, 0.25, 0.5])
    printed("cls_comp_stats", "truth.cls", "out", warning=message)
    printed("validate_probabilities", "-b", "truth.cls", "out", warning=message)


def test_a_third_answer_is_on_no_side_of_two(printed):
    write([0, 1, 1], [0, 1, 2], [0.5, 0.5, 0.5])
    page = printed("cls_comp_stats", "-q1", "truth.cls", "out", warning="assumed")
    assert page.endswith(":\n\n    -0.500     -1.000\n     0.500      1.000\n\n")


def test_comparisons_refused(refused, run):
    write([0, 2**31 - 1], [0, 1])
    assert "eval_uc" in refused(1, "cls_comp_stats", "truth.cls", "out")
    run("cls_comp_stats", "-b", "truth.cls", "out")
    write([0, 1], [0, 10000])
    assert "out.cls: has class 10000" in refused(1, "cls_comp_stats", "truth.cls", "out")
    write([0, 1], [0, 1], [0.5])
    assert "out.con: has 1 values" in refused(1, "cls_comp_stats", "truth.cls", "out")
    write([0, 1], [0, 1, 1])
    assert "out.cls: has 3 labels" in refused(1, "cls_comp_stats", "-b", "truth.cls", "out")
    assert "none.cls: cannot read" in refused(1, "cls_comp_stats", "truth.cls", "none")
    assert "whole number" in refused(2, "cls_comp_stats", "-q", "x", "truth.cls", "out")


# samples 0.2 0, 0.4 1, 0.6 0, 0.9 1, with sums that the tests of the mathematics work out
VALIDATION = f"""\
1-r         = {1 - 4.5 / math.sqrt(5.2 * 4.16):15.8g}
m-1         =     -0.14285714
Brier score = {math.sqrt(0.1925):15.8g}
norm. rmse  = {math.sqrt((5.41 - 36 / 7) / 6):15.8g}
"""
CURVES = "-1 0.2 -1.25 -1 -0.8\n0 0.4 0 0 0\n1 0.6 2.5 1 0.4\n2 0.9 2.5 1 1\n"


def same(text, wanted):
    """Equal up to the last digits, which rounding to float32 moves; equal in width."""
    assert len(text) == len(wanted)
    for line, other in zip(text.splitlines(), wanted.splitlines()):
        assert line.split("=")[0] == other.split("=")[0] and len(line) == len(other)
        assert float(line.split("=")[1]) == pytest.approx(float(other.split("=")[1]), rel=1e-5)


def test_validation_of_ratings(printed, folder):
    # right with 0.9 and 0.4, wrong with 0.2 and 0.6; ratings are 2 p - 1
    write([0, 1, 1, 0], [0, 0, 0, 0], [0.8, -0.6, 0.2, -0.2])
    same(printed("validate_probabilities", "-b", "truth.cls", "out", "sums"), VALIDATION)
    assert (folder / "sums").read_text() == CURVES
    assert printed("validate_probabilities", "-b", "-B", "truth.cls", "out") == "0.438748\n"


TEXT = " 0.250000 0.750000   1\n 0.500000 0.500000   0\n"


def test_validation_of_text(printed, folder):
    np.array([1, 0], "<i4").tofile("truth.cls")
    (folder / "p").write_text(TEXT)
    (folder / "headed").write_text("2\n" + TEXT)
    (folder / "bare").write_text("\n".join(line[:-4] for line in TEXT.splitlines()) + "\n")
    # samples 0.25 0, 0.5 0, 0.5 1, 0.75 1; the sums start at the third
    # c: -2 -1 0 1 2; s: -1.25 -0.5 0 0.5 1.25, so m = 6/10 and sum s^2 - m sum c s = 0.025
    wanted = (
        f"1-r         = {1 - 6 / math.sqrt(10 * 3.625):15.8g}\n"
        f"m-1         = {-0.4:15.8g}\n"
        f"Brier score = {math.sqrt(0.15625):15.8g}\n"
        f"norm. rmse  = {math.sqrt(0.025 / 6):15.8g}\n"
    )
    same(printed("validate_probabilities", "-H", "truth.cls", "p"), wanted)
    same(printed("validate_probabilities", "truth.cls", "headed", "sums"), wanted)
    same(printed("validate_probabilities", "-C", "-H", "truth.cls", "bare"), wanted)
    assert printed("validate_probabilities", "-B", "-H", "truth.cls", "p") == "0.395285\n"
    assert (folder / "sums").read_text() == (
        "-2 0.25 -3.33333 -2 -1.25\n-1 0.5 -2 -1 -0.5\n0 0.5 0 0 0\n1 0.75 2 1 0.5\n"
    )


def test_sums_may_be_infinite_and_scores_undefined(printed, folder):
    np.array([1, 0], "<i4").tofile("truth.cls")
    (folder / "p").write_text("1 0 0\n0 1 1\n")
    printed("validate_probabilities", "-H", "truth.cls", "p", "sums")
    lines = (folder / "sums").read_text().splitlines()
    assert lines[-1] == "2 1 inf 1 1" and "nan" not in "".join(lines)
    write([0, 1], [1, 0], [0.5, 0.5])
    assert printed("validate_probabilities", "-b", "truth.cls", "out") == (
        f"1-r         = {'-':>15}\nm-1         = {'-':>15}\n"
        f"Brier score =            0.75\nnorm. rmse  = {'-':>15}\n"
    )


def test_validation_leaves_rejected_points_out_and_warns_of_votes(printed):
    write([0, 1, 0], [0, 1, -1], [1, 1, 0.5])
    assert (
        printed(
            "validate_probabilities", "-b", "-B", "truth.cls", "out", warning="1 of 3 .* left out"
        )
        == "0\n"
    )
    write([0, 1], [0, 1], [1, 3])
    printed("validate_probabilities", "-b", "truth.cls", "out", warning="votes")


@pytest.mark.parametrize(
    "words, status, message",
    [
        ("truth.cls p", 1, r"p:1: expected the number of columns.*give -H"),
        ("-H truth.cls headed", 1, r"headed:1: "),
        ("truth.cls short", 1, r"short:3: 2 columns"),
        ("-H truth.cls one", 1, r"one: has one column"),
        ("-H truth.cls few", 1, r"few: has 1 rows of probabilities, but there are 2 points"),
        ("-H many.cls p", 1, r"many.cls: holds class 2, but there are 2 columns"),
        ("-H truth.cls none", 1, r"none: cannot read"),
        ("-b truth.cls none", 1, r"none\.cls: cannot read"),
        ("-b zero.cls zero", 1, r"zero.cls: holds class 0 alone"),
        ("-b truth.cls gone", 1, r"gone.cls: all points were rejected"),
        ("-H truth.cls p no/sums", 1, r"no/sums: cannot write"),
        ("-H - -", 2, r"truth and prob cannot both be"),
        ("-H truth.cls p -", 2, r"output must be a file"),
    ],
)
def test_validations_refused(folder, run, words, status, message):
    np.array([1, 0], "<i4").tofile("truth.cls")
    np.array([1, 2], "<i4").tofile("many.cls")
    for name, labels in (("zero", [0, 0]), ("gone", [-1, -1])):
        np.array(labels, "<i4").tofile(f"{name}.cls")
        np.array([1, 1], "<f4").tofile(f"{name}.con")
    for name, text in (
        ("p", TEXT),
        ("headed", "2\n" + TEXT),
        ("one", "1 0\n1 1\n"),
        ("short", "2\n.5 .5 0\n.5 .5\n"),
        ("few", ".5 .5 0\n"),
    ):
        (folder / name).write_text(text)
    _, out, err = run("validate_probabilities", *words.split(), status=status)
    error = err.splitlines()[-1]
    assert out == "" and re.search(rf"^validate_probabilities: (.*: )?{message}", error), err


NAMED = "labels 3 0\n3 0.75 0.25\n0 0.5 0.5\n"


def test_output_with_labels(printed, folder):
    (folder / "in").write_text(NAMED)
    assert printed("svmout2agf", "in", "out") == (
        "  0.250000   0.000000   0.000000   0.750000     3\n"
        "  0.500000   0.000000   0.000000   0.500000     0\n"
    )
    assert np.fromfile("out.cls", "<i4").tolist() == [3, 0]
    assert np.fromfile("out.con", "<f4").tolist() == [0.5, 0]


def test_output_with_labels_below_zero(printed, folder):
    (folder / "in").write_text("labels 1 -1 0\n1 0.7 0.2 0.1\n-1 0.1 0.6 0.3\n")
    wanted = "  0.200000   0.100000   0.700000     2\n  0.600000   0.300000   0.100000     0\n"
    assert (
        printed(
            "svmout2agf",
            "in",
            "out",
            warning="labels -1, 0, 1 are taken as names of the classes 0, 1, 2",
        )
        == wanted
    )
    assert np.fromfile("out.cls", "<i4").tolist() == [2, 0]
    assert np.fromfile("out.con", "<f4") == pytest.approx([0.55, 0.4])


def test_output_whose_labels_are_looked_up_in_names(run, printed, folder):
    (folder / "names").write_text("-1\n0\n1\n")
    (folder / "in").write_text("1 0.5\n-1 1\n1 0.75\n")
    assert printed("svmout2agf", "--names", "names", "in", "out") == ""
    assert np.fromfile("out.cls", "<i4").tolist() == [2, 0, 2]
    assert np.fromfile("out.con", "<f4").tolist() == [0.25, 1, 0.625]
    (folder / "in").write_text("1\n5\n")
    run("svmout2agf", "--names", "names", "in", "out", status=1)


def test_output_whose_names_have_fractions(printed, folder):
    """LIBSVM cannot have such labels: those of the model are the numbers of the classes."""
    (folder / "names").write_text("0\n0.5\n1\n2\n")
    (folder / "in").write_text("1\n0\n2\n")
    assert printed("svmout2agf", "--names", "names", "in", "out") == ""
    assert np.fromfile("out.cls", "<i4").tolist() == [1, 0, 2]


def test_output_from_standard_input(printed):
    assert printed("svmout2agf", "-", "out", stdin=NAMED).count("\n") == 2


def test_output_of_classes_alone(printed, folder):
    (folder / "in").write_text("2\n0\n")
    assert printed("svmout2agf", "in", "out") == ""
    assert np.fromfile("out.cls", "<i4").tolist() == [2, 0]
    assert not (folder / "out.con").exists()
    (folder / "out.con").write_bytes(b"1234")
    assert printed("svmout2agf", "in", "out", warning="out.con, of other .* was removed") == ""
    assert not (folder / "out.con").exists()


def test_output_with_one_probability(printed, folder):
    (folder / "in").write_text("2 1\n0 0.5\n")
    assert printed("svmout2agf", "in", "out", warning="3 classes are assumed") == ""
    assert np.fromfile("out.con", "<f4").tolist() == [1, 0.25]


@pytest.mark.parametrize(
    "text, message",
    [
        ("labels 0 1\n0 0.5 0.5\n7 0.5 0.5\n", "in:3: the class '7' is not among"),
        ("labels 0 1\n0 0.5\n", "in:2: expected 3 numbers"),
        ("0\nnan\n", "in:2: "),
        ("-1\n1\n", "in: has label -1, and the numbers of its classes"),
        ("labels 10000 1\n1 0.5 0.5\n", "in: has class 10000"),
        ("", "in: holds no results"),
        ("labels 0\n0 1\n", "in: has one class"),
        ("0 1\n", "in: has one class"),
    ],
)
def test_outputs_refused(folder, run, text, message):
    (folder / "in").write_text(text)
    (folder / "out.con").write_bytes(b"1234")
    _, out, err = run("svmout2agf", "in", "out", status=1)
    assert out == "" and err.splitlines()[-1].startswith(f"svmout2agf: {message}")
    assert sorted(path.name for path in folder.iterdir()) == ["in", "out.con"]


def test_names_that_would_destroy(refused, folder):
    (folder / "in.cls").write_text("0\n")
    assert "both are the file " in refused(2, "svmout2agf", "in.cls", "in")
    assert "both are the file " in refused(2, "svmout2agf", "--names", "in.cls", "-", "in")
    assert "expected a base name" in refused(2, "svmout2agf", "in.cls", "folder/")


def test_a_reader_that_left_gets_no_files(folder):
    class Gone(io.StringIO):
        def flush(self):
            raise BrokenPipeError

    (folder / "in").write_text(NAMED)
    with pytest.raises(BrokenPipeError):
        convert_svm_output("in", "out", Gone())
    assert [path.name for path in folder.iterdir()] == ["in"]


@pytest.fixture
def golden(segment):
    return segment / "tst.cls", segment / "m_1v1_Q1", segment / "m_1v1_Q1.txt"


def test_reference_results_score_as_in_eval_uc(golden, printed):
    truth, base, text = golden
    scores = evaluate(load_results(str(truth), str(base), str(text)))
    page = printed("cls_comp_stats", truth, base)
    rows = [list(map(int, line.split())) for line in page.splitlines()[2:9]]
    assert [row[1:-1] for row in rows] == scores["contingency"]
    assert [row[0] for row in rows] == scores["labels"]
    assert [row[-1] for row in rows] == [sum(row) for row in scores["contingency"]]
    for name, key in (
        ("Accuracy", "accuracy"),
        ("Uncertainty coefficient", "uncertainty_coefficient"),
    ):
        assert f"{name}: {scores[key]:f}\n" in page
    for words, key in ((["-H", truth, text], "brier_all"), (["-b", truth, base], "brier_winning")):
        assert float(printed("validate_probabilities", "-B", *words)) == pytest.approx(
            scores[key], abs=2e-6
        )
        page = printed("validate_probabilities", *words)
        line = re.search(r"^Brier score = (.{15})$", page, re.M)
        assert float(line[1]) == pytest.approx(scores[key], rel=1e-7)
