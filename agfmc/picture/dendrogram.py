"""A tree of classes with the distances at which they join."""

import math

from ..control.tree import Leaf
from ..errors import UsageError
from .canvas import class_name, new_figure, text_width, thinned

__all__ = ["dendrogram_figure"]

_SPACING, _TALLEST, _WIDTH = 0.22, 40.0, 5.0  # inches
_LINE = "#2b4a6f"


def dendrogram_figure(tree, heights):
    """The figure of a tree of single classifiers whose nodes join at `heights`.

    The classes stand on the left in the order of the text, distances grow to
    the right; infinite ones lie behind a broken axis.
    """
    heights = [float(height) for height in heights]
    if any(not node.bare for node in tree.nodes):
        raise UsageError("a dendrogram needs a tree of single classifiers")
    if len(heights) != len(tree.nodes):
        raise UsageError(f"{len(heights)} distances were given for a tree of {len(tree.nodes)} "
                         "nodes")
    if not all(height >= 0 for height in heights):
        raise UsageError("the distances of a dendrogram are not negative")
    labels = tree.labels
    names = [class_name(tree.names, label) for label in labels]
    finite = [height for height in heights if math.isfinite(height)]
    largest = max(finite, default=0.0) or 1.0
    far = 1.15 * largest
    spacing = min(_SPACING, _TALLEST / len(labels))
    margin = text_width(names, 9) + 0.35
    width, height = margin + _WIDTH + 0.3, max(spacing * len(labels), 0.5) + 0.75
    figure = new_figure(figsize=(width, height))
    axes = figure.add_axes((margin / width, 0.6 / height, _WIDTH / width, (height - 0.75) / height))

    broken = len(finite) < len(heights)
    _lines(axes, tree, [min(value, far) for value in heights], far if broken else None)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlim(0, far * 1.03 if broken else largest * 1.05)
    shown = thinned(len(labels), int(spacing * len(labels) / 0.15))
    axes.set_yticks(list(shown), [names[i] for i in shown])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("distance at which classes join")
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    if broken:
        ticks = [tick for tick in axes.get_xticks() if 0 <= tick <= largest * 1.02]
        axes.set_xticks([*ticks, far], [*(f"{tick:g}" for tick in ticks), "infinite"])
        axes.axvline((largest + far) / 2, color="#a0a0a0", linestyle=(0, (2, 2)), linewidth=0.8)
    return figure


def _lines(axes, tree, heights, far):
    """A bracket for each node, from its branches to where they join."""
    from matplotlib.collections import LineCollection
    spans = tree.spans()
    at = [0.0] * len(tree.nodes)
    lines = []
    for number in range(len(tree.nodes) - 1, -1, -1):
        ends = [(spans[number][branch][0], 0.0) if isinstance(child, Leaf)
                else (at[child], heights[child])
                for branch, child in enumerate(tree.nodes[number].children)]
        (upper, first), (lower, second) = ends
        at[number] = (upper + lower) / 2
        join = heights[number]
        lines.append([(first, upper), (join, upper), (join, lower), (second, lower)])
    dashed = [join == far for join in reversed(heights)]
    axes.add_collection(LineCollection(
        lines, colors=_LINE, linewidths=1.3, zorder=2,
        linestyles=[(0, (3, 2)) if broken else "solid" for broken in dashed]))
