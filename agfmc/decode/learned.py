"""Decoder fitted to held-out decision values: p = softmax(W l + b), l = 2 artanh(r).

The log-odds l (m,) of the right sides are clipped to [-30, 30].  Did classifiers err independently
of each other, W = A^T / 2 would multiply their probabilities; those of one code do not.  So W and
b have the least

    mean log loss + ridge / 2 (|W - s A^T|^2 g^2 + |b|^2) ,

g^2 being the mean of l^2, towards the votes of the log-odds with the s of least loss, or towards
0; which of both, and the ridge, have the least cross-validated log loss.  Where a code has no
zeros, shrinking towards least squares instead mostly leaves more loss; for pairs of classes, least
squares with a calibration map is the better decoder.  Points with weights have them in all means.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.errors import DataError, ModelError
from ..core.models import LearnedDecoder
from ..core.probabilities import mean, softmax, total
from ..core.reproducible import Uniform
from ..core.solver_status import direct, Solver
from ..core.splits import of_rows, stratified_folds

LIMIT = 30.0  # of log-odds
LARGEST = 50_000  # weights of a decoder that is fitted
FOLDS = 5
RIDGES = (np.inf, *(10.0**-power for power in range(5)))  # tried, from strong to weak
WORSE = 1.05  # weaker ridges are not tried once the loss is so many times the least
STEPS = 500  # of L-BFGS at most


def log_odds(r: np.ndarray) -> np.ndarray:
    """l = 2 artanh(r) of decision values r (n, m), clipped to [-30, 30]."""
    most = np.tanh(LIMIT / 2)
    return 2.0 * np.arctanh(np.clip(r, -most, most))


# A decoder applied


def prepare(a: np.ndarray, learned: LearnedDecoder | None = None) -> Solver:
    """Solver r (n, m) -> p (n, k) of a `LearnedDecoder` that was fitted to the code a (m, k).

    Raises `ModelError` where there is none, or it is of another code.
    """
    if learned is None:
        raise ModelError(
            "the model has no learned decoder: `decoders=learned` fits it in training, calibrate_m "
            "to holdout points"
        )
    if learned.weights.shape != a.shape[::-1]:
        raise ModelError(
            f"the learned decoder has {learned.weights.shape[1]} classifiers and "
            f"{len(learned.weights)} classes, the code {a.shape[0]} and {a.shape[1]}"
        )
    product = Uniform(learned.weights.T)

    return direct(lambda r: softmax(product(log_odds(r)) + learned.intercept))


# Fitting


class LearnedFit(NamedTuple):
    """A `LearnedDecoder` and the probabilities of cross-validation.

    Attributes
    ----------
    p : probabilities (c, k) of the points by fits without them
    votes : the decoder was shrunk to the votes of the log-odds
    ridge : strength of the shrinkage, inf for the votes alone
    """

    decoder: LearnedDecoder
    p: np.ndarray
    votes: bool
    ridge: float


class Points(NamedTuple):
    """Points that a decoder is fitted to: x (c, q), classes y (c,), weights (c,) or None."""

    x: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None = None

    def those(self, chosen: np.ndarray) -> Points:
        """Some of them, chosen (c,) bool."""
        return Points(self.x[chosen], self.y[chosen], of_rows(self.weights, chosen))


def fit_learned(
    a: np.ndarray,
    r: np.ndarray,
    y: np.ndarray,
    seed: int = 1,
    weights: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> LearnedFit:
    """Fit a decoder to held-out decision values r (c, m) of the code a (m, k).

    Parameters
    ----------
    y : array (c,), True classes, as columns of the code
    seed : int, seed of the folds
    weights : array (c,), optional
        Weights of the points; None where all count alike.
    groups : array (c,), optional
        Groups of the points, which no fold divides.

    Raises
    ------
    ModelError : for a code of more than `LARGEST` entries
    DataError : for a class without points, and for values that are not finite
    """
    m, k = a.shape
    if m * k > LARGEST:
        raise ModelError(
            f"a learned decoder of {m} classifiers and {k} classes would have "
            f"{m * k} weights: {LARGEST} at most are fitted"
        )
    if not np.isfinite(r).all():
        raise DataError("decision values of calibration points are not finite")
    absent = np.flatnonzero(np.bincount(y, minlength=k) == 0)
    if len(absent):
        raise DataError(
            f"class {absent[0]} (counted from 0) has no calibration point, and a "
            "learned decoder needs some of each"
        )
    l = log_odds(r)
    scale = (
        np.sqrt(np.mean(l * l) if weights is None else mean((l * l).mean(axis=1), weights)) or 1.0
    )
    x = np.ones((len(l), m + 1))
    np.divide(l, scale, out=x[:, :-1])
    nothing, votes = np.zeros((2, k, m + 1))
    votes[:, :-1] = a.T
    fold = stratified_folds(y, seed, FOLDS, groups)
    points = Points(x, y, weights)
    trials = (*_path(points, nothing, fold), *_path(points, votes, fold))
    loss, ridge, votes, p = min(trials, key=lambda trial: trial[0])
    w = minimise_loss(points, _centre(points, votes), ridge)
    return LearnedFit(
        LearnedDecoder(w[:, :-1] / scale, w[:, -1].copy()), p, bool(votes.any()), ridge
    )


def _path(points, votes, fold):
    """Yield (loss, ridge, votes, p (c, k)) of the ridges from strong to weak, cross-validated."""
    tests = [fold == number for number in range(fold.max() + 1)]
    centres = [_centre(points.those(~test), votes) for test in tests]
    best = np.inf
    fits = centres
    for ridge in RIDGES:
        p = np.empty((len(points.y), len(votes)))
        fits = [
            minimise_loss(points.those(~test), centre, ridge, start, 1e-7)
            for test, centre, start in zip(tests, centres, fits)
        ]
        for test, fitted in zip(tests, fits):
            p[test] = softmax(points.x[test] @ fitted.T)
        chosen = p[np.arange(len(points.y)), points.y]
        loss = -mean(np.log(np.maximum(chosen, 1e-300)), points.weights)
        yield loss, ridge, votes, p
        best = min(best, loss)
        if loss > WORSE * best:
            return


def _centre(points, votes):
    """s `votes` (k, m + 1), with the s of the least log loss of the points."""
    return votes * best_share(points.x @ votes.T, points.y, points.weights)


def best_share(z: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The s in [0, 100] for which softmax(s z) of z (c, k) has the least log loss.

    `y` (c,) are the true columns, `weights` (c,) those of the points.
    """
    from scipy.optimize import brentq

    at = np.arange(len(y)), y

    def slope(s):
        return mean(np.einsum("ij,ij->i", softmax(s * z), z) - z[at], weights)

    least, most = 0.0, 100.0
    if slope(least) >= 0:
        return least
    if slope(most) <= 0:
        return most
    return brentq(slope, least, most, xtol=1e-12)


