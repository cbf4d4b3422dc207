"""The order of classes: of a DDAG, so that it is right most often, and along the shortest path."""

from functools import cache
from itertools import combinations, permutations, product

import numpy as np
import pytest

from agfmc.designs import class_order
from agfmc.designs.class_order import order_for_pairs, order_for_path, path_length, shortest_path
from agfmc.designs.class_order import (
    _INSERT,
    _moves,
    _REVERSE,
    _sources,
    _SWAP,
    best_order,
    greedy_order,
    local_search,
    pairs_training_share,
    PathProblem,
    Problem,
    success,
)
from agfmc.designs.distances import class_distances
from agfmc.control.build import from_rows
from agfmc.core.errors import DataError
from agfmc.designs.design import design
from agfmc.data.confusions import PairErrors

PRIORS = [0.3, 0.1, 0.2, 0.4]


def expected_accuracy(order, priors, e, h=None):
    return Problem(priors, e, h).values(np.array([order]))[0]


def recursion(order, e, h, t):
    """V_t as it is defined, one call at a time."""
    where = order.index(t)

    def value(a, b):
        if a == b:
            return 1.0
        first, last = order[a], order[b]
        if where == a:
            return (1 - e[t, last]) * value(a, b - 1)
        if where == b:
            return (1 - e[t, first]) * value(a + 1, b)
        share = 0.5 if h is None else h[t, first, last]
        return share * value(a, b - 1) + (1 - share) * value(a + 1, b)

    return value(0, len(order) - 1)


def problem_of(seed, k, with_shares):
    rng = np.random.default_rng(seed)
    h = None
    if with_shares:
        h = rng.beta(0.5, 0.5, size=(k, k, k))
        i, j = np.triu_indices(k, 1)
        h[:, j, i] = 1 - h[:, i, j]
    return rng.dirichlet(np.ones(k)), rng.uniform(0, 0.4, size=(k, k)), h


@pytest.mark.parametrize("with_shares", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_success_is_the_definition(k, with_shares):
    _, e, h = problem_of(k, k, with_shares)
    order = np.random.default_rng(k).permutation(k)
    there, back = (success(some[None], 1 - e, h)[0] for some in (order, order[::-1]))
    assert there == pytest.approx([recursion(order.tolist(), e, h, t) for t in order], abs=1e-13)
    assert back[::-1] == pytest.approx(there, abs=1e-13)  # the list from the other end is the same


def test_greedy():
    assert greedy_order(PRIORS) == [1, 0, 3, 2]
    e = np.full((4, 4), 0.1)
    assert expected_accuracy([1, 0, 3, 2], PRIORS, e) == pytest.approx(0.8172, abs=1e-12)
    assert expected_accuracy(range(4), PRIORS, e) == pytest.approx(0.7668, abs=1e-12)
    assert greedy_order([0.2] * 5) == [0, 2, 4, 3, 1] and greedy_order([1]) == [0]


@pytest.mark.parametrize("k", range(2, 8))
def test_greedy_is_best_for_equal_errors(k):
    priors = np.random.default_rng(k).dirichlet(np.ones(k))
    e = np.full((k, k), 0.15)
    values = Problem(priors, e).values(np.array(list(permutations(range(k)))))
    assert expected_accuracy(greedy_order(priors.tolist()), priors, e) == pytest.approx(
        values.max(), abs=1e-13
    )


@pytest.mark.parametrize("with_shares", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 7])
def test_local_search_against_all_permutations(k, with_shares):
    every = np.array(list(permutations(range(k))))
    for seed in range(3 if k < 6 else 1):
        problem = Problem(*problem_of(10 * k + seed, k, with_shares))
        order, value = local_search(problem, [np.arange(k)], 1)
        assert value == pytest.approx(problem.values(every).max(), abs=1e-12)
        assert problem.values(order[None])[0] == pytest.approx(value, abs=1e-12)
        assert sorted(order.tolist()) == list(range(k))


def test_moves_are_all_swaps_and_insertions():
    k = 6
    found = sorted(map(tuple, _sources(k, _moves(k, (_SWAP, _INSERT))).tolist()))
    expected = set()
    for i in range(k):
        for j in range(k):
            if i < j:
                swapped = list(range(k))
                swapped[i], swapped[j] = j, i
                expected.add(tuple(swapped))
            if i != j:
                rest = [x for x in range(k) if x != i]
                expected.add(tuple(rest[:j] + [i] + rest[j:]))
    assert found == sorted(expected)
    turned = [
        (*range(i), *range(j, i - 1, -1), *range(j + 1, k)) for i, j in combinations(range(k), 2)
    ]
    assert sorted(map(tuple, _sources(k, _moves(k, (_REVERSE,))).tolist())) == sorted(turned)


