"""Results by what they were made from: a folder with a file for each, which processes share.

A key is a digest of everything a result depends on, so that a file can never give an answer
to another question.  A file is written under another name and gets its name by renaming: it is
whole or not there, whoever is killed, and any number of processes on several machines share the
folder without locks.  A result has a head, of values that JSON has, and arrays; its readers
check both, and nothing in them is ever executed.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..core.errors import DataError, system_reason, UsageError, warn_user
from ..core.version import __version__
from .npz import NpzReader, write_npz

CLASSIFIER = "classifier-"  # begins the key of a binary classifier: the many, and large, results
_DATA = "data-"  # begins the name of the file that says of which data results are
_MARK = "agfmc.results"  # a file that is in each folder of results
_SMALL = 64 << 20  # bytes of an automatic folder between two runs
_ALL = 256 << 20  # bytes of all automatic folders of a user, between two runs, and of one in a run
_DAY = 24 * 3600
_UNUSED = 30 * _DAY  # seconds after which an automatic folder goes
_LARGEST = 1 << 28  # bytes of a result
_UNFINISHED = re.compile("[0-9a-f]{24}")  # name of a result that is being written
_AUTOMATIC = re.compile(r"data-[0-9a-f]{1,32}\.results")  # name of an automatic folder
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

    def array(self, name: str, kind: str, *shape: int | None, finite: bool = True) -> np.ndarray:
        """The array `name`, of dtype `kind` and `shape`, which has None for any length.

        Raises `ValueError` where it is missing, differs, or (with `finite`) has other numbers.
        """
        array = self.arrays.get(name)
        if (
            array is None
            or array.dtype != np.dtype(kind)
            or array.ndim != len(shape)
            or any(length not in (None, size) for length, size in zip(shape, array.shape))
            or finite
            and not np.isfinite(array).all()
        ):
            raise ValueError(f"no array '{name}' as it was written")
        return array


def automatic_path(data: str) -> str:
    """The folder for results on the data with this digest if the user names none."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "agfmc", f"data-{data[:32]}.results")


def open_state(path: str | None, data: str) -> ResultCache:
    """The cache of results in a folder, or in that for the data if the path is None.

    `data` is a digest of the data. Automatic folders that have not been used for 30 days are
    removed, and those that were used least recently beyond 256 MiB.
    """
    if path is None:
        cache = ResultCache(automatic_path(data), data=data)
        cache.remove_unused()
        return cache
    if not path:
        raise UsageError("--state: expected the name of a folder, found ''")
    return ResultCache(path, keep=True, data=data)


def shuffled_for(cache, items: list) -> list:
    """The items in the order in which this process does them: another one does them elsewhere.

    At random where others may be at the same work, so that each finds much of it done.
    """
    if cache.several:
        return random.SystemRandom().sample(items, len(items))
    return items


