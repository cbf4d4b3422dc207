"""Fixtures for every test."""

import os
import signal
import tarfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The examples of property tests are the same in every run, whatever the machine's speed and
# whatever an earlier run left in .hypothesis; `explore` draws others by --hypothesis-seed.
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None,
                          print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", settings.get_profile("repeatable"), derandomize=False)
settings.load_profile("repeatable")

# A shell has what runs in the background ignore these, and what the tests start would too.
for number, handler in ((signal.SIGINT, signal.default_int_handler),
                        (signal.SIGQUIT, signal.SIG_DFL)):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root():
    """The project's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def segment(tmp_path_factory):
    """Folder of libAGF's golden numbers: data, models/, answers (see data/golden/README.md)."""
    folder = tmp_path_factory.mktemp("golden")
    with tarfile.open(ROOT / "tests" / "data" / "golden" / "segment.tar.xz") as archive:
        for member in filter(tarfile.TarInfo.isfile, archive):
            path = folder / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.extractfile(member).read())
    return folder / "segment"


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
