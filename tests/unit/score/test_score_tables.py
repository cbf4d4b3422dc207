"""Contingency tables and their scores; tests of differences against scipy's own."""

import math

from hypothesis import given, strategies as st
import numpy as np
import pytest

from agfmc.core.errors import DataError
from agfmc.score.contingency import accuracy, contingency, coverage, uncertainty_coefficient
from agfmc.score.significance import mcnemar, paired_mean, paired_shares, resampled_t

TABLE = np.array([[50, 3, 2], [4, 30, 6], [1, 5, 49]])


def test_table_of_three():
    forward, reverse, symmetric = uncertainty_coefficient(TABLE)
    assert abs(forward - 0.5606035815) < 1e-10 and abs(reverse - 0.5631000768) < 1e-10
    assert abs(symmetric - 0.5618490560) < 1e-10 and accuracy(TABLE) == 0.86


def test_small_example():
    made = contingency([0, 1, 2, 0, 2], [0, 1, 2, 1, 2])
    assert made.tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 2]] and accuracy(made) == 0.8
    assert abs(uncertainty_coefficient(made)[0] - 0.7371754938) < 1e-10


def test_gaps_and_order_of_labels():
    made = contingency([7, 3, 7, 12], [7, 12, 3, 12], labels=[12, 3, 7])
    assert made.tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 1]]
    assert contingency([7, 3, 7, 12], [7, 12, 3, 12]).tolist() == [[0, 0, 1], [1, 1, 0], [0, 0, 1]]


def test_rejected_points_are_no_answers():
    made = contingency([0, 0, 1, 1], [0, -1, 1, -1])
    assert made.tolist() == [[1, 0, 1], [0, 1, 1]]
    assert accuracy(made) == 1 and coverage(made) == 0.5
    assert math.isnan(accuracy(contingency([0, 1], [-1, -1])))


@pytest.mark.parametrize(
    "table, nan",
    [
        ([[3, 2], [0, 0]], (True, False, False)),
        ([[3, 0], [2, 0]], (False, True, False)),
        ([[5, 0], [0, 0]], (True, True, True)),
        ([[0, 0], [0, 0]], (True, True, True)),
    ],
)
def test_nan_only_for_zero_over_zero(table, nan):
    scores = uncertainty_coefficient(np.array(table))
    assert tuple(math.isnan(score) for score in scores) == nan
    assert all(score == 0 for score in scores if not math.isnan(score))


def test_accuracy_of_nothing():
    assert math.isnan(accuracy(np.zeros((2, 2), dtype=int)))


@pytest.mark.parametrize(
    "truth, result, labels, words",
    [
        ([0, 1], [0], None, "2 true classes, but 1 results"),
        ([0, 5], [0, 0], [0, 1], "true class 5"),
        ([0, 1], [0, 3], [0, 1], "result 3"),
        ([0, 1], [0, 1], [0, 1, 1], "twice"),
        ([0], [0], [], "true class 0"),
    ],
)
def test_bad_labels(truth, result, labels, words):
    with pytest.raises(DataError, match=words):
        contingency(truth, result, labels)


def test_resampled_t_by_hand():
    # mean .02, deviation .02: t = .02 / (.02 sqrt(1/3 + 1/4)) = sqrt(12/7)
    test = resampled_t([0.0, 0.02, 0.04], 0.25)
    assert test.mean == pytest.approx(0.02, abs=1e-15)
    assert test.deviation == pytest.approx(0.02, abs=1e-15)
    assert test.t == pytest.approx(math.sqrt(12 / 7), abs=1e-12)
    # two degrees of freedom: P(|T| > t) = 1 - t / sqrt(2 + t^2)
    t = math.sqrt(12 / 7)
    assert test.p_value == pytest.approx(1 - t / math.sqrt(2 + t * t), abs=1e-12)


def test_without_overlap_it_is_the_paired_test():
    from scipy.stats import ttest_1samp

    values = np.random.default_rng(1).normal(0.01, 0.03, 10)
    plain = ttest_1samp(values, 0.0)
    test = resampled_t(values, 0.0)
    assert test.t == pytest.approx(plain.statistic, rel=1e-12)
    assert test.p_value == pytest.approx(plain.pvalue, rel=1e-10)
    assert resampled_t(values, 3 / 7).p_value > test.p_value


