"""Sets of classes that contain the true one with a given probability: split conformal prediction.

A score says how badly a class fits a point; the classes whose score is at most a quantile of the
scores of the true classes of calibration points make the set of a point.  For exchangeable points
it contains the true class with probability 1 - alpha at least: V. Vovk, A. Gammerman and G.
Shafer, Algorithmic Learning in a Random World, 2005, also by class ("Mondrian").  Sets of the
classes below a node of a tree: T. Mortier and others, "Conformal prediction in hierarchical
classification", 2025.  The scores: M.
Sadinle, J. Lei and L. Wasserman, "Least ambiguous set-valued classifiers with bounded error
levels", JASA 114, 2019 (lac); Y. Romano, M. Sesia and E. Candes, "Classification with valid and
adaptive coverage", NeurIPS 2020 (aps, here without randomisation).  Classes that share a quantile:
T. Ding and others, "Class-conditional conformal prediction with many classes", NeurIPS 2023.
"""

from __future__ import annotations
from collections.abc import Sequence

import numpy as np

from ..core.errors import warn_user
from ..core.text import listed
from .types import CalibrationPoints

SCORES = ("lac", "aps")
TOLERANCE = 1e-12  # of the comparison of scores
CELLS = 1 << 20  # numbers made at once


def calibration_points(
    p: np.ndarray, y: np.ndarray, answer: np.ndarray, labels: Sequence[int]
) -> CalibrationPoints:
    """The `CalibrationPoints` of p (n, k); y, answer (n,): true and given columns of `labels`."""
    rows = np.arange(len(y))
    cumulative = np.empty(len(y))
    for part in _parts(p):
        cumulative[part] = class_scores(p[part], "aps")[rows[: part.stop - part.start], y[part]]
    return CalibrationPoints(
        np.asarray(labels, dtype=np.int32)[y], p[rows, y], cumulative, p[rows, answer], y == answer
    )


def point_scores(points: CalibrationPoints, score: str) -> np.ndarray:
    """The scores (n,) of the true classes; score: one of `SCORES`, or "node" for `node_sets`."""
    if score == "lac":
        return 1 - points.p_true
    if score == "node":
        return points.left
    return points.cumulative


def class_scores(p: np.ndarray, score: str) -> np.ndarray:
    """The scores (n, k) of all classes of p (n, k): "lac", 1 - p, or "aps".

    The latter is the sum of p over the classes up to this one in falling order of p, equal ones in
    the order of the columns.
    """
    if score == "lac":
        return 1 - p
    order = np.argsort(-p, axis=1, kind="stable")
    out = np.empty(p.shape)
    np.put_along_axis(out, order, np.cumsum(np.take_along_axis(p, order, axis=1), axis=1), axis=1)
    return out


def least_points(alpha: float) -> int:
    """The number of calibration points below which a set with error alpha has all classes."""
    return int(np.ceil(1 / alpha - 1 - 1e-9))


def quantile(scores: np.ndarray, alpha: float) -> float:
    """The ceil((n + 1)(1 - alpha))-th smallest of scores (n,), infinite beyond the n-th."""
    rank = int(np.ceil((len(scores) + 1) * (1 - alpha) - 1e-9))  # .9 of 10 is 9, not 9.000...02
    if rank > len(scores):
        return float("inf")
    if rank > 0:
        return float(np.partition(scores, rank - 1)[rank - 1])
    return float("-inf")


def class_groups(points: CalibrationPoints, labels: Sequence[int], alpha: float) -> np.ndarray:
    """The group (k,) of each class whose points share a quantile; -1 for one without points.

    A class with `least_points` or more is a group.  The rarer ones are one group, joined by the
    smallest of the others until they have as many: coverage then holds on average over its
    classes.  Groups depend on the counts alone, so the guarantee is exact.
    """
    counts = np.bincount(np.searchsorted(labels, points.label), minlength=len(labels))
    group = np.arange(len(counts))
    least = least_points(alpha)
    shared = -1
    total = 0
    for column in np.argsort(counts, kind="stable"):
        if counts[column] == 0:
            group[column] = -1
        elif counts[column] < least or 0 < total < least:
            if shared < 0:
                shared = column
            group[column] = shared
            total += counts[column]
    return group


