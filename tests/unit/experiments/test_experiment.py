"""Splits: nobody twice, everybody once, each class its share, the same again from a seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agfmc.errors import DataError, UsageError
from agfmc.experiments.experiment import SplitPlan as Plan, splits
from agfmc.prepare.split import split_stratified, stratified_parts

Y = np.repeat([4, 1, 9], [30, 17, 5])


def test_trials_are_those_of_the_data_tool():
    made = list(splits(Y, Plan(0.3, None, 3, 5)))
    assert [split.name for split in made] == ["trial 1", "trial 2", "trial 3"]
    for trial, split in enumerate(made):
        train, test = split_stratified(Y, 0.3, 5 + trial)
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, test)
    assert not np.array_equal(made[0].test, made[1].test)


def test_parts_hold_out_everyone_once():
    made = list(splits(Y, Plan(None, 4, 2, 1)))
    assert len(made) == Plan(None, 4, 2, 1).count == 8
    for trial in (made[:4], made[4:]):
        held = np.concatenate([split.test for split in trial])
        np.testing.assert_array_equal(np.sort(held), np.arange(len(Y)))
        for split in trial:
            np.testing.assert_array_equal(np.union1d(split.train, split.test), np.arange(len(Y)))
            assert len(np.intersect1d(split.train, split.test)) == 0
    assert not np.array_equal(made[0].test, made[4].test)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=60), st.integers(2, 9), st.integers(0, 99))
def test_parts_differ_by_one(y, parts, seed):
    y = np.array(y)
    if parts > len(y):
        with pytest.raises(DataError):
            stratified_parts(y, parts, seed)
        return
    part = stratified_parts(y, parts, seed)
    sizes = np.bincount(part, minlength=parts)
    assert sizes.max() - sizes.min() <= 1
    for label in np.unique(y):
        counts = np.bincount(part[y == label], minlength=parts)
        assert counts.max() - counts.min() <= 1
    np.testing.assert_array_equal(part, stratified_parts(y, parts, seed))


@pytest.mark.parametrize("plan", [Plan(None, 1), Plan(0.3, None, 0), Plan(1.5)])
def test_plans_that_cannot_be(plan):
    with pytest.raises(UsageError):
        list(splits(Y, plan))


def test_ratio():
    assert Plan(0.25).ratio == pytest.approx(1 / 3)
    assert Plan(None, 5).ratio == pytest.approx(1 / 4)
