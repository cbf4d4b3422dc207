"""Odd names and texts: what a shell, a format, a terminal or markup takes for something else."""

import contextlib
import csv
import importlib
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from agfmc.core.errors import one_line

NAMES = [
    "a b",
    " lead",
    "trail ",
    "it's",
    'say "so"',
    "a;b",
    "a&b|c>d<e",
    "$(touch pwned)",
    "`touch pwned`",
    "${HOME}",
    "$HOME",
    "~",
    "~root",
    "*",
    "?[a-z]",
    "%s%n%d",
    "{0}{x!r}",
    "{}",
    "#",
    "# class 0: x",
    "back\\slash",
    "\\",
    "\\n",
    "tab\there",
    "line\nbreak",
    "\n",
    "carriage\rreturn",
    "esc\x1b[2J\x1b]0;x\x07",
    "-",
    "-Q",
    "--help",
    "--",
    "-n",
    "-1",
    "-1e-1",
    "+",
    "5",
    "007",
    "1e3",
    "0x10",
    "a:b",
    "plan:vote",
    "one-vs-one",
    "C:\\x",
    "a.mbm",
    ".hidden",
    "...",
    "a=b",
    "--a=b",
    "@file",
    "=",
    ",",
    "a,b",
    "!",
    "!!",
    "^x",
    "(a)",
    "[a]",
    "<b>",
    "&amp;",
    "--><x>",
    "ü€漢字",
    "e\u0301",
    "\u202egnp",
    "a\u2028b",
    "\ufeffbom",
    "a\x85b",
    "a\xa0b",
    "\udcff\udcfe",
    "ok\udc80",
    "K",
    "G",
    "L",
    "/ 1;",
    "0 / 1; {0 1}",
    "}",
    "{",
    "con",
    "nul",
    "None",
    "nan",
    "x" * 245,
    "ü" * 122,
]
# These in every run of the tests, the others with -m long.
QUICK = {
    "$(touch pwned)",
    "line\nbreak",
    "esc\x1b[2J\x1b]0;x\x07",
    "-Q",
    "\udcff\udcfe",
    "a:b",
    "5",
    'say "so"',
    "# class 0: x",
    "x" * 246,
}
LABELS = np.array([0, 1, 2])


def operand(name):
    """The name as users write it where it would be taken for an option, or standard input."""
    return f"./{name}" if name.startswith("-") else name


def points(n, seed):
    rng = np.random.default_rng(seed)
    y = np.concatenate([LABELS, rng.integers(0, 3, n - 3)])
    x = np.round(8 * (rng.normal(size=(n, 3)) + 2 * np.eye(3)[y])) / 8
    return x, y


def write_text(x, y):
    with open("trn.svm", "w", encoding="ascii") as file:
        file.writelines(
            f"{label} " + " ".join(f"{i}:{value!r}" for i, value in enumerate(row, 1)) + "\n"
            for label, row in zip(y.tolist(), x.tolist())
        )
    with open("trn.lvq", "w", encoding="ascii") as file:
        file.write("3\n")
        file.writelines(
            " ".join(map(repr, row)) + f" {label}\n" for label, row in zip(y.tolist(), x.tolist())
        )


@pytest.fixture
def call(run):
    """Function: the bytes that a command prints."""
    return lambda *words, **more: run(*words, **more).raw


