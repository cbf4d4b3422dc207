"""The learner `linear`, and the only user of LIBLINEAR: one binary problem in, a plane out.

Logistic regression (-s 0, 6, 7) and linear support vector machines (-s 1, 2, 3, 5), of
Fan, Chang, Hsieh, Wang and Lin, "LIBLINEAR: a library for large linear classification"
(2008).  The solvers 0 and 2 train side by side; all others draw from the C library's one random
number generator of the process, so they are called one at a time, each from the same start, and
their results depend on nothing else.

LIBLINEAR's own releases know no weights of samples.  Where points have weights, scikit-learn's
copy of LIBLINEAR trains, one classifier at a time for the same reason, with the C of a sample times
its weight.  It has no -R.
"""

from __future__ import annotations

import ctypes
import functools
import math
import threading
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ..core.errors import DataError, one_line, UsageError
from .options import PlaneLearner
from .points import (
    CLearner,
    CLibrary,
    sklearn_fit,
    sklearn_version,
    Solution,
    TOO_LARGE,
    weight_fields,
)

_LOGISTIC = (0, 6, 7)
_PARALLEL = (0, 2)  # those that draw no random numbers
_FREE_BIAS = (0, 2, 5, 6)
# LIBLINEAR's own for the support vector machines.  Its 0.01, 0.01 and 0.1 for logistic regression
# leave single probabilities wrong by 0.1 to 0.4, and these by at most 0.02.
_TOLERANCE = {0: 1e-4, 1: 0.1, 2: 0.01, 3: 0.1, 5: 0.01, 6: 1e-4, 7: 0.01}
_SEED = 1  # as in a program that sets none: LIBLINEAR's own
_OLDEST = 250
_random = threading.Lock()


@dataclass(frozen=True, repr=False)
class Linear(CLearner, PlaneLearner):
    """A linear classifier of LIBLINEAR as the learner of binary classifiers.

    Defaults are those of LIBLINEAR, but for three: -s is 1 there, -B -1, no intercept, and -e of
    logistic regression another one.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of the loss.
    tol : float, default=None
        Tolerance at which training stops; None: that of the solver.
    solver : {0, 1, 2, 3, 5, 6, 7}, default=0
        The number of a solver of LIBLINEAR: logistic regression (0, 6, 7), else support vector
        machines.
    bias : float, default=1.0
        Value of one feature more, whose weight is the intercept; negative: no intercept.
    free_bias : bool, default=False
        The intercept is not penalised.
    weights : pairs or dict, default=()
        Factors of C of the sides, 0 left and 1 right: ((0, 2.0),).
    """

    C: float = 1.0
    tol: float | None = None
    solver: int = 0
    bias: float = 1.0
    free_bias: bool = False
    weights: Mapping[int, float] | tuple = ()
    has_weights: bool = field(default=False, init=False)  # the points have weights

    name = "linear"
    flags = ("-R",)
    letters: ClassVar[dict] = {
        "-s": ("solver", 0, 7, True, False),
        "-c": ("C", 0, math.inf, False, True),
        "-e": ("tol", 0, math.inf, False, True),
        "-B": ("bias", -math.inf, math.inf, False, False),
        "-R": ("free_bias", 0, 1, True, False),
    }

    def checked(self, x=None, scales=False, weights=None):
        """As of any learner."""
        learner = super().checked()
        if learner.solver not in _TOLERANCE:
            raise UsageError(
                f"`solver`: {learner.solver} is not for two classes: expected one "
                "of " + " ".join(map(str, _TOLERANCE))
            )
        if learner.free_bias and (learner.bias != 1 or learner.solver not in _FREE_BIAS):
            raise UsageError(
                "`free_bias` needs `bias` 1 and `solver` " + " ".join(map(str, _FREE_BIAS))
            )
        return learner

    @property
    def stop(self):
        """The tolerance, that of the solver where none is given."""
        if self.tol is None:
            return _TOLERANCE[self.solver]
        return self.tol

    def canonical(self):
        """The settings that decide the result, in one fixed spelling."""
        words = [
            f"learner={self.name} -s {self.solver} -c {self.C!r} -e {self.stop!r}",
            f"-B {self.bias!r}" if self.bias >= 0 else "-B -1.0",
        ]
        return " ".join(words + ["-R"] * self.free_bias + self.weight_words())

    @property
    def gives_probabilities(self):
        """True for logistic regression, unless weights have shifted its probabilities."""
        return self.solver in _LOGISTIC and not self.weights

    @property
    def no_loo(self):
        """The reason why leave-one-out values have no formula here, or ""."""
        if self.gives_probabilities:
            return ""
        return f"for LIBSVM's C-SVC only, not for learner=linear -s {self.solver}" + (
            " with weights" if self.solver in _LOGISTIC else ""
        )

    def made_by(self):
        """The library and its version."""
        if self.has_weights:
            return f"liblinear of scikit-learn {sklearn_version()}"
        return f"liblinear {_library().version}"

    def weighted(self):
        """Options for the LIBLINEAR of scikit-learn: the official one takes no weights."""
        if self.free_bias:
            raise UsageError(
                "learner=linear cannot heed weights of points with -R: leave it out, "
                "or take learner=logistic, an intercept that is not penalised"
            )
        return super().weighted()

    @property
    def feature(self):
        """The value of one feature more, whose weight is the intercept, or None."""
        if self.bias >= 0:
            return self.bias
        return None

    def solve(self, packed, rows, side, w=None):
        """The `Solution` of a problem; `DataError` where it is not finite."""
        if self.has_weights:
            return _solve_weighted(packed[rows], np.asarray(side), w, self)
        return _solve(packed, rows, side, self)


