"""The surface that a search of C and the width of the kernel has seen, or the curve of one number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..errors import UsageError
from ..report.experiment_charts import search_surface
from ..report.words import cut, plural
from ..score.scores import ALL_SCORES
from .canvas import save

__all__ = ["draw_search"]


def draw_search(path: str, result: Mapping) -> None:
    """Draw the scores of `result`, what `tune_m --json` writes, a picture for each kernel.

    The best is named in the title, and that the search was stopped where it was.  Raises
    UsageError for an empty search and as `canvas.save`.
    """
    if not result["points"]:
        raise UsageError("a search without points cannot be drawn")
    best, stopped = result["points"][result["best"]], result.get("complete") is False
    title = f"best{' so far' * stopped}: {cut(best['options'], 100)}"
    if best["score"] is not None and math.isfinite(best["score"]):
        title += f", {ALL_SCORES[result['by']].title} {best['score']:.4f}"
        if best.get("sd") is not None:
            title += f" \u00b1 {best['sd']:.4f}"
    tried = plural(len(result["points"]), "set") + " of options tried"
    title += f"; {tried}" + ", stopped at the time limit" * stopped
    title += f", {cut(result['data'], 50)}" if result.get("data") else ""
    save(path, title, search_surface(result))
