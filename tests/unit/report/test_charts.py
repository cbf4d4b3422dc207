"""Pictures of data, scores and experiments: that they show the numbers, and all of them fit."""

import copy
from xml.etree import ElementTree

import numpy as np
import pytest

from agfmc.core.answers import Results, Sets
from agfmc.score.evaluation import ScoreRequest, evaluate
from agfmc.report import charts
from agfmc.report.experiment_charts import comparison, comparison_cost, search_surface
from agfmc.report.content import DataPart
from agfmc.report.svg import WIDTH

HOSTILE = '"><script>alert(1)</script>'


def long_names(k):
    return {
        label: f"{chr(65 + label % 26)}{label}, a class with a very long name" for label in range(k)
    }


def scores_of(k=4, n=400, sharp=2.0, **more):
    draw = np.random.default_rng(1)
    y = np.arange(n) % k
    values = draw.normal(size=(n, k))
    values[np.arange(n), y] += sharp
    p = np.exp(values)
    p /= p.sum(axis=1, keepdims=True)
    size = 1 + np.arange(n) % min(k, 3)
    return evaluate(
        Results(
            y,
            p.argmax(axis=1),
            np.arange(k),
            k,
            p.max(axis=1),
            p,
            sets=Sets(size, size > 1),
            **more,
        ),
        10,
        ScoreRequest(top_accuracy=2, intervals=20),
    )


@pytest.fixture(scope="module")
def scores():
    return scores_of(before=np.full((400, 4), 0.25))


def bar(row, **changes):
    return {
        "lower": 0.0,
        "upper": 0.1,
        "count": 10,
        "forecast": 0.05,
        "observed": 0.1,
        "error": 0.07,
        **row,
        **changes,
    }


# Data


def test_bars_are_as_long_as_the_counts(read):
    found = read(charts.class_counts(DataPart("d", 60, 2, (3, 5, 9), (10, 30, 20)), {3: "three"}))
    wide = [float(element.get("width")) for element in found.all("rect", "fill-left")]
    assert wide[1] == pytest.approx(3 * wide[0], rel=0.01) and wide[2] == pytest.approx(
        2 * wide[0], rel=0.01
    )
    assert {"three", "5", "9", "10", "30", "20"} <= set(found.texts)
    assert found.classes() == {0, 1, 2}
    assert [row.cells for row in found.picture.table.rows] == [
        ("three", 10, 1 / 6),
        ("5", 30, 0.5),
        ("9", 20, 1 / 3),
    ]


def test_counts_of_many_classes_are_bars_from_the_largest(read):
    counts = tuple(float(5 + 7 * i % 200) for i in range(200))
    found = read(charts.class_counts(DataPart("d", 1, 2, tuple(range(200)), counts), {}))
    heights = [float(element.get("height")) for element in found.all("rect", "mark")]
    assert len(heights) == 200 and heights == sorted(heights, reverse=True)
    assert len(found.picture.svg) < 40_000 and not found.clashes()


@pytest.mark.parametrize("counts", [None, (), (5,)])
def test_no_counts_are_no_picture(counts):
    assert charts.class_counts(DataPart("d", 5, 2, (0,), counts), {}) is None


# Scores


def test_points_of_the_reliability_diagram_are_where_the_shares_are(read):
    rows = [
        bar({}),
        bar({"lower": 0.5, "upper": 0.6, "forecast": 0.5, "observed": 0.25}),
        bar({"lower": 0.9, "upper": 1.0, "forecast": 1.0, "observed": 1.0, "error": 0.0}),
    ]
    found = read(charts.reliability({"calibration": rows, "expected_calibration_error": 0.123}))
    (x0, y0), (x1, y1), (x2, y2) = (
        (float(dot.get("cx")), float(dot.get("cy"))) for dot in found.all("circle")
    )
    assert (x1 - x0) / (x2 - x0) == pytest.approx(0.45 / 0.95, abs=0.01)
    assert (y1 - y0) / (y2 - y0) == pytest.approx(0.15 / 0.9, abs=0.01)
    assert any("0.1230" in text for text in found.texts) and "10" in found.texts
    low, high = found.picture.table.rows[1].cells[5:7]
    assert (low, high) == pytest.approx((0.0810, 0.5578), abs=1e-3)  # Wilson's of 2.5 of 10


