"""Merging binary models: each support vector once, and nothing else changed."""

from dataclasses import replace

import numpy as np
import pytest

from agfmc.collate.merge import collate
from agfmc.errors import ModelError
from agfmc.models import BinaryModel, Kernel
from agfmc.provenance import Provenance

RBF = Kernel("rbf", 0.3)


def model_of(name, sv, coef, n_sv, **changes):
    model = BinaryModel(name, "c_svc", RBF, np.array(sv, dtype=float), np.array(coef, dtype=float),
                        0.5, (0, 1), n_sv, (-2.0, 0.25), Provenance((f"made {name}",)), 0)
    return replace(model, **changes)


ONE = model_of("one", [[1, 2], [3, 4], [1, 2], [-0.0, 5]], [1.0, -2.0, 0.25, -1.0], (3, 1))
TWO = model_of("two", [[0.0, 5], [1, 2], [7, 7]], [1.5, -0.5, 4.0], (1, 2), labels=(1, 0), rho=-1.0,
               platt=None)
SIDES = [((0,), (1,)), ((0, 2), (1,))]


def test_widths():
    narrow = model_of("narrow", [[1.0]], [1.0], (1, 0))
    model = collate([narrow, ONE], SIDES, [0, 1, 2])
    assert model.any_width and model.sv.shape[1] == 2
    stated = collate([narrow, replace(ONE, features=5)], SIDES, [0, 1, 2])
    assert not stated.any_width and stated.sv.shape[1] == 5
    with pytest.raises(ModelError, match="^two: was trained on 4 features, and one on 3$"):
        collate([replace(ONE, features=3), replace(TWO, features=4)], SIDES, [0, 1, 2])
    with pytest.raises(ModelError, match="^two: has 2 features, and narrow was trained on 1$"):
        collate([replace(narrow, features=1), TWO], SIDES, [0, 1, 2])
