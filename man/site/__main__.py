"""Gather the pages, and run mkdocs."""

import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import agfmc
from agfmc.cli.renamed import EARLIER
from man.generate import command_page, commands
from man.site.pictures import draw_pictures

ROOT = Path(__file__).resolve().parents[2]
MAN, DOCS, PAGES = ROOT / "man", Path(__file__).parent / "docs", ROOT / "build" / "site-pages"


def write(name, text):
    """Write a page below `PAGES`."""
    path = PAGES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_commands():
    """A page for each command."""
    for name in commands():
        summary, text = command_page(name, MAN / "commands" / f"{name}.md")
        write(f"commands/{name}.md", f"---\ndescription: {summary}\n---\n# {name}\n\n{text}")


def write_python():
    """The public names with their signatures and docstrings."""
    lines = [
        "# Python",
        "",
        "All names are those of `import agfmc`; the estimator is in `agfmc.estimators`.",
        "",
    ]
    from agfmc.estimators import MultiClassFromBinary
    from agfmc.learners.options import BinaryLearner

    things = {name: getattr(agfmc, name) for name in agfmc.__all__ if name != "__version__"}
    for name, thing in [*sorted(things.items()), ("MultiClassFromBinary", MultiClassFromBinary)]:
        lines += [f"## {name}", "", *_documented(thing, name)]
        has_methods = inspect.isclass(thing) and not issubclass(thing, BinaryLearner)
        for method in vars(thing) if has_methods else ():
            function = getattr(thing, method)
            if not method.startswith(("_", "set_")) and callable(function) and function.__doc__:
                lines += [f"### {name}.{method}", "", *_documented(function, method)]
    write("reference/python.md", "\n".join(lines) + "\n")


class _Written(str):
    """A default whose repr is its own text."""

    def __repr__(self):
        return self


def _signature(thing):
    """The signature as a caller needs it: without `self`, annotations and defaults that are long
    objects."""
    parameters = [
        one.replace(annotation=one.empty)
        for one in inspect.signature(thing).parameters.values()
        if one.name != "self"
    ]
    return str(
        inspect.Signature(
            [
                one.replace(default=_Written("..."))
                if one.default is not one.empty
                and (len(repr(one.default)) > 40 or "<" in repr(one.default))
                else one
                for one in parameters
            ]
        )
    )


def _documented(thing, name):
    try:
        signature = (
            "" if inspect.isclass(thing) and issubclass(thing, Exception) else _signature(thing)
        )
    except ValueError:
        signature = ""
    yield from ("```python", name + signature, "```", "")
    blocks = re.split(r"^(\w[\w ]*)\n-{3,}$", inspect.getdoc(thing) or "", flags=re.M)
    yield from (_escaped(blocks[0]), "")
    for title, text in zip(blocks[1::2], blocks[2::2]):
        yield from (f"**{title}**", "")
        if title in ("Examples", "See Also"):
            yield from ("```pycon" if title == "Examples" else "```", text.strip(), "```", "")
        elif title in ("References", "Notes"):
            yield from (_escaped(text.strip()), "")
        else:
            yield from _entries(text)


def _entries(text):
    """Entries `name : type` with an indented explanation, as a list; those that share one follow
    each other in one entry, and text that is no entry is a paragraph."""
    heads = []
    for block in re.split(r"^(?=\S)", text.strip("\n"), flags=re.M)[1:]:
        head, _, rest = block.partition("\n")
        name, colon, kind = head.partition(" : ")
        if rest.strip() or colon or re.fullmatch(r"[\w.*, ]+", head) and not head.endswith("."):
            heads.append(f"`{name}`" + (f": {_escaped(kind)}" if colon else ""))
        else:
            yield from ("", _escaped(head), "")
            continue
        if rest.strip() or kind.startswith("array-like"):  # the points and classes of methods
            yield "\n- " + "  \n    ".join(heads)
            yield from (
                "    " + _escaped(line.strip()) if line.strip() else ""
                for line in ["", *rest.rstrip().splitlines()]
            )
            heads = []
    if heads:
        yield "- " + "  \n    ".join(heads)
    yield ""


def _escaped(text):
    """Text with the backquotes of Markdown, in which `<` and `[` outside of them mean nothing."""
    parts = re.split(r"(`[^`]*`)", text.replace("``", "`"))
    return "".join(
        part if part.startswith("`") else re.sub(r"([<\[])", r"\\\1", part) for part in parts
    )


def write_rest():
    """Pages that are files of the source tree, and the benchmarks."""
    spec = importlib.util.spec_from_file_location("page", ROOT / "tests/benchmarks/page.py")
    benchmarks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmarks)
    write("benchmarks.md", benchmarks.page(benchmarks.results()))
    for name, target in (
        ("README.md", "index.md"),
        ("CONTRIBUTING.md", "contributing.md"),
        ("CHANGELOG.md", "changelog.md"),
    ):
        text = (ROOT / name).read_text(encoding="utf-8")
        write(
            target,
            text.replace("man/site/docs/", "")
            if target != "index.md"
            else re.sub(
                rf"\| `({'|'.join(commands())})` \|",
                r"| [`\1`](commands/\1.md) |",
                text.replace("man/site/docs/", ""),
            ),
        )


def earlier_options():
    """The page of the options of the version before, from their table."""
    rows = {}
    for command, options in EARLIER.items():
        for name, text in options.items():
            rows.setdefault((name, text), []).append(command)
    lines = [
        "# Options of version 0.3.0",
        "",
        "An option with a new name is accepted for one version more, with a line on standard error "
        "that names the new one. One that is gone is refused, with the words below.",
        "",
        "| option | now | commands |",
        "|---|---|---|",
    ]
    for (name, text), commands_with in sorted(rows.items()):
        now = _escaped(text)
        if text.startswith("-"):
            now = f"`{text.replace('{}', 'VALUE')}`"
        lines.append(f"| `{name}` | {now} | {', '.join(sorted(commands_with))} |")
    return "\n".join(lines) + "\n"


def main(words):
    """Make all pages anew and run mkdocs; -> exit status."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(DOCS, PAGES)
    draw_pictures(DOCS, PAGES / "pictures")
    write_commands()
    write_python()
    write_rest()
    write("earlier-options.md", earlier_options())
    config = PAGES.parent / "mkdocs.yml"
    text = Path(__file__).with_name("mkdocs.yml").read_text(encoding="utf-8")
    listed = "[" + ", ".join(f"{{{name}: commands/{name}.md}}" for name in commands()) + "]"
    config.write_text(text.replace("COMMANDS", listed), encoding="utf-8")
    # not -q, with which --strict does not see the warnings
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-f", str(config), *words],
        check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
