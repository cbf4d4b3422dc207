"""The comparison of configurations as text for people, programs and papers."""

from __future__ import annotations

import csv
import io
import math

from ..errors import one_line
from ..score.scores import SCORES
from .comparison import COLUMNS

__all__ = ["HEADS", "csv_table", "markdown_table", "plain_table", "score_lines", "spread"]

HEADS = {"train_s": "train s", "classify_s": "test s",
         **{name: score.head for name, score in SCORES.items()}}
_TIMES = {"train_s": "training, seconds", "classify_s": "classification, seconds"}


def spread(summary, column):
    """Mean, and deviation if there is one, of a summary; `-` where there is none."""
    if summary is None or math.isnan(summary["mean"]):
        return "-"
    places = 4 if column in SCORES else max(0, min(4, 2 - math.floor(
        math.log10(max(summary["mean"], 1e-9)))))
    parts = [summary["mean"]] if summary["sd"] is None else [summary["mean"], summary["sd"]]
    return "±".join(f"{part:.{places}f}".removeprefix("0" if places else "") for part in parts)


def _difference(row, by):
    """(difference to the reference in the score `by`, its p value) as text."""
    if row["difference"] is None:
        return "", ""
    test = row["difference"].get(by)
    if test is None:
        return "-", "-"
    p_value = test["p_value"]
    return f"{test['mean']:+.4f}", "-" if p_value is None or math.isnan(p_value) else \
        "<.0001" if p_value < 1e-4 else f"{p_value:.4f}"


def _grid(result):
    """Heads, and for each row (cells, columns that are best)."""
    by = result["by"]
    heads = ["configuration", "decoder", "classifiers", *(HEADS[c] for c in COLUMNS),
             f"diff. {HEADS[by]}", "p"]
    lines = []
    for row in result["rows"]:
        if "error" in row:
            lines.append(([one_line(row["configuration"]), row["decoder"], "failed"]
                          + [""] * (len(heads) - 3), set()))
            continue
        cells = [one_line(row["configuration"]), row["decoder"], str(row["classifiers"]),
                 *(spread(row[column], column) for column in COLUMNS), *_difference(row, by)]
        lines.append((cells, {3 + COLUMNS.index(column) for column in row["best"]}))
    return heads, lines


def plain_table(result, bold=False):
    """The table for a terminal, where the best of each column is bold, or has a `*`."""
    heads, lines = _grid(result)
    marked = [[cell + ("*" if i in best and not bold else "") for i, cell in enumerate(cells)]
              for cells, best in lines]
    starred = {i for cells in marked for i, cell in enumerate(cells) if cell.endswith("*")}
    for cells in [heads, *marked]:
        cells[:] = [cell + " " if i in starred and not cell.endswith("*") else cell
                    for i, cell in enumerate(cells)]
    widths = [max(map(len, column)) for column in zip(heads, *marked)]
    out = [_joined(heads, widths, set())]
    out += [_joined(cells, widths, best if bold else set())
            for (_, best), cells in zip(lines, marked)]
    return "".join(f"{line.rstrip()}\n" for line in out)


def _joined(cells, widths, bold):
    """Words to the left, numbers to the right; those in columns `bold` for a terminal."""
    padded = [cell.ljust(width) if i < 2 else cell.rjust(width)
              for i, (cell, width) in enumerate(zip(cells, widths))]
    return "  ".join(f"\033[1m{cell}\033[0m" if i in bold else cell
                     for i, cell in enumerate(padded))


def markdown_table(result):
    """The table in Markdown, the best of each column in bold."""
    heads, lines = _grid(result)
    out = [_bars(heads), _bars(["---", "---"] + ["---:"] * (len(heads) - 2))]
    for cells, best in lines:
        out.append(_bars([f"**{cell}**" if i in best else cell
                          for i, cell in enumerate(cells)]))
    return "".join(f"{line}\n" for line in out)


def _bars(cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def csv_table(result):
    """One line for each row, means and deviations in columns of their own."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["configuration", "decoder", "classifiers",
                     *(f"{column}{part}" for column in COLUMNS for part in ("", "_sd")),
                     *(f"{score}_{part}" for score in SCORES for part in ("difference", "p"))])
    for row in result["rows"]:
        if "error" in row:
            writer.writerow([row["configuration"], row["decoder"]])
            continue
        cells = [row["configuration"], row["decoder"], row["classifiers"]]
        for column in COLUMNS:
            summary = row[column] or {"mean": None, "sd": None}
            cells += [_plain(summary["mean"]), _plain(summary["sd"])]
        for score in SCORES:
            test = (row["difference"] or {}).get(score) or {"mean": None, "p_value": None}
            cells += [_plain(test["mean"]), _plain(test["p_value"])]
        writer.writerow(cells)
    return out.getvalue()


def _plain(value):
    return "" if value is None or value != value else f"{value:.9g}"


def score_lines(columns):
    """Mean and deviation over the splits, a line for each of `COLUMNS`."""
    lines = [f"{'':26s}{'mean':>10s}{'deviation':>12s}"]
    titles = {name: score.short for name, score in SCORES.items()} | _TIMES
    for column, name in titles.items():
        numbers = columns[column]
        if numbers is None:
            lines.append(f"{name:26s}{'-':>10s}")
            continue
        deviation = "" if numbers["sd"] is None else f"{numbers['sd']:12.6f}"
        lines.append(f"{name:26s}{numbers['mean']:10.6f}{deviation}")
    return "".join(f"{line}\n" for line in lines)
