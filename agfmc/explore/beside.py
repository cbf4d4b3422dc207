"""What lies beside a file of finished work: journals of SQLite, and a mark of the runs that use it.

SQLite plays a journal back before it reads the file, whoever has put it there; its last record
can name a file, which is then removed.  Runs of this suite never write such a record.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from contextlib import suppress

__all__ = ["check_journal", "join_runs", "leave_runs"]

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
