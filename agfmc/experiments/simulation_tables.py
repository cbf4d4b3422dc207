"""Rows of simulated success probabilities for many numbers of classes, and their texts."""

from __future__ import annotations

import math
import os
from typing import NamedTuple

import numpy as np

from ..decode.pair_strategies import opponents_of
from ..errors import DataError, UsageError
from ..formats.inputs import read_bytes, SMALL_TEXT
from ..numerals import numeral
from ..score.simulation import (adag_success, ddag_success, separation_limit, simulate,
                                standard_error)

__all__ = ["FAMILIES", "SimulationPlan", "format_csv", "format_table", "read_similarity",
           "simulations", "similarity_family"]

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


def read_similarity(word: str) -> np.ndarray:
    """Similarities r (k,) with sum 1, from `v,v,v` or a file of numbers (`-`: standard input).

    Raises DataError unless there are two or more finite numbers, none negative, the
    first greater than all others.
    """
    file = None
    words = word.split(",")
    if len(words) < 2 or os.path.exists(word):
        file = word
        words = read_bytes(word, most=SMALL_TEXT, expected="similarities").decode(
            "utf-8", "replace").replace(",", " ").split()
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


class SimulationPlan(NamedTuple):
    """A simulation to run: each of the numbers `classes` with each of the `errors`.

    errors: probabilities, or [None] with similarity, a function k -> r (k,);  opponents: words
    for `opponents_of`;  top: of POLL TOP-t;  rounds: points for each number.
    """

    classes: list
    errors: list
    opponents: list
    top: int
    rounds: int
    seed: int
    similarity: object = None


def simulations(plan: SimulationPlan, progress=None) -> list[dict]:
    """One dictionary of plain values for each error probability and number of classes.

    progress: called with (done, total).  Keys: classes, error, and success with standard_error
    for each of max_win, adag and ddag (with exact, the closed form, if there is an error
    probability); polls, a list, each with the word, draws and top; separation (None for two
    classes) and separation_limit.
    """
    total = len(plan.errors) * plan.rounds * sum(k * k for k in plan.classes)
    before = 0
    rows = []
    for error in plan.errors:
        for k in plan.classes:
            step = None if progress is None else (
                lambda done, before=before, k=k: progress(before + done * k * k, total))
            result = simulate(k, plan.similarity(k) if plan.similarity else error, top=plan.top,
                              rounds=plan.rounds, seed=plan.seed, progress=step,
                              opponents=[opponents_of(word, k) for word in plan.opponents])
            before += plan.rounds * k * k
            rows.append(_row(result, error, plan.opponents))
    return rows


def _row(result, error, opponents):
    def share(value, **more):
        return {"success": value, "standard_error": standard_error(value, result.rounds), **more}

    known = error is not None
    return {
        "classes": result.k,
        "error": error,
        "max_win": share(result.max_win),
        "polls": [{"opponents": word, "draws": poll.draws, **share(poll.success),
                   "top": share(poll.top)}
                  for word, poll in zip(opponents, result.polls)],
        "adag": share(result.adag, exact=adag_success(result.k, error) if known else None),
        "ddag": share(result.ddag, exact=ddag_success(result.k, error) if known else None),
        "separation": None if result.k == 2 else result.separation,
        "separation_limit": separation_limit(error) if known else None,
    }


def _columns(rows, top):
    """(heading above, heading, name in a spread-sheet, values, format) of each column."""
    exact = rows[0]["error"] is not None
    columns = [("", "classes", "classes", [row["classes"] for row in rows], "d")]
    if exact:
        columns.append(("", "error", "error", [row["error"] for row in rows], "g"))

    def shares(above, heading, name, parts):
        columns.append((above, heading, name, [part["success"] for part in parts], ".4f"))
        if parts[0].get("exact") is not None:
            columns.append(("", "exact", f"{name}_exact", [part["exact"] for part in parts],
                            ".4f"))

    shares("", "MAX-WIN", "max_win", [row["max_win"] for row in rows])
    words = [poll["opponents"] for poll in rows[0]["polls"]]
    for i, word in enumerate(words):
        shares("" if i else "POLL", word, f"poll_{word}", [row["polls"][i] for row in rows])
    for i, word in enumerate(words):
        shares("" if i else f"POLL+TOP-{top}", word, f"poll_{word}_top_{top}",
               [row["polls"][i]["top"] for row in rows])
    for name in ("adag", "ddag"):
        shares("", name.upper(), name, [row[name] for row in rows])
    columns.append(("", "std.err", "standard_error", [max(
        part["standard_error"] for part in (
            row["max_win"], row["adag"], row["ddag"], *row["polls"],
            *(poll["top"] for poll in row["polls"]))) for row in rows], ".4f"))
    for heading, name in (("s1/s2", "separation"), ("limit", "separation_limit"))[:1 + exact]:
        columns.append(("", heading, name, [row[name] for row in rows], ".3f"))
    return columns


def format_table(rows: list, top: int) -> str:
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


def format_csv(rows: list, top: int) -> str:
    """The rows of `simulations` as comma-separated values in full precision."""
    columns = _columns(rows, top)
    lines = [[name for _, _, name, _, _ in columns]]
    for cells in zip(*(values for _, _, _, values, _ in columns)):
        lines.append(["" if value is None else repr(value) for value in cells])
    return "".join(",".join(line) + "\n" for line in lines)
