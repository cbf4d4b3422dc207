"""Tree to training jobs: which classes stand on which side, with which options and seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..control.build import resolve_options
from ..control.tree import model_names
from ..errors import DataError, Place, UsageError
from .protocol import parse_options

__all__ = ["Side", "TrainingJob", "check_jobs", "check_learners", "check_loo", "plan_jobs",
           "problem", "rows_by_class"]


@dataclass(frozen=True)
class TrainingJob:
    """One binary classifier to be trained.

    name: of the model, and of its file;  left, right: the labels on its sides;
    options: of its learner, or what stands for them elsewhere, and `text`, as
    the user wrote them;  seed: the user's;
    place: the `Place` of its row in the control file.
    """

    name: str
    left: tuple
    right: tuple
    options: object
    text: str
    seed: int
    place: Place


@dataclass(frozen=True, eq=False)
class Side:
    """The samples of one job: rows (l,) of the data, side (l,) 0 left and 1 right.

    Samples of the class that comes first in the data come first, as LIBSVM
    orders them, each side in the order of the data.
    """

    rows: np.ndarray
    side: np.ndarray


def plan_jobs(tree, base, default, seed, parse=parse_options):
    """The `TrainingJob`s of a training control file, in the order of its text.

    base: name of the model; default: options where the file has `""`.  All
    options are parsed here, before anything is trained; parse: by what, where
    it is none of our learners that is to understand them.  Raises `UsageError` or
    `ControlError` with the place of a row that is wrong.
    """
    default_options = parse(default)
    jobs = []
    for row, name, sides, text in zip(tree.rows, model_names(tree, base), tree.sides(),
                                      resolve_options(tree, default)):
        place = tree.place(row)
        options = default_options if text == default else parse(text, **place._asdict())
        jobs.append(TrainingJob(name, *sides, options, text, seed, place))
    return jobs


def rows_by_class(y):
    """{label: ascending row numbers} of labels y (n,)."""
    order = np.argsort(y, kind="stable")
    labels, starts = np.unique(y[order], return_index=True)
    return {int(label): rows for label, rows in zip(labels, np.split(order, starts[1:]))}


def problem(job, rows_of):
    """The `Side` arrays of one job; rows_of: {label: ascending rows of the data}."""
    left, right = (rows_of[labels[0]] if len(labels) == 1 else
                   np.sort(np.concatenate([rows_of[label] for label in labels]))
                   for labels in (job.left, job.right))
    parts = ((left, 0), (right, 1)) if left[0] < right[0] else ((right, 1), (left, 0))
    return Side(np.concatenate([rows for rows, _ in parts]),
                np.concatenate([np.full(len(rows), value, dtype=np.int8)
                                for rows, value in parts]))


def check_jobs(jobs, counts):
    """Raise `DataError` for a side with fewer than two samples; -> jobs with few, as text.

    counts: {label: number of samples}.  With one sample on a side there is
    nothing left to train on where it is held out.
    """
    few = []
    for job in jobs:
        for word, labels in (("left", job.left), ("right", job.right)):
            size = sum(counts[label] for label in labels)
            if size < 5:
                shown = ("class " if len(labels) == 1 else "classes ") + \
                    " ".join(map(str, labels[:8]))
                what = f"the {word} side ({shown}) of '{job.name}' has {size} " \
                       f"sample{'' if size == 1 else 's'}"
                if size < 2:
                    raise job.place.error(DataError, f"{what}: expected at least 2")
                few.append(what)
    return few


def check_loo(jobs):
    """Raise `UsageError`, with its place, for a job that leave-one-out is not for."""
    for job in jobs:
        if job.options.no_loo:
            raise job.place.error(UsageError, f"--platt loo is {job.options.no_loo}")


def check_learners(jobs, loo=False):
    """Raise `UsageError`, with its place, for a learner that is not installed.

    loo: also for one that leave-one-out is not for; see `check_loo`.
    """
    if loo:
        check_loo(jobs)
    seen = set()
    for job in jobs:
        if type(job.options) not in seen:
            seen.add(type(job.options))
            try:
                job.options.made_by()
            except UsageError as error:
                raise job.place.error(UsageError, error.message) from None
