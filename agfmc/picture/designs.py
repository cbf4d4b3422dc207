"""Designs that were searched for: a tree with its losses, and the space of trees around it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..control.tree import Leaf
from .canvas import (class_names, GREY, GRID, INK, LEFT, MUTED, nearest, new_figure, page,
                     place_labels, RIGHT, save, text_width, thinned)
from .style import LIGHT, LOSSES, PATHS

__all__ = ["draw_losses", "draw_space", "KINDS"]

_MARGIN, _HEAD = 0.2, 0.75  # inches
_SPACING, _TALLEST, _WIDEST = 0.3, 40.0, 30.0  # from class to class; of the whole tree
_BOX, _GAP = 0.56, 0.26  # width of a box, and from one to the next
_WIDEST_LINE = 9.0  # points of type, for all points of the data
_BOLD = 1.12  # width of bold type, as a part of that of plain type


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


# kind of tree: (marker, colour, size, words of the legend)
KINDS = {"random": (".", GREY, 6, "random trees"),
         "alternative": ("o", LEFT, 4, "the next best"),
         "frontier": ("o", RIGHT, 5, "the best, with --balance"),
         "standard": ("s", INK, 5, "standard"),
         "best": ("D", RIGHT, 8, "chosen")}
_WIDTH, _SIDES = 7.2, (0.85, 0.2, 1.05, 0.4)  # inches; left, right, below, above


def draw_space(path: str, trees: Sequence[Any], what: str, about: str) -> None:
    """Draw the loss of trees against the number of classifiers that they ask.

    trees: each has `kind`, one of `KINDS`, `name` or "", `asked`, `loss`, and `error`, the
    standard error of the difference to the loss of the one of kind "best", or None;  what: the
    name of the loss;  about: the title.

    Raises UsageError as `canvas.save`.
    """
    save(path, lambda: _space_figure(trees, what, about))


def _space_figure(trees, what, about):
    left, right, below, above = _SIDES
    room = (_WIDTH - left - right, 4.2)
    size = (_WIDTH, room[1] + below + above)
    figure = new_figure(figsize=size)
    axes = figure.add_axes((left / size[0], below / size[1], room[0] / size[0],
                            room[1] / size[1]))
    axes.set(xlabel="binary classifiers asked per point, mean",
             ylabel=f"{what} per point, leave-one-out")
    axes.set_title(about, loc="left")
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    limits = _limits(trees)
    axes.set(xlim=limits[0], ylim=limits[1])
    inches = _Inches(limits, room)
    bars = _marks(axes, trees, inches)
    _names(axes, trees, inches, bars)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.1 / room[0], -0.44 / room[1]), ncols=5,
                fontsize=8, frameon=False, handletextpad=0.3, columnspacing=1.2)
    figure.text(left / size[0], 0.12 / size[1], "Bars: the standard error of the difference to the "
                "chosen tree, of the same points.", fontsize=8, color=MUTED)
    return figure


def _limits(trees):
    """((left, right), (bottom, top)) of the axes, with a margin."""
    x = [tree.asked for tree in trees]
    y = [tree.loss + sign * (tree.error or 0.0) for tree in trees for sign in (-1, 1)]
    wide, tall = 0.06 * (max(x) - min(x)) or 0.5, 0.06 * (max(y) - min(y)) or 0.01
    return (min(x) - wide, max(x) + wide), (min(y) - tall, max(y) + tall)


class _Inches:
    """The map of (asked, loss) to inches from the lower left corner of the axes."""

    def __init__(self, limits, room):
        self.limits, self.room = limits, room

    def __call__(self, *place):
        return tuple(side * (value - low) / (high - low)
                     for value, (low, high), side in zip(place, self.limits, self.room))


def _marks(axes, trees, inches):
    """The points by kind, their bars and the line of the frontier; -> segments to be left free."""
    bars = []
    for order, (kind, (marker, colour, size, words)) in enumerate(KINDS.items()):
        some = sorted((tree for tree in trees if tree.kind == kind), key=lambda tree: tree.asked)
        if not some:
            continue
        for tree in some:
            if tree.error:
                low, high = tree.loss - tree.error, tree.loss + tree.error
                axes.plot([tree.asked] * 2, [low, high], color=colour, linewidth=0.9,
                          zorder=2 + order / 10)
                bars.append((*inches(tree.asked, low), *inches(tree.asked, high)))
        x, y = [tree.asked for tree in some], [tree.loss for tree in some]
        if kind == "frontier":
            best = [tree for tree in trees if tree.kind == "best"]
            line = sorted([(tree.asked, tree.loss) for tree in [*some, *best]])
            axes.plot(*zip(*line), color=colour, linewidth=1.0, alpha=0.6, zorder=1.5)
            bars += [(*inches(*a), *inches(*b)) for a, b in zip(line, line[1:])]
        axes.plot(x, y, marker=marker, color=colour, markersize=size, linestyle="none",
                  alpha=0.7 if kind == "random" else 1.0, zorder=3 + order / 10, gid=kind,
                  markeredgewidth=0 if kind == "random" else 0.5, markeredgecolor=LIGHT["paper"],
                  label=words)
    return bars


def _names(axes, trees, inches, bars):
    room = inches.room
    named = sorted((tree for tree in trees if tree.name),
                   key=lambda tree: (tree.kind != "best", tree.asked))
    texts = [tree.name for tree in named]
    widths = [text_width([tree.name], 8) * (_BOLD if tree.kind == "best" else 1) + 0.06
              for tree in named]
    points = [inches(tree.asked, tree.loss) for tree in named]
    spots = place_labels(points, widths, bars, room)
    for tree, text, point, spot in zip(named, texts, points, spots):
        middle = ((spot[0] + spot[2]) / 2 / room[0], (spot[1] + spot[3]) / 2 / room[1])
        axes.text(*middle, text, transform=axes.transAxes, fontsize=8, ha="center", va="center",
                  fontweight="bold" if tree.kind == "best" else "normal", zorder=5, gid="label",
                  bbox={"facecolor": LIGHT["paper"], "edgecolor": "none", "alpha": 0.7,
                        "boxstyle": "square,pad=0.05"})
        end = nearest(spot, *point)
        if math.dist(point, end) > 0.2:
            axes.plot([point[0] / room[0], end[0] / room[0]],
                      [point[1] / room[1], end[1] / room[1]], transform=axes.transAxes,
                      color=MUTED, linewidth=0.5, zorder=2.5)
