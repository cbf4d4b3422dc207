"""The protocol of learners, and the jobs that learners do.

A learner is a class of options, frozen and hashable, with its row in `LEARNERS`
(`control.learners`).  The suite parses them once, before anything is trained, and knows nothing
else of the learner.  To add one, derive the class from `options.BinaryLearner`, or one of its
relatives, or from `options.NodeLearner`: what stands in brackets is what these give.

Every learner has

    parse(text, **place)   class method: the options in `text`; `UsageError`, with the place
                           given, for what is wrong (from the table `letters` of the class)
    canonical()            the settings that decide the result, in one fixed spelling (all letters)
    made_by()              the library that trains and its version (""); `UsageError` where it is
                           not installed
    weighted()             the options for points with weights (itself); `UsageError` where
                           weights cannot be heeded
    sides                  2 for a binary learner, None for as many as a node has branches
    files(name)            the files that hold a model of that name ([name])
    stale_files(name)      files that another model of that name may have left, and that must not
                           stay beside its files ([])
    recognised_by          how a later run knows these files: their "seal" (binary learners),
                           their "contents", or "" where they are not known again (nodes)
    identity(job)          what of a job decides the bytes of the files, beside the points; of
                           what is recognised by its seal (library, options, seed)
    keeps_sparse           points may stay sparse (of kernels that LIBSVM has)
    stores_vectors         a model is made of vectors of its own, not of points of the data
    streams                points are read in blocks: they may be `LazyPoints` (False)
    allows_nan             points may have missing values, NaN (False)
    no_loo                 why decision values cannot come from leaving out single samples by a
                           formula ("")

A binary learner separates two sides by a function f(x) = sum coef K(x, v) - rho, or, in memory
alone, by any function.  It has `name`, as in `learner=NAME`, and

    kernel_for(features)   the `Kernel` of its models (`PlaneLearner`: linear)
    solve(packed, rows, side, w=None)   the `Solution` of a problem: rows (l,) of the points, their
                           sides (l,), 0 or 1, and weights w (l,), of `weighted` options alone
    pack(x, rows=None)     the points x (n, d), an array or `SparsePoints`, as `solve` takes them
                           (as they are); of use for those rows alone, if given
    packing                problems whose options have the same key share their points ("points")
    gives_probabilities    P(first label) = 1 / (1 + exp(-f)) as it stands: no folds are needed
                           to fit probabilities (False)
    corrects_probabilities  these may be too sure: where points are held out, a sigmoid of f that
                           has a smaller log loss takes their place (False)
    holds_out              the `Solution` has decision values of samples that were held out (False);
                           `solve` takes groups=None then, the groups (l,) of the samples
    svm_type               what the model file calls it ("c_svc")
    uses_shared_landmarks  all jobs with the same options are trained together (`Job.together`) by
                           `landmarks.training`, which calls nothing of this list (False)

and a learner of nodes, for a `NodeProblem`, in which samples have one of several branches,

    fit(job, problem)      the `NodeModel`; `ModelError` where it is a program's
    write(job, problem, streams)   write its `files` to binary streams
    read(name, branches)   the `NodeModel` in the files of that name
    classifier(model)      an object with probabilities(x (n, d)) -> (n, branches)
    held_out_probabilities(job, problem, model, rows)   p (c, branches) of the points in those
                           rows by models trained without them (by folds); None where nothing can
                           tell
    is_program             its files are for a program of the user's (False)

A partition chooses its learner with the first word of its options, `learner=NAME`; without
one it is trained by LIBSVM.  A node chooses with its letter.
"""

from __future__ import annotations

import functools
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..control.build import rename, rename_directs, resolve_options, with_heading
from ..control.learners import LEARNERS, NODE_LEARNERS
from ..control.tree import model_names, node_names
from ..core.errors import (
    AgfmcError,
    ControlError,
    DataError,
    in_control_file,
    one_line,
    Place,
    UsageError,
)
from ..core.models import BinaryModel
from ..core.points import has_missing
from ..core.rows import by_name
from ..core.splits import derived_seed, of_rows, rows_by_class
from .options import BinaryLearner

_WORD = "learner="
_LISTED = 3  # classes of a side in a message
WAYS = ("auto", "loo", "cv")  # of decision values that probabilities are fitted to


def learner_class(name: str) -> type:
    """The class of the learner with that name or letter."""
    return by_name(LEARNERS[name].options)


