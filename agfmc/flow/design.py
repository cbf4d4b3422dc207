"""A scheme and its classes, data, or counts of errors, to a training control tree."""

from __future__ import annotations

import warnings

from ..codes import standard, trees
from ..codes.schemes import find_scheme
from ..control.build import code_rows, from_pairs, from_rows, to_code
from ..control.sizes import MAX_TEXT
from ..control.tree import MAX_CELLS
from ..errors import AgfmcWarning, UsageError
from ..formats.limits import refuse_beyond

__all__ = ["design", "design_for", "matrix_of", "ordered_from_confusions", "ordered_from_data",
           "tree_from_confusions", "tree_from_data"]

_TABLES = 21  # bytes for each pair of classes, twice of which are held while they are joined


def design(scheme, labels, *, rows=None, strict=False, reduced=False, seed=1, names=None,
           draws=1):
    """The training control tree of `scheme` (by name) over `labels`, in their order.

    rows: rows of a random code, or non-zeros of the orthogonal special one;
    strict: no zeros in a random code; draws: the best of as many random codes; reduced:
    one row fewer in an orthogonal code.  Raises `UsageError` where the scheme does not
    exist for that many classes.
    """
    k = len(labels)
    if k < 2:
        raise UsageError(f"expected at least 2 classes, found {k}")
    _refuse_huge(scheme, k, rows, strict)
    if scheme in ("tree", "tree-code"):
        tree = from_pairs(trees.balanced_tree(k), labels, names)
        return to_code(tree) if scheme == "tree-code" else tree
    return from_rows(_rows(scheme, k, rows, strict, reduced, seed, draws), labels, names)


