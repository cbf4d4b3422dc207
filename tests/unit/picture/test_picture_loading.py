"""The folder in which matplotlib is loaded, and the way back."""

import os

import pytest

from agfmc.errors import DataError
from agfmc.picture import loading


@pytest.fixture
def unlisted(tmp_path, monkeypatch):
    """The current folder is one that can be used and not listed, and belongs to somebody else."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("matplotlibrc")
    root = os.geteuid() == 0
    os.chmod(".", 0o311)
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        os.chmod(".", 0o700)


@pytest.mark.skipif(not hasattr(os, "O_PATH"), reason="there is no O_PATH")
def test_a_folder_that_cannot_be_listed_is_left_and_found_again(unlisted):
    with pytest.raises(PermissionError):
        os.open(".", os.O_RDONLY)
    with loading._folder("/"):
        assert os.getcwd() == "/"
    assert os.path.lexists("matplotlibrc")


def test_settings_are_not_read_where_there_is_no_way_back(unlisted, monkeypatch):
    monkeypatch.delattr(os, "O_PATH", raising=False)
    with pytest.raises(DataError, match="^matplotlibrc: "), loading._folder("/"):
        pass
    monkeypatch.setattr(os.path, "lexists", lambda path: False)
    with loading._folder("/"):
        assert os.path.exists("matplotlibrc")
