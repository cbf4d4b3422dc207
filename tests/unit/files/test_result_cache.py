"""Finished work: found again, never mistaken, private, gone when it is done with."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from agfmc.core.errors import AgfmcWarning, DataError, UsageError
from agfmc.files import result_store as room
from agfmc.files.result_store import (
    automatic_path,
    CLASSIFIER,
    key_of,
    open_state,
    Record,
    ResultCache,
    result_key,
    shuffled_for,
)
from own_warnings import no_own_warnings, own_warnings, texts_of


@pytest.fixture
def path(tmp_path):
    (tmp_path / "own").mkdir(mode=0o700)
    return str(tmp_path / "own" / "state")


def folder_of(path):
    return sorted(os.listdir(os.path.dirname(path)))


def head(cache, key):
    record = cache.get(key)
    return None if record is None else record.head


def of_size(size):
    return Record(None, {"a": np.zeros(size, np.uint8)})


def size_of(path):
    return sum(size for _, size, _ in room._files(path))


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
    arrays = {"x": np.arange(6.0).reshape(2, 3), "none": np.empty((0, 4), "<f4")}
    for name in (path + "/", path):
        with open_state(name, "d") as cache:
            cache.put("k1", Record("value"))
            cache.put("k1", Record(["other", 1.5, None], arrays))
            cache.put("k2", Record(None))
            record = cache.get("k1")
            assert record.head == ["other", 1.5, None] and cache.reused == 0  # its own
            for key, array in arrays.items():
                np.testing.assert_array_equal(record.array(key, array.dtype, *array.shape), array)
    with open_state(path, "d") as one, open_state(path, "d") as two:
        assert head(one, "k1")[0] == "other" and one.get("k2") == (None, {}) and one.reused == 2
        one.put("k3", Record(3))
        assert head(two, "k3") == 3 and two.get("k4") is None
    assert os.listdir(path + "/tmp") == []


def test_arrays_are_as_they_are_expected():
    record = Record(None, {"x": np.array([[1.0, np.nan]])})
    assert record.array("x", "<f8", 1, None, finite=False).shape == (1, 2)
    for name, kind, shape in (
        ("y", "<f8", (1, 2)),
        ("x", "<f4", (1, 2)),
        ("x", "<f8", (2, 1)),
        ("x", "<f8", (2,)),
        ("x", "<f8", (1, 2)),
    ):
        with pytest.raises(ValueError, match="no array"):
            record.array(name, kind, *shape)


def test_an_automatic_folder_comes_with_its_first_result(path):
    with pytest.raises(RuntimeError), ResultCache(path, data="d"):
        raise RuntimeError
    assert folder_of(path) == []
    with pytest.raises(RuntimeError), ResultCache(path, data="d") as cache:
        cache.put("k", Record("value"))
        raise RuntimeError
    for _ in range(2):
        with ResultCache(path, data="d") as cache:
            assert head(cache, "k") == "value"


def fill(path, end=None):
    """20 classifiers and 20 results, some before and some after."""
    with ResultCache(path) as cache:
        for number in range(20):
            cache.put(CLASSIFIER + str(number), of_size(100))
            cache.put(f"small {number}", Record(number))
            os.utime(cache._file_of(f"small {number}"), (number, number))
        if end is not None:
            raise end


def test_a_large_automatic_folder_loses_classifiers_and_then_what_is_old(path, monkeypatch):
    monkeypatch.setattr(room, "_SMALL", 10_000)
    with pytest.raises(KeyError):
        fill(path, KeyError())
    assert size_of(path) > 10_000  # it goes on from there
    fill(path)
    assert size_of(path) < 10_000
    with ResultCache(path) as cache:
        assert [head(cache, f"small {number}") for number in range(20)] == list(range(20))
        assert cache.get(CLASSIFIER + "1") is None
    monkeypatch.setattr(room, "_SMALL", 2000)
    with ResultCache(path):
        pass
    with ResultCache(path) as cache:
        found = [number for number in range(20) if cache.get(f"small {number}") is not None]
    assert found == list(range(20 - len(found), 20)) and 5 < len(found) < 20
    assert folder_of(path) == ["state"]


def test_a_folder_that_a_user_named_stays_as_it_is(path, monkeypatch):
    monkeypatch.setattr(room, "_SMALL", 10)
    for _ in range(2):
        with ResultCache(path, keep=True) as cache:
            cache.put(CLASSIFIER + "1", of_size(100))
    with ResultCache(path, keep=True) as cache:
        assert len(cache.get(CLASSIFIER + "1").array("a", "u1", 100)) == 100


def test_unused_folders_go(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "agfmc"
    folder.mkdir(mode=0o700)
    now = time.time()
    for name, days, size in (
        ("data-00.results", 31, 1),
        ("data-01.results", 29, 1),
        ("data-02.results", 3, 700),
        ("data-03.results", 2, 700),
        ("other", 90, 1),
        ("thesis.results", 90, 1),
    ):
        (folder / name / "xy").mkdir(parents=True)
        (folder / name / "xy" / "k").write_bytes(bytes(size))
        os.utime(folder / name, (now - days * 86400,) * 2)
    (folder / "data-04.results").write_bytes(b"agfmc results 1\n")  # of an earlier version
    automatic = automatic_path("d" * 64)
    with ResultCache(automatic) as cache:
        cache.put("k", Record("x" * 500))
    os.utime(automatic, (now - 50 * 86400,) * 2)
    monkeypatch.setattr(room, "_ALL", 2000)
    with open_state(None, "d" * 64) as cache:
        assert head(cache, "k") == "x" * 500
    others = {"other", "thesis.results"}
    assert set(folder_of(automatic)) == {os.path.basename(automatic), "data-03.results", *others}
    assert os.stat(automatic).st_mtime > now - 60


def test_a_file_of_an_earlier_version_makes_room(path):
    with open(path, "wb") as file:
        file.write(b"agfmc results 1\n")
    with pytest.raises(
        DataError,
        match="cannot keep finished work here: expected a folder of "
        "results, found a file .*of an earlier version",
    ):
        open_state(path, "d")
    for expected in (None, 1):
        with ResultCache(path) as cache:
            assert head(cache, "k") == expected
            cache.put("k", Record(1))


def test_all_folders_of_a_user_stay_within_the_bound(tmp_path, monkeypatch, warned):
    """Also when many runs end, one after the other or at once; a run alone stores no more then."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(room, "_ALL", 8000)

    def total():
        return sum(size_of(path) for path in (tmp_path / "agfmc").iterdir())

    def run(number):
        with open_state(None, f"{number:064}"[::-1]) as cache:
            for part in range(6):
                cache.put(f"{number} {part}", Record(part))
                assert head(cache, f"{number} {part}") in (part, None)

    for number in range(4):
        run(number)
        assert 0 < total() <= 8000
    with open_state(None, f"{3:064}"[::-1]) as cache:  # the last one is there
        assert head(cache, "3 5") == 5 and cache.get("0 1") is None
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(run, range(10, 40)))
    assert 0 < total() <= 8000 and not warned
    with open_state(None, "f" * 64) as cache:
        for number in range(50):
            cache.put(CLASSIFIER + str(number), of_size(300))
        assert 3000 < size_of(cache.path) <= 5000  # for classifiers there is half
        cache.put("small", Record(1))
        assert head(cache, "small") == 1
    assert 0 < total() <= 8000
    (message,) = set(texts_of(warned))
    assert "no more is stored, and an interrupted run repeats it (--state FOLDER has" in message


