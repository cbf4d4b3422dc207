"""The covariance matrix: by hand, against numpy's own, in any blocks."""

import warnings

import numpy as np
import pytest

from agfmc.errors import DataError
from agfmc.prepare import normalise
from agfmc.prepare.covariance import covariance


def test_by_hand():
    got = covariance(np.float32([[1, 10], [2, 10], [3, 40]]))
    assert got.tolist() == [[1, 15], [15, 300]] and got.dtype == np.float64


@pytest.mark.parametrize("block", [1, 10, 1 << 20])
def test_against_numpy(monkeypatch, block):
    monkeypatch.setattr(normalise, "_BLOCK", block)
    x = np.random.default_rng(1).normal(size=(70, 4)) @ np.diag([1, 1e3, 1e-3, 1]) + 1e3
    before = x.copy()
    assert np.allclose(covariance(x), np.cov(x, rowvar=False), rtol=1e-9)
    assert np.array_equal(x, before)


@pytest.mark.parametrize("x, message", [
    (np.ones((1, 2)), "two points"), (np.array([[1e200], [-1e200]]), "too large")])
def test_points_that_have_none(x, message):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match=message):
            covariance(x)
