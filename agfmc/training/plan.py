"""multi_borders before the training: every job and file settled and checked."""

from __future__ import annotations

import errno
import functools
import os
import shlex
import warnings
from dataclasses import dataclass, replace

from ..control.build import check_classes, rename, rename_directs
from ..control.build import named_as
from ..control.write import libagf_begins, require_readable
from ..errors import AgfmcWarning, ControlError, DataError, UsageError
from ..formats.controlfile import model_file
from ..formats.atomic import check_output
from ..learners.jobs import check_learners, check_loo, plan_jobs, rows_by_class
from ..learners.protocol import parse_options
from ..prediction.direct import plan_directs
from ..data_tools.training_data import for_classes, load_training
from .resume import Origins

__all__ = ["Work", "check_outputs", "plan"]


@dataclass(frozen=True, eq=False)
class Work:
    """Everything that is settled before the first classifier is trained.

    tree: the classification control tree;  jobs: `TrainingJob`s in its order;
    directs: `DirectJob`s in its order;  data: the normalised `Dataset`;
    norm_file: where its normalisation is, or will be, or None;  normalisation:
    itself, or None;  fitted: it is new, and to be written;  raw: the points
    before the normalisation, where support vectors are to be written as such;
    path: folder of the model files, or None;  loo: probabilities rest on leaving
    out single samples, not on folds;  dense: points may not stay sparse.
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
    dense: bool = False

    def place(self, name):
        """Where the model of that name is written."""
        return model_file(name, self.path)

    @functools.cached_property
    def origins(self):
        """What tells the origin of a job's model, as a digest."""
        return Origins(self)

    @property
    def files(self):
        """(path, what it is) of every model file that training writes."""
        return [(self.place(job.name), "a binary model") for job in self.jobs] + \
            [(self.place(file), "a model") for job in self.directs for file in job.files]


def plan(tree, train, form, model, *, default=None, seed=1, only=None, norm_file=None,
         path=None, parse=parse_options, unnormalised=False, loo=False, dense=False, min_class=None,
         **reading):
    """Read the data and check all jobs of `tree`, a training control tree.

    train, form: as for `read_training`; model: base name of the model files;
    only: name of the one job wanted, and `tree` may then be a classification
    tree with its names, for which default must be given; path: folder of the
    model files, which the control file does not name; parse: what understands
    the training options; unnormalised: support vectors are written as they
    were before the normalisation; loo: as for `fit`; dense: LIBSVM text does not stay
    sparse, though all machines be linear;  min_class: smaller classes are left out of the
    data, and of the tree those that have no samples then.  Raises errors with the place in
    the control file for anything that training would trip over.
    """
    if "\n" in model or "\0" in model:
        raise UsageError("the model's name cannot hold a line break: it stands in a control file")
    if model.startswith("-"):
        model = os.path.join(os.curdir, model)
    jobs = _jobs(tree, model, default, seed, parse, only is not None)
    if parse is parse_options:
        check_learners(jobs)
    if loo:
        check_loo(jobs)
    directs = plan_directs(tree, model)
    if unnormalised and directs:
        raise UsageError("-u is for support vectors: direct classifiers have none")
    if unnormalised and any(job.options.own_vectors for job in jobs):
        raise UsageError("-u is for support vectors: linear classifiers have none")
    # before the choice of one job: it must not have another file than in a run of all
    dense = dense or bool(directs) or not all(_is_linear(job.options) for job in jobs)
    if min_class is None:  # before the data, which may be long
        jobs, directs = _chosen(jobs, directs, only)
    data, normalisation, raw = load_training(train, form, norm_file=norm_file, sparse=not dense,
                                             min_class=min_class, **reading)
    if unnormalised and normalisation is None:
        raise UsageError("-u needs a normalisation: -n, -S or -a")
    rows_of = rows_by_class(data.y)
    counts = {label: len(rows) for label, rows in rows_of.items()}
    if min_class is not None:
        tree = for_classes(tree, counts)
        jobs, directs = _chosen(_jobs(tree, model, default, seed, parse, only is not None),
                                plan_directs(tree, model), only)
    check_classes(tree, counts, _source(train),
                  _remedy(train, form))
    trained = named_as(tree, dict(enumerate(data.names or ())))
    if only is None:
        trained = rename_directs(rename(trained, [job.name for job in jobs]),
                                 {number: job.name for number, job in directs.items()})
        require_readable(trained)
        named = [job.name for job in [*jobs, *directs.values()]]
        foreign = [name for name in named if not libagf_begins(name)]
        if foreign:
            warnings.warn(f"libAGF cannot read a control file with the model name '{foreign[0]}': "
                          "if it is to, choose a base name that begins with a letter or a /",
                          AgfmcWarning, stacklevel=2)
    fitted = bool(reading.get("scale")) or reading.get("nsv") is not None
    used = norm_file or f"{model}.std" if normalisation is not None else None
    if used is None and only is None and os.path.exists(f"{model}.std"):
        warnings.warn(f"{model}.std is there already, but does not belong to these models: they "
                      "are trained on the data as they are", AgfmcWarning, stacklevel=2)
    return Work(trained, jobs, data, used, normalisation, fitted, tuple(directs.values()),
                raw if unnormalised else None, path, loo, dense)


