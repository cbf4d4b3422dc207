"""Manual pages: `python -m man.generate [--check] [folder]`.

The sources are Markdown.  The page of a command, one for each file in bin/, is made with
argparse-manpage from its parser and from commands/COMMAND.md: first the line for NAME, then the
sections; Compatibility may be left out.  Pages of the site below site/docs that begin with a
description are the pages of sections 5 (reference) and 7 (guide).  Nothing in a page depends on the
day, the terminal or the version of Python.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from agfmc.cli import parser_of
from agfmc.cli.options import Parser
from agfmc.cli.run import run_command
from agfmc.core.errors import DataError, EXIT_STATUSES, UsageError

from .roff import page_of, to_roff

__all__ = ["command_page", "commands", "get_parser", "main", "make_pages"]

PROG = "python -m man.generate"
ROOT = Path(__file__).resolve().parents[1]
SECTIONS = ("description", "files", "examples", "compatibility", "see also")
OPTIONAL = {"compatibility"}  # commands that libAGF has too

_LAYOUT = ".nr HY 0\n.nh\n.ad l"  # neither hyphens nor wide gaps in what is to be typed
_ENTRY = re.compile(r"((?:-?[0-9]+ )?[a-z][a-z:-]*): (.+)")


def commands():
    """The names of the commands: the files in bin/, sorted."""
    return sorted(path.name for path in (ROOT / "bin").glob("[!.]*") if path.is_file())


def make_pages(folder):
    """{file name: text} of all pages, from the Markdown in `folder`.

    Raises `UsageError` without argparse-manpage, `DataError` for a command without parser or
    hand-written part.
    """
    names = commands()
    if not names:
        raise DataError("there are no commands: run from the source tree", file=str(ROOT / "bin"))
    pages = {
        f"{name}.1": _command_page(name, Path(folder) / f"commands/{name}.md") for name in names
    }
    for path in Path(folder).glob("site/docs/[gr]*/*.md"):
        source = path.relative_to(folder)
        match = re.match(r"---\ndescription: (.*)\n---\n", text := path.read_text(encoding="utf-8"))
        if match:  # the others are pages of the site alone
            name, section = page_of(f"{path.parent.name}/{path.name}")
            pages[f"{name}.{section}"] = "\n".join(
                [
                    f'.\\" Made by generate.py from {source}.',
                    f'.TH {name.upper()} "{section}" "" "agfmc" "agfmc manual"',
                    _LAYOUT,
                    ".SH NAME",
                    *to_roff(f"{name} - {match[1]}", ""),
                    *to_roff(text[match.end() :], source.parent.name),
                    "",
                ]
            )
    return pages


def _command_page(name, path):
    """The manual page of a command."""
    try:
        from argparse_manpage.manpage import Manpage
    except ImportError:
        raise UsageError("argparse-manpage is not installed: pip install 'agfmc[man]'") from None
    summary, markdown = command_page(name, path)
    page = Manpage(
        _parser(name),
        {
            "date": "-",
            "project_name": "agfmc",
            "description": summary,
            "manual_title": "agfmc manual",
        },
    )
    page.date = ""
    sections = re.split(r"^\.SH (.*)\n", "\n".join(to_roff(markdown, path.parent.name)), flags=re.M)
    content = dict(zip(sections[1::2], map(str.rstrip, sections[2::2])))
    page.mf = _Body([f".SH {title}\n{content.pop(title)}" for title in ("DESCRIPTION", "OPTIONS")])
    for title, text in content.items():
        page.add_section(title, "=", text)
    head = f'.\\" Made by generate.py from commands/{name}.md and the parser.\n'
    return head + str(page).replace("\n.SH NAME\n", f"\n{_LAYOUT}\n.SH NAME\n", 1)


class _Body:
    """DESCRIPTION and OPTIONS, in place of argparse-manpage's own formatter.

    That one wraps text to the terminal and joins the lines of a table.
    """

    def __init__(self, sections):
        self._sections = sections

    def format_parser(self, parser, extra_description=None):
        return self._sections

    def format_footer(self, data):
        return []


def _parser(name):
    try:
        return parser_of(name)
    except ModuleNotFoundError as error:
        raise DataError(
            f"no parser for this command: {error}", file=str(ROOT / "bin" / name)
        ) from None


def command_page(name, path):
    """Return the summary and the Markdown of the page of a command; `path` has what is written by
    hand."""
    parser = _parser(name)
    summary, parts = _read_parts(path)
    usage = (parser.usage % {"prog": parser.prog}).removeprefix(name).strip()
    options, operands = [], []
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if action.help != argparse.SUPPRESS]
        if actions and not actions[0].option_strings:
            operands += actions
        elif actions:
            options += [
                f"### {group.title[:1].upper()}{group.title[1:]}",
                *(_entry(parser, action) for action in actions),
            ]
    examples = (
        [f"{what}:\n\n```\n{line}\n```" for what, line in parser.short_help()[1]]
        if parser.is_long
        else []
    )
    blocks = [
        "## Synopsis",
        f"`{name}` " + re.sub(r"[A-Za-z][\w-]*", r"*\g<0>*", _markdown(usage)),
        "## Description",
        _markdown(parser.description),
        parts["description"],
        *["### Operands"] * bool(operands),
        *(_entry(parser, action) for action in operands),
        "## Options",
        *options,
        "## Exit status",
        *(f"`{status}`\n:   {_markdown(text)}" for status, text in EXIT_STATUSES),
        "## Files",
        parts["files"],
        "## Examples",
        *examples,
        parts["examples"],
        *["## Compatibility", parts.get("compatibility")] * ("compatibility" in parts),
        "## See also",
        parts["see also"],
    ]
    return summary, "\n\n".join(blocks) + "\n"


def _read_parts(path):
    """The line for NAME and {section: Markdown} of a hand-written part."""
    try:
        summary, *rest = re.split(
            rf"^## ({'|'.join(SECTIONS)})$",
            Path(path).read_text(encoding="utf-8"),
            flags=re.M | re.I,
        )
    except OSError as error:
        raise DataError(f"cannot read: {error.strerror}", file=str(path)) from None
    titles = [title.lower() for title in rest[::2]]
    parts = {title: text.strip() for title, text in zip(titles, rest[1::2]) if text.strip()}
    if titles != [title for title in SECTIONS if title in parts] or OPTIONAL | {*parts} != {
        *SECTIONS
    }:
        raise DataError(
            "expected the sections " + ", ".join(SECTIONS) + ", each once and with a "
            f"text, found {', '.join(titles) or 'none'}",
            file=str(path),
        )
    return summary.strip(), parts


def _entry(parser, action):
    """An option or operand with its help as a definition; lines `name: text` are inner ones."""
    value = _markdown(action.metavar or action.dest.upper()).strip("{}")
    if not action.option_strings:
        term = re.sub(r"[^|\s]+", r"*\g<0>*", (action.metavar or action.dest).strip("{}"))
    else:
        value = f" \\[*{value}*\\]" if action.nargs == "?" else f" *{value}*" * (action.nargs != 0)
        term = ", ".join(f"`{name}`{value}" for name in action.option_strings)
    first, *rest = (action.help % {**vars(action), "prog": parser.prog}).split("\n")
    lines = [term, f":   {_markdown(first)}"]
    for line in rest:
        entry = _ENTRY.fullmatch(line)
        lines += (
            ["", f"    `{entry[1]}`", f"    :   {_markdown(entry[2])}"]
            if entry
            else [f"    <br>{_markdown(line)}"]
        )
    return "\n".join(lines)


def _markdown(text):
    """Plain text with `code` as Markdown, in which options are code."""
    text = re.sub(r"(?<![\w`])(--[a-z][\w-]*|-[A-Za-z0])(?![\w`])", r"`\1`", text)
    return "".join(
        piece if i % 2 else re.sub(r"([\\*_<>\[\]])", r"\\\1", piece)
        for i, piece in enumerate(re.split(r"(`[^`]*`)", text))
    )


def get_parser():
    """The command's argument parser; argparse-manpage is not loaded."""
    parser = Parser(PROG, "Make the manual pages.")
    parser.add(
        "folder",
        "where pages and sources are (default: man in the source tree)",
        nargs="?",
        default=str(ROOT / "man"),
    )
    group = parser.group("action")
    group.add("--check", "write nothing: fail where a page is not what would be written")
    return parser.finish()


def execute(args):
    """Write the pages, or compare them."""
    from agfmc.files.atomic import replacing

    folder = Path(args.folder)
    pages = make_pages(folder)
    if not args.check:
        for name, text in pages.items():
            with replacing(str(folder / name)) as file:
                file.write(text)
        return
    stale = [
        name
        for name, text in pages.items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != text.encode()
    ]
    stale += sorted(path.name for path in folder.glob("*.[157]") if path.name not in pages)
    if stale:
        raise DataError(
            f"out of date: {' '.join(stale)}; run python -m man.generate", file=str(folder)
        )


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)


if __name__ == "__main__":
    sys.exit(main())