def test_axes_of_reliability_begin_where_the_points_are(read):
    near = [bar({"lower": 0.9, "upper": 1.0, "forecast": 0.97, "observed": 0.96})]
    far = [*near, bar({"lower": 0.3, "upper": 0.4, "forecast": 0.35, "observed": 0.3})]
    found = read(charts.reliability({"calibration": near}))
    assert "0.90" in found.texts and "0" not in found.texts and "begin at 0.9" in found.picture.note
    found = read(charts.reliability({"calibration": far}))
    assert "0.0" in found.texts and "begin" not in found.picture.note


def test_weighted_bins_count_as_many_points_as_tell_as_much(read):
    rows = [bar({"count": 40.0, "forecast": 0.5, "observed": 0.5, "error": 0.25})]
    assert read(charts.reliability({"calibration": rows})).picture.table.rows[0].cells[
        5:
    ] == pytest.approx((0.150, 0.850), abs=1e-3)  # of 4 points


def test_before_calibration_has_its_own_marks(read, scores):
    found = read(charts.reliability(scores))
    assert len(found.all("path", "fill-right")) == 2  # its bin, and the one of the key
    assert any(text.startswith("before, ECE") for text in found.texts)
    assert len(found.picture.table.columns) == 9


def test_the_probabilities_of_all_classes_have_their_own_marks(read, scores):
    bins = [bar({"count": 3}), bar({"count": 1, "forecast": 0.09, "observed": 0.5})]
    every = {
        **scores,
        "classwise_calibration_error": 0.25,
        "calibration_by_class": [{"bins": [one]} for one in bins],
    }
    assert not read(charts.reliability(every)).all("path", "fill-third")
    found = read(charts.reliability(every, True))
    dot = found.all("path", "fill-third edge")[0]
    (curve,) = found.all("path", "third curve")  # 0.06 of 4 points, of which 0.2 are right
    x, y = map(float, curve.get("d")[1:].split(" "))
    assert dot.get("d").startswith(f"M{x:g} {y:g}m")
    assert "all classes, ECE 0.2500" in found.texts and not found.clashes()


def test_the_curve_of_risk_ends_at_the_error_of_all(read, places, scores):
    found = read(charts.risk_coverage(scores))
    (random,) = found.all("path", "rule")
    (curve,) = found.all("path", "left curve")
    end = curve.get("d").split(" ")[-1]
    assert places(random.get("d"))[0][1] == pytest.approx(float(end), abs=0.1)
    assert any(f"AURC {scores['aurc']:.4f}" in text for text in found.texts)


def test_no_errors_are_no_curve_of_risk():
    assert charts.risk_coverage(scores_of(k=2, sharp=30)) is None
    assert charts.risk_coverage({"risk_coverage": None, "aurc": None}) is None


def test_sets_by_size(read, scores):
    found = read(charts.class_sets(scores))
    assert [row.cells[:2] for row in found.picture.table.rows] == [(1, 134), (2, 133), (3, 133)]
    assert {"134", "133", "1", "2", "3"} <= set(found.texts)
    assert charts.class_sets({}) is None


def test_classes_of_least_recall_come_first(read, scores):
    found = read(charts.class_recall(scores, {0: "zero"}))
    recalls = [row.cells[2] for row in found.picture.table.rows]
    assert recalls == sorted(recalls) and len(recalls) == 4
    assert sorted(found.classes()) == [0, 1, 2, 3]
    dots = [float(dot.get("cx")) for dot in found.all("circle", "edge")]
    assert dots == sorted(dots)


def test_the_map_of_confusions_has_right_ones_and_errors_on_their_scales(read):
    table = [[8, 2, 0], [0, 10, 0], [1, 0, 999]]
    found = read(
        charts.confusion_map(
            {"contingency": table, "labels": [1, 2, 3], "accuracy": 0.9}, {1: "one"}
        )
    )
    rows, palette = found.pixels()
    blue, orange = (tuple(palette[step][:3]) for step in (1, 200))
    colours = [[palette[cell] for cell in row] for row in rows]
    assert [[colour[:3] for colour in row] for row in colours] == [
        [blue, orange, (0, 0, 0)],
        [(0, 0, 0), blue, (0, 0, 0)],
        [orange, (0, 0, 0), blue],
    ]
    assert colours[0][2][3] == 0 and colours[1][1][3] == 255
    assert colours[0][1][3] > colours[2][0][3] >= 50  # 20 and 0.1 per cent
    assert found.picture.summary.endswith("most often one is taken for 2 (20.0\u202f%)")


