"""Pictures of coding matrices and trees: that they show the sides, the costs and all names."""

import re

import pytest

from agfmc.designs.standard import one_vs_one, one_vs_rest, tree as balanced_tree
from agfmc.control.build import from_rows
from agfmc.control.parse import parse
from agfmc.report import structure
from agfmc.score.nodes import NodeCost

ROWS = [((0, 2), (1,)), ((1,), (0,)), ((0, 1, 3), (2,))]
NESTED = '"" 0 / 1 2; "" 0 1 / 2; { "" { 7 5 } "-k 5" K { 0 1 2 } 9 }'
HOSTILE = '"><script>alert(1)</script>'


def names_of(k, text="{label}: a class with quite a long name"):
    return {label: text.format(label=label) for label in range(k)}


def cells(found, look, left, wide):
    """Columns of the cells that the dashes of each row paint."""
    rows = []
    for path in found.all("path", look):
        columns = []
        for x, _, length in re.findall(r"M(-?[\d.]+) (-?[\d.]+)h([\d.]+)", path.get("d")):
            first = int((float(x) - left) // wide)
            columns += range(first, first + max(1, round(float(length) / wide + 0.4)))
        rows.append(columns)
    return rows


# Coding matrices


def test_cells_are_the_entries_of_the_matrix(read):
    picture = structure.coding_matrix(from_rows(ROWS, (0, 3, 5, 8)), {3: "three"})
    found = read(picture)
    (frame,) = found.all("rect", "frame")
    left, wide = float(frame.get("x")), float(frame.get("width")) / 4
    assert cells(found, "left", left, wide) == [[0, 2], [1], [0, 1, 3]]
    assert cells(found, "disc", left, wide) == [[1], [0], [2]]
    assert {"0", "three", "5", "8"} <= set(found.texts)
    groups = [
        group.get("data-classes")
        for group in found.all("g")
        if group.find("path") is not None and group.get("data-classes")
    ]
    assert groups == ["0 1 2", "0 1"]  # the last one takes all classes
    assert [row.cells for row in picture.table.rows] == [
        (1, "0, 5", "three"),
        (2, "three", "0"),
        (3, "0, three, 8", "5"),
    ]


def test_rows_are_named_by_their_classes_unless_their_options_differ(read):
    same = control_of(["-c 16"] * 3)
    names = {0: "ash", 1: "fir"}
    found = read(structure.coding_matrix(same, names))
    assert {"ash / fir, 2", "fir / ash, 2"} <= set(found.texts)
    many = from_rows(one_vs_rest(9), range(9))
    assert "1 and 7 others / 0" in read(structure.coding_matrix(many, {})).texts
    alike = from_rows([((0, 1, 2), (3, 4, 5)), ((0, 1, 4), (3, 2, 5))], range(6))
    assert {"1", "2"} <= set(read(structure.coding_matrix(alike, {})).texts[-2:])
    own = control_of(["-c 1", "-c 2", "-c 3"])
    assert {"-c 1", "-c 2", "-c 3"} <= set(read(structure.coding_matrix(own, {})).texts)


def control_of(options):
    sides = ("0 / 1 2", "1 / 0 2", "2 / 0 1")
    return parse("".join(f'"{text}" {side};\n' for text, side in zip(options, sides)) + "{0 1 2}\n")


def test_classes_are_told_by_their_place_among_the_labels(read):
    found = read(structure.coding_matrix(parse("a 0 / 1; b 0 / 1; {9 4}"), {}))
    bands = [
        group.get("data-classes") for group in found.all("g") if group.find("text") is not None
    ]
    assert bands == ["1", "0"] and found.texts.index("9") < found.texts.index("4")
    assert found.texts[-2:] == ["9 / 4"] * 2 or found.texts[-2:] == ["1", "2"]


@pytest.mark.parametrize(
    "rows, k",
    [(one_vs_rest(26), 26), (one_vs_one(26), 26), (one_vs_rest(60), 60), (one_vs_rest(120), 120)],
)
def test_matrices_have_room_for_their_names(read, rows, k):
    picture = structure.coding_matrix(from_rows(rows, range(k)), names_of(k))
    found = read(picture)
    assert not found.clashes() and len(picture.svg) < 70_000
    assert found.size[1] < 1000


def test_large_matrices_are_images(read):
    rows = [(tuple(range(0, 200, 2)), tuple(range(1, 200, 2)))] * 149 + [((0,), (199,))]
    picture = structure.coding_matrix(from_rows(rows, range(200)), names_of(200))
    pixels, palette = read(picture).pixels()
    assert len(pixels) == 150 and len(picture.svg) < 60_000
    assert set(pixels[0]) == {1, 2} and pixels[0][0] == 1 and pixels[149].count(0) == 198
    assert palette[0][3] == 0 and palette[1][2] > palette[1][0] and palette[2][0] > palette[2][2]


def test_very_many_rows_are_an_image_of_bounded_height(read):
    picture = structure.coding_matrix(from_rows(one_vs_one(60), range(60)), {})
    assert "400 of 1770" in picture.table.caption and len(read(picture).pixels()[0]) == 1770
    assert read(picture).size[1] < 1400


# Trees


def tree_places(found):
    return [text for text in found.texts if text not in ("\u22121, left", "+1, right")]


def test_a_tree_has_its_classes_in_order_and_its_nodes(read):
    tree = parse("a { b { 4 0 } 2 }")
    picture = structure.decision_tree(tree, {4: "four"})
    found = read(picture)
    assert tree_places(found) == ["four", "0", "2"] and picture.title == "Tree of the classes"
    nodes = {
        group.get("data-node"): group.get("data-classes")
        for group in found.all("g")
        if group.get("data-node")
    }
    assert nodes == {"0": "0 1 2", "1": "0 2"}
    branches = [
        (path.get("class").split()[0], path.get("data-classes"))
        for path in found.all("path", "branch")
        if path.get("data-classes")
    ]
    assert branches == [("left", "0 2"), ("right", "1"), ("left", "2"), ("right", "0")]
    assert [row.cells for row in picture.table.rows] == [(0, "four, 0", "2"), (1, "four", "0")]


def test_discs_grow_with_the_cost_of_a_node(read):
    tree = parse('"" { "" { 0 1 } 2 }')
    costs = (NodeCost(0, 1.0, 0.02, 0.1), NodeCost(1, 0.6, 0.3, 0.3))
    picture = structure.decision_tree(tree, {}, costs)
    found = read(picture)
    small, large = (float(disc.get("r")) for disc in found.all("circle", "mark"))
    assert small < large and {"25\u202f%", "75\u202f%"} <= set(found.texts)
    assert picture.table.rows[1].cells == (1, "0", "1", 0.6, 0.3, 0.3, 0.3 / 0.4)
    assert "30.0\u202f% of its points on the wrong side" in picture.svg


@pytest.mark.parametrize("k", [2, 26, 1000])
def test_trees_name_all_classes(read, k):
    picture = structure.decision_tree(balanced_tree(k), names_of(k))
    found = read(picture)
    assert tree_places(found) == list(names_of(k).values())
    assert len(picture.svg) < 750 * max(k, 200) and (k > 200 or not found.clashes())


def test_chains_do_not_become_wide(read):
    text = "".join(f'"" {{ {label} ' for label in range(199)) + "199" + " }" * 199
    found = read(structure.decision_tree(parse(text), {}))
    assert found.size[0] < 1800 and len(found.picture.svg) < 400_000


def test_matrices_and_classifiers_of_several_classes_are_boxes(read):
    picture = structure.decision_tree(parse(NESTED), {})
    found = read(picture)
    assert "2 classifiers, 3 branches" in found.texts and not found.clashes()
    assert any(text.startswith("K: ") for text in found.texts)
    assert tree_places(found)[:6] == ["7", "5", "0", "1", "2", "9"]
    assert [row.cells[0] for row in picture.table.rows] == [0, 1, 2]


def test_the_picture_follows_from_the_configuration():
    assert [picture.title for picture in structure.configuration(parse("a { 0 1 }"), {})] == [
        "Tree of the classes"
    ]
    assert [
        picture.title
        for picture in structure.configuration(from_rows(one_vs_rest(3), range(3)), {})
    ] == ["Coding matrix"]
    ensemble = parse("# weights: 3 1 1 1\n" + 'a { "" { 0 1 } 2 }\n' * 4)
    assert [picture.title for picture in structure.configuration(ensemble, {})] == [
        "Member 1 of 4, weight 0.5",
        "Member 2 of 4, weight 0.167",
        "Member 3 of 4, weight 0.167",
    ]


def test_names_cannot_be_markup(read):
    names = names_of(6, HOSTILE * 300 + "{label}")
    for tree in (balanced_tree(6), from_rows(one_vs_rest(6), range(6))):
        nodes = [NodeCost(0, 1, 0.5, 0.1)]
        for picture in (
            *structure.configuration(tree, names, nodes),
            structure.node_costs(nodes, balanced_tree(6), names),
        ):
            assert not read(picture).clashes() and "<script" not in picture.svg


# Costs of nodes


def test_costs_of_nodes_begin_with_the_largest(read):
    tree = parse('"" { "" { 0 1 } "" { 2 3 } }')
    costs = (NodeCost(0, 1.0, 0.05, 0.1), NodeCost(1, 0.5, 0.1, 0.3), NodeCost(2, 0.5, 0.0, 0.0))
    picture = structure.node_costs(costs, tree, {1: "one"})
    found = read(picture)
    wide = [float(bar.get("width")) for bar in found.all("rect", "mark")]
    assert wide == [120, 40, 1] and "0 / one" in found.texts and not found.clashes()
    assert [group.get("data-node") for group in found.all("g")] == ["1", "0", "2"]
    assert "0 from one" in picture.summary and "75.0\u202f%" in picture.summary
    assert structure.node_costs((), tree, {}) is None
