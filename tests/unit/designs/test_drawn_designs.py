"""Random trees, the best of many, and ensembles."""

from itertools import islice

import numpy as np
import pytest

from agfmc.designs.random_trees import different_trees, KINDS
from agfmc.control.build import from_pairs
from agfmc.control.parse import parse
from agfmc.control.write import format_tree
from agfmc.core.errors import DataError, UsageError
from agfmc.core.splits import derived_seed
from agfmc.landmarks.learner import NystromOptions
from agfmc.designs.design import design, LabelledPoints, make_design, search
from agfmc.designs.split_costs import Loss, TreeSearch
from agfmc.designs.tree_search import TreeCosts

LABELS = [2, 3, 5, 7, 8]
NAMES = {2: "a", 8: "b"}
MACHINE = NystromOptions.parse("-m 25 -g 0.3 -l 0.05")
SEARCH = TreeSearch(machine=MACHINE)


def points(n=120, seed=1):
    """Classes on a line of clusters: 0 1 close together, 2 3 as well, 4 apart."""
    generator = np.random.default_rng(seed)
    y = np.sort(generator.integers(0, 5, n))
    x = generator.normal(size=(n, 2))
    x[:, 0] += np.array([0, 1.2, 5, 6.2, 12])[y]
    return LabelledPoints(x, np.array(LABELS)[y], LABELS, NAMES)


def three_classes():
    """Points with nothing to tell their classes apart by."""
    return LabelledPoints(points().x, np.array([2, 3, 5])[np.arange(120) % 3], [2, 3, 5])


def members(tree):
    return [one.sides() for one in tree.members]


@pytest.mark.parametrize("kind", ["uniform", "class-balanced"])
def test_one_tree_needs_no_data(kind):
    tree = design("random-tree", LABELS, names=NAMES, kind=kind, seed=5)
    assert tree == make_design("random-tree", points(), kind=kind, seed=5).tree
    assert tree.names == NAMES and parse(format_tree(tree)).sides() == tree.sides()
    others = {design("random-tree", range(9), kind=kind, seed=seed).labels for seed in range(5)}
    assert len(others) > 1


def test_data_balanced_trees_know_the_numbers_of_points():
    y = np.repeat(LABELS, [4, 4, 4, 4, 100])
    for seed in range(12):
        found = search(
            "random-tree", LabelledPoints(None, y, LABELS), kind="data-balanced", seed=seed
        )
        counts = dict(zip(LABELS, [4, 4, 4, 4, 100]))
        left, right = found.tree.sides()[0]
        assert found.notes == () and 8 in (left if sum(map(counts.get, left)) > 50 else right)
    with pytest.raises(UsageError, match="made of data: expected training data, found the number"):
        design("random-tree", LABELS, kind="data-balanced")


@pytest.mark.few(1)
@pytest.mark.parametrize("loss", [Loss(), Loss("error"), Loss("cost", 1.0 - np.eye(5))])
def test_the_best_of_many_draws(loss):
    settings = TreeSearch(machine=MACHINE, loss=loss)
    found = search("random-tree", points(), draws=20, search=settings, seed=3)
    costs = TreeCosts(points(), settings, 3)
    drawn = list(islice(different_trees("uniform", (1,) * 5, 3), 20))
    losses = sorted((costs.loss_of(pairs), number) for number, pairs in enumerate(drawn))
    assert found.tree == from_pairs(drawn[losses[0][1]], LABELS, NAMES)
    assert found.best.loss == pytest.approx(losses[0][0])
    assert found.holdout >= found.best.loss - 1e-12
    more = search("random-tree", points(), draws=40, search=settings, seed=3)
    assert more.best.loss <= found.best.loss
    assert found.notes[0].startswith("random-tree: leave-one-out ")
    assert found.notes[1].startswith("the best of 20 different random trees, uniform, of seed 3")


def test_the_loss_of_points_that_did_not_choose():
    found = search("random-tree", points(), draws=9, search=SEARCH)
    space, drawn = found.costs.space, islice(different_trees("uniform", (1,) * 5), 9)
    losses = np.array([space.cost_of(pairs).sum(axis=0) for pairs in drawn])
    by_hand = sum(
        losses[np.argmin(losses.sum(axis=1) - losses[:, group]), group]
        for group in range(losses.shape[1])
    )
    assert found.holdout == pytest.approx(by_hand / 120)
    assert 0.5 * found.best.error < found.holdout_error < 2 * found.best.error


