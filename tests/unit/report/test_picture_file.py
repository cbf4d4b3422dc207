"""What all pictures share: kinds, bytes, warnings, mistakes."""

import sys
from types import SimpleNamespace

import pytest

from agfmc.control.parse import parse
from agfmc.core.errors import AgfmcWarning, DataError, UsageError
from agfmc.report import picture_file
from agfmc.report.picture_file import draw_document, picture_names
from agfmc.report.chart_control import draw_control
from agfmc.report.chart_scores import draw_comparison, draw_scores, draw_search
from agfmc.report.colours import LIGHT
from agfmc.report.content import Picture
from agfmc.report.svg import Drawing
from picture_library import need_library_of

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
    file = tmp_path / name
    need_library_of(name)
    PICTURES[picture](str(file))
    first = file.read_bytes()
    assert first.startswith(magic)
    PICTURES[picture](str(file))
    assert file.read_bytes() == first and [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("picture", PICTURES)
def test_mistakes(tmp_path, picture):
    with pytest.raises(UsageError, match=r"a\.gif: expected a name that ends in \.png or"):
        PICTURES[picture]("a.gif")
    with pytest.raises(DataError, match=r"nowhere.a\.svg: cannot write"):
        PICTURES[picture](str(tmp_path / "nowhere" / "a.svg"))


def test_what_cannot_be_drawn_at_all(tmp_path):
    names = {0: "a\udcffb\x01\n", 1: ""}
    draw_scores(str(tmp_path / "a.svg"), {**SCORES, "labels": [0, 1]}, names)
    from xml.etree import ElementTree

    ElementTree.parse(tmp_path / "a.svg")


def test_names_that_would_be_cut_alike_stand_behind_their_labels():
    assert picture_names(None) == {} and picture_names({3: "x\x01"}) == {3: "x\ufffd"}
    long = {i: f"{'a' * 50}{i}{'z' * 50}" for i in range(2)}
    assert [name[:4] for name in picture_names({**long, 2: "b"}).values()] == ["0: a", "1: a", "b"]


def test_pictures_stand_in_rows_with_their_titles_and_notes(shown):
    pictures = [
        Picture(Drawing(328, 100 * at), f"picture {at}", "s", "a note of some words " * 9)
        for at in range(1, 6)
    ]
    figure = shown(*pictures)
    assert not figure.clashes() and {"a title", "picture 5"} <= set(figure.texts)
    top = {text: box[1] for text, *box in figure.boxes()}
    assert top["picture 3"] == top["picture 1"] < top["picture 4"] - 300


@pytest.mark.parametrize(
    "library, name, told",
    [
        ("resvg_py", "a.png", r"a picture in PNG needs resvg_py: pip install 'agfmc\[plot\]'"),
        ("cairosvg", "a.pdf", r"a picture in PDF needs CairoSVG: pip install 'agfmc\[plot\]'"),
    ],
)
def test_a_missing_library_is_named_before_the_work(tmp_path, monkeypatch, library, name, told):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError, match=told):
        picture_file.check_picture(str(tmp_path / name))
    picture_file.check_picture(str(tmp_path / "a.svg"))


def test_a_picture_in_png_without_fonts_is_told(tmp_path, monkeypatch):
    blank = SimpleNamespace(svg_to_bytes=lambda *words, **more: b"the same")
    monkeypatch.setitem(sys.modules, "resvg_py", blank)
    with pytest.warns(AgfmcWarning, match="no font is installed here"):
        PICTURES["tree"](str(tmp_path / "a.png"))


def test_letters_and_shapes_leave_their_colours_in_png(tmp_path):
    resvg = pytest.importorskip("resvg_py")
    image = pytest.importorskip("PIL.Image")
    drawing = Drawing(300, 100)
    drawing.add("rect", "fill-left", x=0, y=0, width=50, height=50)
    document, size = draw_document("", [Picture(drawing, "p", "s")])
    file = tmp_path / "a.png"
    file.write_bytes(resvg.svg_to_bytes(document))
    with image.open(file) as drawn:
        assert drawn.size == size
        colour = "#%02x%02x%02x" % drawn.getpixel((16 + 25, 16 + 2 * 16 + 25))[:3]
    assert colour == LIGHT["left"]


def test_a_document_needs_nothing_else():
    """No variable and no query of the page's style sheet is left for programs that have neither."""
    document, _ = draw_document("t", [Picture(Drawing(300, 100), "p", "s")])
    assert "var(" not in document and "@media" not in document and "inherit" not in document
