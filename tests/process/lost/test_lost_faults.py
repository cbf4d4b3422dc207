"""Harm at every call that changes a file: kill -9, full and bad disks, no memory, signals."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

STEPS = "lines files/atomic.py,cli/run.py,cli/signals.py"
FAILURES = ("ENOSPC", "EIO", "full", "short", "memory")


def check(scene, reports):
    """Each report against the undisturbed one; -> how many there were."""
    first, *others = reports
    assert first["status"] == 0, first["err"]
    assert others
    count = 0
    for report in others:
        kind, number, _ = report["fault"]
        at = (
            f"{scene.name}: {kind} at call {number}, {report['hit']}: status "
            f"{report['status']}, {report['err']}"
        )
        if report["hit"] is None:  # threads: there were fewer calls this time
            continue
        count += 1
        killed = kind in ("kill", "killed", "half")
        gone = killed or report["hit"].startswith(("unlink", "rmdir"))  # not to be removed
        assert scene.wrong(report["files"], first["files"], gone) == [], at
        if killed:
            assert report["status"] == -signal.SIGKILL, at
        elif kind.startswith("SIG"):
            status = 128 + getattr(signal, kind.rstrip("+"))
            assert report["status"] in (status, 0), at
            # nothing but what it had to say up to there, or that it can go on
            assert first["err"].startswith(report["err"]) or "interrupted" in report["err"], at
        else:
            assert report["status"] in (0, 1, 3), at
            assert "internal" not in report["err"] and "Traceback" not in report["err"], at
            if report["status"]:
                words = report["err"].splitlines()
                assert words and words[-1].startswith(f"{scene.argv[0]}: "), at
        if report["status"] == 0:
            assert scene.complete(report["files"], first["files"]), at
        if "again" in report:
            assert report["again"]["status"] == 0, (at, report["again"]["err"])
            assert scene.complete(report["again"]["files"], first["files"]), at
    return count


@pytest.mark.few(1)
def test_killed_at_each_call(quick_scene, tmp_path):
    reports = quick_scene.drive([["kill", "every 5", ""]], tmp_path / "work", again=True)
    assert check(quick_scene, reports) >= 2


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["full", "SIGTERM"])
def test_harm_at_each_call(quick_scene, tmp_path, kind):
    assert check(quick_scene, quick_scene.drive([[kind, "every 4", ""]], tmp_path / "work")) >= 2


BEGIN = """import os, signal, sys, time
from agfmc.cli.options import Parser
from agfmc.cli.run import run_command
from agfmc.core.errors import DataError
def stop():
    os.kill(os.getpid(), signal.SIGTERM)
