"""Best decision trees over classes, where the cost of a tree is a sum over its nodes.

With the cost of a split (A | B) of a set S of classes, the best tree over S obeys

    best(S) = min over splits {A, B} of S of cost(A | B) + best(A) + best(B) ,   best({c}) = 0 :

an exact minimum over all (2k - 3)!! trees from (3^k - 2^(k + 1) + 1) / 2 splits.  For many classes
the same recursion goes over some of the splits: those that cut one order of the classes in two, and
then, round by round, all splits of some parts of the best tree so far.

A tree is nested pairs of class positions, such as ((0, 2), 1), or one position.  A set of classes
is a bit mask, and a split of it is the mask of the classes on its right, the lowest class being on
the left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import count
from operator import or_
from typing import NamedTuple

import numpy as np

from ..control.matrix import mask as mask_of, positions
from .distances import join, parts_of

# Parts that a tree is cut into, so many in turn, and rounds without a better tree after which the
# next number has its turn: on 26 classes 4, 6, 8 came to lower costs in fewer splits than other
# numbers, one number alone, and orders of the classes whose intervals are cut.
_PARTS, _IDLE_SWAPS = (4, 6, 8), 40
_GAIN = 1e-9  # of the cost: less is no better tree


def count_splits(k: int) -> int:
    """The number of splits of all sets of k classes."""
    return (3**k - 2 ** (k + 1) + 1) // 2


def fewest_splits(k: int) -> int:
    """The number of splits that a search among k classes begins with, or that there are."""
    return min(count_splits(k), (k**3 - k) // 6 + (k - 1) * (k - 2) // 2)


def count_trees(k: int) -> int:
    """The number (2k - 3)!! of binary trees over k classes."""
    return math.prod(range(2 * k - 3, 1, -2))


def leaves_of(pairs) -> list[int]:
    """The class positions of nested pairs, from left to right."""
    return [part for part in parts_of(pairs) if not isinstance(part, tuple)]


def nodes_of(pairs) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """(left, right) of every node of nested pairs in pre-order: ascending class positions."""
    classes = _folded(pairs, lambda leaf: (leaf,), lambda left, right: tuple(sorted(left + right)))
    return [
        (classes[id(part[0])], classes[id(part[1])])
        for part in parts_of(pairs)
        if isinstance(part, tuple)
    ]


def oriented(pairs):
    """The tree with the side of the lowest class on the left of every node."""

    def turned(*sides):
        (low, left), (_, right) = sorted(sides, key=lambda side: side[0])
        return low, (left, right)

    return _folded(pairs, lambda leaf: (leaf, leaf), turned)[id(pairs)][1]


def _folded(pairs, of_leaf, of_sides):
    """{id of each part of nested pairs: its value}, from those of leaves, and of the two sides."""
    values: dict = {}
    for part in reversed(parts_of(pairs)):
        values[id(part)] = (
            of_sides(values[id(part[0])], values[id(part[1])])
            if isinstance(part, tuple)
            else of_leaf(part)
        )
    return values


class Nodes(NamedTuple):
    """Splits of a set of classes, ascending positions; right (m, q): which are on the right."""

    classes: tuple[int, ...]
    right: np.ndarray


class RankedTree(NamedTuple):
    """A tree, nested pairs of class positions, and the value that was minimised."""

    value: float
    pairs: object


class _Splits:
    """The known splits {mask on the right: number} of one set of classes: the positions (m,) of
    the sets on their sides, and their costs (m, g)."""

    def __init__(self, position):
        self.position, self.known = position, {}
        self.left = self.right = np.empty(0, dtype=np.int64)
        self.costs = None


class TreeSpace:
    """Trees over k classes, with the costs of the splits that they are made of.

    costs(requests) yields for each of a list of `Nodes` the costs (m, g) of its splits by groups of
    points; `shares` (k,) are those of the points in each class. `splits` counts the splits whose
    costs are known, of `all_splits`.
    """

    def __init__(self, k: int, costs: Callable, shares):
        self.k, self._costs = k, costs
        self._shares = np.asarray(shares, dtype=np.float64)
        self.splits, self.all_splits, self.all_trees = 0, count_splits(k), count_trees(k)
        self._sets = {1 << c: _Splits(c) for c in range(k)}

    @property
    def exact(self) -> bool:
        """True if the costs of all splits are known."""
        return self.splits == self.all_splits

    def know_trees(self, trees: Iterable) -> None:
        """Get the costs of the splits of some trees."""
        requested: dict = {}
        for pairs in trees:
            for left, right in nodes_of(pairs):
                mask = mask_of(left + right)
                requested.setdefault(mask, {})[_canonical(mask, mask_of(right))] = None
        self._know(requested)

    def search(
        self, budget: int, seed: int, *, balance: float = 0.0, progress: Callable | None = None
    ) -> None:
        """Get the costs of at most `budget` splits, chosen to hold good trees; progress(share).

        The first are those that cut an order of the classes in which those hard to tell apart are
        neighbours.  Each round then cuts a branch of the best tree so far into a few parts, and
        gets all splits of these, until some rounds bring no better tree.
        """
        most = min(budget, self.all_splits)

        def report():
            if progress is not None:
                progress(min(1.0, self.splits / most))

        if self.all_splits <= budget:
            self._know(_all_splits(self.k), report)
            return
        generator = np.random.Generator(np.random.PCG64(seed))
        self._know(_interval_splits(self._order_by_pairs(report)), report)
        best = self.best(balance=balance)[0]
        for parts in _PARTS:
            idle = 0
            while idle < _IDLE_SWAPS:
                idle += 1
                requested = _splits_of_parts(_cut(best.pairs, parts, generator))
                new = sum(len(self._unknown(*splits)) for splits in requested.items())
                if new and self.splits + new <= budget:
                    self._know(requested, report)
                    before, best = best.value, self.best(balance=balance)[0]
                    if best.value < before * (1 - _GAIN):
                        idle = 0

    def _order_by_pairs(self, report):
        """An order of the classes in which those that are often confused are neighbours."""
        pairs = [(i, j) for i in range(self.k) for j in range(i)]
        self._know({1 << i | 1 << j: [1 << i] for i, j in pairs}, report)
        near = np.zeros((self.k, self.k))
        for i, j in pairs:
            cost = self._sets[1 << i | 1 << j].costs.sum()
            near[i, j] = near[j, i] = -cost / (self._shares[i] + self._shares[j])
        return leaves_of(join(near, "average")[0])

    def _unknown(self, mask, rights):
        known = self._sets[mask].known if mask in self._sets else ()
        return [right for right in rights if right not in known]

    def _know(self, requested, report=lambda: None):
        """Get the costs of those splits {mask: masks on the right} that are not known."""
        new = {
            mask: rights
            for mask, all_rights in requested.items()
            if (rights := self._unknown(mask, all_rights))
        }
        for mask in new:
            self._sets.setdefault(mask, _Splits(len(self._sets)))
        requests = [self._request(mask, rights) for mask, rights in new.items()]
        for (mask, rights), costs in zip(new.items(), self._costs(requests)):
            splits = self._sets[mask]
            splits.known.update(zip(rights, count(len(splits.known))))
            left, right = (
                np.array([self._sets[side].position for side in sides], dtype=np.int64)
                for sides in ([mask ^ one for one in rights], rights)
            )
            splits.left = np.concatenate([splits.left, left])
            splits.right = np.concatenate([splits.right, right])
            splits.costs = costs if splits.costs is None else np.concatenate([splits.costs, costs])
            self.splits += len(rights)
            report()

    def _request(self, mask, rights):
        size, classes = -(-self.k // 8), positions(mask)
        octets = np.frombuffer(
            b"".join(right.to_bytes(size, "little") for right in rights), dtype=np.uint8
        ).reshape(-1, size)
        bits = np.unpackbits(octets, axis=1, bitorder="little")
        return Nodes(classes, bits[:, classes].astype(bool))

    def best(
        self, keep: int = 1, *, groups: np.ndarray | None = None, balance: float = 0.0
    ) -> list[RankedTree]:
        """The `keep` known trees, ascending, with the least sums of costs, weighted by groups (g,),
        and balance times the expected number of classifiers evaluated."""
        # tree i of one side with tree j of the other: there are i j better ones
        ranks = np.array(
            [(i, j) for i in range(keep) for j in range(keep) if (i + 1) * (j + 1) <= keep]
        )
        first, second = ranks.T
        values = np.full((len(self._sets), keep), np.inf)
        values[: self.k, 0] = 0.0
        chosen = np.zeros((len(self._sets), keep, 3), dtype=np.int64)
        for mask in sorted(self._sets, key=int.bit_count)[self.k :]:
            splits = self._sets[mask]
            cost = splits.costs.sum(axis=1) if groups is None else splits.costs @ groups
            cost = cost + balance * sum(self._shares[c] for c in positions(mask))
            total = (
                cost[:, None] + values[splits.left][:, first] + values[splits.right][:, second]
            ).ravel()
            best = (
                np.argsort(total, kind="stable")[:keep]
                if keep > 1
                else np.array([np.argmin(total)])
            )
            split, pair = np.divmod(best, len(ranks))
            values[splits.position, : len(best)] = total[best]
            chosen[splits.position, : len(best)] = np.column_stack([split, ranks[pair]])
        whole = self._sets[(1 << self.k) - 1].position
        return [
            RankedTree(float(value), self._tree(chosen, whole, rank))
            for rank, value in enumerate(values[whole])
            if np.isfinite(value)
        ]

    def _tree(self, chosen, position, rank):
        """Nested pairs of the tree of a rank over a set; without recursion, as it may be deep."""
        sets = list(self._sets.values())
        done, stack = [], [(position, rank, False)]
        while stack:
            position, rank, has_sides = stack.pop()
            if has_sides:
                right, left = done.pop(), done.pop()
                done.append((left, right))
            elif position < self.k:
                done.append(position)
            else:
                split, one, other = chosen[position, rank].tolist()
                stack += (
                    (position, rank, True),
                    (int(sets[position].right[split]), other, False),
                    (int(sets[position].left[split]), one, False),
                )
        return done[0]

    def cost_of(self, pairs) -> np.ndarray:
        """The costs (nodes, g) of the nodes of a tree, in pre-order.  Gets those not known."""
        self.know_trees([pairs])
        rows = []
        for left, right in nodes_of(pairs):
            mask = mask_of(left + right)
            splits = self._sets[mask]
            rows.append(splits.costs[splits.known[_canonical(mask, mask_of(right))]])
        return np.array(rows)


def _canonical(mask, right):
    """The side of a split without the lowest class, which stands on the left."""
    return mask ^ right if right & mask & -mask else right


def _all_splits(k):
    splits = {}
    for mask in range(1, 1 << k):
        rest = mask & (mask - 1)  # without the lowest class
        if not rest:
            continue
        rights, part = [], rest
        while part:
            rights.append(part)
            part = (part - 1) & rest
        splits[mask] = rights
    return splits


def _interval_splits(order):
    splits = {}
    for start, first in enumerate(order):
        mask = 1 << first
        prefixes = [mask]
        for c in order[start + 1 :]:
            mask |= 1 << c
            splits[mask] = [_canonical(mask, part) for part in prefixes]
            prefixes.append(mask)
    return splits


def _cut(pairs, most, generator):
    """Masks of the parts, `most` of them or fewer, that a branch of a tree is cut into."""
    mask = _folded(pairs, lambda leaf: 1 << leaf, or_)
    branches = [part for part in parts_of(pairs, 1) if mask[id(part)].bit_count() > 2]
    parts = [branches[int(generator.integers(len(branches)))]]
    while len(parts) < most:
        inner = [part for part in parts if isinstance(part, tuple)]
        if not inner:
            break
        part = inner[int(generator.integers(len(inner)))]
        parts.remove(part)
        parts += part
    return [mask[id(part)] for part in parts]


def _splits_of_parts(masks):
    """{mask: masks on the right} of all splits of all sets of some disjoint sets of classes."""
    union = [0]
    for mask in masks:
        union += [one | mask for one in union]
    return {
        union[mask]: [_canonical(union[mask], union[right]) for right in rights]
        for mask, rights in _all_splits(len(masks)).items()
    }
