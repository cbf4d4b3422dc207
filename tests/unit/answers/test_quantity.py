"""Expected quantities and quantiles from probabilities of classes that are intervals."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.control.parse import parse
from agfmc.core.errors import UsageError
from agfmc.calibration.types import Calibration, DecoderCalibration, ProbabilityMap
from agfmc.prediction.classifier import Classifier
from agfmc.prediction.decoding import Decoding
from agfmc.answers.quantity import Quantity, quantity_of
from hostile_store import models

LEVELS = (0.0, 0.05, 0.25, 0.5, 0.95, 1.0)


def quantity(levels=LEVELS, order=(0, 1, 2)):
    low, high, mean = np.array([[0.0, 1, 3], [1, 3, 10], [0.4, 2.5, 4]])
    return Quantity(np.array(order), low, high, mean, levels)


def test_by_hand():
    told = quantity()(np.array([[0.25, 0.5, 0.25], [0, 1, 0], [0.0, 0.1, 0.9]]))
    np.testing.assert_allclose(
        told,
        [
            [0.1 + 1.25 + 1, 0, 0.2, 1, 2, 3 + 7 * 0.8, 10],
            [2.5, 1, 1.1, 1.5, 2, 2.9, 3],
            [0.25 + 3.6, 1, 2, 3 + 7 / 6, 3 + 7 * 4 / 9, 3 + 7 * 85 / 90, 10],
        ],
        rtol=1e-13,
    )


def test_columns_in_another_order():
    p = np.array([[0.25, 0.6, 0.15], [0.2, 0.1, 0.7]])
    np.testing.assert_array_equal(quantity(order=(2, 0, 1))(p[:, [1, 2, 0]]), quantity()(p))


def test_negative_estimates_and_sums():
    told = quantity()(
        np.array([[0.25, 0.5, 0.25], [0.5, 1, 0.5], [-0.2, 0.4, 0.2], [0, 0.4, 0.2], [-1, 0, -1]])
    )
    np.testing.assert_allclose(told[1], told[0], rtol=1e-13)
    np.testing.assert_array_equal(told[2], told[3])
    np.testing.assert_allclose(told[4], quantity()(np.full((1, 3), 1 / 3))[0], rtol=1e-13)


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=6))
def test_quantiles_ascend_within_the_limits(rows):
    p = np.array(rows)
    told = quantity()(p)
    assert (np.diff(told[:, 1:], axis=1) >= 0).all()
    assert (told >= 0).all() and (told <= 10).all()
    for row, line in zip(p, told):  # a point's bits do not depend on its neighbours
        np.testing.assert_array_equal(quantity()(row[None])[0], line)


def test_text():
    two = quantity((0.5,))
    assert two.header == b"quantity mean 0.5 class\n"
    assert two.lines(np.array([[0.25, 0.5, 0.25], [0, 1, 0]]), np.array([1, -1])) == (
        b"         2.35            2    1\n          2.5            2   -1\n"
    )


def classifier(names, tree="recursive", method="least-squares"):
    configuration = models()["rest"].renamed(names)
    return Classifier(configuration, Decoding(method, tree=tree))


def test_limits_come_from_the_names():
    found = quantity_of(classifier({0: "3..7~4", 1: "7..", 2: "1..3"}), [0.5])
    assert found.order.tolist() == [2, 0, 1] and found.levels == (0.5,)
    assert found.low.tolist() == [1, 3, 7] and found.high.tolist() == [3, 7, 7]
    assert found.mean.tolist() == [2, 4, 7]


def test_the_floor_of_a_calibration_is_left_out():
    plain = models()["rest"]
    maps = [
        ProbabilityMap("temperature", np.array(0.8), np.zeros(3), floor) for floor in (0.0, 0.3)
    ]
    bare, floored = (
        replace(
            plain,
            calibration=Calibration(
                plain.digest(), (0, 1, 2), "a", (1,) * 3, {"least-squares": DecoderCalibration(one)}
            ),
        )
        for one in maps
    )
    x = np.array([[0.3, 0.1], [-1, 2], [2, 0.5]])
    for priors in (None, {0: 0.5, 1: 0.2, 2: 0.3}):
        chosen = Decoding(priors=priors, trained_priors=None if priors is None else [1 / 3] * 3)
        wanted = Classifier(bare, chosen)(x)
        with_floor = Classifier(floored, chosen)(x)
        told = Classifier(floored, replace(chosen, without_floor=True))(x)
        np.testing.assert_allclose(told.columns, wanted.columns, atol=1e-15)
        assert np.abs(with_floor.columns - wanted.columns).max() > 0.02
        np.testing.assert_array_equal(told.classes, with_floor.classes)
        np.testing.assert_array_equal(told.confidence, with_floor.confidence)


@pytest.mark.parametrize(
    "names, words",
    [
        ({}, "class 0 has no name"),
        ({0: "1..2", 1: "cat", 2: "3..4"}, "class 1 is named 'cat'"),
        ({0: "1..3", 1: "2..4", 2: "4..5"}, "do not overlap: '1..3' and '2..4'"),
    ],
)
def test_names_without_limits(names, words):
    with pytest.raises(UsageError, match=words):
        quantity_of(classifier(names))


@pytest.mark.parametrize("method", ["vote", "binary", "loss:hinge", "argmax-raw"])
def test_answers_without_probabilities_of_all_classes(method):
    with pytest.raises(UsageError, match="needs the probabilities of all classes"):
        quantity_of(classifier({0: "1..2", 1: "2..3", 2: "3..4"}, method=method))


def test_a_tree_needs_all_of_it():
    tree = models()["tree"]
    tree = replace(tree, tree=parse("a { b { 0 1 } c { 2 d { 5 4 } } }\n")).renamed(
        {label: f"{label}..{label + 1}" for label in range(6)}
    )
    with pytest.raises(UsageError, match='for a tree `tree="full"`'):
        quantity_of(Classifier(tree, Decoding()))
    assert quantity_of(Classifier(tree, Decoding(tree="full"))).low.tolist() == [0, 1, 2, 4, 5]
