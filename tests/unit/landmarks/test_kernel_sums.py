"""Files of sums on landmarks: round trips, and every kind of damage."""

import os
from pathlib import Path

import numpy as np
import pytest

from agfmc.core.errors import DataError
from agfmc.core.points import packed, unpacked
from agfmc.landmarks.sums_file import ClassSums, is_sums, SumsReader, write_sums


def sums(p, c, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(p, 2 * p))
    return ClassSums(packed(x @ x.T), rng.normal(size=(c, p)), rng.normal(size=c))


def test_lower_triangle_row_by_row():
    gram = np.array([[1.0, 2, 4], [2, 3, 5], [4, 5, 6]])
    assert packed(gram).tolist() == [1, 2, 3, 4, 5, 6]
    assert np.array_equal(unpacked(packed(gram), 3), gram)


def test_what_is_written_is_read(tmp_path):
    path = str(tmp_path / "sums")
    written = {(0, 4): sums(5, 2), (2,): sums(5, 1, 1)}
    write_sums(path, "ab", [(0, 3, (0, 4)), (1, 2, (2,))], written.values(), 5)
    file = SumsReader(path)
    assert (file.digest, file.landmarks, file.spans) == ("ab", 5, {(0, 4): (0, 3), (2,): (1, 2)})
    for labels, one in written.items():
        assert all(np.array_equal(a, b) for a, b in zip(file.read(labels), one))
    assert is_sums(path) and not is_sums(str(tmp_path))


def test_a_link_of_the_name_of_sums_is_not_followed(tmp_path):
    """Others may have put it there: what it leads to is neither replaced nor removed."""
    target, link = str(tmp_path / "target"), str(tmp_path / "m.sums-0")
    write_sums(target, "ab", [], [], 5)
    before = Path(target).read_bytes()
    os.symlink("target", link)
    assert not is_sums(link)
    with pytest.raises(DataError, match="m.sums-0: cannot write: it is a symbolic link"):
        write_sums(link, "other", [], [], 5)
    assert Path(target).read_bytes() == before and os.path.islink(link)


@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.long)])
def test_damage_is_noticed_or_changes_nothing(tmp_path, step):
    path = tmp_path / "sums"
    written = {(0,): sums(2, 1), (1, 2): sums(2, 2)}
    write_sums(str(path), "ab", [(0, 1, labels) for labels in written], written.values(), 2)
    raw, noticed = path.read_bytes(), 0
    places = range(0, len(raw), step)
    for wrong in (
        *(raw[:i] + bytes([raw[i] ^ 1]) + raw[i + 1 :] for i in places),
        *(raw[:i] for i in places),
    ):
        path.write_bytes(wrong)
        try:
            file = SumsReader(str(path))
            read = {labels: file.read(labels) for labels in file.spans}
        except DataError as error:
            assert "damaged" in str(error)
            noticed += 1
            continue
        assert read.keys() == written.keys() and all(
            np.array_equal(a, b) for labels in read for a, b in zip(read[labels], written[labels])
        )
    assert noticed > len(places)
