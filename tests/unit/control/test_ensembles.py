"""Several configurations in one control file: text, meaning, and the trees made of them."""

import pickle

from hypothesis import given, strategies as st
import pytest

from agfmc.control.build import (
    from_pairs,
    joined,
    relabelled,
    rename,
    resolve_options,
    restricted,
    to_code,
    with_heading,
)
from agfmc.control.parse import MAX_MEMBERS, parse
from agfmc.control.tree import (
    changed,
    Heading,
    Leaf,
    model_names,
    Node,
    node_names,
    Row,
    shares,
    Tree,
)
from agfmc.control.write import format_tree, require_readable
from agfmc.core.errors import ControlError, UsageError

TEXT = (
    "# options: -c 5\n# weights: 1 2 1\n# class 7: sand\n"
    '"" {"-c 9" {7 8} 9}\n"." 0 / 1 2; "" 1 / 2; {9 7 8} "-k 3" K {8 7 9}'
)
CODED = '"" {"-c 9" {7 8} 9}\n"." 0 / 1 2; "-c 2" 1 / 2; {9 7 8}'


@st.composite
def ensembles(draw, kinds=("bare", "matrix", "direct"), least=2):
    """An ensemble of up to four random configurations over three to six classes."""
    labels = draw(st.permutations([4, 0, 7, 3, 11, 9]))[: draw(st.integers(3, 6))]
    nodes, roots = [], []

    def member(own, depth):
        number = len(nodes)
        nodes.append(None)
        kind = draw(st.sampled_from(kinds))
        count = 2 if kind == "bare" else draw(st.integers(2, len(own)))
        ends = [0, *sorted(draw(st.permutations(range(1, len(own))))[: count - 1]), len(own)]
        children = tuple(
            Leaf(own[a]) if b == a + 1 else member(own[a:b], depth + 1)
            for a, b in zip(ends, ends[1:])
        )
        rows, direct = [], None
        if kind == "direct":
            direct = parse('"-k 2" K {0 1}').nodes[0].direct
        for i in range(1, count if kind != "direct" else 0):
            sides = [(i,), (draw(st.integers(0, i - 1)),)]
            rows.append(
                Row(
                    draw(st.sampled_from(["", ".", "-c 1"])),
                    True,
                    *(sides if draw(st.booleans()) and kind != "bare" else sides[::-1]),
                )
            )
        nodes[number] = Node(tuple(rows), children, kind == "bare", depth, direct)
        return number

    for _ in range(draw(st.integers(least, 4))):
        roots.append(member(draw(st.permutations(labels)), 0))
    headings = {"options": Heading("-c 4")} if draw(st.booleans()) else {}
    if draw(st.booleans()) and len(roots) > 1:
        headings["weights"] = Heading(" ".join(["0.25", "3", "1e-3", "7"][: len(roots)]))
    return Tree(tuple(nodes), {labels[0]: "sand"}, None, headings, tuple(roots))


def plain(tree):
    """The tree without its places."""
    return changed(
        tree,
        source=None,
        headings={word: Heading(heading.text) for word, heading in tree.headings.items()},
        nodes=tuple(
            changed(
                node,
                rows=tuple(row._replace(line=1, column=1) for row in node.rows),
                direct=node.direct and changed(node.direct, line=1, column=1),
                children=tuple(Leaf(c.label) if isinstance(c, Leaf) else c for c in node.children),
            )
            for node in tree.nodes
        ),
    )


def test_members():
    tree = parse(TEXT, "f")
    assert tree.is_ensemble and tree.hierarchical and tree.roots == (0, 2, 3)
    assert tree.labels == (7, 8, 9) and tree.weights == (0.25, 0.5, 0.25)
    assert tree.sides() == [((7, 8), (9,)), ((7,), (8,)), ((9,), (7, 8)), ((7,), (8,))]
    assert tree.branch_labels()[2:] == [((9,), (7,), (8,)), ((8,), (7,), (9,))]
    assert tree.spans()[2:] == (((0, 1), (1, 2), (2, 3)),) * 2
    one, two, three = tree.members
    assert one.nodes == tree.nodes[:2] and [part.labels for part in (two, three)] == [
        (9, 7, 8),
        (8, 7, 9),
    ]
    assert not one.is_ensemble and one.members == (one,) and one.weights == (1.0,)
    assert one.options == "-c 5" and one.names == {7: "sand"} and "weights" not in one.headings
    assert list(tree.directs) == [3] and three.place(three.nodes[0].direct) == ("f", 5, 32)
    assert pickle.loads(pickle.dumps(tree)) == tree


