"""Configurations side by side: differences with intervals, and how good against what they ask."""

import math
import textwrap

from ..control.dot import visible
from ..errors import UsageError
from ..score.scores import ALL_SCORES, PER_POINT
from .canvas import (GREY, GRID, INK, LEFT, MUTED, nearest, new_figure, place_labels, RIGHT, save,
                     text_width)

__all__ = ["draw_comparison"]

# What is asked of a point, the first that all rows know: {key of a row: words}.
_COSTS = {**{key: PER_POINT[key].title for key in ("kernel_values", "queried")},
          "classifiers": "binary classifiers"}
_MARGIN, _ROW = 0.2, 0.2  # inches; around all, from row to row
_FOREST, _SCATTER, _GAP = 3.0, 3.4, 0.85
_LONGEST = 72  # characters of a name


def draw_comparison(path: str, result: dict, by: str = "log_loss") -> None:
    """Draw the rows of `result`: differences from the reference, and scores over what they cost.

    result: {"classes": k, "points": n, "trials": T, "against": configuration and decoder or None,
    "rows": [...]}, each row with "configuration", "decoder", {"pooled": .., "sd": ..} or None in
    each of `ALL_SCORES`, in "queried" and "kernel_values", "classifiers", and "difference" {score:
    {"mean", "interval"}} or None.  Left a line for each row, the best score first, with the mean
    paired difference from the reference and its 95 % interval (without a reference the score and
    its standard deviation); right the score of all held-out points over kernel values or
    classifiers, where the rows have the numbers of their lines and those that no other one beats
    in both are joined.  Rows without the score are named below the figure.

    Raises UsageError for an unknown `by`, and as `canvas.save`.
    """
    if by not in ALL_SCORES:
        raise UsageError(f"no score called {by!r}: use one of {', '.join(ALL_SCORES)}")
    save(path, lambda: _figure(result, by))


def _known(value):
    return value is not None and value["pooled"] is not None and math.isfinite(value["pooled"])


def _figure(result, by):
    score, rows = ALL_SCORES[by], result["rows"]
    names = _names(rows)
    lines = sorted(((row, name) for row, name in zip(rows, names) if _known(row.get(by))),
                   key=lambda line: -score.sign * line[0][by]["pooled"])
    missing = [name for row, name in zip(rows, names) if not _known(row.get(by))]
    heads = [f"{name}  {number}" for number, (_, name) in enumerate(lines, 1)]
    side = text_width(heads or [""], 9) + 0.1
    tall = max(_ROW * len(lines) + 0.1, 2.4)
    cost = _cost([row for row, _ in lines])
    width = 2 * _MARGIN + side + _FOREST + 0.65 + (_GAP + _SCATTER) * bool(cost)
    note = _notes(result, score, lines, missing, int(13.5 * (width - 2 * _MARGIN)), bool(cost))
    above, below = 0.75, 0.72 + 0.16 * len(note)
    height = above + tall + below
    figure = new_figure(figsize=(width, height))

    def place(x, wide):
        return figure.add_axes((x / width, below / height, wide / width, tall / height))

    figure.text(_MARGIN / width, 1 - 0.2 / height, _about(result), va="center", fontsize=10)
    for i, line in enumerate(note):
        figure.text(_MARGIN / width, (0.02 + 0.16 * (len(note) - i)) / height, line, fontsize=8,
                    color=MUTED, va="top")
    forest = place(_MARGIN + side, _FOREST)
    if not lines:
        forest.text(0.5, 0.5, "no configuration has this score", transform=forest.transAxes,
                    ha="center")
        forest.set(xticks=[], yticks=[])
        return figure
    _forest(forest, result, lines, heads, score)
    if cost:
        _scatter(place(_MARGIN + side + _FOREST + 0.65 + _GAP, _SCATTER), [
            (row[cost]["pooled"] if isinstance(row[cost], dict) else row[cost], row[by]["pooled"])
            for row, _ in lines], score, _COSTS[cost], tall)
    return figure


def _names(rows):
    """The name of each row: the decoder is left out where there is only one."""
    alone = len({row["decoder"] for row in rows}) <= 1
    return [visible(row["configuration"] if alone else
                    f"{row['configuration']}, {row['decoder']}", _LONGEST).replace("\n", " ")
            for row in rows]


def _about(result):
    trials = result["trials"]
    data = visible(str(result.get("data", "")), 60).replace("\n", " ")
    return (f"{data}: " if data else "") + (
        f"{result['points']} points, {result['classes']} classes, {trials} "
        f"split{'s' * (trials != 1)}")


def _test(row, by):
    """The paired difference of a row from the reference, None where it has none."""
    test = (row.get("difference") or {}).get(by)
    return test if test is not None and math.isfinite(test["mean"]) else None


def _notes(result, score, lines, missing, columns, scattered):
    """Lines of text below the picture."""
    texts = []
    if any((_test(row, score.name) or {}).get("interval") for row, _ in lines):
        how = "corrected resampled t test" if result["trials"] > 1 else "over the held-out points"
        texts.append(f"Lines: 95 % intervals of the mean paired difference ({how}); filled where "
                     "they leave 0 out. Numbers at the right: of all held-out points.")
    elif result.get("against") is None and any(row[score.name].get("sd") for row, _ in lines):
        texts.append("Lines: standard deviations over the splits.")
    if scattered:
        texts.append("Joined and filled: no other is as good and asks less.")
    if missing:
        texts.append(f"Without {score.title}, so left out: " + "; ".join(missing))
    return [line for text in texts for line in textwrap.wrap(text, max(columns, 40))]