class ResultCache:
    """Results by key, each a file, in a folder; a context manager.

    A folder that cannot be made is a warning, or with `keep` a `DataError`.

    Parameters
    ----------
    path : path, optional
        Folder, which is made if it is missing; None stores nothing.
    keep : bool
        A user named the folder, for results of any data and any number of runs. An automatic one is
        private, made with its first result, no larger than 256 MiB, and without classifiers; the
        oldest results go when it has more than 64 MiB after the block ends well.
    data : str
        Digest of the data; a warning says where all results are of others.

    Attributes
    ----------
    reused : number of results taken from other runs
    several : other processes may be at the same work
    """

    def __init__(self, path: str | None, keep: bool = False, data: str = ""):
        self.path, self.reused, self.several = path, 0, keep
        self._data = data
        self._usable = path is not None
        self._stored: set[str] = set()  # keys of results of this run
        self._damaged: set[str] = set()
        self._size = 0  # bytes of an automatic folder
        if path is None:
            return
        try:
            if keep:
                self._open_named()
            else:
                self._open_automatic()
        except (OSError, ValueError) as error:
            reason = f"cannot keep finished work here: {system_reason(error)}"
            if keep:
                raise DataError(reason, file=path) from error
            self._give_up(reason)

    def _open_named(self):
        if os.path.exists(self.path) and not os.path.isdir(self.path):
            raise FileExistsError(
                "expected a folder of results, found a file (a file of "
                "results of an earlier version is of no more use)"
            )
        if os.path.isdir(self.path):
            names = os.listdir(self.path)
        else:
            names = []
        if names and _MARK not in names:
            raise OSError("it is a folder of other files")
        self._make_folder()
        others = {name for name in names if name.startswith(_DATA)}
        if self._data and others and _DATA + self._data not in others:
            warn_user(f"all results in {self.path} are of other data: none can be reused")
        # what killed processes did not finish
        with self._opened("tmp") as folder, suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                if age > _DAY and _UNFINISHED.fullmatch(entry.name):
                    os.unlink(entry.name, dir_fd=folder)

    def _open_automatic(self):
        parent = os.path.dirname(self.path)
        os.makedirs(parent, mode=0o700, exist_ok=True)
        status = os.stat(parent)
        owners = {status.st_uid, os.lstat(parent).st_uid}  # of the folder, and of a link to it
        if owners != {os.geteuid()} or status.st_mode & 0o022:
            raise PermissionError("other users can write to its folder")
        if os.path.isfile(self.path):  # of an earlier version
            os.unlink(self.path)
        elif os.path.isdir(self.path):
            os.utime(self.path)  # it is in use
            self._size = sum(size for _, size, _ in _files(self.path))

    def _make_folder(self):
        if self.several:
            mode = 0o777
        else:
            mode = 0o700
        # the mark before anything else: a folder of results is known by it
        os.makedirs(self.path, mode=mode, exist_ok=True)
        for name in (_MARK, *([_DATA + self._data] if self._data else [])):
            path = os.path.join(self.path, name)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, 0o666))

    @contextmanager
    def _opened(self, name: str) -> Iterator[int]:
        """The descriptor of the folder `name` in this one, which is made if it is missing.

        Whoever else can write here could have put a link in its place, so that files behind it
        would be removed or replaced: it is not followed.
        """
        if self.several:
            mode = 0o777
        else:
            mode = 0o700
        path = os.path.join(self.path, name)
        with suppress(FileExistsError):
            os.mkdir(path, mode)
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except NotADirectoryError:
            raise NotADirectoryError(f"{name} in it is a link or a file, not a folder") from None
        try:
            yield folder
        finally:
            os.close(folder)

    def _give_up(self, message):
        self._usable = False
        warn_user(f"{self.path}: {message}: {_LOST}")

    def _file_of(self, key):
        return os.path.join(self.path, key[-2:], key)

    def get(self, key: str) -> Record | None:
        """The result that was put under `key`, or None."""
        if not self._usable:
            return None
        try:
            handle = os.open(self._file_of(key), os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            with open(handle, "rb") as file:
                status = os.fstat(handle)
                if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
                    return None
                reader = NpzReader(file)
                if reader.head["key"] != key:
                    raise ValueError("a result of something else")
                record = Record(reader.head["value"], {name: reader[name] for name in reader.names})
        except OSError:
            return None
        except (ValueError, KeyError, TypeError):
            self._damaged.add(key)
            return None
        self.reused += key not in self._stored
        return record

    def put(self, key: str, record: Record) -> None:
        """Keep a result."""
        size = sum(array.nbytes for array in record.arrays.values())
        if not self._usable or size > _LARGEST // 2:
            return
        if key.startswith(CLASSIFIER):
            room = _ALL // 2
        else:
            room = _ALL
        if not self.several and self._size + size > room:
            warn_user(
                f"{self.path}: is full: no more is stored, and an interrupted run "
                "repeats it (--state FOLDER has no limit)"
            )
            return
        try:
            self._make_folder()  # nothing was put yet, or a run of other data has removed it
            self._write(key, record)
            self._stored.add(key)
        except OSError as error:
            self._give_up(f"cannot write: {system_reason(error)}")

    def _write(self, key, record):
        new = secrets.token_hex(12)
        with self._opened("tmp") as unfinished, self._opened(key[-2:]) as finished:
            try:
                flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
                with os.fdopen(os.open(new, flags, 0o666, dir_fd=unfinished), "wb") as file:
                    write_npz(file, {"key": key, "value": record.head}, record.arrays.items())
                    self._size += file.tell()
                os.rename(new, key, src_dir_fd=unfinished, dst_dir_fd=finished)
            except BaseException:
                with suppress(OSError):
                    os.unlink(new, dir_fd=unfinished)
                raise

    def remove_unused(self) -> None:
        """Remove automatic folders beside this one that are old, or too much together.

        A run that still uses one of them makes it anew with its next result.  Files are of
        earlier versions.
        """
        folders = []
        total = 0
        with suppress(OSError), os.scandir(os.path.dirname(self.path)) as entries:
            for entry in entries if self._usable else ():
                with suppress(OSError):  # another run removes it at this moment
                    if _AUTOMATIC.fullmatch(entry.name) and not entry.is_symlink():
                        folders.append((entry.path == self.path, entry.stat().st_mtime, entry.path))
        for stays, used, path in sorted(folders, reverse=True):
            is_folder = os.path.isdir(path)
            total += sum(size for _, size, _ in _files(path)) if is_folder else 0
            if stays or is_folder and time.time() - used <= _UNUSED and total <= _ALL:
                continue
            with suppress(OSError):
                shutil.rmtree(path) if is_folder else os.unlink(path)

    def keeps_anything(self) -> bool:
        """Return True if a later run would find results of this one here."""
        return self._usable and bool(self._stored or self.reused)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if count := len(self._damaged):
            if count == 1:
                results = "1 damaged result was"
            else:
                results = f"{count} damaged results were"
            warn_user(f"{self.path}: {results} computed again")
        if self._usable and not self.several:
            if kind is None and self._size > _SMALL:
                self._shrink()
            self.remove_unused()

    def _shrink(self):
        room = _SMALL
        for _, size, path in sorted(_files(self.path), reverse=True):
            is_classifier = os.path.basename(path).startswith(CLASSIFIER)
            room -= 0 if is_classifier else size
            if room < 0 or is_classifier:
                with suppress(OSError):
                    os.unlink(path)


def _files(folder):
    files = []
    for parent, _, names in os.walk(folder):
        for name in names if parent != folder else ():
            with suppress(OSError):
                status = os.lstat(os.path.join(parent, name))
                files.append((status.st_mtime_ns, status.st_size, os.path.join(parent, name)))
    return files
