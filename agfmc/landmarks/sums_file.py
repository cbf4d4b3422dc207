"""Sums that grow range by range, and are stored in files beside the models until these exist.

`MODEL.sums-0` holds the sums so far of the first group of classifiers that share landmarks,
`MODEL.sums-0-3` those of its range 3 alone, which a separate command has made.  A file counts
where it was made from what this run would make it from, and is not damaged.

A file is a `npz` without pickle, whose first member `head.json` says what it holds: `made from`, a
digest of what the sums were made from, `landmarks`, their number p, and `sums`, a list of (first,
stop, labels) for the ranges and the classes of each of the sums.  The sums number i are the arrays
`total{i}` (c, p) and `weight{i}` (c,) of its c classes, and `gram{i}` (p (p + 1) / 2,), the rows
of the lower triangle of G, all of them little-endian doubles.
"""

from __future__ import annotations

import functools
import glob
import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

import numpy as np

from ..core.errors import DataError, warn_user
from ..files.atomic import remove, replacing
from ..files.npz import NpzReader, write_npz

_PAUSE = 60.0  # seconds of work after which sums are written
_AT_END = 5.0  # the same where the sums are complete
_TIMES = 20  # as long as it takes to write them, at least
_RATE = 2e8  # bytes a second, until one was written


class GroupSums:
    """The sums of one group of classifiers, and the files that store them.

    `path` is that of the sums so far, or None where nothing is stored; digest_of() is the digest of
    what they are made from; with `used` what an earlier run left counts. The file of a range has
    the digest of its own points, so that nobody needs to read all to make it.
    """

    def __init__(
        self,
        path: str | None = None,
        digest_of: Callable[[], str] = str,
        used: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._path, self._digest_of, self._used, self._clock = path, digest_of, used, clock
        self._lock = threading.Lock()
        self._sums: dict[tuple, ClassSums] = {}
        self._stops: dict[tuple, int] = {}
        self._ranges: dict[int, SumsReader] = {}
        self._changed = self._broken = False
        self._cost = 0.0
        self._p = 0

    def begin(
        self, sets: Sequence[tuple], p: int, count: int, range_digest: Callable[[int], str]
    ) -> None:
        """Sums of those sets of labels, on p landmarks and over `count` ranges, go on from here."""
        with self._lock:
            self._p, self._changed, self._broken = p, False, False
            self._sums, self._stops = {}, dict.fromkeys(sets, 0)
            self._saved = self._clock()
            file = self._opened(self._path, self._digest_of)
            for labels in sets if file is not None else ():
                first, stop = file.spans.get(labels, (0, 0))
                sums = self._read(file, labels) if first == 0 < stop <= count else None
                if sums is not None:
                    self._sums[labels], self._stops[labels] = sums, stop
            files = {
                number: self._of_range(number, range_digest)
                for number in range(min(self._stops.values(), default=0), count)
            }
            self._ranges = {number: file for number, file in files.items() if file is not None}

    def stop(self, labels: tuple) -> int:
        """The first range that the sums of those labels do not have yet."""
        return self._stops[labels]

    def has(self, number: int, labels: tuple) -> bool:
        """Return True if a file has the sums of those labels over that range alone."""
        return number in self._ranges and labels in self._ranges[number].spans

    def of_range(self, number: int, labels: tuple) -> ClassSums | None:
        """The sums of which `has` is true; None where they are damaged."""
        return self._read(self._ranges[number], labels)

    def add(self, number: int, labels: tuple, sums: ClassSums) -> None:
        """Add the sums of a range, which is that of `stop`; now and then they are written."""
        with self._lock:
            self._broken = True  # a signal may come between two of the lines
            if labels in self._sums:
                for mine, more in zip(self._sums[labels], sums):
                    mine += more
            else:
                self._sums[labels] = sums
            self._stops[labels] = number + 1
            self._changed, self._broken = True, False
        self.save(_PAUSE)

    def end(self) -> dict:
        """{labels: `ClassSums`}, which belong to the caller now."""
        self.save(_AT_END)
        with self._lock:
            sums, self._sums, self._stops, self._changed = self._sums, {}, {}, False
        return sums

    def save(self, least: float = 0.0, most: float = math.inf) -> None:
        """Write new sums, after `least` seconds of work and many times as long as writing takes.

        Nothing is written that takes more than `most` seconds.
        """
        with self._lock:
            if self._path is None or not self._changed or self._broken:
                return
            start = self._clock()
            cost = max(self._cost, len(self._sums) * 4 * self._p**2 / _RATE)
            if cost > most or least and start - self._saved < max(least, _TIMES * cost):
                return
            try:
                write_sums(
                    self._path,
                    self._digest_of(),
                    [(0, self._stops[labels], labels) for labels in self._sums],
                    self._sums.values(),
                    self._p,
                )
            except DataError as error:
                warn_user(f"{error}: sums of finished ranges are not kept")
                self._path = None
            self._saved, self._changed = self._clock(), False
            self._cost = self._saved - start

    def has_range(self, number: int, digest: str) -> bool:
        """Return True if there is a file of that range."""
        return self._of_range(number, lambda number: digest) is not None

    def write_range(
        self, number: int, digest: str, sets: Sequence[tuple], sums: Iterable[ClassSums], p: int
    ) -> None:
        """Write the file of one range: the sums of each of the sets of labels, in their order."""
        write_sums(
            f"{self._path}-{number}",
            digest,
            [(number, number + 1, labels) for labels in sets],
            sums,
            p,
        )

    def remove(self) -> None:
        """Remove all files of sums with the names of this group."""
        if self._path is None:
            return
        for path in [self._path, *glob.glob(glob.escape(self._path) + "-*")]:
            if re.fullmatch("(-[0-9]+)?", path[len(self._path) :]) and is_sums(path):
                remove(path)

    def _of_range(self, number, range_digest):
        file = self._opened(
            None if self._path is None else f"{self._path}-{number}",
            functools.partial(range_digest, number),
        )
        return (
            None
            if file is None or any(span != (number, number + 1) for span in file.spans.values())
            else file
        )

    def _opened(self, path, digest_of):
        if path is None or not self._used or not os.path.isfile(path):
            return None
        with _made_again_if_damaged():
            file = SumsReader(path)
            return file if file.digest == digest_of() else None

    def _read(self, file, labels):
        with _made_again_if_damaged():
            return file.read(labels) if file.landmarks == self._p else None


@contextmanager
def _made_again_if_damaged():
    try:
        yield
    except DataError as error:
        warn_user(f"{error}; its sums are made again")


def _key(job):
    return job.options, job.together


class SumsStore:
    """The `GroupSums` of the jobs of a run.

    `base` begins the names of files; digest_of(job) is the digest of what the sums of its group are
    made from; `used` is as there; `stage` is what is being done, in words.
    """

    def __init__(self, base: str, jobs: Iterable, digest_of: Callable, used: bool = True):
        jobs = list(jobs)
        self.stage, self._base = "", base if jobs else None
        self._groups: dict[tuple, GroupSums] = {}
        self.jobs = []  # the first of each group
        for job in jobs:
            if job.together is not None and _key(job) not in self._groups:
                self._groups[_key(job)] = GroupSums(
                    f"{base}.sums-{len(self._groups)}", functools.partial(digest_of, job), used
                )
                self.jobs.append(job)

    def of(self, job) -> GroupSums:
        """The sums of the group of a job, not stored where it is none of the run's."""
        return self._groups.get(_key(job)) or GroupSums()

    def save(self, most: float = math.inf) -> None:
        """Write what is new; most: if it takes so many seconds at most."""
        for group in self._groups.values():
            group.save(most=most)

    def remove(self, missing: Iterable) -> None:
        """Remove the files of groups of which no job is missing."""
        missing = set(map(_key, missing))
        for key, group in self._groups.items():
            if key not in missing:
                group.remove()
        if missing or self._base is None:
            return
        for path in glob.glob(glob.escape(self._base) + ".sums-*"):  # of groups that were
            if names_sums(self._base, path) and is_sums(path):
                remove(path)


def names_sums(base, path):
    """Return True if a path is that of sums for models with this base name."""
    rest = os.path.realpath(path).removeprefix(os.path.realpath(base))
    return re.fullmatch(r"\.sums-[0-9]+(-[0-9]+)?", rest) is not None


_LANDMARKS = 100_000  # the most
_FLOAT = np.dtype("<f8")


class ClassSums(NamedTuple):
    """Sums over points of c classes: G, `packed`; s (c, p) and n (c,) of each class."""

    gram: np.ndarray
    total: np.ndarray
    weight: np.ndarray


def write_sums(path: str, digest: str, spans: list, sums: Iterable[ClassSums], p: int) -> None:
    """Write `ClassSums` on p landmarks, `replacing`.

    `digest` is that of what they were made from; `spans` has (first, stop, labels) of each of the
    sums. Raises `DataError` where the file cannot be written, and for a symbolic link.
    """
    if os.path.islink(path):  # nobody named this file, and so nobody wants another one replaced
        raise DataError("cannot write: it is a symbolic link", file=path)
    with replacing(path, binary=True) as file:
        write_npz(
            file,
            {"made from": digest, "landmarks": p, "sums": spans},
            (
                (f"{name}{number}", np.ascontiguousarray(array, _FLOAT))
                for number, (gram, total, weight) in enumerate(sums)
                for name, array in (("total", total), ("weight", weight), ("gram", gram))
            ),
        )


def is_sums(path: str) -> bool:
    """Return True if a regular file can be read and begins as those of `write_sums` do.

    What a link leads to is a file of somebody else's.
    """
    with suppress(OSError):
        if os.path.isfile(path) and not os.path.islink(path):
            with open(path, "rb") as file:
                start = file.read(39)  # the header of the first member, and its name
            return start.startswith(b"PK\x03\x04") and start.endswith(b"head.json")
    return False


class SumsReader:
    """A file that `write_sums` wrote, of which only the head is read at first.

    `digest` is that of what the sums were made from, `landmarks` is p, and `spans` {labels: (first,
    stop)}. Raises `DataError` for any other file, and for one that is damaged.
    """

    def __init__(self, path: str):
        self._path = os.fsdecode(path)
        with self._opened() as file:
            self.digest, self.landmarks, spans = (
                file.head[name] for name in ("made from", "landmarks", "sums")
            )
            self.spans = {tuple(labels): (first, stop) for first, stop, labels in spans}
            numbers = [
                self.landmarks,
                *(number for labels, span in self.spans.items() for number in (*span, *labels)),
            ]
            if not (
                isinstance(self.digest, str)
                and all(type(number) is int and 0 <= number < 2**31 for number in numbers)
                and 0 < self.landmarks <= _LANDMARKS
                and all(labels and first < stop for labels, (first, stop) in self.spans.items())
                and len(file.names) == 3 * len(self.spans) == 3 * len(spans)
            ):
                raise ValueError("a head that was not written")

    def read(self, labels: tuple[int, ...]) -> ClassSums:
        """The sums over the points of those labels; `DataError` where they are damaged."""
        p, c, number = self.landmarks, len(labels), list(self.spans).index(labels)
        with self._opened() as file:
            arrays = [file[f"{name}{number}"] for name in ("gram", "total", "weight")]
            for array, shape in zip(arrays, ((p * (p + 1) // 2,), (c, p), (c,))):
                if array.dtype != _FLOAT or array.shape != shape or not np.isfinite(array).all():
                    raise ValueError("an array that was not written")
            return ClassSums(*arrays)

    @contextmanager
    def _opened(self) -> Iterator[NpzReader]:
        try:
            if not os.path.isfile(self._path):
                raise ValueError("no regular file")
            with open(self._path, "rb") as file:
                yield NpzReader(file)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise DataError("is damaged, or not a file of sums", file=self._path) from error
