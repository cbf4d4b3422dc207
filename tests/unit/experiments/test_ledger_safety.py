"""Finished work is the user's own: no other user puts results or links where it is looked for."""

import os
import sqlite3
import stat
import zlib

import numpy as np
import pytest

from agfmc.errors import AgfmcWarning, DataError
from agfmc.experiments.result_cache import automatic_path, Ledger
from agfmc.experiments.binary_problems import Trained
from agfmc.experiments.trial import Outcome


def test_folder_and_file_are_private(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = os.umask(0)
    try:
        path = automatic_path("0" * 64)
        with pytest.raises(KeyError), Ledger(path) as ledger:
            ledger.put("k", b"v")
            raise KeyError
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o720, 0o702])
def test_a_folder_that_others_may_write_in_is_not_used(tmp_path, mode):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(mode)
    with pytest.warns(AgfmcWarning, match="others may write in its folder: an interrupted run"):
        with Ledger(str(tmp_path / "shared" / "state")) as ledger:
            ledger.put("k", b"v")
            assert ledger.get("k") is None
    assert os.listdir(tmp_path / "shared") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's folder")
def test_another_user_s_folder_is_not_used(tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o755)
    (tmp_path / "victim").write_text("old")
    os.symlink(tmp_path / "victim", tmp_path / "theirs" / "state")
    os.chown(tmp_path / "theirs", 12345, 12345)
    with pytest.warns(AgfmcWarning, match="others may write in its folder"):
        Ledger(str(tmp_path / "theirs" / "state"))
    assert (tmp_path / "victim").read_text() == "old"


def made_by_a_stranger(path, *statements):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA application_id = 1095190093")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


TABLE = "CREATE TABLE done (key TEXT PRIMARY KEY, sum INTEGER, value BLOB) WITHOUT ROWID"


@pytest.mark.parametrize("statements", [
    ["CREATE VIEW done AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) "
     "SELECT i AS key, 0 AS sum, x'00' AS value FROM r"],
    [TABLE, "CREATE TRIGGER t AFTER INSERT ON done BEGIN DELETE FROM done; END"],
    [TABLE, "CREATE TABLE more (x)"], [TABLE, "CREATE INDEX done_i ON done (sum)"],
    ["CREATE VIRTUAL TABLE done USING fts5(key, sum, value)"]], ids=lambda s: s[-1][:20])
def test_a_stranger_s_file_is_a_table_or_it_is_refused(tmp_path, statements):
    path = str(tmp_path / "state")
    try:
        made_by_a_stranger(path, *statements)
    except sqlite3.OperationalError:
        pytest.skip("this SQLite lacks the module")
    before = (tmp_path / "state").read_bytes()
    with pytest.raises(DataError, match="belongs to another program"):
        Ledger(path, keep=True)
    assert (tmp_path / "state").read_bytes() == before


def test_the_application_number_of_these_tests_is_ours(tmp_path):
    path = str(tmp_path / "state")
    made_by_a_stranger(path, TABLE)
    with Ledger(path, keep=True) as ledger:
        ledger.put("k", b"v")
    with Ledger(path, keep=True) as ledger:
        assert ledger.get("k") == b"v"


DEEP = b"[" * 100_000


@pytest.mark.parametrize("data", [
    DEEP, DEEP + b"\n", b"cos\nsystem\n(S'touch pwned'\ntR.", b"\x80\x04\x95\x1d", b"", b"\n",
    b"[1,1,1,{}]\n" + zlib.compress(bytes(10**7)), len(DEEP).to_bytes(4, "little") + DEEP],
    ids=range(8))
def test_values_of_a_stranger(data):
    assert Outcome.from_bytes(None, "vote", data, 10) is None
    assert Trained.from_bytes(data, 10) is None


def test_the_right_values_are_taken():
    trained = Trained(np.arange(3), np.ones(3), 0.5, (0, 1), (2, 1), (1.0, 2.0), 0.1, None)
    assert Trained.from_bytes(trained.to_bytes(), 10).rho == 0.5
