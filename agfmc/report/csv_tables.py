"""Results as comma-separated values, for programs."""

from __future__ import annotations

from ..control.learners import PARAMETERS
from ..core.text import runs_text
from ..files.csv import csv_of_numbers
from ..score.rows import ALL_SCORES, columns_of, COST_PER_POINT, HIERARCHICAL

_COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


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
