"""Groups of samples for Python programs: the functions, the estimator, scikit-learn's tools."""

import numpy as np
import pytest

import agfmc
from agfmc.core.errors import DataError, UsageError
from agfmc.data.types import Dataset
from agfmc.designs.design import design
from agfmc.training.fit import TrainingSettings
from agfmc.training.in_memory import train_configuration

pytest.importorskip("sklearn")
from sklearn import config_context  # noqa: E402
from sklearn.model_selection import cross_validate, GroupKFold  # noqa: E402

from agfmc.estimators import MultiClassFromBinary  # noqa: E402

RNG = np.random.default_rng(4)
GROUPS = np.repeat(np.arange(9), 8)
Y = np.repeat(np.arange(9) % 3, 8)
X = (3 * RNG.normal(size=(9, 2)))[GROUPS] + 0.1 * RNG.normal(size=(72, 2))
NAMES = np.array([f"p{group}" for group in GROUPS])


def held_out(configuration):
    """Whether the probabilities of what was held out are near 1: groups were divided."""
    points = next(iter(configuration.calibration.decoders.values())).points
    return float(np.mean(points.p_largest))


def test_functions_take_groups():
    options = {"options": "learner=nystrom -m 20 -g 1 -l 0.1"}
    rows = agfmc.train("one-vs-rest", X, Y, **options)
    whole = agfmc.train("one-vs-rest", X, Y, group=NAMES, **options)
    assert held_out(rows) > 0.9 > 0.7 > held_out(whole)
    assert whole.provenances[0].groups == 9
    # numbers of groups are names as well
    same = agfmc.train("one-vs-rest", X, Y, group=GROUPS.astype(float), **options)
    assert same.digest() == whole.digest() and held_out(same) == held_out(whole)


def test_values_that_are_held_out_are_those_of_training_without_the_group():
    tree = design("one-vs-one", range(3))
    settings = TrainingSettings("learner=nystrom -m 72 -g 1 -l 0.1")
    kernel = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    for order in (np.arange(72), RNG.permutation(72)):
        data = Dataset(X[order], Y[order], groups=GROUPS[order])
        held = train_configuration(tree, data, settings=settings)[1]
        values = np.full((72, 3), np.nan)
        values[order[held.rows[held.point]], held.classifier] = held.value
        for number, (left, right) in enumerate(tree.sides()):
            some = np.isin(Y, left + right)
            for group in np.unique(GROUPS[some]):
                train = np.flatnonzero(some & (GROUPS != group))
                test = np.flatnonzero(GROUPS == group)
                n, target = len(train), np.where(np.isin(Y[train], right), 1.0, -1.0)
                matrix = np.ones((n + 1, n + 1))
                matrix[:n, :n] = kernel[np.ix_(train, train)] + 0.1 * np.eye(n)
                matrix[n, n] = 0
                solution = np.linalg.solve(matrix, np.append(target, 0))
                expected = kernel[np.ix_(test, train)] @ solution[:n] + solution[n]
                np.testing.assert_allclose(values[test, number], expected, atol=2e-6)


def test_wrong_groups_are_refused():
    for groups, message in ((NAMES[1:], "expected 72 words"), (X[:, 0], "expected words or whole")):
        with pytest.raises(DataError, match=message):
            agfmc.train("one-vs-rest", X, Y, group=groups)
    with pytest.raises(DataError, match="class 0 lies in one group only, '0'"):
        agfmc.train("one-vs-rest", X, Y, group=Y)
    with pytest.raises(UsageError, match="the data have groups"):
        agfmc.train(
            "one-vs-rest",
            Dataset(X, Y, groups=GROUPS, group_names=tuple("abcdefghi")),
            group=GROUPS,
        )


def test_the_estimator_takes_groups_and_scikit_learn_routes_them():
    settings = {"control": "one-vs-rest", "learner": "nystrom", "gamma": 1.0, "alpha": 0.1}
    model = MultiClassFromBinary(**settings).fit(X, Y, groups=NAMES)
    assert held_out(model.configuration_) < 0.7
    model.calibrate(X, Y, map="temperature", groups=GROUPS)
    with pytest.raises(ValueError, match="lies in one group only"):
        model.fit(X, Y, groups=Y)
    with config_context(enable_metadata_routing=True):
        model = MultiClassFromBinary(**settings).set_fit_request(groups=True)
        done = cross_validate(
            model, X, Y, cv=GroupKFold(3), params={"groups": NAMES}, return_estimator=True
        )
    assert all(one.configuration_.provenances[0].groups == 6 for one in done["estimator"])
