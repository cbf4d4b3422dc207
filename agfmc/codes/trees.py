"""Trees of classes, and the code that a tree is.

A tree is nested pairs, (left, right), whose leaves are class positions:
((2, 0), 1).  It may be a chain thousands of levels deep, so nothing here
recurses into a tree that it was given.
"""

from __future__ import annotations

from ..errors import UsageError

__all__ = ["balanced_tree", "tree_rows"]


def balanced_tree(k):
    """Tree over the classes 0..k-1 in order, floor(n/2) of n leaves on the left of each node.

    Raises UsageError for k < 2.
    """
    if k < 2:
        raise UsageError(f"a tree needs at least two classes, not {k}")
    return _balanced(0, k)


def _balanced(first, size):
    if size == 1:
        return first
    left = size // 2
    return (_balanced(first, left), _balanced(first + left, size - left))


def tree_rows(tree):
    """The tree as a code: (rows, leaves).

    `leaves` is the tuple of leaves from left to right.  `rows` are in
    pre-order; a row holds positions in `leaves`, not the leaves themselves:
    those under the first child on the left, those under the second on the
    right.
    """
    leaves = []
    spans = []  # per node, in pre-order: first leaf, first leaf of the second child, end
    stack = [(tree, None)]
    while stack:
        node, span = stack.pop()
        if span is not None:  # back from a child of this node
            span.append(len(leaves))
        elif isinstance(node, tuple):
            first, second = node
            span = [len(leaves)]
            spans.append(span)
            stack += [(None, span), (second, None), (None, span), (first, None)]
        else:
            leaves.append(node)
    rows = [(tuple(range(a, b)), tuple(range(b, c))) for a, b, c in spans]
    return rows, tuple(leaves)
