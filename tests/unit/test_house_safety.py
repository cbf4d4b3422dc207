"""What the package never does, read from its source: run a stranger's code, or a shell.

Each rule is tried on lines that break it as well, so that it is known to see them.
"""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "agfmc").rglob("*.py")) + sorted((ROOT / "bin").iterdir())

# Modules that make code of data, or start programs: {module: the files that may have it}.
MODULES = {
    **dict.fromkeys(("_pickle", "pickletools", "copyreg", "marshal", "shelve", "dbm",
                     "dill", "cloudpickle", "joblib", "yaml", "runpy", "code",
                     "codeop", "imp", "pty", "pdb", "xmlrpc", "cffi", "pyximport",
                     "requests", "urllib", "http", "ftplib", "webbrowser"), ()),
    "pickle": ("agfmc/executors/processes.py",),  # to processes of our own, on private pipes
    "multiprocessing": ("agfmc/executors/processes.py",),
    "concurrent": ("agfmc/executors/threads.py", "agfmc/executors/remote.py",
                   "agfmc/executors/dask_cluster.py", "agfmc/training/fit.py",
                   "agfmc/executors/processes.py", "agfmc/training/run.py",
                   "agfmc/training/metric.py"),
    "subprocess": ("agfmc/learners/programs.py",),
    # by names from tables of their own, of this package, or of a function that is at hand
    "importlib": ("agfmc/__init__.py", "agfmc/cli/__init__.py", "agfmc/designs/schemes.py",
                  "agfmc/decode/front.py", "agfmc/report/chart_canvas.py",
                  "agfmc/learners/points.py", "agfmc/learners/protocol.py",
                  "agfmc/core/provenance.py", "agfmc/score/rows.py"),
    "ctypes": ("agfmc/learners/points.py", "agfmc/learners/linear.py",
               "agfmc/learners/svm.py"),
    "socket": (),
    "sqlite3": (),
    "distributed": ("agfmc/executors/dask_cluster.py",),
    "asyncio": (),
}
# Builtins, and attributes by their last two names.
CALLS = {"eval", "exec", "compile", "__import__", "breakpoint", "input", "os.system", "os.popen",
         "os.fork", "os.forkpty", "os.startfile", "os.posix_spawn", "os.posix_spawnp",
         "tempfile.mktemp", "numpy.load", "np.load", "np.save", "np.savez", "np.lib",
         "util.find_library", "ctypes.util", "subprocess.getoutput", "subprocess.getstatusoutput",
         "os.chmod", "os.umask", "enable_load_extension", "load_extension", "sys.setprofile"}
MAY_CALL = {"os.umask": ("agfmc/files/atomic.py",), "np.lib": ("agfmc/files/npz.py",),
            "allow_pickle": ("agfmc/files/npz.py",)}  # False there
BEGINNINGS = ("os.exec", "os.spawn")
TEMPORARY = {"TemporaryFile", "TemporaryDirectory", "mkdtemp", "mkstemp", "gettempdir"}
# Whatever else is in the environment changes nothing here but where programs are found.
ENVIRONMENT = {"XDG_CACHE_HOME", "COLUMNS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
               "OMP_NUM_THREADS", "MPLBACKEND", "PYTHONSAFEPATH"}


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def dotted(node):
    """a.b of a name or attribute, with "?" for what begins with anything else."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


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
            for wanted in (told, words[-1] if isinstance(node, ast.Name) or
                           words[-1].endswith("load_extension") else ""):
                if (wanted in CALLS or wanted.startswith(BEGINNINGS)) and \
                        name not in MAY_CALL.get(wanted, ()):
                    yield line, wanted
            if words[0] == "tempfile" and len(words) == 2 and words[1] not in TEMPORARY:
                yield line, told
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if name in MAY_CALL.get(keyword.arg, ()) and \
                        ast.unparse(keyword.value) == "False":
                    continue
                if keyword.arg in ("shell", "allow_pickle", "executable", "preexec_fn") or \
                        keyword.arg is None and ast.unparse(node.func).startswith("subprocess"):
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
    elif isinstance(node, ast.Call) and dotted(node.func) in ("os.environ.get", "os.getenv",
                                                               "os.environ.pop"):
        key = node.args[0]
    if isinstance(key, ast.Constant) and key.value not in ENVIRONMENT:
        yield node.lineno, key.value


def test_nothing_of_a_stranger_is_run():
    assert [(name_of(path), *fault) for path in FILES
            for fault in faults(tree_of(path), name_of(path))] == []


BREAKING = [
    "import pickle", "from pickle import loads", "import a.b, marshal", "import shelve as s",
    "from multiprocessing.connection import Connection", "import subprocess", "import yaml",
    "from concurrent.futures import ProcessPoolExecutor", "import joblib", "from os import system",
    "eval('1')", "exec(x)", "f = eval", "__import__('x')", "compile(x, '', 'exec')",
    "os.system(x)", "os.popen(x)", "os.execvp(x, y)", "os.spawnl(x)", "tempfile.mktemp()",
    "tempfile.NamedTemporaryFile()", "from tempfile import mktemp", "np.load(x)",
    "numpy.load(x, allow_pickle=True)", "f(allow_pickle=False)", "run(x, shell=True)",
    "run(x, shell=False)", "ctypes.util.find_library('svm')", "import importlib",
    "connection.enable_load_extension(True)", "subprocess.run(x, **more)", "import ctypes",
    "os.environ['AGFMC_COMMAND']", "os.environ.get('EDITOR')", "os.getenv('SHELL', 'sh')",
    "os.umask(0)", "import sqlite3", "from urllib.request import urlopen"]
ALLOWED = [
    "re.compile(x)", "import tempfile", "tempfile.mkdtemp(dir=x)", "os.environ.get('COLUMNS')",
    "model.load(x)", "self.eval(x)", "import json, os.path", "evaluate(x)"]


def test_the_rules_see_what_breaks_them_and_nothing_else():
    assert [line for line in BREAKING + ALLOWED
            if list(faults(ast.parse(f"import os\n{line}\n"), "agfmc/cli/run.py"))] == BREAKING


def test_outputs_are_opened_in_one_place():
    """`open` for writing is left to `files.atomic`, but for private folders and nothing."""
    writers = set()
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and dotted(node.func) == "open":
                modes = [*node.args[1:2], *(word.value for word in node.keywords
                                            if word.arg == "mode")]
                if any(set(ast.literal_eval(mode)) & set("wax+") for mode in modes):
                    writers.add(name_of(path))
    assert writers <= {"agfmc/training/external.py", "agfmc/learners/programs.py",
                       "agfmc/cli/run.py"}
