"""Frozen types: data, kernels, trained models and configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, NamedTuple, TYPE_CHECKING

from .errors import DataError, ModelError, one_line, UsageError
from .provenance import MetricOrigin, Provenance
from .tables import ColumnRoles, TableFormat, TableRecipe
from .weights import Weights, WeightSource

if TYPE_CHECKING:
    import numpy as np

    from .control.tree import Tree
    from agfmc import Classifier

__all__ = ["BinaryModel", "Calibration", "CalibrationPoints", "CollatedModel", "Configuration",
           "Dataset", "DecoderCalibration", "DirectModel", "HeldOut", "InputFormat", "KERNELS",
           "KERNEL_NAMES", "Kernel", "KernelKind", "LearnedDecoder", "LearnedMetric", "MAP_KINDS",
           "ModelFiles", "Normalisation", "ProbabilityMap", "SEARCHED_KERNELS", "TUNED_KERNELS",
           "kernel_word"]

# Numbers of a matrix that is applied without matrix products: in training, where the digests of
# points had better be alike on all machines, and elsewhere.
_SMALL = 256 * 256, 32 * 32


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points with their labels: x (n, d), y (n,) int32, and the names of the labels.

    y is None for points without labels; `names` is None or a tuple in which entry i
    names label i; recipe: the way from a table to the points, or None; weights: of the points,
    or None where all count alike; rows (n,): their numbers in the file, from 0, or None for all
    of them.
    """

    x: np.ndarray  # or `SparsePoints`, or `LazyPoints`
    y: np.ndarray | None
    names: tuple[str, ...] | None = None
    recipe: TableRecipe | None = None
    weights: Weights | None = None
    rows: np.ndarray | None = None

    @property
    def counts(self) -> dict[int, int]:
        """{label: samples}, the labels ascending."""
        from .arrays import label_counts

        return label_counts(self.y)

    @property
    def name_of(self) -> dict[int, str]:
        """{label: name}, empty where labels have no names."""
        return dict(enumerate(self.names or ()))


@dataclass(frozen=True)
class InputFormat:
    """The layout of points in files.

    kind: "binary" (a base name of .vec, of .cls or .dat, and of .names), "svm" (LIBSVM text),
    "lvq" (LVQ text) or "table";  missing: value of the features that a line of LIBSVM text leaves
    out, None for 0;  header: LVQ text begins with its number of features;  labels: points have
    labels;  ordinates: numbers stand in place of the labels;  layout, roles: of a table;  weights:
    where those of the points come from.
    """

    kind: str = "binary"
    missing: float | None = None
    header: bool = True
    labels: bool = True
    ordinates: bool = False
    layout: TableFormat = TableFormat()
    roles: ColumnRoles = ColumnRoles()
    weights: WeightSource = WeightSource()

    def __post_init__(self):
        if self.kind not in ("binary", "svm", "lvq", "table"):
            raise UsageError(f"there is no kind of data {self.kind!r}")

    @property
    def fill(self) -> float:
        """The value of features that a line of LIBSVM text leaves out."""
        return 0.0 if self.missing is None else self.missing


@dataclass(frozen=True, eq=False)
class LearnedMetric:
    """The origin of a map that was learned from labelled points, and the weights of features.

    rounds: of learning, 0 where none was worth while;  points, classes: how many it was learned
    from;  data: sixteen hexadecimal digits that tell these points and labels from others;
    settings: what else decides the result, in one spelling;  weights (D1,): the diagonal of the
    metric for standardised features, 1 on average, 0 for a feature that was left out;  losses:
    ((loss, standard error of its difference from the least one), ...) of 0, 1, ... rounds on
    points that were held out, empty where the number of rounds was given;  rows: ascending, those
    of these points that had a part in it, None where that is not known;  names: of the features,
    () where they have none.
    """

    rounds: Annotated[int, range(100)]
    points: Annotated[int, range(10**12)]
    classes: Annotated[int, range(10**8)]
    data: Annotated[str, "[0-9a-f]{16}"]
    settings: Annotated[str, "[ -~]{1,1000}"]
    weights: Annotated[np.ndarray, "<f8", 1]
    losses: tuple[tuple[float, float], ...] = ()
    rows: np.ndarray | None = field(default=None, metadata={"stored": False})
    names: tuple[str, ...] = ()

    @property
    def provenance(self) -> str:
        """The part of a `Provenance` that tells of it."""
        return MetricOrigin(self.rounds, self.points, self.classes, self.data).to_part()


