"""Answers of a tree that stop above the leaves, and its most probable leaves."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.decode.nested import descend, most_probable, products

# A node of three children, a bare one with two leaves, and one below which is another.
NODES = [
    [("leaf", 4), ("node", 1), ("node", 2)],
    [("leaf", 0), ("leaf", 3)],
    [("leaf", 1), ("node", 3)],
    [("leaf", 2), ("leaf", 5)],
]
LOCAL = [np.array([[0.1, 0.6, 0.3]]), np.array([0.5]), np.array([[0.75, 0.25]]), np.array([-1.0])]


class Local:
    """Local values of all nodes, given as they are asked for, and who asked."""

    def __init__(self, local):
        self.local, self.asked = local, []

    def __call__(self, index, rows):
        self.asked += [(index, row) for row in rows.tolist()]
        return self.local[index][rows]


@pytest.mark.parametrize(
    "least, leaf, p, last",
    [(0.5, 3, 0.45, 1), (0.6, 3, 0.45, 1), (0.61, -1, 1, 0), (0.76, -1, 1, 0)],
)
def test_a_descent_stops_where_the_branch_is_less_probable(least, leaf, p, last):
    found = descend(NODES, 1, Local(LOCAL), least)
    assert [one.tolist() for one in found] == [[leaf], [pytest.approx(p)], [last]]


def test_a_descent_stops_below_the_root():
    local = Local(
        [np.array([[0.1, 0.2, 0.7], [0.9, 0.1, 0]]), None, np.array([[0.4, 0.6], [1, 0]]), None]
    )
    leaf, p, last = descend(NODES, 2, local, 0.65)
    assert leaf.tolist() == [-1, 4] and last.tolist() == [2, 0]
    np.testing.assert_array_equal(p, [0.7, 0.9])
    assert local.asked == [(0, 0), (0, 1), (2, 0)]


def test_the_most_probable_leaves():
    local = Local(LOCAL)
    column, p = most_probable(NODES, 1, local, 2)
    assert column.tolist() == [[3, 1]]
    np.testing.assert_allclose(p, [[0.6 * 0.75, 0.3 * 0.75]])
    assert local.asked == [(0, 0), (1, 0), (2, 0)]  # the node of 2 and 5 has .075
    assert most_probable(NODES, 1, Local(LOCAL), 1)[0].tolist() == [[3]]
    # class 5 has probability 0
    assert most_probable(NODES, 1, Local(LOCAL), 6)[0].tolist() == [[3, 1, 0, 4, 2, 5]]
    assert [len(part) for part in most_probable(NODES, 0, Local(LOCAL), 3)] == [0, 0]


def test_what_is_impossible_is_not_asked_for():
    """The first columns are those of p = 0, as no other is more probable."""
    local = Local([np.array([[0.0, 0, 1]]), None, np.array([[1.0, 0]]), None])
    column, p = most_probable(NODES, 1, local, 4)
    assert column.tolist() == [[1, 0, 2, 3]] and p.tolist() == [[1, 0, 0, 0]]
    assert local.asked == [(0, 0), (2, 0)]


@st.composite
def trees(draw):
    """(nodes, number of leaves): random trees in pre-order, columns of leaves in any order."""
    nodes = [[]]
    wanted = draw(st.lists(st.integers(2, 4), min_size=1, max_size=8))

    def grow(index):
        for _ in range(wanted.pop()):
            if wanted and draw(st.booleans()):
                nodes.append([])
                nodes[index].append(("node", len(nodes) - 1))
                grow(len(nodes) - 1)
            else:
                nodes[index].append(("leaf", None))

    grow(0)
    k = sum(kind == "leaf" for node in nodes for kind, _ in node)
    columns = iter(draw(st.permutations(range(k))))
    return [
        [(kind, next(columns) if kind == "leaf" else target) for kind, target in node]
        for node in nodes
    ], k


@given(trees(), st.integers(0, 2**32 - 1), st.booleans())
def test_the_most_probable_leaves_are_those_of_all_products(tree, seed, coarse):
    nodes, k = tree
    rng = np.random.default_rng(seed)
    n, local = 7, []
    for node in nodes:
        # coarse values have ties, zeros and ones
        share = (
            rng.integers(0, 3, (n, len(node))) / 2 + 1e-300
            if coarse
            else rng.exponential(size=(n, len(node))) ** 3
        )
        share /= share.sum(axis=1, keepdims=True)
        if coarse:
            share = np.round(share, 1)
        local.append(share[:, 1] - share[:, 0] if len(node) == 2 and seed % 2 else share)
    p = products(nodes, local)
    order = np.argsort(-p, axis=1, kind="stable")
    for count in range(1, k + 1):
        ask = Local(local)
        column, found = most_probable(nodes, n, ask, count)
        np.testing.assert_array_equal(column, order[:, :count])
        np.testing.assert_array_equal(found, np.take_along_axis(p, order[:, :count], axis=1))
        assert len(set(ask.asked)) == len(ask.asked)
        # nothing is asked that cannot have one of them
        along = reached(nodes, local)
        assert all(along[index][row] >= found[row, -1] for index, row in ask.asked)
    # a point is asked the same whatever its neighbours are
    alone = Local([one[2:3] for one in local])
    column, found = most_probable(nodes, 1, alone, k // 2)
    np.testing.assert_array_equal(column[0], most_probable(nodes, n, Local(local), k // 2)[0][2])


def reached(nodes, local):
    """The product (n,) with which each node is reached."""
    found = {0: np.ones(len(local[0]))}
    for index, node in enumerate(nodes):
        share = (
            local[index]
            if local[index].ndim == 2
            else np.stack([(1 - local[index]) / 2, (1 + local[index]) / 2], axis=1)
        )
        for child, (kind, target) in enumerate(node):
            if kind == "node":
                found[target] = found[index] * share[:, child]
    return found


def test_a_chain_of_thousands_of_nodes():
    depth = 1500
    nodes = [[("leaf", i), ("node", i + 1)] for i in range(depth - 1)]
    nodes.append([("leaf", depth - 1), ("leaf", depth)])
    local = Local([np.array([0.9999, -0.5])] * depth)
    column, p = most_probable(nodes, 2, local, 3)
    assert column.tolist() == [[depth, 0, 1], [0, 1, 2]]
    np.testing.assert_allclose(p[1], [0.75, 0.1875, 0.046875])
    assert len([row for _, row in local.asked if row == 1]) == 3


def test_more_open_nodes_than_there_is_room_for_at_first():
    nodes = [
        [("node", 1 + i) for i in range(6)],
        *([("leaf", 2 * i), ("leaf", 2 * i + 1)] for i in range(6)),
    ]
    local = [
        np.array([[0.3, 0.25, 0.2, 0.1, 0.1, 0.05], [0.05, 0.1, 0.1, 0.2, 0.25, 0.3]]),
        *(np.array([0.1 * i, -0.1 * i]) for i in range(6)),
    ]
    p = products(nodes, local)
    column, found = most_probable(nodes, 2, Local(local), 12)
    np.testing.assert_array_equal(column, np.argsort(-p, axis=1, kind="stable"))
    np.testing.assert_array_equal(found, -np.sort(-p, axis=1))
