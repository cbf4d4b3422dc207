"""Files that appear whole or not at all, and temporary files that no failure leaves behind.

A file is written under a temporary name in the folder of the one that it replaces, brought to
the disk (fsync) and renamed; several files are all complete before the first is renamed.
"""

from __future__ import annotations

import atexit
import errno
import io
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, ExitStack, suppress

from ..core.errors import AgfmcError, DataError, ModelError, system_reason, UsageError

_LEVEL = 6  # of gzip
_BUFFER = 1 << 16  # bytes that it gets at a time
_TEMPORARY = "a temporary file"  # its name in messages
_known: set[str] = set()  # the temporary names in use


def checked(content, read, path=None):
    """The `content` of a file that is about to be written to `path`, if its reader accepts it.

    read(content) checks it. Whoever makes the content of a file calls this, so that no file appears
    that no command could read: raises `ModelError` in place of the reader's error.
    """
    try:
        read(content)
    except (AgfmcError, ValueError) as error:  # ValueError: of a number that JSON has not
        raise ModelError(
            "cannot write this file, because no command could read it: "
            f"{getattr(error, 'message', error)}",
            file=path,
        ) from error
    return content


@contextmanager
def replacing(path, binary: bool = False, before: Callable | None = None) -> Iterator[_Output]:
    """Replace one file, as `replacing_all` replaces several."""
    with replacing_all([path], binary, before) as (file,):
        yield file


@contextmanager
def replacing_with(
    contents: Mapping, binary: bool = False, before: Callable | None = None
) -> Iterator[None]:
    """Write {path: its contents} as `replacing_all` does when the block ends well; a file whose
    contents are None is removed then, if it is there."""

    def ready():
        if before is not None:
            before()
        for path, content in contents.items():
            if content is None:
                remove(path)

    new = {path: content for path, content in contents.items() if content is not None}
    with replacing_all(list(new), binary, ready) as files:
        for file, content in zip(files, new.values()):
            file.write(content)
            file.flush()
        yield


@contextmanager
def replacing_all(
    paths: Iterable, binary: bool = False, before: Callable | None = None, text: bool | None = None
) -> Iterator[list[_Output]]:
    """File objects whose contents take the place of `paths` when the block ends well.

    On any exception the paths are as they were. A new file gets the permissions of the umask, a
    replaced one keeps its permissions, and its group where it may. A symbolic link is followed.
    What is not a regular file (a device, a pipe) is written directly. Text is compressed by gzip
    where the name ends in .gz: the same bytes for the same contents.

    Every file is complete on the disk before the first is renamed, and a signal between two renames
    comes after the last. (kill -9, or a system that refuses one of the renames, leaves files of two
    runs.) BrokenPipeError passes through.

    Parameters
    ----------
    binary : bool, what is written is bytes
    before : function, optional, called when the new contents are on the disk, and the paths are
        still as they were
    text : bool, optional
        The bytes are text; by default not with `binary`.

    Raises
    ------
    DataError : when a file cannot be written
    """
    outputs = []
    try:
        for path in paths:
            # known before there is a file: a signal between the two leaves none behind
            outputs.append(_Output(os.fsdecode(path), binary, text))
            outputs[-1].open()
        regular = [output for output in outputs if not output.direct]
        targets = [output.target for output in regular]
        for output in regular:
            if targets.count(output.target) > 1:
                raise DataError("two outputs would go to this file", file=output.name)
        yield outputs[:]
        for output in outputs:
            output.complete()
        if before is not None:
            before()
        _rename(regular)
    finally:
        with ExitStack() as stack:  # all of them, whatever one of them raises
            for output in outputs:
                stack.callback(output.discard)


def _rename(outputs):
    try:
        for output in outputs:
            output.appear()
    except KeyboardInterrupt:  # of a signal
        for output in outputs:
            if os.path.lexists(output.temporary):
                output.appear()
        raise
    for folder in sorted({os.path.dirname(output.target) for output in outputs}):
        with suppress(OSError):  # not every file system can; the renames are done either way
            _sync(folder)


