"""A control file with its classes in another order."""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np

from ..codes import class_path, dag_order
from ..codes.distances import class_distances
from ..control.tree import changed, Leaf, Tree
from ..errors import AgfmcWarning, ControlError, UsageError

__all__ = ["Ordered", "order_for_pairs", "order_for_path", "require_one_vs_one",
           "require_untrained_matrix"]


class Ordered(NamedTuple):
    """tree: the control tree;  method: how its order was found;  before, after: the expected
    accuracy, or the length of the path, in the old and in the new order."""

    tree: Tree
    method: str
    before: float
    after: float


def order_for_pairs(tree, *, priors=None, counts=None, pair_errors=None, error_rate=0.1,
                    exact_up_to=10, seed=1):
    """The order of a one-against-one control tree in which a DDAG is right most often.

    Only the braces and the positions change: each classifier keeps its name or options
    and the classes on its sides, so nothing is trained again.

    priors: one number for each class, ascending labels, made to sum to 1;  counts:
    {label: samples, or sum of their weights} in place of them; without both, the samples in
    `pair_errors`, else equal ones.  pair_errors: `PairErrors`; without them every classifier errs
    with probability `error_rate`, and the best order follows from the priors alone.
    exact_up_to, seed: as for `dag_order.best_order`.
    Raises `ControlError` for another kind of control tree, DataError for a pair
    whose errors are unknown.
    """
    require_one_vs_one(tree)
    labels = tree.classes
    place = {label: i for i, label in enumerate(labels)}
    present = [place[label] for label in tree.labels]
    priors = _priors(labels, priors, counts, pair_errors)
    if pair_errors is None:
        e, h = np.full((len(labels),) * 2, error_rate), None
        order, method = dag_order.greedy_order(priors.tolist()), "greedy, best for equal errors"
    else:
        e, h = pair_errors.error_rates(labels), pair_errors.shares(labels)
        order, _, exact = dag_order.best_order(priors, e, h, exact_up_to, seed, present)
        method = "branch and bound, the best order there is" if exact else "local search"
    before, after = (dag_order.expected_accuracy(o, priors, e, h) for o in (present, order))
    return Ordered(_renumbered(tree, [labels[i] for i in order]), method, before, after)


def order_for_path(tree, x, y, metric="mean-deviation", weights=None):
    """The order of a training tree along the shortest path through classes of points.

    x (n, d), y (n,): the points and their labels;  metric: of `class_distances`;  weights:
    `Weights` of the points, or None.
    The labels in the braces change places, the partitions stay as they are.
    Raises `ControlError` for a tree that is trained, or no coding matrix.
    """
    require_untrained_matrix(tree)
    labels = tree.classes
    distances = class_distances(x, y, labels, metric, w=None if weights is None else weights.w)
    order, after, exact = class_path.shortest_path(distances)
    before = class_path.path_length(distances, [labels.index(label) for label in tree.labels])
    node = changed(tree.nodes[0], children=tuple(Leaf(labels[i]) for i in order))
    method = "the shortest path there is" if exact else "nearest neighbours and local search"
    return Ordered(changed(tree, nodes=(node,)), method, before, after)


def require_one_vs_one(tree):
    """`ControlError` unless `tree` is a coding matrix with one row for each pair of classes."""
    _require_matrix(tree)
    seen = {}
    for row, (left, right) in zip(tree.rows, tree.sides()):
        if len(left) != 1 or len(right) != 1:
            raise tree.place(row).error(
                ControlError, "expected one class on each side (one against one), found "
                f"{len(left)} and {len(right)}")
        pair = tuple(sorted(left + right))
        if pair in seen:
            raise tree.place(row).error(ControlError, f"classes {pair[0]} and {pair[1]} are "
                                        f"separated on line {seen[pair]} already")
        seen[pair] = row.line
    k = len(tree.labels)
    if len(seen) < k * (k - 1) // 2:
        i, j = next((i, j) for i in tree.classes for j in tree.classes
                    if i < j and (i, j) not in seen)
        raise ControlError(f"no classifier separates classes {i} and {j}: expected one for "
                           "each pair of classes", file=tree.source)


def require_untrained_matrix(tree):
    """`ControlError` unless `tree` is a coding matrix that is not trained yet."""
    _require_matrix(tree)
    tree.require_options()


def _require_matrix(tree):
    node = tree.nodes[0]
    if tree.hierarchical or node.direct is not None:
        what = "an ensemble" if tree.is_ensemble else \
            f"a classifier of code {node.direct.code}" if node.direct else "a tree"
        raise ControlError(f"expected one coding matrix, found {what}", file=tree.source)


def _priors(labels, priors, counts, pair_errors):
    k = len(labels)
    if priors is not None:
        if len(priors) != k:
            raise UsageError(f"expected {k} priors, one for each class, found {len(priors)}")
        if min(priors) < 0 or not 0 < sum(priors) < math.inf:
            raise UsageError("expected priors that are not negative, nor all 0, and a sum that is "
                             "finite")
        if abs(sum(priors) - 1) > 1e-6:
            warnings.warn(f"the priors sum to {sum(priors):g}: they are divided by that",
                          AgfmcWarning, stacklevel=3)
        weights = priors
    elif counts is not None:
        weights = [counts[label] for label in labels]
    elif pair_errors is not None:
        weights = pair_errors.class_counts(labels)
    else:
        weights = np.ones(k)
    weights = np.asarray(weights, dtype=np.float64)
    return weights / weights.sum()


def _renumbered(tree, labels):
    """`tree`, one coding matrix, with the classes in this order and the same rows."""
    node = tree.nodes[0]
    place = {label: i for i, label in enumerate(labels)}
    moved = [place[child.label] for child in node.children]
    rows = tuple(changed(row, left=tuple(moved[i] for i in row.left),
                         right=tuple(moved[i] for i in row.right)) for row in node.rows)
    return changed(tree, nodes=(changed(node, rows=rows,
                                        children=tuple(Leaf(label) for label in labels)),))