def chain(call, name):
    """All commands on files of this name; -> {file or command: bytes}."""
    o = operand(name)
    os.rename("trn.svm", f"{name}.svm")
    os.rename("trn.lvq", f"{name}.lvq")
    printed = {}

    def kept(command, *words):
        printed.setdefault(command, []).append(call(command, *words))
        return printed[command][-1]

    def save(path, data):
        Path(path).write_bytes(data)

    kept("svm2agf", f"{o}.svm", o)
    kept("lvq2agf", f"{o}.lvq", f"{o}l")
    save(f"{name}.names", b'<i>\n$x^2$\n-&amp;"\\\n')
    kept("agf2ascii", "-M", o)
    kept("agf2ascii", o, f"{o}.a")
    kept("agf_preprocess", "-f", "0.3", "-n", "-a", f"{o}.n", o, f"{o}1", f"{o}2")
    plan = kept("print_control", "-M", "-Q", "2", f"{o}.svm")
    kept("print_control", "--report=-.dot", o if not o.isdigit() else f"./{o}")
    plan = kept("print_control", o if not o.isdigit() else f"./{o}")
    save(f"{name}.p", plan)
    save(name, plan)  # also under the bare name, where a command takes it for what it is
    if "\n" in name:  # which no control file can hold
        call("multi_borders", o, o, f"{o}m", f"{o}.c", status=2)
    model = f"{o}m".replace("\n", "")
    kept(
        "multi_borders",
        "-n",
        "-a",
        f"{o}.std",
        "-+",
        "-c 5",
        "--cv-errors",
        f"{o}.e",
        o,
        o,
        model,
        f"{o}.c",
    )
    assert kept("multi_borders", "-M", o, f"{o}.svm", model + "t", "-").count(b"\n") > 5
    kept("mbh2mbm", "-a", f"{o}.std", "--names", f"{o}.names", f"{o}.c", f"{o}.b")
    kept("mbm_info", f"{o}.b")
    kept("mbm_info", "--print-control", f"{o}.b")
    json.loads(kept("mbm_info", "--json", f"{o}.b"))
    rows = kept("classify_m", f"{o}.b", f"{o}.vec", f"{o}.r")
    assert call("classify_m", "-a", f"{o}.std", f"{o}.c", f"{o}.vec", f"{o}.r") == rows
    save(f"{name}.t", rows)
    kept("classify_m", "-Q", "radag", "--pair-errors", f"{o}.e", f"{o}.b", f"{o}.vec", f"{o}.r")
    kept("eval_uc", "--names", f"{o}.names", f"{o}.cls", f"{o}.r", f"{o}.t")
    json.loads(kept("eval_uc", "--json", f"{o}.cls", f"{o}.r"))
    kept("cls_comp_stats", f"{o}.cls", f"{o}.r")
    kept("validate_probabilities", "-H", f"{o}.cls", f"{o}.t", f"{o}.v")
    kept("order_classes", "--errors", f"{o}.e", f"{o}.p")
    kept("order_classes", "--adjacent", "mean-deviation", f"{o}.p", o)
    kept("float_to_class", f"{o}.r.con", f"{o}.q")
    save(f"{name}.s", b"labels 0 1 2\n0 0.5 0.3 0.2\n")
    kept("svmout2agf", f"{o}.s", f"{o}.so")
    kept("simulate_decoders", "--class-count", "3", "--rounds", "50", "--report=-.csv")
    state = o[:100] + ".st"
    kept("nfold", "-b", "-d", "2", "--state", state, o, o, f"{o}.f")
    shutil.rmtree(state)
    kept("compare_control", "-d", "2", "--no-state", "--report=-.csv", o, o, "tree")
    table = kept("compare_control", "-d", "2", "--no-state", "--report=-.md", o, o, "tree")
    assert table.count(b"\n") >= 4
    kept("compare_control", "-d", "2", "--no-state", o, f"{o}:inverse,vote")
    kept(
        "tune_m",
        "-d",
        "2",
        "--no-state",
        "--space",
        "C=0:1:1 gamma=0:1:1",
        "--refine",
        "0",
        "--json",
        f"{o}.j",
        o,
        o,
    )
    return printed


def folder_of(tmp_path, name):
    folder = tmp_path / "work" / name.replace("/", "_")[:100]
    if folder.name in ("", ".", "..", "..."):
        folder = tmp_path / "work" / "dots"
    folder.mkdir(parents=True)
    return folder


def contents():
    """{name: bytes} of all files here, by their names as bytes."""
    found = {}
    for entry in os.listdir(b"."):
        with open(entry, "rb") as file:
            found[entry] = file.read()
    return found


