"""Text to tree and back: examples, layout, places, depth, and whatever chance finds."""

import json
import re
from pathlib import Path

from hypothesis import example, given, strategies as st
import pytest

from agfmc.control import parse as parsing, write
from agfmc.control.build import (
    for_names,
    from_pairs,
    from_rows,
    relabelled,
    rename,
    to_code,
    with_options,
)
from agfmc.control.learners import NODE_LEARNERS
from agfmc.control.parse import MAX_DEPTH, parse
from agfmc.control.tree import (
    changed,
    NodeClassifier,
    Heading,
    Leaf,
    looks_like_options,
    MAX_LABEL,
    Node,
    Row,
    Tree,
)
from agfmc.control.write import format_tree, quote_name, require_readable, tree_lines
from agfmc.core.text import name_fault
from agfmc.core.errors import ControlError, DataError, UsageError
from agfmc.models import control_files
from agfmc.models.control_files import read_control, write_control


def bare_of_places(tree):
    return Tree(
        tuple(
            changed(
                node,
                rows=tuple(changed(row, line=1, column=1) for row in node.rows),
                direct=node.direct and changed(node.direct, line=1, column=1),
                children=tuple(Leaf(c.label) if isinstance(c, Leaf) else c for c in node.children),
            )
            for node in tree.nodes
        ),
        tree.names,
        headings={keyword: Heading(heading.text) for keyword, heading in tree.headings.items()},
        roots=tree.roots,
    )


def test_layout_of_a_training_code():
    tree = from_rows([((1, 2), (0,)), ((0, 2), (1,)), ((0, 1), (2,))], range(3))
    assert format_tree(tree) == '"" 1 2 / 0;\n"" 0 2 / 1;\n"" 0 1 / 2;\n{ 0 1 2}\n'


def test_layout_of_a_training_tree():
    tree = with_options(
        relabelled(from_pairs(((0, 1), 2), range(3)), [5, 3, 9], {3: "sand", 4: "not there"}),
        "-c 1",
    )
    assert format_tree(tree) == '# class 3: sand\n"-c 1" {\n  "-c 1" {\n    5\n    3\n  }\n  9\n}\n'


def test_layout_of_trained_files_is_that_of_the_reference(segment):
    folder = segment / "models"
    paths = sorted(folder.glob("*.mbc"))
    assert len(paths) == 8
    for path in paths:
        text = path.read_text()
        tree = read_control(str(path))
        again = format_tree(tree)
        if path.stem.endswith("_lsq"):  # converted ones stand on one line there
            assert again.split() == text.replace("}", " }").split()
        else:
            assert again == text
    for path in sorted(folder.glob("*.mbt")):
        tree = read_control(str(path))
        assert format_tree(tree).split() == path.read_text().split()


def test_conversion_agrees_with_the_reference(segment):
    folder = segment / "models"
    for name in ("m_hier", "m_emp"):
        code = to_code(read_control(str(folder / f"{name}.mbc")))
        expected = read_control(str(folder / f"{name}_lsq.mbc"))
        assert bare_of_places(code) == bare_of_places(expected)


def test_places():
    tree = parse("m {\n  4\n  n 0 / 1;\n  o 1 / 0; {7 8}\n}")
    assert [(row.line, row.column) for row in tree.rows] == [(1, 1), (3, 3), (4, 3)]
    inner = tree.nodes[1].children
    assert [(leaf.label, leaf.line, leaf.column) for leaf in inner] == [(7, 4, 13), (8, 4, 15)]
    assert parse("m {0 1}", "plan.mbc").source == "plan.mbc"


def test_errors_name_the_source_as_given():
    with pytest.raises(ControlError, match=r"^plan\.mbc:2:3: expected ';'"):
        parse("m 0 / 1\n  {0 1}", "plan.mbc")


