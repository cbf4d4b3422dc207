"""Pictures of what matters: importance of columns, their effects, and a learning curve."""

from __future__ import annotations

from collections.abc import Mapping

from ..score.rows import ALL_SCORES
from .content import Column, DataTable, Picture, TableRow
from .experiment_charts import forest
from .svg import Box, Drawing, Linear, Logarithmic, Panel, WIDTH
from .words import class_name, count, cut, number

_MOST = 20  # columns that are drawn
_LOOKS = "left", "right", "third", "ink", "grey"  # of the classes with the largest effects
_LEFT = 46


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
    return [_effect(one, result["labels"], names) for one in result.get("effects", ())]


def _effect(effect, labels, names):
    p = effect["p"]
    values = effect["values"]
    spread = [max(row[at] for row in p) - min(row[at] for row in p) for at in range(len(labels))]
    most = sorted(range(len(labels)), key=lambda at: -spread[at])
    drawn = sorted(most[: len(_LOOKS)])  # few classes have the same colours in all pictures
    words = isinstance(values[0], str)
    if words:
        places = list(range(len(values)))
    else:
        places = values
    drawing = Drawing(WIDTH, 236 + 18 * len(drawn))
    panel = Panel(
        drawing, Box(_LEFT, 26, WIDTH - _LEFT - 14, 160), Linear.around(places, 0.03), Linear(0, 1)
    )
    panel.axis_up("mean probability")
    name = cut(effect["name"])
    panel.axis_across(name, *((places, [cut(word, 6) for word in values]) if words else ()))
    for key, at in enumerate(drawn):
        look = _LOOKS[key]
        title = class_name(names, labels[at])
        curve = panel.places((x, row[at]) for x, row in zip(places, p))
        if len(curve) > 1 and not words:
            drawing.line(curve, f"{look} curve", title)
        for (x, y), row in zip(curve, p):
            drawing.add(
                "circle", f"fill-{look} edge", f"{title}: {number(row[at])}", cx=x, cy=y, r=4
            )
        drawing.add("rect", f"fill-{look}", x=_LEFT, y=232 + 18 * key, width=12, height=4)
        drawing.text(_LEFT + 18, 238 + 18 * key, title, width=WIDTH - _LEFT - 20)
    rows = tuple(
        TableRow(
            (str(value) if words else value, class_name(names, label), row[at], low[at], high[at]),
            (at,),
        )
        for value, row, low, high in zip(values, p, effect["low"], effect["high"])
        for at, label in enumerate(labels)
    )
    table = DataTable(
        f"Effect of {name}",
        (
            Column(name, "name" if words else "number"),
            Column("class"),
            Column("mean", "number"),
            Column("10 %", "number", "of the points have less"),
            Column("90 %", "number", "of the points have less"),
        ),
        rows,
    )
    top = class_name(names, labels[most[0]])
    return Picture(
        drawing,
        f"Effect of {name}",
        f"The mean probability of {top} changes by {number(spread[most[0]])}",
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
    ends = [row["score"] + side * row["error"] for row in rows for side in (-1, 1)]
    drawing = Drawing(WIDTH, 236)
    panel = Panel(
        drawing,
        Box(_LEFT, 26, WIDTH - _LEFT - 14, 160),
        Logarithmic(0.9 * sizes[0], 1.1 * sizes[-1]),
        Linear.around(ends),
    )
    panel.axis_up(title)
    panel.axis_across("training samples", sizes, [count(size) for size in sizes])
    drawing.line(panel.places((row["samples"], row["score"]) for row in rows), "left curve")
    for row in rows:
        x = panel.x(row["samples"])
        drawing.line(
            [(x, panel.y(row["score"] - row["error"])), (x, panel.y(row["score"] + row["error"]))],
            "left thin",
        )
        drawing.add(
            "circle",
            "fill-left edge",
            f"{count(row['samples'])} samples: {number(row['score'])}",
            cx=x,
            cy=panel.y(row["score"]),
            r=4,
        )
    return Picture(
        drawing,
        f"Learning curve, {title}",
        f"{title} {number(rows[0]['score'])} with "
        f"{count(sizes[0])} samples, {number(rows[-1]['score'])} with "
        f"{count(sizes[-1])}",
        f"{curve['words']} Bars are standard errors.",
        curve_table({name: rows}),
    )
