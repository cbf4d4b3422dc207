"""Radial kernels of points far from the origin and from each other, where products round."""

import numpy as np
import pytest

from agfmc.collate.merge import collate
from agfmc.kernel.machine import decision_values, Machine
from agfmc.kernel.values import PreparedKernel
from agfmc.models import BinaryModel, Kernel
from agfmc.provenance import Provenance


def by_differences(gamma, sv, x):
    with np.errstate(over="ignore"):
        return np.exp(-gamma * ((sv[:, None] - x[None])**2).sum(axis=2))


def spread_points(scale, seed=0):
    """Points of some scale, near copies of them, and copies."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(30, 5)) * scale
    return np.vstack([x, x[:15] * (1 + 1e-12), x[:15]])


@pytest.mark.parametrize("scale", [1e-160, 1e-30, 1, 1e2, 1e3, 1e4, 1e8, 1e15, 1e30, 1e150, 1e160,
                                   1e300])
@pytest.mark.parametrize("gamma", [1e-3, .5, 40.])
def test_values_are_those_of_differences(scale, gamma):
    x = spread_points(scale)
    values = PreparedKernel(Kernel("rbf", gamma), x).values(x)
    np.testing.assert_allclose(values, by_differences(gamma, x, x), rtol=0, atol=1e-9)
    assert values.max() <= 1 + 1e-9


def test_a_sum_that_no_float_can_hold():
    x = np.full((4, 2), 1.5e308) * [[1], [1], [-1], [.5]]
    values = PreparedKernel(Kernel("rbf", 1.0), x).values(x)
    np.testing.assert_array_equal(values, by_differences(1.0, x, x))


@pytest.mark.parametrize("scale", [1e8, 1e30])
def test_no_far_point_changes_its_neighbours(scale):
    rng = np.random.default_rng(3)
    sv = spread_points(scale)
    coef = rng.normal(size=len(sv))
    x = np.vstack([sv[::2], rng.normal(size=(40, 5))])
    expected = coef @ by_differences(.5, sv, x) - .25
    kernel = Kernel("rbf", .5)
    np.testing.assert_allclose(decision_values(kernel, sv, coef, .25, x), expected, atol=1e-9)
    model = collate([BinaryModel("m", "c_svc", kernel, sv, coef, .25, (1, 0), (30, 30), (-2., 0.),
                                 Provenance(), 5)], [((0,), (1,))], [0, 1])
    machine = Machine(model, range(1))
    whole = machine.decision_values(x)
    np.testing.assert_allclose(whole[:, 0], expected, atol=1e-9)
    for size in (1, 7):
        parts = [machine.decision_values(x[at:at + size]) for at in range(0, len(x), size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
