"""Calibration points: training points with their decision values when they were held out."""

from __future__ import annotations

import numpy as np

from ..core.models import HeldOut
from ..core.splits import of_rows, rows_by_class
from ..learners.protocol import NodeProblem

CALIBRATION_POINTS = 5000


def gather_held_out(
    tree, jobs, values, data, rows: np.ndarray | None, settings, progress=None
) -> HeldOut | None:
    """The `HeldOut` of calibration points; None where a learner gives no such values.

    Parameters
    ----------
    tree, jobs : of the training, the jobs of all rows first
    values : sequence, for each row those of its `Fitted`, or None
    data : (Dataset, dict), the dict is {node number: `NodeModel`}
    rows : array (c,), rows of the calibration points, ascending, or None for no such points
    progress : function that is called with (fits done, all fits) of a multi-class node, or None
    """
    x = data[0].x
    y = data[0].y
    weights = data[0].weights
    if rows is None or not len(rows) or any(value is None for value in values):
        return None
    labels = y[rows]
    positions = rows_by_class(labels)
    empty = [np.empty(0, dtype=np.int32)]
    points = [
        np.sort(
            np.concatenate(
                [positions[label] for label in job.labels if label in positions] or empty
            )
        ).astype(np.int32)
        for job in jobs
        if job.is_binary
    ]
    classifiers = [np.full(len(part), number, dtype=np.int32) for number, part in enumerate(points)]
    point = np.concatenate(points or empty)
    order = np.argsort(point, kind="stable")
    nodes = _nodes(tree, [job for job in jobs if not job.is_binary], data, rows, settings, progress)
    if nodes is None:
        return None
    return HeldOut(
        rows,
        labels,
        x[rows],
        point[order],
        np.concatenate(classifiers or empty)[order],
        np.concatenate(values or empty).astype(np.float64)[order],
        nodes,
        weights and weights.w[rows],
        of_rows(data[0].groups, rows),
    )


def _nodes(tree, jobs, data, rows, settings, progress):
    """{node number: p (c, branches)} of the multi-class nodes; None where one gives none."""
    points, models = data
    probabilities = {}
    for number, job in zip(tree.directs, jobs):
        problem = NodeProblem.of(points, job, settings.normalised, progress=progress)
        p = job.options.held_out_probabilities(job, problem, models[number], rows)
        if p is None:
            return None
        probabilities[number] = p
    return probabilities
