"""Finished work: found again, never mistaken, private, gone when it is done with."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from agfmc.core.errors import AgfmcWarning, DataError, UsageError
from agfmc.core.version import __version__
from agfmc.files import result_store as room
from agfmc.files.result_store import (
    automatic_folder,
    CLASSIFIER,
    key_of,
    open_state,
    Record,
    ResultCache,
    result_key,
)
from own_warnings import no_own_warnings, own_warnings, texts_of

A, B, C = "a" * 64, "b" * 64, "c" * 64  # digests of data


@pytest.fixture
def path(tmp_path):
    (tmp_path / "own").mkdir(mode=0o700)
    return str(tmp_path / "own" / "state")


def head(cache, key):
    record = cache.get(key)
    return None if record is None else record.head


def of_size(size):
    return Record(None, {"a": np.zeros(size, np.uint8)})


def size_of(folder):
    return sum(file.stat().st_size for file in Path(folder).iterdir())


def test_keys_tell_apart():
    a = np.arange(6.0)
    keys = [
        key_of(1, 2),
        key_of("1", 2),
        key_of(12),
        key_of((1, 2)),
        key_of(a),
        key_of(a.reshape(2, 3)),
        key_of(a.astype("f4")),
        key_of(b"ab", b"c"),
        key_of(b"a", b"bc"),
    ]
    assert len(set(keys)) == len(keys) and key_of(a, "x") == key_of(a.copy(), "x")


def test_results_of_other_code_have_other_keys(tmp_path, monkeypatch):
    (tmp_path / "files").mkdir()
    monkeypatch.setattr(room, "__file__", str(tmp_path / "files" / "result_store.py"))
    keys = []
    for text in ("x = 1", "x = 2", "x = 1"):
        (tmp_path / "learner.py").write_text(text)
        room._code.cache_clear()
        keys.append(result_key("a", 1))
    room._code.cache_clear()
    assert keys[0] == keys[2] != keys[1] and keys[0] != key_of("a", 1)


def test_what_is_put_is_found_again(path):
    arrays = {
        "x": np.arange(6.0).reshape(2, 3),
        "none": np.empty((0, 4), "<f4"),
        "turned": np.arange(6).reshape(2, 3).T,
        "flags": np.array([True, False]),
    }
    for name in (path + "/", path):
        with open_state(name, A) as cache:
            cache.put("k1", Record("value"))
            cache.put("k1", Record(["other", 1.5, None], arrays))
            cache.put("k2", Record(None))
            record = cache.get("k1")
            assert record.head == ["other", 1.5, None] and cache.reused == 0  # its own
            for key, array in arrays.items():
                np.testing.assert_array_equal(record.arrays[key], array)
                assert record.arrays[key].dtype == array.dtype
                assert record.arrays[key].flags.writeable and record.arrays[key].flags.aligned
    with open_state(path, A) as one, open_state(path, A) as two:
        assert head(one, "k1")[0] == "other" and one.get("k2") == (None, {}) and one.reused == 2
        one.put("k3", Record(3))
        assert head(two, "k3") == 3 and two.get("k4") is None
    assert os.listdir(path) == [f"data-{A[:32]}-{__version__}.results"]


def test_an_automatic_file_comes_with_its_first_result(path):
    with pytest.raises(RuntimeError), ResultCache(path):
        raise RuntimeError
    assert os.listdir(path) == []
    with pytest.raises(RuntimeError), ResultCache(path) as cache:
        cache.put("k", Record("value"))
        raise RuntimeError
    for _ in range(2):
        with ResultCache(path) as cache:
            assert head(cache, "k") == "value"


def fill(path, end=None, first=0):
    """20 classifiers and 20 results."""
    with ResultCache(path) as cache:
        for number in range(first, first + 20):
            cache.put(CLASSIFIER + str(number), of_size(100))
            cache.put(f"small {number}", Record(number))
        if end is not None:
            raise end


def test_a_large_automatic_file_loses_classifiers_and_then_what_is_old(path, monkeypatch):
    monkeypatch.setattr(room, "_SMALL", 5000)
    with pytest.raises(KeyError):
        fill(path, KeyError())
    assert size_of(path) > 5000  # it goes on from there
    fill(path, first=10)
    assert 4000 < size_of(path) <= 5000
    with ResultCache(path) as cache:
        assert [head(cache, f"small {number}") for number in range(30)] == list(range(30))
        assert cache.get(CLASSIFIER + "1") is None and cache.get(CLASSIFIER + "29")
    monkeypatch.setattr(room, "_SMALL", 2000)
    with ResultCache(path) as cache:
        assert head(cache, "small 3") == 3  # used by this run
    with ResultCache(path) as cache:
        there = [number for number in range(30) if cache.get(f"small {number}") is not None]
    assert there == [3, *range(31 - len(there), 30)] and 5 < len(there) < 30
    assert len(os.listdir(path)) == 1


def test_a_run_that_fills_its_file_goes_on_with_half(path, monkeypatch):
    """As another run with the same file does."""
    monkeypatch.setattr(room, "_ALL", 4000)
    with ResultCache(path) as one, ResultCache(path) as two:
        for number in range(100):
            one.put(CLASSIFIER + str(number), of_size(300))
            two.put(f"small {number}", Record(number))
            assert size_of(path) <= 4000
            assert head(one, f"small {number}") == number
            assert two.get(CLASSIFIER + str(number)) is not None


def test_a_result_that_would_pass_the_bound_is_not_kept(path, monkeypatch):
    monkeypatch.setattr(room, "_ALL", 4000)
    monkeypatch.setattr(room, "_LARGEST", 4000)
    with ResultCache(path) as cache:
        for number in range(20):
            cache.put(str(number), of_size(1800))
            cache.put("large", of_size(2200))
            assert size_of(path) <= 4000 and cache.get("large") is None and cache.get(str(number))


def test_a_file_in_a_named_folder_stays_as_it_is(path, monkeypatch):
    monkeypatch.setattr(room, "_SMALL", 10)
    monkeypatch.setattr(room, "_ALL", 10)
    for _ in range(2):
        with ResultCache(path, keep=True) as cache:
            cache.put(CLASSIFIER + "1", of_size(100))
    with ResultCache(path, keep=True) as cache:
        assert len(cache.get(CLASSIFIER + "1").arrays["a"]) == 100


def test_unused_files_go(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "agfmc"
    with open_state(None, A) as cache:
        cache.put("k", Record("x" * 600))
    now = time.time()
    for name, days, size in (
        ("data-00-1.results", 31, 1),
        ("data-01-1.results", 29, 1),
        ("data-02-1.results", 3, 700),
        ("data-03-1.results", 2, 700),
        ("data-04-1.results.new", 40, 700),
        ("other", 90, 1),
        ("thesis.results", 90, 1),
    ):
        (folder / name).write_bytes(bytes(size))
        os.utime(folder / name, (now - days * 86400,) * 2)
    (folder / "data-04.results" / "xy").mkdir(parents=True)  # of version 0.3.0
    (folder / "data-04.results" / "xy" / "k").write_bytes(bytes(1))
    os.utime(cache.path, (now - 50 * 86400,) * 2)
    monkeypatch.setattr(room, "_ALL", 2000)
    with open_state(None, A) as cache:
        assert head(cache, "k") == "x" * 600
    others = {"other", "thesis.results"}
    assert set(os.listdir(folder)) == {os.path.basename(cache.path), "data-03-1.results", *others}
    assert os.stat(cache.path).st_mtime > now - 60


def test_all_files_of_a_user_stay_within_the_bound(tmp_path, monkeypatch, warned):
    """Also when many runs end, one after the other or at once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(room, "_ALL", 8000)

    def run(number):
        with open_state(None, f"{number:064}"[::-1]) as cache:
            for part in range(6):
                cache.put(f"{number} {part}", Record(part))
                assert head(cache, f"{number} {part}") in (part, None)

    for number in range(20):
        run(number)
        assert 0 < size_of(tmp_path / "agfmc") <= 8000
    with open_state(None, f"{19:064}"[::-1]) as cache:  # the last one is there
        assert head(cache, "19 5") == 5 and cache.get("0 1") is None
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(run, range(20, 40)))
    assert 0 < size_of(tmp_path / "agfmc") <= 8000 and not warned


