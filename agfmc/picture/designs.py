"""Designs that were searched for: a tree with the losses of its nodes."""

from collections.abc import Mapping
from typing import Any

from ..control.tree import Leaf
from .canvas import class_names, MUTED, page, save, text_width, thinned
from .style import LOSSES, PATHS

__all__ = ["draw_losses"]

_MARGIN, _HEAD = 0.2, 0.75  # inches
_SPACING, _TALLEST, _WIDEST = 0.3, 40.0, 30.0  # from class to class; of the whole tree
_BOX, _GAP = 0.56, 0.26  # width of a box, and from one to the next
_WIDEST_LINE = 9.0  # points of type, for all points of the data


def draw_losses(path: str, scored: Any, shares: Mapping[int, float], what: str) -> None:
    """Draw a decision tree with the loss of each node, and the share of the points on each line.

    scored: has `tree`, with single classifiers alone, `nodes`, with `loss` and its standard
    `error` for each node in the order of the text, and `loss`, `error` and `asked` of the tree;
    shares: {label: share of the points};  what: the name of the loss.

    Raises UsageError as `canvas.save`.
    """
    save(path, lambda: _losses_figure(scored, shares, what))


class _Places:
    """Places of nodes and classes: y of each, and x of nodes, in inches from the top left."""

    def __init__(self, tree):
        nodes, self.spans = tree.nodes, tree.spans()
        k = len(tree.labels)
        self.spacing = min(_SPACING, _TALLEST / k)
        self.height = k * self.spacing
        self.y = [0.0] * len(nodes)
        for number in range(len(nodes) - 1, -1, -1):
            self.y[number] = sum(self.child_y(number, branch, child) for branch, child
                                 in enumerate(nodes[number].children)) / 2
        deepest = max(node.depth for node in nodes) + 1
        column = min(_BOX + _GAP, _WIDEST / deepest)
        self.boxed = column == _BOX + _GAP and self.spacing == _SPACING
        self.x = [node.depth * column for node in nodes]
        self.half = _BOX / 2 if self.boxed else 0.0
        self.width = deepest * column

    def child_y(self, number, branch, child):
        """The place of a branch of a node."""
        if isinstance(child, Leaf):
            return (self.spans[number][branch][0] + 0.5) * self.spacing
        return self.y[child]


def _losses_figure(scored, shares, what):
    tree = scored.tree
    places, labels = _Places(tree), tree.labels
    texts = class_names(tree.names, labels)
    percents = [f"{100 * shares[label]:.1f} %" for label in labels]
    title = (f"{what} {scored.loss:.4f} \u00b1 {scored.error:.4f} per point; "
             f"{scored.asked:.2f} of {len(tree.nodes)} classifiers asked per point, mean")
    names = text_width(texts, 9)
    width = max(places.width + 0.2 + names + text_width(percents, 8),
                text_width([title], 10), 4.6) + 2 * _MARGIN
    figure, axes = page(width, places.height + _HEAD + 2 * _MARGIN)
    axes.text(_MARGIN, _MARGIN + 0.05, title, fontsize=10, va="center")
    down = _MARGIN + _HEAD
    colour = _scale(figure, axes, scored.nodes)
    _lines(axes, tree, places, shares, down)
    for number, node in enumerate(scored.nodes):
        x, y = _MARGIN + places.x[number] + places.half, down + places.y[number]
        if places.boxed:
            axes.text(x, y, f"{node.loss:.4f}\n\u00b1{node.error:.4f}", fontsize=7, va="center",
                      ha="center", linespacing=1.0, zorder=4, gid="node",
                      bbox={"boxstyle": "round,pad=0.25", "facecolor": colour(node.loss),
                            "edgecolor": MUTED, "linewidth": 0.6})
        else:
            axes.scatter([x], [y], s=16, color=[colour(node.loss)], edgecolors=MUTED,
                         linewidths=0.4, zorder=4)
    for place in thinned(len(labels), int(places.height / 0.16)):
        y = down + (place + 0.5) * places.spacing
        axes.text(_MARGIN + places.width + 0.06, y, texts[place], va="center")
        axes.text(_MARGIN + places.width + 0.16 + names, y, percents[place], va="center",
                  fontsize=8, color=MUTED)
    return figure


def _scale(figure, axes, nodes):
    """The function from a loss to a colour, and its legend, with that of the lines."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap, Normalize
    width, height = figure.get_size_inches()
    name, last = LOSSES
    colours = ListedColormap([colormaps[name](last * i / 255) for i in range(256)])
    norm = Normalize(0.0, max(node.loss for node in nodes) or 1.0)
    y, right = _MARGIN + 0.42, _MARGIN + 1.3
    bar = figure.add_axes((_MARGIN / width, 1 - (y + 0.06) / height, 1.3 / width, 0.12 / height))
    bar.imshow([list(range(256))], aspect="auto", cmap=colours, extent=(0, norm.vmax, 0, 1))
    bar.set_yticks([])
    bar.set_xticks([0, norm.vmax], ["0", f"{norm.vmax:.3g}"], fontsize=8)
    bar.tick_params(length=2, pad=1.5)
    axes.text(right + 0.1, y, "loss of the node", va="center", fontsize=8)
    x = right + 0.3 + text_width(["loss of the node"], 8)
    for share in (0.1, 0.5):
        axes.plot([x, x + 0.25], [y, y], color=PATHS["share"], linewidth=_WIDEST_LINE * share,
                  solid_capstyle="butt")
        text = f"{100 * share:.0f} %" + (" of the points" if share == 0.5 else "")
        axes.text(x + 0.31, y, text, va="center", fontsize=8)
        x += 0.5 + text_width([text], 8)
    return lambda loss: colours(norm(loss))


def _lines(axes, tree, places, shares, down):
    """From each node to its branches, as wide as the share of the points that go there."""
    from matplotlib.collections import LineCollection
    labels = tree.labels
    lines, widths = [], []
    for number, node in enumerate(tree.nodes):
        start, y = _MARGIN + places.x[number] + places.half, down + places.y[number]
        for branch, child in enumerate(node.children):
            end = _MARGIN + (places.width if isinstance(child, Leaf)
                             else places.x[child] + places.half)
            there = down + places.child_y(number, branch, child)
            first, last = places.spans[number][branch]
            lines.append([(start, y), (start, there), (end, there)])
            widths.append(max(0.6, _WIDEST_LINE * sum(shares[label]
                                                      for label in labels[first:last])))
    axes.add_collection(LineCollection(lines, colors=PATHS["share"], linewidths=widths, zorder=1,
                                       capstyle="butt", joinstyle="miter"))
