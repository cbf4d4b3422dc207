"""matplotlib as it comes, whatever settings lie about where a command happens to run."""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
from contextlib import contextmanager

from ..errors import DataError

__all__ = ["load_matplotlib"]


def load_matplotlib():
    """Import matplotlib with its own settings alone; ImportError where it is missing.

    By itself it would read a file `matplotlibrc` of the current folder first, which in
    a stranger's folder can hold anything; DataError where that cannot be helped.  Does
    nothing where it is loaded already.
    """
    if "matplotlib" in sys.modules:
        return
    spec = importlib.util.find_spec("matplotlib")
    if spec is None:
        raise ImportError("matplotlib is missing")
    with _folder(os.path.join(os.path.dirname(spec.origin), "mpl-data")), _no_backend():
        # of a cache that cannot be kept nobody needs to know
        logging.getLogger("matplotlib").setLevel(logging.ERROR)
        importlib.import_module("matplotlib")


@contextmanager
def _folder(path):
    """The current folder is `path`, or the root where there is no such folder."""
    try:
        # O_PATH, where there is one, does not need the right to list the folder
        back = os.open(os.curdir, getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY)
    except OSError as error:  # no way back
        if os.path.lexists("matplotlibrc"):
            raise DataError("matplotlib would read it, and another folder cannot be worked in: "
                            "draw the picture elsewhere", file="matplotlibrc") from error
        yield
        return
    try:
        os.chdir(path if os.path.isdir(path) else os.sep)
        yield
    finally:
        os.fchdir(back)
        os.close(back)


@contextmanager
def _no_backend():
    """A wrong name in MPLBACKEND would be an error, and nothing is shown on a screen."""
    name = os.environ.pop("MPLBACKEND", None)
    try:
        yield
    finally:
        if name is not None:
            os.environ["MPLBACKEND"] = name
