"""Ensembles: averages of the probabilities of several configurations, and their weights.

With the weights w (M,), sum 1, of M members the average is

    arithmetic   p_j = sum_m w_m p_mj
    geometric    p_j proportional to exp(sum_m w_m log max(p_mj, 1e-16)), sum 1

The weights with the least mean log loss of the arithmetic average on points that no classifier was
trained on are those of a mixture whose components are known: a convex problem, solved by the steps
w_m <- mean_i w_m p_im / sum_m' w_m' p_im', which never make it worse (A. P. Dempster, N. M. Laird,
D. B. Rubin, "Maximum likelihood from incomplete data via the EM algorithm", Journal of the Royal
Statistical Society B 39, 1977).  As the loss is convex, it is above the least by
max_m mean_i p_im / sum_m' w_m' p_im' - 1 at most, which tells when it is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..core.probabilities import SMALLEST, softmax

TOLERANCE = 1e-6  # of the mean log loss above the least
STEPS = 20_000
BUDGET = 1 << 31  # steps times points times members


def average(
    parts: Iterable[np.ndarray], weights: Sequence[float], geometric: bool = False
) -> np.ndarray:
    """The average (n, k) of the probabilities (n, k) of each member; weights: sum 1.

    A row's bits do not depend on its neighbours.
    """
    total: np.ndarray | None = None
    for p, weight in zip(parts, weights):
        part = weight * (np.log(np.maximum(p, SMALLEST)) if geometric else p)
        if total is None:
            total = part
        else:
            total = np.add(total, part, out=total)
    assert total is not None
    if geometric:
        return softmax(np.ascontiguousarray(total))
    return total


def fit_weights(p: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """The weights (M,), sum 1, with the least mean log loss of the arithmetic average.

    `p` (M, n) is the probability that each of the M members gives the true class of each of n
    points, which it did not see. Those below 1e-16 count as that. `w` (n,) are the weights of the
    points in the mean, None where all count alike.
    """
    p = np.maximum(np.asarray(p, dtype=float), SMALLEST)
    weights = np.full(len(p), 1 / len(p))
    for _ in range(max(1, min(STEPS, BUDGET // p.size))):
        ratio = p / (weights[:, None] * p).sum(axis=0)
        if w is None:
            factor = ratio.mean(axis=1)
        else:
            factor = ratio @ w / w.sum()
        if factor.max() - 1 <= TOLERANCE:
            break
        weights = weights * factor
        weights /= weights.sum()
    return weights
