"""Fixtures for every test: where the reference data are, if they are."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root():
    """The project's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared():
    """Folder of reference data beside the project; the test is skipped without it."""
    folder = ROOT.parent / "shared"
    if not (folder / "reference").is_dir():
        pytest.skip("no reference data beside the project")
    return folder


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Unfinished work of the tests stays out of the user's cache folder."""
    before = os.environ.get("XDG_CACHE_HOME")
    folder = tmp_path_factory.mktemp("cache")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    yield folder
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before
