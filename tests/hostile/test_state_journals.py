"""A file of unfinished work that would lead SQLite itself astray: journals, endless trees."""

import contextlib
import os
import signal
import sqlite3
import struct
import subprocess
import sys
import time

import pytest

from agfmc.errors import AgfmcWarning, DataError
from agfmc.experiments import result_cache as room
from agfmc.experiments.result_cache import Ledger

MAGIC = bytes.fromhex("d9d505f920a163d7")
OTHERS = 12345  # a user
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's file")


@pytest.fixture
def state(tmp_path):
    path = tmp_path / "state"
    with Ledger(str(path), keep=True) as ledger:
        ledger.put("k", b"value")
    return path


def journal_of(path, named=None):
    """A hot journal of no pages, which names a file to be removed."""
    page = 4096
    data = (MAGIC + struct.pack(">5I", 0, 1, os.path.getsize(path) // page, 512, page)).ljust(512,
                                                                                            b"\0")
    if named is not None:
        name = os.fsencode(named)
        data += struct.pack(">I", 0x40000000 // page + 1) + name
        data += struct.pack(">2I", len(name), sum(name)) + MAGIC
    return data


def test_a_journal_that_has_a_file_removed(state, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    beside = tmp_path / "state-journal"
    beside.write_bytes(journal_of(state, precious))
    with pytest.raises(DataError, match="state-journal names another file"):
        Ledger(str(state), keep=True)
    assert precious.read_text() == "precious"
    (tmp_path / "link").symlink_to("state")  # SQLite looks beside what it leads to
    with pytest.raises(DataError, match="state-journal names another file"):
        Ledger(str(tmp_path / "link"), keep=True)
    beside.unlink()
    with Ledger(str(state), keep=True) as ledger:
        beside.write_bytes(journal_of(state, precious))  # while the run goes on
        with pytest.warns(AgfmcWarning, match="cannot read: .* names another file"):
            assert ledger.get("k") is None
    assert precious.read_text() == "precious"
    # what these journals do where nobody looks
    with contextlib.closing(sqlite3.connect(state)) as connection:
        connection.execute("SELECT 1 FROM done")
    assert not precious.exists() and not beside.exists()


@pytest.mark.parametrize("end", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("way", [os.link, os.symlink])
def test_links_next_to_the_state_file(state, tmp_path, end, way):
    precious = tmp_path / "precious"
    precious.write_bytes(b"\0precious")
    way(precious, f"{state}{end}")
    with pytest.raises(DataError, match=f"state{end}"):
        Ledger(str(state), keep=True)
    assert precious.read_bytes() == b"\0precious"


@root_only
def test_a_journal_of_another_user(state, tmp_path, monkeypatch):
    monkeypatch.setattr(room, "_WAIT", 0.2)
    beside = tmp_path / "state-journal"
    beside.write_bytes(journal_of(state))
    os.chown(beside, OTHERS, OTHERS)
    with pytest.raises(DataError, match="state-journal is another user's"):
        Ledger(str(state), keep=True)
    assert beside.exists()
    os.chown(state, OTHERS, OTHERS)  # a file of theirs: it says what they want in any case
    with Ledger(str(state), keep=True) as ledger:
        assert ledger.get("k") == b"value"
    assert not beside.exists()


@root_only
def test_another_user_who_is_writing_is_waited_for(state, tmp_path):
    beside = tmp_path / "state-journal"
    beside.write_bytes(bytes(512))
    os.chown(beside, OTHERS, OTHERS)
    with subprocess.Popen(["sh", "-c", f"sleep 0.3; rm '{beside}'"]):
        with Ledger(str(state), keep=True) as ledger:
            assert not beside.exists() and ledger.get("k") == b"value"


KILLED = """
import os, sys
from agfmc.experiments.result_cache import Ledger
ledger = Ledger(sys.argv[1], keep=True)
ledger._connection.execute("PRAGMA cache_size = 1")  # pages reach the file before the end
ledger._connection.execute("BEGIN IMMEDIATE")
ledger._connection.execute("UPDATE done SET value = x'00', sum = 0")
ledger._connection.executemany("INSERT INTO done VALUES (?, 0, ?)",
                               [(f"more {i}", bytes(2000)) for i in range(100)])
os.kill(os.getpid(), 9)
"""


def test_the_journal_of_a_run_that_was_killed(state, tmp_path, root):
    done = subprocess.run([sys.executable, "-c", KILLED, str(state)], cwd=root)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "state-journal").read_bytes().startswith(MAGIC)
    with Ledger(str(state), keep=True) as ledger:
        assert ledger.get("k") == b"value" and ledger.get("more 1") is None
    assert os.listdir(tmp_path) == ["state"]


@pytest.mark.parametrize("pragma", ["journal_mode = WAL", "auto_vacuum = FULL"])
def test_kinds_of_files_that_are_not_ours(tmp_path, pragma):
    path = tmp_path / "state"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA {pragma}")
        connection.execute(f"PRAGMA application_id = {room._APPLICATION}")
        connection.execute(room._TABLE[2])
    with pytest.raises(DataError, match="belongs to another program|state-wal is of another"):
        Ledger(str(path), keep=True)
    assert os.listdir(tmp_path) == ["state"]


SIZE = 4096
TREES = {"rows": room._TABLE[2], "tables": "CREATE TABLE done (key UNIQUE, sum, value)"}


def page(kind, cells, start=0):
    """A page of a tree, its content from `start`; the last of the inner ones has to the right."""
    inner = kind in (2, 5)
    cells, right = (cells[:-1], cells[-1][:4]) if inner else (cells, b"")
    data, at, places = bytearray(SIZE), SIZE, b""
    for cell in cells:
        at -= len(cell)
        data[at:at + len(cell)] = cell
        places += struct.pack(">H", at)
    head = struct.pack(">BHHHB", kind, 0, len(cells), at, 0) + right + places
    data[start:start + len(head)] = head
    return data


def endless(path, what):
    """A file of 70 kB whose rows, or whose list of tables, go on for ever."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size = {SIZE}")
        connection.execute(f"PRAGMA application_id = {room._APPLICATION}")
        connection.execute(TREES[what])
    raw = bytearray(path.read_bytes())
    first, levels = len(raw) // SIZE + 1, 14
    inner, leaf = (2, 10) if what == "rows" else (5, 13)
    record = b"\x04\x0f\x09\x0ea\0" if what == "rows" else \
        b"\x06\x17\x3b\x15\x01\0" + b"index" + b"sqlite_autoindex_done_1" + b"done" + b"\x03"
    record = bytes([len(record)]) + (b"" if what == "rows" else b"\x02") + record
    key = record if what == "rows" else b"\x02"
    for number in range(first, first + levels):
        raw += page(inner, [struct.pack(">I", number + 1) + key] * 60)
    raw += page(leaf, [record])
    if what == "rows":
        raw[SIZE:2 * SIZE] = page(inner, [struct.pack(">I", first) + key] * 60)
    else:
        sql = TREES[what].encode()
        table = b"\x06\x17\x15\x15\x01" + bytes([13 + 2 * len(sql)]) + b"tabledonedone\x02" + sql
        raw += page(leaf, [bytes([len(table)]) + b"\x01" + table])
        last = len(raw) // SIZE
        raw[100:SIZE] = page(inner, [struct.pack(">I", last) + b"\x01",
                                     struct.pack(">I", first)], 100)[100:]
    raw[28:32] = struct.pack(">I", len(raw) // SIZE)
    raw[92:96] = raw[24:28]
    path.write_bytes(raw)


USE = """
import sys
from agfmc.errors import DataError
from agfmc.experiments.result_cache import Ledger
try:
    with Ledger(sys.argv[1], keep=True) as ledger:
        print("opened", ledger.get("b"), ledger.keeps_anything())
        ledger.put("c", b"value")
        raise KeyError
except (DataError, KeyError) as error:
    print(error)
"""


@pytest.mark.parametrize("what", TREES)
def test_trees_without_end(tmp_path, root, what):
    path = tmp_path / "state"
    endless(path, what)
    done = subprocess.run([sys.executable, "-c", USE, str(path)], cwd=root, capture_output=True,
                          text=True, timeout=20)
    assert ("opened None True\n" if what == "rows" else "it has no end\n") in done.stdout, \
        done.stderr
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):  # it would be endless
        with contextlib.closing(sqlite3.connect(path)) as connection:
            start = time.monotonic()
            connection.set_progress_handler(lambda: time.monotonic() - start > 0.3, 10**5)
            connection.execute("SELECT max(sum) FROM done").fetchone()
