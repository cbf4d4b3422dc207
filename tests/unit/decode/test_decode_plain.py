"""Decoders without signs, and Zadrozny's fixed points."""

import numpy as np
import pytest
from scipy.optimize import minimize

from agfmc.decode import plain, zadrozny
from agfmc.decode.front import decode, plan

MIXED = np.array([[-1, -1, 1, 1], [-1, 1, 0, 0], [0, 0, -1, 1], [-1, 1, 1, -1], [0, -1, 1, 1]])
STRICT = np.array([[-1, 1, 1, -1], [1, 1, -1, -1], [-1, -1, -1, 1], [1, -1, 1, 1]])


@pytest.mark.parametrize("a", [MIXED, STRICT], ids=["mixed", "strict"])
def test_equality_constrained(a):
    r = np.random.default_rng(1).uniform(-1, 1, (30, len(a)))
    p = decode(a, r, "inverse").p
    for i in range(len(r)):
        matrix = a - np.abs(a) * r[i][:, None]
        bordered = np.block([[matrix.T @ matrix, np.ones((4, 1))], [np.ones((1, 4)), 0]])
        np.testing.assert_allclose(p[i], np.linalg.solve(bordered, [0, 0, 0, 0, 1])[:4], atol=1e-9)
    assert p.min() < 0


@pytest.mark.parametrize("a", [MIXED, STRICT], ids=["mixed", "strict"])
def test_unconstrained(a):
    r = np.random.default_rng(2).uniform(-1, 1, (30, len(a)))
    p = decode(a, r, "unconstrained").p
    for i in range(len(r)):
        q = np.vstack([a + (1 - np.abs(a)) * r[i][:, None], np.ones(4)])
        np.testing.assert_allclose(p[i], np.linalg.lstsq(q, np.append(r[i], 1))[0], atol=1e-10)


@pytest.mark.parametrize("method", ["inverse", "unconstrained"])
@pytest.mark.parametrize("a", [MIXED[:2], STRICT[:2]], ids=["mixed", "strict"])
def test_underdetermined_is_reported_and_even(a, method):
    r = np.array([[.3, -.2], [0, 0], [1, -1]])
    done = decode(a, r, method)
    assert done.stops.undetermined == 3
    order = [2, 0, 3, 1]
    np.testing.assert_allclose(decode(a[:, order], r, method).p, done.p[:, order], atol=1e-10)


def test_memory_slices(monkeypatch):
    r = np.random.default_rng(2).uniform(-1, 1, (30, 5))
    whole = decode(MIXED, r, 5).p
    monkeypatch.setattr(plain, "BUDGET", 3000)
    np.testing.assert_allclose(decode(MIXED, r, 5).p, whole, atol=1e-13)


def iterate(a, r, p, divergence, steps=1):
    """The iteration, a row weighing as much as it has classes."""
    plus, minus = (a > 0) * 1.0, (a < 0) * 1.0
    rb, n = (1 + r) / 2, np.count_nonzero(a, axis=1)
    for _ in range(steps):
        above, below = p @ plus.T, p @ minus.T
        if divergence:
            above_r, below_r, weight = n * rb / above, n * (1 - rb) / below, n / (above + below)
            q = p * (above_r @ plus + below_r @ minus) / (weight @ (plus + minus))
        else:
            mu = above / (above + below)
            q = p * ((n * rb) @ plus + (n * (1 - rb)) @ minus)
            q /= (n * mu) @ plus + (n * (1 - mu)) @ minus
        p = q / q.sum(axis=1, keepdims=True)
    return p


@pytest.mark.parametrize("divergence", [False, True])
@pytest.mark.parametrize("a", [MIXED, STRICT], ids=["mixed", "strict"])
def test_fixed_point_is_where_the_iteration_ends(a, divergence):
    r = np.random.default_rng(3).uniform(-.9, .9, (50, len(a)))
    done = plan(a, "zadrozny-kl" if divergence else "zadrozny")(r)
    assert done.stops.unfinished == 0
    np.testing.assert_allclose(iterate(a, r, done.p, divergence, 20), done.p, atol=1e-7)
    slow = iterate(a, r, np.full((50, 4), .25), divergence, 20000)
    assert np.quantile(np.abs(slow - done.p).max(axis=1), .9) < 1e-6
    assert np.abs(slow - done.p).max() < 1e-3


