"""Finished work: found again, never mistaken, private, gone when it is done with."""

import errno
import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from agfmc.errors import AgfmcWarning, DataError, UsageError
from agfmc.experiments.binary_problems import Trained
from agfmc.experiments import result_cache as room
from agfmc.experiments.result_cache import (automatic_path, CLASSIFIER, key_of, open_state,
                                            ResultCache, ResultFolder, shuffled_for)
from agfmc.experiments.trial import Outcome


@pytest.fixture
def path(tmp_path):
    (tmp_path / "own").mkdir(mode=0o700)
    return str(tmp_path / "own" / "state")


def folder_of(path):
    return sorted(os.listdir(os.path.dirname(path)))


def ends(cache, error=None):
    cache.__exit__(error, None, None)


def test_keys_tell_apart():
    a = np.arange(6.0)
    keys = [key_of(1, 2), key_of("1", 2), key_of(12), key_of((1, 2)), key_of(a),
            key_of(a.reshape(2, 3)), key_of(a.astype("f4")), key_of(b"ab", b"c"),
            key_of(b"a", b"bc")]
    assert len(set(keys)) == len(keys) and key_of(a, "x") == key_of(a.copy(), "x")


def test_what_is_put_is_found_again(path):
    with ResultCache(path, keep=True) as cache:
        assert cache.get("k") is None
        cache.put("k", b"value")
        assert cache.get("k") == b"value"
        cache.put("k", b"other")
        cache.flush()
        cache.put("empty", b"")
        cache.flush()
        assert cache.get("k") == b"other" and cache.found == 0  # its own
    with ResultCache(path, keep=True) as cache:
        assert cache.get("k") == b"other" and cache.get("empty") == b""
        assert cache.found == 2


def test_a_file_of_its_own_stays_unless_it_is_empty(tmp_path):
    path = str(tmp_path / "new" / "state")
    with pytest.raises(RuntimeError), ResultCache(path, data="d") as cache:
        raise RuntimeError
    assert folder_of(path) == []
    with pytest.raises(RuntimeError), ResultCache(path, data="d") as cache:
        cache.put("k", b"value")
        raise RuntimeError
    for _ in range(2):
        with ResultCache(path, data="d") as cache:
            assert cache.get("k") == b"value"


def fill(path, end=None):
    """20 classifiers of 100 bytes and 20 results of 50, some before and some after."""
    with ResultCache(path) as cache:
        for number in range(20):
            cache.put(CLASSIFIER + str(number), bytes(100))
            cache.put(f"small {number}", bytes([number]) * 50)
        if end is not None:
            raise end


def test_a_large_file_of_its_own_loses_classifiers_and_then_what_is_old(path, monkeypatch):
    monkeypatch.setattr(room, "_MOST", 3000)
    with pytest.raises(KeyError):
        fill(path, KeyError())
    assert os.path.getsize(path) > 3000  # it goes on from there
    fill(path)
    assert os.path.getsize(path) < 3000 and os.stat(path).st_mode & 0o777 == 0o600
    with ResultCache(path) as cache:
        assert [cache.get(f"small {number}") for number in range(20)] == \
            [bytes([number]) * 50 for number in range(20)]
        assert cache.get(CLASSIFIER + "1") is None
    monkeypatch.setattr(room, "_MOST", 1000)
    with ResultCache(path):
        pass
    with ResultCache(path) as cache:
        found = [number for number in range(20) if cache.get(f"small {number}") is not None]
    assert found == list(range(20 - len(found), 20)) and 8 < len(found) < 20
    assert folder_of(path) == ["state"]


def test_a_file_that_a_user_named_stays_as_it_is(path, monkeypatch):
    monkeypatch.setattr(room, "_MOST", 10)
    with ResultCache(path, keep=True) as cache:
        cache.put(CLASSIFIER + "1", bytes(100))
    with ResultCache(path, keep=True) as cache:
        assert cache.get(CLASSIFIER + "1") == bytes(100)


def test_a_run_goes_on_while_another_makes_the_file_smaller(path, monkeypatch):
    monkeypatch.setattr(room, "_MOST", 3000)
    with ResultCache(path) as other:
        other.put("first", b"1")
        other.flush()
        fill(path)
        assert other.get("first") == b"1"
        other.put("second", b"2")
        assert other.keeps_anything()
        assert other.get("first") == b"1" and other.get("small 3") == bytes([3]) * 50
    with ResultCache(path) as cache:
        assert cache.get("second") == b"2" and cache.get("small 19") == bytes([19]) * 50


