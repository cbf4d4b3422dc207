"""Designs as they are printed and read again: every property they claim, by plain means."""

import re
import warnings
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
import pytest

from agfmc.cli.print_control import main
from agfmc.coding import dagorder, pathorder
from agfmc.control.build import from_rows
from agfmc.errors import AgfmcWarning
from agfmc.training.design import design
from agfmc.training.ordering import order_for_pairs, order_for_path
from agfmc.formats.confusions import PairErrors

SOME = [2, 3, 4, 5, 8, 12, 13, 29, 40]
EVERY = [k if k < 14 or k in SOME else pytest.param(k, marks=pytest.mark.long)
         for k in range(2, 41)]


def read(text):
    """The coding matrix (m, k) of one matrix in a control file, without the parser."""
    rows, braces = text[:text.index("{")], text[text.index("{"):]
    k = len(re.findall(r"\d+", braces))
    assert [int(label) for label in re.findall(r"\d+", braces)] == list(range(k))
    table = []
    for left, right in re.findall(r'""([\d\s]+)/([\d\s]+);', rows):
        entries = [0] * k
        for side, sign in ((left, -1), (right, 1)):
            for position in map(int, side.split()):
                assert entries[position] == 0
                entries[position] = sign
        table.append(entries)
    assert len(table) == rows.count(";")
    return np.array(table)


@pytest.fixture
def printed(capsys):
    def call(*words):
        assert main([str(word) for word in words]) == 0
        return capsys.readouterr().out
    return call


def rank(a):
    """Rank of [A; 1^T], by singular values."""
    return np.linalg.matrix_rank(np.vstack([a, np.ones(a.shape[1])]))


def connected(a):
    """Whether classes that share rows are all in one group."""
    near = (np.abs(a).T @ np.abs(a)) > 0
    group = {0}
    while new := {j for i in group for j in np.flatnonzero(near[i])} - group:
        group |= new
    return len(group) == a.shape[1]


def check_rows(a, strict):
    """Both signs in every row, no row twice or opposite; without zeros if strict."""
    assert set(np.unique(a)) <= ({-1, 1} if strict else {-1, 0, 1})
    assert ((a < 0).any(axis=1) & (a > 0).any(axis=1)).all()
    distinct = {min(tuple(row), tuple(-row)) for row in a}
    assert len(distinct) == len(a)
    assert connected(a)


def possible(m):
    """Orders for which Hadamard matrices are known to be made here: 4 n, and 1 and 2."""
    return m in (1, 2) or m % 4 == 0


@pytest.mark.parametrize("k", EVERY)
def test_codes_with_a_pattern(printed, k):
    rest = read(printed("-Q", 0, k))
    if k > 2:
        np.testing.assert_array_equal(rest, 2 * np.eye(k) - 1)
    else:
        assert rest.tolist() == [[-1, 1]]
    pairs = read(printed("-Q", 1, k))
    assert len(pairs) == k * (k - 1) // 2
    assert [tuple(np.flatnonzero(row)) for row in pairs] == list(combinations(range(k), 2))
    assert all(row[np.flatnonzero(row)].tolist() == [-1, 1] for row in pairs)
    adjacent = read(printed("-Q", 5, k))
    np.testing.assert_array_equal(adjacent, [[1 if j > i else -1 for j in range(k)]
                                             for i in range(k - 1)])
    tree = read(printed("-Q", 6, k))
    assert len(tree) == k - 1
    # each row parts the classes of a node, the lower half (rounded down) on the left
    nodes = [list(range(k))]
    for row in tree:
        classes = nodes.pop(0)
        half = len(classes) // 2
        assert np.flatnonzero(row < 0).tolist() == classes[:half]
        assert np.flatnonzero(row > 0).tolist() == classes[half:]
        nodes = [part for part in (classes[:half], classes[half:]) if len(part) > 1] + nodes
    assert not nodes
    for a in (rest, pairs, adjacent, tree):
        check_rows(a, strict=a is rest or a is adjacent)
        assert rank(a) == k


@pytest.mark.parametrize("k", range(2, 11))
def test_exhaustive_codes(printed, k):
    a = read(printed("-Q", 8, k))
    assert len(a) == 2**(k - 1) - 1
    check_rows(a, strict=True)  # as many different partitions as there are
    assert rank(a) == k


@pytest.mark.parametrize("k", range(4, 41))
def test_orthogonal_codes(printed, k):
    a = read(printed("-Q", 4, k))
    m = len(a)
    assert m == next(m for m in range(k, 2 * k) if possible(m))  # all up to 40 can be made
    check_rows(a, strict=True)
    np.testing.assert_array_equal(a.T @ a, m * np.eye(k))
    fewer = read(printed("-Q", 4, "-Y", k))
    check_rows(fewer, strict=True)
    np.testing.assert_array_equal(fewer.T @ fewer, m * np.eye(k) - 1)
    assert rank(fewer) == k


@pytest.mark.parametrize("k", [2, 3])
def test_where_there_is_no_orthogonal_code(k):
    with pytest.warns(AgfmcWarning, match="no orthogonal code"):
        tree = design("orthogonal", range(k))
    assert len(tree.rows) == (1 if k == 2 else 3)


@pytest.mark.parametrize("k", range(4, 25))
def test_special_codes(printed, k):
    a = read(printed("-Q", 10, k))
    weight = int(np.abs(a[:, 0]).sum())
    np.testing.assert_array_equal(a.T @ a, weight * np.eye(k))
    check_rows(a, strict=False)
    assert (np.abs(a).sum(axis=1) >= 2).all()


