"""Pictures of simulated success probabilities against the number of classes."""

from __future__ import annotations

from collections.abc import Sequence

from ..score.intervals import wilson
from .picture_file import save
from .content import Picture
from .svg import Drawing, Panel, Scale, text_width
from .words import cut

_ASIDE = 0.3  # of the way to the next number of classes, over which intervals are spread
_NARROW = 0.03  # intervals up to this width stand above each other
_SHADES = ("1", ".7", ".45", ".25")  # of POLL, most opponents first


def draw(path: str, rows: Sequence[dict], top: int, similarity: str | None = None) -> None:
    """Draw simulations (`experiments.simulation`), a panel for each error probability."""
    save(path, "Simulated decoders", simulation_pictures(rows, top, similarity))


def simulation_pictures(
    rows: Sequence[dict], top: int, similarity: str | None = None
) -> list[Picture]:
    """A picture for each error probability, and the key of their lines."""
    pictures = []
    for error in dict.fromkeys(row["error"] for row in rows):
        shown = sorted(
            (row for row in rows if row["error"] == error), key=lambda row: row["classes"]
        )
        if error is None:
            title = f"similarity {similarity}"
        else:
            title = f"error probability {error:g}"
        pictures.append(
            Picture(
                _panel(shown, top),
                cut(title, 50),
                "Share of right answers by the number of classes",
                "Bars: intervals of 95 %.",
            )
        )
    return [*pictures, Picture(_key(_lines(shown, top)), "Decoders", "The key of the lines")]


def _lines(rows, top):
    """[(words, look, shade, shape and look of the marks, a part for each row)] of the lines."""
    polls = sorted(range(len(rows[0]["polls"])), key=lambda i: -rows[-1]["polls"][i]["draws"])
    topped = []
    lines = []
    for place, i in enumerate(polls):
        words = f"POLL {_formula(rows[0]['polls'][i]['opponents'])}"
        shade = _SHADES[min(place, len(_SHADES) - 1)]
        parts = [row["polls"][i] for row in rows]
        lines.append((words, "left", shade, "square", "fill-left", parts))
        tops = [part["top"] for part in parts]
        words += f" + TOP-{top}"
        topped.append((words, "left dashed", shade, "square", "left fill-paper", tops))
    return [
        ("MAX-WIN", "ink", "1", "circle", "fill-ink", [row["max_win"] for row in rows]),
        *topped,
        *lines,
        ("ADAG", "right", "1", "up", "fill-right", [row["adag"] for row in rows]),
        ("DDAG", "third", "1", "down", "fill-third", [row["ddag"] for row in rows]),
    ]


def _panel(rows, top):
    classes = [row["classes"] for row in rows]
    # the last step from one number of classes to the next is far above the first
    powers = len(classes) > 2 and classes[-1] - classes[-2] > 1.5 * (classes[1] - classes[0])
    low = classes[0]
    high = max(classes[-1], classes[0] + 1)
    if powers:
        scale = Scale(low / 1.2, 1.2 * high, logarithmic=True)
    else:
        scale = Scale.around((low, high))
    drawing = Drawing(380, 300)
    panel = Panel(drawing, 40, 26, 325, 230, scale)
    panel.axis_up("probability that the true class is found")
    if len(classes) <= 8:
        few = classes
    else:
        few = panel.across.ticks(6)
    panel.axis_across("number of classes", few, [f"{tick:g}" for tick in few])
    rounds = [_rounds(row) for row in rows]
    lines = _lines(rows, top)
    places = [panel.x(k) for k in classes]
    wide = max((high - low for low, high in (wilson(0.5, n) for n in rounds if n)), default=0.0)
    step = min((b - a for a, b in zip(places, places[1:])), default=0.0) * (wide > _NARROW)
    for index, (_, look, shade, shape, mark, parts) in enumerate(lines):
        shift = (index / (len(lines) - 1) - 0.5) * _ASIDE * step
        points = [(x + shift, panel.y(part["success"])) for x, part in zip(places, parts)]
        with drawing.group(stroke_opacity=shade, fill_opacity=shade):
            drawing.line(points, f"{look} thin")
            for (x, y), part, n in zip(points, parts, rounds):
                if n:
                    ends = map(panel.y, wilson(part["success"], n))
                    drawing.line([(x, end) for end in ends], f"{look.split()[0]} bar")
                drawing.mark(shape, x, y, mark, r=3.5)
    return drawing


def _key(lines):
    drawing = Drawing(60 + max(text_width(words) for words, *_ in lines), 20 * len(lines) + 4)
    for index, (words, look, shade, shape, mark, _) in enumerate(lines):
        y = 20 * index + 10
        with drawing.group(stroke_opacity=shade, fill_opacity=shade):
            drawing.line([(2, y), (38, y)], f"{look} thin")
            drawing.mark(shape, 20, y, mark, r=3.5)
        drawing.text(46, y + 4, words)
    return drawing


def _rounds(row):
    parts = [row["max_win"], row["adag"], row["ddag"], *row["polls"]]
    part = max(parts, key=lambda part: part["standard_error"])
    share = part["success"]
    error = part["standard_error"]
    if error:
        return round(share * (1 - share) / error**2)
    return 0


def _formula(word):
    if not word.endswith("log"):
        return f"l = {word}"
    factor = word.removesuffix("log")
    return f"l = {'' if float(factor) == 1 else factor + ' '}log\u2082 k"
