"""The order of a DDAG: success of every class, best orders, bounds."""

from itertools import permutations

import numpy as np
import pytest

from agfmc.codes import dagsearch
from agfmc.codes.dagbound import branch_and_bound, upper_bounds
from agfmc.codes.dagorder import (
    best_order,
    class_success,
    equal_error_success,
    expected_accuracy,
    greedy_order,
)
from agfmc.codes.dagsearch import Problem, _moves, _sources, local_search
from agfmc.errors import UsageError

PRIORS = [.3, .1, .2, .4]
UNEQUAL = np.array([[0, .02, .10, .05], [.02, 0, .20, .08], [.10, .20, 0, .15],
                    [.05, .08, .15, 0]])


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
        h = rng.beta(.5, .5, size=(k, k, k))
        i, j = np.triu_indices(k, 1)
        h[:, j, i] = 1 - h[:, i, j]
    return rng.dirichlet(np.ones(k)), rng.uniform(0, .4, size=(k, k)), h


def test_equal_errors():
    assert equal_error_success(4, .1) == pytest.approx([.729, .855, .855, .729], abs=1e-12)
    assert equal_error_success(5, .1) == pytest.approx([.6561, .792, .855, .792, .6561], abs=1e-12)
    assert equal_error_success(1, .1) == [1]
    assert equal_error_success(2, .1) == pytest.approx([.9, .9])


@pytest.mark.parametrize("k", [1, 2, 3, 4, 6, 9, 30])
@pytest.mark.parametrize("q", [0, .1, .45, 1])
def test_closed_form_is_the_recursion(k, q):
    order = np.random.default_rng(k).permutation(k)
    found = class_success(order, np.full((k, k), q))
    assert found[order] == pytest.approx(equal_error_success(k, q), abs=1e-13)
    assert class_success(order, np.full((k, k), q), np.full((k, k, k), .5)) == \
        pytest.approx(found, abs=1e-13)


@pytest.mark.parametrize("with_shares", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_success_is_the_definition(k, with_shares):
    _, e, h = problem_of(k, k, with_shares)
    order = np.random.default_rng(k).permutation(k).tolist()
    assert class_success(order, e, h) == \
        pytest.approx([recursion(order, e, h, t) for t in range(k)], abs=1e-13)
    # the list from the other end is the same list
    assert class_success(order[::-1], e, h) == pytest.approx(class_success(order, e, h), abs=1e-13)


def test_success_is_what_happens():
    """A simulated list: first against last, until one is left."""
    rng = np.random.default_rng(1)
    _, e, h = problem_of(3, 5, True)
    order = [3, 0, 4, 1, 2]
    found = np.zeros(5)
    rounds = 4000
    for t in range(5):
        for _ in range(rounds):
            left = list(order)
            while len(left) > 1:
                i, j = left[0], left[-1]
                if t == i:
                    first_wins = rng.random() >= e[t, j]
                elif t == j:
                    first_wins = rng.random() < e[t, i]
                else:
                    first_wins = rng.random() < h[t, i, j]
                left.pop(-1 if first_wins else 0)
            found[t] += left == [t]
    assert class_success(order, e, h) == pytest.approx(found / rounds, abs=.035)


def test_greedy():
    assert greedy_order(PRIORS) == [1, 0, 3, 2]
    e = np.full((4, 4), .1)
    assert expected_accuracy([1, 0, 3, 2], PRIORS, e) == pytest.approx(.8172, abs=1e-12)
    assert expected_accuracy(range(4), PRIORS, e) == pytest.approx(.7668, abs=1e-12)
    assert greedy_order([.2] * 5) == [0, 2, 4, 3, 1]
    assert greedy_order([1]) == [0]


@pytest.mark.parametrize("k", range(2, 8))
def test_greedy_is_best_for_equal_errors(k):
    priors = np.random.default_rng(k).dirichlet(np.ones(k))
    e = np.full((k, k), .15)
    values = Problem(priors, 1 - e).values(np.array(list(permutations(range(k)))))
    assert expected_accuracy(greedy_order(priors.tolist()), priors, e) == \
        pytest.approx(values.max(), abs=1e-13)


def test_unequal_errors():
    assert expected_accuracy([0, 1, 2, 3], PRIORS, UNEQUAL) == pytest.approx(.784330, abs=1e-9)
    assert expected_accuracy([0, 3, 2, 1], PRIORS, UNEQUAL) == pytest.approx(.818898, abs=1e-9)
    order, value, exact = best_order(PRIORS, UNEQUAL)
    assert (order, exact) == ([1, 0, 3, 2], True)
    assert value == pytest.approx(.822328, abs=1e-9)
    assert class_success(order, UNEQUAL) == pytest.approx([.91, .72128, .612, .887], abs=1e-9)


@pytest.mark.parametrize("with_shares", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 7])
def test_best_order_against_all_permutations(k, with_shares):
    every = np.array(list(permutations(range(k))))
    for seed in range(3):
        priors, e, h = problem_of(10 * k + seed, k, with_shares)
        best = Problem(priors, 1 - e, h).values(every).max()
        order, value, exact = best_order(priors, e, h)
        assert exact and value == pytest.approx(best, abs=1e-12)
        assert expected_accuracy(order, priors, e, h) == pytest.approx(value, abs=1e-12)
        assert order[0] <= order[-1] and sorted(order) == list(range(k))
        # from nothing, so that the bounds alone do the work
        poor = Problem(priors, 1 - e, h)
        assert branch_and_bound(poor, np.arange(k), -1.0)[1] == pytest.approx(best, abs=1e-12)


