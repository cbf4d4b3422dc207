"""The quality of probabilities and classes: a reliability diagram and the contingency table."""

from ..control.dot import visible
from .canvas import (class_names, GREY, GRID, INK, LEFT, MUTED, new_figure, RIGHT, save, text_width,
                     thinned)
from .style import BLUES, LIGHT, ORANGES

__all__ = ["draw_scores"]

_MOST_COUNTS = 15  # classes of a table whose counts are printed
_MOST_SMOOTH, _STEPS = 200, 16  # classes of a table with all shades; shades of a larger one
_DIAGRAM = 3.6  # inches
_POINTS = 0.75  # height of the numbers of points
_CURVE = 1.7
_LINE = 0.17  # of the legend
_FLOOR = 1e-3  # share of a class at which the colours of errors begin


def draw_scores(path: str, scores: dict, names: dict | None = None,
                data: str = "") -> None:
    """Draw `scores`, the dictionary of `prediction.evaluation.evaluate`; names: {label: name};
    data: the name of the points, for the title.

    Left, unless calibration is None, the share of right answers against the probability it had,
    with the number of points below, and orange what it was before calibration, if that is known;
    where calibration_by_class is known, also the probabilities of all classes, right or wrong,
    those of all points and classes together; right the contingency table, rows truth, as shares
    of each true class: right answers in blue, errors in orange on a logarithmic scale of their
    own, so that rare ones show as well. Where there is more room, the error of the answered
    against their share, unless there are no errors.

    Raises UsageError and DataError as `canvas.save`.
    """
    save(path, lambda: _figure(scores, names, data))


def _figure(scores, names=None, data=""):
    labels = scores["labels"]
    k = len(labels)
    called = class_names(names, labels, 32)
    cell = min(0.42 if k <= _MOST_COUNTS else 0.24, 14.0 / k)
    columns = k + (1 if _rejected(scores) else 0)
    side = text_width(called, 9)
    across = max(cell, 2.8 / columns)
    upright = side + 0.06 > across and k <= 40 or side > 1.0
    foot = (side if upright else 0.15) + 0.42
    height = max(cell * k, 2.8)
    broad = max(cell * columns, 2.8)
    left = 0.75 + _DIAGRAM + 0.45 if scores["calibration"] is not None else 0.15
    begin = left + side + 0.45
    bar = 2.1
    total = begin + broad + bar
    columns_end = [_DIAGRAM + 1.53 + _LINE * _marks(scores) if scores["calibration"] is not None
                   else 0, height + foot]
    curve = bool(scores.get("aurc"))
    column = 0 if columns_end[0] <= columns_end[1] else 1  # the shorter one
    columns_end[column] += (_CURVE + 1.05) * curve
    top = 0.78
    tall = top + 0.1 + max(columns_end)
    figure = new_figure(figsize=(total, tall))

    def place(x, down, w, h):
        return figure.add_axes((x / total, 1 - (down + h) / tall, w / total, h / tall))

    figure.text(0.15 / total, 1 - 0.2 / tall, _head(scores, data), va="center", fontsize=10)
    if scores["calibration"] is not None:
        upper = place(0.75, top, _DIAGRAM, _DIAGRAM)
        lower = place(0.75, top + _DIAGRAM + 0.12, _DIAGRAM, _POINTS)
        _reliability(upper, lower, scores)
    if curve:
        down = top - 0.55 + columns_end[column] - _CURVE
        _error_of_answered(place((0.75, begin)[column], down, (_DIAGRAM, broad)[column], _CURVE),
                           scores)
    panel = place(begin, top, broad, height)
    scales = [place(begin + broad + 0.2 + 0.95 * i, top + 0.05, 0.12, min(height - 0.1, 3.2))
              for i in range(2)]
    _table(panel, scales, scores, called, across, upright)
    return figure


def _head(scores, data):
    """The name of the points, and their numbers."""
    parts = [f"{scores['points']} points"] if "points" in scores else []
    parts.append(f"{len(scores['labels'])} classes")
    if scores.get("rejected"):
        parts.append(f"{scores['rejected']} without an answer")
    name = visible(data, 60).replace("\n", " ")
    return f"{name}: " * bool(name) + ", ".join(parts)


def _rejected(scores):
    """Points without an answer per true class, or None where every point has one."""
    table = scores["contingency"]
    if table and len(table[0]) > len(scores["labels"]):
        return [row[-1] for row in table]
    return None


