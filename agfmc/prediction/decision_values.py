"""Decision values of the binary classifiers of a configuration for points."""

from __future__ import annotations

import math
import threading
from dataclasses import replace

import numpy as np

from ..core.errors import DataError
from ..core.models import FunctionModel
from ..core.points import as_numbers, is_sparse, SparsePoints
from ..kernels.machine import BLOCK, Machine

_WIDE = 4096  # features


def _erf(values, out):
    from scipy.special import erf

    return erf(values, out=out)


def _arctangent(values, out):
    """arctan with slope 1 at 0 and limits -1 and 1."""
    np.arctan(0.5 * math.pi * values, out=out)
    out *= 2.0 / math.pi
    return out


# r = g(a f + b): libAGF's codes; a and b are fitted for the first. The third is the logistic
# function, 1 - 2 / (1 + exp(v)) = tanh(v / 2).
SIGMOIDS = {
    0: np.tanh,
    1: _erf,
    2: lambda values, out: np.tanh(0.5 * values, out=out),
    3: _arctangent,
}


class MachineValues:
    """f and r of the support vector machines of a `Configuration`.

    With `open_ended`, features that a chunk leaves out at its end are 0 (LIBSVM text), and not an
    error, where the model does not record their number. `sigmoid` is a key of `SIGMOIDS`, or None,
    which is 0, except that classifiers without probabilities then give the sign of f alone.
    """

    def __init__(self, configuration, open_ended=False, sigmoid=None):
        self.model = model = configuration.machines
        self.features = configuration.features
        self.open_ended = open_ended
        self._normalisation = configuration.normalisation
        self.takes_missing = configuration.takes_missing
        # sparse support vectors, or planes in many features: points may come as `SparsePoints`
        plain = self._normalisation is None and not configuration.node_classifiers
        functions = isinstance(model, FunctionModel)
        self.is_linear = (
            plain
            and not functions
            and bool(model.kernels)
            and model.forest is None
            and all(kernel.kind == "linear" for kernel in model.kernels)
        )
        self.takes_sparse = (
            is_sparse(getattr(model, "sv", None))
            or plain
            and functions
            or self.is_linear
            and not model.any_width
            and model.sv.shape[1] >= _WIDE
        )
        self._sigmoid = SIGMOIDS[sigmoid or 0]
        fitted = np.isfinite(model.a)
        self.has_probabilities = sigmoid is not None or bool(fitted.all())
        self._a = np.where(fitted, model.a, model.orientation)
        self._b = np.where(fitted, model.b, 0.0)
        self.count = model.count
        self._lock = threading.Lock()
        self._machines = {}

    has_decision_values = True

    def turned(self, f, columns):
        """g (n, m'), raw decision values f of `columns` turned so that g > 0 speaks for +1."""
        return f * self.model.orientation[list(columns)]

    def rows(self, k):
        """A good number of points for one call, for k classes: bounded memory, whole blocks."""
        widest = max(
            self.count,
            k,
            1
            if self.takes_sparse
            else max(self.model.features or self.model.sv.shape[1], self.features or 1),
        )
        return BLOCK * max(1, min(16, 4_000_000 // (BLOCK * widest)))

    def prepared(self, x):
        """Points x (n, d) normalised, and at least as wide as the support vectors, sparse as these.

        Raises `DataError` for another width.
        """
        x = self._prepared(x)
        if is_sparse(getattr(self.model, "sv", None)) and not is_sparse(x):
            return SparsePoints.of_matrix(x)
        return x

    def _prepared(self, x):
        if not (is_sparse(x) and self.takes_sparse):
            x = as_numbers(x, "x", 2)
        if self._normalisation is not None:
            x = self._normalisation.apply(x, products=True)
            values = x.csr.data if is_sparse(x) else x
            # missing values are for functions and trees
            if np.isinf(values).any() or not self.takes_missing and np.isnan(values).any():
                raise DataError("points hold NaN, or numbers too large for the normalisation")
            return x
        width = self.model.features or self.model.sv.shape[1]
        if self.model.any_width and self.open_ended:
            # few different widths, so that few machines are made for them
            return _widened(x, max(width, -(-x.shape[1] // 64) * 64))
        if x.shape[1] < width or x.shape[1] > width and not self.model.any_width:
            raise DataError(f"the points have {x.shape[1]} features, the model needs {width}")
        return x

    def __call__(self, columns, x):
        """f and r, (n, m'), of the classifiers `columns`, a range or tuple, for prepared points.

        Raises `DataError` for points that give a classifier no decision value: NaN, or numbers too
        large for its kernel.
        """
        numbers = list(columns)
        if isinstance(self.model, FunctionModel):
            by_row = self.model.values(x, numbers)
        else:
            by_row = self._machine(columns, x.shape[1]).values_by_row(x)
        f = by_row.T
        with np.errstate(over="ignore", invalid="ignore"):
            total = f.sum()
        if not np.isfinite(total) and (wrong := ~np.isfinite(f).all(axis=1)).any():
            raise DataError(
                f"{np.count_nonzero(wrong)} of {len(x)} points give no decision value: "
                "they hold NaN, or numbers too large for the kernel"
            )
        return f, self.differences(f, numbers)

    def differences(self, f, columns):
        """r (n, m') of the decision values f (n, m') of the classifiers `columns`."""
        if not self.has_probabilities:
            return np.sign(f * self.model.orientation[columns])
        with np.errstate(over="ignore"):
            r = f * self._a[columns]
            r += self._b[columns]  # an infinite sum is a probability of 0 or 1
        return self._sigmoid(r, out=r)

    def _machine(self, columns, width):
        with self._lock:
            machine = self._machines.get((columns, width))
            if machine is None:
                model = self.model
                if width > model.sv.shape[1]:
                    # support vectors are 0 in features that no model file mentions
                    model = replace(model, sv=_widened(model.sv, width))
                machine = self._machines[columns, width] = Machine(model, columns)
        return machine


def _widened(x, width):
    """x (n, d) with columns of zeros behind it, up to `width`."""
    wide = np.zeros((len(x), width))
    wide[:, : x.shape[1]] = x
    return wide
