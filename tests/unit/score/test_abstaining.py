"""The error of the surest points, and its mean over all coverages."""

from fractions import Fraction
from itertools import groupby, permutations, product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.score.risk_coverage import risk_coverage

P = np.array(
    [
        [0.7, 0.2, 0.1],
        [0.1, 0.8, 0.1],
        [0.3, 0.3, 0.4],
        [0.6, 0.3, 0.1],
        [0.2, 0.5, 0.3],
        [0.05, 0.05, 0.9],
        [0.4, 0.35, 0.25],
        [0.9, 0.05, 0.05],
        [0.15, 0.7, 0.15],
        [0.33, 0.33, 0.34],
    ]
)
Y = np.array([0, 1, 2, 1, 1, 2, 0, 0, 2, 0])
CONFIDENCE, RIGHT = P.max(axis=1), P.argmax(axis=1) == Y


def area_of(order, right):
    """The mean of errors among the first i / i, in one order of the points."""
    errors, total = 0, Fraction(0)
    for i, point in enumerate(order, 1):
        errors += not right[point]
        total += Fraction(errors, i)
    return total / len(order)


def orders(confidence):
    """All orders of falling confidence."""
    falling = sorted(range(len(confidence)), key=lambda i: -confidence[i])
    for parts in product(
        *(permutations(list(group)) for _, group in groupby(falling, key=lambda i: confidence[i]))
    ):
        yield [i for part in parts for i in part]


def test_check_values():
    in_order = sorted(range(10), key=lambda i: -CONFIDENCE[i])  # ties in the order of the list
    assert float(area_of(in_order, RIGHT)) == pytest.approx(0.1591269841, abs=1e-10)
    curve = risk_coverage(CONFIDENCE, RIGHT)
    assert curve.area() == pytest.approx(0.1716269841, abs=1e-10)
    assert curve.excess() == pytest.approx(curve.area() - (1 / 8 + 2 / 9 + 3 / 10) / 10, abs=1e-14)
    # confidences .9 .9 .8 .7 .7 .6 .5 .4 .4 .34; of the two .7 one is wrong
    assert [curve.at(i / 10)[0] for i in range(1, 11)] == pytest.approx(
        [0, 0, 0, 0.5 / 4, 1 / 5, 2 / 6, 2 / 7, 2 / 8, 2 / 9, 0.3], abs=1e-12
    )
    assert curve.at(1.0) == (pytest.approx(0.3), 0.34)


answers = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=6)


@given(answers)
def test_equal_points_in_all_orders(points):
    confidence, right = (np.array(values) for values in zip(*points))
    areas = [area_of(order, right) for order in orders(confidence.tolist())]
    curve = risk_coverage(confidence, right)
    assert curve.area() == pytest.approx(float(sum(areas) / len(areas)), abs=1e-12)
    best = area_of(sorted(range(len(right)), key=lambda i: not right[i]), right)
    assert curve.excess() == pytest.approx(curve.area() - float(best), abs=1e-12)
    for i in range(1, len(points) + 1):
        errors = [
            sum(not right[point] for point in order[:i]) / i
            for order in orders(confidence.tolist())
        ]
        error, least = curve.at(i / len(points))
        assert error == pytest.approx(np.mean(errors), abs=1e-12)
        assert least == sorted(confidence, reverse=True)[i - 1]


@given(answers, st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_whole_weights_repeat_points(points, weights):
    confidence, right = (np.array(values) for values in zip(*points))
    w = np.array(weights[: len(points)])
    some = risk_coverage(confidence, right, w.astype(float))
    many = risk_coverage(np.repeat(confidence, w), np.repeat(right, w))
    assert some.area() == pytest.approx(many.area(), abs=1e-12, nan_ok=True)
    assert some.excess() == pytest.approx(many.excess(), abs=1e-12, nan_ok=True)


@given(st.integers(0, 2**32 - 1), st.integers(1, 200))
def test_ranges(seed, n):
    rng = np.random.default_rng(seed)
    right = rng.random(n) < rng.random()
    curve = risk_coverage(rng.random(n), right)
    assert 0 <= curve.area() <= 1 and -1e-12 <= curve.excess() <= curve.area() + 1e-12
    assert risk_coverage(np.where(right, 0.9, 0.1), right).excess() == pytest.approx(0, abs=1e-12)
