"""Orders of classes: along the shortest path, for adjacent codes; and for decision graphs (DDAG).

An adjacent code separates the first i classes of an order from the others.  It suits data best
where neighbours in the order are close: the order is the shortest path through all classes.

A decision directed acyclic graph (DDAG; Platt, Cristianini and Shawe-Taylor, "Large margin DAGs
for multiclass classification", 2000) keeps a list of classes; the classifier of its first and last
class decides which of the two is dropped, until one is left.  The order of the list is that in
which it is right most often: Pavan Kumar and Jawahar, "On improving the design of multiclass
classifiers", with the recursion carried out for each class by itself: the output is right with
probability V_t for class t, and J = sum_t P_t V_t with the priors P_t.

Both are the best of all orders for few classes; for more they are looked for by local search.

Shapes: k classes, b orders, c moves.  An order is a sequence of the classes 0..k-1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

import numpy as np

from ..control.build import from_rows
from ..control.tree import changed, Leaf, Tree
from ..core.errors import ControlError, DataError, UsageError, warn_user
from .distances import class_distances
from .standard import adjacent

_EXACT = 8  # classes, whose 20,160 orders take a few tenths of a second
_SWAP, _INSERT, _REVERSE = range(3)  # moves


def ordered_adjacent(distances: np.ndarray) -> Tree:
    """The adjacent code along the shortest path, a `Tree` whose labels are the positions 0..k-1."""
    order = shortest_path(distances)[0]
    return from_rows(adjacent(len(order)), order)


def shortest_path(distances: np.ndarray) -> tuple[list[int], float, bool]:
    """(order, length, exact): the shortest path that visits every class once, first < last.

    distances (k, k), symmetric; infinite ones are avoided as far as possible.  `exact` is as for
    `best_order`.
    """
    distances = np.asarray(distances, dtype=np.float64)
    if np.isnan(distances).any():
        raise DataError("a distance between classes is not a number")
    problem = PathProblem(_finite(distances))
    order, exact = best_order(problem, [_nearest_neighbours(problem.distances)], 1)
    return order, path_length(distances, order), exact


def path_length(distances: np.ndarray, order: Sequence[int]) -> float:
    """The sum of the distances between neighbours."""
    distances = np.asarray(distances, dtype=np.float64)
    return float(sum(distances[i, j] for i, j in zip(order[:-1], order[1:])))


def _finite(distances):
    """Distances in which one that was infinite is longer than any path without."""
    far = np.isinf(distances)
    if not far.any():
        return distances
    longest = distances[~far].max(initial=0.0)
    return np.where(far, longest * len(distances) + 1.0, distances)


def _nearest_neighbours(distances):
    """The shortest of the paths, one from each class, that go to the nearest class next."""
    k = len(distances)
    starts = np.arange(k)
    orders = np.empty((k, k), dtype=np.intp)
    orders[:, 0] = starts
    visited = np.eye(k, dtype=bool)
    for place in range(1, k):
        near = np.where(visited, np.inf, distances[orders[:, place - 1]])
        orders[:, place] = np.argmin(near, axis=1)
        visited[starts, orders[:, place]] = True
    return orders[np.argmax(PathProblem(distances).values(orders))]


def success(orders: np.ndarray, keep: np.ndarray, h: np.ndarray | None = None) -> np.ndarray:
    """Probability (b, k) that the class at each position of each order is the answer.

    `orders` (b, k) are classes, keep[t, i] = P(classifier {t, i} is right | t), (k, k), and h[t, i,
    j] = P(classifier {i, j} sends class t to i), (k, k, k), or None for 1/2.

    For truth t and what is left of the list from position a to b, V_t(a, b) is keep[t, o_b] V_t(a,
    b-1) with t at the left end, keep[t, o_a] V_t(a+1, b) with t at the right end, and h V_t(a, b-1)
    + (1-h) V_t(a+1, b) with t inside; 1 for t alone.
    """
    if h is None:
        return _by_walks(orders, keep)
    return _by_intervals(orders, keep, h)


def _by_intervals(orders, keep, h):
    """The recursion for all classes of an interval together, by length of the interval."""
    b, k = orders.shape
    flat = h.ravel()
    value = np.ones((b, k, 1))  # order, first position, offset of the class
    for length in range(2, k + 1):
        n = k - length + 1
        first = orders[:, :n]
        last = orders[:, length - 1 :]
        longer = np.empty((b, n, length))
        longer[..., 0] = keep[first, last] * value[:, :n, 0]
        longer[..., -1] = keep[last, first] * value[:, 1:, -1]
        if length > 2:
            inside = orders[:, np.arange(n)[:, None] + np.arange(1, length - 1)]
            share = flat[inside * (k * k) + (first * k + last)[:, :, None]]
            drop_first = value[:, 1:, :-1]
            share *= value[:, :n, 1:] - drop_first
            np.add(share, drop_first, out=longer[..., 1:-1])
        value = longer
    return value[:, 0]


def _by_walks(orders, keep):
    """`_by_intervals` for h = 1/2, O(k^2) per order, by ends that move inward at random.

    The walk goes until the class is at one end, from where on the product of `keep` counts.
    """
    k = orders.shape[1]
    if k == 1:
        return np.ones(orders.shape)
    ahead, weights = _walks(k)
    pairs = keep[orders[:, :, None], orders[:, None, :]]
    runs = np.where(ahead, pairs, 1.0)
    np.cumprod(runs, axis=2, out=runs)
    result = np.einsum("bpx,px->bp", runs, np.where(ahead, weights, 0.0))
    behind = ahead.T
    runs = np.where(behind, pairs, 1.0)[:, :, ::-1]
    np.cumprod(runs, axis=2, out=runs)
    result += np.einsum("bpx,px->bp", runs, np.where(behind, weights, 0.0)[:, ::-1])
    return result


@lru_cache(maxsize=8)
def _walks(k):
    """(ahead (k, k), weights (k, k)): x > p, and P(position p comes to one end while x is at the
    other): C(u + c, u) / 2^(u + c + 1) after u drops on its side but one and c on the other."""
    weights = np.zeros((k, k))
    paths = np.ones(1)  # entry u: P(u of the first n drops are on the left)
    for n in range(k - 2):
        u = np.arange(n + 1)
        left = u + 1
        right = k - 1 - (n - u)
        fits = left < right
        weights[left[fits], right[fits]] = paths[fits] / 2
        weights[k - 1 - left[fits], k - 1 - right[fits]] = paths[fits] / 2
        paths = (np.append(paths, 0.0) + np.append(0.0, paths)) / 2
    weights[0, k - 1] = weights[k - 1, 0] = 1.0
    return np.arange(k)[None, :] > np.arange(k)[:, None], weights


_BLOCK = 1 << 19  # numbers in one block of candidates
_BETTER = 1e-13
_RESTARTS = 40
_RESTART_WORK = 4 * 10**8  # about 15 seconds
_WORK = 10**10  # about 5 minutes


class Problem:
    """J = sum_t P_t V_t of orders, V_t the probability that the answer is t where t is true.

    `priors` are (k,); e[i, j] = P(the classifier of {i, j} errs on class i), (k, k); h[t, i, j] = 1
    - h[t, j, i] = share of class t that the classifier of {i, j} sends to i, (k, k, k), or None for
    1/2. `work` grows with the time that values() takes, and does not depend on the machine.
    """

    moves = (_SWAP, _INSERT)

    def __init__(self, priors, e, h=None):
        self.priors = np.asarray(priors, dtype=np.float64)
        self.keep = 1.0 - np.asarray(e, dtype=np.float64)
        self.h = h
        self.k = len(self.priors)
        self.work = 0
        self.cost = self.k**2
        if h is not None:
            self.h = np.ascontiguousarray(h, dtype=np.float64)
            self.cost = self.k**3 // 16 + 1

    def values(self, orders):
        """J (c,) of orders (c, k), in bounded memory."""
        step = max(1, _BLOCK // self.k**2)
        result = np.empty(len(orders))
        for a in range(0, len(orders), step):
            part = orders[a : a + step]
            right = success(part, self.keep, self.h)
            result[a : a + step] = np.einsum("ck,ck->c", right, self.priors[part])
        self.work += len(orders) * self.cost
        return result


class PathProblem:
    """Minus the length of the path along orders, by distances (k, k), as of a `Problem`.

    Without reversals the paths that are found are some percent longer.
    """

    moves = (_INSERT, _REVERSE)

    def __init__(self, distances):
        self.distances = distances
        self.k = len(distances)
        self.work = 0

    def values(self, orders):
        """Minus the length (c,) of orders (c, k)."""
        self.work += orders.size
        return -self.distances[orders[:, :-1], orders[:, 1:]].sum(axis=1)


def best_order(
    problem: Problem | PathProblem, starts: Sequence, seed: int
) -> tuple[list[int], bool]:
    """(order, exact): the best of all orders for 8 classes or fewer, else of a `local_search`.

    An order and its reverse are the same: the first class is the lower one of the two ends.
    """
    exact = problem.k <= _EXACT
    if exact:
        orders = np.array([o for o in permutations(range(problem.k)) if o[0] <= o[-1]])
        values = problem.values(orders)
        order = orders[np.argmax(values >= values.max() - _BETTER)]  # whatever the rounding
    else:
        order, _ = local_search(problem, starts, seed)
    if order[0] > order[-1]:
        order = order[::-1]
    return order.tolist(), exact


def local_search(
    problem: Problem | PathProblem, starts: Sequence, seed: int
) -> tuple[np.ndarray, float]:
    """(order (k,), J): the best local optimum of the moves of a problem.

    It climbs from each of `starts`, then from random orders and shaken best ones in turn; no
    restart begins with more `work` than `_RESTART_WORK`, and the search ends at `_WORK`.
    """
    rng = np.random.default_rng(seed)
    best = None
    value = -np.inf
    for n in range(-len(starts), _RESTARTS):
        if n < 0:
            start = np.asarray(starts[n])
        elif problem.work > _RESTART_WORK:
            break
        else:
            if n % 2:
                start = _shaken(best, rng)
            else:
                start = rng.permutation(problem.k)
        order, reached = _climb(problem, start, rng)
        if reached > value + _BETTER:
            best, value = order, reached
    return best, value


def pairs_training_share(k: int) -> float:
    """Training time of all pairs of k classes of equal size, as a share of that of one-vs-rest.

    c k(k-1)/2 (2m/k)^2 over c k m^2, if a classifier of m samples takes c m^2.

    References
    ----------
    Platt, Cristianini and Shawe-Taylor, 2000, equations 1 and 2; the power is about 2 for SVMs.
    """
    return (k - 1) / 2 * (2 / k) ** 2


def _shaken(order, rng):
    chosen = rng.choice(len(order), size=min(len(order), max(4, len(order) // 3)), replace=False)
    order = order.copy()
    order[chosen] = order[rng.permutation(chosen)]
    return order


def _climb(problem, order, rng):
    """The local optimum above `order`: steepest ascent, over blocks of the moves in turn."""
    k = problem.k
    value = problem.values(order[None])[0]
    moves = _moves(k, problem.moves)
    step = max(1, _BLOCK // k**2)
    if len(moves) > step:
        moves = moves[rng.permutation(len(moves))]
    blocks = [moves[a : a + step] for a in range(0, len(moves), step)]
    idle, at = 0, 0
    while idle < len(blocks) and problem.work <= _WORK:
        candidates = order[_sources(k, blocks[at])]
        values = problem.values(candidates)
        top = int(np.argmax(values))
        if values[top] > value + _BETTER:
            order = candidates[top]
            value = values[top]
            idle = 0
        else:
            idle, at = idle + 1, (at + 1) % len(blocks)
    return order, value


def _moves(k, kinds):
    """(c, 3): kind, i, j: swaps of i < j, insertions of i at j, two or more away, reversals of i
    to j."""
    i, j = np.divmod(np.arange(k * k), k)
    chosen = {_SWAP: i < j, _INSERT: np.abs(i - j) > 1, _REVERSE: i < j}
    parts = []
    for kind in kinds:
        first = i[chosen[kind]]
        second = j[chosen[kind]]
        parts.append(np.stack([np.full(len(first), kind), first, second], axis=1))
    return np.concatenate(parts)


def _sources(k, moves):
    """(c, k): the position that each position is filled from, for each move."""
    kind, i, j = (column[:, None] for column in moves.T)
    to = np.arange(k)[None]
    result = to + ((to >= i) & (to < j)) - ((to > j) & (to <= i))
    result = np.where(kind == _SWAP, np.where(to == i, j, to), result)
    result = np.where(to == j, i, result)
    return np.where((kind == _REVERSE) & (to >= i) & (to <= j), i + j - to, result)


def greedy_order(priors: Sequence[float]) -> list[int]:
    """The best order where all classifiers err alike: rare classes outside, frequent inside."""
    ranked = sorted(range(len(priors)), key=lambda t: (priors[t], t))
    return ranked[0::2] + ranked[1::2][::-1]


class Ordered(NamedTuple):
    """A control tree with its classes in a better order, computed by `method`.

    `before` and `after` are the expected accuracy, or the length of the path, in both orders.
    """

    tree: Tree
    method: str
    before: float
    after: float


def order_for_pairs(tree, *, error_rate, priors=None, counts=None, pair_errors=None, seed=1):
    """The order of a control tree, `require_one_vs_one`, in which a DDAG is right most often.

    Only the braces and the positions change: each classifier keeps its name or options and the
    classes on its sides, so nothing is trained again.

    Parameters
    ----------
    error_rate : float
        Error of every classifier where there are no `pair_errors`; the best order then follows from
        the priors alone.
    priors : array (k,), optional, one number for each class, ascending labels, made to sum to 1
    counts : dict, optional
        {label: samples, or sum of their weights} in place of `priors`. Without both, the samples in
        `pair_errors`, else equal ones.
    pair_errors : PairErrors, optional, the order is then that of `best_order`, which starts from
        the greedy, the natural and the present order, and from `seed`

    Raises
    ------
    DataError : for a pair whose errors are unknown
    """
    labels = tree.classes
    present = np.array([labels.index(label) for label in tree.labels])
    priors = _priors(labels, priors, counts, pair_errors)
    order = greedy_order(priors.tolist())
    method = "greedy, best for equal errors"
    if pair_errors is None:
        problem = Problem(priors, np.full((len(labels),) * 2, error_rate))
    else:
        problem = Problem(priors, pair_errors.error_rates(labels), pair_errors.shares(labels))
        order, exact = best_order(problem, [order, np.arange(len(labels)), present], seed)
        if exact:
            method = "optimal, all orders were tried"
        else:
            method = "local search"
    before, after = problem.values(np.array([present, order])).tolist()
    return Ordered(_renumbered(tree, [labels[i] for i in order]), method, before, after)


def order_for_path(tree, x, y, metric="mean-deviation", weights=None):
    """The order of a tree, `require_untrained_matrix`, along the shortest path through classes.

    The labels in the braces change places, the partitions stay as they are.

    Parameters
    ----------
    x, y : array (n, d) and (n,), points and their labels
    metric : str, as of `class_distances`
    """
    labels = tree.classes
    distances = class_distances(x, y, labels, metric, w=None if weights is None else weights.w)
    order, after, exact = shortest_path(distances)
    before = path_length(distances, [labels.index(label) for label in tree.labels])
    node = changed(tree.nodes[0], children=tuple(Leaf(labels[i]) for i in order))
    if exact:
        method = "the shortest path there is"
    else:
        method = "local search"
    return Ordered(changed(tree, nodes=(node,)), method, before, after)


def require_one_vs_one(tree):
    """`ControlError` unless `tree` is a coding matrix with one row for each pair of classes."""
    _require_matrix(tree)
    seen = {}
    for row, (left, right) in zip(tree.rows, tree.sides()):
        if len(left) != 1 or len(right) != 1:
            raise tree.place(row).error(
                ControlError,
                "expected one class on each side (one against one), found "
                f"{len(left)} and {len(right)}",
            )
        pair = tuple(sorted(left + right))
        if pair in seen:
            raise tree.place(row).error(
                ControlError,
                f"classes {pair[0]} and {pair[1]} are separated on line {seen[pair]} already",
            )
        seen[pair] = row.line
    k = len(tree.labels)
    if len(seen) < k * (k - 1) // 2:
        i, j = next(
            (i, j) for i in tree.classes for j in tree.classes if i < j and (i, j) not in seen
        )
        raise ControlError(
            f"no classifier separates classes {i} and {j}: expected one for each pair of classes",
            file=tree.source,
        )


def require_untrained_matrix(tree):
    """`ControlError` unless `tree` is a coding matrix that is not trained yet."""
    _require_matrix(tree)
    tree.require_options()


def _require_matrix(tree):
    node = tree.nodes[0]
    if tree.hierarchical or node.direct is not None:
        if tree.is_ensemble:
            what = "an ensemble"
        elif node.direct:
            what = f"a classifier of code {node.direct.learner_letter}"
        else:
            what = "a tree"
        raise ControlError(f"expected one coding matrix, found {what}", file=tree.source)


def _priors(labels, priors, counts, pair_errors):
    k = len(labels)
    if priors is not None:
        if len(priors) != k:
            raise UsageError(f"expected {k} priors, one for each class, found {len(priors)}")
        if min(priors) < 0 or not 0 < sum(priors) < math.inf:
            raise UsageError(
                "expected priors that are not negative, nor all 0, and a sum that is finite"
            )
        if abs(sum(priors) - 1) > 1e-6:
            warn_user(f"the priors sum to {sum(priors):g}: they are divided by that")
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
    position = {label: i for i, label in enumerate(labels)}
    moved = [position[child.label] for child in node.children]
    rows = tuple(
        changed(
            row, left=tuple(moved[i] for i in row.left), right=tuple(moved[i] for i in row.right)
        )
        for row in node.rows
    )
    return changed(
        tree, nodes=(changed(node, rows=rows, children=tuple(Leaf(label) for label in labels)),)
    )
