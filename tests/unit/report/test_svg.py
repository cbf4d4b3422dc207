"""Pictures of a page as text: what they escape, how they round, their axes."""

from xml.etree import ElementTree

import pytest

from agfmc.report.svg import (
    cut_to_width,
    Drawing,
    Panel,
    pixels,
    Scale,
    short,
    text_width,
    tick_texts,
)

HOSTILE = "</text><script>alert(1)</script>\" onload='x' & \u202e\x07"


def test_text_titles_and_attributes_are_escaped():
    drawing = Drawing(100, 50)
    drawing.text(0, 10, HOSTILE, "end", title=HOSTILE, data_classes=(1, 2))
    drawing.add("rect", HOSTILE, HOSTILE, width=3, data_name=HOSTILE)
    markup = drawing.markup(HOSTILE)
    root = ElementTree.fromstring(markup)
    assert {element.tag for element in root.iter()} == {"svg", "text", "title", "rect"}
    assert not {name for element in root.iter() for name in element.keys() if name == "onload"}
    assert root.find("text").get("data-classes") == "1 2"
    assert root.find("text/title").tail.endswith("onload='x' & \ufffd\ufffd")
    assert "\u202e" not in markup and "\x07" not in markup and "<script" not in markup


def test_long_names_are_cut_with_their_whole_as_the_title():
    drawing = Drawing(100, 50)
    drawing.text(0, 10, "a" * 10_000, width=80)
    drawing.text(0, 30, "short", width=80)
    one, other = ElementTree.fromstring(drawing.markup("x")).findall("text")
    shown = one.find("title").tail
    assert "…" in shown and text_width(shown) <= 80 and len(one.find("title").text) == 400
    assert other.text == "short" and other.find("title") is None


@pytest.mark.parametrize(
    "text, width, shown",
    [
        ("abc", 100, "abc"),
        ("abcdef", 36, "ab…f"),
        ("a\nb", 100, "a b"),
        ("abc", 1, "a…"),
        ("日本語日本語", 50, "日本…語"),
        ("good", text_width("good") + 8 - 8, "good"),
        ("average of rbf and trees", 120, "average of r…trees"),
        ("average of rbf and laplacian", 120, "average of…lacian"),
    ],
)
def test_cut(text, width, shown):
    assert cut_to_width(text, width) == shown


@pytest.mark.parametrize(
    "value, text",
    [(1, "1"), (1.04, "1"), (-0.04, "0"), (12.35, "12.3"), (0.96, "1"), (-3.25, "-3.2")],
)
def test_coordinates_are_rounded(value, text):
    assert pixels(value) == text


@pytest.mark.parametrize(
    "value, text",
    [
        (3, "3"),
        (0.123456, "0.1235"),
        (1234.5, "1234"),
        (2e7, "2e7"),
        (float("nan"), "-"),
        (999999, "999999"),
    ],
)
def test_short(value, text):
    assert short(value) == text


@pytest.mark.parametrize(
    "low, high, most, ticks",
    [
        (0, 1, 6, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 1, 3, [0, 0.5, 1]),
        (-3, 17, 5, [0, 5, 10, 15]),
        (0.97, 1, 4, [0.97, 0.98, 0.99, 1]),
        (0, 1797, 4, [0, 500, 1000, 1500]),
    ],
)
def test_ticks_are_round(low, high, most, ticks):
    assert Scale(low, high).ticks(most) == ticks


def test_ticks_of_a_logarithmic_scale():
    assert Scale(0.9, 30, logarithmic=True).ticks(6) == [1, 2, 5, 10, 20]
    assert Scale(0.9, 3e6, logarithmic=True).ticks(7) == [1, 10, 100, 1e3, 1e4, 1e5, 1e6]
    assert Scale(1, 100, logarithmic=True).share(10) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "ticks, texts",
    [
        ([0, 0.5, 1], ["0.0", "0.5", "1.0"]),
        ([-2, 0, 2], ["\u22122", "0", "2"]),
        ([0.25, 0.5], ["0.25", "0.50"]),
        ([500], ["500"]),
        ([1e7, 2e7], ["1e7", "2e7"]),
    ],
)
def test_numbers_of_an_axis_have_the_same_digits(ticks, texts):
    assert tick_texts(ticks) == texts


def test_a_scale_around_equal_values_has_a_width():
    for values in ([3.0, 3.0], [0.0], []):
        scale = Scale.around(values)
        assert scale.low < scale.high


def test_a_panel_turns_upwards():
    drawing = Drawing(200, 150)
    panel = Panel(drawing, 50, 10, 100, 100, Scale(0, 10))
    assert (panel.x(0), panel.y(0), panel.x(10), panel.y(1)) == (50, 110, 150, 10)
    panel.axis_across("across")
    panel.axis_up("up")
    texts = [element.text for element in ElementTree.fromstring(drawing.markup("x")).iter("text")]
    assert "across" in texts and "up" in texts and {"0", "5", "10", "1"} <= set(texts)
