"""Logistic regression, by scikit-learn: the learner `logistic`, code L of nodes, its file.

The learner `logistic` has two sides: with y = +1 for the first label and -1 for the other,
f(x) = w.x + b minimises

    |w|^2 / 2 + sum_i C_i log(1 + exp(-y_i f(x_i))) ,

C_i being C times the weights of the side and of the point; the intercept b is not penalised.
This is LIBLINEAR's -s 0 -B 1 -R.

Code L tells the branches of a node apart: P(c | x) = exp(w_c.x) / sum_b exp(w_b.x), and the
weights minimise

    - sum_i v_i log P(y_i | x_i) + (ridge / 2) |W|^2 ,

v_i being the weight of a point.  The penalty is on the weights of the features as they are given,
not on the intercepts.

The file of a model of code L is text: the title `agfmc logistic 1`, the lines `classes c`,
`features d`, `ridge R` and `points n`, a line of d + 1 numbers for each class, the last one being
the intercept, and, where it is known, `# agfmc` with what the model was made from (`Provenance`)
and its seal.  Every number reads back bit for bit.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import ClassVar

import numpy as np
from scipy.sparse import issparse
from scipy.special import softmax

from ..core.errors import DataError, ModelError
from ..core.models import NodeModel
from ..core.points import is_sparse, padded_blocks
from ..core.provenance import Provenance
from ..core.version import __version__
from ..files.atomic import checked
from ..files.codec import check_seal, sealed
from ..files.number_text import ascii_text, line_numbers, number_of
from ..files.opening import read_bytes
from .options import NodeLearner, PlaneLearner
from .points import side_factors, sklearn_version, Solution, TOO_LARGE

_STEPS = 200  # of Newton's method
# Points of a multinomial model evaluated together.  Every block has this size, short ones are
# padded: the answer for a point does not depend on its neighbours.
BLOCK = 512
# Rows of the largest Hessian that is made, of which a step takes the third power.  Conjugate gradients
# took a tenth of the time with 1000, and about as long with 300 (500 and 3000 samples).
_DENSE = 500
_AIM = 1e-10  # largest entry of the gradient of the mean loss


@dataclass(frozen=True, repr=False)
class Logistic(PlaneLearner):
    """Logistic regression as the learner of binary classifiers.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of the loss.
    tol : float, default=1e-06
        Largest entry of the gradient of the mean loss at which training stops.
    weights : pairs or dict, default=()
        Factors of C of the sides, 0 left and 1 right: ((0, 2.0),).
    """

    C: float = 1.0
    tol: float = 1e-6
    weights: Mapping[int, float] | tuple = ()

    name = "logistic"
    letters: ClassVar[dict] = {
        "-c": ("C", 0, math.inf, False, True),
        "-e": ("tol", 0, 1, False, True),
    }

    @property
    def gives_probabilities(self):
        """True unless weights have shifted them."""
        return not self.weights

    @property
    def no_loo(self):
        """The reason why leave-one-out values have no formula here, or ""."""
        if self.weights:
            return "for LIBSVM's C-SVC only, not for learner=logistic with weights"
        return ""

    def made_by(self):
        """scikit-learn and its version."""
        return _library()

    def solve(self, packed, rows, side, w=None):
        """The `Solution` of a problem."""
        x, side = packed[rows], np.asarray(side)
        first = int(side[0])
        cost = self.C * side_factors(side, self.weights)
        if w is not None:
            cost = cost * w
        if is_sparse(x):
            points = x.csr
        else:
            points = np.asarray(x, dtype=np.float64)
        weights, intercept = _fit(points, side == first, 1.0, cost, self.tol)
        return Solution.plane(weights[0], intercept[0], (first, 1 - first))


@dataclass(frozen=True)
class MultinomialOptions(NodeLearner):
    """Options of multinomial logistic regression: the factor of |W|^2 / 2.

    It is more than 0: without it, classes that can be separated have no best weights.
    """

    ridge: float = 1.0

    recognised_by = "seal"
    letters: ClassVar[dict] = {"-r": ("ridge", 0, math.inf, False, True)}

    def made_by(self):
        """scikit-learn and its version."""
        return _library()

    def identity(self, job):
        """The letter, the library, and the options as the user wrote them."""
        return "L", self.made_by(), job.text

    def fit(self, job, problem):
        """The `NodeModel` of a `NodeProblem`."""
        part = problem.samples
        branches = len(job.sides)
        weights = fit_logistic(
            problem.x[part.rows], part.side, branches, self.ridge, problem.weights
        )
        provenance = Provenance(
            __version__, options=self.canonical(), normalised=problem.normalised
        ).with_samples(np.bincount(part.side, minlength=branches), job.sides, problem.sums)
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


def _library():
    return f"scikit-learn {sklearn_version('logistic regression is fitted by')}"


def fit_logistic(x, y, c, ridge=1.0, w=None):
    """Weights (c, d + 1) for points x (n, d) of classes y (n,) in 0..c-1, with weights w (n,).

    The last column is the intercept, which is not penalised; the intercepts add up to 0, since a
    common shift of them changes nothing.  w None: all are 1.

    Raises `DataError` where a class has no points, and as `_fit` does.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.int64)
    empty = np.flatnonzero(np.bincount(y, minlength=c) == 0)
    if len(empty):
        raise DataError(f"class {empty[0]} (counted from 0) has no points")
    if w is None:
        w = np.ones(len(x))
    mean = np.average(x, axis=0, weights=w)
    # a constant feature gets weight 0; a mean may be off by rounding
    centred = np.where(x.max(axis=0) > x.min(axis=0), x - mean, 0.0)
    # of two classes scikit-learn has one plane v = w_1 - w_0, |W|^2 is |v|^2 / 2 then
    cost = (2.0 if c == 2 else 1.0) / ridge
    coefficients, intercept = _fit(centred, y, cost, w, _AIM)
    if c == 2:
        coefficients = np.concatenate([-coefficients, coefficients]) / 2.0
        intercept = np.concatenate([-intercept, intercept]) / 2.0
    intercept = intercept - coefficients @ mean
    return np.column_stack([coefficients, intercept - intercept.mean()])


