"""Search for the decision tree that suits data best, by costs of splits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..control.build import from_pairs
from ..control.tree import Leaf, Tree
from ..core.errors import DataError, UsageError
from ..core.memory import refuse_beyond
from ..landmarks.learner import NystromOptions
from ..learners.options import KernelLearner
from ..learners.protocol import parse_options
from .best_tree import fewest_splits, nodes_of, oriented, RankedTree, TreeSpace
from .design import LabelledPoints, sides_text
from .split_costs import GROUPS, LEFT_OUT, SplitCosts, TreeSearch

_BYTES = 210  # for each split that is known
_WEIGHTS = tuple(2.0**power for power in range(-14, 3))  # of evaluated classifiers, to be tried


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
    """A tree, also as nested pairs of class positions, with the costs of its nodes, in pre-order,
    its leave-one-out loss a point with the standard error, and the mean number of classifiers
    evaluated."""

    tree: Tree
    pairs: object
    nodes: tuple[NodeCost, ...]
    loss: float
    error: float
    queries: float


@dataclass(frozen=True)
class TreeSearchResult:
    """The result of `best_tree`.

    Attributes
    ----------
    holdout, holdout_error : its loss a point, and the standard error of that, where each tenth of
        the points judges the tree that the other nine choose, which a search that fits noise has
        larger than that of `best`
    exact : no tree is better
    balance : weight of the classifiers evaluated
    drawn : words about the trees where they were random ones
    """

    best: ScoredTree
    holdout: float
    holdout_error: float
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
        best = self.best
        *lines, judged = self._search_notes()
        return [
            *lines,
            f"{len(best.nodes)} classifiers, of which {best.queries:.2f} are evaluated "
            "for a point on average",
            judged,
            "   loss +- std.error    share of points: node",
            *(
                f"{node.loss:7.4f} {node.error:8.4f} {node.share:12.4f}  "
                + sides_text(node.left, node.right, best.tree.names)
                for node in best.nodes
            ),
        ]

    def member_notes(self, members: Sequence[ScoredTree]) -> list[str]:
        """Lines about the search and the trees of an ensemble that it chose."""
        return [
            *self._search_notes(),
            "   loss +- std.error    evaluated: member",
            *(
                f"{one.loss:7.4f} {one.error:8.4f} {one.queries:12.2f}  {in_brackets(one.tree)}"
                for one in members
            ),
        ]

    def _search_notes(self):
        best, space = self.best, self.costs.space
        trees = f"{space.all_trees:,} trees"
        lines = [
            f"{'random' if self.drawn else 'best'}-tree: leave-one-out "
            f"{self.costs.search.loss.title} {best.loss:.4f} +- {best.error:.4f} a point; "
            "on points that did not choose it "
            f"{self.holdout:.4f} +- {self.holdout_error:.4f}"
        ]
        if self.exact:
            lines.append(f"exact: the least of all {trees}, from {space.splits:,} splits")
        elif self.drawn:
            lines.append(f"the best of {self.drawn}, among {trees}; {space.splits:,} splits")
        else:
            lines.append(
                f"not exact: {space.splits:,} of {space.all_splits:,} splits were tried, "
                f"by a local search among {trees}; how much better the best of all is, is "
                "not known"
            )
        if self.balance:
            lines.append(f"balance: {self.balance:g} for each classifier that a point needs")
        return [*lines, f"evaluated by {self.costs.splits.options.canonical()}"]


def in_brackets(tree: Tree) -> str:
    """A decision tree as labels in round brackets, on one line."""
    texts: list = [None] * len(tree.nodes)
    for number in range(len(tree.nodes) - 1, -1, -1):
        texts[number] = (
            "("
            + " ".join(
                str(child.label) if isinstance(child, Leaf) else texts[child]
                for child in tree.nodes[number].children
            )
            + ")"
        )
    return texts[0]


def machine_options(text: str, left_out: int = LEFT_OUT) -> NystromOptions:
    """The options of classifiers that splits are judged by, from training options.

    Those of learner=nystrom themselves; of a learner with a kernel whose parameters are given, this
    kernel; of any other the default. Sides have no weights here. `left_out` is the number of points
    at most.
    """
    options = parse_options(text)
    if isinstance(options, NystromOptions):
        return replace(
            options,
            weights=(),
            left_out=(options.left_out if "--loo" in text.split() else left_out),
        )
    if (
        isinstance(options, KernelLearner)
        and (options.kernel != "rbf" or options.gamma is not None)
        and options.kernel != "sigmoid"
    ):
        return NystromOptions(
            kernel=options.kernel,
            degree=options.degree,
            gamma=options.gamma,
            coef0=options.coef0,
            left_out=left_out,
        )
    return NystromOptions(left_out=left_out)


class TreeCosts:
    """Costs of trees over the classes of `LabelledPoints`: a `TreeSpace` and its `SplitCosts`.

    `store` has `costs`, as `experiments.caches.CostStore`, or is None. Raises `UsageError` for
    fewer splits than a search takes, and `DataError` as `SplitCosts` does.
    """

    def __init__(
        self,
        points: LabelledPoints,
        search: TreeSearch = TreeSearch(),
        seed: int = 1,
        workers: int = 1,
        store=None,
    ):
        labels, self.names, self._store = points.labels, points.names, store
        k = len(labels)
        if k < 3:
            raise DataError(f"{k} classes have one tree: a search needs three or more")
        self.labels, self.search, self.seed = list(labels), search, seed
        classes = points.positions()
        w = None if points.weights is None else points.weights.w
        counts = np.bincount(classes, weights=w)
        self.space = TreeSpace(
            k, self._costs, counts / (len(classes) if w is None else counts.sum())
        )
        tried = min(search.splits, self.space.all_splits)
        refuse_beyond(_BYTES * tried + 32 * min(tried, 2**k), f"a search of {tried} splits", None)
        fewest = fewest_splits(k)
        if search.splits < fewest:
            raise UsageError(
                f"a search for a tree of {k} classes needs --splits {fewest} or more, "
                f"found {search.splits}"
            )
        self.splits = SplitCosts(points.x, classes, search.machine, seed, workers, w, points.groups)
        self.splits.loss = search.loss

    def _costs(self, requests):
        if self._store is None:
            return self.splits(requests)
        loss = self.search.loss
        return self._store.costs(
            (self.splits.options, self.seed, loss.name, loss.costs), requests, self.splits
        )

    @property
    def points(self) -> float:
        """The number of points, or the sum of their weights, those not left out among them."""
        return float(self.splits.counts.sum())

    def loss_of(self, pairs) -> float:
        """The mean loss of the points in a tree, nested pairs of class positions."""
        return float(self.space.cost_of(pairs).sum()) / self.points

    def queries(self, pairs) -> float:
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
        losses = self.splits.point_losses(nodes)
        costs = []
        for node, row in zip(nodes, losses):
            left, right = (tuple(self.labels[c] for c in side) for side in node)
            share = self.splits.shares[list(node[0] + node[1])].sum()
            costs.append(NodeCost(left, right, float(share), *self.splits.mean_and_error(row)))
        return ScoredTree(
            from_pairs(pairs, self.labels, self.names),
            pairs,
            tuple(costs),
            *self.splits.mean_and_error(losses.sum(axis=0)),
            self.queries(pairs),
        )

    def best(
        self, keep: int = 1, balance: float = 0.0, groups: np.ndarray | None = None
    ) -> list[RankedTree]:
        """The best trees that are known, as `TreeSpace.best` finds them."""
        return self.space.best(keep, balance=balance * self.points, groups=groups)

    def different(self, count: int, balance: float = 0.0) -> list:
        """Trees, nested pairs, that differ as members of an ensemble should: `count` or fewer.

        Each is the best for some of the points: for each group of them, then for two and three
        groups that are drawn, and then the next best for all.
        """
        generator = np.random.Generator(np.random.PCG64(self.seed))
        weights = list(np.eye(GROUPS)[np.unique(self.splits.point_groups)])
        weights += [
            generator.permutation(np.arange(GROUPS) < size).astype(float)
            for size in (2, 3)
            for _ in range(5 * count)
        ]
        trees: dict = {}
        for groups in weights:
            if len(trees) == count:
                break
            trees[
                oriented(self.best(balance=balance, groups=groups * GROUPS / groups.sum())[0].pairs)
            ] = None
        else:
            trees.update((oriented(one.pairs), None) for one in self.best(2 * count, balance))
        return list(trees)[:count]

    def holdout(self, balance: float = 0.0) -> tuple[float, float]:
        """The mean loss of each group of the points in the tree that the other groups choose, and
        its standard error."""
        others = (1.0 - np.eye(GROUPS)) * GROUPS / (GROUPS - 1)
        return self.holdout_loss(
            [self.best(balance=balance, groups=groups)[0].pairs for groups in others]
        )

    def holdout_loss(self, trees: Sequence) -> tuple[float, float]:
        """The mean loss of each group of the points in the tree of that group, nested pairs, and
        its standard error."""
        nodes = sorted({node for pairs in trees for node in nodes_of(pairs)})
        losses = dict(zip(nodes, self.splits.point_losses(nodes)))
        groups = self.splits.point_groups
        of_points = np.zeros(len(groups))
        for group, pairs in enumerate(trees):
            in_group = groups == group
            of_points[in_group] = sum(losses[node][in_group] for node in nodes_of(pairs))
        return self.splits.mean_and_error(of_points)


def best_tree(
    points: LabelledPoints,
    *,
    search: TreeSearch | None = None,
    options: str = "",
    seed: int = 1,
    workers: int = 1,
    progress: Callable | None = None,
    store=None,
) -> TreeSearchResult:
    """The best tree for labelled points that the budget of its search allows.

    `options` are training options, whose kernel the classifiers of the search have; `store` stores
    the costs of splits.
    """
    search = search or TreeSearch()
    if search.machine is None:
        search = replace(search, machine=machine_options(options))
    costs = TreeCosts(points, search, seed, workers, store)
    space, balance = costs.space, search.balance

    def report(share):
        if progress is not None:
            progress(round(1000 * share), 1000, f"{space.splits} splits of classes")

    space.search(
        search.splits,
        seed,
        progress=report,
        balance=0.0 if balance == "auto" else float(balance) * costs.points,
    )
    balance = _balance_within_error(costs) if balance == "auto" else float(balance)
    best = costs.scored(costs.best(balance=balance)[0].pairs)
    return TreeSearchResult(best, *costs.holdout(balance), costs, space.exact, balance)


def _balance_within_error(costs):
    """The weight of the queries whose best tree has the fewest, and yet has a loss
    within one standard error of the difference to the least."""
    first = costs.best()[0].pairs
    against = costs.point_losses(first)
    chosen, fewest, tried = 0.0, costs.queries(first), {first}
    for weight in _WEIGHTS:
        pairs = costs.best(balance=weight)[0].pairs
        if pairs in tried:
            continue
        tried.add(pairs)
        difference, error = costs.splits.mean_and_error(costs.point_losses(pairs) - against)
        if difference > error:
            break
        if costs.queries(pairs) < fewest:
            chosen, fewest = weight, costs.queries(pairs)
    return chosen
