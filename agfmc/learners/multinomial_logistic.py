"""Multinomial logistic regression with a ridge, fitted by a truncated Newton method.

P(c | x) = exp(w_c.x) / sum_b exp(w_b.x), and the weights minimise

    - sum_i log P(y_i | x_i) + (ridge / 2) |W|^2 ,

with gradient sum_i (P(c | x_i) - [y_i = c]) x_i + ridge w_c.  The penalty is
on the weights of the features as they are given, not on the intercepts.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from ..arrays import padded_blocks
from ..errors import AgfmcWarning, DataError, UsageError

__all__ = ["fit_logistic", "logistic_probabilities", "minimise", "negative_log_likelihood"]

# Points evaluated together.  Every block has this size, short ones are padded: the
# answer for a point does not depend on its neighbours.
BLOCK = 512
_ROWS = 4096  # points for one matrix product in a fit
_DENSE = 2000  # features up to which the preconditioner is a full matrix
_STEPS = 200
_INNER = 300  # conjugate gradients in one step
# Largest entry of the gradient over n, on standardised features: what is aimed at, and
# what is passed over in silence where rounding stops the descent before.
_AIM, _ENOUGH = 1e-10, 1e-6


def fit_logistic(x, y, c, ridge=1.0):
    """Weights (c, d + 1) for points x (n, d) of classes y (n,) in 0..c-1.

    The last column is the intercept, which is not penalised; the intercepts add
    up to 0, since a common shift of them changes nothing.  The features are
    standardised inside and their penalties with them, so that the meaning of
    the ridge is kept and the descent does not depend on their units.

    Raises `UsageError` for a ridge that is not above 0 (separable classes
    would have no best weights) and `DataError` where a class has no points;
    warns with `AgfmcWarning` where the minimum was not reached.
    """
    if not 0.0 < ridge < math.inf:
        raise UsageError(f"ridge {ridge!r}: expected a number above 0")
    x = np.asarray(x)
    y = np.asarray(y, dtype=np.int64)
    empty = np.flatnonzero(np.bincount(y, minlength=c) == 0)
    if len(empty):
        raise DataError(f"class {empty[0]} (counted from 0) has no points")
    n, d = x.shape
    scaled = np.empty((n, d + 1))
    scaled[:, d] = 1.0
    centred = scaled[:, :d]
    mean = x.mean(axis=0, dtype=np.float64)
    np.subtract(x, mean, out=centred)
    largest = np.abs(centred).max(axis=0)
    # a constant feature gets weight 0; a mean may be off by rounding, hence its own test
    moving = (largest > 1e-100) & (x.max(axis=0) > x.min(axis=0))
    centred /= np.where(moving, largest, 1.0)
    centred[:, ~moving] = 0.0
    deviation = np.sqrt(np.einsum("ij,ij->j", centred, centred) / n)
    centred /= np.where(moving, deviation, 1.0)
    deviation = np.where(moving, deviation * largest, 1.0)
    weights = minimise(scaled, y, c, np.append(ridge / deviation**2, 0.0))
    weights[:, :d] /= deviation
    weights[:, d] -= weights[:, :d] @ mean
    weights[:, d] -= weights[:, d].mean()
    return weights


def negative_log_likelihood(w, x, y, ridge=0.0):
    """(value, gradient (c, d)) at w (c, d) for points x (n, d), y (n,) in 0..c-1.

    ridge: one factor for all weights, or (d,) factors of the columns.
    """
    value, gradient, _ = _evaluate(w, x, np.asarray(y), np.broadcast_to(ridge, x.shape[1:]))
    return value, gradient


def minimise(x, y, c, ridge):
    """Weights w (c, d) where `negative_log_likelihood` is smallest; no intercept is added.

    Newton's steps from w = 0, by conjugate gradients preconditioned with X^T X
    / c + ridge, which is the same for all classes; shortened until Armijo's
    condition holds.  Warns with `AgfmcWarning` where the minimum was not reached.
    """
    x = np.asarray(x, dtype=np.float64)
    y = np.asarray(y, dtype=np.int64)
    ridge = np.broadcast_to(np.asarray(ridge, dtype=np.float64), x.shape[1:])
    precondition = _preconditioner(x, ridge, c)
    w = np.zeros((c, x.shape[1]))
    value, gradient, shares = _evaluate(w, x, y, ridge)
    start = np.abs(gradient).max()
    for _ in range(_STEPS):
        size = np.abs(gradient).max()
        if size <= _AIM * len(x):
            break
        accuracy = min(0.1, math.sqrt(size / start))
        direction = _newton_direction(x, shares, ridge, gradient, precondition, accuracy)
        slope = float(np.vdot(gradient, direction))
        slack = 1e-14 * abs(value)  # near the minimum the value moves by rounding alone
        length = 1.0
        while length > 1e-10:
            trial = w + length * direction
            found = _evaluate(trial, x, y, ridge)
            if found[0] <= value + 1e-4 * length * slope + slack:
                break
            length /= 2.0
        else:
            break
        if slope >= 0.0 or found[0] >= value and np.abs(found[1]).max() >= size:
            break  # rounding: neither value nor gradient gets smaller
        w = trial
        value, gradient, shares = found
    size = np.abs(gradient).max()
    if not size <= _ENOUGH * len(x):
        warnings.warn(
            f"logistic regression stopped before the minimum: the gradient is {size:.3g} "
            f"for {len(x)} points; a larger ridge helps", AgfmcWarning, stacklevel=2)
    return w


def logistic_probabilities(weights, x):
    """p (n, c) of points x (n, d) with weights (c, d + 1), the last column the intercept.

    The answer for a point has the same bits whatever points come with it.
    Raises `DataError` where the points have another number of features.
    """
    x = np.asarray(x)
    c, d = weights.shape[0], weights.shape[1] - 1
    if x.ndim != 2 or x.shape[1] != d:
        width = x.shape[-1] if x.ndim else 0
        raise DataError(f"the points have {width} features, the model needs {d}")
    result = np.empty((len(x), c))
    columns = np.empty((d, BLOCK))
    z = np.empty((c, BLOCK))
    part = np.empty((c, BLOCK))
    for rows, block in padded_blocks(x, BLOCK):
        columns[:] = block.T
        z[:] = weights[:, d:]
        # the sum over the features in their order, not BLAS
        for j in range(d):
            np.multiply(weights[:, j, None], columns[j], out=part)
            z += part
        z -= z.max(axis=0)
        np.exp(z, out=z)
        z /= z.sum(axis=0)
        result[rows] = z[:, :rows.stop - rows.start].T
    return result


def _evaluate(w, x, y, ridge):
    """Value, gradient (c, d) and, block by block, the probabilities (c, rows) at w."""
    value = 0.5 * float(np.sum(ridge * w * w))
    gradient = ridge * w
    shares = []
    for start in range(0, len(x), _ROWS):
        rows, own = x[start:start + _ROWS], y[start:start + _ROWS]
        place = own, np.arange(len(own))
        z = w @ rows.T
        z -= z.max(axis=0)
        value -= float(z[place].sum())
        np.exp(z, out=z)
        total = z.sum(axis=0)
        value += float(np.log(total).sum())
        z /= total
        shares.append(z)
        miss = z.copy()
        miss[place] -= 1.0
        gradient += miss @ rows
    return value, gradient, shares


def _curvature(x, shares, ridge, v):
    """Hessian times v (c, d): sum_i mu_ic (v_c.x_i - sum_b mu_ib v_b.x_i) x_i + ridge v_c."""
    result = ridge * v
    start = 0
    for mu in shares:
        rows = x[start:start + mu.shape[1]]
        start += mu.shape[1]
        z = v @ rows.T
        z -= np.einsum("ci,ci->i", mu, z)
        z *= mu
        result += z @ rows
    return result


def _preconditioner(x, ridge, c):
    """A function r (c, d) -> r times the inverse of X^T X / c + ridge, or of its diagonal."""
    d = x.shape[1]
    if d > _DENSE:
        diagonal = np.einsum("ij,ij->j", x, x) / c + ridge
        scale = 1.0 / np.where(diagonal > 0.0, diagonal, 1.0)
        return lambda r: r * scale
    matrix = np.zeros((d, d))
    for start in range(0, len(x), _ROWS):
        rows = x[start:start + _ROWS]
        matrix += rows.T @ rows
    matrix /= c
    matrix[np.diag_indices(d)] += ridge
    # diagonal 1, and a little more so that equal columns are no obstacle
    root = np.sqrt(np.diag(matrix))
    root[root == 0.0] = 1.0
    matrix /= root
    matrix /= root[:, None]
    matrix[np.diag_indices(d)] += 1e-8
    inverse = np.linalg.inv(matrix)
    inverse = (inverse + inverse.T) / 2.0
    inverse /= root
    inverse /= root[:, None]
    return lambda r: r @ inverse


def _newton_direction(x, shares, ridge, gradient, precondition, accuracy):
    """An approximate solution of H s = -gradient by preconditioned conjugate gradients.

    Over the classes the gradients add up to 0 as long as the weights do, and so do
    the steps then: the directions in which the loss is flat are never entered.
    """
    step = np.zeros_like(gradient)
    residual = -gradient
    treated = precondition(residual)
    product = float(np.vdot(residual, treated))
    goal = accuracy**2 * product
    search = treated.copy()
    for _ in range(_INNER):
        bent = _curvature(x, shares, ridge, search)
        curvature = float(np.vdot(search, bent))
        if not curvature > 0.0:
            break
        step += product / curvature * search
        residual -= product / curvature * bent
        treated = precondition(residual)
        before, product = product, float(np.vdot(residual, treated))
        if product <= goal:
            break
        search = treated + product / before * search
    return step if step.any() else precondition(-gradient)
