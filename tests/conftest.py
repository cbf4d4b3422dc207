"""Fixtures for every test: where the reference data are, if they are."""

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
