"""Costs of the nodes of a tree: how the log loss of all points divides among its decisions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..control.tree import Tree
from ..core.probabilities import mean
from ..core.splits import of_rows

_LEAST = np.finfo(float).eps  # the probability below which `log_losses` counts none


class NodeCost(NamedTuple):
    """The cost of the decision at one node of a tree.

    Attributes
    ----------
    share : share of the points whose true class is below the node
    error : share of these whose most probable branch is a wrong one, NaN without any
    log_loss : what the node adds to the log loss of all points
    """

    node: int
    share: float
    error: float
    log_loss: float


def costs_of_nodes(
    tree: Tree, p: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None
) -> tuple[NodeCost, ...]:
    """The `NodeCost` of each node of one tree, in its order; () for an ensemble.

    `p` (n, k) are probabilities with the classes of the tree in ascending order, `y` (n,) true
    columns, and `weights` (n,) those of the points, or None. By the chain rule -log p(class) is the
    sum of -log(P(branch) / P(node)) over the nodes on the way to the class, with P the sum of p
    over the classes below, so that the costs of all nodes sum to the log loss.
    """
    if tree.is_ensemble:
        return ()
    order = np.argsort(np.argsort(tree.labels))  # the column of each class in the order of the text
    position = np.empty(len(order), dtype=np.intp)
    position[order] = np.arange(len(order))
    true = position[np.asarray(y)]
    sums = np.zeros((len(p), len(order) + 1))
    np.cumsum(np.asarray(p, dtype=float)[:, order], axis=1, out=sums[:, 1:])
    whole = float(len(true) if weights is None else np.sum(weights))
    costs = []
    for number, spans in enumerate(tree.spans()):
        first = spans[0][0]
        end = spans[-1][1]
        rows = np.flatnonzero((true >= first) & (true < end))
        w = of_rows(weights, rows)
        total = float(len(rows) if w is None else np.sum(w))
        starts = np.array([start for start, _ in spans])
        branch = np.searchsorted(starts, true[rows], side="right") - 1
        below = _below(sums, p, order, rows, spans)
        reached = below[np.arange(len(rows)), branch]
        if number == 0:
            above = np.zeros(len(rows))
        else:
            above = np.log(_known(sums[rows, end] - sums[rows, first]))
        losses = above - np.log(_known(reached))
        costs.append(
            NodeCost(
                number,
                total / whole if whole else float("nan"),
                mean(np.argmax(below, axis=1) != branch, w) if len(rows) else float("nan"),
                mean(losses, w) * total / whole if len(rows) and total else 0.0,
            )
        )
    return tuple(costs)


def _below(sums, p, order, rows, spans):
    """Probabilities (r, branches) of the branches of a node; those of classes as they are."""
    columns = [
        p[rows, order[start]] if end == start + 1 else sums[rows, end] - sums[rows, start]
        for start, end in spans
    ]
    return np.stack(columns, axis=1)


def _known(p):
    return np.clip(p, _LEAST, 1.0)
