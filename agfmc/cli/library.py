"""What LIBSVM writes to standard error by itself, turned into warnings of ours."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager

from ..errors import AgfmcWarning, DataError

__all__ = ["library_words"]


@contextmanager
def library_words():
    """Within the block, what a C library writes to standard error becomes warnings after it.

    Our own words go on to where they went before.  Does nothing where
    `sys.stderr` is not the process's standard error.
    """
    try:
        ours = sys.stderr.fileno() == 2
    except (OSError, ValueError, AttributeError):
        ours = False
    if not ours:
        yield
        return
    from ..formats.atomic import temporary_file

    try:
        caught = temporary_file()
    except DataError:  # no place for it: the words go where they go
        yield
        return
    before = sys.stderr
    before.flush()
    saved = os.dup(2)
    with caught, os.fdopen(
            os.dup(2), "w", encoding=before.encoding, errors=before.errors,
            buffering=1) as sys.stderr:
        os.dup2(caught.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            sys.stderr = before
            caught.seek(0)
            lines = caught.read().decode(errors="replace").split("\n")
            _pass_on([line for line in lines if line.strip()])


def _pass_on(words):
    """One warning for all the times that LIBSVM gave up, and each other line as it is."""
    limit = [word for word in words if "max number of iterations" in word]
    if limit:
        warnings.warn(f"LIBSVM gave up at its limit of iterations {len(limit)} "
                      f"time{'s' if len(limit) > 1 else ''} (folds included): normalise the data, "
                      "or try a smaller -c or a larger -e", AgfmcWarning, stacklevel=2)
    for word in words:
        if word not in limit:
            warnings.warn(f"LIBSVM says: {word.strip()}", AgfmcWarning, stacklevel=2)
