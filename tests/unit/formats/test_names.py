"""base.names: what is written is read; what could not be is refused, with the line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agfmc.errors import DataError
from agfmc.formats.class_names import names_bytes, read_names


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("names")


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n"), min_size=1)


@given(st.lists(NAMES.filter(lambda name: name == name.strip()), min_size=1, unique=True))
@settings(deadline=None, max_examples=50)
def test_what_is_written_is_read(folder, names):
    (folder / "a.names").write_bytes(names_bytes(names))
    assert read_names(folder / "a.names") == tuple(names)


def test_windows_ends_and_a_last_line_without_end(folder):
    (folder / "b.names").write_bytes(b"red\r\ndark blue\r\n\xff")
    assert read_names(folder / "b.names") == ("red", "dark blue", "\udcff")


@pytest.mark.parametrize("data, line, message", [
    (b"", None, "no names"), (b"a\n\nb\n", 2, "empty"), (b"a\nb\na\n", 3, "two classes, 0 and 2, have the same name, 'a'"),
])
def test_names_that_cannot_be(folder, data, line, message):
    (folder / "c.names").write_bytes(data)
    with pytest.raises(DataError, match=message) as caught:
        read_names(folder / "c.names")
    assert caught.value.line == line


@pytest.mark.parametrize("names", [["a\nb"], [" a"], [""], ["a", "a"], [], ["a\0"]])
def test_names_that_cannot_be_written(folder, names):
    with pytest.raises(DataError):
        names_bytes(names, folder / "d.names")
    assert not (folder / "d.names").exists()