def execute(args):
"""
END = """
sys.exit(run_command(Parser("words", "Some words.").finish(), execute, []))
"""


@pytest.mark.parametrize(
    "code",
    [
        # a library may make something else of what a signal raises, as some do while they are loaded
        "try: stop()\n    except BaseException: raise ImportError('no module')",
        "try: raise DataError('wrong')\n    finally: stop()",
        "stop()",
        # impatience does not disturb the way out
        "try: stop()\n    finally:\n        stop(); time.sleep(0.1); stop(); print('cleared', "
        "file=sys.stderr)",
    ],
)
def test_a_signal_among_other_errors(root, code):
    done = subprocess.run(
        [sys.executable, "-c", f"{BEGIN}    {code}\n{END}"],
        cwd=root,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    assert done.stderr == (b"cleared\n" if "cleared" in code else b"")


@pytest.mark.long
def test_a_signal_that_was_swallowed_is_not_the_last(root):
    code = (
        "try: stop()\n    except BaseException: pass\n    time.sleep(2.2)\n    stop()\n"
        "    time.sleep(60)"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{BEGIN}    {code}\n{END}"],
        cwd=root,
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, b"")


@pytest.mark.long
@pytest.mark.parametrize(
    "kind", [("kill", "killed", "half"), FAILURES, ("SIGTERM", "SIGINT+", "SIGHUP")], ids=" ".join
)
def test_all_harm_at_all_calls(scene, tmp_path, kind):
    step = "every 7" if scene.trying else "every 4" if "processes" in scene.name else "all"
    for one in kind:
        check(scene, scene.drive([[one, step, ""]], tmp_path / "work", again=one == "kill"))


@pytest.mark.long
@pytest.mark.parametrize("name", ["mbh2mbm", "classify_m", "agf_preprocess", "multi_borders"])
@pytest.mark.parametrize("kind", ["SIGTERM", "SIGINT"])
def test_a_signal_at_all_steps(make_scene, tmp_path, name, kind):
    scene = make_scene(name)
    reports = scene.drive([[kind, "every 2", STEPS]], tmp_path / "work")
    for report in reports:
        if report["status"] == -getattr(signal, kind):
            report["status"] = 128 + getattr(signal, kind)
    check(scene, reports)


STEP = 512
SAID = (
    "No space left",
    "File too large",
    "could not be",
    "cannot be read",
    "cannot keep finished work here",
)


@pytest.fixture
def small_disk(tmp_path):
    """A file system in memory with 2 MB and 400 files; skipped where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m,nr_inodes=400", "none", str(folder)],
        capture_output=True,
    )
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def check_disk(scene, reports):
    first, *others = reports
    assert first["status"] == 0, first["err"]
    failed = 0
    for report in others:
        kind, room, _ = report["fault"]
        at = f"{scene.name}: {kind} {room}: status {report['status']}, {report['err']}"
        assert scene.wrong(report["files"], first["files"]) == [], at
        assert report["status"] in (0, 1, 3), at
        if report["status"]:
            failed += 1
            last = report["err"].splitlines()[-1]
            assert last.startswith(f"{scene.argv[0]}: "), at
            # a user's program fails in its own words, for which there may be no room either
            theirs = ["the command '"] if "program" in scene.name else []
            assert any(words in last for words in [*SAID, *theirs]), at
            assert "Traceback" not in report["err"] and "internal" not in report["err"], at
        else:
            assert scene.complete(report["files"], first["files"]), at
    return failed


@pytest.mark.few(1)
def test_files_of_limited_length(quick_scene, tmp_path):
    faults = [["limit", n, ""] for n in (0, 1, 100, 600, 3000)]
    assert check_disk(quick_scene, quick_scene.drive(faults, tmp_path / "work")) >= 1


@pytest.mark.few(1)
@pytest.mark.parametrize("command", ["multi_borders", "compare_control", "classify_m"])
def test_a_full_folder_of_temporary_files(make_scene, small_disk, command):
    """They go elsewhere, or the work is done without."""
    name = "classify_m, program" if command == "classify_m" else command
    scene = make_scene(name)
    place = scene.copy(scene.place.folder.parent / "here")
    with open(small_disk / "filler", "wb", buffering=0) as file:
        while True:
            try:
                file.write(bytes(4096))
            except OSError:
                break
    place.env["TMPDIR"] = str(small_disk)
    assert place.run(*scene.argv).returncode == 0
    assert os.listdir(small_disk) == ["filler"]


@pytest.mark.long
def test_all_lengths(scene, tmp_path):
    step = 4 * STEP if scene.trying else STEP
    faults = [["limit", n, ""] for n in [1, 2, 7, 63, *range(0, 24_001, step)]]
    check_disk(scene, scene.drive(faults, tmp_path / "work"))


@pytest.mark.long
def test_all_room_on_a_small_file_system(scene, small_disk):
    scene.place.env["TMPDIR"] = str(small_disk)
    for what, most in (("free", 40), ("inodes", 14)):
        faults = [[what, n, ""] for n in range(0, most, 4 if scene.trying else 1)]
        check_disk(scene, scene.drive(faults, small_disk / "work"))
        shutil.rmtree(small_disk / "work")
        assert os.listdir(small_disk) == []
