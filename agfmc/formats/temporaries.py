"""Names of what must not stay behind, known before it exists; and renaming undisturbed."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from contextlib import ExitStack, contextmanager, suppress

from ..errors import DataError

__all__ = ["cleared", "keep_temporary", "private_folder", "remove_left", "remove_temporary",
           "temporary_file", "temporary_name", "undisturbed"]

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
