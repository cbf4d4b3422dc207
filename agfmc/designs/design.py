"""The training control tree of a scheme, from classes, data or counts of errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TYPE_CHECKING

from ..control.build import code_rows, from_rows, relabelled
from ..control.matrix import smallest_distances
from ..control.parse import MAX_TEXT
from ..control.tree import Leaf, MAX_CELLS, Tree
from ..core.errors import DataError, UsageError
from ..core.memory import refuse_beyond
from ..core.weights import Weights
from .schemes import find_scheme

if TYPE_CHECKING:
    import numpy as np

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

        classes = np.searchsorted(self.labels, self.y)
        counts = np.bincount(classes)
        if counts.min() < 2:
            label = self.labels[int(counts.argmin())]
            names = self.names or {}
            name = f", {names[label]!r}," if label in names else ""
            raise DataError(f"class {label}{name} has one point: a leave-one-out value needs two "
                            "or more; --min-class 2 leaves such classes out")
        return classes


@dataclass(frozen=True, eq=False)
class Design:
    """A training control tree.

    heights: the distance between the two sides of each node, in the order of `tree.nodes`, where
    the tree was made by distances, else None;  notes: lines about the tree.
    """

    tree: Tree
    heights: list | None = None
    notes: Sequence[str] = ()


def design(scheme, labels, *, names=None, x=None, y=None, weights=None, **options):
    """The training control tree of `scheme` (by number or name) over `labels`, in their order.

    names: {label: name} or None;  x (n, d), y (n,), weights: training data, which schemes that lay
    out classes by their number do not need;  options: those of the scheme in the table of schemes;
    any others are ignored, None stands for the default.
    Raises `UsageError` where the scheme does not exist for that many classes, or is made of other
    things.
    """
    source = labels if y is None else LabelledPoints(x, y, list(labels), names, weights)
    return make_design(scheme, source, names, **options).tree


def make_design(scheme, source, names=None, **options):
    """The `Design` of a scheme for labels, `LabelledPoints` or `Confusions`; the other arguments
    are those of `design`.

    In a tree from distances, classes that lie closest, or are most confused, are split last: Mills,
    "Solving for multi-class", section 3.1, where the metric is Hausdorff's and the linkage single,
    as they are here by default.
    """
    scheme = find_scheme(scheme)
    kind = "data" if isinstance(source, LabelledPoints) else \
        "confusions" if hasattr(source, "labels") else "classes"
    labels = source if kind == "classes" else source.labels
    if kind == "data":
        names = source.names
        kind = "data" if "data" in scheme.made_of or "classes" not in scheme.made_of else "classes"
    if kind not in scheme.made_of:
        raise UsageError(f"the scheme '{scheme.name}' is made of "
                         + " or ".join(_SOURCES.get(word, word) for word in scheme.made_of)
                         + f", not of {_SOURCES.get(kind, 'the number of classes')}")
    if len(labels) < 2:
        raise UsageError(f"expected at least 2 classes, found {len(labels)}")
    if scheme.searched and kind == "data":
        return search(scheme.name, source, **options) if len(labels) > 2 else \
            make_design("tree", labels, names)  # of which there is one
    options = scheme.settings(options)
    _refuse_huge(scheme, len(labels), options)
    made_of = len(labels) if kind == "classes" else _distances(source, options)
    made = scheme.make(made_of, **options)
    tree, heights = made if type(made) is tuple else (getattr(made, "tree", made), None)
    return Design(relabelled(tree, labels, names) if isinstance(tree, Tree) else
                  from_rows(tree, labels, names), heights)


def search(scheme, points, **options):
    """The design that a scheme finds for `LabelledPoints`, and what its search knows of it."""
    scheme = find_scheme(scheme)
    return scheme.make(points, **scheme.settings(options))


def sketch(scheme):
    """A tree of the kind that `scheme` makes, before any data: 4 classes in a line."""
    import numpy as np

    scheme = find_scheme(scheme)
    if scheme.searched:
        return design(scheme.name if "classes" in scheme.made_of else "tree", range(4))
    return design(scheme.name, range(4), x=np.arange(4.0)[:, None], y=np.arange(4), rows=3)


def _distances(source, options):
    """The distances (k, k) of classes, whose metric is taken out of the options."""
    from .distances import class_distances, confusion_distances

    metric = options.pop("metric", None)
    if not isinstance(source, LabelledPoints):
        return confusion_distances(source.errors, source.samples, source.alternatives)
    x, y, labels, _, weights = source
    refuse_beyond(_TABLES * len(labels)**2, f"the distances of {len(labels)} classes", None)
    return class_distances(x, y, labels, metric, w=None if weights is None else weights.w)


def _refuse_huge(scheme, k, options):
    """UsageError, before any row is made, for a control file too large to be read again."""
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


def matrix_of(tree):
    """(rows, labels): the coding matrix of any tree, its columns in ascending label order."""
    labels = tree.labels
    order = sorted(range(len(labels)), key=labels.__getitem__)
    position = {column: i for i, column in enumerate(order)}
    rows = [tuple(tuple(sorted(position[i] for i in side)) for side in row)
            for row in code_rows(tree)]
    return rows, tree.classes


def tree_notes(chosen, members=None) -> list[str]:
    """Lines about the tree that a search chose (`tree_search.Chosen`), or about the `ScoredTree`s
    of an ensemble beside it."""
    best, search, space = chosen.best, chosen.costs.search, chosen.costs.space
    scheme = "random-tree" if chosen.drawn else "best-tree"
    which = " in which classes stay together as wanted" if search.together else ""
    trees = f"{space.all_trees:,} trees{which}"
    deep = "" if search.max_depth is None else f" of depth {search.max_depth} at most"
    lines = [f"{scheme}: leave-one-out {loss_name(search.loss)} {best.loss:.4f} +- "
             f"{best.error:.4f} a point; judged by points that did not choose it "
             f"{chosen.apart:.4f} +- {chosen.apart_error:.4f}"]
    if chosen.exact:
        least = f"only tree{which}" if space.all_trees == 1 else \
            f"least{deep}, of {trees}" if deep else f"least of all {trees}"
        lines.append(f"exact: the {least}, from {space.splits:,} splits")
    elif chosen.drawn:
        lines.append(f"the best of {chosen.drawn}, among {trees}; {space.splits:,} splits")
    else:
        lines.append(f"not exact: {space.splits:,} of {space.all_splits:,} splits were tried, by "
                     f"a local search among {trees}{deep}; how much better the best of all is, is "
                     "not known")
    if chosen.balance:
        lines.append(f"balance: {chosen.balance:g} for each classifier that a point is asked")
    judged = f"judged by {chosen.costs.splits.options.canonical()}"
    if members is not None:
        return [*lines, judged, "   loss +- std.error    asked: member",
                *(f"{one.loss:7.4f} {one.error:8.4f} {one.asked:12.2f}  {in_brackets(one.tree)}"
                  for one in members)]
    return [*lines, f"{len(best.nodes)} classifiers, of which {best.asked:.2f} are asked for a "
            "point on average", judged, "   loss +- std.error    share of points: node",
            *(f"{node.loss:7.4f} {node.error:8.4f} {node.share:12.4f}  "
              f"{_classes(node.left, best.tree.names)} / {_classes(node.right, best.tree.names)}"
              for node in best.nodes)]


def loss_name(loss) -> str:
    """The words for a `split_costs.Loss`."""
    return {"log-loss": "log loss", "error": "errors at nodes",
            "cost": "cost above that of right answers"}[loss.name]


def in_brackets(tree) -> str:
    """A decision tree as labels in round brackets, on one line."""
    made: list = [None] * len(tree.nodes)
    for number in range(len(tree.nodes) - 1, -1, -1):
        made[number] = "(" + " ".join(
            str(child.label) if isinstance(child, Leaf) else made[child]
            for child in tree.nodes[number].children) + ")"
    return made[0]


def _classes(labels, names):
    words = [names.get(label, str(label)) for label in labels]
    # a name with one of the separators is shown by its label
    words = [str(label) if {",", "/", ";"}.intersection(word) else word
             for label, word in zip(labels, words)]
    return (", " if any(" " in name for name in names.values()) else " ").join(words)


def code_notes(chosen) -> list[str]:
    """Lines about the code that a search chose (`code_search.ChosenCode`)."""
    point, names = chosen.chosen, chosen.tree.names
    rows, labels = matrix_of(chosen.tree)
    lines = [f"best-code: {point.rows} rows of {chosen.pool} candidates; leave-one-out log loss "
             f"{point.loss:.4f} +- {chosen.error:.4f} a point, {100 * point.wrong:.2f} % wrong; "
             f"judged by points that did not choose it {point.judged:.4f} +- {point.error:.4f}",
             "decoded by least squares, after a temperature of "
             f"{1 / float(chosen.map.weights):.3f} and a floor of {chosen.map.floor:.2g}",
             "smallest distance between rows {}, between columns {}".format(
                 *smallest_distances(rows, len(labels))),
             f"judged by {chosen.machine.canonical()}",
             "rows    loss  wrong  judged +- error: the row that came (+) or went (-)"]
    exchanged = [point] if point.added else []
    for number, step in enumerate((*chosen.curve, *exchanged)):
        changes = [f"{sign} {_classes(left, names)} / {_classes(right, names)}"
                   for sign, some in (("+", step.added), ("-", step.dropped))
                   for left, right in some]
        text = f"{step.rows} rows" if number == 0 and step.rows > 1 else "; ".join(changes)
        if step is point:
            text = f"chosen, rows exchanged at the end: {text}"
        lines.append(f"{step.rows:4d} {step.loss:7.4f} {step.wrong:6.4f} {step.judged:7.4f} "
                     f"{step.error:8.4f}: {text}")
    return lines
