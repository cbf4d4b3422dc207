"""Pictures as files: the drawings of pages, drawn by matplotlib.

matplotlib is loaded when something is drawn, by its default settings alone, and never needs a
screen.
"""

from __future__ import annotations

import base64
import importlib.util
import io
import logging
import os
import pkgutil
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import contextmanager

from ..core.errors import DataError, needed_library, UsageError, warn_user
from ..files.atomic import check_output, replacing
from .classes import with_distinct_names
from .colours import FALLBACKS, LIGHT, MATPLOTLIB
from .content import Picture
from .svg import LINE, text_width
from .words import clean


def load_matplotlib():
    """Import matplotlib with its default settings alone; `ImportError` where it is missing.

    By itself it would read a file `matplotlibrc` of the current folder first, which in a
    stranger's folder can hold anything; `DataError` where that cannot be helped.
    """
    if "matplotlib" in sys.modules:
        return
    spec = importlib.util.find_spec("matplotlib")
    if spec is None:
        raise ModuleNotFoundError("matplotlib is missing")
    with _folder(os.path.join(os.path.dirname(spec.origin), "mpl-data")), _no_backend():
        # a cache that cannot be stored needs no warning
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
            raise DataError(
                "matplotlib would read it, and no other folder can be used: "
                "draw the picture elsewhere",
                file="matplotlibrc",
            ) from error
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


_KINDS = {".png": "png", ".svg": "svg", ".pdf": "pdf"}
_UNDATED = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
_MOST_PIXELS = 20_000  # along a side
_MOST_INCHES = 180  # of a page that programs show
_INCH, _POINT = 96, 0.75  # pixels of an inch, and points of type in a pixel
_BOLD = 1.15  # of the width of text: that of bold text
_MARGIN, _GAP, _WIDEST = 16, 30, 1140  # pixels; between pictures, and of a row of them


def check_picture(path: str) -> None:
    """Raise `UsageError` unless matplotlib is there and `path` names a kind of picture, `DataError`
    where no file can be written there."""
    if path[-4:].lower() not in _KINDS:
        raise UsageError(f"--plot {path}: expected a name that ends in " + " or ".join(_KINDS))
    with needed_library("--plot needs matplotlib: pip install 'agfmc[plot]'"):
        load_matplotlib()
        importlib.import_module("matplotlib.figure")
    check_output(path)


@contextmanager
def styled():
    """The looks of all pictures, whatever the settings of the user."""
    import matplotlib
    from matplotlib.font_manager import fontManager

    there = {font.name for font in fontManager.ttflist}
    fonts = ["DejaVu Sans", *(font for font in FALLBACKS if font in there)]
    log = logging.getLogger("matplotlib.font_manager")  # it reports each font without bold type
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with matplotlib.rc_context(
            {**matplotlib.rcParamsDefault, **MATPLOTLIB, "font.family": fonts}
        ):
            yield
    finally:
        log.setLevel(level)


def picture_names(names: Mapping[int, str] | None) -> dict[int, str]:
    """Names of classes as pictures have them: clean, with their labels where they would look alike."""
    return with_distinct_names({label: clean(name) for label, name in (names or {}).items()}, 40)


def save(path: str, title: str, pictures: Sequence[Picture]) -> None:
    """Write pictures, beside and below each other, with a title above all of them, to a file whose
    kind follows from its name, whole or not at all; the same pictures give the same bytes."""
    check_picture(path)
    kind = _KINDS[path[-4:].lower()]
    image = io.BytesIO()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with styled():
            figure = figure_of(title, pictures)
            dpi = min(MATPLOTLIB["savefig.dpi"], _MOST_PIXELS / max(figure.get_size_inches()))
            figure.savefig(image, format=kind, metadata=_UNDATED[kind], dpi=dpi)
    _pass_on(path, caught)
    with replacing(path, binary=True) as file:
        file.write(image.getvalue())