def test_few_classes_have_their_numbers_and_those_that_are_rejected(read):
    found = read(
        charts.confusion_map(
            {"contingency": [[80, 2, 4], [0, 10, 0]], "labels": [1, 2], "accuracy": 0.9}, {1: "one"}
        )
    )
    assert {"80", "2", "4", "10", "rejected"} <= set(found.texts) and not found.clashes()
    rows, palette = found.pixels()
    assert [len(row) for row in rows] == [3, 3] and palette[rows[0][2]][:3] == palette[200][:3]
    assert [one.text for one in found.all("text", "fill-paper")] == ["80", "10"]


@pytest.mark.parametrize("k", [2, 26, 60])
def test_pictures_of_scores_have_room_for_all_names(read, k):
    scores, names = scores_of(k, 20 * k, 3.0), long_names(k)
    data = DataPart("d", 20 * k, 3, tuple(range(k)), (20.0,) * k)
    for picture in (
        charts.class_counts(data, names),
        charts.class_recall(scores, names),
        charts.confusion_map(scores, names),
        charts.reliability(scores),
        charts.risk_coverage(scores),
        charts.class_sets(scores),
    ):
        found = read(picture)
        assert not found.clashes(), picture.title
        assert found.size[0] == WIDTH or picture.wide
        assert not picture.summary.endswith(".")  # the sentence that it ends is in the markup
        assert picture.table is None or picture.table.rows
        assert len(picture.svg) < 40_000


def test_names_cannot_be_markup(read):
    k = 4
    names = {label: f"{HOSTILE}{label}" * 50 for label in range(k)}
    scores = scores_of(k, 200)
    data = DataPart("d", 20 * k, 3, tuple(range(k)), (20.0,) * k)
    for picture in (
        charts.class_counts(data, names),
        charts.class_recall(scores, names),
        charts.confusion_map(scores, names),
    ):
        found = read(picture)  # refuses other elements and attributes
        assert "<script" not in picture.svg and not found.clashes()


# Comparisons


def row(name, value, mean=None, interval=None, **more):
    test = (
        None
        if mean is None
        else {
            "log_loss": {
                "pooled": mean,
                "mean": mean,
                "sd": 0.1,
                "p_value": 0.04,
                "interval": interval,
            }
        }
    )
    return {
        "configuration": name,
        "decoder": "full",
        "classifiers": 3,
        "log_loss": {"pooled": value, "mean": value, "sd": 0.1},
        "difference": test,
        **more,
    }


@pytest.fixture
def result():
    return {
        "by": "log_loss",
        "against": {"configuration": "base", "decoder": "full"},
        "mcnemar": False,
        "rows": [
            row("base", 0.5, queried={"mean": 6.0}),
            row("worse", 0.9, 0.4, [0.1, 0.7], queried={"mean": 3.0}),
            row("same", 0.5, 0.01, [-0.1, 0.12], queried={"mean": 8.0}),
            row("better", 0.3, -0.2, [-0.3, -0.1], queried={"mean": 7.0}),
            {"configuration": "broken", "decoder": "full", "error": "no"},
        ],
    }


def test_differences_stand_by_their_size_and_are_filled_where_they_are_sure(read, result):
    found = read(comparison(result))
    names = [text.split(",")[0] for text in found.texts if text.endswith(", full")]
    assert names == ["base", "better", "same", "worse"]
    dots = found.all("circle")
    assert ["fill-paper" in dot.get("class") for dot in dots] == [False, True, False]
    zero = float(found.all("path", "zero")[0].get("d").split(" ")[0][1:])
    sides = [float(dot.get("cx")) - zero for dot in dots]
    assert sides[0] < 0 < sides[1] < sides[2]
    assert "1 better and 1 worse" in found.picture.summary and len(found.all("path", "left")) == 3
    assert found.texts.index("\u2190 better") < found.texts.index("worse \u2192")
    assert not found.clashes()


def test_better_is_on_the_right_where_larger_is(read, result):
    result["by"] = "accuracy"
    for one in result["rows"][:-1]:
        one["accuracy"] = one["log_loss"]
        if one["difference"]:
            one["difference"] = {"accuracy": one["difference"]["log_loss"]}
    found = read(comparison(result))
    names = [text.split(",")[0] for text in found.texts if text.endswith(", full")]
    assert names == ["base", "worse", "same", "better"] and "better \u2192" in found.texts


