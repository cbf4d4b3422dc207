"""One-vs-one as LIBSVM solves it: Wu, Lin and Weng's second method, by sweeps that end early.

The minimum of sum_{i<j} (P(j over i) p_i - P(i over j) p_j)^2 with sum p = 1
is approached one p_t after the other, each followed by normalisation (Wu, Lin
and Weng 2004, algorithm 2).  svm-predict ends it when no |(Q p)_t - p^T Q p|
reaches 0.005 / k, up to 2e-3 away from the minimum that `pairwise` computes.
"""

from __future__ import annotations

import numpy as np

from .shortcuts import pair_classes
from .stops import Stops

__all__ = ["prepare"]

BUDGET = 16 << 20
CLIP = 1e-7  # LIBSVM's bound of a pairwise probability


def prepare(a):
    """Solver r (n, m) -> (p (n, k), Stops) for a one-vs-one code a (m, k)."""
    low, high = pair_classes(a)
    k = a.shape[1]
    step = max(1, BUDGET // (8 * k * k))

    def solve(r):
        p = np.empty((len(r), k))
        stops = Stops()
        for start in range(0, len(r), step):
            p[start:start + step], found = _sweep(r[start:start + step], low, high, k)
            stops += found
        return p, stops

    return solve


def _sweep(r, low, high, k):
    """p (n, k) of a block of points, all swept side by side until each is done."""
    n = len(r)
    over = np.clip((1.0 + r) / 2, CLIP, 1.0 - CLIP)
    if k == 2:  # nothing to couple
        p = np.empty((n, 2))
        p[:, high], p[:, low] = over, 1.0 - over
        return p, Stops(n)
    wins = np.zeros((n, k, k))  # P(i over j)
    wins[:, high, low] = over
    wins[:, low, high] = 1.0 - over
    q = -wins * wins.transpose(0, 2, 1)
    q[:, np.arange(k), np.arange(k)] = np.einsum("nij,nij->nj", wins, wins)
    p = np.full((n, k), 1.0 / k)
    going = np.arange(n)
    limit = max(100, k)
    for rounds in range(limit + 1):
        part = q[going]
        slope = np.einsum("nij,nj->ni", part, p[going])
        level = np.einsum("ni,ni->n", p[going], slope)
        far = np.abs(slope - level[:, None]).max(axis=1) >= 0.005 / k
        going = going[far]
        if len(going) == 0 or rounds == limit:
            break
        p[going] = _one_sweep(part[far], p[going], slope[far], level[far])
    return p, Stops(n, rounds=rounds, unfinished=len(going))


def _one_sweep(q, p, slope, level):
    """Every p_t moved once to its best value, with slope = Q p and level = p^T Q p kept up."""
    for t in range(p.shape[1]):
        own = q[:, t, t]
        move = (level - slope[:, t]) / own
        total = 1.0 + move
        level = (level + move * (move * own + 2.0 * slope[:, t])) / total**2
        slope = (slope + move[:, None] * q[:, t]) / total[:, None]
        p[:, t] += move
        p /= total[:, None]
    return p