SECONDS = {"nfold", "compare_control", "tune_m"}  # print how long things took


@pytest.fixture(scope="module")
def plain():
    return {}


def chained(call, tmp_path, name):
    """(files, what was printed) of the chain with a name, in a folder of its own."""
    folder = folder_of(tmp_path, name)
    os.chdir(folder)
    write_text(*points(45, 1))
    printed = chain(call, name)
    files = contents()
    raw = os.fsencode(name)
    bare = raw.replace(b"\n", b"")
    assert all(entry.startswith((raw, bare)) for entry in files), sorted(files)
    return {
        entry[len(raw if entry.startswith(raw) else bare) :]: data for entry, data in files.items()
    }, printed


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in NAMES],
    ids=lambda name: ascii(name)[:40],
)
def test_the_chain(tmp_path, monkeypatch, call, plain, name):
    monkeypatch.chdir(tmp_path)
    if not plain:
        plain["files"], plain["printed"] = chained(call, tmp_path / "plain", "plain")
    name = name.replace("/", "_")
    files, printed = chained(call, tmp_path / "odd", name)
    assert sorted(files) == sorted(plain["files"])
    names_inside = {b".c", b".b", b".j"}
    for entry in set(files) - names_inside:
        assert files[entry] == plain["files"][entry], entry
    assert set(os.listdir(tmp_path)) <= {"plain", "odd"}
    assert os.listdir(tmp_path / "odd") == ["work"] and len(os.listdir(tmp_path / "odd/work")) == 1
    for command in set(printed) - SECONDS - {"mbm_info", "multi_borders"}:
        assert printed[command] == plain["printed"][command], command


TEXT_NAMES = [
    "<b>&amp;</b>",
    '"\\N\\G\\E\\l',
    "$x^{2$ \\frac{1}",
    "--><script>alert(1)</script><!--",
    "]]>",
    "%s {0} %(prog)s",
    "\x1b[31mred\x07",
    "\udcff\udcfe",
    "a\x85b\u2028c",
    "ü漢\u202e",
    "=cmd|' /C calc'!A0",
    "'; DROP TABLE done; --",
    "${jndi:ldap://x}",
    "x" * 500,
    "\\",
    "#",
    "{ 0 1 }",
    "\ufeff",
    "0",
    "__proto__",
    "\t|a|b|\x0b",
    "&#0;",
    "</table>",
    "`id`",
    "a\rb",
]


@pytest.fixture
def data(folder, call):
    """trn.vec, trn.cls and trn.names with a class for each of NAMES, and a control file."""
    rng = np.random.default_rng(1)
    k = len(TEXT_NAMES)
    y = np.tile(np.arange(k, dtype="<i4"), 6)
    x = (rng.normal(size=(6 * k, 3)) + 3 * rng.normal(size=(k, 3))[y]).astype("<f4")
    (folder / "trn.vec").write_bytes(np.int32(3).tobytes() + x.tobytes())
    (folder / "trn.cls").write_bytes(y.tobytes())
    (folder / "trn.names").write_bytes(
        "".join(f"{name.strip()}\n" for name in TEXT_NAMES).encode("utf-8", "surrogateescape")
    )
    (folder / "tree").write_bytes(call("print_control", "-Q", "2", "trn"))
    return folder


def names_in(control):
    """Class names in the comments of a control file."""
    lines = control.decode("utf-8", "surrogateescape").split("\n")
    return [line.split(": ", 1)[1] for line in lines if line.startswith("# class ")]


