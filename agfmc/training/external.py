"""Training by a program of the user's: a file of points in, a model file out.

The program is called `command options data model`, as svm-train is: the data
are text with labels 0 (left) and 1 (right).  Where its points have weights, these are text too, a
file whose name takes the place of the word `@weights` of the command or the options.
"""

from __future__ import annotations

import filecmp
import os
import re
import shlex
import stat
import threading
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..core.errors import AgfmcError, CommandFailed, JobsFailed, one_line, UsageError, warn_user
from ..core.splits import rows_by_class
from ..data.libsvm import row_texts
from ..executors.threads import available_cores, run_tasks
from ..files.atomic import install, remove, writing
from ..learners.options import BinaryLearner
from ..learners.programs import Command, command_folder, killing_commands, partition_text
from ..learners.protocol import check_jobs, Samples, samples
from ..models.libsvm import read_svm_model

_WEIGHTS = "@weights"
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_OPTION = re.compile(
    rf"-[A-Za-z](?:{_NUMBER.pattern})?"
    rf"|--[A-Za-z][A-Za-z0-9-]*(?:={_NUMBER.pattern})?"
)


@dataclass(frozen=True)
class Trainer:
    """The external program that trains the binary classifiers in place of LIBSVM.

    Attributes
    ----------
    convert : `Command` that turns the text of a partition, on its standard input, to what the
        trainer takes, or None
    keep : leave temporary files
    allow_commands : it gets any options of a control file, also those that could name a file to it
    """

    command: Command
    convert: Command | None = None
    keep: bool = False
    allow_commands: bool = False


@dataclass(frozen=True)
class TrainerOptions(BinaryLearner):
    """The learner that is a user's program: options that are passed on as they are."""

    text: str

    keeps_sparse = False
    recognised_by = ""

    @classmethod
    def parse(cls, text, *, trusted="", allowed=False, **place):
        """The options in `text`; `UsageError`, with the place given, for a quote left open.

        `trusted` are options of the user, which may be anything.  Others are a control file's, and
        may name no file to the program, unless `allowed`: they are options such as -c,
        each with one number behind it at most, and -q with none.
        """
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise UsageError(f"the options '{text}' cannot be read: {error}", **place) from None
        takes = False
        for word in [] if allowed or text == trusted else words:
            is_option = _OPTION.fullmatch(word)
            if not is_option and not (takes and (_NUMBER.fullmatch(word) or word == _WEIGHTS)):
                raise UsageError(
                    f"the word '{one_line(word)}' of the options in the control file "
                    "could name a file to the command: expected options with at "
                    "most one number each, such as -c 50 -q, or `allow_commands`, if "
                    "you trust the options",
                    **place,
                )
            takes = is_option and word != "-q"
        return cls(text)


def train_external(plan, progress=None, control_out=None, started=None):
    """Train the binary jobs of a `Plan` with its trainer, as many at a time as there are workers.

    A model appears under its name when its program has succeeded; one that begins as a LIBSVM model
    must be a whole one.

    Parameters
    ----------
    progress : function, optional, called with (done, all, words, 0)
    control_out : str, optional, control file of a previous run, which is removed as soon as a model
        of that run is replaced by another one
    started : function, optional, called after the first model

    Raises
    ------
    JobsFailed
        At the first program that fails, which ends the run; finished models stay.
    """
    rows_of = rows_by_class(plan.data.y)
    check_jobs(plan.binary, {label: len(rows) for label, rows in rows_of.items()})
    if plan.data.groups is not None:
        raise UsageError(
            "a program that trains has folds of its own, which would divide the "
            "groups: leave the groups out (`group=none`), or train without it"
        )
    for job in plan.binary:
        check_weights(job, plan.trainer.command, plan.data.weights is not None)
    row_text = row_texts(plan.data.x)
    lock = threading.Lock()

    def put(source, target):
        with lock, writing(target):
            same = (
                os.path.isfile(source)
                and os.path.isfile(target)
                and filecmp.cmp(source, target, shallow=False)
            )
            replaces = control_out is not None and os.path.exists(target) and not same
            install(source, target, partial(remove, control_out) if replaces else None)

    def task(job):
        try:
            _train_one(job, plan, samples(job, rows_of), row_text, put)
        except AgfmcError as error:
            return job.place.error(JobsFailed, f"{job.title}: {error}")

    done = 0
    with killing_commands() as task_of:
        for _, error in run_tasks(
            task_of(task),
            plan.binary,
            plan.settings.workers or available_cores(),
            ordered=False,
            inline=False,
        ):
            if error is not None:
                raise error
            done += 1
            if started is not None and done == 1:
                started()
            if progress is not None:
                progress(done, len(plan.binary), f"{done} of {len(plan.binary)} classifiers", 0)


