"""Bytes of files, standard input and pipes, with gzip undone where text is read."""

import gzip
import io
import random

import pytest

from agfmc.control.parse import MAX_TEXT
from agfmc.core.errors import AgfmcError, DataError
from agfmc.experiments.simulation import read_similarity
from agfmc.calibration import file as calibration_file
from agfmc.files import opening
from agfmc.calibration.file import read_calibration
from agfmc.data.class_names import read_names
from agfmc.data.confusions import read_confusions
from agfmc.models.control_files import read_control
from agfmc.data.cost_file import read_costs
from agfmc.files.opening import open_input, read_bytes, SMALL_TEXT
from agfmc.data.libsvm import read_svm
from agfmc.learners.logistic import read_logistic_model
from agfmc.tables.recipe_file import read_recipe
from agfmc.answers.libagf_text import read_sets
from agfmc.data.weights import read_class_weights
from agfmc.models.files import load, read_tree

TEXT = b"1 1:2\n0 2:3\n" * 3
ZIPPED = gzip.compress(TEXT)


class Trickle(io.RawIOBase):
    """A stream that has one byte at a time."""

    def __init__(self, data):
        self._data = io.BytesIO(data)

    def read(self, size=-1):
        return self._data.read(min(size, 1) if size >= 0 else -1)


@pytest.mark.parametrize(
    "data, text",
    [
        (TEXT, TEXT),
        (ZIPPED, TEXT),
        (ZIPPED * 2, TEXT * 2),
        (b"", b""),
        (b"\x1f", b"\x1f"),
        (b"\x8b\x1f", b"\x8b\x1f"),
        (gzip.compress(b""), b""),
        (gzip.compress(ZIPPED), ZIPPED),
    ],
    ids=range(8),
)
def test_gzip_is_known_by_its_first_bytes(data, text, tmp_path, pipe_of):
    path = tmp_path / "x"
    path.write_bytes(data)
    for name, stream in (
        (path, None),
        ("-", io.BytesIO(data)),
        ("-", pipe_of(data)),
        ("-", Trickle(data)),
    ):
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
    monkeypatch.setattr(opening, "_BOMB", 1 << 20)
    with (
        pytest.raises(DataError, match="grows more than 200 times, beyond"),
        open_input(bomb) as file,
    ):
        while file.read(1 << 16):
            pass
    random.seed(1)
    bomb.write_bytes(gzip.compress(random.randbytes(1 << 21)))  # much, but it was there before
    assert len(read_bytes(bomb)) == 1 << 21


def test_the_limit_of_memory_is_that_of_the_text(bomb, monkeypatch):
    """16 KiB of gzip would be 16 MiB."""
    monkeypatch.setattr(opening, "memory_limit", lambda: 1 << 20)
    with pytest.raises(DataError, match="larger than 256 KiB"):
        read_bytes(bomb)


@pytest.mark.parametrize(
    "reader",
    [
        read_bytes,
        load,
        read_tree,
        read_control,
        read_calibration,
        read_class_weights,
        read_names,
        read_recipe,
        read_logistic_model,
        read_sets,
        read_confusions,
        read_similarity,
        lambda path: read_costs(path, [0, 1]),
    ],
)
def test_a_device_without_end_costs_a_bounded_time(reader, monkeypatch):
    monkeypatch.setattr(opening, "_DEVICE", 1 << 20)
    with pytest.raises(
        AgfmcError,
        match="/dev/zero: (cannot read: it is a device, and gives more "
        "than 1 MiB|.*, found neither)",
    ):
        reader("/dev/zero")
    with open("/dev/zero", "rb") as stdin, pytest.raises(DataError, match="it is a device"):
        read_bytes("-", stdin=stdin)


@pytest.mark.parametrize(
    "reader, size, words",
    [
        (load, MAX_TEXT, "larger than 256 MiB: expected a control file or a model"),
        (read_control, MAX_TEXT, "larger than 256 MiB: expected a control file"),
        (read_class_weights, SMALL_TEXT, "larger than 64 MiB: expected a class and its weight"),
        (read_names, SMALL_TEXT, "larger than 64 MiB: expected a name in each line"),
    ],
)
def test_files_larger_than_their_kind_are_refused_unread(reader, size, words, tmp_path):
    path = tmp_path / "x"
    with open(path, "wb") as file:
        file.truncate(size + 1)  # without blocks on the disk
    with pytest.raises(AgfmcError, match=words):
        reader(str(path))


def test_a_compressed_calibration_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(calibration_file, "SMALL_TEXT", 1 << 12)
    (tmp_path / "x").write_bytes(gzip.compress(b' "format": "agfmc calibration"' * 1000))
    with pytest.raises(DataError, match="larger than 4 KiB: expected a calibration"):
        read_calibration(str(tmp_path / "x"))
