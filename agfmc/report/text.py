"""Tables of results: comparisons and searches as text for people, programs and papers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from ..control.learners import PARAMETERS
from ..core.errors import one_line
from ..core.text import runs_text
from ..files.csv import csv_of_numbers
from ..score.rows import ALL_SCORES, COLUMNS, columns_of, COST_PER_POINT, HIERARCHICAL
from .answers import score_blocks
from .blocks import Block
from .charts import class_sets
from .content import Column, DataTable, TableRow
from .trials import comparison_notes, comparison_tables, estimate_words
from .words import clean, count

_NUMBERS = ("number", "share")  # kinds of columns
_SCREEN = 100  # columns
# for terminals: what a page has in the place of blanks, dashes, quotes and dots
_TYPED = str.maketrans(
    {
        "\u202f": "",
        "\u00a0": " ",
        "\u2013": "-",
        "\u2212": "-",
        "\u2026": "...",
        "\u201c": '"',
        "\u201d": '"',
    }
)


def width(text: str) -> int:
    """Columns of a screen that a text takes."""
    return sum(
        0
        if unicodedata.combining(character)
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def aligned(
    rows: Sequence[Sequence[str]], left: int | Sequence[bool] | None = None, gap: str = "  "
) -> str:
    """Rows of cells as lines, each column as wide as its widest cell; the first `left` columns, or
    those for which it is true, begin at the left, all for None, the others end at the right."""
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(*rows)]
    if left is None or isinstance(left, int):
        left = [left is None or index < left for index in range(len(widths))]
    lines = []
    for row in rows:
        blanks = [" " * (wide - width(cell)) for cell, wide in zip(row, widths)]
        lines.append(
            gap.join(
                cell + blank if begins else blank + cell
                for cell, blank, begins in zip(row, blanks, left)
            ).rstrip()
            + "\n"
        )
    return "".join(lines)


def blocks_text(blocks: Iterable[Block], folded: bool = False, star: bool = False) -> str:
    """Blocks of a page as text, without pictures, if `folded` with the tables that a page folds.
    `star` is as for `table_text`."""
    lines = []
    for block in blocks:
        kind = block.kind
        value = block.value
        if kind in ("text", "note"):
            lines.append(f"{clean(value)}\n")
        elif kind == "heading":
            lines.append(f"\n{value}\n")
        elif kind == "facts":
            lines.append(aligned(value))
        elif kind == "table" and (folded or not value.folded):
            lines.append(table_text(value, star))
        elif kind == "matrix":
            rows = [[row.name, *(count(cell.count) for cell in row.cells)] for row in value.rows]
            lines += [
                f"{value.caption}\n",
                aligned([["", *(name for name, _ in value.heads)], *rows], 1, " "),
            ]
        elif kind == "beside":
            lines.append(_beside(*(blocks_text(side, folded, star) for side in value)))
    return "".join(lines).translate(_TYPED)


def _beside(left, right):
    rows = list(zip_longest(left.splitlines(), right.splitlines(), fillvalue=""))
    text = aligned(rows, 2)
    if max(map(width, text.splitlines())) <= _SCREEN:
        return text
    return f"{left}\n{right}"


def table_text(table: DataTable, star: bool = False) -> str:
    """A table of a page in lines: its caption, the heads of its columns, and its rows, without
    prose. With `star` rows that stand out have one."""
    columns = [(at, column) for at, column in enumerate(table.columns) if column.kind != "prose"]
    # typed before they are aligned: three dots are wider than one character
    rows = [
        [
            (column.text(row.cells[at]).translate(_TYPED) or "-" * (column.kind in _NUMBERS))
            + " *" * (star and row.strong and at == 0)
            for at, column in columns
        ]
        for row in table.rows
    ]
    return f"{table.caption}\n" + aligned(
        [[column.title for _, column in columns], *rows],
        [column.kind not in _NUMBERS for _, column in columns],
    )


def data_lines(result: dict) -> str:
    """The `data_words` in a result as lines of the head of its table; "" without them."""
    return "".join(f"{name}: {result[name]}\n" for name in ("weights", "groups") if name in result)


def plain_table(result: dict) -> str:
    """The main table of a comparison for a terminal."""
    return table_text(comparison_tables(result)[0], star=True).translate(_TYPED)


def markdown_table(result: dict) -> str:
    """The tables of a comparison in Markdown, the best row in bold."""
    return "\n".join(map(_markdown, comparison_tables(result))).translate(_TYPED)


def _markdown(table):
    lines = [
        [column.title for column in table.columns],
        ["---:" if column.kind in _NUMBERS else "---" for column in table.columns],
    ]
    for row in table.rows:
        cells = [column.text(cell) for cell, column in zip(row.cells, table.columns)]
        lines.append([f"**{cell}**" if cell and row.strong else cell for cell in cells])
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n" for cells in lines
    )


def comparison_csv(result: dict) -> str:
    """One line for each row: scores of all held-out points, deviations in separate columns."""
    columns = columns_of(next((row for row in result["rows"] if "error" not in row), ()))

    def cells(row):
        names = {name: row[name] for name in ("configuration", "decoder")}
        if "error" in row:
            return names
        tests = {
            score: (row["difference"] or {}).get(score) or {}
            for score in columns
            if score in ALL_SCORES
        }
        return {
            **names,
            "classifiers": row["classifiers"],
            **{
                column + end: (row[column] or {}).get(key)
                for column in columns
                for end, key in (("", "pooled"), ("_sd", "sd"))
            },
            "zero_probability": row["zero_probability"],
            **{
                f"{score}_{end}": test.get(key)
                for score, test in tests.items()
                for end, key in (("difference", "pooled"), ("p", "p_value"))
            },
            **{name: (row[name] or {}).get("pooled") for name in COST_PER_POINT},
            **{
                f"{score}_difference_{end}": bound
                for score, test in tests.items()
                for end, bound in zip(("low", "high"), test.get("interval") or (None, None))
            },
        }

    rows = list(map(cells, result["rows"]))
    return csv_of_numbers([max(rows, key=len, default=()), *(row.values() for row in rows)])


def score_lines(columns: dict) -> str:
    """All held-out points together, mean and deviation over the splits, a line for each of
    `COLUMNS`, times at the end."""
    rows = [["", "all points", "mean", "deviation"]]
    for column in sorted(columns_of(columns), key=lambda column: column not in ALL_SCORES):
        name = COLUMNS[column][1]
        numbers = columns[column]
        if numbers is None:
            rows.append([name, "-", "", ""])
        elif column != "design_s" or numbers["pooled"]:  # unless the scheme needs none
            rows.append(
                [
                    name,
                    _number(numbers["pooled"]) if column in ALL_SCORES else "",
                    _number(numbers["mean"]),
                    _number(numbers["sd"], ""),
                ]
            )
    return aligned(rows, 1)


def zero_line(count: int | None, name: str = "") -> str:
    """The number of held-out points with p = 0 for their true class, as a line; "" for none."""
    if not count:
        return ""
    return (
        f"p = 0 for the true class of {count} held-out "
        f"point{'s' * (count != 1)}{': ' * bool(name)}{one_line(name)}\n"
    )


def row_notes(result: dict) -> str:
    """The notes on rows of a comparison, a line for each."""
    return "".join(f"{words}\n" for words in comparison_notes(result))


def search_csv(search: dict) -> str:
    """One line for each point of a search, a dictionary of `search_result`."""
    points = search["points"]
    parameters = [key for point in points for key in point if key in PARAMETERS]
    columns = list(
        dict.fromkeys(
            "options kernel degree coef0 log2g log2c".split()
            + parameters
            + "score sd rows parts".split()
        )
    )
    lines = [[*columns, "chosen", "given"]]
    for number, point in enumerate(points):
        cells = {**point, "parts": runs_text(point.get("parts", []))}
        lines.append(
            [
                *map(cells.get, columns),
                number == search["best"],
                number == search["given"],
            ]
        )
    return csv_of_numbers(lines)


def estimate_line(estimate: dict | None, by: str) -> str:
    """The line of the estimate of a search for new data; "" where there is none."""
    if estimate is None:
        return ""
    return f"estimate for new data: {estimate_words(estimate, by)}\n"


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
    if "effective_points" not in report:
        weighted = ""
    else:
        weighted = f", which count as {report['effective_points']:.4g} of equal weight"
    lines = f"{report['points']} points of {report['classes']} classes{weighted}; {fitted}\n"
    if len(report["compared"]) > 1:
        lines += (
            "log loss: "
            + ", ".join(f"{kind} {value:.4f}" for kind, value in report["compared"].items())
            + "\n"
        )
    tables = [
        [
            ["", "before", "after", "difference"],
            *(
                [
                    title,
                    *(
                        _signed_interval(report["scores"][name][when], sign)
                        for when, sign in (("before", ""), ("after", ""), ("difference", "+"))
                    ),
                ]
                for name, title in (
                    ("log_loss", "log loss"),
                    ("brier", "Brier score"),
                    ("calibration_error", "calibration error"),
                    ("accuracy", "accuracy"),
                )
            ),
        ],
        [
            ["error at most", "probability from", "points answered"],
            *(
                [f"{row['max_error']:g}", "-", row["why"].partition(": ")[2].partition(" (")[0]]
                if row["threshold"] is None
                else [
                    f"{row['max_error']:g}",
                    f"{row['threshold']:g}",
                    f"{100 * row['answered']:.1f} %",
                ]
                for row in report["thresholds"]
            ),
        ],
        [
            ["coverage", "mean size of sets", "with aps", "by class"],
            *(
                [
                    f"{row['coverage']:g}",
                    *(f"{row['mean_size'][name]:.3f}" for name in ("lac", "aps", "lac_by_class")),
                ]
                for row in report["sets"]
            ),
        ],
    ]
    return "\n".join([lines, *(aligned(table) for table in tables if len(table) > 1)])


def _signed_interval(score, sign):
    return f"{score['value']:{sign}.4f} ({score['low']:{sign}.4f} {score['high']:{sign}.4f})"


_COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


def format_scores(scores: dict) -> str:
    """The dictionary of `evaluate` as text for a screen: the scores of all points, and of each
    class; with sets and calibrations of classes their tables."""
    sets = class_sets(scores)
    by_class = scores.get("calibration_by_class", ())
    tables = [
        sets and sets.table,
        _coverage_table(scores),
        by_class and _bins_table(scores["calibration"], "Calibration of the winning class."),
        *(
            _bins_table(
                row["bins"],
                f"Calibration of class {row['label']}, error "
                f"{row['expected_calibration_error']:.6f}.",
            )
            for row in by_class
        ),
    ]
    return blocks_text(score_blocks(scores)) + "".join(
        f"\n{table_text(table)}" for table in tables if table
    )


def _bins_table(rows, caption):
    rows = [row for row in rows or () if row["count"]]
    keys = ("lower", "upper", "count", "forecast", "observed", "error")
    if rows:
        return DataTable(
            caption,
            tuple(
                Column(title, "number")
                for title in ("p from", "to", "points", "forecast", "observed", "std.error")
            ),
            tuple(TableRow(tuple(row[key] for key in keys)) for row in rows),
        )
    return None


def _coverage_table(scores):
    if scores.get("sets"):
        rows = scores["sets"]["by_class"]
    else:
        rows = []
    if rows:
        return DataTable(
            "Coverage by class.",
            tuple(
                Column(title, "number")
                for title in ("class", "points", "coverage", "from", "to", "mean size")
            ),
            tuple(
                TableRow(
                    tuple(
                        row[key]
                        for key in ("label", "points", "coverage", "low", "high", "mean_size")
                    )
                )
                for row in rows
                if row["points"]
            ),
        )
    return None


def _number(value, missing="-"):
    if value is None:
        return missing
    return f"{value:.6f}"


def scores_csv(scores: dict, named: bool = False) -> str:
    """The dictionary of `evaluate` as comma-separated values: score,class,value,low,high.

    Scores of all points have no class, those of a class its label, or its name (named).  Counts
    of cells and bins are in JSON alone.
    """
    intervals = scores["intervals"]
    rows = [
        (name, "", value, *intervals.get(name, (None, None)))
        for name, value in scores.items()
        if name not in ("classes", "top", "single_class") and isinstance(value, (int, float))
    ]
    for row in scores["risk_coverage"] or ():
        if row["coverage"] in _COVERAGES:
            rows.append((f"error_at_coverage_{row['coverage']:g}", "", row["error"], None, None))
    before = scores.get("before", {})
    for name, value in before.items():
        if isinstance(value, (int, float)):
            rows.append((f"{name}_before", "", value, None, None))
    for name, value in before.get("difference", {}).items():
        half = 1.96 * (value["error"] or float("nan"))
        rows.append(
            (f"{name}_change", "", value["mean"], value["mean"] - half, value["mean"] + half)
        )
    sets = scores.get("sets")
    rows += [
        (title, "", sets[name], None, None)
        for name, title in (("exact", "exact_sets"), *zip(HIERARCHICAL, HIERARCHICAL))
        if sets and name in sets
    ]
    for row in [] if sets is None else [sets, *sets["by_class"]]:
        label = row.get("label", "")
        rows += [
            ("set_coverage", label, row["coverage"], row["low"], row["high"]),
            ("mean_set_size", label, row["mean_size"], None, None),
        ]
    for row in [*scores["by_class"], *scores.get("calibration_by_class", ())]:
        rows += [
            (name, row["label"], value, None, None)
            for name, value in row.items()
            if name not in ("label", "bins")
        ]
    if named:
        names = dict(zip(scores["labels"], scores["names"]))
    else:
        names = {}
    return csv_of_numbers(
        [
            ("score", "class", "value", "low", "high"),
            *((name, str(names.get(label, label)), *numbers) for name, label, *numbers in rows),
        ]
    )


def _simulation_columns(rows, top):
    def shares(heading, name, parts):
        columns = [(heading, name, [part["success"] for part in parts], ".4f")]
        if parts[0].get("exact") is not None:
            columns.append(("exact", f"{name}_exact", [part["exact"] for part in parts], ".4f"))
        return columns

    def numbers(heading, name, form):
        return [(heading, name, [row[name] for row in rows], form)]

    with_error = rows[0]["error"] is not None
    words = [poll["opponents"] for poll in rows[0]["polls"]]
    errors = [
        max(
            part["standard_error"]
            for part in (
                row["max_win"],
                row["adag"],
                row["ddag"],
                *row["polls"],
                *(poll["top"] for poll in row["polls"]),
            )
        )
        for row in rows
    ]
    return [
        *numbers("classes", "classes", "d"),
        *(numbers("error", "error", "g") if with_error else ()),
        *shares("MAX-WIN", "max_win", [row["max_win"] for row in rows]),
        *(
            column
            for i, word in enumerate(words)
            for column in shares(f"POLL {word}", f"poll_{word}", [row["polls"][i] for row in rows])
        ),
        *(
            column
            for i, word in enumerate(words)
            for column in shares(
                f"TOP-{top} {word}",
                f"poll_{word}_top_{top}",
                [row["polls"][i]["top"] for row in rows],
            )
        ),
        *(
            column
            for name in ("adag", "ddag")
            for column in shares(name.upper(), name, [row[name] for row in rows])
        ),
        ("std.err", "standard_error", errors, ".4f"),
        *numbers("s1/s2", "separation", ".3f"),
        *(numbers("limit", "separation_limit", ".3f") if with_error else ()),
        *numbers("enough", "opponents_enough", "d"),
        *(numbers("bound", "opponents_bound", "d") if with_error else ()),
    ]


def simulation_table(rows: list, top: int) -> str:
    """The rows of `simulations` as an aligned table."""
    return aligned(
        list(
            zip(
                *(
                    [heading, *("-" if value is None else format(value, form) for value in values)]
                    for heading, _, values, form in _simulation_columns(rows, top)
                )
            )
        ),
        0,
    )


def simulation_csv(rows: list, top: int) -> str:
    """The rows of `simulations` as comma-separated values in full precision."""
    _, names, values, _ = zip(*_simulation_columns(rows, top))
    cells = [
        names,
        *(["" if value is None else repr(value) for value in line] for line in zip(*values)),
    ]
    return "".join(",".join(line) + "\n" for line in cells)
