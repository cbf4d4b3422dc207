"""Tests of differences against the formulas and against scipy's own tests."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agfmc.score.significance import mcnemar, resampled_t


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
    assert math.isnan(resampled_t([0.1], 0.5).p_value)
    assert math.isnan(resampled_t([], 0.5).mean)
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
    assert plain > 3 * 20
    assert corrected < 2 * 20


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_mcnemar_is_the_binomial_test(pairs):
    from scipy.stats import binomtest

    first, second = np.array([a for a, _ in pairs], bool), np.array([b for _, b in pairs], bool)
    test = mcnemar(first, second)
    b, c = int((first & ~second).sum()), int((second & ~first).sum())
    assert (test.first, test.second) == (b, c)
    assert tuple(mcnemar(second, first)) == (c, b, pytest.approx(test.p_value))
    assert test.p_value == (1.0 if b + c == 0
                            else pytest.approx(binomtest(b, b + c).pvalue, abs=1e-12))
