"""Pictures of comparisons of configurations, and of searches for options."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ..control.learners import PARAMETERS
from ..score.rows import ALL_SCORES, COST_PER_POINT
from .content import Picture
from .svg import (
    Box,
    cut_to_width,
    Drawing,
    level_bar,
    LINE,
    Linear,
    Logarithmic,
    Panel,
    pixels,
    short,
    text_width,
    WIDTH,
)
from .words import cut, number, signed, WHOLE

_AXIS = 50
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
    by = result["by"]
    score = ALL_SCORES[by]
    against = result.get("against")
    rows = []
    for row in result["rows"]:
        if "error" in row or not row.get(by):
            continue
        if against is None:
            value = row[by]["pooled"]
            sd = row[by].get("sd")
            if _known(value) and _known(sd):
                ends = (value - sd, value + sd)
            else:
                ends = None
            rows.append((row_name(row), value, ends))
        elif test := (row.get("difference") or {}).get(by):
            low, high = test.get("interval") or (None, None)
            if _known(low) and _known(high):
                ends = (low, high)
            else:
                ends = None
            rows.append((row_name(row), test["mean"], ends))
    rows = sorted((row for row in rows if _known(row[1])), key=lambda row: -score.sign * row[1])
    if not rows:
        return None
    top = rows[0]
    last = rows[-1]
    if against is None:
        title = score.title[0].upper() + score.title[1:]
        summary = f"From {number(top[1])} ({top[0]}) to {number(last[1])} ({last[0]})"
        if any(row[2] for row in rows):
            note = "Bars are standard deviations over the splits."
        else:
            note = ""
    else:
        title = f"Differences in {score.title}"
        summary = (
            f"{title} from {row_name(against)}: from {signed(top[1])} ({top[0]}) to "
            f"{signed(last[1])} ({last[0]})"
        )
        note = ""
        intervals = [sorted(score.sign * end for end in row[2]) for row in rows if row[2]]
        if intervals:
            summary += (
                f"; of {len(rows)}, {sum(low > 0 for low, _ in intervals)} better and "
                f"{sum(high < 0 for _, high in intervals)} worse by intervals of 95 %"
            )
            # a single split has no deviation from split to split, which the t test is made of
            if score.name == "accuracy":
                how = "paired shares, Agresti and Min"
            else:
                how = "paired means over the points"
            if result.get("mcnemar"):
                note = f"Differences on the same held-out points, with intervals of 95 % ({how})"
            else:
                note = (
                    "Mean differences on the same splits, with "
                    "intervals of 95 % (corrected resampled t test)"
                )
            note += ". Filled: the interval does not reach 0."
    if against is None:
        drawing = forest(rows, score.axis, show=number)
    else:
        drawing = forest(
            rows,
            f"difference in {score.title}",
            row_name(against),
            score.larger_is_better,
        )
    return Picture(drawing, title, summary, note)


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
    top = 8 if reference is None else 46
    differences = show is signed
    scale = Linear.around(
        [0.0] * differences + [end for _, value, interval in rows for end in (interval or (value,))]
    )
    drawing = Drawing(WIDTH, top + pitch * len(rows) + 42)
    panel = Panel(drawing, Box(8, top, WIDTH - 16, pitch * len(rows)), scale, Linear(0, 1))
    for index in range(1, len(rows), 2):
        drawing.add("rect", "stripe", x=0, y=top + index * pitch, width=WIDTH, height=pitch)
    panel.axis_across(axis, grid=False)
    if differences:
        zero = panel.x(0)
        # beside the intervals alone, so that no line goes through a name
        drawing.add(
            "path",
            "zero",
            d=f"M{pixels(zero)} 40v6" * (reference is not None)
            + "".join(
                f"M{pixels(zero)} {top + index * pitch + 18}v18" for index in range(len(rows))
            ),
        )
    if reference is not None:
        name = cut_to_width(reference, WIDTH - 16)
        half = text_width(name) / 2
        drawing.text(min(max(zero, half), WIDTH - half), 34, name, "mid", title=reference)
        _directions(drawing, zero, larger)
    for index, (name, mean, interval) in enumerate(rows):
        y = top + index * pitch
        value = show(mean)
        drawing.text(4, y + 14, name, width=WIDTH - 14 - text_width(value))
        drawing.text(WIDTH - 4, y + 14, value, "end")
        title = f"{name}: {value}"
        significant = not differences or interval is None or interval[0] > 0 or interval[1] < 0
        if interval is not None:
            title += f" ({show(interval[0])} to {show(interval[1])})"
        with drawing.group(title=title):
            if interval is not None:
                drawing.add("path", "left curve", d=level_bar(*map(panel.x, interval), y + 26))
            drawing.add(
                "circle",
                "fill-left edge" if significant else "fill-paper left thin",
                cx=panel.x(mean),
                cy=y + 26,
                r=5,
            )
    return drawing


def _directions(drawing, zero, larger):
    if larger:
        words = ("\u2190 worse", "better \u2192")
    else:
        words = ("\u2190 better", "worse \u2192")
    for side, word in enumerate(words):
        wide = text_width(word)
        if side == 0 and zero - 10 >= wide:
            drawing.text(zero - 10, 14, word, "end muted")
        elif side and WIDTH - zero - 10 >= wide:
            drawing.text(zero + 10, 14, word, "muted")


_COSTS = (
    *((key, COST_PER_POINT[key][1]) for key in ("kernel_values", "queried")),
    ("classifiers", "binary classifiers"),
)  # older results have these alone


def _mean(value):
    if isinstance(value, Mapping):
        value = value.get("mean", value.get("pooled"))
    if _known(value):
        return value
    return None


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
    title, costs = max(
        known[:2] if len(known) > 2 else known[:1], key=lambda one: max(one[1]) / min(one[1])
    )
    order = sorted(
        range(len(sound)), key=lambda at: (-score.sign * sound[at][score.name]["pooled"], costs[at])
    )
    points = [(costs[at], sound[at][score.name]["pooled"], row_name(sound[at])) for at in order]
    front = _front(points, score.sign)
    drawing = _scatter(points, front, score, title)
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
        costs = [_mean(row.get(key)) for row in rows]
        if costs and all(cost is not None and cost > 0 for cost in costs):
            result.append((title, costs))
    return result


def _front(points, sign):
    """Positions of the points that no other beats in score at no larger cost. `points` have the
    best first."""
    front: list[int] = []
    for index, (cost, value, _) in enumerate(points):
        least, best = points[front[-1]][:2] if front else (math.inf, None)
        if cost < least or (cost, value) == (least, best):  # trees give equal answers as codes
            front.append(index)
    return set(front)


def _scatter(points, front, score, title):
    drawing = Drawing(WIDTH, 330 + LINE * len(points))
    costs = [cost for cost, _, _ in points]
    low = min(costs)
    high = max(costs)
    span = math.log10(high / low)
    margin = max(0.1 * span, (0.6 - span) / 2, 0.08)
    panel = Panel(
        drawing,
        Box(_AXIS, 30, WIDTH - _AXIS - 12, 240),
        Logarithmic(low / 10**margin or low, high * 10**margin),
        Linear.around([value for _, value, _ in points], 0.1),
    )
    panel.axis_up(score.axis)
    ticks = panel.across.ticks(6)
    panel.axis_across(title, ticks, [f"{tick:g}" for tick in ticks])
    steps = []
    for at in sorted(front, key=lambda at: points[at][0]):
        x = panel.x(points[at][0])
        y = panel.y(points[at][1])
        if steps:
            steps.append((x, steps[-1][1]))
        steps.append((x, y))
    drawing.line(steps, "left curve thin front")
    places = [(panel.x(cost), panel.y(value)) for cost, value, _ in points]
    for at in sorted(range(len(points)), key=lambda at: (at in front, -at)):  # the front on top
        (x, y), (cost, value, name) = places[at], points[at]
        drawing.add(
            "circle",
            "fill-left edge" if at in front else "fill-paper grey thin",
            f"{at + 1}: {name}, {short(value)}, {short(cost)} {title}",
            cx=x,
            cy=y,
            r=5,
        )
    _numbers(drawing, panel.box, places, front)
    for at, (_, value, name) in enumerate(points):
        y = 326 + LINE * at
        text = f"{value:.4f}"
        if at in front:
            look = "strong"
        else:
            look = ""
        drawing.text(18, y, str(at + 1), f"end {look}".strip())
        drawing.text(26, y, name, look, width=WIDTH - 34 - text_width(text))
        drawing.text(WIDTH, y, text, "end")
    return drawing


def _numbers(drawing, box, places, front):
    """Numbers of points beside them, where they cover no other; of points in one place together."""
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in places]
    groups: list[list[int]] = []
    for at, position in enumerate(places):
        near = next((group for group in groups if math.dist(places[group[0]], position) < 4), None)
        if near is None:
            groups.append([at])
        else:
            near.append(at)
    for group in groups:
        x, y = places[group[0]]
        text = ", ".join(str(at + 1) for at in group)
        wide = text_width(text)
        spots = [
            (x + dx, y + dy)
            for far in (8, 18, 30, 44, 60, 80)
            for dx, dy in (
                (far, 4),
                (-far - wide, 4),
                (-wide / 2, -far),
                (-wide / 2, far + 9),
                (far * 0.7, -far * 0.7),
                (-far * 0.7 - wide, -far * 0.7),
                (far * 0.7, far * 0.7 + 9),
                (-far * 0.7 - wide, far * 0.7 + 9),
            )
        ]
        spot = min(spots, key=lambda spot: (_covered(spot, wide, taken, box), spots.index(spot)))
        taken.append((spot[0], spot[1] - 9, spot[0] + wide, spot[1]))
        if spots.index(spot) >= 8:  # not beside it
            drawing.line([(x, y), (spot[0] + wide / 2, spot[1] - 4.5)], "grey hair")
        drawing.text(*spot, text, "halo strong" if any(at in front for at in group) else "halo")


def _covered(spot, wide, taken, box):
    """(Number of rectangles that a number would cover, True where it leaves the box)."""
    left = spot[0]
    bottom = spot[1]
    right = spot[0] + wide
    top = spot[1] - 9
    outside = left < box.left or right > box.right or top < box.top or bottom > box.bottom
    return 10 * outside + sum(
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
    order = sorted(
        range(len(points)),
        key=lambda at: (
            at != search.get("best"),
            not _known(points[at]["score"]),
            -score.sign * (points[at]["score"] or 0),
        ),
    )[:_MOST_DRAWN]
    groups: dict[str, list] = {}
    for at in sorted(order):
        groups.setdefault(_group(points[at]), []).append((at, points[at]))
    colours = _range(
        [point["score"] for point in points if _known(point["score"])], score.larger_is_better
    )
    kernels = [_Kernel(search, score, title, members, colours) for title, members in groups.items()]
    kernels = sorted((one for one in kernels if one.across), key=lambda one: one.rank)
    pictures = [one.picture() for one in kernels[:_MOST_KERNELS]]
    if len(kernels) > len(pictures):
        left = "; ".join(one.title for one in kernels[len(pictures) :])
        pictures[-1] = replace(
            pictures[-1], note=f"{pictures[-1].note} Worse, and not drawn: {left}."
        )
    if len(order) < len(points) and pictures:
        pictures[-1] = replace(
            pictures[-1],
            note=f"{pictures[-1].note} Of {len(points)} options the best {len(order)} are drawn.",
        )
    return pictures


def _group(point):
    """The kernel of a point, with the degree and whether it is homogeneous for polynomials."""
    if point["kernel"] == "polynomial":
        return f"polynomial of degree {point['degree']}, " + (
            "homogeneous" if not point["coef0"] else f"coef0 {point['coef0']:g}"
        )
    return point["kernel"] or ""


def _amount(point):
    """(Rows, parts) that a point was scored on; None where it is unknown."""
    return point.get("rows"), len(point.get("parts") or ())


def _amount_words(amount):
    rows, parts = amount
    text = f"{parts} part{'s' * (parts != 1)}"
    if rows is None:
        return text
    return f"{rows} points, {text}"


def _sizes(points):
    amounts = sorted(
        {_amount(point) for point in points}, key=lambda one: (one[0] is None, one[0] or 0, one[1])
    )
    if len(amounts) < 2:
        step = 0
    else:
        step = min(2.0, 5 / (len(amounts) - 1))
    return {amount: (7 if len(amounts) < 2 else 5) + step * i for i, amount in enumerate(amounts)}


def _range(values, larger):
    """The scores between which colours change: of the better three quarters, as the worst would
    take all colours from the good ones."""
    values = sorted(values)
    if not values:
        return 0.0, 1.0
    seen = int(0.25 * (len(values) - 1))
    low, high = (values[seen], values[-1]) if larger else (values[0], values[-1 - seen])
    if high > low:
        return (low, high)
    return (low, low + 1e-9 * max(1.0, abs(low)))


def _depth(value, low, high, larger):
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    return 0.12 + 0.88 * (share if larger else 1 - share)


def _cross(x, y):
    return f"M{pixels(x - 4)} {pixels(y - 4)}l8 8m0 -8l-8 8"


def _scale(drawing, box, low, high, score):
    steps = 10
    for step in range(steps):
        drawing.add(
            "rect",
            "fill-left",
            x=box.left + step * box.width / steps,
            y=box.top,
            width=box.width / steps,
            height=box.height,
            fill_opacity=f"{0.12 + 0.88 * (step + 0.5) / steps:.2f}",
        )
    if score.larger_is_better:
        ends = (low, high)
    else:
        ends = (high, low)
    if score.larger_is_better:
        mark = "\u2264 "
    else:
        mark = "\u2265 "
    drawing.text(box.left, box.bottom + 16, f"{mark}{float(ends[0]):.3g}", "small")
    drawing.text(box.right, box.bottom + 16, f"{float(ends[1]):.3g}", "end small")
    drawing.text(box.right + 10, box.top + 10, score.title)


def _point_words(point, score):
    if not _known(point["score"]):
        return f"{point['options']}: failed"
    if point.get("sd"):
        sd = f" \u00b1 {short(point['sd'])}"
    else:
        sd = ""
    return (
        f"{point['options']}: {score.title} {short(point['score'])}{sd}, on "
        f"{_amount_words(_amount(point))}"
    )


class _Kernel:
    """The options of a kernel that were tried.

    Attributes
    ----------
    members : (index in the search, point)
    across : parameters that differ among them, at most two
    colours : scores between which the colours change
    rank : order of the members, the best first
    """

    def __init__(self, search, score, title, members, colours):
        self.search, self.score, self.title, self.colours = search, score, title, colours
        self.points = [point for _, point in members]
        self.scored = [point for point in self.points if _known(point["score"])]
        self.failed = [point for point in self.points if not _known(point["score"])]
        names = ("log2c", *(key for key in PARAMETERS if key != "log2c"), "log2g")
        self.across = [
            name
            for name in names
            if all(_known(point.get(name)) for point in self.points)
            and len({point[name] for point in self.points}) > 1
        ][:2]
        best = next((point for at, point in members if at == search.get("best")), None)
        if best in self.scored:
            self.best = best
        else:
            self.best = None
        self.rank = min((-score.sign * point["score"] for point in self.scored), default=math.inf)
        self.sizes = _sizes(self.scored)

    def picture(self):
        drawing, left, y = self._surface() if len(self.across) > 1 else self._curve()
        if self.best is None:
            marks = []
        else:
            marks = [
                (
                    "circle",
                    "right curve ring",
                    {"r": 5.5},
                    f"best: {self.best['options'] or 'the defaults'}",
                )
            ]
        if len(self.sizes) > 1:
            marks += [
                (
                    "circle",
                    "fill-left",
                    {"r": radius, "fill_opacity": ".6"},
                    f"scored on {_amount_words(amount)}",
                )
                for amount, radius in self.sizes.items()
            ]
        marks += [("path", "grey curve thin", {}, "failed")] * bool(self.failed)
        for tag, look, values, words in marks:
            if tag == "circle":
                position = {"cx": left + 9, "cy": y - 4}
            else:
                position = {"d": _cross(left + 9, y - 4)}
            drawing.add(tag, look, **position, **values)
            drawing.text(left + 26, y, words, width=WIDTH - left - 26)
            y += LINE + 2
        drawing.height = y - 6
        return _search_picture(self, drawing)

    def _draw(self, drawing, position, depth=None):
        for point in self.failed:
            drawing.add(
                "path",
                "grey curve thin",
                _point_words(point, self.score),
                d=_cross(*position(point)),
            )
        # larger ones, scored on more, lie below, so that the close steps of a refinement show
        for point in sorted(
            self.scored,
            key=lambda point: (-self.sizes[_amount(point)], self.score.sign * point["score"]),
        ):
            x, y = position(point)
            drawing.add(
                "circle",
                "fill-left edge mark",
                _point_words(point, self.score),
                cx=x,
                cy=y,
                r=self.sizes[_amount(point)],
                fill_opacity=None if depth is None else f"{depth(point['score']):.2f}",
            )
        if self.best is not None:
            x, y = position(self.best)
            drawing.add(
                "circle", "right curve ring", cx=x, cy=y, r=self.sizes[_amount(self.best)] + 3.5
            )

    def _surface(self):
        left, up = self.across
        drawing = Drawing(WIDTH, 400)
        panel = Panel(
            drawing,
            Box(_AXIS - 10, 30, WIDTH - _AXIS - 4, 256),
            Linear.around((point[left] for point in self.points), 0.09),
            Linear.around((point[up] for point in self.points), 0.09),
        )
        panel.axis_up(f"log2 {PARAMETERS[up].name}", _exponents(panel.up, 7))
        panel.axis_across(f"log2 {PARAMETERS[left].name}", _exponents(panel.across, 7))
        self._draw(
            drawing,
            lambda point: (panel.x(point[left]), panel.y(point[up])),
            lambda value: _depth(value, *self.colours, self.score.larger_is_better),
        )
        _scale(drawing, Box(panel.box.left, 338, 150, 12), *self.colours, self.score)
        return drawing, panel.box.left, 390

    def _curve(self):
        (key,) = self.across
        scored = sorted(self.scored, key=lambda point: point[key])
        spread = [
            (point[key], (point["score"] - point["sd"], point["score"] + point["sd"]))
            for point in scored
            if point.get("sd")
        ]
        drawing = Drawing(WIDTH, 330)
        panel = Panel(
            drawing,
            Box(_AXIS, 30, WIDTH - _AXIS - 12, 220),
            Linear.around((point[key] for point in self.points), 0.06),
            Linear.around(
                [point["score"] for point in scored] + [end for _, ends in spread for end in ends],
                0.08,
            ),
        )
        panel.axis_up(self.score.axis)
        panel.axis_across(f"log2 {PARAMETERS[key].name}", _exponents(panel.across, 7))
        drawing.line(
            panel.places((point[key], point["score"]) for point in scored), "left curve thin"
        )
        for value, ends in spread:
            drawing.line(panel.places((value, end) for end in ends), "left curve thin")
        self._draw(
            drawing,
            lambda point: (
                panel.x(point[key]),
                panel.y(point["score"]) if _known(point["score"]) else panel.box.bottom - 8,
            ),
        )
        return drawing, panel.box.left, 306


def _exponents(scale, most):
    """Whole numbers as ticks of a scale, or others where there would be fewer than two."""
    whole = sorted(
        {round(tick) for tick in scale.ticks(most) if scale.low <= round(tick) <= scale.high}
    )
    if len(whole) > 1:
        return whole
    return scale.ticks(most)


def _search_picture(kernel, drawing):
    search = kernel.search
    score = kernel.score
    best = kernel.best
    summary = f"{len(kernel.points)} options"
    if kernel.title:
        summary += f" of the kernel {kernel.title}"
    if best is not None:
        summary += (
            f"; best {best['options'] or 'the defaults'} with {score.title} {short(best['score'])}"
        )
    elif kernel.scored:
        top = min(kernel.scored, key=lambda point: -score.sign * point["score"])
        summary += (
            f"; the best of them, {top['options'] or 'the defaults'}, is not the best of "
            f"the search, with {score.title} {short(top['score'])}"
        )
    if len(kernel.across) < 2:
        note = "Bars are standard deviations over the splits."
    else:
        note = (
            "The deeper the colour, the better; what is worse than the scale begins has its palest "
            "colour."
        )
    if search.get("complete") is False:
        note += " The search ended at its time limit: better options may not have been tried."
    if search.get("border"):
        note += f" The best lies on the border of what was searched: {', '.join(search['border'])}."
    if kernel.title:
        name = f"Search: {kernel.title}"
    else:
        name = "Search"
    return Picture(drawing, name, summary, note)