def test_branch_and_bound_improves_on_a_poor_start_and_prunes():
    priors, e, _ = problem_of(5, 9, False)
    start = Problem(priors, 1 - e)
    order, value = local_search(start, [range(9)], 20, 1, 10**9, 10**9)
    rich, poor = Problem(priors, 1 - e), Problem(priors, 1 - e)
    assert branch_and_bound(rich, order, value)[1] == pytest.approx(value, abs=1e-12)
    assert branch_and_bound(poor, np.arange(9), -1.0)[1] == pytest.approx(value, abs=1e-12)
    assert rich.work / rich.cost < 181440 / 20


@pytest.mark.parametrize("with_shares", [False, True])
@pytest.mark.parametrize("k, d", [(5, 1), (6, 1), (6, 2), (7, 2), (7, 1), (4, 1)])
def test_bounds_are_bounds(k, d, with_shares):
    for seed in range(4):
        priors, e, h = problem_of(100 * k + 10 * d + seed, k, with_shares)
        problem = Problem(priors, 1 - e, h)
        rng = np.random.default_rng(seed)
        nodes = np.array([rng.permutation(k) for _ in range(20)])
        bounds = upper_bounds(problem, nodes, d)
        inner = np.array(list(permutations(range(d, k - d))))
        for node, bound in zip(nodes, bounds, strict=True):
            orders = np.repeat(node[None], len(inner), axis=0)
            orders[:, d:k - d] = node[inner]
            best = problem.values(orders).max()
            assert best <= bound + 1e-12
            assert bound <= best + .5
            if k - 2 * d == 1:
                assert bound == pytest.approx(best, abs=1e-12)


def test_moves_are_all_swaps_and_insertions():
    k = 6
    found = sorted(map(tuple, _sources(k, _moves(k)).tolist()))
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


@pytest.mark.parametrize("with_shares", [False, True])
def test_local_search_above_the_exact_limit(with_shares):
    k = 14
    priors, e, h = problem_of(8, k, with_shares)
    start = np.random.default_rng(2).permutation(k)
    order, value, exact = best_order(priors, e, h, start=start)
    assert not exact and sorted(order) == list(range(k)) and order[0] < order[-1]
    assert value == pytest.approx(expected_accuracy(order, priors, e, h), abs=1e-12)
    for other in (range(k), greedy_order(priors.tolist()), start):
        assert value >= expected_accuracy(other, priors, e, h)
    around = np.array(order)[_sources(k, _moves(k))]
    assert Problem(priors, 1 - e, h).values(around).max() <= value + 1e-12
    assert best_order(priors, e, h, start=start) == (order, value, exact)


@pytest.mark.parametrize("block", [dagsearch._BLOCK, 1000])
def test_every_climb_ends_at_a_local_optimum(monkeypatch, block):
    monkeypatch.setattr(dagsearch, "_BLOCK", block)  # all moves at once, and ten at a time
    for seed in range(5):
        priors, e, _ = problem_of(seed, 10, False)
        problem = Problem(priors, 1 - e)
        order, value = local_search(problem, [range(10)], 0, 1, 10**9)
        around = np.asarray(order)[_sources(10, _moves(10))]
        assert problem.values(around).max() <= value + 1e-12
        assert problem.values(order[None])[0] == pytest.approx(value, abs=1e-14)


def test_local_search_ends_when_its_work_is_done():
    priors, e, _ = problem_of(1, 20, False)
    problem = Problem(priors, 1 - e)
    order, value = local_search(problem, [range(20)], 5, 1, 0)
    assert order.tolist() == list(range(20))
    assert value == pytest.approx(expected_accuracy(range(20), priors, e))


def test_local_search_is_as_good_as_exact_on_small_problems():
    for seed in range(12):
        priors, e, h = problem_of(seed, 7, seed % 2 == 1)
        found, exact = (best_order(priors, e, h, exact_up_to=n) for n in (0, 7))
        assert (found[2], exact[2]) == (False, True)
        assert found[1] == pytest.approx(exact[1], abs=5e-3)


@pytest.mark.parametrize("call", [
    lambda: class_success([0, 0, 1], np.zeros((3, 3))),
    lambda: class_success([1, 2, 3], np.zeros((3, 3))),
    lambda: class_success([0, 1, 2], np.zeros((2, 2))),
    lambda: class_success([0, 1], np.zeros((2, 2)), np.zeros((2, 2))),
    lambda: best_order([.5, .5], np.zeros((3, 3))),
    lambda: best_order([], np.zeros((0, 0))),
    lambda: best_order([.5, .5], np.zeros((2, 2)), start=[0, 1, 2]),
    lambda: best_order([.5, .5], np.zeros((2, 2)), exact_up_to=15),
    lambda: equal_error_success(0, .1)])
def test_what_makes_no_sense_is_refused(call):
    with pytest.raises(UsageError):
        call()
