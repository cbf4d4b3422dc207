"""Files, looks and sizes of all pictures; places of labels that cover nothing.

matplotlib is loaded when something is drawn, by its own settings alone, and never needs a
screen.
"""

import base64
import importlib.util
import io
import logging
import math
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager

from ..control.dot import visible
from ..errors import AgfmcWarning, DataError, UsageError
from ..formats.atomic import check_output, replacing
from .style import FALLBACKS, LIGHT, MATPLOTLIB

__all__ = ["GREY", "GRID", "INK", "LEFT", "MUTED", "RIGHT", "check_picture", "class_name",
           "class_names",
           "load_matplotlib", "nearest", "new_figure", "overlap", "page", "place_labels", "save",
           "styled", "text_width", "thinned"]


def load_matplotlib():
    """Import matplotlib with its own settings alone; ImportError where it is missing.

    By itself it would read a file `matplotlibrc` of the current folder first, which in
    a stranger's folder can hold anything; DataError where that cannot be helped.  Does
    nothing where it is loaded already.
    """
    if "matplotlib" in sys.modules:
        return
    spec = importlib.util.find_spec("matplotlib")
    if spec is None:
        raise ImportError("matplotlib is missing")
    with _folder(os.path.join(os.path.dirname(spec.origin), "mpl-data")), _no_backend():
        # of a cache that cannot be kept nobody needs to know
        logging.getLogger("matplotlib").setLevel(logging.ERROR)
        importlib.import_module("matplotlib")


@contextmanager
def _folder(path):
    """The current folder is `path`, or the root where there is no such folder."""
    try:
        # O_PATH, where there is one, does not need the right to list the folder
        back = os.open(os.curdir, getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY)
    except OSError as error:  # no way back
        if os.path.lexists("matplotlibrc"):
            raise DataError("matplotlib would read it, and no other folder can be used: "
                            "draw the picture elsewhere", file="matplotlibrc") from error
        yield
        return
    try:
        os.chdir(path if os.path.isdir(path) else os.sep)
        yield
    finally:
        os.fchdir(back)
        os.close(back)


@contextmanager
def _no_backend():
    """A wrong name in MPLBACKEND would be an error, and nothing is shown on a screen."""
    name = os.environ.pop("MPLBACKEND", None)
    try:
        yield
    finally:
        if name is not None:
            os.environ["MPLBACKEND"] = name


LEFT, RIGHT, GREY, GRID, INK, MUTED = (
    LIGHT[name] for name in ("left", "right", "grey", "grid", "ink", "muted"))

_KINDS = {".png": "png", ".svg": "svg", ".pdf": "pdf"}
_UNDATED = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
_MOST_PIXELS = 20_000  # along a side
_MOST_COLOURS = 256  # of an image with a palette
_IMAGE = re.compile(rb"data:image/png;base64,([A-Za-z0-9+/=\s]{65536,})")  # a large one


def check_picture(path: str) -> None:
    """Raise UsageError unless matplotlib is there and `path` names a kind of picture.

    And DataError where no file can be written there.
    """
    if path[-4:].lower() not in _KINDS:
        raise UsageError(f"--plot {path}: expected a name that ends in "
                         + " or ".join(_KINDS))
    new_figure()
    check_output(path)


def new_figure(**settings):
    """A figure without a screen; UsageError where matplotlib is missing."""
    try:
        load_matplotlib()
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("--plot needs matplotlib: pip install 'agfmc[plot]'") from None
    return Figure(**settings)


@contextmanager
def styled(math=False):
    """The looks of all pictures, whatever the user's own settings; math: True where $ marks it."""
    import matplotlib
    from matplotlib.font_manager import fontManager
    there = {font.name for font in fontManager.ttflist}
    fonts = ["DejaVu Sans", *(font for font in FALLBACKS if font in there)]
    log = logging.getLogger("matplotlib.font_manager")  # it reports each font without bold type
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with matplotlib.rc_context({**matplotlib.rcParamsDefault, **MATPLOTLIB,
                                    "text.parse_math": math, "font.family": fonts}):
            yield
    finally:
        log.setLevel(level)


