"""Points of three classes, and the binary problems that are really trained."""

import numpy as np
import pytest

from agfmc.experiments import binary_problems
from agfmc.data.types import Dataset


@pytest.fixture(scope="session")
def data():
    rng = np.random.default_rng(3)
    y = np.repeat([2, 5, 9], [40, 50, 30]).astype(np.int32)
    return Dataset(rng.normal(size=(120, 3)) + y[:, None] * [0.3, -0.2, 0.0], y)


@pytest.fixture
def fits(monkeypatch):
    """The jobs of each call of `fit`."""
    calls = []
    fit = binary_problems.fit

    def counting(jobs, *args, **kwargs):
        calls.append(list(jobs))
        return fit(jobs, *args, **kwargs)

    monkeypatch.setattr(binary_problems, "fit", counting)
    return calls
