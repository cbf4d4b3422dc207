"""Scores as a section of a MultiQC report: its custom content, in JSON.

MultiQC finds files that end in `_mqc.json` by itself, and joins those of one id in one table.
"""

from __future__ import annotations

import html
import json
import math
import os
from collections import Counter
from collections.abc import Mapping

from ..core.errors import UsageError
from ..files.kinds import name_of_file
from ..score.rows import PAGE
from .content import ReportContent

ENDING = "_mqc.json"
# {column: (title, what it is, whether larger is better, or None)}

_HEADS: dict[str, tuple[str, str, bool | None]] = {
    "points": ("points", "points that are scored", None),
    "classes": ("classes", "number of classes", None),
    **{name: (row.title, row.meaning, row.larger_is_better) for name, row in PAGE.items()},
    "classifiers": ("classifiers", "binary classifiers", None),
    "train_s": ("training", "seconds of a core, for a training part", False),
    "p_value": ("p", "probability of a difference to the reference as large by chance", None),
    "sd": ("deviation", "standard deviation over the splits", None),
}
_OF_SCORES = (
    "points",
    "classes",
    "accuracy",
    "balanced_accuracy",
    "log_loss",
    "brier",
    "uncertainty_coefficient",
    "macro_auc",
    "expected_calibration_error",
    "cost",
    "coverage",
)
_OF_ROWS = ("accuracy", "log_loss", "brier", "uncertainty_coefficient", "cost")


def check_multiqc(path: str) -> None:
    """Raise `UsageError` unless MultiQC would find a file of this name."""
    if not path.endswith(ENDING):
        raise UsageError(
            f"--multiqc {path}: expected a name that ends in {ENDING}, by which MultiQC finds it"
        )


def section_of(content: ReportContent, title: str = "") -> str:
    """The text of the section of the first of scores, search and comparison that a page has.
    `title` is the given one, in the names of the lines."""
    if content.answers is not None:
        scores = content.answers.scores
        return _section(
            "agfmc_scores",
            "Classification scores",
            "Scores of the answers of multi-class classifiers (agfmc).",
            {
                content.title: {name: scores.get(name) for name in _OF_SCORES}
                | {"classes": len(scores["labels"])}
            },
        )
    if content.search is not None:
        return search_section(content.search, title)
    if content.comparison is not None:
        return comparison_section(content.comparison, title)
    return _section("agfmc_scores", "Classification scores", "Nothing was scored (agfmc).", {})


def comparison_section(result: Mapping, title: str = "") -> str:
    """The section with a line for each configuration and decoder of a comparison."""
    rows, of = {}, title or name_of_file(result["data"])
    sound = [row for row in result["rows"] if "error" not in row]
    paths = {row["configuration"] for row in sound}
    short = Counter(map(os.path.basename, paths))
    for row in sound:
        path = row["configuration"]
        name = os.path.basename(path) if short[os.path.basename(path)] == 1 else path
        tested = (row["difference"] or {}).get(
            "accuracy" if result["mcnemar"] else result["by"]
        ) or {}
        rows[f"{of} {name}:{row['decoder']}"] = {
            "classifiers": row["classifiers"],
            **{
                score: row[score]["pooled"]
                for score in (*_OF_ROWS, "train_s")
                if row.get(score) is not None
            },
            "p_value": tested.get("p_value"),
        }
    return _section(
        "agfmc_comparison",
        "Comparison of configurations",
        f"Held-out scores of configurations on {result['data']}: {result['plan']} (agfmc).",
        rows,
    )


def search_section(search: Mapping, title: str = "") -> str:
    """The section with the best options of a search and those given, where they were tried."""
    by, rows = search["by"], {}
    of = title or f"{name_of_file(search['data'])} {os.path.basename(search['control'])}"
    parts = [("", search.get("common", search))] if "points" in search.get("common", search) else []
    parts += [
        (f"{' '.join(map(str, one['left']))} | {' '.join(map(str, one['right']))} ", one)
        for one in search.get("partitions", ())
    ]
    for partition, one in parts:
        for key in ("given", "best"):
            point = {} if one[key] is None else one["points"][one[key]]
            if point.get("score") is not None:
                rows[f"{of} {key}: {partition}{point['options'] or 'default options'}"] = {
                    by: point["score"],
                    "sd": point["sd"],
                }
    estimate = search["estimate"]
    if estimate is not None:
        rows[f"{of} estimate for new data"] = {by: estimate["score"], "points": estimate["points"]}
    return _section(
        "agfmc_search",
        "Search for training options",
        f"Options for {search['control']} on {search['data']}: {search['plan']} (agfmc).",
        rows,
    )


def _section(name, title, about, rows):
    """The text; MultiQC takes words for HTML, and of a sample what follows the last slash."""
    data = {
        _plain(sample.replace("/", "|")): {
            key: value
            for key, value in row.items()
            if type(value) in (int, float) and math.isfinite(value)
        }
        for sample, row in rows.items()
    }
    used = {key for row in data.values() for key in row}
    heads = {key: _header(key, *head) for key, head in _HEADS.items() if key in used}
    return (
        json.dumps(
            {
                "id": name,
                "section_name": title,
                "description": _plain(about),
                "plot_type": "table",
                "pconfig": {"id": f"{name}_table", "title": f"agfmc: {title}"},
                "headers": heads,
                "data": data,
            },
            indent=1,
        )
        + "\n"
    )


def _header(key, title, about, larger):
    header = {
        "title": title,
        "description": about,
        "format": "{:,.0f}" if key in ("points", "classes", "classifiers") else "{:,.4f}",
    }
    if larger is not None:
        header["scale"] = "RdYlGn" if larger else "RdYlGn-rev"
    return header | ({"min": 0, "max": 1} if key in PAGE and PAGE[key].share else {})


def _plain(text):
    return html.escape(text.encode("utf-8", "replace").decode())
