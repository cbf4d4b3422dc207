"""Logistic regression, which needs no library: the learner `logistic`, code L of nodes, its file.

The learner `logistic` has two sides: with y = +1 for the first label and -1 for the other,
f(x) = w.x + b minimises

    |w|^2 / 2 + sum_i C_i log(1 + exp(-y_i f(x_i))) ,

C_i being C times the weights of the side and of the point; the intercept b is not penalised.
This is LIBLINEAR's -s 0 -B 1 -R.

Code L tells the branches of a node apart: P(c | x) = exp(w_c.x) / sum_b exp(w_b.x), and the
weights minimise

    - sum_i v_i log P(y_i | x_i) + (ridge / 2) |W|^2 ,

v_i being the weight of a point, with the gradient sum_i v_i (P(c | x_i) - [y_i = c]) x_i + ridge
w_c.  The penalty is on the weights of the features as they are given, not on the intercepts.

One solver minimises both, as two sides are two classes with a ridge of 2: Newton's method, whose
step is computed by conjugate gradients (Lin, Weng and Keerthi, "Trust region Newton method for
logistic regression", 2008), for which the points may be sparse.

The file of a model of code L is text: the title `agfmc logistic 1`, the lines `classes c`,
`features d`, `ridge R` and `points n`, a line of d + 1 numbers for each class, the last one being
the intercept, and, where it is known, `# agfmc` with what the model was made from (`Provenance`)
and its seal.  Every number reads back bit for bit.
"""

import math
import re
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import hstack, issparse
from scipy.special import log_softmax, softmax

from ..core.errors import DataError, ModelError, warn_user
from ..core.models import NodeModel
from ..core.points import is_sparse, padded_blocks
from ..core.provenance import Provenance
from ..core.version import __version__
from ..files.atomic import checked
from ..files.codec import check_seal, sealed, unsealed
from ..files.number_text import ascii_text, line_numbers, number_of
from ..files.opening import read_bytes
from .options import NodeLearner, PlaneLearner
from .points import side_factors, Solution, TOO_LARGE

_STEPS, _INNER = 200, 300  # of Newton's method, of conjugate gradients in each
# Points of a multinomial model evaluated together.  Every block has this size, short ones are
# padded: the answer for a point does not depend on its neighbours.
BLOCK = 512
_DENSE = 2000  # features up to which the preconditioner is a full matrix
# Largest entry of the gradient over n, on standardised features: what is aimed at, and
# what is passed over in silence where rounding stops the descent before.
_AIM, _ENOUGH = 1e-10, 1e-6


