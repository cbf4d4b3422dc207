"""The wrapper around every command: streams, signals, and errors to exit statuses."""

import errno
import io
import os
import signal
import sys
import time
import warnings
from contextlib import contextmanager
from logging import ERROR, INFO, WARNING

from ..core.errors import (
    AgfmcError,
    AgfmcNotice,
    AgfmcWarning,
    DataErrors,
    lacks_memory,
    system_reason,
)
from ..core.version import __version__
from ..files.atomic import remove_temporaries
from ..files.opening import forget_begun
from .messages import CommandLog, drop_stream, logged, wants_events, write_message
from .signals import raised_signals, Terminated


def run_command(parser, execute, argv=None) -> int:
    """Parse `argv` (default: the process's own), call `execute(args)`; -> exit status. Errors
    become one line on standard error, `program: file:line:column: what was expected`; `--debug`
    shows the traceback instead.  With `--log json` standard error has nothing but events."""
    if argv is None:
        words = sys.argv[1:]
    else:
        words = argv
    log = CommandLog(parser.prog, wants_events(words, parser.dashes), parser._option_string_actions)
    try:
        with (
            raised_signals(_leave) as came,
            _one_thread_each(),
            warnings.catch_warnings(),
            logged(log),
        ):
            _open_streams()
            log.event(
                "start",
                version=__version__,
                arguments=list(words),
                time=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            )
            status = _run(parser, execute, argv, came, log)
        log.done(status)
        return status
    except KeyboardInterrupt as stop:
        if isinstance(stop, Terminated):
            number = stop.args[0]
        else:
            number = signal.SIGINT
        log.done(128 + number, number)
        _leave(128 + number)
        raise  # where the end was prevented, in a test


def _run(parser, execute, argv, came, log):
    args = None
    try:
        args = parser.parse_args(argv)
        _prepare(args, log)
        execute(args)
        sys.stdout.flush()
        return 0
    except SystemExit as stop:
        return _flushed(stop.code if isinstance(stop.code, int) else 2)
    except BrokenPipeError:
        drop_stream(sys.stdout)
        return 141
    except Exception as error:
        if came:  # a library made another error of the signal
            raise Terminated(came[0]) from error
        debug = getattr(args, "debug", False)
        if debug and not log.events:
            raise
        return _flushed(*_status_and_message(error), error, debug)
    finally:
        forget_begun()


def _status_and_message(error):
    if isinstance(error, AgfmcError):
        return error.status, str(error)
    if isinstance(error, ImportError):
        if lacks_memory(error):
            return 1, f"not enough memory: a library cannot be loaded: {error}"
        return 1, f"cannot load a required library: {error}"
    if isinstance(error, MemoryError):
        return 1, f"not enough memory: {error}".rstrip(": ")
    if isinstance(error, OSError):
        return 1, f"{_place_of(error)}{system_reason(error)}"
    return 1, (
        f"internal error: {type(error).__name__}: {error} (--debug shows where; please report it)"
    )


def _place_of(error):
    if error.errno == errno.ENOMEM:
        return "not enough memory: "
    if error.filename is not None:
        return f"{error.filename}: "
    if isinstance(error, FileNotFoundError):
        return "the current folder: "
    if error.errno == errno.EMFILE:
        return "this process: "
    if error.errno is None:  # of a library, in words of its own
        return ""
    return "standard output: "


@contextmanager
def _one_thread_each():
    """Threads are ours alone: the numeric libraries get one each, before they are loaded. A program
    that calls a command as a function has its environment again afterwards."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ[name] for name in names if name in os.environ}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name in names:
            os.environ.pop(name, None)
        os.environ.update(before)


def _open_streams():
    """Give a stream that the caller closed a file of its own, and buffer standard output. Else the
    next file to be opened would take its number, and get what libraries write there.  Writing to
    standard output fails then, as it does for any program; messages are lost."""
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        # with PYTHONUNBUFFERED, where a short write would be lost silently
        raw = io.FileIO(sys.stdout.fileno(), "w", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), sys.stdout.encoding, sys.stdout.errors, line_buffering=True
        )
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    number = 0
    while number <= 2:
        number = os.open(os.devnull, os.O_RDWR)
    os.close(number)
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")


def _prepare(args, log):
    if getattr(args, "quiet", False):
        log.handler.setLevel(ERROR)
    known = set()

    def show(message, category, filename, lineno, file=None, line=None):
        text = str(message)
        if text not in known:
            known.add(text)
            write_message(text, INFO if issubclass(category, AgfmcNotice) else WARNING)

    for stream in (sys.stdin, sys.stdout):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="surrogateescape")
    if hasattr(sys.stdout, "reconfigure"):
        if sys.stdout.isatty():
            sys.stdout.reconfigure(errors="backslashreplace")
        else:  # what goes on to a file or another command is what it would be in a file
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    warnings.showwarning = show
    warnings.simplefilter("always", AgfmcWarning)
    # of numpy, about numbers that the code checks afterwards; -W error still shows where
    warnings.simplefilter("ignore", RuntimeWarning, append=True)


def _flushed(status, message=None, cause=None, debug=False):
    """Empty standard output, report what went wrong; -> exit status.

    `cause` is the error, which says more of it; with `debug` events have its traceback.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop_stream(sys.stdout)
        status = status or 141
    except OSError as error:
        drop_stream(sys.stdout)
        if message is None:
            status = 1
            message = f"standard output: {system_reason(error)}"
    if message is not None:
        fields = {name: getattr(cause, name, None) for name in ("usage", "file", "line", "column")}
        fields["file"] = getattr(cause, "filename", fields["file"])  # of an error of the system
        if debug:
            import traceback

            fields["traceback"] = "".join(traceback.format_exception(cause))
        fields = {name: value for name, value in fields.items() if value is not None}
        if isinstance(cause, DataErrors):
            for problem in cause.problems:
                place = {**fields, **({} if problem.line is None else {"line": problem.line})}
                write_message(str(problem), status=status, **place)
        else:
            write_message(message, status=status, **fields)
    return status


def _leave(status):
    """End at once after a signal: a thread may be busy in LIBSVM for a long time yet."""
    drop_stream(sys.stdout)
    remove_temporaries()
    os._exit(status)
