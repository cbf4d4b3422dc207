"""The information that random answers seem to have."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.score.contingency import expected_information
from agfmc.score.contingency import (
    adjusted_share,
    contingency,
    explained_share,
    MOST_CELLS,
    random_share,
)


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=6),
    st.lists(st.integers(0, 2), min_size=6, max_size=6),
)
def test_the_mean_over_all_orders_of_the_answers(truth, answers):
    answers = answers[: len(truth)]
    shares = [
        explained_share(contingency(truth, order)) for order in set(itertools.permutations(answers))
    ]
    table = contingency(truth, answers)
    if len(set(truth)) == 1:
        assert math.isnan(random_share(table)) and math.isnan(adjusted_share(table, math.nan))
        return
    assert random_share(table) == pytest.approx(np.mean(shares), abs=1e-12)
    random = np.mean(shares)
    if random < 1 - 1e-9:
        assert adjusted_share(table, random_share(table)) == pytest.approx(
            (explained_share(table) - random) / (1 - random), abs=1e-9
        )


def test_small_tables_tell_much_by_chance():
    # 34 points of 9 classes
    rows = np.array([4, 4, 4, 4, 4, 4, 4, 3, 3])
    entropy = -np.sum(rows / 34 * np.log(rows / 34))
    assert expected_information(rows, rows) / entropy > 0.4


def test_perfect_answers():
    table = np.diag([5, 9, 2])
    random = random_share(table)
    assert adjusted_share(table, random) == pytest.approx(1) and 0 < random < 0.3


def test_many_points_and_classes():
    # about (k - 1)^2 / 2 n
    rng = np.random.default_rng(0)
    rows, columns = (rng.multinomial(10**6, rng.dirichlet(np.full(26, 9.0))) for _ in range(2))
    assert expected_information(rows, columns) == pytest.approx(25**2 / 2e6, rel=0.01)
    big = np.full(2, 10**9)
    assert expected_information(big, big) == pytest.approx(1 / 4e9, rel=1e-6)


def test_no_value_for_weights_and_huge_tables():
    assert random_share(np.array([[1.5, 2], [1, 1]])) is None
    assert adjusted_share(np.array([[1.5, 2], [1, 1]]), None) is None
    side = math.isqrt(MOST_CELLS) + 1
    assert random_share(np.eye(side, dtype=np.int8)) is None