@pytest.mark.parametrize("method, r", [("zadrozny", [0, -1 / 3, -1 / 3]),
                                       ("zadrozny-kl", [0, -1 / 4, -1 / 4])])
def test_rows_weigh_as_much_as_they_have_classes(method, r):
    """Two rows of two classes and one of three, computed by hand: p = (1/3, 1/3, 1/3).

    With mu = 1/3, 1/2, 1/2 there, the factors of Zadrozny's iteration are for class 0
    (3/2 + 2/3 + 2/3) / (3/3 + 2/2 + 2/2) = 17/18 and for each other class
    (3/2 + 4/3) / (6/3 + 2/2) = 17/18; those of the divergence, (9/2 + 9/4 + 9/4) / (3 + 3 + 3) = 1
    and (9/4 + 15/4) / (3 + 3) = 1.  Were all rows equal it would not be at rest.
    """
    p = decode([[1, -1, -1], [1, -1, 0], [1, 0, -1]], r, method).p
    np.testing.assert_allclose(p, [[1 / 3] * 3], rtol=0, atol=1e-8)


def test_divergence_is_least():
    """The minimum as BFGS finds it, over the logarithms of probabilities."""
    r = np.random.default_rng(4).uniform(-.9, .9, (20, 5))
    plus, minus = (MIXED > 0) * 1.0, (MIXED < 0) * 1.0
    n = np.array([4, 2, 2, 4, 3])

    def divergence(theta, r):
        p = np.exp(theta - theta.max())
        mu = plus @ p / ((plus + minus) @ p)
        return -np.sum(n * ((1 + r) / 2 * np.log(mu) + (1 - r) / 2 * np.log(1 - mu)))

    done = decode(MIXED, r, "zadrozny-kl")
    for one, p in zip(r, done.p):
        found = minimize(divergence, np.zeros(4), one, "BFGS", options={"gtol": 1e-9})
        assert divergence(np.log(np.maximum(p, 1e-12)), one) <= found.fun + 1e-9
        np.testing.assert_allclose(np.exp(found.x) / np.exp(found.x).sum(), p, atol=2e-5)


@pytest.mark.parametrize("method", ["zadrozny", "zadrozny-kl"])
@pytest.mark.parametrize("a", [MIXED, STRICT], ids=["mixed", "strict"])
def test_certain_decision_values_are_safe(a, method):
    r = np.random.default_rng(5).choice([-1., 0., 1.], size=(100, len(a)))
    done = decode(a, r, method)
    assert np.isfinite(done.p).all()
    np.testing.assert_allclose(done.p.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("code, r", [
    ([[-1, 1, 1], [0, -1, 1]], [-.96, -.96]),  # a long step once ended in a corner
    ([[-1, 1, 1, 1], [0, -1, 1, 1], [0, 0, -1, 1]], [-.8864, -.9979, .8235]),
    ([[-1, 1, 1, 1], [0, -1, 1, 1], [0, 0, -1, 1]], [-.9999876, .85718415, -.6315318]),
])
def test_fixed_points_near_the_corners(code, r):
    for method in ("zadrozny", "zadrozny-kl"):
        done = decode(code, r, method)
        assert not done.stops.unfinished
        np.testing.assert_allclose(done.p, decode(code, r, 0).p, atol=1e-8)


def test_limit_is_reported(monkeypatch):
    monkeypatch.setattr(zadrozny, "LIMIT", 2)
    monkeypatch.setattr(zadrozny, "QUICK", 2)
    done = decode(MIXED, np.full((3, 5), .3), 7)
    assert done.stops.unfinished == 3
    assert "3 of 3 solutions" in done.stops.warning()
    twice = done.stops + done.stops
    assert (twice.points, twice.unfinished, twice.rounds) == (6, 6, 2)
