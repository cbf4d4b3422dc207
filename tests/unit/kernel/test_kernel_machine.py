"""Kernel and decision values against the plain formulas, and bits that depend on nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from agfmc.collate.merge import collate
from agfmc.kernel.machine import BLOCK, decision_values, Machine
from agfmc.kernel.values import PreparedKernel
from agfmc.models import BinaryModel, Kernel
from agfmc.provenance import Provenance

KERNELS = [Kernel("linear"), Kernel("polynomial", 0.3, 0.7, 3), Kernel("polynomial", 2.0, 1.0, 0),
           Kernel("rbf", 0.2), Kernel("sigmoid", 0.1, -0.3)]


def naive(kernel, x, s):
    if kernel.kind == "rbf":
        return np.exp(-kernel.gamma * np.sum((x - s) ** 2))
    dot = float(np.dot(x, s))
    return {"linear": lambda: dot,
            "polynomial": lambda: (kernel.gamma * dot + kernel.coef0) ** kernel.degree,
            "sigmoid": lambda: np.tanh(kernel.gamma * dot + kernel.coef0)}[kernel.kind]()


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values(kernel, dtype):
    generator = np.random.default_rng(0)
    x, sv = generator.normal(size=(7, 5)).astype(dtype), generator.normal(size=(4, 5))
    expected = [[naive(kernel, a.astype(float), s) for a in x] for s in sv]
    prepared = PreparedKernel(kernel, sv)
    np.testing.assert_allclose(prepared.values(x), expected, rtol=1e-13, atol=1e-14)
    buffer = np.full((4, 7), np.nan)
    assert prepared.values(x, out=buffer) is buffer
    np.testing.assert_allclose(buffer, expected, rtol=1e-13, atol=1e-14)


def models_of(seed=0, kernels=(KERNELS[3],), classes=4, d=3):
    """One-vs-one models over points that are shared between them, as training gives."""
    generator = np.random.default_rng(seed)
    points = generator.normal(size=(classes, 12, d))
    models, sides = [], []
    for i in range(classes):
        for j in range(i + 1, classes):
            left, right = (generator.choice(12, n, replace=False) for n in (5, 7))
            models.append(BinaryModel(
                f"m{len(models)}", "c_svc", kernels[len(models) % len(kernels)],
                np.concatenate([points[i][left], points[j][right]]), generator.normal(size=12),
                generator.normal(), (0, 1), (5, 7), (-1.5, 0.25), Provenance(), d))
            sides.append(((i,), (j,)))
    return models, sides


def collated(models, sides, classes=(0, 1, 2, 3)):
    return collate(models, sides, classes)


def loop(model, x):
    return [sum(c * naive(model.kernel, p, s) for c, s in zip(model.coef, model.sv)) - model.rho
            for p in x]


@pytest.mark.parametrize("kernels", [KERNELS[:1], KERNELS[1:2], KERNELS[3:4], KERNELS[4:], KERNELS],
                         ids=["linear", "polynomial", "rbf", "sigmoid", "all"])
@pytest.mark.parametrize("n", [1, 3, BLOCK, BLOCK + 1])
def test_machine_is_a_double_loop(kernels, n):
    models, sides = models_of(2, kernels)
    x = np.random.default_rng(3).normal(size=(n, 3))
    machine = Machine(collated(models, sides), range(6))
    got = machine.decision_values(x)
    assert got.shape == (n, 6) and got.flags["C_CONTIGUOUS"]
    shown = slice(0, n, max(1, n // 4))
    np.testing.assert_allclose(got[shown], np.transpose([loop(m, x[shown]) for m in models]),
                               rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(got, np.transpose(
        [decision_values(m.kernel, m.sv, m.coef, m.rho, x) for m in models]), atol=1e-11)


def test_only_the_classifiers_asked_and_their_support_vectors():
    models, sides = models_of(4)
    model = collated(models, sides)
    x = np.random.default_rng(5).normal(size=(9, 3))
    full = Machine(model, range(6)).decision_values(x)
    some = Machine(model, [4, 1])
    np.testing.assert_allclose(some.decision_values(x), full[:, [4, 1]], atol=1e-13)
    assert some.support_vectors == 24 < len(model.sv)
    assert Machine(model, range(6)).support_vectors == len(model.sv)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("d", [1, 3, 18])
def test_bits_depend_on_the_point_alone(kernel, d):
    models, sides = models_of(6, (kernel,), d=d)
    machine = Machine(collated(models, sides), range(6))
    generator = np.random.default_rng(7)
    x = generator.normal(size=(2 * BLOCK + 37, d))
    whole = machine.decision_values(x)
    order = generator.permutation(len(x))
    assert machine.decision_values(x[order]).tobytes() == whole[order].tobytes()
    for cut in (1, 50, BLOCK, BLOCK + 3):
        parts = [machine.decision_values(x[i:i + cut]) for i in range(0, len(x), cut)]
        assert np.concatenate(parts).tobytes() == whole.tobytes()
    other = generator.normal(size=x.shape) * 100
    other[[0, 77, 200]] = x[[0, 77, 200]]
    np.testing.assert_array_equal(machine.decision_values(other)[[0, 77, 200]], whole[[0, 77, 200]])


def test_no_points_and_no_support_vectors():
    models, sides = models_of(8)
    machine = Machine(collated(models, sides), range(6))
    assert machine.decision_values(np.empty((0, 3))).shape == (0, 6)
    empty = replace(models[0], sv=np.zeros((0, 3)), coef=np.zeros(0), n_sv=(0, 0), rho=0.5)
    machine = Machine(collated([empty, models[1]], sides[:2]), range(2))
    got = machine.decision_values(np.ones((2, 3)))
    np.testing.assert_array_equal(got[:, 0], [-0.5, -0.5])
    np.testing.assert_array_equal(decision_values(KERNELS[3], empty.sv, empty.coef, 0.5,
                                                  np.ones((2, 3))), [-0.5, -0.5])
