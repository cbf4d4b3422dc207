"""The surface that a search of C and the width of the kernel has seen, or the curve of one number.
"""

import math

from ..control.dot import visible
from ..control.learners import PARAMETERS
from ..errors import UsageError
from ..score.scores import ALL_SCORES
from .canvas import new_figure, RIGHT, save

__all__ = ["draw_search"]

_SIDE = 3.3  # inches of a panel
_SEEN = 0.25  # share of the points, the worst, that have one colour


def draw_search(path: str, result: dict) -> None:
    """Draw the scores of `result` over log2 C and log2 gamma, a panel for each kernel.

    result: {"points": [{"options", "log2c" or None, "log2g" or None, "kernel" or None, "score" or
    None}, ...], "best": index of the best point, "by": one of
    `ALL_SCORES`}.  Kernels without gamma are curves over log2 C, and those of a learner without C
    over log2 gamma, or over another of `PARAMETERS` that its points have; points without a score
    are crosses; the best is ringed and named.

    Raises UsageError for an empty search and as `canvas.save`.
    """
    if not result["points"]:
        raise UsageError("a search without points cannot be drawn")
    save(path, lambda: _figure(result))


def _figure(result):
    from matplotlib.colors import Normalize
    points, by = result["points"], result["by"]
    best = points[result["best"]]
    scored = sorted(point["score"] for point in points if _known(point))
    larger, title = ALL_SCORES[by].larger_is_better, ALL_SCORES[by].axis
    low, high = (scored[0], scored[-1]) if scored else (0.0, 1.0)
    if scored:  # the worst would take all colours from the good ones
        seen = int(_SEEN * (len(scored) - 1))
        low, high = (scored[seen], high) if larger else (low, scored[-1 - seen])
    norm = Normalize(low, high if high > low else low + 1e-9)

    kernels = list(dict.fromkeys(point["kernel"] for point in points))
    across = min(3, len(kernels))
    down = -(-len(kernels) // across)
    size = (across * (_SIDE + 0.7) + 1.0, down * (_SIDE + 0.75) + 0.5)
    figure = new_figure(figsize=size)
    image, margin = None, 0.75
    for place, kernel in enumerate(kernels):
        left = margin + (place % across) * (_SIDE + 0.7)
        top = 0.6 + (place // across) * (_SIDE + 0.75)
        axes = figure.add_axes((left / size[0], 1 - (top + _SIDE) / size[1], _SIDE / size[0],
                                _SIDE / size[1]))
        shown = [point for point in points if point["kernel"] == kernel]
        axes.set_title(visible(kernel or "", 40), loc="left")
        axes.grid(color="#e4e4e4", linewidth=0.6)
        axes.set_axisbelow(True)
        draw = _curve if any(None in (point["log2g"], point["log2c"]) for point in shown) \
            else _surface
        image = draw(axes, shown, best, norm, larger, title) or image
    if image is not None:
        left = margin + across * (_SIDE + 0.7) - 0.5
        scale = figure.add_axes((left / size[0], 1 - (0.6 + _SIDE) / size[1], 0.12 / size[0],
                                 _SIDE / size[1]))
        bar = figure.colorbar(image, cax=scale,
                              extend="neither" if low == high else "min" if larger else "max")
        bar.outline.set_visible(False)
        bar.set_label(title, fontsize=8)
        bar.ax.tick_params(labelsize=8)
    score = f", {ALL_SCORES[by].title} {best['score']:.4f}" if _known(best) else ""
    figure.text(margin / size[0], 1 - 0.2 / size[1], visible(f"best: {best['options']}{score}", 90),
                va="center", fontweight="bold")
    return figure


def _known(point):
    return point["score"] is not None and math.isfinite(point["score"])


def _surface(axes, points, best, norm, larger, title):
    """Coloured points; -> what a scale of colours is made from, None where nothing is coloured."""
    axes.set_xlabel("log2 C")
    axes.set_ylabel("log2 gamma", labelpad=1)
    areas = _areas(points)
    failed = [point for point in points if not _known(point)]
    axes.scatter([point["log2c"] for point in failed], [point["log2g"] for point in failed],
                 marker="x", s=18, color="#a0a0a0", linewidths=1)
    # the close points of a refinement are drawn over the wide ones, good over bad
    order = sorted((i for i, point in enumerate(points) if _known(point)), key=lambda i: (
        -areas[i], points[i]["score"] if larger else -points[i]["score"]))
    image = None
    if order:
        image = axes.scatter([points[i]["log2c"] for i in order],
                             [points[i]["log2g"] for i in order],
                             s=[areas[i] for i in order],
                             c=[points[i]["score"] for i in order], norm=norm,
                             cmap="cividis" if larger else "cividis_r", edgecolors="white",
                             linewidths=0.4)
    _ring(axes, points, best, "log2c", "log2g")
    axes.margins(0.09)
    _whole(axes.xaxis, axes.yaxis)
    return image


def _curve(axes, points, best, norm, larger, title):
    """A score over log2 C or another parameter alone; a line where there is none."""
    across = next((name for name in PARAMETERS if points[0].get(name) is not None), None)
    axes.set_ylabel(title, labelpad=1)
    scored = [point for point in points if _known(point)]
    if across is None:
        for point in scored:
            axes.axhline(point["score"], color="#2171b5", linewidth=1.2)
        axes.set_xticks([])
        return
    axes.set_xlabel(f"log2 {PARAMETERS[across].name}")
    scored.sort(key=lambda point: point[across])
    axes.plot([point[across] for point in scored], [point["score"] for point in scored],
              marker="o", markersize=4, color="#2171b5", linewidth=1.2)
    _ring(axes, points, best, across, "score")
    axes.margins(0.09)
    _whole(axes.xaxis)
    axes.ticklabel_format(axis="y", useOffset=False)


def _whole(*sides):
    """Powers of two with whole exponents."""
    from matplotlib.ticker import MaxNLocator
    for side in sides:
        side.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 4, 5, 10]))


def _ring(axes, points, best, across, upward):
    if any(point is best for point in points) and best[upward] is not None:
        axes.plot([best[across]], [best[upward]], marker="o", markersize=14,
                  markerfacecolor="none", markeredgecolor=RIGHT, markeredgewidth=2,
                  linestyle="none", zorder=4, gid="best")


def _areas(points):
    """Areas of points, in square points of type, so that each nearly reaches the next one."""
    import numpy as np
    places = np.array([(point["log2c"], point["log2g"]) for point in points], dtype=float)
    places /= np.maximum(np.ptp(places, axis=0), 1e-9)
    nearest = np.ones(len(places))
    for i, place in enumerate(places):
        apart = np.abs(places - place).max(axis=1)
        nearest[i] = min(apart[apart > 1e-9], default=1.0)
    return np.clip(nearest * 0.75 * 0.84 * _SIDE * 72, 4.0, 22.0)**2
