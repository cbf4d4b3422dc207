"""Calibration maps: p' = (1 - e) softmax(W z + b) + e / c, z = log max(p, least).

A temperature has W = I / T, b = 0, a matrix map any W; e is the floor.  C. Guo and others, "On
calibration of modern neural networks", ICML 2017; M. Kull and others, "Beyond temperature scaling:
obtaining well-calibrated multi-class probabilities with Dirichlet calibration", NeurIPS 2019 (ridge
on what is off the diagonal and on b).

All maps are fitted by the log loss.  So that few points, or points that are all answered rightly,
do not make certain answers, the sum of losses has two terms more: -log(e) / 2, half an error that
only the floor explains, and log(T)^2 / 2, a temperature of 1 with a deviation of a factor of 2.7.

Weights of points (n,), None where all count alike, multiply their losses: a weight of 2 is two
copies of the point, which are in one part in a cross-validation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from ..core.errors import DataError
from ..core.probabilities import (
    losses,
    mean,
    SMALLEST,
    softmax,
    standard_error,
    total,
    weights_or_ones,
)
from ..core.reproducible import Uniform
from ..core.splits import FOLDS, of_rows, stratified_folds
from .types import ProbabilityMap

SMALLEST_LINEAR = 1e-4  # of the probabilities whose logarithms matrices take
BOUNDS = 1 / 20, 20.0  # of a temperature
PRIOR_ERRORS = 0.5
PRIOR_TEMPERATURE = 1.0  # one over the variance of log T
MOST_FLOOR = 0.999
RIDGES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # strengths tried, of the mean log loss
GRID = 13  # temperatures at which the search begins
STEPS = 200  # of L-BFGS or Newton's method at most
CONVERGED, SHORTEST = 1e-8, 1e-6  # fall of the mean loss, part of a step, that end Newton's method
MOST_CLASSES, MOST_POINTS = 16, 2000  # of a matrix that is tried in training
ROWS = 4096  # points whose logarithms are made at once


def apply_map(fitted: ProbabilityMap, p: np.ndarray) -> np.ndarray:
    """Calibrated probabilities (n, c) of p (n, c), whose rows sum to 1.

    Numbers below 1e-16, or 1e-4 for matrices, count as that: estimates may be
    negative.  A row's bits do not depend on its neighbours.
    """
    weights = fitted.weights
    intercept = fitted.intercept
    if weights is None or intercept is None:
        return np.asarray(p)
    kind = KINDS[fitted.kind]
    product = kind.product(weights)
    out = np.empty(np.shape(p))  # row by row in memory, so that every row is summed alike
    for start in range(0, len(out), ROWS):
        z = out[start : start + ROWS]
        np.log(np.maximum(p[start : start + ROWS], kind.least), out=z)
        z[:] = product(z)
        z += intercept
        softmax(z)
        z *= 1 - fitted.floor
        z += fitted.floor / z.shape[1]
    return out


def fit_temperature(
    p: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None
) -> ProbabilityMap:
    """The temperature, 1/20 to 20, and the floor of p (n, c) with the least log loss.

    The loss is convex in the floor; the temperature is sought on a grid, then between neighbours.
    `y` (n,) are true columns.
    """
    if len(y) == 0:
        raise DataError("a calibration map needs points, there are none")
    z = np.log(np.maximum(p, SMALLEST))
    z -= z.max(axis=1)[:, None]
    weights = weights_or_ones(weights, len(y))

    @cache
    def profile(log_u):  # loss, and its slope in log_u, at the best floor
        return _at_temperature(z, y, weights, np.exp(log_u))

    grid = np.linspace(-np.log(BOUNDS[1]), -np.log(BOUNDS[0]), GRID).tolist()
    best = min(range(GRID), key=lambda i: profile(grid[i])[0])
    other = best + (1 if profile(grid[best])[1] < 0 else -1)
    where = grid[best]
    if 0 <= other < GRID:
        ends = sorted((grid[best], grid[other]))
        if profile(ends[0])[1] < 0 < profile(ends[1])[1]:
            where = _root(lambda log_u: profile(log_u)[1], *ends)
        else:  # the slope turns more than once between them
            where = min(
                np.linspace(ends[0], ends[1], 33).tolist(), key=lambda log_u: profile(log_u)[0]
            )
    return ProbabilityMap(
        "temperature", np.array(np.exp(where)), np.zeros(np.shape(p)[1]), profile(where)[2]
    )


def _at_temperature(z, y, weights, u):
    """(loss, slope in log u, floor) of softmax(u z) with its best floor."""
    s = np.exp(u * z)
    total = s.sum(axis=1)
    z_true = z[np.arange(len(y)), y]
    true = np.exp(u * z_true) / total
    above = z_true - np.einsum("ij,ij->i", s, z) / total  # d log(true) / du
    part = 1 / z.shape[1]
    e = _best_floor(true, part, weights)
    q = (1 - e) * true + e * part
    loss = -(weights @ np.log(q)) - PRIOR_ERRORS * np.log(e)
    log_u = np.log(u)
    return (
        loss + PRIOR_TEMPERATURE * log_u**2 / 2,
        PRIOR_TEMPERATURE * log_u - u * (weights @ ((1 - e) * true * above / q)),
        e,
    )


def _best_floor(true, part, weights):
    """The floor e with the largest sum of w log((1 - e) true + e part), and of the prior."""
    more = part - true

    def slope(log_e):
        e = np.exp(log_e)
        return -(weights @ (more / (true + e * more))) - PRIOR_ERRORS / e

    low = np.log(1e-12)
    high = np.log(MOST_FLOOR)
    if slope(low) >= 0:
        return 1e-12
    if slope(high) <= 0:
        return MOST_FLOOR
    return np.exp(_root(slope, low, high))


def _root(function, low, high, accuracy=1e-13, relative=1e-15, steps=100):
    """The root of a function that has different signs at both ends, by Brent's method.

    It has the bits of `scipy.optimize.brentq`, which takes longer to load (about .13 s) than most
    maps take to fit.
    """
    before = float(low)
    best = float(high)
    f_before = float(function(before))
    f_best = float(function(best))
    other = before  # the root is between it and `best`
    f_other = f_before
    last = step = best - before
    for _ in range(steps):
        if f_before != 0 and f_best != 0 and (f_before < 0) != (f_best < 0):
            other = before
            f_other = f_before
            last = step = best - before
        if abs(f_other) < abs(f_best):
            before, best, other = best, other, best
            f_before, f_best, f_other = f_best, f_other, f_best
        least = (accuracy + relative * abs(best)) / 2
        half = (other - best) / 2
        if f_best == 0 or abs(half) < least:
            break
        tried = math.inf
        if abs(last) > least and abs(f_best) < abs(f_before):
            if before == other:  # a secant
                tried = -f_best * (best - before) / (f_best - f_before)
            else:  # a parabola through three points, its axis along the values
                p = (f_before - f_best) / (before - best)
                q = (f_other - f_best) / (other - best)
                tried = -f_best * (f_other * q - f_before * p) / (q * p * (f_other - f_before))
        if 2 * abs(tried) < min(abs(last), 3 * abs(half) - least):
            last = step
            step = tried
        else:
            last = step = half
        before = best
        f_before = f_best
        if abs(step) > least:
            best += step
        else:
            best += math.copysign(least, half)
        f_best = float(function(best))
    return best


def _fit_matrix(p, y, ridges, weights):
    """A matrix map for each ridge, with the objective of `_fit_large_matrix`, by Newton's method.

    It starts from the map of the next larger ridge, the first from the temperature map; more than
    16 classes are left to `_fit_large_matrix`.  The floor e is the best one at each step.  The Hessian is
    that of a logistic regression in which the weight of a point is multiplied by the probability
    that the floor does not explain it, as in the EM algorithm for the mixture with the floor.
    """
    n, c = np.shape(p)
    if c > MOST_CLASSES:
        return _fit_large_matrix(p, y, ridges, weights)
    p = np.maximum(p, SMALLEST_LINEAR)
    start = fit_temperature(p, y, weights)
    z = np.column_stack([np.log(p), np.ones(n)])
    rows, weights = np.arange(n), weights_or_ones(weights, n)
    mass = weights.sum()
    identity = np.eye(c, c + 1)
    of_classes, of_columns = (_Pairs(size) for size in (c, c + 1))

    def evaluated(x, ridge):
        """(loss, softmax (n, c), weights of the logistic regression (n,), floor)."""
        deviation = x[:-1].reshape(c, c + 1)
        u = x[-1]
        s = z @ (deviation + u * identity).T
        softmax(s)
        true = s[rows, y]
        e = _best_floor(true, 1 / c, weights)
        q = (1 - e) * true + e / c
        loss = (
            PRIOR_TEMPERATURE * np.log(u) ** 2 / 2
            - weights @ np.log(q)
            - PRIOR_ERRORS * np.log(e)
            + mass * ridge * (x[:-1] @ x[:-1])
        )
        return loss, s, weights * (1 - e) * true / q, e

    def step_from(x, s, share, ridge):
        """(Newton's step, the slope along it)."""
        error = s * share[:, None]
        u = x[-1]
        error[rows, y] -= share
        hessian = np.zeros((len(of_classes.first), len(of_columns.first)))
        for start in range(0, n, ROWS):
            block = slice(start, start + ROWS)
            by_class = -of_classes.products(s[block])
            by_class[:, of_classes.same] += s[block]
            by_class *= share[block, None]
            hessian += by_class.T @ of_columns.products(z[block])
        hessian = hessian[of_classes.number[:, None, :, None], of_columns.number[:, None]]
        # of the entries of the deviation, then of u, which moves those of the identity
        of_entries = hessian.reshape(len(x) - 1, -1)
        moved = identity.ravel()
        of_u = of_entries @ moved
        hessian = np.block([[of_entries, of_u[:, None]], [of_u, moved @ of_u]])
        hessian[np.diag_indices(len(x) - 1)] += 2 * mass * ridge
        hessian[-1, -1] += PRIOR_TEMPERATURE / u**2
        slope = (error.T @ z).ravel()
        slope = np.append(slope, moved @ slope)
        slope[:-1] += 2 * mass * ridge * x[:-1]
        slope[-1] += PRIOR_TEMPERATURE * np.log(u) / u
        step = -np.linalg.solve(hessian, slope)
        return step, slope @ step

    x = np.append(np.zeros(c * (c + 1)), start.weights)
    fitted = {}
    for ridge in sorted(ridges, reverse=True):
        loss, *state, e = evaluated(x, ridge)
        for _ in range(STEPS):
            step, slope = step_from(x, *state, ridge)
            if -slope < CONVERGED * mass:
                break
            size = 1.0
            while size > SHORTEST:
                new = x + size * step
                new[-1] = np.clip(new[-1], 1 / BOUNDS[1], 1 / BOUNDS[0])
                state_there = evaluated(new, ridge)
                if state_there[0] <= loss + size * slope / 4:
                    break
                size /= 2
            else:  # by rounding, or a bound of the temperature, no step leads further down
                break
            x, (loss, *state, e) = new, state_there
        w = x[:-1].reshape(c, c + 1) + x[-1] * identity
        fitted[ridge] = ProbabilityMap("matrix", w[:, :c].copy(), w[:, c].copy(), float(e))
    return [fitted[ridge] for ridge in ridges]


class _Pairs:
    """Products of two columns, each pair once: the numbers of the columns, and of each pair."""

    def __init__(self, size):
        self.first, self.second = np.triu_indices(size)
        self.same = np.flatnonzero(self.first == self.second)
        self.number = np.empty((size, size), dtype=int)
        self.number[self.first, self.second] = np.arange(len(self.first))
        self.number[self.second, self.first] = np.arange(len(self.first))

    def products(self, x):
        return x[:, self.first] * x[:, self.second]


def _fit_large_matrix(p, y, ridges, weights):
    """A matrix map for each ridge, by L-BFGS from the temperature map.

    The least mean log loss + ridge (sum (W_ij - u [i = j])^2 + sum b_j^2), where u is free: towards
    a temperature.  Variables: W - u I, b, u, log(e / (1 - e)).
    """
    from scipy.optimize import Bounds, minimize

    p = np.maximum(p, SMALLEST_LINEAR)
    start = fit_temperature(p, y, weights)
    z = np.log(p)
    rows = np.arange(len(z))
    c = z.shape[1]
    if weights is None:
        n = len(z)
    else:
        n = weights.sum()
    size = c * c
    x = np.zeros(size + c + 2)
    x[-2:] = start.weights, np.log(start.floor / (1 - start.floor))

    def loss(x, ridge):
        deviation = x[:size].reshape(c, c)
        b = x[size:-2]
        e = 1 / (1 + np.exp(-x[-1]))
        s = x[-2] * z + b
        s += z @ deviation.T
        softmax(s)
        true = s[rows, y]
        q = (1 - e) * true + e / c
        log_u = np.log(x[-2])
        value = (
            PRIOR_TEMPERATURE * log_u**2 / 2 - total(np.log(q), weights) - PRIOR_ERRORS * np.log(e)
        ) / n + ridge * (x[:-2] @ x[:-2])
        ratio = (1 - e) * true / q
        s *= ratio[:, None]  # d loss / d logits
        s[rows, y] -= ratio
        s /= n if weights is None else (n / weights)[:, None]
        slope = np.empty_like(x)
        slope[:size] = (s.T @ z).ravel()
        slope[size:-2] = s.sum(axis=0)
        slope[-2] = np.einsum("ij,ij->", s, z) + PRIOR_TEMPERATURE * log_u / x[-2] / n
        slope[:-2] += 2 * ridge * x[:-2]
        slope[-1] = (
            -e * (1 - e) * total((1 / c - true) / q, weights) / n - PRIOR_ERRORS * (1 - e) / n
        )
        return value, slope

    limit = np.log(MOST_FLOOR / (1 - MOST_FLOOR))
    least = np.full(len(x), -np.inf)
    most = np.full(len(x), np.inf)
    least[-2:], most[-2:] = (1 / BOUNDS[1], -4 * limit), (1 / BOUNDS[0], limit)
    fitted = []
    for ridge in ridges:
        end = minimize(
            loss,
            x,
            (ridge,),
            "L-BFGS-B",
            jac=True,
            options={"maxiter": STEPS},
            bounds=Bounds(least, most),
        ).x
        w = end[-2] * np.eye(c) + end[:size].reshape(c, c)
        floor = float(1 / (1 + np.exp(-end[-1])))
        fitted.append(ProbabilityMap("matrix", w, end[size:-2].copy(), floor))
    return fitted


class Kind(NamedTuple):
    """A kind of calibration maps for c classes.

    Attributes
    ----------
    fit : function of p (n, c), y (n,), ridges, weights (n,) or None that gives a list with a
        `ProbabilityMap` for each ridge
    product : function of W that gives a function z (n, c) -> W z, row by row
    shape : function of c that gives the shape of W, None where there is no W
    least : the least probability whose logarithm is taken
    ridges : strengths that are tried, of the mean log loss
    points : points for each number that it needs to be chosen, 0 for any
    keeps_order : whether the most probable class stays the same
    has_intercept : whether b is fitted, else it is 0
    fault : function of W that says what is wrong with it, None where nothing is
    """

    fit: Callable
    product: Callable = lambda weights: lambda z: z * weights
    shape: Callable = lambda c: None
    least: float = SMALLEST
    ridges: tuple[float, ...] = (0.0,)
    points: int = 0
    keeps_order: bool = True
    has_intercept: bool = True
    fault: Callable = lambda weights: None

    def numbers(self, c: int) -> int:
        """Parameters of W and b."""
        shape = self.shape(c)
        if shape is None:
            return 0
        return math.prod(shape) + c * self.has_intercept


KINDS = {
    "none": Kind(lambda p, y, ridges, weights: [ProbabilityMap("none")]),
    "temperature": Kind(
        lambda p, y, ridges, weights: [fit_temperature(p, y, weights)],
        shape=lambda c: (),
        has_intercept=False,
        fault=lambda weights: None if weights > 0 else "a temperature is not above 0",
    ),
    "matrix": Kind(
        _fit_matrix,
        lambda weights: Uniform(weights.T),
        lambda c: (c, c),
        SMALLEST_LINEAR,
        RIDGES,
        4,
        False,
    ),
}


class MapTrial(NamedTuple):
    """A kind of map tried by cross-validation: its ridge, losses (n,), and a map for each fold.

    The ridge is 0 where there is none. The points of the fold had no part in its map.
    """

    kind: str
    ridge: float
    losses: np.ndarray
    maps: tuple[ProbabilityMap, ...] = ()


def fit_in_training(
    p: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> tuple[ProbabilityMap, Callable]:
    """The map that training fits to p (n, c) with true columns y (n,), and a function to apply it.

    It is a temperature, or a matrix where there are few classes, four points for each number, and
    a cross-validated log loss that is lower by more than a standard error. The function maps p, or
    other probabilities of the same points; a matrix maps each point by a fit without it.
    Folds do not divide `groups` (n,).
    """
    c = p.shape[1]
    if 2 < c <= MOST_CLASSES and _has_points_for("matrix", p, weights):
        rows = np.argsort(y, kind="stable")[:: -(-len(y) // MOST_POINTS)]
        few, true, w, few_groups = (of_rows(values, rows) for values in (p, y, weights, groups))
        fold = stratified_folds(true, 1, 3, few_groups)
        trials = [
            _best_ridge(kind, few, true, fold, ridges, w)
            for kind, ridges in (("temperature", (0.0,)), ("matrix", (2e-3, 1e-2, 5e-2)))
        ]
        chosen = choose_map(trials, w, few_groups)
        if chosen.kind == "matrix":
            fitted = refit(chosen, few, true, w)

            def cross_validated(q):
                out = apply_map(fitted, q)
                out[rows] = held_out_map(chosen.maps, q[rows], fold)
                return out

            return fitted, cross_validated
    fitted = fit_temperature(p, y, weights)
    return fitted, partial(apply_map, fitted)


def _has_points_for(kind, p, weights):
    """Return whether n points, by their effective number, are enough to choose such a map."""
    n, c = p.shape
    if weights is not None:
        n = weights.sum() ** 2 / (weights @ weights)
    return KINDS[kind].points * KINDS[kind].numbers(c) <= n


def refit(
    trial: MapTrial, p: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None
) -> ProbabilityMap:
    """The map of a `MapTrial` fitted to p (n, c), true columns y (n,) and weights (n,)."""
    return KINDS[trial.kind].fit(p, y, (trial.ridge,), weights)[0]


def compare_maps(
    p: np.ndarray,
    y: np.ndarray,
    kind: str = "auto",
    seed: int = 1,
    folds: int = FOLDS,
    weights: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> list[MapTrial]:
    """A `MapTrial` of each kind, from the simple to the complex; of one, unless it is "auto".

    p (n, c), y (n,): true columns.  The ridge of a kind has the least cross-validated log loss on
    the same folds, which do not divide `groups` (n,).  "auto" leaves out matrices with fewer than
    four points for each number, which did harm on other points even where cross-validation was for
    them.
    """
    if kind == "auto":
        kinds = [name for name in KINDS if _has_points_for(name, p, weights)]
    else:
        kinds = [kind]
    fold = stratified_folds(y, seed, folds, groups)
    return [_best_ridge(name, p, y, fold, KINDS[name].ridges, weights) for name in kinds]


def _best_ridge(kind, p, y, fold, ridges, weights):
    others = [fold != number for number in range(fold.max() + 1)]
    maps = [KINDS[kind].fit(p[rows], y[rows], ridges, of_rows(weights, rows)) for rows in others]
    trials = (
        MapTrial(kind, ridge, losses(held_out_map(by_fold, p, fold), y), by_fold)
        for ridge, by_fold in zip(ridges, zip(*maps))
    )
    return min(trials, key=lambda trial: mean(trial.losses, weights))


def held_out_map(maps: Sequence[ProbabilityMap], p: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """p' (n, c) of p, each point by the map of its fold (n,)."""
    out = np.empty(p.shape)
    for number, fitted in enumerate(maps):
        out[fold == number] = apply_map(fitted, p[fold == number])
    return out


def choose_map(
    trials: list[MapTrial], weights: np.ndarray | None = None, groups: np.ndarray | None = None
) -> MapTrial:
    """The simplest of trials whose mean loss is within one standard error of the least.

    The standard error is that of the mean difference of the losses, point by point.
    """
    best = min(trials, key=lambda trial: mean(trial.losses, weights))
    for trial in trials:
        difference = trial.losses - best.losses
        if mean(difference, weights) <= standard_error(difference, weights, groups):
            return trial
    return best
