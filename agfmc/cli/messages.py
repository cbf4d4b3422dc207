"""Standard error: messages and progress; scores as JSON.

Messages go to the `CommandLog` of the command, a logger: `--quiet` is the level of its handler, and
the formatter of that makes lines of them or, with `--log json`, events.
"""

import argparse
import io
import itertools
import json
import os
import sys
import time
from contextlib import contextmanager
from logging import ERROR, Formatter, Handler, INFO, Logger, WARNING

from ..core.errors import one_line, shortened
from ..core.text import time_words
from .parameters import with_options

_KINDS = {WARNING: "warning", ERROR: "error"}


class LineFormatter(Formatter):
    """Messages as lines that begin with the command; text with line breaks stays as it is."""

    def format(self, record):
        """The text of a message."""
        if record.msg.endswith("\n"):
            return record.msg
        if record.levelno == WARNING:
            before = "warning: "
        else:
            before = ""
        return f"{record.fields.get('usage', '')}{record.name}: {before}{record.msg}\n"


class EventFormatter(Formatter):
    """Messages as events, a JSON object in each line."""

    def __init__(self):
        super().__init__()
        self._start = time.monotonic()

    def format(self, record):
        """The line of a message, or of an event, which has no text."""
        event = {
            "event": _KINDS.get(record.levelno, "message"),
            "command": record.name,
            "seconds": round(time.monotonic() - self._start, 3),
        }
        if record.msg:
            event["text"] = record.msg.removesuffix("\n")
        event.update(record.fields)
        return json.dumps(_finite(event, _encodable), default=_plain, allow_nan=False) + "\n"


class _StandardError(Handler):
    def emit(self, record):
        _write_stderr(self.format(record))


class CommandLog(Logger):
    """Writes the messages of a command to standard error; they are lost where nobody reads them.

    It is no logger of `getLogger`: what a program around a command has set up does not change it.
    `options` are those of the command, which messages name in place of parameters.
    """

    def __init__(self, prog, events=False, options=()):
        super().__init__(prog)
        self.events = events
        self.options = options
        self.handler = _StandardError(INFO)
        self.handler.setFormatter(EventFormatter() if events else LineFormatter())
        self.addHandler(self.handler)

    def event(self, event, **fields):
        """Write one event, whatever the level."""
        if self.events:
            self.critical("", extra={"fields": {"event": event, **fields}})

    def done(self, status, number=None):
        """Write the last event; that of a signal `number` only if it need not wait."""
        if number is None:
            self.event("done", **_resources(status))
        elif self.handler.lock.acquire(timeout=0.5):
            try:
                if _takes_a_line(sys.stderr):
                    self.event("done", **_resources(status), signal=int(number))
            finally:
                self.handler.lock.release()


_log = CommandLog("agfmc")


@contextmanager
def logged(log):
    """Within the block messages go to this log. What libraries and other programs write to
    standard error on their own is no event."""
    global _log
    before, _log = _log, log
    try:
        yield
    finally:
        _log = before


def report(message):
    """One line about what was done, in words of the command, unless `--quiet`."""
    _log_line(message, INFO)


def write_message(message, level=ERROR, **fields):
    """One line on standard error, an error or warning of the library; fields: of the event."""
    _log_line(in_options(message), level, **fields)


def _log_line(text, level, **fields):
    _log.log(level, shortened(text), extra={"fields": fields})


def in_options(message):
    """The text of a message, with options of the command in place of parameters."""
    return with_options(str(message), _log.name, _log.options)


def write_stderr(text, level=INFO):
    """Write lines as they are."""
    _log.log(level, text, extra={"fields": {}})


def _write_stderr(text):
    """-> False if nobody can read standard error any more, which is no reason to stop the work."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        drop_stream(sys.stderr)
        return False
    return True


def _resources(status):
    """The exit status, and the time and memory of this process and its children."""
    import resource

    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    if sys.platform == "darwin":
        unit = 1
    else:
        unit = 1024
    return {
        "status": status,
        "cpu_seconds": round(sum(one.ru_utime + one.ru_stime for one in used), 3),
        "max_memory": max(one.ru_maxrss for one in used) * unit,
    }


def _takes_a_line(stream):
    """Return True if a short line can be written at once: a full pipe would hold the process."""
    import select

    try:
        return bool(select.select([], [stream.fileno()], [], 0)[1])
    except io.UnsupportedOperation:  # in memory
        return True
    except (OSError, ValueError):
        return False


def wants_events(words, dashes=None):
    """True if the last `--log` of a (maybe wrong) command line asks for JSON. `dashes` is the
    option that `--` stands for, if options may follow it."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--log", nargs="?")
    if dashes is not None:
        words = [word for word in words if word != "--"]
    return parser.parse_known_args(words)[0].log == "json"


def json_text(value):
    """`value` as a JSON text with a line break at its end; NaN and infinity become null."""
    return json.dumps(_finite(value), indent=1) + "\n"


