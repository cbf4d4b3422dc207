"""The options that a control tree leaves open: which they are, and the tree with them filled in."""

from __future__ import annotations

from ..control.build import rename, resolve_options
from ..control.tree import Tree

__all__ = ["open_rows", "with_options"]


def open_rows(tree: Tree) -> list[bool]:
    """For each row of `tree`, True where the options of the command line would be its own."""
    default = object()
    return [text is default for text in resolve_options(tree, default)]


def with_options(tree: Tree, texts) -> Tree:
    """`tree` with options for its open rows: one text for all, or one for each row of `tree`."""
    texts = [texts] * len(tree.rows) if isinstance(texts, str) else texts
    return rename(tree, [text if is_open else row.text for row, text, is_open in
                         zip(tree.rows, texts, open_rows(tree))], quoted=True)
