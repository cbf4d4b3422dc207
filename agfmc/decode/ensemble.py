"""Ensembles: averages of the probabilities of several configurations, and their weights.

With the weights w (M,), sum 1, of M members the average is

    arithmetic   p_j = sum_m w_m p_mj
    geometric    p_j proportional to exp(sum_m w_m log max(p_mj, 1e-16)), sum 1

The weights with the least log loss of the arithmetic average, on n points that no classifier was
trained on, are those of a mixture whose components are known.  Alone they follow the luck of the
points and leave out members that would help; so a prior v (M,), sum 1, counts as an eighth of the
points, divided between the members in its proportions.  The problem is convex, and solved by

    w_m <- (8 mean_i w_m p_im / sum_m' w_m' p_im' + v_m) / 9

which never makes it worse (A. P. Dempster, N. M. Laird, D. B. Rubin, "Maximum likelihood from
incomplete data via the EM algorithm", Journal of the Royal Statistical Society B 39, 1977).  As it
is convex, it is above the least by less than the largest w_m grows in a step, relative to w_m,
which tells when it is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..core.probabilities import SMALLEST, softmax

TOLERANCE = 1e-6  # of the mean log loss above the least
STEPS = 20_000
PRIOR = 1 / 8  # of the points is what the prior counts as
BUDGET = 1 << 31  # steps times points times members


def average(parts: Iterable[np.ndarray], weights: Sequence[float],
            geometric: bool = False) -> np.ndarray:
    """The average (n, k) of the probabilities (n, k) of each member; weights: sum 1.

    A row's bits do not depend on its neighbours.
    """
    total: np.ndarray | None = None
    for p, weight in zip(parts, weights):
        part = weight * (np.log(np.maximum(p, SMALLEST)) if geometric else p)
        total = part if total is None else np.add(total, part, out=total)
    assert total is not None
    return softmax(np.ascontiguousarray(total)) if geometric else total


def fit_weights(p: np.ndarray, prior: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """The weights (M,), sum 1, with the least log loss of the arithmetic average and a prior.

    `p` (M, n) is the probability that each of the M members gives the true class of each of n
    points, which it did not see. Those below 1e-16 count as that. `prior` (M,) are positive
    weights, sum 1. `w` (n,) are the weights of the points, None where all count alike.
    """
    p = np.maximum(np.asarray(p, dtype=float), SMALLEST)
    weights = prior = np.asarray(prior, dtype=float)
    for _ in range(max(1, min(STEPS, BUDGET // p.size))):
        ratio = p / (weights[:, None] * p).sum(axis=0)
        mean = ratio.mean(axis=1) if w is None else ratio @ w / w.sum()
        factor = (mean + PRIOR * prior / weights) / (1 + PRIOR)
        if factor.max() - 1 <= TOLERANCE:
            break
        weights = weights * factor
        weights /= weights.sum()
    return weights
