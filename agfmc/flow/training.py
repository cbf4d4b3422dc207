"""multi_borders without its command line: files in, model files and control file out."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from ..control.build import check_classes, rename
from ..control.write import quote_name
from ..errors import AgfmcError, ControlError, UsageError
from ..formats.files import replacing
from ..formats.svmmodel import RowText, format_svm_model
from ..formats.vectors import write_std
from ..train.jobs import check_jobs, plan_jobs
from .executors import available_cores
from .fit import fit, rows_by_class
from .prepare import load_training

__all__ = ["Work", "plan", "train"]


@dataclass(frozen=True, eq=False)
class Work:
    """Everything that is settled before the first classifier is trained.

    tree: the classification control tree;  jobs: `TrainingJob`s in its order;
    data: the normalised `Dataset`;  norm_file: where its normalisation is, or None.
    """

    tree: object
    jobs: list
    data: object
    norm_file: str | None


def plan(tree, train, kind, model, *, default="", seed=1, only=None, norm_file=None,
         **reading):
    """Read the data and check all jobs of `tree`, a training control tree.

    train, kind: as for `read_training`; model: base name of the model files;
    only: name of the one job wanted, and `tree` may then be a classification
    tree with its names.  Raises errors with the place in the control file
    for anything that training would trip over.
    """
    if "\n" in model or "\0" in model:
        raise UsageError("the model's name cannot hold a line break: it stands in a control file")
    if model.startswith("-"):
        model = os.path.join(os.curdir, model)
    if only is not None and all(row.is_name for row in tree.rows):
        jobs = _named_jobs(tree, default, seed)
    else:
        jobs = _jobs(tree, model, default, seed)
    if only is not None:
        jobs = [job for job in jobs if job.name == only]
        if not jobs:
            raise UsageError(f"there is no binary model '{only}' in this configuration")
    data, normalisation = load_training(train, kind, norm_file=norm_file, **reading)
    rows_of = rows_by_class(data.y)
    check_classes(tree, rows_of, _source(train))
    check_jobs(jobs, {label: len(rows) for label, rows in rows_of.items()})
    names = tree.names or {label: data.names[label] for label in tree.labels
                           if data.names is not None and label < len(data.names)}
    trained = replace(tree, names=names)
    if only is None:
        trained = rename(trained, [job.name for job in jobs])
        for job in jobs:
            quote_name(job.name)
    if normalisation is None:
        return Work(trained, jobs, data, None)
    used = norm_file or f"{model}.std"
    if reading.get("scale") or reading.get("nsv") is not None:
        write_std(used, normalisation)
    return Work(trained, jobs, data, used)


def _jobs(tree, model, default, seed):
    try:
        return plan_jobs(tree, model, default, seed)
    except UsageError as error:
        if error.file is None:
            raise
        # the options stand in the control file, not on the command line
        raise ControlError(error.message, file=error.file, line=error.line,
                           column=error.column) from error


def _named_jobs(tree, default, seed):
    """Jobs of a classification tree: its own names, all with the default options."""
    jobs = plan_jobs(rename(tree, [""] * len(tree.rows), quoted=True), "", default, seed)
    return [replace(job, name=row.text) for job, row in zip(jobs, tree.rows)]


def _source(train):
    return "standard input" if train == "-" else train


def train(work, workers, progress=None):
    """Train the jobs of `work` and write each model as it is finished; -> errors, in job order.

    The files appear whole or not at all, and do not depend on `workers`
    (0: all cores).
    """
    text = RowText(work.data.x)
    failures = {}
    for job, result, rows in fit(work.jobs, work.data.x, work.data.y,
                                 workers or available_cores(), progress):
        if isinstance(result, AgfmcError):
            failures[job.name] = result
            continue
        with replacing(job.name) as file:
            file.write(format_svm_model(result, [text(row) for row in rows]))
    return [failures[job.name] for job in work.jobs if job.name in failures]
