"""Putting in place what another program has made: a file, or a folder with all that is in it."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress

from ..errors import DataError, NotPutBack
from .files import replacing, sync, writing
from .ownership import hand_on
from .temporaries import keep_temporary, remove_temporary, temporary_name, undisturbed

__all__ = ["install"]


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
