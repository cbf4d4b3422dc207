"""What a worker does, in a process or on a machine of its own: one call, and what came of it."""

from __future__ import annotations

import os
import platform
import threading
import warnings

from .._version import __version__
from ..errors import AgfmcError, AgfmcWarning, CommandFailed

__all__ = ["TRIES", "call", "check_versions", "lost", "one_thread", "raised", "versions", "warn"]

TRIES = 2  # a task that ends two workers would end the others too
_hearing = threading.local()
_installing = threading.Lock()


def versions():
    """{what: version} of all that results depend on, and of the language that carries them."""
    from ..learners.libsvm import library_version

    return {"agfmc": __version__, "Python": ".".join(platform.python_version_tuple()[:2]),
            "LIBSVM": str(library_version())}


def one_thread():
    """True where BLAS was told to use one thread: several round sums in another order."""
    found = (os.environ.get(name) for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                               "OMP_NUM_THREADS"))
    return next((value for value in found if value), None) == "1"


def check_versions(worker, found, expected):
    """Raise `CommandFailed` where the versions {what: version} on a worker are not those here."""
    for what, version in expected.items():
        if found.get(what) != version:
            raise CommandFailed(f"the worker {worker} has {what} {found.get(what)}, and here it "
                                f"is {version}: both must be the same")


def call(function, shared, item):
    """function(shared, item); -> (result, or the error that it raised; texts of its warnings)."""
    _install()
    _hearing.texts = texts = []
    try:
        return function(shared, item), texts
    except AgfmcError as error:
        return error, texts
    except MemoryError as error:
        return MemoryError(f"on a worker {error}".rstrip()), texts
    except Exception as error:
        return RuntimeError(f"on a worker: {type(error).__name__}: {error}"), texts
    finally:
        _hearing.texts = None


def raised(result):
    """`result`, unless it is an error that is no `AgfmcError`: a fault, which is raised."""
    if isinstance(result, Exception) and not isinstance(result, AgfmcError):
        raise result
    return result


def lost(told):
    """The error of a task whose workers died, the last one as `told`."""
    return CommandFailed(f"{told}; it is not begun again, after {TRIES} times")


def warn(text):
    """A warning that a worker gave, again."""
    warnings.warn(text, AgfmcWarning, stacklevel=2)


def _install():
    """Have the warnings of each thread kept for its caller.

    `warnings.catch_warnings` belongs to the whole process, and workers have threads.
    """
    with _installing:
        before = warnings.showwarning
        if getattr(before, "keeps_for_callers", False):
            return

        def show(message, category, *place, **more):
            texts = getattr(_hearing, "texts", None)
            if texts is not None and issubclass(category, AgfmcWarning):
                texts.append(str(message))
            else:
                before(message, category, *place, **more)

        show.keeps_for_callers = True
        warnings.showwarning = show
        warnings.simplefilter("always", AgfmcWarning)
