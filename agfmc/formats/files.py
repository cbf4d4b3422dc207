"""Replacing files, so that a failure leaves nothing half done; and reading them."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack, contextmanager, suppress

from ..errors import DataError, NotPutBack
from .inputs import open_input, read_bytes
from .ownership import hand_on, new_permissions
from .temporaries import keep_temporary, remove_temporary, temporary_name, undisturbed

__all__ = ["check_output", "open_input", "read_bytes", "remove", "replacing", "replacing_all",
           "sync", "writing"]

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
                if failed:
                    raise NotPutBack(
                        "could neither be written nor put back: the old contents are in "
                        + ", ".join(output.earlier for output in failed),
                        file=", ".join(output.name for output in failed)) from error
                raise
            for output in outputs:
                if output.earlier is not None:
                    remove_temporary(output.earlier)
    _sync_folders(folders)


class _Output:
    """A file for the writers of this package, whose errors carry the name the user gave."""

    def __init__(self, path, binary):
        self.name = path
        self.temporary = None
        self.earlier = None
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
                handle = self._file.fileno()
                if self._old is None:
                    os.fchmod(handle, new_permissions())
                else:
                    hand_on(self.target, self._old, handle)
                os.fsync(handle)
            self._file.close()

    def set_aside(self):
        """Give what is there another name, from which `restore` takes it back."""
        with writing(self.name), suppress(FileNotFoundError):
            if stat.S_ISDIR(os.lstat(self.target).st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            earlier = temporary_name(os.path.dirname(self.target))
            keep_temporary(earlier)  # what it will hold is only ours to remove when replaced
            os.rename(self.target, earlier)
            self.earlier = earlier

    def appear(self):
        with writing(self.name):
            os.replace(self.temporary, self.target)
        self._appeared = True

    def restore(self):
        """Undo `set_aside` and `appear`; -> False where the old contents are only in `earlier`."""
        try:
            if self.earlier is not None:
                os.replace(self.earlier, self.target)
            elif self._appeared:
                os.unlink(self.target)
        except OSError:
            return self.earlier is None
        return True

    def close(self):
        # after a failure the rest of the buffer cannot be written either: nothing to add
        with suppress(OSError, ValueError):
            self._file.close()

    def discard(self):
        if self.temporary is not None:
            remove_temporary(self.temporary)


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


def _sync_folders(folders):
    """Bring the renames to the disk where the file system can; they are done either way."""
    for folder in sorted(set(folders)):
        with suppress(OSError):
            sync(folder)


def sync(path):
    """Bring a finished file, or the names in a folder, to the disk; OSError where that fails."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove(path):
    """Remove a file if it is there, for ever; DataError where that fails.

    Devices and pipes stay.  A symbolic link is followed, as by the writers, and stays too.
    """
    with writing(path):
        target = os.path.realpath(path)
        with suppress(FileNotFoundError):  # somebody else removed it at this moment
            if os.path.isfile(target):
                os.unlink(target)
    _sync_folders([os.path.dirname(target)])  # by whomever it was removed