def _is_linear(options):
    """True for options of ours, not of another program, whose model is a plane."""
    return hasattr(options, "kernel_for") and options.kernel_for(1).kind == "linear"


def _chosen(jobs, directs, only):
    """The jobs of both kinds with that name, or all for None."""
    if only is None:
        return jobs, directs
    jobs = [job for job in jobs if job.name == only]
    directs = {number: job for number, job in directs.items() if job.name == only}
    if not jobs and not directs:
        raise UsageError(f"there is no model '{only}' in this configuration")
    return jobs, directs


def _jobs(tree, model, default, seed, parse, may_be_trained):
    """may_be_trained: the tree may have names in place of options."""
    if may_be_trained and all(row.is_name for row in tree.rows) and \
            all(direct.name is not None for direct in tree.directs.values()):
        if default is None:
            raise UsageError(f"{tree.source} holds the names of models and not their training "
                             "options: give the options with -+")
        return _named_jobs(tree, default, seed, parse)
    try:
        return plan_jobs(tree, model, default or "", seed, parse)
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


def _remedy(train, form):
    """The command that writes a control file for the labels of the data."""
    how = {"svm": "-M ", "lvq": "-A " if form.header else "-A -H "}.get(form.kind, "")
    return f"print_control {how}{'-- ' * train.startswith('-')}{shlex.quote(train)}" \
        if train != "-" else f"print_control {how}DATA"


def _source(train):
    return "standard input" if train == "-" else train


def _too_long(path):
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    return False


def check_outputs(work, control_out, inputs, folders=False, errors=None):
    """Refuse, before the training, what could not be written after it, or would destroy input.

    inputs: files that are read, `-` and None among them;  folders: models may be
    folders;  errors: file of the errors of cross-validation, or None.  Raises `DataError`
    for a folder that is not there or may not be written, or that has the name of an
    output, `UsageError` for an output that would take the place of an input or of another
    output.
    """
    taken = {os.path.realpath(path): "an input" for path in inputs if path not in (None, "-")}
    named = [(work.norm_file if work.fitted else None, "the normalisation"),
             (None if control_out == "-" else control_out, "control-out"),
             (errors, "the file of --cv-errors")]
    checked = set()
    for path, what in [*named, *work.files]:
        if path is None:
            continue
        folder = os.path.dirname(path) or os.curdir
        if not os.path.isdir(folder):
            raise DataError("cannot write: there is no such folder", file=path)
        if _too_long(path):
            raise DataError("cannot write: the name is too long for a file: expected a shorter "
                            "base name of the models", file=path)
        a_folder, a_model = os.path.isdir(path), (path, what) not in named
        if not a_model or a_folder and not folders or not a_folder and folder not in checked:
            check_output(path)
            checked.add(folder)
        place = os.path.realpath(path)
        if place in taken and (os.path.isfile(place) or not os.path.exists(place)):
            raise UsageError(f"{what} would be '{path}', and that is {taken[place]} already")
        taken[place] = what
