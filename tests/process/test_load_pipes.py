"""classify_m as the slow and as the fast end of a pipe, and with little of everything."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

PATIENCE = 120
LONG = pytest.mark.long
EVERY = pytest.mark.parametrize("words", [
    ("classify_m", "all.mbm", "-", "out"), ("classify_m", "-j", "2", "all.mbm", "-", "out"),
    pytest.param(("classify_m", "--executor", "processes:1", "all.mbm", "-", "out"), marks=LONG),
    ("classify_m", "-M", "all.mbm", "-", "out"), ("classify_m", "-A", "all.mbm", "-", "out")],
    ids=lambda words: " ".join(words[1:-3]))


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


def one_line(process, err, status=1):
    assert process.returncode == status, (process.returncode, err)
    assert err.count(b"\n") == 1 and err.startswith(b"classify_m: "), err
    return err


# -- slow writers -------------------------------------------------------------------------------

@EVERY
def test_a_writer_that_trickles_bytes(place, words):
    data = data_for(place, words)
    wanted = place.ok("classify_m", "all.mbm", "tst.vec", "one")
    with started(place, words) as process:
        for i in range(0, 900, 1):
            process.stdin.write(data[i:i + 1])
            process.stdin.flush()
            if i % 100 == 0:
                time.sleep(0.02)
        out, err = process.communicate(data[900:], timeout=PATIENCE)
    assert (process.returncode, err) == (0, b"")
    assert out == wanted
    assert (place / "out.con").read_bytes() == (place / "one.con").read_bytes()


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
    with subprocess.Popen([sys.executable, "-c", "import sys, time\n"
                           f"sys.stdout.buffer.write(open({str(place / 'data')!r}, 'rb').read())\n"
                           "sys.stdout.flush()\n" + ("time.sleep(60)" if how == "killed" else "")],
                          stdout=subprocess.PIPE) as producer:
        with place.start(*words, stdin=producer.stdout) as process:
            producer.stdout.close()
            if how == "killed":
                time.sleep(0.4)
                assert process.poll() is None  # it waits for the rest
                producer.kill()
            out, err = process.communicate(timeout=PATIENCE)
    assert b"standard input" in one_line(process, err)
    assert place.files() == before


@pytest.mark.parametrize("data", [b"", b"\4", b"\4\0\0\0", b"\4\0\0\0\1"], ids=repr)
def test_a_writer_that_ends_at_once(place, data):
    before = place.files()
    done = place.run("classify_m", "all.mbm", "-", "out", stdin=data)
    assert done.returncode in (0, 1) and done.stderr.count(b"\n") <= 1
    if done.returncode:
        assert place.files() == before


# -- slow readers -------------------------------------------------------------------------------

@pytest.mark.parametrize("how", ["lines", pytest.param("bytes", marks=LONG), "pauses"])
@pytest.mark.parametrize("words", [
    (), pytest.param(("-j", "2"), marks=LONG), pytest.param(("--executor", "processes:1"),
                                                            marks=LONG)],
    ids=lambda words: " ".join(words) or "plain")
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


@pytest.mark.long
def test_a_reader_of_one_line_a_second(many):
    wanted = many.ok("classify_m", "all.mbm", "many.vec", "one")
    with many.start("classify_m", "all.mbm", "many.vec", "out", bufsize=0) as process:
        got = b""
        for _ in range(60):
            while True:
                got += os.read(process.stdout.fileno(), 1)
                if got.endswith(b"\n"):
                    break
            time.sleep(1)
        while block := os.read(process.stdout.fileno(), 65536):
            got += block
        assert process.stderr.read() == b""
    assert process.returncode == 0 and got == wanted


@pytest.mark.parametrize("words", [(), ("-j", "2"), ("--executor", "processes:1")],
                         ids=lambda words: " ".join(words) or "plain")
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


def test_a_reader_that_leaves(many):
    before = many.files()
    for words in ((), ("-j", "2"), ("--executor", "processes:1")):
        with many.start("classify_m", *words, "all.mbm", "many.vec", "out") as process:
            assert process.stdout.readline()
            process.stdout.close()
            err = process.stderr.read()
        assert (process.returncode, err) == (141, b"")
        assert many.files() == before


# -- little of everything -----------------------------------------------------------------------

def limited(kind, value):
    def limit():
        resource.setrlimit(kind, (value, value))
        os.environ["LC_ALL"] = "C.UTF-8"
    return limit


CHAIN = [("multi_borders", "-j", "8", "plan", "trn", "l", "lctl"), ("mbh2mbm", "ctl", "l.mbm"),
         ("classify_m", "-j", "8", "ctl", "tst.vec", "out"),
         ("multi_borders", "--time-limit", "1:00", "plan", "trn", "l", "lctl"),
         ("nfold", "--no-state", "-d", "2", "-j", "4", "plan", "trn"),
         ("multi_borders", "--executor", "processes:2", "plan", "trn", "e", "ectl"),
         ("multi_borders", "-M", "-j", "4", "--", "cp", "plan", "trn.svm", "x", "xctl")]


@pytest.mark.parametrize("words", CHAIN, ids=lambda words: " ".join(words[:3]))
@pytest.mark.parametrize("files", [
    pytest.param(64, marks=LONG), pytest.param(20, marks=LONG), 12, pytest.param(8, marks=LONG)])
def test_few_open_files(place, words, files):
    """64 are enough for everything; with fewer it succeeds, or says what is missing in a line."""
    before = place.files()
    done = place.run(*words, preexec_fn=limited(resource.RLIMIT_NOFILE, files))
    if files == 64:
        assert done.returncode == 0 and done.stderr.count(b"\n") == (words[0] == "mbh2mbm")
    if done.returncode:
        assert done.returncode in (1, 3) and b"internal error" not in done.stderr, done.stderr
        assert done.stderr.count(b"\n") <= 4, done.stderr
        assert place.files().keys() - {"l-00", "l-01", "l-02", "e-00", "e-01", "e-02", "x-00",
                                       "x-01", "x-02"} == before.keys()


@pytest.mark.parametrize("words", [
    "multi_borders -M -j 4 -- cp plan trn.svm x xctl",
    "classify_m -M -j 4 -O cp ectl trn.svm out"], ids=lambda words: words.split()[0])
@pytest.mark.parametrize("files", [7, *(pytest.param(files, marks=LONG) for files in (
    5, 6, 8, 9, 10, 11, 13, 14))])
def test_no_temporary_folder_is_left_where_few_files_can_be_opened(place, words, files):
    """To list what is in a folder takes descriptors too."""
    place.ok("multi_borders", "-M", "--", "cp", "plan", "trn.svm", "e", "ectl")
    (place / "tmp").mkdir()
    place.env["TMPDIR"] = str(place / "tmp")
    done = place.run(*words.split(), preexec_fn=limited(resource.RLIMIT_NOFILE, files))
    assert done.returncode in (1, 3), done.stderr
    assert b"oo many open files" in done.stderr or files > 8, done.stderr
    assert not [*place.folder.glob(".agfmc*"), *(place / "tmp").iterdir()]


@pytest.mark.long
def test_many_models_and_few_open_files(place):
    """A hundred models, outputs that appear together, and 64 open files."""
    place.shell("print_control -Q 2 -P 3 > /dev/null; print_control -Q 0 trn > p;"
                "multi_borders p trn q qctl")
    (place / "big").write_text("; ".join(['"" 0 / 1', '"" 0 / 2', '"" 1 / 2'] * 40) + "; { 2 5 9 }")
    done = place.run("multi_borders", "-j", "4", "big", "trn", "g", "gctl",
                     preexec_fn=limited(resource.RLIMIT_NOFILE, 64))
    assert (done.returncode, done.stderr) == (0, b"")
    done = place.run("mbh2mbm", "gctl", "g.mbm", preexec_fn=limited(resource.RLIMIT_NOFILE, 64))
    assert done.returncode == 0, done.stderr


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
sys.exit(importlib.import_module("agfmc.cli." + sys.argv[2]).main(sys.argv[3:]))
"""