@dataclass(frozen=True)
class LogisticOptions(PlaneLearner):
    """Options of the learner `logistic`.

    Attributes
    ----------
    cost : C
    tolerance : size of the gradient at which to stop, over that at 0
    weights : ((side, factor), ...) of C
    """

    cost: float = 1.0
    tolerance: float = 1e-6
    weights: tuple = ()

    name = "logistic"
    letters: ClassVar[dict] = {
        "-c": ("cost", 0, math.inf, False, True),
        "-e": ("tolerance", 0, 1, False, True),
    }

    @property
    def gives_probabilities(self):
        """True unless weights have shifted them."""
        return not self.weights

    @property
    def no_loo(self):
        """The reason why leave-one-out values have no formula here, or ""."""
        return (
            "for LIBSVM's C-SVC only, not for learner=logistic with weights" if self.weights else ""
        )

    def solve(self, packed, rows, side, w=None):
        """The `Solution` of a problem: the multinomial model of two classes, f = w_1.x - w_2.x.

        With a ridge of 2 its penalty is |w_1 - w_2|^2 / 2, as w_2 = -w_1 at the minimum.
        """
        x, side = packed[rows], np.asarray(side)
        first = int(side[0])
        cost = self.cost * side_factors(side, self.weights)
        if w is not None:
            cost = cost * w
        if is_sparse(x):
            points = hstack((x.csr, np.ones((len(rows), 1))), "csr", dtype=np.float64)
        else:
            points = np.c_[np.asarray(x, dtype=np.float64), np.ones(len(rows))]
        ridge = np.append(np.full(x.shape[1], 2.0), 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            weights = minimise(
                points, (side != first).astype(np.int64), 2, ridge, cost, self.tolerance
            )
        if not np.isfinite(weights).all():
            raise DataError(TOO_LARGE.format("values"))
        plane = weights[0] - weights[1]
        return Solution.plane(plane[:-1], plane[-1], (first, 1 - first))


@dataclass(frozen=True)
class MultinomialOptions(NodeLearner):
    """Options of multinomial logistic regression: the factor of |W|^2 / 2.

    It is more than 0: without it, classes that can be separated have no best weights.
    """

    ridge: float = 1.0

    recognised_by = "seal"
    letters: ClassVar[dict] = {"-r": ("ridge", 0, math.inf, False, True)}

    def identity(self, job):
        """The letter, and the options as the user wrote them."""
        return "L", job.text

    def fit(self, job, problem):
        """The `NodeModel` of a `NodeProblem`."""
        part, branches = problem.samples, len(job.sides)
        weights = fit_logistic(
            problem.x[part.rows], part.side, branches, self.ridge, problem.weights
        )
        provenance = Provenance.of_training(__version__, self.canonical()).with_samples(
            np.bincount(part.side, minlength=branches), job.sides, problem.normalised, problem.sums
        )
        return NodeModel("L", job.name, branches, provenance, weights=weights)

    def write(self, job, problem, streams):
        """Write the model as text, sealed where the problem has an origin."""
        model = self.fit(job, problem)
        text = format_logistic_model(
            LogisticModel(model.weights, self.ridge, len(problem.samples.rows), model.provenance)
        )
        if problem.origin is not None:
            text = sealed(text, problem.origin)
        streams[0].write(text.encode())

    def read(self, name, branches):
        """The `NodeModel` in the file of that name."""
        model = read_logistic_model(name)
        if len(model.weights) != branches:
            raise ModelError(
                f"is a model of {len(model.weights)} classes, and the classifier "
                f"has {branches} branches",
                file=name,
            )
        return NodeModel("L", name, branches, model.provenance, weights=model.weights)

    @staticmethod
    def classifier(model):
        """The classifier of a model."""
        return _Multinomial(model.weights)


@dataclass(frozen=True, eq=False)
class _Multinomial:
    """A trained model of weights (c, d + 1), ready to classify."""

    weights: np.ndarray

    def probabilities(self, x):
        return logistic_probabilities(self.weights, x)


def fit_logistic(x, y, c, ridge=1.0, w=None):
    """Weights (c, d + 1) for points x (n, d) of classes y (n,) in 0..c-1, with weights w (n,).

    The last column is the intercept, which is not penalised; the intercepts add
    up to 0, since a common shift of them changes nothing.  The features are
    standardised inside and their penalties with them, so that the meaning of
    the ridge is kept and the descent does not depend on their units.  w None: all are 1.

    Raises `DataError` where a class has no points; warns where the minimum was not reached.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.int64)
    empty = np.flatnonzero(np.bincount(y, minlength=c) == 0)
    if len(empty):
        raise DataError(f"class {empty[0]} (counted from 0) has no points")
    mean = np.average(x, axis=0, weights=w)
    centred = x - mean
    deviation = np.sqrt(np.average(centred**2, axis=0, weights=w))
    # a constant feature gets weight 0; a mean may be off by rounding, hence its own test
    moving = (deviation > 0.0) & (x.max(axis=0) > x.min(axis=0))
    deviation[~moving] = 1.0
    weights = minimise(
        np.c_[np.where(moving, centred / deviation, 0.0), np.ones(len(x))],
        y,
        c,
        np.append(ridge / deviation**2, 0.0),
        w,
    )
    weights[:, :-1] /= deviation
    weights[:, -1] -= weights[:, :-1] @ mean
    weights[:, -1] -= weights[:, -1].mean()
    return weights


def minimise(x, y, c, ridge, w=None, share=None):
    """Weights (c, d) with the least value of `_evaluate`, by Newton's method from 0.

    No intercept is added. A step is shortened until Armijo's condition holds. Warns where the
    minimum was not reached.

    Parameters
    ----------
    x : array or CSR matrix (n, d), points
    y : array (n,), classes in 0..c-1
    ridge : float or array (d,), one factor for all weights, or factors of the columns
    w : array (n,), optional, weights of the points, None for 1
    share : float, optional
        Largest entry of the gradient to stop at, over that at 0; None for 1e-10 of the weight of
        all points.
    """
    y, w = np.asarray(y, dtype=np.int64), np.ones(x.shape[0]) if w is None else w
    ridge = np.broadcast_to(np.asarray(ridge, dtype=np.float64), x.shape[1:])
    precondition = _preconditioner(x, ridge, c, w)
    weights = np.zeros((c, x.shape[1]))
    value, gradient, shares = _evaluate(weights, x, y, ridge, w)
    size = start = np.abs(gradient).max()
    goal = _AIM * w.sum() if share is None else share * start
    for _ in range(_STEPS):
        if not size > goal:
            break
        direction = _newton_step(
            partial(_curvature, x, shares, ridge, w),
            gradient,
            precondition,
            min(0.01, size / start),
        )
        slope = float(np.vdot(gradient, direction))
        slack = 1e-14 * abs(value)  # near the minimum the value moves by rounding alone
        length = 1.0
        while length > 1e-10:
            trial = weights + length * direction
            trial_value, trial_gradient, trial_shares = _evaluate(trial, x, y, ridge, w)
            if trial_value <= value + 1e-4 * length * slope + slack:
                break
            length /= 2.0
        else:
            break
        trial_size = np.abs(trial_gradient).max()
        if slope >= 0.0 or trial_value >= value and trial_size >= size:
            break  # rounding: neither value nor gradient gets smaller
        weights, value, gradient, shares, size = (
            trial,
            trial_value,
            trial_gradient,
            trial_shares,
            trial_size,
        )
    if size > max(_ENOUGH * w.sum(), 1000.0 * goal):
        warn_user(
            f"logistic regression stopped before the minimum: the gradient is {size:.3g} "
            f"for {x.shape[0]} points; normalise the data, or try more regularisation (a smaller "
            "-c, a larger ridge)"
        )
    return weights


def _evaluate(weights, x, y, ridge, w):
    """Value, gradient (c, d) and probabilities (c, n) at weights (c, d)."""
    true = y, np.arange(len(y))
    logs = log_softmax((x @ weights.T).T, axis=0)
    shares = np.exp(logs)
    miss = shares * w
    miss[true] -= w
    value = 0.5 * float(np.sum(ridge * weights * weights)) - float(logs[true] @ w)
    return value, ridge * weights + (x.T @ miss.T).T, shares


def _newton_step(hessian, gradient, precondition, share):
    """Newton's step s, H s = -gradient, by conjugate gradients.

    It ends when `share` of the preconditioned square of the residual is left, or where H is
    not positive, or the values are too large.  Over the classes the gradients add up to 0 as long
    as the weights do, and so do the steps then: directions in which the loss is flat are never
    entered.
    """
    step, residual = np.zeros_like(gradient), -gradient
    search = precondition(residual)
    product = float(np.vdot(residual, search))
    goal = share * product
    for _ in range(_INNER):
        bent = hessian(search)
        curvature = float(np.vdot(search, bent))
        if not 0.0 < curvature < math.inf:
            break
        size = product / curvature
        step += size * search
        residual -= size * bent
        treated = precondition(residual)
        before, product = product, float(np.vdot(residual, treated))
        if not product > goal:
            break
        search = treated + product / before * search
    return step if step.any() else precondition(-gradient)


def _curvature(x, shares, ridge, w, v):
    """Hessian times v (c, d): sum_i mu_ic (v_c.x_i - sum_b mu_ib v_b.x_i) x_i + ridge v_c."""
    z = (x @ v.T).T
    z -= np.einsum("ci,ci->i", shares, z)
    return ridge * v + (x.T @ (z * shares * w).T).T


def _preconditioner(x, ridge, c, w):
    """A function r (c, d) -> r times the inverse of X^T X / c + ridge, or of its diagonal.

    It is the same for all classes and steps.
    """
    diagonal = (x.power(2) if issparse(x) else x**2).T @ w / c + ridge
    diagonal[diagonal == 0.0] = 1.0
    if x.shape[1] > _DENSE or issparse(x) or not np.isfinite(diagonal).all():
        return lambda r: r / diagonal
    matrix = x.T @ (x * w[:, None]) / c
    # a little more, so that equal columns are no obstacle
    matrix[np.diag_indices_from(matrix)] = diagonal * (1.0 + 1e-8)
    factor = cho_factor(matrix)
    return lambda r: cho_solve(factor, r.T).T


def logistic_probabilities(weights, x):
    """p (n, c) of points x (n, d) with weights (c, d + 1), the last column the intercept.

    The answer for a point has the same bits whatever points come with it.
    Raises `DataError` where the points have another number of features.
    """
    x = np.asarray(x)
    d = weights.shape[1] - 1
    if x.ndim != 2 or x.shape[1] != d:
        raise DataError(
            f"the points have {x.shape[-1] if x.ndim else 0} features, the model needs {d}"
        )
    result = np.empty((len(x), len(weights)))
    for part, block in padded_blocks(x, BLOCK):
        z = np.tile(weights[:, d:], len(block))
        # the sum over the features in their order, not BLAS
        for column, of_classes in zip(block.T, weights.T):
            z += of_classes[:, None] * column
        result[part] = softmax(z, axis=0)[:, : part.stop - part.start].T
    return result


_TITLE = "agfmc logistic 1"
_LEAST = {"classes": 2, "features": 1, "ridge": None, "points": 1}  # whole number; any number
_MARK = "# agfmc "


@dataclass(frozen=True, eq=False)
class LogisticModel:
    """weights (c, d + 1), the last column the intercept; what they were fitted with, and from."""

    weights: np.ndarray
    ridge: float
    points: int
    provenance: Provenance = Provenance()


def format_logistic_model(model):
    """The text of a `LogisticModel`, which is `checked`; each number reads back bit for bit."""
    c, width = model.weights.shape
    lines = [
        _TITLE,
        f"classes {c}",
        f"features {width - 1}",
        f"ridge {float(model.ridge)!r}",
        f"points {int(model.points)}",
    ]
    lines += [" ".join(map(repr, row)) for row in model.weights.tolist()]
    if model.provenance:
        lines.append(_MARK + model.provenance.to_line())
    return checked("\n".join(lines) + "\n", lambda text: read_logistic_model(None, text.encode()))


def read_logistic_model(path, raw=None):
    """Read the text file of a `LogisticModel`; raw: its bytes, if read already.

    Raises `ModelError` with the line of whatever is invalid.
    """
    raw = read_bytes(path) if raw is None else raw
    check_seal(raw, path)

    def fail(message, line=None):
        return ModelError(message, file=path, line=line)

    text = ascii_text(raw, "a logistic model", fail)
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].split() != _TITLE.split():
        if lines[0].split()[:2] == _TITLE.split()[:2]:
            raise fail(f"expected version 1 of this format, found '{lines[0][:40]}'", 1)
        shown = f"'{lines[0][:40]}'" if text.strip() else "an empty file"
        raise fail(f"expected '{_TITLE}', found {shown}", 1)
    if lines.pop() != "":
        raise fail("truncated: the last line is not complete", len(lines) + 1)
    c, d, ridge, points = (
        _value(key, lines[line - 1] if line <= len(lines) else "", partial(fail, line=line))
        for line, key in enumerate(_LEAST, 2)
    )
    first = len(_LEAST) + 2  # line of weights
    body = list(takewhile(lambda line: not line.startswith("#"), lines[first - 1 : first - 1 + c]))
    rest = lines[first - 1 + len(body) :]
    if len(body) < c:
        raise fail(
            f"truncated: expected {c} lines of weights, found {len(body)}",
            first - 1 + len(body) + bool(rest),
        )
    weights = np.array(
        [
            line_numbers(row, d + 1, "numbers", partial(fail, line=line))
            for line, row in enumerate(body, first)
        ]
    )
    provenance = Provenance()
    if rest and rest[0].startswith(_MARK):
        provenance = Provenance.from_line(unsealed(rest.pop(0)[len(_MARK) :]))
    if rest:
        raise fail("expected the end of the file", len(lines) - len(rest) + 1)
    return LogisticModel(weights, ridge, points, provenance)


def _value(key, text, fail):
    words, least = text.split(), _LEAST[key]
    if len(words) != 2 or words[0] != key:
        shown = f"'{text[:40]}'" if text else "the end of the file"
        raise fail(f"expected '{key}' and a number, found {shown}")
    value = number_of(words[1])
    if least is None and value >= 0:
        return value
    if least is not None and re.fullmatch(r"\d{1,12}", words[1]) and value >= least:
        return int(value)
    expected = (
        "a number that is not negative" if least is None else f"a whole number from {least} up"
    )
    raise fail(f"{key}: expected {expected}, found '{words[1][:40]}'")
