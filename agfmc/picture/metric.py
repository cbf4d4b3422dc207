"""Weights of the features of a learned metric, as bars."""

from __future__ import annotations

from collections.abc import Mapping

from ..report.content import Picture
from ..report.svg import Drawing, text_width
from ..report.words import cut
from .canvas import save

__all__ = ["draw_weights", "weight_bars"]

_MOST = 60  # features that are drawn
_PITCH, _LONGEST = 20, 430  # pixels from one bar to the next, and of the longest


def draw_weights(path: str, metric: Mapping) -> None:
    """Draw the weights of the features, the largest first and above, at most sixty of them.

    metric: as in `description.describe_normalisation`.  Raises errors as `canvas.save`.
    """
    save(path, f"Learned from {metric['points']} points of {metric['classes']} classes",
         [weight_bars(metric)])


def weight_bars(metric: Mapping) -> Picture:
    """The picture of the weights."""
    rows, count = metric["weights"][:_MOST], len(metric["weights"])
    names = [cut(row.get("name", f"feature {row['feature']}"), 40) for row in rows]
    side = max(map(text_width, names)) + 8
    unit = _LONGEST / max(1.0, *(row["weight"] for row in rows))
    drawing = Drawing(side + _LONGEST + 60, _PITCH * len(rows) + 30)
    drawing.line([(side + unit, 0), (side + unit, _PITCH * len(rows))], "rule")
    for at, (row, name) in enumerate(zip(rows, names)):
        y = _PITCH * at
        drawing.text(side - 8, y + 14, name, "end")
        drawing.add("rect", "fill-left", x=side, y=y + 3, width=unit * row["weight"], height=14)
        drawing.text(side + unit * row["weight"] + 5, y + 14, f"{row['weight']:.3g}", "halo")
    drawing.text(side, _PITCH * len(rows) + 18,
                 "weight of the feature, standardised (1: all alike)", "muted")
    shown = f", the first {len(rows)} of {count}" if count > len(rows) else ""
    return Picture(drawing, f"Weights of the features{shown}", f"{len(rows)} features")
