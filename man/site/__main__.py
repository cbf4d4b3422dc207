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
from man.generate import commands
from man.pages import sections, to_markdown

ROOT = Path(__file__).resolve().parents[2]
MAN, DOCS, PAGES = ROOT / "man", Path(__file__).parent / "docs", ROOT / "build" / "site-pages"
# Subsections of agfmc(7) by the page that they become.
GUIDES = {
    "tables": ("Tables", "Names", "Compressed text"), "groups": ("Groups",),
    "weights": ("Weights", "Costs", "Rare classes"),
    "calibration": ("How probabilities are made", "Calibration and guarantees",
                    "Answers that are sets of classes"),
    "explain": ("What matters, and whether more data would help",), "decoders": ("Decoders",),
    "designs": ("Schemes", "Searching for a design"), "ensembles": ("Ensembles",),
    "learners": ("Which learner",), "deployment": ("Deployment",),
    "scale": ("Scale", "Several cores, several machines", "Seeds and repeatability"),
    "messages": ("Messages", "Messages for programs")}


def link(folder):
    """The function that gives the target of a manual page, for pages in a folder."""
    known = set(commands())

    def target(name, section):
        if name in known:
            return f"../commands/{name}.md"
        return {"agfmc_control": "../reference/control.md", "agfmc": "../index.md",
                "agfmc_model": "../reference/model.md"}.get(name) if section else None
    return target


def write(name, text):
    """Write a page below `PAGES`."""
    path = PAGES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_guides():
    """The guides; a subsection of agfmc(7) without a page is an error."""
    parts = sections((MAN / "agfmc.7").read_text(encoding="utf-8"))
    parts.pop("Commands, by task")
    for name, titles in GUIDES.items():
        text = "".join(f"## {title}\n\n{to_markdown(parts.pop(title), link('guide'))}\n"
                       for title in titles)
        if len(titles) == 1:
            text = text[1:]
        else:
            text = f"# {name.capitalize()}\n\n{text}"
        write(f"guide/{name}.md", text)
    write("guide/kernels.md", "# Kernels and metrics\n\n" + "".join(
        f"## {title}\n\n{to_markdown(text, link('guide'))}\n" for title, text in parts.items()))


def write_commands():
    """A page for each command, and the formats."""
    for name in commands():
        roff = (MAN / f"{name}.1").read_text(encoding="utf-8")
        text = to_markdown(roff[roff.index(".SH NAME"):], link("commands"))
        text = re.sub(r"^## Name\n\n(.*?) - (.*)", rf"# {name}\n\n\2", text, count=1)
        write(f"commands/{name}.md", text)
    for page in ("control", "model"):
        roff = (MAN / f"agfmc_{page}.5").read_text(encoding="utf-8")
        text = to_markdown(roff[roff.index(".SH DESCRIPTION"):], link("reference"))
        title = {"control": "Control files", "model": "Files of data and models"}[page]
        write(f"reference/{page}.md", text.replace("## Description\n", f"# {title}\n", 1))


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
              re.sub(r"^\| `(\w+)` \|", r"| [`\1`](commands/\1.md) |", re.sub(
                  r"(\| [a-z ]*\| )`(\w+)` \|", r"\1[`\2`](commands/\2.md) |",
                  text.replace("man/site/docs/", "")), flags=re.M))


def main(words):
    """Make all pages anew and run mkdocs; -> exit status."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(DOCS, PAGES)
    write_guides()
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
