"""Scores as text for people."""

from __future__ import annotations

import unicodedata

from ..errors import one_line
from ..score.scores import SCORES

__all__ = ["format_scores"]

_WIDEST = 32  # columns for a name


def format_scores(scores):
    """The dictionary of `evaluate` as a page of text; names: those of the labels, if known."""
    weighted = "priors" in scores
    lines = [
        _line("points", f"{scores['points']:d}" + (", weighted" if weighted else "")),
        _line("classes", "not told (-k)" if scores["classes"] is None
              else f"{scores['classes']:d}"),
    ]
    if scores["rejected"]:
        lines.append(_line("rejected", f"{scores['rejected']:d}"))
    lines += [
        _score(scores, "accuracy"),
        _score(scores, "uncertainty_coefficient"),
        _line("  reverse", _number(scores["uncertainty_coefficient_reverse"])),
        _line("  symmetric", _number(scores["uncertainty_coefficient_symmetric"])),
        _score(scores, "brier_all", "needs probabilities"),
        _score(scores, "brier_winning", "needs -k or probabilities"),
        _score(scores, "log_loss", "needs probabilities"),
        "",
        f"contingency table (rows: truth, columns: result{'; weighted' if weighted else ''})",
        *_contingency(scores),
    ]
    if scores["calibration"] is not None:
        lines += ["", "calibration of the winning class",
                  "       p from - to     count  forecast  observed  std.error"]
        lines += [_bin(row) for row in scores["calibration"]]
        lines.append(_line("expected calibration error",
                           _number(scores["expected_calibration_error"])))
    return "\n".join(lines) + "\n"


def _score(scores, name, missing=None):
    return _line(SCORES[name].title, _number(scores[name], missing))


def _line(what, value):
    return f"{what:28s}{value}"


def _number(value, missing=None):
    return missing if value is None else f"{value:.6f}"


def _contingency(scores):
    labels = [str(label) for label in scores["labels"]]
    columns = labels + (["rejected"] if scores["rejected"] else [])
    cells = [[_count(count) for count in row] for row in scores["contingency"]]
    widths = [max(len(text) for text in (head, *(row[i] for row in cells)))
              for i, head in enumerate(columns)]
    first = max(len(label) for label in labels)
    names = _padded(["", *scores.get("names", [""] * len(labels))])
    rows = [f"{label:>{first}}{name}" for label, name in zip(["", *labels], names)]
    return [" ".join([row, *(f"{text:>{width}}" for text, width in zip(line, widths))])
            for row, line in zip(rows, [columns, *cells])]


def _count(count):
    """A number of points, or a sum of weights."""
    return f"{count:.2f}" if isinstance(count, float) and count else f"{count:.0f}"


def _padded(names):
    """Names behind a blank, long ones cut, all of one width on the screen; "" for no names."""
    if not any(names):
        return [""] * len(names)
    names = [f" {_cut(one_line(name))}" for name in names]
    widest = max(_width(name) for name in names)
    return [name + " " * (widest - _width(name)) for name in names]


def _cut(name):
    if _width(name) <= _WIDEST:
        return name
    while _width(name) > _WIDEST - 3:
        name = name[:-1]
    return f"{name}..."


def _width(text):
    """Columns of a screen that a text takes."""
    return sum(0 if unicodedata.combining(character) else
               2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _bin(row):
    head = f"  {row['lower']:8.4f} - {row['upper']:6.4f} {_count(row['count']):>9s}"
    if not row["count"]:
        return head + "         -         -          -"
    return head + f"  {row['forecast']:8.6f}  {row['observed']:8.6f}  {row['error']:9.6f}"
