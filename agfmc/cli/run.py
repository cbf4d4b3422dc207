"""The wrapper around every command: streams, signals, and errors to exit statuses."""

from __future__ import annotations

import os
import signal
import sys
import warnings

from ..errors import AgfmcError, AgfmcWarning

__all__ = ["run_command"]


class _Terminated(BaseException):
    """SIGTERM, raised so that temporary files are removed on the way out."""


def run_command(parser, execute, argv=None):
    """Parse `argv` (default: the process's own), call `execute(args)`; -> exit status.

    Errors become one line on standard error, `program: file:line:column:
    what was expected`; `--debug` shows the traceback instead.
    """
    _one_thread_each()
    args = None
    try:
        args = parser.parse_args(argv)
        _prepare(parser.prog, args)
        execute(args)
        if sys.stdout is not None:
            sys.stdout.flush()
        return 0
    except SystemExit as stop:
        return _flushed(parser.prog, stop.code if isinstance(stop.code, int) else 2)
    except BrokenPipeError:
        _discard(sys.stdout)
        return 141
    except KeyboardInterrupt:
        return _leave(130)
    except _Terminated:
        return _leave(143)
    except AgfmcError as error:
        _trace(args)
        return _flushed(parser.prog, error.status, str(error))
    except MemoryError as error:
        _trace(args)
        return _flushed(parser.prog, 1, f"not enough memory: {error}".rstrip(": "))
    except OSError as error:
        _trace(args)
        where = error.filename if error.filename is not None else "standard output"
        return _flushed(parser.prog, 1, f"{where}: {error.strerror or error}")


def _one_thread_each():
    """Threads are ours alone: the numeric libraries get one each, before they are loaded."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


def _prepare(prog, args):
    """Signals, and warnings of the package as lines on standard error."""

    def terminate(number, frame):
        raise _Terminated

    try:
        signal.signal(signal.SIGTERM, terminate)
    except ValueError:
        pass  # not in the main thread: the command runs inside another program
    quiet = getattr(args, "quiet", False)

    def show(message, category, filename, lineno, file=None, line=None):
        if not quiet:
            _say(prog, f"warning: {message}")

    for stream in (sys.stdin, sys.stdout):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="surrogateescape")
    warnings.showwarning = show
    warnings.simplefilter("always", AgfmcWarning)


def _say(prog, message):
    if sys.stderr is not None:
        try:
            text = f"{prog}: {message}".encode("utf-8", "backslashreplace").decode()
            print(text.replace("\n", "\\n"), file=sys.stderr, flush=True)
        except (OSError, ValueError):
            pass


def _trace(args):
    if getattr(args, "debug", False):
        raise


def _flushed(prog, status, message=None):
    """Report, empty standard output, and pass the status on."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
        return 141 if status == 0 else _reported(prog, status, message)
    except OSError as error:
        _discard(sys.stdout)
        if message is None:
            status, message = 1, f"standard output: {error.strerror or error}"
    return _reported(prog, status, message)


def _reported(prog, status, message):
    if message is not None:
        _say(prog, message)
    return status


def _discard(stream):
    """Point a broken stream at nothing, so that closing it says nothing."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    except (OSError, ValueError, AttributeError):
        pass


def _leave(status):
    """End at once after a signal: a thread may be busy in LIBSVM for a long time yet."""
    if sys.stdout is not None:
        _discard(sys.stdout)
    os._exit(status)
