"""How large a code may be for the decoders that solve a dense system for every point."""

from __future__ import annotations

from ..errors import ModelError

__all__ = ["MAX_CLASSES", "MAX_ENTRIES", "check_dense"]

MAX_CLASSES = 2048
MAX_ENTRIES = 2**24  # one-vs-one of 322 classes


def check_dense(a):
    """Raise `ModelError` where the code a (m, k) is too large for such a decoder."""
    m, k = a.shape
    if k > MAX_CLASSES or m * k > MAX_ENTRIES:
        raise ModelError(f"a coding matrix of {m} rows for {k} classes is too large for this "
                         f"decoder, which solves equations for each point: it takes {MAX_CLASSES} "
                         f"classes and {MAX_ENTRIES} entries at most; votes (-Q vote) take more")
