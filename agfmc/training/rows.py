"""Training of rows of groups: one fit of an estimator for all groups of a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ..decode.code_kinds import rows_of_groups
from ..core.errors import UsageError
from ..core.models import BinaryModel, GroupFunction
from ..core.provenance import Provenance
from ..core.splits import of_rows, rows_by_class
from ..core.version import __version__
from ..executors.threads import run_tasks
from ..learners.estimators import log_odds, RowLearner
from ..learners.protocol import check_missing, Fitted, for_weights, NodeProblem, samples
from .fit import check_fit


def fit_rows(jobs, data, settings, progress=None, requested=None) -> Iterator[Fitted]:
    """Train the binary `jobs` of an estimator, those of a row of several groups by one fit.

    Parameters and errors are those of `fit`.  Points that are held out are so in folds of each row.
    """
    check_fit(jobs, data, settings)
    check_missing(jobs, data.x)
    if data.weights is not None:
        jobs = for_weights(jobs)
    learner = jobs[0].options
    if not learner.gives_probabilities:
        raise UsageError(f"{learner.canonical()}: `symbols` needs one with predict_proba")
    rows = [jobs[part] for part in rows_of_groups([job.sides for job in jobs])]
    fit_row = partial(_fit_row, data, settings, requested)
    for done, (_, fitted) in enumerate(run_tasks(fit_row, rows, settings.workers), 1):
        yield from fitted
        if progress is not None:
            progress(done, len(rows))


def _fit_row(data, settings, requested, jobs):
    """The `Fitted` of each job of a row."""
    first = jobs[0]
    if len(jobs) == 1:
        groups = first.sides
    else:
        groups = tuple(job.sides[1] for job in jobs)
    row = replace(first, sides=groups, options=RowLearner(first.options))
    problem = NodeProblem.of(data, row, settings.normalised)
    function = row.options.fit(row, problem)
    if requested.chosen is not None:
        chosen = np.flatnonzero(requested.chosen & np.isin(data.y, row.labels))
        values = log_odds(row.options.held_out_probabilities(row, problem, function, chosen))
    rows_of = rows_by_class(data.y)
    result = []
    for number, job in enumerate(jobs, len(groups) - len(jobs)):
        part = samples(job, rows_of)
        sums = None, None
        if data.weights is not None:
            sums = data.weights[part.rows].of_sides(data.y[part.rows], job.sides)
        provenance = Provenance(
            __version__,
            first.options.made_by(),
            first.options.canonical(),
            features=data.x.shape[1],
            probabilities="own probabilities",
            seed=job.seed,
            normalised=settings.normalised,
        ).with_samples(
            np.bincount(part.side, minlength=2).tolist(),
            job.sides,
            sums,
            of_rows(data.groups, part.rows),
        )
        model = BinaryModel(
            job.name,
            first.options.svm_type,
            first.options.kernel_for(data.x.shape[1]),
            np.empty((0, data.x.shape[1])),
            np.empty(0),
            0.0,
            (1, 0),
            (0, 0),
            (-1.0, 0.0),
            provenance,
            data.x.shape[1],
            GroupFunction(function, number),
        )
        held_out = None
        if requested.chosen is not None:
            held_out = values[number].astype(np.float32)
        result.append(Fitted(job, model, values=held_out))
    return result
