"""The recursion over splits against all trees."""

import functools
import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.designs.best_tree import (
    count_splits,
    count_trees,
    fewest_splits,
    leaves_of,
    nodes_of,
    oriented,
    TreeSpace,
)


def all_trees(classes):
    """All trees over some classes, each once, the lowest class on the left of every node."""
    if len(classes) == 1:
        yield classes[0]
        return
    first, *rest = classes
    for size in range(len(rest)):
        for others in itertools.combinations(rest, size):
            right = [c for c in rest if c not in others]
            for left_tree in all_trees([first, *others]):
                for right_tree in all_trees(right):
                    yield left_tree, right_tree


def depth(tree):
    return 1 + max(map(depth, tree)) if isinstance(tree, tuple) else 0


class Costs:
    """Costs of splits, drawn for each, whatever the order in which they are asked for."""

    def __init__(self, seed=1, groups=3):
        self.seed, self.groups, self.asked = seed, groups, 0

    @functools.cache
    def of(self, sides):
        key = sum(3**c * (1 + number) for number, side in enumerate(sides) for c in side)
        return np.random.default_rng([self.seed, key]).random(self.groups)

    def __call__(self, requests):
        for classes, right in requests:
            rows = []
            for split in right:
                sides = [
                    [c for c, where in zip(classes, split) if where == side]
                    for side in (False, True)
                ]
                rows.append(self.of(tuple(map(tuple, sorted(sides)))))
                self.asked += 1
            yield np.array(rows)

    def tree(self, pairs, groups=None):
        weights = np.ones(self.groups) if groups is None else groups
        return sum(self.of(tuple(sorted(node))) @ weights for node in nodes_of(pairs))


def space(k, costs=None, know=True):
    made = TreeSpace(k, costs or Costs(), np.arange(1, k + 1) / (k * (k + 1) / 2))
    if know:
        made.search(10**9, 1)
    return made


def test_counts_of_splits_and_trees():
    assert [count_splits(k) for k in (2, 4, 7, 10)] == [1, 25, 966, 28501]
    assert [count_trees(k) for k in (2, 4, 7, 10)] == [1, 15, 10395, 34459425]
    for k in range(2, 7):
        found = space(k)
        assert found.splits == found.all_splits == count_splits(k) and found.exact
        assert found.all_trees == len(list(all_trees(list(range(k)))))


@pytest.mark.parametrize("k", range(2, 7))
def test_the_best_of_all_trees(k):
    costs = Costs(k)
    found, trees = space(k, costs), list(all_trees(list(range(k))))
    ranked = sorted(trees, key=costs.tree)
    best = found.best(20)
    assert [oriented(one.pairs) for one in best] == ranked[:20]
    assert [one.value for one in best] == pytest.approx([costs.tree(t) for t in ranked[:20]])
    assert costs.asked == count_splits(k)  # none twice


def test_weights_of_groups_and_of_the_classifiers_asked():
    costs, k = Costs(3), 5
    found, trees = space(k, costs), list(all_trees(list(range(k))))
    groups = np.array([0.0, 1.5, 0.5])
    assert oriented(found.best(groups=groups)[0].pairs) == min(
        trees, key=lambda tree: costs.tree(tree, groups)
    )
    shares = np.arange(1, k + 1) / 15

    def asked(tree):
        return sum(shares[list(left + right)].sum() for left, right in nodes_of(tree))

    for balance in (0.1, 1.0, 100.0):
        assert oriented(found.best(balance=balance)[0].pairs) == min(
            trees, key=lambda tree: costs.tree(tree) + balance * asked(tree)
        )


def test_the_costs_of_a_tree():
    costs = Costs(2)
    found = space(5, costs, know=False)
    tree = ((2, (0, 4)), (1, 3))
    assert found.cost_of(tree).sum() == pytest.approx(costs.tree(tree))
    assert found.cost_of(tree).shape == (4, 3) and found.splits == costs.asked == 4
    assert oriented(found.best()[0].pairs) == oriented(tree) and not found.exact


def test_a_search_knows_some_splits_and_the_best_trees_of_these():
    costs = Costs(5)
    found = space(8, costs, know=False)
    shares = []
    found.search(1500, 1, progress=shares.append)
    assert found.splits == costs.asked <= 1500 and not found.exact
    assert shares == sorted(shares) and 0 < shares[-1] <= 1
    best = found.best()[0]
    assert best.value == pytest.approx(costs.tree(best.pairs))
    exact = space(8, costs).best()[0].value
    assert (
        exact
        <= best.value
        < np.mean([costs.tree(tree) for tree in itertools.islice(all_trees(list(range(8))), 300)])
    )
    again = space(8, Costs(5), know=False)
    again.search(1500, 1)
    assert again.best() == [best] and again.splits == found.splits


def test_a_search_with_room_for_all_splits_is_exact():
    costs = Costs(4)
    found = space(6, costs, know=False)
    found.search(count_splits(6), 1)
    assert found.exact and found.best() == space(6, costs).best()


@given(
    st.recursive(st.just(0), lambda inner: st.tuples(inner, inner), max_leaves=12),
    st.randoms(use_true_random=False),
)
def test_nodes_and_leaves_of_a_tree(shape, random):
    count = itertools.count()

    def numbered(one):
        return tuple(map(numbered, one)) if isinstance(one, tuple) else next(count)

    tree = numbered(shape)
    k = next(count)
    labels = random.sample(range(k), k)

    def relabelled(one):
        return tuple(map(relabelled, one)) if isinstance(one, tuple) else labels[one]

    tree = relabelled(tree)
    assert leaves_of(tree) == labels

    def nodes(one):
        return (
            []
            if not isinstance(one, tuple)
            else [
                tuple(tuple(sorted(leaves_of(side))) for side in one),
                *nodes(one[0]),
                *nodes(one[1]),
            ]
        )

    assert nodes_of(tree) == nodes(tree)
    turned = oriented(tree)
    assert all(left[0] < right[0] for left, right in nodes_of(turned))
    assert {frozenset(node) for node in nodes_of(turned)} == {
        frozenset(node) for node in nodes_of(tree)
    }


def test_a_chain_of_many_classes():
    chain = 0
    for c in range(1, 3000):
        chain = (c, chain)
    assert leaves_of(oriented(chain))[:3] == [0, 1, 2]
    assert len(nodes_of(chain)) == 2999


@pytest.mark.parametrize("k", range(5, 12))
def test_the_least_search_keeps_to_its_limit(k):
    for more in (0, 7, 20):
        found = TreeSpace(
            k, lambda requests: (np.ones((len(right), 1)) for _, right in requests), np.ones(k) / k
        )
        found.search(fewest_splits(k) + more, more)
        assert found.splits <= fewest_splits(k) + more and len(found.best()) == 1


def test_a_search_looks_for_what_is_balanced():
    level = space(12, Costs(6), know=False)
    level.search(1000, 2, balance=1e6)
    assert depth(level.best(balance=1e6)[0].pairs) <= 5


@pytest.mark.long
def test_sets_of_more_items_than_an_integer_has_bits():
    def costs(requests):  # one of one side is dear
        for _, right in requests:
            yield 1.0 + (np.minimum(right.sum(axis=1), (~right).sum(axis=1)) == 1)[:, None]

    found = space(66, costs, know=False)
    found.search(fewest_splits(66), 1)
    assert sorted(leaves_of(found.best()[0].pairs)) == list(range(66))
