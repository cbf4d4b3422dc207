"""Outputs appear whole or not at all; every failure is a DataError with the file's name."""

import gzip
import os
import signal
import stat
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from agfmc.core.errors import DataError
from agfmc.files import atomic
from agfmc.files.atomic import (
    check_output,
    install,
    remove,
    remove_temporaries,
    replacing,
    replacing_all,
)
from agfmc.files.opening import open_input, read_bytes


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def refuse(number, words="refused"):
    """A call of the system that fails."""

    def refused(*_):
        raise OSError(number, words)

    return refused


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.fixture
def synced(monkeypatch):
    """The inodes of what is brought to the disk, in their order."""
    order, fsync = [], os.fsync

    def recorded(handle):
        order.append(os.fstat(handle).st_ino)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", recorded)
    return order


# -- one file -----------------------------------------------------------------------------------


def test_a_new_file_gets_the_permissions_of_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        with replacing(tmp_path / "new") as file:
            file.write("text\n")
        assert os.umask(0o027) == 0o027  # it is only read
    finally:
        os.umask(old)
    assert mode(tmp_path / "new") == 0o640 and contents(tmp_path) == {"new": "text\n"}


def test_a_replaced_file_keeps_its_permissions_and_is_private_before(tmp_path):
    path = tmp_path / "old"
    path.write_text("old")
    path.chmod(0o604)
    with replacing(path, binary=True) as file:
        file.write(b"new")
        file.flush()
        [temporary] = [name for name in os.listdir(tmp_path) if name != "old"]
        assert mode(tmp_path / temporary) == 0o600 and path.read_text() == "old"
    assert path.read_bytes() == b"new" and mode(path) == 0o604


def other_group():
    """A group that files may be given to, and that new ones do not have."""
    if os.geteuid() == 0:
        return 54321
    others = [group for group in os.getgroups() if group != os.getegid()]
    if not others:
        pytest.skip("this user has one group")
    return others[0]


@pytest.mark.parametrize("bits", [0o640, 0o664, 0o644])
def test_a_replaced_file_keeps_its_group(tmp_path, monkeypatch, bits):
    path, group = tmp_path / "old", other_group()
    path.write_text("old")
    os.chown(path, -1, group)
    path.chmod(bits)
    with replacing(path):
        pass
    assert (path.stat().st_gid, mode(path)) == (group, bits)
    monkeypatch.setattr(os, "fchown", refuse(1))  # not a member of it any more
    with replacing(path) as file:
        file.write("new")
    assert path.read_text() == "new" and path.stat().st_gid != group
    assert mode(path) == bits & 0o707 | (bits & 0o007) << 3  # no more for the new group
    path.chmod(bits)
    with replacing(path):  # of the user's own group now: a system that refuses all the same
        pass
    assert mode(path) == bits


def test_a_symbolic_link_is_followed(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with replacing(tmp_path / "link") as file:
        file.write("new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "new"


def test_a_device_is_written_directly():
    before = os.stat("/dev/null").st_rdev
    with replacing_all(["/dev/null", "/dev/null"]) as (file, _):
        file.write("text")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode) and os.stat("/dev/null").st_rdev == before


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
    assert got == [b"through"] and stat.S_ISFIFO(path.stat().st_mode)


def test_a_pipe_whose_reader_went_away_is_not_an_error_of_the_data():
    read, write = os.pipe()
    os.close(read)
    try:
        with pytest.raises(BrokenPipeError), replacing(f"/dev/fd/{write}", binary=True) as file:
            file.write(b"x")
    finally:
        os.close(write)


@pytest.mark.parametrize("name", ["a\nb", "-", " ", "a;b $(c)", "\udcff", "é", "x" * 255])
def test_any_file_name_will_do(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with replacing(name, binary=True) as file:
        file.write(b"x")
    assert os.listdir(".") == [name] and read_bytes(f"./{name}") == b"x"


@pytest.mark.parametrize(
    "binary, text, zipped",
    [(False, None, True), (True, True, True), (True, None, False), (True, False, False)],
)
def test_text_is_compressed_by_its_name(tmp_path, binary, text, zipped):
    """The bytes tell neither a time nor a name; what is no text stays as it is."""
    piece = b"caf\xc3\xa9\xff\n"
    found = []
    for name in ("a.gz", "b.GZ"):
        with replacing_all([tmp_path / name], binary, text=text) as (file,):
            for _ in range(9000):
                file.write(piece if binary else piece.decode("utf-8", "surrogateescape"))
            assert file.fileno() > 2
        found.append((tmp_path / name).read_bytes())
    assert found[0] == found[1]
    assert (gzip.decompress(found[0]) if zipped else found[0]) == piece * 9000
    assert read_bytes(tmp_path / "a.gz") == piece * 9000
    assert found[0][:10] == b"\x1f\x8b\x08\0\0\0\0\0\0\xff" or not zipped


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_compressed_text_appears_whole_or_not_at_all(tmp_path, error):
    (tmp_path / "a.gz").write_bytes(b"before")
    with pytest.raises(error), replacing_all([tmp_path / "a.gz", tmp_path / "b"]) as files:
        files[0].write("much\n" * 99_999)
        raise error
    assert contents(tmp_path) == {"a.gz": "before"}
    check_output(tmp_path / "c.gz")
    assert not (tmp_path / "c.gz").exists()
    (tmp_path / "full.gz").symlink_to("/dev/full")
    with pytest.raises(DataError, match="full.gz: cannot write: No space left"):
        with replacing(tmp_path / "full.gz") as file:
            file.write("text")


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 256, "none/a", "."])
def test_a_file_that_cannot_be_written_or_read(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="cannot write"), replacing(name):
        pass
    with pytest.raises(DataError, match="cannot read"):
        read_bytes(name)
    assert os.listdir(".") == []


