"""The order of the house, and what it never does: run a stranger's code, or a shell.

Both are read from its source. Rules of the second kind are tried on lines that break them as well,
so that it is known to see them.
"""

import ast
import gc
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "agfmc"
FILES = sorted(PACKAGE.rglob("*.py"))
PROGRAMS = sorted((ROOT / "bin").iterdir())
HEAVY = ("numpy", "scipy", "libsvm", "liblinear")
COMMANDS = sorted(
    path.stem for path in (PACKAGE / "cli").glob("*.py") if path.stem != "__init__"
)  # what commands load when they have read their words


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


@pytest.fixture(scope="module", autouse=True)
def nodes_are_no_garbage():
    """The nodes, half a million, are not looked through for garbage, and go afterwards."""
    gc.disable()
    yield
    tree_of.cache_clear()
    nodes_of.cache_clear()
    gc.enable()


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path):
    return list(ast.walk(tree_of(path)))


def dotted(node):
    """a.b of a name or attribute, with "?" for what begins with anything else."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


@cache
def imports(path):
    """(line, module path inside agfmc as a tuple, or the name of a foreign module) of a file."""
    return list(_imports(path))


def _imports(path):
    inside = path.relative_to(PACKAGE).with_suffix("").parts
    folder = inside[:-1]  # of the module, or of the package that __init__ stands for
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, resolved(alias.name)
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                yield node.lineno, resolved(node.module)
                continue
            base = folder[: len(folder) - node.level + 1]
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
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from importlinter.cli import "
            "lint_imports; sys.exit(lint_imports(no_cache=True))",
        ],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "library, file", [("libsvm", "learners/svm.py"), ("liblinear", "learners/linear.py")]
)
def test_only_one_file_knows_a_library(library, file):
    knowing = [
        name_of(path)
        for path in FILES
        if any(
            not isinstance(target, tuple) and target.split(".")[0] == library
            for _, target in imports(path)
        )
        or name_of(path) != "control/learners.py"  # which has a table of our modules
        and re.search(f"""["']{library}["']""", path.read_text(encoding="utf-8"))
    ]
    assert knowing == [file]


def rows_of_tables():
    """{table: the names of its rows}."""
    from agfmc.calibration.maps import KINDS
    from agfmc.control.learners import LEARNERS
    from agfmc.core.kernels import KERNELS
    from agfmc.decode.methods import METHODS
    from agfmc.designs.schemes import SCHEMES
    from agfmc.files.kinds import ANSWER_FORMATS

    return {
        "decoders": {row.name for row in METHODS},
        "formats": {*(row.ending for row in ANSWER_FORMATS)},
        "kernels": {*KERNELS},
        "learners": {*LEARNERS},
        "maps": {*KINDS},
        "schemes": {row.name for row in SCHEMES},
    }


def test_rows_of_tables_are_not_listed_again():
    """A new row needs no second list: those here choose some rows by what only these can."""
    found, tables = set(), rows_of_tables().items()
    for path in FILES:
        for node in nodes_of(path):
            items = getattr(node, "keys" if isinstance(node, ast.Dict) else "elts", ())
            words = {getattr(item, "value", None) for item in items}
            if len(words) > 1:
                found |= {(table, name_of(path)) for table, names in tables if words <= names}
    assert found == {
        ("kernels", "core/kernels.py"),
        ("learners", "control/learners.py"),
        ("maps", "calibration/maps.py"),
        ("maps", "decode/methods.py"),
        ("schemes", "designs/schemes.py"),  # the tables
        ("learners", "core/models.py"),  # what the file of a node may hold
        ("learners", "experiments/families.py"),
        ("kernels", "experiments/families.py"),
    }


def calls(path):
    """(line, dotted name) of every name and attribute that a file uses."""
    for node in nodes_of(path):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield node.lineno, dotted(node)


