"""What a replaced file's readers may do is what they may do with the new one."""

import os
import stat
import struct

import pytest

from agfmc.formats import atomic
from agfmc.formats.atomic import replacing

ACL = "system.posix_acl_access"
OWNER, USER, GROUP, MASK, OTHER = 1, 2, 4, 16, 32


def access_list(*entries):
    """The system's bytes of (tag, permissions, id) entries."""
    return struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", tag, bits, number) for tag, bits, number in entries)


NOBODY = 0xffffffff
# rw- for the owner, rw- for the user 1234, nothing for the group: and yet mode 0660
LISTED = access_list((OWNER, 6, NOBODY), (USER, 6, 1234), (GROUP, 0, NOBODY), (MASK, 6, NOBODY),
                     (OTHER, 0, NOBODY))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o600)
    try:
        os.setxattr(path, ACL, LISTED)
    except (OSError, AttributeError):
        pytest.skip("no access control lists here")
    return path


def listed(path):
    try:
        return os.getxattr(path, ACL)
    except OSError:
        return None


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_an_access_list_is_handed_on(path):
    with replacing(path):
        pass
    assert listed(path) == LISTED and mode(path) == 0o660


def test_an_access_list_that_cannot_be_given_leaves_nothing_to_the_group(path, monkeypatch):
    def refused(*words):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "setxattr", refused)
    with replacing(path):
        pass
    assert listed(path) is None and mode(path) == 0o600


@pytest.mark.parametrize("removes", [True, False])
def test_a_list_that_the_folder_gives_to_new_files(tmp_path, path, monkeypatch, removes):
    """A file without one stays so."""
    plain = tmp_path / "plain"
    plain.write_text("old")
    plain.chmod(0o640)
    os.setxattr(tmp_path, "system.posix_acl_default", LISTED)
    if not removes:
        monkeypatch.setattr(os, "removexattr", lambda *words: None)
    with replacing(plain):
        pass
    assert (listed(plain) is None) == removes
    assert mode(plain) == (0o640 if removes else 0o600)


def test_systems_without_lists(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o640)
    for name in ("getxattr", "setxattr", "removexattr"):
        monkeypatch.delattr(os, name, raising=False)
    with replacing(tmp_path / "file"):
        pass
    assert mode(tmp_path / "file") == 0o640


def test_the_mask_of_new_files_is_only_read():
    before = os.umask(0o026)
    try:
        assert atomic.new_permissions() == 0o640
        assert os.umask(0o026) == 0o026
    finally:
        os.umask(before)
