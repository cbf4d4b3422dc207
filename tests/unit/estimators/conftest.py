"""Fixtures of the estimator's tests."""

import pytest


@pytest.fixture
def perform():
    """Perform one of scikit-learn's checks, of which those of copies cannot hold everywhere."""

    def perform(check, estimator):
        try:
            check(estimator)
        except (AssertionError, ValueError):  # it has a class of one sample, too few to hold out
            if "sample_weight_equivalence" not in check.func.__name__:
                raise
            pytest.xfail("a sample is held out with all of its weight, its copies apart")

    return perform
