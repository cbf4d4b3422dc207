"""The tree of a control file, its coding matrix as a grid of colours, or its dendrogram."""

import math
from collections.abc import Mapping, Sequence

from ..control.dot import visible
from ..control.tree import Leaf, Tree
from ..errors import UsageError
from .canvas import (class_names, GREY, GRID, INK, LEFT, MUTED, new_figure, page, RIGHT, save,
                     text_width, thinned)
from .style import LIGHT, PATHS, RULE

__all__ = ["dendrogram_figure", "draw_control", "legend", "matrix_figure"]

_MARGIN, _HEAD = 0.2, 0.3  # inches
_SPACING, _TALLEST, _WIDEST = 0.24, 40.0, 30.0  # from class to class; of the whole tree
_CELL = 0.13
_MOST_CELLS = 16  # across a matrix that is drawn inside a tree, and down as far as fits
_PAD = 0.04
_SHORT, _TOLD = 16, 2  # characters of a class in a box; classes of a side
_MOST_MEMBERS, _ACROSS = 6, 3  # of an ensemble that are drawn, and beside each other
_APART = 0.3
_BOX = {"boxstyle": f"round,pad={_PAD * 72 / 8},rounding_size=0.25", "facecolor": LIGHT["paper"],
        "edgecolor": GREY, "linewidth": 0.8}


def draw_control(path: str, tree: Tree, heights: Sequence[float] | None = None,
                 shares: Mapping[int, float] | None = None) -> None:
    """Draw a control tree (`agfmc.control.tree.Tree`), with class names where it has them.

    One coding matrix: a grid with a column for each class and a row for each classifier, by name
    where it has one. Any other tree: the classes on the right, the branch of -1 above that of +1,
    a box with the options at each node, or, where it is trained, the classes of both sides, and
    the share of the training points that reached it, of shares {number of the node: share}; small
    matrices (a row for each branch, a column for each classifier) at nodes that are coding
    matrices.
    heights: the joining distance of each node of a tree of single classifiers, in the
    order of `tree.nodes`, which may be infinite; then a dendrogram is drawn, with its
    axis of distances.
    An ensemble: its first members as trees, with their shares in the average.

    Raises UsageError for heights that do not fit, and as `canvas.save`.
    """
    if heights is not None:
        save(path, lambda: dendrogram_figure(tree, heights))
    elif tree.is_ensemble:
        save(path, lambda: _ensemble_figure(tree))
    elif tree.hierarchical or tree.nodes[0].direct is not None:
        save(path, lambda: _tree_figure(tree, shares))
    else:
        save(path, lambda: matrix_figure(tree))


class _Layout:
    """Places of nodes and classes, in inches from the top left of the tree.

    y, left, right: per node its height and where its box begins and ends;
    boxes: per node its texts, the shape of its matrix, or None for a plain joint.
    """

    def __init__(self, tree, shares=None):
        self.spans = tree.spans()
        n = len(tree.labels)
        wanted = _SPACING + 0.08 * bool(shares)  # two lines in a box
        self.spacing = min(wanted, _TALLEST / n)
        self.height = n * self.spacing
        called = class_names(tree.names, tree.labels, _SHORT)
        self.boxes = [_box(node, [called[start:stop] for start, stop in spans],
                           (shares or {}).get(number))
                      for number, (node, spans) in enumerate(zip(tree.nodes, self.spans))]
        self.cell = min(_CELL, self.spacing)
        self.y = [0.0] * len(tree.nodes)
        for number in range(len(tree.nodes) - 1, -1, -1):
            self.y[number] = self._middle(tree, number)
        self._columns(tree)

    def leaf_y(self, place):
        return (place + 0.5) * self.spacing

    def child_y(self, number, branch, child):
        if isinstance(child, Leaf):
            return self.leaf_y(self.spans[number][branch][0])
        return self.y[child]

    def _middle(self, tree, number):
        node, spans = tree.nodes[number], self.spans[number]
        if not node.bare:  # so a matrix keeps within the height of its classes
            return (spans[0][0] + spans[-1][1]) / 2 * self.spacing
        return sum(self.child_y(number, branch, child)
                   for branch, child in enumerate(node.children)) / 2

    def _columns(self, tree):
        """One column for each depth, as wide as its widest box."""
        widths = [self._width(box) for box in self.boxes]
        deepest = max(node.depth for node in tree.nodes) + 1
        columns = [0.0] * deepest
        gaps = [0.3] * deepest
        for node, width in zip(tree.nodes, widths):
            columns[node.depth] = max(columns[node.depth], width)
            if not node.bare:  # its edges fan out
                gaps[node.depth] = max(gaps[node.depth], min(1.2, 0.3 + 0.06 * len(node.children)))
        total = sum(columns) + sum(gaps)
        squeeze = min(1.0, _WIDEST / total)
        starts, at = [], 0.0
        for column, gap in zip(columns, gaps):
            starts.append(at)
            at += (column + gap) * squeeze
        self.width = at
        self.left = [starts[node.depth] for node in tree.nodes]
        self.right = [start + width for start, width in zip(self.left, widths)]
        self.named = squeeze == 1.0 and self.spacing >= _SPACING

    def _width(self, box):
        if box is None:
            return 0.0
        if isinstance(box, str):
            return text_width([box], 8) + 2 * _PAD
        return box[1] * self.cell


