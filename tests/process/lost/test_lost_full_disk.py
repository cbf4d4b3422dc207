"""A disk that fills: files of limited length, and a small file system with little room left."""

import os
import shutil
import subprocess

import pytest

STEP = 512
SAID = ("No space left", "File too large", "could not be", "cannot be read",
        "cannot keep finished work here")


@pytest.fixture
def small_disk(tmp_path):
    """A file system in memory with 2 MB and 400 files; skipped where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,nr_inodes=400", "none",
                           str(folder)], capture_output=True)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def check(scene, reports):
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


def sizes(scene):
    """Of the largest file that a command may write: all that there are."""
    return max(path.stat().st_size for path in scene.place.folder.iterdir())


def test_files_of_limited_length(quick_scene, tmp_path):
    faults = [["limit", n, ""] for n in (0, 1, 100, 600, 3000)]
    assert check(quick_scene, quick_scene.drive(faults, tmp_path / "work")) >= 1


@pytest.mark.parametrize("what", ["free", "inodes"])
def test_a_small_file_system(make_scene, small_disk, what):
    scene = make_scene("multi_borders")
    work = small_disk / "work"
    scene.place.env["TMPDIR"] = str(small_disk)
    faults = [[what, n, ""] for n in range(0, 6)]
    assert check(scene, scene.drive(faults, work)) >= 1
    assert os.listdir(small_disk) == ["work"]


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
def test_all_lengths(scene, tmp_path, record_property):
    step = 4 * STEP if scene.trying else STEP
    faults = [["limit", n, ""] for n in [1, 2, 7, 63, *range(0, 24_001, step)]]
    failed = check(scene, scene.drive(faults, tmp_path / "work"))
    record_property("faults", len(faults))
    print(f"{scene.name}: {len(faults)} limits, {failed} runs failed")


@pytest.mark.long
def test_all_room_on_a_small_file_system(scene, small_disk, record_property):
    scene.place.env["TMPDIR"] = str(small_disk)
    count = 0
    for what, most in (("free", 40), ("inodes", 14)):
        faults = [[what, n, ""] for n in range(0, most, 4 if scene.trying else 1)]
        failed = check(scene, scene.drive(faults, small_disk / "work"))
        count += len(faults)
        print(f"{scene.name}: {len(faults)} times {what}, {failed} runs failed")
        shutil.rmtree(small_disk / "work")
        assert os.listdir(small_disk) == []
    record_property("faults", count)
