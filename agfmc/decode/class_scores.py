"""Scores of the classes: decision values as they are, votes, one-vs-rest and losses.

Each function takes a code and gives a solver, decision values (n, m) -> scores (n, k); the class
with the largest score wins.
"""

from functools import partial

import numpy as np

from ..core.probabilities import as_shares
from ..core.reproducible import Uniform
from ..core.solver_status import direct, Solver

# Beyond these |z| the values are cut off, so that no sum of losses overflows.
FAR = 1e100
FAR_EXPONENTIAL = 500.0

LOSSES = {
    "hamming": lambda z: (1.0 - np.sign(z)) / 2,
    "linear": lambda z: -z,
    "hinge": lambda z: np.maximum(1.0 - z, 0.0),
    "exponential": lambda z: np.exp(-z),
    "logit": lambda z: np.logaddexp(0.0, -2.0 * z),
    "quadratic": lambda z: (1.0 - z) ** 2,
}


def binary(a: np.ndarray) -> Solver:
    """Solver that returns r (n, m) itself."""
    return direct(lambda r: r)


def vote_values(a: np.ndarray) -> Solver:
    """Solver of votes weighted with the decision values: A^T r."""
    return direct(Uniform(a))


def vote_signs(a: np.ndarray) -> Solver:
    """Solver of votes: A^T sign(r), where sign(0) = 0 is no vote."""
    code = a.astype(float)
    return direct(lambda r: np.sign(r) @ code)


def argmax(code: tuple[np.ndarray, np.ndarray]) -> Solver:
    """Solver r (n, m) -> (n, k), each class's probability against the rest, divided by their sum.

    That is (1 + r)/2 of the class's row, its sign turned so that + is the class.
    """
    rows, signs = code
    return direct(lambda r: as_shares((1.0 + r[:, rows] * signs) / 2))


def argmax_raw(code: tuple[np.ndarray, np.ndarray]) -> Solver:
    """Solver g (n, m) -> (n, k): raw decision values, g > 0 for +1, turned towards each class."""
    rows, signs = code
    return direct(lambda g: g[:, rows] * signs)


def _prepare_loss(loss, a):
    """Solver g (n, m) -> scores (n, k) of the code a (m, k), from raw values, g > 0 for +1.

    score_j = - sum_i L(a_ij g_i), L one of `LOSSES`, where a zero in the code costs L(0) (Allwein,
    Schapire and Singer 2000).  g is clipped to [-500, 500] for the exponential loss and to
    [-1e100, 1e100] for the others, so scores are finite whatever g is, infinite values included.
    """
    function = LOSSES[loss]
    limit = FAR_EXPONENTIAL if loss == "exponential" else FAR
    positive = Uniform(a > 0)
    negative = Uniform(a < 0)
    neutral = np.count_nonzero(a == 0, axis=0) * float(function(np.zeros(1))[0])

    def solve(g):
        g = np.clip(g, -limit, limit)
        return -(positive(function(g)) + negative(function(-g)) + neutral)

    return direct(solve)


hamming, linear, hinge, exponential, logit, quadratic = (
    partial(_prepare_loss, loss) for loss in LOSSES
)
