"""Results by what they were made from, in a file or a folder that survives kill -9 and is shared.

A key is a digest of everything a result depends on, so that a file can never give an answer
to another question.  The file begins with _HEAD; a result is appended as its checksum, the
lengths of key and value, the key and the value.  What follows a result that is not complete is
overwritten.  In a folder each result is a file of its own, so that any number of processes on
several machines share it without locks.  Values are bytes whose readers check them; nothing in
them is ever executed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import secrets
import stat
import struct
import time
import warnings
import zlib
from contextlib import suppress

from ..errors import AgfmcWarning, DataError, system_reason, UsageError
from ..formats.atomic import replacing
from ..weights import Weights

__all__ = ["CLASSIFIER", "ResultCache", "ResultFolder", "are_numbers", "automatic_path", "key_of",
           "open_state", "shuffled_for", "weight_parts"]

CLASSIFIER = "classifier-"  # begins the key of a binary classifier: the many, and large, results
_DATA = "data-"  # begins the key that says which data results are of
_HEAD = b"agfmc results 1\n"
_FOLDER = "agfmc.results"  # a file that is in each folder of results
_RESULT_HEAD = b"agfmc result 1\n"
_MOST = 64 << 20  # bytes of an automatic file between two runs
_ALL = 256 << 20  # bytes of all automatic files of a user, between two runs, and of one in a run
_DAY = 24 * 3600
_UNUSED = 30 * _DAY  # seconds after which an automatic file goes
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


def weight_parts(weights: Weights | None) -> tuple:
    """The parts of a key that tell of the weights of points; none for None, so that keys of points
    without weights are those of before."""
    return () if weights is None else ("weights", weights.w, sorted(weights.factors.items()))


def are_numbers(*values, finite: bool = True) -> bool:
    """True where all `values`, from a file, are numbers, and finite if `finite` is true."""
    return all(type(value) is float and (not finite or abs(value) < 1e300)
               or type(value) is int and abs(value) < 2**53 for value in values)


def automatic_path(data: str) -> str:
    """The file for results on the data with this digest if the user names none."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "agfmc", f"data-{data[:32]}.results")


def open_state(path: str | None, data: str) -> ResultCache | ResultFolder:
    """The cache of results in a file or a folder, or in that for the data if the path is None.

    data: a digest of the data.  A folder is one that is there, or whose path ends in a slash.
    Automatic files that have not been used for 30 days are removed, and those that were used least
    recently beyond 256 MiB.
    """
    if path is None:
        path = automatic_path(data)
        cache = ResultCache(path, data=data)
        cache.remove_unused()
        return cache
    if not path:
        raise UsageError("--state: expected the name of a file or of a folder, found ''")
    if path.endswith("/") or os.path.isdir(path):
        return ResultFolder(path, data)
    return ResultCache(path, keep=True, data=data)


def shuffled_for(cache, items: list) -> list:
    """The items in the order in which this process does them: another one does them elsewhere.

    At random where others may be at the same work, so that each finds much of it done.
    """
    return random.SystemRandom().sample(items, len(items)) if cache.several else items


def _other_data(path):
    warnings.warn(f"all results in {path} are of other data: none can be reused", AgfmcWarning,
                  stacklevel=4)


def _record(key, value):
    """The bytes of a result in a file."""
    data = key.encode() + value
    head = _LENGTHS.pack(0, len(data) - len(value), len(value))[4:]
    return zlib.crc32(head + data).to_bytes(4, "little") + head + data


