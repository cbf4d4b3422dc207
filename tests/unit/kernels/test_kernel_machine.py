"""Kernel and decision values against the plain formulas, near and far, in blocks of any size."""

from dataclasses import replace
import threading

import numpy as np
import pytest

from agfmc.models.merge import collate
from agfmc.kernels import machine
from agfmc.kernels.machine import BLOCK, decision_values, Machine
from agfmc.kernels.values import PreparedKernel
from agfmc.core.models import BinaryModel, MergedModel, Kernel
from agfmc.core.provenance import Provenance

KERNELS = [
    Kernel("linear"),
    Kernel("polynomial", 0.3, 0.7, 3),
    Kernel("polynomial", 2.0, 1.0, 0),
    Kernel("rbf", 0.2),
    Kernel("sigmoid", 0.1, -0.3),
]


def naive(kernel, x, s):
    if kernel.kind == "rbf":
        return np.exp(-kernel.gamma * np.sum((x - s) ** 2))
    dot = float(np.dot(x, s))
    return {
        "linear": lambda: dot,
        "polynomial": lambda: (kernel.gamma * dot + kernel.coef0) ** kernel.degree,
        "sigmoid": lambda: np.tanh(kernel.gamma * dot + kernel.coef0),
    }[kernel.kind]()


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
            models.append(
                BinaryModel(
                    f"m{len(models)}",
                    "c_svc",
                    kernels[len(models) % len(kernels)],
                    np.concatenate([points[i][left], points[j][right]]),
                    generator.normal(size=12),
                    generator.normal(),
                    (0, 1),
                    (5, 7),
                    (-1.5, 0.25),
                    Provenance(),
                    d,
                )
            )
            sides.append(((i,), (j,)))
    return models, sides


def collated(models, sides, classes=(0, 1, 2, 3)):
    return collate(models, sides, classes)


def loop(model, x):
    return [
        sum(c * naive(model.kernel, p, s) for c, s in zip(model.coef, model.sv)) - model.rho
        for p in x
    ]


