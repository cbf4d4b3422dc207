"""What a search has found: as plain values, as CSV, and as a table for people."""

from __future__ import annotations

import csv
import io
import math

from ..errors import one_line
from ..learners.protocol import parse_options
from .comparison_table import HEADS, spread

__all__ = ["csv_points", "partition_table", "partition_text", "plain_search",
           "search_table", "whole_lines"]

_BEST, _ROWS = 8, 40  # lines of a table


def plain_search(found, features):
    """A `Found` as a dictionary: points (in the order they were tried), best, given, border.

    A point: options, kernel, degree, coef0, log2g, log2c, score, sd, values, and error where it
    could not be trained.  best, given: indices of points, or None;  border: limits of the
    search, such as "C high", that the best lies on.
    """
    places = {text: point for point, text in reversed(found.texts.items())}
    points = []
    for text in found.tried:
        summary = found.summary(text)
        points.append({"options": text, **_place(text, places.get(text), features),
                       **({"score": None, "sd": None, "values": [],
                           "error": str(found.tried[text])} if summary is None else
                          {"score": summary["mean"], "sd": summary["sd"],
                           "values": summary["values"]})})
    texts = list(found.tried)
    return {"points": points,
            "best": texts.index(found.best) if found.best in texts else None,
            "given": texts.index(found.given) if found.given in texts else None,
            "border": [] if found.best == found.given else
            [" ".join(limit) for limit in found.search.border]}


def _place(text, point, features):
    """Kernel and parameters of a point, or of options that are none."""
    options = parse_options(text)
    gamma = options.gamma or 1.0 / features
    polynomial = options.kernel == "polynomial"
    return {"kernel": options.kernel, "degree": options.degree if polynomial else None,
            "coef0": options.coef0 if polynomial else None,
            "log2g": point.log2g if point is not None else
            None if options.kernel == "linear" else math.log2(gamma),
            "log2c": point.log2c if point is not None else math.log2(options.cost)}


def csv_points(searches):
    """One line for each point of each search; searches: dictionaries of `plain_search`.

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
    rows = [["options", HEADS[by], ""]]
    for i in shown:
        words = [word for word in ("chosen", "given") if i == search[_KEYS[word]]]
        rows.append([points[i]["options"], _score(points[i], by), ", ".join(words)])
    failed = sum(point["score"] is None for point in points)
    note = f"{failed} could not be trained: {one_line(_error(points))}\n" if failed else ""
    return _lines(rows) + note


_KEYS = {"chosen": "best", "given": "given"}


def _error(points):
    return next(point["error"] for point in points if "error" in point)


def partition_table(searches, by):
    """The options of each partition with their score, and that of what was given."""
    rows = [["partition", "options", HEADS[by], "given"]]
    for search in searches[:_ROWS]:
        best, given = ("-" if search[name] is None else _score(search["points"][search[name]], by)
                       for name in ("best", "given"))
        options = "-" if search["best"] is None else search["points"][search["best"]]["options"]
        rows.append([partition_text(search, 28), options, best, given])
    more = len(searches) - _ROWS
    return _lines(rows) + (f"and {more} more: --csv has them all\n" if more > 0 else "")


def whole_lines(columns):
    """Scores of the whole configuration with the options given and with those found.

    columns: {"given": {score: summary or None}, "tuned": the same}.
    """
    rows = [["whole configuration", *(HEADS[name] for name in columns["given"])]]
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
