"""Functions and classes that rows of tables name, imported when they are used; fields of records."""

from dataclasses import field
from importlib import import_module
from typing import Any


def by_name(name: str) -> Any:
    """The function or class of this package that a row names, "room.module:function"."""
    module, _, function = name.partition(":")
    return getattr(import_module(f"..{module}", __package__), function)


def optional_field() -> Any:
    """A field of a frozen dataclass that files leave out where it is None (`files/codec.py`)."""
    return field(default=None, metadata={"optional": True})
