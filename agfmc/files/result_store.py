"""Results by what they were made from: one file for a data set and a version, which processes share.

A key is a digest of everything a result depends on, so that a result can never give an answer to
another question.  The file only grows, by one record for each result:

    head     "agfmc-1\n", digest of the key, kind, bytes of the body, digest of the body
    check    digest of the head
    body     bytes of the JSON, JSON of plain values and of the shapes of arrays, arrays

Records are added under a lock of the file, and read without one.  What a killed process had begun
is overwritten by the next record; what is damaged is left out, up to the next head.  So this holds
without working locks too, as file systems of clusters may have none: two records that were written
at once are damaged then, and computed again.  No other file is needed beside it, and no link is
followed.  Nothing in a record is ever executed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
import re
import shutil
import stat
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..core.errors import AgfmcError, DataError, system_reason, UsageError, warn_user
from ..core.version import __version__
from .codec import decode, encode

CLASSIFIER = "classifier-"  # begins the key of a binary classifier: the many, and large, results
_HEAD = struct.Struct("<8s32s?Q16s")
_MAGIC = b"agfmc-1\n"
_CHECK = 8  # bytes of the digest of a head
_BEGIN = _HEAD.size + _CHECK
_PIECE = 1 << 20
_OLD_MARK = "agfmc.results"  # a file in each folder of results of version 0.3.0
_SMALL = 64 << 20  # bytes of an automatic file between two runs
_ALL = 256 << 20  # bytes of all automatic files of a user, between two runs, and of one in a run
_UNUSED = 30 * 24 * 3600  # seconds after which an automatic file goes
_LARGEST = 1 << 28  # bytes of a result
_FILE = re.compile(r"data-[0-9a-f]{0,32}(-[^/]*)?\.results(\.new)?")
_LOST = "an interrupted run would start from the beginning"


def key_of(*parts) -> str:
    """A digest of `parts`: texts, numbers, tuples of them, bytes and arrays."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, bytes):
            data = part
        elif not hasattr(part, "tobytes"):
            data = repr(part).encode()
        else:
            data = f"{part.dtype}{part.shape}".encode() + part.tobytes()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def result_key(*parts) -> str:
    """The key of a result of `parts`, computed by the code of this package as it is now."""
    return key_of(_code(), *parts)


@cache
def _code():
    return key_of(
        __version__,
        *(path.read_bytes() for path in sorted(Path(__file__).parents[1].rglob("*.py"))),
    )


def point_parts(data) -> tuple:
    """The parts of a key for the points of a `Dataset`, with their weights and groups."""
    w = data.weights
    return (
        data.x,
        data.y,
        *(() if w is None else ("weights", w.w, sorted(w.factors.items()))),
        *(() if data.groups is None else ("groups", data.groups)),
    )


class Record(NamedTuple):
    """A result: values that JSON has, and arrays by their names."""

    head: object
    arrays: dict[str, np.ndarray] = {}

    def to_bytes(self) -> bytes:
        """The body of the record in a file."""
        arrays = {name: np.asarray(array) for name, array in self.arrays.items()}
        shapes = [[name, array.dtype.str, array.shape] for name, array in arrays.items()]
        head = json.dumps([self.head, shapes]).encode()
        return b"".join(
            [len(head).to_bytes(8, "little"), head, *(array.tobytes() for array in arrays.values())]
        )

    @classmethod
    def from_bytes(cls, body: bytes) -> Record:
        """The record of a body; `ValueError` for any other bytes, before memory is taken."""
        start = 8 + int.from_bytes(body[:8], "little")
        try:
            head, shapes = json.loads(body[8:start])
            arrays = {}
            for name, kind, shape in shapes:
                dtype = np.dtype(kind)
                count = math.prod(shape)
                if dtype.kind not in "biuf" or min(shape, default=0) < 0:
                    raise ValueError("an array of another kind")
                array = np.frombuffer(body, dtype, count, start) if count else np.empty(0, dtype)
                arrays[name] = array.reshape(shape).copy()
                start += array.nbytes
        except (AttributeError, OverflowError, RecursionError, TypeError) as error:
            raise ValueError(f"not what was written: {error}") from error
        if start != len(body):
            raise ValueError("a body of another length")
        return cls(head, arrays)


