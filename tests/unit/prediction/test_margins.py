"""Sums of 1/margin^2 over the classifiers of a class, and the bounds of Platt et al. (2000)."""

from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.core.models import Kernel
from agfmc.prediction.decoding import Decoding
from agfmc.prediction.margins import ddag_bound, squared_radius


def test_bound_of_all_nodes_and_of_one_class():
    # log2(4 e 1024) = 12 + log2 e = 13.442695, log2 4096 = 12, log2 2048 = 11, log2 .05 = -4.321928
    # 130/1024 (2 * 13.442695 * 12 + 1 + 3 * 11 + 4.321928) = 130/1024 * 360.946608
    assert ddag_bound(2.0, 1.0, 1024, 3) == pytest.approx(45.823300, abs=1e-5)
    expected = 260 / 1024 * (0.5 * 13.442695 * 12 + 1 + 2 * 11 + 4.321928)
    assert ddag_bound(0.5, 2.0, 1024, 2) == pytest.approx(expected, rel=1e-7)


def test_bound_of_many_nodes_is_finite():
    assert ddag_bound(1.0, 1.0, 10**6, 124750) == pytest.approx(339.525, rel=1e-5)


def test_radius():
    sv = np.array([[3.0, 4.0], [1.0, 0.0]])
    linear = SimpleNamespace(kernels=(Kernel("linear"),), sv=sv)
    assert squared_radius(linear) == 25.0
    radial = SimpleNamespace(kernels=(Kernel("rbf", gamma=0.1),), sv=sv)
    assert squared_radius(radial) == 1.0


@pytest.mark.parametrize("opponents, whole", [("1", False), ("200", True)])
def test_poll_of_few_classes_saves_nothing(opponents, whole):
    assert Decoding("poll", opponents=opponents).polls_all(4) is whole
