"""Replacing files, so that a failure leaves nothing half done; and reading them."""

from __future__ import annotations

import errno
import os
import stat
import threading
from contextlib import ExitStack, contextmanager, suppress

from ..errors import DataError
from .inputs import open_input, read_bytes
from .temporaries import keep_temporary, remove_temporary, temporary_name, undisturbed

__all__ = ["check_output", "open_input", "read_bytes", "remove", "replacing", "replacing_all",
           "writing"]

_umask_lock = threading.Lock()


@contextmanager
def replacing(path, binary=False, before=None):
    """A file object whose contents take the place of `path` when the block ends well.

    They are written to a private file in the same folder, brought to the disk and
    renamed; on any exception `path` is as it was.  A new file gets the permissions
    of the umask, a replaced one keeps its own, its owner and its group.  A symbolic
    link is followed.  What exists and is not a regular file (a device, a pipe) is
    written directly.
    before: called when the new contents are on the disk, and `path` is still as it was.

    Raises DataError when the file cannot be written; BrokenPipeError passes through.
    """
    with replacing_all([path], binary, before) as (file,):
        yield file


@contextmanager
def replacing_all(paths, binary=False, before=None):
    """Like `replacing` for several files: a list of file objects in the order of `paths`.

    Every file is complete on the disk before the first is renamed, so that the
    files appear together or not at all.  No signal and no other run of this suite comes
    between; after kill -9 in that moment some files are absent, with their older contents
    under a temporary name, and never are old ones beside new ones.
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
        if before is not None:
            before()
        _appear([output for output in outputs if not output.direct])
    finally:
        for output in outputs:
            output.discard()


def _appear(outputs):
    """Rename all temporary files, or none."""
    folders = [os.path.dirname(output.target) for output in outputs]
    if len(outputs) < 2:
        for output in outputs:
            output.appear()
    else:
        with undisturbed(folders):
            try:
                for output in outputs:
                    output.set_aside()
                for output in outputs:
                    output.appear()
            except BaseException as error:
                failed = [output for output in outputs if not output.restore()]
                for output in failed[:1]:
                    raise DataError("could neither be written nor put back: its old contents "
                                    f"are in {output.kept}", file=output.name) from error
                raise
    _sync_folders(folders)


class _Output:
    """A file for the writers of this package, whose errors carry the name the user gave."""

    def __init__(self, path, binary):
        self.name = path
        self.temporary = None
        self._earlier = self.kept = None
        self._appeared = False
        self._binary = binary

    def begin(self):
        """Open the file, or a temporary one beside it."""
        path = self.name
        with writing(path):
            if path.endswith("/"):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            try:
                self._old = os.stat(path)
            except FileNotFoundError:
                self._old = None
            self.direct = self._old is not None and not stat.S_ISREG(self._old.st_mode)
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
        if self._old is not None:
            with suppress(FileNotFoundError):  # another run renames at this moment
                os.close(os.open(self.target, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0)))
        self.temporary = temporary_name(os.path.dirname(self.target))
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        return os.open(self.temporary, flags, 0o600)

    def write(self, data):
        with writing(self.name):
            return self._file.write(data)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        with writing(self.name):
            self._file.flush()

    def fileno(self):
        return self._file.fileno()

    def complete(self):
        """Everything on the disk, with its final permissions, under the temporary name."""
        with writing(self.name):
            self._file.flush()
            if not self.direct:
                os.fchmod(self._file.fileno(), self._permissions())
                os.fsync(self._file.fileno())
            self._file.close()

    def _permissions(self):
        """Those of the umask, or of the file that is replaced, together with its owner and
        group; another group, where that cannot be changed, gets no more than everybody."""
        old = self._old
        if old is None:
            return _new_mode()
        handle, mode = self._file.fileno(), old.st_mode & 0o777
        for owner in (old.st_uid, -1):
            with suppress(OSError):
                os.fchown(handle, owner, old.st_gid)
                return mode
        if os.fstat(handle).st_gid == old.st_gid:
            return mode
        return mode & 0o707 | (mode & 0o007) << 3

    def set_aside(self):
        """Give what is there another name, from which `restore` takes it back."""
        with writing(self.name), suppress(FileNotFoundError):
            if stat.S_ISDIR(os.lstat(self.target).st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            self._earlier = temporary_name(os.path.dirname(self.target))
            os.rename(self.target, self._earlier)

    def appear(self):
        with writing(self.name):
            os.replace(self.temporary, self.target)
        self._appeared = True

    def restore(self):
        """Undo `set_aside` and `appear`; -> False where the old contents are only in `kept`."""
        try:
            if self._earlier is not None and os.path.lexists(self._earlier):
                os.replace(self._earlier, self.target)
            elif self._appeared:
                os.unlink(self.target)
        except OSError:
            self.kept, self._earlier = self._earlier, None
            if self.kept is not None:
                keep_temporary(self.kept)
                return False
        return True

    def close(self):
        # after a failure the rest of the buffer cannot be written either: nothing to add
        with suppress(OSError, ValueError):
            self._file.close()

    def discard(self):
        for path in (self.temporary, self._earlier):
            if path is not None:
                remove_temporary(path)


def check_output(path):
    """Raise the DataError of `replacing` for a path that cannot be written, before the work.

    Devices and pipes are left alone.
    """
    path = os.fsdecode(path)
    with suppress(OSError, ValueError):
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            return
    output = _Output(path, True)
    try:
        output.begin()
        output.close()
    finally:
        output.discard()


def _refuse_twins(outputs):
    seen = set()
    for output in outputs:
        if not output.direct and output.target in seen:
            raise DataError("two outputs would go to this file", file=output.name)
        seen.add(output.target)


@contextmanager
def writing(path):
    """Within the block, what the system refuses becomes a DataError about the file `path`."""
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


def _sync_folders(folders):
    """Bring the renames to the disk where the file system can; they are done either way."""
    for folder in sorted(set(folders)):
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def remove(path):
    """Remove a file if it is there; DataError where that fails.  Devices and pipes stay."""
    with writing(path), suppress(FileNotFoundError):  # somebody else removed it at this moment
        if os.path.isfile(path):
            os.unlink(path)
