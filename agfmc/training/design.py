"""The training control tree of a scheme, from classes, data or counts of errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TYPE_CHECKING

from ..codes.schemes import COMPARED_SPLITS, find_scheme
from ..control.build import code_rows, from_rows, relabelled
from ..control.parse import MAX_TEXT
from ..control.tree import MAX_CELLS, Tree
from ..errors import DataError, UsageError
from ..formats.inputs import refuse_beyond
from ..weights import Weights

if TYPE_CHECKING:
    import numpy as np

__all__ = ["LabelledPoints", "design", "design_for", "design_from_confusions", "design_from_data",
           "matrix_of", "search_design", "sketch", "suits_comparison"]

_TABLES = 21  # bytes for each pair of classes, twice of which are held while they are joined
_SOURCES = {"data": "training data", "confusions": "a contingency table",
            "control": "a control file"}


class LabelledPoints(NamedTuple):
    """Points that a design is made for: x (n, d), y (n,), the labels in y, ascending, their names
    {label: name}, or None, and the weights of the points, or None."""

    x: np.ndarray
    y: np.ndarray
    labels: Sequence[int]
    names: Mapping[int, str] | None = None
    weights: Weights | None = None

    def positions(self) -> np.ndarray:
        """The classes (n,) of the points as positions in `labels`.

        Raises `DataError` for a class of one point, which has no leave-one-out value.
        """
        import numpy as np

        found = np.searchsorted(self.labels, self.y)
        counts = np.bincount(found)
        if counts.min() < 2:
            label = self.labels[int(counts.argmin())]
            names = self.names or {}
            name = f", {names[label]!r}," if label in names else ""
            raise DataError(f"class {label}{name} has one point: a leave-one-out value needs two "
                            "or more; --min-class 2 leaves such classes out")
        return found


def design(scheme, labels, *, names=None, x=None, y=None, weights=None, **options):
    """The training control tree of `scheme` (by name) over `labels`, in their order.

    names: {label: name} or None;  x (n, d), y (n,), weights: training data for a scheme that needs
    them, such as "best-tree", as of `design_for`;  options: those of the scheme in the table of
    schemes; any others are ignored, None stands for the default.
    Raises `UsageError` where the scheme does not exist for that many classes.
    """
    scheme = find_scheme(scheme)
    if x is not None and y is not None and "data" in scheme.made_of:
        return design_for(scheme.name, x, y, labels, names, weights, **options)
    _require_source(scheme, "classes")
    if len(labels) < 2:
        raise UsageError(f"expected at least 2 classes, found {len(labels)}")
    options = scheme.settings(options)
    _refuse_huge(scheme, len(labels), options)
    return _tree(scheme.make(len(labels), **options), labels, names)[0]


def design_for(scheme, x, y, labels, names, weights=None, **options):
    """The training control tree of any scheme that needs data at most.

    scheme: a number or a name;  x (n, d), y (n,): the training data, of which the
    schemes that lay out classes by their number make no use (None will do);  labels: the
    classes, ascending;  weights: `Weights` of the points, or None;  names, options: as for
    `design`.
    Raises UsageError for a scheme that is made of other things.
    """
    scheme = find_scheme(scheme)
    if "classes" in scheme.made_of and (y is None or "data" not in scheme.made_of):
        return design(scheme.name, labels, names=names, **options)
    if scheme.searched and len(labels) == 2:  # of which there is one tree
        return design("tree", labels, names=names)
    return design_from_data(scheme.name, x, y, labels, names, weights, **options)[0]


def suits_comparison(scheme, k):
    """True if a scheme of `COMPARED` suits k classes: one that searches, where there is more than
    one tree, and a search for the best takes no more than `COMPARED_SPLITS` splits."""
    from ..codes.best_tree import fewest_splits

    return not find_scheme(scheme).searched or k > 2 and fewest_splits(k) <= COMPARED_SPLITS


def design_from_data(scheme, x, y, labels=None, names=None, weights=None, **options):
    """(tree, heights): a design from the distances between classes of x (n, d), y (n,).

    labels: the classes, by default all in y;  weights: `Weights` of the points, or None.
    heights: the distance between the two sides of each node, in the order of `tree.nodes`, or None
    for a code.  In a tree, classes that lie
    closest are split last: Mills, "Solving for multi-class", section 3.1, where the metric is
    Hausdorff's and the linkage single, as they are here by default.
    """
    import numpy as np

    from ..codes.distances import class_distances

    scheme = find_scheme(scheme)
    _require_source(scheme, "data")
    labels = [int(label) for label in (np.unique(y) if labels is None else labels)]
    if len(labels) < 2:
        raise UsageError(f"expected data of at least 2 classes, found {len(labels)}")
    if scheme.searched:
        return search_design(scheme.name, x, y, labels, names, weights, **options).tree, None
    options = scheme.settings(options)
    _refuse_huge(scheme, len(labels), options)
    refuse_beyond(_TABLES * len(labels)**2, f"the distances of {len(labels)} classes", None)
    distances = class_distances(x, y, labels, options.pop("metric"),
                                w=None if weights is None else weights.w)
    return _tree(scheme.make(distances, **options), labels, names)


def search_design(scheme, x, y, labels, names=None, weights=None, **options):
    """The result of a scheme that searches, for x (n, d), y (n,): its `tree`, and `notes` on it.

    The arguments are those of `design_from_data`.
    """
    scheme = find_scheme(scheme)
    return scheme.make(LabelledPoints(x, y, list(labels), names, weights),
                       **scheme.settings(options))


def design_from_confusions(scheme, confusions, names=None, **options):
    """(tree, heights): the same from `Confusions`: classes most confused are the closest."""
    from ..codes.distances import confusion_distances

    scheme = find_scheme(scheme)
    _require_source(scheme, "confusions")
    options = scheme.settings(options)
    options.pop("metric", None)
    distances = confusion_distances(confusions.errors, confusions.samples, confusions.alternatives)
    return _tree(scheme.make(distances, **options), confusions.labels, names)


def sketch(scheme):
    """A tree of the kind that `scheme` makes, before any data: 4 classes in a line."""
    import numpy as np

    scheme = find_scheme(scheme)
    if "classes" in scheme.made_of:
        return design(scheme.name, range(4), rows=3)
    _require_source(scheme, "data")
    if scheme.searched:
        return design("tree", range(4))
    return design_from_data(scheme.name, np.arange(4.0)[:, None], np.arange(4))[0]


def _require_source(scheme, source):
    if source not in scheme.made_of:
        raise UsageError(f"the scheme '{scheme.name}' is made of "
                         + " or ".join(_SOURCES.get(word, word) for word in scheme.made_of)
                         + f", not of {_SOURCES.get(source, 'the number of classes')}")


def _refuse_huge(scheme, k, options):
    """UsageError where the control file would be too large to be read again.

    Before any row is made; the size of a code that may have few entries is known later.
    """
    if scheme.extent is None:
        return
    lines, share, least = scheme.extent(k, **options)
    what = f"a code of {least}{lines} rows for {k} classes is too large to be read again"
    way = "; print_control -Q tree has no such limit" if options.get("rows") is None else ""
    if lines * k > MAX_CELLS:
        raise UsageError(f"{what}: rows times classes may be {MAX_CELLS} at most{way}")
    size = lines * share * sum(1 + len(str(i)) for i in range(k))
    if size > MAX_TEXT:
        raise UsageError(f"{what}: it would have {size / 2**20:.0f} MiB of text, and "
                         f"{MAX_TEXT >> 20} are the most{way}")


def _tree(made, labels, names):
    """(tree, heights) over `labels` of what the maker of a scheme returned."""
    if isinstance(made, Tree):
        return relabelled(made, labels, names), None
    if isinstance(made, tuple):
        tree, heights = made
        return relabelled(tree, labels, names), heights
    return from_rows(made, labels, names), None


def matrix_of(tree):
    """(rows, labels): the coding matrix of any tree, its columns in ascending label order."""
    labels = tree.labels
    order = sorted(range(len(labels)), key=labels.__getitem__)
    position = {column: i for i, column in enumerate(order)}
    rows = [tuple(tuple(sorted(position[i] for i in side)) for side in row)
            for row in code_rows(tree)]
    return rows, tree.classes
