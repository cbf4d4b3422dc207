"""The versions that workers must have, and warnings of tasks."""

from __future__ import annotations

import functools
import platform
import warnings

from ..core.errors import AgfmcWarning, CommandFailed
from ..core.provenance import libsvm_version
from ..core.version import __version__


def warn(text: str) -> None:
    """A warning that a worker gave, given here."""
    warnings.warn(text, AgfmcWarning, stacklevel=2)


@functools.cache
def versions() -> dict:
    """{name: version} of all that results depend on, and of the language that carries them."""
    return {"agfmc": __version__, "Python": ".".join(platform.python_version_tuple()[:2]),
            "LIBSVM": libsvm_version()}


def check_versions(worker: str, found: dict, expected: dict) -> None:
    """Raise `CommandFailed` where the versions on a worker are not those here."""
    for what, version in expected.items():
        if found.get(what) != version:
            raise CommandFailed(f"the worker {worker} has {what} {found.get(what)}, and here it "
                                f"is {version}: both must be the same")