def test_only_commands_print_exit_and_read_argv():
    commands_only = {
        "print",
        "sys.exit",
        "exit",
        "quit",
        "os._exit",
        "sys.argv",
        "SystemExit",
        "input",
        "sys.stdout",
        "sys.stderr",
        "sys.stdout.write",
        "sys.stderr.write",
    }
    assert [
        f"{name_of(path)}:{line} {name}"
        for path in FILES
        if not name_of(path).startswith("cli/")
        for line, name in calls(path)
        if name in commands_only and (path.name, name) != ("processes.py", "os._exit")
    ] == []  # of a worker


def test_files_say_what_they_are():
    texts = {name_of(path): path.read_text(encoding="utf-8") for path in FILES}
    assert [
        name
        for name, text in texts.items()
        if not ast.get_docstring(tree_of(PACKAGE / name))
        or "type: ignore" in text
        or "noqa" in text
    ] == []


def test_importing_the_package_loads_none_of_its_rooms():
    code = (
        "import sys, agfmc\n"
        "assert not [m for m in sys.modules if m.count('.') and m.startswith('agfmc.')\n"
        "            and m not in ('agfmc.core', 'agfmc.core.errors', 'agfmc.core.version')]\n"
        f"assert not [m for m in {HEAVY!r} if m in sys.modules]\n"
        "assert all(getattr(agfmc, name) is not None for name in agfmc.__all__)\n"
        "assert set(agfmc.__all__) <= set(dir(agfmc)) and not hasattr(agfmc, 'nothing')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PACKAGE.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_commands_load_nothing_heavy():
    code = (
        "import sys\n"
        "from agfmc.cli import main_of\n"
        "for name in sys.argv[1:]:\n"
        "    main_of(name)\n"
        f"    heavy = [m for m in {HEAVY!r} if m in sys.modules]\n"
        "    assert not heavy, (name, heavy)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *COMMANDS], cwd=PACKAGE.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


# {file of the work of a command: modules that a part of its runs needs, which take long to load}
LATER = {
    "eval_uc": {"eval_uc_page"},
    "mbh2mbm": {"join_models", "write_program"},
    "mbm_info": {"mbm_info_page"},
    "multi_borders": {"prediction.calibrate"},
    "print_control": {"design_sources", "data.class_names", "report.chart_control"},
}


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "cli" / "work").glob("*.py")), ids=lambda path: path.stem
)
def test_work_imports_at_the_top_and_sees_no_parsed_arguments(path):
    """A request is all that the work of a command knows of its options."""
    inside = {
        node.module
        for node in nodes_of(path)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and node.col_offset
    }
    assert inside == LATER.get(path.stem, set())
    assert "args" not in {getattr(node, "id", getattr(node, "arg", "")) for node in nodes_of(path)}


def test_each_command_alone_loads_nothing_heavy():
    """At module level none of the modules that a command imports is a heavy one."""
    heavy, seen, waiting = [], set(), [("cli", name) for name in ("convert", *COMMANDS)]
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
                base = parts[: len(parts) - node.level]
                if node.module:
                    waiting.append(base + tuple(node.module.split(".")))
                else:
                    waiting.extend(base + (alias.name,) for alias in node.names)
            heavy += [(path, name) for name in names if name.split(".")[0] in HEAVY]
    assert heavy == []


# What looks like an option of a command: one of the control language, properties of style sheets,
# signs of matrices.
NO_OPTIONS = {
    ("landmarks/learner.py", "--loo"),
    ("report/page.py", "--"),
    ("designs/orthogonal.py", "--"),
}


def options_in(text):
    return re.findall(r"(?<![\w-])--(?:[a-z][a-z-]*|$)", text)


def test_only_commands_name_options():
    """Strings of the library name parameters; `cli.parameters` makes options of them."""
    assert options_in("give --min-class 2 (or `--id`)") == ["--min-class", "--id"]
    named = {
        (name_of(path), option)
        for path in FILES
        if not name_of(path).startswith("cli/")
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for option in options_in(node.value)
    }
    assert named == NO_OPTIONS