def test_layout():
    assert (
        format_tree(parse("# weights: .5 .5\nm {0 1} n 0 / 1; {1 0}"))
        == "# weights: .5 .5\nm\n{\n  0\n  1\n}\n\nn 0 / 1;\n{\n  1\n  0\n}\n"
    )


def test_names_of_models():
    tree = parse('"" {"" {7 8} 9} "" 0 / 1 2; "" 1 / 2; {9 7 8} "" K {8 7 9}')
    assert node_names(tree, "m") == ["m.e00", "m.e00.00", "m.e01", "m.e02"]
    assert model_names(tree, "m") == ["m.e00", "m.e00.00", "m.e01-00", "m.e01-01"]


def test_long_names_are_numbers():
    chain = 0
    for label in range(1, 60):
        chain = (chain, label)
    deep = from_pairs(chain, range(60))
    names = node_names(joined([deep, deep]), "m")
    assert names[:2] == ["m.n0000", "m.n0001"] and len(set(names)) == 118
    assert max(map(len, names)) == 7


def test_last_options_do_not_reach_into_another_member():
    assert resolve_options(parse(TEXT)) == ["-c 5", "-c 9", "-c 5", "-c 5"]
    assert resolve_options(parse(TEXT), "-c 1") == ["-c 1", "-c 9", "-c 1", "-c 1"]


def test_one_coding_matrix_of_all_members():
    code = to_code(parse(f"# decoder: average\n# weights: 1 2\n{CODED}"))
    assert format_tree(code) == '"" 0 1 / 2;\n"-c 9" 0 / 1;\n"" 2 / 0 1;\n"-c 2" 0 / 1;\n{ 7 8 9}\n'


@given(ensembles())
def test_what_is_written_is_read(tree):
    text = format_tree(tree)
    assert plain(parse(text)) == tree and format_tree(parse(text)) == text
    require_readable(tree)
    assert plain(joined(tree.members)) == changed(
        tree, headings={word: tree.headings[word] for word in tree.headings if word == "options"}
    )


@given(ensembles(("bare", "matrix")))
def test_an_ensemble_and_its_code_have_the_same_classifiers(tree):
    code = to_code(tree)
    assert not code.hierarchical and code.labels == tree.labels and "weights" not in code.headings
    assert list(map(sides_of, code.sides())) == list(map(sides_of, tree.sides()))
    assert tree.sides() == [pair for part in tree.members for pair in part.sides()]
    texts = [text for part in tree.members for text in resolve_options(part)]
    assert resolve_options(tree) == texts == resolve_options(code)


def sides_of(pair):
    return tuple(map(frozenset, pair))


@given(ensembles())
def test_fewer_classes_are_left_out_of_each_member(tree):
    keep = sorted(tree.labels)[:-1]
    if len(keep) < 2:
        return
    try:
        fewer = restricted(tree, keep)
    except ControlError as error:
        assert "is in no partition" in str(error)
        return
    assert [plain(part).nodes for part in fewer.members] == [
        plain(restricted(part, keep)).nodes for part in tree.members
    ]
    assert fewer.weights == tree.weights and plain(parse(format_tree(fewer))) == plain(fewer)


def test_other_labels():
    tree = relabelled(parse('"" {0 1} "" {1 0}'), [5, 3], {5: "sand"})
    assert tree.sides() == [((5,), (3,)), ((3,), (5,))] and tree.names == {5: "sand"}


