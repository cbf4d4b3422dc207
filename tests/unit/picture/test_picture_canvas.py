"""What all pictures share: kinds, bytes, warnings, mistakes."""

import os
import sys

import pytest

from agfmc.control.parse import parse
from agfmc.errors import AgfmcWarning, DataError, UsageError
from agfmc.picture import canvas
from agfmc.picture.canvas import class_name, class_names, text_width, thinned
from agfmc.picture.comparison import draw_comparison
from agfmc.picture.control import draw_control
from agfmc.picture.scores import draw_scores
from agfmc.picture.search import draw_search

TREE = parse('# class 0: a_$b$ <é> & c\n"" {0 "-c $1" 0 / 1; {1 2}}')
SCORES = {"labels": [0, 3], "contingency": [[5, 1], [0, 4]], "accuracy": 0.9, "rejected": 0,
          "uncertainty_coefficient": float("nan"), "calibration": None,
          "expected_calibration_error": None}
VALUE = {"pooled": 0.5, "sd": None}
COMPARISON = {"classes": 2, "points": 9, "trials": 1, "rows": [
    {"configuration": "a_$b$ <é>", "decoder": "lsq", "classify_s": VALUE, "accuracy": VALUE,
     "log_loss": VALUE}]}
SEARCH = {"points": [{"options": "-c $1$ -g 2", "log2c": 0, "log2g": 1, "kernel": "<$_é$>",
                      "score": 0.5}], "best": 0, "by": "accuracy"}
PICTURES = {
    "tree": lambda path: draw_control(path, TREE),
    "matrix": lambda path: draw_control(path, parse('"-c $_$" 0 / 1; {3 1}')),
    "dendrogram": lambda path: draw_control(path, parse("a {b {0 1} 2}"), [2.5, 1]),
    "scores": lambda path: draw_scores(path, SCORES, {0: "$_é<$"}),
    "comparison": lambda path: draw_comparison(path, COMPARISON),
    "search": lambda path: draw_search(path, SEARCH)}


@pytest.mark.few(2)
@pytest.mark.parametrize("picture, name, magic", [
    ("tree", "a.png", b"\x89PNG"), ("tree", "a.pdf", b"%PDF"),
    *((picture, "a.SVG", b"<?xml") for picture in PICTURES)])
def test_kinds_and_same_bytes(tmp_path, picture, name, magic):
    pytest.importorskip("matplotlib")
    file = tmp_path / name
    PICTURES[picture](str(file))
    first = file.read_bytes()
    assert first.startswith(magic)
    PICTURES[picture](str(file))
    assert file.read_bytes() == first and [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("picture", PICTURES)
def test_mistakes(tmp_path, picture):
    with pytest.raises(UsageError, match=r"--plot a\.gif: expected a name that ends in \.png or"):
        PICTURES[picture]("a.gif")
    pytest.importorskip("matplotlib")
    with pytest.raises(DataError, match=r"nowhere.a\.png: cannot write"):
        PICTURES[picture](str(tmp_path / "nowhere" / "a.png"))


@pytest.mark.parametrize("picture", PICTURES)
def test_without_matplotlib(tmp_path, monkeypatch, picture):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"^--plot needs matplotlib: pip install 'agfmc\[plot\]'"):
        PICTURES[picture](str(tmp_path / "a.png"))
    assert not list(tmp_path.iterdir())


def test_the_users_settings_do_not_matter(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    PICTURES["matrix"](str(tmp_path / "a.png"))
    with matplotlib.rc_context({"font.size": 30, "savefig.dpi": 20, "text.usetex": True,
                                "backend": "svg"}):
        PICTURES["matrix"](str(tmp_path / "b.png"))
        assert matplotlib.rcParams["font.size"] == 30
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_signs_without_a_font_are_told_once(tmp_path):
    pytest.importorskip("matplotlib")
    unassigned = chr(0xE123) + chr(0xE124)  # for private use: no font here is asked to have them
    file = tmp_path / "a.png"
    with pytest.warns(AgfmcWarning, match="no font here has all characters") as told:
        draw_control(str(file), parse(f"# class 0: {unassigned}\na {{0 1}}"))
    assert len(told) == 1 and file.exists()


def test_what_cannot_be_drawn_at_all(tmp_path):
    pytest.importorskip("matplotlib")
    names = {0: "a\udcffb\x01\n", 1: ""}
    draw_scores(str(tmp_path / "a.svg"), {**SCORES, "labels": [0, 1]}, names)
    from xml.etree import ElementTree
    ElementTree.parse(tmp_path / "a.svg")


def test_names():
    assert class_name({3: "x\ny"}, 3) == "x y"
    assert class_name({3: "x"}, 4) == class_name(None, 4) == "4"
    assert class_name({0: "a" * 50}, 0) == "a" * 19 + "..." + "a" * 18


def test_names_that_would_be_cut_alike_keep_what_differs():
    long = {i: f"handwritten capital letter {letter}, printed type of the old kind"
            for i, letter in enumerate("AB")}
    assert class_names(long, range(3), 32) == ["...letter A, printed...",
                                               "...letter B, printed...", "2"]
    assert class_names(long, range(2), 14) == ["...A...", "...B..."]
    # without blanks, and names of which one begins as the other
    runs = {0: "x" * 60 + "b" + "y" * 60, 1: "x" * 60 + "c" + "y" * 60}
    cut = class_names(runs, range(2), 32)
    assert all(len(name) <= 32 for name in cut) and "xby" in cut[0] and "xcy" in cut[1]
    # names that differ in what is cut anyway stand behind their labels
    assert [name[:3] for name in class_names({0: "x" * 50, 1: "x" * 50}, range(2), 32)] == [
        "0: ", "1: "]


def test_thinned():
    assert list(thinned(3, 10)) == [0, 1, 2] and list(thinned(26, 13)) == list(range(0, 26, 2))
    assert list(thinned(26, 12)) == list(range(0, 26, 5)) and list(thinned(325, 3)) == [0, 200]
    assert list(thinned(5, 0)) == [0] and not thinned(0, 4)


def test_width_of_texts():
    pytest.importorskip("matplotlib")
    assert text_width([], 9) == 0
    assert 1.8 < text_width(["aaaa"], 18) / text_width(["aaaa"], 9) < 2.2
    assert text_width(["a", "a\nbbbb"], 9) == text_width(["bbbb"], 9)


# The folder in which matplotlib is loaded, and the way back

@pytest.fixture
def unlisted(tmp_path, monkeypatch):
    """The current folder is one that can be used and not listed, and belongs to somebody else."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("matplotlibrc")
    root = os.geteuid() == 0
    os.chmod(".", 0o311)
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        os.chmod(".", 0o700)


@pytest.mark.skipif(not hasattr(os, "O_PATH"), reason="there is no O_PATH")
def test_a_folder_that_cannot_be_listed_is_left_and_found_again(unlisted):
    with pytest.raises(PermissionError):
        os.open(".", os.O_RDONLY)
    with canvas._folder("/"):
        assert os.getcwd() == "/"
    assert os.path.lexists("matplotlibrc")


def test_settings_are_not_read_where_there_is_no_way_back(unlisted, monkeypatch):
    monkeypatch.delattr(os, "O_PATH", raising=False)
    with pytest.raises(DataError, match="^matplotlibrc: "), canvas._folder("/"):
        pass
    monkeypatch.setattr(os.path, "lexists", lambda path: False)
    with canvas._folder("/"):
        assert os.path.exists("matplotlibrc")
