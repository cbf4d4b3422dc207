"""The shortest path through classes."""

from itertools import permutations

import numpy as np
import pytest

from agfmc.codes import pathorder
from agfmc.codes.empirical import class_distances
from agfmc.codes.pathorder import path_length, shortest_path
from agfmc.errors import DataError, UsageError


def random_distances(k, seed, planar=False):
    rng = np.random.default_rng(seed)
    if planar:
        x = rng.normal(size=(k, 2))
        return np.sqrt(((x[:, None] - x) ** 2).sum(axis=2))
    d = rng.uniform(size=(k, k))
    return np.triu(d, 1) + np.triu(d, 1).T


@pytest.mark.parametrize("planar", [False, True])
@pytest.mark.parametrize("k", range(1, 9))
def test_exact_against_all_permutations(k, planar):
    d = random_distances(k, k, planar)
    every = np.array(list(permutations(range(k))))
    shortest = d[every[:, :-1], every[:, 1:]].sum(axis=1).min()
    order, length, exact = shortest_path(d)
    assert exact and length == pytest.approx(shortest, abs=1e-12)
    assert sorted(order) == list(range(k)) and order[0] <= order[-1]
    assert path_length(d, order) == length


def test_a_known_path():
    x = np.array([5.0, 1, 9, 3])
    assert shortest_path(np.abs(x[:, None] - x)) == ([1, 3, 0, 2], 8.0, True)


@pytest.mark.parametrize("seed", range(12))
def test_local_search_is_nearly_exact(seed):
    d = random_distances(10, seed, seed % 2 == 0)
    order = pathorder._improved_neighbours(d)
    assert sorted(order) == list(range(10))
    assert shortest_path(d)[1] - 1e-12 <= path_length(d, order) <= 1.02 * shortest_path(d)[1]


@pytest.mark.parametrize("k", [3, 4, 7, 20])
def test_gains_are_what_the_path_becomes_shorter(k):
    d = random_distances(k, k)
    circle = np.zeros((k + 1, k + 1))
    circle[:k, :k] = d
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(k)
        tour = np.array([k, *order])
        for step in (pathorder._reversal, pathorder._move):
            gain, changed = step(circle, tour)
            assert changed[0] == k and sorted(changed) == list(range(k + 1))
            assert gain == pytest.approx(path_length(d, order) - path_length(d, changed[1:]))


def test_a_line_of_many_classes():
    x = np.random.default_rng(3).permutation(40)
    order, length, exact = shortest_path(np.abs(x[:, None] - x))
    assert not exact and length == 39 and order[0] < order[-1]
    assert x[order].tolist() in (list(range(40)), list(range(39, -1, -1)))


@pytest.mark.parametrize("k", [4, 8, 14])
@pytest.mark.parametrize("seed", range(4))
def test_ordered_classes_are_found_again(k, seed):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(k)  # labels[i] is the i-th class along the curve
    place = np.repeat(np.arange(k), 60)
    x = np.stack([place, np.sin(place / k)], axis=1) + rng.normal(scale=.35, size=(60 * k, 2))
    distances = class_distances(x, labels[place], range(k), "mean-deviation")
    order, _, _ = shortest_path(distances)
    assert order in (labels.tolist(), labels[::-1].tolist())


@pytest.mark.parametrize("k", [5, 15])
def test_infinite_distances_are_avoided(k):
    d = np.full((k, k), np.inf)
    line = np.random.default_rng(k).permutation(k)
    d[line[:-1], line[1:]] = d[line[1:], line[:-1]] = 7.0
    np.fill_diagonal(d, 0)
    order, length, _ = shortest_path(d)
    assert order in (line.tolist(), line[::-1].tolist()) and length == 7.0 * (k - 1)
    d[line[1], line[2]] = d[line[2], line[1]] = np.inf
    order, length, _ = shortest_path(d)
    assert length == np.inf and sum(np.isinf(d[order[:-1], order[1:]])) == 1


def test_what_makes_no_sense_is_refused():
    with pytest.raises(DataError):
        shortest_path([[0, np.nan], [np.nan, 0]])
    for bad in (np.zeros((0, 0)), np.zeros((2, 3)), [[0, 1], [2, 0]], [[0, -1], [-1, 0]]):
        with pytest.raises(UsageError):
            shortest_path(bad)
