"""Local search for the order of classes of a DDAG: swaps and insertions.

Shapes: k classes, c moves or orders.
"""

from __future__ import annotations

import numpy as np

from .dagsuccess import success

__all__ = ["Problem", "local_search"]

_BLOCK = 1 << 19  # numbers in one block of candidates
_EPSILON = 1e-13


class Problem:
    """The accuracy of orders, J = sum_t P_t V_t: what is to be made large.

    priors (k,);  keep (k, k) = 1 - e;  h (k, k, k) or None.  `work` grows with the
    time that values() takes, and does not depend on the machine.
    """

    def __init__(self, priors, keep, h=None):
        self.priors = priors
        self.keep = keep
        self.h = h
        self.k = len(priors)
        self.cost = self.k ** 2 if h is None else self.k ** 3 // 16 + 1
        self.work = 0

    def values(self, orders):
        """J (c,) of orders (c, k), in bounded memory."""
        step = max(1, _BLOCK // self.k ** 2)
        result = np.empty(len(orders))
        for a in range(0, len(orders), step):
            part = orders[a:a + step]
            found = success(part, self.keep, self.h)
            result[a:a + step] = np.einsum("ck,ck->c", found, self.priors[part])
        self.work += len(orders) * self.cost
        return result


def local_search(problem, starts, restarts, seed, most, least=0):
    """(order (k,), J): the best local optimum of swaps and insertions.

    From each order of `starts`, then `restarts` times from a random one and from the best
    one with a few of its classes shuffled, in turn.  No restart begins once the
    problem's `work` is above `least`, and the search ends when it is above `most`.
    """
    rng = np.random.default_rng(seed)
    best, value = None, -np.inf
    for start in starts:
        order, reached = _climb(problem, np.asarray(start), rng, most)
        if reached > value + _EPSILON:
            best, value = order, reached
    for n in range(restarts):
        if problem.work > least:
            break
        start = _shaken(best, rng) if n % 2 else rng.permutation(problem.k)
        order, reached = _climb(problem, start, rng, most)
        if reached > value + _EPSILON:
            best, value = order, reached
    return best, value


def _shaken(order, rng):
    places = rng.choice(len(order), size=min(len(order), max(4, len(order) // 3)), replace=False)
    order = order.copy()
    order[places] = order[rng.permutation(places)]
    return order


def _climb(problem, order, rng, most):
    """The local optimum above `order`: the best move of each block is taken.

    Where all moves are one block this is steepest ascent; the blocks of larger
    problems are shuffled once, and are gone through until none improves.
    """
    k = problem.k
    value = problem.values(order[None])[0]
    moves = _moves(k)
    step = max(1, _BLOCK // k ** 2)
    if len(moves) > step:
        moves = moves[rng.permutation(len(moves))]
    blocks = [moves[a:a + step] for a in range(0, len(moves), step)]
    idle, at = 0, 0
    while idle < len(blocks) and problem.work <= most:
        candidates = order[_sources(k, blocks[at])]
        values = problem.values(candidates)
        top = int(np.argmax(values))
        if values[top] > value + _EPSILON:
            order, value, idle = candidates[top], values[top], 0
        else:
            idle, at = idle + 1, (at + 1) % len(blocks)
    return order, value


def _moves(k):
    """(c, 3): kind, i, j: swaps (0) of i < j, insertions (1) of i at j, two or more away."""
    i, j = np.divmod(np.arange(k * k), k)
    swap, insert = i < j, np.abs(i - j) > 1
    return np.concatenate([
        np.stack([np.full(np.count_nonzero(chosen), kind), i[chosen], j[chosen]], axis=1)
        for kind, chosen in ((0, swap), (1, insert))])


def _sources(k, moves):
    """(c, k): which position each position is filled from, for each move."""
    kind, i, j = (column[:, None] for column in moves.T)
    place = np.arange(k)[None]
    shifted = place + ((place >= i) & (place < j)) - ((place > j) & (place <= i))
    result = np.where(kind == 1, shifted, np.where(place == i, j, place))
    return np.where(place == j, i, result)
