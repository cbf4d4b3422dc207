"""Pipes that close, disks that fill, terminals that are there or not."""

import json
import os
import pty
import resource
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from agfmc.cli.messages import show

PRINTING = {
    "agf2ascii": ["trn"], "classify_m": ["all.mbm", "tst.vec", "out"],
    "eval_uc": ["tst.cls", "tst"],
    "mbm_info": ["all.mbm"], "print_control": ["5"],
    "multi_borders": ["--retrain", "plan", "trn", "m", "-"], "mbh2mbm": ["--help"],
    "svm2agf": ["--version"]}
WRITING = {
    "agf_preprocess": ["trn", "trn"], "classify_m": ["all.mbm", "many.vec", "out"],
    "float_to_class": ["many.con", "tst.cls"], "lvq2agf": ["trn.lvq", "trn"],
    "mbh2mbm": ["ctl", "all.mbm"], "multi_borders": ["--retrain", "plan", "trn", "m", "ctl"],
    "svm2agf": ["trn.svm", "trn"]}
full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")


def one_line(done, command):
    """The single line of an error."""
    text = done.stderr.decode()
    assert text.startswith(f"{command}: ") and text.count("\n") == 1 and text.endswith("\n"), text
    return text


@pytest.mark.parametrize("command, args", [
    ("print_control", ["-Q", "8", "14"]), ("agf2ascii", ["-C", "many"]),
    ("classify_m", ["all.mbm", "many.vec", "out"]),
    ("classify_m", ["-j2", "ctl", "many.vec", "out"])],
    ids=["print_control", "agf2ascii", "classify_m", "threads"])
def test_reader_that_leaves(many, command, args):
    before = many.files()
    with many.start(command, *args) as process:
        assert process.stdout.readline()
        process.stdout.close()
        error = process.stderr.read()
        assert process.wait() == 141
    assert error == b""
    assert many.files() == before


@pytest.mark.parametrize("command", PRINTING)
def test_reader_that_was_never_there(place, command):
    before = place.files()
    read, write = os.pipe()
    os.close(read)
    done = place.run(command, *PRINTING[command], stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")
    assert place.files() == before


@pytest.mark.parametrize("unbuffered", [False, True])
@full
@pytest.mark.parametrize("command", PRINTING)
def test_full_disk_behind_standard_output(place, command, unbuffered):
    if unbuffered:
        place.env["PYTHONUNBUFFERED"] = "1"
    before = place.files()
    with open("/dev/full", "wb") as stream:
        done = place.run(command, *PRINTING[command], stdout=stream)
    assert done.returncode == 1
    assert one_line(done, command) == f"{command}: standard output: No space left on device\n"
    assert place.files() == before


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", [name for name, words in PRINTING.items() if "m" not in words])
def test_a_disk_that_takes_a_part(place, command, unbuffered):
    place.env["PYTHONUNBUFFERED"] = unbuffered
    before = place.files()
    with open(place.folder.parent / "part", "wb") as stream:
        done = place.run(command, *PRINTING[command], stdout=stream, preexec_fn=lambda: (
            resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))))
    assert done.returncode == 1
    assert one_line(done, command) == f"{command}: standard output: File too large\n"
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
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(isatty=lambda: False, write=pieces.append))
    show(f"{number}\n" for number in range(1001))
    assert "".join(pieces) == "".join(f"{number}\n" for number in range(1001))
    assert len(pieces) < 20


def test_a_folder_that_is_gone(place):
    (place / "here").mkdir()
    place.folder = place / "here"
    done = place.run("classify_m", "all.mbm", "x.vec", "out",
                     preexec_fn=lambda: os.rmdir(os.getcwd()))
    assert done.returncode == 1
    assert "standard output" not in one_line(done, "classify_m")


@pytest.mark.parametrize("command", PRINTING)
def test_closed_standard_output(place, command):
    before = place.files()
    done = place.run(command, *PRINTING[command], stdout=None, preexec_fn=lambda: os.close(1))
    assert done.returncode == 1
    assert "standard output" in one_line(done, command)
    assert place.files() == before


@pytest.mark.parametrize("streams", [(0,), (1,), (2,), (0, 1, 2)], ids=str)
def test_a_command_that_prints_nothing_needs_no_streams(place, streams):
    wanted = (place / "all.mbm").read_bytes()
    (place / "all.mbm").unlink()
    done = place.run("mbh2mbm", "ctl", "all.mbm", stdout=None, stderr=None,
                     preexec_fn=lambda: [os.close(number) for number in streams])
    assert done.returncode == 0
    assert (place / "all.mbm").read_bytes() == wanted


FIRST_FILE = """
import os
from agfmc.cli.run import run_command
class Parser:
    prog = "command"
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
    subprocess.run([sys.executable, "-c", FIRST_FILE], cwd=place.folder, env=place.env,
                   preexec_fn=lambda: [os.close(number) for number in streams])
    assert int((place / "number").read_text()) > 2


@full
@pytest.mark.parametrize("words, status", [(["ctl", "all.mbm"], 0), (["ctl"], 2), (["x", "y"], 1)])
def test_messages_that_nobody_can_read(place, words, status):
    with open("/dev/full", "wb") as stream:
        assert place.run("mbh2mbm", *words, stderr=stream).returncode == status


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


def test_progress_is_for_terminals(place):
    shown, out = on_terminal(place, "multi_borders", "plan", "trn", "t", "tctl")
    assert out == b""
    assert shown.startswith(b"\rtraining [") and b"100%" in shown
    assert shown.endswith(b"\r\x1b[K") and b"\n" not in shown
    quiet = "--quiet", "--retrain", "plan", "trn", "t", "tctl"
    assert on_terminal(place, "multi_borders", *quiet) == (b"", b"")
    done = place.run("multi_borders", "--retrain", "plan", "trn", "t", "tctl")
    assert (done.stdout, done.stderr) == (b"", b"")


def test_progress_does_not_reach_results(place):
    shown, out = on_terminal(place, "multi_borders", "--retrain", "plan", "trn", "m", "-")
    assert out == (place / "ctl").read_bytes() and b"training" in shown


@pytest.mark.parametrize("command, args", [
    ("print_control", ["-Q", "4", "2"]), ("mbh2mbm", ["ctl", "x.mbm"]),
    ("svm2agf", ["-U", "trn.svm", "x"]), ("agf_preprocess", ["trn", "x"]),
    ("float_to_class", ["many.con", "x"]),
    ("classify_m", ["--reject", "1", "ctl", "tst.vec", "x"])])
def test_quiet(many, command, args):
    (many / "many.con").write_bytes(b"\0\0\0\0\0\0\x80\x3f" * 10)
    loud, quiet = (many.call(command, *more, *args, status=0) for more in ((), ("--quiet",)))
    assert loud.line() and quiet.err == "" and quiet.out == loud.out


def test_quiet_does_not_hide_errors(place):
    place.call("mbh2mbm", "--quiet", "nothing", "x.mbm", status=1).refused("nothing")


def test_json_for_other_programs(place):
    place.ok("classify_m", "all.mbm", "tst.vec", "out")
    scores = json.loads(place.ok("eval_uc", "--json", "-", "out",
                                 stdin=(place / "tst.cls").read_bytes()))
    assert scores["points"] == 60 and scores["brier_all"] is None
