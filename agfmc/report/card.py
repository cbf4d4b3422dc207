"""The Markdown of a model card as HTML in which nothing runs and nothing is loaded."""

from __future__ import annotations

import re

from ..core.errors import needed_library
from .words import clean

_SAFE = re.compile(r"(https?://|mailto:)", re.IGNORECASE)
_TOP = 3  # level of the highest headings of a card: the page has the two above


def card_html(text: str) -> str:
    """HTML of a text in Markdown: its tags are text, pictures are the words that stand for them,
    links lead to http, https and mail alone, and its headings are below those of a section,
    without gaps."""
    parser = _parser()
    tokens = parser.parse(clean(text.replace("\r\n", "\n")))
    levels: list[int] = []
    for token in tokens:
        if token.type == "heading_open":
            level = int(token.tag[1])
            while levels and levels[-1] >= level:
                levels.pop()
            levels.append(level)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(_TOP + len(levels) - 1, 6)}"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer")
            if child.type == "image":
                child.type = "text"
    # columns would be aligned by attributes that the page does not allow
    for token in tokens:
        token.attrs.pop("style", None)
    # again: Markdown has entities for the characters that turn the order of a text
    return clean(parser.renderer.render(tokens, parser.options, {}))


def _parser():
    with needed_library("--card needs markdown-it-py: pip install 'agfmc[report]'"):
        from markdown_it import MarkdownIt

    class Parser(MarkdownIt):
        """A parser that takes no links but to http, https and mail."""

        def validateLink(self, url: str) -> bool:
            return _SAFE.match(url) is not None

    return Parser("commonmark", {"html": False}).enable("table")
