"""Outputs appear whole or not at all; every failure is a DataError with the file's name."""

import os
import stat
import threading

import pytest

from agfmc.errors import DataError
from agfmc.formats.atomic import open_input, read_bytes, replacing, replacing_all
from agfmc.formats.atomic import cleared


def modes(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_gets_the_permissions_of_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        with replacing(tmp_path / "new") as file:
            file.write("text\n")
    finally:
        os.umask(old)
    assert modes(tmp_path / "new") == 0o640
    assert (tmp_path / "new").read_text() == "text\n"
    assert os.listdir(tmp_path) == ["new"]


def test_reading_the_umask_leaves_it_as_it_was(tmp_path):
    old = os.umask(0o023)
    try:
        with replacing(tmp_path / "new"):
            pass
        assert os.umask(0o023) == 0o023
    finally:
        os.umask(old)


def test_a_replaced_file_keeps_its_permissions_and_is_private_before(tmp_path):
    path = tmp_path / "old"
    path.write_text("old")
    path.chmod(0o604)
    with replacing(path, binary=True) as file:
        file.write(b"new")
        file.flush()
        [temporary] = [name for name in os.listdir(tmp_path) if name != "old"]
        assert modes(tmp_path / temporary) == 0o600
        assert path.read_text() == "old"
    assert path.read_bytes() == b"new"
    assert modes(path) == 0o604


def other_group():
    """A group that files may be given to, and that new ones do not have."""
    if os.geteuid() == 0:
        return 54321
    others = [group for group in os.getgroups() if group != os.getegid()]
    if not others:
        pytest.skip("this user has one group")
    return others[0]


@pytest.mark.parametrize("mode", [0o640, 0o664, 0o644])
def test_a_replaced_file_keeps_its_group(tmp_path, monkeypatch, mode):
    path, group = tmp_path / "old", other_group()
    path.write_text("old")
    os.chown(path, -1, group)
    path.chmod(mode)
    with replacing(path):
        pass
    assert (path.stat().st_gid, modes(path)) == (group, mode)

    def refused(*words):
        raise PermissionError(1, "not a member of it any more")

    monkeypatch.setattr(os, "fchown", refused)
    with replacing(path) as file:
        file.write("new")
    assert path.read_text() == "new" and path.stat().st_gid != group
    assert modes(path) == mode & 0o707 | (mode & 0o007) << 3  # no more for the new group
    path.chmod(mode)
    with replacing(path):  # of the user's own group now: a system that refuses all the same
        pass
    assert modes(path) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only the super-user gives files away")
def test_a_replaced_file_keeps_its_owner(tmp_path):
    path = tmp_path / "old"
    path.write_text("old")
    os.chown(path, 54321, 54322)
    with replacing(path):
        pass
    assert (path.stat().st_uid, path.stat().st_gid) == (54321, 54322)


@pytest.mark.parametrize("names", [["one"], ["one", "sub/two"]])
def test_the_renames_are_brought_to_the_disk(tmp_path, monkeypatch, names):
    (tmp_path / "sub").mkdir()
    synced, fsync = [], os.fsync

    def noted(handle):
        synced.append(os.fstat(handle).st_ino)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    with replacing_all([tmp_path / name for name in names]):
        pass
    folders = {(tmp_path / name).parent for name in names}
    assert sorted(synced[len(names):]) == sorted(folder.stat().st_ino for folder in folders)
    assert {(tmp_path / name).stat().st_ino for name in names} == set(synced[:len(names)])


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, BrokenPipeError])
def test_after_an_exception_everything_is_as_before(tmp_path, error):
    (tmp_path / "old").write_text("old")
    with pytest.raises(error):
        with replacing_all([tmp_path / "old", tmp_path / "new"]) as (one, two):
            one.write("half")
            two.write("half")
            raise error
    assert os.listdir(tmp_path) == ["old"]
    assert (tmp_path / "old").read_text() == "old"


def test_several_outputs_appear_together(tmp_path):
    paths = [tmp_path / "a.cls", tmp_path / "a.con"]
    with replacing_all(paths, binary=True) as files:
        for file, data in zip(files, (b"1", b"2")):
            file.write(data)
        assert not any(path.exists() for path in paths)
    assert [path.read_bytes() for path in paths] == [b"1", b"2"]


