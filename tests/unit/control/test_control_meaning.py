"""What a tree means: names, options, codes, sides, direct classifiers, classes in the data."""

import pytest

from agfmc.designs import standard
from agfmc.control.build import (
    check_classes,
    code_rows,
    from_pairs,
    from_rows,
    rename,
    rename_directs,
    resolve_options,
    restricted,
    to_code,
)
from agfmc.control.parse import parse
from agfmc.control.tree import changed, model_names, node_names, Tree
from agfmc.control.write import format_tree
from agfmc.core.errors import ControlError, UsageError

CHAIN = "a { b { c { d { e { f { 2 1 } 5 } 6 } 3 } 4 } 0 }"
NESTED = "a 0/1; b 0/2; c 1/2; { d 0/1; {0 1} 5 e { f {3 4} 2 } }"


def test_names_of_a_tree():
    tree = parse('"" { "" { 0 "" {1 2} } "" { "" {3 4} "" {5 6} } }')
    assert model_names(tree, "m") == ["m", "m.00", "m.00.01", "m.01", "m.01.00", "m.01.01"]


def test_names_of_a_nested_configuration():
    tree = parse('"" 0/1; "" 0/2; "" 1/2; { "" 0/1; "" 1/0; {0 1} 5 "" { "" {3 4} 2 } }')
    assert model_names(tree, "dir/m") == [
        "dir/m-00",
        "dir/m-01",
        "dir/m-02",
        "dir/m.00-00",
        "dir/m.00-01",
        "dir/m.02",
        "dir/m.02.00",
    ]


def test_names_beyond_99():
    tree = from_rows([((0,), (1,))] * 102, [0, 1])
    names = model_names(tree, "m")
    assert names[0] == "m-00" and names[99:] == ["m-99", "m-100", "m-101"]
    wide = parse(
        f"{' '.join(f'x 0/{i};' for i in range(1, 102))} "
        f"{{{' '.join(map(str, range(101)))} y {{200 201}}}}"
    )
    assert model_names(wide, "m")[-1] == "m.101"


def test_names_of_a_tree_too_deep_for_them():
    """By branches as long as no name has more than 120 characters beyond the base."""

    def chain(levels, matrix=""):
        return parse(
            '"" {' * (levels - 1)
            + f'"" {matrix} {{ 0 {levels} }}'
            + "".join(f" {label} }}" for label in range(1, levels))
        )

    assert model_names(chain(41), "m") == ["m" + ".00" * i for i in range(41)]
    assert model_names(chain(42), "m") == ["m"] + [f"m.n{i:04d}" for i in range(1, 42)]
    assert model_names(chain(40, "0/1;"), "m")[-1] == "m" + ".00" * 39 + "-00"
    assert model_names(chain(41, "0/1;"), "m")[-2:] == ["m.n0039", "m.n0040-00"]
    # all nodes of the tree, and whatever the base
    wide = parse(
        f'x 0/1; x 0/2; {{ "" {{ 900 901 }} {"y { " * 42} 0 '
        + "".join(f"{i} }} " for i in range(1, 43))
        + "800 }"
    )
    assert model_names(wide, "a/long/base")[:4] == [
        "a/long/base-00",
        "a/long/base-01",
        "a/long/base.n0001",
        "a/long/base.n0002",
    ]


def test_converted_shuttle_tree():
    code = to_code(parse(CHAIN))
    assert code.labels == (2, 1, 5, 6, 3, 4, 0)
    assert format_tree(code) == (
        "a 0 1 2 3 4 5 / 6;\nb 0 1 2 3 4 / 5;\nc 0 1 2 3 / 4;\nd 0 1 2 / 3;\ne 0 1 / 2;\n"
        "f 0 / 1;\n{\n  2\n  1\n  5\n  6\n  3\n  4\n  0\n}\n"
    )


def test_inner_rows_of_nested_models_spread_over_leaves():
    assert code_rows(parse(NESTED)) == [
        ((0, 1), (2,)),
        ((0, 1), (3, 4, 5)),
        ((2,), (3, 4, 5)),
        ((0,), (1,)),
        ((3, 4), (5,)),
        ((3,), (4,)),
    ]


