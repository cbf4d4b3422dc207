"""Probabilities turned to other proportions, and counts of classes from those of sides."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from agfmc.calibration.priors import Adjustment, class_counts
from agfmc.core.errors import ModelError
from agfmc.designs.design import design


def exactly(p, new, trained):
    """Equation (2.4) of Saerens and others in fractions."""
    raw = [
        max(Fraction(float(a)), 0) * Fraction(float(b)) / Fraction(float(c))
        for a, b, c in zip(p, new, trained)
    ]
    return [float(value / sum(raw)) for value in raw]


def test_by_hand():
    # 0.6 (0.1/0.5), 0.3 (0.5/0.25), 0.1 (0.4/0.25) = 0.12, 0.6, 0.16
    p = Adjustment([0.1, 0.5, 0.4], [0.5, 0.25, 0.25])(np.array([[0.6, 0.3, 0.1]]))
    np.testing.assert_allclose(p, [[0.12 / 0.88, 0.6 / 0.88, 0.16 / 0.88]], rtol=1e-15)


@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_against_fractions_and_one_by_one(k, seed):
    generator = np.random.default_rng(seed)
    p = generator.dirichlet(np.full(k, 0.3), 7)
    p[generator.random(p.shape) < 0.2] *= -1e-3
    p[:, 0] = np.abs(p[:, 0]) + 1e-9
    new, trained = generator.dirichlet(np.ones(k)), generator.dirichlet(np.ones(k)) + 1e-3
    adjust = Adjustment(new, trained / trained.sum())
    for layout in (p, np.asfortranarray(p)):
        found = adjust(layout)
        assert found.min() >= 0
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-14)
        for row, one in zip(found, layout):
            assert adjust(one[None]).tobytes() == row.tobytes()  # the neighbours do not matter
    for row, one in zip(found, p):
        np.testing.assert_allclose(row, exactly(one, adjust.new, trained), rtol=1e-10)


def test_the_same_proportions_change_nothing_but_estimates():
    shares = np.array([0.2, 0.3, 0.5])
    p = np.array([[0.2, 0.5, 0.3], [1, 0, 0]])
    np.testing.assert_allclose(Adjustment(shares, shares)(p), p, rtol=1e-15)
    np.testing.assert_allclose(
        Adjustment(shares, shares)(np.array([[0.5, 0.7, -0.2]])), [[5 / 12, 7 / 12, 0]], rtol=1e-15
    )


def test_a_class_that_is_never_met():
    adjust = Adjustment([0.5, 0, 0.5], [1 / 3] * 3)
    p = adjust(np.array([[0.1, 0.8, 0.1], [0, 1, 0], [0.3, 0.4, 0.3]]))
    np.testing.assert_allclose(p[0], [0.5, 0, 0.5])
    np.testing.assert_array_equal(p[1], [0.5, 0, 0.5])  # nothing else is known
    assert p[2].argmax() == 0  # the first on ties


def test_extreme_numbers():
    p = Adjustment([0.5, 0.5], [1e-300, 1.0])(np.array([[1e-300, 1.0], [0, 5e-324]]))
    np.testing.assert_allclose(p[0], [0.5, 0.5], rtol=1e-12)
    np.testing.assert_array_equal(p[1], [0, 1])
    with pytest.raises(ModelError, match="too small"):
        Adjustment([0.5, 0.5], [1e-320, 1.0])


def totals_of(rows, counts):
    return [(side, sum(counts[j] for j in side)) for row in rows for side in row]


@pytest.mark.filterwarnings("ignore:no orthogonal code")
@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize(
    "scheme",
    ["one-vs-rest", "one-vs-one", "adjacent", "exhaustive", "orthogonal", "tree", "tree-code"],
)
def test_counts_of_schemes(scheme, k):
    counts = np.random.default_rng(k).integers(1, 1000, k)
    counts[0] = 1
    totals = totals_of(design(scheme, range(k)).sides(), counts)
    np.testing.assert_array_equal(class_counts(totals, k), counts)


@given(st.integers(2, 9), st.integers(2, 14), st.integers(0, 2**32 - 1))
@example(2, 2, 0)  # no row is left
def test_counts_of_random_codes(k, m, seed):
    generator = np.random.default_rng(seed)
    code = generator.integers(-1, 2, (m, k))
    code = code[(code == 1).any(axis=1) & (code == -1).any(axis=1)]
    counts = generator.integers(1, 10**6, k)
    rows = [tuple(np.flatnonzero(row == side).tolist() for side in (-1, 1)) for row in code]
    found = class_counts(totals_of(rows, counts), k) if rows else None
    sides = np.array([np.isin(np.arange(k), side) for row in rows for side in row]).reshape(-1, k)
    if rows and np.linalg.matrix_rank(sides.astype(float)) == k:
        np.testing.assert_array_equal(found, counts)
    else:
        assert found is None


def test_counts_that_contradict_each_other():
    for totals in (
        [((0,), 3), ((1,), 4), ((0,), 5)],
        [((0,), 3), ((1,), 4), ((0, 1), 8)],
        [((0, 1), 5), ((0, 2), 5), ((1, 2), 5)],
        [((0,), 3), ((0, 1), 3)],
    ):
        with pytest.raises(ModelError, match="different samples"):
            class_counts(totals, 1 + max(max(side) for side, _ in totals))
