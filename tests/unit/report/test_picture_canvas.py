"""What all pictures share: kinds, bytes, warnings, mistakes."""

import os
import sys

import pytest

from agfmc.control.parse import parse
from agfmc.core.errors import DataError, UsageError
from agfmc.report import chart_canvas
from agfmc.report.chart_canvas import picture_names
from agfmc.report.chart_control import draw_control
from agfmc.report.chart_scores import draw_comparison, draw_scores, draw_search
from agfmc.report.colours import LIGHT
from agfmc.report.content import Picture
from agfmc.report.svg import Drawing
from own_warnings import own_warnings, texts_of

TREE = parse('# class 0: a_$b$ <é> & c\n"" {0 "-c $1" 0 / 1; {1 2}}')
SCORES = {
    "labels": [0, 3],
    "contingency": [[5, 1], [0, 4]],
    "accuracy": 0.9,
    "rejected": 0,
    "uncertainty_coefficient": float("nan"),
    "calibration": None,
    "expected_calibration_error": None,
}
VALUE = {"pooled": 0.5, "sd": None}
COMPARISON = {
    "classes": 2,
    "points": 9,
    "trials": 1,
    "rows": [
        {
            "configuration": "a_$b$ <é>",
            "decoder": "lsq",
            "classify_s": VALUE,
            "accuracy": VALUE,
            "log_loss": VALUE,
        }
    ],
}
SEARCH = {
    "points": [
        {"options": "-c $1$ -g 2", "log2c": 0, "log2g": 1, "kernel": "<$_é$>", "score": 0.5}
    ],
    "best": 0,
    "by": "accuracy",
}
PICTURES = {
    "tree": lambda path: draw_control(path, TREE),
    "matrix": lambda path: draw_control(path, parse('"-c $_$" 0 / 1; {3 1}')),
    "dendrogram": lambda path: draw_control(path, parse("a {b {0 1} 2}"), [2.5, 1]),
    "scores": lambda path: draw_scores(path, SCORES, {0: "$_é<$"}),
    "comparison": lambda path: draw_comparison(path, COMPARISON),
    "search": lambda path: draw_search(path, SEARCH),
}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "picture, name, magic",
    [
        ("tree", "a.png", b"\x89PNG"),
        ("tree", "a.pdf", b"%PDF"),
        *((picture, "a.SVG", b"<?xml") for picture in PICTURES),
    ],
)
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
    with matplotlib.rc_context(
        {"font.size": 30, "savefig.dpi": 20, "text.usetex": True, "backend": "svg"}
    ):
        PICTURES["matrix"](str(tmp_path / "b.png"))
        assert matplotlib.rcParams["font.size"] == 30
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_signs_without_a_font_are_told_once(tmp_path):
    pytest.importorskip("matplotlib")
    unassigned = chr(0xE123) + chr(0xE124)  # for private use: no font here is asked to have them
    file = tmp_path / "a.png"
    with own_warnings() as told:
        draw_control(str(file), parse(f"# class 0: {unassigned}\na {{0 1}}"))
    (text,) = texts_of(told)
    assert "no font here has all characters" in text and file.exists()


def test_what_cannot_be_drawn_at_all(tmp_path):
    pytest.importorskip("matplotlib")
    names = {0: "a\udcffb\x01\n", 1: ""}
    draw_scores(str(tmp_path / "a.svg"), {**SCORES, "labels": [0, 1]}, names)
    from xml.etree import ElementTree

    ElementTree.parse(tmp_path / "a.svg")


def test_names_that_would_be_cut_alike_stand_behind_their_labels():
    assert picture_names(None) == {} and picture_names({3: "x\x01"}) == {3: "x\ufffd"}
    long = {i: f"{'a' * 50}{i}{'z' * 50}" for i in range(2)}
    assert [name[:4] for name in picture_names({**long, 2: "b"}).values()] == ["0: a", "1: a", "b"]


# What matplotlib draws


def drawn(shown, *shapes):
    drawing = Drawing(200, 100)
    for tag, look, values in shapes:
        drawing.add(tag, look, **values)
    return shown(Picture(drawing, "p", "s"), title="").figure.axes[0]


@pytest.mark.parametrize(
    "tag, values, corners",
    [
        ("rect", {"x": 10, "y": 20, "width": 30, "height": 5}, (10, 20, 40, 25)),
        ("circle", {"cx": 10, "cy": 20, "r": 3}, (7, 17, 13, 23)),
        ("path", {"d": "M10 20h5v-2l-1 -3M1 2H4.5V6z"}, (1, 2, 15, 20)),
    ],
)
def test_shapes_are_where_they_are_on_a_page(shown, tag, values, corners):
    pytest.importorskip("matplotlib")
    axes = drawn(shown, (tag, "left", values))
    box = axes.patches[0].get_path().get_extents()
    # to the right of the margin, below the title
    assert (box.x0 - 16, box.y0 - 48, box.x1 - 16, box.y1 - 48) == pytest.approx(corners)


def test_looks_are_those_of_the_style_sheet(shown):
    colors = pytest.importorskip("matplotlib.colors")
    box = {"x": 1, "y": 1, "width": 5, "height": 5}
    axes = drawn(
        shown,
        ("rect", "fill-left edge", box),
        ("path", "rule", {"d": "M0 0H9"}),
        ("rect", "band", box),
        ("rect", "fill-right", {**box, "fill_opacity": ".5"}),
    )
    first, second, third, last = axes.patches
    assert colors.to_hex(first.get_facecolor()) == LIGHT["left"]
    assert colors.to_hex(first.get_edgecolor()) == LIGHT["paper"]
    assert first.get_linewidth() == 0.75 and second.get_linewidth() == 0.75 * 1.5
    assert second.get_linestyle() != "solid" and first.get_linestyle() == "solid"
    assert third.get_facecolor()[3] == 0 and last.get_facecolor()[3] == 0.5


def test_discs_of_no_length_are_drawn(shown):
    pytest.importorskip("matplotlib")
    axes = drawn(
        shown,
        (
            "path",
            "right disc",
            {"d": "M10 20h.01M40 20h40", "stroke_width": 8, "stroke_dasharray": ".01 19.99"},
        ),
    )
    places = axes.collections[0].get_offsets()
    assert len(places) == 4 and (places[:, 0] - places[0, 0]).tolist() == [0, 30, 50, 70]


def test_pictures_stand_in_rows_with_their_titles_and_notes(shown):
    pytest.importorskip("matplotlib")
    pictures = [
        Picture(Drawing(328, 100 * at), f"picture {at}", "s", "a note of some words " * 9)
        for at in range(1, 6)
    ]
    figure = shown(*pictures)
    assert not figure.clashes() and {"a title", "picture 5"} <= set(figure.texts)
    places = {text: box for text, box in figure.boxes}
    assert places["picture 3"].y0 == pytest.approx(places["picture 1"].y0)
    assert places["picture 4"].y1 < places["picture 1"].y0 - 300 * 100 / 96


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
    with chart_canvas._folder("/"):
        assert os.getcwd() == "/"
    assert os.path.lexists("matplotlibrc")


def test_settings_are_not_read_where_there_is_no_way_back(unlisted, monkeypatch):
    monkeypatch.delattr(os, "O_PATH", raising=False)
    with pytest.raises(DataError, match="^matplotlibrc: "), chart_canvas._folder("/"):
        pass
    monkeypatch.setattr(os.path, "lexists", lambda path: False)
    with chart_canvas._folder("/"):
        assert os.path.exists("matplotlibrc")