def _box(node, sides, share):
    """The words at a node; sides: names of the classes of each branch."""
    if node.direct is not None:
        texts = (f"{node.direct.code}: {node.direct.learner.title}", node.direct.name,
                 node.direct.options.strip())
        return "\n".join(visible(text, 36) for text in texts if text)
    if node.bare and node.rows[0].text.strip() and node.rows[0].is_name:
        row = node.rows[0]  # a file name tells a reader nothing
        text = " / ".join(_listed(sides[branch]) for branch, in (row.left, row.right))
        return text if share is None else f"{text}\n{100 * share:.3g} % of points"
    if node.bare:
        return visible(node.rows[0].text.strip(), 32).replace("\n", " ") or None
    if len(node.rows) <= _MOST_CELLS:
        return len(node.children), len(node.rows)
    return f"{len(node.rows)} rows x\n{len(node.children)} branches"


def _listed(names):
    """The classes of a side, of many the first and their number."""
    text = ", ".join(names)
    return text if len(names) == 1 or len(names) <= _TOLD and len(text) <= _SHORT else \
        f"{names[0]} + {len(names) - 1}"


def _tree_figure(tree, shares=None):
    layout = _Layout(tree, shares)
    labels = tree.labels
    texts = class_names(tree.names, labels)
    width = max(layout.width + 0.1 + text_width(texts, 9), 2.6) + 2 * _MARGIN
    figure, axes = page(width, layout.height + _HEAD + 2 * _MARGIN)
    if len(tree.directs) < len(tree.nodes):
        legend(axes, _MARGIN, _MARGIN, _has_matrix(tree, layout))
    _draw_tree(axes, tree, layout, _MARGIN, _HEAD + _MARGIN)
    return figure


def _has_matrix(tree, layout):
    return any(not node.bare and node.direct is None and isinstance(box, tuple)
               for node, box in zip(tree.nodes, layout.boxes))