def test_names_go_through_the_chain_as_they_are(data, call):
    told = [name.strip() for name in TEXT_NAMES]
    assert names_in((data / "tree").read_bytes()) == told
    assert names_in(call("print_control", "-Q", "9", "tree")) == told
    call("multi_borders", "--uncalibrated", "-+", "-c 1 -t 0", "tree", "trn", "m", "c")
    assert names_in((data / "c").read_bytes()) == told
    call("mbh2mbm", "c", "x.mbm")
    described = json.loads(call("mbm_info", "--json", "x.mbm"))
    assert [one["name"] for one in described["classes"]] == told
    page = call("mbm_info", "x.mbm")
    assert one_line(page.decode("utf-8").replace("\n", "")) == page.decode().replace("\n", "")
    assert b"\\x1b[31mred\\x07" in page and b"\\udcff\\udcfe" in page
    call("classify_m", "x.mbm", "trn.vec", "out")
    page = call("eval_uc", "trn.cls", "out").decode()
    assert one_line(page.replace("\n", "")) == page.replace("\n", "")
    (data / "plain").write_text("".join(f"n{i}\n" for i in range(len(TEXT_NAMES))))
    plain = call("eval_uc", "--names", "plain", "trn.cls", "out")
    assert page.count("\n") == plain.count(b"\n")
    scores = json.loads(call("eval_uc", "--json", "trn.cls", "out"))
    assert scores["names"] == told
    page = call(
        "nfold", "-d", "2", "--no-state", "--uncalibrated", "-+", "-c 1 -t 0", "tree", "trn"
    ).decode()
    assert one_line(page.replace("\n", "")) == page.replace("\n", "")


@pytest.mark.parametrize("scheme", ["1", "2", "9"])
def test_graphviz_draws_names_and_no_markup(data, call, scheme):
    words = ("-Q", scheme, "tree") if scheme == "9" else ("-Q", scheme, "trn")
    text = call("print_control", "--report=-.dot", *words)
    shown = text.decode().replace("\n", "").replace("\ufeff", "")
    assert one_line(shown) == shown
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed: only the text was looked at")
    done = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, timeout=60)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    told = " ".join(ElementTree.fromstring(done.stdout).itertext())
    for name in ("<b>&amp;</b>", '"\\N\\G\\E\\l', "]]>", "</table>", "&#0;"):
        assert name in told.replace("\xa0", " "), name


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words",
    [
        ("print_control", "-Q", "1", "--report", "x.svg", "trn"),
        ("print_control", "-Q", "2", "--report", "x.svg", "trn"),
        (
            "nfold",
            "-b",
            "-d",
            "2",
            "--no-state",
            "-+",
            "-c 1 -t 0",
            "--report",
            "x.svg",
            "tree",
            "trn",
        ),
        (
            "compare_control",
            "-d",
            "2",
            "--no-state",
            "-+",
            "-c 1 -t 0",
            "--report",
            "x.svg",
            "trn",
            "$x_<b>&",
        ),
        (
            "tune_m",
            "--refine",
            "0",
            "--space",
            "C=0:1:1 gamma=0:1:1",
            "-d",
            "2",
            "--no-state",
            "--report",
            "x.svg",
            "$x_<b>&",
            "trn",
        ),
    ],
    ids=lambda words: f"{words[0]} {words[2]}",
)
def test_pictures_are_whole_and_hold_no_markup(data, call, words):
    shutil.copy("tree", "$x_<b>&")
    call(*words)
    root = ElementTree.parse("x.svg").getroot()
    kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not kinds & {"script", "b", "i", "foreignObject", "a", "iframe", "image"} - (
        {"image"} if words[0] != "print_control" else set()
    )


@pytest.mark.long
def test_tables_keep_their_rows_and_columns(data, call):
    name = 'a|b\n"c",\x1b[2J\rd'
    (data / name).write_text('"-t 0" 0 / 1; "-t 0" 0 / 2; "-t 0" 1 / 2; {0 1 2}')
    y = np.fromfile("trn.cls", "<i4") % 3
    y.tofile("trn.cls")
    words = ("-d", "2", "--no-state", "trn", name, "one-vs-one")
    plain = call("compare_control", *words).decode()
    assert 'a|b "c",\ufffd[2J\ufffdd (inverse)' in plain and "\x1b" not in plain
    marked = call("compare_control", "--report=-.md", *words).decode().rstrip("\n")
    for lines in (table.split("\n") for table in marked.split("\n\n")):
        assert all(line.startswith("| ") and line.endswith(" |") for line in lines)
        assert len({line.replace("\\|", "").count("|") for line in lines}) == 1
    rows = list(
        csv.reader(
            io.StringIO(call("compare_control", "--report=-.csv", *words).decode(), newline="")
        )
    )
    assert rows[1][0] == name and len({len(row) for row in rows}) == 1
    assert json.loads(call("compare_control", "--json", *words))["rows"][0]["configuration"] == name