@pytest.mark.few(1)
@pytest.mark.parametrize("with_shares", [False, True])
def test_local_search_of_more_classes(with_shares):
    k = 12
    problem = Problem(*problem_of(8, k, with_shares))
    starts = [
        greedy_order(problem.priors.tolist()),
        range(k),
        np.random.default_rng(2).permutation(k),
    ]
    order, value = local_search(problem, starts, 1)
    assert sorted(order.tolist()) == list(range(k))
    assert value == pytest.approx(problem.values(order[None])[0], abs=1e-12)
    assert value >= problem.values(np.array(starts)).max()
    assert problem.values(order[_sources(k, _moves(k, problem.moves))]).max() <= value + 1e-12
    again, same = local_search(problem, starts, 1)
    assert again.tolist() == order.tolist() and same == value


@pytest.mark.parametrize("block", [class_order._BLOCK, 1000])
def test_every_climb_ends_at_a_local_optimum(monkeypatch, block):
    monkeypatch.setattr(class_order, "_BLOCK", block)  # all moves at once, and ten at a time
    monkeypatch.setattr(class_order, "_RESTARTS", 0)
    for seed in range(5):
        priors, e, _ = problem_of(seed, 10, False)
        problem = Problem(priors, e)
        order, value = local_search(problem, [range(10)], 1)
        around = np.asarray(order)[_sources(10, _moves(10, problem.moves))]
        assert problem.values(around).max() <= value + 1e-12
        assert problem.values(order[None])[0] == pytest.approx(value, abs=1e-14)


def test_local_search_ends_when_its_work_is_done(monkeypatch):
    monkeypatch.setattr(class_order, "_WORK", 0)
    monkeypatch.setattr(class_order, "_RESTART_WORK", 0)
    priors, e, _ = problem_of(1, 20, False)
    problem = Problem(priors, e)
    order, value = local_search(problem, [range(20)], 1)
    assert order.tolist() == list(range(20))
    assert value == pytest.approx(expected_accuracy(range(20), priors, e))


# The shortest path


def random_distances(k, seed, planar=False):
    rng = np.random.default_rng(seed)
    if planar:
        x = rng.normal(size=(k, 2))
        return np.sqrt(((x[:, None] - x) ** 2).sum(axis=2))
    d = rng.uniform(size=(k, k))
    return np.triu(d, 1) + np.triu(d, 1).T


def shortest_length(d):
    """By the recursion over subsets: {(set of classes, last one): length}."""
    k = len(d)
    best = {(1 << j, j): 0.0 for j in range(k)}
    for _ in range(k - 1):
        longer = {}
        for (mask, last), length in best.items():
            for j in range(k):
                if not mask >> j & 1:
                    key = mask | 1 << j, j
                    longer[key] = min(longer.get(key, np.inf), length + d[last, j])
        best = longer
    return min(best.values())


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(12))
def test_local_search_finds_shortest_paths(seed):
    d = random_distances(10, seed, seed % 2 == 0)
    order, value = local_search(PathProblem(d), [range(10)], 1)
    assert sorted(order.tolist()) == list(range(10))
    assert -value == pytest.approx(path_length(d, order)) == pytest.approx(shortest_length(d))


@pytest.mark.parametrize("third", [False, True])
def test_best_order_of_few_classes_is_that_of_all(third):
    problem = Problem(*problem_of(3, 6, third))
    order, exact = best_order(problem, [], 1)
    values = problem.values(np.array(list(permutations(range(6)))))
    assert exact and order[0] < order[-1]
    assert problem.values(np.array([order]))[0] == pytest.approx(values.max(), abs=1e-13)


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
    x = np.stack([place, np.sin(place / k)], axis=1) + rng.normal(scale=0.35, size=(60 * k, 2))
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


def test_what_is_no_distance_is_refused():
    with pytest.raises(DataError):
        shortest_path([[0, np.nan], [np.nan, 0]])


# The order of classes


def ddag(order, priors, e, h):
    """Chance that a DDAG is right: first against last, the loser leaves; by all its ways."""

    @cache
    def right(classes, true):
        if len(classes) == 1:
            return float(classes[0] == true)
        i, j = classes[0], classes[-1]
        if true == i:
            first = 1 - e[i, j]
        elif true == j:
            first = e[j, i]
        else:
            first = h[true, i, j]
        return first * right(classes[:-1], true) + (1 - first) * right(classes[1:], true)

    return sum(p * right(tuple(order), c) for c, p in enumerate(priors))


