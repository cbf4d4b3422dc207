"""A control tree for some of its classes alone."""

from __future__ import annotations

from ..errors import ControlError
from .build import written_out
from .tree import changed, Leaf

__all__ = ["restricted"]


def restricted(tree, labels):
    """`tree` without the classes that are not in `labels`; the same tree where it has none.

    A row with an empty side goes; so does one that has become the same partition as an earlier
    row with the same options.  A node with one branch left is replaced by that branch.  The
    options "." are written out, as the row that they refer to may go.  So one-vs-one stays
    one-vs-one, and likewise for one-vs-rest, adjacent and exhaustive codes.

    Raises `ControlError` where fewer than two classes are left, or one that no row tells from
    any other.
    """
    keep = set(labels)
    if keep.issuperset(tree.labels):
        return tree
    last = len(tree.nodes)
    left = [None] * last  # of each node: itself by its number, the one branch of it, or None
    thin = {}
    texts = list(written_out(tree))
    for number in range(last - 1, -1, -1):  # children before their parents
        node = tree.nodes[number]
        mine = [texts.pop() for _ in node.rows][::-1]
        places, children = {}, []
        for branch, child in enumerate(node.children):
            if isinstance(child, Leaf):
                child = child if child.label in keep else None
            else:
                child = left[child]
            if child is not None:
                places[branch] = len(children)
                children.append(child)
        if len(children) > 1:
            thin[number] = changed(node, rows=_rows(node.rows, mine, places, tree),
                                   children=tuple(children))
        left[number] = number if len(children) > 1 else children[0] if children else None
    if not thin:
        raise ControlError("names fewer than two of the classes that are left in the data",
                           file=tree.source)
    return changed(tree, nodes=_numbered(thin), names={
        label: name for label, name in tree.names.items() if label in keep})


def _rows(rows, texts, places, tree):
    """The rows of a node for the branches that are left; places: {branch: its new position}."""
    thin, seen = [], {}
    for row, text in zip(rows, texts):
        sides = [tuple(places[i] for i in side if i in places) for side in (row.left, row.right)]
        if not all(sides):
            continue
        before = frozenset(map(frozenset, (row.left, row.right)))
        # a row that stands twice in the file may be meant to count twice
        if seen.setdefault((frozenset(map(frozenset, sides)), text), before) == before:
            thin.append(changed(row, text=text, left=sides[0], right=sides[1]))
    told_apart = {i for row in thin for i in (*row.left, *row.right)}
    if rows and len(told_apart) < len(places):
        raise tree.place(rows[0]).error(
            ControlError, "without the classes that are left out, a branch of this coding matrix "
            "stands in no partition: `print_control --min-class N DATA` writes one for the classes "
            "that are left")
    return tuple(thin)


def _numbered(nodes):
    """The nodes {number: node} with new numbers and depths, in the same order."""
    numbers = {number: place for place, number in enumerate(sorted(nodes))}
    depths = [0] * len(nodes)
    result = []
    for number, place in numbers.items():
        children = tuple(child if isinstance(child, Leaf) else numbers[child]
                         for child in nodes[number].children)
        for child in children:
            if not isinstance(child, Leaf):
                depths[child] = depths[place] + 1
        result.append(changed(nodes[number], children=children, depth=depths[place]))
    return tuple(result)
