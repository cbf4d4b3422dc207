"""The learner `logistic`: regularised logistic regression of our own, which needs no library.

With y = +1 for the first label and -1 for the other, f(x) = w.x + b minimises

    |w|^2 / 2 + sum_i C_i log(1 + exp(-y_i f(x_i))) ,

C_i being C times the weight of the side; the intercept b is not penalised.  This is
LIBLINEAR's -s 0 -B 1 -R.  Newton's method (iteratively reweighted least squares), its
steps shortened until the loss falls: with the whole second derivative where there are few
features, else by conjugate gradients (Lin, Weng and Keerthi, "Trust region Newton method
for logistic regression", 2008), for which the points may be sparse.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from ..arrays import is_sparse
from ..errors import AgfmcWarning, DataError
from ..models import Kernel
from .nodes import Solution
from .option_scanner import scan

__all__ = ["LogisticOptions", "parse", "solve"]

_WHOLE = 200  # features up to which the second derivative is made as a matrix
_ROWS = 4096  # points for one matrix product
_STEPS, _INNER = 100, 250


@dataclass(frozen=True)
class LogisticOptions:
    """C, the size of the gradient at which to stop over that at 0, and weights of the sides."""

    cost: float = 1.0
    tolerance: float = 1e-6
    weights: tuple = ()

    svm_type = "c_svc"
    own_vectors = True
    packing = "points"

    def canonical(self):
        """The settings that decide the result, in one fixed spelling."""
        return " ".join([f"learner=logistic -c {self.cost!r} -e {self.tolerance!r}",
                         *(f"-w{side} {factor!r}" for side, factor in self.weights)])

    def kernel_for(self, features):
        """The linear `Kernel`."""
        return Kernel("linear")

    @property
    def own_probabilities(self):
        """True unless weights have shifted them."""
        return not self.weights

    @property
    def no_loo(self):
        """Why single samples cannot be left out by a formula, or ""."""
        return "for LIBSVM's C-SVC only, not for learner=logistic with weights" \
            if self.weights else ""

    def made_by(self):
        """No library is needed."""
        return ""

    def pack(self, x, rows=None):
        """The points as they are."""
        return x

    def solve(self, packed, rows, side):
        """The `Solution` of a problem; see `solve`."""
        return solve(packed, rows, side, self)


def parse(text, **place):
    """Parse `text`, the letters -c -e -w0 -w1, into `LogisticOptions`."""
    values, weights = scan(text, _KNOWN, **place)
    return LogisticOptions(weights=weights, **values)


# option: (field, smallest, largest, whole number, smallest excluded)
_KNOWN = {
    "-c": ("cost", 0, math.inf, False, True),
    "-e": ("tolerance", 0, 1, False, True),
}


def solve(x, rows, side, options):
    """Train one classifier; -> `Solution`.

    x (n, d): all points, an array or `SparsePoints`; rows (l,) those of this problem;
    side (l,) 0 for left and 1 for right; options: `LogisticOptions`.  The label of the
    first row comes first.  Warns with `AgfmcWarning` where the minimum was not reached;
    raises `DataError` where the values are too large.
    """
    problem = _Problem(x[rows], np.asarray(side), options)
    v = np.zeros(x.shape[1] + 1)  # w, then b
    f = np.zeros(len(rows))
    with np.errstate(over="ignore", invalid="ignore"):
        value, gradient, curvature = problem.at(v, f)
        goal = options.tolerance * np.abs(gradient).max()
        for _ in range(_STEPS):
            if not np.abs(gradient).max() > goal:
                break
            step = problem.direction(gradient, curvature)
            move, slope, length = problem.forward(step), float(gradient @ step), 1.0
            while length > 1e-10:
                new, size = v + length * step, problem.loss(v + length * step, f + length * move)
                if size <= value + 1e-4 * length * slope + 1e-14 * abs(value):
                    break
                length /= 2.0
            else:
                break  # rounding: there is nothing lower
            v, f = new, f + length * move
            value, gradient, curvature = problem.at(v, f)
    if not (np.isfinite(v).all() and np.isfinite(value)):
        raise DataError("training gave NaN or infinity: the values of these points are too "
                        "large; normalise the data or choose other options")
    if np.abs(gradient).max() > max(1000.0 * goal, 1e-6 * len(rows)):
        warnings.warn("logistic regression stopped before the minimum: normalise the data, or "
                      "try a smaller -c", AgfmcWarning, stacklevel=2)
    return Solution.plane(v[:-1], v[-1], problem.labels)


class _Problem:
    """The points x (l, d) of one problem, signs y (l,) and factors c (l,) of the losses."""

    def __init__(self, x, side, options):
        self.x = x.csr if is_sparse(x) else np.asarray(x, dtype=np.float64)
        first = int(side[0])
        self.labels = (first, 1 - first)
        self.y = np.where(side == first, 1.0, -1.0)
        weights = dict(options.weights)
        self.c = options.cost * np.where(side == 0, weights.get(0, 1.0), weights.get(1, 1.0))
        self.squares = None
        self.whole = not is_sparse(x) and x.shape[1] <= _WHOLE
        if not self.whole:
            self.squares = self.x.power(2) if is_sparse(x) else self.x ** 2

    def forward(self, v):
        """Of weights and intercept v (d + 1,): the f (l,) that they make."""
        return self.x @ v[:-1] + v[-1]

    def back(self, u):
        """The transpose of `forward`."""
        return np.append(self.x.T @ u, u.sum())

    def loss(self, v, f):
        """What is minimised."""
        return float(0.5 * v[:-1] @ v[:-1] + self.c @ np.logaddexp(0.0, -self.y * f))

    def at(self, v, f):
        """Loss, gradient (d + 1,) and second derivatives (l,) of the losses."""
        wrong = 0.5 * (1.0 - np.tanh(0.5 * self.y * f))  # the probability of the other side
        gradient = self.back(-self.c * self.y * wrong)
        gradient[:-1] += v[:-1]
        return self.loss(v, f), gradient, self.c * wrong * (1.0 - wrong)

    def direction(self, gradient, curvature):
        """The step of Newton's method from there, exact or nearly so."""
        little = 1e-10 * float(self.c.sum())  # the intercept of separable points is flat
        if self.whole:
            d = self.x.shape[1]
            matrix = np.zeros((d + 1, d + 1))
            for start in range(0, len(self.x), _ROWS):
                part, weight = (a[start:start + _ROWS] for a in (self.x, curvature))
                scaled = part * weight[:, None]
                matrix[:d, :d] += scaled.T @ part
                matrix[d, :d] += scaled.sum(axis=0)
            matrix[:d, d] = matrix[d, :d]
            matrix[d, d] = curvature.sum() + little
            matrix[np.arange(d), np.arange(d)] += 1.0
            try:
                return -np.linalg.solve(matrix, gradient)
            except np.linalg.LinAlgError:  # of large features that are nearly the same
                return -np.linalg.lstsq(matrix, gradient, rcond=None)[0]
        scale = np.append(self.squares.T @ curvature + 1.0, curvature.sum() + little)
        return self._conjugate(gradient, curvature, 1.0 / scale, little)

    def _conjugate(self, gradient, curvature, scale, little):
        """Conjugate gradients, preconditioned with the diagonal, until a hundredth is left."""
        step, residual = np.zeros_like(gradient), -gradient
        treated = scale * residual
        product = float(residual @ treated)
        aim = 1e-4 * product
        search = treated
        for _ in range(_INNER):
            bent = self.back(curvature * self.forward(search)) + search
            bent[-1] += (little - 1.0) * search[-1]
            curved = float(search @ bent)
            if not 0.0 < curved < math.inf:  # the values are too large, or nothing is left
                break
            size = product / curved
            step += size * search
            residual -= size * bent
            treated = scale * residual
            before, product = product, float(residual @ treated)
            if not product > aim:
                break
            search = treated + product / before * search
        return step
