"""Scores of ordered classes, of sets of classes, and of calibration by class."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.core.answers import Results
from agfmc.score.evaluation import ScoreRequest, evaluate
from agfmc.score.classes import class_errors, ranked_probability_scores
from agfmc.score.probabilities import brier, calibration, expected_calibration_error
from agfmc.score.sets import set_scores

P = np.array(
    [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.05, 0.15, 0.8]]
)
Y = np.array([0, 1, 2, 0, 2])


def probabilities(seed, n, k):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(k), n), rng.integers(0, k, n)


def test_by_hand():
    # F - [y <= j] at the two thresholds: -.3 -.1; .1 -.1; .3 .6; -.8 -.3; .05 .2
    wanted = [0.1, 0.02, 0.45, 0.73, 0.0425]
    assert ranked_probability_scores(P, Y) == pytest.approx(wanted)
    assert class_errors(Y, np.array([0, 2, 0, 1, 2])).tolist() == [0, 1, 2, 1, 0]
    results = Results(
        Y * 3 + 1, np.array([0, 2, 0, 1, 2]) * 3 + 1, np.array([1, 4, 7]), 3, P.max(axis=1), P
    )
    scores = evaluate(results, 10, ScoreRequest(ordered=True))
    assert scores["mean_class_error"] == pytest.approx(0.8)
    assert scores["within_one_class"] == pytest.approx(0.8)
    assert scores["ranked_probability_score"] == pytest.approx(np.mean(wanted))


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_two_classes_give_half_the_brier_score(seed, n):
    p, y = probabilities(seed, n, 2)
    assert 2 * np.mean(ranked_probability_scores(p, y)) == pytest.approx(brier(p, y), abs=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(2, 9))
def test_the_order_of_the_classes_may_be_turned_around(seed, k):
    p, y = probabilities(seed, 10, k)
    scores = ranked_probability_scores(p, y)
    assert ranked_probability_scores(p[:, ::-1], k - 1 - y) == pytest.approx(scores, abs=1e-12)
    assert np.all(scores >= 0) and np.all(scores <= k - 1)
    sure = np.eye(k)[y]
    assert ranked_probability_scores(sure, y).tolist() == [0] * 10


def test_sets():
    size, holds = np.array([1, 2, 0, 3, 1]), np.array([True, True, False, True, False])
    scores = set_scores(size, holds, Y, np.array([4, 5, 6]))
    assert scores["coverage"] == 0.6 and scores["mean_size"] == 1.4 and scores["empty"] == 1
    assert scores["low"] == pytest.approx(0.1466328, abs=1e-6)  # 3 of 5
    assert scores["high"] == pytest.approx(0.9472550, abs=1e-6)
    assert scores["sizes"] == [[0, 1], [1, 2], [2, 1], [3, 1]]
    rows = scores["by_class"]
    assert [(row["label"], row["points"], row["coverage"], row["mean_size"]) for row in rows] == [
        (4, 2, 1.0, 2.0),
        (5, 1, 1.0, 2.0),
        (6, 2, 0.0, 0.5),
    ]
    w = np.array([1.0, 1, 2, 1, 3])
    scores = set_scores(size, holds, Y, np.array([4, 5, 6, 9]), w)
    assert scores["coverage"] == pytest.approx(3 / 8) and scores["by_class"][3]["coverage"] is None
    assert scores["mean_size"] == pytest.approx(9 / 8)


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(1, 40))
def test_scores_of_any_results(seed, k, n):
    p, y = probabilities(seed, n, k)
    answer = np.where(p.max(axis=1) > 0.4, p.argmax(axis=1), -1)
    results = Results(y, answer, np.arange(k), k, p.max(axis=1), p, before=p)
    scores = evaluate(results, 10, ScoreRequest(top_accuracy=k, by_class=True, intervals=2))
    assert scores["top_accuracy"] == 1
    assert scores["coverage"] == pytest.approx(1 - scores["rejected"] / n)
    assert scores["before"]["difference"]["brier"]["mean"] == 0
    assert scores["classwise_calibration_error"] == pytest.approx(
        np.mean([row["expected_calibration_error"] for row in scores["calibration_by_class"]])
    )
    for j, row in enumerate(scores["calibration_by_class"]):
        assert row["expected_calibration_error"] == expected_calibration_error(
            calibration(p[:, j], y == j, 10)
        )
    told = answer >= 0
    if told.any():
        assert scores["accuracy"] == pytest.approx(np.mean(answer[told] == y[told]))
        low, high = scores["intervals"]["accuracy"]
        assert low <= scores["accuracy"] <= high
        assert scores["risk_coverage"][-1]["error"] == pytest.approx(1 - scores["accuracy"])


def test_a_probability_of_zero_is_counted():
    p = np.array([[0.0, 1], [1, 0], [0.5, 0.5], [1, 0]])
    results = Results(np.array([0, 0, 1, 1]), p.argmax(axis=1), np.arange(2), 2, p.max(axis=1), p)
    assert evaluate(results)["zero_probability"] == 2
