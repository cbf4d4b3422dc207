"""What memory may be taken: of the machine, and of the control group."""

import numpy as np
import pytest

from agfmc.errors import DataError
from agfmc.formats import inputs, vectors
from agfmc.formats.vectors import read_vec, write_vec


@pytest.mark.parametrize("name", ["memory.max", "memory/memory.limit_in_bytes"])
@pytest.mark.parametrize("text, wanted", [("1048576\n", 1 << 19), ("max\n", None), ("", None),
                                          ("9223372036854771712\n", None), ("\xff", None)])
def test_the_limit_of_the_control_group(tmp_path, monkeypatch, name, text, wanted):
    monkeypatch.setattr(inputs, "_GROUP", str(tmp_path / "none"))
    machine = inputs.memory_limit.__wrapped__()
    monkeypatch.setattr(inputs, "_GROUP", str(tmp_path))
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text, encoding="latin-1")
    assert inputs.memory_limit.__wrapped__() == (wanted or machine) > 0


def test_points_in_a_file_fit_in_memory_or_are_mapped(tmp_path, monkeypatch):
    path, x = str(tmp_path / "x.vec"), np.ones((10, 4))
    write_vec(path, x)
    monkeypatch.setattr(vectors, "memory_limit", lambda: 160)
    assert read_vec(path).shape == (10, 4)
    monkeypatch.setattr(vectors, "memory_limit", lambda: 159)
    with pytest.raises(DataError, match="x.vec: cannot read: larger than"):
        read_vec(path)
    assert np.array_equal(read_vec(path, mmap=True), x)


@pytest.mark.parametrize("read", [read_vec, vectors.read_std])
def test_the_file_for_which_there_is_no_memory_is_named(tmp_path, monkeypatch, read):
    path = str(tmp_path / "x.vec")
    write_vec(path, np.ones((10, 4)))

    def empty(*_):
        raise MemoryError

    monkeypatch.setattr(vectors.np, "empty", empty)
    with pytest.raises(DataError, match="x.vec: cannot read: there is not enough memory"):
        read(path)
