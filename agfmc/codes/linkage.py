"""Classes joined one after the other by their distances: the tree that distances suggest.

Shapes: k classes.
"""

import numpy as np

from ..control.build import from_pairs
from ..control.tree import Tree
from ..errors import DataError, UsageError

__all__ = ["LINKAGES", "join", "joined_tree"]

LINKAGES = ("single", "complete", "average")


def joined_tree(distances: np.ndarray, linkage: str = "single") -> tuple[Tree, list[float]]:
    """(tree, heights) of `join`, a decision `Tree` whose labels are the positions 0..k-1."""
    pairs, heights = join(distances, linkage)
    return from_pairs(pairs, range(len(distances))), heights


def join(distances: np.ndarray, linkage: str = "single") -> tuple[tuple, list[float]]:
    """(pairs, heights): the classes 0..k-1 as nested pairs, and the distances at which they join.

    distances (k, k): symmetric, of which the part below the diagonal is looked at;
    infinite ones are allowed.  The two groups that are nearest to each other are joined
    until one is left.  The distance of two groups is the smallest ("single"), the largest
    ("complete") or the mean ("average") of the distances between their members.

    Ties: each two groups have a closest pair of members i > j, the first by (distance,
    i, j).  Of groups that are equally far, those whose closest pair comes first are
    joined.  The larger group goes left; of two equal ones, that which holds i.

    heights (k - 1,): the distance at which the two sides of each pair were joined, pairs
    in pre-order.
    Raises DataError for NaN, UsageError for k < 2 and an unknown linkage.
    """
    distances = np.asarray(distances, dtype=np.float64)
    k = len(distances)
    if linkage not in LINKAGES:
        raise UsageError(f"no linkage called {linkage!r}: use {', '.join(LINKAGES)}")
    if k < 2:
        raise UsageError(f"a tree needs at least two classes, not {k}")
    if np.isnan(distances).any():
        raise DataError("a distance between classes is not a number")
    groups = _Groups(distances, linkage)
    trees, sizes = list(range(k)), [1] * k
    while True:
        left, right, height = groups.nearest()
        if sizes[right] > sizes[left]:
            left, right = right, left
        trees[left] = (trees[left], trees[right], height)
        sizes[left] += sizes[right]
        if sizes[left] == k:
            return _unfolded(trees[left])
        groups.merge(left, right)


class _Groups:
    """Distances of all groups, each in the place of one of its members.

    far (k, k): the sum of the distances for "average", else the distance;  rank (k, k):
    the place of the closest pair among all pairs, `none` where there are no two groups.
    """

    def __init__(self, distances, linkage):
        k = len(distances)
        self.linkage = linkage
        self.higher, self.lower = np.tril_indices(k, -1)  # ordered by (i, j) already
        between = distances[self.higher, self.lower]
        self.order = np.argsort(between, kind="stable")
        self.none = len(between)
        place = np.empty(self.none, dtype=np.intp)
        place[self.order] = np.arange(self.none)
        self.far = np.full((k, k), np.inf)
        self.rank = np.full((k, k), self.none)
        for i, j in ((self.higher, self.lower), (self.lower, self.higher)):
            self.far[i, j] = between
            self.rank[i, j] = place
        self.size = np.ones(k)
        self.group = np.arange(k)  # of each class
        self.best = np.empty(k, dtype=np.intp)  # the nearest group of each
        self.least = np.empty(k)  # and its distance
        for a in range(k):
            self._look(a)

    def _row(self, a):
        """Distances of group `a` to all others."""
        # sums are divided late: those of whole numbers are exact, and so are their ties
        return self.far[a] / (self.size[a] * self.size) if self.linkage == "average" \
            else self.far[a]

    def _look(self, a):
        row = self._row(a)
        least = row.min()
        ties = np.flatnonzero(row == least)
        self.best[a] = ties[np.argmin(self.rank[a, ties])]
        self.least[a] = least

    def nearest(self):
        """(group of i, group of j, distance) of the two groups to be joined."""
        ties = np.flatnonzero(self.least == self.least.min())
        a = ties[np.argmin(self.rank[ties, self.best[ties]])]
        pair = self.order[self.rank[a, self.best[a]]]
        i, j = self.higher[pair], self.lower[pair]
        return int(self.group[i]), int(self.group[j]), float(self.least[a])

    def merge(self, a, b):
        """The group in place b becomes part of that in place a."""
        combined = {"single": np.minimum, "complete": np.maximum, "average": np.add}[self.linkage]
        row = combined(self.far[a], self.far[b])
        rank = np.minimum(self.rank[a], self.rank[b])
        row[[a, b]], rank[[a, b]] = np.inf, self.none
        self.far[a] = self.far[:, a] = row
        self.rank[a] = self.rank[:, a] = rank
        self.far[b] = self.far[:, b] = np.inf
        self.rank[b] = self.rank[:, b] = self.none
        self.size[a] += self.size[b]
        self.group[self.group == b] = a
        self.least[b] = np.inf
        self._look(a)
        # no linkage brings two groups nearer to a third than the nearer of them was
        there = self.rank[a] < self.none
        for c in np.flatnonzero(there & ((self.best == a) | (self.best == b))):
            self._look(c)


def _unfolded(tree):
    """(pairs, heights) of nested (left, right, height); a chain may be thousands deep."""
    heights, stack = [], [tree]
    order = []
    while stack:
        node = stack.pop()
        order.append(node)
        if isinstance(node, tuple):
            heights.append(node[2])
            stack += [node[1], node[0]]
    done = []
    for node in reversed(order):  # children before their parent, the first child on top
        if isinstance(node, tuple):
            left, right = done.pop(), done.pop()
            done.append((left, right))
        else:
            done.append(node)
    return done[0], heights
