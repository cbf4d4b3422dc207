"""Distances between classes of data and of tables, and the trees that they suggest."""

import re
from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.designs import distances
from agfmc.designs.distances import class_distances, confusion_distances, join
from agfmc.designs.schemes import LINKAGES
from agfmc.control.build import from_pairs
from agfmc.core.errors import DataError, UsageError

X = np.array([[0, 0], [1, 0], [4, 0], [6, 1], [0, 3], [0, 5]], dtype=float)
Y = np.array([0, 0, 1, 1, 2, 2])


@pytest.fixture(params=[True, False], ids=["trees", "blocks"])
def method(monkeypatch, request):
    """Hausdorff's distances by k-d trees, or by matrix products."""
    monkeypatch.setattr(distances, "_trees_pay", lambda *points: request.param)


def brute_force(x, y, labels):
    k = len(labels)
    result = np.zeros((k, k))
    for i in range(k):
        for j in range(k):
            u, v = x[y == labels[i]], x[y == labels[j]]
            d = np.sqrt(((u[:, None, :] - v[None, :, :]) ** 2).sum(axis=2))
            result[i, j] = max(d.min(axis=1).max(), d.min(axis=0).max())
    return result


def labelled(shape, k, seed):
    generator = np.random.default_rng(seed)
    y = generator.integers(0, k, shape[0])
    y[:k] = np.arange(k)
    return generator.normal(size=shape) + y[:, None] * 0.3, y


def test_hausdorff_of_three_pairs(method):
    d = class_distances(X, Y, [0, 1, 2])
    expected = [[0, 5.0990195, 5], [5.0990195, 0, 6.4031242], [5, 6.4031242, 0]]
    np.testing.assert_allclose(d, expected, atol=1e-7)
    pairs, heights = join(d)
    assert pairs == ((2, 0), 1) and heights == [d[0, 1], d[0, 2]]


@pytest.mark.parametrize(
    "shape, k", [((60, 1), 3), ((300, 3), 7), ((200, 25), 4), ((12, 2), 12), ((400, 60), 2)]
)
def test_hausdorff_is_brute_force(monkeypatch, method, shape, k):
    x, y = labelled(shape, k, seed=k)
    d = class_distances(x, y, range(k))
    np.testing.assert_allclose(d, brute_force(x, y, list(range(k))), rtol=1e-14)
    assert np.array_equal(d, d.T) and not d.diagonal().any()
    monkeypatch.setattr(distances, "CHUNK", 400)
    assert np.array_equal(class_distances(x, y, range(k)), d)


def test_far_from_the_origin_nothing_is_lost(method):
    # |x|^2 is 1e16 here: distances from norms alone would be noise.
    x, y = labelled((100, 3), 2, seed=5)
    x = np.round(x, 2) + 1e8
    d = class_distances(x, y, [0, 1])
    np.testing.assert_allclose(d, brute_force(x, y, [0, 1]), rtol=1e-12)


def test_equal_sets_are_at_distance_zero(method):
    x = np.random.default_rng(1).normal(size=(40, 5)) * 1e3
    d = class_distances(np.tile(x, (2, 1)), np.repeat([0, 1], 40), [0, 1])
    assert not d.any()


def test_both_methods_agree_on_ties(monkeypatch):
    x = np.random.default_rng(2).integers(0, 8, (2500, 5))
    y = np.random.default_rng(3).integers(0, 9, 2500)
    found = []
    for trees in (True, False):
        monkeypatch.setattr(distances, "_trees_pay", lambda *points, trees=trees: trees)
        found.append(class_distances(x, y, range(9)))
    assert np.array_equal(*found)


def test_labels_decide_order_and_selection():
    d = class_distances(X, Y * 10, [20, 0])
    np.testing.assert_allclose(d, [[0, 5], [5, 0]])
    by_float32 = class_distances(X.astype(np.float32), Y * 10, [20, 0])
    assert by_float32.dtype == np.float64 and np.array_equal(by_float32, d)


def test_mean_deviation_without_spread():
    x = np.array([[0.0], [0.0], [0.0], [5.0], [1.0], [3.0]])
    y = np.array([0, 0, 1, 2, 3, 3])
    d = class_distances(x, y, range(4), "mean-deviation")
    inf = np.inf
    assert d.tolist() == [[0, 0, inf, inf], [0, 0, inf, inf], [inf, inf, 0, inf], [inf] * 3 + [0]]


def test_mean_deviation_is_the_formula():
    x, y = labelled((90, 4), 3, seed=8)
    d = class_distances(x, y, range(3), "mean-deviation")
    means = [x[y == c].mean(axis=0) for c in range(3)]
    sigma = [np.sqrt(x[y == c].var(axis=0, ddof=1).sum()) for c in range(3)]
    for i in range(3):
        for j in range(3):
            expected = np.linalg.norm(means[i] - means[j]) / np.sqrt(sigma[i] * sigma[j])
            assert d[i, j] == pytest.approx(expected, rel=1e-12)


def test_an_empty_class():
    with pytest.raises(DataError, match="class 7 has no samples"):
        class_distances(X, Y, [0, 7])


def test_trees_are_used_in_few_dimensions_only():
    assert distances._trees_pay(np.empty((100000, 2)), 4)
    assert not distances._trees_pay(np.empty((15000, 16)), 26)
    assert not distances._trees_pay(np.empty((500, 2)), 2)


def test_the_tree_of_segment_is_libagfs(segment, method):
    raw = (segment / "trn.vec").read_bytes()
    d = int(np.frombuffer(raw, "<i4", 1)[0])
    x = np.frombuffer(raw, "<f4", offset=4).reshape(-1, d)
    y = np.fromfile(segment / "trn.cls", "<i4")
    tree, _ = join(class_distances(x, y, range(7)))
    text = (segment / "models" / "m_emp.mbt").read_text()
    nested = text.replace("{", "(").replace("}", ")")
    assert re.findall(r"[()]|\d+", str(tree)) == re.findall(r"[()]|\d+", nested)


