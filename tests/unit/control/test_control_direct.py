"""Multi-class nodes in control files: what they mean, and text to tree and back."""

import pytest

from agfmc.control.build import (check_classes, code_rows, rename, rename_directs,
                                 resolve_options, to_code)
from agfmc.control.parse import parse
from agfmc.control.tree import changed, model_names, node_names, Tree
from agfmc.control.write import format_tree
from agfmc.errors import ControlError, UsageError

MIXED = '"-k 3" K {"" 0/1; "-c 2" 1/2; {"." {0 1} "-r 2" L {2 3} 4} "" {5 " " K {6 7}}}'


def test_layout():
    assert format_tree(parse('"-k 3" K{2 0 1}')) == '"-k 3" K {\n  2\n  0\n  1\n}\n'
    assert format_tree(parse('m K "-k 3"{2 n G "a b" {0 1}}')) == \
        'm K "-k 3"\n{\n  2\n  n G "a b"\n  {\n    0\n    1\n  }\n}\n'
    assert format_tree(parse('"" 0/1; {"" L {0 1} 2}')) == \
        '"" 0 / 1;\n{\n  "" L {\n    0\n    1\n  }\n  2\n}\n'


def test_places_and_names():
    tree = parse(MIXED, "f")
    assert [(number, d.code, d.options, d.name, d.column) for number, d in tree.directs.items()] \
        == [(0, "K", "-k 3", None, 1), (3, "L", "-r 2", None, 42), (5, "K", " ", None, 66)]
    assert node_names(tree, "m") == ["m", "m.00", "m.00.00", "m.00.01", "m.01", "m.01.01"]
    assert model_names(tree, "m") == ["m.00-00", "m.00-01", "m.00.00", "m.01"]
    assert tree.branch_labels()[0] == ((0, 1, 2, 3, 4), (5, 6, 7))
    assert tree.branch_labels()[3] == ((2,), (3,))
    assert tree.hierarchical
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
        ((0, 1), (2, 3)), ((2, 3), (4,)), ((0,), (1,)), ((5,), (6, 7))]


def test_classes_below_direct_classifiers_are_checked_too():
    with pytest.raises(ControlError, match="class 7 has no samples"):
        check_classes(parse(MIXED), dict.fromkeys(range(7), 5), "data")


@pytest.mark.parametrize("code", "ABCDEFHIJMNOPQRSTUVWXYZ")
def test_other_letters(code):
    for text in (f'"-k 3" {code} {{0 1}}', f'm {code} "-k 3" {{0 1}}', f"m {code} {{0 1}}"):
        with pytest.raises(ControlError) as caught:
            parse(text)
        assert f"no classifier with the code {code} here: expected K (k nearest" in \
            caught.value.message
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
