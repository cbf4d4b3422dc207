"""Other programs get odd names as they are, and run only where the command line asks for them."""

import contextlib
import importlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BIN = Path(__file__).resolve().parents[2] / "bin"
NAMES = [
    "a b", "it's", 'say "so"', "a;touch pwned", "a&b|c>d<e", "$(touch pwned)", "`touch pwned`",
    "$HOME", "~", "*", "%s%n", "{}", "#", "back\\slash", "\\n", "tab\there", "esc\x1b[2J", "-",
    "-rf", "--help", "--", "-1", "!", "(a)", "ü漢", "\udcff\udcfe", "a=b", "' ; touch pwned ; '",
    '" ; touch pwned ; "', "x\r", "\u202egnp"]
QUICK = {"a;touch pwned", "$(touch pwned)", "' ; touch pwned ; '", "-rf", "esc\x1b[2J",
         "\udcff\udcfe"}
ODD = pytest.mark.parametrize("name", [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in NAMES],
    ids=ascii)
PREDICT = """#!/bin/sh
# as svm-predict: points model output; the last three words, and no others
test "$#" = 3 -a -f "$1" -a -f "$2" -a ! -e "$3" || exit 1
sed 's/.*/1/' < "$1" > "$3"
"""


@pytest.fixture
def call(run, capfdbinary):
    """Function that runs a command; other programs print nothing past it."""
    def call(*words):
        done = run(*words, status=None)
        assert capfdbinary.readouterr() == (b"", b"")
        return done

    return call


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Data trn.svm of three classes, a `plan`, and a program `predict`."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    rng = np.random.default_rng(3)
    with open("trn.svm", "w", encoding="ascii") as file:
        for label in np.repeat([0, 1, 2], 9).tolist():
            x, y = np.round(rng.normal(size=2) * 4).tolist()
            file.write(f"{label} 1:{x + label} 2:{y}\n")
    Path("plan").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
    Path("predict").write_text(PREDICT)
    os.chmod("predict", 0o755)
    yield tmp_path / "work"
    found = {entry for where, _, files in os.walk(tmp_path) for entry in files}
    assert not any("pwned" in entry and not any(name in entry for name in NAMES if "pwned" in name)
                   for entry in found)
    assert "pwned" not in found


def operand(name):
    return f"./{name}" if name.startswith("-") else name


@ODD
@pytest.mark.parametrize("way", ["alone", "shell"])
def test_trainers_converters_and_predictors(call, name, way):
    o = operand(name)
    os.mkdir(name)
    shutil.copy("trn.svm", f"{name}/{name}.svm")
    shutil.copy("predict", f"{name}/{name}")  # the program has such a name too
    program = shlex.quote(f"./{name}/{name}")
    train = "cp"
    if way == "shell":
        train, program = "true && cp", f"true && {program}"
    data = f"{o}/{name}.svm"
    for more in ([], ["-^", "cat"], ["-K"]):
        status, out, err = call("multi_borders", "-M", "--", train, *more, "-y", f"{o}/", "plan",
                                data, o, f"{o}.c")
        assert (status, out) == (0, ""), err
    models = f"./{name}" if name.startswith("-") else name
    assert sorted(os.path.basename(entry) for entry in os.listdir(name)
                  if not entry.endswith(".tmp")) == sorted(
        os.path.basename(entry) for entry in (name, f"{name}.svm", *(f"{models}-0{i}"
                                                                     for i in range(3))))
    for more in ([], ["-j", "2"], ["-K"]):
        status, out, err = call("classify_m", "-M", "-O", program, *more, "-y", f"{o}/",
                                f"{o}.c", data, f"{o}.out")
        assert (status, out) == (0, ""), err
    with open(f"{name}.out", encoding="ascii") as file:
        assert [line.split()[0] for line in file] == ["labels"] + ["2"] * 27
    status, out, err = call("svmout2agf", f"{o}.out", f"{o}.back")
    assert status == 0, err


