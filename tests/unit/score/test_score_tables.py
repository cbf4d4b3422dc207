"""Contingency tables, accuracy, uncertainty coefficient."""

import math

import numpy as np
import pytest

from agfmc.errors import DataError
from agfmc.score.contingency import accuracy, contingency, uncertainty_coefficient

TABLE = np.array([[50, 3, 2], [4, 30, 6], [1, 5, 49]])


def test_table_of_three():
    forward, reverse, symmetric = uncertainty_coefficient(TABLE)
    assert abs(forward - .5606035815) < 1e-10
    assert abs(reverse - .5631000768) < 1e-10
    assert abs(symmetric - .5618490560) < 1e-10
    assert accuracy(TABLE) == .86


def test_small_example():
    made = contingency([0, 1, 2, 0, 2], [0, 1, 2, 1, 2])
    assert made.table.tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 2]]
    assert accuracy(made) == .8
    assert abs(uncertainty_coefficient(made).forward - .7371754938) < 1e-10


def test_gaps_and_order_of_labels():
    made = contingency([7, 3, 7, 12], [7, 12, 3, 12], labels=[12, 3, 7])
    assert made.labels.tolist() == [12, 3, 7]
    assert made.table.tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 1]]
    assert contingency([7, 3, 7, 12], [7, 12, 3, 12]).labels.tolist() == [3, 7, 12]


def test_rejected_points_are_wrong_and_counted():
    made = contingency([0, 0, 1, 1], [0, -1, 1, -1])
    assert made.labels.tolist() == [0, 1]
    assert made.table.tolist() == [[1, 0, 1], [0, 1, 1]]
    assert made.rejected == 2
    assert accuracy(made) == .5


@pytest.mark.parametrize("table, nan", [
    ([[3, 2], [0, 0]], (True, False, False)),
    ([[3, 0], [2, 0]], (False, True, False)),
    ([[5, 0], [0, 0]], (True, True, True)),
    ([[0, 0], [0, 0]], (True, True, True))])
def test_nan_only_for_zero_over_zero(table, nan):
    scores = uncertainty_coefficient(np.array(table))
    assert tuple(math.isnan(score) for score in scores) == nan
    assert all(score == 0 for score in scores if not math.isnan(score))


def test_accuracy_of_nothing():
    assert math.isnan(accuracy(np.zeros((2, 2), dtype=int)))


@pytest.mark.parametrize("truth, result, labels, words", [
    ([0, 1], [0], None, "2 true classes, but 1 results"),
    ([0, 5], [0, 0], [0, 1], "true class 5"),
    ([0, 1], [0, 3], [0, 1], "result 3"),
    ([0, 1], [0, 1], [0, 1, 1], "twice"),
    ([0], [0], [], "true class 0")])
def test_bad_labels(truth, result, labels, words):
    with pytest.raises(DataError, match=words):
        contingency(truth, result, labels)
