"""Opening, reading and replacing files, so that a failure leaves nothing half done."""

from __future__ import annotations

import os
import stat
import sys
import threading
from contextlib import ExitStack, contextmanager, suppress

from ..errors import DataError

__all__ = ["open_input", "read_bytes", "remove", "replacing", "replacing_all"]

_umask_lock = threading.Lock()


@contextmanager
def replacing(path, binary=False):
    """A file object whose contents take the place of `path` when the block ends well.

    They are written to a private file in the same folder, brought to the disk and
    renamed; on any exception `path` is as it was.  A new file gets the permissions
    of the umask, a replaced one keeps its own.  A symbolic link is followed.  What
    exists and is not a regular file (a device, a pipe) is written directly.

    Raises DataError when the file cannot be written; BrokenPipeError passes through.
    """
    with replacing_all([path], binary) as (file,):
        yield file


@contextmanager
def replacing_all(paths, binary=False):
    """Like `replacing` for several files: a list of file objects in the order of `paths`.

    Every file is complete on the disk before the first is renamed, so that the
    files appear together or, unless a rename itself fails, not at all.
    """
    outputs = []
    try:
        with ExitStack() as stack:
            for path in paths:
                # known before there is a file: a signal between the two leaves none behind
                outputs.append(_Output(os.fsdecode(path), binary))
                outputs[-1].begin()
                stack.callback(outputs[-1].close)
            _refuse_twins(outputs)
            yield outputs[:]
            for output in outputs:
                output.complete()
        for output in outputs:
            output.appear()
        _sync_folders(output.target for output in outputs if not output.direct)
    finally:
        for output in outputs:
            output.discard()


class _Output:
    """A file for the writers of this package, whose errors carry the name the user gave."""

    def __init__(self, path, binary):
        self.name = path
        self.temporary = None
        self._binary = binary

    def begin(self):
        """Open the file, or a temporary one beside it."""
        path = self.name
        with _writing(path):
            try:
                self._mode = os.stat(path).st_mode
            except FileNotFoundError:
                self._mode = None
            self.direct = self._mode is not None and not stat.S_ISREG(self._mode)
            # the link /dev/stdout of a pipe leads to no name: it is opened as given
            self.target = path if self.direct else os.path.realpath(path)
            handle = self._open()
            if self._binary:
                self._file = os.fdopen(handle, "wb")
            else:
                self._file = os.fdopen(
                    handle, "w", encoding="utf-8", errors="surrogateescape", newline="\n"
                )

    def _open(self):
        if self.direct:
            return os.open(self.target, os.O_WRONLY)
        if self._mode is not None and not os.access(self.target, os.W_OK):
            raise PermissionError(13, os.strerror(13))
        self.temporary = os.path.join(os.path.dirname(self.target),
                                      f".agfmc-{os.urandom(8).hex()}")
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        return os.open(self.temporary, flags, 0o600)

    def write(self, data):
        with _writing(self.name):
            return self._file.write(data)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        with _writing(self.name):
            self._file.flush()

    def fileno(self):
        return self._file.fileno()

    def writable(self):
        return True

    def complete(self):
        """Everything on the disk, with its final permissions, under the temporary name."""
        with _writing(self.name):
            self._file.flush()
            if not self.direct:
                mode = _new_mode() if self._mode is None else self._mode & 0o777
                os.fchmod(self._file.fileno(), mode)
                os.fsync(self._file.fileno())
            self._file.close()

    def appear(self):
        if self.temporary is not None:
            with _writing(self.name):
                os.replace(self.temporary, self.target)
            self.temporary = None

    def close(self):
        # after a failure the rest of the buffer cannot be written either: nothing to add
        with suppress(OSError):
            self._file.close()

    def discard(self):
        if self.temporary is not None:
            with suppress(OSError):
                os.unlink(self.temporary)


def _refuse_twins(outputs):
    seen = set()
    for output in outputs:
        if not output.direct and output.target in seen:
            raise DataError("two outputs would go to this file", file=output.name)
        seen.add(output.target)


@contextmanager
def _writing(path):
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"cannot write: {error.strerror or error}", file=path) from error
    except ValueError as error:  # a NUL in the name, a character that is not in UTF-8
        raise DataError(f"cannot write: {error}", file=path) from error


def _new_mode():
    # the mask can only be read by setting it; for a moment it is stricter, never looser
    with _umask_lock:
        mask = os.umask(0o077)
        os.umask(mask)
    return 0o666 & ~mask


def _sync_folders(targets):
    """Bring the renames to the disk where the file system can; they are done either way."""
    for folder in sorted({os.path.dirname(target) for target in targets}):
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


class _Input:
    """A stream of bytes whose errors carry the name the user gave."""

    def __init__(self, file, name):
        self._file = file
        self.name = name

    def read(self, size=-1):
        with _reading(self.name):
            return self._file.read(size)

    def readinto(self, buffer):
        with _reading(self.name):
            return self._file.readinto(buffer)

    def fileno(self):
        return self._file.fileno()

    def regular_size(self):
        """Size of a regular file opened by name; None for a pipe, a device, `-`."""
        if self.name == "-":
            return None
        with _reading(self.name):
            status = os.fstat(self._file.fileno())
        return status.st_size if stat.S_ISREG(status.st_mode) else None


@contextmanager
def open_input(path, stdin=None):
    """`path` opened for reading bytes; `-` is standard input (`stdin`, a binary stream).

    Standard input is not closed.  Raises DataError when it cannot be opened, and
    from its `read` and `readinto` when it cannot be read.
    """
    path = os.fsdecode(path)
    if path == "-":
        if stdin is None:
            if sys.stdin is None:
                raise DataError("cannot read: standard input is closed", file=path)
            stdin = sys.stdin.buffer
        yield _Input(stdin, path)
        return
    with _reading(path):
        file = open(path, "rb")
    with file:
        yield _Input(file, path)


@contextmanager
def _reading(path):
    try:
        yield
    except IsADirectoryError as error:
        raise DataError("cannot read: it is a folder", file=path) from error
    except OSError as error:
        raise DataError(f"cannot read: {error.strerror or error}", file=path) from error
    except ValueError as error:  # a NUL in the name
        raise DataError(f"cannot read: {error}", file=path) from error


def remove(path):
    """Remove a file if it is there; DataError where that fails.  Devices and pipes stay."""
    with _writing(path):
        if os.path.isfile(path):
            os.unlink(path)


def read_bytes(path, stdin=None):
    """All bytes of a file, or of standard input for `-`; DataError when they cannot be read."""
    with open_input(path, stdin) as file:
        return file.read()