def _pass_on(path, caught):
    """Pass warnings on, with one for all signs that no font has."""
    missing = [warning for warning in caught if str(warning.message).startswith("Glyph ")]
    if missing:
        warn_user(
            f"{path}: no font here has all characters of the names; missing ones are drawn as boxes"
        )
    for warning in caught:
        if warning not in missing:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def figure_of(title: str, pictures: Sequence[Picture]):
    """The figure of pictures in rows, each with its title above it and its note below it."""
    from matplotlib.figure import Figure

    blocks = []
    for picture in pictures:
        wide = max(picture.drawing.width, 280, _BOLD * text_width(picture.title))
        blocks.append((picture, wide, _wrapped(picture.note, wide)))
    places, x, y, tall, right = [], _MARGIN, 0, 0, 600.0
    for picture, wide, lines in blocks:
        if x > _MARGIN and x + wide > _WIDEST:
            x, y, tall = _MARGIN, y + tall + _GAP, 0
        places.append((x, y))
        right, x = max(right, x + wide), x + wide + _GAP
        tall = max(tall, 2 * LINE + picture.drawing.height + LINE * len(lines) + 12)
    heads = _wrapped(title, right / _BOLD)
    top = _MARGIN + LINE * (len(heads) + bool(heads))
    width = (
        max(
            [x + wide for (x, _), (_, wide, _) in zip(places, blocks)]
            + [_MARGIN + _BOLD * text_width(head) for head in heads]
        )
        + _MARGIN
    )
    height = top + y + tall + _MARGIN
    scale = min(1, _MOST_INCHES * _INCH / max(width, height))
    figure = Figure(figsize=(scale * width / _INCH, scale * height / _INCH))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    pen = _Pen(axes, scale)
    for index, head in enumerate(heads):
        pen.text(_MARGIN, _MARGIN + 12 + LINE * index, head, "strong")
    for (picture, _, lines), (x, y) in zip(blocks, places):
        pen.x, pen.y = x, top + y + 2 * LINE
        pen.text(0, 12 - 2 * LINE, picture.title, "strong")
        for shape in picture.drawing.shapes:
            pen.draw(shape)
        for index, line in enumerate(lines):
            pen.text(0, picture.drawing.height + LINE * (index + 1) + 4, line, "muted")
    return figure


def _wrapped(text, width):
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _looks():
    """[(class, {property: value})] of `charts.css`, with the colours of light pages."""
    css = pkgutil.get_data("agfmc.report", "charts.css").decode()
    rules = []
    for selectors, body in re.findall(r"^([^{}@/]+)\{([^}]*)\}", css, re.MULTILINE):
        pairs = (part.split(": ") for part in body.strip(" ;").split("; "))
        values = {
            name: LIGHT.get(value.removeprefix("var(--").removesuffix(")"), value)
            for name, value in pairs
        }
        rules += [
            (name, values)
            for name in re.findall(r"(?:^|, *)svg\.chart \.([\w-]+)(?=,| |$)", selectors.strip())
        ]
    return rules


