"""Finished work that outlives an interruption: results by what they were made from.

A key is a digest of everything a result depends on, so that a ledger can never
give an answer to another question, and any number of experiments can share one.

What lies beside a file of finished work: journals of SQLite, and a mark of the runs that use it.

SQLite plays a journal back before it reads the file, whoever has put it there; its last record
can name a file, which is then removed.  Runs of this suite never write such a record.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sqlite3
import stat
import time
import warnings
import zlib
from contextlib import suppress

from ..errors import AgfmcWarning, DataError

__all__ = ["Ledger", "are_numbers", "automatic_path", "check_journal", "join_runs", "key_of",
           "leave_runs"]

_APPLICATION = 0x4147464D  # "AGFM" in the header of the file
_PAUSE = 0.5  # seconds between two times that work is brought to the disk
_WAIT = 30  # seconds for another program that has the file locked
_LARGEST = 1 << 28  # bytes of a value
_STEPS = 10**6  # of SQLite, for a file to be opened; some hundred do
# As SQLite keeps it: nothing else may be in a file that is believed.
_TABLE = ("table", "done", "CREATE TABLE done (key TEXT PRIMARY KEY, sum INTEGER, value BLOB) "
                           "WITHOUT ROWID")
# (To vacuum a file that is made for it takes the square of its size.)
_KIND = {"application_id": _APPLICATION, "auto_vacuum": 0}


def key_of(*parts):
    """A digest of `parts`: texts, numbers, tuples of them, bytes and arrays."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else repr(part).encode() \
            if not hasattr(part, "tobytes") else \
            f"{part.dtype}{part.shape}".encode() + part.tobytes()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def are_numbers(*values, finite=True):
    """True where all `values`, from a file, are numbers, and finite ones unless told otherwise."""
    return all(type(value) is float and (not finite or abs(value) < 1e300)
               or type(value) is int and abs(value) < 2**53 for value in values)


def _sum(key, value):
    return zlib.crc32(value, zlib.crc32(key.encode()))


