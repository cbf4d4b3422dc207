"""Reliability diagrams and heat maps: what stands in the figures."""

import numpy as np
import pytest

from agfmc.prediction.evaluation import Asked, evaluate, Results
from agfmc.picture import scores as module

matplotlib = pytest.importorskip("matplotlib")

ERROR = "expected_calibration_error"
NAMES = {0: "grass", 1: "dirt & stone", 2: "$x_1$", 3: "a_b^c <i>",
         4: "väldigt långt namn på en klass"}


def scores_of(k, n=2000, rejected=0.0, weight=None):
    rng = np.random.default_rng(k)
    y = rng.integers(0, k, n)
    z = rng.normal(size=(n, k))
    z[np.arange(n), y] += 2
    p = np.exp(2 * z)
    p /= p.sum(axis=1, keepdims=True)
    result = np.where(rng.random(n) < rejected, -1, p.argmax(axis=1))
    scores = evaluate(Results(y, result, np.arange(k), k, p.max(axis=1), p))
    if weight:
        scores["contingency"] = [[weight * count for count in row] for row in scores["contingency"]]
    return scores


def axes_of(figure):
    """By what stands on the vertical axis."""
    return {axes.get_ylabel(): axes for axes in figure.figure.axes}


@pytest.mark.few(1)
@pytest.mark.parametrize("k, names, rejected, weight", [
    (2, None, 0, None), (5, NAMES, 0.03, None), (15, None, 0.1, 1.73),
    (26, {i: f"class number {i}" for i in range(26)}, 0.01, None), (60, None, 0.01, 0.3),
    (101, {100: "a long name of a class"}, 0, None)])
def test_no_text_covers_another(shown, k, names, rejected, weight):
    figure = shown(module._figure, scores_of(k, rejected=rejected, weight=weight), names)
    assert not figure.clashes() and ("none" in figure.texts) == (rejected > 0)


def test_reliability(shown):
    scores = scores_of(5)
    figure = shown(module._figure, scores, NAMES)
    panels = axes_of(figure)
    filled = [row for row in scores["calibration"] if row["count"]]
    assert 3 < len(filled) < len(scores["calibration"])
    diagonal, line = panels["share of right answers"].get_lines()[:2]
    assert not line.get_clip_on()  # a point at 1 is whole
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata()) == [0, 1]
    assert line.get_xdata().tolist() == [row["forecast"] for row in filled]
    assert line.get_ydata().tolist() == [row["observed"] for row in filled]
    bars = panels["share of right answers"].containers[0].lines[2][0].get_segments()
    assert [bar[1][1] - bar[0][1] for bar in bars] == pytest.approx(
        [min(row["observed"] + row["error"], 1) - max(row["observed"] - row["error"], 0)
         for row in filled])
    counts = [bar.get_height() for bar in panels["points"].patches]
    assert counts == [row["count"] for row in scores["calibration"]]
    error = scores["expected_calibration_error"]
    assert f"winning class, calibration error {error:.4f}" in figure.texts


