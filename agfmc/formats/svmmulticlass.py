"""LIBSVM's model files of any number of classes: one-vs-one in a single file.

With the classes numbered in the order of the line `label`, a support vector
of class i has k - 1 coefficients, one for each other class j: the j-th, or
the (j - 1)-th where j > i.  The classifiers stand in the order (0, 1), (0,
2), ..., (1, 2), ...; f > 0 votes for the first class of the pair, and
P(first) = 1/(1 + exp(A f + B)).

A last line of ours, which LIBSVM does not read, says what made all the classifiers.
There, and only there, the samples are those of each class, in the ascending order of the
labels: what each classifier tells of its own two classes follows.
"""

from __future__ import annotations

import os
from itertools import combinations

import numpy as np

from ..control.build import from_rows, rename
from ..errors import ModelError
from ..models import BinaryModel
from ..provenance import shared
from .files import read_bytes
from .svmheader import (MARK, Header, format_kernel, read_lines, provenance_after, refuse_huge,
                        sparse_text, support_vectors)
from .valuenames import ByValue, named_by_value, number_classes

__all__ = ["format_svm_multiclass", "read_svm_multiclass"]

_MOST = 1024  # classes: 2**19 binary classifiers


def read_svm_multiclass(path, raw=None, names=None):
    """Read a LIBSVM model of k >= 2 classes; -> (`Tree`, [`BinaryModel`]).

    Labels of which some are below 0 are names of classes numbered in the order of their
    values; they are looked up in `names` (entry i names label i) if these are whole
    numbers and some below 0, as the model may lack classes.  The tree is a one-vs-one code
    whose rows stand in the ascending order of the labels, the lower one left; the classes
    stand in the order of the file, so that equal votes are decided as LIBSVM decides them.
    The classifiers are named after the file.  raw: its bytes, if read already.  Raises
    `ModelError` with the line for anything but c_svc and nu_svc.
    """
    lines, complete = read_lines(read_bytes(path) if raw is None else raw, path)
    header = Header(lines, path)
    svm_type, kernel = header.svm_type(), header.kernel()
    k = header.values("nr_class", int)[0]
    if not 2 <= k <= _MOST:
        raise header.fail("nr_class", f"expected 2 to {_MOST} classes, found {k}")
    count = k * (k - 1) // 2
    labels = header.values("label", int, k)
    if len(set(labels)) < k:
        raise header.fail("label", "a label is listed twice")
    rho = header.values("rho", float, count)
    platt = header.platt(count) or [None] * count
    n_sv = header.counts(k, lines)
    at, total = header.after, sum(n_sv)
    provenance, features = provenance_after(lines, at, total, path)
    coef, sv = support_vectors(lines[at:at + total], at, path, features, k - 1)
    if not complete:
        raise ModelError("truncated: the last line is not complete", file=path, line=len(lines))
    # each classifier has a copy of its support vectors
    refuse_huge(int(np.count_nonzero(coef)), sv.shape[1], path)
    spans = [slice(stop - n, stop) for n, stop in zip(n_sv, np.cumsum(n_sv).tolist())]
    number = {pair: i for i, pair in enumerate(combinations(range(k), 2))}
    base = os.path.basename(path) if path != "-" else "svm"
    class_names = {}
    if ByValue(names).whole:
        labels = number_classes(np.array(labels), k, path, names).tolist()
        class_names = {label: names[label] for label in labels}
    elif min(labels) < 0:
        numbered, named = named_by_value(np.array(labels), path, points=False)
        labels, class_names = numbered.tolist(), dict(enumerate(named))
    made_from = provenance.for_pairs(labels)
    rows, names, models = [], [], []
    for low, high in combinations(sorted(range(k), key=labels.__getitem__), 2):
        i, j = min(low, high), max(low, high)
        sides = [(spans[i], j - 1), (spans[j], i)]
        used = [np.flatnonzero(coef[span, column]) + span.start for span, column in sides]
        rows.append(((low,), (high,)))
        names.append(f"{base}-{len(names):02d}")
        models.append(BinaryModel(
            names[-1], svm_type, kernel, sv[np.concatenate(used)],
            np.concatenate([coef[use, column] for use, (_, column) in zip(used, sides)]),
            rho[number[i, j]], (0, 1) if i == low else (1, 0),
            (len(used[0]), len(used[1])), platt[number[i, j]],
            made_from(labels[low], labels[high]), features))
    return rename(from_rows(rows, labels, class_names), names), models