def check_weights(job, command, has_weights):
    """Raise `UsageError` unless `command` and options name a file of weights just where there are
    weights."""
    if command.has_word(_WEIGHTS, job.options.text) == has_weights:
        return
    if has_weights:
        raise UsageError(
            f"the command '{command.text}' does not heed the weights of samples: "
            f"expected the word {_WEIGHTS} in the place of the name of their file, "
            f'as in -- "{command.text} -W {_WEIGHTS}", or `weight="none"`'
        )
    raise UsageError(
        f"the command '{command.text}' has the word {_WEIGHTS}, and the training data "
        "have no weights other than 1"
    )


def _train_one(job, plan, part, row_text, put):
    trainer = plan.trainer
    order = np.argsort(part.rows)
    part = Samples(part.rows[order], part.side[order])
    folder, name = os.path.split(plan.path_of(job.name))
    with command_folder(folder or os.curdir, f"{name}.", trainer.keep) as private:
        data = os.path.join(private, "partition.txt")
        with writing(data), open(data, "x", encoding="ascii") as file:
            file.writelines(partition_text(plan.data.x, part, plan.text, row_text))
        if trainer.convert is not None:
            converted = os.path.join(private, "converted.txt")
            with writing(converted), open(data, "rb") as source, open(converted, "xb") as target:
                trainer.convert.run(stdin=source, stdout=target)
            data = converted
        made = os.path.join(private, "model")
        with writing(made):
            os.mkdir(made)
        names = {}
        if plan.data.weights is not None:
            names[_WEIGHTS] = os.path.join(private, "weights.txt")
            with writing(names[_WEIGHTS]), open(names[_WEIGHTS], "x", encoding="ascii") as file:
                file.writelines(f"{w!r}\n" for w in plan.data.weights.w[part.rows].tolist())
        trainer.command.run(data, os.path.join(made, name), options=job.options.text, names=names)
        _check(made, name, trainer, plan.data.x.shape[1])
        for entry in sorted(os.listdir(made)):
            put(os.path.join(made, entry), os.path.join(folder, entry))


def _check(made, name, trainer, features):
    """Check that a program that reports success made a model, file or folder, in `made`."""

    def fail(words):
        return CommandFailed(f"the command '{trainer.command.text}' wrote {words}")

    try:
        entries = sorted(os.listdir(made))
        for entry in entries:
            kind = stat.S_IFMT(os.lstat(os.path.join(made, entry)).st_mode)
            if kind not in (stat.S_IFREG, stat.S_IFDIR):
                what = "something"
                if kind == stat.S_IFLNK:
                    what = "a symbolic link"
                raise fail(f"{what} in place of a file: '{entry}'")
        if name not in entries:
            more = ""
            if entries:
                more = f", but '{entries[0]}': a model has the name that is given"
            raise fail(f"no model{more}")
        path = os.path.join(made, name)
        if os.path.isdir(path):
            return
        with open(path, "rb") as file:
            begin = file.read(8)
    except OSError:
        raise fail("no model that can be read") from None
    if not begin:
        raise fail("an empty model")
    if begin == b"svm_type":
        try:
            model = read_svm_model(path)
        except AgfmcError as error:
            raise fail(f"a wrong model: {error.message}") from error
        if model.platt is None:
            text = trainer.command.text
            warn_user(
                f"the models of the command '{text}' hold no probabilities, so that only "
                "votes can be used: svm-train fits them with -b 1, as in "
                f'-- "{text} -b 1"'
            )
        if model.sv.shape[1] > features:
            raise fail(
                f"a wrong model: it is of {model.sv.shape[1]} features, and the points have "
                f"{features}"
            )
