"""Markdown of the manual as roff: headings, paragraphs, lists, definitions, code and links.

A definition is a line with a term, and under it a text that begins with a colon; lists and
definitions have their text behind four characters.  Lines stay lines.
"""

from __future__ import annotations

import re

__all__ = ["page_of", "to_roff"]

_ESCAPES = str.maketrans(
    {
        "\\": "\\e",
        "-": "\\-",
        "'": "\\(aq",
        "`": "\\(ga",
        "^": "\\(ha",
        "~": "\\(ti",
        '"': "\\(dq",
        "\u00a0": "\\~",
    }
)
# code, strong, emphasis, link, line break, a character that means nothing
_INLINE = re.compile(
    r"`` (.*?) ``|`([^`\n]*)`|\*\*(.+?)\*\*|\*(.+?)\*|"
    r"\[(.*?)\]\((.*?)\)|(<br>)|\\([\\*_<>\[\]`])",
    re.S,
)
_MARK = re.compile(r"(:   |-   )(.*)")


def to_roff(markdown, folder):
    """Return the lines of roff for the Markdown of a page in this folder of the site."""
    return list(_Writer(folder).blocks(markdown.split("\n")))


def page_of(target, folder=None):
    """Return the manual page, name and section, that a link in a page in `folder` leads to."""
    other, name = re.fullmatch(r"(?:(?:\.\./)?(\w+)/)?(\w+)\.md(?:#.*)?", target).groups()
    section = {"commands": 1, "reference": 5, "guide": 7}[other or folder]
    return "agfmc" if name == "overview" else name if section == 1 else f"agfmc_{name}", section


def _guarded(line):
    return f"\\&{line}" if line[:1] in (".", "'") else line.replace("\0", ".")


def _plain(text):
    return re.sub(r"\\([\\*_<>\[\]`])", r"\1", text).translate(_ESCAPES)


class _Writer:
    """Writes the blocks of a page; `folder` is where its links begin."""

    def __init__(self, folder):
        self._folder = folder

    def blocks(self, lines):
        """Yield roff for lines of Markdown, block by block."""
        lines = list(lines)
        fresh = True  # after a heading there is no paragraph to end
        while lines:
            line = lines.pop(0)
            if not line:
                continue
            mark = _MARK.match(line)
            if line.startswith("#"):
                level, _, title = line.partition(" ")
                yield {
                    "#": ".SH DESCRIPTION",
                    "##": f".SH {self._text(title.upper())}",
                    "###": f".SS {self._text(title)}",
                }[level]
            elif line.startswith("```"):
                end = lines.index("```")
                yield from (*[".PP"] * (not fresh), ".EX")
                yield from (_guarded(code.translate(_ESCAPES)) or "\\&" for code in lines[:end])
                yield ".EE"
                del lines[: end + 1]
            elif mark:
                inner = [mark.group(2)]
                while next(filter(None, lines), "").startswith("    "):
                    inner.append(lines.pop(0)[4:])
                if mark.group(1) == "-   ":
                    yield ".IP \\(bu 2n"
                yield from self._entry(inner)
            else:
                text = [line]
                while lines and lines[0] and not lines[0].startswith(("#", "```", ":   ")):
                    text.append(lines.pop(0))
                if lines and lines[0].startswith(":   "):
                    yield from (".TP", self._text("\n".join(text)))
                else:
                    yield from (*[".PP"] * (not fresh), *self._lines("\n".join(text)))
            fresh = line.startswith("#")

    def _entry(self, lines):
        """The text of an entry of a list: the blocks after the first paragraph are set in."""
        end = next(
            (at for at, line in enumerate(lines) if not line or line.startswith("```")), len(lines)
        )
        yield from self._lines("\n".join(lines[:end]))
        rest = list(self.blocks(lines[end:]))
        if rest:
            yield from (".RS", *rest, ".RE")

    def _lines(self, text):
        return map(_guarded, self._text(text).replace("\n.br\n", "\n\0br\n").split("\n"))

    def _text(self, text):
        out, end = [], 0
        for match in _INLINE.finditer(text):
            out.append(text[end : match.start()].translate(_ESCAPES))
            end = match.end()
            ticked, code, strong, emphasis, link, target, is_break, escaped = match.groups()
            if link is not None:
                out.append(self._reference(link, target))
            elif is_break:
                out.append("\n.br\n")
            elif escaped:
                out.append(escaped.translate(_ESCAPES))
            elif emphasis:
                out.append(f"\\fI{_plain(emphasis)}\\fR")
            elif strong:
                out.append(f"\\fB{_plain(strong)}\\fR")
            else:
                out.append(f"\\fB{(ticked or code).translate(_ESCAPES)}\\fR")
        return "".join([*out, text[end:].translate(_ESCAPES)])

    def _reference(self, text, target):
        name, section = page_of(target, self._folder)
        page = f"\\fB{name}\\fR({section})"
        names = (f"`{name}`", name.removeprefix("agfmc_"))
        return page if text.lower() in names else f"{self._text(text)} ({page})"