def test_unused_files_go(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "agfmc"
    folder.mkdir(mode=0o700)
    now = time.time()
    for name, days, size in (("old.results", 31, 1), ("unfinished-1.results", 40, 1),
                             ("new.results", 29, 1), ("large.results", 3, 700),
                             ("larger.results", 2, 700), ("other", 90, 1)):
        (folder / name).write_bytes(bytes(size))
        os.utime(folder / name, (now - days * 86400,) * 2)
    own = automatic_path("d" * 64)
    with ResultCache(own) as cache:
        cache.put("k", bytes(900))
    os.utime(own, (now - 50 * 86400,) * 2)
    monkeypatch.setattr(room, "_ALL", 2000)
    with open_state(None, "d" * 64) as cache:
        assert cache.get("k") == bytes(900)
    assert set(folder_of(own)) == {os.path.basename(own), "larger.results", "other"}
    assert os.stat(own).st_mtime > now - 60


def test_all_files_of_a_user_stay_within_the_bound(tmp_path, monkeypatch, recwarn):
    """Also when many runs end, one after the other or at once; a run alone stores no more then."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(room, "_ALL", 4000)

    def total():
        return sum(path.stat().st_size for path in (tmp_path / "agfmc").iterdir())

    def run(number):
        with open_state(None, f"{number:064}"[::-1]) as cache:
            for part in range(6):
                cache.put(f"{number} {part}", bytes([part]) * 200)
                cache.flush()
                assert cache.get(f"{number} {part}") in (bytes([part]) * 200, None)

    for number in range(4):
        run(number)
        assert 0 < total() <= 4000
    with open_state(None, f"{3:064}"[::-1]) as cache:  # the last one is there
        assert cache.get("3 5") == bytes([5]) * 200 and cache.get("0 1") is None
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(run, range(10, 40)))
    assert 0 < total() <= 4000 and not recwarn.list
    with open_state(None, "f" * 64) as cache:
        for number in range(50):
            cache.put(CLASSIFIER + str(number), bytes(300))
            cache.flush()
        assert 1500 < os.path.getsize(cache.path) <= 2400  # for classifiers there is half
        cache.put("small", bytes(300))
        assert cache.get("small") == bytes(300)
    assert 0 < total() <= 4000
    message, = {str(warning.message) for warning in recwarn.list}
    assert "no more is stored, and an interrupted run repeats it (--state FILE has" in message


def states(tmp_path, data):
    """A file and a folder for results of some data."""
    return (open_state(str(tmp_path / "file"), data), open_state(f"{tmp_path}/folder/", data))


def test_a_state_of_other_data_is_told(tmp_path, recwarn):
    for data in ("a", "a"):
        for cache in states(tmp_path, data):
            with cache:
                cache.put("k", b"v")
    assert not recwarn.list
    for data in ("b", "c"):
        with pytest.warns(AgfmcWarning) as told:
            caches = states(tmp_path, data)
        assert [str(one.message) for one in told if one.category is AgfmcWarning] == \
            [f"all results in {tmp_path}/{name} are of other data: none can be reused"
             for name in ("file", "folder/")]
        for cache in caches:
            with cache:
                cache.put("k" + data, b"v")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for data in ("a", "b", "c"):
            ends(states(tmp_path, data)[0])


def test_a_folder(tmp_path):
    name = str(tmp_path / "state") + "/"
    with open_state(name, "d") as cache:
        assert isinstance(cache, ResultFolder) and cache.get("k1") is None
        cache.put("k1", b"value")
        cache.put("k1", b"other")
        cache.put("k2", b"")
        assert (cache.get("k1"), cache.get("k2"), cache.found) == (b"other", b"", 0)
    with open_state(name[:-1], "d") as one, open_state(name, "d") as two:
        assert one.get("k1") == b"other" and one.found == 1
        one.put("k3", b"3")
        assert two.get("k3") == b"3"
    assert os.listdir(tmp_path / "state" / "tmp") == []


def test_a_folder_of_other_files_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("")
    for name in (str(tmp_path), f"{tmp_path}/", f"{tmp_path}/none/there/", f"{tmp_path}/mine/"):
        with pytest.raises(DataError, match="cannot keep finished work here: "):
            open_state(name, "d")
    assert os.listdir(tmp_path) == ["mine"]


def test_what_a_killed_process_left_in_a_folder_goes_after_a_day(tmp_path):
    name = str(tmp_path / "state") + "/"
    open_state(name, "d")
    for days in (0.5, 1.5):
        (tmp_path / "state" / "tmp" / str(days)).write_text("")
        os.utime(tmp_path / "state" / "tmp" / str(days), (time.time() - days * 86400,) * 2)
    open_state(name, "d")
    assert os.listdir(tmp_path / "state" / "tmp") == ["0.5"]


def test_a_folder_that_cannot_be_written_is_no_reason_to_stop(tmp_path):
    cache = open_state(str(tmp_path / "state") + "/", "d")
    shutil.rmtree(tmp_path / "state")
    with pytest.warns(AgfmcWarning, match="cannot write: No such file or directory"):
        cache.put("k", b"value")
    cache.put("k", b"value")  # told once
    assert cache.get("k") is None and not cache.keeps_anything()


def test_damage_is_told(path, recwarn):
    with ResultCache(path, keep=True) as cache:
        for number in range(3):
            cache.put(f"k{number}", b"value")
            cache.flush()
    with open(path, "rb") as file:
        data = file.read()
    size = (len(data) - len(room._HEAD)) // 3
    with open(path, "wb") as file:
        file.write(data[:-2])  # as after kill -9
    with ResultCache(path, keep=True) as cache:
        assert cache.get("k1") == b"value" and cache.get("k2") is None
    assert not recwarn.list
    place = len(room._HEAD) + 2 * size - 1
    with open(path, "wb") as file:
        file.write(data[:place] + b"?" + data[place + 1:])
    with ResultCache(path, keep=True) as cache:
        assert cache.get("k0") == b"value" and cache.get("k1") is cache.get("k2") is None
    told, = recwarn.list
    assert str(told.message) == (f"{path}: damaged after {len(room._HEAD) + size} of {len(data)} "
                                 "bytes: the results behind are computed again")


def test_damage_in_a_folder_is_told_once(tmp_path):
    with open_state(str(tmp_path / "state") + "/", "d") as cache:
        for key in ("k1", "k2", "k3"):
            cache.put(key, b"value")
    for key in ("k1", "k2"):
        with open(cache._place(key), "ab") as file:
            file.write(b"?")
    with pytest.warns(AgfmcWarning, match="2 damaged results were computed again") as told, cache:
        assert [cache.get(key) for key in ("k1", "k2", "k3", "k1")] == [None, None, b"value", None]
    assert len(told) == 1


def test_a_file_made_anew_knows_its_data(path, recwarn):
    with ResultCache(path, keep=True, data="d") as cache:
        cache.put("k1", b"value")
        cache.flush()
        os.unlink(path)
        cache.put("k2", b"value")
    with ResultCache(path, keep=True, data="d") as cache:
        assert cache.get("k2") == b"value"
    assert not recwarn.list


def test_a_state_without_a_name():
    with pytest.raises(UsageError, match="^--state: expected the name of a file or of a folder"):
        open_state("", "d")


def test_the_order_of_one_process_among_several(tmp_path):
    alone = ResultCache(None)
    assert shuffled_for(alone, [3, 1, 2]) == [3, 1, 2]
    cache = open_state(str(tmp_path / "state") + "/", "d")
    items = list(range(100))
    orders = [shuffled_for(cache, items) for _ in range(2)]
    assert orders[0] != orders[1] and sorted(orders[0]) == items


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("call", ["os.fsync", "fcntl.flock"])
def test_a_signal_in_the_middle_of_writing(path, monkeypatch, call):
    def interrupted(*_):
        raise KeyboardInterrupt

    with ResultCache(path, keep=True) as cache:
        cache.put("k", b"value")
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(call, interrupted)
            cache.flush()
        assert cache.keeps_anything() and cache.get("k") == b"value"


def test_nothing_is_kept_without_a_file():
    with ResultCache(None) as cache:
        cache.put("k", b"value")
        assert cache.get("k") is None and not cache.keeps_anything()


def test_no_place_is_no_reason_to_stop(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(AgfmcWarning, match="would start from the beginning"):
        cache = ResultCache(str(tmp_path / "file" / "state"))
    with cache:
        cache.put("k", b"value")
        assert cache.get("k") is None and not cache.keeps_anything()


KILLED = """import os, sys
from agfmc.experiments.result_cache import ResultCache
cache = ResultCache(sys.argv[1])
cache._written = 0.0  # the pause is over
cache.put('k', b'value')
os.kill(os.getpid(), 9)
"""


def test_it_outlives_kill_9(path, root):
    done = subprocess.run([sys.executable, "-c", KILLED, path], cwd=root)
    assert done.returncode == -signal.SIGKILL
    with ResultCache(path) as cache:
        assert cache.get("k") == b"value"


def test_killed_at_each_byte(path):
    """What follows a result that is not complete is overwritten."""
    with ResultCache(path, keep=True) as cache:
        cache.put("a", b"first")
        cache.flush()
        one = os.path.getsize(path)
        cache.put("b", b"second")
    with open(path, "rb") as file:
        whole = file.read()
    for size in range(len(whole)):
        with open(path, "wb") as file:
            file.write(whole[:size])
        with ResultCache(path, keep=True) as cache:
            assert cache.get("b") is None and cache.get("a") == (b"first" if size >= one else None)
            cache.put("b", b"second")
        with ResultCache(path, keep=True) as cache:
            assert cache.get("b") == b"second" and (size < one or cache.get("a") == b"first")


@pytest.mark.parametrize("locks", [True, False])
def test_two_at_a_time(path, monkeypatch, locks):
    if not locks:
        def refused(handle, way):
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

        monkeypatch.setattr(fcntl, "flock", refused)
    with ResultCache(path, keep=True) as one, ResultCache(path, keep=True) as two:
        for i in range(20):
            (one if i % 2 else two).put(f"k{i}", b"%d" % i)
            (one if i % 2 else two).flush()
        assert all(one.get(f"k{i}") == two.get(f"k{i}") == b"%d" % i for i in range(20))


WRITER = """import sys
from agfmc.experiments.result_cache import ResultCache
with ResultCache(sys.argv[1], keep=True) as cache:
    for i in range(40):
        cache.put(f"{sys.argv[2]} {i}", bytes(i * 10))
        cache.flush()
"""


def test_several_processes(path, root):
    running = [subprocess.Popen([sys.executable, "-c", WRITER, path, name], cwd=root)
               for name in "ab"]
    assert [process.wait() for process in running] == [0, 0]
    with ResultCache(path, keep=True) as cache:
        assert all(cache.get(f"{name} {i}") == bytes(i * 10) for name in "ab" for i in range(40))


@pytest.mark.filterwarnings("error")
def test_a_run_whose_file_has_gone_makes_it_anew(path):
    with ResultCache(path) as cache:
        cache.put("x", b"1")
        cache.flush()
        os.unlink(path)
        cache.put("y", b"2")
        assert cache.keeps_anything() and cache.get("x") is None
    with ResultCache(path) as cache:
        assert cache.get("y") == b"2"


def test_an_interrupted_run_leaves_results_or_nothing(path):
    one, two = ResultCache(path), ResultCache(path)
    assert not two.keeps_anything()
    one.put("x", b"1")
    assert one.keeps_anything()
    with ResultCache(path, keep=True) as other:
        assert other.get("x") == b"1"  # it is on the disk
    ends(one, KeyboardInterrupt)
    assert folder_of(path) == ["state"]
    os.unlink(path)
    ends(ResultCache(path), KeyboardInterrupt)
    assert folder_of(path) == []


def test_automatic_path(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert automatic_path("0123456789abcdef99") == \
        str(tmp_path / "agfmc" / "data-0123456789abcdef99.results")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert automatic_path("ab").startswith(str(tmp_path / ".cache" / "agfmc"))


# -- it is the user's own -----------------------------------------------------------------------

def test_folder_and_file_are_private(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = os.umask(0)
    try:
        path = automatic_path("0" * 64)
        with pytest.raises(KeyError), ResultCache(path) as cache:
            cache.put("k", b"v")
            raise KeyError
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o720, 0o702])
def test_a_folder_that_others_may_write_in_is_not_used(tmp_path, mode):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(mode)
    with pytest.warns(AgfmcWarning, match="other users can write to its folder: an"):
        with ResultCache(str(tmp_path / "shared" / "state")) as cache:
            cache.put("k", b"v")
            assert cache.get("k") is None
    assert os.listdir(tmp_path / "shared") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's folder")
def test_another_user_s_folder_is_not_used(tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o755)
    (tmp_path / "victim").write_text("old")
    os.symlink(tmp_path / "victim", tmp_path / "theirs" / "state")
    os.chown(tmp_path / "theirs", 12345, 12345)
    with pytest.warns(AgfmcWarning, match="other users can write to its folder"):
        ResultCache(str(tmp_path / "theirs" / "state"))
    assert (tmp_path / "victim").read_text() == "old"


@pytest.mark.parametrize("content", [b"something else" * 50, b"SQLite format 3\0" + bytes(4096),
                                     b"agfmc results 2\n"], ids=["text", "SQLite", "2"])
def test_foreign_files_are_left_alone(path, content):
    with open(path, "wb") as file:
        file.write(content)
    with pytest.raises(DataError, match="cannot keep finished work here: it belongs to another"):
        ResultCache(path, keep=True)
    with open(path, "rb") as file:
        assert file.read() == content


DEEP = b"[" * 100_000


@pytest.mark.parametrize("data", [
    DEEP, DEEP + b"\n", b"cos\nsystem\n(S'touch pwned'\ntR.", b"\x80\x04\x95\x1d", b"", b"\n",
    b"[1,1,1,{}]\n" + zlib.compress(bytes(10**7)), len(DEEP).to_bytes(4, "little") + DEEP],
    ids=range(8))
def test_values_of_a_stranger(data):
    assert Outcome.from_bytes(None, "vote", data, np.zeros(10, int), [0]) is None
    assert Trained.from_bytes(data, 10) is None


def test_the_right_values_are_taken():
    trained = Trained(np.arange(3), np.ones(3), 0.5, (0, 1), (2, 1), (1.0, 2.0), 0.1, None)
    assert Trained.from_bytes(trained.to_bytes(), 10).rho == 0.5