def quantiles(
    points: CalibrationPoints,
    labels: Sequence[int],
    alpha: float,
    score: str,
    by_class: bool = False,
) -> np.ndarray:
    """The largest score (k,) of each class with which it is in a set with error alpha.

    With `by_class` the sets contain the true class with probability 1 - alpha for each class (or
    group of rare classes, see `class_groups`), else over all points.  Warns of too few points, and
    of classes without points: these are in every set.
    """
    scores = point_scores(points, score)
    if not by_class:
        if len(scores) < least_points(alpha):
            warn_user(_too_few(alpha, len(scores), "every set has all classes"))
        return np.full(len(labels), quantile(scores, alpha))
    limits = np.full(len(labels), np.inf)
    group = class_groups(points, labels, alpha)
    group_of_point = group[np.searchsorted(labels, points.label)]
    for number in np.unique(group_of_point):
        limits[group == number] = quantile(scores[group_of_point == number], alpha)
    absent = np.asarray(labels)[group < 0].tolist()
    if absent:
        if len(absent) == 1:
            names = f"class {absent[0]} is"
        else:
            names = f"classes {listed(absent)} are"
        warn_user(f"{names} without calibration points: in every set")
    if np.isinf(limits[group >= 0]).any():
        warn_user(_too_few(alpha, len(scores), "rare classes are in every set"))
    return limits


def _too_few(alpha, n, what):
    return (
        f"a coverage of {1 - alpha:g} needs {least_points(alpha)} calibration points, "
        f"there are {n}: {what}"
    )


def prediction_sets(p: np.ndarray, limits: np.ndarray, score: str) -> np.ndarray:
    """The sets (n, k) bool of points with calibrated p (n, k); limits (k,): of `quantiles`."""
    out = np.empty(p.shape, dtype=bool)
    for part in _parts(p):
        np.less_equal(class_scores(p[part], score), limits + TOLERANCE, out=out[part])
    return out


def fill_empty_sets(sets: np.ndarray, p: np.ndarray) -> None:
    """Put the most probable class of p (n, k) into sets (n, k) that have none, in place.

    No set loses a class, so coverage can only rise: the guarantee stays.
    """
    empty = np.flatnonzero(~sets.any(axis=1))
    sets[empty, p[empty].argmax(axis=1)] = True


def node_sets(left: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """The sets (n, k) bool of the classes below the last necessary node on the way down a tree.

    The score left (n, k) of a class is the probability of the first node on the way that does not
    contain it, 0 for the answer; limits (k,) are those of `quantiles`.  The node is the smallest
    one with all classes whose score is within their limit.
    """
    return left <= np.where(left <= limits + TOLERANCE, left, 0.0).max(axis=1, keepdims=True)


def p_values(
    p: np.ndarray,
    points: CalibrationPoints,
    labels: Sequence[int],
    score: str,
    by_class: bool = False,
) -> np.ndarray:
    """Conformal p values (n, k) of the classes, labels (k,), for calibrated p (n, k).

    (1 + points whose score is no less than that of the class) / (1 + points), with `by_class` of
    the points of the class alone.
    """
    scores = point_scores(points, score)
    column = np.searchsorted(labels, points.label)
    if by_class:
        parts = [([j], np.sort(scores[column == j])) for j in range(len(labels))]
    else:
        parts = [(slice(None), np.sort(scores))]
    out = np.empty(p.shape)
    for part in _parts(p):
        shifted = class_scores(p[part], score) - TOLERANCE
        for columns, ascending in parts:
            less = np.searchsorted(ascending, shifted[:, columns])
            out[part, columns] = (1 + len(ascending) - less) / (1 + len(ascending))
    return out


def _parts(p):
    """Slices of the rows of p (n, k), of about `CELLS` numbers each."""
    step = max(1, CELLS // p.shape[1])
    return [slice(start, min(start + step, len(p))) for start in range(0, len(p), step)]
