"""Control files on disk: bytes to tree, tree to bytes."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from ..control.parse import parse
from ..control.write import format_tree
from ..errors import ControlError, DataError
from .files import read_bytes, replacing

__all__ = ["model_file", "read_control", "require_regular", "write_control"]

_LARGEST = 256 * 2**20


def read_control(path, raw=None):
    """The `Tree` in a control file, or in standard input for `-`; raw: bytes read already.

    Raises `ControlError` with file, line and column.
    """
    raw = read_bytes(path) if raw is None else raw
    source = "standard input" if path == "-" else path
    if len(raw) > _LARGEST:
        raise ControlError("larger than any control file can be (256 MiB)", file=source)
    try:
        return parse(raw.decode("utf-8"), source)
    except UnicodeDecodeError as error:
        before = raw[:error.start]
        wrong = ControlError("expected a control file, found bytes that are not UTF-8 text",
                             file=source, line=before.count(b"\n") + 1,
                             column=error.start - before.rfind(b"\n"))
    try:
        # names of files and classes may be in another encoding
        return parse(raw.decode("utf-8", "surrogateescape"), source)
    except ControlError:
        raise wrong from None


def write_control(path, tree):
    """Write the control file of `tree`, whole or not at all."""
    text = format_tree(tree)
    with replacing(path) as file:
        file.write(text)


def model_file(name, folder=None):
    """Where a model is that a control file names; absolute names do not depend on `folder`.

    A name that begins with a minus sign is that of a file, never standard input or an option.
    """
    path = os.path.join(folder or "", name)
    return os.path.join(os.curdir, path) if path.startswith("-") else path


def require_regular(path, empty=True):
    """Raise `DataError` where something that a control file names is there and no regular file.

    Who wrote the file may be a stranger: a pipe that never gives anything, or a device that
    has no end, is for the command line only.  empty: the size may be 0, as it is where the
    kernel makes up the contents, perhaps without an end.
    """
    with suppress(OSError, ValueError):  # of which the reader tells
        status = os.stat(path)
        if not empty and stat.S_ISREG(status.st_mode) and status.st_size == 0:
            raise DataError("expected a model, found an empty file", file=path)
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            raise DataError("cannot read: expected a regular file, as a control file names it",
                            file=path)
