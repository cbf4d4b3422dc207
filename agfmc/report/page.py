"""The page of a model as HTML: one file that needs no other, and in which nothing of a file runs.

Styles and script stand in the page, and a policy in its head names their digests, so that nothing
else is executed or loaded, should anything of a file ever get past the escapes.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import math
import pkgutil

from ..core.errors import needed_library
from ..core.version import __version__
from . import words
from .classes import classes_of
from .colours import DARK, LIGHT
from .content import DataTable, ReportContent
from .sections import page_sections, summary

_LONG_WORD = 16  # letters
_ACROSS = 60  # letters of the names above the columns of a table of confusions
_MOST_CHOSEN = 400  # classes in the list of those to highlight


def check_page() -> None:
    """Raise `UsageError` unless jinja2 is there, which makes pages."""
    _environment()


def render(content: ReportContent) -> str:
    """The page as text; the same for the same content.  `UsageError` where jinja2 is missing."""
    environment = _environment()
    style = _style()
    script = _resource("page.js")
    verdict, lead, tiles = summary(content)
    classes = classes_of(content)
    chosen = enumerate(classes.labels[:_MOST_CHOSEN])
    return environment.get_template("page.html").render(
        title=content.title,
        verdict=verdict,
        lead=lead,
        tiles=tiles,
        sections=page_sections(content),
        choices=[(at, classes.name(label)) for at, label in chosen],
        style=style,
        script=script,
        style_hash=_digest(style),
        script_hash=_digest(script),
        version=__version__,
    )


def _environment():
    with needed_library("a page needs jinja2: pip install 'agfmc[report]'"):
        from jinja2 import Environment, FunctionLoader, StrictUndefined
        from markupsafe import Markup
    environment = Environment(
        loader=FunctionLoader(_resource),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        cut=words.cut,
        clean=words.clean,
        whole=words.whole_name,
        count=words.count,
        # of a row of confusions in percent, where the heading says so
        cell_share=lambda share: f"{100 * share:.1f}" if share else "\u00b7",
        whole_sum=lambda counts: words.whole(math.fsum(counts)),
        # 1 to 8 by the root of a share, as errors are rare
        shade=lambda share: max(1, math.ceil(8 * math.sqrt(share) - 1e-9)),
        is_wide=lambda matrix: len(matrix.heads) * _widest_name(matrix) > _ACROSS,
        verbatim=Markup,
        slug=lambda classes: " ".join(map(str, classes)),  # as the page's script reads them
        sort_key=words.sort_key,
        css=lambda column: "n" if column.kind in ("number", "share") else column.kind,
        has_long_words=_has_long_words,
    )
    # a function: a filter of a constant would be computed once, when the template is read
    numbers = itertools.count(1)
    environment.globals.update(anchor=lambda: f"table-{next(numbers)}")
    return environment


def _widest_name(matrix):
    return max(min(len(name), 16) for name, _ in matrix.heads)


def _has_long_words(table: DataTable) -> bool:
    return any(
        len(word) > _LONG_WORD
        for row in table.rows
        for cell, column in zip(row.cells, table.columns)
        if isinstance(cell, str)
        for word in column.text(cell).split(" ")
    )


def _resource(name: str) -> str:
    data = pkgutil.get_data(__package__, name)
    assert data is not None  # the package is installed with them
    return data.decode("utf-8")


def _style() -> str:
    def colours(chosen):
        return "".join(f"--{name}:{value};" for name, value in chosen.items())

    return (
        f":root{{color-scheme:light dark;{colours(LIGHT)}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{colours(DARK)}}}}}\n"
        f"{_resource('page.css')}{_resource('charts.css')}"
    )


def _digest(inline: str) -> str:
    digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
    return f"'sha256-{digest}'"
