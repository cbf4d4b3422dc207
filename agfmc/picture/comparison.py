"""Configurations side by side: how good against how fast."""

import math
import textwrap

from ..control.dot import visible
from ..errors import UsageError
from ..score.scores import ALL_SCORES
from .canvas import GREY, LEFT, nearest, new_figure, place_labels, RIGHT, save, text_width

__all__ = ["draw_comparison"]

_LEAST_TIME = 1e-4  # seconds; no clock of CPU time is finer
_WIDTH, _MARGIN = 7.2, (0.75, 0.2, 0.65, 0.4)  # inches; left, right, below, above


def draw_comparison(path: str, result: dict, by: str = "log_loss") -> None:
    """Draw a score against the time of classification, a point for each row of `result`.

    result: {"classes": k, "points": n, "trials": T, "rows": [...]}, each row with
    "configuration", "decoder", and {"pooled": .., "sd": .. or None} or None in
    "classify_s" and in each of `ALL_SCORES`.  Bars are standard deviations.  Joined are
    the points that no other one beats in both; the best has its label in bold.  Rows
    without the score are named below the figure.

    Raises UsageError for an unknown `by`, and as `canvas.save`.
    """
    if by not in ALL_SCORES:
        raise UsageError(f"no score called {by!r}: use one of {', '.join(ALL_SCORES)}")
    save(path, lambda: _figure(result, by))


class _Point:
    """A row that can be drawn."""

    def __init__(self, row, by):
        score, time = row[by], row["classify_s"]
        self.row = row
        self.y, self.dy = score["pooled"], score["sd"] or 0.0
        self.x, self.dx = max(time["pooled"], _LEAST_TIME), time["sd"] or 0.0
        self.rank = ALL_SCORES[by].sign * self.y

    @property
    def ends(self):
        """The ends of both bars: (lower x, upper x), (lower y, upper y)."""
        return ((max(self.x - self.dx, self.x / 3), self.x + self.dx),
                (self.y - self.dy, self.y + self.dy))


def _known(value):
    return value is not None and value["pooled"] is not None and math.isfinite(value["pooled"])


