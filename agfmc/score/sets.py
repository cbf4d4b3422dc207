"""Scores of sets of classes: how often they hold the true one, how large they are, and, for sets
that are nodes of a tree, how much of the way to the true class they tell.
"""

import numpy as np

from ..control.tree import Leaf, Tree
from ..core.probabilities import mean
from ..core.splits import of_rows
from .intervals import clopper_pearson, effective_number


def set_scores(
    size: np.ndarray,
    holds: np.ndarray,
    y: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> dict:
    """Scores of the sets of points: of size (n,), with the true class or not, holds (n,) bool.

    `y` (n,) are true columns, of the labels (k,), `weights` and `groups` (n,) those of the points.
    Keys: points, coverage with its Clopper-Pearson interval (low, high), mean_size, exact (share of
    the sets that are the true class alone), empty, sizes ([size, points], ...), by_class (label,
    points, coverage, low, high, mean_size).
    """
    sizes, points = np.unique(size, return_counts=True)
    rows = []
    for j, label in enumerate(labels):
        chosen = np.flatnonzero(y == j)
        rows.append(
            {
                "label": int(label),
                "points": len(chosen),
                **_coverage(*(of_rows(part, chosen) for part in (size, holds, weights, groups))),
            }
        )
    return {
        "points": len(size),
        **_coverage(size, holds, weights, groups),
        "exact": mean(holds & (size == 1), weights),
        "empty": int(np.count_nonzero(size == 0)),
        "sizes": [[int(value), int(count)] for value, count in zip(sizes, points)],
        "by_class": rows,
    }


def _coverage(size, holds, weights, groups):
    """Coverage with its interval, for as many points as tell as much as those with weights and
    groups."""
    n = effective_number(weights, len(size), groups, holds.astype(float))
    if not n:
        return dict.fromkeys(("coverage", "low", "high", "mean_size"))
    coverage = mean(holds, weights)
    interval = clopper_pearson(min(n * coverage, n), n)
    return {
        "coverage": coverage,
        "low": interval.low,
        "high": interval.high,
        "mean_size": mean(size, weights),
    }


class Hierarchy:
    """The nodes of a control tree, its classes among them, as sets of classes.

    Nodes are numbered: first those of the tree, then its classes in the order of the text.
    """

    def __init__(self, tree: Tree):
        spans = tree.spans()
        k = spans[0][-1][1]
        inner = len(spans)
        self._parent, self._depth = np.zeros((2, inner + k), dtype=np.intp)
        for number, (node, branches) in enumerate(zip(tree.nodes, spans)):
            for child, (start, _) in zip(node.children, branches):
                if isinstance(child, Leaf):
                    at = inner + start
                else:
                    at = child
                self._parent[at], self._depth[at] = number, self._depth[number] + 1
        self._classes = inner
        ends = [(branches[0][0], branches[-1][1]) for branches in spans]
        ends += [(i, i + 1) for i in range(k)]
        self._first, self._end = np.array(ends).T
        self._nodes = {pair: number for number, pair in enumerate(ends)}

    def nodes_of(self, first: np.ndarray, end: np.ndarray) -> np.ndarray:
        """The node (n,) whose classes are those from first (n,) to before end (n,) in the order of
        the text; -1 where there is none."""
        return np.array(
            [self._nodes.get(pair, -1) for pair in zip(first.tolist(), end.tolist())], dtype=np.intp
        )

    def paths(self, node: np.ndarray, true: np.ndarray) -> np.ndarray:
        """The `paths` (3, n) of `Sets`: answers are nodes (n,), true classes (n,) in the order of
        the text."""
        at = node
        while True:
            outside = (true < self._first[at]) | (true >= self._end[at])
            if not outside.any():
                return np.stack(
                    [self._depth[node], self._depth[self._classes + true], self._depth[at]]
                )
            at = np.where(outside, self._parent[at], at)


def hierarchical_scores(paths: np.ndarray, weights: np.ndarray | None = None) -> dict:
    """hierarchical_precision, hierarchical_recall and hierarchical_f of answers in a tree.

    The sums over all points of the nodes common to both `paths` (3, n), by those of the answers, and by
    those of the true classes, and the harmonic mean of both ("micro-averages": S. Kiritchenko, S.
    Matwin and F. Famili, "Functional annotation of genes using hierarchical text categorization",
    2005).  The root counts for nothing; None where all answers are the root.
    """
    answer, true, common = (
        float(np.sum(depth if weights is None else depth * weights)) for depth in paths
    )
    return {
        "hierarchical_precision": common / answer if answer else None,
        "hierarchical_recall": common / true if true else None,
        "hierarchical_f": 2 * common / (answer + true) if answer + true else None,
    }
