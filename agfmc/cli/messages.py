"""Words on standard error: reports, and progress on a terminal."""

from __future__ import annotations

import os
import sys
import time

__all__ = ["Progress", "discard", "report", "say"]


def report(args, prog, message):
    """One line about what was done, unless `--quiet`."""
    if not args.quiet:
        say(prog, message)


def say(prog, message):
    """One line on standard error, whatever it holds; lost where nobody can read it."""
    text = f"{prog}: {message}".encode("utf-8", "backslashreplace").decode()
    try:
        print(text.replace("\n", "\\n"), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        discard(sys.stderr)


def discard(stream):
    """Point a broken stream at nothing, so that closing it says nothing."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    except (OSError, ValueError, AttributeError):
        pass


class Progress:
    """A bar with the remaining time, only on a terminal and never with `--quiet`."""

    def __init__(self, args, what):
        self._what = what
        self._shown = 0.0
        self._start = time.monotonic()
        self._active = not args.quiet and sys.stderr.isatty()

    def __call__(self, done, total):
        now = time.monotonic()
        if not self._active or (done < total and now - self._shown < 0.1):
            return
        self._shown = now
        filled = 30 * done // max(total, 1)
        left = (now - self._start) * (total - done) / max(done, 1)
        sys.stderr.write(f"\r{self._what} [{'#' * filled}{'.' * (30 - filled)}] "
                         f"{100 * done // max(total, 1):3d}% {_span(left)} left ")
        sys.stderr.flush()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self._active and self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def _span(seconds):
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
