"""The order of the house, read from its import statements and its source."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "agfmc"
FILES = sorted(PACKAGE.rglob("*.py"))
HEAVY = ("numpy", "scipy", "libsvm", "liblinear")
COMMANDS = sorted(path.stem for path in (PACKAGE / "cli").glob("*.py") if path.stem not in (
    "__init__", "gather", "held_out_files"))  # what commands load when they have read their words


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def dotted(node):
    """a.b of a name or attribute, None of what begins with anything else."""
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return before and f"{before}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else None


@cache
def imports(path):
    """(line, module path inside agfmc as a tuple, or the name of a foreign module) of a file."""
    return list(_imports(path))


def _imports(path):
    inside = path.relative_to(PACKAGE).with_suffix("").parts
    folder = inside[:-1]  # of the module, or of the package that __init__ stands for
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, resolved(alias.name)
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                yield node.lineno, resolved(node.module)
                continue
            base = folder[:len(folder) - node.level + 1]
            assert node.level <= len(folder) + 1, f"{name_of(path)}:{node.lineno} leaves agfmc"
            if node.module:
                yield node.lineno, base + tuple(node.module.split("."))
            else:
                for alias in node.names:
                    yield node.lineno, base + (alias.name,)


def resolved(name):
    parts = name.split(".")
    return tuple(parts[1:]) if parts[0] == "agfmc" else name


def test_the_house_is_found():
    assert len(FILES) > 60
    assert {"classify_m", "multi_borders", "print_control", "mbh2mbm", "eval_uc"} <= set(COMMANDS)
    found = {edge for path in FILES for _, edge in imports(path) if isinstance(edge, tuple)}
    assert ("kernels", "values") in found or ("kernels", "machine") in found


def test_imports_keep_their_contracts():
    """The floors of the rooms, and no circles: `tool.importlinter` in pyproject.toml."""
    pytest.importorskip("importlinter")
    done = subprocess.run([sys.executable, "-c", "import sys; from importlinter.cli import "
                           "lint_imports; sys.exit(lint_imports(no_cache=True))"],
                          cwd=PACKAGE.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("library, file", [("libsvm", "learners/svm.py"),
                                           ("liblinear", "learners/linear.py")])
def test_only_one_file_knows_a_library(library, file):
    knowing = [name_of(path) for path in FILES
               if any(not isinstance(target, tuple) and target.split(".")[0] == library
                      for _, target in imports(path))
               or name_of(path) != "control/learners.py"  # which has a table of our modules
               and re.search(f"""["']{library}["']""", path.read_text(encoding="utf-8"))]
    assert knowing == [file]


def calls(path):
    """(line, dotted name) of every name and attribute that a file uses."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield node.lineno, dotted(node)


def test_only_commands_print_exit_and_read_argv():
    commands_only = {
        "print", "sys.exit", "exit", "quit", "os._exit", "sys.argv", "SystemExit", "input",
        "sys.stdout", "sys.stderr", "sys.stdout.write", "sys.stderr.write"}
    assert [f"{name_of(path)}:{line} {name}" for path in FILES if path.parent.name != "cli"
            for line, name in calls(path) if name in commands_only
            and (path.name, name) != ("processes.py", "os._exit")] == []  # of a worker


def test_lines_are_short_and_files_say_what_they_are():
    texts = {name_of(path): path.read_text(encoding="utf-8") for path in FILES}
    assert [f"{name}:{i}" for name, text in texts.items()
            for i, line in enumerate(text.splitlines(), 1) if len(line) > 100] == []
    assert [name for name, text in texts.items() if not ast.get_docstring(tree_of(PACKAGE / name))
            or "type: ignore" in text or "noqa" in text] == []


def test_importing_the_package_loads_none_of_its_rooms():
    code = ("import sys, agfmc\n"
            "assert not [m for m in sys.modules if m.count('.') and m.startswith('agfmc.')\n"
            "            and m not in ('agfmc.core', 'agfmc.core.errors', 'agfmc.core.version')]\n"
            f"assert not [m for m in {HEAVY!r} if m in sys.modules]\n"
            "assert all(getattr(agfmc, name) is not None for name in agfmc.__all__)\n"
            "assert set(agfmc.__all__) <= set(dir(agfmc)) and not hasattr(agfmc, 'nothing')\n")
    done = subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr


def test_commands_load_nothing_heavy():
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    importlib.import_module('agfmc.cli.' + name)\n"
        f"    heavy = [m for m in {HEAVY!r} if m in sys.modules]\n"
        "    assert not heavy, (name, heavy)\n")
    done = subprocess.run([sys.executable, "-c", code, *COMMANDS], cwd=PACKAGE.parent,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_each_command_alone_loads_nothing_heavy():
    """At module level none of the modules that a command imports is a heavy one."""
    heavy, seen, waiting = [], set(), [("cli", command) for command in COMMANDS]
    while waiting:
        parts = waiting.pop()
        path = PACKAGE.joinpath(*parts).with_suffix(".py")
        if parts in seen or not path.exists():
            continue
        seen.add(parts)
        for node in tree_of(path).body:
            names = ()
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module]
            elif isinstance(node, ast.ImportFrom):
                base = parts[:len(parts) - node.level]
                if node.module:
                    waiting.append(base + tuple(node.module.split(".")))
                else:
                    waiting.extend(base + (alias.name,) for alias in node.names)
            heavy += [(path, name) for name in names if name.split(".")[0] in HEAVY]
    assert heavy == []