@pytest.mark.parametrize(
    "text, told",
    [
        ("a\nb", "a\\nb"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\x9b2J", "\\x9b2J"),
        ("a\r", "a\\r"),
        ("\t", "\\t"),
        ("\u202eabc", "\\u202eabc"),
        ("\u2028", "\\u2028"),
        ("\udcff", "\\udcff"),
        ("ü漢", "ü漢"),
        ("\x7f\x00", "\\x7f\\x00"),
        ("", ""),
    ],
)
def test_one_line(text, told):
    assert one_line(text) == told


@pytest.mark.parametrize(
    "command, words",
    [
        ("classify_m", ("MODEL", "x", "y")),
        ("mbm_info", ("MODEL",)),
        ("print_control", ("MODEL",)),
        ("svm2agf", ("MODEL", "x")),
        ("eval_uc", ("MODEL", "MODEL")),
        ("multi_borders", ("a", "--MODEL")),
        ("nfold", ("MODEL", "x")),
        ("tune_m", ("MODEL", "x", "--by", "MODEL")),
        ("classify_m", ("-Q", "MODEL", "x", "y", "z")),
        ("multi_borders", ("-+", "-c MODEL", "a", "b", "c", "d")),
    ],
)
def test_a_message_is_one_line_and_forges_none(run, folder, command, words):
    name = f"x\n{command}: warning: forged\r\x1b[2K\x1b[1A{command}: all is well\u2028\udcff"
    done = run(command, *(word.replace("MODEL", name) for word in words), status=None)
    assert done.status in (1, 2) and "\u2028" not in done.refused()


BIN = Path(__file__).resolve().parents[2] / "bin"
OUTSIDE_NAMES = [
    "a b",
    "it's",
    'say "so"',
    "a;touch pwned",
    "a&b|c>d<e",
    "$(touch pwned)",
    "`touch pwned`",
    "$HOME",
    "~",
    "*",
    "%s%n",
    "{}",
    "#",
    "back\\slash",
    "\\n",
    "tab\there",
    "esc\x1b[2J",
    "-",
    "-rf",
    "--help",
    "--",
    "-1",
    "!",
    "(a)",
    "ü漢",
    "\udcff\udcfe",
    "a=b",
    "' ; touch pwned ; '",
    '" ; touch pwned ; "',
    "x\r",
    "\u202egnp",
]
OUTSIDE_QUICK = {
    "a;touch pwned",
    "$(touch pwned)",
    "' ; touch pwned ; '",
    "-rf",
    "esc\x1b[2J",
    "\udcff\udcfe",
}
ODD = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in OUTSIDE_QUICK else pytest.mark.long)
        for name in OUTSIDE_NAMES
    ],
    ids=ascii,
)
PREDICT = """#!/bin/sh
# as svm-predict: points model output; the last three words, and no others
test "$#" = 3 -a -f "$1" -a -f "$2" -a ! -e "$3" || exit 1
sed 's/.*/1/' < "$1" > "$3"
"""


@pytest.fixture
def ran(run, capfdbinary, outside):
    """Function that runs a command; other programs print nothing past it."""

    def call(*words):
        done = run(*words, status=None)
        assert capfdbinary.readouterr() == (b"", b"")
        return done

    return call


