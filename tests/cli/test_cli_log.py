"""--log json: every line on standard error is an event; and commands without operands."""

import errno
import io
import json
import logging
import os
import signal
import subprocess
import sys
import time
import warnings
from types import SimpleNamespace

import pytest

from agfmc.core.version import __version__
from agfmc.cli import messages, messages as event_log
from agfmc.cli.messages import CommandLog, logged, Progress, wants_events
from agfmc.cli.options import Parser
from agfmc.cli.run import run_command
from agfmc.core.errors import AgfmcWarning, DataError

COMMANDS = sorted(os.listdir(os.path.join(os.path.dirname(__file__), "..", "..", "bin")))


def events(text):
    """The events in what a command wrote, whose first is its start, and the last its end."""
    found = [json.loads(line) for line in text.splitlines()]
    assert text.isascii() and text.endswith("\n")
    assert [one["event"] for one in found].count("start") == (found[0]["event"] == "start") == 1
    assert [one["event"] for one in found].count("done") == (found[-1]["event"] == "done") == 1
    assert len({one["command"] for one in found}) == 1
    assert [one["seconds"] for one in found] == sorted(one["seconds"] for one in found)
    return found


def called(*words, execute=lambda args: None, options=()):
    """(status, events, standard output) of a command with an operand `file`."""
    parser = Parser("try", "A command.")
    parser.add("file", "", nargs="?")
    for option in options:
        parser.add(f"{option} VALUE", "")
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace") for _ in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", streams[0])
        patch.setattr(sys, "stderr", streams[1])
        status = run_command(parser.finish(), execute, list(words))
        assert sys.stderr is streams[1]
        streams[0].flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams)
    return status, events(err) if wants_events(words) else err, out


def kinds(found):
    return [one["event"] for one in found]


# -- commands without operands ------------------------------------------------------------------


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "simulate_decoders"])
def test_a_command_without_operands_prints_its_usage(command, launched):
    """simulate_decoders has none."""
    done = launched(command)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"usage: {command} ")
    assert done.err.splitlines()[-1].startswith(f"{command}: operands are missing: expected ")
    found = events(launched(command, "--log=json").err)
    assert kinds(found) == ["start", "error", "done"]
    assert found[1]["usage"].startswith(f"usage: {command} ") and found[1]["status"] == 2


@pytest.fixture
def launched():
    """Function that runs a command in this process; -> its status, output and messages."""
    from importlib import import_module

    def launched(command, *words):
        with pytest.MonkeyPatch.context() as patch:
            for name in "stdin", "stdout", "stderr":
                patch.setattr(sys, name, io.TextIOWrapper(io.BytesIO(), "utf-8"))
            status = import_module("agfmc.cli").main_of(command)(list(words))
            for stream in sys.stdout, sys.stderr:
                stream.flush()
            out, err = (stream.buffer.getvalue().decode() for stream in (sys.stdout, sys.stderr))
        return SimpleNamespace(status=status, out=out, err=err)

    return launched


# -- events -------------------------------------------------------------------------------------


def test_the_events_of_a_run():
    def execute(args):
        messages.report("a\nmessage")
        warnings.warn("care", AgfmcWarning, stacklevel=2)
        messages.write_stderr("two\nlines\n", logging.CRITICAL)
        sys.stdout.write("result\n")

    status, found, out = called("--log", "json", "f", execute=execute)
    assert (status, out) == (0, "result\n")
    assert kinds(found) == ["start", "message", "warning", "message", "done"]
    start, message, warning, lines, done = found
    assert start["arguments"] == ["--log", "json", "f"] and start["version"] == __version__
    time.strptime(start["time"], "%Y-%m-%dT%H:%M:%SZ")
    assert [one["text"] for one in (message, warning, lines)] == [
        "a\\nmessage",
        "care",
        "two\nlines",
    ]
    assert done["status"] == 0 and done["cpu_seconds"] > 0 and done["max_memory"] > 1 << 20
    _, found, _ = called("--log", "json", "f", "--quiet", execute=execute)
    assert kinds(found) == ["start", "message", "done"]  # what --quiet shows as text, too
    assert (
        called("f", "--log=json", "--log=text", execute=execute)[1]
        == "try: a\\nmessage\ntry: warning: care\ntwo\nlines\n"
    )


