"""Manual pages of the commands: `python -m man.generate [--check] [folder]`.

One page for each file in bin/, made from the command's parser with
argparse-manpage, and from folder/extra/COMMAND.man: first the line for NAME,
in plain text, then sections in roff, each under its name in square brackets;
`[compatibility]` may be left out.  The text of `[see also]` is a list of pages,
`name(section)`.  Nothing in a page depends on the day, the terminal or the version
of Python.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
import textwrap
from pathlib import Path

from agfmc.cli.options import Parser
from agfmc.cli.run import run_command
from agfmc.core.errors import DataError, EXIT_STATUSES, UsageError

__all__ = ["commands", "get_parser", "main", "make_page", "make_pages"]

PROG = "python -m man.generate"
ROOT = Path(__file__).resolve().parents[1]
SECTIONS = ("description", "files", "examples", "compatibility", "see also")
OPTIONAL = {"compatibility"}  # commands that libAGF has too

_ESCAPES = str.maketrans({"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha",
                          "~": "\\(ti", '"': "\\(dq"})
_LAYOUT = ".nr HY 0\n.nh\n.ad l"  # neither hyphens nor wide gaps in what is to be typed
_ENTRY = re.compile(r"((?:-?[0-9]+ )?[a-z][a-z:-]*): (.+)")


def commands():
    """The names of the commands: the files in bin/, sorted."""
    return sorted(path.name for path in (ROOT / "bin").glob("[!.]*") if path.is_file())


def make_pages(folder):
    """{file name: text} of the pages of all commands; hand-written parts from folder/extra.

    Raises `UsageError` without argparse-manpage, `DataError` for a command
    without parser or hand-written part.
    """
    names = commands()
    if not names:
        raise DataError("there are no commands: run from the source tree", file=str(ROOT / "bin"))
    return {f"{name}.1": make_page(name, Path(folder) / "extra" / f"{name}.man")
            for name in names}


def make_page(name, extra):
    """The text of one page; `extra` is the file with the hand-written parts."""
    try:
        from argparse_manpage.manpage import Manpage
    except ImportError:
        raise UsageError("argparse-manpage is not installed: pip install 'agfmc[man]'") from None
    try:
        parser = importlib.import_module(f"agfmc.cli.{name}").get_parser()
    except ModuleNotFoundError as error:
        raise DataError(f"no parser for this command: {error}",
                        file=str(ROOT / "bin" / name)) from None
    summary, parts = _read_extra(extra)
    page = Manpage(parser, {"date": "-", "project_name": "agfmc", "description": summary,
                            "manual_title": "agfmc manual"})
    page.date = ""
    page.mf = _Body()
    page.add_section("synopsis", "=", _synopsis(parser))
    page.add_section("description", "=", parts["description"])
    page.add_section("exit status", "=", _exit_statuses())
    page.add_section("files", "=", parts["files"])
    page.add_section("examples", "=", _examples(parser, parts["examples"]))
    if "compatibility" in parts:
        page.add_section("compatibility", "=", parts["compatibility"])
    page.add_section("see also", "=", _see_also(parts["see also"]))
    head = f'.\\" Made by generate.py from the parser and from extra/{name}.man.\n'
    return head + str(page).replace("\n.SH NAME\n", f"\n{_LAYOUT}\n.SH NAME\n", 1)


def _read_extra(path):
    """The line for NAME and {section: roff} of a hand-written part."""
    try:
        lines = Path(path).read_text(encoding="utf-8").rstrip("\n").split("\n")
    except OSError as error:
        raise DataError(f"cannot read: {error.strerror}", file=str(path)) from None
    parts, current = {}, None
    for number, line in enumerate(lines[1:], 2):
        match = re.fullmatch(r"\[([a-z ]+)\]", line)
        if match and match.group(1) in SECTIONS and match.group(1) not in parts:
            current = parts[match.group(1)] = []
        elif match or current is None:
            raise DataError("expected one of the sections " + " ".join(
                f"[{name}]" for name in SECTIONS) + f", each once, found '{line}'",
                file=str(path), line=number)
        else:
            current.append(line)
    missing = [name for name in SECTIONS if not parts.get(name)
               and (name in parts or name not in OPTIONAL)]
    if missing:
        raise DataError(f"the section [{missing[0]}] is missing or empty", file=str(path))
    return lines[0], {name: "\n".join(text) for name, text in parts.items()}


class _Body:
    """DESCRIPTION and OPTIONS, in the place of argparse-manpage's own formatter.

    That one wraps text to the terminal and joins the lines of a table.
    """

    def format_parser(self, parser, extra_description=None):
        lines = [".SH DESCRIPTION", *_text(parser.description), ".PP", extra_description]
        operands, groups = [], []
        for group in parser._action_groups:
            actions = [a for a in group._group_actions if a.help != argparse.SUPPRESS]
            if actions and not actions[0].option_strings:
                operands += actions
            elif actions:
                groups.append((group.title, actions))
        if operands:
            lines.append(".SS Operands")
        for action in operands:
            lines += [".TP", _operand(action), *_help(parser, action)]
        lines.append(".SH OPTIONS")
        for title, actions in groups:
            lines.append(f".SS {title[:1].upper()}{title[1:]}")
            for action in actions:
                lines += [".TP", _option(action), *_help(parser, action)]
        return lines

    def format_footer(self, data):
        return []


def _operand(action):
    text = (action.metavar or action.dest).strip("{}")
    return re.sub(r"[^|\s]+", lambda word: _italic(word.group()), text)


def _option(action):
    """`-Q METHOD, --method METHOD`, from the action itself."""
    value = ""
    if action.nargs != 0:
        value = _italic(action.metavar or action.dest.upper())
        value = f" [{value}]" if action.nargs == "?" else f" {value}"
    return ", ".join(_bold(name) + value for name in action.option_strings)


def _help(parser, action):
    """The help of an action; lines `name: text` after the first become a list."""
    known = {**vars(action), "prog": parser.prog}
    first, *rest = (action.help % known).split("\n")
    lines = _text(first)
    indented = False
    for line in rest:
        entry = _ENTRY.fullmatch(line)
        if entry and not indented:
            lines.append(".RS")
            indented = True
        lines += [".TP", _bold(entry.group(1)), *_text(entry.group(2))] if entry else \
            [".br", *_text(line)]
    return lines + [".RE"] * indented


def _synopsis(parser):
    """The usage: values and operands italic."""
    usage = (parser.usage % {"prog": parser.prog}).removeprefix(parser.prog)
    text = re.sub(r"[A-Za-z][\w-]*", lambda word: _italic(word.group()), usage.strip())
    return "\n".join([f".TP {len(parser.prog) + 1}n", _bold(parser.prog), *_wrapped(text)])


def _examples(parser, more):
    """Those of `--help`, and then those that are written by hand."""
    lines = []
    for what, command in parser.short_help()[1] if parser.is_long else ():
        lines += [*_text(what + ":"), ".PP", ".EX", command.translate(_ESCAPES), ".EE", ".PP"]
    return "\n".join([*lines, more])


def _exit_statuses():
    lines = []
    for status, meaning in EXIT_STATUSES:
        lines += [".TP", _bold(str(status)), *_text(meaning)]
    return "\n".join(lines)


def _see_also(text):
    pages = re.findall(r"([\w.]+)\(([1-8])\)", text)
    return ",\n".join(f"{_bold(name)}({section})" for name, section in pages)


def _text(text):
    """Prose as lines of roff; `code` in bold."""
    pieces = re.split(r"`([^`\n]*)`", text)
    return _wrapped("".join(_bold(piece) if i % 2 else piece.translate(_ESCAPES)
                            for i, piece in enumerate(pieces)))


def _wrapped(roff):
    lines = textwrap.wrap(roff, 96, break_long_words=False, break_on_hyphens=False)
    return [rf"\&{line}" if line[0] in ".'" else line for line in lines]


def _bold(text):
    return rf"\fB{text.translate(_ESCAPES)}\fR"


def _italic(text):
    return rf"\fI{text.translate(_ESCAPES)}\fR"


def get_parser():
    """The command's argument parser; argparse-manpage is not loaded."""
    parser = Parser(PROG, "Make the manual pages of all commands.")
    parser.add("folder", "where the pages are, and extra/ (default: man in the source tree)",
               nargs="?", default=str(ROOT / "man"))
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
    stale = [name for name, text in pages.items()
             if not (folder / name).is_file() or (folder / name).read_bytes() != text.encode()]
    stale += sorted(path.name for path in folder.glob("*.1") if path.name not in pages)
    if stale:
        raise DataError(f"out of date: {' '.join(stale)}; run python -m man.generate",
                        file=str(folder))


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)


if __name__ == "__main__":
    sys.exit(main())
