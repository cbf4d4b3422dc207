"""Class names, names of models and options that are markup, code or signs for a terminal."""

import csv
import io
import json
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

from agfmc.control.tree import changed
from agfmc.errors import ModelError, one_line

NAMES = ["<b>&amp;</b>", '"\\N\\G\\E\\l', "$x^{2$ \\frac{1}", "--><script>alert(1)</script><!--",
         "]]>", "%s {0} %(prog)s", "\x1b[31mred\x07", "\udcff\udcfe", "a\x85b\u2028c", "ü漢\u202e",
         "=cmd|' /C calc'!A0", "'; DROP TABLE done; --", "${jndi:ldap://x}", "x" * 500, "\\", "#",
         "{ 0 1 }", "\ufeff", "0", "__proto__", "\t|a|b|\x0b", "&#0;", "</table>", "`id`", "a\rb"]


@pytest.fixture
def call(run):
    """Function: the bytes that a command prints."""
    return lambda *words, **more: run(*words, **more).raw


@pytest.fixture
def data(folder, call):
    """trn.vec, trn.cls and trn.names with a class for each of NAMES, and a control file."""
    rng = np.random.default_rng(1)
    k = len(NAMES)
    y = np.tile(np.arange(k, dtype="<i4"), 6)
    x = (rng.normal(size=(6 * k, 3)) + 3 * rng.normal(size=(k, 3))[y]).astype("<f4")
    (folder / "trn.vec").write_bytes(np.int32(3).tobytes() + x.tobytes())
    (folder / "trn.cls").write_bytes(y.tobytes())
    (folder / "trn.names").write_bytes("".join(f"{name.strip()}\n" for name in NAMES).encode(
        "utf-8", "surrogateescape"))
    (folder / "tree").write_bytes(call("print_control", "-Q", "2", "trn"))
    return folder


def names_in(control):
    """Class names in the comments of a control file."""
    lines = control.decode("utf-8", "surrogateescape").split("\n")
    return [line.split(": ", 1)[1] for line in lines if line.startswith("# class ")]


def test_names_go_through_the_chain_as_they_are(data, call):
    told = [name.strip() for name in NAMES]
    assert names_in((data / "tree").read_bytes()) == told
    assert names_in(call("print_control", "-Q", "9", "tree")) == told
    call("multi_borders", "-+", "-c 1 -t 0", "tree", "trn", "m", "c")
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
    (data / "plain").write_text("".join(f"n{i}\n" for i in range(len(NAMES))))
    plain = call("eval_uc", "--names", "plain", "trn.cls", "out")
    assert page.count("\n") == plain.count(b"\n")
    scores = json.loads(call("eval_uc", "--json", "trn.cls", "out"))
    assert scores["names"] == told
    page = call("nfold", "-d", "2", "--no-state", "-+", "-c 1 -t 0", "tree", "trn").decode()
    assert one_line(page.replace("\n", "")) == page.replace("\n", "")


@pytest.mark.parametrize("scheme", ["1", "2", "9"])
def test_graphviz_draws_names_and_no_markup(data, call, scheme):
    words = ("-Q", scheme, "tree") if scheme == "9" else ("-Q", scheme, "trn")
    text = call("print_control", "--dot", *words)
    shown = text.decode().replace("\n", "").replace("\ufeff", "")
    assert one_line(shown) == shown
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed: only the text was looked at")
    done = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, timeout=60)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    told = " ".join(ElementTree.fromstring(done.stdout).itertext())
    for name in ("<b>&amp;</b>", '"\\N\\G\\E\\l', "]]>", "</table>", "&#0;"):
        assert name in told.replace("\xa0", " "), name


@pytest.mark.parametrize("words", [
    ("print_control", "-Q", "1", "--plot", "x.svg", "trn"),
    ("print_control", "-Q", "2", "--plot", "x.svg", "trn"),
    ("nfold", "-b", "-d", "2", "--no-state", "-+", "-c 1 -t 0", "--plot", "x.svg", "tree", "trn"),
    ("compare_control", "-d", "2", "--no-state", "-+", "-c 1 -t 0", "--plot", "x.svg", "trn",
     "$x_<b>&"), ("tune_m", "--refine", "0", "--log2c", "0:1:1", "--log2g", "0:1:1", "-d", "2",
                  "--no-state", "--plot", "x.svg", "$x_<b>&", "trn")],
    ids=lambda words: f"{words[0]} {words[2]}")
