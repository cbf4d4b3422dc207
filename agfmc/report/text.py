"""Tables of results: comparisons and searches as text for people, programs and papers."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence

from ..calibration.separate_points import COMPARED_SCORES
from ..control.learners import PARAMETERS
from ..core.errors import one_line
from ..core.text import partition_text, runs_text, spread
from ..files.csv import csv_of_numbers
from ..score.intervals import clopper_pearson
from ..score.rows import (ALL_SCORES, COLUMNS, columns_of, COST_PER_POINT, HIERARCHICAL,
                          UNCALIBRATED)
from .answers import score_blocks
from .blocks import Block
from .charts import class_sets, risk_coverage
from .content import Column, DataTable, TableRow
from .words import clean, count, number, plural

_HEADS = {name: head for name, (head, _) in COLUMNS.items()}
_NUMBERS = ("number", "share")  # kinds of columns
# for terminals: what a page has in the place of blanks, dashes, quotes and dots
_TYPED = str.maketrans({"\u202f": "", "\u00a0": " ", "\u2013": "-", "\u2212": "-", "\u2026": "...",
                        "\u201c": '"', "\u201d": '"'})
_WIDTH = 100  # characters of a line of a comparison
_MAIN = ("accuracy", "log_loss", "cost")  # scores that stand beside the differences


def width(text: str) -> int:
    """Columns of a screen that a text takes."""
    return sum(0 if unicodedata.combining(character) else
               2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def aligned(rows: Sequence[Sequence[str]], left: int | Sequence[bool] | None = None,
            gap: str = "  ", indent: str = "") -> str:
    """Rows of cells as lines, each column as wide as its widest cell; the first `left` columns, or
    those for which it is true, begin at the left, all for None, the others end at the right."""
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(*rows)]
    if left is None or isinstance(left, int):
        left = [left is None or index < left for index in range(len(widths))]
    lines = []
    for row in rows:
        blanks = [" " * (wide - width(cell)) for cell, wide in zip(row, widths)]
        lines.append(indent + gap.join(
            cell + blank if begins else blank + cell
            for cell, blank, begins in zip(row, blanks, left)).rstrip() + "\n")
    return "".join(lines)


def blocks_text(blocks: Iterable[Block], folded: bool = False, digits: int = 4) -> str:
    """Blocks of a page as text, without pictures; folded: with the tables that a page folds."""
    lines = []
    for block in blocks:
        kind, value = block.kind, block.value
        if kind in ("text", "note"):
            lines.append(f"{clean(value)}\n")
        elif kind == "heading":
            lines.append(f"\n{value}\n")
        elif kind == "facts":
            lines.append(aligned(value))
        elif kind == "table" and (folded or not value.folded):
            lines.append(table_text(value, digits))
        elif kind == "matrix":
            lines.append(f"\n{_matrix_text(value)}")
        elif kind == "beside":
            lines += (blocks_text(side, folded, digits) for side in value)
    return "".join(lines).translate(_TYPED)


def table_text(table: DataTable, digits: int = 4) -> str:
    """A table of a page in lines: its caption, the heads of its columns, and its rows; without
    prose."""
    columns = [(at, column) for at, column in enumerate(table.columns) if column.kind != "prose"]
    rows = [[column.text(row.cells[at], digits) or "-" * (column.kind in _NUMBERS)
             for at, column in columns] for row in table.rows]
    return f"{table.caption}\n" + aligned([[column.title for _, column in columns], *rows], [
        column.kind not in _NUMBERS for _, column in columns])


def _matrix_text(matrix):
    rows = [[row.name, *(count(cell.count) for cell in row.cells)] for row in matrix.rows]
    return f"{matrix.caption}\n" + aligned(
        [["", *(name for name, _ in matrix.heads)], *rows], 1, " ")


def data_lines(result: dict) -> str:
    """The `data_words` in a result as lines of the head of its table; "" without them."""
    return "".join(f"{name}: {result[name]}\n" for name in ("features", "weights")
                   if name in result)


def _seconds(seconds):
    """Seconds in two digits."""
    if not seconds:
        return "0"
    places = max(0, min(4, 1 - math.floor(math.log10(max(seconds, 1e-4)))))
    return f"{seconds:.{places}f}"


def _difference(row, result):
    """(difference to the reference in the score that decides, its p value) as text."""
    if row["difference"] is None:
        return "", ""
    test = row["difference"].get(result["by"])
    tested = row["difference"].get("accuracy", {}) if result["mcnemar"] else test or {}
    p_value = tested.get("p_value")
    return "-" if test is None else f"{test['pooled']:+.4f}", \
        "-" if p_value is None or math.isnan(p_value) else \
        "<.0001" if p_value < 1e-4 else f"{p_value:.4f}"


def _grid(result):
    """Heads, and for each row (cells, numbers of the cells that are best); without scores that are
    roots of means, unless one decides, and the time of designs where no row has any."""
    by = result["by"]
    shown = [name for name in columns_of(_first(result)) if name == by or (
        ALL_SCORES[name].pools != "square" if name in ALL_SCORES else
        name != "design_s" or any(row.get(name) and row[name]["pooled"] for row in result["rows"]))]
    heads = ["configuration", "decoder", "binary", *(_HEADS[name] for name in shown), "diff.",
             "McNemar p" if result["mcnemar"] else "p"]
    lines = []
    untuned = result["tuned"]["untuned"] if "tuned" in result else None
    for row in result["rows"]:
        name = one_line(row["configuration"])
        tuned = untuned is not None and row["configuration"] not in untuned
        cells, best = [name + ", tuned" * tuned, row["decoder"]], set()
        if "error" in row:
            cells += ["failed", *[""] * (len(heads) - 3)]
        else:
            cells += [str(row["classifiers"]), *(
                spread(row[name]) if name in ALL_SCORES or row[name] is None else
                _seconds(row[name]["pooled"]) for name in shown), *_difference(row, result)]
            best = {3 + i for i, column in enumerate(shown) if column in row["best"]}
        lines.append((cells, best))
    return heads, lines


def _first(result):
    """The first row that has its scores; () where none has."""
    return next((row for row in result["rows"] if "error" not in row), ())


def plain_table(result: dict, brief: bool = False) -> str:
    """The table for a terminal, where the best of each column has a `*`.

    Other scores and times are a second table where one would be too wide, and left out if brief.
    """
    heads, lines = _grid(result)
    starred = set().union(*(best for _, best in lines))
    # a column with a star has room for it in all rows
    table = [[cell + (" *"[at in best] if at in starred else "") for at, cell in enumerate(cells)]
             for cells, best in ((heads, ()), *lines)]
    parts = [list(range(len(heads)))]
    if brief or max(map(len, aligned(table, 2).splitlines())) > _WIDTH:
        further = {head for name, head in _HEADS.items() if name not in (*_MAIN, result["by"])}
        main, more = ([at for at in parts[0] if (heads[at] in further) == side] for side in (0, 1))
        parts = [main] if brief else [main, [0, 1, *more]]
    return "\n".join(aligned([[cells[at] for at in part] for cells in table], 2)
                     for part in parts)


def markdown_table(result: dict) -> str:
    """The table in Markdown, the best of each column in bold."""
    heads, lines = _grid(result)
    out = [heads, ["---", "---"] + ["---:"] * (len(heads) - 2)]
    out += [[f"**{cell}**" if i in best else cell for i, cell in enumerate(cells)]
            for cells, best in lines]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
                   for cells in out)


def comparison_csv(result: dict) -> str:
    """One line for each row: scores of all held-out points, deviations in separate columns."""
    columns = columns_of(_first(result))
    scores = [column for column in columns if column in ALL_SCORES]
    lines = [["configuration", "decoder", "classifiers",
              *(f"{column}{part}" for column in columns for part in ("", "_sd")),
              "zero_probability",
              *(f"{score}_{part}" for score in scores for part in ("difference", "p")),
              *COST_PER_POINT,
              *(f"{score}_difference_{part}" for score in scores for part in ("low", "high"))]]
    for row in result["rows"]:
        cells = [row["configuration"], row["decoder"]]
        if "error" not in row:
            cells.append(row["classifiers"])
            for column in columns:
                cells += [(row[column] or {}).get(key) for key in ("pooled", "sd")]
            cells.append(row["zero_probability"])
            for score in scores:
                test = (row["difference"] or {}).get(score, {})
                cells += [test.get(key) for key in ("pooled", "p_value")]
            cells += [(row[name] or {}).get("pooled") for name in COST_PER_POINT]
            for score in scores:
                cells += (row["difference"] or {}).get(score, {}).get("interval") or [None, None]
        lines.append(cells)
    return csv_of_numbers(lines)


def score_lines(columns: dict) -> str:
    """All held-out points together, mean and deviation over the splits, a line for each of
    `COLUMNS`, times at the end."""
    rows = [["", "all points", "mean", "deviation"]]
    for column in sorted(columns_of(columns), key=lambda column: column not in ALL_SCORES):
        name, numbers = COLUMNS[column][1], columns[column]
        if numbers is None:
            rows.append([name, "-", "", ""])
        elif column != "design_s" or numbers["pooled"]:  # unless the scheme needs none
            rows.append([name, _number(numbers["pooled"]) if column in ALL_SCORES else "",
                         _number(numbers["mean"]), _number(numbers["sd"], "")])
    return aligned(rows, 1)


def zero_line(count: int | None, name: str = "") -> str:
    """The number of held-out points with p = 0 for their true class, as a line; "" for none."""
    return "" if not count else f"p = 0 for the true class of {count} held-out " \
        f"point{'s' * (count != 1)}{': ' * bool(name)}{one_line(name)}\n"


def row_notes(result: dict) -> str:
    """Lines below the table of a comparison: p = 0 for true classes, rows that are not calibrated,
    rows without the score."""
    rows = [(f"{row['configuration']} {row['decoder']}", row) for row in result["rows"]
            if "error" not in row]
    without = [one_line(name) for name, row in rows if row[result["by"]] is None]
    plain = [one_line(name) for name, row in rows if True in result["calibrated"]
             and not row["calibrated"] and row["log_loss"] is not None
             and not row["decoder"].endswith(UNCALIBRATED)]
    note = f"cannot be calibrated: {', '.join(plain)}\n" if plain else ""
    note += f"no {ALL_SCORES[result['by']].title}, so they cannot be chosen by it: " \
           f"{', '.join(without)}\n" if without else ""
    return "".join(zero_line(row["zero_probability"], name) for name, row in rows) + note


def search_csv(searches: list) -> str:
    """One line for each point of each search; searches: dictionaries of `search_result`.

    Where they have left and right, the labels of a partition, these come first.
    """
    columns = list(dict.fromkeys(("options", "kernel", "degree", "coef0", "log2g", "log2c", *(
        key for search in searches for point in search["points"] for key in point
        if key in PARAMETERS), "score", "sd", "rows", "parts")))
    parted = any("left" in search for search in searches)
    lines = [[*["partition"] * parted, *columns, "chosen", "given"]]
    for search in searches:
        before = [partition_text(search)] if parted else []
        lines += [[*before, *(runs_text(point.get(column, [])) if column == "parts" else
                              point.get(column) for column in columns),
                   number == search["best"], number == search["given"]]
                  for number, point in enumerate(search["points"])]
    return csv_of_numbers(lines)


def estimate_line(estimate: dict | None, by: str) -> str:
    """The line of the estimate of a search for new data, as tune_m --json writes it; "" where there
    is none;  by: the name of the score."""
    if estimate is None:
        return ""
    points = plural(estimate["points"], "point")
    sure = f"standard error {number(estimate['error'])}"
    if by == "accuracy" and estimate["score"] == 1 and not estimate["error"]:
        low = clopper_pearson(*2 * [estimate.get("effective", estimate["points"])]).low
        sure = f"all {points} right: 95 % interval from {number(low)}"
    return f"estimate for new data: {ALL_SCORES[by].title} {number(estimate['score'])}, {sure} " \
           f"({points}, {estimate['how']})\n"


def format_reports(reports: Sequence[dict]) -> str:
    """Reports of decoders as pages of text, those of decoders with equal ones together."""
    pages: dict[str, list[str]] = {}
    for report in reports:
        pages.setdefault(_page(report), []).append(report["decoder"])
    return "\n".join(f"{', '.join(keys)}: {page}" for page, keys in pages.items())


def _page(report):
    fitted = f"{report['map']} map"
    if report["temperature"] is not None:
        fitted = f"temperature {report['temperature']:.4g}, floor {report['floor']:.2g}"
    elif report["ridge"] is not None:
        fitted += f", ridge {report['ridge']:g}, floor {report['floor']:.2g}"
    weighted = "" if "effective_points" not in report else \
        f", which count as {report['effective_points']:.4g} of equal weight"
    lines = f"{report['points']} points of {report['classes']} classes{weighted}; {fitted}\n"
    if len(report["compared"]) > 1:
        lines += "log loss: " + ", ".join(
            f"{kind} {value:.4f}" for kind, value in report["compared"].items()) + "\n"
    tables = [[["", "before", "after", "difference"], *(
        [title, *(_signed_interval(report["scores"][name][when], sign) for when, sign in (
            ("before", ""), ("after", ""), ("difference", "+")))]
        for name, title in COMPARED_SCORES.items())],
        [["error at most", "probability from", "points answered"], *(
            [f"{row['max_error']:g}", "-", _why(row)] if row["threshold"] is None else
            [f"{row['max_error']:g}", f"{row['threshold']:g}", f"{100 * row['answered']:.1f} %"]
            for row in report["thresholds"])],
        [["coverage", "mean size of sets", "with aps", "by class"], *(
            [f"{row['coverage']:g}", *(f"{row['mean_size'][name]:.3f}"
                                       for name in ("lac", "aps", "lac_by_class"))]
            for row in report["sets"])]]
    return "\n".join([lines, *(aligned(table) for table in tables if len(table) > 1)])


def _signed_interval(score, sign):
    return f"{score['value']:{sign}.4f} ({score['low']:{sign}.4f} {score['high']:{sign}.4f})"


def _why(row):
    """Why there is no threshold, in short."""
    return row["why"].partition(": ")[2].partition(" (")[0]

_COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


def format_scores(scores: dict) -> str:
    """The dictionary of `evaluate` as a page of text."""
    blocks = score_blocks(scores)
    drawn = [picture for picture in (risk_coverage(scores), class_sets(scores)) if picture]
    tables = [_bins_table(scores["calibration"], "Calibration of the winning class."),
              *(picture.table for picture in drawn), _coverage_table(scores),
              *(_bins_table(row["bins"], f"Calibration of class {row['label']}, error "
                            f"{row['expected_calibration_error']:.6f}.")
                for row in scores.get("calibration_by_class", ()))]
    return blocks_text(blocks, True, 6) + "".join(
        f"\n{table_text(table, 6)}" for table in tables if table is not None)


def _bins_table(rows, caption):
    """The bins of probabilities that have points, or None."""
    rows = [row for row in rows or () if row["count"]]
    keys = ("lower", "upper", "count", "forecast", "observed", "error")
    return DataTable(caption, tuple(Column(title, "number") for title in (
        "p from", "to", "points", "forecast", "observed", "std.error")),
        tuple(TableRow(tuple(row[key] for key in keys)) for row in rows)) if rows else None


def _coverage_table(scores):
    """The coverage and sizes of sets of each class, or None."""
    rows = scores["sets"]["by_class"] if scores.get("sets") else []
    return DataTable("Coverage by class.", tuple(Column(title, "number") for title in (
        "class", "points", "coverage", "from", "to", "mean size")),
        tuple(TableRow(tuple(row[key] for key in (
            "label", "points", "coverage", "low", "high", "mean_size"))) for row in rows
            if row["points"])) if rows else None


def _number(value, missing="-"):
    return missing if value is None else f"{value:.6f}"


def scores_csv(scores: dict, named: bool = False) -> str:
    """The dictionary of `evaluate` as comma-separated values: score,class,value,low,high.

    Scores of all points have no class, those of a class its label, or its name (named).  Counts
    of cells and bins are in JSON alone.
    """
    intervals = scores["intervals"]
    rows = [(name, "", value, *intervals.get(name, (None, None)))
            for name, value in scores.items()
            if name not in ("classes", "top", "single_class") and isinstance(value, (int, float))]
    for row in scores["risk_coverage"] or ():
        if row["coverage"] in _COVERAGES:
            rows.append((f"error_at_coverage_{row['coverage']:g}", "", row["error"], None, None))
    before = scores.get("before", {})
    for name, value in before.items():
        if isinstance(value, (int, float)):
            rows.append((f"{name}_before", "", value, None, None))
    for name, value in before.get("difference", {}).items():
        half = 1.96 * (value["error"] or float("nan"))
        rows.append((f"{name}_change", "", value["mean"], value["mean"] - half,
                     value["mean"] + half))
    sets = scores.get("sets")
    rows += [(title, "", sets[name], None, None) for name, title in (
        ("exact", "exact_sets"), *zip(HIERARCHICAL, HIERARCHICAL)) if sets and name in sets]
    for row in [] if sets is None else [sets, *sets["by_class"]]:
        label = row.get("label", "")
        rows += [("set_coverage", label, row["coverage"], row["low"], row["high"]),
                 ("mean_set_size", label, row["mean_size"], None, None)]
    for row in [*scores["by_class"], *scores.get("calibration_by_class", ())]:
        rows += [(name, row["label"], value, None, None) for name, value in row.items()
                 if name not in ("label", "bins")]
    names = dict(zip(scores["labels"], scores["names"])) if named else {}
    return csv_of_numbers([("score", "class", "value", "low", "high"), *(
        (name, str(names.get(label, label)), *numbers) for name, label, *numbers in rows)])


def _simulation_columns(rows, top):
    """(heading, name in a spread-sheet, values, format) of each column."""
    def shares(heading, name, parts):
        columns = [(heading, name, [part["success"] for part in parts], ".4f")]
        if parts[0].get("exact") is not None:
            columns.append(("exact", f"{name}_exact", [part["exact"] for part in parts], ".4f"))
        return columns

    def numbers(heading, name, form):
        return [(heading, name, [row[name] for row in rows], form)]

    with_error = rows[0]["error"] is not None
    words = [poll["opponents"] for poll in rows[0]["polls"]]
    errors = [max(part["standard_error"] for part in (
        row["max_win"], row["adag"], row["ddag"], *row["polls"],
        *(poll["top"] for poll in row["polls"]))) for row in rows]
    return [
        *numbers("classes", "classes", "d"),
        *(numbers("error", "error", "g") if with_error else ()),
        *shares("MAX-WIN", "max_win", [row["max_win"] for row in rows]),
        *(column for i, word in enumerate(words) for column in shares(
            f"POLL {word}", f"poll_{word}", [row["polls"][i] for row in rows])),
        *(column for i, word in enumerate(words) for column in shares(
            f"TOP-{top} {word}", f"poll_{word}_top_{top}",
            [row["polls"][i]["top"] for row in rows])),
        *(column for name in ("adag", "ddag") for column in shares(
            name.upper(), name, [row[name] for row in rows])),
        ("std.err", "standard_error", errors, ".4f"),
        *numbers("s1/s2", "separation", ".3f"),
        *(numbers("limit", "separation_limit", ".3f") if with_error else ())]


def simulation_table(rows: list, top: int) -> str:
    """The rows of `simulations` as an aligned table."""
    return aligned(list(zip(*(
        [heading, *("-" if value is None else format(value, form) for value in values)]
        for heading, _, values, form in _simulation_columns(rows, top)))), 0)


def simulation_csv(rows: list, top: int) -> str:
    """The rows of `simulations` as comma-separated values in full precision."""
    _, names, values, _ = zip(*_simulation_columns(rows, top))
    cells = [names, *(["" if value is None else repr(value) for value in line]
                      for line in zip(*values))]
    return "".join(",".join(line) + "\n" for line in cells)
