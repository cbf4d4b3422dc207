"""Errors and warnings of the package, and the exit status that each leads to.

Package code raises these and never prints or exits; `agfmc.cli.run` turns
them into one line on standard error and an exit status.  The table
`EXIT_STATUSES` is what the manual pages print.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from collections import namedtuple
from contextlib import contextmanager
from functools import partial
from types import FrameType

EXIT_STATUSES = (
    (0, "Success."),
    (
        1,
        "Bad data, a bad control or model file, or a file that could not be read or written. "
        "The failed step has changed no output file.",
    ),
    (2, "The command line was wrong."),
    (
        3,
        "Some binary classifiers could not be trained, or the time limit was reached; finished "
        "models are kept.",
    ),
    (
        130,
        "Interrupted from the keyboard (128 + the signal's number: 129 for a hangup, 143 "
        "if terminated).",
    ),
    (141, "The reader of standard output closed it."),
)


# What ends a line, moves the cursor, or turns the order of what is shown: not part of a message.
_UNSEEN = "[\0-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
_PACKAGE = __name__.partition(".")[0]
_LONGEST = 2000  # characters of a message
_LONG_WORD = re.compile(r"(\S{200})\S{40,}(\S{60})")  # such as a name of thousands of letters


def one_line(text):
    """`text` with each character that is no part of a line of text as an escape, such as \\n."""
    if text.isprintable():  # as nearly always, and the expression takes a while to be made
        return text
    return re.sub(_UNSEEN, lambda match: match[0].encode("unicode_escape").decode(), text)


def shortened(text):
    """The text of a message on one line, without the middle of words of 300 letters and more and
    of what is longer than 2000."""
    text = _LONG_WORD.sub(r"\1...\2", one_line(text))
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - 200]} ... {text[-195:]}"


_LIMITS = {
    errno.EFBIG: ": the limit of the shell for the size of a file (ulimit -f)",
    errno.EMFILE: ": the limit of the shell for open files (ulimit -n)",
}


def system_reason(error):
    """The words of an error of the system, or of another one, for a message."""
    text = getattr(error, "strerror", None) or str(error)
    return text + _LIMITS.get(getattr(error, "errno", None), "")


def lacks_memory(error):
    """True for an error that memory is short, or one that was made of such an error."""
    cause = error.__cause__ or error
    return (
        isinstance(cause, MemoryError)
        or getattr(cause, "errno", None) == errno.ENOMEM
        # the loader of shared objects says it in words alone
        or any(words in str(cause) for words in ("failed to map segment", "annot allocate memory"))
    )


def is_shortage(error):
    """True for an error that memory or open files are short, or one that was made of it."""
    number = getattr(error.__cause__ or error, "errno", None)
    return number in (errno.EMFILE, errno.ENFILE) or lacks_memory(error)


@contextmanager
def needed_library(message, file=None):
    """Within the block a library is imported: `UsageError(message, file=file)` without it.

    Other errors stay `ImportError`, as of a library for which there is not enough memory.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise UsageError(message, file=file) from error
    except OSError as error:  # of ctypes
        raise ImportError(system_reason(error)) from error


def and_more(items):
    """ " (and 3 more)" after the first of four `items` in a message; "" for one."""
    if len(items) > 1:
        return f" (and {len(items) - 1} more)"
    return ""


class Place(namedtuple("Place", "file line column", defaults=(None, None, None))):
    """A position in a file: its name, line and column; None where not known."""

    __slots__ = ()

    def error(self, kind, message):
        """The error of class `kind` at this position."""
        return kind(message, **self._asdict())


class AgfmcWarning(UserWarning):
    """Something the user should know of, although the run goes on."""


class AgfmcNotice(AgfmcWarning):
    """A message on what was done as documented: nothing is wrong."""


def warn_user(message: str, kind: type[AgfmcWarning] = AgfmcWarning) -> None:
    """Give a warning at the line that called the package, wherever in it the cause is."""
    caller = sys._getframe(1)
    frame: FrameType | None = caller
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
            caller = frame.f_back or frame
        frame = frame.f_back
    known = caller.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        message, kind, caller.f_code.co_filename, caller.f_lineno, registry=known
    )


class AgfmcError(Exception):
    """An error of the suite, with its position in a file where that is known.

    Parameters
    ----------
    message : str
        What is wrong, in one line.
    file : str or path-like, default=None
        Name of the file; "-" is standard input.
    line, column : int, default=None
        Position in the file, counted from 1.
    """

    status = 1

    def __init__(self, message, *, file=None, line=None, column=None):
        super().__init__(message)
        self.message = message
        if file is None:
            self.file = None
        else:
            self.file = os.fsdecode(file)
        self.line = line
        self.column = column

    def __str__(self):
        if self.file == "-":
            file = "standard input"
        else:
            file = self.file
        # a place in no file, as in a design that was made here, tells nothing
        if file is None:
            position = ()
        else:
            position = [str(part) for part in (file, self.line, self.column) if part is not None]
        if position:
            text = ": ".join([":".join(position), self.message])
        else:
            text = str(self.message)
        return shortened(text)

    def __reduce__(self):
        place = {"file": self.file, "line": self.line, "column": self.column}
        return partial(type(self), self.message, **place), ()


class DataError(AgfmcError):
    """A data file that is not as expected."""


class DataErrors(DataError):
    """Several things that are wrong in one file: its text has a line for each.

    Parameters
    ----------
    problems : sequence of DataError
        What is wrong, each in one line.
    """

    def __init__(self, problems):
        super().__init__("\n".join(problem.message for problem in problems), file=problems[0].file)
        self.problems = tuple(problems)

    def __str__(self):
        return "\n".join(map(str, self.problems))

    def __reduce__(self):
        return type(self), (self.problems,)


class ControlError(AgfmcError):
    """A control file that breaks the grammar or the rules of the control language."""


class ModelError(AgfmcError):
    """A model file that is damaged, of another program, or does not fit the data."""


class CommandFailed(AgfmcError):
    """A program named by the user could not be run, or failed."""


class UsageError(AgfmcError):
    """A command line, or arguments of a function, that make no sense.

    `usage` is the usage of the command where a command line has no operands.
    """

    status = 2
    usage: str | None = None


@contextmanager
def in_control_file():
    """Makes a `ControlError` of a `UsageError` with a place, for `with`: the file is wrong."""
    try:
        yield
    except UsageError as error:
        if error.file is None:
            raise
        raise ControlError(
            error.message, file=error.file, line=error.line, column=error.column
        ) from error


class JobsFailed(AgfmcError):
    """Some training jobs failed; the models of the others are stored."""

    status = 3
