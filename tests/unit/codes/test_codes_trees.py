"""Trees as codes."""

from __future__ import annotations

import numpy as np
import pytest

from agfmc.codes import matrix, trees


def chain(leaves):
    tree = leaves[0]
    for leaf in leaves[1:]:
        tree = (tree, leaf)
    return tree


def probabilities(rows, r, k):
    """Product of branch probabilities of a tree given as a code."""
    p = np.ones(k)
    for (left, right), value in zip(rows, r, strict=True):
        p[list(left)] *= (1 - value) / 2
        p[list(right)] *= (1 + value) / 2
    return p


def test_balanced_tree_puts_the_smaller_half_left():
    assert trees.balanced_tree(2) == (0, 1)
    assert trees.balanced_tree(7) == ((0, (1, 2)), ((3, 4), (5, 6)))


def test_balanced_tree_rows_are_in_pre_order():
    rows, leaves = trees.tree_rows(trees.balanced_tree(8))
    assert leaves == tuple(range(8))
    expected = [.098, .147, .04725, .05775, .13, .39, .078, .052]
    p = probabilities(rows, [.3, -.4, .2, .1, -.6, .5, -.2], 8)
    np.testing.assert_allclose(p, expected, atol=1e-12)


def test_chain_rows_are_positions_of_leaves():
    rows, leaves = trees.tree_rows(chain([2, 1, 5, 6, 3, 4, 0]))
    assert leaves == (2, 1, 5, 6, 3, 4, 0)
    assert rows[0] == ((0, 1, 2, 3, 4, 5), (6,)) and rows[-1] == ((0,), (1,))
    by_leaf = probabilities(rows, [-.8, -.5, .2, .1, -.3, .6], 7)
    p = np.empty(7)
    p[list(leaves)] = by_leaf
    # The chain's branches, multiplied by hand from the root to leaf 2 and leaf 0.
    assert p[0] == pytest.approx(.1) and p[4] == pytest.approx(.9 * .25)
    assert p[2] == pytest.approx(.9 * .75 * .4 * .45 * .65 * .2)


def test_right_chain():
    rows, leaves = trees.tree_rows((3, (1, (0, 2))))
    assert leaves == (3, 1, 0, 2)
    assert rows == [((0,), (1, 2, 3)), ((1,), (2, 3)), ((2,), (3,))]


@pytest.mark.parametrize("k", [2, 5, 9, 100])
def test_a_tree_is_a_code_of_full_rank(k):
    rows, leaves = trees.tree_rows(trees.balanced_tree(k))
    assert len(rows) == k - 1 and sorted(leaves) == list(range(k))
    assert matrix.code_rank(rows, k) == k


@pytest.mark.parametrize("deepen", [lambda t, i: (t, i), lambda t, i: (i, t)])
def test_chains_may_be_thousands_deep(deepen):
    tree = 0
    for i in range(1, 2000):
        tree = deepen(tree, i)
    rows, leaves = trees.tree_rows(tree)
    assert sorted(leaves) == list(range(2000))
    assert len(rows) == 1999 and len(rows[0][0]) + len(rows[0][1]) == 2000


def test_a_single_leaf_has_no_rows():
    assert trees.tree_rows(4) == ([], (4,))