class ResultCache:
    """Results by key in a file; a context manager.

    path: the file, or None to keep nothing;  keep: a user named it, and it stays as it is; else
    it goes where it is empty, takes no more than 256 MiB, and loses classifiers, and then the
    oldest results, where it has more than 64 MiB after the block ends well;  data: a digest of the
    data, of which there is a record: where there are results of others alone, there is a warning.
    Runs at the same time share it, and make it anew where the file has gone.  A file that cannot be
    made is no reason to stop: there is a warning, unless `keep`, where it is a `DataError`.

    found: how many results of other runs were taken.
    """

    several = False  # runs at the same time: none that do the same are expected

    def __init__(self, path: str | None, keep: bool = False, data: str = ""):
        self.path = path
        self.found = 0
        self._keep = keep
        self._file = None
        self._places = {}  # key: (where its value begins, length)
        self._end = 0  # of what is complete in the file
        self._own = set()  # keys of results of this run
        self._waiting = {}
        self._data = self._record = data and _DATA + data  # written with the first result
        self._damaged = False  # of which there has been a warning
        self._written = time.monotonic()
        if path is not None:
            try:
                self._open()
            except (OSError, ValueError) as error:
                told = f"cannot keep finished work here: {system_reason(error)}"
                if keep:
                    raise DataError(told, file=path) from error
                self._give_up(told)
        if self._file is not None and data:
            if keep and self._places and self._record.encode() not in self._places:
                _other_data(path)
            if self._record.encode() in self._places:
                self._record = ""

    @property
    def usable(self) -> bool:
        """False where nothing is kept."""
        return self._file is not None

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
        with suppress(OSError):
            os.utime(handle)  # it is in use
        self._scan()

    def _scan(self):
        """Learn of the results behind those known, which may be of other runs."""
        handle = self._file.fileno()
        size = os.fstat(handle).st_size
        if self._end == 0:
            head = os.pread(handle, len(_HEAD), 0)
            if not _HEAD.startswith(head):
                raise ValueError("it belongs to another program, or to version 0.1 of this "
                                 "one, or it is damaged")
            if head == _HEAD:
                self._end = len(head)
        while _LENGTHS.size <= size - self._end and self._end:
            head = os.pread(handle, _LENGTHS.size, self._end)
            total, key_length, length = _LENGTHS.unpack(head)
            begin = self._end + _LENGTHS.size
            if max(length, key_length) > _LARGEST:
                self._warn_of_damage(size)
                break
            if key_length + length > size - begin:
                break
            data = os.pread(handle, key_length + length, begin)
            if zlib.crc32(head[4:] + data) != total:
                self._warn_of_damage(size)
                break
            self._places[data[:key_length]] = begin + key_length, length
            self._end = begin + len(data)

    def _warn_of_damage(self, size):
        """A warning, once; not of a last record that a run was killed in."""
        if not self._damaged:
            self._damaged = True
            warnings.warn(f"{self.path}: damaged after {self._end} of {size} bytes: the results "
                          "behind are computed again", AgfmcWarning, stacklevel=5)

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
        if self._file is None or len(value) > _LARGEST or self._is_full(key, value):
            return
        self._own.add(key)
        if self._record:
            self._waiting[self._record], self._record = b"", ""
        self._waiting[key] = value
        if time.monotonic() - self._written > _PAUSE:
            self.flush()

    def _is_full(self, key, value):
        """True where an automatic file has no room for a result: for classifiers there is half."""
        room = _ALL // 2 if key.startswith(CLASSIFIER) else _ALL
        if self._keep or self._end + len(value) <= room:
            return False
        warnings.warn(f"{self.path}: is full: no more is stored, and an interrupted run repeats it "
                      "(--state FILE has no limit)", AgfmcWarning, stacklevel=3)
        return True

    def remove_unused(self) -> None:
        """Remove automatic files beside this one that are old, or too much together.

        A run that still uses one of them makes it anew with its next result."""
        files, total, now = [], 0, time.time()
        with suppress(OSError), os.scandir(os.path.dirname(self.path)) as entries:
            for entry in entries if self.usable else ():
                with suppress(OSError):  # another run removes it at this moment
                    if entry.name.endswith(".results") and entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        files.append((entry.path == self.path, status.st_mtime, status.st_size,
                                      entry.path))
        for mine, used, size, path in sorted(files, reverse=True):
            total += size
            if not mine and (now - used > _UNUSED or total > _ALL):
                with suppress(OSError):
                    os.unlink(path)

    def flush(self) -> None:
        """Bring everything to the disk."""
        if self._file is None or not self._waiting:
            return
        pieces = [_record(key, value) for key, value in self._waiting.items()]
        try:
            self._lock(fcntl.LOCK_EX)
            if self._gone():  # another run has made it smaller
                self._file.close()
                self._end, self._places = 0, {}
                self._open()
                self._lock(fcntl.LOCK_EX)
                self._scan()
                if self._data and self._data.encode() not in self._places:
                    pieces.append(_record(self._data, b""))
            self._scan()
            data = _HEAD[self._end:] + b"".join(pieces)
            self._file.truncate(self._end)
            self._file.seek(self._end)
            while data:  # a write that is short is followed by one that says why
                data = data[self._file.write(data):]
            os.fsync(self._file.fileno())
            self._scan()
            self._lock(fcntl.LOCK_UN)
        except (OSError, ValueError) as error:
            self._give_up(f"cannot write: {system_reason(error)}")
        self._waiting.clear()
        self._written = time.monotonic()

    def _lock(self, how):
        with suppress(OSError):  # not every file system has locks
            fcntl.flock(self._file.fileno(), how)

    def keeps_anything(self) -> bool:
        """True where a later run would find results here; all of them are on the disk then."""
        self.flush()
        return self._file is not None and bool(self._places)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.flush()
        if self._file is not None:
            if not self._keep and not self._gone():
                with suppress(OSError, ValueError, DataError):
                    if not self._places:
                        os.unlink(self.path)
                    elif kind is None and self._end > _MOST:
                        self._shrink()
                self.remove_unused()
            self._close()

    def _shrink(self):
        """Replace the file by one of the small results alone, the newest."""
        self._lock(fcntl.LOCK_EX)
        self._scan()
        if self._gone():
            return
        pieces, room = [], _MOST
        for key, (begin, length) in reversed(self._places.items()):
            if not key.startswith(CLASSIFIER.encode()):
                size = _LENGTHS.size + len(key) + length
                if size > room:
                    break
                room -= size
                pieces.append(os.pread(self._file.fileno(), size, begin - size + length))
        with replacing(self.path, binary=True) as file:
            file.write(b"".join([_HEAD, *reversed(pieces)]))