def automatic_path(fingerprint):
    """Where work of a run with this fingerprint is kept if the user names no file."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "agfmc", f"unfinished-{fingerprint[:16]}.sqlite")


def _require_own(folder):
    """`PermissionError` where others could put results, or links, into the folder."""
    status = os.stat(folder)
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise PermissionError("others may write in its folder")


class Ledger:
    """Results by key, in a file that survives kill -9; a context manager.

    path: the file, or None to keep nothing; keep: the file stays after the block ends
    well (a user named it), else it goes, with the last of the runs that use it; it goes as
    well where it is empty.  A file that cannot be made is no reason to stop: there is a
    warning, unless `keep`, where it is a `DataError`.
    """

    def __init__(self, path, keep=False):
        self.path = path
        self._keep = keep
        self._connection = None
        self._file = None  # `path` without links, as SQLite has it
        self._runs = None
        self._waiting = {}
        self._written = time.monotonic()
        self.found = 0
        if path is not None:
            self._open()

    def _open(self):
        try:
            folder = os.path.dirname(self.path)
            if folder and not self._keep:
                os.makedirs(folder, mode=0o700, exist_ok=True)
                _require_own(folder)
                self._runs = join_runs(self.path)
            if not os.path.exists(self.path):
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            elif not stat.S_ISREG(os.stat(self.path).st_mode):
                raise FileExistsError("it is no regular file")
            # in full: no name that means something else to SQLite
            self._file = os.path.realpath(self.path)
            connection = sqlite3.connect(self._file, timeout=_WAIT, isolation_level=None)
            self._connection = connection
            connection.execute("PRAGMA trusted_schema = OFF")  # the file may be a stranger's
            # a list of tables can be made to have no end
            connection.set_progress_handler(lambda: True, _STEPS)
            things = self._execute("SELECT type, name, sql FROM sqlite_master").fetchmany(2)
            # behind that: another run marks a new file first
            kind = {name: self._execute(f"PRAGMA {name}").fetchone()[0] for name in _KIND}
            if things and (kind != _KIND or things != [_TABLE]):
                raise sqlite3.DatabaseError("it belongs to another program")
            if not things:
                self._execute("PRAGMA auto_vacuum = NONE")  # some builds of SQLite begin otherwise
            self._execute(f"PRAGMA application_id = {_APPLICATION}")
            if not things:
                self._execute(_TABLE[2].replace("TABLE", "TABLE IF NOT EXISTS", 1))
            connection.set_progress_handler(None, 0)
        except (OSError, ValueError, sqlite3.Error) as error:
            told = getattr(error, "strerror", None) or str(error)
            if told == "interrupted":  # after _STEPS
                told = "it has no end"
            self._give_up(f"cannot keep finished work here: {told}", self._keep)

    def _execute(self, statement, values=()):
        check_journal(self._file, _WAIT)  # each statement may be the one that plays it back
        return self._connection.execute(statement, values)

    def _close(self, unwanted):
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()
        runs, self._runs = self._runs, None
        leave_runs(self.path, runs, unwanted)

    def _give_up(self, message, serious=False):
        self._close(unwanted=False)
        if serious:
            raise DataError(message, file=self.path)
        warnings.warn(f"{self.path}: {message}: an interrupted run would begin again",
                      AgfmcWarning, stacklevel=4)

    def get(self, key):
        """The bytes that were put under `key`, or None."""
        if self._connection is None:
            return None
        if key in self._waiting:
            return self._waiting[key]
        try:
            # the length first: it is known without the value
            row = self._execute(
                "SELECT sum, value FROM done WHERE key = ? AND length(value) <= ?",
                (key, _LARGEST)).fetchone()
        except (OSError, ValueError, sqlite3.Error) as error:  # ValueError: text that is not UTF-8
            self._give_up(f"cannot read: {error}")
            return None
        if row is None or not isinstance(row[1], bytes) or _sum(key, row[1]) != row[0]:
            return None
        self.found += 1
        return row[1]

    def put(self, key, value):
        """Keep the bytes `value`; an interruption costs half a second of work at most."""
        if self._connection is None or len(value) > _LARGEST:
            return
        self._waiting[key] = value
        if time.monotonic() - self._written > _PAUSE:
            self.flush()

    def flush(self):
        """Bring everything to the disk, at once or not at all."""
        if self._connection is None or not self._waiting:
            return
        try:
            if self._connection.in_transaction:  # a signal came in the middle of it
                self._connection.rollback()
            self._execute("BEGIN IMMEDIATE")
            self._connection.executemany(
                "INSERT OR REPLACE INTO done VALUES (?, ?, ?)",
                [(key, _sum(key, value), value) for key, value in self._waiting.items()])
            self._connection.execute("COMMIT")
        except (OSError, sqlite3.Error) as error:
            self._give_up(f"cannot write: {error}")
        self._waiting.clear()
        self._written = time.monotonic()

    def keeps_anything(self):
        """Whether a later run would find finished work here; all of it is on the disk then."""
        self.flush()
        if self._connection is None:
            return False
        try:
            return self._execute("SELECT 1 FROM done LIMIT 1").fetchone() is not None
        except (OSError, sqlite3.Error):
            return False

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.flush()
        if self._connection is not None:
            self._close(unwanted=not self._keep and (kind is None or not self.keeps_anything()))


_NAMES_A_FILE = bytes.fromhex("d9d505f920a163d7")  # at the end of a journal


def check_journal(path, patience):
    """`PermissionError` for a file beside `path` that SQLite would obey and no run of ours left.

    A journal has to be of this user, or of the owner of `path`.  Any other may be of a run that
    is writing just now: it has `patience` seconds to go.
    """
    for end in ("-wal", "-shm"):
        if os.path.lexists(path + end):
            raise PermissionError(f"{os.path.basename(path)}{end} is of another program")
    journal, deadline = f"{path}-journal", time.monotonic() + patience
    name = os.path.basename(journal)
    with suppress(FileNotFoundError):  # as nearly always
        while (status := os.lstat(journal)).st_uid not in (os.geteuid(), os.stat(path).st_uid):
            if time.monotonic() > deadline:
                raise PermissionError(f"{name} is another user's")
            time.sleep(0.05)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise PermissionError(f"{name} is a link, or no regular file")
        with open(journal, "rb") as file:
            file.seek(max(status.st_size - len(_NAMES_A_FILE), 0))
            if file.read(len(_NAMES_A_FILE)) == _NAMES_A_FILE:
                raise PermissionError(f"{name} names another file: it is of another program")


def _mark(path):
    return f"{path}-runs"


def join_runs(path):
    """A handle that marks the file `path` as in use; None on a file system without locks.

    A file of its own is locked: on some systems a lock of `path` would be in SQLite's way.
    """
    while True:
        handle = os.open(_mark(path), os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH)
            if os.fstat(handle).st_nlink > 0:
                return handle
        except OSError:
            os.close(handle)
            _remove(_mark(path))
            return None
        os.close(handle)  # the last of the other runs has just removed it


def leave_runs(path, handle, unwanted):
    """Take the mark away, and the file where it is `unwanted`, unless another run has it."""
    if handle is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return
    if unwanted:
        _remove(path)
    if handle is not None:
        _remove(_mark(path))  # last: who comes now waits for the lock
        os.close(handle)


def _remove(path):
    with suppress(OSError):
        os.unlink(path)
