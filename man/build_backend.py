"""Build backend: setuptools' own, which finds the completions of the shells made for it.

`man/completions.py` writes them below build/share, from where setup.cfg installs them.  Where
shtab is not to be had (a build without isolation does not fetch it), or makes nothing of the
parsers, the package is built without them, and a line says so.  An editable install has no data
files, neither manual pages nor completions.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

SHARE = Path(__file__).resolve().parents[1] / "build" / "share"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Build a wheel, with the completions among its data files."""
    _make_completions()
    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)


def _make_completions():
    """Write the completions anew: what an earlier build left may be of other commands."""
    shutil.rmtree(SHARE, ignore_errors=True)
    try:
        from .completions import write_completions

        write_completions(SHARE)
    except Exception as error:  # whatever a later shtab does: an install is worth more
        shutil.rmtree(SHARE, ignore_errors=True)
        print(f"agfmc: no completions for shells are installed: {error!r}", file=sys.stderr)
