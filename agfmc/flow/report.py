"""Scores as text for people."""

from __future__ import annotations

__all__ = ["format_scores"]


def format_scores(scores):
    """The dictionary of `evaluate` as a page of text."""
    lines = [
        _line("points", f"{scores['points']:d}"),
        _line("classes", "not told (-k)" if scores["classes"] is None
              else f"{scores['classes']:d}"),
    ]
    if scores["rejected"]:
        lines.append(_line("rejected", f"{scores['rejected']:d}"))
    lines += [
        _line("accuracy", _number(scores["accuracy"])),
        _line("uncertainty coefficient", _number(scores["uncertainty_coefficient"])),
        _line("  reverse", _number(scores["uncertainty_coefficient_reverse"])),
        _line("  symmetric", _number(scores["uncertainty_coefficient_symmetric"])),
        _line("Brier score, all classes", _number(scores["brier_all"], "needs probabilities")),
        _line("Brier score, winning class",
              _number(scores["brier_winning"], "needs -k or probabilities")),
        _line("log loss", _number(scores["log_loss"], "needs probabilities")),
        "",
        "contingency table (rows: truth, columns: result)",
        *_contingency(scores),
    ]
    if scores["calibration"] is not None:
        lines += ["", "calibration of the winning class",
                  "       p from - to     count  forecast  observed  std.error"]
        lines += [_bin(row) for row in scores["calibration"]]
        lines.append(_line("expected calibration error",
                           _number(scores["expected_calibration_error"])))
    return "\n".join(lines) + "\n"


def _line(what, value):
    return f"{what:28s}{value}"


def _number(value, missing=None):
    return missing if value is None else f"{value:.6f}"


def _contingency(scores):
    labels = [str(label) for label in scores["labels"]]
    columns = labels + (["rejected"] if scores["rejected"] else [])
    cells = [[str(count) for count in row] for row in scores["contingency"]]
    widths = [max(len(text) for text in (head, *(row[i] for row in cells)))
              for i, head in enumerate(columns)]
    first = max(len(label) for label in labels)
    rows = [" " * first, *(f"{label:>{first}}" for label in labels)]
    return [" ".join([row, *(f"{text:>{width}}" for text, width in zip(line, widths))])
            for row, line in zip(rows, [columns, *cells])]


def _bin(row):
    head = f"  {row['lower']:8.4f} - {row['upper']:6.4f} {row['count']:9d}"
    if not row["count"]:
        return head + "         -         -          -"
    return head + f"  {row['forecast']:8.6f}  {row['observed']:8.6f}  {row['error']:9.6f}"