@ODD
def test_code_g(call, name):
    o = operand(name)
    with open(f"{name}.p", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write('"./predict" G { 0 1 2 }')
    status, out, err = call("multi_borders", "-M", f"{o}.p", "trn.svm", f"{o}g", f"{o}.c")
    assert status == 0, err
    status, out, err = call("classify_m", "-M", f"{o}.c", "trn.svm", f"{o}.out")
    assert status == 1 and "--allow-commands" in err and err.count("\n") == 1
    status, out, err = call("classify_m", "-M", "--allow-commands", f"{o}.c", "trn.svm", f"{o}.out")
    assert status == 0, err
    assert np.fromfile(f"{name}.out.cls", "<i4").tolist() == [1] * 27


def test_the_commands_of_a_dry_run_with_line_breaks(call, tmp_path_factory):
    """xargs -0 runs what --null prints, whatever the names hold; -0 alone refuses a line break."""
    programs = tmp_path_factory.mktemp("programs")
    (programs / "multi_borders").write_text("#!/bin/sh\nexec " + shlex.join(
        [sys.executable, str(BIN / "multi_borders")]) + ' "$@"\n')
    (programs / "multi_borders").chmod(0o755)
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env.update(PATH=f"{programs}{os.pathsep}{os.environ['PATH']}", PYTHONPATH=str(BIN.parent))
    for name in ("line\nbreak", "\n", "$(touch pwned)\n; touch pwned\n'"):
        shutil.copy("trn.svm", f"{name}.svm")
        os.mkdir(f"{name}d")
        words = ("-M", "-0", "-y", f"{name}d", "plan", f"{name}.svm", "m", f"{name}.c")
        status, out, err = call("multi_borders", *words)
        assert status == 2 and out == "" and "--null" in err
        assert not os.path.exists(f"{name}.c")
        status, out, err = call("multi_borders", "--null", *words)
        assert status == 0 and out.count("\0") == 3 and out.endswith("\0"), err
        subprocess.run(["xargs", "-0", "-n", "1", "sh", "-c"], check=True, env=env,
                       input=out.encode("utf-8", "surrogateescape"))
        assert sorted(os.listdir(f"{name}d")) == ["m-00", "m-01", "m-02"]
        assert call("mbh2mbm", "-y", f"{name}d", f"{name}.c", f"{name}.mbm")[0] == 0
    assert call("multi_borders", "--null", "plan", "trn", "m", "c")[0] == 2


EVIL = "touch pwned"
CONTROLS = {
    "training": f'"{EVIL}" G {{ 0 1 2 }}',
    "trained": f'm G "{EVIL}" {{ 0 1 2 }}',
    "inside": f'"" {{ "{EVIL} #" G {{ 0 1 }} 2 }}',
    "trained inside": f'm {{ m.00 G "{EVIL} #" {{ 0 1 }} 2 }}',
    "options": f'"-c 1; {EVIL}" 0 / 1; "$({EVIL})" 0 / 2; "`{EVIL}`" 1 / 2; {{0 1 2}}',
    "learner": f'"learner=$({EVIL})" 0 / 1; "learner=os.system {EVIL}" 0 / 2; '
               f'"learner=../../x" 1 / 2; {{0 1 2}}',
    "names": f'"$({EVIL})" 0 / 1; "|{EVIL}" 0 / 2; "`{EVIL}`" 1 / 2; {{0 1 2}}',
    "class names": f'# class 0: $({EVIL})\n# class 1: `{EVIL}`\n# class 2: __import__("os")\n'
                   '"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}'}


def commands_of(control):
    """All that reads a control file, a names file, a state file or a model."""
    yield "print_control", "-Q", "9", control
    yield "print_control", "--dot", "-Q", "8", control
    yield "print_control", "-Q", "8", "--plot", "x.svg", control
    yield "multi_borders", "-M", "--retrain", control, "trn.svm", "m", "x.c"
    yield "multi_borders", "-M", "-0", control, "trn.svm", "m", "x.c"
    yield "multi_borders", "-M", "-+", "-c 1", "--only", "m", control, "trn.svm", "m", "x.c"
    yield "mbh2mbm", control, "x.mbm"
    yield "mbm_info", control
    yield "classify_m", "-M", control, "trn.svm", "out"
    yield "classify_m", "-M", "-O", "./predict", control, "trn.svm", "answer"
    yield "classify_m", "-M", "--executor", "processes:1", control, "trn.svm", "out"
    yield "order_classes", "--path", "-M", control, "trn.svm"
    yield "nfold", "-M", "--no-state", "-d", "2", control, "trn.svm"
    yield "compare_control", "-M", "--no-state", "-d", "2", "trn.svm", control
    yield "tune_m", "-M", "--no-state", "-d", "2", "--refine", "0", "--log2c", "0:1:1", "--log2g",
    "0:1:1", control, "trn.svm"


@pytest.mark.parametrize("kind", CONTROLS)
def test_a_control_file_runs_nothing(call, kind, monkeypatch):
    for variable in ("SHELL", "EDITOR", "PAGER", "BROWSER", "PYTHONSTARTUP", "LESSOPEN",
                     "PYTHONBREAKPOINT", "MPLBACKEND"):
        monkeypatch.setenv(variable, EVIL)
    Path("ctl").write_text(CONTROLS[kind])
    for command, *words in commands_of("ctl"):
        status, out, err = call(command, *words)
        assert status in (0, 1, 2, 3) and "internal error" not in err, (command, err)
        assert not os.path.exists("pwned"), (command, words)


STRANGE = "import os\nopen('pwned', 'w').close()\nraise SystemExit('pwned')\n"
MODULES = ["numpy", "scipy", "agfmc", "libsvm", "liblinear", "sitecustomize", "usercustomize", "re",
           "argparse", "json", "signal", "tempfile", "matplotlib", "distributed", "sqlite3",
           "ctypes", "svm", "commands", "socket", "selectors", "_socket", "evil"]


@pytest.fixture
def trap(folder):
    """Modules, libraries and settings in the current folder, which hold a stranger's code."""
    for name in MODULES:
        Path(f"{name}.py").write_text(STRANGE, encoding="ascii")
    for name in ("libsvm.so", "libsvm.so.2", "clibsvm.so", "libsvm.so.3", "liblinear.so"):
        Path(name).write_bytes(b"\x7fELFwrong")
    Path("matplotlibrc").write_text(
        "backend: module://evil\ntext.usetex: True\nfont.size: 40\nsavefig.dpi: 3\n"
        "axes.prop_cycle: cycler(color=[__import__('os').system('touch pwned')])\n",
        encoding="ascii")
    Path("dask.yaml").write_text("!!python/object/apply:os.system ['touch pwned']\n",
                                 encoding="ascii")
    for name in ("setup.cfg", ".pdbrc", ".pythonrc", "pyvenv.cfg", "python._pth"):
        Path(name).write_text("home = .\nimport evil\n", encoding="ascii")
    return folder


def process(folder, *words, **more):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("PYTHON", "MPL"))}
    env.update(PYTHONPATH=str(BIN.parent), **more)
    command, *words = words
    return subprocess.run([sys.executable, str(BIN / command), *words], cwd=folder, env=env,
                          capture_output=True, timeout=120)