def test_files(tmp_path):
    path = str(tmp_path / "a.mbc")
    tree = changed(from_pairs((0, 1), [3, 8]), names={3: "b\u00e4r", 8: "x y"})
    write_control(path, tree)
    assert bare_of_places(read_control(path)) == bare_of_places(tree)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.mbc"]


def test_names_in_another_encoding(tmp_path):
    path = str(tmp_path / "a.mbc")
    latin = "b\udce4r"  # as Python holds the bytes b"b\xe4r"
    tree = rename(changed(from_pairs((0, 1), [0, 1]), names={0: latin}), [latin])
    write_control(path, tree)
    assert (tmp_path / "a.mbc").read_bytes() == b"# class 0: b\xe4r\nb\xe4r\n{\n  0\n  1\n}\n"
    assert bare_of_places(read_control(path)) == bare_of_places(tree)


@pytest.mark.parametrize(
    "name, text",
    [
        ("m-00", "m-00"),
        ("dir/m.00", "dir/m.00"),
        ("-m", "-m"),
        (".", "."),
        ("a#b", "a#b"),
        ("a b", '"a b"'),
        ("12", '"12"'),
        ("#m", '"#m"'),
        ("a;b", '"a;b"'),
        ('a"b', r'"a\"b"'),
        ("a\\ b", r'"a\\ b"'),
        ("- x", '"./- x"'),
        (" ", '"./ "'),
        ("\u0662", '"\u0662"'),
        ("\ufeffm", '"\ufeffm"'),
    ],
)
def test_names_are_quoted_where_they_must_be(name, text):
    assert quote_name(name) == text
    (row,) = parse(f"{text} {{0 1}}").rows
    assert row.text in (name, f"./{name}") and row.is_name


def test_names_that_the_language_cannot_hold():
    for name in ("a\nb", "a\0b"):
        with pytest.raises(UsageError, match="cannot hold .* it has a"):
            quote_name(name)
        with pytest.raises(UsageError, match="cannot hold .* it has a"):
            format_tree(with_options(from_pairs((0, 1), [0, 1]), name))


def chain_text(levels):
    return (
        "".join(f"m{i} {{" for i in range(levels))
        + "0 1}"
        + "".join(f" {i}}}" for i in range(2, levels + 1))
    )


def test_deep_chain():
    tree = parse(chain_text(3000))
    assert len(tree.nodes) == 3000 and tree.labels == tuple(range(3001))
    assert tree.nodes[-1].depth == 2999
    text = format_tree(tree)
    assert len(text) < 2**23  # the indentation does not grow with the square of the depth
    assert bare_of_places(parse(text)) == bare_of_places(tree)
    spans = tree.spans()
    assert spans[0] == ((0, 3000), (3000, 3001))
    code = to_code(tree)
    assert code.labels == tree.labels
    rows = code.nodes[0].rows
    assert rows[-1].left == (0,) and rows[-1].right == (1,) and len(rows[0].left) == 3000


@pytest.mark.long
def test_too_deep():
    parse(chain_text(MAX_DEPTH))
    with pytest.raises(ControlError, match="nested deeper than 10000 levels"):
        parse(chain_text(MAX_DEPTH + 1))


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "text",
    [
        "# class 0: x" + " " * 200_000 + "y\nm {0 1}",
        " " * 10**6 + "m {0 1}",
        "#\n" * 10**5 + "m {0 1}",
        "m {" * 9000,
        '"' + "\\" * 200_001,
        "m 0 /" + " 0" * 100_000,
        '"' * 100_001,
        "{" * 10**5,
        "}" * 10**5,
        "/" * 10**5,
        "m 0/1;" * 20_000,
    ],
    ids=range(11),
)
def test_no_text_takes_long(text):
    # each of these would take minutes where the work grows with the square of the text
    try:
        parse(text)
    except ControlError as error:
        assert "\n" not in str(error) and len(str(error)) < 300


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\n\0"), min_size=1, max_size=8)
OPTIONS = st.one_of(
    st.sampled_from(["", " ", ".", "-c 1", '-x "a b" \\', "-g 0.5  -c 2"]),
    NAMES.map(lambda text: "-" + text),
)
OF_DIRECTS = st.one_of(st.sampled_from(["", " ", "-k 3", 'a "b" \\', "\\", '"']), NAMES)


