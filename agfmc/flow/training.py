"""multi_borders without its command line: files in, model files and control file out."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace

from ..control.build import check_classes, rename, rename_directs
from ..control.tree import changed
from ..control.write import quote_name
from ..errors import AgfmcError, AgfmcWarning, ControlError, DataError, UsageError
from ..formats.controlfile import model_file
from ..formats.files import read_bytes, remove, replacing
from ..formats.svmmodel import RowText, format_svm_model
from ..formats.vectors import write_std
from ..train.jobs import plan_jobs
from ..train.options import parse_options
from .direct import plan_directs, train_direct
from .executors import Background, available_cores
from .fit import fit, rows_by_class
from .prepare import load_training
from .tables import MEGABYTES

__all__ = ["Work", "check_outputs", "plan", "save_normalisation", "train", "train_directs"]


@dataclass(frozen=True, eq=False)
class Work:
    """Everything that is settled before the first classifier is trained.

    tree: the classification control tree;  jobs: `TrainingJob`s in its order;
    directs: `DirectJob`s in its order;  data: the normalised `Dataset`;
    norm_file: where its normalisation is, or will be, or None;  normalisation:
    itself, or None;  fitted: it is new, and to be written;  raw: the points
    before the normalisation, where support vectors are to be written as such;
    path: folder of the model files, or None;  loo: probabilities rest on leaving
    out single samples, not on folds.
    """

    tree: object
    jobs: list
    data: object
    norm_file: str | None
    normalisation: object = None
    fitted: bool = False
    directs: tuple = ()
    raw: object = None
    path: str | None = None
    loo: bool = False

    def place(self, name):
        """Where the model of that name is written."""
        return model_file(name, self.path)

    @property
    def files(self):
        """(path, what it is) of every model file that training writes."""
        return [(self.place(job.name), "a binary model") for job in self.jobs] + \
            [(self.place(file), "a model") for job in self.directs for file in job.files]


def plan(tree, train, kind, model, *, default=None, seed=1, only=None, norm_file=None,
         path=None, parse=parse_options, unnormalised=False, loo=False, **reading):
    """Read the data and check all jobs of `tree`, a training control tree.

    train, kind: as for `read_training`; model: base name of the model files;
    only: name of the one job wanted, and `tree` may then be a classification
    tree with its names, for which default must be given; path: folder of the
    model files, which the control file does not name; parse: what understands
    the training options; unnormalised: support vectors are written as they
    were before the normalisation; loo: as for `fit`.  Raises errors with the place
    in the control file for anything that training would trip over.
    """
    if "\n" in model or "\0" in model:
        raise UsageError("the model's name cannot hold a line break: it stands in a control file")
    if model.startswith("-"):
        model = os.path.join(os.curdir, model)
    if only is not None and all(row.is_name for row in tree.rows) and \
            all(direct.name is not None for direct in tree.directs.values()):
        if default is None:
            raise UsageError(f"{tree.source} holds the names of models and not their training "
                             "options: give the options with -+")
        jobs = _named_jobs(tree, default, seed, parse)
    else:
        jobs = _jobs(tree, model, default or "", seed, parse)
    if loo:
        _refuse_nu(jobs)
    directs = plan_directs(tree, model)
    if unnormalised and directs:
        raise UsageError("-u is for support vectors: direct classifiers have none")
    if only is not None:
        jobs = [job for job in jobs if job.name == only]
        directs = {number: job for number, job in directs.items() if job.name == only}
        if not jobs and not directs:
            raise UsageError(f"there is no model '{only}' in this configuration")
    data, normalisation, raw = load_training(train, kind, norm_file=norm_file, **reading)
    if unnormalised and normalisation is None:
        raise UsageError("-u needs a normalisation: -n, -S or -a")
    rows_of = rows_by_class(data.y)
    counts = {label: len(rows) for label, rows in rows_of.items()}
    check_classes(tree, counts, _source(train))
    names = tree.names or {label: data.names[label] for label in tree.labels
                           if data.names is not None and label < len(data.names)}
    trained = changed(tree, names=names)
    if only is None:
        trained = rename_directs(rename(trained, [job.name for job in jobs]),
                                 {number: job.name for number, job in directs.items()})
        for job in [*jobs, *directs.values()]:
            quote_name(job.name)
    fitted = bool(reading.get("scale")) or reading.get("nsv") is not None
    used = norm_file or f"{model}.std" if normalisation is not None else None
    if used is None and only is None and os.path.exists(f"{model}.std"):
        warnings.warn(f"{model}.std is there already, but does not belong to these models: they "
                      "are trained on the data as they are", AgfmcWarning, stacklevel=2)
    return Work(trained, jobs, data, used, normalisation, fitted, tuple(directs.values()),
                raw if unnormalised else None, path, loo)


def _refuse_nu(jobs):
    for job in jobs:
        if job.options.svm_type != "c_svc":
            file, line, column = job.place
            raise UsageError("--platt loo is for C-SVC only, not for nu-SVC (-s 1)", file=file,
                             line=line, column=column)


def _jobs(tree, model, default, seed, parse):
    try:
        return plan_jobs(tree, model, default, seed, parse)
    except UsageError as error:
        if error.file is None:
            raise
        # the options stand in the control file, not on the command line
        raise ControlError(error.message, file=error.file, line=error.line,
                           column=error.column) from error


def _named_jobs(tree, default, seed, parse):
    """Jobs of a classification tree: its own names, all with the default options."""
    unnamed = rename_directs(rename(tree, [""] * len(tree.rows), quoted=True),
                             dict.fromkeys(tree.directs))
    jobs = plan_jobs(unnamed, "", default, seed, parse)
    return [replace(job, name=row.text) for job, row in zip(jobs, tree.rows)]


def _source(train):
    return "standard input" if train == "-" else train


def check_outputs(work, control_out, inputs):
    """Refuse, before the training, what could not be written after it, or would destroy input.

    inputs: files that are read, `-` and None among them.  Raises `DataError`
    for a folder that is not there, `UsageError` for an output that would take
    the place of an input or of another output.
    """
    taken = {os.path.realpath(path): "an input" for path in inputs if path not in (None, "-")}
    if work.fitted:
        taken[os.path.realpath(work.norm_file)] = "the normalisation"
    for path, what in [(control_out, "control-out"), *work.files]:
        if path == "-":
            continue
        if not os.path.isdir(os.path.dirname(path) or os.curdir):
            raise DataError("cannot write: there is no such folder", file=path)
        place = os.path.realpath(path)
        if place in taken and (os.path.isfile(place) or not os.path.exists(place)):
            raise UsageError(f"{what} would be '{path}', and that is {taken[place]} already")
        taken[place] = what


def save_normalisation(work):
    """Write the normalisation that was fitted to the training data, if one was."""
    if work.fitted:
        write_std(work.norm_file, work.normalisation)


def train(work, workers, progress=None, control_out=None, held_out=None, kernel_memory=None):
    """Train the jobs of `work` and write each model as it is finished; -> errors, in job order.

    The files appear whole or not at all, and do not depend on `workers` (0:
    all cores).  control_out: control file of an earlier run; it goes as soon
    as a model of that run is replaced by another one, as it would name a
    mixture of both.  held_out, kernel_memory (None: the default): as for `fit`.
    """
    text = RowText(work.data.x if work.raw is None else work.raw)
    failures = {}
    begun = False
    with Background() as background:
        for job, result, rows in fit(work.jobs, work.data.x, work.data.y,
                                     workers or available_cores(), progress, work.normalisation,
                                     held_out, loo=work.loo,
                                     kernel_memory=MEGABYTES if kernel_memory is None
                                     else kernel_memory):
            if isinstance(result, AgfmcError):
                failures[job.name] = result
                continue
            if not begun:
                save_normalisation(work)
                begun = True
            if work.raw is not None:
                result = _with_raw_vectors(result, work.raw[rows])
            model = format_svm_model(result, [text(row) for row in rows.tolist()])
            path = work.place(job.name)
            if control_out is not None and _holds_another(path, model):
                _write(path, model)
                remove(control_out)
                control_out = None
            else:
                background(_write, path, model)
    return [failures[job.name] for job in work.jobs if job.name in failures]


def _write(path, text):
    with replacing(path) as file:
        file.write(text)


def train_directs(work, progress=None, control_out=None, convert=None, text="svm"):
    """Train the direct classifiers of `work`, one after the other, and write their files.

    control_out: control file of an earlier run, which goes before one of its
    models is replaced; convert, text: as for `train_direct`.
    """
    normalised = "" if work.normalisation is None else \
        f"; normalised {work.normalisation.digest()}"
    for done, job in enumerate(work.directs, 1):
        if control_out is not None and any(os.path.isfile(work.place(file)) for file in job.files):
            remove(control_out)
        train_direct(replace(job, name=work.place(job.name)), work.data.x, work.data.y,
                     normalised, convert, text)
        if done == 1 and not work.jobs:
            save_normalisation(work)
        if progress is not None:
            progress(done, len(work.directs))


def _with_raw_vectors(model, sv):
    """`model` with its support vectors as they were before the normalisation."""
    settings = model.settings.replace(f"; features {model.features};", f"; features {sv.shape[1]};")
    return replace(model, sv=sv, features=sv.shape[1], settings=f"{settings}; vectors raw")


def _holds_another(path, text):
    """True where there is a file with other contents."""
    return os.path.isfile(path) and read_bytes(path) != text.encode()
