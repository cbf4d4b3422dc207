"""Direct classifiers in control files: what they mean, and text to tree and back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agfmc.control.build import (check_classes, code_rows, rename, rename_directs,
                                 resolve_options, to_code)
from agfmc.control.parse import parse
from agfmc.control.learners import NODE_LEARNERS
from agfmc.control.tree import (changed, Direct, Leaf, looks_like_options, model_names, Node,
                                node_names, Row, Tree)
from agfmc.control.write import format_tree, quote_name
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


def test_files_of_either_kind_say_what_they_are():
    with pytest.raises(ControlError, match=r"^f:1:5: expected the name of a model before the code "
                                           r"L: train this"):
        parse('m { "" L {0 1} 2}', "f").require_names()
    with pytest.raises(ControlError, match="expected options in double quotes and the code K"):
        parse('m K "-k 3" {0 1}').require_options()
    with pytest.raises(ControlError, match="expected options in double quotes and the code K"):
        parse("m K {0 1}").require_options()
    parse('m K "-k 3" {0 1}').require_names()
    parse("m K {0 1}").require_names()
    parse('"-k 3" K {0 1}').require_options()


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


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\n\0"), min_size=1, max_size=8)
OPTIONS = st.one_of(st.sampled_from(["", " ", "-k 3", 'a "b" \\', "\\", '"']), WORDS)


@st.composite
def trees(draw):
    """Mixtures of direct classifiers, bare ones and coding matrices, in the writer's own form."""
    training, nodes, labels = draw(st.booleans()), [], iter(range(10_000))

    def name():
        return draw(WORDS.filter(lambda text: not looks_like_options(text)))

    def row(left, right):
        text = draw(st.sampled_from(["", ".", "-c 1"])) if training else name()
        return Row(text, training or quote_name(text).startswith('"'), left, right)

    def grow(depth):
        number = len(nodes)
        nodes.append(None)
        kind = draw(st.sampled_from(["direct", "direct", "bare", "matrix"]))
        count = 2 if kind == "bare" else draw(st.integers(2, 4))
        rows, direct = (), None
        if kind == "direct":
            direct = Direct(draw(st.sampled_from(sorted(NODE_LEARNERS))), draw(OPTIONS),
                            None if training else name())
        elif kind == "bare":
            rows = (row((0,), (1,)),)
        else:
            rows = tuple(row((i,), (i - 1,)) for i in range(1, count))
        children = []
        for _ in range(count):
            children.append(grow(depth + 1) if depth < 3 and draw(st.integers(0, 2)) == 0
                            else Leaf(next(labels)))
        nodes[number] = Node(rows, tuple(children), kind == "bare", depth, direct)
        return number

    grow(0)
    return Tree(tuple(nodes))


def bare_of_places(tree):
    return Tree(tuple(changed(
        node, rows=tuple(changed(row, line=1, column=1) for row in node.rows),
        direct=node.direct and changed(node.direct, line=1, column=1),
        children=tuple(Leaf(c.label) if isinstance(c, Leaf) else c for c in node.children))
        for node in tree.nodes), tree.names)


@given(trees())
@settings(max_examples=150, deadline=None)
def test_every_tree_is_read_as_it_was_written(tree):
    text = format_tree(tree)
    assert bare_of_places(parse(text)) == tree
    assert format_tree(parse(text)) == text
    assert bare_of_places(parse(" ".join(text.split("\n")))) == tree


@given(st.lists(st.sampled_from(['"-k 3"', '""', "m", '"m n"', "K", "L", "G", "A", "{", "}", "0",
                                 "1", "2", "/", ";", "#\n", '"']), max_size=14))
@settings(max_examples=400, deadline=None)
def test_any_words_are_read_or_refused(words):
    try:
        tree = parse(" ".join(words))
    except ControlError as error:
        assert error.line and error.column and "\n" not in str(error)
    else:
        assert bare_of_places(parse(format_tree(tree))) == bare_of_places(tree)