@st.composite
def trees(draw, kinds=("bare", "matrix", "direct")):
    """Any mixture of trees, matrices and multi-class nodes, in the writer's own form."""
    first = draw(st.lists(st.integers(0, MAX_LABEL), max_size=20, unique=True))
    labels = iter([*first, *(label for label in range(4000) if label not in first)])
    training = draw(st.booleans())
    nodes, used = [], []

    def name():
        return draw(NAMES.filter(lambda text: not looks_like_options(text)))

    def row(left, right):
        if training:
            return Row(draw(OPTIONS), True, left, right)
        text = name()
        return Row(text, quote_name(text).startswith('"'), left, right)

    def grow(depth):
        number = len(nodes)
        nodes.append(None)
        kind = draw(st.sampled_from(kinds))
        count = 2 if kind == "bare" else draw(st.integers(2, 4))
        rows, direct = [], None
        if kind == "direct":
            direct = NodeClassifier(
                draw(st.sampled_from(sorted(NODE_LEARNERS))),
                draw(OF_DIRECTS),
                None if training else name(),
            )
        elif kind == "bare":
            rows = [row((0,), (1,))]
        else:
            for i in range(1, count):  # one child against another, and any others on its side
                others = draw(st.lists(st.integers(0, count - 1), max_size=3, unique=True))
                other = draw(st.integers(0, i - 1))
                sides = [(i, *(j for j in others if j not in (i, other))), (other,)]
                rows.append(row(*(sides if draw(st.booleans()) else sides[::-1])))
        children = []
        for _ in range(count):
            if depth < 3 and draw(st.integers(0, 3)) == 0:
                children.append(grow(depth + 1))
            else:
                used.append(next(labels))
                children.append(Leaf(used[-1]))
        nodes[number] = Node(tuple(rows), tuple(children), kind == "bare", depth, direct)
        return number

    grow(0)
    named = draw(st.lists(st.sampled_from(used), max_size=2))
    names = draw(
        st.lists(
            NAMES.filter(lambda name: not name_fault(name)),
            min_size=len(named),
            max_size=len(named),
            unique=True,
        )
    )
    headings = {
        "options": st.sampled_from(["-c 1", "learner=linear", '-x "a # \\ ß']),
        "decoder": st.sampled_from(["full", "loss:hinge"]),
        "normalisation": st.sampled_from(["m.std", "../a b/ß", "none", "./none"]),
    }
    return Tree(
        tuple(nodes),
        dict(zip(named, names)),
        headings={
            keyword: Heading(draw(text))
            for keyword, text in headings.items()
            if draw(st.booleans())
        },
    )


@given(trees())
def test_what_is_written_is_read(tree):
    text = format_tree(tree)
    assert bare_of_places(parse(text)) == tree and format_tree(parse(text)) == text
    if not tree.names and not tree.headings:
        assert bare_of_places(parse(" ".join(text.split("\n")))) == tree


@given(
    trees(),
    st.sampled_from(
        [
            ("MAX_CELLS", (2, 30)),
            ("MAX_SIDES", (2, 60)),
            ("MAX_DEPTH", (1, 4)),
            ("MAX_TEXT", (6, 200)),
        ]
    ),
    st.data(),
)
def test_what_could_not_be_read_again_is_not_written(tree, limit, data):
    """The writer refuses what the reader refuses, and nothing else."""
    name, span = limit
    largest = data.draw(st.integers(*span))
    with pytest.MonkeyPatch.context() as patch:
        for module in (parsing, write, control_files):
            if hasattr(module, name):
                patch.setattr(module, name, largest)
        refused = []
        for call in (
            lambda: control_files.read_control("x", format_tree(tree).encode("utf-8")),
            lambda: require_readable(tree),
        ):
            try:
                call()
            except ControlError as error:
                refused.append(str(error))
    assert len(refused) in (0, 2), refused
    if refused:
        assert refused[1].startswith("the control file would be too large to be read again: ")


