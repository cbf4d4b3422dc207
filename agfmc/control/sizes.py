"""How large a control file may be, and what it stands for: a short one can stand for anything."""

from __future__ import annotations

from .tree import Leaf, MAX_CELLS

__all__ = ["MAX_DEPTH", "MAX_SIDES", "MAX_TEXT", "Sizes"]

MAX_DEPTH = 10_000
MAX_TEXT = 256 * 2**20  # bytes
MAX_SIDES = 2**26


class Sizes:
    """Counts the nodes of a file as they close, innermost first.

    Cells: rows times branches of its coding matrices, `MAX_CELLS` at most.  Sides: for
    each classifier the labels that it tells apart, and the levels above it; `MAX_SIDES` at
    most.
    """

    def __init__(self):
        self.cells = self.sides = 0
        self._leaves = {}  # {node number: labels} where the parent is still open

    def exceeded(self, node, number):
        """Count a `Node` with its number; -> what is too much now, in words, or None."""
        counts = [1 if isinstance(child, Leaf) else self._leaves.pop(child)
                  for child in node.children]
        leaves = self._leaves[number] = sum(counts)
        self.sides += leaves
        if not node.bare:
            self.cells += len(node.rows) * len(counts)
            self.sides += node.depth * len(node.rows)
            if leaves > len(counts):  # else no more than what stands in the text
                self.sides += sum(counts[i] for row in node.rows for i in (*row.left, *row.right))
        if self.cells > MAX_CELLS:
            return (f"the coding matrices up to here have {self.cells} entries: there may be "
                    f"{MAX_CELLS} at most")
        if self.sides > MAX_SIDES:
            return (f"the classifiers up to here tell {self.sides} labels apart, all together: "
                    f"there may be {MAX_SIDES} at most")
        return None