def test_messages_are_no_matter_of_the_program_around_a_command(caplog):
    _, text, _ = called("f", execute=lambda args: messages.report("a message"))
    assert text == "try: a message\n"
    assert caplog.records == [] and not {"agfmc", "try"} & set(logging.root.manager.loggerDict)


def failing(error):
    def execute(args):
        raise error

    return execute


@pytest.mark.parametrize(
    "error, status, told",
    [
        (
            DataError("no", file="a\n\udcff", line=3, column=7),
            1,
            {"text": "a\\n\\udcff:3:7: no", "file": "a\n\\udcff", "line": 3, "column": 7},
        ),
        (DataError("no"), 1, {"text": "no"}),
        (OSError(errno.ENOENT, "none", "b"), 1, {"text": "b: none", "file": "b"}),
        (MemoryError(), 1, {"text": "not enough memory"}),
        (
            ImportError("b.so: failed to map segment from shared object"),
            1,
            {
                "text": "not enough memory: a library cannot be loaded: b.so: failed to map "
                "segment from shared object"
            },
        ),
        (
            OSError(errno.ENOMEM, "Cannot allocate memory", "lib"),
            1,
            {"text": "not enough memory: Cannot allocate memory", "file": "lib"},
        ),
        (OSError("b.so: no such object"), 1, {"text": "b.so: no such object"}),
        (
            OSError(errno.EMFILE, "Too many open files"),
            1,
            {
                "text": "this process: Too many open files: the limit of the shell for open files "
                "(ulimit -n)"
            },
        ),
        (
            ZeroDivisionError("x"),
            1,
            {
                "text": "internal error: ZeroDivisionError: x (--debug shows "
                "where; please report it)"
            },
        ),
    ],
)
def test_an_error_and_its_place(error, status, told):
    found_status, found, _ = called("--log=json", execute=failing(error), options=["--x"])
    assert found_status == status
    found_status, found, _ = called("f", "--log=json", execute=failing(error))
    assert found_status == status and kinds(found) == ["start", "error", "done"]
    assert {
        name: value
        for name, value in found[1].items()
        if name not in ("event", "command", "seconds")
    } == {**told, "status": status}
    assert found[-1]["status"] == status
    _, found, _ = called("f", "--log=json", "--debug", execute=failing(error))
    assert "Traceback" in found[1]["traceback"] and "failing" not in found[1]["text"]


@pytest.mark.parametrize(
    "words",
    [
        ["--log", "json", "--none"],
        ["--none", "--log=json"],
        ["f", "g", "--log=json"],
        ["--log=json", "--x"],
    ],
)
def test_errors_of_arguments_are_events(words):
    status, found, _ = called(*words, options=["--x"])
    assert status == 2 and kinds(found) == ["start", "error", "done"]
    assert (found[1]["status"], found[2]["status"], found[0]["arguments"]) == (2, 2, words)


def test_which_log_is_wanted():
    assert wants_events(["--log", "json"]) and wants_events(["--log=text", "--log=json", "x"])
    assert not wants_events(["--log=json", "--log", "text"]) and not wants_events(["--log"])
    assert not wants_events(["--", "--log=json"])
    assert wants_events(["--", "svm-train", "--log=json"], dashes="--command")
    status, err, _ = called("f", "--log", "xml")
    assert status == 2 and "argument --log: invalid choice: 'xml'" in err and err.count("\n") == 1


def test_help_and_version_have_events_too():
    status, found, out = called("--version", "--log=json")
    assert (status, kinds(found)) == (0, ["start", "done"]) and "agfmc" in out


