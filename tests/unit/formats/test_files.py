"""Outputs appear whole or not at all; every failure is a DataError with the file's name."""

import os
import stat
import threading

import pytest

from agfmc.errors import DataError
from agfmc.formats.files import open_input, read_bytes, replacing, replacing_all


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
