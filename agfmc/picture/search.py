"""The surface that a search of C and the width of the kernel has seen, or the curve of one number.
"""

import math

from ..control.dot import visible
from ..control.learners import PARAMETERS
from ..errors import UsageError
from ..score.scores import ALL_SCORES
from .canvas import GREY, GRID, INK, LEFT, MUTED, new_figure, RIGHT, save
from .style import LIGHT

__all__ = ["draw_search"]

_RIGHT_TEXT = LIGHT["right-text"]
_SIDE = 3.3  # inches of a panel
_SEEN = 0.25  # share of the points, the worst, that have one colour


def draw_search(path: str, result: dict) -> None:
    """Draw the scores of `result` over log2 C and log2 gamma, a panel for each kernel.

    result: {"points": [{"options", "log2c" or None, "log2g" or None, "kernel" or None, "score" or
    None}, ...], "best": index of the best point, "by": one of
    `ALL_SCORES`}.  Kernels without gamma are curves over log2 C, and those of a learner without C
    over log2 gamma, or over another of `PARAMETERS` that its points have, with bars of one standard
    deviation where points have "sd"; points without a score are crosses; those that were scored on
    fewer points or parts ("rows", "parts") are diamonds; a dark rim has what is within the
    deviation of the best; the best is ringed and named.  A search that was stopped, "complete" of
    the result, has that in its title, with "data".

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
    note = _notes(points, best, larger)
    size = (max(across * (_SIDE + 0.7) + 1.0, 5.6),
            down * (_SIDE + 0.75) + 0.75 + 0.17 * len(note))
    figure = new_figure(figsize=size)
    image, margin = None, 0.75
    for place, kernel in enumerate(kernels):
        left = margin + (place % across) * (_SIDE + 0.7)
        top = 0.85 + (place // across) * (_SIDE + 0.75)
        axes = figure.add_axes((left / size[0], 1 - (top + _SIDE) / size[1], _SIDE / size[0],
                                _SIDE / size[1]))
        shown = [point for point in points if point["kernel"] == kernel]
        axes.set_title(visible(kernel or "", 40), loc="left")
        axes.grid(color=GRID, linewidth=0.6)
        axes.set_axisbelow(True)
        draw = _curve if any(None in (point["log2g"], point["log2c"]) for point in shown) \
            else _surface
        image = draw(axes, shown, best, norm, larger, title) or image
    if image is not None:
        left = margin + across * (_SIDE + 0.7) - 0.5
        scale = figure.add_axes((left / size[0], 1 - (0.85 + _SIDE) / size[1], 0.12 / size[0],
                                 _SIDE / size[1]))
        bar = figure.colorbar(image, cax=scale,
                              extend="neither" if low == high else "min" if larger else "max")
        bar.outline.set_visible(False)
        bar.set_label(title, fontsize=8)
        bar.ax.tick_params(labelsize=8)
    score = f", {ALL_SCORES[by].title} {best['score']:.4f}" if _known(best) else ""
    if score and best.get("sd") is not None:
        score += f" ± {best['sd']:.4f}"
    stopped = result.get("complete") is False
    longest = int(12 * (size[0] - margin))
    figure.text(margin / size[0], 1 - 0.2 / size[1], visible(
        f"best{' so far' * stopped}: {best['options']}{score}", longest), va="center",
        fontweight="bold")
    about = visible(str(result.get("data", "")), 50)
    tried = f"{len(points)} set{'s' * (len(points) != 1)} of options"
    about = f"stopped at the time limit after {tried}{'; ' * bool(about)}{about}" if stopped else \
        f"{about}{': ' * bool(about)}{tried} tried"
    figure.text(margin / size[0], 1 - 0.42 / size[1], visible(
        about, longest + longest // 8), va="center",
        color=_RIGHT_TEXT if stopped else MUTED)
    for i, line in enumerate(note):
        figure.text(margin / size[0], (0.02 + 0.17 * (len(note) - i)) / size[1], line, fontsize=8,
                    color=MUTED, va="top")
    return figure


def _notes(points, best, larger):
    """Lines that explain the marks."""
    scored = [point for point in points if _known(point)]
    notes = []
    if any(None not in (point["log2g"], point["log2c"]) for point in scored):
        notes.append("size: the farther the next point tried, the larger")
        if any(_close(point, best, larger) for point in scored if point is not best):
            notes.append("dark rim: within the deviation of the best")
    elif any(point.get("sd") is not None for point in scored):
        notes.append("bars: standard deviation over the parts")
    if any(_fewer(point, scored) for point in scored):
        notes.append("diamond: scored on fewer points or parts")
    if len(scored) < len(points):
        notes.append("cross: could not be trained")
    return [*notes, "ring: the best"]


def _close(point, best, larger):
    """True where a score is no worse than the best by more than the deviation of that."""
    if not (_known(point) and _known(best)) or best.get("sd") is None:
        return False
    lost = best["score"] - point["score"]
    return (lost if larger else -lost) <= best["sd"]


def _fewer(point, scored):
    """True where another point was scored by classifiers of more points, or on more parts."""
    def extent(one):
        rows = one.get("rows")
        return len(one.get("parts") or ()), math.inf if rows is None else rows
    return any(extent(other)[0] > extent(point)[0] or extent(other)[1] > extent(point)[1]
               for other in scored)


def _known(point):
    return point["score"] is not None and math.isfinite(point["score"])


def _surface(axes, points, best, norm, larger, title):
    """Coloured points; -> what a scale of colours is made from, None where nothing is coloured."""
    axes.set_xlabel("log2 C")
    axes.set_ylabel("log2 gamma", labelpad=1)
    areas = _areas(points)
    failed = [point for point in points if not _known(point)]
    axes.scatter([point["log2c"] for point in failed], [point["log2g"] for point in failed],
                 marker="x", s=18, color=GREY, linewidths=1)
    # the close points of a refinement are drawn over the wide ones, good over bad
    order = sorted((i for i, point in enumerate(points) if _known(point)), key=lambda i: (
        -areas[i], points[i]["score"] if larger else -points[i]["score"]))
    image = None
    if order:
        scored = [points[i] for i in order]
        fewer = {i: _fewer(points[i], scored) for i in order}
        for marker, part in (("D", [i for i in order if fewer[i]]),
                             ("o", [i for i in order if not fewer[i]])):
            if not part:
                continue
            rims = [_close(points[i], best, larger) for i in part]
            image = axes.scatter([points[i]["log2c"] for i in part],
                                 [points[i]["log2g"] for i in part], marker=marker,
                                 s=[areas[i] * (0.5 if marker == "D" else 1) for i in part],
                                 c=[points[i]["score"] for i in part], norm=norm,
                                 cmap="cividis" if larger else "cividis_r",
                                 edgecolors=[INK if rim else "white" for rim in rims],
                                 linewidths=[1.2 if rim else 0.4 for rim in rims])
    _ring(axes, points, best, "log2c", "log2g")
    axes.margins(0.09)
    for low, high, limit in ((*axes.get_xlim(), axes.set_xlim), (*axes.get_ylim(), axes.set_ylim)):
        if high - low < 2:  # a single value, or two
            limit((low + high) / 2 - 1.5, (low + high) / 2 + 1.5)
    _whole(axes.xaxis, axes.yaxis)
    return image


def _curve(axes, points, best, norm, larger, title):
    """A score over log2 C or another parameter alone; a line where there is none."""
    across = next((name for name in PARAMETERS if points[0].get(name) is not None), None)
    axes.set_ylabel(title, labelpad=3)
    scored = [point for point in points if _known(point)]
    if across is None:
        for point in scored:
            axes.axhline(point["score"], color=LEFT, linewidth=1.2)
        axes.set_xticks([])
        return
    axes.set_xlabel(f"log2 {PARAMETERS[across].name}")
    scored.sort(key=lambda point: point[across])
    axes.plot([point[across] for point in scored], [point["score"] for point in scored],
              marker="o", markersize=4, color=LEFT, linewidth=1.2)
    barred = [point for point in scored if point.get("sd") is not None]
    axes.vlines([point[across] for point in barred],
                [point["score"] - point["sd"] for point in barred],
                [point["score"] + point["sd"] for point in barred], color=LEFT, linewidth=0.9)
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