@given(trees(("bare", "matrix")))
def test_a_tree_and_its_code_have_the_same_classifiers(tree):
    code = to_code(tree)
    assert not code.hierarchical and code.labels == tree.labels
    assert code.sides() == tree.sides()


CLASS_WORDS = st.one_of(
    st.sampled_from(
        ["K", "Adelie", "3rd", "a/b", "12", "/", "a b", "\u00e4", "-x", ".", "#a", "m{"]
    ),
    st.text(min_size=1, max_size=5).filter(lambda name: name_fault(name) is None),
)


@given(trees(), st.data())
def test_what_is_written_by_name_is_read(tree, data):
    if not all(row.quoted for row in tree.rows) or any(d.name for d in tree.directs.values()):
        with pytest.raises(ControlError, match="is this file trained already"):
            list(tree_lines(tree, by_name=True))
        return
    labels = tree.classes
    words = data.draw(
        st.lists(CLASS_WORDS, min_size=len(labels), max_size=len(labels), unique=True)
    )
    named = changed(tree, names=dict(zip(labels, words)))
    try:
        text = "".join(tree_lines(named, by_name=True))
    except UsageError as error:
        assert "in place of a label" in str(error)
        assert any(map(looks_like_options, words))
        return
    read = bare_of_places(parse(text))
    assert set(read.names.values()) == set(words)
    assert for_names(read, named.names) == named


def test_classes_by_name():
    tree = parse('"" Adelie / Chinstrap Gentoo;\n"" "Adelie" / Gentoo; {Gentoo Chinstrap Adelie}')
    assert tree.names == {0: "Adelie", 1: "Chinstrap", 2: "Gentoo"}
    assert tree.labels == (2, 1, 0)
    assert [(row.left, row.right) for row in tree.rows] == [((2,), (1, 0)), ((2,), (0,))]
    tree = parse('"" { Gentoo "" {Adelie Chinstrap} }')
    assert format_tree(tree).split("\n")[3:] == [
        '"" {',
        "  2",
        '  "" {',
        "    0",
        "    1",
        "  }",
        "}",
        "",
    ]
    assert "".join(tree_lines(tree, by_name=True)) == (
        '"" {\n  Gentoo\n  "" {\n    Adelie\n    Chinstrap\n  }\n}\n'
    )


def test_labels_of_names_are_those_of_comments_or_of_the_data():
    tree = parse('# class 5: b\n# class 2: a\n# class 9: c\n"" a / b; {a b}')
    assert tree.names == {5: "b", 2: "a"} and tree.labels == (2, 5)
    assert for_names(tree, {0: "b", 1: "a"}).labels == (1, 0)
    assert for_names(tree, {0: "c", 1: "other"}) is tree
    # a class that the data lack is none of theirs
    assert for_names(tree, {0: "b", 1: "other"}).labels == (2, 0)
    assert for_names(tree, {0: "b", 1: "other"}).names == {0: "b", 2: "a"}
    nested = parse('"" x / B2 B1; {x m {B1 B2}}')  # both are in one branch
    assert nested.nodes[0].rows[0].right == (1,)


