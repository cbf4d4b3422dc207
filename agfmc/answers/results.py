"""Files of the results of a classification, read together and checked against each other."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..control.tree import Tree
from ..core.answers import Results, Sets
from ..core.errors import DataError, UsageError, warn_user
from ..core.probabilities import probability, refuted_probabilities
from ..core.text import listed
from ..core.weights import NO_WEIGHTS, WeightSource
from ..data.class_names import number_classes, read_names, read_names_of
from ..data.groups import group_numbers_beside
from ..data.libagf import read_cls, read_con
from ..data.libsvm import read_svm_labels
from ..data.printed import check_answers, read_probabilities
from ..data.weights import read_weights, weights_beside
from ..files.number_text import is_svm
from ..score.evaluation import warn_of_no_probabilities, with_weights
from ..score.probabilities import probability_of_answers
from ..score.sets import Hierarchy
from .libagf_text import ClassSets, read_sets


def load_results(truth_path, base, probabilities=None, k=None, labels=None, names=None):
    """Read truth (.cls), base.cls, base.con if it exists, and what classify_m printed.

    The truth may be LIBSVM text.

    Parameters
    ----------
    probabilities : path, optional, what classify_m printed
    k : int, optional, number of classes
    labels : sequence, optional, labels of the columns
    names : sequence or path, optional, names of the classes, or their file, for a truth of words or
        with labels below 0

    Raises
    ------
    DataError : where the files do not fit together
    UsageError : where k or labels are needed or contradict the files
    """
    # first: from a pipe they end when the command that writes the other files has done so
    table = None
    known = k
    if probabilities is not None:
        table = read_probabilities(probabilities)
        known = table.p.shape[1]
    if names is not None and not isinstance(names, tuple):
        names = read_names(names)
    truth = _read_truth(truth_path, known, names)
    if truth.min() < 0:
        truth = number_classes(
            truth, known, truth_path, names, ": give `names`, or `class_count` if all occur"
        )
    result = read_cls(f"{base}.cls", n=len(truth), negative=True)
    present = np.unique(np.concatenate([truth, result[result >= 0]]))
    ratings = truth_path.removesuffix(".cls") + ".con"
    if os.path.exists(ratings) and not os.path.exists(f"{base}.con"):
        warn_user(
            f"{truth_path} has a file {ratings}, as results have, and {base}.cls has "
            "none: the true classes come first, then the base name of the results"
        )
    p = winner = None
    if table is not None:
        check_answers(table, result, probabilities, base)
        p = table.p
        if k is not None and k != known:
            raise UsageError(f"`class_count` says {k} classes, and {probabilities} has {known}")
        if labels is None:
            labels = table.labels
    labels = _labels(labels, present, known, p is not None)
    if labels is None:
        k = known
    else:
        k = len(labels)
    if p is not None:
        winner = probability_of_answers(p, result, labels)
        for label in truth[~np.isin(truth, labels)][:1]:
            raise DataError(
                f"holds class {label}, for which there are no probabilities: give the "
                f"command without {probabilities}, and such points count as wrong",
                file=truth_path,
            )
    elif k is not None and os.path.exists(f"{base}.con"):
        winner = probability(read_con(f"{base}.con", n=len(truth)), k)
    p, winner = probabilities_only(p, winner, probabilities or base + ".con")
    return Results(truth, result, present if labels is None else labels, k, winner, p)


def _read_truth(path, k, names):
    """Labels (n,) of a `.cls` file or of LIBSVM text; words are those of names, or of k classes."""
    if not os.path.isfile(path) or not is_svm(path):
        return read_cls(path, negative=True)
    y, words = read_svm_labels(path, names)
    if names is None and words is not None and len(words) != k:
        raise DataError(
            "the labels are words, and the numbers of their classes are not known: give `names`",
            file=path,
        )
    return y


def with_weights_of(results: Results, truth_path: str, source: WeightSource, names) -> Results:
    """`results` with the weights of a source, and the groups beside the true classes.

    Without a file of weights, those in base.wgt beside base.cls (or base.truth) are taken, with a
    warning; groups are in base.grp. `names` is {label: name}. Raises `DataError` as `read_weights`,
    `read_groups` and `with_weights` do.
    """
    path = source.file
    results = replace(
        results, groups=group_numbers_beside(_base_of(truth_path), len(results.truth))
    )
    if path is None and truth_path != "-":
        path = weights_beside(_base_of(truth_path))
        if path is not None:
            warn_user(
                f"the points of {truth_path} have the weights in {path} "
                '(`weight="none"`: they all count alike)'
            )
    w = None
    if path not in (None, NO_WEIGHTS):
        w = read_weights(path, len(results.truth))
    if w is None and source.classes is None:
        return results
    return with_weights(results, w, source.classes, names)


def _base_of(truth_path):
    return truth_path.removesuffix(".cls").removesuffix(".truth")


def probabilities_only(p, winner, file):
    """p (n, k) or None, and winner (n,), of which both become None where they are votes or such.

    Warns of that, and of values below 0 or above 1;  `DataError` for NaN and infinity.
    """
    for values in (p, winner):
        if values is not None and (problem := refuted_probabilities(values)):
            warn_user(f"the values in {file} {problem}; scores of probabilities are left out")
            return None, None
    if winner is not None:
        warn_of_no_probabilities(winner if p is None else p, f"the probabilities in {file}")
    return p, winner


def _labels(labels, present, k, needed):
    """The labels of all classes, ascending; None where only those in the files are known."""
    if labels is not None:
        labels = np.asarray(labels)
        if k is not None and len(labels) != k:
            raise UsageError(f"{len(labels)} labels were given for {k} classes")
        if np.any(np.diff(labels) <= 0):
            raise UsageError("the labels must ascend, as the columns do")
        return labels
    if k is None:
        return None
    if len(present) == k:
        return present
    if len(present) > k:
        raise UsageError(
            f"there are {k} classes, but {len(present)} different labels in the files "
            f"({listed(present.tolist())})" + ": without the probabilities, points of "
            "a class that the model does not know count as wrong" * needed
        )
    if present.max() < k:
        return np.arange(k)
    if needed:
        raise UsageError(
            f"the files hold {len(present)} of the {k} classes, and nothing gives the "
            "labels of the columns: give `labels`, or print them with `header`"
        )
    return None


def with_probabilities_before(results, path):
    """`results` with the probabilities of `calibrated=False`, of the same points.

    Raises `DataError` where they are of other points or classes, `UsageError` where there are
    none to compare with.
    """
    if results.p is None:
        raise UsageError(
            "probabilities before calibration are compared with those after it: "
            "give the file that classify_m printed"
        )
    table = read_probabilities(path)
    if table.p.shape != results.p.shape:
        raise DataError(
            "has {} rows of {} probabilities, but there are {} points and {} classes".format(
                *table.p.shape, *results.p.shape
            ),
            file=path,
        )
    if table.labels is not None and not np.array_equal(table.labels, results.labels):
        raise DataError(
            f"has the classes {listed(table.labels.tolist())}, and not "
            f"{listed(list(results.labels))}",
            file=path,
        )
    warn_of_no_probabilities(table.p, f"the probabilities in {path}")
    return replace(results, before=table.p)


def with_sets(results, path, tree):
    """`results` with the sets of classes that classify_m wrote for the same points.

    Each set has to be a node of `tree`, if that is given, for hierarchical scores. Raises
    `DataError` where there are others than the points, a class is unknown, or a set is no node.
    """
    sets = read_sets(path)
    if len(sets.size) != len(results.truth):
        raise DataError(
            f"has {len(sets.size)} rows, but there are {len(results.truth)} points", file=path
        )
    points = sets.points
    strange = ~np.isin(sets.labels, results.labels)
    if results.k is not None and strange.any():
        at = int(np.argmax(strange))
        raise DataError(
            f"class {sets.labels[at]} is not one of the classes {listed(list(results.labels))}",
            file=path,
            line=int(points[at]) + 1,
        )
    paths = None
    if tree is not None:
        paths = paths_of_sets(
            sets,
            results.truth,
            tree,
            lambda row, message: DataError(message, file=path, line=row + 1),
        )
    return replace(results, sets=sets_beside_truth(sets, results.truth, paths))


def sets_beside_truth(sets: ClassSets, truth: np.ndarray, paths: np.ndarray | None) -> Sets:
    """The `Sets` of points whose true classes are truth (n,)."""
    points = sets.points
    holds = np.zeros(len(sets.size), dtype=bool)
    holds[points[sets.labels == truth[points]]] = True
    return Sets(sets.size, holds, paths)


def paths_of_sets(
    sets: ClassSets, truth: np.ndarray, tree: Tree, error_at: Callable[[int, str], DataError]
) -> np.ndarray:
    """The `paths` of `Sets` that are nodes of a tree, and of the true classes (n,).

    error_at(row, message): the error at a row, from 0.
    """
    if tree.source is None:
        where = "the tree"
    else:
        where = f"the tree in {tree.source}"
    if tree.is_ensemble:
        raise DataError(
            f"sets are nodes of one tree, and {where} is not the only one: expected a "
            "control file of one configuration",
            file=tree.source,
        )
    order = np.argsort(tree.labels)
    labels = np.array(tree.labels)[order]
    for label in truth[~np.isin(truth, labels)][:1]:
        raise DataError(
            f"the tree has no class {label}, which is the true one of a point", file=tree.source
        )
    points = sets.points
    known = np.isin(sets.labels, labels)
    first, end = np.full((2, len(sets.size)), -1)
    starts = (np.cumsum(sets.size) - sets.size)[sets.size > 0]
    if len(starts) and known.all():
        position = order[np.searchsorted(labels, sets.labels)]
        first[sets.size > 0] = np.minimum.reduceat(position, starts)
        end[sets.size > 0] = np.maximum.reduceat(position, starts) + 1
        end[end - first != sets.size] = -1
    hierarchy = Hierarchy(tree)
    node = hierarchy.nodes_of(first, end)
    if known.all():
        wrong = np.flatnonzero(node < 0)
    else:
        wrong = points[~known]
    if len(wrong):
        labels_of_set = sets.labels[points == wrong[0]].tolist()
        if labels_of_set:
            found = listed(labels_of_set)
        else:
            found = "an empty set"
        raise error_at(
            int(wrong[0]),
            f"expected a class, or all classes below a node of {where}, found {found}",
        )
    return hierarchy.paths(node, order[np.searchsorted(labels, truth)])


def names_beside(truth_path, labels, path=None):
    """{label: name} of the classes, from `path`, else from base.names, else {}.

    The truth is base.cls, or base.truth.  Raises `DataError` where one of them has no name in
    `path`; the other file is then left out, with a warning.
    """
    labels = [int(label) for label in labels]
    if path is not None:
        return read_names_of(path, labels)
    base = _base_of(truth_path)
    if base == truth_path or not os.path.exists(f"{base}.names"):
        return {}
    try:
        return read_names_of(f"{base}.names", labels)
    except DataError as error:
        warn_user(f"{error}: the names are left out")
        return {}