# Modules that make code of data, or start programs: {module: the files that may have it}.
MODULES = {
    **dict.fromkeys(
        (
            "_pickle",
            "pickletools",
            "copyreg",
            "marshal",
            "shelve",
            "dbm",
            "dill",
            "cloudpickle",
            "joblib",
            "yaml",
            "runpy",
            "code",
            "codeop",
            "imp",
            "pty",
            "pdb",
            "xmlrpc",
            "cffi",
            "pyximport",
            "requests",
            "urllib",
            "http",
            "ftplib",
            "webbrowser",
        ),
        (),
    ),
    "pickle": ("agfmc/executors/processes.py",),  # to processes of our own, on private pipes
    "multiprocessing": ("agfmc/executors/processes.py",),
    "concurrent": (
        "agfmc/executors/threads.py",
        "agfmc/executors/remote.py",
        "agfmc/executors/dask_cluster.py",
        "agfmc/training/fit.py",
        "agfmc/executors/processes.py",
        "agfmc/training/run.py",
    ),
    "subprocess": ("agfmc/learners/programs.py",),
    # by names from tables of their own, of this package, or of a function that is at hand
    "importlib": (
        "agfmc/cli/signals.py",
        "agfmc/__init__.py",
        "agfmc/cli/__init__.py",
        "agfmc/core/rows.py",
        "agfmc/learners/points.py",
        "agfmc/core/provenance.py",
    ),
    "ctypes": ("agfmc/learners/points.py", "agfmc/learners/linear.py", "agfmc/learners/svm.py"),
    "socket": (),
    "sqlite3": (),
    "distributed": ("agfmc/executors/dask_cluster.py",),
    "asyncio": (),
}
# Builtins, and attributes by their last two names.
CALLS = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "breakpoint",
    "input",
    "os.system",
    "os.popen",
    "os.fork",
    "os.forkpty",
    "os.startfile",
    "os.posix_spawn",
    "os.posix_spawnp",
    "tempfile.mktemp",
    "numpy.load",
    "np.load",
    "np.save",
    "np.savez",
    "np.lib",
    "util.find_library",
    "ctypes.util",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "os.chmod",
    "os.umask",
    "enable_load_extension",
    "load_extension",
    "sys.setprofile",
}
MAY_CALL = {"os.umask": ("agfmc/files/atomic.py",)}
BEGINNINGS = ("os.exec", "os.spawn")
TEMPORARY = {"TemporaryFile", "TemporaryDirectory", "mkdtemp", "mkstemp", "gettempdir"}
# Whatever else is in the environment changes nothing here but where programs are found.
ENVIRONMENT = {
    "XDG_CACHE_HOME",
    "COLUMNS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MPLBACKEND",
    "PYTHONSAFEPATH",
}


def faults(tree, name):
    """(line, what) of everything in a source that breaks a rule in the file `name`."""
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        for module in _modules(node):
            top = module.split(".")[0]
            if top in MODULES and name not in MODULES[top]:
                yield line, module
        if isinstance(node, ast.ImportFrom) and node.module == "tempfile":
            yield line, "from tempfile"  # its names are looked for behind `tempfile.`
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            yield line, "from os"
        if isinstance(node, (ast.Name, ast.Attribute)):
            words = dotted(node).split(".")
            told = ".".join(words[-2:])
            for wanted in (
                told,
                words[-1]
                if isinstance(node, ast.Name) or words[-1].endswith("load_extension")
                else "",
            ):
                if (wanted in CALLS or wanted.startswith(BEGINNINGS)) and name not in MAY_CALL.get(
                    wanted, ()
                ):
                    yield line, wanted
            if words[0] == "tempfile" and len(words) == 2 and words[1] not in TEMPORARY:
                yield line, told
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if name in MAY_CALL.get(keyword.arg, ()) and ast.unparse(keyword.value) == "False":
                    continue
                if (
                    keyword.arg in ("shell", "allow_pickle", "executable", "preexec_fn")
                    or keyword.arg is None
                    and ast.unparse(node.func).startswith("subprocess")
                ):
                    yield line, keyword.arg
        yield from _variables(node)


