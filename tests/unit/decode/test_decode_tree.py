"""Products and descent in trees of nodes."""

import numpy as np

from agfmc.decode import tree


def test_greedy_and_argmax_differ():
    nodes = [[("node", 1), ("node", 2)], [("leaf", 0), ("leaf", 1)], [("leaf", 2), ("leaf", 3)]]
    local = [np.array([-.1]), np.array([0.]), np.array([.9])]
    p = tree.products(nodes, local)
    np.testing.assert_allclose(p, [[.275, .275, .0225, .4275]], atol=1e-15)
    leaf, along = tree.descend(nodes, local)
    # r = 0 goes right, with probability one half.
    assert leaf.tolist() == [1]
    np.testing.assert_allclose(along, [.275], atol=1e-15)


def test_products_sum_to_one_and_descent_matches_them():
    rng = np.random.default_rng(3)
    nodes = [[("leaf", 4), ("node", 1), ("node", 2)], [("leaf", 0), ("leaf", 3)],
             [("leaf", 1), ("node", 3)], [("leaf", 2), ("leaf", 5)]]
    local = [rng.dirichlet(np.ones(3), 50), rng.uniform(-1, 1, 50),
             rng.dirichlet(np.ones(2), 50), rng.uniform(-1, 1, 50)]
    p = tree.products(nodes, local)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-14)
    leaf, along = tree.descend(nodes, local)
    np.testing.assert_allclose(p[np.arange(50), leaf], along, atol=1e-15)
    assert len(set(leaf)) > 3


def test_very_deep_tree_and_lazy_descent():
    depth = 2000
    nodes = [[("leaf", i), ("node", i + 1)] for i in range(depth - 1)]
    nodes.append([("leaf", depth - 1), ("leaf", depth)])
    local = [np.array([.999, -.5])] * depth
    p = tree.products(nodes, local)
    assert p.shape == (2, depth + 1)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    asked = []

    def ask(index, rows):
        asked.append(len(rows))
        return local[index][rows]

    leaf, _ = tree.descend_asking(nodes, 2, ask)
    assert leaf.tolist() == [depth, 0]
    assert sum(asked) == depth + 1


def test_no_points():
    nodes = [[("leaf", 0), ("leaf", 1)]]
    assert tree.products(nodes, [np.zeros(0)]).shape == (0, 2)
    assert len(tree.descend(nodes, [np.zeros(0)])[0]) == 0