def save(path: str, make: Callable, math: bool = False) -> None:
    """Write the figure that `make()` returns; the kind of picture follows from the name.

    The same figure gives the same bytes with the same matplotlib.  The file is
    written whole or not at all.
    Raises UsageError as `check_picture`, DataError when the file cannot be written.
    """
    check_picture(path)
    kind = _KINDS[path[-4:].lower()]
    image = io.BytesIO()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with styled(math):
            figure = make()
            dpi = min(MATPLOTLIB["savefig.dpi"], _MOST_PIXELS / max(figure.get_size_inches()))
            figure.savefig(image, format=kind, metadata=_UNDATED[kind], dpi=dpi)
    _pass_on(path, caught)
    content = image.getvalue()
    if kind == "svg":
        content = _IMAGE.sub(_with_palette, content)
    with replacing(path, binary=True) as file:
        file.write(content)


def _with_palette(match):
    """An image within SVG again, with a byte for each element where it has few colours."""
    import numpy as np
    from PIL import Image
    pixels = np.array(Image.open(io.BytesIO(base64.b64decode(match[1]))).convert("RGBA"))
    colours, places = np.unique(pixels.view(np.uint32), return_inverse=True)
    if len(colours) > _MOST_COLOURS:
        return match[0]
    small = Image.fromarray(places.reshape(pixels.shape[:2]).astype(np.uint8), "P")
    small.putpalette(colours.tobytes(), "RGBA")
    file = io.BytesIO()
    small.save(file, "png", optimize=True)
    return b"data:image/png;base64," + base64.b64encode(file.getvalue())


def _pass_on(path, caught):
    """Pass warnings on, with one for all signs that no font has."""
    missing = [warning for warning in caught if str(warning.message).startswith("Glyph ")]
    if missing:
        warnings.warn(f"{path}: no font here has all characters of the names; missing ones are "
                      "drawn as boxes", AgfmcWarning, stacklevel=3)
    for warning in caught:
        if warning not in missing:
            warnings.warn_explicit(warning.message, warning.category, warning.filename,
                                   warning.lineno)


def page(width, height):
    """A figure of `width` x `height` inches, and axes over all of it in inches from the top left.

    -> figure, axes
    """
    figure = new_figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    return figure, axes


def text_width(texts: Iterable[str], size: float) -> float:
    """Width in inches of the widest of `texts` in font size `size`; 0 without texts."""
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.font_manager import FontProperties
    renderer = RendererAgg(10, 10, 100)
    font = FontProperties(size=size)
    return max((renderer.get_text_width_height_descent(line, font, False)[0] / 100
                for text in set(texts) for line in text.split("\n") if line), default=0.0)


def class_name(names: dict | None, label: int, longest: int = 40) -> str:
    """The name of a class in a picture, or its label where it has none.

    A longer one is cut in the middle: names often differ at their ends.
    """
    name = visible(str((names or {}).get(label, label)), 10**6).replace("\n", " ")
    tail = (longest - 3) // 2
    return name if len(name) <= longest else f"{name[:longest - 3 - tail]}...{name[-tail:]}"


def class_names(names: dict | None, labels: Iterable[int], longest: int = 40) -> list[str]:
    """The names of classes as `class_name` has them, or, where two are cut alike, what differs.

    Then of long names the part is kept around what they do not share at their beginnings and
    ends; names that are alike still stand behind their labels.
    """
    labels = list(labels)
    called = [class_name(names, label, longest) for label in labels]
    if len(set(called)) == len(called):
        return called
    whole = [class_name(names, label, 10**6) for label in labels]
    called = _differing(whole, longest)
    if len(set(called)) == len(called):
        return called
    return [f"{label}: {name}" for label, name in zip(labels, called)]


