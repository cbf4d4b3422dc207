"""Comparisons of configurations: points, the front, and labels that keep apart."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agfmc.errors import UsageError
from agfmc.picture import comparison as module
from agfmc.picture.canvas import GREY, LEFT, RIGHT
from agfmc.picture.canvas import overlap, place_labels

matplotlib = pytest.importorskip("matplotlib")

CONFIGURATIONS = ["one-vs-one", "one-vs-rest", "tree", "emp. tree", "orthogonal", "adjacent",
                  "random", "exhaustive", "plans/my_$own$.mbc", "bälanced <x>"]


def row(configuration, decoder, cost, score, sd=None, difference=None, **others):
    def value(mean):
        return {"pooled": mean, "sd": sd}
    return {"configuration": configuration, "decoder": decoder, "classifiers": 3,
            "queried": value(2.0), "kernel_values": cost and value(cost), "accuracy": value(score),
            "uncertainty_coefficient": value(score), "brier_all": value(1 - score),
            "brier": value(1 - score), "brier_winning": value(1 - score),
            "log_loss": value(1 - score), "difference": difference, **others}


def result(rows, trials=5, against=None):
    return {"classes": 7, "points": 2310, "trials": trials, "against": against, "rows": rows}


def paired(mean, interval=None, score="accuracy"):
    return {score: {"pooled": mean, "mean": mean, "sd": 0.1, "p_value": 0.5, "interval": interval}}


def crowd(n, seed, spread):
    rng = random.Random(seed)
    return result([row(CONFIGURATIONS[i % 10], ["lsq", "votes", "ddag"][i // 10 % 3],
                       10**rng.gauss(2, spread), 0.9 + rng.gauss(0, 0.01), 0.004)
                   for i in range(n)])


def marks(figure, axes, gid="point"):
    return [line for line in figure.figure.axes[axes].get_lines() if line.get_gid() == gid]


def labels_of(figure):
    return [text for text in figure.figure.axes[1].texts if text.get_gid() == "label"]


@pytest.mark.few(2)
@pytest.mark.parametrize("n, seed, spread", [
    (1, 0, 1), (5, 1, 0.0), (20, 1, 1), (20, 2, 0.15), (20, 4, 0.05)])
def test_no_label_covers_another_or_a_point(shown, n, seed, spread):
    figure = shown(module._figure, crowd(n, seed, spread), "uncertainty_coefficient")
    assert len(marks(figure, 0)) == len(marks(figure, 1)) == len(labels_of(figure)) == n
    assert not figure.clashes()
    axes = figure.figure.axes[1]
    for point in marks(figure, 1):
        x, y = axes.transData.transform((point.get_xdata()[0], point.get_ydata()[0]))
        for text in labels_of(figure):
            box = text.get_window_extent()
            assert not (box.x0 < x < box.x1 and box.y0 < y < box.y1)


def test_differences_with_their_intervals_the_best_first(shown):
    """Filled where 0 is outside, blue where better, orange where worse."""
    rows = [row("worse", "x", 10.0, 0.7, None, paired(-0.2, [-0.3, -0.1])),
            row("base", "x", 10.0, 0.9),
            row("better", "x", 10.0, 0.95, None, paired(0.05, [0.01, 0.09])),
            row("same", "x", 10.0, 0.91, None, paired(0.01, [-0.02, 0.04])),
            row("one split", "x", 10.0, 0.8, None, paired(-0.1))]
    figure = shown(module._figure, result(rows, against={"configuration": "base", "decoder": "x"}),
                   "accuracy")
    axes = figure.figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        "better  1", "same  2", "base  3", "one split  4", "worse  5"]
    assert [(line.get_xdata()[0], line.get_ydata()[0], line.get_color(), line.get_markerfacecolor())
            for line in marks(figure, 0)] == [
        (0.05, 0, LEFT, LEFT), (0.01, 1, GREY, "white"), (-0.1, 3, GREY, "white"),
        (-0.2, 4, RIGHT, RIGHT)]
    assert [tuple(line.get_xdata()) for line in marks(figure, 0, "interval")] == [
        (0.01, 0.09), (-0.02, 0.04), (-0.3, -0.1)]
    base, = marks(figure, 0, "reference")
    assert (base.get_xdata()[0], base.get_ydata()[0]) == (0, 2)
    assert "Against base" in figure.texts and not figure.clashes()
    assert "difference in accuracy\n(better to the right)" in figure.texts


def test_rows_that_no_other_beats_in_both_are_joined(shown):
    rows = [row("a", "x", 10, 0.8), row("b", "x", 20, 0.9), row("c", "x", 30, 0.85),
            row("d", "x", 40, 0.95), row("e", "x", 20, 0.7)]
    figure = shown(module._figure, result(rows), "accuracy")
    looks = {(line.get_xdata()[0], line.get_ydata()[0]): line.get_markerfacecolor()
             for line in marks(figure, 1)}
    assert looks == {(10, 0.8): LEFT, (20, 0.9): LEFT, (30, 0.85): "white", (40, 0.95): LEFT,
                     (20, 0.7): "white"}
    steps, = marks(figure, 1, "front")
    assert list(zip(steps.get_xdata(), steps.get_ydata())) == [
        (10, 0.8), (20, 0.8), (20, 0.9), (40, 0.9), (40, 0.95)]
    assert sorted(text.get_text() for text in labels_of(figure)) == list("12345")


@pytest.mark.parametrize("by", ["brier_all", "brier_winning", "log_loss"])
def test_smaller_is_better(shown, by):
    rows = [row("a", "x", 1.0, 0.8), row("b", "y", 2.0, 0.9), row("c", "y", 3.0, 0.85)]
    figure = shown(module._figure, result(rows), by)
    assert "(smaller is better)" in figure.figure.axes[1].get_ylabel()
    assert figure.figure.axes[0].get_yticklabels()[0].get_text() == "b, y  1"


def test_the_cost_is_what_all_rows_know(shown):
    """Kernel values, else classifiers asked, else classifiers; in files without both."""
    kernels, planes = row("a", "x", 100.0, 0.8), row("b", "x", None, 0.9)
    old = {key: value for key, value in planes.items() if key not in ("queried", "kernel_values")}
    for rows, title in (([kernels], "kernel values computed per point"),
                        ([kernels, planes], "binary classifiers asked per point"),
                        ([kernels, old], "binary classifiers")):
        assert shown(module._figure, result(rows), "accuracy").figure.axes[1].get_xlabel() == title
    alone = shown(module._figure, result([{**kernels, "classifiers": 0}, {
        **old, "classifiers": 0}]), "accuracy")
    assert "Score and cost" not in alone.texts


def test_without_a_reference_scores_with_deviations(shown):
    figure = shown(module._figure, result([row("a", "x", 2.0, 0.8, 0.25)]), "accuracy")
    bar, = marks(figure, 0, "interval")
    assert tuple(bar.get_xdata()) == pytest.approx((0.55, 1.05))
    assert any("standard deviation" in text for text in figure.texts)
    once = shown(module._figure, result([row("a", "x", 2.0, 0.8)], 1), "accuracy")
    assert not any("standard deviation" in text for text in once.texts)


def test_26_long_names_stand_in_full(shown):
    names = [f"designs/of the second season/{letter * 3} with distances of medians"
             for letter in "abcdefghijklmnopqrstuvwxyz"]
    rows = [row(name, "least-squares", 50 + i, 0.9 + i / 1000, None, paired(i / 100, [-1, 1]))
            for i, name in enumerate(names)]
    figure = shown(module._figure, result(rows, against={
        "configuration": names[0], "decoder": "least-squares"}), "accuracy")
    assert not figure.clashes()
    assert all(any(text.startswith(name) for text in figure.texts) for name in names)


def test_rows_without_the_score_are_named(shown):
    rows = [row("a", "x", 1.0, 0.8, log_loss=None), row("b", "y", 1.0, 0.9),
            row("c", "y", 1.0, 0.9, log_loss={"pooled": float("nan"), "sd": None})]
    figure = shown(module._figure, result(rows), "log_loss")
    assert len(marks(figure, 0)) == 1 and not figure.clashes()
    assert "Without log loss, so left out: a, x; c, y" in figure.texts
    none = shown(module._figure, result(rows[:1] * 30), "log_loss")
    assert "no configuration has this score" in none.texts and not none.clashes()


def test_unknown_score():
    with pytest.raises(UsageError, match="no score called 'speed': use one of accuracy"):
        module.draw_comparison("a.png", result([]), "speed")


@given(st.lists(st.tuples(st.floats(0.5, 5.5), st.floats(0.2, 3.8), st.floats(0.3, 1.5)),
                min_size=1, max_size=12))
def test_places(points):
    places = [(x, y) for x, y, _ in points]
    spots = place_labels(places, [width for *_, width in points], [], (6.0, 4.0))
    for i, spot in enumerate(spots):
        assert spot[0] >= 0 and spot[1] >= 0 and spot[2] <= 6 and spot[3] <= 4
        assert spot[2] - spot[0] == pytest.approx(points[i][2])
        assert not any(overlap(spot, other) for other in spots[:i])


def test_the_nearest_free_place_is_taken():
    alone, = place_labels([(1.0, 1.0)], [0.5], [], (4, 4))
    assert alone[0] == pytest.approx(1.09) and alone[1] < 1 < alone[3]
    at_the_edge, = place_labels([(3.9, 1.0)], [0.5], [], (4, 4))
    assert at_the_edge[2] < 3.9
    barred, = place_labels([(1.0, 1.0)], [0.5], [(1.3, 0, 1.3, 2)], (4, 4))
    assert not barred[0] < 1.3 < barred[2]
    left, _ = place_labels([(1.0, 1.0), (1.3, 1.0)], [0.5, 0.5], [], (4, 4))
    assert not (left[0] < 1.3 < left[2] and left[1] < 1 < left[3])
    wide, = place_labels([(1.0, 1.0)], [9.0], [], (4, 4))
    assert wide[0] == 1.0