def _refuse_huge(scheme, k, rows=None, strict=False):
    """UsageError where the control file would be too large to be read again.

    Before any row is made; the size of a code that may have few entries is known later.
    """
    if scheme in ("tree", "exhaustive"):  # which has a limit of its own
        return
    lines = {"one-vs-one": k * (k - 1) // 2, "tree-code": k - 1, "adjacent": k - 1,
             "random": rows or 4 * -(-k // 4)}.get(scheme, k)
    least = "at least " if "orthogonal" in scheme else ""
    what = f"a code of {least}{lines} rows for {k} classes is too large to be read again"
    way = "; print_control -Q tree has no such limit" if rows is None else ""
    if lines * k > MAX_CELLS:
        raise UsageError(f"{what}: rows times classes may be {MAX_CELLS} at most{way}")
    share = {"one-vs-one": 0, "tree-code": 0, "orthogonal-special": 0,
             "random": 1 if strict else 0.66}.get(scheme, 1)  # of the entries that are not 0
    size = lines * share * sum(1 + len(str(i)) for i in range(k))
    if size > MAX_TEXT:
        raise UsageError(f"{what}: it would have {size / 2**20:.0f} MiB of text, and "
                         f"{MAX_TEXT >> 20} are the most{way}")


def _rows(scheme, k, rows, strict, reduced, seed, draws):
    if scheme in ("orthogonal", "random-as-orthogonal") and k < 4:
        what = "the only partition there is" if k == 2 else "one-vs-rest"
        warnings.warn(f"no orthogonal code exists for {k} classes (the columns of +1 and -1 "
                      f"cannot all be orthogonal): taking {what} instead",
                      AgfmcWarning, stacklevel=3)
        return standard.one_vs_rest(k)
    if scheme == "one-vs-rest":
        return standard.one_vs_rest(k)
    if scheme == "one-vs-one":
        return standard.one_vs_one(k)
    if scheme == "adjacent":
        return standard.adjacent(k)
    if scheme == "exhaustive":
        return standard.exhaustive(k)
    if scheme == "orthogonal":
        from ..codes import orthogonal
        return orthogonal.orthogonal(k, reduced=reduced)
    if scheme == "orthogonal-special":
        from ..codes import weighing
        return weighing.special(k, rows)
    if scheme in ("random", "random-as-orthogonal"):
        from ..codes import hadamard, improved
        if scheme == "random-as-orthogonal":
            rows, strict = hadamard.hadamard_order(k), True
        code = improved.improved_code(k, rows, strict, seed, draws)
        if len(code) < k - 1:
            warnings.warn(f"{len(code)} rows do not determine the probabilities of {k} classes: "
                          f"at least {k - 1} are needed", AgfmcWarning, stacklevel=3)
        return code
    raise UsageError(f"the scheme '{scheme}' needs data or a control file")


def design_for(scheme_name, x, y, labels, names, *, rows=None, strict=False, reduced=False,
               seed=1, draws=1, metric=None, linkage=None):
    """The training control tree of any scheme that needs data at most.

    scheme_name: a number or a name;  x (n, d), y (n,): the training data, of which the
    schemes that lay out classes by their number make no use (None will do);  labels: the
    classes, ascending;  names: {label: name} or None;  the others as for `design`, and
    metric, linkage as for `tree_from_data` and `ordered_from_data` (None: their defaults).
    Raises UsageError for convert and contingency, which are made of other things.
    """
    scheme = find_scheme(scheme_name)
    if scheme.name in ("convert", "contingency"):
        made_of = "a control file" if scheme.name == "convert" else "a contingency table"
        raise UsageError(f"the scheme '{scheme.name}' is made of {made_of}, not of training data")
    if scheme.name == "empirical":
        return tree_from_data(x, y, metric, names, linkage, labels)[0]
    if scheme.name == "adjacent-ordered":
        return ordered_from_data(x, y, metric, names, labels)
    return design(scheme.name, labels, rows=rows, strict=strict, reduced=reduced, seed=seed,
                  names=names, draws=draws)


def tree_from_data(x, y, metric=None, names=None, linkage=None, labels=None):
    """(tree, heights): a decision tree from points x (n, d) with labels y (n,).

    Classes are joined by their distances (metric: "hausdorff" by default), so that those
    that lie closest are split last: Mills, "Solving for multi-class", section 3.1, where
    the linkage is single, as it is here by default.  labels: the classes, by default
    all in y.  heights: the distance between the two sides of each node, in the order of
    `tree.nodes`.
    """
    labels, distances = _class_distances(x, y, labels, metric or "hausdorff", "tree")
    return _joined(distances, linkage or "single", labels, names)


def tree_from_confusions(confusions, linkage=None, names=None):
    """(tree, heights): a decision tree from `Confusions`; classes most confused are split last.

    linkage: "average" by default; heights as for `tree_from_data`.
    """
    return _joined(_confusion_distances(confusions), linkage or "average", confusions.labels,
                   names)


def ordered_from_data(x, y, metric=None, names=None, labels=None):
    """The adjacent code with its classes along the shortest path through them.

    Arguments as for `tree_from_data`; the metric is "mean-deviation" by default.
    """
    labels, distances = _class_distances(x, y, labels, metric or "mean-deviation", "adjacent")
    return _ordered(distances, labels, names)


def ordered_from_confusions(confusions, names=None):
    """The same from `Confusions`: neighbours are the classes most confused."""
    return _ordered(_confusion_distances(confusions), confusions.labels, names)


def _class_distances(x, y, labels, metric, scheme):
    import numpy as np

    from ..codes.empirical import class_distances

    labels = [int(label) for label in (np.unique(y) if labels is None else labels)]
    if len(labels) < 2:
        raise UsageError(f"expected data of at least 2 classes, found {len(labels)}")
    _refuse_huge(scheme, len(labels))
    refuse_beyond(_TABLES * len(labels)**2, f"the distances of {len(labels)} classes", None)
    return labels, class_distances(x, y, labels, metric)


def _confusion_distances(confusions):
    from ..codes.confusion import confusion_distances
    return confusion_distances(confusions.errors, confusions.samples, confusions.alternatives)


def _joined(distances, linkage, labels, names):
    from ..codes.linkage import join

    pairs, heights = join(distances, linkage)
    return from_pairs(pairs, labels, names), heights


def _ordered(distances, labels, names):
    from ..codes.pathorder import shortest_path

    order = shortest_path(distances)[0]
    return from_rows(standard.adjacent(len(order)), [labels[i] for i in order], names)


def matrix_of(tree):
    """(rows, labels): the coding matrix of any tree, its columns in ascending label order."""
    labels = tree.labels
    order = sorted(range(len(labels)), key=labels.__getitem__)
    place = {column: i for i, column in enumerate(order)}
    rows = [tuple(tuple(sorted(place[i] for i in side)) for side in row)
            for row in code_rows(tree)]
    return rows, tree.classes
