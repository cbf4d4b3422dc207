"""Weights of the features of a learned metric, as bars."""

from ..control.dot import visible
from .canvas import GREY, LEFT, new_figure, save, text_width

__all__ = ["draw_weights"]

_MOST = 60  # features that are drawn
_BAR = 0.2  # inches from one bar to the next
_WIDTH = 4.5  # of the longest bar


def draw_weights(path: str, metric: dict) -> None:
    """Draw the weights of the features, the largest first and above, at most sixty of them.

    metric: as in `description.describe_normalisation`.  Raises errors as `canvas.save`.
    """
    save(path, lambda: _figure(metric))


def _figure(metric):
    rows = metric["weights"][:_MOST]
    labels = [visible(row.get("name", f"feature {row['feature']}"), 40) for row in rows]
    margin, height = 0.3 + text_width(labels, 8), _BAR * len(rows)
    size = margin + _WIDTH + 0.6, height + 1.1
    figure = new_figure(figsize=size)
    axes = figure.add_axes((margin / size[0], 0.55 / size[1], _WIDTH / size[0], height / size[1]))
    weights = [row["weight"] for row in rows]
    bars = axes.barh(range(len(rows)), weights, height=0.72, color=LEFT)
    axes.axvline(1.0, color=GREY, linewidth=0.8, linestyle="--")  # all alike
    axes.bar_label(bars, [f"{weight:.3g}" for weight in weights], padding=3, fontsize=7,
                   bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})  # above that line
    axes.set_yticks(range(len(rows)), labels, fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, max(*weights, 1.0) * 1.1)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("weight of the feature, standardised (1: all alike)", fontsize=8)
    count = len(metric["weights"])
    of = f", the first {len(rows)} of {count}" if count > len(rows) else ""
    title = f"weights of features{of}; learned from {metric['points']} points of " \
            f"{metric['classes']} classes"
    left = min(margin, size[0] - text_width([title], 9) - 0.1)  # that of the bars, if it has room
    figure.text(left / size[0], 1 - 0.25 / size[1], title, fontsize=9, va="center")
    return figure
