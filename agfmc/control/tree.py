"""A control file as frozen data.

A `Tree` is flat: its nodes stand in the order of the text (pre-order), and a
node names its children by number.  So no walk over it recurses, and a chain
of thousands of levels is as good as any other tree.  The nodes of an ensemble are those of
its members, one after the other.  The records are named tuples,
which are there at once where a command only prints a control file.
"""

import math
import os
from collections import namedtuple
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import eq
from types import MappingProxyType

from ..core.errors import ControlError, Place
from ..core.text import numeral
from .learners import NODE_LEARNERS


class LazySequence(Sequence):
    """A sequence of make(item) for each of `items`, made when it is needed and not stored.

    The rows of a code may be half a million.
    It equals any sequence of equal items.  It can be sent to another process if `make` and
    `items` can.
    """

    def __init__(self, make, items):
        self._make = make
        self._items = items

    def __len__(self):
        return len(self._items)

    def __getitem__(self, at):
        if isinstance(at, slice):
            return LazySequence(self._make, self._items[at])
        return self._make(self._items[at])

    def __iter__(self):
        return map(self._make, self._items)

    def __eq__(self, other):
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None


# The largest class label.
MAX_LABEL = 2**31 - 1

# Rows times columns of the coding matrices of a file: all pairs of 1024 classes.
MAX_CELLS = 2**29

# Of the name of a model, beyond its base: forty levels of a tree. A file name has room for 255
# bytes, the base and an ending among them.
LONGEST_NAME = 120

# The lines `# KEYWORD: TEXT` that may stand at the head of a control file.
HEADINGS = ("options", "decoder", "weights", "normalisation")

# In place of a file: the classifiers have none, though one by the usual name is there.
NO_NORMALISATION = "none"

# Decoders that go through trees, or that average the members of an ensemble, and which of the two
# they are for; any other takes either as the coding matrix it stands for.
TREE_DECODERS = MappingProxyType(
    {"recursive": "trees", "full": "trees", "average": "ensembles", "geometric": "ensembles"}
)


class Leaf(namedtuple("Leaf", "label line column", defaults=(1, 1))):
    """A class, by its absolute label."""

    __slots__ = ()


class Row(namedtuple("Row", "text quoted left right line column", defaults=(1, 1))):
    """One binary classifier: the children on its two sides, as positions.

    `text` is the name of a trained model, or training options where `quoted`.
    Left is -1 (label 0), right is +1 (label 1).
    """

    __slots__ = ()

    @property
    def is_name(self):
        """True if `text` is the name of a trained model, False for training options."""
        return not (self.quoted and looks_like_options(self.text))

    def sides_of(self, branches):
        """The labels of the branches on both sides, (left, right) of tuples."""
        return tuple(
            tuple(chain.from_iterable(branches[child] for child in side))
            for side in (self.left, self.right)
        )


class NodeClassifier(
    namedtuple("NodeClassifier", "learner_letter options name line column", defaults=(None, 1, 1))
):
    """A multi-class classifier for all branches of its node.

    `learner_letter` is one of `NODE_LEARNERS`; `options` stand in its quotes; `name` is that of
    the trained model, None in a training file.
    """

    __slots__ = ()

    @property
    def learner(self):
        """Its row in the table of learners."""
        return NODE_LEARNERS[self.learner_letter]


class Node(namedtuple("Node", "rows children bare depth direct", defaults=(None,))):
    """A model and its branches.

    `children` holds a `Leaf` or the number of another node for each branch;
    `bare` marks a single classifier written without a partition, whose two
    children are its two sides; `direct` is a `NodeClassifier` in place of any rows.
    `depth` is 0 at the root.
    """

    __slots__ = ()


class Heading(namedtuple("Heading", "text line column", defaults=(1, 1))):
    """The text of a line `# KEYWORD: TEXT` at the head of a control file."""

    __slots__ = ()


