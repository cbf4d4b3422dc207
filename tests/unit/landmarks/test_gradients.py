"""Gradients of functions on landmarks, and the metric of their products."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.landmarks.gradients import gradient_products, metric_of, WITH_GRADIENT
from agfmc.landmarks.features import Landmarks
from agfmc.landmarks.learner import Ridge
from agfmc.core.models import Kernel
from agfmc.core.points import packed

X = np.array([(0.0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (1, 2)])
Y = np.array([0, 0, 1, 1, 2, 2])
GAMMA, RIDGE = 0.25, 0.1
# rows of classes 0, 1, 2 against the rest, on landmarks 0, 2, 5
BETA = [
    (3.809942211, -3.2201529411, -0.007189335),
    (-2.8921898677, 5.0367305811, -1.3500797957),
    (-0.9177523434, -1.81657764, 1.3572691307),
]
G = [(1.0599244288, 0.251355422), (0.251355422, 2.2283043027)]
M = [(0.8151441475, 0.0795366676), (0.0795366676, 1.1848558525)]
SEEDS = st.integers(0, 999)


def machine(x, y, landmarks, ridge):
    """Coefficients (p, k) of one-vs-rest rows, by their class on the right."""
    phi = landmarks.features(landmarks.kernel_values(x))
    t = np.where(y == np.unique(y)[:, None], 1.0, -1.0)
    fit = Ridge([(packed(phi @ phi.T), 1.0)], phi.sum(axis=1), float(len(x)), ridge)
    return landmarks.coefficients(fit.solve(phi @ t.T, t.mean(axis=1))[0])


def problem(seed, most=5, kind="rbf"):
    """x (n, d), landmarks and coefficients (p, k) of some functions."""
    random = np.random.default_rng(seed)
    n, d, p, k = random.integers([1, 1, 2, 1], [30, most, 12, 4])
    gamma = random.uniform(0.05, 1)
    landmarks = Landmarks(Kernel(kind, gamma), random.normal(size=(p, d)))
    return random.normal(size=(n, d)), landmarks, random.normal(size=(len(landmarks), k))


def test_checked_values():
    landmarks = Landmarks(Kernel("rbf", GAMMA), X[[0, 2, 5]])
    beta = machine(X, Y, landmarks, RIDGE)
    order = np.argsort(landmarks.pivots)
    assert np.allclose(beta[order].T, BETA, rtol=0, atol=1e-9)
    products = gradient_products(landmarks, beta, X) / len(X)
    assert np.allclose(products, G, rtol=0, atol=1e-9)
    assert np.allclose(metric_of(products)[0], M, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", WITH_GRADIENT)
@given(SEEDS)
def test_products_are_those_of_central_differences(kind, seed):
    x, landmarks, beta = problem(seed, kind=kind)
    # where a difference of features is 0 there is no gradient of a laplacian kernel
    x = x[np.abs(x[:, None] - landmarks.z).min(axis=(1, 2)) > 2e-4]
    step, expected = 1e-4, np.zeros((x.shape[1], x.shape[1]))
    for c in range(beta.shape[1]):

        def f(points, column=beta[:, c]):
            return column @ landmarks.kernel_values(points)

        gradient = np.array(
            [(f(x + axis) - f(x - axis)) / (2 * step) for axis in step * np.eye(x.shape[1])]
        )
        expected += gradient @ gradient.T
    found = gradient_products(landmarks, beta, x)
    expected = expected.diagonal() if kind == "laplacian" else expected
    assert np.allclose(found, expected, rtol=0, atol=1e-5 * max(1.0, np.abs(expected).max()))


@given(SEEDS)
def test_the_diagonal_is_the_diagonal(seed):
    x, landmarks, beta = problem(seed)
    whole = gradient_products(landmarks, beta, x)
    alone = gradient_products(landmarks, beta, x, diagonal=True)
    assert np.allclose(alone, whole.diagonal(), rtol=1e-12)
    metric, root = metric_of(alone)
    assert np.allclose(metric, metric_of(np.diag(alone))[0].diagonal(), rtol=1e-7, atol=1e-12)
    assert np.allclose(root**2, metric) and np.isclose(metric.sum(), len(metric))


@given(SEEDS, st.integers(1, 6), st.integers(1, 8))
def test_properties_of_the_metric(seed, d, rank):
    random = np.random.default_rng(seed)
    half = random.normal(size=(rank, d)) * 10.0 ** random.uniform(-3, 3, d)
    products = half.T @ half
    metric, root = metric_of(products)
    assert np.isclose(np.trace(metric), d)
    for one in metric, root:
        assert np.allclose(one, one.T, rtol=0, atol=1e-12 * d)
        assert np.linalg.eigvalsh(one).min() > -1e-12 * d
    assert np.allclose(root @ root, metric, rtol=0, atol=1e-12 * d)
    # its square is a multiple of G
    assert np.allclose(
        metric @ metric * np.trace(products) / np.trace(metric @ metric),
        products,
        rtol=0,
        atol=1e-9 * np.trace(products),
    )


@given(SEEDS, st.integers(1, 6))
def test_a_multiple_makes_the_same_metric_and_permuted_features_the_permuted_one(seed, d):
    random = np.random.default_rng(seed)
    half = random.normal(size=(d + 2, d))
    metric, root = metric_of(half.T @ half)
    for factor in 1e-200, 1e-3, 1e6, 1e200:
        assert np.allclose(metric_of(factor * (half.T @ half))[0], metric, rtol=0, atol=1e-10)
    order = random.permutation(d)
    there = metric_of(half[:, order].T @ half[:, order])
    assert np.allclose(there[0], metric[np.ix_(order, order)], rtol=0, atol=1e-10)
    assert np.allclose(there[1], root[np.ix_(order, order)], rtol=0, atol=1e-10)


@given(SEEDS)
def test_permuted_features_give_permuted_products(seed):
    x, landmarks, beta = problem(seed)
    order = np.random.default_rng(seed).permutation(x.shape[1])
    there = Landmarks(landmarks.kernel, landmarks.z[:, order])
    found = gradient_products(there, beta[there.pivots], x[:, order])
    assert np.allclose(
        found, gradient_products(landmarks, beta, x)[np.ix_(order, order)], rtol=1e-10, atol=1e-10
    )


@pytest.mark.parametrize("shape", [(3, 3), (3,)])
def test_no_gradient_is_the_unit_matrix(shape):
    metric, root = metric_of(np.zeros(shape))
    unit = np.eye(3) if len(shape) == 2 else np.ones(3)
    assert np.allclose(metric, unit, rtol=0, atol=1e-15)
    assert np.allclose(root, unit, rtol=0, atol=1e-15)


@pytest.mark.parametrize("diagonal", [False, True])
def test_a_floor_keeps_directions_without_gradients(diagonal):
    products = np.diag([4.0, 1.0, 0.0, 0.0])
    metric, root = metric_of(products.diagonal() if diagonal else products, 0.1)
    expected = np.array([0.9 * 8 / 3 + 0.1, 0.9 * 4 / 3 + 0.1, 0.1, 0.1])
    found = metric if diagonal else metric.diagonal()
    assert np.allclose(found, expected, rtol=0, atol=1e-12) and np.isclose(found.sum(), 4)
    assert np.allclose(root * root if diagonal else root @ root, metric)
