"""What another program has made takes its place as every output does: whole, durable, or not."""

import os
import stat
import tempfile
from pathlib import Path

import pytest

from agfmc.errors import DataError, NotPutBack
from agfmc.formats.atomic import install
from agfmc.formats.atomic import cleared


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with `private/file` and `private/folder` (a, deep/b): new, to be installed."""
    monkeypatch.chdir(tmp_path)
    os.makedirs("private/folder/deep")
    for name in ("file", "folder/a", "folder/deep/b"):
        (tmp_path / "private" / name).write_text("new")
    return tmp_path


@pytest.fixture(params=["file", "folder"])
def kind(request):
    return request.param


def older(path, kind):
    """An older file or folder."""
    if kind == "folder":
        path.mkdir()
        (path / "old").write_text("old")
    else:
        path.write_text("old")


def is_new(path, kind):
    if kind == "folder":
        return sorted(os.listdir(path)) == ["a", "deep"] and os.listdir(path / "deep") == ["b"]
    return path.read_text() == "new"


def is_old(path, kind):
    return os.listdir(path) == ["old"] if kind == "folder" else path.read_text() == "old"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("there", [False, True])
def test_permissions(here, kind, there):
    """A new one keeps what its program gave it, one that replaces another what that had."""
    (here / "private" / kind).chmod(0o750)
    if there:
        older(here / "m", kind)
        (here / "m").chmod(0o700)
    install(f"private/{kind}", "m")
    assert is_new(here / "m", kind)
    assert mode(here / "m") == (0o700 if there else 0o750)
    assert sorted(os.listdir()) == ["m", "private"] and kind not in os.listdir("private")


@pytest.mark.parametrize("there", [False, True])
def test_a_symbolic_link_is_followed(here, kind, there):
    os.mkdir("away")
    (here / "m").symlink_to("away/real")
    if there:
        older(here / "away" / "real", kind)
    install(f"private/{kind}", "m")
    assert os.readlink("m") == "away/real" and is_new(here / "away" / "real", kind)
    assert os.listdir("away") == ["real"]


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no /dev/shm")
@pytest.mark.parametrize("there", [False, True])
def test_a_link_to_another_file_system(here, kind, there):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as away:
        os.symlink(f"{away}/real", "m")
        if there:
            older(Path(away, "real"), kind)
        install(f"private/{kind}", "m")
        assert is_new(here / "m", kind) and os.listdir(away) == ["real"]


def test_one_is_no_place_for_the_other(here):
    for name, kind in (("file", "folder"), ("folder", "file")):
        older(here / kind, kind)
        with pytest.raises(DataError, match="something else of this name"):
            install(f"private/{name}", kind, lambda: pytest.fail("nothing is replaced"))
        assert is_old(here / kind, kind) and os.path.exists(f"private/{name}")


@pytest.mark.parametrize("there", [False, True])
def test_all_is_on_the_disk_before_and_the_names_after(here, kind, there, monkeypatch):
    done, fsync = [], os.fsync

    def noted(handle):
        done.append(os.fstat(handle).st_ino)
        fsync(handle)

    def before():
        done.append("before")
        assert is_old(here / "m", kind) if there else not os.path.exists("m")

    if there:
        older(here / "m", kind)
    monkeypatch.setattr(os, "fsync", noted)
    install(f"private/{kind}", "m", before)
    wanted = {"file": ["m"], "folder": ["m", "m/a", "m/deep", "m/deep/b"]}[kind]
    at = done.index("before")
    assert set(done[:at]) == {os.stat(name).st_ino for name in wanted}
    assert done[at + 1:] == [os.stat(".").st_ino]


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(122, "Disk quota exceeded"), KeyboardInterrupt()])
@pytest.mark.parametrize("there", [False, True])
def test_after_a_failure_all_is_as_before(here, kind, there, call, error, monkeypatch):
    def refused(*words):
        raise error

    if there:
        older(here / "m", kind)
    monkeypatch.setattr(os, call, refused)
    with pytest.raises(DataError if isinstance(error, OSError) else KeyboardInterrupt) as caught:
        install(f"private/{kind}", "m")
    if isinstance(error, OSError):
        assert str(caught.value) == "m: cannot write: Disk quota exceeded"
    assert sorted(os.listdir()) == ["m"] * there + ["private"]
    assert not there or is_old(here / "m", kind)


def test_an_old_folder_that_cannot_be_put_back_is_kept(here, monkeypatch):
    def refused(source, target):
        os.mkdir("m")  # by somebody else, at this moment
        (here / "m" / "x").write_text("x")
        raise OSError(122, "Disk quota exceeded")

    older(here / "m", "folder")
    monkeypatch.setattr(os, "replace", refused)
    with pytest.raises(NotPutBack, match="m: could neither be written nor put back: the old "
                                         "contents are in ") as caught:
        install("private/folder", "m")
    with cleared():
        pass
    [kept] = set(os.listdir()) - {"m", "private"}
    assert str(caught.value).endswith(kept)
    assert is_old(here / kept, "folder") and os.listdir("m") == ["x"]


def test_a_folder_that_may_not_be_written_stays(here, monkeypatch):
    older(here / "m", "folder")
    monkeypatch.setattr(os, "access", lambda path, mode: mode & os.W_OK == 0)
    with pytest.raises(DataError, match="m: cannot write: Permission denied"):
        install("private/folder", "m")
    assert is_old(here / "m", "folder") and sorted(os.listdir()) == ["m", "private"]


def test_what_is_no_file_in_a_folder_is_not_opened(here):
    os.mkfifo("private/folder/deep/fifo")  # would wait for ever
    os.symlink("nowhere", "private/folder/link")
    install("private/folder", "m")
    assert sorted(os.listdir("m")) == ["a", "deep", "link"]