@pytest.mark.parametrize("words", [
    ("print_control", "-M", "trn.svm"), ("print_control", "--plot", "x.svg", "4"),
    ("multi_borders", "-M", "plan", "trn.svm", "m", "c"),
    ("multi_borders", "-M", "-+", "learner=linear", "plan", "trn.svm", "m", "c"),
    ("multi_borders", "-M", "--executor", "processes:1", "plan", "trn.svm", "m", "c"),
    ("nfold", "-M", "-d", "2", "plan", "trn.svm"),
    pytest.param(("multi_borders", "-M", "--executor", "dask:127.0.0.1:1", "plan", "trn.svm", "m",
                  "c"), marks=pytest.mark.long)], ids=lambda words: " ".join(words)[:40])
def test_nothing_in_the_current_folder_is_run(trap, words):
    if "--plot" in words:
        pytest.importorskip("matplotlib")
    if "learner=linear" in words:
        pytest.importorskip("liblinear")
    if "dask:127.0.0.1:1" in words:
        pytest.importorskip("distributed")
    done = process(trap, *words, XDG_CACHE_HOME=str(trap / "cache"))
    assert not os.path.exists("pwned"), done.stderr
    if "dask:127.0.0.1:1" in words:
        assert done.returncode == 1 and b"no scheduler" in done.stderr, done.stderr
    else:
        assert done.returncode == 0, done.stderr
        assert done.stderr.count(b"\n") <= 2, done.stderr


@pytest.mark.parametrize("kind", ["evil", "pipe", *(
    pytest.param(kind, marks=pytest.mark.long) for kind in ("no text", "folder", "dangling"))])