# By how often one class is taken for another


def test_by_hand():
    errors = [[8, 2, 0], [1, 3, 0], [0, 0, 20]]
    d = confusion_distances(errors, [10, 4, 20])
    third = 1 / 3
    expected = [
        -log(((2 + third) / 11 + (1 + third) / 5) / 2),
        -log((third / 11 + third / 21) / 2),
        -log((third / 5 + third / 21) / 2),
    ]
    np.testing.assert_allclose([d[0, 1], d[0, 2], d[1, 2]], expected, rtol=1e-14)
    pairs = confusion_distances([[0, 3], [1, 0]], [[0, 9], [7, 0]], 2)
    assert pairs[0, 1] == pytest.approx(-log((3.5 / 10 + 1.5 / 8) / 2), rel=1e-14)


@given(k=st.integers(2, 8), seed=st.integers(0, 10**6), empty=st.booleans())
def test_a_distance_for_every_table(k, seed, empty):
    table = np.random.default_rng(seed).integers(0, 5, (k, k))
    if empty:
        table[0] = 0
    d = confusion_distances(table, table.sum(axis=1))
    assert np.isfinite(d).all() and (d >= 0).all()
    assert np.array_equal(d, d.T) and not np.diag(d).any()
    turned = np.random.default_rng(seed).permutation(k)
    moved = table[np.ix_(turned, turned)]
    np.testing.assert_allclose(
        confusion_distances(moved, moved.sum(axis=1)), d[np.ix_(turned, turned)], rtol=1e-13
    )


def test_classes_of_all_sizes_count_alike_and_few_samples_say_little():
    # one tenth of each goes astray: from 0 to 1 of a large class, from 2 to 3 of a small one
    table = np.diag([900, 1000, 9, 10])
    table[0, 1], table[2, 3] = 100, 1
    d = confusion_distances(table, table.sum(axis=1))
    assert abs(d[0, 1] - d[2, 3]) < 0.4
    assert d[[0, 0, 1, 1], [2, 3, 2, 3]].min() > max(d[0, 1], d[2, 3]) + 1
    few = confusion_distances(np.diag([2, 2]), [2, 2])[0, 1]
    assert few < confusion_distances(np.diag([200, 200]), [200, 200])[0, 1]


def test_counts_that_cannot_be():
    for errors, samples in ([[0, 5], [0, 9]], [4, 9]), ([[0, -1], [0, 9]], [4, 9]):
        with pytest.raises(UsageError):
            confusion_distances(errors, samples)


# Linkage

INF = float("inf")


def symmetric(d):
    d = np.tril(np.asarray(d, dtype=float), -1)
    return d + d.T


def nodes_of(pairs):
    """The classes below each node, in pre-order."""
    leaves = [int(word) for word in re.findall(r"\d+", str(pairs))]
    tree = from_pairs(pairs, range(len(leaves)))
    return [frozenset(left + right) for left, right in tree.sides()]


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
        a, b = min(
            ((a, b) for a in groups for b in groups if a < b),
            key=lambda pair: (far(*pair), closest(*pair)),
        )
        i = closest(a, b)[1]
        if (len(b), i in b) > (len(a), i in a):
            a, b = b, a
        heights[frozenset(a + b)] = float(far(a, b))
        groups[a + b] = (groups.pop(a), groups.pop(b))
    return next(iter(groups.values())), heights


@pytest.mark.parametrize("method", LINKAGES)
@given(
    k=st.integers(2, 9),
    seed=st.integers(0, 10**6),
    values=st.integers(1, 6),
    infinite=st.booleans(),
)
def test_the_rule_with_many_ties(method, k, seed, values, infinite):
    d = symmetric(np.random.default_rng(seed).integers(0, values + 1, (k, k)))
    if infinite:
        d[d == values] = INF
    pairs, heights = join(d, method)
    expected, by_classes = slow_join(d.tolist(), method)
    assert pairs == expected
    np.testing.assert_allclose(heights, [by_classes[node] for node in nodes_of(pairs)], rtol=1e-14)


@pytest.mark.few(8)
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
        np.testing.assert_allclose(
            heights, [expected[node] for node in nodes_of(pairs)], rtol=1e-13
        )
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
    assert from_pairs(pairs, range(1500)).labels == (1, 0, *range(2, 1500))
    assert heights == [float(i) for i in range(1500, 1, -1)]


def test_what_is_no_distance():
    with pytest.raises(DataError, match="not a number"):
        join([[0, np.nan], [np.nan, 0]])


def test_whole_weights_are_copies():
    random = np.random.default_rng(9)
    x, y = random.normal(size=(30, 3)), np.arange(30) % 3
    x[:, 1] += y
    w = random.integers(1, 5, 30)
    x, y, w = np.r_[x, [[7, 7, 7]]], np.r_[y, 3], np.r_[w, 1]  # and a class of one point
    copied = np.repeat(x, w, axis=0), np.repeat(y, w)
    for metric in ("mean-deviation", "hausdorff"):
        found = class_distances(x, y, range(4), metric, w=w.astype(float))
        assert np.allclose(found, class_distances(*copied, range(4), metric))
    small = class_distances(x[:30], y[:30], range(3), "mean-deviation", w=w[:30] / 1000)
    assert np.isfinite(small).all()
    assert np.allclose(
        small, class_distances(x[:30], y[:30], range(3), "mean-deviation", w=w[:30] / 9000)
    )
