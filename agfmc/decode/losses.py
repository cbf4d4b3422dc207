"""Loss-based decoding: the class whose row of signs the raw decision values lose least by."""

from __future__ import annotations

import numpy as np

from ..errors import UsageError
from .exact import Uniform

__all__ = ["LOSSES", "prepare"]

# Beyond these |z| the values are cut off, so that no sum of losses overflows.
FAR = 1e100
FAR_EXPONENTIAL = 500.0

LOSSES = {
    "hamming": lambda z: (1.0 - np.sign(z)) / 2,
    "linear": lambda z: -z,
    "hinge": lambda z: np.maximum(1.0 - z, 0.0),
    "exponential": lambda z: np.exp(-z),
    "logit": lambda z: np.logaddexp(0.0, -2.0 * z),
    "quadratic": lambda z: (1.0 - z)**2,
}


def prepare(a, loss="hinge"):
    """Solver g (n, m) -> scores (n, k) of the code a (m, k); the largest score wins.

    score_j = - sum_i L(a_ij g_i), where a zero in the code costs L(0) (Allwein,
    Schapire and Singer 2000).  g: raw decision values, g > 0 speaks for +1.

        hamming      (1 - sign z)/2        exponential  e^-z
        linear       -z                    logit        log(1 + e^-2z)
        hinge        max(0, 1 - z)         quadratic    (1 - z)^2

    g is clipped to [-500, 500] for the exponential loss and to [-1e100, 1e100]
    for the others, so scores are finite whatever g is, infinite values included.
    Raises UsageError for an unknown loss.
    """
    if loss not in LOSSES:
        raise UsageError(f"no loss '{loss}'; there are: {', '.join(LOSSES)}")
    function = LOSSES[loss]
    limit = FAR_EXPONENTIAL if loss == "exponential" else FAR
    a = np.asarray(a)
    positive, negative = Uniform(a > 0), Uniform(a < 0)
    neutral = np.count_nonzero(a == 0, axis=0) * float(function(np.zeros(1))[0])

    def solve(g):
        g = np.clip(g, -limit, limit)
        return -(positive(function(g)) + negative(function(-g)) + neutral)

    return solve
