"""What all pictures share: kinds of files, looks, sizes of texts, and writing.

The only importer of matplotlib beside the pictures themselves; it is loaded when
something is drawn, and never needs a screen.
"""

from __future__ import annotations

import io
import logging
import warnings
from contextlib import contextmanager

from ..control.dot import visible
from ..errors import AgfmcWarning, UsageError
from ..formats.atomic import check_output, replacing
from .loading import load_matplotlib

__all__ = ["GREY", "LEFT", "RIGHT", "check_picture", "class_name", "new_figure", "page", "save",
           "styled", "text_width", "thinned"]

# Blue and orange: told apart by the colour-blind and in print.
LEFT, RIGHT, GREY = "#2171b5", "#e6730c", "#8c8c8c"

_KINDS = {".png": "png", ".svg": "svg", ".pdf": "pdf"}
_UNDATED = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
_STYLE = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
          "axes.titlesize": 10, "savefig.dpi": 160, "svg.hashsalt": "agfmc", "backend": "agg"}
# Tried in this order, where they are installed, for signs that DejaVu Sans lacks.
_FALLBACKS = ("Noto Sans CJK JP", "Noto Sans CJK SC", "Source Han Sans", "Droid Sans Fallback",
              "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Arial Unicode MS",
              "Hiragino Sans", "Yu Gothic", "Microsoft YaHei", "Noto Sans Devanagari",
              "Noto Sans Thai", "Noto Sans Symbols2")
_MOST_PIXELS = 20_000  # along a side


def check_picture(path, option="--plot"):
    """Raise UsageError unless matplotlib is there and `path` names a kind of picture.

    And DataError where no file can be written there.
    """
    if path[-4:].lower() not in _KINDS:
        raise UsageError(f"{option} {path}: expected a name that ends in "
                         + " or ".join(_KINDS))
    new_figure(option)
    check_output(path)


def new_figure(option="--plot", **settings):
    """A figure without a screen; UsageError where matplotlib is missing."""
    try:
        load_matplotlib()
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(f"{option} needs matplotlib: pip install 'agfmc[plot]'") from None
    return Figure(**settings)


@contextmanager
def styled(math=False):
    """The looks of all pictures, whatever the user's own settings; math: whether $ means it."""
    import matplotlib
    from matplotlib.font_manager import fontManager
    there = {font.name for font in fontManager.ttflist}
    fonts = ["DejaVu Sans", *(font for font in _FALLBACKS if font in there)]
    log = logging.getLogger("matplotlib.font_manager")  # it tells of each font without bold type
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with matplotlib.rc_context({**matplotlib.rcParamsDefault, **_STYLE,
                                    "text.parse_math": math, "font.family": fonts}):
            yield
    finally:
        log.setLevel(level)


def save(path, make, math=False):
    """Write the figure that `make()` returns; the kind of picture follows from the name.

    The same figure gives the same bytes with the same matplotlib.  The file is
    written whole or not at all.
    Raises UsageError as `check_picture`, DataError when the file cannot be written.
    """
    check_picture(path)
    kind = _KINDS[path[-4:].lower()]
    image = io.BytesIO()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with styled(math):
            figure = make()
            dpi = min(_STYLE["savefig.dpi"], _MOST_PIXELS / max(figure.get_size_inches()))
            figure.savefig(image, format=kind, metadata=_UNDATED[kind], dpi=dpi)
    _tell(path, told)
    with replacing(path, binary=True) as file:
        file.write(image.getvalue())


def _tell(path, told):
    """Pass warnings on, with one for all signs that no font has."""
    missing = [warning for warning in told if str(warning.message).startswith("Glyph ")]
    if missing:
        warnings.warn(f"{path}: no font here has all the signs of the names; those without are "
                      "drawn as boxes", AgfmcWarning, stacklevel=3)
    for warning in told:
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


def text_width(texts, size):
    """Width in inches of the widest of `texts` in font size `size`; 0 without texts."""
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.font_manager import FontProperties
    renderer = RendererAgg(10, 10, 100)
    font = FontProperties(size=size)
    return max((renderer.get_text_width_height_descent(line, font, False)[0] / 100
                for text in set(texts) for line in text.split("\n") if line), default=0.0)


def class_name(names, label, longest=40):
    """What a class is called in a picture: its name, or its label where it has none."""
    return visible(str((names or {}).get(label, label)), longest).replace("\n", " ")


def thinned(count, room):
    """The places, out of `count`, that are labelled where there is room for `room` labels.

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
