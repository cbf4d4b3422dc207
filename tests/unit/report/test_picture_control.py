"""Trees, coding matrices and dendrograms: what stands in the figures, and where."""

import math
import re

import pytest

from agfmc.control.build import from_pairs, from_rows, rename
from agfmc.control.parse import parse
from agfmc.control.tree import changed
from agfmc.report import chart_control
from agfmc.report.svg import Drawing


LETTERS = {i: chr(65 + i) for i in range(26)}
ONE_VS_ONE = [((i,), (j,)) for i in range(26) for j in range(i + 1, 26)]
MIXED = parse("""# class 0: water & "so"
# class 1: a$b$ _c
# class 7: a much longer name of a class
"-c 1" 0 / 1; "-c 2" 0 2 / 1; "" 1 / 2; {"-c 8 -g 0.125" {0 1} "-k 3" K {2 3 4}
"" {5 "" 0/1 2;"" 0 1/2; {6 7 8}}}""")


def balanced(first, last):
    if last - first == 1:
        return first
    middle = (first + last) // 2
    return balanced(first, middle), balanced(middle, last)


def test_trained_nodes_have_classes_and_shares_of_the_points(shown):
    """In the place of names of files, which are cut to the same text."""
    tree = rename(
        changed(from_pairs(((0, 1), 2), range(3)), names={0: "first class", 1: "b$"}),
        [f"/a/folder/with/a/long/name/of/the/models/m.{i}" for i in range(2)],
    )
    figure = shown(*chart_control.control_pictures(tree, {0: 1.0, 1: 0.625}))
    assert {"100 %: first class, b$ / 2", "62.5 %: first class / b$"} < set(figure.texts)
    assert not any("folder" in text for text in figure.texts) and not figure.clashes()


def test_26_long_names_in_a_trained_tree(shown):
    names = {i: f"handwritten capital letter {chr(65 + i)}, of printed type" for i in range(26)}
    tree = rename(
        changed(from_pairs(balanced(0, 26), range(26)), names=names), [f"m{i}" for i in range(25)]
    )
    figure = shown(*chart_control.control_pictures(tree, dict.fromkeys(range(25), 0.5)))
    assert not figure.clashes() and sum(text.startswith("50 %: ") for text in figure.texts) == 25


def test_mixtures(shown):
    figure = shown(*chart_control.control_pictures(MIXED))
    assert not figure.clashes()
    assert {
        'water & "so"',
        "a$b$ _c",
        "K: k nearest neighbours -k 3",
        "-c 8 -g 0.125",
        "3 classifiers, 3 branches",
    } <= set(figure.texts)


@pytest.mark.parametrize(
    "text, told",
    [
        ('"-k 3" K {0 1 2}', "K: k nearest neighbours -k 3"),
        ('m L "-r 1" {0 1 2}', "L: multinomial logi\u2026ion m -r 1"),
        (
            " ".join(f'"" {i}/{i + 1};' for i in range(17))
            + "{"
            + " ".join(map(str, range(17)))
            + ' "" {17 18}}',
            "17 classifiers, 18 branches",
        ),
    ],
)
def test_boxes(shown, text, told):
    figure = shown(*chart_control.control_pictures(parse(text)))
    assert any(text.startswith(told) for text in figure.texts)
    assert not figure.clashes()


@pytest.mark.long
def test_a_long_chain_fits_a_picture(shown):
    pairs = 0
    for i in range(1, 400):
        pairs = (pairs, i)
    (picture,) = chart_control.control_pictures(from_pairs(pairs, range(400)))
    figure = shown(picture)
    assert max(figure.size) < 181 * 96 and not figure.clashes()
    assert {"0", "399"} <= set(figure.texts)  # all of them


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "rows, names",
    [
        (ONE_VS_ONE, LETTERS),
        (ONE_VS_ONE[:28], {i: f"a long name, number {i}" for i in range(26)}),
        (ONE_VS_ONE[:25], None),
    ],
)
def test_matrices(shown, rows, names):
    tree = rename(from_rows(rows, range(26), names), [f"m-{i:02d}" for i in range(len(rows))])
    figure = shown(*chart_control.control_pictures(tree))
    assert not figure.clashes() and {*(names or {0: "0", 25: "25"}).values()} <= set(figure.texts)


@pytest.mark.long
def test_many_classes_and_rows_stay_on_a_page(shown):
    tree = from_rows([((i,), (i + 1,)) for i in range(899)], range(900))
    figure = shown(*chart_control.control_pictures(tree))
    assert max(figure.size) < 16 * 96 and not figure.clashes()


def lines_of(drawing: Drawing, look="ink"):
    return [
        [float(number) for number in re.findall(r"-?[\d.]+", path)]
        for path in re.findall(rf'<path class="{look}[^"]*" d="([^"]*)"', drawing.elements())
    ]


def test_dendrogram(shown):
    tree = parse("# class 4: far $x$\na {b {0 c {4 2}} 3}")
    picture = chart_control.dendrogram(tree, [5.0, 3.0, 1.0])
    figure = shown(picture)
    assert not figure.clashes() and {"0", "far $x$", "2", "3"} <= set(figure.texts)
    inner, middle, outer = lines_of(picture.drawing)
    zero, unit = inner[0], inner[2] - inner[0]
    assert inner[4] == zero and middle[2] - zero == pytest.approx(3 * unit, abs=0.3)
    assert middle[4] == pytest.approx(inner[2]) and outer[0] == middle[2] and outer[4] == zero
    assert outer[2] - zero == pytest.approx(5 * unit, abs=0.5)


def test_infinite_distances_lie_behind_a_break(shown):
    tree = changed(from_pairs(balanced(0, 7), range(7)), names=LETTERS)
    picture = chart_control.dendrogram(tree, [math.inf, 2.1, math.inf, 1.2, 3.3, 2.7])
    figure = shown(picture)
    assert "infinite" in figure.texts and not figure.clashes()
    assert len(lines_of(picture.drawing, "ink thin dashed")) == 2
    for heights in ([math.inf], [0.0]):
        alone = shown(chart_control.dendrogram(parse("a {0 1}"), heights))
        assert ("infinite" in alone.texts) == (heights[0] > 0) and not alone.clashes()