@pytest.mark.parametrize("words", CHAIN, ids=lambda words: " ".join(words[:3]))
@pytest.mark.parametrize("tasks", [
    pytest.param(0, marks=LONG), 1, pytest.param(2, marks=LONG),
    pytest.param(3, marks=LONG),
    pytest.param(6, marks=LONG)])
def test_few_threads_and_processes(place, words, tasks):
    """Where threads cannot be started it goes on with those that could, or says so in one line."""
    wanted = place.ok("classify_m", "ctl", "tst.vec", "out") if words[0] == "classify_m" else None
    before = place.files()
    done = subprocess.run([sys.executable, "-c", SCARCE, str(tasks), *words], cwd=place.folder,
                          env=place.env, capture_output=True, timeout=PATIENCE)
    assert b"internal error" not in done.stderr and b"Traceback" not in done.stderr, done.stderr
    assert done.returncode in (0, 1, 3), done.stderr
    assert done.stderr.count(b"\n") <= (1 if done.returncode != 3 else 4), done.stderr
    if wanted is not None:
        assert done.returncode == 0 and done.stdout == wanted
    if done.returncode:
        assert {name: data for name, data in place.files().items() if name in before} == before
    assert not list(place.folder.glob(".agfmc*"))


@pytest.mark.parametrize("words", [*CHAIN, ("classify_m", "all.mbm", "many.vec", "out"),
                                   ("print_control", "-Q", "4", "1000"),
                                   ("agf_preprocess", "-S", "2", "many", "o2")],
                         ids=lambda words: " ".join(words[:3]))
@pytest.mark.long
@pytest.mark.parametrize("megabytes", [60, 120, 200, 300, 500])
def test_little_memory(many, words, megabytes):
    """A result, or one line; never a traceback, a hang or half a file."""
    rng = np.random.default_rng(1)
    (many / "many.cls").write_bytes(rng.choice([2, 5, 9], 6000).astype("<i4").tobytes())
    before = many.files()
    process = many.start(*words, stdin=subprocess.DEVNULL,
                         preexec_fn=limited(resource.RLIMIT_AS, megabytes << 20))
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
