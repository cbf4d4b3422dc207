"""Classes joined by their distances: against scipy, against the rule, and with ties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agfmc.codes import linkage, trees
from agfmc.codes.linkage import LINKAGES, join
from agfmc.errors import DataError, UsageError

INF = float("inf")


def symmetric(d):
    d = np.tril(np.asarray(d, dtype=float), -1)
    return d + d.T


def nodes_of(pairs):
    """The classes below each node, in pre-order."""
    rows, leaves = trees.tree_rows(pairs)
    return [frozenset(leaves[i] for i in left + right) for left, right in rows]


def slow_join(d, method):
    """(pairs, heights by the classes below) by the rule, in exact arithmetic."""
    def far(a, b):
        between = [d[i][j] for i in a for j in b]
        if method == "average":
            return INF if INF in between else sum(map(Fraction, between)) / len(between)
        return min(between) if method == "single" else max(between)

    def closest(a, b):
        return min((d[i][j], max(i, j), min(i, j)) for i in a for j in b)

    groups = {(i,): i for i in range(len(d))}
    heights = {}
    while len(groups) > 1:
        a, b = min(((a, b) for a in groups for b in groups if a < b),
                   key=lambda pair: (far(*pair), closest(*pair)))
        i = closest(a, b)[1]
        if (len(b), i in b) > (len(a), i in a):
            a, b = b, a
        heights[frozenset(a + b)] = float(far(a, b))
        groups[a + b] = (groups.pop(a), groups.pop(b))
    return next(iter(groups.values())), heights


@pytest.mark.parametrize("method", LINKAGES)
@settings(deadline=None, max_examples=60)
@given(k=st.integers(2, 9), seed=st.integers(0, 10 ** 6), values=st.integers(1, 6),
       infinite=st.booleans())
def test_the_rule_with_many_ties(method, k, seed, values, infinite):
    d = symmetric(np.random.default_rng(seed).integers(0, values + 1, (k, k)))
    if infinite:
        d[d == values] = INF
    pairs, heights = join(d, method)
    expected, by_classes = slow_join(d.tolist(), method)
    assert pairs == expected
    np.testing.assert_allclose(heights, [by_classes[node] for node in nodes_of(pairs)],
                               rtol=1e-14)


@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("k", [2, 3, 7, 26, 80])
def test_scipy_agrees_where_nothing_ties(method, k):
    from scipy.cluster.hierarchy import linkage as scipy_linkage
    from scipy.spatial.distance import squareform

    for seed in range(6):
        d = symmetric(np.random.default_rng(seed).random((k, k)))
        pairs, heights = join(d, method)
        groups = [frozenset([i]) for i in range(k)]
        expected = {}
        for a, b, height, size in scipy_linkage(squareform(d), method):
            groups.append(groups[int(a)] | groups[int(b)])
            assert len(groups[-1]) == size
            expected[groups[-1]] = height
        assert set(nodes_of(pairs)) == set(expected)
        np.testing.assert_allclose(heights, [expected[node] for node in nodes_of(pairs)],
                                   rtol=1e-13)


@pytest.mark.parametrize("method", LINKAGES)
def test_heights_do_not_grow_downwards(method):
    d = symmetric(np.random.default_rng(3).random((30, 30)))
    pairs, heights = join(d, method)
    nodes = nodes_of(pairs)
    for node, height in zip(nodes, heights):
        assert all(lower <= height * (1 + 1e-12)
                   for inside, lower in zip(nodes, heights) if inside < node)
    assert heights[0] == max(heights)


def test_three_linkages_of_four_places_on_a_line():
    places = np.array([0.0, 2.0, 5.0, 9.0])
    d = np.abs(places[:, None] - places)
    assert join(d, "single") == ((((1, 0), 2), 3), [4.0, 3.0, 2.0])
    assert join(d, "complete") == (((3, 2), (1, 0)), [9.0, 4.0, 2.0])
    # {0, 1} and 2 are 4 apart on the mean, as 2 and 3 are: the closest pair of the first is 3 apart
    assert join(d, "average") == ((((1, 0), 2), 3), [20 / 3, 4.0, 2.0])


def test_infinite_distances():
    d = symmetric([[0, 0, 0], [INF, 0, 0], [INF, 1, 0]])
    for method in LINKAGES:
        assert join(d, method) == (((2, 1), 0), [INF, 1.0])
    everywhere = symmetric(np.full((5, 5), INF))
    for method in LINKAGES:
        assert join(everywhere, method) == (((((1, 0), 2), 3), 4), [INF] * 4)


def test_a_deep_chain():
    places = np.cumsum(np.arange(1.0, 1501.0))
    pairs, heights = join(np.abs(places[:, None] - places))
    _, leaves = trees.tree_rows(pairs)
    assert leaves == (1, 0, *range(2, 1500))
    assert heights == [float(i) for i in range(1500, 1, -1)]


def test_what_is_no_distance():
    with pytest.raises(DataError, match="not a number"):
        join([[0, np.nan], [np.nan, 0]])
    with pytest.raises(UsageError, match="at least two"):
        join([[0.0]])
    with pytest.raises(UsageError, match="no linkage called 'ward'"):
        join(np.zeros((3, 3)), "ward")


def test_the_parser_knows_the_linkages_and_metrics():
    from agfmc.cli import print_control_options
    from agfmc.codes.empirical import METRICS

    assert linkage.LINKAGES == print_control_options._LINKAGES
    assert METRICS == print_control_options._METRICS
