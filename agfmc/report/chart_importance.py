"""Pictures of what matters: importance of columns, their effects, and a learning curve."""

from __future__ import annotations

from collections.abc import Mapping

from ..score.rows import ALL_SCORES
from .content import Column, DataTable, Picture, TableRow
from .experiment_charts import forest
from .svg import Panel, Scale
from .words import class_name, count, cut, number

_MOST = 20  # columns that are drawn
_LOOKS = "left", "right", "third", "ink", "grey"  # of the classes with the largest effects


def importance(result: Mapping) -> Picture | None:
    """Increases of the log loss, with intervals of 95 %, of the dictionary of
    `prediction.importance.importance`."""
    rows = [
        (
            row["name"],
            row["increase"],
            (row["increase"] - 1.96 * row["error"], row["increase"] + 1.96 * row["error"]),
        )
        for row in result["columns"][:_MOST]
    ]
    if not rows:
        return None
    drawing = forest(rows, "increase of the log loss")
    table = DataTable(
        "Importance of the columns",
        (
            Column("column", "name"),
            Column("increase of the log loss", "number"),
            Column("standard error", "number"),
        ),
        tuple(TableRow((row["name"], row["increase"], row["error"])) for row in result["columns"]),
    )
    first = cut(rows[0][0])
    increase = number(rows[0][1])
    note = (
        f"The values of a column are permuted among {count(result['points'])} holdout points"
        f"{result.get('trained', '')}. Columns with the same information share their "
        "importance. Filled: "
        "the interval of 95 % does not reach 0."
    )
    return Picture(
        drawing,
        "Importance of the columns",
        f"{first} matters most: the log loss rises by {increase} without it",
        note,
        table,
    )


def effects(result: Mapping, names: Mapping[int, str]) -> list[Picture]:
    """Pictures of the effects of columns on the mean probabilities of classes."""
    classes = [class_name(names, label) for label in result["labels"]]
    return [_effect(effect, classes) for effect in result.get("effects", ())]


def _effect(effect, classes):
    values = effect["values"]
    curves = list(zip(*effect["p"]))
    spread = [max(curve) - min(curve) for curve in curves]
    most = sorted(range(len(classes)), key=lambda at: -spread[at])
    drawn = sorted(most[: len(_LOOKS)])  # few classes have the same colours in all pictures
    words = isinstance(values[0], str)
    name = cut(effect["name"])
    places = values
    if words:
        places = range(len(values))
    panel = Panel.small(Scale.around(places, 0.03), Scale(0, 1), 160, below=50 + 18 * len(drawn))
    panel.axis_up("mean probability")
    if words:
        panel.axis_across(name, places, [cut(word, 6) for word in values])
    else:
        panel.axis_across(name)
    for key, (look, at) in enumerate(zip(_LOOKS, drawn)):
        title = classes[at]
        curve = list(zip(places, curves[at]))
        if len(curve) > 1 and not words:
            panel.curve(curve, f"{look} curve", title)
        for x, p in curve:
            panel.mark("circle", x, p, f"fill-{look} edge", f"{title}: {number(p)}", r=4)
        y = panel.bottom + 48 + 18 * key
        panel.drawing.key("square", panel.left, y, f"fill-{look}", title, width=250)
    table = DataTable(
        f"Effect of {name}",
        (
            Column(name, "name" if words else "number"),
            Column("class"),
            Column("mean", "number"),
            Column("10 %", "number", "of the points have less"),
            Column("90 %", "number", "of the points have less"),
        ),
        tuple(
            TableRow((value, title, *numbers), (at,))
            for value, *rows in zip(values, effect["p"], effect["low"], effect["high"])
            for at, (title, *numbers) in enumerate(zip(classes, *rows))
        ),
    )
    return Picture(
        panel.drawing,
        f"Effect of {name}",
        f"The mean probability of {classes[most[0]]} changes by {number(spread[most[0]])}",
        "Mean probabilities if all points had the same "
        "value in this column, of the classes with the largest changes.",
        table,
    )


def learning_curves(curve: Mapping | None) -> list[Picture]:
    """The picture of each score in a curve, as `experiments.learning_curve` returns it."""
    return [
        _learning_curve(name, curve)
        for name in ALL_SCORES
        if curve is not None and len(curve.get(name, ())) > 1
    ]


def curve_table(curve: Mapping) -> DataTable:
    """The numbers of the scores in a curve."""
    names = [name for name in ALL_SCORES if name in curve]
    columns = [
        column
        for name in names
        for column in (Column(ALL_SCORES[name].title, "number"), Column("standard error", "number"))
    ]
    rows = tuple(
        TableRow(
            (points[0]["samples"], *(point[key] for point in points for key in ("score", "error")))
        )
        for points in zip(*(curve[name] for name in names))
    )
    return DataTable(
        "Learning curve", (Column("training samples", "number", digits=0), *columns), rows
    )


def _learning_curve(name, curve):
    title = ALL_SCORES[name].title
    rows = curve[name]
    sizes = [row["samples"] for row in rows]
    bars = [(row["score"] - row["error"], row["score"] + row["error"]) for row in rows]
    panel = Panel.small(
        Scale(0.9 * sizes[0], 1.1 * sizes[-1], logarithmic=True),
        Scale.around(end for ends in bars for end in ends),
        160,
    )
    panel.axis_up(title)
    panel.axis_across("training samples", sizes, map(count, sizes))
    panel.curve([(row["samples"], row["score"]) for row in rows], "left curve")
    for row, ends in zip(rows, bars):
        panel.interval(row["samples"], ends, "left thin")
        words = f"{count(row['samples'])} samples: {number(row['score'])}"
        panel.mark("circle", row["samples"], row["score"], "fill-left edge", words, r=4)
    return Picture(
        panel.drawing,
        f"Learning curve, {title}",
        f"{title} {number(rows[0]['score'])} with "
        f"{count(sizes[0])} samples, {number(rows[-1]['score'])} with "
        f"{count(sizes[-1])}",
        f"{curve['words']} Bars are standard errors.",
        curve_table({name: rows}),
    )
