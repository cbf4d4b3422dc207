"""Trees with the losses of their nodes: what is shown, without overlaps."""

from types import SimpleNamespace

import pytest

from agfmc.control.build import from_pairs
from agfmc.picture import designs

pytest.importorskip("matplotlib")


def scored(pairs, k, names=None):
    tree = from_pairs(pairs, range(k), names)
    nodes = [SimpleNamespace(loss=0.01 * (i + 1), error=0.001 * (i + 1))
             for i in range(len(tree.nodes))]
    return SimpleNamespace(tree=tree, nodes=nodes, loss=sum(node.loss for node in nodes),
                           error=0.01, asked=2.5)


def chain(k):
    pairs = 0
    for i in range(1, k):
        pairs = (pairs, i)
    return pairs


@pytest.mark.few(2)
@pytest.mark.parametrize("pairs, k, names", [
    (((0, 1), 2), 3, None), (((0, (3, 1)), (2, 4)), 5, {2: "two $x$", 4: "\u56db"}),
    (chain(26), 26, {i: f"the letter {chr(65 + i)} in twenty fonts" for i in range(26)})])
def test_losses_and_shares(shown, pairs, k, names):
    tree = scored(pairs, k, names)
    shares = {i: (1 + i % 2) / (k + k // 2) for i in range(k)}
    figure = shown(designs._losses_figure, tree, shares, "log loss")
    assert not figure.clashes()
    boxes = [text for text in figure.figure.axes[0].texts if text.get_gid() == "node"]
    assert [text.get_text().split("\n")[0] for text in boxes] == \
        [f"{node.loss:.4f}" for node in tree.nodes]
    assert len({text.get_bbox_patch().get_facecolor() for text in boxes}) == k - 1
    assert {(names or {}).get(i, str(i)) for i in range(k)} <= set(figure.texts)
    # each line is as wide as the share of the points that go along it
    lines = figure.figure.axes[0].collections[0]
    classes = [labels for sides in tree.tree.branch_labels() for labels in sides]
    assert lines.get_linewidths() == pytest.approx([
        max(0.6, designs._WIDEST_LINE * sum(shares[c] for c in some)) for some in classes])


@pytest.mark.long
def test_many_classes_stay_on_a_page(shown):
    tree = scored(chain(60), 60)
    figure = shown(designs._losses_figure, tree, dict.fromkeys(range(60), 1 / 60), "cost")
    assert max(figure.figure.get_size_inches()) < 45 and not figure.clashes()
    assert not [text for text in figure.figure.axes[0].texts if text.get_gid() == "node"]


def test_losses_of_zero(shown):
    tree = scored(((0, 1), 2), 3)
    for node in tree.nodes:
        node.loss = node.error = 0.0
    assert not shown(designs._losses_figure, tree, dict.fromkeys(range(3), 1 / 3), "x").clashes()
