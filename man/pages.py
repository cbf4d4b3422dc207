"""Manual pages as Markdown, for the site: what both say is written once, in the manual pages."""

from __future__ import annotations

import re

__all__ = ["sections", "to_markdown"]

_CHARACTERS = {r"\-": "-", r"\(aq": "'", r"\(dq": '"', r"\(ga": "`", r"\(ha": "^", r"\(ti": "~",
               r"\(lq": '"', r"\(rq": '"', r"\(bu": "-", r"\~": " ", r"\&": "", r"\e": "\\",
               r"\ ": " "}
_ESCAPE = re.compile("|".join(map(re.escape, sorted(_CHARACTERS, key=len, reverse=True))))
_FONT = re.compile(r"\\f([BI])(.*?)\\f[RP](?:\(([1-8])\))?", re.S)


def sections(roff, level="SS"):
    """Return {heading: roff} of the parts of a page under .SS, or .SH."""
    parts = re.split(rf"^\.{level} (.*)$", roff, flags=re.M)[1:]
    return {_characters(title).strip('"'): re.split(r"^\.SH ", text, flags=re.M)[0]
            for title, text in zip(parts[::2], parts[1::2])}


def to_markdown(roff, link):
    """Return the Markdown of the lines of a page; link(name, section) is a target or None."""
    return _Writer(link).written(roff)


def _characters(text):
    return _ESCAPE.sub(lambda match: _CHARACTERS[match.group()], text)


class _Writer:
    """Writes block by block; `_indent` is that of the text of the list entries that are open."""

    def __init__(self, link):
        self._link = link
        self._out, self._words = [], []
        self._outer, self._indent, self._first = [], "", ""

    def written(self, roff):
        lines = iter(line for line in roff.splitlines() if not line.startswith('.\\"'))
        for line in lines:
            macro, _, rest = line.partition(" ")
            if macro in (".EX", ".nf"):
                self._code(lines)
            elif macro in (".SH", ".SS"):
                self._close()
                title = _characters(rest).strip('"')
                title = title.capitalize() if title.isupper() else title
                self._out += [("## " if macro == ".SH" else "### ") + title, ""]
            elif macro == ".TP":
                self._entry(self._inline(next(lines)), ":   ", "    ")
            elif macro == ".IP":
                self._flush()
                if rest.startswith(r"\(bu"):
                    self._entry("", "-   ", "    ")
            elif macro == ".RS":
                self._flush()
                self._outer.append(self._indent)
            elif macro == ".RE":
                self._flush()
                self._indent = self._outer.pop() if self._outer else ""
            elif macro == ".PP":
                self._close()
            elif macro == ".br":
                self._words.append("<br>")
            elif not macro.startswith(".") or macro.startswith(". "):
                self._words.append(line)
        self._flush()
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self._out)).strip() + "\n"

    def _close(self):
        self._flush()
        self._indent = self._outer[-1] if self._outer else ""

    def _entry(self, tag, mark, indent):
        self._close()
        if tag:
            self._out += [self._indent + tag]
        self._first = self._indent + mark
        self._indent += indent

    def _code(self, lines):
        self._flush()
        code = []
        for line in lines:
            if line in (".EE", ".fi"):
                break
            if not line.startswith("."):
                code.append(_characters(re.sub(r"\\f[BIRP]", "", line)))
        indent = self._indent
        self._out += [f"{indent}```", *(indent + line for line in code), f"{indent}```", ""]

    def _flush(self):
        text = self._inline("\n".join(self._words))
        self._words = []
        if text:
            first, *rest = text.split("\n")
            self._out += [(self._first or self._indent) + first,
                          *(self._indent + line for line in rest), ""]
            self._first = ""

    def _inline(self, text):
        pieces, end = [], 0
        for match in _FONT.finditer(text):
            pieces += [self._plain(text[end:match.start()]), self._font(*match.groups())]
            end = match.end()
        return "".join([*pieces, self._plain(text[end:])])

    def _plain(self, text):
        text = _characters(text)
        text = re.sub(r"(?<![\w`])(--[a-z][\w-]*|-[A-Za-z0])(?![\w`])", r"`\1`", text)
        return "".join(piece if i % 2 else re.sub(r"([\\*_<>\[\]])", r"\\\1", piece).replace(
            r"\<br\>", "<br>") for i, piece in enumerate(re.split(r"(`[^`]*`)", text)))

    def _font(self, font, text, section):
        text = _characters(text)
        if font == "B":
            target = self._link(text, section) if section or " " not in text else None
            if target:
                return f"[`{text}`]({target})"
            if re.match(r"[A-Z][a-z]", text) or " " in text.strip() and "-" not in text:
                return f"**{text}**"
            return f"`{text}`" if "`" not in text else f"`` {text} ``"
        return "*" + re.sub(r"([*_<>])", r"\\\1", text) + "*" if text.strip() else text
