"""Projected decision functions against least squares by hand; the bound on random points."""

from dataclasses import replace

from hypothesis import given, strategies as st
import numpy as np
import pytest

from agfmc.core.errors import DataError, UsageError
from agfmc.kernels import projection
from agfmc.kernels.machine import Machine, squared_norms
from agfmc.kernels.projection import PivotedCholesky, Projection
from agfmc.kernels.values import PreparedKernel
from agfmc.core.models import MergedModel, Kernel
from agfmc.core.provenance import Provenance

KERNELS = [Kernel("rbf", .3), Kernel("linear"), Kernel("polynomial", .5, 1., 2)]


def model_of(seed, kernels=KERNELS[:1], m=4, s=30, d=3, share=.5):
    """m classifiers that use some of s support vectors each, kernels in turn."""
    generator = np.random.default_rng(seed)
    index = [np.flatnonzero(generator.random(s) < share) for _ in range(m)]
    sizes = [len(one) for one in index]
    return MergedModel(
        kernels=tuple(kernels), kernel_of=np.arange(m, dtype=np.int32) % len(kernels),
        sv=generator.normal(size=(s, d)), group=np.sort(generator.integers(0, 3, s)).astype("i4"),
        indptr=np.cumsum([0, *sizes]), index=np.concatenate(index).astype(np.int32),
        coef=generator.normal(size=sum(sizes)) * 10.0 ** generator.integers(-2, 2, sum(sizes)),
        rho=generator.normal(size=m), a=np.ones(m), b=np.zeros(m),
        orientation=np.ones(m, dtype=np.int8), provenances=(Provenance(("0.2.0",)),) * m)


def values(model, x):
    return Machine(model, range(len(model.rho))).decision_values(x)


def gram(kernel, x):
    return PreparedKernel(kernel, x).values(x)


@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from([KERNELS[:1], KERNELS[1:2],
                                                                  KERNELS[2:], KERNELS]))
def test_the_bound_holds_everywhere(seed, p, kernels):
    model = model_of(seed, kernels)
    small, bounds = Projection(model).onto(p)
    x = np.concatenate([model.sv, np.random.default_rng(seed).normal(size=(50, 3)) * 2])
    change = np.abs(values(small, x) - values(model, x))
    for column, number in enumerate(model.kernel_of):
        norm = np.sqrt(gram(model.kernels[number], x).diagonal())
        allowed = bounds[column] * norm + 1e-9 * np.abs(values(model, x)[:, column])
        assert (change[:, column] <= allowed).all()
        told = small.provenances[column].bound
        assert told is None if bounds[column] == 0 else bounds[column] <= told < 1.02 * \
            bounds[column]
    assert set(map(bytes, small.sv)) <= set(map(bytes, model.sv))
    assert (np.diff(small.group) >= 0).all()
    for start, stop in zip(small.indptr, small.indptr[1:]):
        assert (np.diff(small.index[start:stop]) > 0).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_coefficients_are_those_of_least_squares(kernel):
    model = model_of(1, [kernel], d=6)
    small, bounds = Projection(model).onto(5)
    assert len(small.sv) == 5
    whole, own = gram(kernel, model.sv), gram(kernel, small.sv)
    across = PreparedKernel(kernel, small.sv).values(model.sv)
    for column in range(4):
        part = slice(model.indptr[column], model.indptr[column + 1])
        w = np.zeros(30)
        w[model.index[part]] = model.coef[part]
        b = np.linalg.solve(own, across @ w)
        got = small.coef[small.indptr[column]:small.indptr[column + 1]]
        np.testing.assert_allclose(got, b, rtol=1e-9, atol=1e-9)
        assert bounds[column] == pytest.approx(np.sqrt(w @ whole @ w - b @ own @ b), rel=1e-6)
        assert squared_norms(model)[column] == pytest.approx(w @ whole @ w, rel=1e-12)


