"""Standard error: messages, progress, and the warnings of LIBSVM; scores as JSON.

With `--log json` messages and progress are events of an `EventLog`.
"""

import _thread
import contextlib
import io
import itertools
import os
import sys
import time
import warnings
from contextlib import contextmanager

from ..core.errors import AgfmcWarning, DataError, one_line, shortened
from ..core.version import __version__
from ..files.atomic import temporary_file

_signature = None  # the command that the user has called, whatever command does a step of it
_events = None  # where messages go in the place of standard error


def send_to(events):
    """Messages and progress go to this `EventLog` from now on, or, for None, to standard error."""
    global _events
    _events = events


@contextmanager
def signed(prog):
    """Messages within the block begin with the name of this command."""
    global _signature
    before, _signature = _signature, prog
    try:
        yield
    finally:
        _signature = before


def report(args, prog, message):
    """One line about what was done, unless `--quiet`."""
    if not args.quiet:
        write_message(prog, message)


def write_message(prog, message, kind="message", **fields):
    """One line on standard error, whatever it holds; lost where nobody can read it.

    kind: of the event, or "warning" or "error";  fields: of the event, and of the line the
    `usage` before it.
    """
    message = shortened(str(message))
    if _events is not None:
        _events.emit(kind, text=message, **fields)
        return
    before = "warning: " * (kind == "warning")
    write_stderr(f"{fields.get('usage', '')}{_signature or prog}: {before}{message}\n")


def write_stderr(text):
    """Write text to standard error; -> False if nobody can read it any more."""
    if _events is not None:
        _events.emit("message", text=text.removesuffix("\n"))
        return True
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):  # no reason to stop the work
        drop_stream(sys.stderr)
        return False
    return True


def tell_landmarks(args, prog, plan, kept):
    """A line for each group of classifiers that are trained on a default number of landmarks.

    kept: names of classifiers that are not trained.
    """
    from ..landmarks.features import draw_landmarks

    groups = {job.together: job for job in reversed(plan.binary)
              if job.options.uses_shared_landmarks and job.name not in kept
              and job.options.landmarks is None}
    counts = plan.data.counts if groups else {}
    for together, job in reversed(groups.items()):
        drawn = draw_landmarks(plan.data.x, plan.data.y, together.labels, job.options, job.seed)
        points = sum(counts[label] for label in together.labels)
        report(args, prog, f"{_spaced(job)}: {_count(len(drawn), 'landmark')} of {points} points "
                           "(default of -m)")


def tell_settled(args, prog, plan, settled):
    """A line for each group of classifiers with numbers that training has chosen.

    settled: of an `Outcome`.
    """
    groups = {}
    for job in plan.binary:
        if job.name in settled and None in (job.options.landmarks, job.options.ridge):
            groups.setdefault(job.together, []).append(job)
    for jobs in groups.values():
        chosen = [dict(itertools.pairwise(settled[job.name].split())) for job in jobs]
        ridges = sorted({float(options["-l"]) for options in chosen})
        between = " to ".join(f"{ridge:g}" for ridge in ridges[:1] + ridges[1:][-1:])
        report(args, prog, f"{_spaced(jobs[0])}: {_count(int(chosen[0]['-m']), 'landmark')}, "
                           f"lambda {between} ({_count(len(jobs), 'classifier')})")


def tell_metric(args, prog, normalisation, path):
    """A line about the metric that was learned with a normalisation; path: of its `.std` file."""
    from ..training.metric import FEWEST, MOST_ROUNDS
    from ..data.metric_file import metric_path

    learned, beside = normalisation.metric, metric_path(path)
    rounds, losses = learned.rounds, [loss for loss, _ in learned.losses]
    text = f"metric: {_count(rounds, 'round')}"
    if losses and rounds:
        most = ", the most that auto tries" if rounds == MOST_ROUNDS else ""
        text += f"{most}, with which the log loss of pairs of classes falls from " \
                f"{losses[0]:.4g} to {losses[rounds]:.4g} for held-out points"
    elif losses:
        text += ", as with more the log loss of pairs of classes for held-out points, " \
                f"{losses[0]:.4g}, does not fall by a standard error"
    elif args.learn_metric == "auto":
        text += ", as there are too few points to choose rounds"
    elif rounds and learned.points < FEWEST:
        text += f", learned from {learned.points} points, which are too few to trust it"
    if args.components is not None:
        matrix = normalisation.matrix
        before = args.svd or len(matrix) - len(normalisation.dropped)
        text += f"; {matrix.shape[1]} of {before} directions"
    report(args, prog, text + (f"; weights of features in {beside}" if beside and rounds else ""))


def _spaced(job):
    return " ".join(job.text.split())


def _count(number, what):
    return f"{number} {what}{'s' if number != 1 else ''}"


def write_stdout(lines):
    """Control text, in pieces, to standard output; escaped on a terminal, which would obey it."""
    escaped, lines = sys.stdout.isatty(), iter(lines)
    while text := "".join(itertools.islice(lines, 100)):  # each piece is a write to the system
        if escaped:
            text = "\n".join(map(one_line, text.split("\n")))
        sys.stdout.write(text)


