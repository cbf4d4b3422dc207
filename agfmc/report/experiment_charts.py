"""Pictures of comparisons of configurations, and of searches for options."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ..control.learners import PARAMETERS
from ..score.rows import ALL_SCORES, COST_PER_POINT
from .content import Picture
from .svg import cut_to_width, Drawing, LINE, Panel, Scale, short, text_width, WIDTH
from .words import cut, number, plural, signed, WHOLE

_MOST_KERNELS = 6  # panels of a search
_MOST_DRAWN = 1000  # options of a search


def row_name(row: Mapping) -> str:
    """The configuration and the decoder of a row of a comparison."""
    return cut(f"{row['configuration']}, {row['decoder']}", WHOLE)


def _known(value):
    return value is not None and math.isfinite(value)


# Comparisons


def comparison(result: Mapping) -> Picture | None:
    """Differences of all configurations from the reference on the same splits: a forest plot.

    Intervals of 95 % are those of `difference[score]["interval"]`, and left out where there are
    none.  Without a reference the scores, with their standard deviations over the splits.
    """
    score = ALL_SCORES[result["by"]]
    against = result.get("against")
    rows = [
        (row_name(row), *_estimate(row, score.name, against))
        for row in result["rows"]
        if "error" not in row
    ]
    rows = sorted((row for row in rows if _known(row[1])), key=lambda row: -score.sign * row[1])
    if not rows:
        return None
    top = rows[0]
    last = rows[-1]
    bounds = [row[2] for row in rows if row[2]]
    note = ""
    if against is None:
        title = score.title[0].upper() + score.title[1:]
        summary = f"From {number(top[1])} ({top[0]}) to {number(last[1])} ({last[0]})"
        if bounds:
            note = "Bars are standard deviations over the splits."
        return Picture(forest(rows, score.axis, show=number), title, summary, note)
    title = f"Differences in {score.title}"
    summary = (
        f"{title} from {row_name(against)}: from {signed(top[1])} ({top[0]}) to "
        f"{signed(last[1])} ({last[0]})"
    )
    if bounds:
        intervals = [sorted(score.sign * end for end in ends) for ends in bounds]
        summary += (
            f"; of {len(rows)}, {sum(low > 0 for low, _ in intervals)} better and "
            f"{sum(high < 0 for _, high in intervals)} worse by intervals of 95 %"
        )
        # a single split has no deviation from split to split, which the t test is made of
        if not result.get("mcnemar"):
            note = (
                "Mean differences on the same splits, with intervals of 95 % (corrected "
                "resampled t test)"
            )
        elif score.name == "accuracy":
            note = _SAME_POINTS.format("paired shares, Agresti and Min")
        else:
            note = _SAME_POINTS.format("paired means over the points")
        note += ". Filled: the interval does not reach 0."
    drawing = forest(
        rows, f"difference in {score.title}", row_name(against), score.larger_is_better
    )
    return Picture(drawing, title, summary, note)


_SAME_POINTS = "Differences on the same held-out points, with intervals of 95 % ({})"


def _estimate(row, by, against):
    """(The score of a row, or its difference from the reference, the interval or None)."""
    if against is None:
        test = row.get(by) or {}
        value = test.get("pooled")
        sd = test.get("sd")
        if _known(value) and _known(sd):
            return value, (value - sd, value + sd)
        return value, None
    test = (row.get("difference") or {}).get(by) or {}
    ends = test.get("interval") or (None, None)
    if all(map(_known, ends)):
        return test.get("mean"), ends
    return test.get("mean"), None


def forest(
    rows: Sequence[tuple],
    axis: str,
    reference: str | None = None,
    larger: bool = True,
    show: Callable = signed,
) -> Drawing:
    """For each row the name and the value, and below them the interval.

    `rows` are (name, value, its interval or None), `axis` is the title of the axis, and show(value)
    the text of a value. Signed values are differences from `reference`, over a zero line, filled
    where their interval does not have 0; `larger` says that larger values are better.
    """
    pitch = 36
    top = 8
    if reference is not None:
        top = 46
    differences = show is signed
    values = [end for _, value, interval in rows for end in (interval or (value,))]
    if differences:
        values.append(0.0)
    drawing = Drawing(WIDTH, top + pitch * len(rows) + 42)
    panel = Panel(drawing, 8, top, WIDTH - 16, pitch * len(rows), Scale.around(values))
    panel.axis_across(axis, grid=False)
    zero = panel.x(0)
    if reference is not None:
        drawing.line([(zero, 40), (zero, 46)], "zero")
        name = cut_to_width(reference, WIDTH - 16)
        half = text_width(name) / 2
        drawing.text(min(max(zero, half), WIDTH - half), 34, name, "mid", title=reference)
        _draw_directions(drawing, zero, larger)
    for index, (name, mean, interval) in enumerate(rows):
        y = top + index * pitch
        value = show(mean)
        if index % 2:
            drawing.rect(0, y, WIDTH, pitch, "stripe")
        if differences:  # beside the intervals alone, so that no line goes through a name
            drawing.line([(zero, y + 18), (zero, y + 36)], "zero")
        drawing.text(4, y + 14, name, width=WIDTH - 14 - text_width(value))
        drawing.text(WIDTH - 4, y + 14, value, "end")
        title = f"{name}: {value}"
        look = "fill-left edge"
        if interval is not None:
            title += f" ({show(interval[0])} to {show(interval[1])})"
            if differences and interval[0] <= 0 <= interval[1]:
                look = "fill-paper left thin"
        with drawing.group(title):
            if interval is not None:
                drawing.level_bar(*map(panel.x, interval), y + 26)
            drawing.mark("circle", panel.x(mean), y + 26, look)
    return drawing


def _draw_directions(drawing, zero, larger):
    words = ("\u2190 better", "worse \u2192")
    if larger:
        words = ("\u2190 worse", "better \u2192")
    left, right = words
    if zero - 10 >= text_width(left):
        drawing.text(zero - 10, 14, left, "end muted")
    if WIDTH - zero - 10 >= text_width(right):
        drawing.text(zero + 10, 14, right, "muted")


_COSTS = (
    *((key, COST_PER_POINT[key][1]) for key in ("kernel_values", "queried")),
    ("classifiers", "binary classifiers"),
)  # older results have these alone


def comparison_cost(result: Mapping) -> Picture | None:
    """The score of all configurations over their work for a point: kernel values, or else
    classifiers."""
    score = ALL_SCORES[result["by"]]
    sound = [
        row
        for row in result["rows"]
        if "error" not in row and row.get(score.name) and _known(row[score.name]["pooled"])
    ]
    known = _costs(sound)
    if not known:
        return None
    # of what differs most between the configurations
    measured = known[:2] if len(known) > 2 else known[:1]
    title, costs = max(measured, key=lambda pair: max(pair[1]) / min(pair[1]))
    points = [(cost, row[score.name]["pooled"], row_name(row)) for row, cost in zip(sound, costs)]
    points.sort(key=lambda point: (-score.sign * point[1], point[0]))
    drawing = _scatter(points, _front(points), score, title)
    best = points[0]
    summary = f"Best {score.title} {short(best[1])} of {best[2]}, with {short(best[0])} {title}"
    note = (
        "The line joins the filled points, which no configuration of the same or lower cost "
        "beats. The numbers are those of the list."
    )
    title = f"{score.title} and cost"
    return Picture(drawing, title[0].upper() + title[1:], summary, note)


def _costs(rows):
    """[(title, its mean for each row)] of the work for a point; [] where nothing is known."""
    result = []
    for key, title in _COSTS:
        costs = [row.get(key) for row in rows]
        costs = [cost.get("mean") if isinstance(cost, Mapping) else cost for cost in costs]
        if costs and all(_known(cost) and cost > 0 for cost in costs):
            result.append((title, costs))
    return result


def _front(points):
    """Positions of the points that no other beats in score at no larger cost. `points` have the
    best first."""
    front: list[int] = []
    for index, point in enumerate(points):
        # trees give equal answers as codes
        if not front or point[0] < points[front[-1]][0] or point[:2] == points[front[-1]][:2]:
            front.append(index)
    return front


def _scatter(points, front, score, title):
    costs, values, _ = zip(*points)
    low = min(costs)
    high = max(costs)
    span = math.log10(high / low)
    margin = max(0.1 * span, (0.6 - span) / 2, 0.08)
    panel = Panel.small(
        Scale(low / 10**margin or low, high * 10**margin, logarithmic=True),
        Scale.around(values, 0.1),
        240,
        below=60 + LINE * len(points),
    )
    drawing = panel.drawing
    panel.axis_up(score.axis)
    ticks = panel.across.ticks(6)
    panel.axis_across(title, ticks, [f"{tick:g}" for tick in ticks])
    steps = []
    for at in reversed(front):
        cost, value, _ = points[at]
        if steps:
            steps.append((cost, steps[-1][1]))
        steps.append((cost, value))
    panel.curve(steps, "left curve thin front")
    for at in sorted(range(len(points)), key=lambda at: (at in front, -at)):  # the front on top
        cost, value, name = points[at]
        look = "fill-paper grey thin"
        if at in front:
            look = "fill-left edge"
        words = f"{at + 1}: {name}, {short(value)}, {short(cost)} {title}"
        panel.mark("circle", cost, value, look, words)
    _draw_numbers(panel, [(panel.x(cost), panel.y(value)) for cost, value, _ in points], front)
    for at, (_, value, name) in enumerate(points):
        y = panel.bottom + 56 + LINE * at
        text = f"{value:.4f}"
        look = "strong" * (at in front)
        drawing.text(18, y, str(at + 1), f"end {look}")
        drawing.text(26, y, name, look, width=WIDTH - 34 - text_width(text))
        drawing.text(WIDTH, y, text, "end")
    return drawing


def _draw_numbers(panel, places, front):
    """Numbers of points beside them, where they cover no other; of points in one place together."""
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in places]
    groups: dict[tuple, list[int]] = {}
    for at, (x, y) in enumerate(places):
        near = (place for place in groups if math.dist(place, (x, y)) < 4)
        groups.setdefault(next(near, (x, y)), []).append(at)
    for (x, y), group in groups.items():
        text = ", ".join(str(at + 1) for at in group)
        wide = text_width(text)
        spots = [
            (x + side * far - share * wide, y + rise * far + drop)
            for far in (8, 18, 30, 44, 60, 80)
            for side, share, rise, drop in _AROUND
        ]
        spot = min(
            spots, key=lambda spot: _covered(spot, wide, taken, panel)
        )  # the first of equals
        taken.append((spot[0], spot[1] - 9, spot[0] + wide, spot[1]))
        if spots.index(spot) >= len(_AROUND):  # not beside it
            panel.drawing.line([(x, y), (spot[0] + wide / 2, spot[1] - 4.5)], "grey hair")
        look = "halo"
        if any(at in front for at in group):
            look = "halo strong"
        panel.drawing.text(*spot, text, look)


# Where a number may stand beside a point: the distance to the right, the share of its width left of
# that, the distance down, and pixels below that.
_AROUND = (
    (1, 0, 0, 4),
    (-1, 1, 0, 4),
    (0, 0.5, -1, 0),
    (0, 0.5, 1, 9),
    (0.7, 0, -0.7, 0),
    (-0.7, 1, -0.7, 0),
    (0.7, 0, 0.7, 9),
    (-0.7, 1, 0.7, 9),
)


def _covered(spot, wide, taken, panel):
    """The number of rectangles that a number would cover, and more where it leaves the panel."""
    left, bottom = spot
    right = left + wide
    top = bottom - 9
    inside = (
        panel.left <= left and right <= panel.right and panel.top <= top and bottom <= panel.bottom
    )
    return 10 * (not inside) + sum(
        left < x1 and x0 < right and top < y1 and y0 < bottom for x0, y0, x1, y1 in taken
    )


# Searches


def search_surface(search: Mapping) -> list[Picture]:
    """The scores of all options that a search tried: a picture for each kernel, over log2 C and
    log2 gamma, or over one of these.  Empty without points."""
    points = search["points"]
    if not points:
        return []
    score = ALL_SCORES[search.get("by", "log_loss")]
    best = None
    if search.get("best") is not None:
        best = points[search["best"]]

    def rank(point):
        if _known(point["score"]):
            return point is not best, -score.sign * point["score"]
        return point is not best, math.inf

    drawn = sorted(points, key=rank)[:_MOST_DRAWN]
    groups: dict[str, list] = {}  # the best kernel comes first
    for point in drawn:
        groups.setdefault(_group(point), []).append(point)
    colours = _range(
        [point["score"] for point in points if _known(point["score"])], score.larger_is_better
    )
    kernels = [_Kernel(score, title, best, members, colours) for title, members in groups.items()]
    kernels = [kernel for kernel in kernels if kernel.across]
    pictures = [kernel.picture(search) for kernel in kernels[:_MOST_KERNELS]]
    more = ""
    if len(kernels) > len(pictures):
        left = "; ".join(kernel.title for kernel in kernels[len(pictures) :])
        more = f" Worse, and not drawn: {left}."
    if len(drawn) < len(points):
        more += f" Of {len(points)} options the best {len(drawn)} are drawn."
    return [*pictures[:-1], *(replace(last, note=last.note + more) for last in pictures[-1:])]


def _group(point):
    """The kernel of a point, with the degree and whether it is homogeneous for polynomials."""
    if point["kernel"] != "polynomial":
        return point["kernel"] or ""
    kind = "homogeneous"
    if point["coef0"]:
        kind = f"coef0 {point['coef0']:g}"
    return f"polynomial of degree {point['degree']}, {kind}"


def _amount_words(point):
    """The rows and parts that a point was scored on."""
    text = plural(len(point.get("parts") or ()), "part")
    if point.get("rows") is None:
        return text
    return f"{point['rows']} points, {text}"


def _sizes(points):
    """{words on the amount of data: radius} of points, the larger the more data."""
    amounts = {
        _amount_words(point): (point.get("rows") or math.inf, len(point.get("parts") or ()))
        for point in points
    }
    if len(amounts) < 2:
        return dict.fromkeys(amounts, 7)
    step = min(2.0, 5 / (len(amounts) - 1))
    return {words: 5 + step * i for i, words in enumerate(sorted(amounts, key=amounts.get))}


def _range(values, larger):
    """The scores with the palest and the deepest colour: of the better three quarters, as the worst
    would take all colours from the good ones."""
    values = sorted(values, reverse=not larger) or [0.0, 1.0]
    worst, best = values[int(0.25 * (len(values) - 1))], values[-1]
    if worst == best:
        return worst, best + 1e-9 * max(1.0, abs(best))
    return worst, best


def _opacity(share):
    return f"{0.12 + 0.88 * min(max(share, 0.0), 1.0):.2f}"


class _Kernel:
    """The options of a kernel that were tried.

    Attributes
    ----------
    across : parameters that differ among them, at most two
    colours : scores with the palest and the deepest colour
    """

    def __init__(self, score, title, best, points, colours):
        self.score, self.title, self.points, self.colours = score, title, points, colours
        self.scored = [point for point in points if _known(point["score"])]
        self.best = next((point for point in self.scored if point is best), None)
        names = ("log2c", *(key for key in PARAMETERS if key not in ("log2c", "log2g")), "log2g")
        self.across = [
            name
            for name in names
            if all(_known(point.get(name)) for point in points)
            and len({point[name] for point in points}) > 1
        ][:2]
        self.sizes = _sizes(self.scored)

    def picture(self, search):
        if len(self.across) > 1:
            panel = self._surface()
        else:
            panel = self._curve()
        drawing = panel.drawing
        keys = []
        if self.best is not None:
            words = f"best: {self.best['options'] or 'the defaults'}"
            keys.append(("circle", "right curve ring", words, {}))
        if len(self.sizes) > 1:
            keys += [
                ("circle", "fill-left", f"scored on {amount}", {"r": radius, "fill_opacity": ".6"})
                for amount, radius in self.sizes.items()
            ]
        if len(self.scored) < len(self.points):
            keys.append(("cross", "grey curve thin", "failed", {}))
        for shape, look, words, more in keys:
            y = drawing.height - 4
            drawing.key(shape, panel.left, y, look, words, width=WIDTH - panel.left - 26, **more)
            drawing.height += LINE + 2
        title = "Search"
        if self.title:
            title = f"Search: {self.title}"
        return Picture(drawing, title, self._summary(), self._note(search))

    def _draw(self, panel, place, colour=None):
        for point in self.points:
            if not _known(point["score"]):
                words = f"{point['options']}: failed"
                panel.mark("cross", *place(point), "grey curve thin", words)
        # larger ones, scored on more, lie below, so that the close steps of a refinement show
        for point in sorted(
            self.scored,
            key=lambda point: (-self._size(point), self.score.sign * point["score"]),
        ):
            opacity = None
            if colour is not None:
                opacity = colour(point["score"])
            panel.mark(
                "circle",
                *place(point),
                "fill-left edge mark",
                self._words(point),
                r=self._size(point),
                fill_opacity=opacity,
            )
        if self.best is not None:
            r = self._size(self.best) + 3.5
            panel.mark("circle", *place(self.best), "right curve ring", r=r)

    def _size(self, point):
        return self.sizes[_amount_words(point)]

    def _words(self, point):
        sd = ""
        if point.get("sd"):
            sd = f" \u00b1 {short(point['sd'])}"
        return (
            f"{point['options']}: {self.score.title} {short(point['score'])}{sd}, on "
            f"{_amount_words(point)}"
        )

    def _scale(self, name):
        return Scale.around((point[name] for point in self.points), 0.09)

    def _surface(self):
        left, up = self.across
        panel = Panel.small(self._scale(left), self._scale(up), 256, above=30, below=94)
        panel.axis_up(f"log2 {PARAMETERS[up].name}", _exponents(panel.up))
        panel.axis_across(f"log2 {PARAMETERS[left].name}", _exponents(panel.across))
        scale = Scale(*self.colours)
        self._draw(
            panel,
            lambda point: (point[left], point[up]),
            lambda value: _opacity(scale.share(value)),
        )
        drawing = panel.drawing
        worst, best = self.colours
        y = panel.bottom + 52
        for step in range(10):
            x = panel.left + 15 * step
            drawing.rect(x, y, 15, 12, "fill-left", fill_opacity=_opacity((step + 0.5) / 10))
        mark = "\u2265"
        if self.score.larger_is_better:
            mark = "\u2264"
        drawing.text(panel.left, y + 28, f"{mark} {float(worst):.3g}", "small")
        drawing.text(panel.left + 150, y + 28, f"{float(best):.3g}", "end small")
        drawing.text(panel.left + 160, y + 10, self.score.title)
        return panel

    def _curve(self):
        (key,) = self.across
        points = sorted(
            ((point[key], point["score"], point.get("sd") or 0) for point in self.scored)
        )
        ends = [score + side * sd for _, score, sd in points for side in (-1, 1)]
        panel = Panel.small(self._scale(key), Scale.around(ends, 0.08), 220, above=30)
        panel.axis_up(self.score.axis)
        panel.axis_across(f"log2 {PARAMETERS[key].name}", _exponents(panel.across))
        panel.curve([point[:2] for point in points], "left curve thin")
        for value, score, sd in points:
            panel.interval(value, (score - sd, score + sd), "left curve thin")

        def place(point):
            if _known(point["score"]):
                return point[key], point["score"]
            return point[key], panel.up.low

        self._draw(panel, place)
        return panel

    def _summary(self):
        summary = f"{len(self.points)} options"
        if self.title:
            summary += f" of the kernel {self.title}"
        if not self.scored:
            return summary
        best = min(self.scored, key=lambda point: -self.score.sign * point["score"])
        words = "best {}"
        if self.best is None:
            words = "the best of them, {}, is not the best of the search,"
        else:
            best = self.best
        words = words.format(best["options"] or "the defaults")
        return f"{summary}; {words} with {self.score.title} {short(best['score'])}"

    def _note(self, search):
        note = (
            "The deeper the colour, the better; what is worse than the scale begins has its palest "
            "colour."
        )
        if len(self.across) < 2:
            note = "Bars are standard deviations over the splits."
        if search.get("complete") is False:
            note += " The search ended at its time limit: better options may not have been tried."
        if search.get("border"):
            border = ", ".join(search["border"])
            note += f" The best lies on the border of what was searched: {border}."
        return note


def _exponents(scale):
    """Whole numbers as ticks of a scale, or others where there would be fewer than two."""
    ticks = scale.ticks(7)
    whole = sorted({round(tick) for tick in ticks if scale.low <= round(tick) <= scale.high})
    if len(whole) > 1:
        return whole
    return ticks
