"""Splits that do not divide groups: balance, order of the rows, errors, leaving groups out."""

from dataclasses import replace

import numpy as np
import pytest

from agfmc.core.errors import DataError
from agfmc.core.points import packed
from agfmc.core.provenance import Provenance, settings_text
from agfmc.core.splits import split_stratified, stratified_folds, stratified_parts
from agfmc.data.groups import check_groups
from agfmc.data.types import Dataset
from agfmc.landmarks.learner import Ridge
from agfmc.learners import platt


def rows(seed, n=400):
    """Classes (n,) and groups (n,) of unequal sizes, whose classes differ."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(30, n, p=rng.dirichlet(np.full(30, 2.0)))
    shares = rng.dirichlet(np.full(4, 3.0), size=30)
    return np.array([rng.choice(4, p=shares[group]) for group in groups]), groups


def unevenness(y, fold):
    table = np.zeros((fold.max() + 1, y.max() + 1))
    np.add.at(table, (fold, y), 1)
    return (table / table.sum(axis=0)).std(axis=0).mean()


def divided(groups, part):
    return any(len(set(part[groups == group])) > 1 for group in np.unique(groups))


def test_folds_of_groups_are_as_even_as_those_of_scikit_learn():
    selection = pytest.importorskip("sklearn.model_selection")
    found, reference = [], []
    for seed in range(4):
        y, groups = rows(seed)
        fold, other = stratified_folds(y, seed, 5, groups), np.empty(len(y), int)
        assert not divided(groups, fold) and set(fold) == set(range(5))
        for number, (_, test) in enumerate(
            selection.StratifiedGroupKFold(5, shuffle=True, random_state=seed).split(y, y, groups)
        ):
            other[test] = number
        found.append(unevenness(y, fold))
        reference.append(unevenness(y, other))
    assert np.mean(found) < 1.05 * np.mean(reference)


def test_the_order_of_rows_changes_no_split_and_the_seed_does():
    y, groups = rows(3)
    order = np.random.default_rng(1).permutation(len(y))
    for split in (
        lambda y, groups, seed: stratified_folds(y, seed, 4, groups),
        lambda y, groups, seed: platt.folds(y > 1, seed, groups=groups),
        lambda y, groups, seed: np.isin(
            np.arange(len(y)), split_stratified(y, 0.3, seed, groups)[1]
        ),
    ):
        part = split(y, groups, 1)
        assert not divided(groups, part)
        assert (split(y[order], groups[order], 1) == part[order]).all()
        assert (split(y, groups, 2) != part).any()


def test_there_are_no_more_parts_than_groups():
    groups = np.repeat([7, 7, 2, 5, 5, 1], 10)
    with pytest.raises(DataError, match="4 groups cannot be divided into 5 parts"):
        stratified_parts(np.arange(60) % 2, 5, 1, groups)
    with pytest.raises(DataError, match="all went into one part"):
        split_stratified(np.arange(60) % 2, 0.5, 1, np.zeros(60))
    # a class is never left out of the test part while it has two groups
    assert len(split_stratified(np.arange(60) % 2, 0.01, 1, groups)[1]) == 10


def test_every_class_of_two_groups_stays_in_training():
    # the one group with both classes has to be alone
    side, groups = np.array([0, 0, 1, 1, 0, 1]), np.array([4, 4, 2, 2, 3, 3])
    fold = platt.folds(side, 1, groups=groups)
    assert all(set(side[fold != number]) == {0, 1} for number in set(fold))


def test_a_class_in_one_group_is_named():
    y, groups = np.array([0, 0, 3, 3, 5, 5]), np.array([1, 2, 2, 2, 0, 0])
    data = Dataset(None, y, ("", "", "", "cat"), groups=groups, group_names=("Ann", "Al", "Bob"))
    with pytest.raises(
        DataError, match="class 3 'cat' lies in one group only, 'Bob': it cannot be held out"
    ):
        check_groups(data)
    with pytest.raises(DataError, match="groups or more; `min_class=1,2` leaves out classes in"):
        check_groups(data, remedy=True)
    with pytest.raises(DataError, match="class 0 .* in a part, 'Al': .*`min_class=1,3` leaves"):
        check_groups(data, where=" in a part", rows=[0], remedy=True)
    check_groups(replace(data, y=y[:2], groups=groups[:2]))
    check_groups(Dataset(None, y))


@pytest.mark.parametrize("size", [3, 40])
def test_leaving_a_group_out_is_training_without_it(size):
    rng = np.random.default_rng(size)
    n, p, ridge = 120, 12, 0.3  # groups smaller and larger than the number of features
    phi, w = rng.normal(size=(p, n)), rng.uniform(0.5, 2, n)
    t, groups = np.sign(rng.normal(size=(2, n))), np.arange(n) // size

    def solved(some):
        phi_, w_, t_ = phi[:, some], w[some], t[:, some]
        made = Ridge([(packed((phi_ * w_) @ phi_.T), 1.0)], phi_ @ w_, w_.sum(), ridge)
        return made, *made.solve(phi_ @ (t_ * w_).T, t_ @ w_ / w_.sum())

    made, v, b = solved(np.ones(n, bool))
    found = made.leave_out(t, v.T @ phi + b[:, None], phi, w, groups)
    for group in set(groups):
        _, v, b = solved(groups != group)
        expected = v.T @ phi[:, groups == group] + b[:, None]
        np.testing.assert_allclose(found[:, groups == group], expected, rtol=0, atol=1e-8)
    single = made.leave_out(t, t * 0.1, phi, w, np.arange(n))
    np.testing.assert_allclose(single, made.leave_out(t, t * 0.1, phi, w), atol=1e-10)


def test_a_model_records_its_groups_and_what_models_share_does_not():
    sides = (0,), (1,)
    one, other = (
        Provenance("agfmc").with_samples((4, 4), sides, groups=np.arange(n) // 2) for n in (6, 8)
    )
    assert (one.groups, other.groups) == (3, 4)
    assert settings_text(one.to_record()) == settings_text(other.to_record())
