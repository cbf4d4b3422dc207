"""However the support vectors are cut into blocks, the decision values are the same."""

import threading

import numpy as np
import pytest

from agfmc.kernel import machine
from agfmc.models import CollatedModel, Kernel


def model_of(classes=4, each=30, d=3, seed=0):
    """One-vs-one over classes of `each` support vectors, a third of them in each classifier."""
    generator = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    index = [np.sort(np.concatenate([generator.choice(each, each // 3, replace=False) + c * each
                                     for c in pair])) for pair in pairs]
    m = len(pairs)
    return CollatedModel(
        (Kernel("rbf", 0.3),), np.zeros(m, np.int32),
        generator.normal(size=(classes * each, d)), np.repeat(np.arange(classes), each),
        np.concatenate([[0], np.cumsum([len(part) for part in index])]), np.concatenate(index),
        generator.normal(size=sum(map(len, index))), generator.normal(size=m), np.ones(m),
        np.zeros(m), np.ones(m, np.int8), ())


def naive(model, x):
    kernel = np.exp(-0.3 * ((x[:, None] - model.sv) ** 2).sum(axis=2))
    coef = np.zeros((len(model.rho), len(model.sv)))
    for row, (start, stop) in enumerate(zip(model.indptr, model.indptr[1:])):
        coef[row, model.index[start:stop]] = model.coef[start:stop]
    return kernel @ coef.T - model.rho


@pytest.mark.parametrize("longest", [7, 30, 512])
@pytest.mark.parametrize("overhead, together", [(0, False), (10**6, True)])
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
    np.testing.assert_allclose(made.decision_values(x), naive(model, x), rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(made.values_by_row(x).T, made.decision_values(x))
    some = machine.Machine(model, (1, 4)).decision_values(x)
    np.testing.assert_allclose(some, naive(model, x)[:, [1, 4]], rtol=1e-11, atol=1e-12)


def test_a_product_that_is_small_enough_is_kept_small():
    model = model_of(each=600)
    sizes = [span.stop - span.start
             for span, _, dense in machine.Machine(model, range(6))._parts[0]._blocks]
    assert max(sizes) <= machine._LONGEST and sum(sizes) == len(np.unique(model.index))
    wide = model_of(classes=8, each=600)
    for _, _, dense in machine.Machine(wide, range(28))._parts[0]._blocks:
        assert dense.size * machine.BLOCK <= machine._SMALL