def test_a_state_of_other_data_is_told(path, warned):
    for data in ("a", "a"):
        with open_state(path, data) as cache:
            cache.put("k", Record(1))
    assert not warned
    for data in ("b", "c"):
        with own_warnings() as told, open_state(path, data) as cache:
            cache.put("k" + data, Record(1))
        assert texts_of(told) == [f"all results in {path} are of other data: none can be reused"]
    with no_own_warnings():
        for data in ("a", "b", "c"):
            open_state(path, data)


def test_a_folder_of_other_files_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("")
    for name in (str(tmp_path), f"{tmp_path}/", f"{tmp_path}/mine/", f"{tmp_path}/mine/state"):
        with pytest.raises(DataError, match="cannot keep finished work here: "):
            open_state(name, "d")
    assert os.listdir(tmp_path) == ["mine"]


def let_age(path, days):
    with open(path, "w"):
        os.utime(path, (time.time() - days * 86400,) * 2)


def test_what_a_killed_process_left_goes_after_a_day(path):
    """What has another name than the store gives is somebody else's."""
    open_state(path, "d")
    for name, days in (("0" * 24, 0.5), ("1" * 24, 1.5), ("notes.txt", 1.5)):
        let_age(f"{path}/tmp/{name}", days)
    os.symlink("notes.txt", f"{path}/tmp/link")
    open_state(path, "d")
    assert sorted(os.listdir(path + "/tmp")) == ["0" * 24, "link", "notes.txt"]


@pytest.mark.parametrize("name", ["tmp", "k1", "agfmc.results"])
def test_a_link_in_the_folder_is_not_followed(path, tmp_path, name):
    """Others can write in it: nothing is removed, replaced or made where such a link leads."""
    with open_state(path, "d"):
        pass
    (tmp_path / "docs").mkdir()
    for file in ("0" * 24, "k1"):
        let_age(tmp_path / "docs" / file, 2)
    shutil.rmtree(f"{path}/{name}", ignore_errors=True)
    if name == "agfmc.results":
        os.unlink(f"{path}/{name}")
        os.symlink(tmp_path / "docs" / "made", f"{path}/{name}")
    else:
        os.symlink(tmp_path / "docs", f"{path}/{name}")
    if name == "k1":
        with pytest.warns(AgfmcWarning, match="cannot write: k1 in it is a link"):
            open_state(path, "d").put("k1", Record(1))
    else:
        with pytest.raises(DataError, match="cannot keep finished work here: "):
            open_state(path, "d")
    assert sorted(os.listdir(tmp_path / "docs")) == ["0" * 24, "k1"]
    assert os.stat(tmp_path / "docs" / "k1").st_size == 0


