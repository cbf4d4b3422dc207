"""Run a program that the user named, with file names behind its own words.

No shell is used unless the user's text needs one (a pipe, a redirection, a
variable); file names are never part of what a shell reads.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from ..core.errors import CommandFailed, ModelError, UsageError
from ..files.atomic import private_folder, temporary_file, writing
from .options import NodeLearner

_SHELL = re.compile(r"[|&;<>()$`*?\[\]{}~#!\n]|^\s*[A-Za-z_][A-Za-z_0-9]*=")
_NO_PLACE = re.compile(r"[|&;]\s*\Z|(?:^|[\s|&;()])#.*\Z")  # for words behind: a comment
_LAST_LINES = 3
_LONGEST = 300

_changed = threading.Condition()  # of all that follows
_running = set()
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
            raise UsageError(f"the command '{self.text}' needs a shell, which is given no file "
                             f"names: put it into a script, as in -- \"./script {word}\"")
        return any(_at(one, word) is not None for one in (*self._words, *_split(options)))

    def run(self, *operands, stdin=None, stdout=None, options="", names=None):
        """Run the command: its own words, then those of `options`, then `operands`.

        stdin: an open file, or None for nothing; stdout: an open file, or None
        to pass over what it prints; names: {word: file name that takes its place}.  Raises
        `CommandFailed` with the command, how it ended, and the last lines of its standard
        error, or if there are none of what it printed.
        """
        words = [*self._words, *_split(options)]
        for place, name in (names or {}).items():
            words = [one if _at(one, place) is None else one[:_at(one, place)] + _operand(name)
                     for one in words]
        words += [_operand(name) for name in operands]
        with temporary_file() as messages, temporary_file() as printed:
            with _changed:
                if _closed:
                    raise CommandFailed(f"the command '{self.text}' was not started: the run "
                                        "has ended")
                try:
                    process = subprocess.Popen(
                        words, stdin=subprocess.DEVNULL if stdin is None else stdin,
                        stdout=printed if stdout is None else stdout, stderr=messages,
                        start_new_session=True)  # so that what it starts can be ended with it
                except (OSError, ValueError) as error:
                    raise CommandFailed(f"the command '{self.text}' could not be started: "
                                        f"{getattr(error, 'strerror', None) or error}") from error
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
    busy, ended = set(), False

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
        return "$" if piece[0] == '"' and re.search(r'[$`]|\\[^"\\]', piece) else "q"

    return re.sub(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", sign, text)


def _split(options):
    try:
        return shlex.split(options)
    except ValueError as error:
        raise UsageError(f"the options '{options}' cannot be read: {error}") from None


def _at(word, place):
    """The index of `place` in a word that is it, or ends in = and it; None in others."""
    return len(word) - len(place) if word == place or word.endswith(f"={place}") else None


def _operand(name):
    """A file name that no program takes for an option."""
    return f"./{name}" if name.startswith("-") else name


def _kill(process):
    """End a command and all processes that it has started."""
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
    """The last lines of a file of messages, in one line."""
    size = messages.seek(0, 2)
    messages.seek(max(0, size - 4096))
    text = messages.read().decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()][-_LAST_LINES:]
    return ": " + " | ".join(line[:_LONGEST] for line in lines) if lines else ""


@dataclass(frozen=True)
class CommandOptions(NodeLearner):
    """A program as the classifier of a node, code G: training writes its points as text.

    text: the command, which is run where points are classified.
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
        raise UsageError("a classifier of code G is run by a program, whose training data have no "
                         "weights of points: leave the weights out (--weights none), or take "
                         "another code")

    def fit(self, job, problem):
        """Raises `ModelError`: what the command does is not known here."""
        raise job.place.error(ModelError, "a classifier of code G is run by a program: it cannot "
                              "be tried here")

    def write(self, job, problem, streams):
        """Write the points with the numbers of their branches."""
        streams[0].writelines(line.encode("ascii") for line in partition_text(
            problem.x, problem.samples, problem.text))

    def held_out_probabilities(self, job, problem, model, rows):
        """None: the program is not run in training."""
        return None

    def read(self, name, branches):
        """Nothing: the file is the program's."""
        return None


def partition_text(x, samples, text, row_text=None):
    """Lines of text of the points x[samples.rows], labelled with their sides.

    text: "svm" or "lvq";  row_text: `row_texts(x)`, which may serve several partitions.
    """
    from ..data.libsvm import row_texts
    from ..data.lvq import lvq_lines

    if text == "lvq":
        return lvq_lines(x[samples.rows], samples.side)
    row_text = row_text or row_texts(x)
    return (f"{label} {row_text(row)}\n"
            for row, label in zip(samples.rows.tolist(), samples.side.tolist()))