def test_the_tree_of_the_paper_is_its_code():
    tree = parse("Row1 { Row2 { Row3 {0 1} Row4 {2 3} } Row5 { Row6 {4 5} Row7 {6 7} } }")
    code = parse(
        "Row1 0 1 2 3 / 4 5 6 7; Row2 0 1 / 2 3; Row3 0 / 1; Row4 2 / 3; "
        "Row5 4 5 / 6 7; Row6 4 / 5; Row7 6 / 7; {0 1 2 3 4 5 6 7}"
    )
    assert format_tree(to_code(tree)) == format_tree(code)
    assert tree.hierarchical and not code.hierarchical


def test_sides_are_labels():
    tree = parse("a 0/1 2; { b {30 10} 5 20 }")
    assert tree.sides() == [((30, 10), (5, 20)), ((30,), (10,))]
    assert tree.labels == (30, 10, 5, 20) and tree.classes == (5, 10, 20, 30)


@pytest.mark.parametrize(
    "text, expected",
    [
        ('"-c 1" {"-c 2" {"." {0 1} 2} "." {3 4}}', ["-c 1", "-c 2", "-c 2", "-c 2"]),
        ('"." {"." {0 1} 2}', ["D", "D"]),
        ('" " {"." {0 1} 2}', ["", ""]),
        ('"-c 1" 0/1; "." 0/2; "" 1/2; {0 1 2}', ["-c 1", "-c 1", "D"]),
        ('"-c 1" 0/1; " " 0/2; "." 1/2; {0 1 2}', ["-c 1", "", ""]),
        ('"-c 1" {"-c 2" {"-c 3" {0 1} 2} "." {3 4}}', ["-c 1", "-c 2", "-c 3", "-c 2"]),
        (
            '"-c 1" {"." {"-c 3" {0 1} "." {5 6}} "." {3 4}}',
            ["-c 1", "-c 1", "-c 3", "-c 3", "-c 1"],
        ),
        ('"-c 1" 0/1; "-c 2" 1/0; {"." {0 1} "-c 9" {2 3}}', ["-c 1", "-c 2", "-c 2", "-c 9"]),
        ('"  -c 7 " {0 1}', ["-c 7"]),
    ],
)
def test_options(text, expected):
    tree = parse(text)
    assert resolve_options(tree, "D") == expected
    # A code made from it trains the same classifiers in the same way.
    assert resolve_options(to_code(tree), "D") == expected
    assert resolve_options(parse(format_tree(to_code(tree))), "D") == expected


@pytest.mark.parametrize(
    "text, trained, message",
    [
        ('m { "-c 1" {0 1} 2}', True, r'^f:1:5: expected the name .* found the options "-c 1"'),
        (
            'm { "" L {0 1} 2}',
            True,
            "^f:1:5: expected the name of a model before the code L: train",
        ),
        ('"" { n {0 1} 2}', False, r"^f:1:6: expected training options .* 'n': is this .* already"),
        ('m K "-k 3" {0 1}', False, "expected options in double quotes and the code K"),
        ("m K {0 1}", False, "expected options in double quotes and the code K"),
        ('"a b" {0 1}', True, None),
        ('m K "-k 3" {0 1}', True, None),
        ("m K {0 1}", True, None),
        ('"-k 3" K {0 1}', False, None),
    ],
)
def test_files_of_either_kind_say_what_they_are(text, trained, message):
    tree = parse(text, "f")
    check = tree.require_names if trained else tree.require_options
    if message is None:
        check()
    else:
        with pytest.raises(ControlError, match=message):
            check()


def test_rename():
    tree = rename(parse(NESTED), [f"m{i}" for i in range(6)])
    assert [row.text for row in tree.rows] == [f"m{i}" for i in range(6)]
    assert all(row.quoted for row in rename(tree, [""] * 6, quoted=True).rows)


def test_trees_from_pairs():
    tree = changed(from_pairs(((2, 0), 1), [10, 20, 30]), names={10: "ten"})
    assert tree.labels == (30, 10, 20) and tree.names == {10: "ten"}
    assert all(node.bare for node in tree.nodes)
    with pytest.raises(UsageError, match="at least two"):
        from_pairs(0, [0])