def _ensemble_figure(tree):
    """The first members in a grid, each below its number and weight."""
    shown = list(zip(tree.members, tree.weights))[:_MOST_MEMBERS]
    layouts = [_Layout(member) for member, _ in shown]
    classes = text_width(class_names(tree.names, tree.labels), 9)
    wide = max(2.2, 0.1 + classes + max(layout.width for layout in layouts)) + _APART
    tall = layouts[0].height + _HEAD + _APART
    across = max(1, min(_ACROSS, len(shown), int(_WIDEST / wide)))
    across = -(-len(shown) // -(-len(shown) // across))  # rows of equal length
    figure, axes = page(max(2 * _MARGIN + across * wide, 4.0),
                        2 * _MARGIN + 2 * _HEAD + -(-len(shown) // across) * tall)
    count = len(tree.roots)
    axes.text(_MARGIN, _MARGIN + 0.08, f"ensemble of {count} configurations" + (
        f", the first {len(shown)}" if count > len(shown) else ""), va="center")
    legend(axes, _MARGIN, _MARGIN + _HEAD, any(map(_has_matrix, tree.members, layouts)))
    for number, ((member, weight), layout) in enumerate(zip(shown, layouts)):
        left = _MARGIN + number % across * wide
        down = _MARGIN + 2 * _HEAD + number // across * tall
        axes.text(left, down + 0.1, f"{number + 1}: weight {weight:.3g}", va="center",
                  color=MUTED)
        _draw_tree(axes, member, layout, left, down + _HEAD)
    return figure


def _draw_tree(axes, tree, layout, aside, down):
    """One tree with its classes, from (aside, down) to the right and downwards, in inches."""
    labels = tree.labels
    texts = class_names(tree.names, labels)
    _edges(axes, tree, layout, aside, down)
    for number, node in enumerate(tree.nodes):
        x, y, box = aside + layout.left[number], down + layout.y[number], layout.boxes[number]
        if isinstance(box, tuple):
            _small_matrix(axes, node, x, y, layout.cell)
        elif box and layout.named:
            axes.text(x + _PAD, y, box, fontsize=8, va="center", bbox=_BOX, zorder=3,
                      linespacing=1.1)
    for place in thinned(len(labels), int(layout.height / 0.16)):
        axes.text(aside + layout.width + 0.06, down + layout.leaf_y(place), texts[place],
                  va="center")


def _edges(axes, tree, layout, aside, down):
    """Elbows from single classifiers, fans from matrices and multi-class nodes."""
    from matplotlib.collections import LineCollection
    lines, colours, points = [], [], []
    for number, node in enumerate(tree.nodes):
        x, y = aside + layout.right[number], down + layout.y[number]
        middle = (len(node.children) - 1) / 2
        if layout.boxes[number] is None:
            points.append((x, y))
        for branch, child in enumerate(node.children):
            end = aside + (layout.width if isinstance(child, Leaf) else layout.left[child])
            there = down + layout.child_y(number, branch, child)
            if node.bare:
                # from above or below the box, where the node has one
                start = x - (layout.right[number] - layout.left[number]) / 2
                lines.append([(start, y), (start, there), (end, there)])
                colours.append((LEFT, RIGHT)[branch])
            else:
                start = y
                if isinstance(layout.boxes[number], tuple):
                    start = y + (branch - middle) * layout.cell
                turn = aside + _fan_end(layout, tree, number)
                lines.append([(x, start), (turn, there), (max(end, turn), there)])
                colours.append(GREY)
    axes.add_collection(LineCollection(lines, colors=colours, linewidths=1.2, zorder=1,
                                       capstyle="round"))
    if len(points) <= 500:
        axes.scatter(*zip(*points) if points else ((), ()), s=12, color=INK, zorder=2)


def _fan_end(layout, tree, number):
    """Position at which the edges of a matrix have spread to the heights of their branches."""
    inner = [layout.left[child] for child in tree.nodes[number].children
             if not isinstance(child, Leaf)]
    return min([*inner, layout.right[number] + 0.3 +
                min(0.9, 0.05 * len(tree.nodes[number].children)), layout.width])


def _small_matrix(axes, node, x, y, cell):
    """A row for each branch, a column for each classifier."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle
    top = y - len(node.children) / 2 * cell
    cells, colours = [], []
    for column, row in enumerate(node.rows):
        sides = {**dict.fromkeys(row.left, LEFT), **dict.fromkeys(row.right, RIGHT)}
        for branch in range(len(node.children)):
            cells.append(Rectangle((x + column * cell, top + branch * cell), cell, cell))
            colours.append(sides.get(branch, LIGHT["paper"]))
    axes.add_collection(PatchCollection(cells, facecolors=colours, edgecolors=RULE,
                                        linewidths=0.5, zorder=3))


_GRID_HEAD = 0.45  # inches
_GRID_WIDEST, _GRID_TALLEST = 14.0, 12.0  # of the cells together
_MOST_VECTORS = 30_000  # cells; more of them are written as an image in .svg and .pdf


def legend(axes, x, y, left_out):
    """A legend of the colours, from (x, y) to the right, in inches."""
    from matplotlib.patches import Rectangle
    width, entries = 0.16, [(LEFT, "-1 (left)"), (RIGHT, "+1 (right)")]
    if left_out:
        entries.append((LIGHT["paper"], "left out"))
    for colour, text in entries:
        axes.add_patch(Rectangle((x, y), width, width, facecolor=colour, edgecolor=RULE,
                                 linewidth=0.5))
        axes.text(x + width + 0.06, y + width / 2, text, va="center", fontsize=8)
        x += width + 0.25 + text_width([text], 8)
    return x


def _model_names(rows):
    """Options of each row, or the end of the name of its model, where names differ.

    Of models in one folder the folder is left out.
    """
    texts = [visible(row.text.strip(), 10**6).replace("\n", " ") for row in rows]
    folders = {text.rpartition("/")[0] for row, text in zip(rows, texts) if row.is_name}
    if len(folders) == 1:
        texts = [text.rpartition("/")[2] if row.is_name else text
                 for row, text in zip(rows, texts)]
    return [text if len(text) <= 32 else "..." + text[-29:] if row.is_name else text[:29] + "..."
            for row, text in zip(rows, texts)]


def matrix_figure(tree):
    """The figure of a tree that is one coding matrix (m rows, k classes)."""
    import numpy as np
    node = tree.nodes[0]
    m, k = len(node.rows), len(node.children)
    code = np.zeros((m, k), dtype=np.int8)
    for i, row in enumerate(node.rows):
        code[i, list(row.left)] = -1
        code[i, list(row.right)] = 1

    names = class_names(tree.names, tree.labels)
    texts = _model_names(node.rows)
    if not any(texts):
        texts = None
    wide = max(min(0.26, _GRID_WIDEST / k), min(0.42, 3.0 / k))
    tall = max(min(0.22, _GRID_TALLEST / m), 0.001)
    columns, rows = thinned(k, int(wide * k / 0.15)), thinned(m, int(tall * m / 0.15))
    upright = text_width(names, 9) + 0.08 > wide  # then the names are turned
    foot = 0.1 + (text_width(names, 9) if upright else 0.15)
    above = foot if tall * m > 8 else 0.0  # and so do not have to be looked for far below
    head = text_width([texts[i] for i in rows] if texts else [str(m)], 8) + 0.1
    word = 0.22  # for the word on the axis
    width = max(_MARGIN * 2 + word + head + wide * k, 3.2)
    figure, axes = page(width, 2 * _MARGIN + _GRID_HEAD + above + tall * m + foot)
    x, y = _MARGIN + word + head, _MARGIN + _GRID_HEAD + above

    _cells(axes, code, x, y, wide, tall)
    legend(axes, _MARGIN, _MARGIN, bool((code == 0).any()))
    for j in columns:
        axes.text(x + (j + 0.5) * wide, y + m * tall + 0.06, names[j], ha="center", va="top",
                  rotation=90 if upright else 0)
        if above:
            axes.text(x + (j + 0.5) * wide, y - 0.06, names[j], ha="center", va="bottom",
                      rotation=90 if upright else 0)
    for i in rows:
        axes.text(x - 0.06, y + (i + 0.5) * tall, texts[i] if texts else str(i), ha="right",
                  va="center", fontsize=8)
    axes.text(_MARGIN + 0.02, y + m * tall / 2, f"{m} binary classifiers" if m > 6 else "",
              rotation=90, va="center", ha="center", color=MUTED)
    return figure


def _cells(axes, code, x, y, wide, tall):
    import numpy as np
    from matplotlib.colors import ListedColormap
    m, k = code.shape
    lined = min(wide, tall) > 0.06
    axes.pcolormesh(x + wide * np.arange(k + 1), y + tall * np.arange(m + 1), code,
                    cmap=ListedColormap([LEFT, LIGHT["paper"], RIGHT]), vmin=-1, vmax=1,
                    edgecolors=RULE if lined else "none", linewidth=0.5,
                    rasterized=m * k > _MOST_VECTORS)
    axes.set(xlim=(0, axes.figure.get_figwidth()), ylim=(axes.figure.get_figheight(), 0))
    axes.plot([x, x + k * wide, x + k * wide, x, x], [y, y, y + m * tall, y + m * tall, y],
              color=GREY, linewidth=0.6)
    if m * k <= 600 and min(wide, tall) >= 0.16:  # signs too, where there is room for them
        for i, j in zip(*np.nonzero(code)):
            axes.text(x + (j + 0.5) * wide, y + (i + 0.5) * tall, "+" if code[i, j] > 0 else "-",
                      ha="center", va="center_baseline", fontsize=8, color=LIGHT["paper"])


_JOINED_SPACING, _WIDTH = 0.22, 5.0  # inches, of a dendrogram


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
    names = class_names(tree.names, labels)
    finite = [height for height in heights if math.isfinite(height)]
    largest = max(finite, default=0.0) or 1.0
    far = 1.15 * largest
    spacing = min(_JOINED_SPACING, _TALLEST / len(labels))
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
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    if broken:
        ticks = [tick for tick in axes.get_xticks() if 0 <= tick <= largest * 1.02]
        axes.set_xticks([*ticks, far], [*(f"{tick:g}" for tick in ticks), "infinite"])
        axes.axvline((largest + far) / 2, color=GREY, linestyle=(0, (2, 2)), linewidth=0.8)
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
        lines, colors=PATHS["join"], linewidths=1.3, zorder=2,
        linestyles=[(0, (3, 2)) if broken else "solid" for broken in dashed]))
