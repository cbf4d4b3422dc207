"""Training before it begins: every job and every file of a run, planned and checked."""

from __future__ import annotations

import errno
import functools
import os
import shlex
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from ..calibration.file import check_calibration_output
from ..control.build import check_classes, for_names, named_as, with_heading
from ..control.parse import heading_fault
from ..control.tree import NO_NORMALISATION, Tree
from ..control.write import libagf_begins, require_readable
from ..core.errors import DataError, UsageError, warn_user
from ..core.lazy_points import is_lazy
from ..core.points import is_sparse, label_counts, row_digests
from ..core.splits import calibration_rows, rows_by_class
from ..core.text import name_fault
from ..core.version import __version__
from ..data.training import for_classes
from ..data.types import Dataset
from ..files.atomic import check_distinct, check_output
from ..files.opening import is_stream
from ..learners.protocol import (
    check_learners,
    check_missing,
    distinct,
    for_weights,
    Job,
    named,
    parse_options,
    plan_jobs,
    samples,
    unnamed,
    with_class_names,
)
from ..models.control_files import model_file, read_control
from .external import Trainer, TrainerOptions
from .fit import deciding_parts, TrainingSettings
from .request import PointsRequest

_MODELS = "a model", "a binary model"


@dataclass(frozen=True)
class Output:
    """Outputs of a run of training: model files, and the files written with them.

    Attributes
    ----------
    folder : their folder, which the control file does not name, or None
    only : name of the only model to be trained, or None
    unnormalised : support vectors are written as they were before the normalisation
    control, errors, calibration : control file for classification, errors of cross-validation, and
        calibration, or None
    """

    base: str
    folder: str | None = None
    only: str | None = None
    unnormalised: bool = False
    control: str | None = None
    errors: str | None = None
    calibration: str | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything that is decided before the first classifier is trained.

    Attributes
    ----------
    jobs : its `Job`s, each once, binary ones first
    settings : settings with the normalisation
    norm_file : file of the normalisation, or None
    raw : points before the normalisation, where support vectors are written as such
    dense : points may not stay sparse
    text : "svm" or "lvq", the text that programs get
    trainer : program that trains binary classifiers, or None
    """

    tree: Tree
    jobs: list[Job]
    data: Dataset
    settings: TrainingSettings
    output: Output
    norm_file: str | None
    raw: np.ndarray | None
    dense: bool
    text: str
    trainer: Trainer | None

    @functools.cached_property
    def binary(self) -> list[Job]:
        """The jobs of binary classifiers."""
        return [job for job in self.jobs if job.is_binary]

    @functools.cached_property
    def nodes(self) -> list[Job]:
        """The jobs of multi-class nodes."""
        return [job for job in self.jobs if not job.is_binary]

    @functools.cached_property
    def calibration_rows(self) -> np.ndarray | None:
        """Rows, ascending, of the points that calibrate the probabilities.

        None where there are none, or other programs have no decision values of held-out points.
        """
        settings = self.settings
        if (
            not settings.calibration
            or self.trainer is not None
            or any(node.learner.is_program for node in self.tree.directs.values())
        ):
            return None
        return calibration_rows(self.data.y, self.tree.labels, settings.calibration, settings.seed)

    @functools.cached_property
    def origins(self):
        """The `_Origins` of the models."""
        return _Origins(self)

    def path_of(self, name: str) -> str:
        """The path that the model of that name is written to."""
        return model_file(name, self.output.folder)


class _Origins:
    """Digests of what decides the bytes of a model; call it with a job of the `Plan`.

    Sixteen hexadecimal digits, of the points of the job's classes in their order, the classes on
    each side, the options, the seed, where the probabilities come from, the number of calibration
    points of each class, the normalisation, and the versions of this program and of the library
    that trains.  Points are read once.  Of a job that is trained together with others, the
    points of all their classes count, and their places in the data, as these are cut into ranges.
    """

    def __init__(self, plan):
        self._plan = plan
        # before the normalisation where such are written: a feature that it drops counts too
        self._x = plan.data.x if plan.raw is None else plan.raw
        self._of_groups = {}
        self._common = [
            # of sparse points a linear machine is written as one plane
            __version__,
            self._x.shape[1],
            is_sparse(self._x),
            plan.raw is not None,
            plan.settings.normalised,
        ]

    @functools.cached_property
    def _points(self):
        digests = row_digests(self._x)
        if is_lazy(self._x):
            self._x.check()  # else the digests may be of other points than the model
        return digests

    @functools.cached_property
    def _rows(self):
        return rows_by_class(self._plan.data.y)

    @functools.cached_property
    def _chosen(self):
        return label_counts(self._plan.data.y[self._plan.calibration_rows])

    def _size(self, labels):
        return sum(len(self._rows[label]) for label in labels)

    def __call__(self, job):
        plan = self._plan
        labels = [label for side in job.sides for label in sorted(side)]
        parts = deciding_parts(job, plan.settings.platt, plan.data.groups is not None)
        digest = blake2b(repr([self._common, *parts]).encode(), digest_size=8)
        if plan.calibration_rows is not None and job.is_binary:
            chosen = [self._chosen[label] for label in labels]
            digest.update(repr(chosen).encode())
            if (
                plan.output.errors is not None
                and job.options.gives_probabilities
                and sum(chosen) < self._size(labels)
            ):
                digest.update(b"folds of all samples")
        if job.together is None:
            digest.update(self._of_rows(samples(job, self._rows).rows, labels))
            return digest.hexdigest()
        together = job.together.labels
        if together not in self._of_groups:
            members = np.isin(plan.data.y, together)
            self._of_groups[together] = np.packbits(members).tobytes() + self._of_rows(
                members, together
            )
        digest.update(self._of_groups[together])
        left_out = job.options.left_out
        if (
            plan.output.errors is not None
            and left_out is not None
            and left_out < self._size(together)
        ):
            digest.update(b"all samples are left out")
        return digest.hexdigest()

    def _of_rows(self, rows, labels):
        data = self._plan.data
        digest = blake2b(self._points[rows].astype("<u8").tobytes())
        digest.update(data.y[rows].astype("<i4").tobytes())
        if data.weights is not None:
            digest.update(data.weights.digest(rows, labels))
        if data.groups is not None:
            digest.update(b"groups" + data.groups[rows].astype("<i4").tobytes())
        return digest.digest()


def _suited(tree, data, min_class):
    """`tree` with the labels that the data have for its classes, without those that are gone."""
    tree = for_names(tree, data.name_of)
    if min_class is None:
        return tree
    return for_classes(tree, data.counts)


def plan(
    control: Tree | str,
    points: PointsRequest,
    output: Output,
    trainer: Trainer | None = None,
    dense: bool = False,
) -> Plan:
    """Read control file and data, and check all jobs and files of a run of training.

    `control` is a file, or its tree, from which classes go that have no samples without those that
    are too small. If `dense`, LIBSVM text does not stay sparse, though all machines be linear. With
    `output.only`, the tree may be a classification tree with its names, for which options must be
    given in the settings.  Raises errors with the place in the control file for what
    cannot be trained, and those of `_check_outputs`.
    """
    settings = points.settings
    tree = control if isinstance(control, Tree) else read_control(control)
    parse = (
        parse_options
        if trainer is None
        else functools.partial(
            TrainerOptions.parse, trusted=settings.options or "", allowed=trainer.allow_commands
        )
    )
    base = output.base
    only = output.only
    if fault := name_fault(base, "model"):
        raise UsageError(
            f"the name of the models, {base!r}, cannot stand in a control file: {fault}"
        )
    if base.startswith("-"):
        base = os.path.join(os.curdir, base)
    jobs = _jobs(tree, base, settings, parse, only is not None)
    check_learners(jobs, settings.platt)
    if output.unnormalised:
        for kind, binary in (("direct", False), ("linear", True)):
            if any(job.options.stores_vectors and job.is_binary == binary for job in jobs):
                raise UsageError(
                    f"`unnormalised` is for support vectors: {kind} classifiers have none"
                )
    # before the choice of one job: it must not have another file than in a run of all
    dense = dense or not all(job.options.keeps_sparse for job in jobs)
    keep = "lazy" if all(job.options.streams for job in jobs) else "" if dense else "sparse"
    if points.min_class is None:  # before the data, which may be long
        jobs = _chosen(jobs, only)
    norm_file = points.norm_file or f"{base}.std"
    data, normalisation, raw = points.load(keep)
    if output.unnormalised and normalisation is None:
        raise UsageError("`unnormalised` needs a normalisation: `normalise`, `svd` or `norm_file`")
    counts = data.counts
    suited = _suited(tree, data, points.min_class)
    if suited is not tree:
        tree = suited
        jobs = _chosen(_jobs(tree, base, settings, parse, only is not None), only)
    if data.recipe is not None and data.recipe.keeps_missing:
        check_missing(jobs, raw)
    if data.weights is not None:
        jobs = for_weights(jobs)
    jobs = with_class_names(jobs, data.name_of)
    where = points.source
    if where == "-":
        where = "standard input"
    check_classes(tree, counts, where, _remedy(points), data.name_of)
    trained = named_as(tree, data.name_of)
    norm_file = None if normalisation is None else norm_file
    if only is None:
        trained = named(trained, jobs)
        require_readable(trained)
        foreign = [job.name for job in jobs if not libagf_begins(job.name)]
        if foreign:
            warn_user(
                f"libAGF cannot read a control file with the model name '{foreign[0]}': "
                "if it is to, choose a base name that begins with a letter or a /"
            )
        trained = with_heading(
            trained,
            "normalisation",
            _norm_name(norm_file, output.control, f"{base}.std", points.source),
        )
    made = Plan(
        trained,
        distinct(jobs),
        data,
        replace(settings, normalisation=normalisation),
        output,
        norm_file,
        raw if output.unnormalised else None,
        dense,
        "lvq" if points.form.kind == "lvq" else "svm",
        trainer,
    )
    norm_out = norm_file if settings.fits_normalisation else None
    calibration = None if made.calibration_rows is None else output.calibration
    _check_outputs(
        [
            (norm_out, "the normalisation"),
            (output.control, "control-out"),
            (output.errors, "`cv_errors`"),
            (calibration, "the calibration"),
            *(
                (made.path_of(file), _MODELS[job.is_binary])
                for job in made.jobs
                for file in job.files
            ),
        ],
        control,
        points,
        trainer,
        norm_out,
    )
    if output.calibration is not None:
        check_calibration_output(output.calibration)
    return made


def _norm_name(norm_file, control, usual, data):
    """The name of a normalisation in the control file `control`, or None.

    Where there is none, but a file by its usual name, that is of an earlier run, or of the data.
    """
    if norm_file is None and os.path.exists(usual) and usual != f"{data}.std":
        warn_user(
            f"{usual} exists already, but does not belong to these models: they are "
            "trained on the data as they are"
        )
        return NO_NORMALISATION
    if norm_file is None or is_stream(norm_file) or heading_fault("normalisation", norm_file):
        return None  # it is not read again, or a control file cannot name it
    folder, name = os.path.split(norm_file)
    if control is None or is_stream(control):
        place = ""
    else:
        place = os.path.dirname(control)
    folder = os.path.relpath(os.path.realpath(folder), os.path.realpath(place))
    return os.path.join(folder, name).removeprefix(f".{os.sep}" * (name != NO_NORMALISATION))


def _chosen(jobs, only):
    chosen = [job for job in jobs if only in (None, job.name)]
    if only is not None and not chosen:
        raise UsageError(f"there is no model '{only}' in this configuration")
    return chosen


def _jobs(tree, base, settings, parse, may_be_trained):
    """may_be_trained: the tree may have names in place of options."""
    names = [row.text for row in tree.rows] + [node.name for node in tree.directs.values()]
    if may_be_trained and all(row.is_name for row in tree.rows) and None not in names:
        if settings.options is None:
            raise UsageError(
                f"{tree.source} holds the names of models and not their training "
                "options: give the options with `options`"
            )
        jobs = plan_jobs(unnamed(tree), "", settings.options, settings.seed, parse)
        made = {(id(job), name): replace(job, name=name) for job, name in zip(jobs, names)}
        return [made[id(job), name] for job, name in zip(jobs, names)]
    return plan_jobs(tree, base, settings.options or "", settings.seed, parse)


def _remedy(points):
    path = points.source
    form = points.form
    how = {"svm": "-M ", "lvq": "-A " if form.header else "-A -H "}.get(form.kind, "")
    if path != "-":
        return f"print_control {how}{'-- ' * path.startswith('-')}{shlex.quote(path)}"
    return f"print_control {how}DATA"


def _check_outputs(files, control, points, trainer, norm_out):
    """Refuse, before the training, what could not be written after it, or would destroy input.

    `files` is [(path or None, what it is)]. Raises `DataError` for a folder that is not there or
    may not be written, or that has the name of an output, `UsageError` for an output that would
    take the place of an input or of another output.
    """
    form = points.form
    if form.kind == "binary":
        ends = (".vec", ".cls", ".names", ".wgt", ".grp")
    else:
        ends = ("",)
    inputs = [
        ("control", control),
        *(("train", f"{points.source}{end}") for end in ends),
        ("`norm_file`", None if norm_out is not None else points.norm_file),
        ("`weight`", form.weights.file),
        ("`group`", form.groups),
        ("`class_weight`", form.weights.class_file),
    ]
    check_distinct(
        [
            *((what, path, False) for what, path in inputs if isinstance(path, str)),
            *((what, path, True) for path, what in files),
        ]
    )
    checked = set()
    for path, what in files:
        if path is None:
            continue
        folder = os.path.dirname(path) or os.curdir
        if not os.path.isdir(folder):
            raise DataError("cannot write: there is no such folder", file=path)
        try:
            os.lstat(path)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise DataError(
                    "cannot write: the name is too long for a file: expected a shorter "
                    + (
                        "name of control-out"
                        if what == "the calibration"
                        else "base name of the models"
                    ),
                    file=path,
                ) from None
        a_folder = os.path.isdir(path)
        a_model = what in _MODELS
        # other programs may write models that are folders
        if not a_model or (trainer is None if a_folder else folder not in checked):
            check_output(path)
            checked.add(folder)
