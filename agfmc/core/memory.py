"""The limit of memory, the error for what would take more, and memory for kernel values."""

import functools
import os
from contextlib import suppress

from .errors import DataError, UsageError

KERNEL_MEMORY = "AGFMC_KERNEL_MEMORY"  # environment variable, in MiB
_GROUP = "/sys/fs/cgroup"
_FREE = "/proc/meminfo"
_USUAL = 512  # MiB, which any machine has


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


def kernel_memory(here: bool = True) -> int:
    """MiB for kernel values: those of the environment variable, else a quarter of the free memory.

    They are 512 at least, and where the work is not `here`, but where free memory is not known.
    Raises `UsageError` for another value of the variable than a whole number.
    """
    text = os.environ.get(KERNEL_MEMORY)
    if text is None:
        if here:
            return _share_of_free()
        return _USUAL
    if not (text.isascii() and text.isdecimal()):
        raise UsageError(f"{KERNEL_MEMORY}: expected a whole number of MiB, found {text!r}")
    return int(text)


@functools.cache  # the same for all parts of a run
def _share_of_free():
    free = 0
    with suppress(OSError), open(_FREE, encoding="ascii") as file:
        words = (line.split() for line in file)
        free = next((int(row[1]) >> 10 for row in words if row[0] == "MemAvailable:"), 0)
    # a control group may have less than the machine
    return max(_USUAL, min(free // 4, memory_limit() >> 21))


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
