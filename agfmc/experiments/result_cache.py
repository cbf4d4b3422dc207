"""Results by what they were made from, in a file that survives kill -9 and that runs can share.

A key is a digest of everything a result depends on, so that a file can never give an answer
to another question.  The file begins with _HEAD; a result is appended as its checksum, the
lengths of key and value, the key and the value.  What follows a result that is not complete is
overwritten.  Values are bytes whose readers check them; nothing in them is ever executed.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import struct
import time
import warnings
import zlib
from contextlib import suppress

from ..errors import AgfmcWarning, DataError

__all__ = ["ResultCache", "are_numbers", "automatic_path", "key_of"]

_HEAD = b"agfmc results 1\n"
_LENGTHS = struct.Struct("<III")  # checksum of what follows, bytes of the key and of the value
_LARGEST = 1 << 28  # bytes of a value
_PAUSE = 0.5  # seconds between two times that results are brought to the disk


def key_of(*parts) -> str:
    """A digest of `parts`: texts, numbers, tuples of them, bytes and arrays."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else repr(part).encode() \
            if not hasattr(part, "tobytes") else \
            f"{part.dtype}{part.shape}".encode() + part.tobytes()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def are_numbers(*values, finite: bool = True) -> bool:
    """True where all `values`, from a file, are numbers, and finite if `finite` is true."""
    return all(type(value) is float and (not finite or abs(value) < 1e300)
               or type(value) is int and abs(value) < 2**53 for value in values)


def automatic_path(fingerprint: str) -> str:
    """The file for the results of a run with this fingerprint if the user names none."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "agfmc", f"unfinished-{fingerprint[:16]}.results")


class ResultCache:
    """Results by key in a file; a context manager.

    path: the file, or None to keep nothing;  keep: the file stays after the block ends
    well (a user named it), else it goes, and as well where it is empty.  An equal run at the
    same time shares it, and goes on without where the file has gone.  A file that cannot be
    made is no reason to stop: there is a warning, unless `keep`, where it is a `DataError`.

    found: how many results of other runs were taken.
    """

    def __init__(self, path: str | None, keep: bool = False):
        self.path = path
        self.found = 0
        self._keep = keep
        self._file = None
        self._places = {}  # key: (where its value begins, length)
        self._end = 0  # of what is complete in the file
        self._own = set()  # keys of results of this run
        self._waiting = {}
        self._written = time.monotonic()
        if path is not None:
            try:
                self._open()
            except (OSError, ValueError) as error:
                told = f"cannot keep finished work here: {getattr(error, 'strerror', 0) or error}"
                if keep:
                    raise DataError(told, file=path) from error
                self._give_up(told)

    def _open(self):
        folder = os.path.dirname(self.path)
        if folder and not self._keep:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            status = os.stat(folder)
            if status.st_uid != os.geteuid() or status.st_mode & 0o022:
                raise PermissionError("other users can write to its folder")
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            raise FileExistsError("it is not a regular file")
        handle = os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600)
        self._file = os.fdopen(handle, "r+b", 0)
        self._scan()

    def _scan(self):
        """Learn of the results behind those known, which may be of other runs."""
        handle = self._file.fileno()
        size = os.fstat(handle).st_size
        if self._end == 0:
            head = os.pread(handle, len(_HEAD), 0)
            if not _HEAD.startswith(head):
                raise ValueError("it belongs to another program, or to version 0.1 of this one")
            if head == _HEAD:
                self._end = len(head)
        while _LENGTHS.size <= size - self._end and self._end:
            head = os.pread(handle, _LENGTHS.size, self._end)
            total, key_length, length = _LENGTHS.unpack(head)
            begin = self._end + _LENGTHS.size
            if max(length, key_length) > _LARGEST or key_length + length > size - begin:
                break
            data = os.pread(handle, key_length + length, begin)
            if zlib.crc32(head[4:] + data) != total:
                break
            self._places[data[:key_length]] = begin + key_length, length
            self._end = begin + len(data)

    def _give_up(self, message):
        self._close()
        warnings.warn(f"{self.path}: {message}: an interrupted run would start from the beginning",
                      AgfmcWarning, stacklevel=4)

    def _close(self):
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _gone(self):
        """True where an equal run has come to its end and has removed the file."""
        with suppress(OSError):
            return not os.path.samestat(os.fstat(self._file.fileno()), os.stat(self.path))
        return True

    def get(self, key: str) -> bytes | None:
        """The bytes that were put under `key`, or None."""
        if self._file is None:
            return None
        if key in self._waiting:
            return self._waiting[key]
        try:
            if key.encode() not in self._places:
                self._scan()
            begin, length = self._places.get(key.encode(), (0, -1))
            value = os.pread(self._file.fileno(), length, begin) if length >= 0 else None
        except (OSError, ValueError) as error:
            self._give_up(f"cannot read: {error}")
            return None
        self.found += value is not None and key not in self._own
        return value

    def put(self, key: str, value: bytes) -> None:
        """Keep the bytes `value`; an interruption costs half a second of work at most."""
        if self._file is None or len(value) > _LARGEST:
            return
        self._own.add(key)
        self._waiting[key] = value
        if time.monotonic() - self._written > _PAUSE:
            self.flush()

    def flush(self) -> None:
        """Bring everything to the disk."""
        if self._file is None or not self._waiting:
            return
        pieces = []
        for key, value in self._waiting.items():
            data = key.encode() + value
            head = _LENGTHS.pack(0, len(data) - len(value), len(value))[4:]
            pieces += [zlib.crc32(head + data).to_bytes(4, "little"), head, data]
        try:
            self._lock(fcntl.LOCK_EX)
            self._scan()
            data = _HEAD[self._end:] + b"".join(pieces)
            self._file.truncate(self._end)
            self._file.seek(self._end)
            if self._file.write(data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file.fileno())
            self._scan()
            self._lock(fcntl.LOCK_UN)
        except (OSError, ValueError) as error:
            self._give_up(f"cannot write: {getattr(error, 'strerror', 0) or error}")
        self._waiting.clear()
        self._written = time.monotonic()

    def _lock(self, how):
        with suppress(OSError):  # not every file system has locks
            fcntl.flock(self._file.fileno(), how)

    def keeps_anything(self) -> bool:
        """True where a later run would find results here; all of them are on the disk then."""
        self.flush()
        return self._file is not None and bool(self._places) and not self._gone()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.flush()
        if self._file is not None:
            if not self._keep and not self._gone() and (kind is None or not self._places):
                with suppress(OSError):
                    os.unlink(self.path)
            self._close()
