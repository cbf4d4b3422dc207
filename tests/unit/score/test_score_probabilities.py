"""Brier scores, confidence ratings, log loss, calibration."""

import math

import numpy as np
import pytest

from agfmc.errors import UsageError
from agfmc.score.brier import brier_all, brier_winning, confidence, log_loss, probability
from agfmc.score.calibration import calibration, calibration_all, expected_calibration_error

P = np.array([[.7, .2, .1], [.1, .8, .1], [.3, .3, .4], [.2, .5, .3], [.05, .15, .8]])
Y = np.array([0, 1, 2, 0, 2])


def test_brier():
    assert abs(brier_all(P, Y) - .3449637662) < 1e-10
    correct = P.argmax(axis=1) == Y
    assert abs(brier_winning(P.max(axis=1), correct) - math.sqrt(.78 / 5)) < 1e-15
    # The probabilities given are left as they were.
    assert P[0, 0] == .7


def test_scores_of_nothing():
    none = np.zeros((0, 3))
    assert math.isnan(brier_all(none, np.zeros(0, dtype=int)))
    assert math.isnan(brier_winning(none[:, 0], none[:, 0]))
    assert math.isnan(log_loss(none, np.zeros(0, dtype=int)))


def test_confidence():
    assert confidence(1 / 7, 7) == pytest.approx(0, abs=1e-15)
    assert confidence(1, 7) == 1
    assert confidence(.55, 4) == pytest.approx(.4)
    p = np.linspace(0, 1, 11)
    np.testing.assert_allclose(probability(confidence(p, 5), 5), p, atol=1e-15)


def test_log_loss():
    told = [.7, .8, .4, .2, .8]
    assert log_loss(P, Y) == pytest.approx(-np.mean(np.log(told)))
    assert 36 < log_loss(np.array([[0., 1.]]), [0]) < 37


def test_scores_against_sklearn():
    metrics = pytest.importorskip("sklearn.metrics")
    assert log_loss(P, Y) == pytest.approx(metrics.log_loss(Y, P))
    correct = P.argmax(axis=1) == Y
    assert brier_winning(P.max(axis=1), correct)**2 == pytest.approx(
        metrics.brier_score_loss(correct, P.max(axis=1)))


def test_calibration_table():
    p = np.array([.05, .15, .95, 1.0, .9, .5])
    happened = np.array([0, 1, 1, 1, 0, 1])
    table = calibration(p, happened, q=10)
    assert [row.count for row in table] == [1, 1, 0, 0, 0, 1, 0, 0, 0, 3]
    last = table[9]
    assert last.forecast == pytest.approx(.95)
    assert last.observed == pytest.approx(2 / 3)
    assert last.error == pytest.approx(math.sqrt(.95 * .05 + .9 * .1) / 3)
    empty = table[2]
    assert (empty.forecast, empty.observed, empty.error) == (None, None, None)
    assert expected_calibration_error(table) == pytest.approx(
        (.05 + .85 + .5 + 3 * abs(2 / 3 - .95)) / 6)


def test_bins_cover_everything():
    table = calibration([.2, .5, .75, 1.0], [0, 0, 1, 1], q=3, lower=.25)
    assert [row.count for row in table] == [1, 1, 2]
    assert table[0].lower == .25 and table[-1].upper == 1
    assert math.isnan(expected_calibration_error(calibration([], [], q=3)))
    with pytest.raises(UsageError):
        calibration([.5], [1], q=0)


def test_all_probabilities():
    table = calibration_all(P, Y, q=5)
    assert sum(row.count for row in table) == 15
    assert sum(row.count * row.observed for row in table if row.count) == pytest.approx(5)
    sure = table[4]
    assert (sure.count, sure.observed) == (2, 1)


def test_right_forecasts_are_within_their_errors():
    rng = np.random.default_rng(1)
    p = rng.random(20000)
    table = calibration(p, rng.random(20000) < p)
    assert all(abs(row.observed - row.forecast) < 4 * row.error for row in table)
    assert expected_calibration_error(table) < .02
    assert expected_calibration_error(calibration(p, rng.random(20000) < p**2)) > .1
