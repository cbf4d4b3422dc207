"""Answers of the least expected cost."""

import numpy as np
import pytest

from agfmc.core.costs import cost_matrix, CostMatrix
from agfmc.decode.costs import cheapest, expected_costs
from agfmc.core.errors import UsageError

COSTS = np.array([[0, 1, 5], [1, 0, 5], [10, 10, 0]], dtype=float)
P = np.array([[0.5, 0.35, 0.15]])


def test_expected_costs_by_hand():
    assert expected_costs(P, COSTS)[0] == pytest.approx([1.85, 2, 4.25], abs=1e-15)
    column, cost = cheapest(P, CostMatrix(COSTS))
    assert column.tolist() == [0] and cost == pytest.approx([1.85], abs=1e-15)


@pytest.mark.parametrize(
    "refusal, column",
    [((1.8, 1.8, 1.8), -1), ((1.9, 1.9, 1.9), 0), ((0, 0, 12.4), 0), ((0, 0, 12.2), -1)],
)
def test_no_answer_where_that_is_cheapest(refusal, column):
    assert cheapest(P, CostMatrix(COSTS, np.array(refusal)))[0].tolist() == [column]


def test_ties_go_to_the_first_and_to_an_answer():
    even = cost_matrix([[0, 1, 1, 0.5], [1, 0, 1, 0.5], [1, 1, 0, 0.5]], (0, 1, 2))
    p = np.array([[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0, 0, 1]])
    assert cheapest(p, even)[0].tolist() == [0, 1, 0, 2]


def test_zero_and_one_give_the_most_probable_class():
    p = np.random.default_rng(0).dirichlet(np.ones(7), 500)
    assert np.array_equal(cheapest(p, CostMatrix(1.0 - np.eye(7)))[0], p.argmax(axis=1))


def test_a_point_has_the_same_bits_whatever_its_neighbours():
    rng = np.random.default_rng(1)
    p, costs = rng.dirichlet(np.ones(13), 300), rng.random((13, 14)) + 1
    whole = expected_costs(p, costs)
    for rows in (slice(0, 1), slice(7, 8), slice(5, 200), slice(None, None, 3)):
        assert whole[rows].tobytes() == expected_costs(p[rows], costs).tobytes()
    assert np.allclose(whole, p @ costs, rtol=1e-13)


@pytest.mark.parametrize(
    "given, words",
    [
        (np.zeros((2, 3, 1)), "shape"),
        (COSTS[:2], "shape"),
        (COSTS[:, :2], "shape"),
        ("abc", "shape"),
        (-COSTS, "0 or more"),
        (COSTS * np.nan, "finite"),
        (np.eye(3) + COSTS[::-1], "a wrong answer, 5, costs 10, the right one, 2, 11"),
        (CostMatrix(COSTS[:2, :2]), "3 classes, found 2"),
    ],
)
def test_costs_that_do_not_fit(given, words):
    with pytest.raises(UsageError, match=words):
        cost_matrix(given, (2, 5, 7))


def test_costs_that_are_paid():
    truth, answers = np.array([0, 2, 2, 1]), np.array([1, 2, -1, 0])
    matrix = CostMatrix(COSTS, np.array([0.25, 0.5, 0.75]))
    assert matrix.paid(truth, answers).tolist() == [1, 0, 0.75, 1]
    with pytest.raises(UsageError, match="1 of 4 points have no answer"):
        CostMatrix(COSTS).paid(truth, answers)
    assert repr(matrix) == repr(CostMatrix(COSTS, np.array([0.25, 0.5, 0.75])))
    assert repr(matrix) != repr(CostMatrix(COSTS))
    assert matrix.taken(np.array([2, 0])).whole.tolist() == [[0, 10, 0.75], [5, 0, 0.25]]