def test_text_that_utf8_cannot_hold_is_a_data_error(tmp_path):
    with pytest.raises(DataError, match="cannot write"), replacing(tmp_path / "a") as file:
        file.write("\ud800")
    assert os.listdir(tmp_path) == []


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


# -- several files ------------------------------------------------------------------------------

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


def test_before_the_names_change_everything_is_on_the_disk(paths):
    seen = []

    def look():
        seen.append({path.name: path.exists() and path.read_text() for path in paths})
        assert sum(name.startswith(".agfmc-") for name in os.listdir(paths[0].parent)) == 3

    write(paths, before=look)
    assert seen == [{"a": False, "b": "older", "c": False}]
    assert contents(paths[0].parent) == dict.fromkeys(NAMES, "new")


@pytest.mark.parametrize("names", [["one"], ["one", "sub/two"]])
def test_the_renames_are_brought_to_the_disk(tmp_path, synced, names):
    (tmp_path / "sub").mkdir()
    write([tmp_path / name for name in names])
    folders = {(tmp_path / name).parent for name in names}
    assert sorted(synced[len(names) :]) == sorted(folder.stat().st_ino for folder in folders)
    assert {(tmp_path / name).stat().st_ino for name in names} == set(synced[: len(names)])


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, BrokenPipeError])
def test_after_an_exception_everything_is_as_before(paths, error):
    with pytest.raises(error), replacing_all(paths) as files:
        for file in files:
            file.write("half")
        raise error
    assert contents(paths[0].parent) == {"b": "older"}


@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("late", [True, False])
def test_a_signal_between_renames_comes_after_the_last(paths, monkeypatch, at, late):
    real, calls = os.replace, []

    def replace(source, target):
        calls.append(target)
        if len(calls) == at and not late:
            raise KeyboardInterrupt
        real(source, target)
        if len(calls) == at:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        write(paths)
    assert contents(paths[0].parent) == dict.fromkeys(NAMES, "new")


def test_a_rename_that_fails_leaves_no_temporary_file(paths, monkeypatch):
    monkeypatch.setattr(os, "replace", refuse(5, "Input/output error"))
    with pytest.raises(DataError, match="a: cannot write: Input/output error"):
        write(paths)
    assert contents(paths[0].parent) == {"b": "older"}


def test_no_memory_to_close_a_file_leaves_no_temporary_file(paths, monkeypatch):
    def no_memory(*_):
        raise MemoryError

    before = contents(paths[0].parent)
    with pytest.raises(MemoryError), replacing_all(paths) as files:
        for file in files:
            monkeypatch.setattr(file, "_file", SimpleNamespace(close=no_memory))
        raise KeyError
    assert contents(paths[0].parent) == before


def test_the_second_output_that_cannot_be_opened_leaves_no_first(tmp_path):
    with pytest.raises(DataError, match="No such file") as caught:
        write([tmp_path / "a", tmp_path / "none" / "b"])
    assert caught.value.file == str(tmp_path / "none" / "b") and os.listdir(tmp_path) == []


def test_one_file_for_two_outputs_is_refused(tmp_path):
    (tmp_path / "link").symlink_to("a")
    with pytest.raises(DataError, match="two outputs"):
        write([tmp_path / "a", tmp_path / "link"])
    assert os.listdir(tmp_path) == ["link"]


# -- what is removed ----------------------------------------------------------------------------


def test_what_must_go_first_stays_where_nothing_can_be_written(tmp_path):
    (tmp_path / "control").write_text("names old models")
    (tmp_path / "model").write_text("old")
    with pytest.raises(DataError):
        with replacing(tmp_path / "model", before=lambda: remove(tmp_path / "control")):
            raise DataError("the disk is full")
    assert sorted(os.listdir(tmp_path)) == ["control", "model"]


