"""Maps fitted to points kept apart: what is fitted, kept, measured and said."""

from dataclasses import replace

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.calibration.maps import apply_map, fit_temperature
from agfmc.core.answers import Results
from agfmc.core.errors import AgfmcWarning, DataError
from agfmc.data.types import Dataset
from agfmc.prediction.classifier import Classifier
from agfmc.prediction.decoding import Decoding
from agfmc.prediction.known_points import (
    answers_alike,
    answers_of_data,
    answers_of_files,
    map_columns,
)
from agfmc.prediction.recalibrate import (
    default_decodings,
    recalibrate,
    recalibrated,
    with_decoders,
)
from agfmc.report.calibrations import calibration_blocks
from agfmc.report.text import blocks_text
from agfmc.data.libagf import cls_bytes, con_bytes
from agfmc.data.weights import weights_bytes
from agfmc.score.probabilities import brier
from agfmc.core.probabilities import log_loss
from agfmc.designs.design import design
from agfmc.training.fit import TrainingSettings
from agfmc.training.in_memory import train_configuration
from agfmc.core.weights import Weights
from own_warnings import own_warnings, texts_of

LABELS = [1, 4, 6, 9]


def points(seed, n):
    """Four classes that overlap, in the corners of a square."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 4, n)
    x = generator.normal(size=(n, 5)) * 1.1
    x[:, 0] += 2 * (y & 1)
    x[:, 1] += 2 * (y >> 1)
    return x, np.array(LABELS, dtype=np.int32)[y]


def trained(layout):
    x, y = points(1, 200)
    tree = parse(layout) if "{" in layout else design(layout, LABELS, x=x, y=y)
    return train_configuration(tree, x, y, TrainingSettings("-c 4 -g 0.2"))[0]


PAIRS, TREE = trained("one-vs-one"), trained('"" {"" {9 1} "" {4 6}}')
APART = Dataset(*points(5, 400))


def results_of(p, y, answer, source):
    """`Results` of columns of true classes and answers."""
    labels = np.array(LABELS)
    return Results(labels[y], labels[answer], labels, p=p, source=source)


def drawn(n=500, seed=2, temperature=2.5):
    """`Results` whose probabilities are too sure."""
    generator = np.random.default_rng(seed)
    q = generator.dirichlet(np.full(4, 0.5), n) + 1e-9
    y = (q.cumsum(axis=1) < generator.random(n)[:, None]).sum(axis=1).clip(0, 3)
    p = q**temperature
    p /= p.sum(axis=1)[:, None]
    return results_of(p, y, p.argmax(axis=1), "drawn")


@pytest.mark.long
def test_points_are_classified_without_a_map():
    answered = answers_of_data(PAIRS, Decoding(), APART, "binary", "apart")
    found, _ = recalibrate(answered, "least-squares")
    again = with_decoders(PAIRS, {"least-squares": found}, answered)
    assert again.fits(again.calibration) and sum(again.calibration.counts) == 400
    assert (
        answers_of_data(again, Decoding(), APART, "binary", "").p.tobytes()
        == answered.p.tobytes()
        == Classifier(PAIRS, Decoding())(APART.x).columns.tobytes()
    )
    np.testing.assert_array_equal(
        Classifier(again, Decoding())(APART.x).columns, apply_map(found.map, answered.p)
    )


def test_weights_of_points():
    answered = drawn(400)
    w = np.random.default_rng(3).integers(1, 5, 400).astype(float)
    weighted = replace(answered, weights=w)
    found, report = recalibrate(weighted, "least-squares", "temperature")
    plain, plain_report = recalibrate(answered, "least-squares", "temperature")
    expected = fit_temperature(answered.p, answered.y, w)
    assert found.map.weights == expected.weights != plain.map.weights
    before = report["scores"]
    assert before["log_loss"]["before"]["value"] == pytest.approx(
        log_loss(answered.p, answered.y, w), rel=1e-12
    )
    assert before["brier"]["before"]["value"] == pytest.approx(
        brier(answered.p, answered.y, w), rel=1e-12
    )
    right = answered.answer == answered.y
    assert before["accuracy"]["after"]["value"] == pytest.approx(np.average(right, weights=w))
    assert (
        before["log_loss"]["before"]["low"]
        < before["log_loss"]["before"]["value"]
        < before["log_loss"]["before"]["high"]
    )
    # points are counted for guarantees
    for row in report["thresholds"]:
        if row["threshold"] is not None:
            largest = found.points.p_largest
            assert row["answered"] == np.mean(largest >= row["threshold"])
    assert report["points"] == 400 and report["sum_of_weights"] == w.sum()
    alike = w.sum() ** 2 / (w @ w)
    assert report["effective_points"] == pytest.approx(alike)
    assert (
        f"400 points of 4 classes, which count as {alike:.4g} of equal weight; temperature"
        in blocks_text(calibration_blocks([report]))
    )
    assert not {"sum_of_weights", "effective_points"} & plain_report.keys()
    kept = with_decoders(PAIRS, {"least-squares": found}, weighted).calibration
    assert kept.source == "least-squares: 400 weighted points of drawn" and sum(kept.counts) == 400


def test_weights_of_a_dataset():
    w = np.random.default_rng(3).random(400) + 0.5
    data = replace(APART, weights=Weights(w))
    answered = answers_of_data(PAIRS, Decoding(), data, "binary", "apart")
    np.testing.assert_array_equal(answered.weights, w)
    fitted = answers_of_data(PAIRS, Decoding("learned", "flat"), data, "binary", "apart")
    plain = answers_of_data(PAIRS, Decoding("learned", "flat"), APART, "binary", "apart")
    np.testing.assert_array_equal(fitted.weights, w)
    assert np.abs(fitted.learned.weights - plain.learned.weights).max() > 1e-4


def test_a_tree_that_is_descended():
    answered = answers_of_data(TREE, Decoding(), APART, "binary", "apart")
    answers = Classifier(TREE, Decoding(tree="path"))(APART.x)
    assert answered.p is None
    np.testing.assert_array_equal(answered.winner, answers.columns[:, 0])
    right = answers.classes == APART.y
    found, report = recalibrate(answered, "recursive", "temperature")
    expected = fit_temperature(*map_columns(answered))
    np.testing.assert_array_equal(map_columns(answered)[1], np.where(right, 0, 1))
    assert found.map.weights == expected.weights
    np.testing.assert_array_equal(found.points.right, right)
    np.testing.assert_array_equal(found.points.label, APART.y)
    assert report["sets"] == []


def test_decoders_that_answer_the_same():
    one, other = (
        answers_of_data(PAIRS, Decoding(name), APART, "binary", "apart")
        for name in ("inverse", "least-squares")
    )
    assert answers_alike(one, other)
    assert not answers_alike(
        one, answers_of_data(PAIRS, Decoding("wu-lin-weng"), APART, "binary", "")
    )
    assert not answers_alike(one, answers_of_data(TREE, Decoding(), APART, "binary", ""))
    again, reports = recalibrated(PAIRS, [("inverse", one), ("least-squares", other)])
    decoders = again.calibration.decoders
    assert decoders["inverse"] is decoders["least-squares"]
    assert [report["decoder"] for report in reports] == ["inverse", "least-squares"]


def test_decoders_whose_points_are_kept():
    assert list(default_decodings(PAIRS)) == ["inverse", "least-squares"]
    assert list(default_decodings(TREE)) == ["recursive", "least-squares", "full"]


def test_the_scores_are_of_points_held_out():
    answered = drawn()
    found, report = recalibrate(answered, "least-squares", "temperature", seed=3)
    scores = report["scores"]
    assert scores["log_loss"]["before"]["value"] == pytest.approx(
        log_loss(answered.p, answered.y), rel=1e-12
    )
    assert scores["brier"]["before"]["value"] == pytest.approx(
        brier(answered.p, answered.y), rel=1e-12
    )
    fitted = log_loss(apply_map(found.map, answered.p), answered.y)
    after = scores["log_loss"]["after"]["value"]
    assert fitted < after < fitted + 0.01
    kept = found.points
    assert -np.log(kept.p_true).mean() == pytest.approx(after, rel=1e-12)
    for score in scores.values():
        for cell in score.values():
            assert cell["low"] <= cell["value"] <= cell["high"]
        assert score["difference"]["value"] == pytest.approx(
            score["after"]["value"] - score["before"]["value"], abs=1e-12
        )
    assert scores["log_loss"]["difference"]["high"] < 0  # paired: clearer than the two alone
    assert scores["accuracy"]["difference"] == {"value": 0, "low": 0, "high": 0}
    assert report["temperature"] == pytest.approx(2.5, rel=0.2)


def test_mean_sizes_of_sets_by_hand():
    answered = drawn(100)
    p, y = answered.p, answered.y
    _, report = recalibrate(answered, "least-squares", "none")
    assert [row["max_error"] for row in report["thresholds"]] == [0.01, 0.02, 0.05, 0.1]
    assert [row["coverage"] for row in report["sets"]] == [0.9, 0.95, 0.99]

    def limit(scores, coverage):  # infinite where there are too few points
        rank = int(np.ceil((len(scores) + 1) * coverage))
        return np.sort([*scores, np.inf])[rank - 1]

    scores = 1 - p
    true = scores[np.arange(100), y]
    for row in report["sets"]:
        sizes = row["mean_size"]
        assert sizes["lac"] == np.mean(np.sum(scores <= limit(true, row["coverage"]), axis=1))
        if row["coverage"] == 0.99:  # classes of fewer than 99 points are one group
            assert sizes["lac_by_class"] == sizes["lac"] < 4
            continue
        limits = [limit(true[y == c], row["coverage"]) for c in range(4)]
        assert sizes["lac_by_class"] == np.mean(np.sum(scores <= limits, axis=1)) != sizes["lac"]


@pytest.mark.long
def test_maps_that_change_answers_are_scored_by_their_own():
    answered = drawn(temperature=1)
    rolled = results_of(
        np.roll(answered.p, 1, axis=1), answered.y, (answered.answer + 1) % 4, "rolled"
    )
    found, report = recalibrate(rolled, "least-squares")
    assert report["map"] == "matrix"
    scores = report["scores"]["accuracy"]
    assert scores["before"]["value"] < 0.3 and scores["after"]["value"] > 0.5
    assert found.points.right.mean() == scores["after"]["value"]


def test_what_is_printed():
    stored = fit_temperature(np.eye(4), np.arange(4))
    _, report = recalibrate(drawn(320), "inverse", stored=stored)
    other = {**report, "decoder": "least-squares"}
    _, different = recalibrate(drawn(100), "wu-lin-weng", "matrix")
    text = blocks_text(calibration_blocks([report, other, different]))
    lines = text.splitlines()
    assert lines[0].startswith("inverse, least-squares: 320 points of 4 classes; temperature 2.")
    assert lines[1].startswith("log loss: stored ") and ", matrix " in lines[1]
    assert [line.split("  ")[0] for line in lines if "(" in line] == [
        "log loss",
        "Brier score",
        "calibration error",
        "accuracy",
    ] * 2
    assert any(
        line.startswith("0.01 ")
        and line.endswith("at least 299 without an error among them would be needed")
        for line in lines
    )
    assert "wu-lin-weng: 100 points of 4 classes; matrix map, ridge " in text


def test_few_points_and_classes_without():
    answered = drawn(60)
    few = results_of(
        answered.p[:60], np.where(answered.y == 2, 1, answered.y), answered.answer, "few"
    )
    with own_warnings() as warned:
        _, report = recalibrate(few, "least-squares", "temperature")
    assert texts_of(warned) == [
        "few: no point of class 6: the map does not know how they are answered",
        "few: 60 calibration points are few for 4 classes (100 or more are better): mind the "
        "intervals",
    ]
    assert report["without_points"] == [6]
    with pytest.warns(AgfmcWarning), pytest.raises(DataError, match="needs two points"):
        recalibrate(drawn(1), "least-squares")


def test_a_calibration_keeps_its_other_decoders():
    answered = drawn()
    first = with_decoders(PAIRS, {"inverse": recalibrate(answered, "inverse", "none")[0]}, answered)
    other, _ = recalibrate(drawn(200), "least-squares", "temperature")
    for _ in range(2):  # the second time in place of the first
        second = with_decoders(first, {"least-squares": other}, drawn(200))
        assert list(second.calibration.decoders) == ["inverse", "least-squares"]
        assert second.calibration.decoders["inverse"] is first.calibration.decoders["inverse"]
        assert (
            second.calibration.source
            == "inverse: 500 points of drawn; least-squares: 200 points of drawn"
        )
        assert sum(second.calibration.counts) == 500
        first = second


@pytest.fixture
def held(folder):
    """Files as nfold writes them, and their `Results`."""
    answered = drawn(120)
    labels = np.array(LABELS)
    (folder / "held.truth").write_bytes(cls_bytes(labels[answered.y]))
    (folder / "held.cls").write_bytes(cls_bytes(labels[answered.answer]))
    (folder / "held.con").write_bytes(con_bytes((4 * answered.p.max(axis=1) - 1) / 3))
    text = "labels 1 4 6 9\n" + "".join(
        " ".join(f"{v:9.6f}" for v in row) + f" {labels[one]:4d}\n"
        for row, one in zip(answered.p, answered.answer)
    )
    (folder / "held.txt").write_text(text)
    return answered, text


def test_answers_of_files(held, folder):
    answered, text = held
    found = answers_of_files(PAIRS, "least-squares", "held")
    np.testing.assert_allclose(found.p, answered.p, atol=2e-6)
    np.testing.assert_array_equal(found.y, answered.y)
    np.testing.assert_array_equal(found.answer, answered.answer)
    rows = text.splitlines()
    (folder / "held.raw.txt").write_text("\n".join([rows[0], *["0.25 " * 4 + "6"] * 120]))
    own = answers_of_files(PAIRS, "least-squares", "held")
    assert (own.p == 0.25).all() and (own.answer == 2).all()  # a map may change the answers
    descended = answers_of_files(TREE, "recursive", "held")
    np.testing.assert_allclose(descended.winner, answered.p.max(axis=1), atol=1e-6)
    assert found.weights is descended.weights is None
    w = np.arange(120) % 3 / 2
    (folder / "held.wgt").write_bytes(weights_bytes(w))
    for key, model, whole in (("least-squares", PAIRS, own), ("recursive", TREE, descended)):
        some = answers_of_files(model, key, "held")
        np.testing.assert_array_equal(some.weights, w[w > 0])
        for name in ("p", "winner"):
            if getattr(whole, name) is not None:
                np.testing.assert_array_equal(getattr(some, name), getattr(whole, name)[w > 0])
        np.testing.assert_array_equal(some.y, whole.y[w > 0])
    (folder / "held.wgt").write_bytes(weights_bytes(w[1:]))
    with pytest.raises(DataError, match="held.wgt: has 119 weights, but there are 120 points"):
        answers_of_files(PAIRS, "least-squares", "held")


@pytest.mark.parametrize(
    "file, change, message",
    [
        (
            "held.txt",
            lambda text: text.replace("labels 1 4 6 9", "labels 1 4 6 8"),
            r"has probabilities of 4 classes \(1 4 6 8\), the model has 4 \(1 4 6 9\)",
        ),
        ("held.txt", lambda text: text.replace("0.", "1."), "the values are no probabilities"),
        (
            "held.txt",
            lambda text: text.rsplit("\n", 2)[0],
            "has 119 rows of probabilities, but there are 120 points",
        ),
        (
            "held.txt",
            lambda text: text[:-3] + "1\n" if text[-3:] != " 1\n" else text[:-2] + "4\n",
            r"the class of row 120 is [14], but [0-9] in held.cls: they are not of one run",
        ),
    ],
)
def test_files_that_do_not_fit(held, folder, file, change, message):
    (folder / file).write_text(change(held[1]))
    with pytest.raises(DataError, match=message):
        answers_of_files(PAIRS, "least-squares", "held")


def test_classes_that_the_model_does_not_know():
    x, y = APART.x, APART.y.copy()
    y[3] = 5
    with pytest.raises(
        DataError,
        match=r"apart: holds class 5, which is not one of the classes "
        r"of the model \(1 4 6 9\)",
    ):
        answers_of_data(PAIRS, Decoding(), Dataset(x, y), "binary", "apart")
    named = PAIRS.renamed({label: f"c{label}" for label in LABELS})
    with pytest.raises(DataError, match="class 1 is 'x1', in the model 'c1'"):
        answers_of_data(
            named,
            Decoding(),
            Dataset(x, APART.y, tuple(f"x{i}" for i in range(10))),
            "binary",
            "apart",
        )
