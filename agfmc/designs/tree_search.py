"""Search for the decision tree that suits data best, by costs of splits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..control.build import from_pairs
from ..control.tree import Tree
from ..core.errors import DataError, UsageError
from ..core.memory import refuse_beyond
from ..landmarks.learner import NystromOptions
from ..learners.options import KernelLearner
from ..learners.protocol import parse_options
from .best_tree import Found, level_tree, nodes_of, oriented, TreeSpace
from .design import LabelledPoints
from .split_costs import GROUPS, LEFT_OUT, Loss, mean_and_error, SplitCosts

_BYTES = 210  # for each split that is known
SPLITS = 300_000  # of which the search is exact by default: twelve classes
_WEIGHTS = tuple(2.0**power for power in range(-14, 3))  # of the classifiers asked, that are tried


@dataclass(frozen=True)
class TreeSearch:
    """Settings of a search for the best tree.

    machine: options of the classifiers that splits are judged by, None for those that suit the
    data;  splits: so many are tried at most;  loss: what is minimised;  max_depth: of the tree;
    balance: so much is added to the loss for each classifier that is asked, or "auto", which takes
    the tree that asks the fewest within a standard error of the best;  together: sets of labels
    that are told apart last.
    """

    machine: NystromOptions | None = None
    splits: int = SPLITS
    loss: Loss = Loss()
    max_depth: int | None = None
    balance: float | str = 0.0
    together: Sequence[Sequence[int]] = ()


@dataclass(frozen=True)
class NodeCost:
    """The cost of a node over all points: the labels on its sides, the share of the points that
    come to it, its loss a point of all and the standard error."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    share: float
    loss: float
    error: float


@dataclass(frozen=True)
class ScoredTree:
    """A tree with the costs of its nodes, in pre-order, its leave-one-out loss a point with the
    standard error, and the mean number of classifiers asked."""

    tree: Tree
    nodes: tuple[NodeCost, ...]
    loss: float
    error: float
    asked: float


@dataclass(frozen=True)
class TreeSearchResult:
    """The result of `search_tree`.

    best: the tree that was chosen;  apart, apart_error: its loss a point, and the standard error
    of that, where each tenth of the points judges the tree that the other nine choose, which a
    search that fits noise has larger than that of `best`;  costs: the `TreeCosts`, to score other
    trees;  exact: no tree that the constraints allow is better;  balance: the weight of the
    classifiers asked;  drawn: words about the trees where they were random ones.
    """

    best: ScoredTree
    apart: float
    apart_error: float
    costs: TreeCosts
    exact: bool
    balance: float
    drawn: str = ""

    @property
    def tree(self) -> Tree:
        """The training control tree."""
        return self.best.tree

    @property
    def notes(self) -> list[str]:
        """Lines about the tree and the search."""
        from .design import tree_notes

        return tree_notes(self)


def machine_options(text: str, left_out: int = LEFT_OUT) -> NystromOptions:
    """The options of classifiers that splits are judged by, from training options.

    Those of learner=nystrom themselves; of a learner with a kernel whose parameters are given, this
    kernel; of any other the default.  Sides have no weights here.  left_out: points at most.
    """
    options = parse_options(text)
    if isinstance(options, NystromOptions):
        return replace(options, weights=(), left_out=(
            options.left_out if "--loo" in text.split() else left_out))
    if isinstance(options, KernelLearner) and (
            options.kernel != "rbf" or options.gamma is not None) and options.kernel != "sigmoid":
        return NystromOptions(kernel=options.kernel, degree=options.degree, gamma=options.gamma,
                              coef0=options.coef0, left_out=left_out)
    return NystromOptions(left_out=left_out)


