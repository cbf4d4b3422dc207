"""Functions and classes that rows of tables name, imported when they are used."""

from importlib import import_module
from typing import Any


def by_name(name: str) -> Any:
    """The function or class of this package that a row names, "room.module:function"."""
    module, _, function = name.partition(":")
    return getattr(import_module(f"..{module}", __package__), function)
