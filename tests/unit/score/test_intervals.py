"""Confidence intervals: their formulas, and the resamples of the bootstrap."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from agfmc.core.probabilities import standard_error
from agfmc.score.intervals import (clopper_pearson, effective_number, resampled, resampled_summary,
                                    wilson)


@given(st.integers(1, 400), st.floats(0, 1))
def test_intervals_of_shares(n, part):
    hits = round(part * n)
    test = stats.binomtest(hits, n)
    for mine, method in ((wilson(hits / n, n), "wilson"), (clopper_pearson(hits, n), "exact")):
        assert mine == pytest.approx(tuple(test.proportion_ci(method=method)), abs=1e-9)
    assert wilson(hits / n, n).low <= hits / n <= wilson(hits / n, n).high


def test_nothing_has_no_interval():
    assert all(map(math.isnan, (*wilson(math.nan, 0), *clopper_pearson(0, 0),
                                standard_error(np.ones(1)))))


def test_ends():
    assert wilson(1.0, 7).high == 1 and wilson(0.0, 7).low == 0
    assert clopper_pearson(7, 7).high == 1 and clopper_pearson(0, 7).low == 0


def test_effective_number():
    assert effective_number(None, 9) == 9 == pytest.approx(effective_number(np.full(9, .3), 9))
    assert effective_number(np.array([1, 1, 0, 0]), 4) == 2


def test_resamples_keep_the_points_of_each_class():
    y = np.array([2, 0, 2, 2, 0, 4, 2])
    resamples = resampled(y, 5)
    again = resampled(y, 5)
    seen = set()
    for _ in range(50):
        counts = next(resamples)
        assert np.array_equal(counts, next(again))
        assert np.bincount(y, weights=counts).tolist() == [2, 0, 4, 0, 1]
        seen.add(tuple(counts))
    assert len(seen) > 20


def test_the_spread_of_a_mean():
    rng = np.random.default_rng(0)
    values, y = rng.normal(size=400), np.zeros(400, dtype=int)
    interval = resampled_summary(
        {"mean": values.mean()}, lambda counts: {"mean": counts @ values / 400},
        resampled(y, 1), 2000)["mean"]
    half = 1.96 * standard_error(values)
    assert interval == pytest.approx((values.mean() - half, values.mean() + half), abs=.1 * half)


def test_the_spread_stands_around_the_value():
    # resampling raises what counts repeated points: the interval is moved back
    values = iter(np.linspace(3, 5, 101))
    interval = resampled_summary(
        {"a": 1.0, "b": 2.0}, lambda counts: {"a": next(values), "b": None},
        resampled(np.zeros(3, dtype=int), 1), 101)
    assert interval["a"] == pytest.approx((.05, 1.95)) and math.isnan(interval["b"].low)


@given(st.lists(st.tuples(st.floats(-9, 9), st.integers(1, 4)), min_size=2, max_size=9))
def test_standard_error(pairs):
    values, w = (np.array(column, dtype=float) for column in zip(*pairs))
    assert standard_error(values) == pytest.approx(values.std(ddof=1) / math.sqrt(len(values)))
    assert standard_error(values, 3 * w) == pytest.approx(standard_error(values, w))