def format_svm_multiclass(model, tree):
    """Yield the lines of a one-vs-one `CollatedModel` with its `Tree` as one LIBSVM model.

    The classes stand in the order of the tree, so that equal votes are decided in the
    same way.  Their labels are their names, where these are whole numbers of 32 bits and
    some of them below 0, so that they are those of the training text.  A support vector
    that stands in several classes is written for each.  Raises `ModelError` for what
    LIBSVM cannot hold: a normalisation, another configuration than all pairs of classes,
    several kernels.
    """
    if tree.directs:
        raise ModelError("a LIBSVM model can hold support vector machines only, not a classifier "
                         f"of code {next(iter(tree.directs.values())).code}")
    if model.normalisation is not None:
        raise ModelError("a LIBSVM model has no place for a normalisation: leave it out, and "
                         "normalise the data instead")
    if len(model.kernels) != 1:
        raise ModelError("a LIBSVM model has one kernel for all binary classifiers, these have "
                         f"{len(model.kernels)} different ones")
    classes = {label: i for i, label in enumerate(tree.labels)}
    pairs = _pairs(tree, classes, len(model.rho))
    return _lines(model, classes, pairs, _labels(tree))


def _pairs(tree, classes, count):
    """Per classifier (left, right) as places in `classes`: every pair exactly once."""
    pairs = [(classes[left[0]], classes[right[0]]) for left, right in tree.sides()
             if len(left) == len(right) == 1]
    wanted = len(classes) * (len(classes) - 1) // 2
    distinct = {tuple(sorted(pair)) for pair in pairs}
    if not len(pairs) == len(distinct) == len(tree.rows) == count == wanted:
        raise ModelError(f"a LIBSVM model holds one binary classifier for each of the {wanted} "
                         f"pairs of the {len(classes)} classes (one-vs-one): this "
                         "configuration is another one")
    return pairs


def _labels(tree):
    """The labels of the classes in the order of the tree: as it has them, or their names."""
    names = [tree.names.get(label, "") for label in tree.labels]
    return [int(float(name)) for name in names] if ByValue(names).whole else tree.labels


def _lines(model, classes, pairs, labels):
    k = len(classes)
    pairs = np.array(pairs)
    flipped = pairs[:, 0] > pairs[:, 1]  # the left class is the second one of the pair
    # +1 where f > 0 votes for the first class of the pair
    sign = np.where(flipped, 1, -1) * model.orientation.astype(np.int64)
    order = np.lexsort((pairs.max(axis=1), pairs.min(axis=1)))
    owner = np.repeat(np.arange(len(pairs)), np.diff(model.indptr))
    right = model.coef * model.orientation[owner] > 0
    own = pairs[owner, right.astype(np.intp)]
    other = pairs[owner, (~right).astype(np.intp)]
    # a support vector of two classes, merged by collation, is one row for each again
    keys, row = np.unique(own * max(len(model.sv), 1) + model.index, return_inverse=True)
    coef = np.zeros((len(keys), k - 1))
    coef[row.ravel(), other - (other > own)] = model.coef * sign[owner]
    home, index = np.divmod(keys, max(len(model.sv), 1))

    lines = format_kernel("c_svc", model.kernels[0])
    lines += [f"nr_class {k}", f"total_sv {len(keys)}", _line("rho", (model.rho * sign)[order]),
              _line("label", labels)]
    if np.isfinite(model.a).all():
        # P(first) = (1 -+ tanh(a f + b)) / 2, with f of the sign that LIBSVM has
        side = np.where(flipped, -1.0, 1.0)
        lines += [_line("probA", (2 * model.a * side * sign)[order]),
                  _line("probB", (2 * model.b * side)[order])]
    lines += [_line("nr_sv", np.bincount(home, minlength=k)), "SV"]
    yield "\n".join(lines) + "\n"
    for values, point in zip(coef, index):
        yield f"{' '.join(map(repr, values.tolist()))} {sparse_text(model.sv[point])} \n"
    labels = list(classes)
    sides = [(labels[a], labels[b]) for a, b in pairs.tolist()]
    normalised = any(one.normalisation is not None for one in model.provenances)
    provenance = shared(model.provenances, sides, model.sv.shape[1]
                        if normalised or not model.any_width else None)
    if provenance:
        yield f"{MARK}{provenance.to_line()}\n"


def _line(key, values):
    """A key word with its numbers, in full."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    return f"{key} {' '.join(map(repr, values))}"