def test_more_draws_than_trees():
    found = search("random-tree", three_classes(), draws=50, search=SEARCH)
    assert "the best of 3 different random trees" in found.notes[1]


def test_draws_without_data_or_with_one_tree():
    with pytest.raises(UsageError, match="the best of 4 draws is chosen by data"):
        design("random-tree", LABELS, draws=4)
    two = LabelledPoints(points().x, np.arange(120) % 2, [0, 1])
    assert make_design("random-tree", two, draws=4).tree == design("tree", [0, 1])
    with pytest.raises(DataError, match="2 classes have one tree"):
        search("random-tree", two, draws=4)


@pytest.mark.parametrize("kind", KINDS)
def test_ensembles_of_random_trees(kind):
    tree = search("ensemble", points(), members=4, kind=kind, seed=2).tree
    counts = [np.count_nonzero(points().y == label) for label in LABELS]
    assert members(tree) == [
        from_pairs(pairs, LABELS).sides() for pairs in islice(different_trees(kind, counts, 2), 4)
    ]
    if kind != "data-balanced":
        assert tree == design("ensemble", LABELS, names=NAMES, members=4, kind=kind, seed=2)
    assert tree.names == NAMES and len(parse(format_tree(tree)).members) == 4


def test_ensembles_of_the_best_trees():
    """Of tenths of the points; later ones are of two tenths, and of all of them."""
    chosen = search("best-tree", points(), search=SEARCH)
    best = [
        from_pairs(chosen.costs.best(groups=groups)[0].pairs, LABELS).sides()
        for groups in np.eye(10)
    ]
    expected = [one for number, one in enumerate(best) if one not in best[:number]]
    found = search("ensemble", points(), of="best-tree", search=SEARCH, members=3)
    assert members(found.tree) == expected[:3]
    assert found.notes[0] == "ensemble of 3 configurations of the scheme best-tree"
    assert found.notes[2] == chosen.notes[0] and len(found.notes) == 6 + 3
    many = members(search("ensemble", points(), of="best-tree", search=SEARCH, members=30).tree)
    assert many[: len(expected)] == expected and chosen.tree.sides() in many
    assert len({str(one) for one in many}) == 30
    with pytest.raises(UsageError, match="has 3 different configurations"):
        search("ensemble", three_classes(), of="best-tree", search=SEARCH, members=4)


def test_ensembles_of_the_best_draws():
    chosen = search("random-tree", points(), draws=12, search=SEARCH, kind="class-balanced")
    tree = search("ensemble", points(), draws=12, members=3, search=SEARCH).tree
    drawn = islice(different_trees("class-balanced", (1,) * 5, 1), 12)
    best = sorted(
        (chosen.costs.loss_of(pairs), number, pairs) for number, pairs in enumerate(drawn)
    )[:3]
    assert members(tree) == [from_pairs(pairs, LABELS).sides() for *_, pairs in best]
    assert len(search("ensemble", points(), draws=6, search=SEARCH).tree.members) == 6
    with pytest.raises(UsageError, match="has 3 different .* of 4 that were requested"):
        search("ensemble", points(), draws=3, members=4, search=SEARCH)


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


def test_schemes_without_different_designs():
    with pytest.raises(
        UsageError,
        match="no different designs of the scheme one-vs-one .*: expec"
        "ted one of random-tree, best-tree, random, random-as-",
    ):
        design("ensemble", range(5), of="1v1")
    with pytest.raises(UsageError, match="best-tree searches in data"):
        design("ensemble", range(5), of="best-tree")


def test_equal_costs_of_all_mistakes_are_errors():
    errors, costs = (
        search("random-tree", points(), draws=10, search=TreeSearch(machine=MACHINE, loss=loss))
        for loss in (Loss("error"), Loss("cost", 1.0 - np.eye(5)))
    )
    assert errors.tree == costs.tree and errors.best.loss == pytest.approx(costs.best.loss)


def test_ensembles_that_could_not_be_read_again():
    with pytest.raises(UsageError, match="10000 configurations of 1000 classes is too large"):
        design("ensemble", range(1000), members=10_000)
