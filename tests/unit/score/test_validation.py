"""Sums of forecasts and of what came true: by hand, and beside plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agfmc.score.validation import all_samples, curves, inverse_sum, validate


def test_by_hand():
    lines = curves(np.array([.9, .2, .6, .4]), np.array([1, 0, 0, 1]), 2)
    assert lines.p.tolist() == [.2, .4, .6, .9] and lines.t.tolist() == [0, 1, 0, 1]
    assert lines.mid == 1
    assert lines.c == pytest.approx([-1, 0, 1, 1, 2])
    assert lines.s == pytest.approx([-.8, 0, .4, 1, 1.9])
    assert inverse_sum(lines) == pytest.approx([-1.25, 0, 2.5, 2.5, 2.5 + 1 / .9])
    found = validate(lines, 4)
    assert found.slope == pytest.approx(6 / 7)
    assert found.correlation == pytest.approx(4.5 / math.sqrt(5.2 * 4.16))
    assert found.error == pytest.approx(math.sqrt((5.41 - 36 / 7) / 6))
    # two classes make eight samples of two points each: n cancels
    assert validate(lines, 2).error == pytest.approx(found.error)


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
    spread = sum((x - mean_c)**2 for x in c) * sum((y - mean_s)**2 for y in s)
    rmse = math.sqrt(sum((y - m * x)**2 for x, y in zip(c, s)) / n)
    norm = math.sqrt(sum((i - mid)**2 for i in range(size)) / n)
    return mid, c, s, w, (both / math.sqrt(spread) if spread else math.nan, m,
                          rmse / norm if norm else math.nan)


FORECASTS = st.lists(st.tuples(st.sampled_from([0, .125, .25, .5, .75, 1]), st.integers(0, 1)),
                     min_size=1, max_size=30)


@settings(max_examples=200, deadline=None)
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
    told, happened = all_samples(p, y)
    assert len(told) == 200 and happened.sum() == 50
    assert happened.reshape(50, 4).argmax(axis=1).tolist() == y.tolist()
    mid, c, s, w, scores = reference(told, happened, 4, 50)
    lines = curves(told, happened, 4)
    assert 0 < mid == lines.mid
    assert lines.s == pytest.approx(s) and inverse_sum(lines) == pytest.approx(w)
    assert tuple(validate(lines, 50)) == pytest.approx(scores)


def test_right_forecasts_have_slope_and_correlation_one():
    rng = np.random.default_rng(6)
    p = rng.random(50000)
    lines = curves(p, rng.random(50000) < p, 2)
    found = validate(lines, 50000)
    assert found.slope == pytest.approx(1, abs=.01) and found.correlation > .9999
    too_sure = validate(curves(np.clip(2 * p - .5, 0, 1), rng.random(50000) < p, 2), 50000)
    assert too_sure.slope > 1.1


@pytest.mark.filterwarnings("error")
def test_infinite_and_undefined():
    lines = curves(np.array([0, .9]), np.array([1, 1]), 2)
    assert inverse_sum(lines).tolist() == [0, math.inf, math.inf]
    assert inverse_sum(curves(np.array([-0.0]), np.array([1]), 2)).tolist() == [0, math.inf]
    assert inverse_sum(curves(np.array([0, 1]), np.array([0, 0]), 2)).tolist() == [0, 0, 0]
    # no forecast came true: c is 0 throughout
    assert all(map(math.isnan, validate(curves(np.array([.8, .9]), np.zeros(2), 2), 2)))
