"""The search for the best tree on data."""

import numpy as np
import pytest

from agfmc.designs.best_tree import nodes_of, oriented
from agfmc.control.build import from_pairs
from agfmc.control.parse import parse
from agfmc.control.write import format_tree
from agfmc.core.errors import DataError, UsageError
from agfmc.landmarks.learner import NystromOptions
from agfmc.designs.design import design, LabelledPoints, search
from agfmc.designs.split_costs import LEFT_OUT, Loss, TreeSearch
from agfmc.designs.tree_search import best_tree, in_brackets, machine_options, TreeCosts
from agfmc.core.weights import Weights

LABELS = [2, 3, 5, 7, 8]
MACHINE = NystromOptions.parse("-m 30 -g 0.3 -l 0.05")


def all_trees(classes):
    """All trees over some classes, the lowest class on the left of every node."""
    if len(classes) == 1:
        return [classes[0]]
    first, *rest = classes
    return [
        (left, right)
        for chosen in range(2 ** len(rest) - 1)
        for left in all_trees([first, *(c for i, c in enumerate(rest) if chosen >> i & 1)])
        for right in all_trees([c for i, c in enumerate(rest) if not chosen >> i & 1])
    ]


def points(n=150, k=5, seed=1):
    """Classes on a line of clusters: 0 1 close together, 2 3 as well, 4 apart."""
    generator = np.random.default_rng(seed)
    y = np.sort(generator.integers(0, k, n))
    x = generator.normal(size=(n, 2))
    x[:, 0] += np.array([0, 1.2, 5, 6.2, 12, 15])[y]
    return LabelledPoints(x, np.array([*LABELS, 11])[y], [*LABELS, 11][:k])


def costs(**kinds):
    return TreeCosts(points(**kinds), TreeSearch(machine=MACHINE))


def found_tree(n=150, k=5, **settings):
    return best_tree(points(n, k), search=TreeSearch(machine=MACHINE, **settings))


@pytest.mark.parametrize("loss", ["log-loss", "error"])
def test_the_best_of_all_trees_on_data(loss):
    found = found_tree(loss=Loss(loss))
    trees = list(all_trees(list(range(5))))
    values = {tree: found.costs.loss_of(tree) for tree in trees}
    space = found.costs.space
    assert found.exact and space.splits == space.all_splits == 90 and space.all_trees == 105
    assert found.best.loss == pytest.approx(min(values.values()))
    assert values[found.best.pairs] == min(values.values())


def test_scores_of_a_tree_are_sums_over_its_nodes():
    search = costs()
    tree = (((0, 1), (2, 3)), 4)
    scored = search.scored(tree)
    assert scored.loss == pytest.approx(sum(node.loss for node in scored.nodes))
    assert scored.loss == pytest.approx(search.loss_of(tree))
    assert scored.queries == pytest.approx(sum(node.share for node in scored.nodes))
    of_points = search.point_losses(tree)
    assert scored.loss == pytest.approx(of_points.mean())
    assert scored.error == pytest.approx(of_points.std(ddof=1) / np.sqrt(150))
    assert [(node.left, node.right) for node in scored.nodes][0] == ((2, 3, 5, 7), (8,))
    assert scored.pairs == tree


def test_classes_that_are_hard_to_tell_apart_are_told_apart_last():
    found = found_tree()
    joined = {frozenset((*node.left, *node.right)) for node in found.best.nodes}
    assert {frozenset((2, 3)), frozenset((5, 7))} <= joined
    # the trees on which the parts of the points agree
    assert found.best.loss <= found.holdout < found.best.loss + 3 * found.best.error


def test_the_fewest_classifiers_within_a_standard_error():
    plain = found_tree(90)
    cheap = found_tree(90, balance="auto")
    assert cheap.best.queries < plain.best.queries
    against, losses = (plain.costs.point_losses(one.best.pairs) for one in (plain, cheap))
    difference, error = plain.costs.splits.mean_and_error(losses - against)
    assert difference <= error
    level = found_tree(90, balance=100.0)
    assert level.best.queries == min(
        plain.costs.queries(tree) for tree in all_trees(list(range(5)))
    )


def test_other_groups_of_the_same_points_choose_the_same_tree():
    x, y, labels, *_ = points(40)
    search = best_tree(
        LabelledPoints(np.repeat(x, 10, axis=0), np.repeat(y, 10), labels),
        search=TreeSearch(machine=MACHINE),
    ).costs
    best = search.best()[0].pairs
    losses = {tree: search.loss_of(tree) for tree in all_trees(list(range(5)))}
    saved = {tree: search.queries(best) - search.queries(tree) for tree in losses}
    least = min(
        (losses[tree] - losses[best]) / saved[tree] for tree in losses if saved[tree] > 1e-9
    )
    for balance in (0.97 * least, 1.03 * least):  # above it another tree is the best
        expected = search.loss_of(search.best(balance=balance)[0].pairs)
        assert (expected > losses[best]) == (balance > least)
        assert search.holdout(balance)[0] == pytest.approx(expected)


