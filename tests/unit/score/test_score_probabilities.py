"""Scores of probabilities by hand and by plain loops; weighted ones as of repeated samples."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.core.answers import Results
from agfmc.core.errors import DataError, UsageError
from agfmc.score.evaluation import ScoreRequest, evaluate
from agfmc.score.probabilities import (
    all_samples,
    brier,
    brier_all,
    brier_winning,
    calibration,
    class_weights,
    curves,
    expected_calibration_error,
    inverse_sum,
    validate,
)
from agfmc.core.probabilities import confidence, log_loss, probability
from agfmc.score.rows import FURTHER

P = np.array(
    [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.05, 0.15, 0.8]]
)
Y = np.array([0, 1, 2, 0, 2])


def test_brier():
    assert abs(brier(P, Y) - 1.785 / 5) < 1e-15
    assert abs(brier_all(P, Y) - 0.3449637662) < 1e-10
    correct = P.argmax(axis=1) == Y
    assert abs(brier_winning(P.max(axis=1), correct) - math.sqrt(0.78 / 5)) < 1e-15
    # The probabilities given are left as they were.
    assert P[0, 0] == 0.7


def test_scores_of_nothing():
    none = np.zeros((0, 3))
    assert math.isnan(brier(none, np.zeros(0, dtype=int)))
    assert math.isnan(brier_all(none, np.zeros(0, dtype=int)))
    assert math.isnan(brier_winning(none[:, 0], none[:, 0]))
    assert math.isnan(log_loss(none, np.zeros(0, dtype=int)))


def test_confidence():
    assert confidence(1 / 7, 7) == pytest.approx(0, abs=1e-15) and confidence(1, 7) == 1
    assert confidence(0.55, 4) == pytest.approx(0.4)
    p = np.linspace(0, 1, 11)
    np.testing.assert_allclose(probability(confidence(p, 5), 5), p, atol=1e-15)


def test_log_loss():
    assert log_loss(P, Y) == pytest.approx(-np.mean(np.log([0.7, 0.8, 0.4, 0.2, 0.8])))
    assert 36 < log_loss(np.array([[0.0, 1.0]]), [0]) < 37


def test_calibration_table():
    p = np.array([0.05, 0.15, 0.95, 1.0, 0.9, 0.5])
    happened = np.array([0, 1, 1, 1, 0, 1])
    table = calibration(p, happened, q=10)
    assert [row["count"] for row in table] == [1, 1, 0, 0, 0, 1, 0, 0, 0, 3]
    last = table[9]
    assert last["forecast"] == pytest.approx(0.95) and last["observed"] == pytest.approx(2 / 3)
    assert last["error"] == pytest.approx(math.sqrt(0.95 * 0.05 + 0.9 * 0.1) / 3)
    empty = table[2]
    assert (empty["forecast"], empty["observed"], empty["error"]) == (None, None, None)
    assert expected_calibration_error(table) == pytest.approx(
        (0.05 + 0.85 + 0.5 + 3 * abs(2 / 3 - 0.95)) / 6
    )


def test_bins_cover_everything():
    table = calibration([0.2, 0.5, 0.75, 1.0], [0, 0, 1, 1], q=3, lower=0.25)
    assert [row["count"] for row in table] == [1, 1, 2]
    assert table[0]["lower"] == 0.25 and table[-1]["upper"] == 1
    assert math.isnan(expected_calibration_error(calibration([], [], q=3)))
    with pytest.raises(UsageError):
        calibration([0.5], [1], q=0)


def test_right_forecasts_are_within_their_errors():
    rng = np.random.default_rng(1)
    p = rng.random(20000)
    table = calibration(p, rng.random(20000) < p)
    assert all(abs(row["observed"] - row["forecast"]) < 4 * row["error"] for row in table)
    assert expected_calibration_error(table) < 0.02
    assert expected_calibration_error(calibration(p, rng.random(20000) < p**2)) > 0.1


# Validation


def test_sums_by_hand():
    lines = curves(np.array([0.9, 0.2, 0.6, 0.4]), np.array([1, 0, 0, 1]), 2)
    assert lines.p.tolist() == [0.2, 0.4, 0.6, 0.9] and lines.t.tolist() == [0, 1, 0, 1]
    assert lines.mid == 1 and lines.c == pytest.approx([-1, 0, 1, 1, 2])
    assert lines.s == pytest.approx([-0.8, 0, 0.4, 1, 1.9])
    assert inverse_sum(lines) == pytest.approx([-1.25, 0, 2.5, 2.5, 2.5 + 1 / 0.9])
    correlation, slope, error = validate(lines, 4)
    assert slope == pytest.approx(6 / 7)
    assert correlation == pytest.approx(4.5 / math.sqrt(5.2 * 4.16))
    assert error == pytest.approx(math.sqrt((5.41 - 36 / 7) / 6))
    # two classes make eight samples of two points each: n cancels
    assert validate(lines, 2)[2] == pytest.approx(error)


def reference(p, t, k, n):
    """The same by loops over pairs in order."""
    pairs = sorted(zip(p, t))
    size = len(pairs)
    mid = 0
    for i, (value, _) in enumerate(pairs):
        if value <= 1 / k:
            mid = i
    s, c, w = ([0.0] * (size + 1) for _ in range(3))
    for i in range(mid, size):
        value, true = pairs[i]
        s[i + 1], c[i + 1] = s[i] + value, c[i] + true
        w[i + 1] = w[i] + ((1 / value if value else math.inf) if true else 0)
    for i in range(mid - 1, -1, -1):
        value, true = pairs[i]
        s[i], c[i] = s[i + 1] + value - 1, c[i + 1] + true - 1
        w[i] = w[i + 1] - (0 if true else 1 / (1 - value))
    cc, cs = sum(x * x for x in c), sum(x * y for x, y in zip(c, s))
    m = cs / cc if cc else math.nan
    mean_c, mean_s = sum(c) / (size + 1), sum(s) / (size + 1)
    both = sum((x - mean_c) * (y - mean_s) for x, y in zip(c, s))
    spread = sum((x - mean_c) ** 2 for x in c) * sum((y - mean_s) ** 2 for y in s)
    rmse = math.sqrt(sum((y - m * x) ** 2 for x, y in zip(c, s)) / n)
    norm = math.sqrt(sum((i - mid) ** 2 for i in range(size)) / n)
    return (
        mid,
        c,
        s,
        w,
        (both / math.sqrt(spread) if spread else math.nan, m, rmse / norm if norm else math.nan),
    )


FORECASTS = st.lists(
    st.tuples(st.sampled_from([0, 0.125, 0.25, 0.5, 0.75, 1]), st.integers(0, 1)),
    min_size=1,
    max_size=30,
)


@given(FORECASTS, st.integers(2, 6))
def test_as_the_loops(pairs, k):
    p, t = (np.array(column, dtype=float) for column in zip(*pairs))
    mid, c, s, w, scores = reference(p, t, k, 7)
    lines = curves(p, t, k)
    assert lines.mid == mid
    assert lines.c.tolist() == c and lines.s.tolist() == s  # eighths are exact
    assert inverse_sum(lines) == pytest.approx(w)
    assert tuple(validate(lines, 7)) == pytest.approx(scores, nan_ok=True)


def test_random_forecasts_as_the_loops():
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.ones(4), 50)
    y = rng.integers(0, 4, 50)
    forecast, happened = all_samples(p, y)
    assert len(forecast) == 200 and happened.sum() == 50
    assert happened.reshape(50, 4).argmax(axis=1).tolist() == y.tolist()
    mid, c, s, w, scores = reference(forecast, happened, 4, 50)
    lines = curves(forecast, happened, 4)
    assert 0 < mid == lines.mid
    assert lines.s == pytest.approx(s) and inverse_sum(lines) == pytest.approx(w)
    assert tuple(validate(lines, 50)) == pytest.approx(scores)


def test_right_forecasts_have_slope_and_correlation_one():
    rng = np.random.default_rng(6)
    p = rng.random(50000)
    lines = curves(p, rng.random(50000) < p, 2)
    correlation, slope, _ = validate(lines, 50000)
    assert slope == pytest.approx(1, abs=0.01) and correlation > 0.9999
    too_sure = validate(curves(np.clip(2 * p - 0.5, 0, 1), rng.random(50000) < p, 2), 50000)
    assert too_sure[1] > 1.1


@pytest.mark.usefixtures("no_warnings")
def test_infinite_and_undefined():
    lines = curves(np.array([0, 0.9]), np.array([1, 1]), 2)
    assert inverse_sum(lines).tolist() == [0, math.inf, math.inf]
    assert inverse_sum(curves(np.array([-0.0]), np.array([1]), 2)).tolist() == [0, math.inf]
    assert inverse_sum(curves(np.array([0, 1]), np.array([0, 0]), 2)).tolist() == [0, 0, 0]
    # no forecast came true: c is 0 throughout
    assert all(map(math.isnan, validate(curves(np.array([0.8, 0.9]), np.zeros(2), 2), 2)))


# Weights


def results(seed, k, n, weights=None, repeated=None):
    """`Results` of k classes with odd labels, some points rejected."""
    generator = np.random.default_rng(seed)
    labels = 2 * np.arange(k) + 1
    truth = labels[generator.integers(k, size=n)]
    p = generator.dirichlet(np.ones(k), n)
    result = np.where(generator.random(n) < 0.1, -1, labels[p.argmax(axis=1)])
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
    asked = ScoreRequest(top_accuracy=2, ordered=True, by_class=True)
    some = evaluate(results(seed, k, n, weights.astype(float)), 4, asked)
    many = evaluate(results(seed, k, n, repeated=weights), 4, asked)
    assert some["points"] == n and many["points"] == weights.sum()
    for key in (
        "accuracy",
        "uncertainty_coefficient",
        "uncertainty_coefficient_reverse",
        "uncertainty_coefficient_symmetric",
        "brier",
        "brier_all",
        "brier_winning",
        "log_loss",
        "expected_calibration_error",
        "coverage",
        *FURTHER,
        "aurc",
        "e_aurc",
        "top_accuracy",
        "mean_class_error",
        "within_one_class",
        "ranked_probability_score",
        "classwise_calibration_error",
    ):
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
        for key in (
            "accuracy",
            "uncertainty_coefficient",
            "brier",
            "brier_all",
            "brier_winning",
            "log_loss",
            "expected_calibration_error",
            "rejected",
        ):
            assert same[key] == pytest.approx(plain[key], rel=1e-12)
        # the standard error knows that there are 50 points, whatever they weigh
        for one, other in zip(same["calibration"], plain["calibration"]):
            assert (one["error"] or 0) == pytest.approx(other["error"] or 0, rel=1e-12)


def test_standard_error_of_a_weighted_share():
    generator = np.random.default_rng(0)
    p, w = generator.uniform(0.55, 0.85, 30), generator.uniform(0.1, 5, 30)
    row = calibration(p, p > 0.6, 1, weights=w)[0]
    shares = [np.average(generator.random(30) < p, weights=w) for _ in range(20_000)]
    assert row["error"] == pytest.approx(np.std(shares), rel=0.03)


def test_class_weights():
    y = np.array([0, 0, 0, 2])
    w = class_weights(y, np.array([0.5, 0, 0.5]), [4, 5, 6])
    np.testing.assert_allclose(w, [2 / 3] * 3 + [2])
    with pytest.raises(DataError, match="no sample is of class 5, whose prior is 0.1"):
        class_weights(y, np.array([0.5, 0.1, 0.4]), [4, 5, 6])
