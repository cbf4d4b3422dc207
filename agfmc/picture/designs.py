"""Designs that were searched for: a tree with the losses of its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..report.structure import decision_tree
from .canvas import picture_names, save

__all__ = ["draw_losses"]


def draw_losses(path: str, scored: Any, shares: Mapping[int, float], what: str) -> None:
    """Draw a decision tree with the loss of each node, and the share of the points on each line.

    scored: has `tree`, with single classifiers alone, `nodes`, with `loss` and its standard
    `error` for each node in the order of the text, and `loss`, `error` and `asked` of the tree;
    shares: {label: share of the points};  what: the name of the loss.

    Raises UsageError as `canvas.save`.
    """
    tree, called = scored.tree, picture_names(scored.tree.names)
    names = {label: f"{called.get(label) or label}, {100 * shares[label]:.1f} %"
             for label in tree.labels}
    top = max(node.loss for node in scored.nodes) or 1.0
    boxes = {number: (f"{node.loss:.4f} \u00b1{node.error:.4f}", node.loss / top)
             for number, node in enumerate(scored.nodes)}
    picture = decision_tree(tree, names, boxes=boxes, shares=shares)
    note = f"{picture.note} At the nodes their losses, the larger the deeper in colour, with " \
           "standard errors; lines are as wide as the share of the points."
    save(path, f"{what} {scored.loss:.4f} \u00b1 {scored.error:.4f} per point; "
               f"{scored.asked:.2f} of {len(tree.nodes)} classifiers asked per point, mean",
         [replace(picture, note=note)])