def _forest(axes, result, lines, heads, score):
    """A line for each row with its difference from the reference, or with its score."""
    against = result.get("against")
    better = "right" if score.larger_is_better else "left"
    title = score.axis if against is None else \
        f"difference in {score.title}\n(better to the {better})"
    if against is not None:
        axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    for y, (row, _) in enumerate(lines):
        test = _test(row, score.name)
        if against is not None and test is None:
            axes.plot([0], [y], marker="D", color=INK, markersize=6, zorder=3, linestyle="none",
                      gid="reference")
            continue
        if test is None:
            value, spread = row[score.name]["pooled"], row[score.name].get("sd")
            ends = None if spread is None else (value - spread, value + spread)
            colour, filled = LEFT, True
        else:
            value, ends = test["mean"], test.get("interval")
            filled = ends is not None and not ends[0] <= 0 <= ends[1]
            colour = GREY if not filled else LEFT if score.sign * value > 0 else RIGHT
        if ends is not None:
            axes.plot(ends, (y, y), color=colour, linewidth=1.6, zorder=2, gid="interval",
                      solid_capstyle="butt")
        axes.plot([value], [y], marker="o", color=colour, markersize=6, zorder=3, gid="point",
                  markerfacecolor=colour if filled else "white", linestyle="none")
    axes.set_ylim(max(len(lines), 3) - 0.4, -0.6)
    axes.set_yticks(range(len(lines)), heads)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(title)
    axes.margins(x=0.08)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    _few_ticks(axes.xaxis)
    if against is not None:
        name, = _names([against]) if len({row["decoder"] for row in result["rows"]}) > 1 else [
            visible(against["configuration"], _LONGEST)]
        axes.set_title(f"Against {name}" if len(name) <= 34 else "Against the reference (diamond)",
                       loc="left")
    values = axes.secondary_yaxis("right")
    values.set_yticks(range(len(lines)), [f"{row[score.name]['pooled']:.4f}" for row, _ in lines])
    values.tick_params(length=0, labelcolor=MUTED)
    values.spines["right"].set_visible(False)


def _few_ticks(axis):
    from matplotlib.ticker import MaxNLocator, ScalarFormatter
    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    plain = ScalarFormatter(useOffset=False)
    plain.set_scientific(False)
    axis.set_major_formatter(plain)


def _cost(rows):
    """The first of `_COSTS` that all rows know; "" where there is none."""
    for key in _COSTS:
        values = [row.get(key) for row in rows]
        values = [value["pooled"] if isinstance(value, dict) else value for value in values]
        if values and all(value is not None and value > 0 for value in values):
            return key
    return ""


def _scatter(axes, places, score, title, tall):
    """The scores over what they cost, with the numbers of their lines."""
    front = _front(places, score.sign)
    (low, high), (bottom, top) = _limits(places)
    axes.set_xscale("log")
    axes.set(xlim=(low, high), ylim=(bottom, top), xlabel=title, ylabel=score.axis)
    axes.set_title("Score and cost", loc="left")
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    _ticks(axes, (low, high))
    _few_ticks(axes.yaxis)
    steps = []
    for i in front:
        if steps:
            steps.append((places[i][0], steps[-1][1]))
        steps.append(places[i])
    axes.plot(*zip(*steps), color=LEFT, linewidth=1, alpha=0.55, zorder=1, gid="front")
    order = sorted(range(len(places)), key=lambda i: (i not in front, i))
    room = _SCATTER, tall

    def inches(x, y):
        return (room[0] * math.log(x / low) / math.log(high / low),
                room[1] * (y - bottom) / (top - bottom))

    for i in reversed(order):  # the front on top
        axes.plot(*([value] for value in places[i]), marker="o", markersize=6, linestyle="none",
                  color=LEFT if i in front else GREY, zorder=3, gid="point",
                  markerfacecolor=LEFT if i in front else "white")
    bars = [(*inches(*a), *inches(*b)) for a, b in zip(steps, steps[1:])]
    texts = [str(i + 1) for i in order]
    spots = place_labels([inches(*places[i]) for i in order],
                         [text_width([text], 8) + 0.05 for text in texts], bars, room)
    for i, text, spot in zip(order, texts, spots):
        axes.text((spot[0] + spot[2]) / 2 / room[0], (spot[1] + spot[3]) / 2 / room[1], text,
                  transform=axes.transAxes, fontsize=8, ha="center", va="center", zorder=4,
                  color=INK if i in front else MUTED, gid="label")
        x, y = inches(*places[i])
        end = nearest(spot, x, y)
        if math.dist((x, y), end) > 0.2:
            axes.plot([x / room[0], end[0] / room[0]], [y / room[1], end[1] / room[1]],
                      transform=axes.transAxes, color=MUTED, linewidth=0.5, zorder=2.5)


def _front(places, sign):
    """The numbers of the points that no other beats in score without asking more, cheapest first.
    """
    front = []
    for i in sorted(range(len(places)), key=lambda i: (places[i][0], -sign * places[i][1])):
        if not front or sign * (places[i][1] - places[front[-1]][1]) > 0:
            front.append(i)
    return front


def _limits(places):
    costs, values = zip(*places)
    span = math.log10(max(costs) / min(costs))
    margin = max(0.12 * span, (0.9 - span) / 2, 0.15)  # enough for two numbers on the axis
    rise = 0.12 * (max(values) - min(values)) or 0.05 * abs(values[0]) or 0.05
    return ((min(costs) / 10**margin, max(costs) * 10**margin),
            (min(values) - rise, max(values) + rise))


def _ticks(axes, limits):
    """Counts as people write them."""
    from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator
    low, high = limits
    few = math.log10(high / low) < 2.5
    ticks = [digit * 10.0**power for power in range(math.floor(math.log10(low)),
                                                    math.ceil(math.log10(high)) + 1)
             for digit in ((1, 2, 5) if few else (1,)) if low <= digit * 10.0**power <= high]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