class TreeCosts:
    """Costs of trees over the classes of `LabelledPoints`: a `TreeSpace` and its `SplitCosts`.

    kept: has `costs`, as `experiments.kept_costs` describes it, or None.  Raises `UsageError` for
    constraints that contradict each other, and `DataError` as `SplitCosts` does.
    """

    def __init__(self, points: LabelledPoints, search: TreeSearch = TreeSearch(), seed: int = 1,
                 workers: int = 1, kept=None):
        labels, self.names, self._kept = points.labels, points.names, kept
        if len(labels) < 3:
            raise DataError(f"{len(labels)} classes have one tree: a search needs three or more")
        self.labels, self.search, self.seed = list(labels), search, seed
        self._position = position = {label: place for place, label in enumerate(labels)}
        clades = [[position[label] for label in some] for some in search.together]
        classes = points.positions()
        w = None if points.weights is None else points.weights.w
        counts = np.bincount(classes, weights=w)
        self.space = TreeSpace(len(labels), self._costs,
                               counts / (len(classes) if w is None else counts.sum()), clades)
        least = _depth(level_tree(len(labels), clades))
        if search.max_depth is not None and search.max_depth < least:
            raise UsageError(f"--max-depth {search.max_depth}: a tree of {len(labels)} classes "
                             f"{'that stay together as wanted ' if clades else ''}has a depth of "
                             f"{least} or more")
        tried = min(search.splits, self.space.all_splits)
        trees = 32 * min(tried, 2**len(labels)) * (search.max_depth or 1)
        refuse_beyond(_BYTES * tried + trees, f"a search of {tried} splits", None)
        fewest = self.space.fewest_splits(search.max_depth)
        if search.splits < fewest:
            raise UsageError(f"a search for a tree of {len(labels)} classes needs --splits "
                             f"{fewest} or more, found {search.splits}")
        self.splits = SplitCosts(points.x, classes, search.machine, seed, workers, search.loss,
                                 w)

    def _costs(self, requests):
        if self._kept is None:
            return self.splits(requests)
        loss = self.search.loss
        return self._kept.costs((self.splits.options, self.seed, loss.name, loss.costs), requests,
                                self.splits)

    @property
    def points(self) -> float:
        """The number of points, or the sum of their weights, those not left out among them."""
        return float(self.splits.counts.sum())

    def pairs(self, tree: Tree):
        """The nested pairs of class positions of a decision tree of single classifiers."""
        made: list = [None] * len(tree.nodes)
        for number in range(len(tree.nodes) - 1, -1, -1):
            made[number] = tuple(
                made[child] if isinstance(child, int) else self._position[child.label]
                for child in tree.nodes[number].children)
        return made[0]

    def loss_of(self, pairs) -> float:
        """The mean loss of the points in a tree, nested pairs of class positions."""
        return float(self.space.cost_of(pairs).sum()) / self.points

    def asked(self, pairs) -> float:
        """The mean number of classifiers on the way to a class."""
        shares = self.splits.shares
        return float(sum(shares[list(left + right)].sum() for left, right in nodes_of(pairs)))

    def point_losses(self, pairs) -> np.ndarray:
        """The losses (l,) of the points that are left out."""
        return self.splits.point_losses(nodes_of(pairs)).sum(axis=0)

    def scored(self, pairs) -> ScoredTree:
        """A tree with its costs."""
        pairs = oriented(pairs)
        nodes = nodes_of(pairs)
        losses, weights = self.splits.point_losses(nodes), self.splits.point_weights
        costs = []
        for node, row in zip(nodes, losses):
            left, right = (tuple(self.labels[c] for c in side) for side in node)
            share = self.splits.shares[list(node[0] + node[1])].sum()
            costs.append(NodeCost(left, right, float(share), *mean_and_error(row, weights)))
        return ScoredTree(from_pairs(pairs, self.labels, self.names), tuple(costs),
                          *mean_and_error(losses.sum(axis=0), weights), self.asked(pairs))

    def best(self, keep: int = 1, balance: float = 0.0, **options) -> list[Found]:
        """The best trees that are known, as `TreeSpace.best` finds them."""
        return self.space.best(keep, balance=balance * self.points,
                               depth=self.search.max_depth, **options)

    def different(self, count: int, balance: float = 0.0) -> list:
        """Trees, nested pairs, that differ as members of an ensemble should: `count` or fewer.

        Each is the best for some of the points: for each group of them, then for two and three
        groups that are drawn, and then the next best for all.
        """
        generator = np.random.Generator(np.random.PCG64(self.seed))
        weights = list(np.eye(GROUPS))
        weights += [generator.permutation(np.arange(GROUPS) < size).astype(float)
                    for size in (2, 3) for _ in range(5 * count)]
        found: dict = {}
        for groups in weights:
            if len(found) == count:
                break
            found[oriented(self.best(balance=balance, groups=groups * GROUPS / groups.sum())
                           [0].pairs)] = None
        else:
            found.update((oriented(one.pairs), None) for one in self.best(2 * count, balance))
        return list(found)[:count]

    def apart(self, balance: float = 0.0) -> tuple[float, float]:
        """The mean loss of each group of the points in the tree that the other groups choose, and
        its standard error."""
        others = (1.0 - np.eye(GROUPS)) * GROUPS / (GROUPS - 1)
        return self.judged([self.best(balance=balance, groups=weights)[0].pairs
                            for weights in others])

    def judged(self, trees: Sequence) -> tuple[float, float]:
        """The mean loss of each group of the points in the tree of that group, nested pairs, and
        its standard error."""
        nodes = sorted({node for pairs in trees for node in nodes_of(pairs)})
        losses = dict(zip(nodes, self.splits.point_losses(nodes)))
        groups = self.splits.point_groups
        of_points = np.zeros(len(groups))
        for group, pairs in enumerate(trees):
            own = groups == group
            of_points[own] = sum(losses[node][own] for node in nodes_of(pairs))
        return mean_and_error(of_points, self.splits.point_weights)


