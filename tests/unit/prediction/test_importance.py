"""Importance of columns, their effects, and the contributions of columns to single answers."""

import itertools
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

import agfmc
from agfmc.control.parse import parse
from agfmc.core.errors import DataError, UsageError
from agfmc.data.types import Dataset
from agfmc.models.join import join
from agfmc.prediction.contributions import Explainer
from agfmc.prediction.importance import column_effect, data_columns, probability_classifier
from agfmc.report import chart_importance


@pytest.fixture(scope="module")
def data():
    """Three classes told apart by columns 0 and 1; 2 is a copy of 1, 3 and 4 are noise."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 5))
    x[:, 2] = x[:, 1]
    return Dataset(x, np.where(x[:, 0] < 0, 0, np.where(x[:, 1] < 0, 1, 2)).astype(np.int32))


@pytest.fixture(scope="module")
def model(data):
    return agfmc.train("one-vs-one", data.x[:200], data.y[:200], options="-c 10", normalise=True)


def holdout(data):
    return Dataset(data.x[200:], data.y[200:])


def test_relevant_columns_are_important_and_copies_share(model, data):
    result = agfmc.importance(model, holdout(data), repeats=4)
    rows = {row["name"]: row for row in result["columns"]}
    assert [row["name"] for row in result["columns"]][0] == "feature 0"
    assert rows["feature 1"]["increase"] == pytest.approx(rows["feature 2"]["increase"])
    assert rows["feature 1"]["increase"] > 3 * rows["feature 1"]["error"]
    for noise in ("feature 3", "feature 4"):
        assert abs(rows[noise]["increase"]) < 3 * rows[noise]["error"]
    p = agfmc.Classifier(model).probabilities(data.x[200:])
    assert result["log_loss"] == pytest.approx(-np.log(p[np.arange(100), data.y[200:]]).mean())


def test_importance_does_not_depend_on_workers_and_needs_classes(model, data):
    once = agfmc.importance(model, holdout(data), repeats=1)
    assert once == agfmc.importance(model, holdout(data), repeats=1, workers=2)
    with pytest.raises(DataError, match="these have none"):
        agfmc.importance(model, Dataset(data.x, None))
    with pytest.raises(DataError, match="does not have class 5"):
        agfmc.importance(model, Dataset(data.x, data.y + 5))
    with pytest.raises(UsageError, match="1 permutation"):
        agfmc.importance(model, holdout(data), repeats=0)


def test_effect_of_a_column(model, data):
    classifier = probability_classifier(model)
    effect = column_effect(classifier, data.x[:50], data_columns(None, 5)[0])
    p = np.array(effect["p"])
    assert p.sum(axis=1) == pytest.approx(1)
    assert p[0, 0] > 0.9 > 0.1 > p[-1, 0]  # class 0 is where column 0 is negative
    moved = data.x[:50].copy()
    moved[:, 0] = effect["values"][3]
    assert p[3] == pytest.approx(classifier.probabilities(moved).mean(axis=0))
    assert (np.array(effect["low"]) <= effect["high"]).all()


def by_subsets(explainer, x, answer, other):
    """Shapley values by their definition, over all subsets of the columns."""
    weights = explainer._weights(answer, other)
    used, d = np.flatnonzero(weights), len(x)
    value = {}
    for size in range(d + 1):
        for chosen in itertools.combinations(range(d), size):
            point = explainer.reference.copy()
            point[list(chosen)] = x[list(chosen)]
            value[chosen] = explainer._margin(point[None], weights, used)[0]
    return [
        sum(
            math.factorial(len(s))
            * math.factorial(d - len(s) - 1)
            / math.factorial(d)
            * (value[tuple(sorted((*s, j)))] - value[s])
            for s in value
            if j not in s
        )
        for j in range(d)
    ]


@pytest.mark.parametrize(
    "control, options",
    [
        ("one-vs-one", "-c 10"),
        ("one-vs-rest", "-t laplacian"),
        ("tree", "-c 1"),
        ("one-vs-rest", "learner=nystrom -m 20"),
        ("ensemble", "-c 2"),
        ("one-vs-one", "-t 0"),
        (parse('"" L {0 1 2}'), ""),
        (parse('"-t laplacian" {"" L {0 1} 2}'), ""),
    ],
)
def test_shapley_values_are_those_of_all_subsets(data, control, options):
    model = agfmc.train(
        control, data.x[:120], data.y[:120], options=options, normalise=True, calibration=0
    )
    explainer = Explainer(model)
    result = agfmc.explain(model, data.x[200:210])
    assert result.exact
    assert result.contributions.sum(axis=1) == pytest.approx(
        result.margin - result.reference, abs=1e-9
    )
    for row in (0, 7):
        expected = by_subsets(explainer, data.x[200 + row], result.answer[row], result.other[row])
        assert result.contributions[row] == pytest.approx(expected, abs=1e-9)


def test_scores_of_boosted_nodes_are_explained(data):
    pytest.importorskip("lightgbm")
    node = parse('"-n 20" T {0 1 2}')
    options = {"normalise": True, "calibration": 0}
    boosted = agfmc.train(node, data.x[:120], data.y[:120], **options)
    x = data.x[200:206]
    result = agfmc.explain(boosted, x)
    assert not result.exact
    log_p = np.log(agfmc.Classifier(boosted).probabilities(x))
    rows = np.arange(6)
    assert result.margin == pytest.approx(log_p[rows, result.answer] - log_p[rows, result.other])
    without = x.copy()
    without[:, 1] = boosted.normalisation.mean[1]
    log_q = np.log(agfmc.Classifier(boosted).probabilities(without))
    assert result.contributions[:, 1] == pytest.approx(
        result.margin - (log_q[rows, result.answer] - log_q[rows, result.other])
    )
    # a member beside it has its share of margins and contributions
    pairs = agfmc.train("one-vs-one", data.x[:120], data.y[:120], **options)
    both = agfmc.explain(join([boosted, pairs]), x, result.answer)
    alone = [agfmc.explain(one, x, result.answer) for one in (boosted, pairs)]
    same = (both.other == alone[0].other) & (both.other == alone[1].other)
    assert same.any()
    mean = (alone[0].margin + alone[1].margin) / 2
    assert both.margin[same] == pytest.approx(mean[same])


def test_neighbours_cannot_be_explained(data):
    near = agfmc.train(parse('"" K {0 1 2}'), data.x[:60], data.y[:60], normalise=True)
    with pytest.raises(UsageError, match="code K has no decision values.*code L or T"):
        Explainer(near)


def test_other_classifiers_have_what_the_margin_loses(data):
    model = agfmc.train(
        "one-vs-one", data.x[:120], data.y[:120], options="-t 1", normalise=True, calibration=0
    )
    explainer = Explainer(model)
    x = data.x[200:203]
    result = agfmc.explain(model, x)
    assert not result.exact
    without = x.copy()
    without[:, 0] = explainer.reference[0]
    weights = explainer._weights(result.answer[0], result.other[0])
    used = np.flatnonzero(weights)
    assert result.contributions[0, 0] == pytest.approx(
        result.margin[0] - explainer._margin(without[:1], weights, used)[0]
    )


def test_other_answers_than_the_most_probable_class(model, data):
    x = data.x[200:206]
    usual = agfmc.explain(model, x)
    turned = agfmc.explain(model, x, usual.other, workers=2)
    assert (turned.other == usual.answer).all()
    assert turned.contributions == pytest.approx(-usual.contributions)
    assert (agfmc.explain(model, Dataset(x, None)).contributions == usual.contributions).all()
    assert (agfmc.explain(model, x, [-1] * 6).answer == usual.answer).all()
    for wrong in ([0] * 5, [0] * 5 + [3]):
        with pytest.raises(UsageError, match="a label of the configuration"):
            agfmc.explain(model, x, wrong)
    assert agfmc.explain(model, x[:0]).contributions.shape == (0, 5)
    with pytest.raises(DataError, match="4 features"):
        agfmc.explain(model, x, reference=[0] * 4)
    assert np.isfinite(agfmc.explain(model, x * 1e200).contributions).all()  # without a warning


def test_explainers_go_to_other_processes(model, data):
    explainer = Explainer(model, agfmc.Classifier(model, "vote"))
    x, answer = data.x[:4], np.full(4, -1)
    other = pickle.loads(pickle.dumps(explainer))
    assert all(np.array_equal(*pair) for pair in zip(explainer(x, answer), other(x, answer)))


def test_points_may_leave_out_their_last_features(data):
    machines = agfmc.train("one-vs-one", data.x[:60], data.y[:60])
    machines = replace(machines, machines=replace(machines.machines, any_width=True))
    classifier = agfmc.Classifier(machines, agfmc.Decoding(points="svm"))
    x = data.x[200:203].copy()
    x[:, 4] = 0
    whole, short = (
        Explainer(machines, classifier)(points, np.full(3, -1)) for points in (x, x[:, :4])
    )
    assert (whole.contributions == short.contributions).all()
    with pytest.raises(DataError, match="1 features more than the support vectors"):
        Explainer(machines, classifier)(np.hstack([x, x[:, :1]]), np.full(3, -1))


def test_pictures_name_the_column_that_matters(model, data):
    result = agfmc.importance(model, holdout(data), repeats=1, effects=1)
    assert "feature 0 matters most" in chart_importance.importance(result).summary
    (picture,) = chart_importance.effects(result, {0: "oak"})
    assert "Effect of feature 0" in picture.svg and "oak" in picture.svg
    curve = [{"samples": n, "score": 1 / n, "error": 0.1 / n} for n in (10, 20)]
    (picture,) = chart_importance.learning_curves({"log_loss": curve, "words": "No gain."})
    assert "0.1000 with 10 samples" in picture.summary
    assert chart_importance.learning_curves({"log_loss": curve[:1]}) == []


def test_a_classifier_has_importance_too():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(80, 3)).astype(np.float32)
    data = agfmc.Dataset(x, (x[:, 1] > 0).astype(np.int32))
    model = agfmc.train("one-vs-one", data)
    assert agfmc.importance(agfmc.Classifier(model), data) == agfmc.importance(model, data)
    with pytest.raises(agfmc.UsageError, match="probabilities of all classes"):
        agfmc.importance(agfmc.Classifier(model, "vote"), data)
