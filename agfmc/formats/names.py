"""`base.names`: the names of the classes, line i for label i (from 0), in UTF-8."""

from __future__ import annotations

from ..control.tree import clash
from ..errors import DataError
from .files import read_bytes, replacing

__all__ = ["check_names", "names_bytes", "read_names", "read_names_of", "write_names"]


def read_names(path, stdin=None):
    """The names as a tuple of str, entry i for label i.

    Raises DataError with the line for an empty or repeated name, and for no names.
    """
    text = read_bytes(path, stdin).decode("utf-8", errors="surrogateescape")
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    names = tuple(line.strip() for line in lines)
    check_names(names, path)
    return names


def read_names_of(path, labels, names=None):
    """{label: name} of those labels; DataError where one of them has no line.

    names: what stands in the file, if read already.
    """
    names = read_names(path) if names is None else names
    for label in labels:
        if label >= len(names):
            raise DataError(f"holds no name for class {label} (line {label + 1})", file=path)
    return {label: names[label] for label in labels}


def names_bytes(names, path=None):
    """The contents of a file of names; DataError for one that could not be read back."""
    check_names(names, path)
    return "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")


def write_names(path, names):
    """Write names, entry i for label i; DataError for one that could not be read back."""
    data = names_bytes(names, path)
    with replacing(path, binary=True) as file:
        file.write(data)


def check_names(names, path=None):
    """DataError unless all names are different, not empty, and of one line each."""
    if not names:
        raise DataError("has no names", file=path)
    for line, name in enumerate(names, 1):
        if not name:
            raise DataError("the name is empty", file=path, line=line)
        if name != name.strip() or "\n" in name or "\0" in name:
            raise DataError(f"{name!r} cannot be a name: its blanks would be lost",
                            file=path, line=line)
        if line == 1 and name.startswith("\ufeff"):
            raise DataError(f"{name!r} cannot be the first name: its mark of order of bytes "
                            "would be lost", file=path, line=line)
    if wrong := clash(enumerate(names)):
        raise DataError(f"{wrong[1]}: each class has one, of its own (line i is for label i, from "
                        "0)", file=path, line=wrong[0] + 1)
