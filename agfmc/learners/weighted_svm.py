"""The learner `svm` where points have weights: the LIBSVM of scikit-learn, which heeds them.

C_i = C w_i, times the factor of the side; a nu-SVC has its w_i in the sums that nu bounds, and no
factors of sides, as in LIBSVM.  The official LIBSVM knows no weights of points.  Options, models
and their files are those of `libsvm`.  scikit-learn releases the interpreter's lock while its
LIBSVM trains; nothing is drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ..arrays import is_sparse
from ..errors import DataError, one_line, UsageError
from ..models import KERNELS
from .libsvm import SvmOptions
from .nodes import Solution

__all__ = ["ByScikitLearn", "WeightedSvmOptions", "side_weights", "sklearn_points",
           "sklearn_version"]

_NAMES = {"polynomial": "poly"}  # of kernels in scikit-learn, where these are others


class ByScikitLearn:
    """The common part of options whose learner trains through scikit-learn.

    trained_by: the library and its distribution, as models tell it.
    """

    packing = "points"
    trained_by = ""

    @classmethod
    def of(cls, options):
        """The same options, where their learner is to heed weights."""
        return cls(**{one.name: getattr(options, one.name) for one in fields(options)})

    def weighted(self):
        """These options: they heed weights."""
        return self

    def made_by(self):
        """The library and its version; `UsageError` where it is not installed."""
        return f"{self.trained_by} {sklearn_version()}"

    def pack(self, x, rows=None):
        """The points as they are."""
        return x


@dataclass(frozen=True)
class WeightedSvmOptions(ByScikitLearn, SvmOptions):
    """Options of svm-train for points with weights."""

    trained_by = "libsvm of scikit-learn"

    def solve(self, packed, rows, side, w=None):
        """The `Solution` of a problem; see `_solve`."""
        return _solve(packed, rows, np.asarray(side), w, self)


def sklearn_version() -> str:
    """The version of scikit-learn; `UsageError` where it is not installed."""
    try:
        import sklearn
    except ImportError:
        raise UsageError("weights of points need scikit-learn: pip install 'agfmc[sklearn]'") \
            from None
    return sklearn.__version__


def sklearn_points(x):
    """Points x (l, d) as scikit-learn takes them: float64, or CSR with indices of 32 bits."""
    if not is_sparse(x):
        return np.ascontiguousarray(x, dtype=np.float64)
    from scipy.sparse import csr_matrix

    csr = x.csr
    return csr_matrix((csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int32)),
                      shape=csr.shape)


def side_weights(w, side, factors):
    """The weights (l,) times the factor of the side; w: None for 1, factors: ((side, factor), ...).
    """
    factors = dict(factors)
    of_side = np.where(side == 0, factors.get(0, 1.0), factors.get(1, 1.0))
    return of_side if w is None else of_side * w


def _solve(x, rows, side, w, options):
    """Train one binary support vector machine on points with weights.

    x (n, d): all points, an array or `SparsePoints`; rows (l,) the points of this problem; side
    (l,) 0 for left and 1 for right; w (l,) or None for 1.  The label of the first row comes first.
    Raises `DataError` where LIBSVM finds the problem infeasible (a nu too large for the weights
    of the sides) and where the kernel overflows.
    """
    first = int(side[0])
    is_nu = options.svm_type == "nu_svc"
    machine = _machine(options, options.kernel_for(x.shape[1]), len(rows))
    try:
        machine.fit(_points(x[rows], machine.kernel, options), (side != first).astype(np.float64),
                    sample_weight=side_weights(w, side, () if is_nu else options.weights))
    except ValueError as error:
        raise DataError(_why_not(error, options, side, w)) from None
    coef = machine.dual_coef_
    coef = coef.toarray() if hasattr(coef, "toarray") else coef
    # there f > 0 speaks for the second label
    return Solution(np.asarray(machine.support_, dtype=np.int32), -np.ravel(coef),
                    float(np.ravel(machine.intercept_)[0]), (first, 1 - first),
                    tuple(machine.n_support_.tolist()))


def _points(x, kernel, options):
    """Points x (l, d) as the machine takes them, or their kernel values (l, l)."""
    if kernel != "precomputed":
        return sklearn_points(x)
    from scipy.spatial.distance import cdist

    kernel = options.kernel_for(x.shape[1])
    return np.exp(-kernel.gamma * cdist(x, x, KERNELS[kernel.kind].distance))


def _machine(options, kernel, size):
    """The estimator of scikit-learn with these options, for so many points."""
    from sklearn import svm

    class Silent:
        """A machine that stops at LIBSVM's own limit of iterations in silence, as LIBSVM does."""

        def _warn_from_fit_status(self):
            pass

    name = _NAMES.get(kernel.kind, kernel.kind) if KERNELS[kernel.kind].in_libsvm else "precomputed"
    common = {"kernel": name, "degree": kernel.degree, "gamma": kernel.gamma,
              "coef0": kernel.coef0, "shrinking": options.shrinking, "tol": options.tolerance,
              "cache_size": options.cache, "max_iter": max(10**7, 100 * size),
              "random_state": 0}  # else a draw from NumPy's common generator
    if options.svm_type == "nu_svc":
        return type("_SilentNu", (Silent, svm.NuSVC), {})(nu=options.nu, **common)
    return type("_SilentSvm", (Silent, svm.SVC), {})(C=options.cost, **common)


def _why_not(error, options, side, w):
    """The message for a problem that scikit-learn's LIBSVM refuses or has no finite answer to."""
    text = one_line(str(error))
    if options.svm_type == "nu_svc" and ("infeasible" in text or "not finite" in text):
        left, right = np.bincount(side, weights=w, minlength=2)
        most = 2 * min(left, right) / (left + right)
        return f"LIBSVM refuses the problem: with weights of {left:g} and {right:g} on its sides " \
               f"nu (-n {options.nu!r}) must be less than {most:.3g}, in cross-validation still " \
               f"less ({most / 2:.2g}, for instance)"
    if "not finite" in text:
        return "training gave NaN or infinity: the kernel values of these points are too large; " \
               "normalise the data or choose other options"
    return f"scikit-learn refuses the problem: {text}"