@pytest.fixture
def outside(tmp_path, monkeypatch):
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
    assert not any(
        "pwned" in entry and not any(name in entry for name in OUTSIDE_NAMES if "pwned" in name)
        for entry in found
    )
    assert "pwned" not in found


@pytest.mark.few(2)
@ODD
@pytest.mark.parametrize("way", ["alone", "shell"])
def test_trainers_converters_and_predictors(ran, name, way, outside):
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
        status, out, err = ran(
            "multi_borders", "-M", "--", train, *more, "-y", f"{o}/", "plan", data, o, f"{o}.c"
        )
        assert (status, out) == (0, ""), err
    models = f"./{name}" if name.startswith("-") else name
    assert sorted(
        os.path.basename(entry) for entry in os.listdir(name) if not entry.endswith(".tmp")
    ) == sorted(
        os.path.basename(entry)
        for entry in (name, f"{name}.svm", *(f"{models}-0{i}" for i in range(3)))
    )
    for more in ([], ["-j", "2"], ["-K"]):
        status, out, err = ran(
            "classify_m", "-M", "-O", program, *more, "-y", f"{o}/", f"{o}.c", data, f"{o}.out"
        )
        assert (status, out) == (0, ""), err
    with open(f"{name}.out", encoding="ascii") as file:
        assert [line.split()[0] for line in file] == ["labels"] + ["2"] * 27
    status, out, err = ran("svmout2agf", f"{o}.out", f"{o}.back")
    assert status == 0, err


@ODD
def test_code_g(ran, name, outside):
    o = operand(name)
    with open(f"{name}.p", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write('"./predict" G { 0 1 2 }')
    status, out, err = ran("multi_borders", "-M", f"{o}.p", "trn.svm", f"{o}g", f"{o}.c")
    assert status == 0, err
    status, out, err = ran("classify_m", "-M", f"{o}.c", "trn.svm", f"{o}.out")
    assert status == 1 and "--allow-commands" in err and err.count("\n") == 1
    status, out, err = ran("classify_m", "-M", "--allow-commands", f"{o}.c", "trn.svm", f"{o}.out")
    assert status == 0, err
    assert np.fromfile(f"{name}.out.cls", "<i4").tolist() == [1] * 27


@pytest.mark.long
def test_the_commands_of_a_dry_run_with_line_breaks(ran, tmp_path_factory, outside):
    """xargs -0 runs what --null prints, whatever the names hold; -0 alone refuses a line break."""
    programs = tmp_path_factory.mktemp("programs")
    (programs / "multi_borders").write_text(
        "#!/bin/sh\nexec " + shlex.join([sys.executable, str(BIN / "multi_borders")]) + ' "$@"\n'
    )
    (programs / "multi_borders").chmod(0o755)
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env.update(PATH=f"{programs}{os.pathsep}{os.environ['PATH']}", PYTHONPATH=str(BIN.parent))
    for name in ("line\nbreak", "\n", "$(touch pwned)\n; touch pwned\n'"):
        shutil.copy("trn.svm", f"{name}.svm")
        os.mkdir(f"{name}d")
        words = ("-M", "-0", "-y", f"{name}d", "plan", f"{name}.svm", "m", f"{name}.c")
        status, out, err = ran("multi_borders", *words)
        assert status == 2 and out == "" and "--null" in err
        assert not os.path.exists(f"{name}.c")
        status, out, err = ran("multi_borders", "--null", *words)
        assert status == 0 and out.count("\0") == 3 and out.endswith("\0"), err
        subprocess.run(
            ["xargs", "-0", "-n", "1", "sh", "-c"],
            check=True,
            env=env,
            input=out.encode("utf-8", "surrogateescape"),
        )
        assert sorted(os.listdir(f"{name}d")) == ["m-00", "m-01", "m-02"]
        assert ran("mbh2mbm", "-y", f"{name}d", f"{name}.c", f"{name}.mbm")[0] == 0
    assert ran("multi_borders", "--null", "plan", "trn", "m", "c")[0] == 2


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
    '"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}',
}


