"""The language by example: every valid file with its tree, every invalid one with its error."""

import json
from pathlib import Path

import pytest

from agfmc.control.parse import parse
from agfmc.control.tree import Leaf
from agfmc.control.write import format_tree
from agfmc.errors import ControlError
from agfmc.formats.controlfile import read_control

DATA = Path(__file__).resolve().parents[2] / "data" / "control"
VALID = sorted([*(DATA / "valid").glob("*.mbc"), *(DATA / "valid").glob("*.mbt")])
INVALID = sorted((DATA / "invalid").glob("*.mbt"))


def plain(tree, number=0):
    node = tree.nodes[number]
    found = {"rows": [[row.text, list(row.left), list(row.right)] for row in node.rows],
            "bare": node.bare,
            "children": [child.label if isinstance(child, Leaf) else plain(tree, child)
                         for child in node.children]}
    if node.direct is not None:
        found["direct"] = [node.direct.name, node.direct.code, node.direct.options]
    return found


def test_the_corpora_are_there():
    assert len(VALID) >= 30
    assert len(INVALID) >= 45


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
    assert plain(again) == plain(tree)
    assert again.names == tree.names
    assert format_tree(again) == text


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.name)
def test_invalid(path):
    with pytest.raises(ControlError) as caught:
        read_control(str(path))
    assert str(caught.value) == f"{path}:{path.with_suffix('.error').read_text().rstrip()}"
    assert "\n" not in str(caught.value)
