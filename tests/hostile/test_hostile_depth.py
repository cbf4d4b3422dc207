"""Control files as deep as they may be: whatever is done to them does not recurse."""

import json
import sys
from types import SimpleNamespace

import pytest

from agfmc.cli import main_of
from agfmc.control.build import code_rows, rename, resolve_options, to_code
from agfmc.control.dot import format_dot
from agfmc.control.parse import MAX_DEPTH, parse
from agfmc.control.tree import model_names
from agfmc.control.write import format_tree
from agfmc.errors import ControlError

MODEL = """svm_type c_svc
kernel_type linear
nr_class 2
total_sv 2
rho 0
label 0 1
probA -1
probB 0
nr_sv 1 1
SV
1 1:1
-1 1:-1
"""


def left(depth, head='""'):
    """The deep branch is the first of each node."""
    return f"{head} {{\n" * depth + "0 " + "\n".join(f"{i} }}" for i in range(1, depth + 1))


def right(depth, head='""'):
    """The deep branch is the last of each node."""
    return "".join(f"{head} {{ {i}\n" for i in range(depth)) + f"{depth} " + "}" * depth


def matrices(depth, head='""'):
    """Coding matrices all the way down."""
    rows = f"{head} 0 / 1; {head} 1 / 0;\n"
    return "".join(f"{rows} {{ {i} " for i in range(depth)) + f"{depth} " + "}" * depth


def direct(depth, head='""'):
    return "".join(f"{head} K {{ {i} " for i in range(depth)) + f"{depth} " + "}" * depth


@pytest.mark.parametrize("make, depth", [(left, MAX_DEPTH), pytest.param(
    right, MAX_DEPTH, marks=pytest.mark.long), pytest.param(
    direct, MAX_DEPTH, marks=pytest.mark.long), (matrices, MAX_DEPTH // 2)])
def test_the_deepest_file_there_may_be(make, depth):
    tree = parse(make(depth))
    assert 1 + max(node.depth for node in tree.nodes) == depth
    text = format_tree(tree)
    assert len(text) < 3_000_000
    assert format_tree(parse(text)) == text
    assert format_dot(tree).count("->") >= depth - 1
    assert len(resolve_options(tree)) == len(tree.rows)
    names = model_names(tree, "m")
    assert len(rename(tree, names).rows) == len(names)
    with pytest.raises(ControlError, match=f"nested deeper than {MAX_DEPTH} levels"):
        parse(make(MAX_DEPTH + 1))


@pytest.mark.parametrize("make", [left, right, matrices])
def test_a_deep_file_as_a_code(make):
    depth = 2 * sys.getrecursionlimit()
    tree = parse(make(depth, "m"))
    code = to_code(tree)
    assert len(code.rows) == len(code_rows(tree)) == len(tree.rows)
    assert len(tree.sides()[0][0]) + len(tree.sides()[0][1]) == depth + 1


def commands(depth, shapes, folder, run):
    (folder / "m").write_text(MODEL)
    (folder / "t.svm").write_text("0 1:1\n1 1:-1\n")
    (folder / "plan").write_text(left(depth))
    for make in shapes:
        (folder / "ctl").write_text(make(depth, "m"))
        for line in ("print_control -Q 9 plan", "print_control -Q 9 --dot plan",
                     "print_control -Q 9 ctl", "mbh2mbm ctl all.mbm", "mbm_info all.mbm",
                     "mbm_info --control ctl", "classify_m -M ctl t.svm o",
                     "classify_m -M all.mbm t.svm o", "classify_m --tree full -M all.mbm t.svm o",
                     "classify_m --tree path -M all.mbm t.svm o", "classify_m -0 -M ctl t.svm o",
                     "classify_m -Q 2 -M all.mbm t.svm o"):
            command, *words = line.split()
            assert run(command, "--quiet", *words).err == "", line


def test_a_description_is_written_as_it_is_made(tmp_path, monkeypatch):
    """The sides of a chain grow with the square of its length, and so does their text."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m").write_text(MODEL)
    (tmp_path / "ctl").write_text(left(400, "m"))
    pieces = []
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(
        write=pieces.append, flush=lambda: None, isatty=lambda: False))
    assert main_of("mbm_info")(["--json", "ctl"]) == 0
    assert len(json.loads("".join(pieces))["binary_models"]) == 400
    assert sum(map(len, pieces)) > 5 * max(map(len, pieces))


def test_a_chain_from_data_is_trained(tmp_path, monkeypatch, run):
    """Classes at growing distances are joined one by one; names by branches had no room."""
    monkeypatch.chdir(tmp_path)
    k = 300
    places = [c + c * c / 200 for c in range(k)]
    (tmp_path / "t.svm").write_text("".join(
        f"{c} 1:{x + d:.6f}\n" for c, x in enumerate(places) for d in (0, .25)))
    (tmp_path / "plan").write_text(run("print_control", "-Q", "3", "-M", "t.svm").out)
    options = ["-M", "--quiet", "-+", "learner=logistic"]
    operands = ["plan", "t.svm", "m", "ctl"]
    run("multi_borders", *options, *operands)
    control = (tmp_path / "ctl").read_text()
    tree = parse(control)
    assert 1 + max(node.depth for node in tree.nodes) == k - 1
    assert [row.text for row in tree.rows] == ["m", *(f"m.n{i:04d}" for i in range(1, k - 1))]
    (tmp_path / "m.n0298").rename(tmp_path / "earlier")
    lines = run("multi_borders", *options, "-0", *operands).out.splitlines()
    assert len(lines) == k - 1 and "--only=m.n0298 " in lines[298]
    run("multi_borders", *options, "--only", "m.n0298", *operands)
    assert (tmp_path / "m.n0298").read_bytes() == (tmp_path / "earlier").read_bytes()
    assert (tmp_path / "ctl").read_text() == control
    run("mbh2mbm", "--quiet", "ctl", "all.mbm")
    for model in ("ctl", "all.mbm"):
        assert run("classify_m", "--quiet", "-M", model, "t.svm", model).err == ""
    assert (tmp_path / "ctl.cls").read_bytes() == (tmp_path / "all.mbm.cls").read_bytes()


def test_commands_on_a_deep_file(folder, run):
    commands(sys.getrecursionlimit() + 50, [left], folder, run)


@pytest.mark.long
def test_commands_on_the_deepest_file(folder, run):
    commands(MAX_DEPTH, [left, right], folder, run)