def commands_of(control):
    """All that reads a control file, a names file, a state file or a model."""
    yield "print_control", "-Q", "9", control
    yield "print_control", "--report=-.dot", "-Q", "8", control
    yield "print_control", "-Q", "8", "--report", "x.svg", control
    yield "multi_borders", "-M", "--retrain", control, "trn.svm", "m", "x.c"
    yield "multi_borders", "-M", "-0", control, "trn.svm", "m", "x.c"
    yield "multi_borders", "-M", "-+", "-c 1", "--only", "m", control, "trn.svm", "m", "x.c"
    yield "mbh2mbm", control, "x.mbm"
    yield "mbm_info", control
    yield "classify_m", "-M", control, "trn.svm", "out"
    yield "classify_m", "-M", "-O", "./predict", control, "trn.svm", "answer"
    yield "classify_m", "-M", "-j", "processes:1", control, "trn.svm", "out"
    yield "order_classes", "--adjacent", "mean-deviation", "-M", control, "trn.svm"
    yield "nfold", "-M", "--no-state", "-d", "2", control, "trn.svm"
    yield "compare_control", "-M", "--no-state", "-d", "2", "trn.svm", control
    yield (
        "tune_m",
        "-M",
        "--no-state",
        "-d",
        "2",
        "--refine",
        "0",
        "--space",
        "C=0:1:1 gamma=0:1:1",
        control,
        "trn.svm",
    )


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", CONTROLS)
def test_a_control_file_runs_nothing(ran, kind, monkeypatch, outside):
    for variable in (
        "SHELL",
        "EDITOR",
        "PAGER",
        "BROWSER",
        "PYTHONSTARTUP",
        "LESSOPEN",
        "PYTHONBREAKPOINT",
        "MPLBACKEND",
    ):
        monkeypatch.setenv(variable, EVIL)
    Path("ctl").write_text(CONTROLS[kind])
    for command, *words in commands_of("ctl"):
        status, out, err = ran(command, *words)
        assert status in (0, 1, 2, 3) and "internal error" not in err, (command, err)
        assert not os.path.exists("pwned"), (command, words)


STRANGE = "import os\nopen('pwned', 'w').close()\nraise SystemExit('pwned')\n"
MODULES = [
    "numpy",
    "scipy",
    "agfmc",
    "libsvm",
    "liblinear",
    "sitecustomize",
    "usercustomize",
    "re",
    "argparse",
    "json",
    "signal",
    "tempfile",
    "cairosvg",
    "resvg_py",
    "distributed",
    "sqlite3",
    "ctypes",
    "svm",
    "commands",
    "socket",
    "selectors",
    "_socket",
    "evil",
]


@pytest.fixture
def trap(outside):
    """Modules, libraries and settings in the current folder, which hold a stranger's code."""
    for name in MODULES:
        Path(f"{name}.py").write_text(STRANGE, encoding="ascii")
    for name in ("libsvm.so", "libsvm.so.2", "clibsvm.so", "libsvm.so.3", "liblinear.so"):
        Path(name).write_bytes(b"\x7fELFwrong")
    Path("dask.yaml").write_text(
        "!!python/object/apply:os.system ['touch pwned']\n", encoding="ascii"
    )
    for name in ("setup.cfg", ".pdbrc", ".pythonrc", "pyvenv.cfg", "python._pth"):
        Path(name).write_text("home = .\nimport evil\n", encoding="ascii")
    return outside