class _Output:
    """A file for the writers of this package, whose errors carry the name the user gave."""

    closed = False  # what writes to it, as PyArrow does, does not close it

    def __init__(self, path, binary, text=None):
        self.name = path
        self.temporary = self._old = self._raw = self._file = None
        self._binary = binary
        self._zipped = (not binary if text is None else text) and path.lower().endswith(".gz")

    def open(self):
        with writing(self.name):
            if self.name.endswith("/"):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            with suppress(FileNotFoundError):
                self._old = os.stat(self.name)
            self.direct = self._old is not None and not stat.S_ISREG(self._old.st_mode)
            # the link /dev/stdout of a pipe leads to no name: it is opened as given
            if self.direct:
                self.target = self.name
            else:
                self.target = os.path.realpath(self.name)
            self._raw = self._file = os.fdopen(self._open_handle(), "wb")
            if self._zipped:
                import gzip

                self._file = io.BufferedWriter(  # without a name or a date
                    gzip.GzipFile("", "wb", _LEVEL, self._raw, mtime=0), _BUFFER
                )
            if not self._binary:
                self._file = io.TextIOWrapper(
                    self._file, encoding="utf-8", errors="surrogateescape", newline="\n"
                )

    def _open_handle(self):
        if self.direct:
            return os.open(self.target, os.O_WRONLY)
        if self._old is not None:  # may it be written at all?
            with suppress(FileNotFoundError):  # another run renames at this moment
                os.close(os.open(self.target, os.O_WRONLY | os.O_NONBLOCK))
        self.temporary = temporary_name(os.path.dirname(self.target))
        return os.open(
            self.temporary,
            os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW,
            0o666 if self._old is None else 0o600,
        )

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
        return self._raw.fileno()

    def close(self):
        pass

    def complete(self):
        """Bring everything to the disk, with its final permissions, under the temporary name."""
        with writing(self.name):
            if self._zipped:
                self._file.close()  # writes the rest, and leaves what is beneath it open
            else:
                self._file.flush()
            self._raw.flush()
            if not self.direct:
                handle = self._raw.fileno()
                if self._old is not None:
                    _copy_permissions(self._old, handle)
                os.fsync(handle)
            self._file.close()
            self._raw.close()

    def appear(self):
        with writing(self.name):
            os.replace(self.temporary, self.target)

    def discard(self):
        try:
            for file in (self._file, self._raw):
                if file is not None:
                    with suppress(OSError, ValueError):  # the rest of a buffer cannot be written
                        file.close()
        finally:
            if self.temporary is not None:
                remove_temporary(self.temporary)


def check_output(path) -> None:
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
        output.open()
    finally:
        output.discard()


def check_distinct(files: Iterable[tuple[str, str | None, bool]]) -> None:
    """Raise `UsageError` where an output is an input or another output, under whatever name.

    `files` are (option or operand, path or None, True for an output). Symbolic links, hard links
    and relative paths lead to one file. Devices, pipes, folders and inputs that do not exist may be
    named twice; `-`, standard input or output, once each.
    """
    names: dict = {}
    for name, path, is_output in sorted(files, key=lambda file: file[2]):  # inputs come first
        file = _identity(path, is_output)
        if path == "-" and names.get(file, name) != name:
            raise UsageError(
                f"{names[file]} and {name} cannot both be standard "
                + ("output" if is_output else "input")
            )
        if path != "-" and is_output and file in names:
            raise UsageError(
                f"{name} would overwrite {names[file]}: both are the file {path}; "
                "choose another name"
            )
        if file is not None:
            names.setdefault(file, name)


def _identity(path, is_output):
    """A key that is equal for all names of a file; None for what need not be a separate file."""
    if path is None or path == "-":
        return path and (path, is_output)
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # ValueError: a NUL
        if is_output and "\0" not in path:
            return os.path.realpath(path)
        return None
    if stat.S_ISREG(status.st_mode):
        return (status.st_dev, status.st_ino)
    return None


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Raise errors of the system within the block as a DataError about the file `path`."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a NUL, a character that is not in UTF-8
        raise DataError(f"cannot write: {system_reason(error)}", file=path) from error


