"""How often a DDAG is right, for many orders of its classes at once.

A decision directed acyclic graph keeps a list of classes; the classifier of its
first and last class decides which of the two is dropped, until one is left.
Shapes: k classes, b orders.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

__all__ = ["success"]


def success(orders, keep, h=None):
    """Probability (b, k) that the class at each position of each order is found.

    orders (b, k): classes;  keep (k, k): keep[t, i] = P(classifier {t, i} is right | t);
    h (k, k, k) or None: h[t, i, j] = P(classifier {i, j} sends class t to i), None
    for 1/2.

    For truth t and what is left of the list from position a to b, V_t(a, b) is
    keep[t, o_b] V_t(a, b-1) with t at the left end, keep[t, o_a] V_t(a+1, b) with t at
    the right end, and h V_t(a, b-1) + (1-h) V_t(a+1, b) with t inside; 1 for t alone.
    """
    return _by_walks(orders, keep) if h is None else _by_intervals(orders, keep, h)


def _by_intervals(orders, keep, h):
    """The recursion for all classes of an interval together, by length of the interval."""
    b, k = orders.shape
    flat = h.ravel()
    value = np.ones((b, k, 1))  # order, first position, offset of the class
    for length in range(2, k + 1):
        n = k - length + 1
        first, last = orders[:, :n], orders[:, length - 1:]
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
    """The same for h = 1/2, O(k^2) per order.

    The ends move inward at random until the class is at one; from there all
    classifiers are relevant, and the product of `keep` over what is left counts.
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
    """(ahead (k, k), weights (k, k)): x > p, and how likely the list ends at x then.

    weights[p, x]: P(position p comes to one end of the list while x is at the
    other).  Before that u ends were dropped on its side but one, and c on the
    other: C(u + c, u) / 2^(u + c + 1).
    """
    weights = np.zeros((k, k))
    paths = np.ones(1)  # entry u: P(u of the first n drops are on the left)
    for n in range(k - 2):
        u = np.arange(n + 1)
        left, right = u + 1, k - 1 - (n - u)
        fits = left < right
        weights[left[fits], right[fits]] = paths[fits] / 2
        weights[k - 1 - left[fits], k - 1 - right[fits]] = paths[fits] / 2
        paths = (np.append(paths, 0.0) + np.append(0.0, paths)) / 2
    weights[0, k - 1] = weights[k - 1, 0] = 1.0
    place = np.arange(k)
    return place[None, :] > place[:, None], weights
