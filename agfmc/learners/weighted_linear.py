"""The learner `linear` where points have weights: the LIBLINEAR of scikit-learn, which heeds them.

C_i = C w_i, times the factor of the side.  The official LIBLINEAR knows no weights of points.
Options, models and their files are those of `liblinear`.  Problems are trained one at a time,
each from the same start of the one generator of random numbers that all solvers there share.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from ..errors import DataError, one_line, UsageError
from .liblinear import LinearOptions
from .nodes import Solution
from .weighted_svm import ByScikitLearn, side_weights, sklearn_points

__all__ = ["WeightedLinearOptions"]

_DUAL = (1, 3, 7)
_LOGISTIC = (0, 6, 7)
# LIBLINEAR's own; where descent in the dual has not ended then, LIBLINEAR goes over to the primal,
# and scikit-learn's does not
_STEPS, _DUAL_STEPS = 1000, 20_000
_SEED = 1
_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class WeightedLinearOptions(ByScikitLearn, LinearOptions):
    """Options of LIBLINEAR for points with weights."""

    trained_by = "liblinear of scikit-learn"

    @classmethod
    def of(cls, options: LinearOptions) -> WeightedLinearOptions:
        """The same options; `UsageError` for -R, which scikit-learn does not have."""
        if options.free:
            raise UsageError("learner=linear cannot heed weights of points with -R: leave it out, "
                             "or take learner=logistic, an intercept that is not penalised")
        return super().of(options)

    def solve(self, packed, rows, side, w=None):
        """The `Solution` of a problem; see `_solve`."""
        return _solve(packed, rows, np.asarray(side), w, self)


def _solve(x, rows, side, w, options):
    """Train one linear classifier on points with weights.

    x (n, d): all points, an array or `SparsePoints`; rows (l,) the points of this problem; side
    (l,) 0 for left and 1 for right; w (l,) or None for 1.  The label of the first row comes first.
    Raises `DataError` where the result is not finite.
    """
    first = int(side[0])
    machine = _machine(options)
    points, y = sklearn_points(x[rows]), (side != first).astype(np.float64)
    try:
        with _one_at_a_time:
            machine.fit(points, y, sample_weight=side_weights(w, side, options.weights))
    except ValueError as error:
        raise DataError(f"scikit-learn refuses the problem: {one_line(str(error))}") from None
    v = np.ravel(machine.coef_).astype(np.float64)
    intercept = float(np.ravel(machine.intercept_)[0])
    if not (np.isfinite(v).all() and np.isfinite(intercept)):
        raise DataError("training gave NaN or infinity: the values of these points are too "
                        "large; normalise the data or choose other options")
    # there f > 0 speaks for the second label
    return Solution.plane(-v, -intercept, (first, 1 - first))


def _machine(options):
    """The estimator of scikit-learn with these options."""
    dual = options.solver in _DUAL
    common = {"C": options.cost, "tol": options.stop, "fit_intercept": options.bias > 0,
              "intercept_scaling": options.bias if options.bias > 0 else 1.0, "dual": dual,
              "max_iter": _DUAL_STEPS if dual else _STEPS, "random_state": _SEED}
    if options.solver not in _LOGISTIC:
        from sklearn.svm import LinearSVC

        return LinearSVC(penalty="l1" if options.solver == 5 else "l2",
                         loss="hinge" if options.solver == 3 else "squared_hinge", **common)
    from sklearn.linear_model import LogisticRegression

    machine = LogisticRegression(solver="liblinear", **common)
    if options.solver == 6:  # spelled anew in scikit-learn 1.8
        machine.set_params(**{"penalty": "l1"} if machine.get_params().get("penalty") == "l2"
                           else {"l1_ratio": 1.0})
    return machine
