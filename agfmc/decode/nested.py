"""Nested configurations: probabilities of the nodes to probabilities of the leaves.

A tree is a list of its nodes in pre-order (a parent before its children, the
root first); each node is the list of its children, ("leaf", column) or
("node", index).  Local values of a node with c children are p (n, c), or r (n,)
for a node that is one bare binary classifier, which stands for
p = [(1 - r)/2, (1 + r)/2].  Trees may be thousands of nodes deep.
"""

from collections.abc import Callable

import numpy as np

Tree = list[list[tuple[str, int]]]


def branches(r: np.ndarray) -> np.ndarray:
    """p (n, 2) = [(1 - r)/2, (1 + r)/2] of a binary classifier's r (n,)."""
    return np.stack([(1.0 - r) / 2, (1.0 + r) / 2], axis=1)


def products(nodes: Tree, local: list[np.ndarray]) -> np.ndarray:
    """Probabilities (n, k) of all leaves: the products along their paths.

    `nodes` is the tree, `local` has one array of local values for each node.
    """
    k = 1 + max(column for node in nodes for kind, column in node if kind == "leaf")
    n = len(local[0])
    # Held the other way round, as every step writes whole columns.
    p = np.zeros((k, n))
    reached = {0: np.ones(n)}
    for index, node in enumerate(nodes):
        before = reached.pop(index)
        if local[index].ndim == 1:
            share = branches(local[index])
        else:
            share = local[index]
        for child, (kind, target) in enumerate(node):
            here = before * share[:, child]
            if kind == "leaf":
                p[target] = here
            else:
                reached[target] = here
    return np.ascontiguousarray(p.T)


