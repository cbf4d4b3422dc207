"""Published or independently computed numbers, one point each."""

import numpy as np
import pytest

from agfmc.decode import simplex, tree
from agfmc.decode.front import decode, predict_class

MIXED = [[-1, -1, 1, 1], [-1, 1, 0, 0], [0, 0, -1, 1], [-1, 1, 1, -1], [0, -1, 1, 1]]
R4 = [-.2, -.4, -.1, -.3, .6, -.8]


def pairs(k):
    a = [[-1 if j == low else 1 if j == high else 0 for j in range(k)]
         for low in range(k) for high in range(low + 1, k)]
    return np.array(a)


def rest(k):
    return 2 * np.eye(k, dtype=int) - 1


def adjacent(k):
    return np.where(np.arange(k) <= np.arange(k - 1)[:, None], -1, 1)


def hadamard(m, k):
    h = np.array([[1]])
    while len(h) < m:
        h = np.block([[h, h], [h, -h]])
    h = h[:, :k].copy()
    h[:, 0] *= -1
    return h


def tree_rows(shape, k):
    """Rows in pre-order of nested pairs of columns."""
    rows = []

    def leaves(node):
        return [node] if isinstance(node, int) else leaves(node[0]) + leaves(node[1])

    def visit(node):
        if isinstance(node, int):
            return
        row = np.zeros(k, dtype=int)
        row[leaves(node[0])] = -1
        row[leaves(node[1])] = 1
        rows.append(row)
        visit(node[0])
        visit(node[1])

    visit(shape)
    return np.array(rows)


def chain(order):
    """Nested pairs that split off the last class first."""
    shape = order[0]
    for column in order[1:]:
        shape = (shape, column)
    return shape


BALANCED = (((0, 1), (2, 3)), ((4, 5), (6, 7)))
VALUES = {
    "pairs": (pairs(4), R4, 0, [.4106462307, .2001816914, .2135961584, .1755759194], 1e-10),
    "pairs, inverse": (pairs(4), R4, 1, [.4106462307, .2001816914, .2135961584, .1755759194],
                       1e-10),
    "pairs, hard": (pairs(4), [1, -1, -1, 1, -1, -1], 0, [.3, .3, .3, .1], 1e-12),
    "pairs, value votes": (pairs(4), R4, 2, [.7, -.5, .1, -.3], 1e-12),
    "pairs, votes": (pairs(4), R4, 3, [3, -1, -1, -1], 0),
    "pairs, Zadrozny": (pairs(4), R4, 7, [.34761735, .18827927, .25552634, .20857704], 1e-8),
    "pairs, Kullback-Leibler": (pairs(4), R4, "zadrozny-kl",
                                [.34761735, .18827927, .25552634, .20857704], 1e-8),
    "mixed": (MIXED, [.4, -.2, .6, .1, -.3], 0,
              [.15551508, .32953916, .161725, .35322076], 1e-8),
    "mixed, on the edge": (MIXED, [-.5, 0, .9, -.8, -.45], 0,
                           [.507269485, .2545762755, 0, .2381542395], 1e-9),
    "one-vs-rest": (rest(4), [.9, -.2, -1, .5], 0, [.5833333, .0333333, 0, .3833333], 1e-7),
    "one-vs-rest 2": (rest(4), [.3, -.2, -.9, .1], 0, [.45, .2, 0, .35], 1e-12),
    "adjacent": (adjacent(6), [.8, .2, .4, -.1, -.7], 0, [.1, .25, 0, .2, .3, .15], 1e-12),
    "orthogonal": (hadamard(8, 5), [.2, -.5, .1, .9, -.3, .4, -.7, .6], 0,
                   [.13125, 0, .08125, .48125, .30625], 1e-12),
    "orthogonal, method 4": (hadamard(8, 5), [.2, -.5, .1, .9, -.3, .4, -.7, .6], 4,
                             [.13125, 0, .08125, .48125, .30625], 1e-12),
    "balanced tree": (tree_rows(BALANCED, 8), [.3, -.4, .2, .1, -.6, .5, -.2], 0,
                      [.098, .147, .04725, .05775, .13, .39, .078, .052], 1e-12),
}


@pytest.mark.parametrize("name", VALUES)
def test_value(name):
    a, r, method, expected, close = VALUES[name]
    p = decode(np.array(a), r, method).p
    np.testing.assert_allclose(p, [expected], rtol=0, atol=close)


def test_chain_of_seven():
    # Columns in leaf order (labels 2 1 5 6 3 4 0), the last one split off first.
    r = np.array([[-.8, -.5, .2, .1, -.3, .6]])
    expected = [.015795, .06318, .042525, .1485, .405, .225, .1]
    p = decode(tree_rows(chain(range(7)), 7), r).p
    np.testing.assert_allclose(p, [expected], atol=1e-12)


@pytest.mark.parametrize("r, expected, objective", [
    ([.4, -.2, .6, .1, -.3], [.15551508, .32953916, .161725, .35322076], .4305427983),
    ([-.5, 0, .9, -.8, -.45], [.507269485, .2545762755, 0, .2381542395], .2027084598),
])
def test_objective_of_mixed_code(r, expected, objective):
    a = np.array(MIXED)
    p = decode(a, r).p[0]
    matrix = a - np.abs(a) * np.array(r)[:, None]
    assert abs(np.sum((matrix @ p)**2) - objective) < 1e-10


@pytest.mark.parametrize("v, expected", [
    ([.5, -.1, .1], [2 / 3, 1 / 15, 4 / 15]),
    ([.9, .6, -.3, .05, -.2], [.65, .35, 0, 0, 0]),
    ([1e9 + .25, 1e9], [.625, .375]),
])
def test_projection(v, expected):
    np.testing.assert_allclose(simplex.project(np.array([v])), [expected], atol=1e-12)


def test_nested_matrices():
    inner = [[.3, .6, -.2], [-.1, .4, .8], [0, -.9, .5]]
    local = [decode(pairs(3), r).p for r in [[.2, -.5, .1], *inner]]
    np.testing.assert_allclose(local[0], [[.37782738, .37723409, .24493853]], atol=1e-8)
    nodes = [[("node", 1), ("node", 2), ("node", 3)]]
    nodes += [[("leaf", 3 * i + j) for j in range(3)] for i in range(3)]
    p = tree.products(nodes, local)
    assert predict_class(p) == [5]
    assert abs(p[0, 5] - .24452308) < 1e-8
    leaf, _ = tree.descend(nodes, local)
    assert leaf == [1]


def test_ties_go_to_the_lowest_class():
    assert predict_class(np.array([[1., 3., 3.], [2., 2., 2.]])).tolist() == [1, 0]


def test_r_is_clipped():
    a = rest(3)
    np.testing.assert_array_equal(decode(a, [2., -7., .5]).p, decode(a, [1., -1., .5]).p)
