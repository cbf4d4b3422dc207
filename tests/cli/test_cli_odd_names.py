"""Names that a shell, a format or a terminal would take for something else, through the chain.

Every command reads and writes files of such names, in a folder of such a name; what comes of
it is what comes of plain names, byte for byte but for the names themselves.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

NAMES = [
    "a b", " lead", "trail ", "it's", 'say "so"', "a;b", "a&b|c>d<e", "$(touch pwned)",
    "`touch pwned`", "${HOME}", "$HOME", "~", "~root", "*", "?[a-z]", "%s%n%d", "{0}{x!r}", "{}",
    "#", "# class 0: x", "back\\slash", "\\", "\\n", "tab\there", "line\nbreak", "\n",
    "carriage\rreturn", "esc\x1b[2J\x1b]0;x\x07", "-", "-Q", "--help", "--", "-n", "-1", "-1e-1",
    "+", "5", "007", "1e3", "0x10", "a:b", "plan:vote", "one-vs-one", "C:\\x", "a.mbm", "a.vec",
    "a.cls", ".hidden", "...", "a=b", "--a=b", "@file", "=", ",", "a,b", "!", "!!", "^x", "(a)",
    "[a]", "<b>", "&amp;", "--><x>", "ü€漢字", "e\u0301", "\u202egnp", "a\u2028b", "\ufeffbom",
    "a\x85b", "a\xa0b", "\udcff\udcfe", "ok\udc80", "K", "G", "L", "/ 1;", "0 / 1; {0 1}", "}", "{",
    "con", "nul", "None", "nan", "x" * 246, "ü" * 123]
# These in every run of the tests, the others with -m long.
QUICK = {"$(touch pwned)", "line\nbreak", "esc\x1b[2J\x1b]0;x\x07", "-Q", "\udcff\udcfe", "a:b",
         "5", 'say "so"', "# class 0: x", "x" * 246}
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
        file.writelines(f"{label} " + " ".join(f"{i}:{value!r}" for i, value in enumerate(row, 1))
                        + "\n" for label, row in zip(y.tolist(), x.tolist()))
    with open("trn.lvq", "w", encoding="ascii") as file:
        file.write("3\n")
        file.writelines(" ".join(map(repr, row)) + f" {label}\n"
                        for label, row in zip(y.tolist(), x.tolist()))


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
    save(f"{name}.names", b"<i>\n$x^2$\n-&amp;\"\\\n")
    kept("agf2ascii", "-M", o)
    kept("agf2ascii", o, f"{o}.a")
    kept("agf_preprocess", "-f", "0.3", "-n", "-a", f"{o}.n", o, f"{o}1", f"{o}2")
    plan = kept("print_control", "-M", "-Q", "2", f"{o}.svm")
    kept("print_control", "--dot", o if not o.isdigit() else f"./{o}")
    plan = kept("print_control", o if not o.isdigit() else f"./{o}")
    save(f"{name}.p", plan)
    save(name, plan)  # also under the bare name, where a command takes it for what it is
    if "\n" in name:  # which no control file can hold
        call("multi_borders", o, o, f"{o}m", f"{o}.c", status=2)
    model = f"{o}m".replace("\n", "")
    kept("multi_borders", "-n", "-a", f"{o}.std", "-+", "-c 5", "--cv-errors", f"{o}.e", o, o,
         model, f"{o}.c")
    assert kept("multi_borders", "-M", o, f"{o}.svm", model + "t", "-").count(b"\n") > 5
    kept("mbh2mbm", "-a", f"{o}.std", "--names", f"{o}.names", f"{o}.c", f"{o}.b")
    kept("mbm_info", f"{o}.b")
    kept("mbm_info", "--control", f"{o}.b")
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
    kept("order_classes", "--path", f"{o}.p", o)
    kept("float_to_class", f"{o}.r.con", f"{o}.q")
    save(f"{name}.s", b"labels 0 1 2\n0 0.5 0.3 0.2\n")
    kept("svmout2agf", f"{o}.s", f"{o}.so")
    kept("simulate_decoders", "--classes", "3", "--rounds", "50", "--csv")
    state = o[:100] + ".st"  # beside it SQLite keeps a journal
    kept("nfold", "-b", "-d", "2", "--state", state, o, o, f"{o}.f")
    os.unlink(state)
    kept("compare_control", "-d", "2", "--no-state", "--csv", o, o, "tree")
    table = kept("compare_control", "-d", "2", "--no-state", "--markdown", o, o, "tree")
    assert table.count(b"\n") >= 4
    kept("compare_control", "-d", "2", "--no-state", o, f"{o}:inverse,vote")
    kept("tune_m", "-d", "2", "--no-state", "--log2c", "0:1:1", "--log2g", "0:1:1", "--refine",
         "0", "--json", f"{o}.j", o, o)
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
    return {entry[len(raw if entry.startswith(raw) else bare):]: data
            for entry, data in files.items()}, printed


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in NAMES],
    ids=lambda name: ascii(name)[:40])
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
