"""Shared objects inside Python packages, for ctypes, without importing the packages."""

from __future__ import annotations

import ctypes
import importlib.util
from pathlib import Path

__all__ = ["set_print", "shared_object"]

_kept = []


def shared_object(package):
    """Path of the shared object of libsvm-official or liblinear-official, or None."""
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return next((str(path) for folder in folders for path in sorted(Path(folder).glob("clib*"))
                 if path.suffix in (".so", ".pyd", ".dll", ".dylib")), None)


def set_print(function):
    """Call the library's `function` that sets where its words go: nowhere."""
    function.restype = None
    function.argtypes = [ctypes.c_void_p]
    function(_silence())


def _silence():
    """A C function that takes a string and does nothing with it."""
    if not _kept:
        try:
            _kept.append(ctypes.CDLL(None).strlen)
        except (AttributeError, OSError, TypeError):
            _kept.append(ctypes.CFUNCTYPE(None, ctypes.c_char_p)(lambda text: None))
    return ctypes.cast(_kept[0], ctypes.c_void_p)