def test_differences_without_intervals_are_points(read, result):
    for one in result["rows"][1:4]:
        del one["difference"]["log_loss"]["interval"]
    found = read(comparison(result))
    assert not found.all("path", "left") and len(found.all("circle")) == 3
    assert "interval" not in found.picture.summary + found.picture.note


def test_intervals_of_one_split_are_not_those_of_the_t_test(result):
    assert "t test" in comparison(result).note
    assert "t test" not in comparison({**result, "mcnemar": True}).note


def test_the_reference_alone_is_no_comparison(result):
    assert comparison({**result, "rows": result["rows"][:1]}) is None


def test_without_a_reference_there_are_scores_with_their_deviations(read, result):
    found = read(comparison({**result, "against": None}))
    titles = [group.find("title").text for group in found.all("g")]
    assert titles[0] == "better, full: 0.3000 (0.2000 to 0.4000)"
    assert [title.split(" ")[:3] for title in titles[1:]] == [
        ["base,", "full:", "0.5000"],
        ["same,", "full:", "0.5000"],
        ["worse,", "full:", "0.9000"],
    ]
    assert not found.all("path", "zero") and not found.clashes()
    assert "deviations" in found.picture.note and "interval" not in found.picture.note


def test_scores_over_costs(read, result):
    found = read(comparison_cost(result))
    dots = {dot.find("title").text: dot.get("class") for dot in found.all("circle")}
    work = "binary classifiers evaluated per point"
    assert sorted(dots.items()) == [
        (f"1: better, full, 0.3, 7 {work}", "fill-left edge"),
        (f"2: base, full, 0.5, 6 {work}", "fill-left edge"),
        (f"3: same, full, 0.5, 8 {work}", "fill-paper grey thin"),
        (f"4: worse, full, 0.9, 3 {work}", "fill-left edge"),
    ]
    assert "binary classifiers evaluated per point" in found.texts and not found.clashes()
    at = {dot.find("title").text[0]: float(dot.get("cx")) for dot in found.all("circle")}
    assert at["4"] < at["2"] < at["1"] < at["3"]


def test_twins_on_the_front_are_filled_and_nothing_lies_above_them(read, result):
    """A tree gives the same answers with several decoders: neither is better than the other."""
    result["rows"].insert(4, {**result["rows"][3], "decoder": "least-squares"})
    found = read(comparison_cost(result))
    dots = [
        (dot.find("title").text[0], "fill-left" in dot.get("class")) for dot in found.all("circle")
    ]
    assert dots == [("4", False), ("5", True), ("3", True), ("2", True), ("1", True)]


def test_costs_fall_back_to_the_number_of_classifiers(read, result):
    del result["rows"][0]["queried"]
    assert "binary classifiers" in read(comparison_cost(result)).texts
    for one, cost in zip(result["rows"], (90.0, 10.0, 20.0, 30.0)):
        one["kernel_values"] = {"mean": cost}
    assert "kernel values computed per point" in read(comparison_cost(result)).texts
    for one in result["rows"][:-1]:  # of two costs, that which differs
        one["kernel_values"], one["queried"] = {"mean": 90.0}, {"mean": one["log_loss"]["mean"]}
    assert "binary classifiers evaluated per point" in read(comparison_cost(result)).texts
    assert comparison_cost({**result, "rows": result["rows"][-1:]}) is None


def test_twenty_configurations_with_long_names_do_not_overlap(read, result):
    rows = [
        row(
            f"a configuration with a very long name indeed {i}",
            0.5 + i % 3 / 100,
            i / 100,
            [i / 100 - 1, i / 100 + 1],
            queried={"mean": 5 + i % 4},
        )
        for i in range(20)
    ]
    found = read(comparison({**result, "rows": rows}))
    assert not found.clashes()
    found = read(comparison_cost({**result, "rows": rows}))
    assert not found.clashes() and "1, 2" in found.texts  # in one place


# Searches


def point(c, g, score, parts=(1, 2), **more):
    return {
        "options": f"-c {c} -g {g}",
        "kernel": "rbf",
        "degree": None,
        "coef0": None,
        "log2c": c,
        "log2g": g,
        "score": score,
        "sd": 0.05,
        "values": [score],
        "rows": None,
        "parts": list(parts),
        **more,
    }