def test_classes_and_data_must_agree():
    tree = parse("m {\n 0\n 3}", "f")
    check_classes(tree, {3: 2, 0: 2}, "data")
    with pytest.raises(
        ControlError,
        match="^f:3:2: class 3 has no samples in data: expected at least 2, or `min_class=2`,",
    ):
        check_classes(tree, {0: 9}, "data")
    with pytest.raises(ControlError, match="^f:2:2: class 0 has one sample in data"):
        check_classes(tree, {0: 1, 3: 5}, "data")
    with pytest.raises(ControlError, match="^f: the data in data hold classes 4, 5, which"):
        check_classes(tree, dict.fromkeys([0, 3, 5, 4], 2), "data")
    with pytest.raises(
        ControlError,
        match="hold class 9, which the control file does not name; `print_control DATA`",
    ):
        check_classes(tree, dict.fromkeys([0, 3, 9], 2), "data")
    with pytest.raises(ControlError, match="hold class 9, which.*; `min_class=5` leaves out"):
        check_classes(tree, {0: 5, 3: 6, 9: 4}, "data")


def as_sets(tree):
    return [frozenset(map(frozenset, sides)) for sides in tree.sides()]


@pytest.mark.parametrize(
    "scheme", [standard.one_vs_one, standard.one_vs_rest, standard.adjacent, standard.exhaustive]
)
def test_fewer_classes_leave_the_same_scheme(scheme):
    labels = (3, 1, 4, 0, 5)
    for left in ([3, 1, 4, 0], [1, 0, 5], [4, 5], list(labels)):
        kept = restricted(from_rows(scheme(5), labels), {*left, 77})
        wanted = from_rows(scheme(len(left)), left)
        assert kept.labels == wanted.labels
        assert len(kept.rows) == len(wanted.rows) and set(as_sets(kept)) == set(as_sets(wanted))


@pytest.mark.parametrize(
    "left", [{0, 1, 2, 3, 4}, {5, 3}, {0, 5}, {1, 2, 4}, {3, 4, 2, 5}, {0, 1, 2, 3, 4, 5}]
)
def test_fewer_classes_of_a_nested_configuration(left):
    tree = parse(NESTED, "f")
    kept = restricted(tree, left)
    assert parse(format_tree(kept)).labels == kept.labels
    assert set(kept.labels) == left and kept.labels == tuple(x for x in tree.labels if x in left)
    cut = [
        (row.text, tuple(tuple(x for x in side if x in left) for side in sides))
        for row, sides in zip(tree.rows, tree.sides())
    ]
    wanted = {(text, frozenset(map(frozenset, sides))) for text, sides in cut if all(sides)}
    assert {(row.text, sides) for row, sides in zip(kept.rows, as_sets(kept))} == wanted
    depths = {0: 0}
    for number, node in enumerate(kept.nodes):
        assert node.depth == depths[number]
        depths.update((child, node.depth + 1) for child in node.children if isinstance(child, int))


def test_fewer_classes_write_the_options_out():
    tree = parse('"-c 1" 0/1; "." 0/2; "." 1/2; {7 8 9}')
    assert [row.text for row in restricted(tree, {8, 9}).rows] == ["-c 1"]
    twice = parse('"" 0/1; "" 0/1; "" 0 2/1; "-c 1" 0 2/1; {7 8 9} ')
    assert [row.text for row in restricted(twice, {7, 8}).rows] == ["", "", "-c 1"]


def test_fewer_classes_of_a_deep_chain():
    pairs = 0
    for label in range(1, 4000):
        pairs = (pairs, label)
    kept = restricted(from_pairs(pairs, range(4000)), range(0, 4000, 2))
    assert len(kept.nodes) == 1999 and kept.nodes[-1].depth == 1998
    assert restricted(kept, range(4000)) is kept


MIXED = '"-k 3" K {"" 0/1; "-c 2" 1/2; {"." {0 1} "-r 2" L {2 3} 4} "" {5 " " K {6 7}}}'


