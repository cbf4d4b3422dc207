"""Trees, coding matrices and dendrograms: what stands in the figures, and where."""

import math

import pytest

from agfmc.control.build import from_pairs, from_rows, rename
from agfmc.control.parse import parse
from agfmc.control.tree import Leaf
from agfmc.errors import UsageError
from agfmc.picture import control
from agfmc.picture.canvas import LEFT, RIGHT

pytest.importorskip("matplotlib")

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


def colours(artist):
    from matplotlib.colors import to_hex
    return [to_hex(colour) for colour in artist.get_facecolor()]


def test_tree(shown):
    tree = rename(from_pairs(balanced(0, 7), range(7), LETTERS), [f"m.{i:02d}" for i in range(6)])
    figure = shown(control._tree_figure, tree)
    assert sorted(figure.texts) == sorted(
        [*"ABCDEFG", "A + 2 / D + 3", "A / B, C", "B / C", "D, E / F, G", "D / E", "F / G",
         "-1 (left)", "+1 (right)"])
    assert not figure.clashes()
    places = {text: box for text, box in figure.boxes}
    assert all(places[a].y0 > places[b].y1 for a, b in zip("ABCDEF", "BCDEFG"))
    assert len({places[a].x0 for a in "BCEFG"}) == 1
    edges = figure.figure.axes[0].collections[0]
    assert len(edges.get_segments()) == 12
    from matplotlib.colors import to_hex
    drawn = [to_hex(colour) for colour in edges.get_colors()]
    assert drawn == [LEFT, RIGHT] * 6
    # to the left branch means up on the page, where y is smaller
    assert all((line[1][1] < line[0][1]) == (i % 2 == 0)
               for i, line in enumerate(edges.get_segments()))


def test_trained_nodes_have_classes_and_shares_of_the_points(shown):
    """In the place of names of files, which are cut to the same text."""
    tree = rename(from_pairs(((0, 1), 2), range(3), {0: "a long name of the first class", 1: "b$"}),
                  [f"/a/folder/with/a/long/name/of/the/models/m.{i}" for i in range(2)])
    figure = shown(control._tree_figure, tree, {0: 1.0, 1: 0.625})
    assert {"a long ... class + 1 / 2\n100 % of points",
            "a long ... class / b$\n62.5 % of points"} < set(figure.texts)
    assert not any("folder" in text for text in figure.texts) and not figure.clashes()


def test_26_long_names_in_a_trained_tree(shown):
    names = {i: f"handwritten capital letter {chr(65 + i)}, of printed type" for i in range(26)}
    tree = rename(from_pairs(balanced(0, 26), range(26), names), [f"m{i}" for i in range(25)])
    figure = shown(control._tree_figure, tree, dict.fromkeys(range(25), 0.5))
    assert not figure.clashes() and sum("% of points" in text for text in figure.texts) == 25


def test_lines_reach_the_boxes(shown):
    figure = shown(control._tree_figure, MIXED)
    axes = figure.figure.axes[0]
    texts = {text.get_text(): text for text in axes.texts}
    ends = [line[-1] for line in axes.collections[0].get_segments()]
    box = texts["-c 8 -g 0.125"]
    patch = box.get_bbox_patch().get_window_extent()
    edge = axes.transData.inverted().transform((patch.x0, patch.y0))[0]
    height = box.get_position()[1]
    assert any(abs(x - edge) < 0.03 and abs(y - height) < 1e-9 for x, y in ends)


def test_mixtures(shown):
    figure = shown(control._tree_figure, MIXED)
    assert not figure.clashes()
    assert {'water & "so"', "a$b$ _c", "K: k nearest neighbours\n-k 3", "left out"} <= \
        set(figure.texts)
    small = [artist for artist in figure.figure.axes[0].collections if len(colours(artist)) in
             (6, 9)]
    # column by column: a classifier after the other, the branches from top to bottom
    assert colours(small[0]) == [LEFT, RIGHT, "#ffffff", LEFT, RIGHT, LEFT, "#ffffff", LEFT, RIGHT]
    assert colours(small[1]) == [LEFT, RIGHT, RIGHT, LEFT, LEFT, RIGHT]


def test_boxes_keep_apart_at_every_depth():
    layout = control._Layout(MIXED)
    for number, box in enumerate(layout.boxes):
        if isinstance(box, tuple):
            half = box[0] * layout.cell / 2
            spans = layout.spans[number]
            assert layout.y[number] - half >= spans[0][0] * layout.spacing - 1e-9
            assert layout.y[number] + half <= spans[-1][1] * layout.spacing + 1e-9
        for child in MIXED.nodes[number].children:
            if not isinstance(child, Leaf):
                assert layout.left[child] >= layout.right[number] + 0.2


@pytest.mark.parametrize("text, told", [
    ('"-k 3" K {0 1 2}', "K: k nearest neighbours\n-k 3"),
    ('m L "-r 1" {0 1 2}', "L: multinomial logistic regression\nm\n-r 1"),
    (" ".join(f'"" {i}/{i + 1};' for i in range(17)) + "{" + " ".join(map(str, range(17))) +
     ' "" {17 18}}', "17 rows x\n18 branches")])
