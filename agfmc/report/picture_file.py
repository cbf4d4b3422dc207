"""Pictures as files: the drawings of pages in one SVG document, or that as PNG or PDF.

The SVG has its style sheet and colours in it, and needs nothing else. PNG is made of it by
`resvg_py`, PDF by `cairosvg`, which are loaded when such a file is written.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Mapping, Sequence

from ..core.errors import needed_library, UsageError, warn_user
from ..files.atomic import replacing
from .classes import with_distinct_names
from .colours import LIGHT
from .content import Picture
from .svg import LINE, Drawing, pixels, text_width
from .words import clean

_ENDINGS = (".png", ".svg", ".pdf")
_FONTS = "Verdana, 'DejaVu Sans', 'Noto Sans', sans-serif"
_ZOOM = 2  # pixels of a PNG for one of the drawing: sharp in print, 192 to the inch
_MOST_PIXELS = 20_000  # of a PNG along a side, for which viewers still have memory
_BOLD = 1.15  # width of bold text beside that of plain text
_MARGIN, _GAP, _WIDEST = 16, 30, 1140  # pixels; between pictures, and of a row of them
_NARROWEST = 280  # pixels of a picture, so that its note has room
_TITLE_WIDTH = 600  # pixels at least, before the title of the file is broken into lines


def check_picture(path: str) -> None:
    """Check, before any work, that a picture can be made.

    Raises
    ------
    UsageError
        If the name has no ending of a picture, or the library that makes it is missing.
    """
    ending = path[-4:].lower()
    if ending not in _ENDINGS:
        raise UsageError(f"{path}: expected a name that ends in " + " or ".join(_ENDINGS))
    if ending == ".png":
        _load_resvg()
    elif ending == ".pdf":
        _load_cairosvg()


def _load_resvg():
    with needed_library("a picture in PNG needs resvg_py: pip install 'agfmc[plot]', or write SVG"):
        import resvg_py
    return resvg_py


def _load_cairosvg():
    with needed_library("a picture in PDF needs CairoSVG: pip install 'agfmc[plot]', or write SVG"):
        try:
            import cairosvg
        except OSError:  # the wheel is there, and the library that it loads is not
            raise UsageError(
                "a picture in PDF needs the library cairo of the system "
                "(libcairo2 in Debian), which is missing: write SVG or PNG"
            ) from None
    return cairosvg


def picture_names(names: Mapping[int, str] | None) -> dict[int, str]:
    """Names of classes as pictures have them: clean, with their labels where they would look alike."""
    return with_distinct_names({label: clean(name) for label, name in (names or {}).items()}, 40)


def save(path: str, title: str, pictures: Sequence[Picture]) -> None:
    """Write pictures to a file whose kind follows from its name, whole or not at all.

    They stand beside and below each other, with a title above all of them. The same pictures give
    the same bytes, with the same fonts.
    """
    check_picture(path)
    ending = path[-4:].lower()
    document, size = draw_document(title, pictures)
    if ending == ".png":
        content = _make_png(document, size, path)
    elif ending == ".pdf":
        # CairoSVG paints the edge of letters over them, whatever the order in the style sheet.
        plain = re.sub(r"paint-order: stroke; stroke: #\w+; stroke-width: 3;", "", document)
        content = _load_cairosvg().svg2pdf(bytestring=plain.encode())
        content = re.sub(rb"/CreationDate \([^)]*\)", _blank, content)
    else:
        content = document.encode()
    with replacing(path, binary=True) as file:
        file.write(content)


def _blank(match):
    """Blanks in place of a date, so that no offset in the file changes."""
    return b" " * len(match[0])


def _make_png(document, size, path):
    """The PNG of a document of (width, height) pixels."""
    resvg = _load_resvg()
    if not _draws_text(resvg):
        warn_user(f"{path}: no font is installed here, so the picture has no text: write SVG")
    zoom = min(_ZOOM, _MOST_PIXELS / max(size))
    return resvg.svg_to_bytes(svg_string=document, zoom=zoom, background=LIGHT["paper"])


def _draws_text(resvg):
    """Return True if a letter leaves a trace, which it does not where no font is installed."""
    empty = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">{}</svg>'
    letter = f'<text y="15" font-family="{_FONTS}">x</text>'
    return resvg.svg_to_bytes(empty.format("")) != resvg.svg_to_bytes(empty.format(letter))


def draw_document(title: str, pictures: Sequence[Picture]) -> tuple[str, tuple[float, float]]:
    """Draw pictures in rows, each with its title above it and its note below it.

    Returns
    -------
    document : str
        SVG with its style sheet.
    size : (float, float)
        Width and height in pixels.
    """
    blocks = []
    for picture in pictures:
        wide = max(picture.drawing.width, _NARROWEST, _BOLD * text_width(picture.title))
        blocks.append((picture, wide, _wrap_text(picture.note, wide)))
    places, below = _arrange_rows(blocks)
    right = max([_TITLE_WIDTH] + [x + wide for (x, _), (_, wide, _) in zip(places, blocks)])
    heads = _wrap_text(title, right / _BOLD)
    top = _MARGIN
    if heads:
        top += LINE * (len(heads) + 1)
    right = max([right] + [_MARGIN + _BOLD * text_width(head) for head in heads])
    width = right + _MARGIN
    height = top + below + _MARGIN

    words = Drawing(width, height)
    for index, head in enumerate(heads):
        words.text(_MARGIN, _MARGIN + 12 + LINE * index, head, "strong")
    parts = [words.elements()]
    for (picture, _, lines), (x, y) in zip(blocks, places):
        y += top + 2 * LINE
        frame = Drawing(picture.drawing.width, picture.drawing.height)
        frame.text(0, 12 - 2 * LINE, picture.title, "strong")
        for index, line in enumerate(lines):
            frame.text(0, picture.drawing.height + LINE * (index + 1) + 4, line, "muted")
        inside = frame.elements() + picture.drawing.elements()
        parts.append(f'<g transform="translate({pixels(x)} {pixels(y)})">{inside}</g>')
    size = f'width="{pixels(width)}" height="{pixels(height)}"'
    document = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" {size} '
        f'viewBox="0 0 {pixels(width)} {pixels(height)}">\n<style>\n{_style_sheet()}</style>\n'
        f'<rect class="fill-paper" {size}/>\n' + "\n".join(parts) + "\n</svg>\n"
    )
    return document, (width, height)


def _arrange_rows(blocks):
    """Places (x, y) of pictures of the given widths, and the height of all rows together."""
    places = []
    x = _MARGIN
    y = 0
    tall = 0
    for picture, wide, lines in blocks:
        if x > _MARGIN and x + wide > _WIDEST:
            x, y, tall = _MARGIN, y + tall + _GAP, 0
        places.append((x, y))
        x += wide + _GAP
        tall = max(tall, 2 * LINE + picture.drawing.height + LINE * len(lines) + 12)
    return places, y + tall


def _wrap_text(text, width):
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _style_sheet():
    """`charts.css` with the colours of light pages and fonts in place of variables, which the
    programs that read SVG do not know."""
    data = pkgutil.get_data("agfmc.report", "charts.css")
    assert data is not None  # the package is installed with it
    css = re.sub(r"@media[^\n]*\n", "", data.decode())
    css = re.sub(r"var\(--([\w-]+)\)", lambda match: LIGHT[match[1]], css)
    return css.replace("font-family: inherit", f"font-family: {_FONTS}")