@pytest.mark.long
def test_different_trees_are_the_best_for_some_of_the_points():
    search = found_tree().costs
    trees = search.different(12)
    assert (
        len(set(trees)) == 12 and trees == search.different(12) and trees[:5] == search.different(5)
    )
    groups = np.eye(10)[0] * 10.0
    assert trees[0] == oriented(search.best(groups=groups)[0].pairs)
    losses = [search.loss_of(tree) for tree in all_trees(list(range(5)))]
    assert np.mean([search.loss_of(tree) for tree in trees]) < np.median(losses)
    assert len(search.different(1000)) == 105


def test_too_few_splits():
    with pytest.raises(UsageError, match="5 classes needs --splits 26 or more, found 25"):
        found_tree(splits=25)


def test_two_classes_have_one_tree():
    with pytest.raises(DataError, match="2 classes have one tree"):
        costs(k=2)


def test_a_class_of_one_point_is_named():
    x, y, labels, *_ = points()
    y = np.where((y == 7) & (np.cumsum(y == 7) > 1), 8, y)
    for names, told in ((None, "class 7 has"), ({2: "tern", 7: "gull"}, "class 7, 'gull', has")):
        with pytest.raises(DataError, match=f"{told} one point: .* --min-class 2"):
            TreeCosts(LabelledPoints(x, y, labels, names))


def test_notes_are_comments_of_a_control_file():
    names = {2: "two", 8: "a name"}
    made = points()._replace(names=names)
    found = best_tree(made, search=TreeSearch(machine=MACHINE, splits=60))
    assert not found.exact
    text = "".join(f"# {line}\n" for line in found.notes) + format_tree(found.tree)
    assert format_tree(parse(text)) == format_tree(found.tree)
    assert parse(text).names == names
    notes = "\n".join(found.notes)
    assert "not exact" in notes and "two, 3" in notes
    assert f"{found.best.loss:.4f} +- {found.best.error:.4f}" in found.notes[0]
    assert in_brackets(from_pairs(((0, 1), (2, (3, 4))), LABELS)) == "((2 3) (5 (7 8)))"


def test_a_local_search_comes_to_the_best_tree_of_six():
    exact = found_tree(k=6, n=200)
    searched = found_tree(k=6, n=200, splits=200)
    assert searched.costs.space.splits < exact.costs.space.splits == 301
    assert searched.best.loss == pytest.approx(exact.best.loss)


def test_the_machine_is_that_of_the_training_options():
    default = {"left_out": LEFT_OUT}
    assert machine_options("-c 50 -g 0.1 -w1 5") == NystromOptions(gamma=0.1, **default)
    assert machine_options("-t 1 -d 2 -g 0.5 -r 1") == NystromOptions(
        kernel="polynomial", degree=2, gamma=0.5, coef0=1, **default
    )
    assert machine_options("learner=nystrom -m 50 -l 0.1 -w0 2") == NystromOptions(
        landmarks=50, ridge=0.1, **default
    )
    assert machine_options("learner=nystrom --loo 30000").left_out == 30000
    assert machine_options("learner=nystrom", 500).left_out == 500
    assert (
        machine_options("learner=linear -c 2") == machine_options("") == NystromOptions(**default)
    )


def test_the_scheme():
    x, y, labels, *_ = points()
    settings = TreeSearch(machine=MACHINE)
    found = search("best-tree", LabelledPoints(x, y, labels), search=settings)
    assert design("best-tree", labels, x=x, y=y, search=settings) == found.tree
    assert found.tree.classes == tuple(LABELS)
    assert len(nodes_of(found.best.pairs)) == 4


def test_labels_that_say_nothing():
    """The loss in the tree that other points chose is that of chance, that of the best no more."""
    generator = np.random.default_rng(5)
    y = generator.permutation(np.repeat(np.arange(5), 40))
    made = LabelledPoints(generator.normal(size=(200, 3)), y, range(5))
    found = best_tree(made, search=TreeSearch(machine=NystromOptions.parse("-m 20 -g 0.3 -l 1")))
    assert found.holdout > np.log(5) - 0.02
    assert found.best.loss <= found.holdout + 1e-12


def test_the_best_tree_of_weighted_points():
    made = points()
    w = np.random.default_rng(3).integers(1, 4, len(made.y)).astype(float)
    best, same, other = (
        best_tree(made._replace(weights=one), search=TreeSearch(machine=MACHINE))
        for one in (None, Weights(np.ones(len(w))), Weights(w))
    )
    weighted = other.costs
    assert same.tree == best.tree and same.best.loss == pytest.approx(best.best.loss)
    assert same.holdout == pytest.approx(best.holdout)
    assert weighted.points == w.sum() and other.best.loss != pytest.approx(best.best.loss, 1e-3)
    totals = np.array([w[made.y == label].sum() for label in made.labels])
    asked = (
        sum(
            totals[[made.labels.index(one) for one in node.left + node.right]].sum()
            for node in other.best.nodes
        )
        / totals.sum()
    )
    assert other.best.queries == pytest.approx(asked)
    assert other.best.loss == pytest.approx(weighted.loss_of(other.best.pairs))
    total = weighted.point_losses(other.best.pairs) @ weighted.splits.point_weights
    assert other.best.loss == pytest.approx(total / w.sum())
