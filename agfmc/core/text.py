"""Text that people type and read: numbers, lists, proportions and visible characters."""

from __future__ import annotations

import math
import re

# What no page can show, and what would turn the order of the text around it.
_UNSEEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e"
    "\u2060\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
_LONGEST = 60  # characters of options or a name that are shown


def clean(text: str) -> str:
    """The text with a sign in place of each character that cannot be shown."""
    return _UNSEEN.sub("\ufffd", text)


def visible(text: str) -> str:
    """The `clean` text, cut where it is too long."""
    text = clean(text)
    if len(text) <= _LONGEST:
        return text
    return text[: _LONGEST - 3] + "..."


def name_fault(name: str, kind: str = "class") -> str | None:
    """Words on why no file of the suite could hold a name; None where all can.

    Readers ask before any work, and writers again: where a name ends a line, the rest of it would
    be read as other lines, such as the decoder of a control file.

    Parameters
    ----------
    kind : {"class", "model", "column"}
        Classes and groups stand bare on a line; models, and options, in quotes on one; columns and
        ids in cells of CSV or JSON, which may have several lines.
    """
    if "\0" in name:
        return "it has a NUL"
    errors = "strict" if kind == "column" else "surrogateescape"  # names of files are any bytes
    try:
        name.encode("utf-8", errors)
    except UnicodeEncodeError:
        return "it has a character that UTF-8 has not"
    if kind == "column":
        return None
    if "\n" in name:
        return "it has a line break"
    if kind == "model":
        return None
    if not name:
        return "it is empty"
    if name != name.strip():
        return "blanks around it would be lost"
    return None


# -- comparisons -----------------------------------------------------------------------------------


def spread(summary: dict | None) -> str:
    """A score of all held-out points, and its deviation if there is one; `-` where there is none."""
    if summary is None or math.isnan(summary["pooled"]):
        return "-"
    if summary["sd"] is None:
        parts = [summary["pooled"]]
    else:
        parts = [summary["pooled"], summary["sd"]]
    return "±".join(f"{value:.4f}".removeprefix("0") for value in parts)


def member_kind(member: dict) -> str:
    """The kind of a member of an ensemble, one of `models.description.describe_members`."""
    if member["binary_models"]:
        return f"{member['configuration']} of {member['binary_models']}"
    return member["configuration"]


def member_text(member: dict) -> str:
    """A dictionary of `models.description.describe_members` in words."""
    costs = []
    if member["kernel_values"] or not member["trees"]:
        costs.append(f"{member['kernel_values']} kernel values")
    if member["trees"]:
        costs.append(f"{member['trees']} boosted trees")
    return f"{member_kind(member)}, weight {member['weight']:.3g}, for each point {' and '.join(costs)}"


def numeral(word, whole=False):
    """The number that a word is, an int where `whole`, else a float.

    ValueError for anything else: also for `1_000` and for digits of other scripts, which
    `int` and `float` take, and which other programs read as something different.
    """
    if "_" in word or not word.isascii():
        raise ValueError(f"not a number: '{word}'")
    if whole:
        return int(word)
    return float(word)


def runs_text(numbers: list) -> str:
    """Ascending whole numbers as text, runs of them as 2-5."""
    runs: list[list] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def listed(labels):
    """Labels in a message: all, or the first and how many there are."""
    text = " ".join(map(str, labels[:12]))
    if len(labels) > 12:
        return f"{text} ... ({len(labels)})"
    return text


def first_words(words, most=20, between=", "):
    """Words in a message, with commas: all, or the first and how many more there are."""
    if len(words) > most:
        more = f" and {len(words) - most} more"
    else:
        more = ""
    return between.join(map(str, words[:most])) + more


def time_words(seconds):
    """Seconds as H:MM:SS."""
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"