def counted(k, seed, third):
    """Random `PairErrors` of k classes with gaps between their labels."""
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 60, (k, k))
    np.fill_diagonal(n, 0)
    errors = (n * rng.random((k, k)) * 0.6).astype(np.int64)
    irrelevant, wins = np.zeros((2, k, k, k), np.int64)
    for t, i, j in product(range(k), repeat=3):
        if third and i < j and t not in (i, j):
            irrelevant[t, i, j] = irrelevant[t, j, i] = rng.integers(1, 40)
            wins[t, i, j] = rng.integers(0, irrelevant[t, i, j] + 1)
            wins[t, j, i] = irrelevant[t, i, j] - wins[t, i, j]
    labels = tuple(3 * i + 1 for i in range(k))
    return PairErrors(labels, n, errors, *((irrelevant, wins) if third else (None, None)))


@pytest.mark.parametrize(
    "k, third, seed",
    [
        *((k, third, 1) for k in range(2, 6) for third in (False, True)),
        pytest.param(6, True, 2),
        *(
            pytest.param(k, third, seed, marks=pytest.mark.long)
            for k in (5, 6, 7)
            for third in (False, True)
            for seed in (3, 4)
        ),
    ],
)
def test_order_for_pairs_is_the_best_there_is(k, third, seed):
    counts = counted(k, seed, third)
    priors = np.random.default_rng(seed).dirichlet(np.ones(k))
    e = (counts.errors + 1) / (counts.n + 2)
    h = np.full((k, k, k), 0.5) if not third else (counts.wins + 1) / (counts.irrelevant + 2)
    rows = [((i,), (j,)) for i, j in combinations(range(k), 2)]
    tree = from_rows(rows, [counts.labels[i] for i in np.random.default_rng(9).permutation(k)])
    found = order_for_pairs(tree, error_rate=0.17, priors=priors.tolist(), pair_errors=counts)
    values = {order: ddag(order, priors, e, h) for order in permutations(range(k))}
    place = {label: i for i, label in enumerate(counts.labels)}
    assert found.after == pytest.approx(max(values.values()), abs=1e-12)
    assert found.after == pytest.approx(
        values[tuple(place[label] for label in found.tree.labels)], abs=1e-12
    )
    assert found.before == pytest.approx(
        values[tuple(place[label] for label in tree.labels)], abs=1e-12
    )
    assert found.tree.sides() == tree.sides()
    equal = order_for_pairs(tree, priors=priors.tolist(), error_rate=0.17)
    assert equal.after == pytest.approx(
        max(
            ddag(order, priors, np.full((k, k), 0.17), np.full((k, k, k), 0.5))
            for order in permutations(range(k))
        ),
        abs=1e-12,
    )


@pytest.mark.parametrize(
    "k, seed",
    [
        *((k, 1) for k in range(1, 7)),
        *(pytest.param(7, seed, marks=pytest.mark.long) for seed in range(3)),
    ],
)
def test_order_for_path_is_the_shortest_there_is(k, seed):
    rng = np.random.default_rng(seed)
    d = rng.integers(0, 9, (k, k)).astype(float)
    d += d.T
    np.fill_diagonal(d, 0)
    lengths = {
        order: sum(d[i, j] for i, j in zip(order, order[1:])) for order in permutations(range(k))
    }
    order, length, exact = shortest_path(d)
    assert exact and length == min(lengths.values()) == lengths[tuple(order)]
    assert order[0] <= order[-1] and path_length(d, order) == length
    if k == 1:
        return
    # points of one class at each of k places on a line, where every distance is counts
    places = rng.permutation(k).astype(float)
    x = np.repeat(places, 4) + np.tile([-0.25, 0.25, -0.25, 0.25], k)
    y = np.repeat(np.arange(k), 4).astype(np.int32)
    tree = design("adjacent", range(k))
    found = order_for_path(tree, x[:, None], y)
    assert [places[label] for label in found.tree.labels] in (
        sorted(places),
        sorted(places, reverse=True),
    )


@pytest.mark.parametrize("k, share", [(2, 0.5), (4, 0.375), (10, 0.18)])
def test_training_of_pairs_takes_its_share(k, share):
    # (k - 1)/2 (2/k)^2 = 2(k - 1)/k^2 of one-vs-rest
    assert pairs_training_share(k) == pytest.approx(share)
