"""Pipes that close or wait, disks that fill, terminals, and little of everything."""

import json
import os
import pty
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.cli.messages import write_stdout

PRINTING = {
    "agf2ascii": ["trn"],
    "classify_m": ["all.mbm", "tst.vec", "out"],
    "eval_uc": ["tst.cls", "tst"],
    "mbm_info": ["all.mbm"],
    "print_control": ["5"],
    "multi_borders": ["--retrain", "plan", "trn", "m", "-"],
    "mbh2mbm": ["--help"],
    "svm2agf": ["--version"],
}
WRITING = {
    "agf_preprocess": ["trn", "trn"],
    "classify_m": ["all.mbm", "many.vec", "out"],
    "float_to_class": ["many.con", "tst.cls"],
    "lvq2agf": ["trn.lvq", "trn"],
    "mbh2mbm": ["ctl", "all.mbm"],
    "multi_borders": ["--retrain", "plan", "trn", "m", "ctl"],
    "svm2agf": ["trn.svm", "trn"],
}
full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")


def one_line(done, command):
    """The single line of an error."""
    text = done.stderr.decode()
    assert text.startswith(f"{command}: ") and text.count("\n") == 1 and text.endswith("\n"), text
    return text


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "command, args",
    [
        ("print_control", ["-Q", "8", "14"]),
        ("agf2ascii", ["-C", "many"]),
        ("classify_m", ["all.mbm", "many.vec", "out"]),
        ("classify_m", ["-j2", "ctl", "many.vec", "out"]),
    ],
    ids=["print_control", "agf2ascii", "classify_m", "threads"],
)
def test_reader_that_leaves(many, command, args):
    before = many.files()
    with many.start(command, *args) as process:
        assert process.stdout.readline()
        process.stdout.close()
        error = process.stderr.read()
        assert process.wait() == 141
    assert error == b""
    assert many.files() == before


@pytest.mark.few(2)
@pytest.mark.parametrize("command", PRINTING)
def test_reader_that_was_never_there(place, command):
    before = place.files()
    read, write = os.pipe()
    os.close(read)
    done = place.run(command, *PRINTING[command], stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")
    assert place.files() == before


@pytest.mark.few(2)
@full
@pytest.mark.parametrize(
    "command, unbuffered",
    [
        pytest.param(
            command, unbuffered, marks=() if number % 2 == unbuffered else pytest.mark.long
        )
        for number, command in enumerate(PRINTING)
        for unbuffered in (0, 1)
    ],
)
def test_full_disk_behind_standard_output(place, command, unbuffered):
    if unbuffered:
        place.env["PYTHONUNBUFFERED"] = "1"
    before = place.files()
    with open("/dev/full", "wb") as stream:
        done = place.run(command, *PRINTING[command], stdout=stream)
    assert done.returncode == 1
    assert one_line(done, command) == f"{command}: standard output: No space left on device\n"
    assert place.files() == before


@pytest.mark.few(2)
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", [name for name, words in PRINTING.items() if "m" not in words])
def test_a_disk_that_takes_a_part(place, command, unbuffered):
    place.env["PYTHONUNBUFFERED"] = unbuffered
    before = place.files()
    with open(place.folder.parent / "part", "wb") as stream:
        done = place.run(
            command,
            *PRINTING[command],
            stdout=stream,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)),
        )
    assert done.returncode == 1
    assert (
        one_line(done, command) == f"{command}: standard output: File too large: the limit of "
        "the shell for the size of a file (ulimit -f)\n"
    )
    after = {name: data for name, data in place.files().items() if data or name in before}
    assert after == before


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_pipe_that_does_not_wait(place, unbuffered):
    """Another program may have made it so; what it does not take is not passed over."""
    place.env["PYTHONUNBUFFERED"] = unbuffered
    read, write = os.pipe()
    os.set_blocking(write, False)
    done = place.run("print_control", "200", stdout=write)
    os.close(write)
    os.close(read)
    assert done.returncode == 1 and "standard output: " in one_line(done, "print_control")