def drop_stream(stream):
    """Point a broken stream at nothing, so that closing it says nothing."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    except (OSError, ValueError, AttributeError):
        pass


class Progress:
    """The progress of the work: a line that stays in place on a terminal, else a line a minute, or
    an event in ten seconds; none with `--quiet`.

    what: the word for the work;  prog: the command;  clock: tells seconds;  deadline: of the
    work, on that clock, or None;  first: seconds until the first line, where it comes earlier
    than the others.
    """

    def __init__(self, args, what, prog=None, clock=time.monotonic, deadline=None, first=None):
        self._what = what
        self._prog = prog or os.path.basename(sys.argv[0])
        self._clock = clock
        self._deadline = deadline
        self._start = clock()
        self._before = self._recent = (self._start, 0)  # earlier states (time, units done)
        self._active = not args.quiet
        self._on_terminal = sys.stderr.isatty()
        self._pause = 0.1 if self._on_terminal else 60.0 if _events is None else 10.0
        wait = 0.0 if self._on_terminal else self._pause if first is None else \
            min(first, self._pause)
        self._told = self._start - self._pause + wait
        self._drawn = self._ended = False

    def __call__(self, done, total, words="", earlier=0):
        """`done` of `total` are done; words: what is being done, and the best so far;
        earlier: so many were done before this run began."""
        now = self._clock()
        at_end = done >= total and not self._ended
        last = at_end and (self._on_terminal or _events is not None)
        if not self._active or (now - self._told < self._pause and not last):
            return
        self._told, self._ended = now, done >= total and not self._on_terminal
        seconds = self._left(now, done - earlier, max(total - done, 0))
        if _events is not None:
            _events.emit("progress", what=self._what, done=done, total=total,
                         share=round(float(min(done / max(total, 1), 1.0)), 4),
                         remaining=None if seconds is None else round(seconds, 1), words=words)
            return
        share = f"{100 * done // max(total, 1)}"
        left = "" if seconds is None else time_words(seconds)
        if self._on_terminal:
            self._drawn = True
            filled = 20 * done // max(total, 1)
            self._draw("\r" + _in_columns(
                f"{self._what} ", f"[{'#' * filled}{'.' * (20 - filled)}] ",
                f"{share:>3}%{left and f' {left} left'}{words and f', {one_line(words)}'}")
                + "\033[K")
        else:
            words = f" ({words})" if words else ""
            write_message(self._prog, f"{self._what} {share} %{words}{left and f', {left} left'}")

    def _left(self, now, done, missing):
        """The remaining seconds, None where nothing tells them; done: by this run.

        From the speed since an earlier moment, a quarter to a half of the work's time ago, and a
        minute at least: what a search tries first and last takes times of its own.
        """
        (then, past), times = self._before, []
        if done > past:
            times.append((now - then) * missing / (done - past))
        if self._deadline is not None:
            times.append(max(self._deadline - now, 0.0))
        if now - self._recent[0] >= max(60.0, (now - self._start) / 4):
            self._before, self._recent = self._recent, (now, done)
        return min(times, default=None)

    def _draw(self, text):
        if not write_stderr(text):  # the terminal has gone away
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
    return (head + text)[:sum(end <= width - 3 for end in ends)] + "..."[:width]


def time_words(seconds):
    """Seconds as H:MM:SS."""
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}"


def json_text(value):
    """`value` as a JSON text with a line break at its end; NaN and infinity become null."""
    import json

    return json.dumps(_finite(value), indent=1) + "\n"


def _finite(value):
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and value - value != 0.0 else value


@contextmanager
def library_words():
    """Turn what a C library writes to standard error within the block into warnings after it.

    Our own words go on to where they went before.  Does nothing where
    `sys.stderr` is not the process's standard error.
    """
    try:
        ours = sys.stderr.fileno() == 2
    except (OSError, ValueError, AttributeError):
        ours = False
    if not ours:
        yield
        return
    try:
        caught = temporary_file()
    except DataError:  # no place for it: the words go where they go
        yield
        return
    before = sys.stderr
    before.flush()
    saved = os.dup(2)
    with caught, os.fdopen(
            os.dup(2), "w", encoding=before.encoding, errors=before.errors,
            buffering=1) as sys.stderr:
        os.dup2(caught.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            sys.stderr = before
            caught.seek(0)
            lines = caught.read().decode(errors="replace").split("\n")
            _pass_on([line for line in lines if line.strip()])


def _pass_on(words):
    """One warning for all the times that LIBSVM gave up, and each other line as it is."""
    limit = [word for word in words if "max number of iterations" in word]
    if limit:
        warnings.warn(f"LIBSVM stopped at its limit of iterations {len(limit)} "
                      f"time{'s' if len(limit) > 1 else ''} (folds included): normalise the data, "
                      "or try a smaller -c or a larger -e", AgfmcWarning, stacklevel=2)
    for word in words:
        if word not in limit:
            warnings.warn(f"LIBSVM says: {word.strip()}", AgfmcWarning, stacklevel=2)


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
            drop_stream(sys.stderr)

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
    send_to(log)
    try:
        yield
    except KeyboardInterrupt:  # a log that nobody reads would hold the process
        if log is not None:
            log.end()
        raise
    finally:
        send_to(None)
