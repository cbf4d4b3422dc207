"""scikit-learn's own checks of an estimator, each as a test."""

import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.utils.estimator_checks import parametrize_with_checks

from agfmc.estimators import MultiClassFromBinary


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([
    MultiClassFromBinary(), MultiClassFromBinary("tree", normalise=True),
    MultiClassFromBinary("one-vs-rest", decoder="vote", options="-t 0", C=10)])
def test_of_scikit_learn(estimator, check):
    check(estimator)