def _error_of_answered(panel, scores):
    """The error where the surest points alone are answered."""
    rows = [row for row in scores["risk_coverage"] if row["error"] is not None]
    panel.plot([row["coverage"] for row in rows], [row["error"] for row in rows], color=LEFT,
               linewidth=1.4)
    panel.set(xlim=(0, 1), xlabel="share of the points that is answered", ylabel="share of errors")
    panel.set_ylim(0, 1.08 * max(row["error"] for row in rows))
    panel.set_title(f"Error of the surest points, AURC {scores['aurc']:.4f}", loc="left")
    panel.grid(color=GRID, linewidth=0.6)
    panel.set_axisbelow(True)


def _reliability(upper, lower, scores):
    rows = [row for row in scores["calibration"] if row["count"]]
    upper.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    before, earlier = scores.get("before"), []
    if before is not None:
        earlier = [row for row in before["calibration"] if row["count"]]
        upper.plot([row["forecast"] for row in earlier], [row["observed"] for row in earlier],
                   color=RIGHT, marker="o", markersize=4, linewidth=1.2, zorder=2, clip_on=False)
    every = _of_all_classes(scores)
    if every:
        upper.plot([row["forecast"] for row in every], [row["observed"] for row in every],
                   color=LIGHT["third"], marker="s", markersize=4, linewidth=1.2, zorder=2.5,
                   clip_on=False, gid="classes")
    if rows:
        # bars end where shares do; points at 1 are whole
        ends = [[min(row["error"], row["observed"]) for row in rows],
                [min(row["error"], 1 - row["observed"]) for row in rows]]
        drawn = upper.errorbar([row["forecast"] for row in rows], [row["observed"] for row in rows],
                               yerr=ends, color=LEFT, ecolor=LEFT, marker="o", markersize=5,
                               linewidth=1.4, elinewidth=1, capsize=2.5, zorder=3)
        for artist in drawn.get_children():
            artist.set_clip_on(False)
    upper.set(xlim=(0, 1), ylim=(0, 1), ylabel="share of right answers")
    upper.set_title("Reliability", loc="left")
    upper.tick_params(labelbottom=False)
    _legend(lower, scores, every)
    edges = scores["calibration"]
    lower.bar([row["lower"] for row in edges], [row["count"] for row in edges],
              [row["upper"] - row["lower"] for row in edges], align="edge",
              color=LIGHT["left-pale"], edgecolor="white", linewidth=0.8)
    lower.set(xlim=(0, 1), ylabel="points",
              xlabel="probability of the winning class" + ", or of each class" * bool(every))
    largest = max((row["count"] for row in edges), default=0)
    lower.set_ylim(0, max(largest, 1) * 1.35)  # room for the counts above the bars
    lower.set_yticks([])
    if len(edges) <= 10:
        for row in edges:
            if row["count"]:
                lower.text((row["lower"] + row["upper"]) / 2, row["count"] + 0.05 * largest,
                           _count(row["count"]), ha="center", va="bottom", fontsize=7)
    elif largest:
        lower.set_yticks([0, largest], ["0", _count(largest)])
    for panel in (upper, lower):
        panel.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
        panel.grid(color=GRID, linewidth=0.6)
        panel.set_axisbelow(True)
        for spine in panel.spines.values():
            spine.set_clip_on(False)
    lower.grid(axis="y", visible=False)


def _marks(scores):
    """The number of entries of the legend of the reliability diagram."""
    return 3 + (scores.get("before") is not None) + bool(_of_all_classes(scores))


def _legend(lower, scores, every):
    """The key, with the calibration errors, below both panels, where no curve goes."""
    from matplotlib.lines import Line2D

    def mark(text, colour, marker="o", error=None, **style):
        if error is not None and error == error:
            text += f", calibration error {error:.4f}"
        return Line2D([], [], color=colour, marker=marker, markersize=4, linewidth=1.2,
                      label=text, **style)

    lines = [mark("winning class", LEFT, error=scores["expected_calibration_error"])]
    if scores.get("before") is not None:
        lines.append(mark("winning class before calibration", RIGHT,
                          error=scores["before"]["expected_calibration_error"]))
    if every:
        lines.append(mark("all classes", LIGHT["third"], "s",
                          error=scores["classwise_calibration_error"]))
    lines += [mark("forecasts that are right", GREY, "", linestyle=(0, (4, 3))),
              Line2D([], [], color=LEFT, linewidth=0, marker="|", markersize=8,
                     label="standard error of the share")]
    lower.legend(handles=lines, loc="upper left", bbox_to_anchor=(0, -0.5 / _POINTS),
                 borderaxespad=0, borderpad=0, fontsize=8, frameon=False, handlelength=2.4,
                 labelspacing=0.4)


