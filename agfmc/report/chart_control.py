"""Designs in files: the tree of a control file, its coding matrix, or its dendrogram."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..control.tree import Leaf, Tree
from .picture_file import picture_names, save
from .content import Picture
from .structure import coding_matrix, decision_tree, listed, titled_members
from .svg import Drawing, Panel, pixels, Scale, text_width, tick_texts
from .words import class_name, cut

_MOST_MEMBERS = 6  # of an ensemble that are drawn


def draw_control(
    path: str,
    tree: Tree,
    heights: Sequence[float] | None = None,
    shares: Mapping[int, float] | None = None,
) -> None:
    """Draw a control tree: a coding matrix, a tree of classes, the first members of an ensemble.

    Parameters
    ----------
    heights : sequence, optional, joining distances of the nodes of a tree of single classifiers,
        which may be infinite, for a dendrogram
    shares : mapping, optional, {number of a node: share of the training points that reached it}

    Raises
    ------
    AgfmcError : as `picture_file.save`
    """
    if heights is not None:
        save(path, "", [dendrogram(tree, heights)])
        return
    count = len(tree.roots)
    title = f"ensemble of {count} configurations" * tree.is_ensemble
    title += f", the first {_MOST_MEMBERS}" * (count > _MOST_MEMBERS)
    save(path, title, control_pictures(tree, shares))


def control_pictures(tree: Tree, shares: Mapping[int, float] | None = None) -> list[Picture]:
    """The picture of a control tree, or those of the first members of an ensemble."""
    names = picture_names(tree.names)
    pictures = []
    for member, title in titled_members(tree, _MOST_MEMBERS):
        if member.kind == "coding matrix":
            pictures.append(coding_matrix(member, names, title))
            continue
        boxes = {
            number: _words(node, sides, names, (shares or {}).get(number))
            for number, (node, sides) in enumerate(zip(member.nodes, member.branch_labels()))
        }
        picture = decision_tree(member, names, title=title, boxes=boxes)
        pictures.append(
            replace(
                picture,
                note=picture.note
                + (" Percentages are shares of the training points." if shares else ""),
            )
        )
    return pictures


def _words(node, sides, names, share):
    if node.direct is not None:
        texts = (
            f"{node.direct.learner_letter}: {node.direct.learner.title}",
            node.direct.name,
            node.direct.options.strip(),
        )
        return cut(" ".join(text for text in texts if text), 80)
    if not node.bare:
        return ""
    row = node.rows[0]
    if not (row.is_name and row.text.strip()):
        return cut(row.text.strip())
    # a file name tells a reader nothing
    text = " / ".join(listed(names, sides[branch], 2) for (branch,) in (row.left, row.right))
    if share is None:
        return text
    return f"{100 * share:.3g} %: {text}"


def dendrogram(tree: Tree, heights: Sequence[float]) -> Picture:
    """The picture of a tree of single classifiers whose nodes join at `heights`; infinite ones lie
    behind a broken axis."""
    names = picture_names(tree.names)
    texts = [cut(class_name(names, label)) for label in tree.labels]
    finite = [height for height in heights if math.isfinite(height)]
    largest = max(finite, default=0.0) or 1.0
    far = 1.15 * largest
    broken = len(finite) < len(heights)
    pitch = 16
    side = max(map(text_width, texts)) + 10
    tall = pitch * len(texts)
    drawing = Drawing(side + 500, tall + 50)
    if broken:
        across = Scale(0, 1.03 * far)
    else:
        across = Scale(0, 1.05 * largest)
    panel = Panel(drawing, side, 4, 480, tall, across)
    ticks = [tick for tick in panel.across.ticks(6) if tick <= 1.02 * largest]
    panel.axis_across(
        "distance at which classes join",
        [*ticks, *[far] * broken],
        [*tick_texts(ticks), *["infinite"] * broken],
    )
    if broken:
        drawing.line([(panel.x((largest + far) / 2), y) for y in (4, 4 + tall)], "rule")
    for index, text in enumerate(texts):
        drawing.text(side - 8, 4 + (index + 0.5) * pitch + 4, text, "end")
    places = {}
    spans = tree.spans()
    for number in range(len(tree.nodes) - 1, -1, -1):
        (y0, x0), (y1, x1) = (
            (4 + (spans[number][branch][0] + 0.5) * pitch, panel.x(0))
            if isinstance(child, Leaf)
            else places[child]
            for branch, child in enumerate(tree.nodes[number].children)
        )
        join = panel.x(min(heights[number], far))
        places[number] = (y0 + y1) / 2, join
        drawing.path(
            f"M{pixels(x0)} {pixels(y0)}H{pixels(join)}V{pixels(y1)}H{pixels(x1)}",
            "ink thin" + " dashed" * math.isinf(heights[number]),
        )
    return Picture(
        drawing, "Dendrogram", f"{len(texts)} classes, which join at distances up to {largest:.4g}"
    )
