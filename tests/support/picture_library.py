"""Libraries that make pictures of SVG: tests that need one are skipped where it cannot be loaded."""

import os

import pytest

_LIBRARIES = {".png": "resvg_py", ".pdf": "cairosvg"}


def need_library_of(name):
    """Skip the test unless a picture of this name can be made here."""
    library = _LIBRARIES.get(os.path.splitext(name)[1].lower())
    if library is None:
        return
    try:
        __import__(library)
    except (ImportError, OSError) as error:  # OSError: cairo of the system is missing
        pytest.skip(f"{library} cannot be loaded: {error}")
