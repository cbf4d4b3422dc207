"""A scheme and its classes, or data, to a training control tree."""

from __future__ import annotations

import warnings

from ..coding import standard, trees
from ..control.build import code_rows, from_pairs, from_rows, to_code
from ..errors import AgfmcWarning, UsageError

__all__ = ["design", "matrix_of", "tree_from_data"]

_LARGEST = 100_000_000


def design(scheme, labels, *, rows=None, strict=False, reduced=False, seed=1, names=None):
    """The training control tree of `scheme` (by name) over `labels`, in their order.

    rows: rows of a random code, or non-zeros of the orthogonal special one;
    strict: no zeros in a random code; reduced: one row fewer in an orthogonal
    code.  Raises `UsageError` where the scheme does not exist for that many
    classes.
    """
    k = len(labels)
    if k < 2:
        raise UsageError(f"expected at least 2 classes, found {k}")
    _refuse_huge(scheme, k, rows)
    if scheme in ("tree", "tree-code"):
        tree = from_pairs(trees.balanced_tree(k), labels, names)
        return to_code(tree) if scheme == "tree-code" else tree
    return from_rows(_rows(scheme, k, rows, strict, reduced, seed), labels, names)


def _refuse_huge(scheme, k, rows):
    """UsageError where the partitions would list more positions than memory should hold."""
    lines = {"one-vs-one": k * (k - 1) // 2, "random": rows or k}.get(scheme, k)
    size = lines * (2 if scheme == "one-vs-one" else 0 if scheme.startswith("tree") else k)
    if scheme != "exhaustive" and size > _LARGEST:
        raise UsageError(f"a code of {lines} rows for {k} classes is too large: its partitions "
                         f"would list {size} positions, more than {_LARGEST}")


def _rows(scheme, k, rows, strict, reduced, seed):
    if scheme in ("orthogonal", "random-as-orthogonal") and k < 4:
        what = "the only partition there is" if k == 2 else "one-vs-rest"
        warnings.warn(f"no orthogonal code exists for {k} classes (the columns of +1 and -1 "
                      f"cannot all be orthogonal): printing {what} instead",
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
        from ..coding import orthogonal
        return orthogonal.orthogonal(k, reduced=reduced)
    if scheme == "orthogonal-special":
        from ..coding import weighing
        return weighing.special(k, rows)
    if scheme in ("random", "random-as-orthogonal"):
        from ..coding import hadamard, randomcode
        if scheme == "random-as-orthogonal":
            rows, strict = hadamard.hadamard_order(k), True
        return randomcode.random_code(k, rows, strict=strict, seed=seed)
    raise UsageError(f"the scheme '{scheme}' needs data or a control file")


def tree_from_data(x, y, metric="hausdorff", names=None):
    """A decision tree from points x (n, d) and labels y (n,): dendrogram of class distances.

    Mills, "Solving for multi-class", section 3.1: single linkage, so that the
    classes that lie closest are split last.
    """
    import numpy as np

    from ..coding.empirical import class_distances, dendrogram

    labels = [int(label) for label in np.unique(y)]
    if len(labels) < 2:
        raise UsageError(f"expected data of at least 2 classes, found {len(labels)}")
    pairs = dendrogram(class_distances(x, y, labels, metric))
    return from_pairs(pairs, labels, names)


def matrix_of(tree):
    """(rows, labels): the coding matrix of any tree, its columns in ascending label order."""
    labels = tree.labels
    order = sorted(range(len(labels)), key=labels.__getitem__)
    place = {column: i for i, column in enumerate(order)}
    rows = [tuple(tuple(sorted(place[i] for i in side)) for side in row)
            for row in code_rows(tree)]
    return rows, tree.classes
