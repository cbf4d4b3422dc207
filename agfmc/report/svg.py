"""Drawings: shapes, their looks by name, text with its measure, and panels with axes.

A drawing is as wide as it is shown, one unit is a pixel, and no text is smaller than `SIZE`.
Looks are classes of `charts.css`, whose colours are those of `colours`; no element of its SVG has
an id, so that pictures never meet.
"""

from __future__ import annotations

import base64
import math
import struct
import unicodedata
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from .words import clean, cut, WHOLE

SIZE, LINE = 12, 16  # pixels of text, and from one line of it to the next
WIDTH = 328  # of small pictures, which stand beside each other on a laptop and fit a phone

# Hundredths of the size that letters are wide in the wider ones of the usual sans-serif types.

_WIDTHS = {
    letter: width
    for width, letters in (
        (22, "'\u202f"),
        (32, " ,.Iijl"),
        (37, "-/:;\\f|"),
        (40, "!()[]rt"),
        (45, '"'),
        (52, "*J`sz"),
        (56, "?L_c"),
        (62, "FTaekovxy"),
        (64, "$0123456789EKPSYbdghnpqu{}"),
        (69, "ABCRVXZ"),
        (77, "DHNU"),
        (80, "&GOQw"),
        (84, "#+<=>M^~\u2212"),
        (97, "%m"),
        (100, "@W"),
    )
    for letter in letters
}


def text_width(text: str, size: float = SIZE) -> float:
    """Pixels that `text` takes, rather too many than too few."""
    return size / 100 * sum(_letter_width(letter) for letter in text)


def _letter_width(letter):
    if letter in _WIDTHS:
        return _WIDTHS[letter]
    if unicodedata.combining(letter):
        return 0
    if unicodedata.east_asian_width(letter) in "WFA" or letter.isupper():
        return 100
    return 70


def cut_to_width(text: str, width: float) -> str:
    """`text` on one line, its middle left out where it is wider than so many pixels."""
    text = cut(text, WHOLE)
    if text_width(text) <= width + 1e-6:  # a width may be that of the text, rounded
        return text
    fitting = bisect_right(
        range(2, len(text)), width, key=lambda longest: text_width(cut(text, longest))
    )
    return cut(text, max(fitting, 1) + 1)


def png_address(rows: Sequence[bytes], palette: Sequence[tuple[int, int, int, int]]) -> str:
    """A PNG image of rows of numbers, of equal lengths, in a palette of at most 256 (red, green,
    blue, opacity) from 0 to 255, as a `data:` address."""

    def chunk(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    image = b"\x89PNG\r\n\x1a\n" + b"".join(
        (
            chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)),
            chunk(b"PLTE", bytes(part for colour in palette for part in colour[:3])),
            chunk(b"tRNS", bytes(colour[3] for colour in palette)),
            chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 9)),
            chunk(b"IEND", b""),
        )
    )
    return "data:image/png;base64," + base64.b64encode(image).decode("ascii")


def pixels(value: float) -> str:
    """A number of pixels as text, with one decimal at most, as short as it can be."""
    text = f"{value:.1f}".removesuffix(".0")
    if text == "-0":
        return "0"
    return text


def short(value: float, digits: int = 4) -> str:
    """A number for people: `digits` significant ones at least where it is below 1000."""
    if value != value:
        return "-"
    if value == int(value) and abs(value) < 10**6:
        return str(int(value))
    if abs(value) >= 10**6:
        return f"{value:.2g}".replace("e+0", "e").replace("e+", "e")
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def level_bar(low: float, high: float, y: float) -> str:
    """The path of a level bar with ends."""
    return f"M{pixels(low)} {pixels(y)}H{pixels(high)}" + "".join(
        f"M{pixels(x)} {pixels(y - 4)}v8" for x in (low, high)
    )


# Scales and ticks


