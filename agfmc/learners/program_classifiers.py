"""Classification by a program of the user's: points in, classes and probabilities out.

The program is called `command points model output`, as svm-predict is, and
writes what svm-predict writes.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ..core.errors import AgfmcError, CommandFailed, DataError, ModelError, Place, UsageError
from ..core.provenance import Provenance
from ..data.libsvm import sparse_text
from ..data.lvq import lvq_lines
from ..data.svm_predict import read_svm_output
from ..executors.threads import run_tasks
from ..files.atomic import writing
from .programs import Command, command_folder, killing_commands

_SUM = 0.01  # how far probabilities may be from 1 together: programs round
_ROWS = 20_000  # points that one run of a program gets


@dataclass(frozen=True)
class Execution:
    """The way to run the classifiers of a configuration: in this process, or by programs.

    points: the kind of the points to classify, "binary", "svm" or "lvq";
    sigmoid: a key of `SIGMOIDS` in place of what was fitted, or None;
    predictor: text of a command that reads the binary models, or None;
    allow_commands: the commands in control files may be run;
    keep: temporary files of programs stay;  workers: how many programs run at a time;
    counting: the answers tell which binary classifiers were queried.
    """

    points: str = "binary"
    sigmoid: int | None = None
    predictor: str | None = None
    allow_commands: bool = False
    keep: bool = False
    workers: int = 1
    counting: bool = False

    def __post_init__(self):
        if self.predictor is not None and self.sigmoid is not None:
            raise UsageError("-c is for support vector machines: it cannot be combined with -O")
        if self.keep and self.predictor is None and not self.allow_commands:
            raise UsageError("-K needs -O or --allow-commands")

    def program(self, command: str) -> Predictor:
        """The program of this command."""
        return Predictor(Command(command), self)


@dataclass(frozen=True)
class Predictor:
    """A program that classifies, and the `Execution` that it is run by."""

    command: Command
    execution: Execution

    @contextmanager
    def points(self, x):
        """(folder, file of the points x (n, d)), both gone when the block ends unless kept."""
        keep = self.execution.keep
        with command_folder(os.curdir if keep else None, "agfmc.", keep) as folder:
            path = os.path.join(folder, "points.txt")
            with writing(path), open(path, "w", encoding="ascii") as file:
                if self.execution.points == "lvq":
                    file.writelines(lvq_lines(x, np.zeros(len(x), dtype=np.int32)))
                else:
                    file.writelines(f"0 {sparse_text(point)}\n" for point in x)
            yield folder, path

    def answers(self, points, model, output, count):
        """Run the program on a file of `count` points.

        Returns its labels, in their order, the classes (n,), and the probabilities (n, labels) or
        None.
        """
        def wrong(message):
            return CommandFailed(f"model '{model}': the command '{self.command.text}' wrote "
                                 f"{message}")

        try:
            self.command.run(points, model, output)
            if os.path.lexists(output) and not stat.S_ISREG(os.lstat(output).st_mode):
                raise DataError("it is not a file")  # a pipe would be waited for
            answer = read_svm_output(output)
        except CommandFailed as error:
            raise CommandFailed(f"model '{model}': {error.message}") from error
        except AgfmcError as error:
            where = "" if error.line is None else f"line {error.line}: "
            raise CommandFailed(f"model '{model}': what the command '{self.command.text}' wrote "
                                f"cannot be read: {where}{error.message}") from error
        if len(answer.classes) != count:
            raise wrong(f"{len(answer.classes)} answers for {count} points")
        if answer.labels is None:
            return np.unique(answer.classes).tolist(), answer.classes, None
        if answer.p is not None:
            sums = answer.p.sum(axis=1)
            off = np.flatnonzero(np.abs(sums - 1) > _SUM)
            if len(off):
                raise wrong(f"probabilities that sum to {sums[off[0]]:.6g}, not to 1 "
                            f"(line {off[0] + 2})")
        return list(answer.labels), answer.classes, answer.p


class ExternalValues:
    """r of binary classifiers that only a program can read; stands for `MachineValues`.

    configuration: a `Configuration` with `ModelFiles`, which the program gets;
    execution: an `Execution` with a predictor.
    """

    has_probabilities = True
    has_decision_values = False
    takes_sparse = False

    def __init__(self, configuration, execution):
        self.features = configuration.features
        self._names = configuration.machines.paths
        self._predictor = execution.program(execution.predictor)
        self._normalisation = configuration.normalisation

    @property
    def count(self):
        """Number of binary classifiers."""
        return len(self._names)

    def rows(self, k):
        """A good number of points for one call."""
        return _ROWS

    def prepared(self, x):
        """Points normalised."""
        return x if self._normalisation is None else self._normalisation.apply(x)

    def __call__(self, columns, x):
        """None and r (n, m') of the classifiers `columns`, a program run for each of them."""
        r = np.empty((len(x), len(columns)))
        if len(x) == 0:
            return None, r
        with self._predictor.points(x) as (folder, points):

            def task(position):
                name = self._names[columns[position]]
                output = os.path.join(folder, f"answers-{columns[position]}.txt")
                return _difference(name, *self._predictor.answers(points, name, output, len(x)))

            with killing_commands() as task_of:
                for position, values in run_tasks(task_of(task), range(len(columns)),
                                                  self._predictor.execution.workers):
                    r[:, position] = values
        return None, r


def _difference(name, labels, classes, p):
    """r (n,) = P(right) - P(left); +1 and -1 where the program gave no probabilities."""
    if not (set(labels) <= {0, 1} or set(labels) <= {-1, 1}):
        raise CommandFailed(f"model '{name}': expected the classes 0 (left) and 1 (right), found "
                            + " ".join(map(str, sorted(labels)[:5])))
    if p is None:
        return np.where(classes == 1, 1.0, -1.0)
    if len(labels) != 2:
        raise CommandFailed(f"model '{name}': expected the probabilities of 2 classes, found "
                            f"{len(labels)}")
    right = labels.index(1)
    return p[:, right] - p[:, 1 - right]


@dataclass(frozen=True)
class ExternalClassifier:
    """A program that tells all branches of a node apart, as a control file names it.

    name: of its model;  branches: how many;  command: its text;  place: the `Place` in the
    control file.
    """

    name: str
    branches: int
    command: str
    place: Place

    code, points, samples = "G", None, None
    features = None
    provenance = Provenance()

    def run_by(self, execution):
        """The classifier itself: an object with probabilities(x (n, d)) -> (n, branches).

        Raises `ModelError` where commands of control files are not allowed.
        """
        if not execution.allow_commands:
            raise self.place.error(ModelError, f"the command '{self.command}' would be run here: "
                                   "allow it with --allow-commands")
        return _RunningClassifier(self.name, self.branches, execution.program(self.command))


@dataclass(frozen=True)
class _RunningClassifier:
    name: str
    branches: int
    predictor: Predictor

    def probabilities(self, x):
        """p (n, c); 1 for the class where the program gave no probabilities."""
        result = np.zeros((len(x), self.branches))
        if len(x) == 0:
            return result
        with self.predictor.points(x) as (folder, points):
            labels, classes, p = self.predictor.answers(
                points, self.name, os.path.join(folder, "answers.txt"), len(x))
        if min(labels) < 0 or max(labels) >= self.branches:
            raise CommandFailed(f"model '{self.name}': expected the classes 0 to "
                                f"{self.branches - 1}, found {max(labels)}")
        if p is None:
            result[np.arange(len(x)), classes] = 1.0
        else:
            result[:, labels] = p
        return result
