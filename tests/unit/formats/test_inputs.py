"""Bytes of files, standard input and pipes, with gzip undone where text is read."""

import gzip
import io
import random

import pytest

from agfmc.errors import DataError
from agfmc.formats import inputs
from agfmc.formats.inputs import open_input, read_bytes
from agfmc.formats.libsvm_data import read_svm

TEXT = b"1 1:2\n0 2:3\n" * 3
ZIPPED = gzip.compress(TEXT)


class Trickle(io.RawIOBase):
    """A stream that has one byte at a time."""

    def __init__(self, data):
        self._data = io.BytesIO(data)

    def read(self, size=-1):
        return self._data.read(min(size, 1) if size >= 0 else -1)


@pytest.mark.parametrize("data, text", [
    (TEXT, TEXT), (ZIPPED, TEXT), (ZIPPED * 2, TEXT * 2), (b"", b""), (b"\x1f", b"\x1f"),
    (b"\x8b\x1f", b"\x8b\x1f"), (gzip.compress(b""), b""), (gzip.compress(ZIPPED), ZIPPED)],
    ids=range(8))
def test_gzip_is_known_by_its_first_bytes(data, text, tmp_path, pipe_of):
    path = tmp_path / "x"
    path.write_bytes(data)
    for name, stream in ((path, None), ("-", io.BytesIO(data)), ("-", pipe_of(data)),
                         ("-", Trickle(data))):
        assert read_bytes(name, stream) == text
        if stream is None:
            with open_input(name) as file:
                assert (b"".join(iter(lambda: file.read(1), b"")), file.read(3)) == (text, b"")
    assert read_bytes(path, raw=True) == data
    with open_input(path) as file:
        assert file.regular_size() == (len(data) if data == text else None)


def test_damaged_gzip_is_told_with_its_file(tmp_path):
    path = tmp_path / "x"
    for data in (ZIPPED[:2], ZIPPED[:-1], ZIPPED + b"\x1f", ZIPPED[:-8] + bytes(8)):
        path.write_bytes(data)
        with pytest.raises(DataError, match=r"x: is damaged, or not complete: "):
            read_bytes(path)


def test_the_lines_of_what_was_compressed_are_counted(tmp_path):
    (tmp_path / "x").write_bytes(gzip.compress(TEXT + b"1 1:2\n1 1:z\n"))
    with pytest.raises(DataError, match=r"x:8: "):
        read_svm(tmp_path / "x")


@pytest.fixture
def bomb(tmp_path):
    (tmp_path / "x").write_bytes(gzip.compress(bytes(1 << 24)))
    return tmp_path / "x"


def test_what_grows_too_much_is_no_data(bomb, monkeypatch):
    monkeypatch.setattr(inputs, "_BOMB", 1 << 20)
    with pytest.raises(DataError, match="grows more than 200 times, beyond"), \
            open_input(bomb) as file:
        while file.read(1 << 16):
            pass
    random.seed(1)
    bomb.write_bytes(gzip.compress(random.randbytes(1 << 21)))  # much, but it was there before
    assert len(read_bytes(bomb)) == 1 << 21


def test_the_limit_of_memory_is_that_of_the_text(bomb, monkeypatch):
    """16 KiB of gzip would be 16 MiB."""
    monkeypatch.setattr(inputs, "memory_limit", lambda: 1 << 20)
    with pytest.raises(DataError, match="larger than .* GiB"):
        read_bytes(bomb)


def test_a_name_without_its_ending(tmp_path):
    (tmp_path / "x.svm.gz").write_bytes(ZIPPED)
    with pytest.raises(DataError, match="No such file.*; there is .*x.svm.gz"):
        read_bytes(tmp_path / "x.svm")