class _Parameter(ctypes.Structure):
    _fields_ = [
        ("solver_type", ctypes.c_int),
        ("eps", ctypes.c_double),
        ("C", ctypes.c_double),
        ("nr_weight", ctypes.c_int),
        ("weight_label", ctypes.POINTER(ctypes.c_int)),
        ("weight", ctypes.POINTER(ctypes.c_double)),
        ("p", ctypes.c_double),
        ("nu", ctypes.c_double),
        ("init_sol", ctypes.c_void_p),
        ("regularize_bias", ctypes.c_int),
        ("w_recalc", ctypes.c_bool),
    ]


class _Problem(ctypes.Structure):
    _fields_ = [
        ("l", ctypes.c_int),
        ("n", ctypes.c_int),
        ("y", ctypes.c_void_p),
        ("x", ctypes.c_void_p),
        ("bias", ctypes.c_double),
    ]


class _Model(ctypes.Structure):
    _fields_ = [
        ("param", _Parameter),
        ("nr_class", ctypes.c_int),
        ("nr_feature", ctypes.c_int),
        ("w", ctypes.POINTER(ctypes.c_double)),
        ("label", ctypes.POINTER(ctypes.c_int)),
        ("bias", ctypes.c_double),
        ("rho", ctypes.c_double),
    ]


@functools.lru_cache(maxsize=1)
def _library():
    return CLibrary(
        "liblinear",
        _OLDEST,
        f"learner=linear needs LIBLINEAR {_OLDEST / 100:.2f} or newer: pip install 'agfmc[linear]'",
        ("train", "check_parameter", "free_and_destroy_model", "set_print_string_function"),
        (_Model, _Problem, _Parameter),
    )


def _solve(nodes, rows, side, options):
    """The `Solution` by LIBLINEAR for `Nodes` of all points, with the bias of the options.

    `rows` (l,) are the points of this problem; `side` (l,) is 0 for left and 1 for right. As in
    LIBLINEAR, the label of the first row comes first.
    """
    library = _library()
    pointers = nodes.pointers(rows)
    y = np.ascontiguousarray(side, dtype=np.float64)
    width = nodes.features + (nodes.bias is not None)
    problem = _Problem(
        len(y),
        width,
        y.ctypes.data,
        pointers.ctypes.data,
        -1.0 if nodes.bias is None else nodes.bias,
    )
    parameter = _Parameter(
        solver_type=options.solver,
        C=options.C,
        p=0.1,
        nu=0.5,
        eps=options.stop,
        regularize_bias=int(not options.free_bias),
        **weight_fields(options.weights),
    )
    refusal = library.refusal(problem, parameter)
    if refusal:
        raise DataError(f"LIBLINEAR refuses the problem: {refusal}")
    with nullcontext() if options.solver in _PARALLEL else _random:
        if options.solver not in _PARALLEL:
            ctypes.CDLL(None).srand(_SEED)
        with library.trained(problem, parameter) as model:
            if model.nr_feature != nodes.features or model.nr_class != 2:
                raise UsageError(
                    "this version of LIBLINEAR is unsupported: liblinear-official 2.50 is"
                )
            w = np.ctypeslib.as_array(model.w, (width,)).copy()
            labels = model.label[0], model.label[1]
    if nodes.bias is None:
        intercept = 0.0
    else:
        intercept = nodes.bias * w[-1]
    return _plane(w[: nodes.features], intercept, labels)


def _plane(w, intercept, labels):
    if not (np.isfinite(w).all() and np.isfinite(intercept)):
        raise DataError(TOO_LARGE.format("values"))
    return Solution.plane(w, intercept, labels)


_DUAL = (1, 3, 7)
# LIBLINEAR's own; where descent in the dual has not ended then, LIBLINEAR goes over to the primal,
# and scikit-learn's does not
_STEPS, _DUAL_STEPS = 1000, 20_000


def _solve_weighted(x, side, w, options):
    """The `Solution` by scikit-learn of points x (l, d) with weights w (l,), None for 1.

    The label of the first row comes first.
    """
    machine = _machine(options)
    with _random, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Liblinear failed to converge")  # `converged` says it
        first, machine = sklearn_fit(
            machine,
            x,
            side,
            w,
            options.weights,
            lambda error: f"scikit-learn refuses the problem: {one_line(str(error))}",
        )
    solution = _plane(
        -np.ravel(machine.coef_).astype(np.float64),
        -float(np.ravel(machine.intercept_)[0]),
        (first, 1 - first),
    )
    return replace(solution, converged=np.max(machine.n_iter_) < machine.max_iter)


def _machine(options):
    dual = options.solver in _DUAL
    common = {
        "C": options.C,
        "tol": options.stop,
        "fit_intercept": options.bias > 0,
        "intercept_scaling": options.bias if options.bias > 0 else 1.0,
        "dual": dual,
        "max_iter": _DUAL_STEPS if dual else _STEPS,
        "random_state": _SEED,
    }
    if options.solver not in _LOGISTIC:
        from sklearn.svm import LinearSVC

        return LinearSVC(
            penalty="l1" if options.solver == 5 else "l2",
            loss="hinge" if options.solver == 3 else "squared_hinge",
            **common,
        )
    from sklearn.linear_model import LogisticRegression

    machine = LogisticRegression(solver="liblinear", **common)
    if options.solver == 6:  # spelled anew in scikit-learn 1.8
        machine.set_params(
            **{"penalty": "l1"}
            if machine.get_params().get("penalty") == "l2"
            else {"l1_ratio": 1.0}
        )
    return machine
