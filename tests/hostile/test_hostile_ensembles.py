"""Ensembles that are deep, many, or of members that do not belong together."""

import sys

import numpy as np
import pytest
from hostile_readers import LINEAR

from agfmc.control import parse as parsing
from agfmc.control.build import to_code
from agfmc.control.graphviz import format_dot
from agfmc.control.parse import MAX_DEPTH, parse
from agfmc.control.tree import model_names
from agfmc.control.write import format_tree, require_readable
from agfmc.core.errors import ControlError
from agfmc.learners.protocol import distinct, plan_jobs

MANY = 3000


def chain(depth, head='""'):
    return f"{head} {{\n" * depth + "0 " + "\n".join(f"{i} }}" for i in range(1, depth + 1)) + "\n"


def refused(text, message):
    with pytest.raises(ControlError) as caught:
        parse(text, "f")
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.long
def test_two_of_the_deepest_trees_separate_too_many_labels():
    text = chain(MAX_DEPTH)
    refused(text * 2, "there may be 67108864 at most")
    deep = parse(chain(1000) * 2)
    names = model_names(deep, "m")
    assert len(set(names)) == len(names) == 2000 and len(deep.members) == 2
    assert format_dot(deep).count("->") == 4000


def test_deep_members(folder):
    depth = sys.getrecursionlimit() + 50
    tree = parse(
        chain(depth) + "".join(f'"" {{ {i} ' for i in range(depth)) + f"{depth} " + "}" * depth
    )
    text = format_tree(tree)
    assert format_tree(parse(text)) == text
    assert len(to_code(tree).rows) == 2 * depth == len(plan_jobs(tree, "m", "", 1))


def test_limits_are_those_of_the_whole_file(monkeypatch):
    code = '"" 0 / 1; "" 1 / 2; {0 1 2}\n'
    for name, limit, message in (
        ("MAX_CELLS", 11, "have 12 entries: there may be 11 at most"),
        ("MAX_SIDES", 5, "separate 6 labels"),
        ("MAX_MEMBERS", 1, "may have 1 configurations at most"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(parsing, name, limit)
            assert parse(code)
            refused(code * 2, message)


def test_members_with_other_classes():
    """Each error has the place of the member that differs, however many there are."""
    many = "m {0 n {1 2}}\n" * 500
    refused(many + "m {0 n {1 3}}\n" + many[:14], "f:501:11: class 3 is not in the first")
    refused(many + "m {0 1}\n" + many[:14], "f:501:7: class 2 is missing in this configuration")
    refused(many + "m {0 n {1 1}}\n", "f:501:11: class 1 is listed twice")
    refused(many + "m {0 n {1 2}\n", "is never closed")
    refused(many + "}", "f:501:1: expected the end of the file or another configuration")
    refused("m 0/1;" * 20_000 + "{0 1}" * 2, "found '{'")


@pytest.mark.long
def test_work_grows_with_the_text():
    """Each of these would take minutes where it grew with the square of the members."""
    tree = parse(f"# weights: {'1 ' * MANY}\n" + '"" {0 1}\n' * MANY)
    jobs = plan_jobs(tree, "m", "", 1)
    assert len(jobs) == MANY and len(distinct(jobs)) == 1
    assert tree.weights == (1 / MANY,) * MANY
    assert len(to_code(tree).rows) == len(tree.sides()) == MANY
    require_readable(tree)
    assert format_dot(tree).count("subgraph") == MANY


@pytest.mark.parametrize(
    "text",
    [
        "# weights: " + "9" * 400 + " 1",
        "# weights: 1e-400 0",
        "# weights: " + "1 " * 20_000,
        "# weights: 1 1" + " " * 10**6,
    ],
)
def test_odd_weights(text):
    whole = f"{text}\nm {{0 1}} m {{1 0}}"
    if text.endswith("  "):
        assert parse(whole).weights == (0.5, 0.5)
    else:
        refused(whole, "f:1:3: ")


def test_commands_on_many_members(folder, run):
    (folder / "m").write_text(LINEAR)
    (folder / "t.svm").write_text("0 1:1\n1 1:-1\n")
    (folder / "ctl").write_text("m {0 1}\n" * 300)
    for line in (
        "print_control -Q 9 ctl",
        "print_control --report=-.dot ctl",
        "mbh2mbm ctl all.mbm",
        "mbm_info all.mbm",
        "mbm_info --print-control ctl",
        "classify_m -M ctl t.svm o",
        "classify_m -M --tree geometric all.mbm t.svm o",
    ):
        command, *words = line.split()
        assert run(command, "--quiet", *words).err == "", line
    assert np.fromfile("o.cls", "<i4").tolist() == [0, 1]