def test_settings_of_pictures_in_the_current_folder_change_nothing(folder, kind):
    pytest.importorskip("matplotlib")
    done = process(folder, "print_control", "--plot", "plain.svg", "4")
    assert done.returncode == 0, done.stderr
    if kind == "evil":
        Path("matplotlibrc").write_text("font.size: 40\nsvg.fonttype: none\npath.sketch: 9, 9, 9\n"
                                        "nonsense\nbackend: tkagg\n", encoding="ascii")
    elif kind == "no text":
        Path("matplotlibrc").write_bytes(b"\xff\xfe\0")
    elif kind == "pipe":
        os.mkfifo("matplotlibrc")
    elif kind == "folder":
        os.mkdir("matplotlibrc")
    else:
        os.symlink("nowhere", "matplotlibrc")
    done = process(folder, "print_control", "--plot", "here.svg", "4")
    assert (done.returncode, done.stderr) == (0, b"")
    assert Path("here.svg").read_bytes() == Path("plain.svg").read_bytes()


@pytest.mark.long
def test_a_stranger_s_scheduler_file(call):
    """It names an address, no more; the words of it are no code."""
    for text in ('{"address": "inproc://x; touch pwned"}', '{"address": "tcp://$(touch pwned):1"}',
                 "!!python/object/apply:os.system ['touch pwned']", '{"address": ["tcp://x:1"]}'):
        Path("cluster.json").write_text(text)
        with contextlib.suppress(ImportError):
            importlib.import_module("distributed")
        status, out, err = call("multi_borders", "-M", "--executor", "dask:cluster.json", "plan",
                                "trn.svm", "m", "c")
        assert status in (1, 2) and err.count("\n") == 1 and "internal error" not in err, err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-16", "utf-8:strict", "cp1252"])
def test_what_is_printed_is_what_a_file_would_hold(folder, encoding):
    Path("names").write_bytes("ü漢\n".encode() + b"\xff\xfe\n" + "€\n".encode())
    done = process(folder, "print_control", "--names", "names", "3", PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# class 0: ü漢\n# class 1: ".encode() + b"\xff\xfe\n")


def test_json_is_json(call):
    """Names of any bytes come out as JSON that any reader takes."""
    Path("n").write_bytes(b"\xff\xfe\n\x00\x1b[2J\"\n".replace(b"\x00", b"\x01") + b"</script>\n")
    call("svm2agf", "trn.svm", "trn")
    call("multi_borders", "plan", "trn", "m", "c")
    assert call("mbh2mbm", "--names", "n", "c", "x.mbm")[0] == 0
    for command, *words in (("mbm_info", "--json", "x.mbm"), ("mbm_info", "--json", "c")):
        status, out, err = call(command, *words)
        assert status == 0 and out.isascii()
        json.loads(out)


WATCH = """#!/bin/sh
where=$(dirname "$1")
stat -c '%a %n' "$where" >> seen
sed 's/.*/1/' < "$1" > "$3"
"""


def test_temporary_files_are_private_and_in_tmpdir(call, folder, monkeypatch):
    import tempfile

    before = os.umask(0)
    try:
        os.mkdir("tmp")
        monkeypatch.setattr(tempfile, "tempdir", str(folder / "tmp"))
        Path("watch").write_text(WATCH, encoding="ascii")
        os.chmod("watch", 0o755)
        Path("train").write_text("#!/bin/sh\nstat -c '%a %n' \"$(dirname \"$1\")\" >> seen\n"
                                 "cp \"$1\" \"$2\"\n", encoding="ascii")
        os.chmod("train", 0o755)
        assert call("multi_borders", "-M", "--", "./train", "plan", "trn.svm", "m", "c")[0] == 0
        assert call("classify_m", "-M", "-O", "./watch", "c", "trn.svm", "out")[0] == 0
    finally:
        os.umask(before)
    lines = Path("seen").read_text(encoding="ascii").splitlines()
    assert len(lines) == 6 and all(line.startswith("700 ") for line in lines)
    names = [line.split(" ", 1)[1] for line in lines]
    assert len(set(names)) == 4  # one for each training, one for all predictions
    assert all(name.startswith(str(folder / "tmp")) for name in names[3:])
    assert os.listdir("tmp") == [] and not [name for name in os.listdir(".") if ".agfmc" in name]
