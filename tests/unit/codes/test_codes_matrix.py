"""Codes as arrays and text, rank, connection and distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agfmc.codes import matrix, standard

MIXED = [[-1, -1, 1, 1], [-1, 1, 0, 0], [0, 0, -1, 1], [-1, 1, 1, -1], [0, -1, 1, 1]]


@st.composite
def matrices(draw):
    m, k = draw(st.integers(1, 9)), draw(st.integers(2, 9))
    cell = st.integers(-1, 1)
    return draw(st.lists(st.lists(cell, min_size=k, max_size=k), min_size=m, max_size=m))


def test_matrix_of_rows():
    a = matrix.rows_to_matrix([((2,), (0,)), ((0, 1), (2,))], 3)
    assert a.dtype == np.int8
    assert a.tolist() == [[1, 0, -1], [-1, -1, 1]]


@given(matrices())
def test_rows_and_matrix_correspond(entries):
    rows = matrix.matrix_to_rows(np.array(entries))
    assert rows == matrix.matrix_to_rows(entries)
    assert matrix.rows_to_matrix(rows, len(entries[0])).tolist() == entries


def test_text():
    assert matrix.format_matrix(matrix.matrix_to_rows(MIXED[:2]), 4) == [
        "-1 -1  1  1", "-1  1  0  0",
    ]


@settings(deadline=None)
@given(matrices())
def test_rank_is_that_of_singular_values(entries):
    k = len(entries[0])
    expected = np.linalg.matrix_rank(np.array([*entries, [1] * k], dtype=float))
    assert matrix.code_rank(matrix.matrix_to_rows(entries), k) == expected


@pytest.mark.parametrize("k", [5, 64, 65, 100])
def test_rank_on_both_sides_of_the_limit(k):
    rows = standard.adjacent(k)
    assert matrix.code_rank(rows, k) == k
    assert matrix.code_rank(rows[1:], k) == k - 1


@settings(deadline=None)
@given(matrices())
def test_connection(entries):
    a = np.abs(np.array(entries))
    joined = (a.T @ a > 0) | np.eye(a.shape[1], dtype=bool)
    everything = np.linalg.matrix_power(joined.astype(float), a.shape[1]) > 0
    assert matrix.is_connected(matrix.matrix_to_rows(entries), a.shape[1]) == everything.all()


@settings(deadline=None)
@given(matrices())
def test_smallest_distances_are_those_of_the_definition(entries):
    a = np.array(entries)
    m, k = a.shape
    of_rows = [
        min(np.abs(a[i] - a[j]).sum(), np.abs(a[i] + a[j]).sum()) / 2
        for i in range(m) for j in range(i)
    ]
    of_columns = [np.abs(a[:, i] - a[:, j]).sum() / 2 for i in range(k) for j in range(i)]
    expected = (min(of_rows) if of_rows else None, min(of_columns))
    assert matrix.smallest_distances(matrix.matrix_to_rows(entries), k) == expected


@pytest.mark.parametrize("rows, k, wanted", [
    ([((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)), ((), (0, 1, 2, 3))], 4, True),
    ([((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))], 4, False),  # products of -1
    ([((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)), ((0, 3), (1, 2))], 4, False),
    ([((0,), (1,)), ((0,), (2,)), ((1,), (2,))], 3, False),
    ([((1,), (0,)), ((0,), (1,))], 2, False)])
def test_orthogonal_columns(rows, k, wanted):
    assert matrix.columns_are_orthogonal(matrix.rows_to_matrix(rows, k)) is wanted