class Linear(NamedTuple):
    """A scale from low to high, in equal steps."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """The place of a value, 0 at low and 1 at high."""
        return (value - self.low) / (self.high - self.low)

    def ticks(self, most: int) -> list[float]:
        """Multiples of 1, 2 or 5 times a power of ten within the scale, at most so many, and 2 if
        that is possible."""
        low, high, most = self.low, self.high, max(most, 1)
        step = 10.0 ** math.floor(math.log10((high - low) / most))
        while True:
            for factor in (1, 2, 5):
                first = math.ceil(low / (factor * step) - 1e-9)
                last = math.floor(high / (factor * step) + 1e-9)
                if last - first + 1 <= most:
                    return [
                        round(index * factor * step, 12) for index in range(first, last + 1)
                    ] or [low]
            step *= 10

    @classmethod
    def around(cls, values: Iterable[float], margin: float = 0.06) -> Linear:
        """A scale on which all the values are, with a margin as a share of their range."""
        values = list(values)
        low = min(values, default=0.0)
        high = max(values, default=1.0)
        rise = (high - low) * margin or abs(high) * margin or 0.5
        return cls(low - rise, high + rise)


class Logarithmic(NamedTuple):
    """A scale from low to high, both above 0, in equal factors."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """The place of a value, 0 at low and 1 at high."""
        return (math.log(max(value, self.low)) - math.log(self.low)) / (
            math.log(self.high) - math.log(self.low)
        )

    def ticks(self, most: int) -> list[float]:
        """Powers of ten within the scale, with 2, 5 and others of each where there is room."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in ((1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
            candidates = [
                digit * 10.0**power
                for power in powers
                for digit in digits
                if self.low <= digit * 10.0**power <= self.high
            ]
            if len(candidates) <= most:
                return candidates
        return candidates[:: -(-len(candidates) // max(most, 1))]


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """The numbers of an axis, all with the same digits behind the point."""
    steps = [abs(b - a) for a, b in zip(ticks, ticks[1:])] or [abs(tick) for tick in ticks]
    step = min((step for step in steps if step), default=1.0)
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    if places > 6 or max(map(abs, ticks), default=0.0) >= 1e6:
        return [short(tick, 3) for tick in ticks]
    places += any(abs(tick * 10**places - round(tick * 10**places)) > 1e-6 for tick in ticks)
    return [f"{tick:.{places}f}".replace("-", "\u2212") for tick in ticks]


# Drawings


class Shape(NamedTuple):
    """A part of a drawing.

    Attributes
    ----------
    tag : "rect", "circle", "path", "text", "image", or "g", which begins a group that "/g" ends
    look : its classes in `charts.css`
    attributes : attributes of SVG, with `_` for `-`
    """

    tag: str
    look: str = ""
    attributes: Mapping[str, Any] = {}
    title: str = ""
    text: str = ""


class Drawing:
    """Shapes on `width` by `height` pixels, as SVG for a page (`markup`) or a part of a file
    (`elements`); what is added later lies above."""

    def __init__(self, width: float, height: float):
        self.width, self.height = width, height
        self.shapes: list[Shape] = []

    def add(self, tag: str, look: str = "", title: str = "", **attributes) -> None:
        """A shape without content but a title, which is shown when it is pointed at."""
        self.shapes.append(Shape(tag, look, attributes, title))

    @contextmanager
    def group(self, title: str = "", **attributes) -> Iterator[None]:
        """The shapes that are added within the block belong together."""
        self.shapes.append(Shape("g", "", attributes, title))
        yield
        self.shapes.append(Shape("/g"))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        look: str = "",
        *,
        width: float = 0,
        title: str = "",
        **attributes,
    ) -> None:
        """Text on the base line y that begins at x, or ends or is centred there (look: "end",
        "mid"). It is cut to `width` pixels, its whole being the title."""
        shown = cut_to_width(text, width or math.inf)
        if "…" in shown and width:
            title = title or text
        self.shapes.append(Shape("text", look, {"x": x, "y": y, **attributes}, title, shown))

    def line(
        self, points: Iterable[tuple[float, float]], look: str, title: str = "", **attributes
    ) -> None:
        """A line through points, in one path."""
        places = " ".join(f"{pixels(x)} {pixels(y)}" for x, y in points)
        self.add("path", look, title, d=f"M{places}", **attributes)

    def bars(
        self, bars: Iterable[tuple[float, float, float, float]], look: str, **attributes
    ) -> None:
        """Rectangles (x, y, width, height) in one path."""
        self.add(
            "path",
            look,
            d="".join(
                f"M{pixels(x)} {pixels(y)}h{pixels(w)}v{pixels(h)}h{pixels(-w)}z"
                for x, y, w, h in bars
            ),
            **attributes,
        )

    def markup(self, label: str) -> str:
        """SVG of it, in which all text and all values of attributes are escaped. `label` describes
        it for those who cannot see it."""
        size = f"{pixels(self.width)} {pixels(self.height)}"
        width, height = size.split()
        label = _quoted(cut(label, 1000))
        return (
            f'<svg class="chart" role="img" aria-label={label} viewBox="0 0 {size}" '
            f'width="{width}" height="{height}">{self.elements()}</svg>'
        )

    def elements(self) -> str:
        """The elements of its SVG without the element around them."""
        return "".join(map(_element, self.shapes))


def _element(shape):
    if shape.tag == "/g":
        return "</g>"
    if shape.title:
        inside = f"<title>{_text(shape.title)}</title>"
    else:
        inside = ""
    head = f"<{shape.tag}{_attributes(shape.look, shape.attributes)}"
    if shape.tag == "g":
        return f"{head}>{inside}"
    inside += _text(shape.text)
    if inside or shape.tag == "text":
        return f"{head}>{inside}</{shape.tag}>"
    return f"{head}/>"


def _text(text):
    """Text of an element, escaped; the middle of very long ones is left out, as in tables."""
    return escape(cut(str(text), WHOLE))


def _quoted(text):
    return quoteattr(clean(str(text)))


def _attributes(look, attributes):
    if look:
        parts = [f" class={_quoted(look)}"]
    else:
        parts = []
    for name, value in attributes.items():
        if value is None or value == ():
            continue
        if isinstance(value, (tuple, list)):
            value = " ".join(map(str, value))
        elif isinstance(value, float):
            value = pixels(value)
        parts.append(f" {name.replace('_', '-')}={_quoted(value)}")
    return "".join(parts)


class Box(NamedTuple):
    """A rectangle of a drawing."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right side."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Its lower side."""
        return self.top + self.height


class Panel:
    """A rectangle of a drawing with a scale across and one upwards."""

    def __init__(
        self, drawing: Drawing, box: Box, across: Linear | Logarithmic, up: Linear | Logarithmic
    ):
        self.drawing, self.box, self.across, self.up = drawing, box, across, up

    def x(self, value: float) -> float:
        """Pixels from the left of the drawing."""
        return self.box.left + self.box.width * self.across.share(value)

    def y(self, value: float) -> float:
        """Pixels from the top of the drawing."""
        return self.box.bottom - self.box.height * self.up.share(value)

    def places(self, points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        """Places in the drawing of points (across, up)."""
        return [(self.x(x), self.y(y)) for x, y in points]

    def axis_across(
        self,
        title: str = "",
        ticks: Sequence[float] | None = None,
        texts: Sequence[str] | None = None,
        grid: bool = True,
    ) -> None:
        """Ticks with their numbers below the panel, lines of a grid, and the title below them."""
        box = self.box
        drawing = self.drawing
        if ticks is None:
            ticks = self._apart(self.across, box.width)
        if texts is None:
            texts = tick_texts(ticks)
        if grid:
            self._grid(
                [
                    f"M{pixels(self.x(tick))} {pixels(box.top)}V{pixels(box.bottom)}"
                    for tick in ticks
                ]
            )
        drawing.line([(box.left, box.bottom), (box.right, box.bottom)], "axis")
        for tick, text in zip(ticks, texts):
            half = text_width(text) / 2
            x = min(max(self.x(tick), half), drawing.width - half)
            drawing.text(x, box.bottom + 15, text, "mid small")
        if title:
            drawing.text(box.left + box.width / 2, box.bottom + 32, title, "mid")

    def axis_up(self, title: str = "", ticks: Sequence[float] | None = None) -> None:
        """Ticks with their numbers left of the panel, a grid, and the title above them, level."""
        box = self.box
        drawing = self.drawing
        if ticks is None:
            ticks = self.up.ticks(max(2, int(box.height / 34)))
        self._grid(
            [f"M{pixels(box.left)} {pixels(self.y(tick))}H{pixels(box.right)}" for tick in ticks]
        )
        for tick, text in zip(ticks, tick_texts(ticks)):
            drawing.text(box.left - 6, self.y(tick) + 4, text, "end small")
        if title:
            drawing.text(0, box.top - 10, title)

    def _apart(self, scale, width):
        """The ticks for which there is room."""
        for most in range(8, 1, -1):
            ticks = scale.ticks(most)
            widest = max(map(text_width, tick_texts(ticks)))
            if len(ticks) <= max(1, width / (widest + 12)) + 1:
                break
        return ticks

    def _grid(self, lines):
        self.drawing.add("path", "grid", d="".join(lines))
