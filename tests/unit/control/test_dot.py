"""Graphviz text of control trees; where Graphviz is installed, what it makes of it."""

import re
import shutil
import subprocess
import sys
from html import unescape

import pytest
from hypothesis import given, strategies as st

from agfmc.control.build import from_pairs, from_rows, with_options
from agfmc.control.graphviz import format_dot
from agfmc.control.parse import parse
from agfmc.control.tree import changed

AWKWARD = [
    'a "b"',
    "\\",
    "\\N",
    "\\n \\l \\\\ \\",
    "<b>&amp;</b>",
    "x & y",
    "日本",
    "{a|b}",
    "%s",
    "l1\nl2",
    " ",
    "",
    "$x_1$",
    "\udcff",
    "\x01",
    "]]>",
    "--></table>",
]


def texts_of(dot):
    """All texts that Graphviz draws for `dot`."""
    if shutil.which("dot") is None:
        pytest.skip("no Graphviz here")
    run = subprocess.run(["dot", "-Tsvg"], input=dot.encode(), capture_output=True, timeout=60)
    assert run.returncode == 0 and not run.stderr, run.stderr.decode()
    return [
        unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", run.stdout.decode())
    ]


def test_tree():
    text = format_dot(parse('# class 2: late\n"" {"-c 2" {4 2} 0}'))
    assert text.startswith("digraph control {\n") and text.endswith("}\n")
    assert re.findall(r'(n\d|c\d) \[shape=(\w+).*label=("[^"]*")', text) == [
        ("n0", "circle", '""'),
        ("c0", "box", '"0"'),
        ("n1", "ellipse", '"-c 2"'),
        ("c4", "box", '"4"'),
        ("c2", "box", '"late"'),
    ]
    assert re.findall(r'(\w+) -> (\w+) \[label=" ([^"]*)"\]', text) == [
        ("n0", "n1", "-1"),
        ("n0", "c0", "+1"),
        ("n1", "c4", "-1"),
        ("n1", "c2", "+1"),
    ]


def test_matrix():
    text = format_dot(parse("m-00 0 / 1 2; m-01 2 / 0; {7 5 3}"))
    rows = re.findall(r"<tr>(.*)</tr>", text)
    cells = [
        [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>.*?</td>", row)]
        for row in rows
    ]
    assert cells == [["m-00", "-", "+", "+"], ["m-01", "+", "", "-"], ["", "7", "5", "3"]]
    assert "->" not in text
    untrained = format_dot(from_rows([((0,), (1,))], [0, 1]))
    assert untrained.count("<td") == 4  # no column of names


def test_mixtures():
    text = format_dot(parse('"" 0 / 1; "." 1 / 2; {"-k 3" K {0 4} m {1 a 0/1; b 1/2; {2 5 6}} 3}'))
    assert re.findall(r"(n\d[:\w]*) -> (\w+)", text) == [
        ("n0:b0:s", "n1"),
        ("n0:b1:s", "n2"),
        ("n1", "c0"),
        ("n1", "c4"),
        ("n2", "c1"),
        ("n2", "n3"),
    ]
    assert "K: k nearest neighbours\\n-k 3" in text
    assert ">2 classes<" in text and ">4 classes<" in text
    assert "L: multinomial logistic regression\\nm\\n-r 2" in format_dot(parse('m L "-r 2" {0 1}'))


@pytest.mark.few(8)
@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_texts(name):
    shown = re.sub("[\x01\udcff]", "\ufffd", name)
    pairs = with_options(changed(from_pairs((0, 1), [0, 1]), names={1: name}), name)
    matrix = with_options(from_rows([((0,), (1,))], [0, 1], {1: name}), name)
    for tree in (pairs, matrix):
        texts = texts_of(format_dot(tree))
        for line in shown.split("\n"):
            if line.strip():
                assert texts.count(line) == 2  # as a class, and as options


@given(st.lists(st.text(max_size=8), min_size=2, max_size=4))
def test_quotes_and_brackets_balance(names):
    named = dict(enumerate(names))
    rows = [((i,), (i + 1,)) for i in range(len(names) - 1)]
    text = format_dot(with_options(from_rows(rows, range(len(names)), named), names[0]))
    inside = text[text.index("<table") : text.rindex(">];")]
    left = re.sub(r"</?(table|tr|td|br/?)( [^<>]*)?>|&(amp|lt|gt|#160);", "", inside)
    assert not set(left) & set("<>&")
    pair = with_options(changed(from_pairs((0, 1), [0, 1]), names=named), names[0])
    for line in format_dot(pair).splitlines()[4:-1]:
        assert len(re.findall(r'(?<!\\)(?:\\\\)*"', line)) % 2 == 0
    format_dot(pair).encode()


def test_a_long_chain_and_long_texts():
    pairs = 0
    for i in range(1, 3000):
        pairs = (pairs, i)
    text = format_dot(from_pairs(pairs, range(3000)))
    assert text.count(" -> ") == 2 * 2999
    wide = with_options(from_pairs((0, 1), [0, 1]), "-c " + "1" * 500)
    assert "1..." in format_dot(wide) and max(map(len, format_dot(wide).splitlines())) < 200


def test_big_matrices_are_drawn():
    rows = [((i,), (j,)) for i in range(26) for j in range(i + 1, 26)]
    texts = texts_of(format_dot(from_rows(rows, range(26))))
    assert texts.count("+") == texts.count("-") == 325


def test_same_text_twice_and_nothing_heavy():
    tree = parse('"" {0 1}')
    assert format_dot(tree) == format_dot(changed(tree, source="elsewhere"))
    code = (
        "import sys, agfmc.control.graphviz; "
        "sys.exit(any(m in sys.modules for m in ('numpy', 'scipy', 'resvg_py')))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