def test_a_folder_that_has_gone_is_made_anew(path, warned):
    cache = open_state(path, "d")
    for key in ("k1", "k2"):
        shutil.rmtree(path)
        cache.put(key, Record(key))
        assert head(cache, key) == key
    with open_state(path, "d") as cache:
        assert head(cache, "k2") == "k2"
    assert not warned


def test_a_folder_that_cannot_be_written_is_no_reason_to_stop(path):
    cache = open_state(path, "d")
    shutil.rmtree(path)
    with open(path, "w"):
        pass
    with pytest.warns(AgfmcWarning, match="cannot write: .*would start from the beginning"):
        cache.put("k", Record(1))
    cache.put("k", Record(1))  # told once
    assert cache.get("k") is None and not cache.keeps_anything()


def test_damage_is_told_once(path):
    with open_state(path, "d") as cache:
        for key in ("k1", "k2", "k3"):
            cache.put(key, Record("value"))
    with open(cache._file_of("k1"), "r+b") as file:
        file.truncate(100)
    shutil.copyfile(cache._file_of("k3"), cache._file_of("k2"))
    with own_warnings() as told, cache:
        assert [head(cache, key) for key in ("k1", "k2", "k3", "k1")] == [None, None, "value", None]
    (text,) = texts_of(told)
    assert "2 damaged results were computed again" in text


def test_a_state_without_a_name():
    with pytest.raises(UsageError, match="^--state: expected the name of a folder"):
        open_state("", "d")


def test_the_order_of_one_process_among_several(path):
    alone = ResultCache(None)
    assert shuffled_for(alone, [3, 1, 2]) == [3, 1, 2]
    cache = open_state(path, "d")
    items = list(range(100))
    orders = [shuffled_for(cache, items) for _ in range(2)]
    assert orders[0] != orders[1] and sorted(orders[0]) == items


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
from agfmc.files.result_store import Record, ResultCache
cache = ResultCache(sys.argv[1], keep=True)
cache.put('k', Record('value'))
os.kill(os.getpid(), 9)
"""


def test_it_outlives_kill_9(path, root):
    done = subprocess.run([sys.executable, "-c", KILLED, path], cwd=root)
    assert done.returncode == -signal.SIGKILL
    with ResultCache(path) as cache:
        assert head(cache, "k") == "value"


@pytest.mark.parametrize("call", ["os.rename", "zipfile.ZipFile"])
def test_a_signal_in_the_middle_of_writing(path, monkeypatch, call):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with ResultCache(path, keep=True) as cache:
        cache.put("k", Record("value"))
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(call, interrupted)
            cache.put("k", Record("other"))
        assert cache.keeps_anything() and head(cache, "k") == "value"
    assert os.listdir(path + "/tmp") == []


WRITER = """import sys
from agfmc.files.result_store import Record, ResultCache
with ResultCache(sys.argv[1], keep=True) as cache:
    for i in range(40):
        cache.put(f"{sys.argv[2]} {i}", Record("x" * i))
        cache.put(f"both {i}", Record(i))
"""


def test_several_processes(path, root):
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, path, name], cwd=root) for name in "ab"
    ]
    assert [process.wait() for process in running] == [0, 0]
    with ResultCache(path, keep=True) as cache:
        assert all(head(cache, f"{name} {i}") == "x" * i for name in "ab" for i in range(40))
        assert all(head(cache, f"both {i}") == i for i in range(40))


def test_automatic_path(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert automatic_path("0123456789abcdef99") == str(
        tmp_path / "agfmc" / "data-0123456789abcdef99.results"
    )
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert automatic_path("ab").startswith(str(tmp_path / ".cache" / "agfmc"))


# -- it is the user's own -----------------------------------------------------------------------


def test_an_automatic_folder_is_private(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = os.umask(0)
    try:
        path = automatic_path("0" * 64)
        with pytest.raises(KeyError), ResultCache(path) as cache:
            cache.put("k", Record(1))
            raise KeyError
    finally:
        os.umask(before)
    for folder in (path, os.path.dirname(path)):
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o720, 0o702])
def test_a_folder_that_others_may_write_in_is_not_used(tmp_path, mode):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(mode)
    with pytest.warns(AgfmcWarning, match="other users can write to its folder: an"):
        with ResultCache(str(tmp_path / "shared" / "state")) as cache:
            cache.put("k", Record(1))
            assert cache.get("k") is None
    assert os.listdir(tmp_path / "shared") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's folder")
def test_another_user_s_folder_is_not_used(tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o755)
    os.chown(tmp_path / "theirs", 12345, 12345)
    with pytest.warns(AgfmcWarning, match="other users can write to its folder"):
        ResultCache(str(tmp_path / "theirs" / "state"))
    assert not os.listdir(tmp_path / "theirs")