def parse_options(text, **place):
    """The options in `text`, of the binary learner that its first word names.

    Raises `UsageError`, with the place given, for a learner that is not known, an option
    that it does not know and a value out of its range.
    """
    words = text.split()
    name = "svm"
    if text.lstrip().startswith(_WORD):
        name = words.pop(0)[len(_WORD) :]
    binary = [one for one in LEARNERS if one not in NODE_LEARNERS]
    expected = "expected one of " + " ".join(binary)
    if any(word.startswith(_WORD) for word in words):
        raise UsageError(f"{_WORD}NAME is for the first word of training options", **place)
    if words and words[0] in binary:
        raise UsageError(f"expected {_WORD}{words[0]}, found '{words[0]}'", **place)
    if name in NODE_LEARNERS:
        raise UsageError(
            f"the learner {name} is for multi-class nodes, as '\"\" {name} {{0 1 2}}' "
            f"in a control file: {expected}",
            **place,
        )
    if name not in binary:
        raise UsageError(f"there is no learner '{name}': {expected}", **place)
    return learner_class(name).parse(" ".join(words), **place)


@dataclass(frozen=True, eq=False)
class SharedGroup:
    """The classifiers of a control file that are trained together, as they have the same options.

    `sides` are the two sides of each one, a tuple of labels for each, in the order of the control
    file and none twice.
    """

    sides: tuple

    @functools.cached_property
    def labels(self) -> tuple[int, ...]:
        """The labels of all sides, ascending."""
        return tuple(sorted({label for sides in self.sides for side in sides for label in side}))

    @functools.cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that tell these classifiers from others."""
        return hashlib.blake2b(repr(self.sides).encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class Job:
    """One classifier to be trained.

    Attributes
    ----------
    sides : labels of each side, left and right of a binary classifier, or the branches of a node
    options, text : its learner, and the words of the user for it
    place : `Place` of its row or node in the control file
    names : {label: name} of classes, as far as they are known
    together : classifiers, itself too, that its learner trains together, or None
    """

    name: str
    sides: tuple[tuple[int, ...], ...]
    options: Any  # an instance of a learner class
    text: str
    seed: int
    place: Place
    together: SharedGroup | None = None
    names: Mapping[int, str] = field(default_factory=dict, compare=False)

    def side_words(self, number: int) -> str:
        """The classes of a side or branch in a message, by their names."""
        labels = self.sides[number]
        if len(labels) > _LISTED:
            return f"{len(labels)} classes"
        return ", ".join(
            one_line(self.names[label]) if label in self.names else f"class {label}"
            for label in labels
        )

    @property
    def title(self) -> str:
        """The name of its model in a message, and, where classes have names, its two sides."""
        if not (self.is_binary and self.names):
            return f"'{self.name}'"
        return f"'{self.name}' ({self.side_words(0)} / {self.side_words(1)})"

    @property
    def is_binary(self) -> bool:
        """True for a classifier of two sides, False for one of the branches of a node."""
        return self.options.sides == 2

    @property
    def labels(self) -> tuple[int, ...]:
        """The labels of all sides."""
        return sum(self.sides, ())

    @property
    def files(self) -> list[str]:
        """The files that hold its model."""
        return self.options.files(self.name)


@in_control_file()
def plan_jobs(tree, base, default, seed, parse=parse_options) -> list[Job]:
    """The `Job`s of a training control file: binary ones in the order of its text, then nodes.

    Rows of different members of an ensemble that have the same labels on their left, and on their
    right, and the same options, have one `Job`, which stands as often in the list: `distinct`.

    Parameters
    ----------
    base : str, name of the model
    default : str or BinaryLearner
        Options where the file has `""`, those of its heading where this is empty; they are for
        binary classifiers.
    parse : function, parser of the options, for the learners of others

    Raises
    ------
    UsageError, ControlError : with the place of a row that is wrong
    """
    heading = tree.headings.get("options")
    if isinstance(default, BinaryLearner):
        default_options = default.checked()
        default = default_options.text()
    elif default or heading is None:
        default_options = parse(default)
    else:
        default = heading.text
        default_options = parse(default, **tree.place(heading)._asdict())
    jobs = []
    class_names = dict(tree.names)
    for row, name, sides, text in zip(
        tree.rows, model_names(tree, base), tree.sides(), resolve_options(tree, default)
    ):
        place = tree.place(row)
        if text == default:
            options = default_options
        else:
            options = parse(text, **place._asdict())
        jobs.append(Job(name, sides, options, text, seed, place, names=class_names))
    jobs = _with_groups(_without_copies(tree, _with_seeds(tree, jobs)))
    names = node_names(tree, base)
    branches = tree.branch_labels()
    for number, node in tree.directs.items():
        place = tree.place(node)
        try:
            options = learner_class(node.learner_letter).parse(node.options)
        except UsageError as error:  # they stand in the control file, not on the command line
            raise place.error(ControlError, error.message) from error
        jobs.append(
            Job(
                names[number],
                branches[number],
                options,
                node.options,
                seed,
                place,
                names=class_names,
            )
        )
    return jobs


def _with_seeds(tree, jobs):
    """The jobs of all rows, where their learner draws numbers with the seed of their member.

    Members of an ensemble so differ, and their average gains.
    """
    member = [
        number
        for number, part in enumerate(tree.parts)
        for node in tree.nodes[part]
        for _ in node.rows
    ]
    return [
        replace(job, options=job.options.seeded(derived_seed(job.seed, number)))
        if job.options.uses_seed
        else job
        for job, number in zip(jobs, member)
    ]


def _without_copies(tree, jobs):
    """The jobs of all rows, with those of an earlier member in place of equal ones.

    A row that stands twice in one member stays two.
    """
    if not tree.is_ensemble:
        return jobs
    first = {}
    result = []
    rest = iter(jobs)
    for part in tree.parts:
        times: Counter = Counter()
        for job in islice(rest, sum(len(node.rows) for node in tree.nodes[part])):
            key = job.text, getattr(job.options, "seed", None), *map(frozenset, job.sides)
            times[key] += 1
            result.append(first.setdefault((key, times[key]), job))
    return result


def _with_groups(jobs):
    """Jobs, each with the group of those that its learner shares its work with."""
    sides = {}
    for job in jobs:
        if job.options.uses_shared_landmarks:
            sides.setdefault(job.options, {})[job.sides] = None
    groups = {options: SharedGroup(tuple(parts)) for options, parts in sides.items()}
    return _replaced(
        jobs,
        lambda job: replace(job, together=groups[job.options]) if job.options in groups else job,
    )


def _replaced(jobs, function):
    results = {id(job): function(job) for job in distinct(jobs)}
    return [results[id(job)] for job in jobs]


def with_class_names(jobs: Iterable[Job], names: Mapping[int, str]) -> list[Job]:
    """The jobs of `plan_jobs` with the names of their classes, for messages."""
    return _replaced(list(jobs), lambda job: replace(job, names=names or job.names))


def distinct(jobs: Iterable[Job]) -> list[Job]:
    """The jobs of `plan_jobs`, each once: what is to be trained."""
    return list({id(job): job for job in jobs}.values())


def for_weights(jobs: Iterable[Job]) -> list[Job]:
    """The jobs of `plan_jobs` with the learners that heed weights of points.

    Raises `UsageError`, with its place, for a learner that refuses weights.
    """

    def weighted(job):
        try:
            options = job.options.weighted()
        except UsageError as error:
            raise job.place.error(UsageError, error.message) from None
        if options is job.options:
            return job
        return replace(job, options=options)

    return _replaced(list(jobs), weighted)


def named(tree, models):
    """The classification tree of a training tree.

    `models` are all that have a name, in the order of `plan_jobs`: jobs, or what came of them.
    """
    names = [model.name for model in models]
    rows = len(tree.rows)
    return rename_directs(rename(tree, names[:rows]), dict(zip(tree.directs, names[rows:])))


def unnamed(tree):
    """The training tree of a classification tree, with default options for all rows."""
    return with_heading(
        rename_directs(
            rename(tree, [""] * len(tree.rows), quoted=True), dict.fromkeys(tree.directs)
        ),
        "normalisation",
        None,
    )


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples of one job.

    Attributes
    ----------
    rows : rows (l,) of the data
    side : number (l,) of the side of each
    w : weights (l,), or None
    number : number (n,) of the different point in each row of the data, or None where all differ
    """

    rows: np.ndarray
    side: np.ndarray
    w: np.ndarray | None = None
    number: np.ndarray | None = None


