"""The limit of memory, and the error for what would take more."""

import functools
import os
from contextlib import suppress

from .errors import DataError

_GROUP = "/sys/fs/cgroup"


@functools.cache  # called for each of half a million models
def memory_limit():
    """Bytes that a table read from a file may take: half of what this process may use.

    That is the memory of the machine, or of the control group where it has less.
    """
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        size = 1 << 33
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with (
            suppress(OSError, ValueError),
            open(os.path.join(_GROUP, name), encoding="ascii") as file,
        ):
            size = min(size, int(file.read()))  # ValueError: "max"
    return size // 2


def refuse_beyond(size, what, file):
    """Raise DataError where so many bytes do not fit in memory twice."""
    limit = memory_limit() // 2
    if size > limit:
        raise DataError(f"{what} are more than {limit / 2**30:.3g} GiB", file=file)


def within_memory(parts, file, size_of=lambda part: part.nbytes, what="the points"):
    """Yield the parts of a stream, which may never end, or of what is held together.

    Raises DataError for more than fits in memory twice, as they are joined at last.
    """
    size = 0
    for part in parts:
        size += size_of(part)
        refuse_beyond(size, what, file)
        yield part
