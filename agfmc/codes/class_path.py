"""The shortest path through all classes: their order for adjacent codes.

Shapes: k classes.
"""

from collections.abc import Sequence

import numpy as np

from ..control.build import from_rows
from ..control.tree import Tree
from ..errors import DataError, UsageError
from .standard import adjacent

__all__ = ["ordered_adjacent", "path_length", "shortest_path"]

_EXACT = 13  # classes
_STARTS = 1 << 20  # numbers in the matrices of all paths that are improved


def ordered_adjacent(distances: np.ndarray) -> Tree:
    """The adjacent code along the shortest path, a `Tree` whose labels are the positions 0..k-1."""
    order = shortest_path(distances)[0]
    return from_rows(adjacent(len(order)), order)


def shortest_path(distances: np.ndarray) -> tuple[list[int], float, bool]:
    """(order, length, exact): the shortest path that visits every class once, first < last.

    distances (k, k), symmetric; infinite ones are avoided as far as possible.  Exact for k <= 13
    (Held and Karp's recursion over subsets); above, paths to the nearest neighbour from all starts,
    improved by reversals (2-opt) and by moving up to three neighbours elsewhere.
    """
    distances = np.asarray(distances, dtype=np.float64)
    k = len(distances)
    if k == 0 or distances.shape != (k, k):
        raise UsageError(f"expected distances of shape (k, k), found {distances.shape}")
    if np.isnan(distances).any():
        raise DataError("a distance between classes is not a number")
    if not np.array_equal(distances, distances.T) or (distances < 0).any():
        raise UsageError("expected symmetric distances that are not negative")
    finite = _finite(distances)
    exact = k <= _EXACT
    order = _held_karp(finite) if exact else _improved_neighbours(finite)
    if order[0] > order[-1]:
        order = order[::-1]
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


def _held_karp(distances):
    """The shortest path: best[mask, j], over the classes in `mask`, ending at j."""
    k = len(distances)
    masks = np.arange(1 << k)
    size = np.zeros(1 << k, dtype=int)
    for j in range(k):
        size += masks >> j & 1
    best = np.full((1 << k, k), np.inf)
    before = np.zeros((1 << k, k), dtype=np.int8)
    best[1 << np.arange(k), np.arange(k)] = 0.0
    for n in range(2, k + 1):
        level = masks[size == n]
        for j in range(k):
            ending = level[level >> j & 1 == 1]
            lengths = best[ending ^ (1 << j)] + distances[:, j]
            last = np.argmin(lengths, axis=1)
            before[ending, j] = last
            best[ending, j] = lengths[np.arange(len(ending)), last]
    mask = (1 << k) - 1
    order = [int(np.argmin(best[mask]))]
    while len(order) < k:
        last = order[-1]
        order.append(int(before[mask, last]))
        mask ^= 1 << last
    return order


def _improved_neighbours(distances):
    k = len(distances)
    paths = sorted((_nearest_neighbours(distances, start) for start in range(k)),
                   key=lambda order: path_length(distances, order))
    paths = [_improved(distances, order) for order in paths[:max(4, _STARTS // k ** 2)]]
    return min(paths, key=lambda order: path_length(distances, order))


def _nearest_neighbours(distances, start):
    distances = distances.copy()
    order = [start]
    for _ in range(len(distances) - 1):
        distances[:, order[-1]] = np.inf
        order.append(int(np.argmin(distances[order[-1]])))
    return order


def _improved(distances, order):
    """The local optimum below `order`; a class at distance 0 from all others closes the circle."""
    k = len(distances)
    circle = np.zeros((k + 1, k + 1))
    circle[:k, :k] = distances
    tour = np.array([k, *order])
    smallest = 1e-12 * max(float(distances.max()), 1e-300)
    while True:
        gain, changed = max((_reversal(circle, tour), _move(circle, tour)),
                            key=lambda found: found[0])
        if gain <= smallest:
            return tour[1:].tolist()
        tour = changed


def _reversal(circle, tour):
    """(gain, tour) of the best reversal of places i..j, 1 <= i < j."""
    after = np.roll(tour, -1)
    step = circle[tour, after]
    # from i - 1 to j and from i to j + 1 in place of i - 1 to i and j to j + 1
    gains = (step[:, None] + step[None, :] - circle[np.ix_(tour, tour)]
             - circle[np.ix_(after, after)])
    gains[np.tril_indices(len(tour))] = -np.inf
    i, j = np.unravel_index(np.argmax(gains), gains.shape)
    return gains[i, j], np.concatenate([tour[:i + 1], tour[i + 1:j + 1][::-1], tour[j + 1:]])


def _move(circle, tour):
    """(gain, tour) of the best move of one to three neighbours to another place, either way."""
    n = len(tour)
    best = (-np.inf, 0, 0, 0, False)
    for length in range(1, min(3, n - 2) + 1):
        first = np.arange(1, n - length + 1)  # the class at distance 0 stays where it is
        a, b = tour[first], tour[first + length - 1]
        left, right = tour[first - 1], tour[(first + length) % n]
        saved = circle[left, a] + circle[b, right] - circle[left, right]
        place = np.arange(n)  # between place and the next
        u, v = tour, np.roll(tour, -1)
        here = circle[u, v]
        touching = (place >= first[:, None] - 1) & (place < first[:, None] + length)
        for turned, (x, y) in ((False, (a, b)), (True, (b, a))):
            gains = saved[:, None] + here - circle[x[:, None], u] - circle[y[:, None], v]
            gains[touching] = -np.inf
            i, j = np.unravel_index(np.argmax(gains), gains.shape)
            if gains[i, j] > best[0]:
                best = (gains[i, j], int(first[i]), length, int(j), turned)
    gain, first, length, place, turned = best
    part = tour[first:first + length]
    rest = np.delete(tour, slice(first, first + length))
    at = place + 1 if place < first else place + 1 - length
    return gain, np.concatenate([rest[:at], part[::-1] if turned else part, rest[at:]])
