"""Thresholds of confidence: Clopper-Pearson bounds and the last one that passes."""

import numpy as np
import pytest
from scipy.stats import binom

from agfmc.calibration.thresholds import (
    clopper_pearson_upper,
    error_threshold,
    GRID,
    points_needed,
)
from agfmc.core.errors import DataError


def test_bounds():
    assert clopper_pearson_upper(2, 50) == pytest.approx(0.1206141554, abs=1e-10)
    assert clopper_pearson_upper(0, 58) == pytest.approx(0.0503393383, abs=1e-10)
    found = clopper_pearson_upper(np.array([0, 3, 3]), np.array([0, 3, 10]), 0.9)
    assert found[0] == found[1] == 1
    assert binom.cdf(3, 10, found[2]) == pytest.approx(0.1)  # as few errors have that chance


@pytest.mark.parametrize(
    "max_error, confidence", [(0.05, 0.95), (0.01, 0.95), (0.1, 0.99), (0.5, 0.5)]
)
def test_points_needed(max_error, confidence):
    n = points_needed(max_error, confidence)
    assert clopper_pearson_upper(0, n, confidence) <= max_error + 1e-12
    assert clopper_pearson_upper(0, n - 1, confidence) > max_error or n == 1
    assert points_needed(0.05) == 59


def drawn(n, seed):
    generator = np.random.default_rng(seed)
    p = 1 - 0.5 * generator.random(n) ** 2
    return p, generator.random(n) < p


def one_by_one(p, right, max_error, confidence):
    found, begun, least = None, False, points_needed(max_error, confidence)
    for threshold in GRID:
        told = p >= threshold
        begun = begun or told.sum() >= max(least, min(len(p) // 5, 3 * least))
        if begun:
            errors = int(np.sum(told & ~right))
            if clopper_pearson_upper(errors, int(told.sum()), confidence) > max_error:
                break
            found = threshold, int(told.sum())
    return found


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("max_error", [0.02, 0.05, 0.1, 0.3])
def test_the_last_that_passes(seed, max_error):
    p, right = drawn(500, seed)
    expected = one_by_one(p, right, max_error, 0.95)
    if expected is None:
        with pytest.raises(DataError, match="no threshold proves"):
            error_threshold(p, right, max_error)
    else:
        assert error_threshold(p, right, max_error) == expected
    if max_error == 0.3:
        assert expected[0] == 0  # all are accepted


def test_none_passes():
    p, right = np.linspace(0.5, 1, 58), np.ones(58, dtype=bool)
    with pytest.raises(DataError, match="from 58 calibration points: at least 59 without an"):
        error_threshold(p, right, 0.05)
    assert error_threshold(np.append(p, 0.5), np.append(right, True), 0.05) == (0, 59)
    right[-1] = False
    with pytest.raises(
        DataError,
        match="of the 59 calibration points with probability 0.5 or "
        r"more, 1 are errors",
    ):
        error_threshold(np.append(p, 0.5), np.append(right, True), 0.05)
