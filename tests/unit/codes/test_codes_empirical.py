"""Distances between classes of data."""

from __future__ import annotations

import re

import numpy as np
import pytest

from agfmc.codes import empirical, linkage
from agfmc.errors import DataError, UsageError

X = np.array([[0, 0], [1, 0], [4, 0], [6, 1], [0, 3], [0, 5]], dtype=float)
Y = np.array([0, 0, 1, 1, 2, 2])
METHODS = ["auto", "tree", "blocks"]


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


@pytest.mark.parametrize("method", METHODS)
def test_hausdorff_of_three_pairs(method):
    d = empirical.class_distances(X, Y, [0, 1, 2], method=method)
    expected = [[0, 5.0990195, 5], [5.0990195, 0, 6.4031242], [5, 6.4031242, 0]]
    np.testing.assert_allclose(d, expected, atol=1e-7)
    pairs, heights = linkage.join(d)
    assert pairs == ((2, 0), 1) and heights == [d[0, 1], d[0, 2]]


def test_mean_deviation_of_three_pairs():
    d = empirical.class_distances(X, Y, [0, 1, 2], "mean-deviation")
    expected = [
        [0, 4.2820273, 4.0311289], [4.2820273, 0, 4.0815079], [4.0311289, 4.0815079, 0],
    ]
    np.testing.assert_allclose(d, expected, atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape, k", [
    ((60, 1), 3), ((300, 3), 7), ((200, 25), 4), ((12, 2), 12), ((400, 60), 2),
])
def test_hausdorff_is_brute_force(method, shape, k):
    x, y = labelled(shape, k, seed=k)
    d = empirical.class_distances(x, y, range(k), method=method)
    np.testing.assert_allclose(d, brute_force(x, y, list(range(k))), rtol=1e-14)
    assert np.array_equal(d, d.T) and not d.diagonal().any()


@pytest.mark.parametrize("method", METHODS)
def test_small_blocks_change_nothing(method, monkeypatch):
    x, y = labelled((150, 4), 5, seed=3)
    expected = empirical.class_distances(x, y, range(5), method=method)
    monkeypatch.setattr(empirical, "CHUNK", 400)
    assert np.array_equal(empirical.class_distances(x, y, range(5), method=method), expected)


@pytest.mark.parametrize("method", METHODS)
def test_far_from_the_origin_nothing_is_lost(method):
    # |x|^2 is 1e16 here: distances from norms alone would be noise.
    x, y = labelled((100, 3), 2, seed=5)
    x = np.round(x, 2) + 1e8
    d = empirical.class_distances(x, y, [0, 1], method=method)
    np.testing.assert_allclose(d, brute_force(x, y, [0, 1]), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_equal_sets_are_at_distance_zero(method):
    x = np.random.default_rng(1).normal(size=(40, 5)) * 1e3
    d = empirical.class_distances(np.tile(x, (2, 1)), np.repeat([0, 1], 40), [0, 1], method=method)
    assert not d.any()


def test_both_methods_agree_on_ties():
    x = np.random.default_rng(2).integers(0, 8, (2500, 5))
    y = np.random.default_rng(3).integers(0, 9, 2500)
    by_tree = empirical.class_distances(x, y, range(9), method="tree")
    assert np.array_equal(by_tree, empirical.class_distances(x, y, range(9), method="blocks"))


def test_labels_decide_order_and_selection():
    d = empirical.class_distances(X, Y * 10, [20, 0])
    np.testing.assert_allclose(d, [[0, 5], [5, 0]])
    by_float32 = empirical.class_distances(X.astype(np.float32), Y * 10, [20, 0])
    assert by_float32.dtype == np.float64 and np.array_equal(by_float32, d)


def test_mean_deviation_without_spread():
    x = np.array([[0.0], [0.0], [0.0], [5.0], [1.0], [3.0]])
    y = np.array([0, 0, 1, 2, 3, 3])
    d = empirical.class_distances(x, y, range(4), "mean-deviation")
    inf = np.inf
    assert d.tolist() == [[0, 0, inf, inf], [0, 0, inf, inf], [inf, inf, 0, inf], [inf] * 3 + [0]]


def test_mean_deviation_is_the_formula():
    x, y = labelled((90, 4), 3, seed=8)
    d = empirical.class_distances(x, y, range(3), "mean-deviation")
    means = [x[y == c].mean(axis=0) for c in range(3)]
    sigma = [np.sqrt(x[y == c].var(axis=0, ddof=1).sum()) for c in range(3)]
    for i in range(3):
        for j in range(3):
            expected = np.linalg.norm(means[i] - means[j]) / np.sqrt(sigma[i] * sigma[j])
            assert d[i, j] == pytest.approx(expected, rel=1e-12)


def test_an_empty_class_and_an_unknown_metric():
    with pytest.raises(DataError, match="class 7 has no samples"):
        empirical.class_distances(X, Y, [0, 7])
    with pytest.raises(UsageError, match="hausdorff or mean-deviation"):
        empirical.class_distances(X, Y, [0, 1], "cosine")


def test_trees_are_used_in_few_dimensions_only():
    assert empirical._trees_pay(np.empty((100000, 2)), 4)
    assert not empirical._trees_pay(np.empty((15000, 16)), 26)
    assert not empirical._trees_pay(np.empty((500, 2)), 2)


@pytest.mark.parametrize("method", METHODS)
def test_the_tree_of_segment_is_libagfs(segment, method):
    raw = (segment / "trn.vec").read_bytes()
    d = int(np.frombuffer(raw, "<i4", 1)[0])
    x = np.frombuffer(raw, "<f4", offset=4).reshape(-1, d)
    y = np.fromfile(segment / "trn.cls", "<i4")
    tree, _ = linkage.join(empirical.class_distances(x, y, range(7), method=method))
    text = (segment / "models" / "m_emp.mbt").read_text()
    nested = text.replace("{", "(").replace("}", ")")
    assert re.findall(r"[()]|\d+", str(tree)) == re.findall(r"[()]|\d+", nested)