def to_record(value) -> Record:
    """A dataclass as a result: its plain values as `files.codec` has them, its arrays numbered."""
    arrays: dict = {}

    def store(array):
        name = str(len(arrays))
        arrays[name] = array
        return name

    return Record(encode(value, store), arrays)


def from_record(kind, record: Record | None, make: Callable):
    """make(the dataclass `kind` in a record), or None where it holds none, or `make` refuses it.

    The annotation of an array has its dtype and number of dimensions, and "NaN" where some of its
    numbers may be that.
    """

    def load(name, dtype, rules):
        array = record.arrays.get(name)
        if (
            array is None
            or array.dtype != dtype
            or array.ndim != rules[0]
            or "NaN" not in rules
            and not np.isfinite(array).all()
        ):
            raise ValueError(f"no array '{name}' as it was written")
        return array

    try:
        return make(decode(kind, record.head, ValueError, load))
    except (AgfmcError, AttributeError, OverflowError, RecursionError, TypeError, ValueError):
        return None


class _Place(NamedTuple):
    """The place of a record in the file, with its head."""

    start: int
    stop: int
    digest: bytes
    is_classifier: bool


def automatic_folder() -> str:
    """The folder of the files of results if the user names none."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "agfmc")


def open_state(folder: str | None, data: str) -> ResultCache:
    """The cache of results on the data with this digest, in a folder or the automatic one."""
    if folder is None:
        return ResultCache(automatic_folder(), data=data)
    if not folder:
        raise UsageError("`state`: expected the name of a folder, found ''")
    return ResultCache(folder, keep=True, data=data)


class ResultCache:
    """Results by key, in one file for a data set and a version; a context manager.

    A file that cannot be made is a warning, or with `keep` a `DataError`.

    Parameters
    ----------
    folder : path, optional
        Folder of the file, which is made if it is missing; None stores nothing.
    keep : bool
        A user named the folder, whose files have any size. In the automatic one, which is private,
        a file is made with its first result and is no larger than 256 MiB, or 64 MiB after the
        block ends well: binary classifiers go first, then the oldest results that the run has not
        used. All files there have at most 256 MiB at the beginning and end of a run; those used least
        recently go, and those unused for 30 days.
    data : str
        Digest of the data; a warning says where a named folder has only results of others.

    Attributes
    ----------
    path : the file, or None
    reused : number of results taken from other runs
    several : other processes may be at the same work
    """

    def __init__(self, folder: str | None, keep: bool = False, data: str = ""):
        self.path, self.reused, self.several = None, 0, keep
        self._usable = folder is not None
        self._stored: set[str] = set()  # keys of results of this run
        self._used: set[bytes] = set()
        self._places: dict[bytes, _Place] = {}
        self._file: int | None = None
        self._end = 0  # of the last whole record that was read
        self._damaged = 0
        if folder is None:
            return
        self.path = os.path.join(folder, f"data-{data[:32]}-{__version__}.results")
        try:
            if keep:
                self._check_named(folder)
                self._open()
            else:
                self._check_private(folder)
                self._remove_unused()
        except (OSError, ValueError) as error:
            reason = f"cannot keep finished work here: {system_reason(error)}"
            if keep:
                raise DataError(reason, file=folder) from error
            self._give_up(reason)

    def _check_named(self, folder):
        if os.path.exists(folder) and not os.path.isdir(folder):
            raise FileExistsError(
                "expected a folder of results, found a file (a file of results of an earlier "
                "version is of no more use)"
            )
        if not os.path.isdir(folder):
            return
        names = os.listdir(folder)
        if not names or os.path.basename(self.path) in names:
            return
        if any(name.endswith(f"-{__version__}.results") for name in names):
            other = "data"
        elif _OLD_MARK in names or any(map(_FILE.fullmatch, names)):
            other = "versions"
        else:
            raise OSError("it is a folder of other files")
        warn_user(f"all results in {folder} are of other {other}: none can be reused")

    def _check_private(self, folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.stat(folder)
        owners = {status.st_uid, os.lstat(folder).st_uid}  # of the folder, and of a link to it
        if owners != {os.geteuid()} or status.st_mode & 0o022:
            raise PermissionError("other users can write to this folder")
        with suppress(FileNotFoundError):
            os.utime(self.path, follow_symlinks=False)  # it is in use

    def _give_up(self, message):
        self._usable = False
        warn_user(f"{self.path}: {message}: {_LOST}")

    # -- the file ----------------------------------------------------------------------------------

    def _open(self, create=True):
        """Open the file, if it is none of this kind a new one in its place."""
        self._close()
        if create:
            os.makedirs(
                os.path.dirname(self.path), mode=0o777 if self.several else 0o700, exist_ok=True
            )
        self._file = _opened(self.path, create, 0o666 if self.several else 0o600)
        begin = os.pread(self._file, len(_MAGIC), 0)
        if not _MAGIC.startswith(begin):
            self._damaged += 1
            os.unlink(self.path)
            self._open(create)

    def _close(self):
        if self._file is not None:
            os.close(self._file)
        self._file = None
        self._end = 0
        self._places.clear()

    def _is_there(self):
        """Return True if the open file still has its name: another run may have replaced it."""
        return self._file is not None and os.fstat(self._file).st_nlink > 0

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Within the block no other process writes to the file, which is open and read to its end."""
        while True:
            if not self._is_there():
                self._open()
            _lock(self._file)
            if self._is_there():
                break
        try:
            self._read_heads()
            yield
        finally:
            with suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def _read_heads(self):
        """Read the heads of the records that were added since the last time."""
        size = os.fstat(self._file).st_size
        while self._end + _BEGIN <= size:
            start = self._end + _BEGIN
            raw = os.pread(self._file, _BEGIN, self._end)
            if len(raw) < _BEGIN:  # another process, without locks, took it away
                break
            magic, key, is_classifier, length, digest = _HEAD.unpack(raw[: _HEAD.size])
            if magic != _MAGIC or raw[_HEAD.size :] != _digest(raw[: _HEAD.size], _CHECK):
                self._damaged += 1
                self._end = self._next_head(self._end + 1, size)
                continue
            if start + length > size:  # another process writes it, or was killed
                break
            self._end = start + length
            self._places[key] = _Place(start, self._end, digest, is_classifier)

    def _next_head(self, start, size):
        """The position of the next head at `start` or behind, or the end of the file."""
        while start < size:
            piece = os.pread(self._file, _PIECE, start)
            if not piece:
                break
            if (place := piece.find(_MAGIC)) >= 0:
                return start + place
            start += max(len(piece) - len(_MAGIC) + 1, 1)
        return size

    # -- results -----------------------------------------------------------------------------------

    def get(self, key: str) -> Record | None:
        """The result that was put under `key`, or None."""
        if not self._usable:
            return None
        name = hashlib.sha256(key.encode()).digest()
        try:
            if not self._is_there():
                self._open(create=False)
            if name not in self._places:
                self._read_heads()
            place = self._places.get(name)
            if place is None or place.stop - place.start > _LARGEST:
                return None
            body = os.pread(self._file, place.stop - place.start, place.start)
            if _digest(body, 16) != place.digest:
                raise ValueError("damaged")
            record = Record.from_bytes(body)
        except OSError:
            return None
        except ValueError:
            self._damaged += 1
            del self._places[name]
            return None
        self._used.add(name)
        self.reused += key not in self._stored
        return record

    def put(self, key: str, record: Record) -> None:
        """Keep a result."""
        if not self._usable:
            return
        body = record.to_bytes()
        if len(body) > _LARGEST // 2:  # a file that has lost half of its bound takes it
            return
        head = _HEAD.pack(
            _MAGIC,
            hashlib.sha256(key.encode()).digest(),
            key.startswith(CLASSIFIER),
            len(body),
            _digest(body, 16),
        )
        raw = head + _digest(head, _CHECK) + body
        try:
            with self._locked():
                if not self.several and self._end + len(raw) > _ALL:
                    self._shrink(_ALL // 2)
                self._append(raw)
            self._stored.add(key)
        except OSError as error:
            self._give_up(f"cannot write: {system_reason(error)}")

    def _append(self, raw):
        end = self._end
        try:
            os.ftruncate(self._file, end)  # what a killed process had begun
            _write(self._file, raw, end)
        except BaseException:
            with suppress(OSError):
                os.ftruncate(self._file, end)
            raise
        self._read_heads()

    def _shrink(self, room):
        """Copy what has the most value to a new file of at most `room` bytes, which takes its place."""
        places = sorted(
            self._places.items(),
            key=lambda item: (not item[1].is_classifier, item[0] in self._used, item[1].start),
        )
        stay = []
        while places and room >= 0:
            place = places.pop()[1]
            room -= place.stop - place.start + _BEGIN
            if room >= 0:
                stay.append((place.start - _BEGIN, place.stop))
        new = f"{self.path}.new"
        with suppress(FileNotFoundError):
            os.unlink(new)  # of a process that was killed
        file = _opened(new, True, 0o600)
        try:
            _lock(file)
            end = 0
            for start, stop in sorted(stay):
                _write(file, os.pread(self._file, stop - start, start), end)
                end += stop - start
            os.rename(new, self.path)
        except BaseException:
            os.close(file)
            raise
        self._close()
        self._file = file
        self._read_heads()

    def _remove_unused(self):
        """Remove automatic files that are old, or too large together. A run that still uses one of
        them makes it anew with its next result."""
        files = []
        with suppress(OSError), os.scandir(os.path.dirname(self.path)) as entries:
            for entry in entries:
                with suppress(OSError):  # another run removes it at this moment
                    if not _FILE.fullmatch(entry.name) or entry.is_symlink():
                        continue
                    if entry.is_dir():  # of version 0.3.0
                        shutil.rmtree(entry.path)
                        continue
                    status = entry.stat()
                    files.append(
                        (entry.path == self.path, status.st_mtime, status.st_size, entry.path)
                    )
        total = 0
        for is_own, used, size, path in sorted(files, reverse=True):
            total += size
            if not is_own and (time.time() - used > _UNUSED or total > _ALL):
                with suppress(OSError):
                    os.unlink(path)

    def keeps_anything(self) -> bool:
        """Return True if a later run would find results of this one here."""
        return self._usable and bool(self._stored or self.reused)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self._damaged:
            warn_user(f"{self.path}: damaged results were computed again")
        if self._usable and not self.several:
            with suppress(OSError):
                if kind is None and self._end > _SMALL:
                    with self._locked():
                        self._shrink(_SMALL)
            self._remove_unused()
        self._close()


def _digest(data, size):
    return blake2b(data, digest_size=size).digest()


def _opened(path, create, mode):
    """The descriptor of a file that is no link; whoever may write in its folder could have put one
    there."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    if create:
        flags |= os.O_CREAT
    try:
        file = os.open(path, flags, mode)
    except OSError as error:
        if os.path.islink(path):
            raise FileExistsError(f"{os.path.basename(path)} in it is a link") from error
        raise
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise FileExistsError(f"{os.path.basename(path)} in it is no file")
    return file


def _lock(file):
    with suppress(OSError):  # a file system without locks
        fcntl.flock(file, fcntl.LOCK_EX)


def _write(file, data, place):
    view = memoryview(data)
    while view:
        count = os.pwrite(file, view, place)
        view = view[count:]
        place += count