def test_too_few_and_equal_differences():
    assert math.isnan(resampled_t([0.1], 0.5).p_value) and math.isnan(resampled_t([], 0.5).mean)
    assert resampled_t([0.0, 0.0], 0.5).p_value == 1.0
    assert resampled_t([0.25, 0.25], 0.5).p_value == 0.0


def test_the_correction_keeps_its_promise():
    """Splits that share their points: the plain test cries wolf, the corrected one does not."""
    rng = np.random.default_rng(7)
    plain = corrected = 0
    for _ in range(400):
        # per-point differences of two equally good classifiers, ten overlapping test parts
        points = rng.normal(size=200)
        values = [points[rng.permutation(200)[:60]].mean() for _ in range(10)]
        plain += resampled_t(values, 0.0).p_value < 0.05
        corrected += resampled_t(values, 60 / 140).p_value < 0.05
    assert plain > 3 * 20 and corrected < 2 * 20


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_mcnemar_is_the_binomial_test(pairs):
    from scipy.stats import binomtest

    first, second = np.array([a for a, _ in pairs], bool), np.array([b for _, b in pairs], bool)
    test = mcnemar(first, second)
    b, c = int((first & ~second).sum()), int((second & ~first).sum())
    assert mcnemar(second, first) == pytest.approx(test)
    assert test == (1.0 if b + c == 0 else pytest.approx(binomtest(b, b + c).pvalue, abs=1e-12))


def test_intervals_of_differences_by_hand():
    """t(0.975) is 4.302653 with 2 degrees of freedom, 3.182446 with 3; z is 1.959964."""
    low, high = resampled_t([0.0, 0.02, 0.04], 0.25).interval
    half = 4.302653 * 0.02 * math.sqrt(1 / 3 + 0.25)
    assert (low, high) == pytest.approx((0.02 - half, 0.02 + half), rel=1e-6)
    assert resampled_t([0.25, 0.25], 0.5).interval == (0.25, 0.25)
    assert all(map(math.isnan, resampled_t([0.1], 0.5).interval))

    first = np.repeat([True, True, False, False], [80, 10, 4, 4])
    second = np.repeat([True, False, True, False], [80, 10, 4, 4])
    half = 1.959964 * math.sqrt(10.5 + 4.5 - 0.36) / 100
    exact = paired_shares(first, second)
    assert exact == pytest.approx((0.06 - half, 0.06 + half), rel=1e-6)
    assert paired_shares(second, first) == pytest.approx((-exact.high, -exact.low))
    assert paired_shares(first, second, np.full(98, 0.3)) == pytest.approx(exact)
    none, both = np.zeros(2, dtype=bool), np.ones(2, dtype=bool)
    assert paired_shares(none, both).low == -1.0 and paired_shares(both, none).high == 1.0
    light = np.where(first == second, 1.0, 1e-6)  # points apart count for nothing
    low, high = paired_shares(first, second, light)
    assert -0.03 < low < 0 < high < 0.03

    half = 3.182446 * math.sqrt(5 / 3 / 4)
    assert paired_mean(np.arange(1.0, 5)) == pytest.approx((2.5 - half, 2.5 + half), rel=1e-6)
    assert paired_mean(np.arange(1.0, 5), np.full(4, 7.0)) == pytest.approx(
        (2.5 - half, 2.5 + half), rel=1e-6
    )
    assert all(map(math.isnan, paired_mean(np.ones(1))))


def test_intervals_of_paired_shares_cover_as_often_as_they_say():
    """Two classifiers, of 95 and 92 of 100 points right, that share most errors."""
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(1000):
        u = rng.random(150)
        low, high = paired_shares(u < 0.95, (u < 0.9) | (u > 0.98))
        covered += low <= 0.03 <= high
    assert 930 <= covered <= 985


def test_every_score_of_a_page_says_what_it_is():
    from agfmc.score.rows import PAGE

    for name, row in PAGE.items():
        assert row.meaning or name.startswith("uncertainty_coefficient_")
        assert row.low < row.high and len(row.title) < 36