def _fit(x, y, cost, w, tolerance):
    """(coefficients, intercepts) of scikit-learn's logistic regression.

    It minimises |W|^2 / 2 + cost sum_i w_i log loss, and ends where no entry of the gradient of the
    mean is above the tolerance.  Raises `DataError` where the values are too large, `UsageError`
    without scikit-learn, which warns where the minimum was not reached.
    """
    _library()
    from sklearn.linear_model import LogisticRegression

    # Newton's method is exact to the last digits, and does not depend on the units of features
    classes = len(np.unique(y))
    planes = 1 if classes == 2 else classes
    if issparse(x) or x.shape[1] * planes > _DENSE:
        solver = "newton-cg"
    else:
        solver = "newton-cholesky"
    model = LogisticRegression(C=cost, tol=tolerance, solver=solver, max_iter=_STEPS)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            model.fit(x, y, w)
    except ValueError as error:
        raise DataError(TOO_LARGE.format("values")) from error
    if not (np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()):
        raise DataError(TOO_LARGE.format("values"))
    return model.coef_, model.intercept_


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
    if raw is None:
        raw = read_bytes(path)
    check_seal(raw, path)

    def fail(message, line=None):
        return ModelError(message, file=path, line=line)

    text = ascii_text(raw, "a logistic model", fail)
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].split() != _TITLE.split():
        if lines[0].split()[:2] == _TITLE.split()[:2]:
            raise fail(f"expected version 1 of this format, found '{lines[0][:40]}'", 1)
        if text.strip():
            shown = f"'{lines[0][:40]}'"
        else:
            shown = "an empty file"
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
        provenance = Provenance.from_line(rest.pop(0)[len(_MARK) :])
    if rest:
        raise fail("expected the end of the file", len(lines) - len(rest) + 1)
    return LogisticModel(weights, ridge, points, provenance)


def _value(key, text, fail):
    words = text.split()
    least = _LEAST[key]
    if len(words) != 2 or words[0] != key:
        if text:
            shown = f"'{text[:40]}'"
        else:
            shown = "the end of the file"
        raise fail(f"expected '{key}' and a number, found {shown}")
    value = number_of(words[1])
    if least is None and value >= 0:
        return value
    if least is not None and re.fullmatch(r"\d{1,12}", words[1]) and value >= least:
        return int(value)
    if least is None:
        expected = "a number that is not negative"
    else:
        expected = f"a whole number from {least} up"
    raise fail(f"{key}: expected {expected}, found '{words[1][:40]}'")
