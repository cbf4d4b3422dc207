"""Replacing files, so that a failure leaves nothing half done; and reading them.

Names of what must not stay behind, known before it exists; and renaming undisturbed.

What a file that takes the place of another keeps of it: permissions, owner, group, ACL.

Putting in place what another program has made: a file, or a folder with all that is in it.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import threading
import time
from contextlib import contextmanager, ExitStack, suppress

from ..errors import DataError, NotPutBack
from .inputs import open_input, read_bytes

__all__ = ["check_output", "cleared", "hand_on", "install", "keep_temporary", "new_permissions",
           "open_input", "private_folder", "read_bytes", "remove", "remove_left",
           "remove_temporary", "replacing", "replacing_all", "sync", "temporary_file",
           "temporary_name", "undisturbed", "writing"]

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


_PATIENCE = 2.0  # seconds to wait for another run's renames
_ENDS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGXCPU", "SIGUSR1", "SIGUSR2")
_known = {}  # name: is it a folder?
_left = set()  # of these, what could not be removed when its time had come
_renaming = threading.RLock()


def temporary_name(folder, prefix=".agfmc-", a_folder=False):
    """A new name in `folder`, which `cleared` removes as long as `remove_temporary` did not."""
    path = os.path.join(folder, f"{prefix}{os.urandom(8).hex()}")
    _known[path] = a_folder
    return path


def remove_temporary(path):
    """Remove a file or folder of a temporary name, if it is there, as far as that is possible."""
    with suppress(OSError):
        if _known.get(path):
            shutil.rmtree(path, ignore_errors=True)
        else:  # never a folder: one that was renamed to this is somebody's
            os.unlink(path)
    if _known.get(path) and os.path.lexists(path):  # to list it takes descriptors that are free
        _left.add(path)
    else:
        _left.discard(path)
        _known.pop(path, None)


def remove_left():
    """Remove, at the end of a command, what `remove_temporary` could not: more is closed now."""
    for path in list(_left):
        remove_temporary(path)


def keep_temporary(path):
    """Leave a file of a temporary name where it is."""
    _known.pop(path, None)


@contextmanager
def cleared():
    """For a program that ends within the block: what has a temporary name is gone.

    A thread that is renaming is waited for, and none begins to.
    """
    waited = _renaming.acquire(timeout=2 * _PATIENCE)
    try:
        for path in list(_known):
            remove_temporary(path)
        yield
    finally:
        if waited:
            _renaming.release()


@contextmanager
def private_folder(parent=None, prefix=".agfmc-"):
    """A new folder in `parent` that nobody else may read; it goes when the block ends.

    parent: None for the system's folder of temporary files.  Raises `DataError`
    where it cannot be made.
    """
    path = temporary_name(_system_folder() if parent is None else parent, prefix, True)
    try:
        try:
            os.mkdir(path, 0o700)
        except OSError as error:
            raise DataError(f"cannot make a temporary folder here: {error.strerror}",
                            file=os.path.dirname(path)) from error
        yield path
    finally:
        remove_temporary(path)


def temporary_file(mode="w+b", **more):
    """A file without a name; `DataError` where there can be none."""
    import tempfile

    folder = _system_folder()
    try:
        return tempfile.TemporaryFile(mode, dir=folder, **more)
    except OSError as error:
        raise DataError(f"cannot make a temporary file here: {error.strerror}",
                        file=folder) from error


def _system_folder():
    import tempfile

    try:
        return tempfile.gettempdir()
    except OSError:
        _one_more_file()
        raise DataError("there is no folder for temporary files that can be written: TMPDIR "
                        "may name one") from None


def _one_more_file():
    """Raise `DataError` where no file can be opened, wherever it is."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        raise DataError(f"cannot make a temporary file: {error.strerror}") from error


@contextmanager
def undisturbed(folders):
    """For some renames that belong together: signals wait, and other runs of this suite too.

    The folders are locked where the file system can do that, and for a short time only:
    who finds them locked for longer goes on without.
    """
    with ExitStack() as stack:
        for folder in sorted(set(folders)):  # in one order, so that no two wait for each other
            stack.enter_context(_locked(folder))
        stack.enter_context(_renaming)
        stack.enter_context(_signals_later())
        yield


@contextmanager
def _signals_later():
    """What signals do in Python waits until the block ends; and what they do by themselves,
    as far as this is the only thread."""
    came = []
    main = threading.current_thread() is threading.main_thread()
    with ExitStack() as stack:  # runs all that it is told, whatever comes between
        stack.callback(lambda: [signal.raise_signal(number) for number in dict.fromkeys(came)])
        for number in signal.valid_signals() if main else ():
            handler = signal.getsignal(number)
            if callable(handler):
                stack.callback(signal.signal, number, handler)
                signal.signal(number, lambda number, frame: came.append(number))
        mask = getattr(signal, "pthread_sigmask", None)
        if mask:
            ends = {getattr(signal, name) for name in _ENDS if hasattr(signal, name)}
            stack.callback(mask, signal.SIG_SETMASK, mask(signal.SIG_BLOCK, ends))
        yield


