"""Numbers as people type and read them, and not as Python's source may also spell them."""

from __future__ import annotations

__all__ = ["numeral", "runs_text"]


def numeral(word, whole=False):
    """The number that a word is, an int where `whole`, else a float.

    ValueError for anything else: also for `1_000` and for digits of other scripts, which
    `int` and `float` take, and which other programs read as something different.
    """
    if "_" in word or not word.isascii():
        raise ValueError(f"not a number: '{word}'")
    return int(word) if whole else float(word)


def runs_text(numbers: list) -> str:
    """Ascending whole numbers as text, runs of them as 2-5."""
    runs: list[list] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)