def test_a_long_text_is_written_in_few_pieces(monkeypatch):
    """Without a buffer each piece is a write to the system, half a million for a large code."""
    pieces = []
    monkeypatch.setattr(
        sys,
        "stdout",
        SimpleNamespace(isatty=lambda: False, write=pieces.append, flush=lambda: None),
    )
    write_stdout(f"{number}\n" for number in range(1001))
    assert "".join(pieces) == "".join(f"{number}\n" for number in range(1001))
    assert len(pieces) < 20


def test_a_folder_that_is_gone(place):
    (place / "here").mkdir()
    place.folder = place / "here"
    done = place.run(
        "classify_m", "all.mbm", "x.vec", "out", preexec_fn=lambda: os.rmdir(os.getcwd())
    )
    assert done.returncode == 1
    assert "standard output" not in one_line(done, "classify_m")


@pytest.mark.few(2)
@pytest.mark.parametrize("command", PRINTING)
def test_closed_standard_output(place, command):
    before = place.files()
    done = place.run(command, *PRINTING[command], stdout=None, preexec_fn=lambda: os.close(1))
    assert done.returncode == 1
    assert "standard output" in one_line(done, command)
    assert place.files() == before


@pytest.mark.few(1)
@pytest.mark.parametrize("streams", [(0,), (1,), (2,), (0, 1, 2)], ids=str)
def test_a_command_that_prints_nothing_needs_no_streams(place, streams):
    wanted = (place / "all.mbm").read_bytes()
    (place / "all.mbm").unlink()
    done = place.run(
        "mbh2mbm",
        "ctl",
        "all.mbm",
        stdout=None,
        stderr=None,
        preexec_fn=lambda: [os.close(number) for number in streams],
    )
    assert done.returncode == 0
    assert (place / "all.mbm").read_bytes() == wanted


FIRST_FILE = """
import os
from agfmc.cli.run import run_command
class Parser:
    prog, dashes, _option_string_actions = "command", None, {}
    def parse_args(self, argv):
        return None
def execute(args):
    first = os.open("number", os.O_WRONLY)
    os.write(first, b"%d" % first)
run_command(Parser(), execute)
"""