def test_boxes(shown, text, told):
    figure = shown(control._tree_figure, parse(text))
    assert told in figure.texts and not figure.clashes()


def test_a_long_chain_fits_a_picture(shown):
    pairs = 0
    for i in range(1, 250):
        pairs = (pairs, i)
    figure = shown(control._tree_figure, from_pairs(pairs, range(250)))
    assert max(figure.figure.get_size_inches()) < 45 and not figure.clashes()


@pytest.mark.few(2)
@pytest.mark.parametrize("rows, names", [
    (ONE_VS_ONE, LETTERS), (ONE_VS_ONE[:28], {i: f"a long name, number {i}" for i in range(26)}),
    (ONE_VS_ONE[:25], None)])
def test_matrices(shown, rows, names):
    named = rename(from_rows(rows, range(26), names), [f"m-{i:02d}" for i in range(len(rows))])
    figure = shown(control.matrix_figure, named)
    assert not figure.clashes()
    assert all(class_name in figure.texts for class_name in (names or {0: "0", 25: "25"}).values())
    assert "m-00" in figure.texts and f"{len(rows)} binary classifiers" in figure.texts
    assert max(figure.figure.get_size_inches()) < 16
    mesh = figure.figure.axes[0].collections[0].get_array().reshape(len(rows), 26)
    for i, (left, right) in enumerate(rows):
        assert mesh[i][left[0]] == -1 and mesh[i][right[0]] == 1 and (mesh[i] != 0).sum() == 2


def test_small_matrices_have_signs(shown):
    figure = shown(control.matrix_figure, parse('"" 0 / 1; "" 1 / 2; {5 3 4}'))
    assert not figure.clashes()
    assert figure.texts.count("+") == figure.texts.count("-") == 2
    assert {"3", "4", "5", "left out"} <= set(figure.texts)
    assert "left out" not in shown(control.matrix_figure, parse('"" 0 / 1; {5 3}')).texts


@pytest.mark.long
def test_many_classes_and_rows_stay_on_a_page(shown):
    rows = [((i,), (i + 1,)) for i in range(299)]
    figure = shown(control.matrix_figure, from_rows(rows, range(300)))
    assert max(figure.figure.get_size_inches()) < 16 and not figure.clashes()


def test_dendrogram(shown):
    tree = parse("# class 4: far $x$\na {b {0 c {4 2}} 3}")
    figure = shown(control.dendrogram_figure, tree, [5.0, 3.0, 1.0])
    axes = figure.figure.axes[0]
    assert not figure.clashes()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "far $x$", "2", "3"]
    lines = [line.tolist() for line in axes.collections[0].get_segments()]
    assert lines == [[[0, 1], [1, 1], [1, 2], [0, 2]], [[0, 0], [3, 0], [3, 1.5], [1, 1.5]],
                     [[3, 0.75], [5, 0.75], [5, 3], [0, 3]]]
    assert axes.get_xlim()[1] > 5


def test_infinite_distances_lie_behind_a_break(shown):
    tree = from_pairs(balanced(0, 7), range(7), LETTERS)
    figure = shown(control.dendrogram_figure, tree, [math.inf, 2.1, math.inf, 1.2, 3.3, 2.7])
    axes = figure.figure.axes[0]
    assert "infinite" in figure.texts and not figure.clashes()
    ends = [line[1][0] for line in axes.collections[0].get_segments()]
    assert ends[0] == 2.7 and ends[-1] == pytest.approx(1.15 * 3.3)
    assert all(math.isfinite(end) for end in ends)
    everything = shown(control.dendrogram_figure, parse("a {0 1}"), [math.inf])
    assert "infinite" in everything.texts and not everything.clashes()
    nothing = shown(control.dendrogram_figure, parse("a {0 1}"), [0.0])
    assert not nothing.clashes()


@pytest.mark.parametrize("text, heights, told", [
    ("a {0 1}", [1, 2], "2 distances"), ("a {0 1}", [math.nan], "not negative"),
    ("a {0 1}", [-1], "not negative"), ("a 0/1; {0 1}", [1], "single classifiers")])
def test_heights_that_do_not_fit(tmp_path, text, heights, told):
    with pytest.raises(UsageError, match=told):
        control.draw_control(str(tmp_path / "a.png"), parse(text), heights)
    assert not list(tmp_path.iterdir())


def test_models_of_one_folder_are_named_without_it(shown):
    def rows(*folders):
        tree = rename(from_rows([((0,), (1,)), ((0,), (2,))], [0, 1, 2]),
                      [f"{folder}/m.{i}" for i, folder in enumerate(folders)])
        return {text for text in shown(control.matrix_figure, tree).texts if "m." in text}
    assert rows("/all/in/one", "/all/in/one") == {"m.0", "m.1"}
    assert rows("/all/here", "/all/there") == {"/all/here/m.0", "/all/there/m.1"}
