"""Best decision trees over classes, where the cost of a tree is a sum over its nodes.

With the cost of a split (A | B) of a set S of classes, the best tree over S obeys

    best(S) = min over splits {A, B} of S of cost(A | B) + best(A) + best(B) ,   best({c}) = 0 :

an exact minimum over all (2k - 3)!! trees from (3^k - 2^(k + 1) + 1) / 2 splits.  For many classes
the same recursion goes over some of the splits: those that cut one order of the classes in two, and
then, round by round, all splits of some parts of the best tree so far.

A tree is nested pairs of class positions, such as ((0, 2), 1), or one position.  Constraints are
clades: sets of classes that stay together, so that a tree over them hangs in the tree over all.
Every clade is a problem of its own, over *items*: its single classes, and the clades within it.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence
from operator import or_
from typing import NamedTuple

import numpy as np

from ..core.errors import UsageError
from .distances import join, parts_of

# Parts that a tree is cut into, so many in turn, and rounds without a better tree after which the
# next number has its turn: on 26 classes 4, 6, 8 came to lower costs in fewer splits than other
# numbers, one number alone, and orders of the classes whose intervals are cut.

_PARTS, _IDLE_SWAPS = (4, 6, 8), 40
_GAIN = 1e-9  # of the cost: less is no better tree


def count_splits(items: int) -> int:
    """The number of splits of all sets of so many items."""
    return (3**items - 2**(items + 1) + 1) // 2


def fewest_splits(items: int) -> int:
    """The number of splits that a search of so many items begins with, or that there are."""
    return min(count_splits(items),
               (items**3 - items) // 6 + (items - 1) * (items - 2) // 2)


def count_trees(items: int) -> int:
    """The number (2k - 3)!! of binary trees over so many items."""
    return math.prod(range(2 * items - 3, 1, -2))


def leaves_of(pairs) -> list[int]:
    """The class positions of nested pairs, from left to right."""
    return [part for part in parts_of(pairs) if not isinstance(part, tuple)]


def nodes_of(pairs) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """(left, right) of every node of nested pairs in pre-order: ascending class positions."""
    classes = _folded(pairs, lambda leaf: (leaf,), lambda left, right: tuple(sorted(left + right)))
    return [(classes[id(part[0])], classes[id(part[1])])
            for part in parts_of(pairs) if isinstance(part, tuple)]


def oriented(pairs):
    """The same tree with the side of the lowest class on the left of every node."""
    def turned(*sides):
        (low, left), (_, right) = sorted(sides, key=lambda side: side[0])
        return low, (left, right)

    return _folded(pairs, lambda leaf: (leaf, leaf), turned)[id(pairs)][1]


def _folded(pairs, leaf, joined):
    """{id of each part of nested pairs: its value}, from those of leaves, and of the two sides."""
    made: dict = {}
    for part in reversed(parts_of(pairs)):
        made[id(part)] = joined(made[id(part[0])], made[id(part[1])]) \
            if isinstance(part, tuple) else leaf(part)
    return made


class Nodes(NamedTuple):
    """Splits of a set of parts, tuples of class positions; right (m, q): which are on the right."""

    parts: tuple[tuple[int, ...], ...]
    right: np.ndarray


class Found(NamedTuple):
    """A tree, nested pairs of class positions, and the value that was minimised."""

    value: float
    pairs: object


class _Table:
    """The known splits of sets of items, bit masks: for each of `sets`, of fewer items first, the
    places of the sides (m,), left and right, and the cost (m, g)."""

    def __init__(self, q):
        self.sets, self.left, self.right, self.cost = [1 << item for item in range(q)], [], [], []
        self.place = {mask: place for place, mask in enumerate(self.sets)}
        empty = np.empty(0, dtype=np.int64)
        for parts in (self.left, self.right, self.cost):
            parts += [empty] * q
        self.known: list[dict] = [{} for _ in range(q)]  # of each set: {right mask: split}

    def add(self, wanted):
        """[(place, mask, [right mask, ...])] of what is new in {mask: right masks}."""
        for mask in sorted(wanted, key=lambda mask: (mask.bit_count(), mask)):
            if mask not in self.place:
                self.place[mask] = len(self.sets)
                self.sets.append(mask)
                self.known.append({})
                self.left.append(np.empty(0, dtype=np.int64))
                self.right.append(np.empty(0, dtype=np.int64))
                self.cost.append(None)
        new = ((self.place[mask], mask, self.unknown(mask, rights))
               for mask, rights in wanted.items())
        return [split for split in new if split[2]]

    def unknown(self, mask, rights):
        """Those of some splits of a set that are not known."""
        place = self.place.get(mask)
        known = () if place is None else self.known[place]
        return [right for right in rights if right not in known]

    def put(self, place, rights, cost):
        """Take the costs (m, g) of splits of a set with these masks on the right."""
        mask, known = self.sets[place], self.known[place]
        for right in rights:
            known[right] = len(known)
        right = np.array([self.place[one] for one in rights], dtype=np.int64)
        left = np.array([self.place[mask ^ one] for one in rights], dtype=np.int64)
        before = self.cost[place]
        self.left[place] = np.concatenate([self.left[place], left])
        self.right[place] = np.concatenate([self.right[place], right])
        self.cost[place] = cost if before is None else np.concatenate([before, cost])

    @property
    def order(self):
        """Places of the sets of two items or more, of fewer items first."""
        places = [place for place, mask in enumerate(self.sets) if mask.bit_count() > 1]
        return sorted(places, key=lambda place: self.sets[place].bit_count())


class _Clade:
    """One problem over items, class positions or clades; classes: all positions, ascending."""

    def __init__(self, items):
        self.items = items
        self.parts = tuple(item.classes if isinstance(item, _Clade) else (item,) for item in items)
        self.classes = tuple(sorted(sum(self.parts, ())))
        self.table = _Table(len(items))
        self.place = {}  # of a class: its item
        for number, part in enumerate(self.parts):
            self.place.update(dict.fromkeys(part, number))

    @property
    def known(self):
        """The number of splits that are known."""
        return sum(map(len, self.table.known))

    def request(self, mask, rights):
        """`Nodes` of splits with these masks on the right."""
        members = [item for item in range(len(self.items)) if mask >> item & 1]
        right = np.array([[bool(one >> item & 1) for item in members] for one in rights]) \
            if len(self.items) > 62 else \
            (np.array(rights, dtype=np.int64)[:, None] >> np.array(members) & 1).astype(bool)
        return Nodes(tuple(self.parts[item] for item in members), right)

    def mask(self, classes):
        """The mask of the items of class positions."""
        found = 0
        for one in classes:
            found |= 1 << self.place[one]
        return found


def _nested(k, clades):
    """The `_Clade`s of k classes and sets of their positions, inner ones first, the whole last."""
    sets = sorted({frozenset(one) for one in clades if 1 < len(set(one)) < k},
                  key=lambda one: (len(one), sorted(one)))
    made: list[_Clade] = []
    for one in [*sets, frozenset(range(k))]:
        items: list = sorted(one)
        for clade in reversed(made):  # the largest of those inside come first
            inside = one.intersection(clade.classes)
            if inside and len(inside) < len(clade.classes):
                raise UsageError(f"classes {_listed(clade.classes)} cannot stay together while "
                                 f"{_listed(one)} do: the two sets overlap, and neither "
                                 "holds the other")
            if clade.classes[0] in items and inside:
                items = [item for item in items if item not in inside] + [clade]
        made.append(_Clade(sorted(items, key=lambda item: item.classes[0]
                                  if isinstance(item, _Clade) else item)))
    return made


def _fewest(clade, depth):
    """The number of splits that a search in a clade begins with, or that there are."""
    q = len(clade.items)
    return min(fewest_splits(q) + (0 if depth is None else q - 1), count_splits(q))


def _listed(classes):
    return " ".join(map(str, sorted(classes)))


def level_tree(k: int, clades: Sequence = ()):
    """A tree of the least depth over k classes whose clades, sets of positions, stay together."""
    made: dict = {}  # {clade: (depth, pairs)}
    for clade in _nested(k, clades):
        heap = [(depth, number, pairs) for number, (depth, pairs) in enumerate(
            made.get(item, (0, item)) for item in clade.items)]
        heapq.heapify(heap)
        while len(heap) > 1:  # the two of the least depth, as in Huffman's codes
            _, number, left = heapq.heappop(heap)
            depth, _, right = heapq.heappop(heap)
            heapq.heappush(heap, (depth + 1, number, (left, right)))
        made[clade] = heap[0][0], heap[0][2]
    return made[clade][1]


class TreeSpace:
    """Trees over k classes, with the costs of the splits that they are made of.

    costs(requests): yields for each of a list of `Nodes` the costs (m, g) of its splits by groups
    of points;  shares (k,): of the points in each class;  clades: sets of class positions that stay
    together;  splits counts those that are known.  `UsageError` for clades that overlap.
    """

    def __init__(self, k: int, costs: Callable, shares, clades: Sequence = ()):
        self.k, self._costs = k, costs
        self._shares = np.asarray(shares, dtype=np.float64)
        self._sets, self._clades = clades, _nested(k, clades)
        self.splits, self._told = 0, None

    @property
    def all_splits(self) -> int:
        """The number of splits of the trees of this space, all together."""
        return sum(count_splits(len(clade.items)) for clade in self._clades)

    @property
    def all_trees(self) -> int:
        """The number of trees of this space."""
        return math.prod(count_trees(len(clade.items)) for clade in self._clades)

    def fewest_splits(self, depth: int | None = None) -> int:
        """The number of splits that a search begins with, or that there are."""
        return sum(_fewest(clade, depth) for clade in self._clades)

    @property
    def exact(self) -> bool:
        """True where all splits are known."""
        return self.splits == self.all_splits

    def know_trees(self, trees: Iterable) -> None:
        """Get the costs of the splits of some trees, all of which keep the clades together."""
        wanted: dict = {clade: {} for clade in self._clades}
        for pairs in trees:
            for node in nodes_of(pairs):
                clade, mask, right = self._place(node)
                wanted[clade].setdefault(mask, {})[right] = None
        for clade, sets in wanted.items():
            self._know(clade, sets)

    def _place(self, node):
        """(clade, mask, mask on the right) of a node, (left, right) class positions."""
        left, right = node
        clade = next(one for one in self._clades if {*left, *right}.issubset(one.classes))
        mask = clade.mask([*left, *right])
        return clade, mask, _canonical(mask, clade.mask(right))

    def search(self, budget: int, seed: int, *, balance: float = 0.0, depth: int | None = None,
               progress: Callable | None = None) -> None:
        """Get the costs of at most `budget` splits, chosen to hold good trees; progress(share).

        The first are those that cut an order of the classes in which those hard to tell apart are
        neighbours.  Each round then cuts a branch of the best tree so far into a few parts, and
        gets all splits of these, until some rounds bring no better tree.
        """
        generator = np.random.Generator(np.random.PCG64(seed))
        most = min(budget, self.all_splits)
        self._told = None if progress is None else lambda: progress(min(1.0, self.splits / most))
        if depth is not None:
            self.know_trees([level_tree(self.k, self._sets)])
        # each clade has its share, and what those before it left over
        sizes, left = [_fewest(clade, depth) for clade in self._clades], 0
        for clade, size in zip(self._clades, sizes):
            most = budget * size // sum(sizes) + left
            self._search_clade(clade, most, generator, (balance, depth))
            left = most - clade.known
        self._told = None

    def _search_clade(self, clade, budget, generator, goal):
        if count_splits(len(clade.items)) <= budget:
            self._know(clade, _all_splits(len(clade.items)))
            return
        self._know(clade, _interval_splits(self._order_by_pairs(clade)))
        found = self._solved(clade, *goal)
        for parts in _PARTS:
            idle = 0
            while idle < _IDLE_SWAPS:
                idle += 1
                wanted = _splits_of_parts(_cut(found.pairs, parts, generator))
                new = sum(len(clade.table.unknown(*split)) for split in wanted.items())
                if clade.known + new > budget:
                    continue
                if new:
                    self._know(clade, wanted)
                    before, found = found.value, self._solved(clade, *goal)
                    if found.value < before * (1 - _GAIN):
                        idle = 0

    def _order_by_pairs(self, clade):
        """An order of the items in which those that are hard to tell apart are neighbours."""
        q = len(clade.items)
        pairs = [(i, j) for i in range(q) for j in range(i)]
        self._know(clade, {1 << i | 1 << j: [_canonical(1 << i | 1 << j, 1 << i)]
                           for i, j in pairs})
        near = np.zeros((q, q))
        for i, j in pairs:
            cost = clade.table.cost[clade.table.place[1 << i | 1 << j]].sum()
            share = sum(self._shares[list(clade.parts[item])].sum() for item in (i, j))
            near[i, j] = near[j, i] = -cost / share
        return leaves_of(join(near, "average")[0])

    def _solved(self, clade, balance, depth):
        """The best tree over the items of one clade, the other clades left aside."""
        return Found(*_best_trees(clade, self._shares, lambda cost, share: cost.sum(
            axis=1) + balance * share, depth=depth)[-1][0])

    def _know(self, clade, wanted):
        new = clade.table.add(wanted)
        requests = [clade.request(mask, rights) for _, mask, rights in new]
        for (place, _, rights), cost in zip(new, self._costs(requests)):
            clade.table.put(place, rights, cost)
            self.splits += len(rights)
            if self._told is not None:
                self._told()

    def best(self, keep: int = 1, *, groups: np.ndarray | None = None, balance: float = 0.0,
             depth: int | None = None) -> list[Found]:
        """The `keep` known trees, ascending, with the least sums of costs, weighted by groups (g,),
        and balance times the expected number of classifiers asked; depth: theirs at most."""
        def value(cost, share):
            weighted = cost.sum(axis=1) if groups is None else cost @ groups
            return weighted + balance * share

        found: dict = {}
        for clade in self._clades:
            found[clade] = _best_trees(clade, self._shares, value, keep, depth, found)
        return [Found(*one) for one in found[clade][-1]]

    def cost_of(self, pairs) -> np.ndarray:
        """The costs (nodes, g) of the nodes of a tree, in pre-order.  Gets those not known."""
        self.know_trees([pairs])
        rows = []
        for node in nodes_of(pairs):
            clade, mask, right = self._place(node)
            place = clade.table.place[mask]
            rows.append(clade.table.cost[place][clade.table.known[place][right]])
        return np.array(rows)


def _canonical(mask, right):
    """The side of a split without the lowest item, which stands on the left."""
    return mask ^ right if right & mask & -mask else right


def _all_splits(q):
    """{mask: masks on the right} of all splits of all sets of q items."""
    wanted = {}
    for mask in range(1, 1 << q):
        rest = mask & (mask - 1)  # without the lowest item
        if not rest:
            continue
        rights, part = [], rest
        while part:
            rights.append(part)
            part = (part - 1) & rest
        wanted[mask] = rights
    return wanted


def _interval_splits(order):
    """{mask: masks on the right} of the splits that cut intervals of an order of items in two."""
    q = len(order)
    bits = [1 << item for item in order]
    wanted = {}
    for start in range(q):
        mask = bits[start]
        prefix = [mask]
        for end in range(start + 1, q):
            mask |= bits[end]
            wanted[mask] = [_canonical(mask, part) for part in prefix]
            prefix.append(mask)
    return wanted


def _cut(pairs, most, generator):
    """Masks of the parts, `most` of them or fewer, that a branch of a tree of items is cut into."""
    mask = _folded(pairs, lambda leaf: 1 << leaf, or_)
    branches = [part for part in parts_of(pairs, 1) if mask[id(part)].bit_count() > 2]
    parts = [branches[int(generator.integers(len(branches)))]]
    while len(parts) < most:
        inner = [one for one in parts if isinstance(one, tuple)]
        if not inner:
            break
        one = inner[int(generator.integers(len(inner)))]
        parts.remove(one)
        parts += one
    return [mask[id(one)] for one in parts]


def _splits_of_parts(masks):
    """{mask: masks on the right} of all splits of all sets of some disjoint sets of items."""
    union = [0]
    for mask in masks:
        union += [one | mask for one in union]
    return {union[mask]: [_canonical(union[mask], union[right]) for right in rights]
            for mask, rights in _all_splits(len(masks)).items()}


def _best_trees(clade, shares, value, keep=1, depth=None, found=None):
    """By depth, [(value, pairs), ...]: the `keep` best trees over all items of a clade.

    Layer d has the trees of depth d at most; without a limit of the depth there is one layer, the
    trees of which hang in one another.  value(cost (m, g), share of the points) gives those of
    splits (m,);  found: {clade: the same} of the clades among the items, None to take any item for
    a leaf of value 0.
    """
    table = clade.table
    leaves = [[[(0.0, number if found is None else item)]] if found is None or item not in found
              else found[item] for number, item in enumerate(clade.items)]
    sizes = [shares[list(part)].sum() for part in clade.parts]
    own = {place: value(table.cost[place], sum(size for item, size in enumerate(sizes)
                                               if table.sets[place] >> item & 1))
           for place in table.order}
    # tree i of one side with tree j of the other: there are i j better ones
    pairs = np.array([(i, j) for i in range(keep) for j in range(keep)
                      if (i + 1) * (j + 1) <= keep])
    first, second = pairs.T
    layers: list = []
    for layer in range(1 if depth is None else depth + 1):
        values = np.full((len(table.sets), keep), np.inf)
        chosen = np.zeros((len(table.sets), keep, 3), dtype=np.int64)
        for item, leaf in enumerate(leaves):
            some = leaf[min(layer, len(leaf) - 1)]
            values[item, :len(some)] = [one for one, _ in some]
        below = values if depth is None else layers[-1][0] if layer else None
        layers.append((values, chosen))
        for place in own if below is not None else ():
            left, right = table.left[place], table.right[place]
            total = (own[place][:, None] + below[left][:, first] + below[right][:, second]).ravel()
            best = np.argsort(total, kind="stable")[:keep] if keep > 1 else \
                np.array([np.argmin(total)])
            split, pair = np.divmod(best, len(pairs))
            values[place, :len(best)] = total[best]
            chosen[place, :len(best)] = np.column_stack([split, pairs[pair]])

    def tree(layer, place, rank):  # without recursion, as trees may be deep
        done, stack = [], [(layer, place, rank, False)]
        while stack:
            layer, place, rank, made = stack.pop()
            if made:
                right, left = done.pop(), done.pop()
                done.append((left, right))
            elif place < len(leaves):
                leaf = leaves[place]
                done.append(leaf[min(layer, len(leaf) - 1)][rank][1])
            else:
                split, one, other = layers[layer][1][place, rank].tolist()
                under = layer if depth is None else layer - 1
                stack += ((layer, place, rank, True),
                          (under, int(table.right[place][split]), other, False),
                          (under, int(table.left[place][split]), one, False))
        return done[0]

    top = table.place[(1 << len(leaves)) - 1]
    return [[(float(value), tree(layer, top, rank))
             for rank, value in enumerate(values[top]) if np.isfinite(value)]
            for layer, (values, _) in enumerate(layers)]
