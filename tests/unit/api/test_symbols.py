"""`symbols`: classifiers of few classes, in rows of groups, as one of many classes."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.linear_model import Perceptron  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

from agfmc.control.parse import parse  # noqa: E402
from agfmc.estimators import MultiClassFromBinary  # noqa: E402

FITS: list = []


class OfFourClasses(LinearDiscriminantAnalysis):
    """A classifier that takes four classes at most."""

    def fit(self, X, y):
        if len(np.unique(y)) > 4:
            raise ValueError("at most 4 classes")
        FITS.append(len(y))
        return super().fit(X, y)


@pytest.fixture(scope="module")
def digits():
    x, y = load_digits(return_X_y=True)
    words = np.array([f"digit {label}" for label in y])
    x = x[:, x.std(axis=0) > 1]
    return x[::4], words[::4], x[1::6], words[1::6]


@pytest.mark.parametrize("control, rows", [("random", 5), ("tree", 5), ("one-vs-one", 10)])
def test_a_classifier_of_four_classes_tells_ten(control, rows, digits):
    x, y, new, truth = digits
    FITS.clear()
    model = MultiClassFromBinary(control, estimator=OfFourClasses(), symbols=4).fit(x, y)
    assert len(FITS) == 6 * rows
    assert model.decoder_ == "likelihood"
    assert model.classes_.tolist() == sorted(set(y))
    p = model.predict_proba(new)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(new)).all()
    assert model.score(new, truth) > 0.85
    sets = model.predict_set(new, coverage=0.9)
    assert 0.85 < sets[np.arange(300), np.searchsorted(model.classes_, truth)].mean() < 0.97
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(new), p)
    threads = clone(model).set_params(n_jobs=3).fit(x, y)
    np.testing.assert_array_equal(threads.predict_proba(new), p)


def test_all_groups_of_a_row_are_asked_at_once(digits):
    x, y, new, _ = digits
    asked = []

    class Counting(LinearDiscriminantAnalysis):
        def predict_proba(self, X):
            asked.append(len(X))
            return super().predict_proba(X)

    model = MultiClassFromBinary("tree", estimator=Counting(), symbols=4, calibrated=False)
    model.fit(x, y)
    asked.clear()
    model.predict_proba(new)
    assert asked == [300] * 5


def test_no_more_classes_than_symbols_are_the_classifier_itself(digits):
    x, y, new, _ = digits
    own = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()).fit(x, y)
    model = MultiClassFromBinary(estimator=clone(own), symbols=10, calibrated=False).fit(x, y)
    np.testing.assert_allclose(model.predict_proba(new), own.predict_proba(new), atol=1e-6)


def test_weights_are_copies(digits):
    x, y, new, _ = digits
    w = np.arange(len(y)) % 3
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    model = MultiClassFromBinary("random", estimator=tree, symbols=3, calibrated=False)
    p = clone(model).fit(x, y, sample_weight=w).predict_proba(new)
    copies = np.repeat(np.arange(len(y)), w)
    expected = model.fit(x[copies], y[copies]).predict_proba(new)
    np.testing.assert_allclose(p, expected, atol=1e-6)
    calibrated = MultiClassFromBinary(
        "random", estimator=GaussianNB(), symbols=3, priors="training"
    )
    assert calibrated.fit(x, y, sample_weight=w + 1.0).predict_proba(new).shape == (300, 10)
    with pytest.raises(ValueError, match="takes no weights"):
        MultiClassFromBinary(estimator=KNeighborsClassifier(), symbols=3).fit(x, y, sample_weight=w)


@pytest.mark.parametrize(
    "parameters, text",
    [
        ({"symbols": 3}, "symbols is for an `estimator`"),
        ({"symbols": 1, "estimator": GaussianNB()}, "`symbols`: expected a whole number from 2"),
        ({"symbols": 3, "estimator": Perceptron()}, "`symbols` needs one with predict_proba"),
        (
            {"symbols": 3, "estimator": GaussianNB(), "control": "adjacent"},
            "expected one-vs-one, tree, random, found 'adjacent'",
        ),
        (
            {"symbols": 3, "estimator": GaussianNB(), "control": parse('"" {0 1}')},
            "expected one-vs-one, tree, random",
        ),
    ],
)
def test_what_cannot_be(parameters, text, digits):
    with pytest.raises(ValueError, match=text):
        MultiClassFromBinary(**parameters).fit(digits[0], digits[1])
