"""Merging binary models: each support vector once, and nothing else changed."""

from dataclasses import replace

import numpy as np
import pytest

from agfmc.collate.merge import collate, unique_rows
from agfmc.errors import ModelError
from agfmc.kernel.machine import decision_values, Machine
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


def test_unique_rows():
    x = [[1, 2], [0.0, 3], [1, 2], [-0.0, 3], [1, np.nextafter(2, 3)]]
    first, inverse = unique_rows(x)
    np.testing.assert_array_equal(first, [0, 1, 4])
    np.testing.assert_array_equal(inverse, [0, 1, 0, 1, 2])
    first, inverse = unique_rows(np.empty((3, 0)))
    assert first.tolist() == [0] and inverse.tolist() == [0, 0, 0]
    first, inverse = unique_rows(np.empty((0, 2)))
    assert len(first) == len(inverse) == 0


def test_every_support_vector_once_and_coefficients_added_up():
    model = collate([ONE, TWO], SIDES, [0, 1, 2])
    assert sorted(map(tuple, model.sv.tolist())) == [(0, 5), (1, 2), (3, 4), (7, 7)]
    assert not np.signbit(model.sv).any()
    told = [{tuple(model.sv[i]): c for i, c in zip(
        model.index[model.indptr[m]:model.indptr[m + 1]],
        model.coef[model.indptr[m]:model.indptr[m + 1]])} for m in range(2)]
    assert told == [{(1, 2): 1.25, (3, 4): -2.0, (0, 5): -1.0},
                    {(0, 5): 1.5, (1, 2): -0.5, (7, 7): 4.0}]
    assert model.kernels == (RBF,) and model.kernel_of.tolist() == [0, 0]
    assert model.rho.tolist() == [0.5, -1.0]
    assert model.orientation.tolist() == [-1, 1]
    assert (model.a[0], model.b[0]) == (-1.0, 0.125)
    assert np.isnan([model.a[1], model.b[1]]).all()
    assert [one.to_line() for one in model.provenances] == ["made one", "made two"]
    assert model.any_width


def test_support_vectors_stand_by_class():
    # (3, 4) is left of the first only: class 0; (7, 7) is left of the second: class 0 or 2, the
    # first is taken; (1, 2) and (0, 5) stand right and left: (0, 5) is 1 and 1, (1, 2) 0 and 0 or 2
    model = collate([ONE, TWO], SIDES, [0, 1, 2])
    groups = {tuple(row): group for row, group in zip(model.sv.tolist(), model.group.tolist())}
    assert groups == {(1, 2): 0, (3, 4): 0, (7, 7): 0, (0, 5): 1}
    assert np.all(np.diff(model.group) >= 0)


def test_a_support_vector_of_two_classes():
    one = model_of("a", [[1, 1], [1, 1]], [1.0, -0.5], (1, 1))
    model = collate([one], [((4,), (9,))], [4, 9])
    assert model.sv.tolist() == [[1, 1]] and model.group.tolist() == [2]
    assert model.coef.tolist() == [0.5]


@pytest.mark.parametrize("seed", range(5))
def test_equals_its_parts(seed):
    generator = np.random.default_rng(seed)
    pool = generator.normal(size=(9, 3))
    kernels = [RBF, Kernel("linear"), Kernel("polynomial", 0.5, 1.0, 2), RBF]
    models, sides = [], []
    for i, kernel in enumerate(kernels):
        rows = generator.integers(0, 9, 14)  # duplicates within and between models
        models.append(model_of(f"m{i}", pool[rows], generator.normal(size=14), (6, 8),
                               kernel=kernel, rho=generator.normal(),
                               labels=(i % 2, 1 - i % 2)))
        sides.append(((0, 1), (2,)))
    model = collate(models, sides, [0, 1, 2])
    assert len(model.sv) <= 9 and len(model.kernels) == 3
    x = generator.normal(size=(20, 3))
    expected = np.transpose([decision_values(m.kernel, m.sv, m.coef, m.rho, x) for m in models])
    np.testing.assert_allclose(Machine(model, range(4)).decision_values(x), expected, rtol=0,
                               atol=1e-12)


def test_order_of_models_with_equal_contents_gives_equal_bytes():
    one = collate([ONE, TWO], SIDES, [0, 1, 2])
    two = collate([replace(ONE), replace(TWO)], SIDES, [0, 1, 2])
    for name in ("sv", "group", "indptr", "index", "coef"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def test_widths():
    narrow = model_of("narrow", [[1.0]], [1.0], (1, 0))
    model = collate([narrow, ONE], SIDES, [0, 1, 2])
    assert model.any_width and model.sv.shape[1] == 2
    told = collate([narrow, replace(ONE, features=5)], SIDES, [0, 1, 2])
    assert not told.any_width and told.sv.shape[1] == 5
    with pytest.raises(ModelError, match="^two: was trained on 4 features, and one on 3$"):
        collate([replace(ONE, features=3), replace(TWO, features=4)], SIDES, [0, 1, 2])
    with pytest.raises(ModelError, match="^two: has 2 features, and narrow was trained on 1$"):
        collate([replace(narrow, features=1), TWO], SIDES, [0, 1, 2])
