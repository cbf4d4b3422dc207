"""Rows of simulated success probabilities for many numbers of classes, and their texts."""

from __future__ import annotations

import io
import math
import os

import numpy as np

from ..decode.asked import opponents_of
from ..errors import DataError, UsageError
from ..formats.inputs import read_bytes
from ..numerals import numeral
from ..score.simulation import (adag_success, ddag_success, separation_limit, simulate,
                                standard_error)

__all__ = ["FAMILIES", "format_csv", "format_table", "read_similarity", "simulations",
           "similarity_family"]

FAMILIES = {
    "geometric": ("r_i = Q^(i-1), 0 < Q < 1", lambda k, q: q ** np.arange(k)),
    "power": ("r_i = i^-Q, Q > 0", lambda k, q: np.arange(1.0, k + 1) ** -q),
}


def similarity_family(word):
    """The function k -> r (k,) of a word such as `geometric:0.5`; None for values or a file.

    Raises UsageError for a parameter that cannot be.
    """
    name, colon, value = word.partition(":")
    if not colon or os.path.exists(word):
        return None
    if name not in FAMILIES:
        raise UsageError(f"{word}: expected values r,r,... or a file of them or "
                         + " or ".join(f"{family}:Q" for family in FAMILIES))
    rule, family = FAMILIES[name]
    try:
        q = float(value)
    except ValueError:
        q = math.nan
    if not 0 < q < (1 if name == "geometric" else math.inf):
        raise UsageError(f"{word}: expected {name}:Q with {rule}")

    def values(k):
        with np.errstate(under="ignore"):
            r = family(k, q)
        if r[-1] < np.finfo(float).tiny:
            raise UsageError(f"{word}: the similarities of {k} classes span more than numbers can")
        return r

    return values


def read_similarity(word):
    """Similarities r (k,) with sum 1, from `v,v,v` or a file of numbers (`-`: standard input).

    Raises DataError unless there are two or more finite numbers, none negative, the
    first greater than all others.
    """
    file = None
    words = word.split(",")
    if len(words) < 2 or os.path.exists(word):
        file = word
        words = read_bytes(word).decode("utf-8", "replace").replace(",", " ").split()
    try:
        r = np.array([numeral(text) for text in words])
    except ValueError as error:
        raise DataError(f"expected similarities: {error}", file=file) from None
    if len(r) < 2:
        raise DataError(f"expected similarities of two or more classes, found {len(r)}", file=file)
    if not (np.isfinite(r).all() and r.min() >= 0):
        raise DataError("similarities must be finite and not negative", file=file)
    if not r[0] > r[1:].max():
        raise DataError("the first similarity is that of the true class: it must be the largest",
                        file=file)
    r /= r[0]
    return r / r.sum()


def simulations(classes, errors, opponents, top, rounds, seed, similarity=None, progress=None):
    """One dictionary of plain values for each error probability and number of classes.

    errors: probabilities, or [None] with similarity: a function k -> r (k,).
    opponents: words for `opponents_of`.  progress: called with (done, total).
    Keys: classes, error, and success with standard_error for each of max_win, adag
    and ddag (with exact, the closed form, if there is an error probability); polls,
    a list, each with the word, draws and top; separation (None for two classes) and
    separation_limit.
    """
    total = len(errors) * rounds * sum(k * k for k in classes)
    before = 0
    rows = []
    for error in errors:
        for k in classes:
            step = None if progress is None else (
                lambda done, before=before, k=k: progress(before + done * k * k, total))
            found = simulate(k, rounds=rounds, seed=seed, error=error, top=top,
                             opponents=[opponents_of(word, k) for word in opponents],
                             similarity=None if similarity is None else similarity(k),
                             progress=step)
            before += rounds * k * k
            rows.append(_row(found, error, opponents))
    return rows


def _row(found, error, opponents):
    def share(value, **more):
        return {"success": value, "standard_error": standard_error(value, found.rounds), **more}

    known = error is not None
    return {
        "classes": found.k,
        "error": error,
        "max_win": share(found.max_win),
        "polls": [{"opponents": word, "draws": poll.draws, **share(poll.success),
                   "top": share(poll.top)}
                  for word, poll in zip(opponents, found.polls)],
        "adag": share(found.adag, exact=adag_success(found.k, error) if known else None),
        "ddag": share(found.ddag, exact=ddag_success(found.k, error) if known else None),
        "separation": None if found.k == 2 else found.separation,
        "separation_limit": separation_limit(error) if known else None,
    }


def _columns(rows, top):
    """(heading above, heading, name in a spread-sheet, values, format) of each column."""
    polls = [poll["opponents"] for poll in rows[0]["polls"]]
    columns = [("", "classes", "classes", [row["classes"] for row in rows], "d")]
    if rows[0]["error"] is not None:
        columns.append(("", "error", "error", [row["error"] for row in rows], "g"))

    def shares(above, heading, name, parts):
        columns.append((above, heading, name, [part["success"] for part in parts], ".4f"))
        if parts[0].get("exact") is not None:
            columns.append(("", "exact", f"{name}_exact", [part["exact"] for part in parts],
                            ".4f"))

    shares("", "MAX-WIN", "max_win", [row["max_win"] for row in rows])
    for i, word in enumerate(polls):
        shares("" if i else "POLL", word, f"poll_{word}", [row["polls"][i] for row in rows])
    for i, word in enumerate(polls):
        shares("" if i else f"POLL+TOP-{top}", word, f"poll_{word}_top_{top}",
               [row["polls"][i]["top"] for row in rows])
    shares("", "ADAG", "adag", [row["adag"] for row in rows])
    shares("", "DDAG", "ddag", [row["ddag"] for row in rows])
    columns.append(("", "std.err", "standard_error", [_largest_error(row) for row in rows],
                    ".4f"))
    columns.append(("", "s1/s2", "separation", [row["separation"] for row in rows], ".3f"))
    if rows[0]["error"] is not None:
        columns.append(("", "limit", "separation_limit",
                        [row["separation_limit"] for row in rows], ".3f"))
    return columns


def _largest_error(row):
    parts = [row["max_win"], row["adag"], row["ddag"], *row["polls"],
             *(poll["top"] for poll in row["polls"])]
    return max(part["standard_error"] for part in parts)


def format_table(rows, top):
    """The rows of `simulations` as an aligned table with two lines of headings."""
    above, below = "", ""
    lines = [""] * len(rows)
    for over, heading, _, values, form in _columns(rows, top):
        cells = ["-" if value is None else format(value, form) for value in values]
        width = max(len(text) for text in (heading, *cells))
        gap = 2 if lines[0] else 0
        if over:  # above the columns it is for, from the left edge of the first
            above = above.ljust(len(below) + gap + width - len(heading)) + over
        below += " " * gap + heading.rjust(width)
        lines = [line + " " * gap + cell.rjust(width) for line, cell in zip(lines, cells)]
    return "\n".join([above, below, *lines]) + "\n"


def format_csv(rows, top):
    """The rows of `simulations` as comma-separated values in full precision."""
    columns = _columns(rows, top)
    out = io.StringIO()
    out.write(",".join(name for _, _, name, _, _ in columns) + "\n")
    for cells in zip(*(values for _, _, _, values, _ in columns)):
        out.write(",".join("" if value is None else repr(value) for value in cells) + "\n")
    return out.getvalue()
