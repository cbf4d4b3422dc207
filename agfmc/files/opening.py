"""Opening and reading files, with limits of memory and errors that carry the name of the file."""

import functools
import gzip
import io
import os
import select
import stat
import sys
import time
import zlib
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import SimpleNamespace

from ..core.errors import DataError, system_reason
from ..core.memory import memory_limit

MARK = b"\xef\xbb\xbf"  # of the order of bytes, in UTF-8
GZIP = b"\x1f\x8b"  # the first bytes of what gzip has compressed
_PIECE = 1 << 20
SMALL_TEXT = 64 << 20  # bytes of a text about classes, columns or classifiers, not about samples
_DEVICE = 64 << 20  # bytes after which a device, such as /dev/zero, has no end
_ARRIVING = 1 << 18  # bytes of lines that are taken together
_GATHERING = 0.02  # seconds of reading after which they are
_LONGEST_LINE = 1 << 24
_BOMB = 64 << 20  # bytes out of gzip that are suspicious where they are
_RATIO = 200  # times as many as went in
_only_regular = ContextVar("only_regular", default=False)


class _Input:
    """A stream of bytes whose errors carry the name the user gave."""

    def __init__(self, file, name):
        self._file = file
        self.name = name
        self._left = sys.maxsize  # bytes to read before the input is refused
        with suppress(OSError, AttributeError):  # of a stream without a descriptor
            if stat.S_ISCHR(os.fstat(file.fileno()).st_mode):
                self._left = _DEVICE

    def read(self, size=-1):
        with _reading(self.name):
            data = self._file.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise DataError(
                f"cannot read: it is a device, and gives more than {_DEVICE >> 20} "
                "MiB: expected a file or a pipe",
                file=self.name,
            )
        return data

    def readinto(self, buffer):
        with _reading(self.name):
            return self._file.readinto(buffer)

    def seek(self, offset):
        with _reading(self.name):
            return self._file.seek(offset)

    def fileno(self):
        return self._file.fileno()

    def regular_size(self):
        """Size of a regular file opened by name; None for a pipe, a device, `-`."""
        if self.name == "-":
            return None
        with _reading(self.name):
            status = os.fstat(self.fileno())
        if stat.S_ISREG(status.st_mode):
            return status.st_size
        return None


class _Text:
    """The bytes of an `_Input`, without the compression by gzip that its first two may tell of."""

    def __init__(self, file):
        self._source = file
        self.name = file.name

    @functools.cached_property
    def _file(self):  # nothing is read before it is requested
        head = read_all(self._source, len(GZIP))
        file = Chained(head, self._source)
        if head == GZIP:
            return Unzipped(file, self.name)
        return file

    def read(self, size=-1):
        return self._file.read(size)

    def regular_size(self):
        """Bytes of a regular file opened by name that is not compressed; or None."""
        if isinstance(self._file, Unzipped):
            return None
        return self._source.regular_size()


class Unzipped:
    """The bytes that a stream has compressed with gzip.

    Raises DataError about the file `name` where they are damaged, end too early or grow beyond
    what data do.
    """

    def __init__(self, file, name):
        self.name = name
        self._source, self._given, self._taken = file, 0, 0
        self._file = gzip.GzipFile(fileobj=SimpleNamespace(read=self._take), mode="rb")

    def _take(self, size):
        data = self._source.read(size)
        self._taken += len(data)
        return data

    def read(self, size=-1):
        """At most `size` unpacked bytes, all for -1; none at the end alone."""
        try:
            data = self._file.read(size)
        except (EOFError, OSError, zlib.error) as error:
            raise DataError(
                f"is damaged, or not complete: {error}"[:200], file=self.name
            ) from error
        self._given += len(data)
        if self._given > max(_BOMB, _RATIO * self._taken):
            raise DataError(
                f"the gzip file grows more than {_RATIO} times, beyond "
                f"{_BOMB >> 20} MiB: unpack it with gunzip if that is meant",
                file=self.name,
            )
        return data


