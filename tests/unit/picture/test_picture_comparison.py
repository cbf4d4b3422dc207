"""Comparisons of configurations: points, the front, and labels that keep apart."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agfmc.errors import UsageError
from agfmc.picture import comparison as module
from agfmc.picture.canvas import LEFT, RIGHT
from agfmc.picture.canvas import overlap, place_labels

matplotlib = pytest.importorskip("matplotlib")

CONFIGURATIONS = ["one-vs-one", "one-vs-rest", "tree", "emp. tree", "orthogonal", "adjacent",
                  "random", "exhaustive", "plans/my_$own$.mbc", "bälanced <x>"]


def row(configuration, decoder, time, score, sd=None, **others):
    def value(mean):
        return {"pooled": mean, "sd": sd}
    return {"configuration": configuration, "decoder": decoder, "classifiers": 3,
            "train_s": value(1.0), "classify_s": value(time), "accuracy": value(score),
            "uncertainty_coefficient": value(score), "brier_all": value(1 - score),
            "brier": value(1 - score), "brier_winning": value(1 - score),
            "log_loss": value(1 - score), **others}


def result(rows, trials=5):
    return {"classes": 7, "points": 2310, "trials": trials, "rows": rows}


def crowd(n, seed, spread):
    rng = random.Random(seed)
    return result([row(CONFIGURATIONS[i % 10], ["lsq", "votes", "ddag"][i // 10 % 3],
                       10**rng.gauss(0, spread), 0.9 + rng.gauss(0, 0.01), 0.004)
                   for i in range(n)])


def points_of(figure):
    return [line for line in figure.figure.axes[0].get_lines() if line.get_gid() == "point"]


def labels_of(figure):
    return [text for text in figure.figure.axes[0].texts if text.get_gid() == "label"]


@pytest.mark.parametrize("n, seed, spread", [
    (1, 0, 1), (5, 1, 0.0), (20, 1, 1), (20, 2, 0.15), (20, 4, 0.05)])
def test_no_label_covers_another_or_a_point(shown, n, seed, spread):
    figure = shown(module._figure, crowd(n, seed, spread), "uncertainty_coefficient")
    assert len(points_of(figure)) == len(labels_of(figure)) == n
    assert not figure.clashes()
    axes = figure.figure.axes[0]
    for point in points_of(figure):
        x, y = axes.transData.transform((point.get_xdata()[0], point.get_ydata()[0]))
        for text in labels_of(figure):
            box = text.get_window_extent()
            assert not (box.x0 < x < box.x1 and box.y0 < y < box.y1)


def test_front_and_best(shown):
    rows = [row("a", "x", 1.0, 0.8), row("b", "x", 2.0, 0.9), row("c", "x", 3.0, 0.85),
            row("d", "x", 4.0, 0.95), row("e", "x", 2.0, 0.7)]
    figure = shown(module._figure, result(rows), "accuracy")
    looks = {(line.get_xdata()[0], line.get_ydata()[0]): (line.get_markerfacecolor(),
                                                          line.get_marker())
             for line in points_of(figure)}
    assert looks == {(1, 0.8): (LEFT, "o"), (2, 0.9): (LEFT, "o"), (3, 0.85): ("white", "o"),
                     (4, 0.95): (RIGHT, "D"), (2, 0.7): ("white", "o")}
    steps = figure.figure.axes[0].get_lines()[0]
    assert list(zip(steps.get_xdata(), steps.get_ydata())) == [
        (1, 0.8), (2, 0.8), (2, 0.9), (4, 0.9), (4, 0.95)]
    assert [text.get_text() for text in labels_of(figure)
            if text.get_fontweight() == "bold"] == ["d"]


@pytest.mark.parametrize("by", ["brier_all", "brier_winning", "log_loss"])
def test_smaller_is_better(shown, by):
    rows = [row("a", "x", 1.0, 0.8), row("b", "y", 2.0, 0.9), row("c", "y", 3.0, 0.85)]
    figure = shown(module._figure, result(rows), by)
    assert "(smaller is better)" in figure.figure.axes[0].get_ylabel()
    assert [text.get_text() for text in labels_of(figure)
            if text.get_fontweight() == "bold"] == ["b, y"]


def test_bars_are_deviations(shown):
    figure = shown(module._figure, result([row("a", "x", 2.0, 0.8, 0.25)]), "accuracy")
    ends = {(tuple(line.get_xdata()), tuple(line.get_ydata()))
            for line in figure.figure.axes[0].get_lines() if len(line.get_xdata()) == 2}
    assert ends == {((1.75, 2.25), (0.8, 0.8)), ((2.0, 2.0), (0.55, 1.05))}
    assert any("standard deviation" in text for text in figure.texts)
    once = shown(module._figure, result([row("a", "x", 2.0, 0.8)], 1), "accuracy")
    assert not any("standard deviation" in text for text in once.texts)


def test_rows_without_the_score_are_named(shown):
    rows = [row("a", "x", 1.0, 0.8, log_loss=None), row("b", "y", 0.0, 0.9),
            row("c", "y", 1.0, 0.9, log_loss={"pooled": float("nan"), "sd": None})]
    figure = shown(module._figure, result(rows), "log_loss")
    assert len(points_of(figure)) == 1 and not figure.clashes()
    assert "Without log loss, so left out: a, x; c, y" in figure.texts
    none = shown(module._figure, result(rows[:1] * 30), "log_loss")
    assert "no configuration has this score" in none.texts and not none.clashes()


def test_unknown_score():
    with pytest.raises(UsageError, match="no score called 'speed': use one of accuracy"):
        module.draw_comparison("a.png", result([]), "speed")


@given(st.lists(st.tuples(st.floats(0.5, 5.5), st.floats(0.2, 3.8), st.floats(0.3, 1.5)),
                min_size=1, max_size=12))
@settings(max_examples=25, deadline=None)
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