@pytest.mark.parametrize("s", [1, 7, 300])
def test_pivots_are_those_found_one_by_one(s, monkeypatch):
    monkeypatch.setattr(projection, "_CANDIDATES", 8)
    generator = np.random.default_rng(s)
    x, weights = generator.normal(size=(s, 4)), generator.random(s)
    weights[1::5] = 0.0  # of no use to any classifier
    left = gram(KERNELS[0], x)
    wanted = []
    for _ in range(min(np.count_nonzero(weights), 60)):
        best = int((weights * left.diagonal()).argmax())
        wanted.append(best)
        left = left - np.outer(left[best], left[best]) / left[best, best]
    found = PivotedCholesky(KERNELS[0], x, weights)
    first = found.factor(min(s, 20)).copy()
    factor = found.factor(min(s, 60))
    assert found.pivots.tolist() == wanted
    np.testing.assert_array_equal(factor[:, :first.shape[1]], first)
    assert found.rank == (len(wanted) if s == 7 else None)
    np.testing.assert_allclose(gram(KERNELS[0], x) - factor @ factor.T, left, atol=1e-12)
    pivots = factor[found.pivots]
    assert (np.triu(pivots, 1) == 0).all() and (pivots.diagonal() > 0).all()


@pytest.mark.parametrize("kernels", [KERNELS[:1], KERNELS], ids=len)
def test_all_support_vectors_change_nothing(kernels):
    model = model_of(2, kernels, share=.9)
    found = Projection(model)
    small, bounds = found.onto(found.support_vectors)
    for name in ("sv", "coef", "index", "indptr", "group", "provenances"):
        np.testing.assert_array_equal(getattr(small, name), getattr(model, name))
    assert (bounds == 0).all()


def test_the_span_of_few_features_is_enough_for_planes():
    model = model_of(3, KERNELS[1:2])
    small, bounds = Projection(model).onto(25)
    assert len(small.sv) == 3 and bounds.max() < 1e-4
    x = np.random.default_rng(0).normal(size=(40, 3))
    np.testing.assert_allclose(values(small, x), values(model, x), atol=1e-9)


def test_points_far_from_all_others_are_kept_to_the_last_digit():
    model = model_of(4, [Kernel("rbf", 50.)], d=6)
    x = np.random.default_rng(0).normal(size=(40, 6))
    found = Projection(model)
    part = found._parts[0]
    chosen, weights, squares = part.onto(part.size)
    assert len(chosen) == part.size
    np.testing.assert_allclose(squares, squared_norms(model), rtol=1e-12)
    given = [dict(zip(model.index[i:j], model.coef[i:j]))
             for i, j in zip(model.indptr, model.indptr[1:])]
    np.testing.assert_allclose(weights.T, [[one.get(row, 0.) for row in chosen] for one in given],
                               atol=1e-9)
    assert np.abs(values(found.onto(part.size - 1)[0], x) - values(model, x)).max() < 1e3


def test_kernels_share_the_landmarks():
    model = model_of(5, [Kernel("rbf", .3), Kernel("rbf", .4)], s=60)
    sizes = [len(np.unique(np.concatenate([
        model.index[model.indptr[i]:model.indptr[i + 1]] for i in (k, k + 2)]))) for k in (0, 1)]
    small, _ = Projection(model).onto(20)
    counts = np.diff(small.indptr)
    assert counts[0] == counts[2] and counts[1] == counts[3] and counts[0] + counts[1] == 20
    assert abs(counts[0] - 20 * sizes[0] / sum(sizes)) <= 1
    assert np.diff(Projection(model).onto(1)[0].indptr).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("kernel", [Kernel("sigmoid", .5, -1.), Kernel("polynomial", .5, -2., 1)],
                         ids=str)
def test_a_kernel_that_is_none(kernel):
    with pytest.raises(DataError, match=f"^the {kernel.kind} kernel .*not positive definite"):
        Projection(model_of(6, [kernel])).onto(20)


def test_more_than_fits_in_memory(monkeypatch):
    monkeypatch.setattr(projection, "memory_limit", lambda: 2 << 12)
    with pytest.raises(UsageError, match="^20 of 30 support vectors and 4 classifiers take "):
        Projection(model_of(7, share=.9)).onto(20)


def test_classifiers_whose_coefficients_are_zero():
    small, bounds = Projection(replace(model_of(9), coef=np.zeros(len(model_of(9).coef)))).onto(3)
    assert small.sv.shape == (0, 3) and bounds.tolist() == [0.] * 4


def test_no_binary_classifier_and_no_support_vector():
    none = replace(model_of(8, m=1), indptr=np.zeros(2, "i8"), index=np.zeros(0, "i4"),
                   coef=np.zeros(0))
    small, bounds = Projection(none).onto(3)
    assert small.sv.shape == (0, 3) and bounds.tolist() == [0.]
    empty = replace(none, indptr=np.zeros(1, "i8"), **{name: getattr(none, name)[:0] for name in (
        "kernel_of", "rho", "a", "b", "orientation", "provenances")})
    assert len(Projection(empty).onto(3)[1]) == 0
