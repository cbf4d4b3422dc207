"""Programs that the user named, run with file names behind their own words, also as classifiers.

No shell is used unless the user's text needs one (a pipe, a redirection, a
variable); file names are never part of what a shell reads.  A program that classifies is called
`command points model output`, as svm-predict is, and writes what svm-predict writes.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import numpy as np

from ..core.errors import AgfmcError, CommandFailed, DataError, ModelError, Place, UsageError
from ..core.provenance import Provenance
from ..data.libsvm import row_texts, sparse_text
from ..data.lvq import lvq_lines
from ..data.printed import read_svm_output
from ..executors.threads import run_tasks
from ..files.atomic import private_folder, temporary_file, writing
from .options import NodeLearner

_SHELL = re.compile(r"[|&;<>()$`*?\[\]{}~#!\n]|^\s*[A-Za-z_][A-Za-z_0-9]*=")
_NO_PLACE = re.compile(r"[|&;]\s*\Z|(?:^|[\s|&;()])#.*\Z")  # for words behind: a comment
_LAST_LINES = 3
_LONGEST = 300
_SUM = 0.01  # how far probabilities may be from 1 together: programs round
_ROWS = 20_000  # points that one run of a program gets

_changed = threading.Condition()  # of all that follows
_running: set[subprocess.Popen] = set()
_closed = False


class Command:
    """A command line, ready to be run: `text` as the user wrote it.

    Raises `UsageError` where it is empty, has an open quote, or names a program
    that is not there.
    """

    def __init__(self, text):
        self.text = text
        if "\0" in text:
            raise UsageError("a command cannot hold a NUL character")
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise UsageError(f"the command '{text}' cannot be read: {error}") from None
        if not words:
            raise UsageError("expected a command, found nothing")
        bare = _unquoted(text)
        if _SHELL.search(bare):
            if _NO_PLACE.search(bare):
                raise UsageError(f"the command '{text}' must end where file names can be appended")
            # "$@" stands for the file names, behind the last word as without a shell
            self._words = ["/bin/sh", "-c", f'{text.strip()} "$@"', words[0]]
        elif shutil.which(words[0]) is None:
            raise UsageError(f"the command '{words[0]}' does not exist or may not be executed")
        else:
            self._words = words

    def has_word(self, word, options=""):
        """Return True if a word of the command or of `options` is this one, or ends in = and it.

        Raises `UsageError` where it stands in a text that a shell reads: no file name comes there.
        """
        if self._words[0] == "/bin/sh" and word in self.text:
            raise UsageError(
                f"the command '{self.text}' needs a shell, which is given no file "
                f'names: put it into a script, as in -- "./script {word}"'
            )
        return any(_at(one, word) is not None for one in (*self._words, *_split(options)))

    def run(self, *operands, stdin=None, stdout=None, options="", names=None):
        """Run the command: its own words, then those of `options`, then `operands`.

        `stdin` is an open file, or None for nothing, `stdout` an open file, or None to pass over
        what it prints, and `names` {word: file name that takes its place}. Raises `CommandFailed`
        with the command, how it ended, and the last lines of its standard error, or if there are
        none of what it printed.
        """
        words = [*self._words, *_split(options)]
        for place, name in (names or {}).items():
            words = [
                one if _at(one, place) is None else one[: _at(one, place)] + _operand(name)
                for one in words
            ]
        words += [_operand(name) for name in operands]
        with temporary_file() as messages, temporary_file() as printed:
            with _changed:
                if _closed:
                    raise CommandFailed(
                        f"the command '{self.text}' was not started: the run has ended"
                    )
                try:
                    process = subprocess.Popen(
                        words,
                        stdin=subprocess.DEVNULL if stdin is None else stdin,
                        stdout=printed if stdout is None else stdout,
                        stderr=messages,
                        start_new_session=True,
                    )  # so that what it starts can be ended with it
                except (OSError, ValueError) as error:
                    raise CommandFailed(
                        f"the command '{self.text}' could not be started: "
                        f"{getattr(error, 'strerror', None) or error}"
                    ) from error
                _running.add(process)
            try:
                status = process.wait()
            except BaseException:
                _kill(process)
                raise
            finally:
                with _changed:
                    _running.discard(process)
            if status:
                words = _last(messages) or _last(printed)
                raise CommandFailed(f"the command '{self.text}' {_ended(status)}{words}")


@contextmanager
def killing_commands():
    """Within the block commands may run in threads; when it ends, none is left running.

    Yields the function that makes a task of a function: the block waits for tasks that have begun,
    so that they remove their files, and one that would begin later raises `CommandFailed`.
    """
    global _closed
    busy = set()
    ended = False

    def task_of(function):
        def task(*args):
            with _changed:
                if ended:
                    raise CommandFailed("not started: the run has ended")
                busy.add(mark := object())
            try:
                return function(*args)
            finally:
                with _changed:
                    busy.remove(mark)
                    _changed.notify_all()

        return task

    _closed = False
    try:
        yield task_of
    finally:
        with _changed:
            ended = _closed = True
            left = list(_running)
        for process in left:
            _kill(process)
        with _changed:
            _changed.wait_for(lambda: not busy)
            _closed = False


@contextmanager
def command_folder(parent, prefix, keep):
    """A folder in `parent` for the files of a command, which goes with the block unless kept."""
    if keep:
        with writing(os.path.join(parent, prefix)):
            folder = tempfile.mkdtemp(prefix=prefix, suffix=".tmp", dir=parent)
        yield folder
    else:
        with private_folder(parent) as folder:
            yield folder


def _unquoted(text):
    """`text` without what stands in quotes, but for what a shell reads there too."""

    def sign(match):
        piece = match.group()
        if piece[0] == '"' and re.search(r'[$`]|\\[^"\\]', piece):
            return "$"
        return "q"

    return re.sub(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", sign, text)


def _split(options):
    try:
        return shlex.split(options)
    except ValueError as error:
        raise UsageError(f"the options '{options}' cannot be read: {error}") from None


def _at(word, place):
    """The index of `place` in a word that is it, or ends in = and it; None in others."""
    if word == place or word.endswith(f"={place}"):
        return len(word) - len(place)
    return None


def _operand(name):
    """A file name that no program takes for an option."""
    if name.startswith("-"):
        return f"./{name}"
    return name


def _kill(process):
    with _changed:
        if process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()


def _ended(status):
    if status > 0:
        return f"failed with status {status}"
    with suppress(ValueError):
        return f"was ended by {signal.Signals(-status).name}"
    return f"was ended by signal {-status}"


def _last(messages):
    size = messages.seek(0, 2)
    messages.seek(max(0, size - 4096))
    text = messages.read().decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()][-_LAST_LINES:]
    if lines:
        return ": " + " | ".join(line[:_LONGEST] for line in lines)
    return ""


@dataclass(frozen=True)
class CommandOptions(NodeLearner):
    """A program as the classifier of a node, code G: training writes its points as text.

    `text` is the command, which is run where points are classified.
    """

    text: str

    is_program = True

    @classmethod
    def parse(cls, text, **place):
        """The command in `text`."""
        if not text.strip():
            raise UsageError("expected a command in the quotes of code G, found nothing", **place)
        return cls(text)

    def weighted(self):
        """Raises `UsageError`: programs have no place for weights."""
        raise UsageError(
            "a classifier of code G is run by a program, whose training data have no "
            'weights of points: leave the weights out (`weight="none"`), or take '
            "another code"
        )

    def fit(self, job, problem):
        """Raises `ModelError`: what the command does is not known here."""
        raise job.place.error(
            ModelError, "a classifier of code G is run by a program: it cannot be tried here"
        )

    def write(self, job, problem, streams):
        """Write the points with the numbers of their branches."""
        streams[0].writelines(
            line.encode("ascii")
            for line in partition_text(problem.x, problem.samples, problem.text)
        )

    def held_out_probabilities(self, job, problem, model, rows):
        """None: the program is not run in training."""
        return None

    def read(self, name, branches):
        """Nothing: the file is the program's."""
        return None