@pytest.mark.parametrize(
    "kernels",
    [KERNELS[:1], KERNELS[1:2], KERNELS[3:4], KERNELS[4:], KERNELS],
    ids=["linear", "polynomial", "rbf", "sigmoid", "all"],
)
@pytest.mark.parametrize("n", [1, 3, BLOCK, BLOCK + 1])
def test_machine_is_a_double_loop(kernels, n):
    models, sides = models_of(2, kernels)
    x = np.random.default_rng(3).normal(size=(n, 3))
    machine = Machine(collated(models, sides), range(6))
    got = machine.decision_values(x)
    assert got.shape == (n, 6) and got.flags["C_CONTIGUOUS"]
    shown = slice(0, n, max(1, n // 4))
    np.testing.assert_allclose(
        got[shown], np.transpose([loop(m, x[shown]) for m in models]), rtol=1e-11, atol=1e-11
    )
    np.testing.assert_allclose(
        got,
        np.transpose([decision_values(m.kernel, m.sv, m.coef, m.rho, x) for m in models]),
        atol=1e-11,
    )


def support_vectors(machine):
    return sum(part.kernel.size for part in machine._parts)


def coefficients(part):
    return sum(dense.size for _, _, dense in part._blocks)


def test_only_the_classifiers_asked_and_their_support_vectors():
    models, sides = models_of(4)
    model = collated(models, sides)
    x = np.random.default_rng(5).normal(size=(9, 3))
    full = Machine(model, range(6)).decision_values(x)
    some = Machine(model, [4, 1])
    np.testing.assert_allclose(some.decision_values(x), full[:, [4, 1]], atol=1e-13)
    assert support_vectors(some) == 24 < len(model.sv)
    assert support_vectors(Machine(model, range(6))) == len(model.sv)


@pytest.mark.few(8)
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
        parts = [machine.decision_values(x[i : i + cut]) for i in range(0, len(x), cut)]
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
    np.testing.assert_array_equal(
        decision_values(KERNELS[3], empty.sv, empty.coef, 0.5, np.ones((2, 3))), [-0.5, -0.5]
    )


def model_of(classes=4, each=30, d=3, seed=0):
    """One-vs-one over classes of `each` support vectors, a third of them in each classifier."""
    generator = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    index = [
        np.sort(
            np.concatenate(
                [generator.choice(each, each // 3, replace=False) + c * each for c in pair]
            )
        )
        for pair in pairs
    ]
    m = len(pairs)
    return MergedModel(
        (Kernel("rbf", 0.3),),
        np.zeros(m, np.int32),
        generator.normal(size=(classes * each, d)),
        np.repeat(np.arange(classes), each),
        np.concatenate([[0], np.cumsum([len(part) for part in index])]),
        np.concatenate(index),
        generator.normal(size=sum(map(len, index))),
        generator.normal(size=m),
        np.ones(m),
        np.zeros(m),
        np.ones(m, np.int8),
        (),
    )


def naive_of_blocks(model, x):
    kernel = np.exp(-0.3 * ((x[:, None] - model.sv) ** 2).sum(axis=2))
    coef = np.zeros((len(model.rho), len(model.sv)))
    for row, (start, stop) in enumerate(zip(model.indptr, model.indptr[1:])):
        coef[row, model.index[start:stop]] = model.coef[start:stop]
    return kernel @ coef.T - model.rho


@pytest.mark.parametrize("longest", [7, 30, 512])
@pytest.mark.parametrize("overhead, together", [(60, False), (10**6, True)])
def test_blocks(monkeypatch, longest, overhead, together):
    for name, value in (("_LONGEST", longest), ("_OVERHEAD", overhead)):
        monkeypatch.setattr(machine, name, value)
    monkeypatch.setattr(machine, "_local", threading.local())
    model = model_of()
    x = np.random.default_rng(1).normal(size=(machine.BLOCK + 3, 3))
    made = machine.Machine(model, range(6))
    counts = np.bincount(model.group[np.unique(model.index)])
    counts = counts.sum(keepdims=True) if together else counts
    assert len(made._parts[0]._blocks) == (-(-counts // longest)).sum()
    np.testing.assert_allclose(
        made.decision_values(x), naive_of_blocks(model, x), rtol=1e-11, atol=1e-12
    )
    np.testing.assert_array_equal(made.values_by_row(x).T, made.decision_values(x))
    some = machine.Machine(model, (1, 4)).decision_values(x)
    np.testing.assert_allclose(some, naive_of_blocks(model, x)[:, [1, 4]], rtol=1e-11, atol=1e-12)


def test_where_a_class_is_cut(monkeypatch):
    monkeypatch.setattr(machine, "_OVERHEAD", 100)
    edges = np.array([0, 60, 160])  # the second class: 70 of classifiers 0 to 2, 30 of 3 to 9 too
    at = np.concatenate(
        [np.arange(60), np.repeat(np.arange(60, 130), 3), np.repeat(np.arange(130, 160), 10)]
    )
    which = np.concatenate([np.zeros(60, int), np.tile(range(3), 70), np.tile(range(10), 30)])
    assert machine._cut_before_landmarks(edges, at, which).tolist() == [0, 60, 130, 160]
    back = 159 - at[::-1]  # many first: it stays whole
    assert machine._cut_before_landmarks(160 - edges[::-1], back, which[::-1]).tolist() == [
        0,
        100,
        160,
    ]
    monkeypatch.setattr(machine, "_OVERHEAD", 70 * 7)
    assert machine._cut_before_landmarks(edges, at, which).tolist() == [0, 60, 160]


@pytest.mark.parametrize("kernels", [KERNELS[3:4], [KERNELS[3], Kernel("rbf", 0.7)]], ids=len)
def test_landmarks_have_blocks_of_their_own(monkeypatch, kernels):
    monkeypatch.setattr(machine, "_OVERHEAD", 20)
    models, sides = models_of(classes=6)
    generator = np.random.default_rng(4)
    points = np.unique(np.concatenate([model.sv for model in models]), axis=0)
    landmarks = np.concatenate(
        [points[generator.choice(len(points), 20, replace=False)], generator.normal(size=(10, 3))]
    )
    for number in range(0, len(models), 3):
        models[number] = replace(
            models[number],
            kernel=kernels[-1],
            sv=landmarks,
            coef=generator.normal(size=30),
            n_sv=(30, 0),
            labels=(1, 0),
        )
    model = collated(models, sides, range(6))
    of_svms = np.unique(
        np.concatenate(
            [
                model.index[i:j]
                for number, (i, j) in enumerate(zip(model.indptr, model.indptr[1:]))
                if number % 3
            ]
        )
    )
    assert (model.group == 6).sum() == len(model.sv) - len(of_svms)
    known = set(map(bytes, landmarks + 0.0))
    last = np.array([row.tobytes() in known for row in model.sv])
    assert all((np.diff(last[model.group == group].astype(int)) >= 0).all() for group in range(7))
    made = Machine(model, range(len(models)))
    x = generator.normal(size=(50, 3))
    np.testing.assert_allclose(
        made.decision_values(x), np.transpose([loop(one, x) for one in models]), atol=1e-11
    )
    parts = [coefficients(part) for part in made._parts]
    if len(kernels) == 2:  # each as if it were alone
        alone = collated(
            [one for one in models if one.n_sv[1]],
            [side for one, side in zip(models, sides) if one.n_sv[1]],
            range(6),
        )
        assert sorted(parts) == sorted([5 * 30, coefficients(Machine(alone, range(10))._parts[0])])
    else:
        assert parts[0] < 0.8 * 15 * len(model.sv)


def test_a_product_that_is_small_enough_is_kept_small():
    model = model_of(each=600)
    sizes = [
        span.stop - span.start
        for span, _, dense in machine.Machine(model, range(6))._parts[0]._blocks
    ]
    assert max(sizes) <= machine._LONGEST and sum(sizes) == len(np.unique(model.index))
    wide = model_of(classes=8, each=600)
    for _, _, dense in machine.Machine(wide, range(28))._parts[0]._blocks:
        assert dense.size * machine.BLOCK <= machine._SMALL


def by_differences(gamma, sv, x):
    with np.errstate(over="ignore"):
        return np.exp(-gamma * ((sv[:, None] - x[None]) ** 2).sum(axis=2))


def spread_points(scale, seed=0):
    """Points of some scale, near copies of them, and copies."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(30, 5)) * scale
    return np.vstack([x, x[:15] * (1 + 1e-12), x[:15]])


@pytest.mark.parametrize(
    "scale", [1e-160, 1e-30, 1, 1e2, 1e3, 1e4, 1e8, 1e15, 1e30, 1e150, 1e160, 1e300]
)
@pytest.mark.parametrize("gamma", [1e-3, 0.5, 40.0])
def test_values_are_those_of_differences(scale, gamma):
    x = spread_points(scale)
    values = PreparedKernel(Kernel("rbf", gamma), x).values(x)
    np.testing.assert_allclose(values, by_differences(gamma, x, x), rtol=0, atol=1e-9)
    assert values.max() <= 1 + 1e-9


def test_a_sum_that_no_float_can_hold():
    x = np.full((4, 2), 1.5e308) * [[1], [1], [-1], [0.5]]
    values = PreparedKernel(Kernel("rbf", 1.0), x).values(x)
    np.testing.assert_array_equal(values, by_differences(1.0, x, x))


@pytest.mark.parametrize("scale", [1e8, 1e30])
def test_no_far_point_changes_its_neighbours(scale):
    rng = np.random.default_rng(3)
    sv = spread_points(scale)
    coef = rng.normal(size=len(sv))
    x = np.vstack([sv[::2], rng.normal(size=(40, 5))])
    expected = coef @ by_differences(0.5, sv, x) - 0.25
    kernel = Kernel("rbf", 0.5)
    np.testing.assert_allclose(decision_values(kernel, sv, coef, 0.25, x), expected, atol=1e-9)
    model = collate(
        [
            BinaryModel(
                "m", "c_svc", kernel, sv, coef, 0.25, (1, 0), (30, 30), (-2.0, 0.0), Provenance(), 5
            )
        ],
        [((0,), (1,))],
        [0, 1],
    )
    machine = Machine(model, range(1))
    whole = machine.decision_values(x)
    np.testing.assert_allclose(whole[:, 0], expected, atol=1e-9)
    for size in (1, 7):
        parts = [machine.decision_values(x[at : at + size]) for at in range(0, len(x), size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