def test_old_contents_that_cannot_be_put_back_are_kept(tmp_path, monkeypatch):
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.write_text(f"old {path.name}")
    replace = os.replace

    def refusing(source, target):
        if os.path.basename(target) == "b":
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refusing)
    with pytest.raises(DataError, match="b: could neither be written nor put back: the old "
                                        "contents are in ") as caught:
        with replacing_all(paths) as files:
            for file in files:
                file.write("new")
    [kept] = set(os.listdir(tmp_path)) - {"a"}
    assert str(caught.value).endswith(kept)
    with cleared():
        pass
    assert (tmp_path / kept).read_text() == "old b" and paths[0].read_text() == "old a"


def test_the_second_output_that_cannot_be_opened_leaves_no_first(tmp_path):
    with pytest.raises(DataError, match="No such file") as caught:
        with replacing_all([tmp_path / "a", tmp_path / "none" / "b"]):
            pass
    assert caught.value.file == str(tmp_path / "none" / "b")
    assert os.listdir(tmp_path) == []


def test_one_file_for_two_outputs_is_refused(tmp_path):
    (tmp_path / "link").symlink_to("a")
    with pytest.raises(DataError, match="two outputs"):
        with replacing_all([tmp_path / "a", tmp_path / "link"]):
            pass
    assert os.listdir(tmp_path) == ["link"]


def test_a_symbolic_link_is_followed(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with replacing(tmp_path / "link") as file:
        file.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_device_is_written_directly():
    before = os.stat("/dev/null").st_rdev
    with replacing_all(["/dev/null", "/dev/null"]) as (file, _):
        file.write("text")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert os.stat("/dev/null").st_rdev == before


def test_a_full_device_is_noticed():
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    with pytest.raises(DataError, match="/dev/full: cannot write: No space left"):
        with replacing("/dev/full", binary=True) as file:
            file.write(b"x")


def test_a_fifo_is_written_directly(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    got = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    with replacing(path, binary=True) as file:
        file.write(b"through")
    reader.join()
    assert got == [b"through"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_pipe_whose_reader_went_away_is_not_an_error_of_the_data(tmp_path):
    read, write = os.pipe()
    os.close(read)
    try:
        with pytest.raises(BrokenPipeError):
            with replacing(f"/dev/fd/{write}", binary=True) as file:
                file.write(b"x")
    finally:
        os.close(write)


@pytest.mark.parametrize("name", ["a\nb", "-", " ", "a;b $(c)", "\udcff", "é", "x" * 255])
def test_any_file_name_will_do(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with replacing(name, binary=True) as file:
        file.write(b"x")
    assert os.listdir(".") == [name]
    assert read_bytes(f"./{name}") == b"x"


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 256, "none/a", "."])
def test_a_file_that_cannot_be_written_or_read(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="cannot write"):
        with replacing(name):
            pass
    with pytest.raises(DataError, match="cannot read"):
        read_bytes(name)
    assert os.listdir(".") == []


def test_reading_a_folder(tmp_path):
    with pytest.raises(DataError, match="cannot read: it is a folder") as caught:
        read_bytes(tmp_path)
    assert caught.value.file == str(tmp_path)


def test_standard_input_is_read_and_left_open():
    read, write = os.pipe()
    os.write(write, b"abc")
    os.close(write)
    with os.fdopen(read, "rb") as stdin:
        with open_input("-", stdin) as file:
            assert (file.name, file.read()) == ("-", b"abc")
        assert not stdin.closed


def test_an_error_of_the_caller_is_not_taken_for_one_of_reading(tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(OSError, match="elsewhere"):
        with open_input(tmp_path / "a"):
            raise OSError("elsewhere")


def test_text_that_utf8_cannot_hold_is_a_data_error(tmp_path):
    with pytest.raises(DataError, match="cannot write"):
        with replacing(tmp_path / "a") as file:
            file.write("\ud800")
    assert os.listdir(tmp_path) == []
