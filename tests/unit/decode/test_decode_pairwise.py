"""The one-vs-one system: against its definition, and bits that depend on the point alone."""

import numpy as np
import pytest

from agfmc.decode.pairwise import Pairs, solve

CLASSES = [2, 3, 5, 26, 64, 65]  # on both sides of the change of solver


def pairs_of(k, seed=0):
    """Pairs in any order, either class on either side."""
    generator = np.random.default_rng(seed)
    low, high = np.triu_indices(k, 1)
    turned = generator.random(len(low)) < 0.5
    low, high = np.where(turned, high, low), np.where(turned, low, high)
    order = generator.permutation(len(low))
    return low[order], high[order]


def plain(low, high, k, r):
    """p of one point from the bordered system, as the definition has it."""
    matrix = np.zeros((len(r), k))
    rows = np.arange(len(r))
    matrix[rows, low], matrix[rows, high] = -1.0 - r, 1.0 - r
    system = np.ones((k + 1, k + 1))
    system[:k, :k] = matrix.T @ matrix
    system[k, k] = 0.0
    return np.linalg.solve(system, np.eye(k + 1)[k])[:k]


def points(k, m, n, low, high, seed=1):
    """r (n, m): of many sizes, of +1 and -1 alone, of 0, and consistent with some p."""
    generator = np.random.default_rng(seed)
    r = np.tanh(3.0 * generator.normal(size=(n, m)))
    r[:3] = np.sign(r[:3])
    r[3] = 0.0
    p = generator.dirichlet(np.full(k, 0.3), n // 3) + 1e-12
    r[-len(p):] = (p[:, high] - p[:, low]) / (p[:, high] + p[:, low])
    return r, p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("k", CLASSES)
def test_definition(k):
    low, high = pairs_of(k)
    r, p = points(k, len(low), 30, low, high)
    got = solve(Pairs(low, high, k), r)
    assert got.shape == (30, k) and got.flags["C_CONTIGUOUS"] and (got >= 0).all()
    np.testing.assert_allclose(got.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(got[-len(p):], p, rtol=0, atol=1e-13)
    for point, answer in zip(r[3:], got[3:]):
        np.testing.assert_allclose(answer, plain(low, high, k, point), rtol=0, atol=1e-12)


@pytest.mark.parametrize("k", CLASSES)
def test_bits_depend_on_the_point_alone(k):
    low, high = pairs_of(k)
    r, _ = points(k, len(low), 600, low, high)
    pairs = Pairs(low, high, k)
    together = solve(pairs, r)
    for start, stop in ((0, 1), (7, 8), (5, 70), (64, 128), (1, 600), (599, 600)):
        np.testing.assert_array_equal(solve(pairs, r[start:stop]), together[start:stop])
        np.testing.assert_array_equal(solve(pairs, np.asfortranarray(r[start:stop])),
                                      together[start:stop])
    assert solve(pairs, r[:0]).shape == (0, k)