class Tree(
    namedtuple(
        "Tree",
        "nodes names source headings roots",
        defaults=(MappingProxyType({}), None, MappingProxyType({}), (0,)),
    )
):
    """A whole control file: nodes in pre-order, the first one the root.

    Attributes
    ----------
    names : {label: name} of the classes
    source : name of the file, or None
    headings : {one of `HEADINGS`: `Heading`} of those in the file
    roots : node numbers, ascending, at which members begin: several configurations over the same
        classes are an ensemble
    """

    __slots__ = ()

    def __getnewargs__(self):  # a mapping proxy cannot be pickled
        return self.nodes, dict(self.names), self.source, dict(self.headings), self.roots

    @property
    def options(self):
        """Training options of rows with "" where no others are given; "" without any."""
        if "options" in self.headings:
            return self.headings["options"].text
        return ""

    @property
    def decoder(self):
        """Name of the decoder that is used where no other is chosen, or None."""
        if "decoder" in self.headings:
            return self.headings["decoder"].text
        return None

    @property
    def norm_file(self):
        """The path of the normalisation that it names in the folder of its file, or None."""
        name = self.headings.get("normalisation", Heading(NO_NORMALISATION)).text
        if name == NO_NORMALISATION:
            return None
        return os.path.join(os.path.dirname(self.source or ""), name)

    @property
    def kind(self) -> str:
        """The kind of configuration, in words."""
        if self.is_ensemble:
            return "ensemble"
        if not self.hierarchical:
            if self.nodes[0].direct:
                return "direct classifier"
            return "coding matrix"
        if all(node.bare for node in self.nodes):
            return "decision tree"
        return "nested"

    @property
    def is_ensemble(self):
        """True if the tree has several members."""
        return len(self.roots) > 1

    @property
    def parts(self):
        """The slice of the nodes of each member."""
        return [slice(*ends) for ends in zip(self.roots, (*self.roots[1:], len(self.nodes)))]

    @property
    def members(self):
        """Its configurations, each as a `Tree`; `(self,)` where there is one.

        They have the names, the options of the heading, and the places in the file.
        """
        if not self.is_ensemble:
            return (self,)
        headings = {word: self.headings[word] for word in self.headings if word == "options"}
        return tuple(
            Tree(
                tuple(
                    changed(
                        node,
                        children=tuple(
                            child if isinstance(child, Leaf) else child - part.start
                            for child in node.children
                        ),
                    )
                    for node in self.nodes[part]
                ),
                self.names,
                self.source,
                headings,
            )
            for part in self.parts
        )

    @property
    def weights(self):
        """The share of each member in their average, with the sum 1."""
        if "weights" not in self.headings:
            return (1 / len(self.roots),) * len(self.roots)
        return shares(self.headings["weights"].text)

    @property
    def labels(self):
        """Class labels in the order of the text, of the first member."""
        return tuple(label for _, label in self.leaves())

    @property
    def classes(self):
        """Class labels in ascending order: the order of all output columns."""
        return tuple(sorted(self.labels))

    @property
    def rows(self):
        """All binary classifiers in the order of the text."""
        return tuple(row for node in self.nodes for row in node.rows)

    @property
    def directs(self):
        """{node number: `NodeClassifier`} of the nodes that have one, in the order of the text."""
        return {
            number: node.direct for number, node in enumerate(self.nodes) if node.direct is not None
        }

    @property
    def hierarchical(self):
        """False where the whole file is one coding matrix or one multi-class node.

        An ensemble is, too, more than one coding matrix.
        """
        return len(self.nodes) > 1 or self.nodes[0].bare

    def leaves(self, root=0):
        """Yield (node number, label), in the order of the text, of the member of that root."""
        stack = [(root, 0)]
        while stack:
            number, branch = stack.pop()
            children = self.nodes[number].children
            while branch < len(children):
                child = children[branch]
                branch += 1
                if isinstance(child, Leaf):
                    yield number, child.label
                else:
                    stack.append((number, branch))
                    stack.append((child, 0))
                    break

    def class_counts(self):
        """Per node, the number of classes below it."""
        counts = [0] * len(self.nodes)
        for number in range(len(self.nodes) - 1, -1, -1):
            counts[number] = sum(
                1 if isinstance(child, Leaf) else counts[child]
                for child in self.nodes[number].children
            )
        return counts

    def spans(self):
        """Per node, the (start, stop) of each child in the order of the leaves of its member."""
        counts = self.class_counts()
        starts = [0] * len(self.nodes)
        result = []
        for number, node in enumerate(self.nodes):
            stop = starts[number]
            spans = []
            for child in node.children:
                start = stop
                if isinstance(child, Leaf):
                    stop += 1
                else:
                    starts[child] = start
                    stop += counts[child]
                spans.append((start, stop))
            result.append(tuple(spans))
        return tuple(result)

    def sides(self):
        """Per binary classifier, the absolute labels on its sides (left, right)."""
        return [
            row.sides_of(branches)
            for node, branches in zip(self.nodes, self.branch_labels())
            for row in node.rows
        ]

    def branch_labels(self):
        """Per node, the absolute labels of each branch, as a tuple of tuples."""
        spans = self.spans()
        branches = []
        for root, part in zip(self.roots, self.parts):
            labels = tuple(label for _, label in self.leaves(root))
            branches += [tuple(labels[slice(*span)] for span in ends) for ends in spans[part]]
        return branches

    def place(self, record):
        """The `Place` of a `Row`, `Leaf`, `NodeClassifier` or `Heading` in the control file."""
        return Place(self.source, record.line, record.column)

    def require_names(self):
        """Raise `ControlError` unless every classifier is the name of a trained model."""
        way = "train this control file with multi_borders first"
        for row in self.rows:
            if not row.is_name:
                raise self.place(row).error(
                    ControlError,
                    f'expected the name of a trained model, found the options "{row.text}": {way}',
                )
        for direct in self.directs.values():
            if direct.name is None:
                raise self.place(direct).error(
                    ControlError,
                    f"expected the name of a model before the code {direct.learner_letter}: {way}",
                )

    def require_options(self):
        """Raise `ControlError` unless every classifier is options in double quotes."""
        for record, code, name in (
            *((row, "", None if row.quoted else row.text) for row in self.rows),
            *(
                (direct, f" and the code {direct.learner_letter}", direct.name)
                for direct in self.directs.values()
            ),
        ):
            if name is not None:
                if code:
                    what = "options"
                else:
                    what = "training options"
                raise self.place(record).error(
                    ControlError,
                    f"expected {what} in double quotes{code}, found the model name "
                    f"'{name}': is this file trained already?",
                )


