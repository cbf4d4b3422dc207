"""Costs of nodes: their sum is the log loss, and each is that of its own decision."""

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.score.nodes import costs_of_nodes
from agfmc.core.probabilities import log_loss

# labels in an order of their own, a node of three branches, one of them a node
TREE = parse('"" {7 "" 0 / 1; "" 0 / 2; "" 1 / 2; {2 "" {9 4} 5}}\n')


def points(n=60, seed=3):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(5, 0.4), size=n), rng.integers(0, 5, size=n)


@pytest.mark.parametrize("weighted", [False, True])
def test_costs_of_all_nodes_sum_to_the_log_loss(weighted):
    p, y = points()
    weights = np.random.default_rng(1).uniform(0, 3, size=len(y)) if weighted else None
    p[:6] = np.eye(5)[[0, 1, 2, 3, 4, 4]]  # certain, some of them wrong
    costs = costs_of_nodes(TREE, p, y, weights)
    assert [cost.node for cost in costs] == [0, 1, 2]
    assert sum(cost.log_loss for cost in costs) == pytest.approx(log_loss(p, y, weights), rel=1e-12)


def test_a_node_has_the_points_and_the_loss_of_its_own_decision():
    # columns are the classes 2, 4, 5, 7, 9
    p = np.array([[0.1, 0.2, 0.3, 0.2, 0.2], [0.5, 0.05, 0.05, 0.3, 0.1]])
    root, three, last = costs_of_nodes(TREE, p, np.array([4, 3]))
    assert (root.share, three.share, last.share) == (1, 0.5, 0.5)
    # of the first point 9 is below all three nodes, and 4 and 9 have .4 of it
    assert root.log_loss == pytest.approx(-(np.log(0.8) + np.log(0.3)) / 2)
    assert three.log_loss == pytest.approx(-np.log(0.4 / 0.8) / 2)
    assert last.log_loss == pytest.approx(-np.log(0.2 / 0.4) / 2)
    assert root.error == 0.5 and three.error == 0
    assert last.error == 0  # equal ones: the first branch


def test_a_node_without_points_costs_nothing():
    root, three, last = costs_of_nodes(TREE, *points(4)[:1], np.full(4, 3))
    assert (root.share, three.share, three.log_loss, last.log_loss) == (1, 0, 0, 0)
    assert np.isnan(three.error)


def test_an_ensemble_has_no_costs():
    tree = parse('"" 0 / 1;\n{0 1}\n"" 0 / 1;\n{0 1}\n')
    assert tree.is_ensemble and costs_of_nodes(tree, *points()) == ()