def descend(
    nodes: Tree, n: int, evaluate: Callable, least: float = -np.inf, visit: Callable | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Greedy descent: leaf (n,), product of probabilities on the way p (n,), last node (n,).

    At each node the most probable child is taken, the first on ties; a bare
    binary node goes right if r >= 0.  The leaf, a column, need not be the most probable
    of all leaves.  Where the probability of that child, at its node, is below `least`, the point
    stays at the node: its leaf is -1, and p the probability of the node.  evaluate(index, rows)
    gives the local values of one node for the points rows (t,) that have come to it. Of each
    child that points go to, visit(index, child, rows, p) gets their product p (t,) so far.
    """
    leaf = np.full(n, -1, dtype=np.intp)
    p = np.ones(n)
    last = np.zeros(n, dtype=np.intp)
    arrived = {0: np.arange(n)}
    for index, node in enumerate(nodes):
        rows = arrived.pop(index, None)
        if rows is None or len(rows) == 0:
            continue
        values = evaluate(index, rows)
        if values.ndim == 1:
            choice = (values >= 0).astype(np.intp)
            share = (1.0 + np.abs(values)) / 2
        else:
            choice = np.argmax(values, axis=1)
            share = np.take_along_axis(values, choice[:, None], axis=1)[:, 0]
        last[rows] = index
        sure = ~(share < least)
        if not sure.all():
            rows, choice, share = rows[sure], choice[sure], share[sure]
        p[rows] *= share
        for child, (kind, target) in enumerate(node):
            some = rows[choice == child]
            if visit is not None:
                visit(index, child, some, p[some])
            if kind == "leaf":
                leaf[some] = target
            else:
                arrived[target] = some
    return leaf, p, last


# A product may be so much larger than that of its node, as shares are rounded.
_ROUNDING = 1.0 + 1e-9


def most_probable(
    nodes: Tree, n: int, evaluate: Callable, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """The most probable leaves: columns (n, count), and products (n, count) in descending order.

    They are those of `products`, exactly, the first column on ties, if all shares are
    probabilities, but only nodes are evaluated that may hold one of them: the best open node of
    each point is opened, until `count` leaves are no less probable than all open nodes
    (uniform-cost search; Dembczynski and others, "Consistency of probabilistic classifier trees",
    ECML 2016). What is opened for a point does not depend on the others. `evaluate` is as for
    `descend`, with rows in any order.
    """
    leaves = _Leaves(n, count)
    opened = _OpenNodes(n)
    reached = np.ones(n)
    if n:
        waiting = {0: [np.arange(n)]}
    else:
        waiting = {}
    while waiting:
        for index, node in enumerate(nodes):  # on the way down points meet again
            parts = waiting.pop(index, None)
            if parts is None:
                continue
            rows = np.concatenate(parts)
            values = evaluate(index, rows)
            here = (branches(values) if values.ndim == 1 else values) * reached[rows, None]
            for kind, add in (("leaf", leaves.add), ("node", opened.add)):
                children = [child for child, (one, _) in enumerate(node) if one == kind]
                if children:
                    add(rows, [node[child][1] for child in children], here[:, children])
            rows, following, p = opened.best(rows, leaves.least(rows))
            reached[rows] = p
            order = np.argsort(following, kind="stable")
            for group in np.split(order, np.flatnonzero(np.diff(following[order])) + 1):
                if len(group):
                    waiting.setdefault(int(following[group[0]]), []).append(rows[group])
    return leaves.filled()


class _Leaves:
    """The most probable leaves of n points so far: p and column (n, count), p descending.

    Leaves with p = 0 are left out until the end, as any leaf that was not reached has that.
    """

    def __init__(self, n, count):
        self.p = np.zeros((n, count))
        self.column = np.full((n, count), -1, dtype=np.intp)

    def least(self, rows):
        """The product (t,) that a leaf must exceed, or equal, to be one of them."""
        return self.p[rows, -1]

    def add(self, rows, columns, p):
        """The leaves `columns` (c,) of the points rows (t,), with p (t, c)."""
        p = np.hstack([self.p[rows], np.maximum(p, 0.0)])
        column = np.hstack([self.column[rows], np.tile(columns, (len(rows), 1))])
        order = np.lexsort((column, -p), axis=1)[:, : self.p.shape[1]]
        self.p[rows] = np.take_along_axis(p, order, axis=1)
        self.column[rows] = np.take_along_axis(column, order, axis=1)

    def filled(self):
        """column and p; where too few have p > 0, the first of the other columns follow."""
        count = self.p.shape[1]
        for row in np.flatnonzero(self.p[:, -1] == 0):
            size = np.count_nonzero(self.p[row])
            others = np.setdiff1d(np.arange(count), self.column[row, :size])
            self.column[row, size:] = others[: count - size]
        return self.column, self.p


class _OpenNodes:
    """The nodes of n points that were reached and not evaluated: p and number (n, w), size (n,).

    The first `size` entries of a row are in use, the p of others is 0.
    """

    def __init__(self, n):
        self.p = np.zeros((n, 4))
        self.number = np.zeros((n, 4), dtype=np.int32)
        self.size = np.zeros(n, dtype=np.intp)

    def add(self, rows, numbers, p):
        """The nodes `numbers` (c,) of the points rows (t,), with p (t, c); not where that is 0."""
        widest = int(self.size[rows].max()) + len(numbers)
        if widest > self.p.shape[1]:
            more = ((0, 0), (0, max(widest, 2 * self.p.shape[1]) - self.p.shape[1]))
            self.p, self.number = np.pad(self.p, more), np.pad(self.number, more)
        for child, number in enumerate(numbers):
            some = p[:, child] > 0
            at = rows[some], self.size[rows[some]]
            self.p[at], self.number[at] = p[some, child], number
            self.size[at[0]] += 1

    def best(self, rows, least):
        """The rows (t',) whose best node may have a leaf with p >= least (t,); their best nodes,
        which are open no more, and p (t',)."""
        p = self.p[rows, : max(1, int(self.size[rows].max()))]
        column = p.argmax(axis=1)
        p = p[np.arange(len(rows)), column]
        more = (p > 0) & (p * _ROUNDING >= least)
        rows, column, p = rows[more], column[more], p[more]
        number = self.number[rows, column]
        self.size[rows] -= 1
        last = self.size[rows]
        self.p[rows, column] = self.p[rows, last]
        self.number[rows, column] = self.number[rows, last]
        self.p[rows, last] = 0.0
        return rows, number, p
