"""Configurations side by side: differences with intervals, and how good against what they ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..errors import UsageError
from ..report.experiment_charts import comparison, comparison_cost, row_name
from ..report.words import cut, plural
from ..score.scores import ALL_SCORES
from .canvas import save

__all__ = ["draw_comparison"]


def draw_comparison(path: str, result: Mapping, by: str = "log_loss") -> None:
    """Draw the rows of `result`, as `experiments.comparison.compare` returns it: differences from
    the reference, and scores over what a point costs.

    Rows without the score are named below the pictures.  Raises UsageError for an unknown `by`,
    and as `canvas.save`.
    """
    if by not in ALL_SCORES:
        raise UsageError(f"no score called {by!r}: use one of {', '.join(ALL_SCORES)}")
    result = {**result, "by": by}
    pictures = [picture for picture in (comparison(result), comparison_cost(result))
                if picture is not None]
    missing = "; ".join(row_name(row) for row in result["rows"] if not row.get(by))
    if missing and pictures:
        pictures[0] = replace(pictures[0], note=f"{pictures[0].note} Without "
                              f"{ALL_SCORES[by].title}, so left out: {missing}.".strip())
    title = f"{plural(result['points'], 'point')}, {plural(result['classes'], 'class', 'es')}, " \
            f"{plural(result['trials'], 'split')}" + "; no configuration has this score" * (
                not pictures)
    save(path, f"{cut(str(result['data']), 60)}: {title}" if result.get("data") else title,
         pictures)
