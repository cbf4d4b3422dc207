"""Random trees, and ensembles."""

from itertools import islice

import numpy as np
import pytest

from agfmc.control.build import from_pairs
from agfmc.control.parse import parse
from agfmc.control.write import format_tree
from agfmc.core.errors import UsageError
from agfmc.core.splits import derived_seed
from agfmc.core.weights import Weights
from agfmc.designs.design import design, LabelledPoints, make_design
from agfmc.designs.random_trees import different_trees, KINDS

LABELS = [2, 3, 5, 7, 8]
NAMES = {2: "a", 8: "b"}
COUNTS = dict(zip(LABELS, [4, 4, 4, 4, 100]))
Y = np.repeat(LABELS, list(COUNTS.values()))
POINTS = LabelledPoints(None, Y, LABELS, NAMES)


def members(tree):
    return [member.sides() for member in tree.members]


@pytest.mark.parametrize("kind", ["uniform", "class-balanced"])
def test_one_tree_needs_no_data(kind):
    tree = design("random-tree", LABELS, names=NAMES, kind=kind, seed=5)
    assert tree == make_design("random-tree", POINTS, kind=kind, seed=5)[0]
    assert tree.names == NAMES and parse(format_tree(tree)).sides() == tree.sides()
    others = {design("random-tree", range(9), kind=kind, seed=seed).labels for seed in range(5)}
    assert len(others) > 1


def test_data_balanced_trees_know_the_numbers_of_points():
    for seed in range(12):
        options = {"kind": "data-balanced", "seed": seed}
        tree = make_design("random-tree", POINTS, **options)[0]
        assert tree == make_design("random-tree", COUNTS, NAMES, **options)[0]
        left, right = tree.sides()[0]
        assert 8 in (left if sum(map(COUNTS.get, left)) > 50 else right)
    with pytest.raises(UsageError, match="made of data: expected training data, found the number"):
        design("random-tree", LABELS, kind="data-balanced")


def test_weights_of_points_count_for_data_balanced_trees():
    heavy = Weights(np.where(Y == 2, 50.0, 1.0))
    counts = {**COUNTS, 2: 200.0}
    for seed in range(5):
        options = {"kind": "data-balanced", "seed": seed}
        weighted = POINTS._replace(weights=heavy)
        found, expected = (
            make_design("random-tree", *source, **options)[0]
            for source in ((weighted,), (counts, NAMES))
        )
        assert found == expected


def test_two_classes_have_one_tree():
    two = LabelledPoints(None, np.arange(120) % 2, [0, 1])
    assert make_design("ensemble", two)[0] == design("tree", [0, 1])


@pytest.mark.parametrize("kind", KINDS)
def test_ensembles_of_random_trees(kind):
    tree = make_design("ensemble", POINTS, members=4, kind=kind, seed=2)[0]
    assert members(tree) == [
        from_pairs(pairs, LABELS).sides()
        for pairs in islice(different_trees(kind, list(COUNTS.values()), 2), 4)
    ]
    if kind != "data-balanced":
        assert tree == design("ensemble", LABELS, names=NAMES, members=4, kind=kind, seed=2)
    assert tree.names == NAMES and len(parse(format_tree(tree)).members) == 4


@pytest.mark.parametrize("of", ["random", "random-as-orthogonal"])
def test_ensembles_of_codes(of):
    tree = design("ensemble", LABELS, of=of, members=5, seed=4)
    assert (
        len({frozenset(frozenset(map(frozenset, sides)) for sides in one) for one in members(tree)})
        == 5
    )
    assert members(tree)[:2] == [
        design(of, LABELS, seed=derived_seed(4, draw)).sides() for draw in (0, 1)
    ]


def test_as_many_members_as_there_are():
    assert len(design("ensemble", range(3)).members) == 3
    assert len(design("ensemble", range(4)).members) == 3
    assert len(design("ensemble", range(4), kind="uniform").members) == 10
    with pytest.raises(UsageError, match="random-tree has 3 different .* of 4 that were requested"):
        design("ensemble", range(3), members=4)
    with pytest.raises(UsageError, match="random has 1 different configuration of these"):
        design("ensemble", range(2), of="random", rows=1)


@pytest.mark.parametrize("scheme", ["best-tree", "Best_Code"])
def test_searched_schemes_of_the_version_before_are_named(scheme):
    with pytest.raises(UsageError, match="there is no scheme best-.* any more: "):
        design(scheme, range(5))


def test_ensembles_that_could_not_be_read_again():
    with pytest.raises(UsageError, match="10000 configurations of 1000 classes is too large"):
        design("ensemble", range(1000), members=10_000)