def _of_all_classes(scores):
    """Bins of the probabilities of all classes together, of `calibration_by_class`; [] without."""
    tables = [table["bins"] for table in scores.get("calibration_by_class", ())]
    pooled = []
    for rows in zip(*tables):
        count = sum(row["count"] for row in rows)
        if count:
            pooled.append({name: sum(row["count"] * row[name] for row in rows if row["count"])
                           / count for name in ("forecast", "observed")})
    return pooled


def _table(panel, scales, scores, called, cell, upright):
    import numpy as np
    k = len(called)
    counts = np.asarray(scores["contingency"], dtype=float).reshape(k, -1)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    dark = _colours(panel, scales, shares)
    columns = [*called, "none"][:counts.shape[1]]
    across = thinned(k, int(cell * k / 0.16))
    panel.set_yticks(list(across), [called[i] for i in across])
    ticks = list(across if upright else
                 thinned(k, int(cell * k / (text_width(called, 9) + 0.06))))
    if counts.shape[1] > k:
        ticks = [i for i in ticks if i < k - 1 or len(ticks) == k] + [k]
        panel.axvline(k - 0.5, color=MUTED, linewidth=1)
    panel.set_xticks(ticks, [columns[i] for i in ticks], rotation=90 if upright else 0)
    panel.tick_params(length=0, pad=4)
    panel.set(xlabel="answer", ylabel="true class")
    panel.set_title(_text(scores), loc="left")
    for spine in panel.spines.values():
        spine.set(visible=True, color=GREY, linewidth=0.6)
    if k <= _MOST_COUNTS:
        for i, j in zip(*np.nonzero(counts)):
            panel.text(j, i, _count(counts[i, j]), ha="center", va="center",
                       fontsize=8 if counts.max() < 1000 else 7,
                       color="white" if dark[i, j] else INK)


def _colours(panel, scales, shares):
    """Right answers in blue, errors in orange on their own scale; -> where text must be white."""
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap, LogNorm
    right = np.eye(*shares.shape, dtype=bool)
    errors = np.where(right, 0.0, shares)
    top = next((top for top in (0.01, 0.03, 0.1, 0.3) if errors.max() <= top), 1.0)
    many = len(shares) > _MOST_SMOOTH
    steps = _STEPS if many else 256
    blues = LinearSegmentedColormap.from_list("right", BLUES, steps)
    oranges = LinearSegmentedColormap.from_list("errors", ORANGES, steps)
    norm = LogNorm(_FLOOR, top, clip=True)
    # a picture element for each cell, where a vector file would have several
    settings = {"aspect": "auto", "interpolation": "none" if many else "nearest"}
    image = panel.imshow(np.ma.masked_less_equal(errors, 0.0), norm=norm,
                         cmap=oranges.with_extremes(bad="white"), **settings)
    true = panel.imshow(np.ma.masked_where(~right, shares), cmap=blues, vmin=0, vmax=1,
                        **settings)
    bar = panel.figure.colorbar(true, cax=scales[0])
    bar.outline.set_visible(False)
    bar.set_ticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "25 %", "50 %", "75 %", "100 %"])
    bar.ax.tick_params(labelsize=8, length=2)
    bar.set_label("right, share of the true class", fontsize=8)
    bar = panel.figure.colorbar(image, cax=scales[1])
    bar.outline.set_visible(False)
    bar.set_ticks(sorted({tick for tick in (1e-3, 0.01, 0.1, top) if tick <= top}))
    bar.set_ticklabels([f"{100 * tick:g} %" for tick in bar.get_ticks()])
    bar.ax.minorticks_off()
    bar.ax.tick_params(labelsize=8, length=2)
    bar.set_label("errors, share of the true class (log scale)", fontsize=8)
    return np.where(right, shares > 0.75, norm(np.maximum(errors, _FLOOR)) > 0.7)


def _text(scores):
    accuracy, coefficient = scores["accuracy"], scores["uncertainty_coefficient"]
    text = f"Accuracy {accuracy:.4f}"
    if coefficient is not None and coefficient == coefficient:
        text += f", uncertainty coefficient {coefficient:.4f}"
    return text


def _count(value):
    """A count; a weighted one with few digits, and short where it is large."""
    if value >= 1e6:
        return f"{value:.1e}".replace("e+0", "e")
    if value == int(value) or value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"
