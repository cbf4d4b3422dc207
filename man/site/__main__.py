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
from man.generate import command_page, commands

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
    lines = ["# Python", "", "All names are those of `import agfmc`; the estimator is in "
             "`agfmc.estimators`.", ""]
    from agfmc.estimators import MultiClassFromBinary

    things = {name: getattr(agfmc, name) for name in agfmc.__all__ if name != "__version__"}
    for name, thing in [*sorted(things.items()), ("MultiClassFromBinary", MultiClassFromBinary)]:
        lines += [f"## {name}", "", *_documented(thing, name)]
        for method, function in vars(thing).items() if inspect.isclass(thing) else ():
            if not method.startswith("_") and inspect.isfunction(function) and function.__doc__:
                lines += [f"### {name}.{method}", "", *_documented(function, method)]
    write("reference/python.md", "\n".join(lines) + "\n")


def _documented(thing, name):
    try:
        signature = f"{name}{inspect.signature(thing)}" if not (
            inspect.isclass(thing) and issubclass(thing, Exception)) else name
    except ValueError:
        signature = name
    signature = re.sub(r"agfmc(\.\w+)*\.(?=\w)|'", "", signature)
    yield from ("```python", signature.replace("(self, ", "(").replace("(self)", "()"), "```", "")
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
    """Entries `name : type` with an indented explanation, as a list."""
    for line in text.strip("\n").splitlines():
        if not line.strip():
            yield ""
        elif line.startswith(" "):
            yield "    " + _escaped(line.strip())
        else:
            name, colon, kind = line.partition(" : ")
            yield f"- `{name}`" + (f": {_escaped(kind)}" if colon else "")
    yield ""


def _escaped(text):
    return re.sub(r"([<\[])", r"\\\1", re.sub(r"``([^`]*)``", r"`\1`", text))


def write_rest():
    """Pages that are files of the source tree, and the benchmarks."""
    spec = importlib.util.spec_from_file_location("page", ROOT / "tests/benchmarks/page.py")
    benchmarks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmarks)
    write("benchmarks.md", benchmarks.page(benchmarks.results()))
    for name, target in (("README.md", "index.md"), ("CONTRIBUTING.md", "contributing.md"),
                         ("CHANGELOG.md", "changelog.md")):
        text = (ROOT / name).read_text(encoding="utf-8")
        write(target, text.replace("man/site/docs/", "") if target != "index.md" else
              re.sub(rf"\| `({'|'.join(commands())})` \|", r"| [`\1`](commands/\1.md) |",
                     text.replace("man/site/docs/", "")))


def main(words):
    """Make all pages anew and run mkdocs; -> exit status."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(DOCS, PAGES)
    write_commands()
    write_python()
    write_rest()
    config = PAGES.parent / "mkdocs.yml"
    text = Path(__file__).with_name("mkdocs.yml").read_text(encoding="utf-8")
    listed = "[" + ", ".join(f"{{{name}: commands/{name}.md}}" for name in commands()) + "]"
    config.write_text(text.replace("COMMANDS", listed), encoding="utf-8")
    return subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q", "-f",
                           str(config), *words],
                          check=False, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