def samples(job, rows_of) -> Samples:
    """The `Samples` of one job in the order of the data; rows_of: of `rows_by_class`.

    Of a binary job samples of the side that comes first in the data come first, as LIBSVM
    orders them, each side in the order of the data.
    """
    parts = [
        rows_of[labels[0]]
        if len(labels) == 1
        else np.sort(np.concatenate([rows_of[label] for label in labels]))
        for labels in job.sides
    ]
    order = list(range(len(parts)))
    if job.is_binary and parts[1][0] < parts[0][0]:
        order = [1, 0]
    rows = np.concatenate([parts[side] for side in order])
    side = np.repeat(
        np.array(order, dtype=np.int8 if job.is_binary else np.int32),
        [len(parts[side]) for side in order],
    )
    if job.is_binary:
        return Samples(rows, side)
    order = np.argsort(rows)
    return Samples(rows[order], side[order])


@dataclass(frozen=True, eq=False)
class NodeProblem:
    """The data and settings of one job that a learner of nodes is given.

    Attributes
    ----------
    x : all points (n, d)
    normalised : digest of the normalisation of the points, or None
    origin : digest that seals the model, or None
    text : "svm" or "lvq", the text that a program gets
    weights : weights (l,) of its samples, or None
    sums : their sums, for `Provenance.with_samples`
    groups : groups (l,) of its samples, or None
    progress : function that is called with (fits done, all fits) between fits, or None
    """

    x: np.ndarray
    samples: Samples
    normalised: str | None = None
    origin: str | None = None
    text: str = "svm"
    weights: np.ndarray | None = None
    sums: tuple = (None, None)
    groups: np.ndarray | None = None
    progress: Callable[[int, int], object] | None = None

    @classmethod
    def of(cls, data, job, normalised=None, **more) -> NodeProblem:
        """The problem of a job with the points of a `Dataset`; more: other fields."""
        part = samples(job, rows_by_class(data.y))
        weights = None
        sums = (None, None)
        if data.weights is not None:
            of_part = data.weights[part.rows]
            weights = of_part.w
            sums = of_part.of_sides(data.y[part.rows], job.sides)
        return cls(
            data.x,
            part,
            normalised,
            weights=weights,
            sums=sums,
            groups=of_rows(data.groups, part.rows),
            **more,
        )