@contextmanager
def _locked(folder):
    try:
        import fcntl

        handle = os.open(folder or os.curdir, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    break
                time.sleep(0.005)
            except OSError:
                break
        yield
    finally:
        os.close(handle)


_ACL = "system.posix_acl_access"
_umask_lock = threading.Lock()


def new_permissions():
    """Those of a file that replaces nothing, by the umask."""
    # the mask can only be read by setting it; for a moment it is stricter, never looser
    with _umask_lock:
        mask = os.umask(0o077)
        os.umask(mask)
    return 0o666 & ~mask


def hand_on(path, old, handle):
    """Give the open file `handle`, which is private, what others may do with the file `path`.

    old: `os.stat` of `path`.  Where the system does not let its group or its access control
    list be kept, the group gets no more than everybody, or nothing.
    """
    mode, acl = old.st_mode & 0o777, _acl(path)
    for owner in (old.st_uid, -1):
        with suppress(OSError):
            os.fchown(handle, owner, old.st_gid)
            break
    if os.fstat(handle).st_gid != old.st_gid:
        mode, acl = mode & 0o707 | (mode & 0o007) << 3, None
    if _acl(handle) != acl:  # the folder may have given one to a file that is to have none
        with suppress(OSError):
            if acl is None:
                os.removexattr(handle, _ACL)
            else:
                os.setxattr(handle, _ACL, acl)
        if _acl(handle) != acl:
            mode &= 0o707  # the group's bits are the mask of the list, and mean that only with it
    os.fchmod(handle, mode)


def _acl(file):
    """The access control list of a path or handle; None where there is none, or no such thing."""
    try:
        return os.getxattr(file, _ACL)
    except (OSError, AttributeError):  # systems without them
        return None


def install(made, path, before=None):
    """Move the finished file or folder `made` to `path`, in the place of what is there.

    As with `replacing` everything is brought to the disk first, a symbolic link is
    followed, what is replaced hands on its permissions, and on any exception `path` is
    as it was.  What replaces nothing keeps those that its program gave it.
    before: as for `replacing`.

    Raises DataError where the system refuses, and for a file in the place of a folder or a
    folder in that of a file.
    """
    with writing(path):
        if os.path.exists(path) and os.path.isdir(path) != os.path.isdir(made):
            raise DataError("cannot write: there is something else of this name", file=path)
        if os.path.lexists(path) and not os.path.isdir(made):
            with replacing(path, binary=True, before=before) as file, open(made, "rb") as source:
                shutil.copyfileobj(source, file)
            os.unlink(made)
        else:
            _move(made, path, before)


def _move(made, path, before):
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    new = temporary_name(folder, a_folder=os.path.isdir(made))
    try:
        if os.path.isdir(target):
            _hand_on(target, made)
        shutil.move(made, new)  # a link may lead to another file system
        _sync_all(new)
        if before is not None:
            before()
        with undisturbed([folder]):
            earlier = _exchange(new, target, path)
        with suppress(OSError):
            sync(folder)
    finally:
        remove_temporary(new)
    if earlier is not None:
        shutil.rmtree(earlier, ignore_errors=True)


def _hand_on(target, made):
    if not os.access(target, os.W_OK | os.X_OK):  # nor could it be removed
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    handle = os.open(made, os.O_RDONLY)
    try:
        hand_on(target, os.stat(target), handle)
    finally:
        os.close(handle)


def _exchange(new, target, path):
    """Rename `new` to `target`; -> the name that a folder which was there has now, or None."""
    earlier = None
    if os.path.isdir(new) and os.path.isdir(target):  # which no folder can be renamed to
        earlier = temporary_name(os.path.dirname(target), a_folder=True)
        keep_temporary(earlier)  # not to be removed before it is replaced
        os.rename(target, earlier)
    try:
        os.replace(new, target)
    except BaseException as error:
        if earlier is not None:
            try:
                os.rename(earlier, target)
            except OSError:
                raise NotPutBack("could neither be written nor put back: the old contents are in "
                                 f"{earlier}", file=path) from error
        raise
    return earlier


def _sync_all(path):
    """Bring a file, or a folder and all files in it, to the disk."""
    if not os.path.isdir(path):
        sync(path)
        return
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False):
                _sync_all(entry.path)
    with suppress(OSError):  # not every file system can
        sync(path)