def test_temporary_files_are_removed_at_the_end_of_the_program(tmp_path):
    path = atomic.temporary_name(str(tmp_path))
    with open(path, "w"):
        pass
    block = atomic.private_folder(str(tmp_path))
    folder = block.__enter__()
    with open(os.path.join(folder, "x"), "w"):
        pass
    (tmp_path / "mine").write_text("x")
    remove_temporaries()
    assert os.listdir(tmp_path) == ["mine"]
    block.__exit__(None, None, None)


def test_no_folder_for_temporary_files(monkeypatch):
    monkeypatch.setattr(tempfile, "gettempdir", refuse(2, "No usable temporary directory"))
    with pytest.raises(DataError, match="a temporary file: cannot write: No usable"):
        atomic.temporary_file()


def test_removing_follows_a_symbolic_link(tmp_path):
    (tmp_path / "versions").mkdir()
    (tmp_path / "versions" / "one").write_text("x")
    (tmp_path / "link").symlink_to("versions/one")
    for _ in range(2):
        remove(tmp_path / "link")
        assert os.listdir(tmp_path / "versions") == []
        assert os.readlink(tmp_path / "link") == "versions/one"


@pytest.mark.parametrize("there", [True, False])
def test_what_is_removed_is_gone_from_the_disk(tmp_path, synced, there):
    """Also where another thread removed it, which may not have come as far as this yet."""
    if there:
        (tmp_path / "control").write_text("x")
    remove(tmp_path / "control")
    assert synced == [tmp_path.stat().st_ino] and os.listdir(tmp_path) == []


def test_removing_what_somebody_else_removes(tmp_path, monkeypatch):
    monkeypatch.setattr(os.path, "isfile", lambda path: True)
    remove(tmp_path / "gone")


# -- what another program has made --------------------------------------------------------------


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


@pytest.mark.parametrize("where", ["there", "link", "elsewhere"])
@pytest.mark.parametrize("there", [False, True])
def test_what_is_installed(here, kind, there, where):
    """A link to a file is followed, to another file system too; no folder is replaced behind one."""
    if where == "elsewhere" and not os.access("/dev/shm", os.W_OK):
        pytest.skip("there is no /dev/shm")
    with tempfile.TemporaryDirectory(dir="/dev/shm" if where == "elsewhere" else here) as away:
        target = here / "m" if where == "there" else Path(away, "real")
        if where != "there":
            (here / "m").symlink_to(target)
        if there:
            older(target, kind)
        if kind == "folder" and where != "there":
            with pytest.raises(DataError, match="m: cannot write: it is a symbolic link"):
                install(f"private/{kind}", "m", lambda: pytest.fail("nothing is replaced"))
            assert is_old(target, kind) if there else not target.exists()
            return
        install(f"private/{kind}", "m")
        assert is_new(target, kind) and (here / "m").is_symlink() == (where != "there")
        assert os.listdir(away) == ([] if where == "there" else ["real"])


def test_one_is_no_place_for_the_other(here):
    for name, kind in (("file", "folder"), ("folder", "file")):
        older(here / kind, kind)
        with pytest.raises(DataError, match="something else of this name"):
            install(f"private/{name}", kind, lambda: pytest.fail("nothing is replaced"))
        assert is_old(here / kind, kind) and os.path.exists(f"private/{name}")


@pytest.mark.parametrize("there", [False, True])
def test_all_is_on_the_disk_before_and_the_names_after(here, kind, there, synced):
    def before():
        synced.append("before")
        assert is_old(here / "m", kind) if there else not os.path.exists("m")

    if there:
        older(here / "m", kind)
    install(f"private/{kind}", "m", before)
    wanted = {"file": ["m"], "folder": ["m", "m/a", "m/deep", "m/deep/b"]}[kind]
    at = synced.index("before")
    assert set(synced[:at]) == {os.stat(name).st_ino for name in wanted}
    assert synced[at + 1 :] == [os.stat(".").st_ino]


@pytest.mark.parametrize("error", [OSError(122, "Disk quota exceeded"), KeyboardInterrupt()])
def test_after_a_failure_all_is_as_before(here, kind, error, monkeypatch):
    def refused(*words):
        raise error

    older(here / "m", kind)
    monkeypatch.setattr(os, "fsync", refused)
    with pytest.raises(DataError if isinstance(error, OSError) else KeyboardInterrupt):
        install(f"private/{kind}", "m")
    assert sorted(os.listdir()) == ["m", "private"] and is_old(here / "m", kind)


def test_what_is_no_file_in_a_folder_is_not_opened(here):
    os.mkfifo("private/folder/deep/fifo")  # would wait for ever
    os.symlink("nowhere", "private/folder/link")
    install("private/folder", "m")
    assert sorted(os.listdir("m")) == ["a", "deep", "link"]


# -- reading ------------------------------------------------------------------------------------


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
    with pytest.raises(OSError, match="elsewhere"), open_input(tmp_path / "a"):
        raise OSError("elsewhere")
