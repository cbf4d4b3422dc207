"""Numbers as people type them, and not as Python's source may also spell them."""

from __future__ import annotations

__all__ = ["numeral"]


def numeral(word, whole=False):
    """The number that a word is, an int where `whole`, else a float.

    ValueError for anything else: also for `1_000` and for digits of other scripts, which
    `int` and `float` take, and which other programs read as something different.
    """
    if "_" in word or not word.isascii():
        raise ValueError(f"not a number: '{word}'")
    return int(word) if whole else float(word)
