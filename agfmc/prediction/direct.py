"""Direct classifiers: nodes of a control file that tell all their branches apart at once."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from .._version import __version__
from ..control.tree import node_names
from ..learners.multinomial_logistic import fit_logistic, logistic_probabilities
from ..learners.neighbours import Neighbours
from ..learners.multiclass_options import parse_logistic_options, parse_neighbour_options
from ..errors import (AgfmcError, ControlError, DataError, JobsFailed, ModelError, Place,
                      UsageError)
from ..formats.atomic import replacing, replacing_all, temporary_file, writing
from ..formats.inputs import read_bytes
from ..formats.logistic_model import format_logistic_model, LogisticModel, read_logistic_model
from ..formats.seal import sealed
from ..formats.libsvm_model import RowText
from ..formats.vectors import cls_bytes, read_cls, read_vec, VecReader, VecWriter
from ..models import DirectModel
from ..provenance import Provenance
from ..training.external import partition_text
from ..learners.jobs import rows_by_class

__all__ = ["DirectJob", "classifier_of", "direct_model", "holds_points", "plan_directs",
           "read_direct", "train_direct"]


@dataclass(frozen=True)
class DirectJob:
    """A direct classifier to be trained.

    name: of the model, and of its files;  code, options: as in `Direct`;
    branches: the labels of each branch;  place: its `Place` in the control file.
    """

    name: str
    code: str
    options: str
    branches: tuple
    place: Place

    @property
    def files(self):
        """The files that training writes."""
        return [f"{self.name}.vec", f"{self.name}.cls"] if self.code == "K" else [self.name]


def plan_directs(tree, base):
    """{node number: `DirectJob`} of a control tree, training or trained, names below `base`.

    Options are parsed here, before anything is trained; `""` and `" "` are the
    classifier's own defaults.
    """
    names, branches = node_names(tree, base), tree.branch_labels()
    jobs = {}
    for number, direct in tree.directs.items():
        place = tree.place(direct)
        _parsed(direct.code, direct.options, place)
        jobs[number] = DirectJob(names[number] if direct.name is None else direct.name,
                                 direct.code, direct.options, branches[number], place)
    return jobs


def _parsed(code, text, place):
    """The options of a direct classifier; for G the `Command` is made where it is run."""
    if code == "G":
        if not text.strip():
            raise place.error(ControlError, "expected a command in the quotes of code G, found "
                              "nothing")
        return None
    parse = parse_neighbour_options if code == "K" else parse_logistic_options
    try:
        return parse(text)
    except UsageError as error:  # they stand in the control file, not on the command line
        raise place.error(ControlError, error.message) from error


def train_direct(job, x, y, normalisation=None, convert=None, text="svm", origin=None, before=None):
    """Train a direct classifier on points x (n, d) with labels y (n,) and write its files.

    normalisation: that x went through, or None.

    K keeps its points (.vec and .cls), L its weights; G gets the points as
    text, "svm" or "lvq", turned by `convert`, a `Command`, if there is one.
    origin: of a job, as a digest, with which the file of code L is sealed, or None;
    before: as for `replacing`.
    Labels are the numbers of the branches, from 0.
    """
    rows, labels = _branch_labels(job, y)
    try:
        options = _parsed(job.code, job.options, job.place)
        if job.code == "K":
            _write_points(job, x, rows, labels, options, before)
        elif job.code == "L":
            weights = fit_logistic(x[rows], labels, len(job.branches), options.ridge)
            text = format_logistic_model(LogisticModel(
                weights, options.ridge, len(rows),
                _provenance(job, options, labels, normalisation)))
            if origin is not None:
                text = sealed(text, origin)
            with replacing(job.name, before=before) as file:
                file.write(text)
        else:
            _write_text(job.name, x, rows, labels, convert, text, before)
    except AgfmcError as error:
        raise job.place.error(JobsFailed, f"'{job.name}': {error}") from error


def _provenance(job, options, labels, normalisation):
    """What the model of a job of code L was made from; labels (n,): of the branches."""
    return Provenance.of_training(
        version=__version__, options=options.canonical(),
        samples=np.bincount(labels, minlength=len(job.branches)), sides=job.branches,
        normalisation=None if normalisation is None else normalisation.digest())


def _neighbours_from(options):
    return Provenance((f"options {options.canonical()}",))


def _branch_labels(job, y):
    """(rows, branches): the rows of labels y (n,) that a job trains on, in their order."""
    rows_of = rows_by_class(y)
    parts = [np.concatenate([rows_of[label] for label in side]) for side in job.branches]
    rows = np.concatenate(parts)
    labels = np.repeat(np.arange(len(parts)), [len(part) for part in parts]).astype(np.int32)
    order = np.argsort(rows)
    return rows[order], labels[order]


def direct_model(job, x, y, normalisation=None):
    """The `DirectModel` of a job trained on points x (n, d) with labels y (n,), not written.

    normalisation: as for `train_direct`.

    Raises `ModelError` for code G: what its command does is not known here.
    """
    if job.code == "G":
        raise job.place.error(ModelError, "a classifier of code G is another program's: it cannot "
                              "be tried here")
    rows, labels = _branch_labels(job, y)
    options = _parsed(job.code, job.options, job.place)
    count = len(job.branches)
    if job.code == "L":
        return DirectModel("L", job.name, count,
                           _provenance(job, options, labels, normalisation),
                           weights=fit_logistic(x[rows], labels, count, options.ridge))
    _require_points(options, rows)
    return DirectModel("K", job.name, count, _neighbours_from(options),
                       points=x[rows].astype(np.float32), y=labels, k=options.k)


def _require_points(options, rows):
    if options.k > len(rows):
        raise DataError(f"{options.k} nearest neighbours need as many samples, there are "
                        f"{len(rows)}")


def _write_points(job, x, rows, labels, options, before):
    _require_points(options, rows)
    with replacing_all(job.files, binary=True, before=before) as (points, classes):
        writer = VecWriter(points, x.shape[1])
        for start in range(0, len(rows), 4096):
            writer.write(x[rows[start:start + 4096]])
        classes.write(cls_bytes(labels))


def holds_points(job, x, y):
    """Are the files of a job of code K those that `train_direct` writes of x (n, d), y (n,)?"""
    rows, labels = _branch_labels(job, y)
    if not all(map(os.path.isfile, job.files)):
        return False
    try:
        with VecReader(f"{job.name}.vec") as reader:
            if (reader.n, reader.d) != (len(rows), x.shape[1]):
                return False
            start = 0
            for points in reader:
                wanted = x[rows[start:start + len(points)]]
                if not np.array_equal(points, wanted.astype(np.float32)):
                    return False
                start += len(points)
        return read_bytes(f"{job.name}.cls") == cls_bytes(labels)
    except DataError:
        return False


def _write_text(name, x, rows, labels, convert, text, before):
    lines = partition_text(x, rows, labels, text, RowText(x))
    if convert is None:
        with replacing(name, before=before) as file:
            file.writelines(lines)
        return
    with ExitStack() as stack:
        source = stack.enter_context(temporary_file("w+", encoding="ascii"))
        with writing("a temporary file"):
            source.writelines(lines)
            source.flush()
        source.seek(0)
        target = stack.enter_context(replacing(name, binary=True, before=before))
        convert.run(stdin=source, stdout=target)


def read_direct(direct, branches, name):
    """The `DirectModel` of a trained node with so many branches; None for code G.

    name: of its files, where they are.  Raises `ModelError` or `DataError`
    where they do not fit the node.
    """
    if direct.code == "K":
        options = parse_neighbour_options(direct.options)
        points = read_vec(f"{name}.vec")
        y = read_cls(f"{name}.cls", len(points))
        if y.max() >= branches:
            raise ModelError(f"holds class {y.max()}, and the classifier has {branches} branches",
                             file=f"{name}.cls")
        if options.k > len(points):
            raise ModelError(f"has {len(points)} points, fewer than {options.k} nearest "
                             "neighbours", file=f"{name}.vec")
        return DirectModel("K", name, branches, _neighbours_from(options),
                           points=points, y=y, k=options.k)
    if direct.code == "L":
        model = read_logistic_model(name)
        if len(model.weights) != branches:
            raise ModelError(f"is a model of {len(model.weights)} classes, and the classifier "
                             f"has {branches} branches", file=name)
        return DirectModel("L", name, branches, model.provenance, weights=model.weights)
    return None


class _Logistic:
    def __init__(self, weights):
        self._weights = weights

    def __reduce__(self):
        return _Logistic, (self._weights,)

    def probabilities(self, x):
        return logistic_probabilities(self._weights, x)


def classifier_of(model):
    """What answers for a `DirectModel`: an object with probabilities(x (n, d)) -> (n, c)."""
    if model.code == "K":
        return Neighbours(model.points, model.y, model.branches, model.k)
    return _Logistic(model.weights)
