"""Frozen types: kernels, trained models and configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, NamedTuple

from .forest import Forest
from .kernels import KERNELS
from .provenance import Provenance
from .rows import optional_field
import numpy as np


@dataclass(frozen=True)
class Kernel:
    """A kernel function, with the parameters that its `kind`, one of `KERNELS`, uses.

    linear x.y; polynomial (gamma x.y + coef0)^degree; rbf exp(-gamma |x-y|^2); sigmoid tanh(gamma
    x.y + coef0); laplacian exp(-gamma sum_j |x_j-y_j|); exponential exp(-gamma |x-y|). `columns` is
    (start, stop) of the features that it sees, None for all.
    """

    kind: str
    gamma: float = 0.0
    coef0: float = 0.0
    degree: int = 0
    columns: tuple[Annotated[int, range(2**31)], Annotated[int, range(2**31)]] | None = (
        optional_field()
    )

    @property
    def values(self):
        """{name: value} of the parameters that it uses."""
        return {name: getattr(self, name) for name in KERNELS[self.kind].parameters}


@dataclass(frozen=True, eq=False)
class BinaryModel:
    """One trained binary classifier, f(x) = sum coef K(x, sv) - rho.

    Attributes
    ----------
    sv, coef : support vectors (s, d), float64, and their coefficients (s,)
    labels : (0, 1) or (1, 0), where 0 is the left side of the partition and f > 0 speaks for
        labels[0]
    n_sv : numbers of support vectors of either label
    platt : (A, B) of P(labels[0]) = 1/(1 + exp(A f + B)), or None
    features : number of features in training, 0 where the file does not have it
    function : what computes f (n,) of points (n, d) in place of the sum, a `Forest` or a function
        in memory, or None
    """

    name: str
    svm_type: str
    kernel: Kernel
    sv: np.ndarray
    coef: np.ndarray
    rho: float
    labels: tuple
    n_sv: tuple
    platt: tuple | None
    provenance: Provenance = Provenance()
    features: int = 0
    function: Callable[[np.ndarray], np.ndarray] | None = None

    @property
    def orientation(self):
        """+1 where a positive decision value speaks for the right side, else -1."""
        if self.labels[0] == 1:
            return 1
        return -1

    @property
    def scale(self):
        """(a, b) of r = P(right) - P(left) = tanh(a f + b); NaN without probabilities."""
        if self.platt is None:
            return float("nan"), float("nan")
        factor = -0.5 * self.orientation
        return factor * self.platt[0], factor * self.platt[1]


@dataclass(frozen=True, eq=False)
class NodeModel:
    """A trained classifier that tells c branches apart at once.

    code K: the k nearest of points (l, d) float32 with branches y (l,) int32, and weights w (l,)
    float32, or None for 1;
    code L: weights (c, d + 1), the last column the intercept;
    code T: `forest` of c scores, and, after training, the scores `held_out` (l, c), float32, of its
    samples by boosters that have not seen them.
    """

    code: Literal["K", "L", "T"]
    name: str
    branches: int
    provenance: Provenance = Provenance()
    points: Annotated[np.ndarray | None, "<f4", 2] = None
    y: Annotated[np.ndarray | None, "<i4", 1] = None
    k: int = 0
    weights: Annotated[np.ndarray | None, "<f8", 2] = None
    w: Annotated[np.ndarray | None, "<f4", 1] = None
    forest: Forest | None = optional_field()
    held_out: np.ndarray | None = field(default=None, metadata={"stored": False})

    @property
    def features(self):
        """Number of features of the points it takes."""
        if self.forest is not None:
            return self.forest.features
        if self.points is None:
            return self.weights.shape[1] - 1
        return self.points.shape[1]

    @property
    def samples(self):
        """The number of training samples of each branch, or None where that is not known."""
        if self.y is None:
            return self.provenance.samples
        return np.bincount(self.y, minlength=self.branches).tolist()


@dataclass(frozen=True, eq=False)
class MergedModel:
    """The binary classifiers of a configuration, every support vector once.

    Attributes
    ----------
    kernels, kernel_of : different kernels, and number (m,) of the one of each classifier
    sv, group : support vectors (s, d), float64, and their classes (s,), int32, those of a class
        together
    indptr, index, coef : support vectors and coefficients of each classifier, indptr (m + 1,)
    rho, a, b : (m,), r = tanh(a f + b), NaN without probabilities
    orientation : sign (m,) of f that speaks for the right side, +1 or -1
    provenances : a `Provenance` for each classifier
    any_width : d is only the largest index met, so that points may be wider
    forest : trees of the classifiers that have no support vectors, or None
    """

    kernels: tuple[Kernel, ...]
    kernel_of: Annotated[np.ndarray, "<i4", 1]
    sv: Annotated[np.ndarray, "<f8", 2]
    group: Annotated[np.ndarray, "<i4", 1]
    indptr: Annotated[np.ndarray, "<i8", 1]
    index: Annotated[np.ndarray, "<i4", 1]
    coef: Annotated[np.ndarray, "<f8", 1]
    rho: Annotated[np.ndarray, "<f8", 1]
    a: Annotated[np.ndarray, "<f8", 1]
    b: Annotated[np.ndarray, "<f8", 1]
    orientation: Annotated[np.ndarray, "|i1", 1]
    provenances: tuple[Provenance, ...]
    any_width: bool = False
    forest: Forest | None = optional_field()

    @property
    def count(self) -> int:
        """Number of classifiers."""
        return len(self.rho)

    @property
    def features(self) -> int | None:
        """Number of features of the points; None where any number will do."""
        if self.any_width:
            return None
        return self.sv.shape[1]


class GroupFunction(NamedTuple):
    """f (n,) of points x (n, d) for one group of a row; `row` returns f (g, n) of all its groups."""

    row: Callable[[np.ndarray], np.ndarray]
    group: int

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """f (n,) of x (n, d)."""
        return self.row(x)[self.group]


@dataclass(frozen=True, eq=False)
class FunctionModel:
    """The binary classifiers of a configuration as functions in memory, which no file can hold.

    Attributes
    ----------
    functions : functions of points x (n, d) that return f (n,)
    a, b, orientation, provenances : as in `MergedModel`, (m,)
    features : number of features d
    """

    functions: tuple[Callable[[np.ndarray], np.ndarray], ...]
    a: np.ndarray
    b: np.ndarray
    orientation: np.ndarray
    provenances: tuple[Provenance, ...]
    features: int

    any_width: ClassVar = False
    kernels: ClassVar = ()

    @property
    def count(self) -> int:
        """Number of classifiers."""
        return len(self.functions)

    def values(self, x: np.ndarray, columns: list[int]) -> np.ndarray:
        """f (m', n) of the classifiers `columns`; all groups of a row are evaluated at once."""
        result = np.empty((len(columns), len(x)))
        row = known = None
        for values, column in zip(result, columns if len(x) else ()):
            function = self.functions[column]
            if not isinstance(function, GroupFunction):
                values[:] = function(x)
                continue
            if function.row is not row:
                row = function.row
                known = row(x)
            values[:] = known[function.group]
        return result


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Decision values of training points by classifiers that were trained without them.

    A classifier that has the class of a point on no side never saw it: its ordinary decision value
    is as good. Values are sorted by point, then classifier, and are there for every classifier that
    has the class of the point on a side.

    Attributes
    ----------
    rows : numbers (c,) of the points in the training data, ascending
    y : their labels (c,), int32
    x : points (c, d), an array or `SparsePoints`, normalised as for training
    point : position (e,) among `rows` of each value, int32
    classifier : number (e,) in the configuration of its classifier, int32
    value : decision values f (e,), float64, with the sign of the model
    nodes : {node number: p (c, branches)} of multi-class nodes
    weights : weights (c,) of the points, None where all count alike
    groups : groups (c,) of the points, or None
    """

    rows: np.ndarray
    y: np.ndarray
    x: np.ndarray
    point: np.ndarray
    classifier: np.ndarray
    value: np.ndarray
    nodes: Mapping = field(default_factory=dict)
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class LearnedDecoder:
    """A decoder fitted to held-out decision values: p = softmax(W l + b).

    l (m,) are the log-odds 2 artanh(r) of the right sides, clipped to [-30, 30]. `weights` is W (k,
    m), rows by ascending label, and `intercept` b (k,).
    """

    weights: Annotated[np.ndarray, "<f8", 2]
    intercept: Annotated[np.ndarray, "<f8", 1]
