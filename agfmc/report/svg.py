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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from .words import clean, cut, WHOLE

SIZE, LINE = 12, 16  # pixels of text, and from one line of it to the next
WIDTH = 328  # of small pictures, which stand beside each other on a laptop and fit a phone
_AXIS = 50  # pixels left of a panel, for the numbers of its axis

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


# Scales and ticks


class Scale(NamedTuple):
    """A scale from low to high in equal steps, or in equal factors, for which both are above 0."""

    low: float
    high: float
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """The place of a value, 0 at low and 1 at high."""
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = map(math.log, (low, high, max(value, low)))
        return (value - low) / (high - low)

    def ticks(self, most: int) -> list[float]:
        """Round numbers within the scale, at most so many, and 2 if that is possible: multiples of
        1, 2 or 5 times a power of ten, or powers of ten with 2, 5 and others where there is room."""
        if self.logarithmic:
            return self._powers(most)
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

    def _powers(self, most):
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in ((1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
            numbers = [digit * 10.0**power for power in powers for digit in digits]
            numbers = [number for number in numbers if self.low <= number <= self.high]
            if len(numbers) <= most:
                return numbers
        return numbers[:: -(-len(numbers) // max(most, 1))]

    @classmethod
    def around(cls, values: Iterable[float], margin: float = 0.06) -> Scale:
        """A scale on which all the values are, with a margin as a share of their range."""
        values = list(values)
        low = min(values, default=0.0)
        high = max(values, default=1.0)
        rise = (high - low) * margin or abs(high) * margin or 0.5
        return cls(low - rise, high + rise)


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


# Paths of marks around their places.
_MARKS = {
    "square": "m-4 -4h8v8h-8z",
    "diamond": "m0 -7l7 7l-7 7l-7 -7z",
    "cross": "m-4 -4l8 8m0 -8l-8 8",
    "up": "m-4 3.5h8l-4 -7z",
    "down": "m-4 -3.5h8l-4 7z",
    "line": "m-9 0h18",
}


class Drawing:
    """Shapes on `width` by `height` pixels, as SVG for a page (`markup`) or a part of a file
    (`elements`); what is added later lies above.

    Of each shape `look` are its classes in `charts.css`, and `title` is shown when it is pointed
    at; further attributes are those of SVG, with `_` for `-`.
    """

    def __init__(self, width: float, height: float):
        self.width, self.height = width, height
        self._elements: list[str] = []

    def add(self, tag, look="", title="", *, text=None, **attributes):
        """A shape; "g" begins a group."""
        inside = ""
        if title:
            inside = f"<title>{_text(title)}</title>"
        if text is not None:
            inside += _text(text)
        head = f"{tag}{_attributes(look, attributes)}"
        if tag == "g":
            self._elements.append(f"<{head}>{inside}")
        elif inside or text is not None:
            self._elements.append(f"<{head}>{inside}</{tag}>")
        else:
            self._elements.append(f"<{head}/>")

    @contextmanager
    def group(self, title: str = "", **attributes) -> Iterator[None]:
        """The shapes that are added within the block belong together."""
        self.add("g", "", title, **attributes)
        yield
        self._elements.append("</g>")

    def rect(self, x, y, width, height, look, title="", **attributes):
        """A rectangle with its corner at the upper left."""
        self.add("rect", look, title, x=x, y=y, width=width, height=height, **attributes)

    def path(self, d, look, title="", **attributes):
        """A path in the language of SVG."""
        self.add("path", look, title, d=d, **attributes)

    def mark(self, shape, x, y, look, title="", *, r=5, **attributes):
        """A mark at a place: a "circle" of radius `r`, or another of `_MARKS`."""
        if shape == "circle":
            self.add(shape, look, title, cx=x, cy=y, r=r, **attributes)
        else:
            self.path(f"M{pixels(x)} {pixels(y)}{_MARKS[shape]}", look, title, **attributes)

    def key(self, shape, x, y, look, words, *, width=0, **attributes):
        """A mark, 20 pixels wide at most, with what it means right of it."""
        self.mark(shape, x + 10, y, look, **attributes)
        self.text(x + 25, y + 4, words, width=width)

    def level_bar(self, low, high, y):
        """A level bar with ends."""
        ends = "".join(f"M{pixels(x)} {pixels(y - 4)}v8" for x in (low, high))
        self.path(f"M{pixels(low)} {pixels(y)}H{pixels(high)}{ends}", "left curve")

    def heat_map(self, x, y, cell, rows, palette):
        """Cells of (width, height) in the colours of `palette`, (red, green, blue, opacity) of 0 to
        255, whose numbers are in `rows`; they are one image."""
        self.add(
            "image",
            x=x,
            y=y,
            width=cell[0] * len(rows[0]),
            height=cell[1] * len(rows),
            preserveAspectRatio="none",
            href=_png_address(rows, palette),
        )

    def text(self, x, y, text, look="", *, width=0, title="", **attributes):
        """Text on the base line y that begins at x, or ends or is centred there (look: "end",
        "mid"). It is cut to `width` pixels, its whole being the title."""
        shown = cut_to_width(text, width or math.inf)
        if "…" in shown and width:
            title = title or text
        self.add("text", look, title, text=shown, x=x, y=y, **attributes)

    def upright(self, x, y, text, **more):
        """Text that rises from a place."""
        self.text(x, y, text, transform=f"rotate(-90 {pixels(x)} {pixels(y)})", **more)

    def line(self, points, look, title=""):
        """A line through points, in one path."""
        places = " ".join(f"{pixels(x)} {pixels(y)}" for x, y in points)
        self.path(f"M{places}", look, title)

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
        return "".join(self._elements)


def _png_address(rows, palette):
    """A PNG image of rows of numbers, of equal lengths, as a `data:` address."""

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


class Panel:
    """A rectangle of a drawing with a scale across and one upwards."""

    def __init__(self, drawing, left, top, width, height, across, up=Scale(0, 1)):
        self.drawing, self.across, self.up = drawing, across, up
        self.left, self.top, self.width, self.height = left, top, width, height
        self.right, self.bottom = left + width, top + height

    @classmethod
    def small(cls, across, up, height, *, above=26, below=50) -> Panel:
        """A panel in a new small picture, with room for the titles of its axes."""
        drawing = Drawing(WIDTH, above + height + below)
        return cls(drawing, _AXIS, above, WIDTH - _AXIS - 14, height, across, up)

    def x(self, value: float) -> float:
        """Pixels from the left of the drawing."""
        return self.left + self.width * self.across.share(value)

    def y(self, value: float) -> float:
        """Pixels from the top of the drawing."""
        return self.bottom - self.height * self.up.share(value)

    def curve(self, points, look, title=""):
        """A line through points (across, up)."""
        self.drawing.line([(self.x(x), self.y(y)) for x, y in points], look, title)

    def interval(self, x, ends, look):
        """An upright line between two values upwards."""
        self.curve([(x, end) for end in ends], look)

    def mark(self, shape, x, y, look, title="", **more):
        """A mark at a point (across, up)."""
        self.drawing.mark(shape, self.x(x), self.y(y), look, title, **more)

    def bar(self, x, width, value, look, title="", **attributes):
        """A bar from the lower side to a value; x and `width` are pixels."""
        y = self.y(value)
        self.drawing.rect(x, y, width, self.bottom - y, look, title, **attributes)

    def axis_across(self, title="", ticks=None, texts=None, grid=True):
        """Ticks with their numbers below the panel, lines of a grid, and the title below them."""
        drawing = self.drawing
        if ticks is None:
            ticks = self._apart()
        if texts is None:
            texts = tick_texts(ticks)
        if grid:
            lines = (
                f"M{pixels(self.x(tick))} {pixels(self.top)}V{pixels(self.bottom)}"
                for tick in ticks
            )
            drawing.path("".join(lines), "grid")
        drawing.line([(self.left, self.bottom), (self.right, self.bottom)], "axis")
        for tick, text in zip(ticks, texts):
            half = text_width(text) / 2
            x = min(max(self.x(tick), half), drawing.width - half)
            drawing.text(x, self.bottom + 15, text, "mid small")
        if title:
            drawing.text(self.left + self.width / 2, self.bottom + 32, title, "mid")

    def axis_up(self, title="", ticks=None):
        """Ticks with their numbers left of the panel, a grid, and the title above them, level."""
        drawing = self.drawing
        if ticks is None:
            ticks = self.up.ticks(max(2, int(self.height / 34)))
        lines = (
            f"M{pixels(self.left)} {pixels(self.y(tick))}H{pixels(self.right)}" for tick in ticks
        )
        drawing.path("".join(lines), "grid")
        for tick, text in zip(ticks, tick_texts(ticks)):
            drawing.text(self.left - 6, self.y(tick) + 4, text, "end small")
        drawing.text(0, self.top - 10, title)

    def _apart(self):
        """The ticks for which there is room."""
        for most in range(8, 1, -1):
            ticks = self.across.ticks(most)
            widest = max(map(text_width, tick_texts(ticks)))
            if len(ticks) <= max(1, self.width / (widest + 12)) + 1:
                break
        return ticks