def _differing(texts, longest):
    """Each text, of a longer one the part around what differs between the longer ones."""
    long = [text for text in texts if len(text) > longest]
    head = len(os.path.commonprefix(long))
    tail = min(len(os.path.commonprefix([text[::-1] for text in long])),
               min(map(len, long)) - head)
    room = max(longest - 6, 1)  # two gaps
    result = []
    for text in texts:
        if len(text) > longest:
            first = max((head + len(text) - tail - room) // 2, 0)
            first = min(first, head, len(text) - room)
            last = first + room
            if first and (word := text.rfind(" ", first, head)) >= 0:
                first = text.index(" ", first, word + 1) + 1  # whole words
            if last < len(text) and (word := text.rfind(" ", len(text) - tail, last)) >= 0:
                last = word
            part = text[first:last].strip(" ,;:") if first or last < len(text) else text
            text = f"{'...' * (first > 0)}{part}{'...' * (last < len(text))}"
        result.append(text)
    return result


def thinned(count: int, room: int) -> range:
    """The positions, out of `count`, that are labelled where there is room for `room` labels.

    Every one, or every second, fifth, tenth, ... one.
    """
    step, scale = 1, 1
    while -(-count // step) > max(room, 1):
        for factor in (2, 5, 10):
            step = factor * scale
            if -(-count // step) <= max(room, 1):
                break
        scale *= 10
    return range(0, count, step)


# Labels of points

_HEIGHT = 0.15  # inches, of a line of text
_RADII = (0.09, 0.16, 0.24, 0.32, 0.42, 0.52, 0.64, 0.76, 0.9, 1.05, 1.25, 1.5, 1.8, 2.2)
_ANGLES = tuple(math.radians(angle) for angle in
                (0, 180, 90, 270, 35, 325, 145, 215, 65, 295, 115, 245, 15, 345, 165, 195))
_MARKER = 0.06


def place_labels(points: Iterable, widths: Sequence[float], bars: Sequence, room: tuple[float,
                 float]) -> list[tuple]:
    """Rectangles (left, bottom, right, top) of the labels of `points`, all in inches.

    points: (x, y), the most important first; widths: of their labels; bars:
    segments (x0, y0, x1, y1) better left free; room: (width, height).  The nearest
    free place is taken, to the right if that is free; where none is, the place that
    covers least.  The same input gives the same places.
    """
    points = list(points)
    marks = [(x - _MARKER, y - _MARKER, x + _MARKER, y + _MARKER) for x, y in points]
    placed, leaders = [], []
    for i, (x, y) in enumerate(points):
        best = None
        for turn, radius in enumerate(_RADII):
            for angle in _ANGLES:
                dx, dy = math.cos(angle), math.sin(angle)
                # the side that faces the point is what stands at this distance
                centre = (x + dx * radius + (0.0 if abs(dx) < 0.1 else
                                             math.copysign(widths[i] / 2, dx)),
                          y + dy * radius + (0.0 if abs(dy) < 0.1 else
                                             math.copysign(_HEIGHT / 2, dy) * abs(dy)))
                spot = (centre[0] - widths[i] / 2, centre[1] - _HEIGHT / 2,
                        centre[0] + widths[i] / 2, centre[1] + _HEIGHT / 2)
                if spot[0] < 0 or spot[1] < 0 or spot[2] > room[0] or spot[3] > room[1]:
                    continue
                leader = (x, y, *nearest(spot, x, y))
                cost = (100 * sum(overlap(spot, other) for other in placed) +
                        30 * sum(overlap(spot, mark) for mark in marks) +
                        8 * sum(_crosses(line, spot) for line in leaders) +
                        3 * sum(_crosses(bar, spot) for bar in bars) +
                        (8 * sum(_crosses(leader, other) for other in placed) +
                         8 * sum(_crosses(leader, mark) for j, mark in enumerate(marks) if j != i) +
                         6 * sum(_meet(leader, other) for other in leaders) +
                         1 * sum(_meet(leader, bar) for bar in bars)
                         if turn > 1 else 0) + 0.7 * turn)
                if best is None or cost < best[0]:
                    best = (cost, spot, leader if turn > 1 else None)
            if best is not None and best[0] <= 0.7 * turn:
                break
        if best is None:  # wider than the room
            best = (0, (x, y, x + widths[i], y + _HEIGHT), None)
        placed.append(best[1])
        if best[2] is not None:
            leaders.append(best[2])
    return placed


def overlap(a: tuple, b: tuple) -> bool:
    """True where two rectangles (left, bottom, right, top) have more than an edge in common."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def nearest(spot: tuple, x: float, y: float) -> tuple[float, float]:
    """The point of a rectangle that is nearest to (x, y)."""
    return min(max(x, spot[0]), spot[2]), min(max(y, spot[1]), spot[3])


def _crosses(line, spot):
    """True where a segment enters a rectangle (Liang and Barsky's clipping)."""
    x0, y0, x1, y1 = line
    enter, leave = 0.0, 1.0
    for delta, start, low, high in ((x1 - x0, x0, spot[0], spot[2]), (y1 - y0, y0, spot[1],
                                                                      spot[3])):
        if delta == 0:
            if not low < start < high:
                return False
            continue
        near, far = sorted(((low - start) / delta, (high - start) / delta))
        enter, leave = max(enter, near), min(leave, far)
    return enter < leave


def _meet(a, b):
    """True where two segments cross."""

    def side(line, x, y):
        x0, y0, x1, y1 = line
        return (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)

    return (side(a, *b[:2]) * side(a, *b[2:]) < 0) and (side(b, *a[:2]) * side(b, *a[2:]) < 0)