@pytest.fixture
def search():
    points = [point(c, g, 0.5 + abs(c - 2) / 10 + abs(g) / 20) for c in (0, 2, 4) for g in (-2, 0)]
    points[3] = point(2, 0, 0.4, (1, 2, 3))
    points.append(point(6, 0, None, (), error="no"))
    return {"points": points, "best": 3, "by": "log_loss", "complete": True, "border": []}


def test_the_surface_of_a_search(read, search):
    (picture,) = search_surface(search)
    found = read(picture)
    dots = found.all("circle", "mark")
    depths = {dot.find("title").text.split(":")[0]: float(dot.get("fill-opacity")) for dot in dots}
    assert max(depths, key=depths.get) == "-c 2 -g 0" and len(depths) == 6
    ring = found.all("circle", "ring")[0]
    best = next(dot for dot in dots if dot.find("title").text.startswith("-c 2 -g 0"))
    assert (ring.get("cx"), ring.get("cy")) == (best.get("cx"), best.get("cy"))
    assert float(best.get("r")) > float(dots[-1].get("r"))
    assert {"best: -c 2 -g 0", "scored on 2 parts", "scored on 3 parts", "failed"} <= set(
        found.texts
    )
    assert not found.clashes() and "time limit" not in picture.note


def test_axes_of_exponents_have_whole_numbers(read):
    points = [point(c, g, 0.5 - c / 100) for c in (0, 1, 2, 3) for g in (-4.5, -4, -3.5, -3)]
    texts = read(search_surface({"by": "log_loss", "points": points, "best": 0})[0]).texts
    assert {"\u22124", "\u22123"} <= set(texts) and "\u22123.5" not in texts


def test_of_very_many_options_the_best_are_drawn(read):
    points = [point(c, g, 1 + c + g) for c in range(40) for g in range(40)]
    found = read(search_surface({"by": "log_loss", "points": points, "best": 0})[0])
    assert len(found.all("circle", "mark")) == 1000 and "the best 1000" in found.picture.note
    assert len(found.picture.svg) < 250_000


def test_a_search_that_was_ended_says_so(search):
    (picture,) = search_surface({**search, "complete": False, "border": ["C high"]})
    assert "time limit" in picture.note and "C high" in picture.note


def test_one_parameter_is_a_curve_with_deviations(read, search):
    for one in search["points"]:
        one["log2g"] = None
    (picture,) = search_surface(search)
    found = read(picture)
    assert len(found.all("path", "left")) == 7  # a line, and six bars
    assert "log2 C" in found.texts and not found.clashes()


def test_kernels_have_one_scale_and_the_best_comes_first(read, search):
    others = [
        point(c, g, 5 + c / 9, kernel="polynomial", degree=d, coef0=1)
        for d in range(2, 10)
        for c in (0, 2)
        for g in (-1, 0)
    ]
    pictures = search_surface(
        {**search, "points": others + search["points"], "best": len(others) + 3}
    )
    assert len(pictures) == 6 and pictures[0].title == "Search: rbf"
    assert "not drawn: polynomial of degree 7" in pictures[-1].note
    scales = {
        tuple(text for text in read(picture).texts if text.startswith("\u2265"))
        for picture in pictures
    }
    assert len(scales) == 1 and "is not the best of the search" in pictures[1].summary


def test_searches_without_a_surface():
    assert search_surface({"points": [], "best": None}) == []


def test_nothing_changes_what_it_is_given(result, search, scores):
    before = copy.deepcopy((result, search, scores))
    comparison(result), comparison_cost(result), search_surface(search)
    charts.reliability(scores), charts.class_recall(scores, {})
    assert (result, search, scores) == before


def test_pictures_have_labels_for_those_who_cannot_see_them(result):
    root = ElementTree.fromstring(comparison(result).svg)
    assert root.get("role") == "img" and "better" in root.get("aria-label")


def test_gamma_alone_is_a_curve(read, search):
    for one in search["points"]:
        one["log2c"] = None
    (picture,) = search_surface(search)
    assert {"log2 gamma", "log loss (smaller is better)"} <= set(read(picture).texts)
    assert "Bars are standard deviations" in picture.note
