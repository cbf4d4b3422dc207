"""The learner `svm`, and the only user of LIBSVM: C-SVC and nu-SVC with svm-train's letters.

The Python module of libsvm-official is not imported: it loads SciPy.  `-b 1` is never used:
LIBSVM's own cross-validation draws from one random number generator for the whole process, so its
results depend on the order of training.

Where libsvm-official is not installed, the shared library of conda or of the system serves.  Where
there is none, or points have weights, which LIBSVM's own releases do not know, scikit-learn's copy
of LIBSVM trains: the C of a sample is that of its side times its weight.  The model files are the
same, and say which library made them.  Kernels that it does not have are handed over as tables.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..core.errors import AgfmcNotice, DataError, one_line, UsageError, warn_user
from ..core.kernels import KERNELS
from ..kernels.values import PreparedKernel
from .options import BORDERS, KernelLearner
from .points import (
    CatchWords,
    CLearner,
    CLibrary,
    sklearn_fit,
    sklearn_version,
    Solution,
    TOO_LARGE,
    weight_fields,
)

_TYPES = {"c_svc": 0, "nu_svc": 1}
_PRECOMPUTED = 4
_OLDEST = 331
# of conda, or where the system looks for libraries
_FILES = tuple(
    folder + f"libsvm.{end}"
    for folder in (os.path.join(sys.prefix, "lib", ""), "")
    for end in ("so.4", "so.3", "so.2", "so", "dylib")
)

_STRANGE = dict.fromkeys(
    BORDERS,
    "libAGF's class borders, which have such an option, are not "
    "here: LIBSVM trains, with svm-train's options",
)
_STRANGE["-v"] = "cross-validation is what nfold does"
_STRANGE["-s"] = (
    "0 is C-SVC and 1 nu-SVC; one-class and regression machines (2 to 4) are not "
    "classifiers (float_to_class makes classes of a quantity), and libAGF's class "
    "borders, whose -s counts samples, are not supported"
)
_STRANGE["-t"] = (
    "precomputed kernels (4) are not read, and libAGF's class borders, whose -t is a "
    "tolerance, are unsupported"
)


@dataclass(frozen=True, repr=False)
class SVM(CLearner, KernelLearner):
    """A support vector machine of LIBSVM as the learner of binary classifiers.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of points on the wrong side of the margin.
    kernel : {"rbf", "linear", "polynomial", "sigmoid", "laplacian", "exponential"}
        The kernel; "poly" is short for "polynomial".
    gamma : float, "scale" or "auto", default=None
        Parameter of the kernel. "auto" and None: 1 / n_features; "scale":
        1 / (n_features * variance of the training points).
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the kernels "polynomial" and "sigmoid".
    tol : float, default=0.001
        Tolerance at which training stops.
    svm_type : {"c_svc", "nu_svc"}, default="c_svc"
        C-SVC, or nu-SVC, which has `nu` in place of C.
    nu : float, default=0.5
        Bound on the share of points within the margin, of nu-SVC.
    shrinking : bool, default=True
        Leave points at their bounds out during training.
    cache_size : float, default=100.0
        MB for kernel values, which change no result.
    weights : pairs or dict, default=()
        Factors of C of the sides, 0 left and 1 right: ((0, 2.0),).

    Examples
    --------
    >>> import numpy as np
    >>> import agfmc
    >>> x = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = (x[:, 0] > 0) + 2 * (x[:, 1] > 0)
    >>> model = agfmc.train("one-vs-rest", x, y, learner=agfmc.SVM(C=10, gamma="scale"))
    >>> agfmc.Classifier(model).probabilities(x[:5]).shape
    (5, 4)
    """

    C: float = 1.0
    kernel: str = "rbf"
    gamma: float | str | None = None
    degree: int = 3
    coef0: float = 0.0
    tol: float = 0.001
    svm_type: str = "c_svc"
    nu: float = 0.5
    shrinking: bool = True
    cache_size: float = 100.0
    weights: Mapping[int, float] | tuple = ()
    has_weights: bool = field(default=False, init=False)  # the points have weights

    name = "svm"
    letters: ClassVar[dict] = {
        "-s": ("svm_type", 0, 1, True, False),
        "-t": ("kernel", tuple(KERNELS), None, False, False),
        "-d": ("degree", 0, 100, True, False),
        "-g": ("gamma", 0, math.inf, False, False),
        "-r": ("coef0", -math.inf, math.inf, False, False),
        "-c": ("C", 0, math.inf, False, True),
        "-n": ("nu", 0, 1, False, True),
        "-m": ("cache_size", 0, 1e6, False, True),
        "-e": ("tol", 0, math.inf, False, True),
        "-h": ("shrinking", 0, 1, True, False),
        "-b": (None, 0, 1, True, False),  # and -q: training is quiet, and fits probabilities
    }
    strange = _STRANGE

    def checked(self, x=None, scales=False, weights=None):
        """As of any learner."""
        number = self.svm_type
        if isinstance(number, str):
            if number not in _TYPES:
                raise UsageError(
                    f"`svm_type`: expected one of {', '.join(_TYPES)}, found {number!r}"
                )
            number = _TYPES[number]
        learner = super(SVM, self.changed(svm_type=number)).checked(x, scales, weights)
        return learner.changed(
            svm_type=list(_TYPES)[learner.svm_type], shrinking=bool(learner.shrinking)
        )

    def _word(self, letter, value):
        if letter == "-s":
            return str(_TYPES[value])
        return super()._word(letter, value)

    def canonical(self):
        """The settings that decide the result: not the size of the cache."""
        words = [f"-s {_TYPES[self.svm_type]}", *self.kernel_words()]
        words.append(f"-n {self.nu!r}" if self.svm_type == "nu_svc" else f"-c {self.C!r}")
        words.append(f"-e {self.tol!r} -h {int(self.shrinking)}")
        return " ".join(words + self.weight_words())

    @property
    def no_loo(self):
        """The reason why leave-one-out values have no formula here, or ""."""
        if self.svm_type == "c_svc":
            return ""
        return "for C-SVC only, not for nu-SVC (-s 1)"

    def made_by(self):
        """The library and its version."""
        if self.by_sklearn:
            return f"libsvm of scikit-learn {sklearn_version()}"
        return f"libsvm {library().version}"

    @property
    def by_sklearn(self):
        """True where the LIBSVM of scikit-learn trains."""
        return self.has_weights or library() is None

    def solve(self, packed, rows, side, w=None):
        """The `Solution` of a problem."""
        if self.by_sklearn:
            return _solve_weighted(packed[rows], np.asarray(side), w, self)
        return solve(packed, rows, side, self)


class _Parameter(ctypes.Structure):
    _fields_ = [
        (name, kind)
        for names, kind in (
            (("svm_type", "kernel_type", "degree"), ctypes.c_int),
            (("gamma", "coef0", "cache_size", "eps", "C"), ctypes.c_double),
            (("nr_weight",), ctypes.c_int),
            (("weight_label",), ctypes.POINTER(ctypes.c_int)),
            (("weight",), ctypes.POINTER(ctypes.c_double)),
            (("nu", "p"), ctypes.c_double),
            (("shrinking", "probability"), ctypes.c_int),
        )
        for name in names
    ]


class _Problem(ctypes.Structure):
    _fields_ = [("l", ctypes.c_int), ("y", ctypes.c_void_p), ("x", ctypes.c_void_p)]


class _Model(ctypes.Structure):
    _fields_ = [
        ("param", _Parameter),
        ("nr_class", ctypes.c_int),
        ("l", ctypes.c_int),
        ("SV", ctypes.c_void_p),
        ("sv_coef", ctypes.POINTER(ctypes.POINTER(ctypes.c_double))),
        ("rho", ctypes.POINTER(ctypes.c_double)),
        ("probA", ctypes.c_void_p),
        ("probB", ctypes.c_void_p),
        ("prob_density_marks", ctypes.c_void_p),
        ("sv_indices", ctypes.POINTER(ctypes.c_int)),
        ("label", ctypes.POINTER(ctypes.c_int)),
        ("nSV", ctypes.POINTER(ctypes.c_int)),
        ("free_sv", ctypes.c_int),
    ]


@functools.lru_cache(maxsize=1)
def library():
    """The `CLibrary`, or None where only that of scikit-learn is installed; a message says so."""
    # its OpenMP loops, whose number is read while it is loaded, would fight with our threads
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        loaded = CLibrary(
            "libsvm",
            _OLDEST,
            "",
            (
                "svm_train",
                "svm_check_parameter",
                "svm_free_and_destroy_model",
                "svm_set_print_string_function",
            ),
            (_Model, _Problem, _Parameter),
            _FILES,
        )
        name = f"LIBSVM {loaded.version / 100:.2f} of {loaded.path}"
    except UsageError:
        version = sklearn_version("without libsvm-official, support vector machines need")
        loaded = None
        name = f"the LIBSVM of scikit-learn {version}"
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
    if loaded is None or loaded.path in _FILES:
        warn_user(f"libsvm-official is not installed: {name} trains", AgfmcNotice)
    return loaded


def solve(nodes, rows, side, options):
    """Train one binary support vector machine.

    `nodes` are `Nodes` of all points, or a `KernelTable` of these or more, `rows` (l,) the points
    of this problem, and `side` (l,) is 0 for left and 1 for right. As in LIBSVM, the label of the
    first row comes first. Raises `DataError` where LIBSVM finds the problem infeasible (a nu too
    large for the sizes of the sides) and where the kernel overflows.
    """
    loaded = library()
    pointers = nodes.pointers(rows)
    y = np.ascontiguousarray(side, dtype=np.float64)
    problem = _Problem(len(y), y.ctypes.data, pointers.ctypes.data)
    parameter = _parameter(options, nodes.features, nodes.precomputed)
    refusal = loaded.refusal(problem, parameter)
    if refusal:
        raise DataError(
            f"LIBSVM refuses the problem: {refusal}"
            + (_smaller_nu(side) if "nu is infeasible" in refusal else "")
        )
    with CatchWords() as words, loaded.trained(problem, parameter) as model:
        count = model.l
        # far cheaper than arrays made of ctypes' pointers
        sv = np.frombuffer(ctypes.string_at(model.sv_indices, 4 * count), np.int32) - 1
        coef = np.frombuffer(ctypes.string_at(model.sv_coef[0], 8 * count)).copy()
        rho = model.rho[0]
        if not (math.isfinite(rho) and np.isfinite(coef).all()):
            raise DataError(_why_not_finite(options, side, count))
        return Solution(
            sv,
            coef,
            rho,
            (model.label[0], model.label[1]),
            (model.nSV[0], model.nSV[1]),
            converged=not any(b"max number of iterations" in text for text in words),
        )


@functools.lru_cache(maxsize=64)
def _parameter(options, features, precomputed):
    """The `_Parameter` of options for points of so many features; LIBSVM only reads it."""
    kernel = options.kernel_for(features)
    return _Parameter(
        svm_type=_TYPES[options.svm_type],
        kernel_type=_PRECOMPUTED if precomputed else KERNELS[options.kernel].number,
        degree=kernel.degree,
        gamma=kernel.gamma,
        coef0=kernel.coef0,
        cache_size=options.cache_size,
        eps=options.tol,
        C=options.C,
        nu=options.nu,
        p=0.1,
        shrinking=int(options.shrinking),
        probability=0,
        **weight_fields(options.weights),
    )


def _why_not_finite(options, side, count):
    if (
        options.svm_type == "nu_svc"
        and options.nu * len(side) >= 2 * np.bincount(side, minlength=2).min()
    ):
        return f"nu (-n {options.nu!r}) leaves no sample free{_smaller_nu(side)}"
    if options.svm_type == "nu_svc" and count:  # the margin is 0, and everything divided by it
        return (
            "nu-SVC (-s 1) finds no margin: to the kernel both sides are alike; normalise the "
            "data, choose a larger -g, or C-SVC (-s 0)"
        )
    return TOO_LARGE.format("kernel values")


def _smaller_nu(side, w=None):
    left, right = np.bincount(side, weights=w, minlength=2).tolist()
    most = 2 * min(left, right) / (left + right)
    if w is None:
        what = "samples"
    else:
        what = "as weights of the sides"
    return (
        f": with {left:g} and {right:g} {what} -n must be less than {most:.3g}, in "
        f"cross-validation still less ({most / 2:.2g}, for instance)"
    )


def _solve_weighted(x, side, w, options):
    """The `Solution` by scikit-learn of points x (l, d) with weights w (l,), None for 1.

    The label of the first row comes first.  Raises `DataError` where LIBSVM finds the problem
    infeasible (a nu too large for the weights of the sides) and where the kernel overflows.
    """
    kernel = options.kernel_for(x.shape[1])
    is_nu = options.svm_type == "nu_svc"
    machine = _machine(options, kernel, len(side))
    if machine.kernel == "precomputed":
        x = PreparedKernel(kernel, x).values(x)

    def why_not(error):
        text = one_line(str(error))
        if is_nu and ("infeasible" in text or "not finite" in text):
            return f"LIBSVM refuses the problem{_smaller_nu(side, w)}"
        if "not finite" in text:
            return TOO_LARGE.format("kernel values")
        return f"scikit-learn refuses the problem: {text}"

    first, machine = sklearn_fit(machine, x, side, w, () if is_nu else options.weights, why_not)
    coef = machine.dual_coef_
    if hasattr(coef, "toarray"):
        coef = coef.toarray()
    return Solution(
        np.asarray(machine.support_, dtype=np.int32),
        -np.ravel(coef),
        float(np.ravel(machine.intercept_)[0]),
        (first, 1 - first),
        tuple(machine.n_support_.tolist()),
        converged=not machine.fit_status_,
    )


def _machine(options, kernel, size):
    from sklearn import svm

    class Silent:
        """A machine that stops at LIBSVM's own limit of iterations without a warning of its own."""

        def _warn_from_fit_status(self):
            pass

    if not KERNELS[kernel.kind].in_libsvm:
        name = "precomputed"
    elif kernel.kind == "polynomial":
        name = "poly"
    else:
        name = kernel.kind
    common = {
        "kernel": name,
        "degree": kernel.degree,
        "gamma": kernel.gamma,
        "coef0": kernel.coef0,
        "shrinking": options.shrinking,
        "tol": options.tol,
        "cache_size": options.cache_size,
        "max_iter": max(10**7, 100 * size),
        "random_state": 0,
    }  # else a draw from NumPy's common generator
    if options.svm_type == "nu_svc":
        return type("_SilentNu", (Silent, svm.NuSVC), {})(nu=options.nu, **common)
    return type("_SilentSvm", (Silent, svm.SVC), {})(C=options.C, **common)
