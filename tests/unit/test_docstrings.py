"""Public names have docstrings in the form of numpydoc."""

import pytest

import agfmc

NAMES = [name for name in agfmc.__all__ if not name.startswith("_")]
# a longer summary, references to other names and examples are welcome, not required
OPTIONAL = {"ES01", "SA01", "EX01"}


@pytest.mark.parametrize("name", NAMES)
def test_public_docstrings_are_numpydoc(name):
    validate = pytest.importorskip("numpydoc.validate").validate
    public = getattr(agfmc, name)
    optional = OPTIONAL | {"PR01"} if "__init__" not in vars(public) else OPTIONAL
    errors = validate(f"{public.__module__}.{public.__qualname__}")["errors"]
    assert [text for code, text in errors if code not in optional] == []