def test_joined():
    one, two = parse('# options: -c 1\n"" {0 1}'), parse('# decoder: full\n# class 1: a\n"." {1 0}')
    both = joined([one, two])
    assert format_tree(both) == '# class 1: a\n"-c 1" {\n  0\n  1\n}\n\n"." {\n  1\n  0\n}\n'
    weighted = with_heading(both, "weights", "3 1")
    whole = joined([weighted, one, weighted])
    assert whole.roots == tuple(range(5))
    assert whole.headings["weights"].text == "0.75 0.25 1.0 0.75 0.25"
    same = joined([with_heading(tree, "decoder", "geometric") for tree in (one, one)])
    assert (same.options, same.decoder, same.roots) == ("-c 1", "geometric", (0, 1))
    trained = rename(both, ["a", "b"])
    assert [row.text for row in joined([trained, trained]).rows] == ["a", "b", "a", "b"]
    assert joined([one]) is one


@pytest.mark.parametrize(
    "text, message",
    [
        ('"" {0 2}', "f: has class 2, unlike the first configuration"),
        ('# class 0: b\n"" {0 1}', "f: class 0 is 'b', in a configuration before it 'a'"),
        ('# class 1: a\n"" {0 1}', "f: two classes, 1 and 0, have the same name, 'a'"),
    ],
)
def test_trees_that_are_no_ensemble(text, message):
    with pytest.raises(ControlError) as caught:
        joined([parse('# class 0: a\n"" {0 1}'), parse(text, "f")])
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(message)


def test_no_trees():
    with pytest.raises(UsageError, match="at least one configuration"):
        joined([])


def test_what_is_no_tree():
    for trees, names in (([parse('"" {0 1}'), '"" {0 1}', 0], "int, str"), ([7], "int")):
        with pytest.raises(UsageError, match=f"made of control trees, .* not of {names}$"):
            joined(trees)
    assert joined(parse('"" {0 1}')) == parse('"" {0 1}')


@pytest.mark.parametrize("text", ["1", "1 2 3", "0 0", "a b"])
def test_weights_that_do_not_fit(text):
    with pytest.raises(UsageError, match="# weights:"):
        with_heading(parse('"" {0 1} "" {1 0}'), "weights", text)


@pytest.mark.long
def test_many_members():
    text = "".join(f"m{i} {{0 1}}\n" for i in range(MAX_MEMBERS))
    tree = parse(text)
    assert len(tree.roots) == MAX_MEMBERS and tree.labels == (0, 1)
    assert len(tree.members) == MAX_MEMBERS and len(tree.sides()) == MAX_MEMBERS
    with pytest.raises(ControlError, match=f"may have {MAX_MEMBERS} configurations at most"):
        parse(f"{text} m {{0 1}}")
    with pytest.raises(ControlError, match=f"more than {MAX_MEMBERS} configurations"):
        require_readable(joined([tree, parse("m {0 1}")]))


@pytest.mark.parametrize(
    "text, numbers",
    [
        ("1 3", (0.25, 0.75)),
        (".5 +5e-1", (0.5, 0.5)),
        ("1e308 1e308", (0.5, 0.5)),
        ("0 2", (0, 1)),
        ("5e-324 5e-324", (0.5, 0.5)),
        ("", None),
        ("0 0", None),
        ("1 -1", None),
        ("1 nan", None),
        ("nan 1", None),
        ("inf 1", None),
        ("1_0 1", None),
        ("1, 2", None),
        ("\u0661 1", None),
    ],
)
def test_weights(text, numbers):
    assert shares(text) == numbers


@pytest.mark.parametrize("text", ["nan 1", "1 nan", "inf 1", "0.5 O.5", "-Inf 1"])
def test_weights_that_are_no_numbers(text):
    with pytest.raises(ControlError, match="expected numbers after '# weights:'"):
        parse(f'# weights: {text}\n"" {{0 1}} "" {{1 0}}')


@pytest.mark.parametrize("line", ["# weights: of the classes", "# Weights: 1 2", "# weight: 1 2"])
def test_what_is_nearly_a_line_of_weights_is_a_comment(line):
    with pytest.warns(match="is taken as a comment"):
        assert not parse(f"{line}\nm {{0 1}} n {{0 1}}").headings
