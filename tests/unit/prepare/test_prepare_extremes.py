"""Thresholds and normalisations where rounding decides."""

import warnings

import numpy as np
import pytest

from agfmc.errors import DataError
from agfmc.prepare.normalise import fit_normalisation
from agfmc.prepare.relabel import bin_edges, classes_of


@pytest.mark.parametrize("q", [3, 5, 7, 10, 20, 49, 100])
@pytest.mark.parametrize("low, high", [(0, 1), (-1, 1), (0, 10), (-5, 0)])
def test_thresholds_are_the_numbers_that_people_write(q, low, high):
    wanted = [(low * (q - i) + high * i) / q for i in range(1, q)]  # whole numbers, one rounding
    edges = bin_edges([], q, low, high)
    assert edges.tolist() == wanted
    # a value on a threshold belongs to the class above it
    assert classes_of(wanted, edges).tolist() == list(range(1, q))


def test_thresholds_of_huge_numbers():
    edges = bin_edges([], 4, -1e308, 1e308)
    assert edges.tolist() == pytest.approx([-5e307, 0, 5e307])
    edges = bin_edges([], 4, 1e307, 1.6e308)
    assert edges.tolist() == pytest.approx([4.75e307, 8.5e307, 1.225e308])


@pytest.mark.parametrize("nsv", [None, 1])
def test_a_feature_that_the_stored_factor_would_wipe_out_is_refused(nsv):
    x = np.array([[1.0, -1e46], [2, 1e46], [4, 1e46], [5, -1e46]])  # its mean is 0
    with pytest.raises(DataError, match="the values of feature 1 .* are too large"):
        fit_normalisation(x, nsv=nsv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = fit_normalisation(x * [1, 1e-8], nsv=nsv)  # float32 holds its factor
    scaled = told.apply(x * [1, 1e-8])
    np.testing.assert_allclose(scaled.std(axis=0, ddof=1)[-1], 1, atol=.5 if nsv else 1e-6)