def clash(named: Iterable[tuple[int, str]]) -> tuple[int, str] | None:
    """(number of the pair, words) of the first of the (label, name) pairs `named` that is wrong.

    Each class has one name, and no other class has the same.  None where all are right.
    """
    name_of = {}
    label_of = {}
    for number, (label, name) in enumerate(named):
        if name_of.setdefault(label, name) != name:
            return number, f"class {label} has two names, {name_of[label]!r} and {name!r}"
        if label_of.setdefault(name, label) != label:
            return (
                number,
                f"two classes, {label_of[name]} and {label}, have the same name, {name!r}",
            )
    return None


def shares(text: str) -> tuple[float, ...] | None:
    """The numbers in `text`, divided by their sum; None unless they can be weights.

    They are finite and not negative, and not all are 0.
    """
    try:
        numbers = [numeral(word) for word in text.split()]
    except ValueError:
        return None
    largest = max(numbers, default=0.0)
    if not largest > 0 or not all(0 <= number < math.inf for number in numbers):
        return None
    numbers = [number / largest for number in numbers]  # the sum of the largest would be infinite
    total = math.fsum(numbers)
    return tuple(number / total for number in numbers)


def changed(record, **changes):
    """A `Tree` or a part of one with other fields."""
    return record._replace(**changes)


def renumbered(node: Node, labels) -> Node:
    """A node whose classes have labels[label] in place of each label."""
    children = tuple(
        changed(child, label=labels[child.label]) if isinstance(child, Leaf) else child
        for child in node.children
    )
    return changed(node, children=children)


def looks_like_options(text: str) -> bool:
    """Return True if quoted `text` can only be options: empty, ".", or beginning with "-"."""
    text = text.strip()
    return text in ("", ".") or text.startswith("-") or text.startswith("learner=")


def node_names(tree: Tree, base: str) -> list[str]:
    """The name of each node below `base`: the root is `base`, child i of a node adds `.%02d`.

    The root of member i of an ensemble is `base.e%02d`.

    Where this would make the name of a classifier longer than `base` by more than
    `LONGEST_NAME` characters, the nodes of the whole tree are numbered in the order of the
    text: node n below the root is `base.n%04d`, and of an ensemble every node.
    """
    names = [base] * len(tree.nodes)
    if tree.is_ensemble:
        for member, root in enumerate(tree.roots):
            names[root] = f"{base}.e{member:02d}"
    longest = 0
    for number, node in enumerate(tree.nodes):
        if node.bare or not node.rows:
            row = 0
        else:
            row = len(f"-{len(node.rows) - 1:02d}")
        longest = max(longest, len(names[number]) - len(base) + row)
        if longest > LONGEST_NAME:
            if tree.is_ensemble:
                first = 0
            else:
                first = 1
            return [base] * first + [f"{base}.n{i:04d}" for i in range(first, len(names))]
        for branch, child in enumerate(node.children):
            if not isinstance(child, Leaf):
                names[child] = f"{names[number]}.{branch:02d}"
    return names


def model_names(tree: Tree, base: str) -> list[str]:
    """Names of the binary models of `tree` below `base`, in the order of the text.

    A single classifier has the name of its node, row i of a coding matrix adds
    `-%02d`.
    """
    names = []
    for node, name in zip(tree.nodes, node_names(tree, base)):
        if node.bare:
            names.append(name)
        else:
            names.extend(f"{name}-{i:02d}" for i in range(len(node.rows)))
    return names
