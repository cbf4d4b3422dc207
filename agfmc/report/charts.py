"""Pictures of data, scores and experiments, with their numbers as a table where no other has them.

A function returns None where there is nothing to show.  Small pictures are `WIDTH` pixels wide, so
that they stand beside each other on a laptop and fit a phone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..score.intervals import wilson
from .content import Column, DataPart, DataTable, Picture, TableRow
from .svg import Drawing, Panel, Scale, short, text_width, WIDTH
from .words import class_name, number, percent

_NAMED = 40  # classes at most that have a row with their names
_LIT = 300  # classes at most whose rows and columns of a map can be highlighted
_COUNTED = 15  # classes at most of a table with its numbers


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
    if len(counts) <= _NAMED:
        drawing = _named_bars(titles, counts)
        note = ""
    else:
        drawing = _upright_bars(titles, counts)
        note = "A bar for each class, from the largest to the smallest."
    least = min(counts)
    most = max(counts)
    if least != most:
        summary = f"{len(counts)} classes of {short(least)} to {short(most)} points"
    else:
        summary = f"{len(counts)} classes of {short(least)} points each"
    return Picture(drawing, "Points of each class", summary, note, table)


def _row_pitch(rows):
    if len(rows) <= 30:
        return 20
    return 17


def _draw_row_name(drawing, name, side, y, pitch):
    """The name of a row, left of `side`, and what is lit when its class is chosen."""
    drawing.rect(0, y, WIDTH, pitch, "band")
    drawing.text(side - 8, y + pitch / 2 + 4, name, "end", width=side - 8)


def _named_bars(names, counts):
    """A row for each class: its name, a bar, the number at its end."""
    pitch = _row_pitch(names)
    side = min(max(map(text_width, names)), 140) + 8
    texts = [short(count) for count in counts]
    room = (WIDTH - side - max(map(text_width, texts)) - 8) / (max(counts) or 1)
    drawing = Drawing(WIDTH, pitch * len(names) + 4)
    for index, (name, count, text) in enumerate(zip(names, counts, texts)):
        y = 2 + index * pitch
        with drawing.group(f"{name}: {text} points", data_classes=(index,)):
            _draw_row_name(drawing, name, side, y, pitch)
            drawing.rect(side, y + 2, room * count, pitch - 4, "fill-left mark")
            drawing.text(side + room * count + 5, y + pitch / 2 + 4, text)
    return drawing


def _upright_bars(names, counts):
    """Thin bars from the largest class to the smallest, which names would not fit beside."""
    panel = Panel.small(Scale(0, len(counts)), Scale(0, max(counts) or 1), 140)
    panel.axis_up("points")
    wide = max(panel.width / len(counts) * 0.85, 0.3)
    for place, at in enumerate(sorted(range(len(counts)), key=lambda at: -counts[at])):
        title = f"{names[at]}: {short(counts[at])} points"
        x = panel.x(place)
        panel.bar(x, wide, counts[at], "fill-left mark", title, data_classes=(at,))
    panel.axis_across("classes, the largest first", grid=False)
    return panel.drawing


# Scores


def reliability(scores: Mapping, of_classes: bool = False) -> Picture | None:
    """Shares of right answers over the probabilities that they had, above a histogram of these.
    With `of_classes` there are the probabilities of all classes together, of
    `calibration_by_class`."""
    bins = [row for row in scores.get("calibration") or () if row["count"]]
    if not bins:
        return None
    before = scores.get("before") or {}
    earlier = [row for row in before.get("calibration", ()) if row["count"]]
    if of_classes:
        every = _all_classes(scores)
    else:
        every = []
    low = _floor(bins + earlier + every)
    error = scores.get("expected_calibration_error")
    if error is None or error != error:
        known = ""
    else:
        known = f"ECE {number(error)}"
    if before:
        title = "calibrated"
    else:
        title = "winning class"
    keys = [("circle", "left", title, known)]
    others = (
        (earlier, "right", "before", before.get("expected_calibration_error")),
        (every, "third", "all classes", scores.get("classwise_calibration_error")),
    )
    for rows, look, title, value in others:
        if rows:
            keys.append(("square", look, title, f"ECE {number(value)}"))
    above = 26 + 20 * len(keys) * (len(keys) > 1)
    up = Scale(low, 1)
    panel = Panel.small(up, up, WIDTH - 64, above=above, below=132)
    panel.axis_up("share of right answers")
    panel.axis_across()
    panel.curve([(low, low), (1, 1)], "rule")
    for rows, look, *_ in others:
        points = [(row["forecast"], row["observed"]) for row in rows]
        if points:
            panel.curve(points, f"{look} curve thin dashed")
        for point in points:
            panel.mark("square", *point, f"fill-{look} edge")
    intervals = [_wilson(row) for row in bins]
    _draw_shares(panel, bins, intervals)
    if len(keys) > 1:
        for index, (shape, look, *words) in enumerate(keys):
            text = ", ".join(filter(None, words))
            panel.drawing.key(shape, 0, 11 + 20 * index, f"fill-{look}", text)
    else:
        panel.drawing.text(panel.right, above - 10, known, "end")
    _draw_histogram(panel, scores["calibration"])
    if known:
        summary = f"Expected calibration error {number(error)}"
    else:
        summary = "Share of right answers in bins of their probability"
    if before:
        summary += f", before calibration {number(before['expected_calibration_error'])}"
    note = (
        "Points on the broken line have right probabilities. Bars are intervals of 95 % "
        "(Wilson); below, the number of points in each bin."
    )
    if low > 0:
        note += f" Both axes begin at {low:g}."
    table = _reliability_table(bins, intervals, earlier)
    return Picture(panel.drawing, "Reliability", summary, note, table)


def _draw_shares(panel, bins, intervals):
    """The shares of right answers, with their intervals."""
    panel.curve([(row["forecast"], row["observed"]) for row in bins], "left curve thin")
    for row, ends in zip(bins, intervals):
        panel.interval(row["forecast"], [max(end, panel.up.low) for end in ends], "left thin")
        words = (
            f"{row['lower']:g} to {row['upper']:g}: {short(row['count'])} points, mean "
            f"probability {row['forecast']:.4f}, {percent(row['observed'])} right "
            f"({percent(ends[0])} to {percent(ends[1])})"
        )
        panel.mark("circle", row["forecast"], row["observed"], "fill-left edge", words)


def _reliability_table(bins, intervals, earlier):
    columns = [
        Column("from", "number", digits=2),
        Column("to", "number", digits=2),
        Column("points", "number", digits=0),
        Column("mean probability", "number"),
        Column("right", "share"),
        Column("low", "share", "of an interval of 95 %"),
        Column("high", "share", "of an interval of 95 %"),
    ]
    names = ("lower", "upper", "count", "forecast", "observed")
    rows = [[*map(row.get, names), *ends] for row, ends in zip(bins, intervals)]
    if earlier:
        columns += [Column("before: mean probability", "number"), Column("before: right", "share")]
        were = {row["lower"]: (row["forecast"], row["observed"]) for row in earlier}
        for row in rows:
            row += were.get(row[0], (None, None))
    return DataTable(
        "Right answers by the probability of the answer",
        tuple(columns),
        tuple(TableRow(tuple(row)) for row in rows),
    )


def _all_classes(scores):
    pooled = []
    for rows in zip(*(table["bins"] for table in scores.get("calibration_by_class", ()))):
        rows = [row for row in rows if row["count"]]
        if rows:
            counts = [row["count"] for row in rows]
            means = {
                key: np.average([row[key] for row in rows], weights=counts)
                for key in ("forecast", "observed")
            }
            pooled.append({"lower": rows[0]["lower"], **means})
    return pooled


def _floor(bins):
    """The beginning of the axes: 0, or higher where all that is shown is near 1."""
    least = min(min(row["lower"], row["observed"], row["forecast"]) for row in bins)
    if least >= 0.45:
        return math.floor(least * 10) / 10
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


def _draw_histogram(above, rows):
    """The numbers of points below the panel of their shares."""
    low = above.across.low
    rows = [row for row in rows if row["upper"] > low + 1e-9]
    most = max(row["count"] for row in rows)
    drawing = above.drawing
    up = Scale(0, most)
    panel = Panel(drawing, above.left, above.bottom + 50, above.width, 44, above.across, up)
    texts = [short(row["count"], 3) for row in rows]
    fits = max(map(text_width, texts)) < panel.width / len(rows) - 1
    for row, text in zip(rows, texts):
        if row["count"]:
            x = panel.x(max(row["lower"], low))
            wide = panel.x(row["upper"]) - x
            panel.bar(x + 0.5, wide - 1, row["count"], "fill-pale")
            if fits:
                drawing.text(x + wide / 2, panel.y(row["count"]) - 4, text, "mid")
    panel.axis_across("probability of the answer", (), grid=False)
    if not fits:
        drawing.text(panel.left - 6, panel.top + 8, short(most, 3), "end small")
    drawing.text(panel.left - 6, panel.bottom, "points", "end")


def risk_coverage(scores: Mapping) -> Picture | None:
    """The error of the answers where the surest points alone are answered."""
    rows = [row for row in scores.get("risk_coverage") or () if row["error"] is not None]
    if not any(row["error"] for row in rows):
        return None
    whole = rows[-1]["error"]
    top = max(row["error"] for row in rows)
    panel = Panel.small(Scale(0, 1), Scale(0, top * 1.12), 200, below=74)
    drawing = panel.drawing
    panel.axis_up("share of errors among the answers")
    panel.axis_across("share of the points that is answered")
    ideal = [(row["coverage"], max(0.0, 1 - (1 - whole) / row["coverage"])) for row in rows]
    panel.curve([(0, whole), (1, whole)], "rule")
    panel.curve([(0, 0), *ideal], "grey curve thin dotted")
    panel.curve([(row["coverage"], row["error"]) for row in rows], "left curve")
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
    area = number(scores["aurc"])
    summary = (
        f"{percent(whole)} of all answers are wrong, {percent(half)} of the surer half; "
        f"area under the curve (AURC) {area}"
    )
    drawing.text(panel.left + 6, panel.y(whole) - 6, "at random", "muted")
    text = f"AURC {area}"
    if scores.get("e_aurc") is not None:
        text += f", above the best order {number(scores['e_aurc'])}"
    drawing.text(panel.left, 290, text)
    note = (
        "The broken line is the error of points drawn at random, the dotted one that of an "
        "order in which all errors come last."
    )
    return Picture(drawing, "Risk and coverage", summary, note, table)


def monitored(scores: Mapping) -> Picture | None:
    """The value of a monitor by the number of rows, on a logarithmic scale."""
    watched = scores.get("monitor")
    if not watched or not watched["trace"]:
        return None
    values = [value for _, value in watched["trace"]]
    low = min(-1.0, *values)
    high = max(2.5, *values)
    panel = Panel.small(Scale(0, watched["rows"]), Scale(low, high), 200, below=74)
    drawing = panel.drawing
    panel.axis_up("value of the monitor, log10")
    panel.axis_across("rows")
    panel.curve([(0, 2), (watched["rows"], 2)], "rule")
    panel.curve([(0, 0), *watched["trace"]], "left curve")
    drawing.text(panel.left + 6, panel.y(2) - 6, "100", "muted")
    table = DataTable(
        "Value of the monitor",
        (Column("rows", "number"), Column("log10 of the value", "number")),
        tuple(TableRow(pair) for pair in watched["trace"][:: max(1, len(values) // 20)]),
    )
    if watched["alarm"]:
        summary = (
            f"At row {watched['alarm']} of {watched['rows']} the value reached 100: rows are not "
            "as the calibration points were"
        )
    else:
        summary = (
            f"The largest value in {watched['rows']} rows is {number(watched['largest'], 3)}: rows "
            "may be as the calibration points were"
        )
    note = "By chance the value reaches 100, the line, in one stream of a hundred at most."
    return Picture(drawing, "Are rows as they were?", summary, note, table)


def class_sets(scores: Mapping) -> Picture | None:
    """The points by the number of classes in their sets."""
    sets = scores.get("sets")
    if not sets or not sets["sizes"]:
        return None
    sizes = sets["sizes"]
    counts = [count for _, count in sizes]
    total = sum(counts)
    low = sizes[0][0]
    high = sizes[-1][0]
    panel = Panel.small(Scale(low - 0.5, high + 0.5), Scale(0, max(counts) * 1.1), 170)
    panel.axis_up("points")
    wide = panel.width / (high - low + 1)
    for size, count in sizes:
        title = f"{size} classes: {short(count)} points ({percent(count / total)})"
        x = panel.x(size)
        panel.bar(x - wide * 0.42, max(wide * 0.84, 0.5), count, "fill-left", title)
        if wide >= 34:
            panel.drawing.text(x, panel.y(count) - 4, short(count, 3), "mid")
    ticks = list(range(low, high + 1, max(1, -(-(high - low + 1) // 10))))
    panel.axis_across("classes in the set", ticks, map(str, ticks), grid=False)
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
    return Picture(panel.drawing, "Sets of classes by size", summary, "", table)


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
        (row["recall"], at, row, class_name(names, row["label"]))
        for at, row in enumerate(scores.get("by_class") or ())
        if row["recall"] is not None and row["support"]
    ]
    if len(rows) < 2:
        return None
    rows = [
        (*row, tuple(wilson(min(row[0], 1.0), row[2].get("effective", row[2]["support"]))))
        for row in sorted(rows, key=lambda row: row[:2])
    ]
    shown = rows[:_NAMED]
    side = min(max(text_width(title) for *_, title, _ in shown), 130) + 10
    pitch = _row_pitch(shown)
    drawing = Drawing(WIDTH, pitch * len(shown) + 62)
    least = [ends[0] for *_, ends in shown]
    least += [row["precision"] for _, _, row, *_ in shown if row["precision"] is not None]
    across = Scale(_beginning(min(least)), 1)
    panel = Panel(drawing, side, 24, WIDTH - side - 10, pitch * len(shown), across)
    drawing.key("circle", side - 5, 9, "fill-left", "recall")
    drawing.key("diamond", side + 65, 9, "fill-right", "precision")
    panel.axis_across()
    for place, (recall, at, row, title, ends) in enumerate(shown):
        y = 24 + place * pitch
        middle = y + pitch / 2
        precision = row["precision"]
        with drawing.group(data_classes=(at,)):
            _draw_row_name(drawing, title, side, y, pitch)
            if precision is not None:  # below the disc of the recall, which it often meets
                words = f"precision {precision:.4f}"
                drawing.mark("diamond", panel.x(precision), middle, "fill-right", words)
            words = f"{title}: recall {recall:.4f} ({ends[0]:.4f} to {ends[1]:.4f})"
            with drawing.group(words):
                drawing.level_bar(*map(panel.x, ends), middle)
                drawing.mark("circle", panel.x(recall), middle, "fill-left edge", r=4.5)
    summary = f"Least recall {percent(rows[0][0])} of {rows[0][3]}"
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
            TableRow((title, row["support"], recall, *ends, row["precision"]), (at,))
            for recall, at, row, title, ends in rows
        ),
    )
    note = (
        "Recall: the share of the points of a class that is answered right, with intervals of "
        "95 % (Wilson). Precision: the share of right ones among the answers of that class."
    )
    if len(rows) > len(shown):
        note += f" The {len(shown)} classes of least recall of {len(rows)}."
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
    counts = []
    if k <= _COUNTED:
        counts = [[short(count, 3) if count else "" for count in row] for row in table]
        cell = math.ceil(max(22, *(text_width(text) + 6 for row in counts for text in row)))
    elif k > 38:
        cell = max(1, min(16, 620 // k))
    else:
        cell = 16
    palette = [(0, 0, 0, 0)] + [
        (*colour, round(255 * step / _STEPS))
        for colour in (_BLUES, _ORANGES)
        for step in range(1, _STEPS + 1)
    ]
    numbers = np.asarray(table, dtype=float)
    totals = numbers.sum(axis=1, keepdims=True)
    shares = np.divide(numbers, totals, out=np.zeros_like(numbers), where=totals > 0)
    diagonal = np.eye(*shares.shape, dtype=bool)
    right = np.maximum(1, np.rint(_STEPS * shares))
    wrong = _STEPS + np.maximum(25, np.rint(_STEPS * (1 + np.log10(np.maximum(shares, 1e-3)) / 3)))
    steps = np.where(diagonal, right, wrong)
    steps = np.where(shares > 0, steps, 0).astype(np.uint8)  # in the palette
    titles = [class_name(names, label) for label in labels]
    columns = [*titles, "rejected"][: shares.shape[1]]
    widest = max(map(text_width, columns))
    if cell >= 14:
        side = min(widest, 150) + 8
        top = side + 16
    else:
        side = min(widest, 90) + 16
        top = 40
    drawing = Drawing(max(side + cell * len(columns) + 10, 330), top + cell * k + 62)
    drawing.heat_map(side, top, (cell, cell), [row.tobytes() for row in steps], palette)
    drawing.rect(side, top, cell * len(columns), cell * k, "frame")
    _draw_map_names(drawing, side, top, titles, columns, cell)
    for i, row in enumerate(counts):
        for j, text in enumerate(row):
            look = "mid"
            if 70 <= steps[i, j] <= _STEPS:
                look = "mid fill-paper"
            drawing.text(side + (j + 0.5) * cell, top + (i + 0.5) * cell + 4, text, look)
    _draw_map_legend(drawing, top + k * cell + 18)
    summary = f"Accuracy {short(scores['accuracy'])}"
    wrong = np.where(diagonal, 0.0, shares)[:, :k]
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


def _draw_map_names(drawing, side, top, titles, columns, cell):
    """The names of rows and columns, and what is lit when a class is chosen."""
    k = len(titles)
    named = cell >= 14
    aside, above = 8, 8
    if named:
        aside, above = side, top - 16
    for index, name in enumerate(columns):
        lit = (index,) * (index < k <= _LIT)
        x = side + index * cell
        y = top + index * cell
        with drawing.group(data_classes=lit):
            if lit:
                drawing.rect(side - aside, y, cell * len(columns) + aside, cell, "band")
                drawing.rect(x, top - above, cell, cell * k + above, "band")
            if named:
                drawing.upright(x + cell / 2 + 4, top - 6, name, width=top - 24)
            if index < k and (named or index % max(1, -(-k // 10)) == 0):
                drawing.text(side - 6, y + cell / 2 + 4, name, "end", width=side - 8)
    drawing.text(side, 12, "answer")
    if not named:
        drawing.text(0, top - 8, "truth")


def _draw_map_legend(drawing, y):
    for x, look, text, least in (
        (0, "fill-left", "right", "25"),
        (140, "fill-right", "wrong", "0.1"),
    ):
        for step in range(4):
            drawing.rect(x + step * 16, y, 16, 12, look, fill_opacity=f"{(step + 1) / 4:g}")
        drawing.text(x, y + 28, least, "small")
        drawing.text(x + 64, y + 28, "100 %", "end small")
        drawing.text(x + 70, y + 11, text)
