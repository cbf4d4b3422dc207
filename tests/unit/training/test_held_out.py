"""Decision values of training points by classifiers that were trained without them."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.core.splits import calibration_rows
from agfmc.learners.protocol import plan_jobs
from agfmc.data.types import Dataset
from agfmc.prediction.decision_values import MachineValues
from agfmc.designs.design import design
from agfmc.training.fit import TrainingSettings
from agfmc.training.held_out import gather_held_out
from agfmc.training.in_memory import train_configuration
from agfmc.core.weights import Weights

GENERATOR = np.random.default_rng(3)
Y = np.repeat([0, 2, 5], [40, 30, 20])
X = GENERATOR.normal(size=(90, 3)) + Y[:, None] / 4
ORDER = GENERATOR.permutation(90)
X, Y = X[ORDER], Y[ORDER]


def trained(tree, **settings):
    return train_configuration(tree, X, Y, TrainingSettings(**settings))


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest", "tree"])
@pytest.mark.parametrize(
    "settings", [{}, {"platt": "cv"}, {"options": "learner=logistic"}, {"calibration": 30}], ids=str
)
def test_every_point_has_a_value_of_every_classifier_of_its_class(scheme, settings):
    tree = design(scheme, [0, 2, 5], x=X, y=Y)
    configuration, held_out = trained(tree, **settings)
    expected = [
        (i, j)
        for i, label in enumerate(held_out.y)
        for j, sides in enumerate(tree.sides())
        if label in sum(map(list, sides), [])
    ]
    assert list(zip(held_out.point, held_out.classifier)) == expected
    assert np.isfinite(held_out.value).all()
    np.testing.assert_array_equal(held_out.y, Y[held_out.rows])
    np.testing.assert_array_equal(held_out.x, X[held_out.rows])
    assert np.array_equal(held_out.value, held_out.value.astype(np.float32))


def test_weights_are_those_of_the_rows():
    tree = design("one-vs-one", [0, 2, 5], x=X, y=Y)
    configuration, held_out = trained(tree, calibration=30)
    jobs, w = plan_jobs(tree, "m", "", 1), np.arange(90) + 0.5
    parts = [held_out.value[held_out.classifier == number] for number in range(3)]
    one, other = (
        gather_held_out(
            tree,
            jobs,
            parts,
            (Dataset(X, Y, weights=weights), {}),
            held_out.rows,
            TrainingSettings(),
        )
        for weights in (None, Weights(w))
    )
    assert one.weights is None and held_out.weights is None
    np.testing.assert_array_equal(other.weights, w[held_out.rows])
    np.testing.assert_array_equal(other.value, held_out.value)


def test_the_values_are_of_classifiers_without_the_point():
    """A far outlier of class 2, alone in its place: the classifier itself learns it by heart."""
    x = X.copy()
    x[np.flatnonzero(Y == 2)[0]] = [-30, 30, -30]
    configuration, held_out = train_configuration(
        design("one-vs-one", [0, 2, 5], x=x, y=Y), x, Y, TrainingSettings("-c 1000 -g 0.5")
    )
    row = np.flatnonzero(Y == 2)[0]
    of_point = held_out.point == np.flatnonzero(held_out.rows == row)[0]
    own = MachineValues(configuration)(range(3), x[row : row + 1])[0][0]
    for number, value in zip(held_out.classifier[of_point], held_out.value[of_point]):
        assert abs(own[number]) > 0.99 and abs(value - own[number]) > 0.05


def test_the_same_for_any_number_of_workers():
    tree = design("one-vs-one", [0, 2, 5], x=X, y=Y)
    with ThreadPoolExecutor(2) as executor:
        values = [
            trained(tree, workers=workers, calibration=40)[1].value for workers in (1, 2, executor)
        ]
    for other in values[1:]:
        np.testing.assert_array_equal(values[0], other)


def test_models_do_not_depend_on_the_calibration():
    tree = design("one-vs-rest", [0, 2, 5], x=X, y=Y)
    for options in ("", "learner=logistic"):
        one, two = (trained(tree, calibration=count, options=options) for count in (0, 50))
        assert one[1] is None and one[0].machines.coef.tobytes() == two[0].machines.coef.tobytes()
        assert one[0].machines.a.tobytes() == two[0].machines.a.tobytes()


def test_calibration_rows_are_of_all_classes_in_proportion():
    y = np.repeat([0, 1, 7], [6000, 3000, 3])
    y = y[np.random.default_rng(1).permutation(len(y))]
    rows = calibration_rows(y, [0, 1, 7], 900, 1)
    assert np.bincount(y[rows]).tolist() == [600, 300, 0, 0, 0, 0, 0, 1]
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(rows, calibration_rows(y, [7, 1, 0], 900, 1))
    assert not np.array_equal(rows, calibration_rows(y, [0, 1, 7], 900, 2))
    np.testing.assert_array_equal(calibration_rows(y, [0, 7], 10_000, 1), np.flatnonzero(y != 1))


@pytest.mark.parametrize("code", ['"-k 1" K', '"-k 3" K', '"" L'])
def test_nodes_hold_points_out(code):
    _, held_out = trained(parse(f"{code} {{0 2 5}}"))
    p = held_out.nodes[0]
    assert p.shape == (90, 3) and np.allclose(p.sum(axis=1), 1)
    if code == '"-k 1" K':  # the nearest other point
        distances = ((X[:, None] - X[None]) ** 2).sum(axis=2) + np.diag(np.full(90, np.inf))
        np.testing.assert_array_equal(
            np.array([0, 2, 5])[p.argmax(axis=1)], Y[distances.argmin(axis=1)]
        )


def test_a_node_answers_itself_for_points_that_it_never_saw():
    _, held_out = trained(parse('"" {0 "" L {2 5}}'))
    assert held_out.nodes[1].shape == (90, 2) and np.isfinite(held_out.nodes[1]).all()
