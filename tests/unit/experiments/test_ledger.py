"""Finished work: found again, never mistaken, gone when it is done with."""

import os
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from agfmc.errors import AgfmcWarning, DataError
from agfmc.experiments.result_cache import automatic_path, key_of, Ledger


def test_keys_tell_apart():
    a = np.arange(6.0)
    keys = [key_of(1, 2), key_of("1", 2), key_of(12), key_of((1, 2)), key_of(a),
            key_of(a.reshape(2, 3)), key_of(a.astype("f4")), key_of(b"ab", b"c"),
            key_of(b"a", b"bc")]
    assert len(set(keys)) == len(keys)
    assert key_of(a, "x") == key_of(a.copy(), "x")


def test_what_is_put_is_found_again(tmp_path):
    path = str(tmp_path / "state")
    with Ledger(path, keep=True) as ledger:
        assert ledger.get("k") is None
        ledger.put("k", b"value")
        assert ledger.get("k") == b"value"
        ledger.put("k", b"other")
    with Ledger(path, keep=True) as ledger:
        assert ledger.get("k") == b"other"
        assert ledger.found == 1


def test_a_file_of_its_own_goes_only_after_a_good_end(tmp_path):
    path = str(tmp_path / "new" / "state")
    with pytest.raises(RuntimeError), Ledger(path) as ledger:
        ledger.put("k", b"value")
        raise RuntimeError
    with Ledger(path) as ledger:
        assert ledger.get("k") == b"value"
    assert not os.path.exists(path)


@pytest.mark.filterwarnings("error")
def test_a_signal_in_the_middle_of_writing(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with Ledger(str(tmp_path / "state"), keep=True) as ledger:
        ledger.put("k", b"value")
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr("agfmc.experiments.result_cache._sum", interrupted)
            ledger.flush()
        assert ledger.keeps_anything()
        assert ledger.get("k") == b"value"


def test_nothing_is_kept_without_a_file():
    with Ledger(None) as ledger:
        ledger.put("k", b"value")
        assert ledger.get("k") is None


def test_damage_is_not_believed(tmp_path):
    path = str(tmp_path / "state")
    with Ledger(path, keep=True) as ledger:
        ledger.put("k", b"value")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE done SET value = ?", (b"valuf",))
    with Ledger(path, keep=True) as ledger:
        assert ledger.get("k") is None


@pytest.mark.parametrize("content", [b"something else, not a data base" * 50, None])
def test_foreign_files_are_left_alone(tmp_path, content):
    path = tmp_path / "state"
    if content is None:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE mine (a)")
        content = path.read_bytes()
    else:
        path.write_bytes(content)
    with pytest.raises(DataError, match="cannot keep finished work here"):
        Ledger(str(path), keep=True)
    assert path.read_bytes() == content


def test_no_place_is_no_reason_to_stop(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(AgfmcWarning, match="would begin again"):
        ledger = Ledger(str(tmp_path / "file" / "state"))
    with ledger:
        ledger.put("k", b"value")
        assert ledger.get("k") is None


def test_it_outlives_kill_9(tmp_path):
    path = str(tmp_path / "state")
    code = ("import os, sys, time\n"
            "from agfmc.experiments.result_cache import Ledger\n"
            "ledger = Ledger(sys.argv[1], keep=True)\n"
            "ledger._written = 0.0\n"  # the pause is over
            "ledger.put('k', b'value')\n"
            "os.kill(os.getpid(), 9)\n")
    done = subprocess.run([sys.executable, "-c", code, path])
    assert done.returncode == -9
    with Ledger(path, keep=True) as ledger:
        assert ledger.get("k") == b"value"


def test_two_at_a_time(tmp_path):
    path = str(tmp_path / "state")
    with Ledger(path, keep=True) as one, Ledger(path, keep=True) as two:
        for i in range(20):
            (one if i % 2 else two).put(f"k{i}", b"%d" % i)
            (one if i % 2 else two).flush()
        assert all(one.get(f"k{i}") == two.get(f"k{i}") == b"%d" % i for i in range(20))


def test_automatic_path(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert automatic_path("0123456789abcdef99") == \
        str(tmp_path / "agfmc" / "unfinished-0123456789abcdef.sqlite")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert automatic_path("ab").startswith(str(tmp_path / ".cache" / "agfmc"))
