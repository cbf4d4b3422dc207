"""Calibration points: training points with their decision values when they were held out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import label_counts
from ..data_tools.metric import apart_from
from ..learners.calibration import job_seed
from ..learners.protocol import NodeProblem, rows_by_class, samples
from ..models import HeldOut

__all__ = ["CALIBRATION_POINTS", "calibration_rows", "gather_held_out"]

CALIBRATION_POINTS = 5000
_BLOCK = 1 << 19  # labels at a time


def calibration_rows(y: np.ndarray, labels: Sequence[int], count: int, seed: int) -> np.ndarray:
    """Rows, ascending, of about `count` points of the classes `labels`, or of all there are.

    y (n,): labels.  Of every class the same share, rounded up, drawn with the seed.  What is
    drawn of a class depends on its own number of samples and on that of all alone.
    """
    counts = label_counts(y)
    labels = [label for label in labels if label in counts]
    total = sum(counts[label] for label in labels)
    if total <= count:
        return np.flatnonzero(np.isin(y, labels))
    wanted = {}
    for label in labels:
        generator = np.random.Generator(np.random.PCG64(job_seed(seed, (label,), ())))
        share = -(-counts[label] * count // total)
        wanted[label] = np.sort(generator.permutation(counts[label])[:share])
    return _members(y, wanted)


def _members(y, wanted):
    """Rows, ascending, of members of classes; wanted: {label: their numbers, ascending}."""
    rows, seen = [np.empty(0, dtype=np.int64)], dict.fromkeys(wanted, 0)
    for start in range(0, len(y), _BLOCK):
        for label, part in rows_by_class(y[start:start + _BLOCK]).items():
            if label not in wanted:
                continue
            first = seen[label]
            seen[label] += len(part)
            inside = slice(*np.searchsorted(wanted[label], [first, seen[label]]))
            rows.append(start + part[wanted[label][inside] - first])
    return np.sort(np.concatenate(rows))


def gather_held_out(tree, jobs, values, data, rows: np.ndarray, settings) -> HeldOut | None:
    """The `HeldOut` of calibration points; None where a learner gives no such values.

    tree, jobs: of the training, those of all rows first;  values: for each row those of its
    `Fitted`, or None;  data: (`Dataset`, {node number: `DirectModel`});  rows (c,),
    ascending: of the points.
    """
    x, y, weights = data[0].x, data[0].y, data[0].weights
    binary = [job for job in jobs if job.is_binary]
    if not len(rows) or any(value is None for value in values):
        return None
    labels = y[rows]
    places = rows_by_class(labels)
    points, classifiers = [], []
    for number, job in enumerate(binary):
        own = np.sort(np.concatenate([places[label] for label in job.labels if label in places]
                                     or [np.empty(0, dtype=np.int64)]))
        points.append(own.astype(np.int32))
        classifiers.append(np.full(len(own), number, dtype=np.int32))
    empty = [np.empty(0, dtype=np.int32)]
    point = np.concatenate(points or empty)
    order = np.argsort(point, kind="stable")
    apart = apart_from(settings.normalisation, y)
    nodes = _nodes(tree, [job for job in jobs if not job.is_binary], data, rows, settings)
    if nodes is None:
        return None
    return HeldOut(rows, labels, x[rows], point[order],
                   np.concatenate(classifiers or empty)[order],
                   np.concatenate(values or empty).astype(np.float64)[order], nodes,
                   None if apart is None else apart[rows],
                   None if weights is None else weights.w[rows])


def _nodes(tree, jobs, data, rows, settings):
    """{node number: p (c, branches)} of the multi-class nodes; None where one gives none."""
    points, models = data
    rows_of = rows_by_class(points.y) if jobs else {}
    found = {}
    for number, job in zip(tree.directs, jobs):
        problem = NodeProblem(points.x, samples(job, rows_of), settings.normalised,
                              w=None if points.weights is None else points.weights.w)
        found[number] = job.options.held_out_probabilities(job, problem, models[number], rows)
        if found[number] is None:
            return None
    return found