def _finite(value, encoded=str):
    """`value` without NaN and infinity; encoded: makes the texts."""
    if isinstance(value, dict):
        return {_finite(key, encoded): _finite(item, encoded) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item, encoded) for item in value]
    if isinstance(value, str):
        return encoded(value)
    if isinstance(value, float) and value - value != 0.0:
        return None
    return value


def _encodable(text):
    """Text with escapes for half characters, as of names that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def _plain(value):
    if hasattr(value, "item"):
        return value.item()
    return str(value)


def write_stdout(lines):
    """Control text, in pieces, to standard output; escaped on a terminal, which would obey it."""
    escaped, lines = sys.stdout.isatty(), iter(lines)
    while text := "".join(itertools.islice(lines, 100)):  # each piece is a write to the system
        if escaped:
            text = "\n".join(map(one_line, text.split("\n")))
        sys.stdout.write(text)
    sys.stdout.flush()


def write_bytes(data):
    """Write to standard output; b"" flushes it: a reader that left ends the run there, before files
    appear."""
    sys.stdout.buffer.write(data)
    if not data:
        sys.stdout.flush()


def drop_stream(stream):
    """Point a broken stream at nothing, so that closing it says nothing."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    except (OSError, ValueError, AttributeError):
        pass


class Progress:
    """The progress of the work `what` as a line, or as events; none with `--quiet`.

    The line stays in place on a terminal, else there is a line a minute, or an event in ten
    seconds. `deadline` is in seconds of `clock`, or None.
    """

    def __init__(self, what, deadline=None, clock=time.monotonic):
        self._what, self._clock, self._deadline = what, clock, deadline
        self._start = clock()
        self._before = self._recent = (self._start, 0)  # earlier states (time, units done)
        self._log = _log
        self._active = _log.handler.level <= INFO
        self._on_terminal = sys.stderr.isatty()
        if self._on_terminal:
            self._pause = 0.1
        elif self._log.events:
            self._pause = 10.0
        else:
            self._pause = 60.0
        self._written = self._start - (self._pause if self._on_terminal else 0.0)
        self._drawn = self._ended = False

    def __call__(self, done, total, words="", earlier=0):
        """`done` of `total` are done, `earlier` of them before this run began; `words` are on what
        is being done, and the best so far."""
        now = self._clock()
        at_end = done >= total and not self._ended
        last = at_end and (self._on_terminal or self._log.events)
        if not self._active or (now - self._written < self._pause and not last):
            return
        self._written = now
        self._ended = done >= total and not self._on_terminal
        seconds = self._left(now, done - earlier, max(total - done, 0))
        if self._log.events:
            self._log.event(
                "progress",
                what=self._what,
                done=done,
                total=total,
                share=round(min(done / max(total, 1), 1.0), 4),
                remaining=seconds and round(seconds, 1),
                words=words,
            )
            return
        share = f"{100 * done // max(total, 1)}"
        if seconds is None:
            left = ""
        else:
            left = f"{time_words(seconds)} left"
        if self._on_terminal:
            self._drawn = True
            filled = 20 * done // max(total, 1)
            self._draw(
                "\r"
                + _in_columns(
                    f"{self._what} ",
                    f"[{'#' * filled}{'.' * (20 - filled)}] ",
                    f"{share:>3}%{left and f' {left}'}{words and f', {one_line(words)}'}",
                )
                + "\033[K"
            )
        else:
            if words:
                words = f" ({words})"
            else:
                words = ""
            report(f"{self._what} {share} %{words}{left and f', {left}'}")

    def _left(self, now, done, missing):
        """The remaining seconds, or None, after what this run has `done`. From the speed since an
        earlier moment, a quarter to a half of the work's time ago, and a minute at least: what a
        search tries first and last takes other times."""
        (then, past), times = self._before, []
        if done > past:
            times.append((now - then) * missing / (done - past))
        if self._deadline is not None:
            times.append(max(self._deadline - now, 0.0))
        if now - self._recent[0] >= max(60.0, (now - self._start) / 4):
            self._before = self._recent
            self._recent = (now, done)
        return min(times, default=None)

    def _draw(self, text):
        if not _write_stderr(text):  # the terminal has gone away
            self._active = self._drawn = False

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self._drawn:
            self._draw("\r\033[K")


def _in_columns(head, bar, text):
    """One line of the terminal: without the bar, and then cut, where it would be wrapped."""
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns - 1
    except (OSError, ValueError):
        width = 0
    width = width if width > 0 else 79  # a terminal may not know its size
    # characters beyond ASCII may take two columns
    ends = list(itertools.accumulate(1 if character < "\x7f" else 2 for character in head + text))
    if ends[-1] + len(bar) <= width:
        return head + bar + text
    if ends[-1] <= width:
        return head + text
    return (head + text)[: sum(end <= width - 3 for end in ends)] + "..."[:width]


def counted(number, what):
    """A count with its noun: "3 files", "1 file"."""
    return f"{number} {what}{'s' * (number != 1)}"