def _figure(result, by):
    rows = result["rows"]
    points = [_Point(row, by) for row in rows if _known(row[by]) and _known(row["classify_s"])]
    names = _names(rows)
    missing = [name for row, name in zip(rows, names)
               if not (_known(row[by]) and _known(row["classify_s"]))]
    called = {id(row): name for row, name in zip(rows, names)}
    note = ["Joined: no other is both better and faster. Diamond: the best."]
    if missing:
        note += textwrap.wrap(f"Without {ALL_SCORES[by].title}, so left out: "
                              + "; ".join(missing), 98)
    left, right, below, above = _MARGIN
    below += 0.16 * len(note)
    room = (_WIDTH - left - right, 4.0 + 0.1 * max(0, len(points) - 10))
    size = (_WIDTH, room[1] + below + above)
    figure = new_figure(figsize=size)
    axes = figure.add_axes((left / size[0], below / size[1], room[0] / size[0],
                            room[1] / size[1]))
    axes.set_xscale("log")
    axes.set(xlabel="classification time, CPU seconds", ylabel=ALL_SCORES[by].axis)
    axes.set_title(_about(result), loc="left")
    axes.grid(color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    for i, line in enumerate(note):
        figure.text(left / size[0], (0.12 + 0.16 * (len(note) - i)) / size[1], line, fontsize=8,
                    color="#505050", va="top")
    if points:
        limits = _limits(points)
        axes.set(xlim=limits[0], ylim=limits[1])
        _ticks(axes, limits[0])
        _draw(axes, points, limits, room, called)
    else:
        axes.text(0.5, 0.5, "no configuration has this score", transform=axes.transAxes,
                  ha="center")
        axes.set(xticks=[], yticks=[])
        axes.minorticks_off()
    return figure


def _names(rows):
    """The name of each row: the decoder is left out where there is only one."""
    alone = len({row["decoder"] for row in rows}) <= 1
    return [visible(row["configuration"] if alone else
                    f"{row['configuration']}, {row['decoder']}", 40).replace("\n", " ")
            for row in rows]


def _about(result):
    trials = result["trials"]
    return (f"{result['points']} points, {result['classes']} classes, {trials} trial"
            + ("s, with standard deviations" if trials > 1 else ""))


def _limits(points):
    ends = [point.ends for point in points]
    low, high = min(x[0] for x, _ in ends), max(x[1] for x, _ in ends)
    bottom, top = min(y[0] for _, y in ends), max(y[1] for _, y in ends)
    span = math.log10(high / low)
    margin = max(0.12 * span, (0.9 - span) / 2, 0.15)  # enough for two times on the axis
    rise = 0.08 * (top - bottom) or 0.05 * abs(top) or 0.05
    return ((low / 10**margin, high * 10**margin), (bottom - rise, top + rise))


def _ticks(axes, limits):
    """Times as people write them."""
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
    axes.ticklabel_format(axis="y", useOffset=False)


def _front(points):
    """The points that no other beats in score without losing time, fastest first."""
    front = []
    for point in sorted(points, key=lambda point: (point.x, -point.rank)):
        if not front or point.rank > front[-1].rank:
            front.append(point)
    return front


def _draw(axes, points, limits, room, called):
    front = _front(points)
    best = front[-1]
    steps = []
    for point in front:
        if steps:
            steps.append((point.x, steps[-1][1]))
        steps.append((point.x, point.y))
    axes.plot(*zip(*steps), color=LEFT, linewidth=1, alpha=0.55, zorder=1)
    points = sorted(points, key=lambda point: (point is not best, point not in front, point.x,
                                               point.y))
    inches = _Inches(limits, room)
    bars = []
    for point in points:
        colour = RIGHT if point is best else LEFT if point in front else GREY
        fade = 1.0 if point in front else 0.5
        x, y = point.ends
        if point.dx:
            axes.plot(x, (point.y, point.y), color=colour, linewidth=0.9, alpha=fade, zorder=2)
            bars.append((*inches(x[0], point.y), *inches(x[1], point.y)))
        if point.dy:
            axes.plot((point.x, point.x), y, color=colour, linewidth=0.9, alpha=fade, zorder=2)
            bars.append((*inches(point.x, y[0]), *inches(point.x, y[1])))
        axes.plot([point.x], [point.y], marker="D" if point is best else "o", color=colour,
                  markerfacecolor=colour if point in front else "white", markersize=6, zorder=3,
                  linestyle="none", gid="point")
    bars += [(*inches(*a), *inches(*b)) for a, b in zip(steps, steps[1:])]
    texts = [called[id(point.row)] for point in points]
    widths = [text_width([text], 8) * (1.12 if point is best else 1) + 0.05
              for text, point in zip(texts, points)]
    spots = place_labels([inches(point.x, point.y) for point in points], widths, bars, room)
    for point, text, spot in zip(points, texts, spots):
        middle = ((spot[0] + spot[2]) / 2 / room[0], (spot[1] + spot[3]) / 2 / room[1])
        axes.text(*middle, text, transform=axes.transAxes, fontsize=8, ha="center",
                  va="center", fontweight="bold" if point is best else "normal",
                  color="#202020" if point in front else "#505050", zorder=4, gid="label",
                  bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7,
                        "boxstyle": "square,pad=0.05"})
        x, y = inches(point.x, point.y)
        end = nearest(spot, x, y)
        if math.dist((x, y), end) > 0.2:
            axes.plot([x / room[0], end[0] / room[0]], [y / room[1], end[1] / room[1]],
                      transform=axes.transAxes, color="#606060", linewidth=0.5, zorder=2.5)


class _Inches:
    """The map of (time, score) to inches from the lower left corner of the axes."""

    def __init__(self, limits, room):
        (self.low, self.high), (self.bottom, self.top) = limits
        self.room = room

    def __call__(self, x, y):
        return (self.room[0] * math.log(x / self.low) / math.log(self.high / self.low),
                self.room[1] * (y - self.bottom) / (self.top - self.bottom))
