"""Weighted scores are the scores of samples repeated as often as their weights say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agfmc.errors import DataError
from agfmc.prediction.evaluation import evaluate, Results
from agfmc.score.weights import class_weights


def results(seed, k, n, weights=None, repeated=None):
    """`Results` of k classes with odd labels, some points rejected."""
    generator = np.random.default_rng(seed)
    labels = 2 * np.arange(k) + 1
    truth = labels[generator.integers(k, size=n)]
    p = generator.dirichlet(np.ones(k), n)
    result = np.where(generator.random(n) < .1, -1, labels[p.argmax(axis=1)])
    columns = [truth, result, p.max(axis=1), p]
    if repeated is not None:
        columns = [np.repeat(column, repeated, axis=0) for column in columns]
    truth, result, winner, p = columns
    return Results(truth, result, labels, k, winner, p, weights)


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(1, 30))
def test_integer_weights_repeat_points(seed, k, n):
    weights = np.random.default_rng(seed + 1).integers(0, 4, n)
    if not weights.any():
        weights[0] = 1
    some = evaluate(results(seed, k, n, weights.astype(float)), 4)
    many = evaluate(results(seed, k, n, repeated=weights), 4)
    assert some["points"] == n and many["points"] == weights.sum()
    for key in ("accuracy", "uncertainty_coefficient", "uncertainty_coefficient_reverse",
                "uncertainty_coefficient_symmetric", "brier_all", "brier_winning", "log_loss",
                "expected_calibration_error"):
        assert some[key] == pytest.approx(many[key], rel=1e-9, abs=1e-9, nan_ok=True), key
    columns = len(many["contingency"][0])
    np.testing.assert_allclose(np.array(some["contingency"])[:, :columns], many["contingency"])
    for one, other in zip(some["calibration"], many["calibration"]):
        assert one["count"] == pytest.approx(other["count"])
        for key in ("forecast", "observed"):
            assert one[key] == pytest.approx(other[key])


def test_equal_weights_change_nothing():
    plain = evaluate(results(3, 4, 50))
    for scale in (1.0, 1e-6, 1e6):
        same = evaluate(results(3, 4, 50, np.full(50, scale)))
        for key in ("accuracy", "uncertainty_coefficient", "brier_all", "brier_winning",
                    "log_loss", "expected_calibration_error", "rejected"):
            assert same[key] == pytest.approx(plain[key], rel=1e-12)
        # the standard error knows that there are 50 points, whatever they weigh
        for one, other in zip(same["calibration"], plain["calibration"]):
            assert (one["error"] or 0) == pytest.approx(other["error"] or 0, rel=1e-12)


def test_standard_error_of_a_weighted_share():
    generator = np.random.default_rng(0)
    p, w = generator.uniform(.55, .85, 30), generator.uniform(.1, 5, 30)
    from agfmc.score.calibration import calibration

    row = calibration(p, p > .6, 1, weights=w)[0]
    shares = [np.average(generator.random(30) < p, weights=w) for _ in range(20_000)]
    assert row.error == pytest.approx(np.std(shares), rel=.03)


def test_class_weights():
    y = np.array([0, 0, 0, 2])
    w = class_weights(y, np.array([.5, 0, .5]), [4, 5, 6])
    np.testing.assert_allclose(w, [2 / 3] * 3 + [2])
    with pytest.raises(DataError, match="no sample is of class 5, whose prior is 0.1"):
        class_weights(y, np.array([.5, .1, .4]), [4, 5, 6])
