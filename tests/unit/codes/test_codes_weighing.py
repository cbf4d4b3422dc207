"""Ternary orthogonal codes."""

from __future__ import annotations

import re

import numpy as np
import pytest

from agfmc.codes import bits, matrix, weighing
from agfmc.errors import UsageError


def check_code(rows, k, w):
    assert all(left and right for left, right in rows)
    assert len({frozenset(row) for row in rows}) == len(rows)
    assert matrix.is_connected(rows, k)
    a = matrix.rows_to_matrix(rows, k).astype(np.float64)
    assert np.array_equal(a.T @ a, w * np.eye(k))


@pytest.mark.parametrize("q", [2, 3, 4, 5, 7, 8, 9])
def test_circulants(q):
    v = q * q + q + 1
    signed = weighing._circulant(q)
    a = matrix.rows_to_matrix([bits.row(*row) for row in signed], v).astype(int)
    assert np.array_equal(a.T @ a, q * q * np.eye(v))
    assert np.array_equal(np.roll(a[3], 1), a[4])


def test_weights_of_small_orders():
    expected = {
        2: {2}, 3: set(), 4: {3, 4}, 6: {5}, 7: {4}, 8: {6, 7, 8}, 12: {10, 11, 12},
        13: {9}, 14: {8, 13}, 16: {9, 12, 14, 16}, 21: {16},
    }
    assert {m: set(weighing._weights(m)) for m in expected} == expected


@pytest.mark.parametrize("m", range(4, 41))
def test_weighing_matrices(m):
    for w in weighing._weights(m):
        for signed in weighing._matrices(m, w):
            a = matrix.rows_to_matrix([bits.row(*row) for row in signed], m).astype(int)
            assert np.array_equal(a.T @ a, w * np.eye(m))
            assert (np.abs(a).sum(axis=1) == w).all()


@pytest.mark.parametrize("k", range(4, 31))
def test_every_possible_weight(k):
    weights = weighing.possible_weights(k)
    assert weights
    for w in weights:
        rows = weighing.special(k, w)
        check_code(rows, k, w)
        assert k <= len(rows) <= 2 * k
        assert matrix.code_rank(rows, k) == k


@pytest.mark.parametrize("k, m, w", [
    (4, 4, 4), (5, 6, 5), (7, 7, 4), (13, 13, 9), (20, 20, 19), (21, 21, 16), (26, 26, 25),
])
def test_default_has_the_fewest_rows_and_then_the_most_entries(k, m, w):
    rows = weighing.special(k)
    assert len(rows) == m
    check_code(rows, k, w)


def test_many_classes():
    rows = weighing.special(500, 400)
    check_code(rows, 500, 400)


def test_rows_with_two_entries_of_both_products_cannot_be_repaired():
    rows = [(0b11, 0b00), (0b11, 0b01)]
    assert weighing._signs(rows, 2) is None
    wide = [(0b11, 0b00), (0b11, 0b01), (0b111111111100, 0)]
    assert weighing._signs(wide, 12) is None


@pytest.mark.parametrize("rows, everything", [
    ([(0b01, 0), (0b11, 0)], 0b11),
    ([(0b11, 0b01), (0b11, 0b10)], 0b11),
    ([(0b0011, 0), (0b1100, 0)], 0b1111),
])
def test_single_entries_duplicates_and_separate_parts_are_not_used(rows, everything):
    assert not weighing._is_usable(rows, everything)


@pytest.mark.parametrize("k, w", [(5, 4), (26, 9), (26, 0), (26, -1), (40, 10 ** 6)])
def test_an_impossible_weight_lists_the_possible_ones(k, w):
    with pytest.raises(UsageError, match="possible: ") as caught:
        weighing.special(k, w)
    listed = [int(word) for word in re.findall(r"\d+", str(caught.value).split("possible:")[1])]
    possible = weighing.possible_weights(k)
    assert set(listed) <= set(possible)
    assert len(listed) == min(len(possible), weighing.LISTED)
    worst = max(abs(weight - w) for weight in listed)
    assert all(abs(weight - w) >= worst for weight in set(possible) - set(listed))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_too_few_classes_for_a_special_code(k):
    with pytest.raises(UsageError, match="at least 4 classes"):
        weighing.special(k)