def test_a_state_of_other_data_is_told(path, warned):
    for data in (A, A):
        with open_state(path, data) as cache:
            cache.put("k", Record(1))
    assert not warned
    for data in (B, C):
        with own_warnings() as told, open_state(path, data) as cache:
            cache.put("k" + data, Record(1))
        assert texts_of(told) == [f"all results in {path} are of other data: none can be reused"]
    with no_own_warnings():
        for data in (A, B, C):
            open_state(path, data)


def test_a_folder_of_results_of_version_0_3_0(path, warned):
    """Told once, left as it is, and computed anew beside it."""
    for name in ("agfmc.results", f"data-{A}", "ab/cdab"):
        file = Path(path, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    for _ in range(2):
        with open_state(path, A) as cache:
            cache.put("k", Record(1))
    assert texts_of(warned) == [f"all results in {path} are of other versions: none can be reused"]
    assert Path(path, "ab", "cdab").exists()


def test_a_folder_of_other_files_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("")
    for name in (str(tmp_path), f"{tmp_path}/", f"{tmp_path}/mine/", f"{tmp_path}/mine/state"):
        with pytest.raises(DataError, match="cannot keep finished work here: "):
            open_state(name, A)
    assert os.listdir(tmp_path) == ["mine"]


@pytest.mark.parametrize("kind", ["link", "hard link", "fifo", "folder"])
@pytest.mark.parametrize("keep", [True, False])
def test_a_link_in_the_place_of_the_file_is_not_followed(path, tmp_path, kind, keep):
    """Others may write in a named folder: nothing is changed where such a link leads."""
    with ResultCache(path, keep) as cache:
        cache.put("k", Record(1))
    os.unlink(cache.path)
    thesis = tmp_path / "thesis"
    thesis.write_text("agf, as the file of results begins")
    if kind == "link":
        os.symlink(thesis, cache.path)
    elif kind == "hard link":
        os.link(thesis, cache.path)
    elif kind == "fifo":
        os.mkfifo(cache.path)
    else:
        os.mkdir(cache.path)
    if kind == "hard link":
        with own_warnings() as told, ResultCache(path, keep) as cache:
            cache.put("k", Record(2))
            assert head(cache, "k") == 2
        assert "damaged" in " ".join(texts_of(told))
    elif keep:
        with pytest.raises(DataError, match="cannot keep finished work here: .*(in it is|irector)"):
            ResultCache(path, keep)
    elif kind != "folder":  # as those of version 0.3.0, which go
        with pytest.warns(AgfmcWarning, match="cannot write: .* in it is"):
            ResultCache(path, keep).put("k", Record(1))
    assert thesis.read_text() == "agf, as the file of results begins"


def test_a_link_in_the_place_of_the_new_file(path, tmp_path, monkeypatch):
    monkeypatch.setattr(room, "_SMALL", 1000)
    (tmp_path / "thesis").write_text("mine")
    with ResultCache(path) as cache:
        for number in range(5):
            cache.put(str(number), of_size(300))
        os.symlink(tmp_path / "thesis", cache.path + ".new")
    assert (tmp_path / "thesis").read_text() == "mine" and size_of(path) <= 1000


def test_a_folder_that_has_gone_is_made_anew(path, warned):
    cache = open_state(path, A)
    for key in ("k1", "k2"):
        shutil.rmtree(path)
        cache.put(key, Record(key))
        assert head(cache, key) == key
    with open_state(path, A) as cache:
        assert head(cache, "k2") == "k2"
    assert not warned


def test_a_folder_that_cannot_be_written_is_no_reason_to_stop(path):
    cache = open_state(path, A)
    shutil.rmtree(path)
    with open(path, "w"):
        pass
    with pytest.warns(AgfmcWarning, match="cannot write: .*would start from the beginning"):
        cache.put("k", Record(1))
    cache.put("k", Record(1))  # told once
    assert cache.get("k") is None and not cache.keeps_anything()


def change(path, start, data):
    with open(path, "r+b") as file:
        file.seek(start)
        file.write(data)


def test_damage_costs_what_is_damaged(path):
    with open_state(path, A) as cache:
        for key in ("k1", "k2", "k3"):
            cache.put(key, Record("value"))
    size = os.path.getsize(cache.path)
    change(cache.path, size // 3 - 2, b"?")  # in the body of the first
    change(cache.path, size // 3 + 20, b"?")  # in the head of the second
    with own_warnings() as told, open_state(path, A) as cache:
        assert [head(cache, key) for key in ("k1", "k2", "k3", "k1")] == [None, None, "value", None]
        cache.put("k1", Record("new"))
    (text,) = texts_of(told)
    assert text == f"{cache.path}: damaged results were computed again"
    change(cache.path, 0, b"?")
    with own_warnings() as told, open_state(path, A) as cache:
        assert cache.get("k3") is None
    assert len(told) == 1
    with no_own_warnings(), open_state(path, A) as cache:  # it was made anew
        pass


def test_a_state_without_a_name():
    with pytest.raises(UsageError, match="^`state`: expected the name of a folder"):
        open_state("", A)


def test_nothing_is_kept_without_a_folder():
    with ResultCache(None) as cache:
        cache.put("k", Record(1))
        assert cache.get("k") is None and not cache.keeps_anything()


def test_no_place_is_no_reason_to_stop(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(AgfmcWarning, match="would start from the beginning"):
        cache = ResultCache(str(tmp_path / "file" / "state"))
    with cache:
        cache.put("k", Record(1))
        assert cache.get("k") is None and not cache.keeps_anything()


KILLED = """import os, sys
from agfmc.files import result_store
cache = result_store.ResultCache(sys.argv[1], keep=True)
cache.put('k', result_store.Record('value'))
write = os.pwrite
def pwrite(file, data, place):
    write(file, data[:int(sys.argv[2])], place)
    os.kill(os.getpid(), 9)
os.pwrite = pwrite
cache.put('half', result_store.Record('value'))
"""


@pytest.mark.parametrize("part", [0, 40, 90])
def test_it_outlives_kill_9(path, root, part):
    """In the middle of a record, of which the next one takes the place."""
    done = subprocess.run([sys.executable, "-c", KILLED, path, str(part)], cwd=root)
    assert done.returncode == -signal.SIGKILL
    with no_own_warnings():
        for expected in (None, "other"):
            with ResultCache(path, keep=True) as cache:
                assert head(cache, "k") == "value" and head(cache, "half") == expected
                cache.put("half", Record("other"))


def test_a_signal_in_the_middle_of_writing(path, monkeypatch):
    def interrupted(file, data, place):
        pwrite(file, data[:50], place)
        raise KeyboardInterrupt

    pwrite = os.pwrite
    with ResultCache(path, keep=True) as cache:
        cache.put("k", Record("value"))
        size = os.path.getsize(cache.path)
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(os, "pwrite", interrupted)
            cache.put("k", Record("other"))
        assert cache.keeps_anything() and head(cache, "k") == "value"
        assert os.path.getsize(cache.path) == size


WRITER = """import fcntl, sys
from agfmc.files.result_store import Record, ResultCache
if sys.argv[3] == "no locks":
    def flock(*_):
        raise OSError(38, "Function not implemented")
    fcntl.flock = flock
with ResultCache(sys.argv[1], keep=True) as cache:
    for i in range(200):
        cache.put(f"{sys.argv[2]} {i}", Record("x" * i))
        cache.put(f"both {i}", Record(i))
        for name in "abc":
            record = cache.get(f"{name} {i}")
            assert record is None or record.head == "x" * i
"""


@pytest.mark.parametrize("locks", ["locks", "no locks"])
def test_several_processes(path, root, locks):
    """All results of all are there; without locks there may be fewer, and no wrong one."""
    running = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", WRITER, path, name, locks], cwd=root
        )
        for name in "abc"
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    allowed = ("x" * 10**6,) if locks == "locks" else (None,)
    with own_warnings(), ResultCache(path, keep=True) as cache:
        for i in range(200):
            for name in "abc":
                assert head(cache, f"{name} {i}") in ("x" * i, *allowed)
            assert head(cache, f"both {i}") in (i, *allowed)
        cache.put("after", Record(1))
        assert head(cache, "after") == 1


def test_automatic_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert automatic_folder() == str(tmp_path / "agfmc")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert automatic_folder() == str(tmp_path / ".cache" / "agfmc")


# -- it is the user's own -----------------------------------------------------------------------


def test_an_automatic_file_is_private(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = os.umask(0)
    try:
        with pytest.raises(KeyError), open_state(None, A) as cache:
            cache.put("k", Record(1))
            raise KeyError
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(cache.path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(cache.path)).st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o720, 0o702])
def test_a_folder_that_others_may_write_in_is_not_used(tmp_path, mode):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(mode)
    with pytest.warns(AgfmcWarning, match="other users can write to this folder: an"):
        with ResultCache(str(tmp_path / "shared")) as cache:
            cache.put("k", Record(1))
            assert cache.get("k") is None
    assert os.listdir(tmp_path / "shared") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's folder")
def test_another_user_s_folder_is_not_used(tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o755)
    os.chown(tmp_path / "theirs", 12345, 12345)
    with pytest.warns(AgfmcWarning, match="other users can write to this folder"):
        ResultCache(str(tmp_path / "theirs"))
    assert not os.listdir(tmp_path / "theirs")