@pytest.mark.parametrize(
    "text, told",
    [
        ('"" Adelie / 1; {Adelie Gentoo}', "position 1 stands beside class 'Adelie'"),
        ('"" Adele / Gentoo; {Adelie Gentoo}', "no class 'Adele' in the braces of its partition"),
        ('"" a / b; {0 1}', "they hold labels and no names"),
        ('"" {0 Gentoo}', "class 'Gentoo' stands beside class '0'"),
        ('# class 1: a\n"" {a b}', "class 'b' has no '# class' line: there are those of a"),
        ('"" {a a}', "class a is listed twice"),
        ('"" {a " b"}', "' b' cannot be the name of a class"),
        ('"" x / y; {x m {y z}}', "class 'z' is in one branch with others"),
        ('"" x y / z; {x m {y z}}', "class 'z' is in one branch with others"),
    ],
)
def test_names_that_cannot_be_meant(text, told):
    with pytest.raises(ControlError, match=re.escape(told)):
        parse(text)


TOKENS = st.sampled_from(
    [
        "Gentoo",
        '"',
        "{",
        "}",
        "/",
        ";",
        " ",
        "\n",
        "0",
        "1",
        "2",
        "m",
        '"-c 1"',
        "#",
        "\\",
        "\r",
        "\ufeff",
        "K",
        "L",
        "A",
        '"-k 3"',
        '"m n"',
        " 0 / 1;",
        "{0 1}",
        "m ",
        "# class 1: x\n",
        "# options: -c 1\n",
        "# decoder: full\n",
        "# options: ",
        "9" * 11,
        "m {0 1}",
        "# weights: 1 2\n",
    ]
)


@given(st.one_of(st.text(max_size=60), st.lists(TOKENS, max_size=25).map("".join)))
def test_any_text_parses_or_is_a_control_error(text):
    try:
        tree = parse(text)
    except ControlError as error:
        assert error.line and error.column and "\n" not in str(error)
    else:
        assert bare_of_places(parse(format_tree(tree))) == bare_of_places(tree)


@given(st.binary(max_size=80))
@example(b"\x1f\x8b")  # the beginning of gzip
def test_any_bytes_parse_or_are_an_error_of_the_file(tmp_path_factory, raw):
    path = tmp_path_factory.getbasetemp() / "any.mbc"
    path.write_bytes(raw)
    try:
        read_control(str(path))
    except (ControlError, DataError) as error:
        assert str(error).startswith(f"{path}:")


def test_a_place_without_a_file_is_not_told():
    """In a design that was made here, and that nobody can look at."""
    assert str(ControlError("class 9 has one sample", line=1, column=1)) == "class 9 has one sample"
    assert str(ControlError("x", file="-", line=1, column=2)) == "standard input:1:2: x"


DATA = Path(__file__).resolve().parents[2] / "data" / "control"
VALID = sorted([*(DATA / "valid").glob("*.mbc"), *(DATA / "valid").glob("*.mbt")])
INVALID = sorted((DATA / "invalid").glob("*.mbt"))


def plain(tree, number=0):
    node = tree.nodes[number]
    found = {
        "rows": [[row.text, list(row.left), list(row.right)] for row in node.rows],
        "bare": node.bare,
        "children": [
            child.label if isinstance(child, Leaf) else plain(tree, child)
            for child in node.children
        ],
    }
    if node.direct is not None:
        found["direct"] = [node.direct.name, node.direct.learner_letter, node.direct.options]
    return found


def test_the_corpora_are_there():
    assert len(VALID) >= 30 and len(INVALID) >= 45


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_valid(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    tree = read_control(str(path))
    assert plain(tree) == expected["tree"]
    assert {str(label): name for label, name in tree.names.items()} == expected["names"]
    assert [row.quoted for row in tree.rows] == expected["quoted"]


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_valid_files_are_written_and_read_again(path):
    tree = read_control(str(path))
    text = format_tree(tree)
    again = parse(text)
    assert plain(again) == plain(tree) and again.names == tree.names
    assert format_tree(again) == text


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.name)
def test_invalid(path):
    with pytest.raises(ControlError) as caught:
        read_control(str(path))
    assert str(caught.value) == f"{path}:{path.with_suffix('.error').read_text().rstrip()}"
    assert "\n" not in str(caught.value)