@dataclass(frozen=True, eq=False)
class Normalisation:
    """The map x' = (x - mean) matrix, with its numbers as a `.std` file stores them.

    matrix  (D1, D2) float32;  mean  (D1,) float32;
    dropped: the constant features that were left out, counted from 0;  metric: where the map
    was learned from labels, or None.
    """

    matrix: Annotated[np.ndarray, "<f4", 2]
    mean: Annotated[np.ndarray, "<f4", 1]
    dropped: tuple[int, ...] = field(default=(), metadata={"stored": False})
    metric: LearnedMetric | None = field(default=None, metadata={"stored": False})

    @property
    def provenance(self) -> tuple[str, ...]:
        """The parts of the `Provenance` of a model whose points went through it."""
        learned = () if self.metric is None else (self.metric.provenance,)
        return f"normalised {self.digest()}", *learned

    def digest(self):
        """Sixteen hexadecimal digits that tell one normalisation from another."""
        import hashlib

        import numpy as np

        return hashlib.sha256(b"".join(
            np.ascontiguousarray(part, dtype="<f4").tobytes()
            for part in (self.matrix, self.mean))).hexdigest()[:16]

    def apply(self, x, products=False):
        """Map x (n, D1) to (n, D2) float64; DataError where the widths differ.

        products: a matrix that mixes many features is applied by matrix products, ten times
        faster: the last bits of a point do not depend on its neighbours then, but on the machine.
        """
        import numpy as np

        from .arrays import padded_blocks

        x = np.asarray(x)
        if x.ndim != 2 or x.shape[1] != self.matrix.shape[0]:
            found = f"{x.shape[1]} features" if x.ndim == 2 else f"shape {x.shape}, not (n, d)"
            raise DataError(f"the data have {found}, the normalisation needs "
                            f"{self.matrix.shape[0]} features")
        centred = x.astype(np.float64)
        centred -= self.mean
        column, scale = self._diagonal()
        if column is not None:
            return centred[:, column] * scale
        # the sum over the features in their order, not BLAS: a point then has the same
        # bits whatever block it comes in
        matrix = self.matrix.astype(np.float64)
        out = np.zeros((len(x), matrix.shape[1]))
        if matrix.size > _SMALL[products]:
            for part, block in padded_blocks(np.ascontiguousarray(centred), 128):
                out[part] = (block @ matrix)[:part.stop - part.start]
            return out
        for start in range(0, len(x), 1024):
            block, rows = out[start:start + 1024], centred[start:start + 1024]
            for j, row in enumerate(matrix):
                block += rows[:, j, None] * row
        return out

    def _diagonal(self):
        """Row and value of the single entry of each column, or (None, None)."""
        import numpy as np

        if np.any(np.count_nonzero(self.matrix, axis=0) != 1):
            return None, None
        column = np.argmax(self.matrix != 0, axis=0)
        scale = self.matrix[column, np.arange(self.matrix.shape[1])]
        return column, scale.astype(np.float64)


class KernelKind(NamedTuple):
    """A kind of kernel.

    number: of the option -t, that of LIBSVM where it has the kernel;  libagf: the word for it in
    libAGF's models, None where it does not have the kernel;  parameters: the fields of a `Kernel`
    that it uses, in the order of libAGF;  aliases: other names for it;  distance: of points, in
    the words of `scipy.spatial.distance.cdist`, where the kernel is exp(-gamma distance).
    """

    number: int
    libagf: str | None
    parameters: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    distance: str | None = None

    @property
    def in_libsvm(self) -> bool:
        """True if LIBSVM has the kernel."""
        return self.libagf is not None


KERNELS = {  # in the order of their numbers
    "linear": KernelKind(0, "linear", ()),
    "polynomial": KernelKind(1, "polynomial", ("gamma", "coef0", "degree"), ("poly",)),
    "rbf": KernelKind(2, "radial", ("gamma",), distance="sqeuclidean"),
    "sigmoid": KernelKind(3, "sigmoid", ("gamma", "coef0")),
    "laplacian": KernelKind(5, None, ("gamma",), distance="cityblock"),
    "exponential": KernelKind(6, None, ("gamma",), distance="euclidean"),
}
KERNEL_NAMES = {word: name for name, kind in KERNELS.items()
                for word in (name, kind.libagf, *kind.aliases) if word}