def partition_text(x, samples, text, row_text=None):
    """Lines of text ("svm" or "lvq") of the points x[samples.rows], labelled with their sides.

    `row_text`, that of `row_texts(x)`, may serve several partitions.
    """
    if text == "lvq":
        return lvq_lines(x[samples.rows], samples.side)
    row_text = row_text or row_texts(x)
    return (
        f"{label} {row_text(row)}\n"
        for row, label in zip(samples.rows.tolist(), samples.side.tolist())
    )


@dataclass(frozen=True)
class Predictor:
    """A program that classifies, and what a `Decoding` says of the files that it is given."""

    command: Command
    kind: str
    keep: bool

    @contextmanager
    def points(self, x):
        """(folder, file of the points x (n, d)), both gone when the block ends unless kept."""
        keep = self.keep
        with command_folder(os.curdir if keep else None, "agfmc.", keep) as folder:
            path = os.path.join(folder, "points.txt")
            with writing(path), open(path, "x", encoding="ascii") as file:
                if self.kind == "lvq":
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
            return CommandFailed(
                f"model '{model}': the command '{self.command.text}' wrote {message}"
            )

        try:
            self.command.run(points, model, output)
            if os.path.lexists(output) and not stat.S_ISREG(os.lstat(output).st_mode):
                raise DataError("it is not a file")  # a pipe would be waited for
            answer = read_svm_output(output)
        except CommandFailed as error:
            raise CommandFailed(f"model '{model}': {error.message}") from error
        except AgfmcError as error:
            if error.line is None:
                where = ""
            else:
                where = f"line {error.line}: "
            raise CommandFailed(
                f"model '{model}': what the command '{self.command.text}' wrote "
                f"cannot be read: {where}{error.message}"
            ) from error
        if len(answer.classes) != count:
            raise wrong(f"{len(answer.classes)} answers for {count} points")
        if answer.labels is None:
            return np.unique(answer.classes).tolist(), answer.classes, None
        if answer.p is not None:
            sums = answer.p.sum(axis=1)
            off = np.flatnonzero(np.abs(sums - 1) > _SUM)
            if len(off):
                raise wrong(
                    f"probabilities that sum to {sums[off[0]]:.6g}, not to 1 (line {off[0] + 2})"
                )
        return list(answer.labels), answer.classes, answer.p


