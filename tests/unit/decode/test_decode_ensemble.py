"""Averages of members and their weights: the formulas, and a solver that knows nothing of them."""

import numpy as np
import pytest
from scipy.optimize import minimize

from agfmc.decode.ensemble import average, fit_weights


def simplex(rng, *shape):
    p = rng.exponential(size=shape)
    return p / p.sum(axis=-1, keepdims=True)


def test_averages():
    p = [np.array([[0.5, 0.5, 0.0]]), np.array([[0.1, 0.7, 0.2]])]
    assert np.allclose(average(p, (0.25, 0.75)), [[0.2, 0.65, 0.15]], atol=1e-15)
    raw = np.array([0.5**0.25 * 0.1**0.75, 0.5**0.25 * 0.7**0.75, 1e-16**0.25 * 0.2**0.75])
    assert np.allclose(average(p, (0.25, 0.75), geometric=True), raw / raw.sum(), atol=1e-15)
    assert np.array_equal(average(p[:1], (1.0,)), p[0])
    assert np.allclose(average(p[1:], (1.0,), geometric=True), p[1], atol=1e-15)


@pytest.mark.parametrize("geometric", [False, True])
def test_a_point_does_not_depend_on_its_neighbours(geometric):
    p = simplex(np.random.default_rng(1), 3, 37, 5)
    whole = average(p, (0.2, 0.5, 0.3), geometric)
    for i in (0, 17, 36):
        assert np.array_equal(average(p[:, i : i + 1], (0.2, 0.5, 0.3), geometric)[0], whole[i])
    turned = np.asfortranarray(p[0]), p[1], p[2]
    assert np.array_equal(average(turned, (0.2, 0.5, 0.3), geometric), whole)


@pytest.mark.parametrize("seed, members", [(0, 2), (1, 3), (2, 5), (3, 8)])
def test_weights_have_the_least_loss(seed, members):
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 1, size=(members, 200)) * rng.uniform(0.3, 1, size=(members, 1))

    def loss(w):
        return -np.log(w @ p).mean()

    def free(z):
        w = np.exp(z - z.max())
        return loss(w / w.sum())

    weights = fit_weights(p)
    assert weights.min() >= 0 and np.isclose(weights.sum(), 1)
    least = min(minimize(free, rng.normal(size=members), method="BFGS").fun for _ in range(3))
    assert loss(weights) <= least + 2e-6
    assert all(loss(weights) <= loss(w) + 2e-6 for w in simplex(rng, 500, members))


def test_weights_of_points_are_copies():
    rng = np.random.default_rng(5)
    p, w = rng.random((4, 200)), rng.integers(1, 5, 200)
    found = fit_weights(p, w)
    assert np.allclose(found, fit_weights(p.repeat(w, axis=1)), rtol=0, atol=1e-9)
    assert np.abs(found - fit_weights(p)).max() > 1e-3


def test_weights_at_the_corners():
    good = np.array([[0.9] * 20, [0.5] * 20])
    assert np.allclose(fit_weights(good), [1, 0], atol=1e-4)
    assert np.array_equal(fit_weights(good[:1]), [1.0])
    assert np.allclose(fit_weights(np.zeros((3, 4))), 1 / 3)
    same = np.repeat(good[:1], 4, axis=0)
    assert np.array_equal(fit_weights(same), [0.25] * 4)
