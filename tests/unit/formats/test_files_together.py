"""Several outputs are one: all appear, or all stay as they were; and what is told beforehand."""

import os

import pytest

from agfmc.errors import DataError
from agfmc.formats import atomic
from agfmc.formats.atomic import check_output, remove, replacing, replacing_all

NAMES = ("a", "b", "c")


@pytest.fixture
def paths(tmp_path):
    """Three names in a folder, of which b is there."""
    (tmp_path / "b").write_text("older")
    return [tmp_path / name for name in NAMES]


def write(paths, **more):
    with replacing_all(paths, **more) as files:
        for file in files:
            file.write("new")


@pytest.mark.parametrize("failing", [0, 1, 2, 3])
@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
def test_a_rename_that_fails_undoes_the_others(paths, monkeypatch, failing, error):
    real, calls = os.replace, []

    def replace(source, target):
        calls.append(target)
        if len(calls) == failing + 1:
            raise error
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    if failing == 3:
        write(paths)
        return
    with pytest.raises(DataError if isinstance(error, OSError) else KeyboardInterrupt):
        write(paths)
    assert os.listdir(paths[0].parent) == ["b"] and paths[1].read_text() == "older"


def test_a_folder_in_the_place_of_one_is_never_touched(paths):
    """Made while the others are written."""
    with pytest.raises(DataError, match="Is a directory"):
        with replacing_all(paths) as files:
            files[0].write("new")
            paths[2].mkdir()
            (paths[2] / "inside").write_text("precious")
    assert sorted(os.listdir(paths[0].parent)) == ["b", "c"]
    assert (paths[2] / "inside").read_text() == "precious"
    assert paths[1].read_text() == "older"


def test_before_the_names_change_everything_is_on_the_disk(paths):
    seen = []

    def look():
        seen.append({path.name: path.exists() and path.read_text() for path in paths})
        assert sum(name.startswith(".agfmc-") for name in os.listdir(paths[0].parent)) == 3

    write(paths, before=look)
    assert seen == [{"a": False, "b": "older", "c": False}]
    assert [path.read_text() for path in paths] == ["new"] * 3
    assert sorted(os.listdir(paths[0].parent)) == list(NAMES)


def test_what_must_go_first_stays_where_nothing_can_be_written(tmp_path):
    (tmp_path / "control").write_text("names old models")
    (tmp_path / "model").write_text("old")
    with pytest.raises(DataError):
        with replacing(tmp_path / "model", before=lambda: remove(tmp_path / "control")) as file:
            file.write("\ud800")
            file.write("x")
            raise DataError("the disk is full")
    assert sorted(os.listdir(tmp_path)) == ["control", "model"]


def test_outputs_that_cannot_be_written_are_known_before(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "fifo")
    for name in ("folder", "nowhere/file", "file/", "new/", "file/inside"):
        with pytest.raises(DataError, match="cannot write"):
            check_output(f"{tmp_path}/{name}")
    for name in ("file", "new", "fifo", "folder/new"):
        check_output(f"{tmp_path}/{name}")
    check_output("/dev/null")
    assert sorted(os.listdir(tmp_path)) == ["fifo", "file", "folder"]
    assert (tmp_path / "file").read_text() == "x" and os.listdir(tmp_path / "folder") == []


def test_what_is_left_is_cleared(tmp_path):
    """For the end of a program in the middle of the work."""
    path = atomic.temporary_name(str(tmp_path))
    with open(path, "w"):
        pass
    block = atomic.private_folder(str(tmp_path))
    folder = block.__enter__()
    with open(os.path.join(folder, "x"), "w"):
        pass
    (tmp_path / "mine").write_text("x")
    with atomic.cleared():
        pass
    assert os.listdir(tmp_path) == ["mine"]
    block.__exit__(None, None, None)


def test_a_folder_under_a_temporary_name_is_not_removed(tmp_path):
    path = atomic.temporary_name(str(tmp_path))
    os.mkdir(path)
    atomic.remove_temporary(path)
    assert os.listdir(tmp_path) == [os.path.basename(path)]


def test_no_folder_for_temporary_files(monkeypatch):
    import tempfile

    def gettempdir():
        raise FileNotFoundError(2, "No usable temporary directory found in []")

    monkeypatch.setattr(tempfile, "gettempdir", gettempdir)
    with pytest.raises(DataError, match="TMPDIR"):
        atomic.temporary_file()


def test_removing_follows_a_symbolic_link(tmp_path):
    (tmp_path / "versions").mkdir()
    (tmp_path / "versions" / "one").write_text("x")
    (tmp_path / "link").symlink_to("versions/one")
    for _ in range(2):
        remove(tmp_path / "link")
        assert os.listdir(tmp_path / "versions") == []
        assert os.readlink(tmp_path / "link") == "versions/one"
    with replacing(tmp_path / "link") as file:
        file.write("y")
    assert (tmp_path / "versions" / "one").read_text() == "y"


@pytest.mark.parametrize("there", [True, False])
def test_what_is_removed_is_gone_from_the_disk(tmp_path, monkeypatch, there):
    """Also where another thread removed it, which may not have come as far as this yet."""
    (tmp_path / "folder").mkdir()
    path, synced, fsync = tmp_path / "folder" / "control", [], os.fsync
    if there:
        path.write_text("x")

    def noted(handle):
        synced.append((os.fstat(handle).st_ino, path.exists()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    remove(path)
    assert synced == [((tmp_path / "folder").stat().st_ino, False)]


def test_removing_what_somebody_else_removes(tmp_path, monkeypatch):
    monkeypatch.setattr(os.path, "isfile", lambda path: True)
    remove(tmp_path / "gone")