class ExternalValues:
    """r of binary classifiers that only a program can read; stands for `MachineValues`.

    The program gets the `ModelFiles` of the `Configuration`; `decoding` has a predictor.
    """

    has_probabilities = True
    has_decision_values = False
    takes_sparse = False

    def __init__(self, configuration, decoding):
        self.features = configuration.features
        self._names = configuration.machines.paths
        self._predictor = Predictor(Command(decoding.predictor), decoding.points, decoding.keep)
        self._workers = decoding.workers
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
        if self._normalisation is None:
            return x
        return self._normalisation.apply(x)

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
                for position, values in run_tasks(
                    task_of(task), range(len(columns)), self._workers
                ):
                    r[:, position] = values
        return None, r


def _difference(name, labels, classes, p):
    """r (n,) = P(right) - P(left); +1 and -1 where the program gave no probabilities."""
    if not (set(labels) <= {0, 1} or set(labels) <= {-1, 1}):
        raise CommandFailed(
            f"model '{name}': expected the classes 0 (left) and 1 (right), found "
            + " ".join(map(str, sorted(labels)[:5]))
        )
    if p is None:
        return np.where(classes == 1, 1.0, -1.0)
    if len(labels) != 2:
        raise CommandFailed(
            f"model '{name}': expected the probabilities of 2 classes, found {len(labels)}"
        )
    right = labels.index(1)
    return p[:, right] - p[:, 1 - right]


@dataclass(frozen=True)
class ExternalClassifier:
    """A program that separates all branches of a node, as a control file names it.

    `predictor` is the program, once it may be run.
    """

    name: str
    branches: int
    command: str
    place: Place
    predictor: Predictor | None = None

    code = "G"
    points = weights = forest = samples = features = None
    provenance = Provenance()

    def run_by(self, decoding):
        """This classifier with a program that has the `probabilities` of points.

        Raises `ModelError` where commands of control files are not allowed.
        """
        if not decoding.allow_commands:
            raise self.place.error(
                ModelError,
                f"the command '{self.command}' would be run here: allow it with `allow_commands`",
            )
        return replace(
            self, predictor=Predictor(Command(self.command), decoding.points, decoding.keep)
        )

    def probabilities(self, x):
        """p (n, c); 1 for the class where the program gave no probabilities."""
        result = np.zeros((len(x), self.branches))
        if len(x) == 0:
            return result
        with self.predictor.points(x) as (folder, points):
            labels, classes, p = self.predictor.answers(
                points, self.name, os.path.join(folder, "answers.txt"), len(x)
            )
        if min(labels) < 0 or max(labels) >= self.branches:
            raise CommandFailed(
                f"model '{self.name}': expected the classes 0 to "
                f"{self.branches - 1}, found {max(labels)}"
            )
        if p is None:
            result[np.arange(len(x)), classes] = 1.0
        else:
            result[:, labels] = p
        return result