def test_layout():
    assert format_tree(parse('"-k 3" K{2 0 1}')) == '"-k 3" K {\n  2\n  0\n  1\n}\n'
    assert (
        format_tree(parse('m K "-k 3"{2 n G "a b" {0 1}}'))
        == 'm K "-k 3"\n{\n  2\n  n G "a b"\n  {\n    0\n    1\n  }\n}\n'
    )
    assert (
        format_tree(parse('"" 0/1; {"" L {0 1} 2}'))
        == '"" 0 / 1;\n{\n  "" L {\n    0\n    1\n  }\n  2\n}\n'
    )


def test_places_and_names():
    tree = parse(MIXED, "f")
    assert [
        (number, direct.learner_letter, direct.options, direct.name, direct.column)
        for number, direct in tree.directs.items()
    ] == [(0, "K", "-k 3", None, 1), (3, "L", "-r 2", None, 42), (5, "K", " ", None, 66)]
    assert node_names(tree, "m") == ["m", "m.00", "m.00.00", "m.00.01", "m.01", "m.01.01"]
    assert model_names(tree, "m") == ["m.00-00", "m.00-01", "m.00.00", "m.01"]
    assert tree.branch_labels()[0] == ((0, 1, 2, 3, 4), (5, 6, 7))
    assert tree.branch_labels()[3] == ((2,), (3,)) and tree.hierarchical
    assert not parse('m K "" {0 1 2}').hierarchical


def test_options_of_binary_classifiers_pass_through_direct_ones():
    tree = parse(MIXED)
    assert resolve_options(tree, "D") == ["D", "-c 2", "-c 2", "D"]
    with pytest.raises(ControlError, match="^f:1:7: .* the code K, found the model name 'm'"):
        resolve_options(parse('"" {0 m K "" {1 2}}', "f"))


def test_renamed():
    tree = rename_directs(rename(parse(MIXED), list("abcd")), {0: "r", 3: "s", 5: "12"})
    tree.require_names()
    again = parse(format_tree(tree))
    assert [d.name for d in again.directs.values()] == ["r", "s", "12"]
    assert [d.options for d in again.directs.values()] == ["-k 3", "-r 2", " "]
    back = rename_directs(again, dict.fromkeys(again.directs))
    back = rename(back, ["", "-c 2", ".", ""], quoted=True)
    assert format_tree(back) == format_tree(parse(MIXED))


def test_no_code_of_direct_classifiers():
    with pytest.raises(ControlError, match="^f:1:6: a classifier of code K is not binary"):
        to_code(parse('m {0 n K "" {1 2}}', "f"))
    assert code_rows(parse(MIXED)) == [
        ((0, 1), (2, 3)),
        ((2, 3), (4,)),
        ((0,), (1,)),
        ((5,), (6, 7)),
    ]


def test_classes_below_direct_classifiers_are_checked_too():
    with pytest.raises(ControlError, match="class 7 has no samples"):
        check_classes(parse(MIXED), dict.fromkeys(range(7), 5), "data")


@pytest.mark.parametrize("code", "ABCDEFHIJMNOPQRSUVWXYZ")
def test_other_letters(code):
    for text in (f'"-k 3" {code} {{0 1}}', f'm {code} "-k 3" {{0 1}}', f"m {code} {{0 1}}"):
        with pytest.raises(ControlError) as caught:
            parse(text)
        assert (
            f"no classifier with the code {code} here: expected K (k nearest"
            in caught.value.message
        )
        assert caught.value.column == text.index(code) + 1


def test_a_chain_of_direct_classifiers():
    text = "".join(f'm{i} K "" {{{i} ' for i in range(5000)) + "5000" + "}" * 5000
    tree = parse(text)
    assert len(tree.directs) == 5000 and tree.labels == tuple(range(5001))
    assert format_tree(parse(format_tree(tree))) == format_tree(tree)


def test_what_the_language_cannot_hold():
    tree = parse('m K "" {0 1}')
    direct = tree.nodes[0].direct
    for wrong in (changed(direct, name="a\nb"), changed(direct, options="a\nb")):
        with pytest.raises(UsageError, match="line break"):
            format_tree(Tree((changed(tree.nodes[0], direct=wrong),)))