# the sigmoid is no kernel for all its parameters
TUNED_KERNELS = ("rbf", "laplacian", "exponential", "linear", "polynomial")
SEARCHED_KERNELS = ("rbf", "laplacian")  # where the options name none


def kernel_word(name: str) -> str:
    """The value of the option -t for a kernel: the number that LIBSVM has for it, or its name."""
    return str(KERNELS[name].number) if KERNELS[name].in_libsvm else name


@dataclass(frozen=True)
class Kernel:
    """A kernel function, with the parameters that its `kind`, one of `KERNELS`, uses.

    linear x.y; polynomial (gamma x.y + coef0)^degree; rbf exp(-gamma |x-y|^2);
    sigmoid tanh(gamma x.y + coef0); laplacian exp(-gamma sum_j |x_j-y_j|);
    exponential exp(-gamma |x-y|).
    """

    kind: str
    gamma: float = 0.0
    coef0: float = 0.0
    degree: int = 0

    @property
    def values(self):
        """{name: value} of the parameters that it uses."""
        return {name: getattr(self, name) for name in KERNELS[self.kind].parameters}


@dataclass(frozen=True, eq=False)
class BinaryModel:
    """One trained binary classifier, f(x) = sum coef K(x, sv) - rho.

    sv (l, d) float64;  coef (l,);  labels: (0, 1) or (1, 0), where 0 is the
    left side of the partition and f > 0 speaks for labels[0];  n_sv: support
    vectors of either label;  platt: (A, B) of P(labels[0]) = 1/(1 + exp(A f +
    B)), or None;  features: number of features it was trained on, 0 where the file does
    not tell.
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

    @property
    def orientation(self):
        """+1 where a positive decision value speaks for the right side, else -1."""
        return 1 if self.labels[0] == 1 else -1

    @property
    def scale(self):
        """(a, b) of r = P(right) - P(left) = tanh(a f + b); NaN without probabilities."""
        if self.platt is None:
            return float("nan"), float("nan")
        factor = -0.5 * self.orientation
        return factor * self.platt[0], factor * self.platt[1]


@dataclass(frozen=True, eq=False)
class DirectModel:
    """A trained classifier that tells c branches apart at once.

    code K: the k nearest of points (l, d) float32 with branches y (l,) int32, and weights w (l,)
    float32, or None for 1;
    code L: weights (c, d + 1), the last column the intercept.
    """

    code: Literal["K", "L"]
    name: str
    branches: int
    provenance: Provenance = Provenance()
    points: Annotated[np.ndarray | None, "<f4", 2] = None
    y: Annotated[np.ndarray | None, "<i4", 1] = None
    k: int = 0
    weights: Annotated[np.ndarray | None, "<f8", 2] = None
    w: Annotated[np.ndarray | None, "<f4", 1] = None

    @property
    def features(self):
        """Number of features of the points it takes."""
        return self.weights.shape[1] - 1 if self.points is None else self.points.shape[1]

    @property
    def samples(self):
        """The number of training samples of each branch, or None where that is not known."""
        import numpy as np

        return self.provenance.samples if self.y is None else \
            np.bincount(self.y, minlength=self.branches).tolist()


@dataclass(frozen=True, eq=False)
class CollatedModel:
    """The binary support vector machines of a configuration, every support vector once.

    kernels: the different kernels, kernel_of (m,) the one of each classifier;
    sv (s, d) float64, group (s,) int32: support vectors of one class stand together;
    indptr (m + 1,), index, coef: support vectors and coefficients per classifier;
    rho, a, b (m,): r = tanh(a f + b), NaN without probabilities;
    orientation (m,) of +1 and -1: the sign of f that speaks for the right side;
    provenances: a `Provenance` for each classifier;
    any_width: True where d is only the largest index met, so that points may be wider.
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


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Decision values of training points by classifiers that were trained without them.

    rows (c,): numbers of the points in the training data, ascending;  y (c,) int32: their
    labels;  x (c, d): the points, an array or `SparsePoints`, normalised as for training;
    point, classifier (e,) int32 and value (e,) float64: a decision value f, with the sign of
    the model, of the point with that number among `rows` by the classifier with that number in
    the configuration, for every classifier that has the class of the point on a side; sorted by
    point, then classifier;  nodes: {node number: p (c, branches)} of multi-class nodes;  apart
    (c,) bool: the points that had no part in learning a metric, None where none was learned;
    weights (c,): of the points, None where all count alike.

    A classifier that has the class of a point on no side never saw it: its own value is as good.
    """

    rows: np.ndarray
    y: np.ndarray
    x: np.ndarray
    point: np.ndarray
    classifier: np.ndarray
    value: np.ndarray
    nodes: Mapping = field(default_factory=dict)
    apart: np.ndarray | None = None
    weights: np.ndarray | None = None


_DECODER = "[a-z0-9:+-]{1,60}( [a-z0-9:+-]{1,60})?"  # the key of a decoder, with that of a way
MAP_KINDS = ("none", "temperature", "vector", "matrix")  # from the simple to the complex


@dataclass(frozen=True, eq=False)
class ProbabilityMap:
    """A calibration map p' = (1 - floor) softmax(W z + b) + floor / c, z = log max(p, least).

    least is 1e-16, but 1e-4 for vector and matrix maps.

    kind: one of `MAP_KINDS`;  weights: 1 / T as an array of shape () of a temperature, the
    diagonal (c,) of W of a vector map, W (c, c) of a matrix map;  intercept (c,): b, zeros for
    a temperature;  floor: 0 <= floor < 1.  "none" leaves p as it is.
    """

    kind: Literal["none", "temperature", "vector", "matrix"]
    weights: Annotated[np.ndarray | None, "<f8", 0, 1, 2] = None
    intercept: Annotated[np.ndarray | None, "<f8", 1] = None
    floor: Annotated[float, (0, 1)] = 0.0


@dataclass(frozen=True, eq=False)
class CalibrationPoints:
    """Points that no classifier was trained on, as a calibrated decoder answered them.

    label (c,) int32: true classes;  p_true (c,): probability of the true class;
    cumulative (c,): sum of the probabilities of the classes up to the true one, in falling order
    of probability, those of equal ones in the order of the classes;  p_largest (c,): probability
    of the answer;  right (c,) bool: the answer is the true class.
    """

    label: Annotated[np.ndarray, "<i4", 1]
    p_true: Annotated[np.ndarray, "<f8", 1]
    cumulative: Annotated[np.ndarray, "<f8", 1]
    p_largest: Annotated[np.ndarray, "<f8", 1]
    right: Annotated[np.ndarray, "|b1", 1]


@dataclass(frozen=True, eq=False)
class DecoderCalibration:
    """The calibration of one decoder: its map, and points for thresholds and sets, or None."""

    map: ProbabilityMap
    points: CalibrationPoints | None = None


@dataclass(frozen=True, eq=False)
class LearnedDecoder:
    """A decoder fitted to held-out decision values: p = softmax(W l + b).

    l (m,): log-odds 2 artanh(r) of the right sides, clipped to [-30, 30];  weights W (k, m);
    intercept b (k,).  Rows are classes, labels ascending.
    """

    weights: Annotated[np.ndarray, "<f8", 2]
    intercept: Annotated[np.ndarray, "<f8", 1]


@dataclass(frozen=True, eq=False)
class Calibration:
    """The calibration of a trained configuration: a map for each decoder that it was fitted for.

    model: digest of the classifiers that it belongs to, `Configuration.digest`;  classes (k,):
    labels, ascending;  source: the points it was fitted to, as text;  counts (k,): of them in
    each class;  decoders: {key of a decoder: `DecoderCalibration`}, see
    `Decoding.calibration_key`;  learned: the decoder "learned", or None.
    """

    model: Annotated[str, "[0-9a-f]{16}"]
    classes: tuple[Annotated[int, range(2**31)], ...]
    source: Annotated[str, one_line]
    counts: tuple[Annotated[int, range(2**53)], ...]
    decoders: Mapping[Annotated[str, _DECODER], DecoderCalibration]
    learned: LearnedDecoder | None = None

    def fits(self, configuration: Configuration) -> bool:
        """True where it belongs to the classes and classifiers of this configuration."""
        tree = configuration.tree
        return (self.model == configuration.digest() and self.classes == tree.classes
                and (self.learned is None or self.learned.weights.shape[1] == len(tree.rows)))


@dataclass(frozen=True)
class ModelFiles:
    """Files of binary models that another program reads, in the order of the classifiers."""

    paths: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Configuration:
    """A trained configuration: a control tree and the classifiers that it names.

    tree: the control tree, which has the names of the classes;
    machines: its binary classifiers in the order of its rows, a `CollatedModel`, or the
    `ModelFiles` that another program reads;
    node_classifiers: {node number: classifier} of the nodes that tell all their branches
    apart at once, in the order of the text;
    normalisation: applied to raw points, or None;
    made_by: {program: version} of the model file it was read from;
    merged_from: the number of support vectors in the files that were merged, None for a
    configuration that was in one file or never in any;
    calibration: the maps of its probabilities, or None;
    recipe: the way from tables, as that of training, to its points, or None.

    The methods are the functions of the package of the same meaning.
    """

    tree: Tree
    machines: CollatedModel | ModelFiles
    node_classifiers: Mapping = field(default_factory=dict)
    normalisation: Normalisation | None = None
    made_by: Mapping = field(default_factory=dict)
    merged_from: int | None = None
    calibration: Calibration | None = None
    recipe: TableRecipe | None = None

    def __post_init__(self):
        machines = self.machines
        count = len(machines.paths if isinstance(machines, ModelFiles) else machines.rho)
        if len(self.tree.rows) != count:
            raise ModelError(f"the control tree has {len(self.tree.rows)} classifiers, "
                             f"the model {count}")

    @property
    def features(self) -> int | None:
        """Number of features of the points to classify; None where any number will do."""
        if self.normalisation is not None:
            return self.normalisation.matrix.shape[0]
        if isinstance(self.machines, ModelFiles) or self.machines.any_width:
            return None
        return self.machines.sv.shape[1]

    @property
    def provenances(self) -> list[Provenance]:
        """The `Provenance` of every classifier that tells one."""
        machines = self.machines
        return [*(() if isinstance(machines, ModelFiles) else machines.provenances),
                *(one.provenance for one in self.node_classifiers.values())]

    def digest(self) -> str:
        """Sixteen hexadecimal digits of its classes and classifiers, "" for `ModelFiles`.

        They do not depend on the names of the classes nor on the files it was read from.
        """
        import hashlib

        import numpy as np

        machines = self.machines
        if isinstance(machines, ModelFiles):
            return ""
        sides = [[sorted(side) for side in row] for row in self.tree.sides()]
        branches = {number: [sorted(side) for side in self.tree.branch_labels()[number]]
                    for number in self.tree.directs}
        tree = self.tree
        parts = [repr((sides, branches, tree.labels, *(
            (tree.roots, tree.weights) if tree.is_ensemble else ()))).encode()]
        for array in (machines.rho, machines.a, machines.b, np.diff(machines.indptr)):
            parts.append(np.ascontiguousarray(array, dtype="<f8").tobytes())
        for node in self.node_classifiers.values():
            for array in (getattr(node, name, None) for name in ("weights", "points", "y", "k")):
                if array is not None:
                    parts.append(np.ascontiguousarray(array, dtype="<f8").tobytes())
        return hashlib.sha256(b"".join(parts)).hexdigest()[:16]

    @property
    def lacks_normalisation(self) -> bool:
        """True where points were normalised in training, and here are not."""
        return self.normalisation is None and any(
            one.normalisation is not None for one in self.provenances)

    def renamed(self, names: Mapping[int, str]) -> Configuration:
        """The same with other names of the classes, {label: name}."""
        names = {label: names[label] for label in self.tree.labels if label in names}
        recipe = self.recipe and replace(self.recipe, classes=tuple(
            names.get(label, name) for label, name in enumerate(self.recipe.classes)))
        return replace(self, tree=self.tree._replace(names=names), recipe=recipe)

    def as_code(self) -> Configuration:
        """The same with the coding matrix that its tree stands for."""
        from .control.build import to_code

        code = replace(self, tree=to_code(self.tree), node_classifiers={})
        if self.calibration is None:
            return code
        return replace(code, calibration=replace(self.calibration, model=code.digest()))

    def save(self, path: str) -> None:
        """Write it as a `.mbm` file: `agfmc.save`."""
        import agfmc

        agfmc.save(path, self)

    def export(self, path: str, form: str) -> None:
        """Write it for other programs: `agfmc.export`."""
        import agfmc

        agfmc.export(path, self, form)

    def classifier(self, decoder: str | None = None) -> Classifier:
        """A `Classifier` with the decoder of that name, by default the one that suits it."""
        import agfmc

        return agfmc.classifier_for(self, decoder)
