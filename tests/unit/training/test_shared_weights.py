"""Weights of points in the sums of classifiers that share landmarks: a point of weight 2 is two."""

import numpy as np
import pytest

from agfmc.kernel.landmarks import Landmarks
from agfmc.models import Kernel
from agfmc.training.shared_sums import Problem, range_sums


@pytest.mark.parametrize("raw", [False, True])
def test_whole_weights_are_copies(raw):
    random = np.random.default_rng(3)
    x, y = random.normal(size=(40, 2)), np.arange(40, dtype=np.int32) % 3
    w = random.integers(0, 4, size=40)
    landmarks = Landmarks(Kernel("rbf", 0.5), x[:7])
    copies = np.repeat(np.arange(40), w)
    weighted = range_sums(Problem(landmarks, x, y, raw, w.astype(float)), (0, 0, 40, (0, 2)))
    copied = range_sums(Problem(landmarks, x[copies], y[copies], raw), (0, 0, len(copies), (0, 2)))
    for one, other in zip(weighted, copied):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-12)
