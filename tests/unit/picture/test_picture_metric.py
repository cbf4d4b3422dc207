"""Weights of features as bars: the largest above, by name or number, sixty at most."""

import pytest

from agfmc.picture import metric as module

matplotlib = pytest.importorskip("matplotlib")


def figure_of(shown, weights, names=()):
    order = sorted(range(len(weights)), key=lambda i: -weights[i])
    figure = shown(module._figure, {"points": 240, "classes": 3, "weights": [
        {"feature": i, "weight": weights[i], **({"name": names[i]} if names else {})}
        for i in order]})
    assert not figure.clashes()
    axes, = figure.figure.axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    return figure, [bar.get_width() for bar in axes.patches], labels


def test_bars(shown):
    figure, bars, labels = figure_of(shown, [0.2, 2.55, 0.25], ["a", "$b$", "c" * 99])
    assert bars == [2.55, 0.25, 0.2] and labels[0] == "$b$" and labels[2] == "a"
    assert len(labels[1]) == 40
    assert "weights of features; learned from 240 points of 3 classes" in figure.texts
    assert {"2.55", "0.25", "0.2"} <= set(figure.texts)


def test_many_features(shown):
    figure, bars, labels = figure_of(shown, [i / 50 for i in range(101)])
    assert len(bars) == 60 and labels[0] == "feature 100" and labels[-1] == "feature 41"
    assert any("the first 60 of 101" in text for text in figure.texts)


def test_no_weight_at_all(shown):
    _, bars, labels = figure_of(shown, [0.0, 0.0])
    assert bars == [0, 0] and labels == ["feature 0", "feature 1"]


def test_numbers_cover_the_line_at_one(shown):
    figure, _, _ = figure_of(shown, [2.0, 0.95, 0.05])
    axes, = figure.figure.axes
    line, = axes.lines
    for label in axes.texts:
        assert label.get_bbox_patch().get_facecolor() == (1, 1, 1, 1)
        assert label.get_zorder() > line.get_zorder()


def test_the_title_begins_above_the_bars(shown):
    for count in 3, 101:
        figure, *_ = figure_of(shown, [1.0] * count)
        title, = figure.figure.texts
        left = figure.figure.axes[0].get_position().x0
        assert title.get_position()[0] == pytest.approx(left) if count == 3 else \
            title.get_position()[0] <= left
