"""Classes joined one after the other by their distances: the tree that distances suggest.

Shapes: k classes.
"""

import numpy as np

from ..control.build import from_pairs
from ..control.tree import Tree
from ..errors import DataError, UsageError

__all__ = ["LINKAGES", "join", "joined_tree", "parts_of"]

LINKAGES = ("single", "complete", "average")


def joined_tree(distances: np.ndarray, linkage: str = "single") -> tuple[Tree, list[float]]:
    """(tree, heights) of `join`, a decision `Tree` whose labels are the positions 0..k-1."""
    pairs, heights = join(distances, linkage)
    return from_pairs(pairs, range(len(distances))), heights


def join(distances: np.ndarray, linkage: str = "single") -> tuple[tuple, list[float]]:
    """(pairs, heights): the classes 0..k-1 as nested pairs, and the distances at which they join.

    distances (k, k): symmetric, of which the part below the diagonal counts; the distance of two
    groups is the smallest ("single"), largest ("complete") or mean ("average") of their members'.

    Ties: each two groups have a closest pair of members i > j, the first by (distance, i, j).  Of
    groups that are equally far, those whose closest pair comes first are joined.  The larger group
    goes left; of two equal ones, that which holds i.  heights (k - 1,): pairs in pre-order.
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
    higher, lower = np.tril_indices(k, -1)  # ordered by (i, j) already
    between = distances[higher, lower]
    order = np.argsort(between, kind="stable")
    none = len(between)
    # of each two groups, each in the place of one of its members: the sum of the distances for
    # "average", else the distance; and the place of the closest pair in `order`
    far, rank = np.full((k, k), np.inf), np.full((k, k), none)
    for i, j in ((higher, lower), (lower, higher)):
        far[i, j] = between
        rank[i[order], j[order]] = np.arange(none)
    combined = {"single": np.minimum, "complete": np.maximum, "average": np.add}[linkage]
    size, group, trees = np.ones(k), np.arange(k), list(range(k))
    nearest, least = np.empty(k, dtype=np.intp), np.empty(k)  # of each group

    def look(a):
        # sums are divided late: those of whole numbers are exact, and so are their ties
        row = far[a] / (size[a] * size) if linkage == "average" else far[a]
        least[a] = row.min()
        ties = np.flatnonzero(row == least[a])
        nearest[a] = ties[np.argmin(rank[a, ties])]

    for a in range(k):
        look(a)
    height: dict[int, float] = {}  # of each pair, by its identity
    while True:
        ties = np.flatnonzero(least == least.min())
        a = ties[np.argmin(rank[ties, nearest[ties]])]
        pair = order[rank[a, nearest[a]]]
        left, right = int(group[higher[pair]]), int(group[lower[pair]])
        if size[right] > size[left]:
            left, right = right, left
        trees[left] = (trees[left], trees[right])
        height[id(trees[left])] = float(least[a])
        size[left] += size[right]
        if size[left] == k:
            return trees[left], [height[id(part)] for part in parts_of(trees[left])
                                 if isinstance(part, tuple)]
        row, closest = combined(far[left], far[right]), np.minimum(rank[left], rank[right])
        row[[left, right]], closest[[left, right]] = np.inf, none
        far[left] = far[:, left] = row
        rank[left] = rank[:, left] = closest
        far[right] = far[:, right] = least[right] = np.inf
        rank[right] = rank[:, right] = none
        group[group == right] = left
        look(left)
        # no linkage brings two groups nearer to a third than the nearer of them was
        for c in np.flatnonzero((closest < none) & ((nearest == left) | (nearest == right))):
            look(c)


def parts_of(pairs, turn: int = -1) -> list:
    """All parts of nested pairs, pairs and leaves, in pre-order; they may be thousands deep.

    turn: -1 for the left side of each pair first, 1 for the right side.
    """
    order, stack = [], [pairs]
    while stack:
        part = stack.pop()
        order.append(part)
        if isinstance(part, tuple):
            stack += part[::turn]
    return order
