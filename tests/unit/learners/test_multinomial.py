"""Multinomial logistic regression: check values, an independent solver, and hard data."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning

from agfmc.learners import logistic
from agfmc.learners.logistic import fit_logistic, logistic_probabilities
from agfmc.core.errors import DataError

X = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
Y = np.array([0, 1, 2, 1])


def blobs(seed=0, n=400, d=5, c=4, spread=1.0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(c, d))
    y = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    return centres[y] + spread * rng.normal(size=(n, d)), y


def negative_log_likelihood(w, x, y, ridge=0.0):
    """Value and gradient."""
    y = np.asarray(y)
    logs = log_softmax(x @ w.T, axis=1)
    miss = np.exp(logs)
    miss[np.arange(len(y)), y] -= 1.0
    value = 0.5 * np.sum(ridge * w * w) - logs[np.arange(len(y)), y].sum()
    return value, ridge * w + miss.T @ x


def objective(weights, x, y, ridge):
    """Value and gradient of what fit_logistic minimises."""
    ones = np.column_stack([x, np.ones(len(x))])
    return negative_log_likelihood(weights, ones, y, np.append(np.full(x.shape[1], ridge), 0.0))


@pytest.mark.parametrize("ridge", [0.01, 1.0, 30.0])
def test_agrees_with_another_solver(ridge):
    linear_model = pytest.importorskip("sklearn.linear_model")
    x, y = blobs()
    other = linear_model.LogisticRegression(C=1 / ridge, tol=1e-10, max_iter=5000).fit(x, y)
    weights = fit_logistic(x, y, 4, ridge)
    np.testing.assert_allclose(weights[:, :-1], other.coef_, atol=1e-4)
    np.testing.assert_allclose(
        weights[:, -1], other.intercept_ - other.intercept_.mean(), atol=1e-4
    )
    points = blobs(9)[0]
    np.testing.assert_allclose(
        logistic_probabilities(weights, points), other.predict_proba(points), atol=1e-4
    )


@pytest.mark.parametrize("c", [2, 3, 7])
@pytest.mark.parametrize("dense", [0, 2000])
def test_the_gradient_vanishes(c, dense, monkeypatch):
    monkeypatch.setattr(logistic, "_DENSE", dense)
    x, y = blobs(c, c=c)
    weights = fit_logistic(x, y, c, 0.5)
    _, gradient = objective(weights, x, y, 0.5)
    assert np.abs(gradient).max() < 1e-6
    np.testing.assert_allclose(weights.sum(axis=0), 0, atol=1e-9)


@pytest.mark.parametrize(
    "features, classes, solver",
    [
        (60, 8, "newton-cholesky"),
        (60, 9, "newton-cg"),
        (500, 2, "newton-cholesky"),
        (501, 2, "newton-cg"),
    ],
)
def test_no_large_hessian_is_made(features, classes, solver, monkeypatch):
    solvers = []

    class Recorded(sklearn.linear_model.LogisticRegression):
        def fit(self, *data):
            solvers.append(self.solver)
            planes = {2: 1}.get(classes, classes)
            self.coef_ = np.zeros((planes, features))
            self.intercept_ = np.zeros(planes)

    monkeypatch.setattr(sklearn.linear_model, "LogisticRegression", Recorded)
    x, y = blobs(n=20, d=features, c=classes)
    fit_logistic(x, y, classes)
    assert solvers == [solver]


def test_units_far_from_one_and_far_from_the_origin():
    x, y = blobs()
    x = x * 10.0 ** np.array([-4, -2, 0, 2, 4]) + np.array([0, 5, 1e4, -1e6, 1e6])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        weights = fit_logistic(x, y, 4, 1e-3)
    _, gradient = objective(weights, x - x.mean(axis=0), y, 1e-3)
    value = objective(weights, x, y, 1e-3)[0]
    assert np.isfinite(gradient).all()
    rng = np.random.default_rng(0)
    for _ in range(20):
        move = rng.normal(size=weights.shape) * 1e-2
        move[:, :-1] /= np.abs(x).max(axis=0)
        assert objective(weights + move, x, y, 1e-3)[0] > value


def test_separable_classes():
    x = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])
    y = np.repeat([0, 1, 2], 2)
    for ridge in (1.0, 1e-3, 1e-9):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            weights = fit_logistic(x, y, 3, ridge)
        p = logistic_probabilities(weights, x)
        assert np.isfinite(weights).all()
        np.testing.assert_array_equal(p.argmax(axis=1), y)
    assert p.max(axis=1).min() > 0.9999


def test_constant_and_repeated_features():
    x, y = blobs()
    plain = fit_logistic(x, y, 4, 1.0)
    more = fit_logistic(np.column_stack([np.full(len(x), 0.1), x]), y, 4, 1.0)
    assert (more[:, 0] == 0).all()
    np.testing.assert_allclose(more[:, 1:], plain, atol=1e-7)
    twice = fit_logistic(np.column_stack([x, x[:, 0]]), y, 4, 1.0)
    np.testing.assert_allclose(twice[:, 0], twice[:, 5], atol=1e-7)
    only = fit_logistic(np.ones((6, 2)), [0, 0, 0, 1, 1, 2], 3, 1.0)
    np.testing.assert_allclose(
        logistic_probabilities(only, np.ones((1, 2))), [[1 / 2, 1 / 3, 1 / 6]], rtol=1e-8
    )


def test_more_features_than_points():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(20, 50)), np.arange(20) % 3
    _, gradient = objective(fit_logistic(x, y, 3, 0.1), x, y, 0.1)
    assert np.abs(gradient).max() < 1e-7


def test_what_is_refused():
    with pytest.raises(DataError, match="class 3"):
        fit_logistic(X, Y, 4)
    with pytest.raises(DataError, match="have 3 features, the model needs 2"):
        logistic_probabilities(np.zeros((2, 3)), np.zeros((1, 3)))


def test_a_descent_cut_short_warns(monkeypatch):
    monkeypatch.setattr(logistic, "_STEPS", 1)
    with pytest.warns(ConvergenceWarning):
        fit_logistic(*blobs(), 4, 1e-6)


def test_the_same_bits_again_and_from_float32():
    x, y = blobs()
    x = x.astype(np.float32)
    weights = fit_logistic(x, y, 4)
    assert fit_logistic(x.copy(), list(y), 4).tobytes() == weights.tobytes()
    assert fit_logistic(x.astype(np.float64), y, 4).tobytes() == weights.tobytes()


def test_probabilities():
    weights = np.array([[0.0, np.log(1.0)], [0.0, np.log(3.0)], [np.log(2.0), np.log(4.0)]])
    np.testing.assert_allclose(
        logistic_probabilities(weights, np.array([[0.0], [1.0]])),
        [[1 / 8, 3 / 8, 4 / 8], [1 / 12, 3 / 12, 8 / 12]],
    )
    p = logistic_probabilities(np.array([[1e4, 0.0], [-1e4, 0.0]]), np.array([[1.0], [-1.0]]))
    np.testing.assert_array_equal(p, [[1, 0], [0, 1]])
    assert logistic_probabilities(weights, np.empty((0, 1))).shape == (0, 3)


def test_a_point_alone_and_in_a_block():
    rng = np.random.default_rng(6)
    weights, points = rng.normal(size=(7, 11)), rng.normal(size=(1300, 10))
    whole = logistic_probabilities(weights, points)
    for step in (1, 13, 512, 700):
        parts = [
            logistic_probabilities(weights, points[i : i + step]) for i in range(0, 1300, step)
        ]
        assert np.concatenate(parts).tobytes() == whole.tobytes()
    np.testing.assert_allclose(whole.sum(axis=1), 1)
    z = points @ weights[:, :-1].T + weights[:, -1]
    np.testing.assert_allclose(whole, np.exp(z) / np.exp(z).sum(axis=1, keepdims=True))
