"""A coding matrix as a grid of colours."""

from ..control.dot import visible
from .canvas import class_name, LEFT, page, RIGHT, text_width, thinned

__all__ = ["legend", "matrix_figure"]

_MARGIN, _HEAD = 0.2, 0.45  # inches
_WIDEST, _TALLEST = 14.0, 12.0  # of the cells together
_MOST_VECTORS = 30_000  # cells; more of them are written as an image in .svg and .pdf


def legend(axes, x, y, left_out, width=0.16):
    """A legend of the colours, from (x, y) to the right, in inches."""
    from matplotlib.patches import Rectangle
    entries = [(LEFT, "-1 (left)"), (RIGHT, "+1 (right)")]
    if left_out:
        entries.append(("white", "left out"))
    for colour, text in entries:
        axes.add_patch(Rectangle((x, y), width, width, facecolor=colour, edgecolor="#c8c8c8",
                                 linewidth=0.5))
        axes.text(x + width + 0.06, y + width / 2, text, va="center", fontsize=8)
        x += width + 0.25 + text_width([text], 8)
    return x


def matrix_figure(tree):
    """The figure of a tree that is one coding matrix (m rows, k classes)."""
    import numpy as np
    node = tree.nodes[0]
    m, k = len(node.rows), len(node.children)
    code = np.zeros((m, k), dtype=np.int8)
    for i, row in enumerate(node.rows):
        code[i, list(row.left)] = -1
        code[i, list(row.right)] = 1

    names = [class_name(tree.names, label) for label in tree.labels]
    texts = [visible(row.text.strip(), 32).replace("\n", " ") for row in node.rows]
    if not any(texts):
        texts = None
    wide = max(min(0.26, _WIDEST / k), min(0.42, 3.0 / k))
    tall = max(min(0.22, _TALLEST / m), 0.001)
    columns, rows = thinned(k, int(wide * k / 0.15)), thinned(m, int(tall * m / 0.15))
    upright = text_width(names, 9) + 0.08 > wide  # then the names are turned
    foot = 0.1 + (text_width(names, 9) if upright else 0.15)
    above = foot if tall * m > 8 else 0.0  # and so do not have to be looked for far below
    head = text_width([texts[i] for i in rows] if texts else [str(m)], 8) + 0.1
    word = 0.22  # for the word on the axis
    width = max(_MARGIN * 2 + word + head + wide * k, 3.2)
    figure, axes = page(width, 2 * _MARGIN + _HEAD + above + tall * m + foot)
    x, y = _MARGIN + word + head, _MARGIN + _HEAD + above

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
              rotation=90, va="center", ha="center", color="#606060")
    return figure


def _cells(axes, code, x, y, wide, tall):
    import numpy as np
    from matplotlib.colors import ListedColormap
    m, k = code.shape
    lined = min(wide, tall) > 0.06
    axes.pcolormesh(x + wide * np.arange(k + 1), y + tall * np.arange(m + 1), code,
                    cmap=ListedColormap([LEFT, "white", RIGHT]), vmin=-1, vmax=1,
                    edgecolors="#d8d8d8" if lined else "none", linewidth=0.5,
                    rasterized=m * k > _MOST_VECTORS)
    axes.set(xlim=(0, axes.figure.get_figwidth()), ylim=(axes.figure.get_figheight(), 0))
    axes.plot([x, x + k * wide, x + k * wide, x, x], [y, y, y + m * tall, y + m * tall, y],
              color="#b0b0b0", linewidth=0.6)
    if m * k <= 600 and min(wide, tall) >= 0.16:  # signs too, where there is room for them
        for i, j in zip(*np.nonzero(code)):
            axes.text(x + (j + 0.5) * wide, y + (i + 0.5) * tall, "+" if code[i, j] > 0 else "-",
                      ha="center", va="center_baseline", fontsize=8, color="white")
