"""Errors of memory and open files are told apart from libraries that are not installed."""

import errno
import os

import pytest

from agfmc.core.errors import is_shortage, lacks_memory, needed_library, system_reason, UsageError

UNMAPPED = "libarrow.so: failed to map segment from shared object"


def raised(error):
    with needed_library("needs it: install it", "a.parquet"):
        raise error


def test_a_library_that_is_not_installed():
    with pytest.raises(UsageError, match="a.parquet: needs it: install it"):
        raised(ModuleNotFoundError("No module named 'it'"))


@pytest.mark.parametrize(
    "error, kind, is_memory",
    [
        (MemoryError(), MemoryError, True),
        (ImportError(UNMAPPED), ImportError, True),
        (OSError(UNMAPPED), ImportError, True),  # of ctypes
        (OSError(errno.ENOMEM, "Cannot allocate memory"), ImportError, True),
        (OSError(errno.EMFILE, "Too many open files"), ImportError, False),
        (OSError("libgomp.so: cannot open shared object file"), ImportError, False),
    ],
)
def test_a_library_that_cannot_be_loaded(error, kind, is_memory):
    with pytest.raises(kind) as told:
        raised(error)
    assert lacks_memory(told.value) == is_memory
    assert is_shortage(told.value) == (is_memory or getattr(error, "errno", None) is not None)


def test_the_limit_of_open_files():
    error = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    assert system_reason(error).endswith(
        "open files: the limit of the shell for open files (ulimit -n)"
    )
