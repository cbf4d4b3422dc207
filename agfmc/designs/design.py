"""The training control tree of a scheme, from classes, data or counts of errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TYPE_CHECKING

from ..control.build import code_rows, from_rows, relabelled
from ..control.parse import MAX_TEXT
from ..control.tree import MAX_CELLS, Tree
from ..core.errors import DataError, UsageError
from ..core.memory import refuse_beyond
from ..core.weights import total_weights, Weights
from .schemes import find_scheme, is_scheme, read_scheme

if TYPE_CHECKING:
    import numpy as np

_TABLES = 21  # bytes for each pair of classes, twice of which are held while they are joined
_SOURCES = {
    "data": "training data",
    "sizes": "the numbers of points in the classes",
    "confusions": "a contingency table",
    "control": "a control file",
}


class LabelledPoints(NamedTuple):
    """Points that a design is made for: x (n, d), y (n,), the labels in y, ascending, their names
    {label: name}, or None, and the weights of the points, or None."""

    x: np.ndarray
    y: np.ndarray
    labels: Sequence[int]
    names: Mapping[int, str] | None = None
    weights: Weights | None = None


def design(scheme, labels, *, names=None, x=None, y=None, weights=None, **options):
    """Make the training control tree of a scheme.

    Parameters
    ----------
    scheme : str, int, path-like, Tree, array of shape (m, k), or callable
        Name or number of the scheme, such as "one-vs-one", "orthogonal" or "empirical"; its
        parameters may follow, as in "empirical linkage=average". Or an own design: control text
        with braces, the path of a control file, a coding matrix of -1, 0 and 1 whose columns are
        the classes in ascending order, or a function of the number of classes that returns one.
    labels : sequence of int
        Labels of the classes.
    names : mapping, default=None
        Names of the classes by their labels.
    x : array of shape (n, d), default=None
        Training points, for schemes that are made from data.
    y : array of shape (n,), default=None
        Labels of the training points.
    weights : Weights, default=None
        Weights of the training points.
    **options
        Parameters of the scheme; None stands for the default.

    Returns
    -------
    Tree
        The control tree.

    Raises
    ------
    UsageError
        If the scheme does not exist for this number of classes, needs other input, or has no
        such parameter or value.
    """
    if not is_scheme(scheme):
        from .given import given_control  # with NumPy, which print_control of a number needs not

        if options:
            raise UsageError(f"`{next(iter(options))}`: there is no scheme that could have it")
        scheme = given_control(scheme, sorted(labels), names)
        if isinstance(scheme, Tree):
            return scheme
    if y is None:
        source = labels
    else:
        source = LabelledPoints(x, y, list(labels), names, weights)
    return make_design(scheme, source, names, **options)[0]


def make_design(scheme, source, names=None, **options):
    """(tree, heights) of a scheme for labels, {label: points, or the sum of their weights},
    `LabelledPoints` or `Confusions`; the other arguments are those of `design`.

    The heights are the distances between the two sides of each node, in the order of `tree.nodes`,
    where the tree was made by distances, else None.

    In a tree from distances, classes that lie closest, or are most confused, are split last: Mills,
    "Solving for multi-class", section 3.1, where the metric is Hausdorff's and the linkage single,
    as they are here by default.
    """
    scheme, settings = read_scheme(scheme)
    options = scheme.settings({**settings, **options})
    labels = getattr(source, "labels", source)
    kind = "classes"
    if isinstance(source, LabelledPoints):
        names = source.names
        kind = next(
            (word for word in ("data", "sizes", "classes") if word in scheme.made_of), "data"
        )
        if kind == "sizes" and len(labels) == 2:
            scheme, kind, options = find_scheme("tree"), "classes", {}  # there is one design
    elif isinstance(source, Mapping):
        labels = list(source)
        if "sizes" in scheme.made_of:
            kind = "sizes"
        else:
            kind = "classes"
    elif labels is not source:
        kind = "confusions"
    if kind not in scheme.made_of:
        raise UsageError(
            f"the scheme '{scheme.name}' is made of "
            + " or ".join(_SOURCES.get(word, word) for word in scheme.made_of)
            + f", not of {_SOURCES.get(kind, 'the number of classes')}"
        )
    if kind == "data":
        from ..core.points import has_missing

        if source.x is not None and has_missing(source.x):
            raise DataError(f"the scheme '{scheme.name}' is made of data without missing values")
    if len(labels) < 2:
        raise UsageError(f"expected at least 2 classes, found {len(labels)}")
    _refuse_huge(scheme, len(labels), options)
    if kind == "classes":
        material = len(labels)
    elif kind == "sizes":
        material = _sizes(source)
    else:
        material = _distances(source, options)
    result = scheme.make(material, **options)
    tree, heights = result if type(result) is tuple else (result, None)
    if isinstance(tree, Tree):
        return relabelled(tree, labels, names), heights
    return from_rows(tree, labels, names), heights


def _sizes(source):
    """The sizes of the classes, ascending labels, for `make_design`."""
    if isinstance(source, LabelledPoints):
        if source.weights is None:
            w = None
        else:
            w = source.weights.w
        source = total_weights(source.y, w)
    return list(source.values())


def sketch(scheme):
    """A tree of the kind that `scheme` makes, before any data: 4 classes in a line."""
    import numpy as np

    return design(scheme, range(4), x=np.arange(4.0)[:, None], y=np.arange(4))


def _distances(source, options):
    from .distances import class_distances, confusion_distances

    metric = options.pop("metric", None)
    if not isinstance(source, LabelledPoints):
        return confusion_distances(source.errors, source.samples, source.alternatives)
    x, y, labels, _, weights = source
    refuse_beyond(_TABLES * len(labels) ** 2, f"the distances of {len(labels)} classes", None)
    return class_distances(x, y, labels, metric, w=None if weights is None else weights.w)


def _refuse_huge(scheme, k, options):
    """UsageError, before any row is made, for a control file too large to be read again."""
    if scheme.extent is None:
        return
    lines, share, least = scheme.extent(k, **options)
    what = f"a code of {least}{lines} rows for {k} classes is too large to be read again"
    if options.get("rows") is None:
        way = "; print_control -Q tree has no such limit"
    else:
        way = ""
    if lines * k > MAX_CELLS:
        raise UsageError(f"{what}: rows times classes may be {MAX_CELLS} at most{way}")
    size = lines * share * sum(1 + len(str(i)) for i in range(k))
    if size > MAX_TEXT:
        raise UsageError(
            f"{what}: it would have {size / 2**20:.0f} MiB of text, and "
            f"{MAX_TEXT >> 20} are the most{way}"
        )


def matrix_of(tree):
    """(rows, labels): the coding matrix of any tree, its columns in ascending label order."""
    labels = tree.labels
    order = sorted(range(len(labels)), key=labels.__getitem__)
    position = {column: i for i, column in enumerate(order)}
    rows = [
        tuple(tuple(sorted(position[i] for i in side)) for side in row) for row in code_rows(tree)
    ]
    return rows, tree.classes


def designed(scheme, data, names, settings):
    """(tree, settings): the training control tree of a scheme for a `Dataset`.

    A scheme that is made from data sees them after the normalisation, as in print_control; the
    settings have it then. `names` are as for `design`, whose errors are raised.
    """
    import numpy as np

    labels = [int(label) for label in np.unique(data.y)]
    found, options = read_scheme(scheme, settings.seed)
    if "data" in found.made_of:
        data = replace(data, x=np.asarray(data.x))
        if settings.fits_normalisation:
            settings = replace(
                settings, normalisation=settings.fit_normalisation(data), scale=False, nsv=None
            )
            data = replace(data, x=settings.normalisation.apply(data.x))
    tree = design(
        found.name, labels, names=names, x=data.x, y=data.y, weights=data.weights, **options
    )
    return tree, settings