def minimise_loss(
    points: Points,
    centre: np.ndarray,
    ridge: float,
    start: np.ndarray | None = None,
    accuracy: float = 1e-13,
) -> np.ndarray:
    """W (k, q) with the least mean log loss of softmax(W x) + ridge / 2 |W - centre|^2.

    x (c, q) and y (c,) are those of `points`. L-BFGS begins at `start` (k, q) and ends where a step
    gains less than `accuracy` of the loss. An infinite ridge returns the centre itself.
    """
    if ridge == np.inf:
        return centre
    from scipy.optimize import minimize

    x, y, weights = points
    at = np.arange(len(y)), y
    if weights is None:
        n = len(y)
    else:
        n = weights.sum()

    def loss(w):
        w = w.reshape(centre.shape)
        away = w - centre
        z = x @ w.T
        z -= z.max(axis=1)[:, None]
        true = total(z[at], weights)
        np.exp(z, out=z)
        sums = z.sum(axis=1)
        z /= sums[:, None]
        z[at] -= 1.0
        if weights is not None:
            z *= weights[:, None]
        value = (total(np.log(sums), weights) - true) / n + ridge / 2 * np.vdot(away, away)
        return value, (z.T @ x / n + ridge * away).ravel()

    return minimize(
        loss,
        (centre if start is None else start).ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": STEPS, "maxfun": 2 * STEPS, "ftol": accuracy, "gtol": 1e-9},
    ).x.reshape(centre.shape)
