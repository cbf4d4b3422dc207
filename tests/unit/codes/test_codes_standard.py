"""Codes with a pattern, against their definitions and libAGF's files."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

from agfmc.codes import matrix, standard, trees
from agfmc.errors import UsageError


def rows_of_control(path):
    """Rows of a training control file without a tree."""
    text = path.read_text()
    numbers = re.findall(r'"" ([\d ]*)/([\d ]*);', text)
    return [tuple(tuple(map(int, side.split())) for side in row) for row in numbers]


@pytest.mark.parametrize("k", [2, 3, 4, 7, 33])
def test_rows_are_made_as_they_are_asked_for(k):
    rows = standard.one_vs_one(k)
    pairs = [((i,), (j,)) for i in range(k) for j in range(i + 1, k)]
    assert rows == pairs and list(rows) == pairs and rows == pickle.loads(pickle.dumps(rows))
    assert [rows[i] for i in range(-len(pairs), len(pairs))] == pairs * 2 and rows[1:] == pairs[1:]
    assert rows != pairs[1:] and rows != pairs[:-1] + [((0,), (9,))] and rows != 5
    with pytest.raises(IndexError):
        rows[len(pairs)]
    assert standard.adjacent(k) == [(tuple(range(i)), tuple(range(i, k))) for i in range(1, k)]
    if k > 2:
        assert standard.one_vs_rest(k) == [
            (tuple(j for j in range(k) if j != i), (i,)) for i in range(k)]


@pytest.mark.parametrize("k", [3, 4, 7, 26])
def test_one_vs_rest_is_twice_the_identity_less_one(k):
    a = matrix.rows_to_matrix(standard.one_vs_rest(k), k)
    assert np.array_equal(a, 2 * np.eye(k, dtype=int) - 1)


def test_one_vs_rest_of_two_classes_is_one_row():
    assert standard.one_vs_rest(2) == [((0,), (1,))]


def test_one_vs_one_has_the_lower_class_on_the_left():
    assert standard.one_vs_one(3) == [((0,), (1,)), ((0,), (2,)), ((1,), (2,))]
    assert len(standard.one_vs_one(26)) == 325


def test_adjacent_rows_split_the_classes_at_one_place():
    a = matrix.rows_to_matrix(standard.adjacent(6), 6)
    expected = [[-1 if j <= i else 1 for j in range(6)] for i in range(5)]
    assert a.tolist() == expected


def test_exhaustive_counts_in_binary():
    a = matrix.rows_to_matrix(standard.exhaustive(3), 3)
    assert a.tolist() == [[-1, -1, 1], [-1, 1, -1], [-1, 1, 1]]


@pytest.mark.parametrize("k", range(2, 11))
def test_exhaustive_is_every_partition_once(k):
    rows = standard.exhaustive(k)
    assert len({frozenset(row) for row in rows}) == len(rows) == 2 ** (k - 1) - 1
    assert all(left and right and sorted(left + right) == list(range(k)) for left, right in rows)


@pytest.mark.parametrize("k", range(3, 11))
def test_exhaustive_columns_are_orthogonal_but_for_a_constant(k):
    a = matrix.rows_to_matrix(standard.exhaustive(k), k).astype(int)
    assert np.array_equal(a.T @ a, 2 ** (k - 1) * np.eye(k) - 1)


def test_exhaustive_says_how_many_rows_there_would_be():
    with pytest.raises(UsageError, match="1048575 rows"):
        standard.exhaustive(21)
    with pytest.raises(UsageError, match=r"2\^99999 - 1 rows"):
        standard.exhaustive(100000)


@pytest.mark.parametrize("make", [
    standard.one_vs_rest, standard.one_vs_one, standard.adjacent, standard.exhaustive,
    trees.balanced_tree,
])
@pytest.mark.parametrize("k", [1, 0, -3])
def test_less_than_two_classes_are_refused(make, k):
    with pytest.raises(UsageError, match="at least two classes"):
        make(k)


@pytest.mark.parametrize("name, make", [
    ("m_1vR", standard.one_vs_rest), ("m_adj", standard.adjacent), ("m_1v1", standard.one_vs_one),
])
def test_rows_are_those_of_libagf(segment, name, make):
    path = segment / "models" / f"{name}.mbt"
    assert rows_of_control(path) == make(7)


def test_generators_work_without_numpy(root):
    code = (
        "import sys\n"
        "from agfmc.codes import matrix, orthogonal, randomcode, standard, trees, weighing\n"
        "standard.one_vs_one(26), standard.one_vs_rest(26), standard.exhaustive(6)\n"
        "trees.tree_rows(trees.balanced_tree(26))\n"
        "orthogonal.orthogonal(26), weighing.special(26), randomcode.random_code(26)\n"
        "matrix.format_matrix(standard.adjacent(5), 5)\n"
        "sys.exit('numpy' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