def read_node(node, branches: int, name: str):
    """The `NodeModel` of a trained node, a `NodeClassifier`; None where a program answers.

    Parameters
    ----------
    branches : int, how many it has
    name : str, of its files

    Raises
    ------
    ModelError, DataError : where they do not fit the node
    UsageError : for its options
    """
    return learner_class(node.learner_letter).parse(node.options).read(name, branches)


def check_jobs(jobs, counts, may_be_alone=lambda job: False) -> list[str]:
    """Raise `DataError` for a side with fewer than two samples; -> jobs with few, as text.

    `counts` is {label: number of samples}. With one sample on a side there is nothing left to train
    on where it is held out: then a fit without it is not made, where may_be_alone(job) is True.
    """
    few = []
    for job in jobs:
        for number, labels in enumerate(job.sides):
            size = sum(counts[label] for label in labels)
            if size >= 5:
                continue
            few.append(
                f"{job.side_words(number)} against {job.side_words(1 - number)} has {size} "
                f"sample{'s' * (size != 1)}"
            )
            if size < 1 or size < 2 and not may_be_alone(job):
                raise job.place.error(DataError, f"{few[-1]}: expected at least 2")
    return few


def has_left_out(jobs) -> bool:
    """Return True if the decision values of all jobs, nodes too, are exact leave-one-out values."""
    return all(job.options.uses_shared_landmarks for job in jobs)


def check_missing(jobs, x):
    """Raise `UsageError`, with its place, for a job that cannot have the missing values, NaN, of
    points x (n, d), if there are any."""
    for job in jobs:
        if not getattr(job.options, "allows_nan", False):
            if has_missing(x):
                if job.is_binary:
                    name = f"learner={job.options.name}"
                else:
                    name = "its learner"
                raise job.place.error(
                    UsageError,
                    f"{job.title}: the points have missing values, "
                    f"and {name} takes none: learner=trees does",
                )
            return


def leaves_one_out(options: Any, platt: str, grouped: bool = False) -> bool:
    """Return whether probabilities are fitted to leave-one-out values of the formula.

    Else they are fitted to values of folds, or need neither: those of a learner that gives
    probabilities, or that shares landmarks.

    Parameters
    ----------
    options : a binary learner
    platt : {"auto", "loo", "cv"}, "auto" is "loo" where there is a formula for the learner
    grouped : bool, samples are held out in groups, which takes folds
    """
    if grouped or options.gives_probabilities or options.uses_shared_landmarks:
        return False
    return platt != "cv" and not options.no_loo


def check_learners(jobs, platt="auto"):
    """Raise `UsageError`, with its place, for a learner that is not installed.

    With the `platt` "loo" also for one that has no formula for leaving out samples.
    """
    if platt not in WAYS:
        raise UsageError(f"platt: expected one of {', '.join(WAYS)}, found {platt!r}")
    for job in jobs if platt == "loo" else ():
        if job.options.no_loo:
            raise job.place.error(UsageError, f"platt loo is {job.options.no_loo}")
    for job in {type(job.options): job for job in reversed(jobs)}.values():
        try:
            job.options.made_by()
        except UsageError as error:
            raise job.place.error(UsageError, error.message) from None


class Fitted(NamedTuple):
    """The result of training one job.

    Attributes
    ----------
    model : `BinaryModel`, or the error of its learner
    rows : points that are its support vectors, None for a learner whose models have vectors of
        another kind
    side, held_out : side (l,) of each sample, and mask (l,) of those sent to the right when they
        were held out; None unless requested
    values : decision values (c,), float32, of its calibration points, rows ascending, when they
        were held out, with the sign of the model; None without such points
    unbounded : any larger C has the same model and values
    """

    job: Job
    model: BinaryModel | AgfmcError
    rows: np.ndarray | None = None
    seconds: float = 0.0
    side: np.ndarray | None = None
    held_out: np.ndarray | None = None
    values: np.ndarray | None = None
    unbounded: bool = False
