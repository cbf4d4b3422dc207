"""Folds, and the sigmoid that is fitted to the decision values of held-out samples."""

import warnings

import numpy as np
import pytest

from agfmc.learners.platt import fit_sigmoid, FOLDS, folds
from agfmc.core.splits import job_seed


def test_check_values():
    f = [-2.1, -1.3, -0.4, 0.2, 0.3, 0.9, 1.7, 2.2]
    y = [False, False, True, False, True, True, True, True]
    a, b, converged = fit_sigmoid(f, y)
    assert converged
    assert a == pytest.approx(-0.8364817, abs=2e-6) and b == pytest.approx(-0.4067341, abs=2e-6)


def loss(f, y, a, b):
    above, below = np.sum(y), np.sum(~y)
    t = np.where(y, (above + 1) / (above + 2), 1 / (below + 2))
    return np.sum(t * np.logaddexp(0, a * f + b) + (1 - t) * np.logaddexp(0, -(a * f + b)))


@pytest.mark.parametrize("seed", range(5))
def test_nothing_near_is_better(seed):
    generator = np.random.default_rng(seed)
    f = generator.normal(size=80) * 10.0 ** (seed - 2)
    y = f + generator.normal(size=80) * 10.0 ** (seed - 2) > 0
    a, b, converged = fit_sigmoid(f, y)
    assert converged and a < 0
    best = loss(f, y, a, b)
    for da, db in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        assert loss(f, y, a + da * 1e-2 * abs(a), b + db * 1e-2) > best


@pytest.mark.parametrize("seed", [8, 18, 36, 39])
def test_many_samples_converge_within_rounding(seed):
    generator = np.random.default_rng(seed)
    f = generator.normal(size=30_000) * (0.1 + generator.random())
    y = f * generator.random() * 3 + generator.normal(size=len(f)) - generator.random() > 0
    assert fit_sigmoid(f, y)[2]


def test_the_other_class_first_is_the_mirror():
    generator = np.random.default_rng(9)
    f = generator.normal(size=50)
    y = f + generator.normal(size=50) > 0
    a, b, _ = fit_sigmoid(f, y)
    a2, b2, _ = fit_sigmoid(f, ~y)
    assert (a2, b2) == pytest.approx((-a, -b), abs=1e-4)


@pytest.mark.parametrize(
    "f",
    [
        [0.0] * 6,
        [1e9] * 6,
        [1e10] * 6,
        [1e150] * 6,
        [1e200, -1e200] * 3,
        [np.nan] * 6,
        [1e-300, 2e-300] * 3,
        [-1e5, 1e5] * 3,
    ],
)
def test_extreme_values_end_well(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        a, b, converged = fit_sigmoid(f, [False, True] * 3)
    assert np.isfinite([a, b]).all()
    assert type(a) is float and type(b) is float and type(converged) is bool


def test_folds_are_stratified():
    side = np.array([0] * 23 + [1] * 11)
    fold = folds(side, 3)
    counts = np.array([[np.sum((fold == k) & (side == s)) for k in range(FOLDS)] for s in (0, 1)])
    assert counts.sum() == 34 and (np.ptp(counts, axis=1) <= 1).all()
    assert np.ptp(counts.sum(axis=0)) <= 1


def test_folds_repeat_and_differ():
    side = np.arange(40) % 2
    np.testing.assert_array_equal(folds(side, 7), folds(side.tolist(), 7))
    assert (folds(side, 7) != folds(side, 8)).any()
    np.testing.assert_array_equal(folds(side, 7)[:12], [0, 3, 3, 1, 2, 2, 0, 4, 2, 4, 4, 2])


@pytest.mark.parametrize("few", [2, 3, 4])
def test_few_samples_make_few_folds(few):
    side = np.array([1] * few + [0] * 9)
    fold = folds(side, 0)
    assert set(fold) == set(range(few))
    for k in range(few):
        assert set(side[fold != k]) == {0, 1} and np.sum(side[fold == k]) == 1


def test_seeds_belong_to_the_partition():
    assert job_seed(1, (0, 2), (1,)) == job_seed(1, (2, 0), (1,))
    seeds = {
        job_seed(1, (0,), (1,)),
        job_seed(1, (1,), (0,)),
        job_seed(2, (0,), (1,)),
        job_seed(1, (0, 1), (2,)),
        job_seed(1, (0,), (1, 2)),
        job_seed(1, (0, 12), (3,)),
        job_seed(1, (0, 1), (2, 3)),
    }
    assert len(seeds) == 7 and all(0 <= seed < 2**64 for seed in seeds)
    assert job_seed(1, (0,), (1,)) == 10079644312721931911
