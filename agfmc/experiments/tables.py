"""Tables of results: comparisons and searches as text for people, programs and papers."""

from __future__ import annotations

import csv
import io
import math

from ..errors import one_line
from ..learners.protocol import parse_options
from ..score.scores import SCORES
from .trial import COLUMNS

__all__ = ["comparison_csv", "markdown_table", "partition_table", "partition_text", "plain_table",
           "score_lines", "search_csv", "search_result", "search_table", "spread", "whole_lines"]

_HEADS = {name: head for name, (head, _) in COLUMNS.items()}
_BEST, _ROWS = 8, 40  # lines of a table


# -- comparisons -----------------------------------------------------------------------------------

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
    """Heads, and for each row (cells, numbers of the cells that are best)."""
    by = result["by"]
    heads = ["configuration", "decoder", "classifiers", *_HEADS.values(),
             f"diff. {_HEADS[by]}", "p"]
    lines = []
    for row in result["rows"]:
        if "error" in row:
            lines.append(([one_line(row["configuration"]), row["decoder"], "failed"]
                          + [""] * (len(heads) - 3), set()))
            continue
        cells = [one_line(row["configuration"]), row["decoder"], str(row["classifiers"]),
                 *(spread(row[column], column) for column in COLUMNS), *_difference(row, by)]
        lines.append((cells, {3 + i for i, column in enumerate(COLUMNS)
                              if column in row["best"]}))
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


def comparison_csv(result):
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
            summary = row[column] or {}
            cells += [_number(summary.get(key)) for key in ("mean", "sd")]
        for score in SCORES:
            test = (row["difference"] or {}).get(score, {})
            cells += [_number(test.get(key)) for key in ("mean", "p_value")]
        writer.writerow(cells)
    return out.getvalue()


def _number(value):
    return "" if value is None or value != value else f"{value:.9g}"


def score_lines(columns):
    """Mean and deviation over the splits, a line for each of `COLUMNS`, times at the end."""
    lines = [f"{'':26s}{'mean':>10s}{'deviation':>12s}"]
    for column in [*SCORES, *(column for column in COLUMNS if column not in SCORES)]:
        name, numbers = COLUMNS[column][1], columns[column]
        if numbers is None:
            lines.append(f"{name:26s}{'-':>10s}")
            continue
        deviation = "" if numbers["sd"] is None else f"{numbers['sd']:12.6f}"
        lines.append(f"{name:26s}{numbers['mean']:10.6f}{deviation}")
    return "".join(f"{line}\n" for line in lines)


# -- searches --------------------------------------------------------------------------------------

def search_result(state, features):
    """A `SearchState` as a dictionary: points (in the order they were tried), best, given, border.

    A point: options, kernel, degree, coef0, log2g, log2c, score, sd, values, and error where it
    could not be trained.  best, given: indices of points, or None;  border: limits of the
    search, such as "C high", that the best lies on.
    """
    points_of = {text: point for point, text in reversed(state.texts.items())}
    points = []
    for text in state.tried:
        summary = state.summary(text)
        points.append({"options": text, **_parameters(text, points_of.get(text), features),
                       **({"score": None, "sd": None, "values": [],
                           "error": str(state.tried[text])} if summary is None else
                          {"score": summary["mean"], "sd": summary["sd"],
                           "values": summary["values"]})})
    texts = list(state.tried)
    return {"points": points,
            "best": texts.index(state.best) if state.best in texts else None,
            "given": texts.index(state.given) if state.given in texts else None,
            "border": [] if state.best == state.given else
            [" ".join(limit) for limit in state.search.border]}


def _parameters(text, point, features):
    """Kernel and parameters of a point, or of options that are none."""
    options = parse_options(text)
    gamma = options.gamma or 1.0 / features
    polynomial = options.kernel == "polynomial"
    return {"kernel": options.kernel, "degree": options.degree if polynomial else None,
            "coef0": options.coef0 if polynomial else None,
            "log2g": point.log2g if point is not None else
            None if options.kernel == "linear" else math.log2(gamma),
            "log2c": point.log2c if point is not None else math.log2(options.cost)}


def search_csv(searches):
    """One line for each point of each search; searches: dictionaries of `search_result`.

    Where they have left and right, the labels of a partition, these come first.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    parted = any("left" in search for search in searches)
    columns = ("options", "kernel", "degree", "coef0", "log2g", "log2c", "score", "sd")
    writer.writerow([*(["partition"] if parted else []), *columns, "chosen"])
    for search in searches:
        for number, point in enumerate(search["points"]):
            writer.writerow([*([partition_text(search)] if parted else []),
                             *(_cell(point[column]) for column in columns),
                             int(number == search["best"])])
    return out.getvalue()


def _cell(value):
    return "" if value is None else value if isinstance(value, str) else f"{value:.9g}"


def partition_text(search, width=None):
    """The partition of a search, as a control file with labels for positions would have it."""
    text = " / ".join(" ".join(map(str, search[side])) for side in ("left", "right"))
    return text if width is None or len(text) <= width else text[:width - 3] + "..."


def search_table(search, by, sign):
    """The best points with mean and deviation, and what was given, for a terminal."""
    points = search["points"]
    order = sorted((i for i, point in enumerate(points) if point["score"] is not None),
                   key=lambda i: (i != search["best"], -sign * points[i]["score"]))
    shown = order[:_BEST]
    if search["given"] in order and search["given"] not in shown:
        shown.append(search["given"])
    rows = [["options", _HEADS[by], ""]]
    for i in shown:
        words = [word for word, key in (("chosen", "best"), ("given", "given"))
                 if i == search[key]]
        rows.append([points[i]["options"], _score(points[i], by), ", ".join(words)])
    failed = sum(point["score"] is None for point in points)
    error = next((point["error"] for point in points if "error" in point), "")
    note = f"{failed} could not be trained: {one_line(error)}\n" if failed else ""
    return _lines(rows) + note


def partition_table(searches, by):
    """The options of each partition with their score, and that of what was given."""
    rows = [["partition", "options", _HEADS[by], "given"]]
    for search in searches[:_ROWS]:
        best, given = ("-" if search[name] is None else _score(search["points"][search[name]], by)
                       for name in ("best", "given"))
        options = "-" if search["best"] is None else search["points"][search["best"]]["options"]
        rows.append([partition_text(search, 28), options, best, given])
    more = len(searches) - _ROWS
    return _lines(rows) + (f"and {more} more: --csv has them all\n" if more > 0 else "")


def whole_lines(columns):
    """Scores of the whole configuration with the options given and with those state.

    columns: {"given": {score: summary or None}, "tuned": the same}.
    """
    rows = [["whole configuration", *(_HEADS[name] for name in columns["given"])]]
    for title, scores in columns.items():
        rows.append([title, *(spread(scores[name], name) for name in scores)])
    return _lines(rows)


def _score(point, by):
    return "failed" if point["score"] is None else \
        spread({"mean": point["score"], "sd": point["sd"]}, by)


def _lines(rows):
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() + "\n"
                   for row in rows)
