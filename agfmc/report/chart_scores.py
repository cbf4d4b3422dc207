"""Results in files: scores, comparisons, and searches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..score.rows import ALL_SCORES
from .picture_file import picture_names, save
from .charts import confusion_map, reliability, risk_coverage
from .content import Picture
from .experiment_charts import comparison, comparison_cost, row_name, search_surface
from .words import cut, plural


def draw_scores(
    path: str,
    scores: Mapping,
    names: Mapping[int, str] | None = None,
    data: str = "",
    more: Sequence[Picture] = (),
) -> None:
    """Draw the reliability diagram, the error of the surest answers and the contingency table.

    `scores` are those of `evaluate`, `names` is {label: name}, and `data` the name of the data;
    `more` pictures come behind.
    """
    if "points" in scores:
        parts = [plural(scores["points"], "point")]
    else:
        parts = []
    parts.append(plural(len(scores["labels"]), "class", "es"))
    if scores.get("rejected"):
        parts.append(f"{scores['rejected']} without an answer")
    accuracy = scores["accuracy"]
    coefficient = scores["uncertainty_coefficient"]
    parts.append(f"accuracy {accuracy:.4f}")
    if coefficient is not None and coefficient == coefficient:
        parts.append(f"uncertainty coefficient {coefficient:.4f}")
    pictures = (
        reliability(scores, True),
        risk_coverage(scores),
        confusion_map(scores, picture_names(names)),
        *more,
    )
    save(
        path,
        (f"{cut(data, 60)}: " if data else "") + ", ".join(parts),
        [picture for picture in pictures if picture is not None],
    )


def draw_comparison(path: str, result: Mapping, by: str = "log_loss") -> None:
    """Draw the rows of `result`, as `experiments.comparison.compare` returns it: differences from
    the reference, and scores over what a point costs; rows without the score are named."""
    result = {**result, "by": by}
    pictures = [
        picture for picture in (comparison(result), comparison_cost(result)) if picture is not None
    ]
    missing = "; ".join(row_name(row) for row in result["rows"] if not row.get(by))
    if missing and pictures:
        pictures[0] = replace(
            pictures[0],
            note=f"{pictures[0].note} Without "
            f"{ALL_SCORES[by].title}, so left out: {missing}.".strip(),
        )
    title = (
        f"{plural(result['points'], 'point')}, {plural(result['classes'], 'class', 'es')}, "
        f"{plural(result['trials'], 'split')}"
        + "; no configuration has this score"
        * (not pictures)
    )
    save(
        path, f"{cut(str(result['data']), 60)}: {title}" if result.get("data") else title, pictures
    )


def draw_search(path: str, result: Mapping) -> None:
    """Draw the scores of `result`, what `agfmc.tune` returns, a picture for each kernel."""
    best = result["points"][result["best"]]
    stopped = result.get("complete") is False
    title = f"best{' so far' * stopped}: {cut(best['options'], 100)}"
    if best["score"] is not None and math.isfinite(best["score"]):
        title += f", {ALL_SCORES[result['by']].title} {best['score']:.4f}"
        if best.get("sd") is not None:
            title += f" \u00b1 {best['sd']:.4f}"
    tried = plural(len(result["points"]), "set") + " of options tried"
    title += f"; {tried}" + ", stopped at the time limit" * stopped
    title += f", {cut(result['data'], 50)}" if result.get("data") else ""
    save(path, title, search_surface(result))