def test_pictures_are_whole_and_hold_no_markup(data, call, words):
    pytest.importorskip("matplotlib")
    shutil.copy("tree", "$x_<b>&")
    call(*words)
    root = ElementTree.parse("x.svg").getroot()
    kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not kinds & {"script", "b", "i", "foreignObject", "a", "iframe", "image"} - (
        {"image"} if words[0] != "print_control" else set())


def test_tables_keep_their_rows_and_columns(data, call):
    name = 'a|b\n"c",\x1b[2J\rd'
    (data / name).write_text('"-t 0" 0 / 1; "-t 0" 0 / 2; "-t 0" 1 / 2; {0 1 2}')
    y = np.fromfile("trn.cls", "<i4") % 3
    y.tofile("trn.cls")
    words = ("-d", "2", "--no-state", "trn", name, "one-vs-one")
    plain = call("compare_control", *words).decode()
    assert "a|b\\n\"c\",\\x1b[2J\\rd" in plain and "\x1b" not in plain and "\r" not in plain
    marked = call("compare_control", "--markdown", *words).decode().split("\n")
    assert all(line.startswith("| ") and line.endswith(" |") for line in marked[:-1])
    assert len({line.replace("\\|", "").count("|") for line in marked[:-1]}) == 1
    rows = list(csv.reader(io.StringIO(call("compare_control", "--csv", *words).decode(),
                                       newline="")))
    assert rows[1][0] == name and len({len(row) for row in rows}) == 1
    assert json.loads(call("compare_control", "--json", *words))["rows"][0]["configuration"] == name


@pytest.mark.parametrize("text, told", [
    ("a\nb", "a\\nb"), ("\x1b[2J", "\\x1b[2J"), ("\x9b2J", "\\x9b2J"), ("a\r", "a\\r"),
    ("\t", "\\t"), ("\u202eabc", "\\u202eabc"), ("\u2028", "\\u2028"), ("\udcff", "\\udcff"),
    ("ü漢", "ü漢"), ("\x7f\x00", "\\x7f\\x00"), ("", "")])
def test_one_line(text, told):
    assert one_line(text) == told


@pytest.mark.parametrize("command, words", [
    ("classify_m", ("MODEL", "x", "y")), ("mbm_info", ("MODEL",)), ("print_control", ("MODEL",)),
    ("svm2agf", ("MODEL", "x")), ("eval_uc", ("MODEL", "MODEL")),
    ("multi_borders", ("a", "--MODEL")),
    ("nfold", ("MODEL", "x")), ("tune_m", ("MODEL", "x", "--by", "MODEL")),
    ("classify_m", ("-Q", "MODEL", "x", "y", "z")), ("multi_borders", ("-+", "-c MODEL", "a", "b",
                                                                     "c", "d"))])
def test_a_message_is_one_line_and_forges_none(run, folder, command, words):
    name = f"x\n{command}: warning: forged\r\x1b[2K\x1b[1A{command}: all is well\u2028\udcff"
    done = run(command, *(word.replace("MODEL", name) for word in words), status=None)
    assert done.status in (1, 2) and "\u2028" not in done.refused()


def test_a_model_whose_names_hold_line_breaks_is_refused(data, call, tmp_path):
    from agfmc.formats.mbm import read_store, write_store

    call("multi_borders", "-+", "-c 1 -t 0", "tree", "trn", "m", "c")
    call("mbh2mbm", "c", "x.mbm")
    configuration = read_store("x.mbm")
    names = {**configuration.tree.names, 3: 'x\n"touch pwned" G { 0 1 }'}
    write_store("y.mbm", replace(configuration, tree=changed(configuration.tree, names=names)), {})
    with pytest.raises(ModelError, match="wrong type"):
        read_store("y.mbm")
    call("mbm_info", "--control", "y.mbm", status=1)