def process(outside, *words, **more):
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env.update(PYTHONPATH=str(BIN.parent), **more)
    command, *words = words
    return subprocess.run(
        [sys.executable, str(BIN / command), *words],
        cwd=outside,
        env=env,
        capture_output=True,
        timeout=120,
    )


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words",
    [
        ("print_control", "-M", "trn.svm"),
        ("print_control", "--report", "x.svg", "4"),
        ("multi_borders", "-M", "plan", "trn.svm", "m", "c"),
        ("multi_borders", "-M", "-+", "learner=linear", "plan", "trn.svm", "m", "c"),
        ("multi_borders", "-M", "-j", "processes:1", "plan", "trn.svm", "m", "c"),
        ("nfold", "-M", "-d", "2", "plan", "trn.svm"),
        pytest.param(
            ("multi_borders", "-M", "-j", "dask:127.0.0.1:1", "plan", "trn.svm", "m", "c"),
            marks=pytest.mark.long,
        ),
    ],
    ids=lambda words: " ".join(words)[:40],
)
def test_nothing_in_the_current_folder_is_run(trap, words):
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


@pytest.mark.long
def test_a_stranger_s_scheduler_file(ran, outside):
    """It names an address, no more; the words of it are no code."""
    for text in (
        '{"address": "inproc://x; touch pwned"}',
        '{"address": "tcp://$(touch pwned):1"}',
        "!!python/object/apply:os.system ['touch pwned']",
        '{"address": ["tcp://x:1"]}',
    ):
        Path("cluster.json").write_text(text)
        with contextlib.suppress(ImportError):
            importlib.import_module("distributed")
        status, out, err = ran(
            "multi_borders", "-M", "-j", "dask:cluster.json", "plan", "trn.svm", "m", "c"
        )
        assert status in (1, 2) and err.count("\n") == 1 and "internal error" not in err, err


@pytest.mark.few(1)
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-16", "utf-8:strict", "cp1252"])
def test_what_is_printed_is_what_a_file_would_hold(outside, encoding):
    Path("names").write_bytes("ü漢\n".encode() + b"\xff\xfe\n" + "€\n".encode())
    done = process(outside, "print_control", "--names", "names", "3", PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# class 0: ü漢\n# class 1: ".encode() + b"\xff\xfe\n")


def test_json_is_json(ran, outside):
    """Names of any bytes come out as JSON that any reader takes."""
    Path("n").write_bytes(b'\xff\xfe\n\x00\x1b[2J"\n'.replace(b"\x00", b"\x01") + b"</script>\n")
    ran("svm2agf", "trn.svm", "trn")
    ran("multi_borders", "plan", "trn", "m", "c")
    assert ran("mbh2mbm", "--names", "n", "c", "x.mbm")[0] == 0
    for command, *words in (("mbm_info", "--json", "x.mbm"), ("mbm_info", "--json", "c")):
        status, out, err = ran(command, *words)
        assert status == 0 and out.isascii()
        json.loads(out)


WATCH = """#!/bin/sh
where=$(dirname "$1")
stat -c '%a %n' "$where" >> seen
sed 's/.*/1/' < "$1" > "$3"
"""


def test_temporary_files_are_private_and_in_tmpdir(ran, outside, monkeypatch):
    import tempfile

    before = os.umask(0)
    try:
        os.mkdir("tmp")
        monkeypatch.setattr(tempfile, "tempdir", str(outside / "tmp"))
        Path("watch").write_text(WATCH, encoding="ascii")
        os.chmod("watch", 0o755)
        Path("train").write_text(
            '#!/bin/sh\nstat -c \'%a %n\' "$(dirname "$1")" >> seen\ncp "$1" "$2"\n',
            encoding="ascii",
        )
        os.chmod("train", 0o755)
        assert ran("multi_borders", "-M", "--", "./train", "plan", "trn.svm", "m", "c")[0] == 0
        assert ran("classify_m", "-M", "-O", "./watch", "c", "trn.svm", "out")[0] == 0
    finally:
        os.umask(before)
    lines = Path("seen").read_text(encoding="ascii").splitlines()
    assert len(lines) == 6 and all(line.startswith("700 ") for line in lines)
    names = [line.split(" ", 1)[1] for line in lines]
    assert len(set(names)) == 4  # one for each training, one for all predictions
    assert all(name.startswith(str(outside / "tmp")) for name in names[3:])
    assert os.listdir("tmp") == [] and not [name for name in os.listdir(".") if ".agfmc" in name]