def test_progress_is_an_event_in_ten_seconds_and_at_the_end():
    now = [0.0]
    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        log = CommandLog("try", events=True)
        with logged(log):
            loud = Progress("work", clock=lambda: now[0])
            log.handler.setLevel(logging.ERROR)
            quiet = Progress("work", clock=lambda: now[0])
            log.handler.setLevel(logging.INFO)
            for i in range(43):
                now[0] = float(i)
                loud(min(i, 40), 40, f"part {i}")
                quiet(i, 42)
    found = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(one["done"], one["remaining"]) for one in found] == [
        (10, 30.0),
        (20, 20.0),
        (30, 10.0),
        (40, 0.0),
    ]
    assert found[1] == {
        "event": "progress",
        "command": "try",
        "what": "work",
        "done": 20,
        "total": 40,
        "share": 0.5,
        "remaining": 20.0,
        "words": "part 20",
        "seconds": found[1]["seconds"],
    }


def test_what_nobody_can_read_is_no_reason_to_stop():
    class Broken(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", Broken())
        log = CommandLog("try", events=True)
        log.event("message", text="x")
        log.done(0)


def test_numbers_that_json_has_not():
    import numpy as np

    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        CommandLog("try", events=True).event(
            "progress",
            done=np.int64(3),
            total=np.float32(4),
            share=np.nan,
            other={1: float("inf")},
            path=len,
        )
    found = json.loads(stream.getvalue())
    assert (found["done"], found["total"], found["share"]) == (3, 4.0, None)
    assert found["other"] == {"1": None} and isinstance(found["path"], str)


# -- in processes of their own ------------------------------------------------------------------

NOISY = r"""
import sys, time, warnings
from agfmc.cli.options import Parser
from agfmc.cli.run import run_command

def execute(args):
    warnings.warn("from numpy", UserWarning)
    if args.file == "wait":
        print("ready", flush=True)
        time.sleep(60)

parser = Parser("try", "A command.")
parser.add("file", "")
sys.exit(run_command(parser.finish(), execute))
"""


def noisy(*words):
    return subprocess.Popen(
        [sys.executable, "-c", NOISY, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_names_that_are_no_text_and_warnings_are_events():
    process = noisy("--log=json", b"caf\xe9\x1b[2J")
    _, err = process.communicate(timeout=60)
    found = events(err.decode())
    assert process.returncode == 0
    assert found[0]["arguments"] == ["--log=json", "caf\\udce9\x1b[2J"]
    assert [one["text"] for one in found[1:-1]] == ["from numpy"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_has_a_last_event(number):
    with noisy("--log=json", "wait") as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        found = events(process.communicate(timeout=60)[1].decode())
    assert process.returncode == 128 + number
    assert (found[-1]["status"], found[-1]["signal"]) == (128 + number, number)


def test_a_signal_ends_a_command_whose_log_nobody_reads():
    with noisy("--log=json", "wait") as process:
        assert process.stdout.readline() == b"ready\n"
        try:
            writer = os.open(
                f"/proc/self/fd/{process.stderr.fileno()}", os.O_WRONLY | os.O_NONBLOCK
            )
        except OSError:
            pytest.skip("no other way to the pipe's end")
        with pytest.raises(BlockingIOError):
            while True:
                os.write(writer, b"x" * 4096)
        os.close(writer)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 143
        process.stdout.close()


def test_a_line_that_would_have_to_wait_is_not_written(monkeypatch):
    read, write = os.pipe()
    try:
        with os.fdopen(write, "w", closefd=False) as stream:
            assert event_log._takes_a_line(stream)
            os.set_blocking(write, False)
            with pytest.raises(BlockingIOError):
                while True:
                    os.write(write, b"x" * 4096)
            assert not event_log._takes_a_line(stream)
    finally:
        os.close(read)
        os.close(write)