class Chained:
    """A stream of these first bytes, and then of another stream."""

    def __init__(self, head, stream):
        self._head = io.BytesIO(head)
        self._stream = stream

    def read(self, size=-1):
        """At most `size` bytes, all for -1."""
        head = self._head.read(size)
        return head + self._stream.read(size - len(head) if size >= 0 else -1)

    def readinto(self, buffer):
        """Fill a buffer of bytes; -> the number of bytes."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset):
        """Go to a place in the other stream, which has the first bytes, too."""
        self._head = io.BytesIO()
        return self._stream.seek(offset)

    def fileno(self):
        """The descriptor of the other stream."""
        return self._stream.fileno()


def read_all(stream, size, head=b""):
    """The bytes `head`, and more of the stream, so that there are `size` if it has so many."""
    while len(head) < size and (piece := stream.read(size - len(head))):
        head += piece
    return head


class CutLine(bytes):
    """The beginning of a line that is too long, with the message about it."""

    message = f"a line is longer than {_LONGEST_LINE >> 20} MiB"


def arriving_lines(file):
    """Yield (whole lines, number of the first from 1) of a raw input as they come.

    What is there is read, for 20 ms or 256 KiB, but nothing is waited for once a line is whole; the
    last line may lack its end. Of a line above 16 MiB the beginning comes alone, a `CutLine`.
    Raises DataError for what gzip has compressed.
    """
    number = 1
    held = bytearray()
    ended = False
    skipping = False
    while not ended:
        with _reading(file.name):
            select.select([file], [], [])
            latest = time.monotonic() + _GATHERING
            while True:
                piece = os.read(file.fileno(), _ARRIVING)
                held += piece
                ended = not piece
                if (
                    ended
                    or len(held) > _ARRIVING
                    or time.monotonic() > latest
                    or not select.select([file], [], [], 0)[0]
                ):
                    break
        if number == 1 and held.startswith(GZIP):
            raise DataError(
                "is compressed by gzip: lines come out of zcat as they come", file=file.name
            )
        end = held.find(b"\n") + 1 or len(held)
        if end > _LONGEST_LINE and not skipping:
            yield CutLine(held[:_ARRIVING]), number
            number += 1
            skipping = True
        if skipping:
            skipping = held[end - 1 : end] != b"\n"
            del held[:end]
        if ended:
            cut = len(held)
        else:
            cut = held.rfind(b"\n") + 1
        if cut:
            lines = bytes(held[:cut])
            del held[:cut]
            yield lines.removeprefix(MARK) if number == 1 else lines, number
            number += lines.count(b"\n")


_begun = {}  # {path: (stream, its first bytes)} of streams that were looked at


def peek(path, size, is_enough):
    """The first bytes of a file, unpacked, at most `size`.

    Of a stream no more is waited for than is_enough(bytes) accepts, and the next `open_input`
    begins with them again.
    """
    if not is_stream(path):
        with open_input(path) as file:
            return read_all(file, size)
    stream, head = _begun.get(path, (None, b""))
    with _reading(path):
        if stream is None and path != "-":
            stream = open(path, "rb")
        elif stream is None and sys.stdin is not None:
            stream = sys.stdin.buffer
        if stream is None:
            return b""
        while len(head) < size and not is_enough(head):
            piece = stream.read1(size - len(head))  # what is there, and waits only for nothing
            if not piece:
                break
            head += piece
    _begun[path] = stream, head
    if head.startswith(GZIP):
        with suppress(zlib.error):
            return zlib.decompressobj(wbits=31).decompress(head, size)
    return head


def forget_begun():
    """Close what was looked at and never opened."""
    for path, (stream, _) in _begun.items():
        if path != "-":
            stream.close()
    _begun.clear()


@contextmanager
def open_input(path, stdin=None, raw=False):
    """`path` opened for reading bytes; `-` is standard input (`stdin`, a binary stream).

    What gzip has compressed is unpacked, whatever its name, but not if `raw`, as in binary formats,
    whose first bytes may be any, and then it can `seek` and `readinto`, and has a `fileno`.
    Standard input is not closed. Raises DataError when it cannot be opened, from its `read` and
    `readinto` when it cannot be read, and where memory runs out in the block.
    """
    path = os.fsdecode(path)
    try:
        if path == "-":
            if stdin is None:
                if sys.stdin is None:
                    raise DataError("cannot read: standard input is closed", file=path)
                stdin, head = _begun.pop(path, (sys.stdin.buffer, b""))
                if head:
                    stdin = Chained(head, stdin)
            file = _Input(stdin, path)
            yield file if raw else _Text(file)
            return
        file, head = _begun.pop(path, (None, b""))
        if file is None:
            with _reading(path):
                file = open(path, "rb", opener=_open_regular if _only_regular.get() else None)
        with file:
            opened = _Input(Chained(head, file) if head else file, path)
            yield opened if raw else _Text(opened)
    except MemoryError as error:
        raise DataError("cannot read: there is not enough memory", file=path) from error


def is_stream(path):
    """True if a path is `-`, a pipe or a device, also by another name, as /dev/stdout."""
    folder = os.path.dirname(os.path.abspath(path))
    return (
        path == "-"
        or os.path.exists(path)
        and not os.path.isfile(path)
        or folder in ("/dev", "/dev/fd")
        or folder.startswith("/proc/")
    )


@contextmanager
def regular_files():
    """Within the block only regular files that are not empty can be opened by name.

    It is for what a control file names, whose writer may be a stranger: a pipe that never gives
    anything, or a device that has no end, is for the command line only.  So are files of size 0,
    whose contents the kernel may make up.
    """
    before = _only_regular.set(True)
    try:
        yield
    finally:
        _only_regular.reset(before)


def _open_regular(path, flags):
    refuse_irregular(os.stat(path), path)  # opening a device may do something already
    handle = os.open(path, flags | os.O_NONBLOCK)  # a pipe may have taken the name by now
    try:
        status = os.fstat(handle)
        refuse_irregular(status, path)
        if stat.S_ISREG(status.st_mode) and status.st_size == 0:
            raise DataError("expected a model, found an empty file", file=path)
        os.set_blocking(handle, True)
    except BaseException:
        os.close(handle)
        raise
    return handle


def refuse_irregular(status, path):
    """Raise DataError where the status of what a control file names is of no regular file.

    Of folders those tell who open them.
    """
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise DataError(
            "cannot read: expected a regular file, as a control file names it", file=path
        )


@contextmanager
def _reading(path):
    try:
        yield
    except IsADirectoryError as error:
        raise DataError("cannot read: it is a folder", file=path) from error
    except OSError as error:
        raise DataError(f"cannot read: {system_reason(error)}", file=path) from error
    except ValueError as error:  # a NUL in the name
        raise DataError(f"cannot read: {error}", file=path) from error


def read_bytes(path, stdin=None, raw=False, most=None, expected=""):
    """All bytes of a file, or of standard input for `-`; arguments as for `open_input`.

    Parameters
    ----------
    most : function of the first bytes, optional
        Returns how many bytes a file of this kind can have; None for what fits in memory.
    expected : str, the kind, for the message about a larger file

    Raises
    ------
    DataError : when the file cannot be read, and for too many bytes: a pipe may never end
    """
    limit = memory_limit()
    with open_input(path, stdin, raw) as file:
        size = file.regular_size()
        head = file.read(_PIECE) if callable(most) else b""
        if callable(most):
            most = most(head)
        # what has no size grows in memory, and is copied once
        limit = min(limit if size is not None else limit // 4, limit if most is None else most)
        if size is not None and size <= limit:
            return head + file.read()
        data = bytearray(head)
        while size is None and len(data) <= limit and (piece := file.read(_PIECE)):
            data += piece
        if size is not None or len(data) > limit:
            if limit >> 20:
                size = f"{limit >> 20} MiB"
            else:
                size = f"{limit >> 10} KiB"
            raise DataError(
                f"larger than {size}" + (expected and f": expected {expected}"), file=file.name
            )
        return bytes(data)
