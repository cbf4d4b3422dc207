"""The space of trees around the one that a search chose: losses, and the classifiers asked."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

from ..codes.best_tree import oriented, TreeSpace
from ..codes.random_trees import different_trees
from .design import design, design_from_data, LabelledPoints
from .tree_search import Chosen, WEIGHTS

__all__ = ["SpaceTree", "tree_space"]

_DRAWS, _COSTS = 200, 1800  # random trees and their splits at most: 72 trees of 26 classes


class SpaceTree(NamedTuple):
    """A tree as a point of a picture: its kind, of `picture.designs.KINDS`; its name or "";
    asked: the mean number of classifiers on the way to a class;  loss;  error: the standard error
    of the difference of its loss to that of the chosen tree, or None where that is not known."""

    kind: str
    name: str
    asked: float
    loss: float
    error: float | None = None


def tree_space(chosen: Chosen, points: LabelledPoints, seed: int = 1,
               progress: Callable | None = None) -> list[SpaceTree]:
    """The chosen tree, the next best, the best with weights on the classifiers asked, the tree
    over the classes in order, the empirical one, and random ones, uniform over all trees.

    points: those that the search had;  seed: of the random trees;  progress(done, total, words).
    Random trees, and those of schemes, need not keep together what the search did.
    """
    costs, best = chosen.costs, chosen.best
    against = costs.point_losses(costs.pairs(best.tree))
    seen = {costs.pairs(tree.tree) for tree in (best, *chosen.alternatives)}
    found = [SpaceTree("best", "chosen", best.asked, best.loss)]
    found += [SpaceTree("alternative", "", other.asked, other.loss, other.difference_error)
              for other in chosen.alternatives]

    def add(kind, name, pairs):
        scored = costs.scored(pairs, against)
        found.append(SpaceTree(kind, name, scored.asked, scored.loss, scored.difference_error))

    for weight in (0.0, *WEIGHTS):
        pairs = oriented(costs.best(balance=weight)[0].pairs)
        if pairs not in seen:
            seen.add(pairs)
            add("frontier", "", pairs)
    labels = list(points.labels)
    add("standard", "balanced", costs.pairs(design("tree", labels)))
    add("standard", "empirical", costs.pairs(design_from_data(
        "empirical", points.x, points.y, labels, weights=points.weights)[0]))
    k = len(labels)
    trees = list(islice(different_trees("uniform", costs.splits.counts, seed),
                        max(20, min(_DRAWS, _COSTS // (k - 1)))))
    return found + [SpaceTree("random", "", costs.asked(pairs), loss)
                    for pairs, loss in zip(trees, _losses(chosen, trees, progress))]


def _losses(chosen, trees, progress):
    """The loss of each of some trees a point, from costs that are all got at once."""
    costs = chosen.costs

    def told(requests):
        return costs.splits(requests, None if progress is None else lambda share: progress(
            round(1000 * share), 1000, f"{len(trees)} random trees"))

    space = costs.space
    if not chosen.exact or costs.search.together:
        space = TreeSpace(len(costs.labels), told, costs.splits.shares)
    space.know_trees(trees)
    return [float(space.cost_of(pairs).sum()) / costs.points for pairs in trees]