def _sync(path):
    """Bring a finished file, or the names in a folder, to the disk; OSError where that fails."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove(path) -> None:
    """Remove a file if it is there, for ever; DataError where that fails.

    Devices and pipes stay.  A symbolic link is followed, as by the writers, and stays too.
    """
    with writing(path):
        target = os.path.realpath(path)
        with suppress(FileNotFoundError):  # somebody else removed it at this moment
            if os.path.isfile(target):
                os.unlink(target)
    with suppress(OSError):
        _sync(os.path.dirname(target))  # by whomever it was removed


def _copy_permissions(old, handle):
    """Give the open file `handle`, which is private, the group and permissions of the file whose
    `os.stat` is `old`; a group that it cannot keep gets no more than everybody."""
    mode = old.st_mode & 0o777
    with suppress(OSError):
        os.fchown(handle, -1, old.st_gid)
    if os.fstat(handle).st_gid != old.st_gid:
        mode = mode & 0o707 | (mode & 0o007) << 3
    os.fchmod(handle, mode)


def temporary_name(folder: str) -> str:
    """A new name in `folder`, which `remove_temporaries` removes if `remove_temporary` did not."""
    path = os.path.join(folder, f".agfmc-{os.urandom(8).hex()}")
    _known.add(path)
    return path


def remove_temporary(path: str) -> None:
    """Remove a file or folder of a temporary name, if it is there, as far as that is possible."""
    with suppress(OSError, ImportError):
        if os.path.isdir(path):
            import shutil

            shutil.rmtree(path)
        else:
            os.unlink(path)
    # a signal before this, or a folder that cannot be listed while all file descriptors are in
    # use, leaves the rest to the end of the program
    if not os.path.lexists(path):
        _known.discard(path)


@atexit.register
def remove_temporaries() -> None:
    """Remove all temporary files at the end of the program."""
    for path in sorted(_known, key=os.path.isdir):  # files first: folders need file descriptors
        remove_temporary(path)


@contextmanager
def private_folder(parent: str | None = None) -> Iterator[str]:
    """A new folder in `parent`, by default that of the system for temporary files, which nobody
    else may read and which goes when the block ends; `DataError` where it cannot be made."""
    import tempfile

    with writing(_TEMPORARY if parent is None else parent):
        path = temporary_name(tempfile.gettempdir() if parent is None else parent)
        os.mkdir(path, 0o700)
    try:
        yield path
    finally:
        remove_temporary(path)


def temporary_file():
    """A file without a name; `DataError` where there can be none."""
    import tempfile

    with writing(_TEMPORARY):
        return tempfile.TemporaryFile()


def install(made: str, path: str, before: Callable | None = None) -> None:
    """Move the file or folder `made`, which another program wrote, in the place of `path`.

    before() is called when it is on the disk, and what is replaced still there. A file replaces one
    as with `replacing`; an older folder is removed before a new one gets its name. Raises DataError
    where the system refuses, for a file in the place of a folder or a folder in that of a file, and
    for a folder in the place of a symbolic link: whoever made it would choose what is removed.
    """
    import shutil

    with writing(path):
        is_folder = os.path.isdir(made)
        if is_folder and os.path.islink(path):
            raise DataError(
                "cannot write: it is a symbolic link, and a folder is not replaced behind one: "
                "remove the link",
                file=path,
            )
        if os.path.exists(path) and os.path.isdir(path) != is_folder:
            raise DataError("cannot write: something else of this name exists", file=path)
        if not is_folder:
            with replacing(path, binary=True, before=before) as file, open(made, "rb") as source:
                shutil.copyfileobj(source, file)
            return
        for folder, _, names in os.walk(made):
            _sync(folder)
            for inside in (os.path.join(folder, name) for name in names):
                if os.path.isfile(inside) and not os.path.islink(inside):
                    _sync(inside)
        if before is not None:
            before()
        if os.path.isdir(path):
            shutil.rmtree(path)
        os.rename(made, path)
        with suppress(OSError):
            _sync(os.path.dirname(os.path.realpath(path)))