def _depth(pairs):
    """The depth of nested pairs: of a level tree, which is not deep."""
    return 1 + max(map(_depth, pairs)) if isinstance(pairs, tuple) else 0


def search_tree(costs: TreeCosts, progress: Callable | None = None) -> TreeSearchResult:
    """The best tree of a `TreeCosts` that the limits of its search let it know,
    as `TreeSearchResult`."""
    space, search = costs.space, costs.search

    def tell(share):
        if progress is not None:
            progress(round(1000 * share), 1000, f"{space.splits} splits of classes")

    balance = search.balance
    space.search(search.splits, costs.seed, depth=search.max_depth, progress=tell,
                 balance=0.0 if balance == "auto" else float(balance) * costs.points)
    if balance == "auto":
        balance = _balance_within_error(costs)
    best = costs.scored(costs.best(balance=balance)[0].pairs)
    return TreeSearchResult(best, *costs.apart(balance), costs, space.exact, float(balance))


def _balance_within_error(costs):
    """The weight of the classifiers asked whose best tree asks the fewest, and yet has a loss
    within one standard error of the difference to the least."""
    first = costs.best()[0].pairs
    against, weights = costs.point_losses(first), costs.splits.point_weights
    chosen, fewest, tried = 0.0, costs.asked(first), {first}
    for weight in _WEIGHTS:
        pairs = costs.best(balance=weight)[0].pairs
        if pairs in tried:
            continue
        tried.add(pairs)
        difference, error = mean_and_error(costs.point_losses(pairs) - against, weights)
        if difference > error:
            break
        if costs.asked(pairs) < fewest:
            chosen, fewest = weight, costs.asked(pairs)
    return chosen


def best_tree(points: LabelledPoints, *, search: TreeSearch | None = None, options: str = "",
              seed: int = 1, workers: int = 1, progress: Callable | None = None,
              kept=None) -> TreeSearchResult:
    """The best tree for labelled points, by classifiers with the kernel of training options."""
    search = search or TreeSearch()
    if search.machine is None:
        search = replace(search, machine=machine_options(options))
    return search_tree(TreeCosts(points, search, seed, workers, kept), progress)