class _Pen:
    """Draws shapes at (x, y) on axes whose units are pixels, scaled down where the figure would be
    too large."""

    def __init__(self, axes, scale):
        self.axes, self.scale, self.x, self.y = axes, scale * _POINT, 0, 0
        self._rules, self._groups = _looks(), [{}]

    def _style(self, look, attributes):
        style = {**self._groups[-1], **attributes}
        for name, values in self._rules:
            if name in look.split():
                style.update(values)
        return style

    def draw(self, shape):
        values = {name.replace("_", "-"): value for name, value in shape.attributes.items()}
        if shape.tag == "g":
            self._groups.append({**self._groups[-1], **values})
        elif shape.tag == "/g":
            self._groups.pop()
        elif shape.tag == "text":
            self.text(values["x"], values["y"], shape.text, shape.look, "transform" in values)
        elif shape.tag == "image":
            self._image(values)
        elif "disc" in shape.look.split():
            self._discs(self._style(shape.look, values))
        else:
            self._shape(shape, self._style(shape.look, values))

    def text(self, x, y, text, look="", upright=False):
        """Text from its base line, centred or ending there where its look says so."""
        from matplotlib.patheffects import withStroke

        style = self._style(look, {})
        side = {"end": "right", "middle": "center"}.get(style.get("text-anchor"), "left")
        effects = (
            [withStroke(linewidth=3 * self.scale, foreground=style["stroke"])]
            if "paint-order" in style
            else None
        )
        self.axes.text(
            self.x + x,
            self.y + y,
            text,
            ha=side,
            va="baseline",
            rotation=90 * upright,
            rotation_mode="anchor",
            fontsize=12 * self.scale,
            fontweight=int(style.get("font-weight", 400)),
            color=style.get("fill", LIGHT["ink"]),
            path_effects=effects,
        )

    def _image(self, values):
        from matplotlib.image import imread

        left, top = self.x + values["x"], self.y + values["y"]
        data = base64.b64decode(values["href"].partition(",")[2])
        limits = self.axes.axis()
        self.axes.imshow(
            imread(io.BytesIO(data)),
            aspect="auto",
            interpolation="none",
            extent=(left, left + values["width"], top + values["height"], top),
        )
        self.axes.axis(limits)

    def _discs(self, style):
        """The ends of dashes of no length, which matplotlib leaves out."""
        pitch = sum(map(float, style["stroke-dasharray"].split()))
        places = [
            (self.x + float(x) + index * pitch, self.y + float(y))
            for x, y, length in re.findall(r"M(-?[\d.]+) (-?[\d.]+)h([\d.]+)", style["d"])
            for index in range(round(float(length) / pitch) + 1)
        ]
        if places:
            self.axes.scatter(
                *zip(*places),
                s=(float(style["stroke-width"]) * self.scale) ** 2,
                color=style["stroke"],
                linewidths=0,
                zorder=1,
            )

    def _shape(self, shape, style):
        from matplotlib.colors import to_rgba
        from matplotlib.patches import PathPatch

        fill = style.get("fill", "none" if shape.tag == "path" else "black")
        stroke, filled = style.get("stroke"), fill not in ("none", "transparent")
        if not (stroke or filled):
            return
        dashes = [
            max(float(part) * self.scale, 1e-3)
            for part in str(style.get("stroke-dasharray", "")).split()
        ]
        path = _path(shape, style)
        path.vertices += self.x, self.y
        self.axes.add_artist(
            PathPatch(
                path,
                capstyle="round" if style.get("stroke-linecap") == "round" else "butt",
                joinstyle="miter",
                linestyle=(0, dashes) if dashes else "solid",
                linewidth=float(style.get("stroke-width", 1)) * self.scale if stroke else 0,
                facecolor=to_rgba(fill, float(style.get("fill-opacity") or 1))
                if filled
                else "none",
                edgecolor=to_rgba(stroke, float(style.get("stroke-opacity", 1)))
                if stroke
                else "none",
            )
        )


def _path(shape, values):
    from matplotlib.path import Path

    if shape.tag == "circle":
        circle = Path.unit_circle()
        return Path(circle.vertices * values["r"] + (values["cx"], values["cy"]), circle.codes)
    if shape.tag == "rect":
        x, y, wide, high = (values.get(name, 0) for name in ("x", "y", "width", "height"))
        return Path(
            [(x, y), (x + wide, y), (x + wide, y + high), (x, y + high), (x, y)], closed=True
        )
    places, codes, x, y = [], [], 0.0, 0.0
    for command, text in re.findall(r"([MmLlHhVvz])([^MmLlHhVvz]*)", values["d"]):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", text)]
        if command == "z":
            places.append((x, y))
            codes.append(Path.CLOSEPOLY)
        step = 1 if command in "HhVv" else 2
        for index in range(0, len(numbers), step):
            right, down = (
                numbers[index : index + 2]
                if step == 2
                else (numbers[index], None)
                if command in "Hh"
                else (None, numbers[index])
            )
            start = (x, y) if command.islower() else (0, 0)
            x = x if right is None else start[0] + right
            y = y if down is None else start[1] + down
            places.append((x, y))
            codes.append(Path.MOVETO if command in "Mm" and not index else Path.LINETO)
    return Path(places or [(0, 0)], codes or [Path.MOVETO])
