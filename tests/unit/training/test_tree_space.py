"""The space of trees around a chosen one: every point is a tree with its own loss."""

import numpy as np
import pytest

from agfmc.codes.random_trees import different_trees
from agfmc.learners.nystrom import NystromOptions
from agfmc.training.design import design, LabelledPoints
from agfmc.training.tree_search import search_tree, TreeCosts, TreeSearch
from agfmc.training.tree_space import tree_space

MACHINE = NystromOptions(gamma=0.3, ridge=0.1, landmarks=20)


def points():
    generator = np.random.default_rng(3)
    y = np.arange(75) % 5
    return LabelledPoints(generator.normal(size=(75, 3)) + y[:, None] * [1, 0.3, -0.2], y + 2,
                          [2, 3, 4, 5, 6])


@pytest.mark.parametrize("search", [
    TreeSearch(MACHINE, alternatives=3), TreeSearch(MACHINE, splits=40),
    TreeSearch(MACHINE, together=[[2, 4]], alternatives=2)])
def test_every_point_is_a_tree_with_its_loss(search):
    data = points()
    chosen = search_tree(TreeCosts(data, search))
    found = tree_space(chosen, data, seed=4)
    assert found[0][:4] == ("best", "chosen", chosen.best.asked, chosen.best.loss)
    kinds = [tree.kind for tree in found]
    assert kinds.count("alternative") == search.alternatives
    drawn = list(different_trees("uniform", [15] * 5, 4))  # all 105
    assert kinds.count("random") == len(drawn) > 95
    free = TreeCosts(data, TreeSearch(MACHINE))
    free.space.know_all()
    least = free.best()[0].value / 75
    assert all(tree.loss >= least - 1e-12 for tree in found)
    [balanced] = [tree for tree in found if tree.name == "balanced"]
    assert balanced.loss == pytest.approx(free.loss_of(free.pairs(design("tree", data.labels))))
    for tree, pairs in zip(found[-len(drawn):], drawn):
        assert tree == ("random", "", free.asked(pairs), pytest.approx(free.loss_of(pairs)), None)
    fewest = [tree.asked for tree in found if tree.kind == "frontier"]
    assert fewest == sorted(fewest, reverse=True)
