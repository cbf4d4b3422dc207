"""The learner `svm`: LIBSVM's C-SVC and nu-SVC, with svm-train's own letters."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..models import Kernel, KERNELS
from .option_scanner import BORDERS, scan

__all__ = ["SvmOptions", "parse"]

_TYPES = ("c_svc", "nu_svc")


@dataclass(frozen=True)
class SvmOptions:
    """What LIBSVM's svm-train can be told about a classifier; its defaults.

    `gamma` None stands for 1 / (number of features); `weights` pairs a side
    (0 left, 1 right) with the factor of its C.
    """

    svm_type: str = "c_svc"
    kernel: str = "rbf"
    degree: int = 3
    gamma: float | None = None
    coef0: float = 0.0
    cost: float = 1.0
    nu: float = 0.5
    cache: float = 100.0
    tolerance: float = 0.001
    shrinking: bool = True
    weights: tuple = ()

    own_vectors = False
    own_probabilities = False
    packing = "nodes"

    def canonical(self):
        """The settings that decide the result, in one fixed spelling.

        The cache size is left out: it changes the time, not the model.
        """
        words = [f"-s {_TYPES.index(self.svm_type)}", f"-t {KERNELS[self.kernel].number}"]
        used = KERNELS[self.kernel].parameters
        if "degree" in used:
            words.append(f"-d {self.degree}")
        if "gamma" in used:
            words.append("-g " + ("1/d" if self.gamma is None else repr(self.gamma)))
        if "coef0" in used:
            words.append(f"-r {self.coef0!r}")
        words.append(f"-n {self.nu!r}" if self.svm_type == "nu_svc" else f"-c {self.cost!r}")
        words.append(f"-e {self.tolerance!r} -h {int(self.shrinking)}")
        words += [f"-w{side} {factor!r}" for side, factor in self.weights]
        return " ".join(words)

    def kernel_for(self, features):
        """The `Kernel` for data with that many features."""
        values = {"gamma": 1.0 / features if self.gamma is None else self.gamma,
                  "coef0": self.coef0, "degree": self.degree}
        return Kernel(self.kernel, **{name: values[name]
                                      for name in KERNELS[self.kernel].parameters})

    @property
    def no_loo(self):
        """Why single samples cannot be left out by a formula, or ""."""
        return "" if self.svm_type == "c_svc" else "for C-SVC only, not for nu-SVC (-s 1)"

    def made_by(self):
        """The library and its version."""
        from .libsvm import library_version

        return f"libsvm {library_version()}"

    def pack(self, x, rows=None):
        """`Nodes` of the points x (n, d)."""
        from .nodes import Nodes

        return Nodes(x, None, rows)

    def solve(self, packed, rows, side):
        """The `Solution` of a problem; see `svm.solve`."""
        from .libsvm import solve

        return solve(packed, rows, side, self)


def parse(text, **place):
    """Parse `text`, LIBSVM's own letters, into `SvmOptions`.

    `-b` and `-q` are accepted and change nothing: probabilities are always
    fitted and training is always quiet.  Raises `UsageError`, with the place
    given, for an unknown option and for a value out of its range.
    """
    values, weights = scan(text, _KNOWN, strange=_STRANGE, **place)
    if "svm_type" in values:
        values["svm_type"] = _TYPES[values["svm_type"]]
    if "kernel" in values:
        values["kernel"] = list(KERNELS)[values["kernel"]]
    if values.get("gamma") == 0:
        values["gamma"] = None  # as svm-train takes it
    if "shrinking" in values:
        values["shrinking"] = bool(values["shrinking"])
    return SvmOptions(weights=weights, **values)


# option: (field, smallest, largest, whole number, smallest excluded)
_KNOWN = {
    "-s": ("svm_type", 0, 1, True, False),
    "-t": ("kernel", 0, 3, True, False),
    "-d": ("degree", 0, 100, True, False),
    "-g": ("gamma", 0, math.inf, False, False),
    "-r": ("coef0", -math.inf, math.inf, False, False),
    "-c": ("cost", 0, math.inf, False, True),
    "-n": ("nu", 0, 1, False, True),
    "-m": ("cache", 0, 1e6, False, True),
    "-e": ("tolerance", 0, math.inf, False, True),
    "-h": ("shrinking", 0, 1, True, False),
    "-b": (None, 0, 1, True, False),
}

_STRANGE = dict.fromkeys(BORDERS, "libAGF's class borders, which have such an option, are not "
                                  "here: LIBSVM trains, with svm-train's options")
_STRANGE["-v"] = "cross-validation is what nfold does"
_STRANGE["-s"] = ("0 is C-SVC and 1 nu-SVC; one-class and regression machines (2 to 4) tell no two "
                  "classes apart (float_to_class makes classes of a quantity), and libAGF's class "
                  "borders, whose -s counts samples, are not here")
_STRANGE["-t"] = ("0 is linear, 1 polynomial, 2 radial and 3 sigmoid; precomputed kernels (4) are "
                  "not read, and libAGF's class borders, whose -t is a tolerance, are not here")