@pytest.mark.parametrize("streams", [(0,), (1,), (2,), (0, 2), (0, 1, 2)], ids=str)
def test_no_file_gets_the_number_of_a_stream(place, streams):
    """What a library in C writes to the number of standard error would stand in it."""
    (place / "number").touch()
    place.env["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
    subprocess.run(
        [sys.executable, "-c", FIRST_FILE],
        cwd=place.folder,
        env=place.env,
        preexec_fn=lambda: [os.close(number) for number in streams],
    )
    assert int((place / "number").read_text()) > 2


@pytest.mark.few(1)
@full
@pytest.mark.parametrize("words, status", [(["ctl", "all.mbm"], 0), (["ctl"], 2), (["x", "y"], 1)])
def test_messages_that_nobody_can_read(place, words, status):
    with open("/dev/full", "wb") as stream:
        assert place.run("mbh2mbm", *words, stderr=stream).returncode == status


@pytest.mark.few(1)
@pytest.mark.parametrize("command", WRITING)
def test_full_disk_leaves_every_file_as_it_was(many, command):
    (many / "many.con").write_bytes(b"\0\0\0\0\0\0\x80\x3f" * 3000)
    before = many.files()

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

    done = many.run(command, *WRITING[command], preexec_fn=limit)
    assert done.returncode == 1
    assert "cannot write: File too large" in one_line(done, command)
    assert many.files() == before


@full
def test_full_device_as_output(place):
    before = place.files()
    done = place.run("mbh2mbm", "ctl", "/dev/full")
    assert done.returncode == 1
    assert "/dev/full: cannot write: No space left on device" in one_line(done, "mbh2mbm")
    assert place.files() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("command", WRITING)
def test_read_only_folder(many, command):
    (many / "many.con").write_bytes(b"\0\0\0\0\0\0\x80\x3f" * 3000)
    before = many.files()
    many.folder.chmod(0o555)
    done = many.run(command, *WRITING[command])
    many.folder.chmod(0o755)
    assert done.returncode == 1
    assert "cannot write: Permission denied" in one_line(done, command)
    assert many.files() == before


def on_terminal(place, command, *args):
    """What appears on a terminal that is standard error, and standard output."""
    ours, theirs = pty.openpty()
    with place.start(command, *args, stdin=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        try:
            while block := os.read(ours, 65536):
                shown += block
        except OSError:  # Linux ends a terminal so
            pass
        os.close(ours)
        out = process.stdout.read()
    assert process.returncode == 0
    return shown, out


def test_progress_does_not_reach_results(place):
    shown, out = on_terminal(place, "multi_borders", "--retrain", "plan", "trn", "m", "-")
    assert out == (place / "ctl").read_bytes() and b"training" in shown


@pytest.mark.parametrize(
    "command, args",
    [
        ("print_control", ["-Q", "4", "2"]),
        ("mbh2mbm", ["ctl", "x.mbm"]),
        ("svm2agf", ["-U", "trn.svm", "x"]),
        ("agf_preprocess", ["trn", "x"]),
        ("float_to_class", ["many.con", "x"]),
        ("classify_m", ["--reject", "1", "ctl", "tst.vec", "x"]),
    ],
)
def test_quiet(many, command, args):
    (many / "many.con").write_bytes(b"\0\0\0\0\0\0\x80\x3f" * 10)
    loud, quiet = (many.call(command, *more, *args, status=0) for more in ((), ("--quiet",)))
    assert loud.line() and quiet.err == "" and quiet.out == loud.out


def test_quiet_does_not_hide_errors(place):
    place.call("mbh2mbm", "--quiet", "nothing", "x.mbm", status=1).refused("nothing")


def test_json_for_other_programs(place):
    place.ok("classify_m", "all.mbm", "tst.vec", "out")
    scores = json.loads(
        place.ok("eval_uc", "--json", "-", "out", stdin=(place / "tst.cls").read_bytes())
    )
    assert scores["points"] == 60 and scores["brier_all"] is None


PATIENCE = 120
LONG = pytest.mark.long
EVERY = pytest.mark.parametrize(
    "words",
    [
        ("classify_m", "all.mbm", "-", "out"),
        ("classify_m", "-j", "2", "all.mbm", "-", "out"),
        pytest.param(("classify_m", "-j", "processes:1", "all.mbm", "-", "out"), marks=LONG),
        ("classify_m", "-M", "all.mbm", "-", "out"),
        ("classify_m", "-A", "all.mbm", "-", "out"),
    ],
    ids=lambda words: " ".join(words[1:-3]),
)


def data_for(place, words, base="tst"):
    """The points that a command with these words reads."""
    end = "svm" if "-M" in words else "lvq" if "-A" in words else "vec"
    return (place / f"{base}.{end}").read_bytes()


def started(place, words, **more):
    return place.start(*words, stdin=subprocess.PIPE, **more)


def most_memory(process, what="VmHWM"):
    """Bytes that a process had in memory at most."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(what))


def one_line_load(process, err, status=1):
    assert process.returncode == status, (process.returncode, err)
    assert err.count(b"\n") == 1 and err.startswith(b"classify_m: "), err
    return err


# -- slow writers -------------------------------------------------------------------------------


@pytest.mark.few(1)
@EVERY
def test_a_writer_that_trickles_bytes(place, words):
    data = data_for(place, words)
    wanted = place.ok("classify_m", "all.mbm", "tst.vec", "one")
    with started(place, words) as process:
        for i in range(0, 900, 1):
            process.stdin.write(data[i : i + 1])
            process.stdin.flush()
            if i % 100 == 0:
                time.sleep(0.02)
        out, err = process.communicate(data[900:], timeout=PATIENCE)
    assert (process.returncode, err) == (0, b"")
    assert out == wanted
    assert (place / "out.con").read_bytes() == (place / "one.con").read_bytes()


@pytest.mark.few(1)
@EVERY
@pytest.mark.parametrize("how", ["stops", "killed"])
def test_a_writer_that_ends_in_the_middle_of_a_row(place, words, how):
    """Binary rows that are cut are an error; of text a line without its end is a line, if whole."""
    data = data_for(place, words)
    before = place.files()
    cut = len(data) - 5
    if "-M" in words:
        cut = data.rindex(b":") + 1  # an index without its value
    elif "-A" in words:
        cut = data.rindex(b"\n", 0, -1) + 4  # a few of the numbers
    (place / "data").write_bytes(data[:cut])
    before["data"] = data[:cut]
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time\n"
            f"sys.stdout.buffer.write(open({str(place / 'data')!r}, 'rb').read())\n"
            "sys.stdout.flush()\n" + ("time.sleep(60)" if how == "killed" else ""),
        ],
        stdout=subprocess.PIPE,
    ) as producer:
        with place.start(*words, stdin=producer.stdout) as process:
            producer.stdout.close()
            if how == "killed":
                time.sleep(0.4)
                assert process.poll() is None  # it waits for the rest
                producer.kill()
            out, err = process.communicate(timeout=PATIENCE)
    assert b"standard input" in one_line_load(process, err)
    assert place.files() == before


@pytest.mark.few(1)
@pytest.mark.parametrize("data", [b"", b"\4", b"\4\0\0\0", b"\4\0\0\0\1"], ids=repr)
def test_a_writer_that_ends_at_once(place, data):
    before = place.files()
    done = place.run("classify_m", "all.mbm", "-", "out", stdin=data)
    assert done.returncode in (0, 1) and done.stderr.count(b"\n") <= 1
    if done.returncode:
        assert place.files() == before


# -- slow readers -------------------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize("how", ["lines", pytest.param("bytes", marks=LONG), "pauses"])
@pytest.mark.parametrize(
    "words",
    [
        (),
        pytest.param(("-j", "2"), marks=LONG),
        pytest.param(("-j", "processes:1"), marks=LONG),
    ],
    ids=lambda words: " ".join(words) or "plain",
)
def test_a_slow_reader_gets_everything(many, how, words):
    wanted = many.ok("classify_m", "all.mbm", "many.vec", "one")
    with many.start("classify_m", *words, "all.mbm", "many.vec", "out", bufsize=0) as process:
        got = []
        if how == "bytes":
            got += [os.read(process.stdout.fileno(), 1) for _ in range(20_000)]
        elif how == "pauses":
            time.sleep(0.7)
            assert process.poll() is None and not (many / "out.cls").exists()
        else:
            reader = os.fdopen(os.dup(process.stdout.fileno()), "rb", buffering=0)
            for _ in range(25):
                line = b""
                while not line.endswith(b"\n"):
                    line += reader.read(1)
                got.append(line)
                time.sleep(0.02)
            reader.close()
        while block := os.read(process.stdout.fileno(), 65536):
            got.append(block)
        err = process.stderr.read()
    assert (process.returncode, err) == (0, b"")
    assert b"".join(got) == wanted
    assert (many / "out.cls").read_bytes() == (many / "one.cls").read_bytes()


@pytest.mark.parametrize(
    "words",
    [(), ("-j", "2"), ("-j", "processes:1")],
    ids=lambda words: " ".join(words) or "plain",
)
@pytest.mark.parametrize("megabytes", [pytest.param(16, marks=LONG), pytest.param(400, marks=LONG)])
def test_memory_is_bounded(place, words, megabytes):
    """Points from a pipe without end, and a reader that does not read: memory stays as it was."""
    whole = (place / "tst.vec").read_bytes()
    block = whole[4:] * 8
    sent = [0]
    with started(place, ("classify_m", *words, "all.mbm", "-", "out"), bufsize=0) as process:

        def feed():
            try:
                process.stdin.write(whole[:4])
                while sent[0] < megabytes << 20:
                    process.stdin.write(block)
                    sent[0] += len(block)
            except BrokenPipeError:
                pass
            process.stdin.close()

        def still():
            """Wait until nothing is taken in any more."""
            end = time.monotonic() + PATIENCE
            before = -1
            while before != sent[0] or sent[0] == 0:
                before = sent[0]
                time.sleep(1)
                assert time.monotonic() < end and process.poll() is None

        feeder = threading.Thread(target=feed)
        feeder.start()
        still()
        stalled, taken = most_memory(process), sent[0]
        assert taken < 8 << 20, "much is read ahead of what is written"
        lines, most = 0, stalled
        while data := os.read(process.stdout.fileno(), 1 << 16):
            lines += data.count(b"\n")
            with suppress(OSError, StopIteration):  # it has ended
                most = most_memory(process)
        feeder.join()
        err = process.stderr.read()
    assert (process.returncode, err) == (0, b"")
    assert lines == sent[0] // 16
    assert most - stalled < 24 << 20, (stalled, most)


# -- little of everything -----------------------------------------------------------------------


def limited(kind, value):
    def limit():
        resource.setrlimit(kind, (value, value))
        os.environ["LC_ALL"] = "C.UTF-8"

    return limit


CHAIN = [
    ("multi_borders", "-j", "8", "plan", "trn", "l", "lctl"),
    ("mbh2mbm", "ctl", "l.mbm"),
    ("classify_m", "-j", "8", "ctl", "tst.vec", "out"),
    ("multi_borders", "--time-limit", "1:00", "plan", "trn", "l", "lctl"),
    ("nfold", "--no-state", "-d", "2", "-j", "4", "plan", "trn"),
    ("multi_borders", "-j", "processes:2", "plan", "trn", "e", "ectl"),
    ("multi_borders", "-M", "-j", "4", "--", "cp", "plan", "trn.svm", "x", "xctl"),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("words", CHAIN, ids=lambda words: " ".join(words[:3]))
@pytest.mark.parametrize(
    "files",
    [pytest.param(64, marks=LONG), pytest.param(20, marks=LONG), 12, pytest.param(8, marks=LONG)],
)
def test_few_open_files(place, words, files):
    """64 are enough for everything; with fewer it succeeds, or says what is missing in a line."""
    before = place.files()
    done = place.run(*words, preexec_fn=limited(resource.RLIMIT_NOFILE, files))
    if files == 64:
        assert done.returncode == 0 and done.stderr.count(b"\n") == (words[0] == "mbh2mbm")
    if done.returncode:
        assert done.returncode in (1, 3) and b"internal error" not in done.stderr, done.stderr
        assert done.stderr.count(b"\n") <= 4, done.stderr
        assert (
            place.files().keys()
            - {"l-00", "l-01", "l-02", "e-00", "e-01", "e-02", "x-00", "x-01", "x-02"}
            == before.keys()
        )


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words",
    [
        "multi_borders -M -j 4 -- cp plan trn.svm x xctl",
        "classify_m -M -j 4 -O cp ectl trn.svm out",
    ],
    ids=lambda words: words.split()[0],
)
@pytest.mark.parametrize(
    "files", [7, *(pytest.param(files, marks=LONG) for files in (5, 6, 8, 9, 10, 11, 13, 14))]
)
def test_no_temporary_folder_is_left_where_few_files_can_be_opened(place, words, files):
    """To list what is in a folder takes descriptors too."""
    place.ok("multi_borders", "-M", "--", "cp", "plan", "trn.svm", "e", "ectl")
    (place / "tmp").mkdir()
    place.env["TMPDIR"] = str(place / "tmp")
    done = place.run(*words.split(), preexec_fn=limited(resource.RLIMIT_NOFILE, files))
    assert done.returncode in (1, 3), done.stderr
    assert b"oo many open files" in done.stderr or files > 8, done.stderr
    assert not [*place.folder.glob(".agfmc*"), *(place / "tmp").iterdir()]


# What a process meets that may not have more threads or processes: RLIMIT_NPROC does not bind
# root, who runs tests in containers.
SCARCE = """
import errno, importlib, os, subprocess, sys, threading
left = int(sys.argv[1])
start, make = threading.Thread.start, subprocess.Popen.__init__

def begin(thread):
    global left
    if left <= 0:
        raise RuntimeError("can't start new thread")
    left -= 1
    start(thread)

def fork(process, *args, **more):
    global left
    if left <= 0:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    left -= 1
    make(process, *args, **more)

threading.Thread.start, subprocess.Popen.__init__ = begin, fork
sys.exit(importlib.import_module("agfmc.cli").main_of(sys.argv[2])(sys.argv[3:]))
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("words", CHAIN, ids=lambda words: " ".join(words[:3]))
@pytest.mark.parametrize(
    "tasks",
    [
        pytest.param(0, marks=LONG),
        1,
        pytest.param(2, marks=LONG),
        pytest.param(3, marks=LONG),
        pytest.param(6, marks=LONG),
    ],
)
def test_few_threads_and_processes(place, words, tasks):
    """Where threads cannot be started it goes on with those that could, or says so in one line."""
    wanted = place.ok("classify_m", "ctl", "tst.vec", "out") if words[0] == "classify_m" else None
    before = place.files()
    done = subprocess.run(
        [sys.executable, "-c", SCARCE, str(tasks), *words],
        cwd=place.folder,
        env=place.env,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert b"internal error" not in done.stderr and b"Traceback" not in done.stderr, done.stderr
    assert done.returncode in (0, 1, 3), done.stderr
    assert done.stderr.count(b"\n") <= (1 if done.returncode != 3 else 4), done.stderr
    if wanted is not None:
        assert done.returncode == 0 and done.stdout == wanted
    if done.returncode:
        assert {name: data for name, data in place.files().items() if name in before} == before
    assert not list(place.folder.glob(".agfmc*"))


@pytest.mark.parametrize(
    "words",
    [
        *CHAIN,
        ("classify_m", "all.mbm", "many.vec", "out"),
        ("print_control", "-Q", "4", "1000"),
        ("agf_preprocess", "-S", "2", "many", "o2"),
    ],
    ids=lambda words: " ".join(words[:3]),
)
@pytest.mark.long
@pytest.mark.parametrize("megabytes", [60, 120, 200, 300, 500])
def test_little_memory(many, words, megabytes):
    """A result, or one line; never a traceback, a hang or half a file."""
    rng = np.random.default_rng(1)
    (many / "many.cls").write_bytes(rng.choice([2, 5, 9], 6000).astype("<i4").tobytes())
    before = many.files()
    process = many.start(
        *words, stdin=subprocess.DEVNULL, preexec_fn=limited(resource.RLIMIT_AS, megabytes << 20)
    )
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        raise
    if megabytes >= 200:  # with less not even NumPy can be loaded
        assert process.returncode in (0, 1, 3), err
        assert b"internal error" not in err and b"Traceback" not in err, err
    if process.returncode:
        left = {name: data for name, data in many.files().items() if name in before}
        assert left == before
        assert not list(many.folder.glob(".agfmc*"))


def test_binary_data_through_text_and_back(place):
    place.shell("agf2ascii -C trn | lvq2agf -C > d.vec")
    for write, read in (
        ("agf2ascii", "lvq2agf a"),
        ("agf2ascii -H", "lvq2agf -H b"),
        ("agf2ascii -M", "svm2agf c"),
    ):
        place.ok(*read.split(), stdin=place.ok(*write.split(), "trn"))
    text = place.ok("agf2ascii", "trn")
    (place / "e.vec").write_bytes(place.ok("lvq2agf", "-o", stdin=text))
    place.ok("agf2ascii", "trn", "x.lvq")
    files = place.files()
    assert text == files["x.lvq"] == files["trn.lvq"]
    assert {files[f"{base}.vec"] for base in "abcde"} == {files["trn.vec"]}
    assert {files[f"{base}.cls"] for base in "abc"} == {files["trn.cls"]}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "command, args, file",
    [
        ("agf_preprocess", ["-A", "-1", "-n", "-a", "o.std", "trn.lvq"], "o.std"),
        ("agf_preprocess", ["-M", "-1", "-f", "0.5", "trn.svm", "o"], "o"),
        ("float_to_class", ["many.con", "o"], "o"),
        ("lvq2agf", ["-o", "trn.lvq", "-"], None),
        ("agf_preprocess", ["-P", "trn"], None),
    ],
)
def test_without_a_reader_no_file_appears(place, command, args, file):
    (place / "many.con").write_bytes(b"\0\0\0\0\0\0\x80\x3f" * 10)
    before = place.files()
    read, write = os.pipe()
    os.close(read)
    done = place.run(command, *args, stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as stream:
            done = place.run(command, *args, stdout=stream)
        assert done.returncode == 1
        assert done.stderr.decode() == f"{command}: standard output: No space left on device\n"
    assert place.files() == before
    place.run(command, *args, stdout=subprocess.DEVNULL)
    assert file is None or file in place.files()
