"""Standard error as a log of events, a JSON object in each line: `--log json`."""

import _thread
import contextlib
import io
import sys
import time

from .._version import __version__
from . import messages

__all__ = ["EventLog", "logged", "wants_events"]


def wants_events(words, dashes=None):
    """True where the last `--log` of a command line that may be wrong asks for JSON.

    dashes: the option that `--` stands for, if options may follow it.
    """
    found, words = "text", [*words, ""]
    for word, value in zip(words, words[1:]):
        if word == "--" and dashes is None:
            break
        if word.startswith("--log="):
            found = word.removeprefix("--log=")
        elif word == "--log":
            found = value
    return found == "json"


class EventLog:
    """Events of the run of a command, written to standard error.

    Of several threads each writes whole lines.  Where nobody can read them they are lost.
    """

    def __init__(self, command, words):
        import json

        self._encoder = json.JSONEncoder(default=_plain, allow_nan=False)
        self._command = command
        self._start = time.monotonic()
        self._ending = False
        self._lock = _thread.RLock()  # a destructor may warn while a line is written
        self.emit("start", version=__version__, arguments=list(words),
                  time=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))

    def emit(self, event, **fields):
        """Write one event; None of a text, number or list of texts is null."""
        if self._ending:
            return
        line = self._line(event, fields)
        with self._lock:
            self._write(line)

    def end(self):
        """Nothing but the last event is written from now on."""
        self._ending = True

    def _line(self, event, fields):
        head = {"event": event, "command": self._command,
                "seconds": round(time.monotonic() - self._start, 3)}
        return self._encoder.encode(_encodable({**head, **fields})) + "\n"

    def _write(self, line):
        try:
            sys.stderr.write(line)
            sys.stderr.flush()
        except (OSError, ValueError):  # no reason to stop the work
            messages.discard(sys.stderr)

    def done(self, status, **fields):
        """Write the last event, with the times and the memory of this process and its children."""
        self.emit("done", **_done(status), **fields)

    def ended(self, number):
        """Write the last event of a run that a signal ends, unless it would have to wait."""
        if not self._lock.acquire(timeout=0.5):
            return
        try:
            if _takes_a_line(sys.stderr):
                self._write(self._line("done", {**_done(128 + number), "signal": int(number)}))
        finally:
            self._lock.release()


def _done(status):
    try:
        import resource
    except ImportError:  # not Unix
        return {"status": status, "cpu_seconds": round(time.process_time(), 3), "max_memory": None}
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    unit = 1 if sys.platform == "darwin" else 1024
    return {"status": status,
            "cpu_seconds": round(sum(one.ru_utime + one.ru_stime for one in used), 3),
            "max_memory": max(one.ru_maxrss for one in used) * unit}


def _takes_a_line(stream):
    """True where a short line can be written at once: a full pipe would hold the process."""
    import select

    try:
        return bool(select.select([], [stream.fileno()], [], 0)[1])
    except io.UnsupportedOperation:  # in memory
        return True
    except (OSError, ValueError):
        return False


def _encodable(value):
    """`value` with escapes for half characters, as of names that are not UTF-8; NaN as None."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _encodable(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encodable(one) for one in value]
    return None if isinstance(value, float) and value - value != 0.0 else value


def _plain(value):
    """A number of numpy as one of Python; anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)


@contextlib.contextmanager
def logged(log):
    """Within the block all messages are events of an `EventLog`; nothing changes for None.

    What libraries and other programs write to standard error on their own is no event.
    """
    messages.send_to(log)
    try:
        yield
    except KeyboardInterrupt:  # a log that nobody reads would hold the process
        if log is not None:
            log.end()
        raise
    finally:
        messages.send_to(None)
