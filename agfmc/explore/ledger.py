"""Finished work that outlives an interruption: results by what they were made from.

A key is a digest of everything a result depends on, so that a ledger can never
give an answer to another question, and any number of experiments can share one.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import time
import warnings
import zlib
from contextlib import suppress

from ..errors import AgfmcWarning, DataError

__all__ = ["Ledger", "are_numbers", "automatic_path", "key_of"]

_APPLICATION = 0x4147464D  # "AGFM" in the header of the file
_PAUSE = 0.5  # seconds between two times that work is brought to the disk
_WAIT = 30  # seconds for another program that has the file locked
_LARGEST = 1 << 28  # bytes of a value
# As SQLite keeps it: nothing else may be in a file that is believed.
_TABLE = ("table", "done", "CREATE TABLE done (key TEXT PRIMARY KEY, sum INTEGER, value BLOB) "
                           "WITHOUT ROWID")


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
    well (a user named it), else it goes; it goes as well where it is empty.  A file that
    cannot be made is no reason to stop: there is a warning, unless `keep`, where it is a
    `DataError`.
    """

    def __init__(self, path, keep=False):
        self.path = path
        self._keep = keep
        self._connection = None
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
            if not os.path.exists(self.path):
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            elif not stat.S_ISREG(os.stat(self.path).st_mode):
                raise FileExistsError("it is no regular file")
            # in full: no name that means something else to SQLite
            connection = sqlite3.connect(os.path.abspath(self.path), timeout=_WAIT,
                                         isolation_level=None)
            self._connection = connection
            connection.execute("PRAGMA trusted_schema = OFF")  # the file may be a stranger's
            things = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchmany(2)
            # behind that: another run marks a new file first
            told = connection.execute("PRAGMA application_id").fetchone()[0]
            if things and (told != _APPLICATION or things != [_TABLE]):
                raise sqlite3.DatabaseError("it belongs to another program")
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            if not things:
                connection.execute(_TABLE[2].replace("TABLE", "TABLE IF NOT EXISTS", 1))
        except (OSError, ValueError, sqlite3.Error) as error:
            told = getattr(error, "strerror", None) or error
            self._give_up(f"cannot keep finished work here: {told}", self._keep)

    def _give_up(self, message, serious=False):
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()
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
            row = self._connection.execute(
                "SELECT sum, value FROM done WHERE key = ? AND length(value) <= ?",
                (key, _LARGEST)).fetchone()
        except (ValueError, sqlite3.Error) as error:  # ValueError: text that is not UTF-8
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
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(
                "INSERT OR REPLACE INTO done VALUES (?, ?, ?)",
                [(key, _sum(key, value), value) for key, value in self._waiting.items()])
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._give_up(f"cannot write: {error}")
        self._waiting.clear()
        self._written = time.monotonic()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.flush()
        connection, self._connection = self._connection, None
        if connection is None:
            return
        empty = False
        with suppress(sqlite3.Error):
            empty = connection.execute("SELECT count(*) FROM done").fetchone()[0] == 0
        with suppress(sqlite3.Error):
            connection.close()
        if (kind is None or empty) and not self._keep:
            with suppress(OSError):
                os.unlink(self.path)
