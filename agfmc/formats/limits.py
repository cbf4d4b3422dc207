"""How much memory what a file asks for may take."""

from __future__ import annotations

import os

from ..errors import DataError

__all__ = ["memory_limit", "within_memory"]


def memory_limit():
    """Bytes that a table read from a file may take: half of the machine's memory."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (ValueError, OSError):
        return 1 << 32


def within_memory(parts, file, size_of=lambda part: part.nbytes):
    """Yield the parts of a stream, which may never end.

    Raises DataError for more than fits in memory twice, as they are joined at last.
    """
    size, limit = 0, memory_limit() // 2
    for part in parts:
        size += size_of(part)
        if size > limit:
            raise DataError(f"the points are more than {limit / 2**30:.3g} GiB", file=file)
        yield part
