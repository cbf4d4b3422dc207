"""Branch and bound for the order of classes of a DDAG, from the outside in.

Shapes: k classes, b nodes, c classes of each node.  A node is an order whose d
first and d last positions are decided; the m classes between them stand in any order.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations

import numpy as np

__all__ = ["branch_and_bound", "upper_bounds"]

_NODES = 1024  # expanded at a time
_BOUNDS = 8192  # computed at a time
_LEAF = 4  # as many undecided classes are tried in all orders
_EPSILON = 1e-12


def branch_and_bound(problem, order, value):
    """(order (k,), J): the best order there is, to 1e-12 in J.

    problem: `dagsearch.Problem`;  order, value: a good order and its J, kept where
    nothing is better.  Of an order and its reverse, which are worth the same, one
    is looked at.
    """
    k = problem.k
    pending = [(0, np.arange(k)[None], np.full(1, np.inf))]
    while pending:
        d, orders, bounds = pending.pop()
        orders = orders[bounds > value + _EPSILON]
        if len(orders) == 0:
            continue
        if k - 2 * d <= _LEAF:
            orders = _expanded(orders, d, _all_orders(k - 2 * d))
            values = problem.values(orders)
            top = int(np.argmax(values))
            if values[top] > value + _EPSILON:
                order, value = orders[top], values[top]
            continue
        orders = _expanded(orders, d, _outer_pairs(k - 2 * d, d == 0))
        bounds = np.concatenate([upper_bounds(problem, orders[a:a + _BOUNDS], d + 1)
                                 for a in range(0, len(orders), _BOUNDS)])
        ranked = np.argsort(-bounds, kind="stable")
        ranked = ranked[:np.count_nonzero(bounds > value + _EPSILON)]
        for a in reversed(range(0, len(ranked), _NODES)):
            part = ranked[a:a + _NODES]
            pending.append((d + 1, orders[part], bounds[part]))
    return order, value


def _expanded(orders, d, inner):
    """Each order with each of the rearrangements `inner` (c, m) of its middle."""
    k = orders.shape[1]
    result = np.repeat(orders, len(inner), axis=0)
    result[:, d:k - d] = orders[:, d:k - d][:, inner].reshape(-1, k - 2 * d)
    return result


@lru_cache(maxsize=32)
def _all_orders(m):
    return np.array(list(permutations(range(m))), dtype=np.intp).reshape(-1, m)


@lru_cache(maxsize=32)
def _outer_pairs(m, one_way):
    """(c, m): each pair of classes on the outside, the others between them as they stand."""
    return np.array([(x, *(z for z in range(m) if z not in (x, y)), y)
                     for x in range(m) for y in range(m) if x < y or (x > y and not one_way)])


# Bounds

def upper_bounds(problem, orders, d):
    """(b,) numbers that J cannot exceed however the middle of each order is arranged.

    Each class gets the classifiers of the middle in the order that suits it best;
    then the classes of the middle get the positions by the best assignment.
    """
    k = problem.k
    middle = orders[:, d:k - d]
    grid = _Grid(problem, orders, d)
    total = np.zeros(len(orders))
    for p in (*range(d), *range(k - d, k)):
        t = orders[:, p:p + 1]
        total += problem.priors[t[:, 0]] * grid.at(p, t, _best_runs(problem.keep, t, middle))[:, 0]
    runs = _best_runs(problem.keep, middle, middle)
    worth = np.stack([problem.priors[middle] * grid.at(p, middle, runs)
                      for p in range(d, k - d)], axis=2)
    return total + _best_assignments(worth)


def _best_runs(keep, t, middle):
    """(m + 1, b, c): the largest product of n of keep[t, .] over the middle without t."""
    products = keep[t[:, :, None], middle[:, None, :]]
    products[t[:, :, None] == middle[:, None, :]] = 0.0  # comes last, and is never asked for
    products = np.cumprod(-np.sort(-products, axis=2), axis=2)
    return np.concatenate([np.ones((1, *t.shape)), np.moveaxis(products, 2, 0)])


class _Grid:
    """Bounds of V_t for classes at given positions of partly decided orders."""

    def __init__(self, problem, orders, d):
        self.keep, self.h, self.k = problem.keep, problem.h, problem.k
        self.orders, self.d = orders, d
        if self.h is not None:
            self.most = _largest(self.h)

    def at(self, p, t, runs):
        """(b, c): no V of the whole list is larger for class t (b, c) at position p.

        runs: `_best_runs` of t.
        """
        k = self.k
        row = self._run(t, runs, range(p + 1, k))  # [b - p - 1]: t is the left end
        for a, right_end in zip(range(p - 1, -1, -1), self._run(t, runs, range(p - 1, -1, -1))):
            above, row = row, []
            before = right_end
            for b, shorter in zip(range(p + 1, k), above):
                before = self._mixed(t, a, b, before, shorter)
                row.append(before)
            last = right_end
        if p == k - 1:
            return last
        return row[-1]

    def _run(self, t, runs, places):
        """Products of `keep` over more and more of the places, at best."""
        result, product, free = [], 1.0, 0
        for x in places:
            if self._known(x):
                product = product * self.keep[t, self.orders[:, x:x + 1]]
            else:
                free += 1
            result.append(product * runs[free])
        return result

    def _known(self, x):
        return x < self.d or x >= self.k - self.d

    def _mixed(self, t, a, b, drop_last, drop_first):
        """The larger of h drop_last + (1 - h) drop_first over all h that are possible."""
        if self.h is None:
            return 0.5 * (drop_last + drop_first)
        first, last = self.orders[:, a:a + 1], self.orders[:, b:b + 1]
        gain = drop_last - drop_first
        if self._known(a) and self._known(b):
            return drop_first + self.h[t, first, last] * gain
        if self._known(a):
            low, high = 1.0 - self.most[1][t, first], self.most[0][t, first]
        elif self._known(b):
            low, high = 1.0 - self.most[0][t, last], self.most[1][t, last]
        else:
            high = self.most[2][t]
            low = 1.0 - high
        return drop_first + np.maximum(low * gain, high * gain)


def _largest(h):
    """Largest h[t, i, .] (k, k), largest 1 - h[t, i, .] (k, k), largest h[t, ., .] (k,)."""
    k = len(h)
    t, i, j = np.ogrid[:k, :k, :k]
    real = (t != i) & (t != j) & (i != j)
    high = np.where(real, h, 0.0).max(axis=2)
    low = np.where(real, 1.0 - h, 0.0).max(axis=2)
    return high, low, np.maximum(high, low).max(axis=1)


def _best_assignments(worth):
    """(b,) the largest sum of worth[t, p(t)] over all assignments p, worth (b, m, m).

    By subsets of classes: the n first positions are filled by n classes.
    """
    m = worth.shape[1]
    best = np.zeros((len(worth), 1 << m))
    for n, (masks, members) in enumerate(_subsets(m)):
        sums = best[:, masks[:, None] ^ (1 << members)] + worth[:, members, n]
        best[:, masks] = sums.max(axis=2)
    return best[:, -1]


@lru_cache(maxsize=16)
def _subsets(m):
    """For n = 1..m, the subsets of m things with n members: (masks (c,), members (c, n))."""
    result = [([], []) for _ in range(m)]
    for mask in range(1, 1 << m):
        members = [i for i in range(m) if mask >> i & 1]
        masks, lists = result[len(members) - 1]
        masks.append(mask)
        lists.append(members)
    return [(np.array(masks), np.array(lists)) for masks, lists in result]
