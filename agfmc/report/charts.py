"""Pictures of data, scores and experiments, with their numbers as a table where no other has them.

A function returns None where there is nothing to show.  Small pictures are `WIDTH` pixels wide, so
that they stand beside each other on a laptop and fit a phone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..score.intervals import wilson
from .content import Column, DataPart, DataTable, Picture, TableRow
from .svg import (
    Box,
    cut_to_width,
    Drawing,
    level_bar,
    Linear,
    Panel,
    pixels,
    png_address,
    short,
    text_width,
    WIDTH,
)
from .words import class_name, number, percent

_NAMED = 40  # classes at most that have a row with their names
_LIT = 300  # classes at most that have separate parts, which can be highlighted
_COUNTED = 15  # classes at most of a table with its numbers
_LEFT = 46  # pixels for the numbers of an axis


# Data


def class_counts(data: DataPart, names: Mapping[int, str]) -> Picture | None:
    """The points of each class, as bars."""
    counts = data.counts
    if not counts or len(counts) < 2:
        return None
    total = sum(counts)
    titles = [class_name(names, label) for label in data.labels]
    table = DataTable(
        "Points of each class",
        (Column("class"), Column("points", "number", digits=0), Column("share", "share")),
        tuple(
            TableRow((name, count, count / total if total else None), (index,))
            for index, (name, count) in enumerate(zip(titles, counts))
        ),
    )
    drawing = (named_bars if len(counts) <= _NAMED else _upright_bars)(titles, counts)
    least = min(counts)
    most = max(counts)
    if least != most:
        summary = f"{len(counts)} classes of {short(least)} to {short(most)} points"
    else:
        summary = f"{len(counts)} classes of {short(least)} points each"
    note = "A bar for each class, from the largest to the smallest." * (len(counts) > _NAMED)
    return Picture(drawing, "Points of each class", summary, note, table)


def named_bars(names: Sequence[str], counts: Sequence[float], unit: str = "points") -> Drawing:
    """A row for each class or feature: its name, a bar, the number at its end."""
    if len(names) <= 30:
        pitch = 20
    else:
        pitch = 17
    side = min(max(map(text_width, names)), 140) + 8
    top = max(counts) or 1
    texts = [short(count) for count in counts]
    room = WIDTH - side - max(map(text_width, texts)) - 8
    drawing = Drawing(WIDTH, pitch * len(names) + 4)
    for index, (name, count, text) in enumerate(zip(names, counts, texts)):
        y = 2 + index * pitch
        with drawing.group(data_classes=(index,), title=f"{name}: {text} {unit}"):
            drawing.add("rect", "band", x=0, y=y, width=WIDTH, height=pitch)
            drawing.text(side - 8, y + pitch / 2 + 4, name, "end", width=side - 8)
            drawing.add(
                "rect",
                "fill-left mark",
                x=side,
                y=y + 2,
                width=room * count / top,
                height=pitch - 4,
            )
            drawing.text(side + room * count / top + 5, y + pitch / 2 + 4, text)
    return drawing


def _upright_bars(names, counts):
    """Thin bars from the largest class to the smallest, which names would not fit beside."""
    order = sorted(range(len(counts)), key=lambda at: (-counts[at], at))
    drawing = Drawing(WIDTH, 210)
    panel = Panel(
        drawing,
        Box(_LEFT, 26, WIDTH - _LEFT - 4, 140),
        Linear(0, len(counts)),
        Linear(0, max(counts) or 1),
    )
    panel.axis_up("points")
    wide = max(panel.box.width / len(counts) * 0.85, 0.3)
    bars = [
        (panel.x(place), panel.y(counts[at]), wide, panel.box.bottom - panel.y(counts[at]))
        for place, at in enumerate(order)
    ]
    if len(counts) > _LIT:
        drawing.bars(bars, "fill-left")
    else:
        for at, (x, y, width, height) in zip(order, bars):
            drawing.add(
                "rect",
                "fill-left mark",
                f"{names[at]}: {short(counts[at])} points",
                x=x,
                y=y,
                width=width,
                height=height,
                data_classes=(at,),
            )
    panel.axis_across("classes, the largest first", grid=False)
    return drawing


# Scores


def reliability(scores: Mapping, of_classes: bool = False) -> Picture | None:
    """Shares of right answers over the probabilities that they had, above a histogram of these.
    With `of_classes` there are the probabilities of all classes together, of
    `calibration_by_class`."""
    bins = [row for row in scores.get("calibration") or () if row["count"]]
    if not bins:
        return None
    before = scores.get("before")
    earlier = [row for row in before["calibration"] if row["count"]] if before else []
    every = _all_classes(scores) if of_classes else []
    low = _floor(bins + earlier + every)
    error = scores.get("expected_calibration_error")
    known = "" if error is None or error != error else f"ECE {number(error)}"
    keys = (
        [("circle", "fill-left", "calibrated" if before else "winning class", known)]
        if before or every
        else []
    )
    for rows, look, title, value in (
        (earlier, "right", "before", (before or {}).get("expected_calibration_error")),
        (every, "third", "all classes", scores.get("classwise_calibration_error")),
    ):
        if rows:
            keys.append(("rect", f"fill-{look}", title, f"ECE {number(value)}"))
    texts = [", ".join(filter(None, words)) for _, _, *words in keys]
    across = 2 if max(map(text_width, texts), default=0) < WIDTH / 2 - 10 else 1
    side = WIDTH - _LEFT - 14
    top = 26 + 20 * -(-len(keys) // across)
    drawing = Drawing(WIDTH, top + side + 118)
    panel = Panel(drawing, Box(_LEFT, top, side, side), Linear(low, 1), Linear(low, 1))
    panel.axis_up("share of right answers")
    panel.axis_across()
    drawing.line(panel.places([(low, low), (1, 1)]), "rule")
    for rows, look in ((earlier, "right"), (every, "third")):
        if rows:
            places = panel.places((row["forecast"], row["observed"]) for row in rows)
            drawing.line(places, f"{look} curve thin dashed")
            for x, y in places:
                drawing.add("rect", f"fill-{look} edge", x=x - 4, y=y - 4, width=8, height=8)
    intervals = [_wilson(row) for row in bins]
    drawing.line(
        panel.places((row["forecast"], row["observed"]) for row in bins), "left curve thin"
    )
    drawing.add(
        "path",
        "left curve",
        d="".join(
            _whisker(panel, row["forecast"], *ends, low) for row, ends in zip(bins, intervals)
        ),
    )
    for row, ends in zip(bins, intervals):
        words = (
            f"{row['lower']:g} to {row['upper']:g}: {short(row['count'])} points, mean "
            f"probability {row['forecast']:.4f}, {percent(row['observed'])} right "
            f"({percent(ends[0])} to {percent(ends[1])})"
        )
        drawing.add(
            "circle",
            "fill-left edge",
            words,
            cx=panel.x(row["forecast"]),
            cy=panel.y(row["observed"]),
            r=5,
        )
    for index, ((tag, look, *_), text) in enumerate(zip(keys, texts)):
        x = index % across * (WIDTH / 2 + 6)
        y = 11 + index // across * 20
        if tag == "circle":
            drawing.add(tag, look, cx=x + 5, cy=y, r=5)
        else:
            drawing.add(tag, look, x=x, y=y - 4, width=8, height=8)
        drawing.text(x + 14, y + 4, text)
    if not keys:
        drawing.text(WIDTH - 14, top - 10, known, "end")
    _histogram(drawing, scores["calibration"], low, top + side)
    columns = (
        Column("from", "number", digits=2),
        Column("to", "number", digits=2),
        Column("points", "number", digits=0),
        Column("mean probability", "number"),
        Column("right", "share"),
        Column("low", "share", "of an interval of 95 %"),
        Column("high", "share", "of an interval of 95 %"),
        *[Column("before: mean probability", "number"), Column("before: right", "share")]
        * bool(earlier),
    )
    were = {row["lower"]: (row["forecast"], row["observed"]) for row in earlier}
    table = DataTable(
        "Right answers by the probability of the answer",
        columns,
        tuple(
            TableRow(
                (
                    row["lower"],
                    row["upper"],
                    row["count"],
                    row["forecast"],
                    row["observed"],
                    *ends,
                    *(were.get(row["lower"], (None, None)) if earlier else ()),
                )
            )
            for row, ends in zip(bins, intervals)
        ),
    )
    summary = (
        f"Expected calibration error {number(error)}"
        if error is not None
        else "Share of right answers in bins of their probability"
    )
    if before:
        summary += f", before calibration {number(before['expected_calibration_error'])}"
    note = (
        "Points on the broken line have right probabilities. Bars are intervals of 95 % "
        "(Wilson); below, the number of points in each bin."
    )
    note += f" Both axes begin at {low:g}." * (low > 0)
    return Picture(drawing, "Reliability", summary, note, table)


def _all_classes(scores):
    pooled = []
    for rows in zip(*(table["bins"] for table in scores.get("calibration_by_class", ()))):
        count = sum(row["count"] for row in rows)
        if count:
            pooled.append(
                {
                    "lower": rows[0]["lower"],
                    **{
                        key: sum(row["count"] * row[key] for row in rows if row["count"]) / count
                        for key in ("forecast", "observed")
                    },
                }
            )
    return pooled


def _floor(bins):
    """The beginning of the axes: 0, or higher where all that is shown is near 1."""
    least = min(min(row["lower"], row["observed"], row["forecast"]) for row in bins)
    if least >= 0.45:
        return round(max(0, int(least * 10) / 10), 1)
    return 0


def _wilson(row):
    """An interval of 95 % of the share of right answers in a bin; weighted points count as many
    as tell as much."""
    count = row["count"]
    error = row["error"]
    forecast = row["forecast"]
    if isinstance(count, float) and error:
        count = forecast * (1 - forecast) / error**2 or count
    return tuple(wilson(min(max(row["observed"], 0.0), 1.0), row.get("effective", count)))


def _whisker(panel, x, low, high, floor):
    at = panel.x(x)
    bottom = panel.y(max(low, floor))
    top = panel.y(min(high, 1))
    text = f"M{pixels(at)} {pixels(bottom)}V{pixels(top)}M{pixels(at - 3)} {pixels(top)}h6"
    return text + (f"M{pixels(at - 3)} {pixels(bottom)}h6" if low >= floor else "")


def _histogram(drawing, rows, low, down):
    rows = [row for row in rows if row["upper"] > low + 1e-9]
    most = max(row["count"] for row in rows)
    panel = Panel(
        drawing, Box(_LEFT, down + 50, WIDTH - _LEFT - 14, 44), Linear(low, 1), Linear(0, most)
    )
    drawing.bars(
        [
            (
                panel.x(max(row["lower"], low)) + 0.5,
                panel.y(row["count"]),
                panel.x(row["upper"]) - panel.x(max(row["lower"], low)) - 1,
                panel.box.bottom - panel.y(row["count"]),
            )
            for row in rows
            if row["count"]
        ],
        "fill-pale",
    )
    texts = [short(row["count"], 3) for row in rows]
    fits = max(map(text_width, texts)) < panel.box.width / len(rows) - 1
    for row, text in zip(rows, texts):
        if row["count"] and fits:
            drawing.text(
                panel.x((max(row["lower"], low) + row["upper"]) / 2),
                panel.y(row["count"]) - 4,
                text,
                "mid",
            )
    drawing.line([(panel.box.left, panel.box.bottom), (panel.box.right, panel.box.bottom)], "axis")
    if not fits:
        drawing.text(_LEFT - 6, panel.y(most) + 8, short(most, 3), "end small")
    drawing.text(_LEFT - 6, panel.box.bottom, "points", "end")
    drawing.text(
        _LEFT + panel.box.width / 2, panel.box.bottom + 18, "probability of the answer", "mid"
    )


def risk_coverage(scores: Mapping) -> Picture | None:
    """The error of the answers where the surest points alone are answered."""
    rows = [row for row in scores.get("risk_coverage") or () if row["error"] is not None]
    if not any(row["error"] for row in rows):
        return None
    whole = rows[-1]["error"]
    top = max(row["error"] for row in rows)
    drawing = Drawing(WIDTH, 300)
    panel = Panel(
        drawing, Box(_LEFT, 26, WIDTH - _LEFT - 14, 200), Linear(0, 1), Linear(0, top * 1.12)
    )
    panel.axis_up("share of errors among the answers")
    panel.axis_across("share of the points that is answered")
    ideal = [(0, 0)] + [
        (row["coverage"], max(0.0, 1 - (1 - whole) / row["coverage"])) for row in rows
    ]
    drawing.line(panel.places([(0, whole), (1, whole)]), "rule")
    drawing.line(panel.places(ideal), "grey curve thin dotted")
    drawing.line(panel.places([(row["coverage"], row["error"]) for row in rows]), "left curve")
    chosen = [
        row
        for row in rows
        if round(row["coverage"] * 100) % 10 == 0 or row["coverage"] in (0.01, 0.05, 0.95, 0.99)
    ]
    table = DataTable(
        "Errors where the surest points are answered",
        (
            Column("answered", "share"),
            Column("errors", "share"),
            Column("least probability", "number", "of the answers that are given"),
        ),
        tuple(TableRow((row["coverage"], row["error"], row["threshold"])) for row in chosen),
    )
    half = next((row["error"] for row in rows if row["coverage"] >= 0.5), None)
    summary = (
        f"{percent(whole)} of all answers are wrong, {percent(half)} of the surer half; "
        f"area under the curve (AURC) {number(scores['aurc'])}"
    )
    drawing.text(panel.box.left + 6, panel.y(whole) - 6, "at random", "muted")
    text = f"AURC {number(scores['aurc'])}"
    if scores.get("e_aurc") is not None:
        text += f", above the best order {number(scores['e_aurc'])}"
    drawing.text(panel.box.left, 290, text)
    note = (
        "The broken line is the error of points drawn at random, the dotted one that of an "
        "order in which all errors come last."
    )
    return Picture(drawing, "Risk and coverage", summary, note, table)


def class_sets(scores: Mapping) -> Picture | None:
    """The points by the number of classes in their sets."""
    sets = scores.get("sets")
    if not sets or not sets["sizes"]:
        return None
    sizes = sets["sizes"]
    total, most = (of(count for _, count in sizes) for of in (sum, max))
    drawing = Drawing(WIDTH, 250)
    low = sizes[0][0]
    high = sizes[-1][0]
    panel = Panel(
        drawing,
        Box(_LEFT, 26, WIDTH - _LEFT - 14, 170),
        Linear(low - 0.5, high + 0.5),
        Linear(0, most * 1.1),
    )
    panel.axis_up("points")
    wide = panel.box.width / (high - low + 1)
    for size, count in sizes:
        drawing.add(
            "rect",
            "fill-left",
            f"{size} classes: {short(count)} points ({percent(count / total)})",
            x=panel.x(size - 0.5) + wide * 0.08,
            y=panel.y(count),
            width=max(wide * 0.84, 0.5),
            height=panel.box.bottom - panel.y(count),
        )
    if wide >= 34:
        for size, count in sizes:
            drawing.text(panel.x(size), panel.y(count) - 4, short(count, 3), "mid")
    step = max(1, -(-(high - low + 1) // 10))
    ticks = list(range(low, high + 1, step))
    panel.axis_across("classes in the set", ticks, [str(tick) for tick in ticks], grid=False)
    summary = (
        f"Sets hold the true class of {percent(sets['coverage'])} of the points "
        f"({percent(sets['low'])} to {percent(sets['high'])}), with "
        f"{short(sets['mean_size'], 3)} classes in the mean"
    )
    table = DataTable(
        "Sets by the number of their classes",
        (
            Column("classes", "number", digits=0),
            Column("points", "number", digits=0),
            Column("share", "share"),
        ),
        tuple(TableRow((size, count, count / total)) for size, count in sizes),
    )
    return Picture(drawing, "Sets of classes by size", summary, "", table)


def _beginning(low):
    """A round number at or below `low` from which an axis that ends at 1 begins."""
    for begin in (0.99, 0.98, 0.95, 0.9, 0.8, 0.6, 0.4, 0.2, 0):
        if low >= begin + (1 - begin) * 0.04:
            return begin
    return min(0, low)


def class_recall(scores: Mapping, names: Mapping[int, str]) -> Picture | None:
    """The share of the points of each class that is right (recall), with Wilson's intervals, and
    the share of right ones among the answers of that class (precision)."""
    rows = [
        (at, row)
        for at, row in enumerate(scores.get("by_class") or ())
        if row["recall"] is not None and row["support"]
    ]
    if len(rows) < 2:
        return None
    ends = {
        at: tuple(wilson(min(row["recall"], 1.0), row.get("effective", row["support"])))
        for at, row in rows
    }
    chosen = sorted(rows, key=lambda one: (one[1]["recall"], one[0]))
    shown = chosen[:_NAMED]
    title_of = {at: class_name(names, row["label"]) for at, row in rows}
    side = min(max(text_width(title_of[at]) for at, _ in shown), 130) + 10
    if len(shown) <= 30:
        pitch = 20
    else:
        pitch = 17
    drawing = Drawing(WIDTH, pitch * len(shown) + 62)
    low = _beginning(
        min(
            [ends[at][0] for at, _ in shown]
            + [row["precision"] for _, row in shown if row["precision"] is not None]
        )
    )
    panel = Panel(
        drawing, Box(side, 24, WIDTH - side - 10, pitch * len(shown)), Linear(low, 1), Linear(0, 1)
    )
    drawing.add("circle", "fill-left", cx=side + 5, cy=9, r=5)
    drawing.text(side + 14, 13, "recall")
    drawing.add("path", "fill-right", d=f"M{pixels(side + 70)} 4l5 5l-5 5l-5 -5z")
    drawing.text(side + 80, 13, "precision")
    panel.axis_across()
    for place, (at, row) in enumerate(shown):
        y = 24 + place * pitch
        middle = 24 + (place + 0.5) * pitch
        with drawing.group(data_classes=(at,)):
            drawing.add("rect", "band", x=0, y=y, width=WIDTH, height=pitch)
            drawing.text(side - 10, middle + 4, title_of[at], "end", width=side - 10)
            if row["precision"] is not None:  # below the disc of the recall, which it often meets
                drawing.add(
                    "path",
                    "fill-right",
                    f"precision {row['precision']:.4f}",
                    d=f"M{pixels(panel.x(row['precision']))} {pixels(middle - 7)}l7 7l-7 7l-7 -7z",
                )
            with drawing.group(
                f"{title_of[at]}: recall {row['recall']:.4f} ({ends[at][0]:.4f} to "
                f"{ends[at][1]:.4f})"
            ):
                drawing.add("path", "left curve", d=level_bar(*map(panel.x, ends[at]), middle))
                drawing.add("circle", "fill-left edge", cx=panel.x(row["recall"]), cy=middle, r=4.5)
    worst = chosen[0]
    summary = f"Least recall {percent(worst[1]['recall'])} of {title_of[worst[0]]}"
    table = DataTable(
        "Recall and precision of the classes",
        (
            Column("class"),
            Column("points", "number", digits=0),
            Column("recall", "share"),
            Column("low", "share"),
            Column("high", "share"),
            Column("precision", "share"),
        ),
        tuple(
            TableRow(
                (title_of[at], row["support"], row["recall"], *ends[at], row["precision"]), (at,)
            )
            for at, row in chosen
        ),
    )
    note = (
        "Recall: the share of the points of a class that is answered right, with intervals of "
        "95 % (Wilson). Precision: the share of right ones among the answers of that class."
    )
    if len(chosen) > len(shown):
        note += f" The {len(shown)} classes of least recall of {len(chosen)}."
    return Picture(drawing, "Recall of the classes", summary, note, table)


_BLUES, _ORANGES = (33, 113, 181), (230, 115, 12)
_STEPS = 100  # of either colour


def confusion_map(scores: Mapping, names: Mapping[int, str]) -> Picture | None:
    """The contingency table as an image: right answers blue, errors orange on a logarithmic scale,
    with the numbers of points where the classes are few."""
    table = scores.get("contingency")
    labels = scores["labels"]
    k = len(labels)
    if not table or k < 2:
        return None
    if k <= _COUNTED:
        counts = [[short(count, 3) if count else "" for count in row] for row in table]
    else:
        counts = []
    if k > 38:
        cell = max(1, min(16, 620 // k))
    else:
        cell = math.ceil(max((text_width(text) + 6 for row in counts for text in row), default=16))
    if counts:
        cell = max(cell, 22)
    palette = [(0, 0, 0, 0)] + [
        (*colour, round(255 * step / _STEPS))
        for colour in (_BLUES, _ORANGES)
        for step in range(1, _STEPS + 1)
    ]
    numbers = np.asarray(table, dtype=float)
    totals = numbers.sum(axis=1, keepdims=True)
    shares = np.divide(numbers, totals, out=np.zeros_like(numbers), where=totals > 0)
    right = np.maximum(1, np.rint(_STEPS * shares))
    wrong = _STEPS + np.maximum(25, np.rint(_STEPS * (1 + np.log10(np.maximum(shares, 1e-3)) / 3)))
    steps = np.where(np.eye(*shares.shape, dtype=bool), right, wrong)
    steps = np.where(shares > 0, steps, 0).astype(np.uint8)  # in the palette
    titles = [class_name(names, label) for label in labels]
    columns = [*titles, "rejected"][: shares.shape[1]]
    named = cell >= 14
    side = min(max(map(text_width, columns)), 150 if named else 90) + (8 if named else 16)
    if named:
        top = side + 16
    else:
        top = 40
    drawing = Drawing(max(side + cell * len(columns) + 10, 330), top + cell * k + 62)
    box = Box(side, top, cell * len(columns), cell * k)
    drawing.add(
        "image",
        x=box.left,
        y=box.top,
        width=box.width,
        height=box.height,
        href=png_address([row.tobytes() for row in steps], palette),
        preserveAspectRatio="none",
    )
    drawing.add("rect", "frame", x=box.left, y=box.top, width=box.width, height=box.height)
    _map_names(drawing, box, titles, columns, cell)
    for i, row in enumerate(counts):
        for j, text in enumerate(row):
            deep = 70 <= steps[i, j] <= _STEPS
            drawing.text(
                box.left + (j + 0.5) * cell,
                box.top + (i + 0.5) * cell + 4,
                text,
                "mid fill-paper" if deep else "mid",
            )
    _map_legend(drawing, box)
    summary = f"Accuracy {short(scores['accuracy'])}"
    wrong = np.where(np.eye(k, dtype=bool), 0.0, shares[:, :k])
    i, j = divmod(int(wrong.argmax()), k)
    if wrong[i, j] > 0:
        summary += f"; most often {titles[i]} is taken for {titles[j]} ({percent(wrong[i, j])})"
    return Picture(
        drawing,
        "Map of the contingency table",
        summary,
        "A row for each true class, a column for each answer; the deeper the colour, "
        "the larger the share of the true class.",
    )


def _map_names(drawing, box, titles, columns, cell):
    k = len(titles)
    named = cell >= 14
    aside, above = (box.left, box.top - 16) if named else (8, 8)
    for index, name in enumerate(columns if k <= _LIT else ()):
        with drawing.group(data_classes=(index,) * (index < k)):
            if index < k:
                drawing.add(
                    "rect",
                    "band",
                    x=box.left - aside,
                    y=box.top + index * cell,
                    width=box.width + aside,
                    height=cell,
                )
            drawing.add(
                "rect",
                "band",
                x=box.left + index * cell,
                y=box.top - above,
                height=box.height + above,
                width=cell,
            )
            if named:
                if index < k:
                    drawing.text(
                        box.left - 6,
                        box.top + (index + 0.5) * cell + 4,
                        name,
                        "end",
                        width=box.left - 8,
                    )
                x = box.left + (index + 0.5) * cell + 4
                y = box.top - 6
                drawing.text(
                    x, y, name, width=box.top - 24, transform=f"rotate(-90 {pixels(x)} {pixels(y)})"
                )
    drawing.text(box.left, 12, "answer")
    if not named:
        drawing.text(0, box.top - 8, "truth")
        for index in range(0, k, max(1, -(-k // 10))):
            drawing.text(
                box.left - 10,
                box.top + (index + 0.5) * cell + 4,
                cut_to_width(titles[index], box.left - 12),
                "end small",
            )


def _map_legend(drawing, box):
    y = box.bottom + 18
    for x, look, text, ends in (
        (0, "fill-left", "right", ("25", "100 %")),
        (140, "fill-right", "wrong", ("0.1", "100 %")),
    ):
        for step in range(4):
            drawing.add(
                "rect",
                look,
                x=x + step * 16,
                y=y,
                width=16,
                height=12,
                fill_opacity=f"{(step + 1) / 4:g}",
            )
        drawing.text(x, y + 28, ends[0], "small")
        drawing.text(x + 64, y + 28, ends[1], "end small")
        drawing.text(x + 70, y + 11, text)
