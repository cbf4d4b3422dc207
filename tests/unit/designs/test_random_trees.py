"""Random trees: all alike, or balanced, from a seed alone."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chisquare

from agfmc.designs.distances import parts_of
from agfmc.designs.random_trees import different_trees, drawn_tree, KINDS, oriented


def leaves_of(pairs):
    return [part for part in parts_of(pairs) if not isinstance(part, tuple)]


def nodes_of(pairs):
    """(left, right) of every node, in pre-order: ascending classes."""
    return [
        tuple(tuple(sorted(leaves_of(side))) for side in part)
        for part in parts_of(pairs)
        if isinstance(part, tuple)
    ]


COUNTS = st.lists(st.integers(1, 50), min_size=2, max_size=17)


def test_uniform_over_the_trees_of_four_classes():
    drawn = Counter(drawn_tree("uniform", (1,) * 4, 7, number) for number in range(6000))
    assert len(drawn) == 15
    assert chisquare(list(drawn.values())).pvalue > 0.01


def test_balanced_trees_of_four_classes():
    """Three of the fifteen, each as often; one large class is alone every other time."""
    drawn = Counter(drawn_tree("class-balanced", (1,) * 4, 7, number) for number in range(1500))
    assert set(drawn) == {((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))}
    assert chisquare(list(drawn.values())).pvalue > 0.01
    alone = sum(
        (1,) in nodes_of(drawn_tree("data-balanced", (1, 9, 1, 1), 7, number))[0]
        for number in range(400)
    )
    assert abs(alone - 200) < 50  # where it is the first in the order, or the last


@given(COUNTS, st.sampled_from(sorted(KINDS)), st.integers(0, 99))
def test_every_class_once(counts, kind, seed):
    pairs = drawn_tree(kind, counts, seed)
    assert sorted(leaves_of(pairs)) == list(range(len(counts)))
    assert pairs == oriented(pairs) == drawn_tree(kind, counts, seed)


@given(COUNTS, st.integers(0, 99))
def test_balance(counts, seed):
    for left, right in nodes_of(drawn_tree("class-balanced", counts, seed)):
        assert abs(len(left) - len(right)) <= 1
    points = np.array(counts)
    for left, right in nodes_of(drawn_tree("data-balanced", counts, seed)):
        half = points[[*left, *right]].sum() / 2
        # without its last class a side had less than half of the points
        assert any(
            len(side) == 1 or points[list(side)].sum() - points[list(side)].max() < half
            for side in (left, right)
        )


def test_draws_are_streams_of_their_own():
    drawn = [drawn_tree("uniform", (1,) * 12, 3, number) for number in range(20)]
    assert len(set(drawn)) == 20
    assert drawn[0] == drawn_tree("uniform", (1,) * 12, 3) != drawn_tree("uniform", (1,) * 12, 4)


@pytest.mark.parametrize(
    "kind, k, all_trees", [("uniform", 4, 15), ("class-balanced", 4, 3), ("data-balanced", 2, 1)]
)
def test_different_trees_come_to_an_end(kind, k, all_trees):
    found = list(different_trees(kind, (5,) * k))
    assert len(found) == len(set(found)) == all_trees


def test_large_trees_do_not_recurse():
    for kind in KINDS:
        assert len(leaves_of(drawn_tree(kind, [1] * 3000))) == 3000
    assert len(leaves_of(drawn_tree("data-balanced", [2**i for i in range(1200)]))) == 1200