class ResultFolder:
    """Results by key, each a file, in a folder that processes of several machines share.

    path: the folder, which is made if it is not there;  data: as for `ResultCache`.  A result is
    written under another name and gets its own by renaming, so that it is whole or not there,
    whoever is killed.  found: how many results of other runs were taken.
    """

    several = True  # at the same work

    def __init__(self, path: str, data: str = ""):
        self.path = path
        self.found = 0
        self._own: set[str] = set()
        self._damaged: set[str] = set()
        self._writes = True
        try:
            with suppress(FileExistsError):
                os.mkdir(path)
            others = set(os.listdir(path))
            if others and _FOLDER not in others:
                raise OSError("it is a folder of other files")
            for name in (_FOLDER, data and _DATA + data):  # the first before anything else
                if name and name not in others:
                    os.close(os.open(os.path.join(path, name), os.O_CREAT | os.O_WRONLY, 0o666))
            os.makedirs(os.path.join(path, "tmp"), exist_ok=True)
        except OSError as error:
            raise DataError(f"cannot keep finished work here: {system_reason(error)}",
                            file=path) from error
        if data and _DATA + data not in others and any(name.startswith(_DATA) for name in others):
            _other_data(path)
        self._remove_unfinished()

    def _remove_unfinished(self):
        """Remove what processes that were killed did not finish, a day ago or more."""
        with suppress(OSError), os.scandir(os.path.join(self.path, "tmp")) as entries:
            for entry in entries:
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > _DAY:
                    os.unlink(entry.path)

    def _place(self, key):
        return os.path.join(self.path, key[-2:], key)

    def get(self, key: str) -> bytes | None:
        """The bytes that were put under `key`, or None."""
        try:
            handle = os.open(self._place(key), os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            with open(handle, "rb") as file:
                status = os.fstat(handle)
                if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
                    return None
                data = file.read(status.st_size)
        except OSError:
            return None
        begin = len(_RESULT_HEAD) + 4
        total, value = data[begin - 4:begin], data[begin:]
        if not data.startswith(_RESULT_HEAD) or total != self._checksum(key, value):
            self._damaged.add(key)
            return None
        self.found += key not in self._own
        return value

    @staticmethod
    def _checksum(key, value):
        return zlib.crc32(value, zlib.crc32(key.encode())).to_bytes(4, "little")

    def put(self, key: str, value: bytes) -> None:
        """Keep the bytes `value`."""
        if not self._writes or len(value) > _LARGEST:
            return
        self._own.add(key)
        new, place = os.path.join(self.path, "tmp", secrets.token_hex(12)), self._place(key)
        try:
            try:
                handle = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
                with os.fdopen(handle, "wb") as file:
                    file.write(_RESULT_HEAD + self._checksum(key, value) + value)
                os.makedirs(os.path.dirname(place), exist_ok=True)
                os.rename(new, place)
            except BaseException:
                with suppress(OSError):
                    os.unlink(new)
                raise
        except OSError as error:
            self._writes = False
            warnings.warn(f"{self.path}: cannot write: {system_reason(error)}: an interrupted "
                          "run would start from the beginning", AgfmcWarning, stacklevel=2)

    def flush(self) -> None:
        """Everything is in its file already."""

    def keeps_anything(self) -> bool:
        """True where a later run would find results of this one here."""
        return self._writes and bool(self._own or self.found)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if count := len(self._damaged):
            results = "1 damaged result was" if count == 1 else f"{count} damaged results were"
            warnings.warn(f"{self.path}: {results} computed again", AgfmcWarning, stacklevel=2)