def _modules(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def _variables(node):
    """Variables of the environment that are read but not known."""
    key = None
    if isinstance(node, ast.Subscript) and dotted(node.value) == "os.environ":
        key = node.slice
    elif isinstance(node, ast.Call) and dotted(node.func) in (
        "os.environ.get",
        "os.getenv",
        "os.environ.pop",
    ):
        key = node.args[0]
    if isinstance(key, ast.Constant) and key.value not in ENVIRONMENT:
        yield node.lineno, key.value


def test_nothing_of_a_stranger_is_run():
    names = {path: path.relative_to(ROOT).as_posix() for path in FILES + PROGRAMS}
    assert [
        (name, *fault) for path, name in names.items() for fault in faults(tree_of(path), name)
    ] == []


BREAKING = [
    "import pickle",
    "from pickle import loads",
    "import a.b, marshal",
    "import shelve as s",
    "from multiprocessing.connection import Connection",
    "import subprocess",
    "import yaml",
    "from concurrent.futures import ProcessPoolExecutor",
    "import joblib",
    "from os import system",
    "eval('1')",
    "exec(x)",
    "f = eval",
    "__import__('x')",
    "compile(x, '', 'exec')",
    "os.system(x)",
    "os.popen(x)",
    "os.execvp(x, y)",
    "os.spawnl(x)",
    "tempfile.mktemp()",
    "tempfile.NamedTemporaryFile()",
    "from tempfile import mktemp",
    "np.load(x)",
    "numpy.load(x, allow_pickle=True)",
    "f(allow_pickle=False)",
    "run(x, shell=True)",
    "run(x, shell=False)",
    "ctypes.util.find_library('svm')",
    "import importlib",
    "connection.enable_load_extension(True)",
    "subprocess.run(x, **more)",
    "import ctypes",
    "os.environ['AGFMC_COMMAND']",
    "os.environ.get('EDITOR')",
    "os.getenv('SHELL', 'sh')",
    "os.umask(0)",
    "import sqlite3",
    "from urllib.request import urlopen",
]
ALLOWED = [
    "re.compile(x)",
    "import tempfile",
    "tempfile.mkdtemp(dir=x)",
    "os.environ.get('COLUMNS')",
    "model.load(x)",
    "self.eval(x)",
    "import json, os.path",
    "evaluate(x)",
]


def test_the_rules_see_what_breaks_them_and_nothing_else():
    assert [
        line
        for line in BREAKING + ALLOWED
        if list(faults(ast.parse(f"import os\n{line}\n"), "agfmc/cli/run.py"))
    ] == BREAKING


def test_outputs_are_opened_in_one_place():
    """`open` for writing is left to `files.atomic`, but for private folders and nothing."""
    writers = set()
    for path in FILES + PROGRAMS:
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and dotted(node.func) == "open":
                modes = [
                    *node.args[1:2],
                    *(word.value for word in node.keywords if word.arg == "mode"),
                ]
                if any(set(ast.literal_eval(mode)) & set("wax+") for mode in modes):
                    writers.add(path.relative_to(ROOT).as_posix())
    assert writers <= {
        "agfmc/training/external.py",
        "agfmc/learners/programs.py",
        "agfmc/cli/run.py",
    }


# What is made of a request: beside it there are no parsed arguments any more.
OF_REQUESTS = {"configuration", "experiment", "recipe", "request", "results", "rows", "work"}


def behind_requests(tree):
    """Functions that get parsed arguments together with what the work of a command makes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
            if "args" in names and names & OF_REQUESTS:
                yield node.name


@pytest.mark.parametrize("path", sorted((PACKAGE / "cli").glob("*.py")), ids=name_of)
def test_parsed_arguments_end_in_a_request(path):
    assert [*behind_requests(tree_of(path))] == []


def test_arguments_beside_results_are_seen():
    assert [*behind_requests(ast.parse("def write(args, results): pass"))] == ["write"]