@pytest.mark.long
def test_calibration_of_all_classes_together(shown):
    """Bins of all probabilities: shares of those whose class is the true one."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), 300)
    y = rng.integers(0, 4, 300)
    scores = evaluate(Results(y, p.argmax(axis=1), np.arange(4), 4, p.max(axis=1), p),
                      asked=Asked(by_class=True))
    line, = [line for line in axes_of(shown(module._figure, scores))[
        "share of right answers"].get_lines() if line.get_gid() == "classes"]
    bins = np.minimum((10 * p).astype(int), 9)
    true = np.eye(4)[y]
    for i, (x, share) in enumerate(zip(*line.get_data())):
        assert x == pytest.approx(p[bins == i].mean())
        assert share == pytest.approx(true[bins == i].mean())
    assert not any(line.get_gid() == "classes" for line in axes_of(shown(
        module._figure, scores_of(4)))["share of right answers"].get_lines())


def test_the_name_of_the_data_and_scales_of_both_colours(shown):
    figure = shown(module._figure, scores_of(3), None, "my_$data$")
    assert "my_$data$: 2000 points, 3 classes" in figure.texts and not figure.clashes()
    assert {"right, share of the true class", "errors, share of the true class (log scale)"} < \
        set(figure.texts)


def test_long_names_that_would_be_cut_alike_keep_what_differs(shown):
    names = {i: f"a handwritten capital letter {i} of the old kind" for i in range(26)}
    figure = shown(module._figure, scores_of(26), names)
    assert figure.texts.count("...letter 7 of the old...") == 2  # beside the rows, below columns
    assert not figure.clashes()


def test_curves_of_few_points_cross_no_text(shown):
    p = np.array([[0.98, 0.01, 0.01]] * 20 + [[0.49, 0.5, 0.01]] * 3 + [[0.13, 0.86, 0.01]] * 6)
    y = np.array([0] * 20 + [0] * 3 + [1] * 4 + [0] * 2)
    figure = shown(module._figure, evaluate(Results(y, p.argmax(1), np.arange(3), 3, p.max(1), p),
                                            asked=Asked(by_class=True)), NAMES)
    panel = axes_of(figure)["share of right answers"]
    assert "all classes" in " ".join(figure.texts) and not figure.clashes()
    assert not panel.texts and panel.get_legend() is None


@pytest.mark.long
def test_a_table_of_1000_classes_is_an_image_in_a_small_file(tmp_path):
    k = 1000
    scores = {**scores_of(3), "labels": list(range(k)), "classes": k, "contingency":
              np.random.default_rng(0).integers(0, 50, (k, k)).tolist()}
    module.draw_scores(str(tmp_path / "a.svg"), scores)
    assert b"<image" in (tmp_path / "a.svg").read_bytes()
    assert (tmp_path / "a.svg").stat().st_size < 1_000_000  # a dense table of random counts


def test_before_calibration(shown):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), 500)
    y = rng.integers(0, 4, 500)
    raw = p**2 / np.sum(p**2, axis=1, keepdims=True)
    scores = evaluate(Results(y, p.argmax(axis=1), np.arange(4), 4, p.max(axis=1), p, before=raw))
    figure = shown(module._figure, scores, NAMES)
    line = axes_of(figure)["share of right answers"].get_lines()[1]
    filled = [row for row in scores["before"]["calibration"] if row["count"]]
    assert line.get_xdata().tolist() == [row["forecast"] for row in filled]
    assert line.get_ydata().tolist() == [row["observed"] for row in filled]
    assert not figure.clashes() and \
        f"winning class before calibration, calibration error {scores['before'][ERROR]:.4f}" in \
        figure.texts


@pytest.mark.long
def test_error_of_the_surest_points(shown):
    for k in (3, 26):  # below the table, and below the diagram
        scores = scores_of(k)
        panel = axes_of(shown(module._figure, scores, None))["share of errors"]
        line = panel.get_lines()[0]
        assert line.get_ydata().tolist() == [row["error"] for row in scores["risk_coverage"]]
        assert line.get_xdata()[-1] == 1 and f"{scores['aurc']:.4f}" in panel.get_title(loc="left")
    right = {**scores_of(3), "aurc": 0.0}
    assert "share of errors" not in axes_of(shown(module._figure, right, None))


def test_table(shown):
    scores = {**scores_of(3), "contingency": [[90, 9, 0, 1], [0, 50, 0, 0], [0.5, 0, 1.25, 0]],
              "rejected": 1}
    figure = shown(module._figure, scores, {1: "$b$"})
    table = axes_of(figure)["true class"]
    assert [label.get_text() for label in table.get_yticklabels()] == ["0", "$b$", "2"]
    assert [label.get_text() for label in table.get_xticklabels()] == ["0", "$b$", "2", "none"]
    assert {(text.get_position(), text.get_text()) for text in table.texts} == {
        ((0, 0), "90"), ((1, 0), "9"), ((3, 0), "1"), ((1, 1), "50"), ((0, 2), "0.5"),
        ((2, 2), "1.2")}
    errors, right = (image.get_array() for image in table.images)
    assert errors.compressed().tolist() == pytest.approx([0.09, 0.01, 0.5 / 1.75])
    assert right.compressed().tolist() == pytest.approx([0.9, 1.0, 1.25 / 1.75])
    assert errors.mask[0, 0] and right.mask[0, 1]
    # errors of a hundredth are seen: far from white, and far from those of a third
    red, green, blue, _ = table.images[0].to_rgba(np.array([0.001, 0.01, 0.3])).T
    assert blue[0] - blue[1] > 0.1 and blue[1] - blue[2] > 0.3


def test_many_classes_have_no_counts(shown):
    assert not axes_of(shown(module._figure, scores_of(16), None))["true class"].texts


def test_without_probabilities_there_is_only_the_table(shown):
    figure = shown(module._figure, {**scores_of(4), "calibration": None, "aurc": None}, None)
    assert "share of right answers" not in axes_of(figure) and "true class" in axes_of(figure)
    assert not figure.clashes()


def test_classes_without_points(shown):
    empty = {**scores_of(3), "contingency": [[0, 0, 0], [0, 7, 0], [0, 0, 0]],
             "uncertainty_coefficient": float("nan")}
    figure = shown(module._figure, empty, None)
    assert "Accuracy" in "".join(figure.texts) and "U.C." not in "".join(figure.texts)


@pytest.mark.parametrize("value, text", [
    (0.0, "0"), (7, "7"), (7.0, "7"), (0.25, "0.25"), (2.34, "2.3"), (123.4, "123"),
    (12345678, "1.2e7")])
def test_counts(value, text):
    assert module._count(value) == text