@pytest.mark.parametrize("seed", [1, 2, 77])
@pytest.mark.parametrize("k", SOME)
def test_random_codes(printed, k, seed):
    available = 2**(k - 1) - 1
    for words, strict, rows in (
            (("-Q", 7), False, min(4 * -(-k // 4), (3**k - 2**(k + 1) + 1) // 2)),
            (("-Q", 7, "-G"), True, min(4 * -(-k // 4), available)),
            (("-Q", 16), True, next(m for m in range(max(k, 4), 2 * k + 3) if possible(m)))):
        if words[1] == 16 and k < 4:
            continue
        text = printed(*words, "--seed", seed, k)
        a = read(text)
        assert len(a) == rows
        check_rows(a, strict)
        assert rank(a) == k
        assert printed(*words, "--seed", seed, k) == text
    for words in (("-Q", 7), ("-Q", 7, "-G")):
        fewest = read(printed(*words, "--seed", seed, k, k - 1)) if k < 13 else a
        check_rows(fewest, strict=False)
        assert rank(fewest) == k  # many draws of so few rows are not


def test_matrix_is_the_partitions(capsys):
    for words in ((0, 7), (1, 6), (4, 9), (7, 11), (8, 4), (10, 6)):
        assert main(["-Q", str(words[0]), "-P", str(words[1])]) == 0
        out, err = capsys.readouterr()
        table = [line.split() for line in err.splitlines() if re.fullmatch(r"[ 01-]+", line)]
        assert np.array(table, int).tolist() == read(out).tolist()


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
    errors = (n * rng.random((k, k)) * .6).astype(np.int64)
    irrelevant, wins = np.zeros((2, k, k, k), np.int64)
    for t, i, j in product(range(k), repeat=3):
        if third and i < j and t not in (i, j):
            irrelevant[t, i, j] = irrelevant[t, j, i] = rng.integers(1, 40)
            wins[t, i, j] = rng.integers(0, irrelevant[t, i, j] + 1)
            wins[t, j, i] = irrelevant[t, i, j] - wins[t, i, j]
    labels = tuple(3 * i + 1 for i in range(k))
    return PairErrors(labels, n, errors, *((irrelevant, wins) if third else (None, None)))


@pytest.mark.parametrize("k, third, seed", [
    *((k, third, 1) for k in range(2, 6) for third in (False, True)),
    pytest.param(6, True, 2),
    *(pytest.param(k, third, seed, marks=pytest.mark.long)
      for k in (5, 6, 7) for third in (False, True) for seed in (3, 4))])
def test_order_for_pairs_is_the_best_there_is(k, third, seed):
    told = counted(k, seed, third)
    priors = np.random.default_rng(seed).dirichlet(np.ones(k))
    e = (told.errors + 1) / (told.n + 2)
    h = np.full((k, k, k), .5) if not third else (told.wins + 1) / (told.irrelevant + 2)
    rows = [((i,), (j,)) for i, j in combinations(range(k), 2)]
    tree = from_rows(rows, [told.labels[i] for i in np.random.default_rng(9).permutation(k)])
    found = order_for_pairs(tree, priors=priors.tolist(), pair_errors=told)
    values = {order: ddag(order, priors, e, h) for order in permutations(range(k))}
    place = {label: i for i, label in enumerate(told.labels)}
    assert found.after == pytest.approx(max(values.values()), abs=1e-12)
    assert found.after == pytest.approx(
        values[tuple(place[label] for label in found.tree.labels)], abs=1e-12)
    assert found.before == pytest.approx(
        values[tuple(place[label] for label in tree.labels)], abs=1e-12)
    assert found.tree.sides() == tree.sides()
    equal = order_for_pairs(tree, priors=priors.tolist(), error_rate=.17)
    assert equal.after == pytest.approx(max(
        ddag(order, priors, np.full((k, k), .17), np.full((k, k, k), .5))
        for order in permutations(range(k))), abs=1e-12)


@pytest.mark.parametrize("k", range(2, 7))
def test_bounds_of_the_search_are_above_all_that_it_bounds(k):
    told = counted(k, k, True)
    priors = np.random.default_rng(k).dirichlet(np.ones(k))
    e, h = told.error_rates(), told.shares()
    order, value, exact = dagorder.best_order(priors, e, h, 10, 1, list(range(k)))
    best = max(ddag(order, priors, e, h) for order in permutations(range(k)))
    assert exact and value == pytest.approx(best, abs=1e-12)
    assert ddag(order, priors, e, h) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("k, seed", [*((k, 1) for k in range(2, 7)), *(
    pytest.param(7, seed, marks=pytest.mark.long) for seed in range(3))])
def test_order_for_path_is_the_shortest_there_is(k, seed):
    rng = np.random.default_rng(seed)
    d = rng.integers(0, 9, (k, k)).astype(float)
    d += d.T
    np.fill_diagonal(d, 0)
    lengths = {order: sum(d[i, j] for i, j in zip(order, order[1:]))
               for order in permutations(range(k))}
    order, length, exact = pathorder.shortest_path(d)
    assert exact and length == min(lengths.values()) == lengths[tuple(order)]
    # points of one class at each of k places on a line, where every distance is told
    places = rng.permutation(k).astype(float)
    x = np.repeat(places, 4) + np.tile([-.25, .25, -.25, .25], k)
    y = np.repeat(np.arange(k), 4).astype(np.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = design("adjacent", range(k))
    found = order_for_path(tree, x[:, None], y)
    assert [places[label] for label in found.tree.labels] in (
        sorted(places), sorted(places, reverse=True))
