"""Codes of rows of several groups."""

from itertools import combinations

import numpy as np
import pytest

from agfmc.decode.code_kinds import rows_of_groups
from agfmc.core.errors import UsageError
from agfmc.designs.symbols import symbol_tree


def groups_of(tree):
    """The groups of each row of groups."""
    rows = [(row.left, row.right) for row in tree.rows]
    for part in rows_of_groups(rows):
        if part.stop == part.start + 1:
            yield list(rows[part.start])
        else:
            yield [right for _, right in rows[part]]


def least_distance(code, k):
    """The least number of rows that divide a pair of classes."""
    member = [{j: number for number, group in enumerate(row) for j in group} for row in code]
    return min(
        sum(row[first] != row[second] for row in member)
        for first, second in combinations(range(k), 2)
    )


@pytest.mark.parametrize(
    "k, q, rows", [(26, 10, 4), (100, 10, 5), (11, 10, 4), (26, 2, 10), (4, 3, 4)]
)
def test_random_rows_are_balanced_and_three_divide_each_pair(k, q, rows):
    code = list(groups_of(symbol_tree("random", range(k), q)))
    assert len(code) == rows
    assert least_distance(code, k) == 3
    for row in code:
        assert sorted(sum(row, ())) == list(range(k))
        sizes = [len(group) for group in row]
        assert len(row) == q and max(sizes) - min(sizes) <= 1


def test_random_rows_by_number_and_seed():
    code = list(groups_of(symbol_tree("random rows=12", range(26), 10)))
    assert len(code) == 12 and least_distance(code, 26) >= 8
    assert code == list(groups_of(symbol_tree("random rows=12", range(26), 10, 1)))
    other = list(groups_of(symbol_tree("random rows=12 seed=2", range(26), 10)))
    assert code != other
    assert other == list(groups_of(symbol_tree("random rows=12", range(26), 10, 2)))
    # all three ways to divide four classes into pairs
    assert len(list(groups_of(symbol_tree("random", range(4), 2)))) == 3


def test_trees_and_blocks():
    tree = list(groups_of(symbol_tree("tree", range(5, 12), 3)))
    assert tree == [
        [(0, 1, 2), (3, 4), (5, 6)],
        [(0,), (1,), (2,)],
        [(3,), (4,)],
        [(5,), (6,)],
    ]
    blocks = list(groups_of(symbol_tree("ovo", range(6), 4)))
    assert blocks == [
        [(0,), (1,), (2,), (3,)],
        [(0,), (1,), (4,), (5,)],
        [(2,), (3,), (4,), (5,)],
    ]
    for scheme in ("random", "tree", "ovo"):
        assert list(groups_of(symbol_tree(scheme, range(3), 5))) == [[(0,), (1,), (2,)]]
        assert len(symbol_tree(scheme, range(2), 5).rows) == 1


@pytest.mark.parametrize(
    "scheme, symbols, text",
    [
        ("random", 1, "`symbols`: expected a whole number from 2, found 1"),
        ("random", 2.5, "found 2.5"),
        ("orthogonal", 3, "expected one-vs-one, tree, random, found 'orthogonal'"),
        ("{0 1}", 3, "expected one-vs-one, tree, random"),
        ("random rows=1", 3, "the least number that divides a pair of 9 classes is 0"),
        ("random rows=0", 3, "parameter rows"),
        ("tree rows=3", 3, "the scheme tree has no parameter 'rows'"),
    ],
)
def test_what_cannot_be(scheme, symbols, text):
    with pytest.raises(UsageError) as error:
        symbol_tree(scheme, range(9), symbols)
    assert text in str(error.value)


def test_rows_of_groups_are_told_from_others():
    rest = [((1, 2), (0,)), ((0, 2), (1,)), ((0, 1), (2,))]
    pair = [((0,), (1,))]
    found = list(rows_of_groups(pair + rest + rest[:2] + rest))
    assert found == [slice(0, 1), slice(1, 4), slice(4, 5), slice(5, 6), slice(6, 9)]
    assert list(rows_of_groups(np.array([[[0], [1]], [[1], [0]]]).tolist())) == [
        slice(0, 1),
        slice(1, 2),
    ]
