"""Nested configurations: probabilities of the nodes to probabilities of the leaves.

A tree is a list of its nodes in pre-order (a parent before its children, the
root first); each node is the list of its children, ("leaf", column) or
("node", index).  Local values of a node with c children are p (n, c), or r (n,)
for a node that is one bare binary classifier, which stands for
p = [(1 - r)/2, (1 + r)/2].  Trees may be thousands of nodes deep.
"""

from collections.abc import Callable

import numpy as np

__all__ = ["branches", "descend", "products"]

Tree = list[list[tuple[str, int]]]


def branches(r: np.ndarray) -> np.ndarray:
    """p (n, 2) = [(1 - r)/2, (1 + r)/2] of a binary classifier's r (n,)."""
    return np.stack([(1.0 - r) / 2, (1.0 + r) / 2], axis=1)


def products(nodes: Tree, local: list[np.ndarray]) -> np.ndarray:
    """Probabilities (n, k) of all leaves: the products along their paths.

    nodes: the tree; local: one array of local values for each node.
    """
    k = 1 + max(column for node in nodes for kind, column in node if kind == "leaf")
    n = len(local[0])
    # Held the other way round, as every step writes whole columns.
    p = np.zeros((k, n))
    reached = {0: np.ones(n)}
    for index, node in enumerate(nodes):
        before = reached.pop(index)
        share = branches(local[index]) if local[index].ndim == 1 else local[index]
        for child, (kind, target) in enumerate(node):
            here = before * share[:, child]
            if kind == "leaf":
                p[target] = here
            else:
                reached[target] = here
    return np.ascontiguousarray(p.T)


def descend(nodes: Tree, n: int, evaluate: Callable) -> tuple[np.ndarray, np.ndarray]:
    """Greedy descent: column of the leaf (n,) and product of probabilities on the way (n,).

    At each node the most probable child is taken, the first on ties; a bare
    binary node goes right if r >= 0.  The leaf need not be the most probable
    of all leaves.  evaluate(index, rows) gives the local values of one node for
    the points rows (t,) that have come to it.
    """
    leaf = np.zeros(n, dtype=np.intp)
    p = np.ones(n)
    arrived = {0: np.arange(n)}
    for index, node in enumerate(nodes):
        rows = arrived.pop(index, None)
        if rows is None or len(rows) == 0:
            continue
        values = evaluate(index, rows)
        if values.ndim == 1:
            choice = (values >= 0).astype(np.intp)
            p[rows] *= (1.0 + np.abs(values)) / 2
        else:
            choice = np.argmax(values, axis=1)
            p[rows] *= np.take_along_axis(values, choice[:, None], axis=1)[:, 0]
        for child, (kind, target) in enumerate(node):
            some = rows[choice == child]
            if kind == "leaf":
                leaf[some] = target
            else:
                arrived[target] = some
    return leaf, p
