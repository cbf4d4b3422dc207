"""The check that no output of a run is one of its inputs or another output."""

import os
import stat
from collections.abc import Iterable

from ..core.errors import UsageError


def check_distinct(files: Iterable[tuple[str, str | None, bool]]) -> None:
    """Raise `UsageError` where an output is an input or another output, under whatever name.

    files: (option or operand, path or None, True for an output).  Symbolic links, hard links and
    relative paths lead to one file.  Devices, pipes, folders and inputs that do not exist may be
    named twice; `-`, standard input or output, once each.
    """
    names: dict = {}
    for name, path, is_output in sorted(files, key=lambda file: file[2]):  # inputs come first
        file = _identity(path, is_output)
        if path == "-" and names.get(file, name) != name:
            raise UsageError(f"{names[file]} and {name} cannot both be standard "
                             + ("output" if is_output else "input"))
        if path != "-" and is_output and file in names:
            raise UsageError(f"{name} would overwrite {names[file]}: both are the file {path}; "
                             "choose another name")
        if file is not None:
            names.setdefault(file, name)


def _identity(path, is_output):
    """A key that is equal for all names of a file; None for what need not be a file of its own."""
    if path is None or path == "-":
        return path and (path, is_output)
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # ValueError: a NUL
        return os.path.realpath(path) if is_output and "\0" not in path else None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
