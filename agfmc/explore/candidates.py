"""What is compared: control files or schemes, each with the decoders that suit it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..coding.matrix import rows_to_matrix
from ..coding.schemes import find_scheme
from ..control.tree import Tree, changed
from ..decode.methods import find_method
from ..errors import ControlError, UsageError
from ..flow.design import design_for
from ..formats.controlfile import read_control

__all__ = ["Candidate", "Decoder", "TREE_DECODERS", "decoders_of", "read_candidate"]

# Ways through a tree; any other decoder takes the tree as the coding matrix it stands for.
TREE_DECODERS = ("recursive", "full")


class Decoder(NamedTuple):
    """name: as it is printed;  method: as `find_method` takes it;  mode: "flat" for a
    coding matrix, and for a tree taken as one, else one of `TREE_DECODERS`."""

    name: str
    method: str
    mode: str


@dataclass(frozen=True)
class Candidate:
    """A configuration before it is trained.

    name: as the user wrote it;  tree: its training control tree, or None for a scheme
    that is laid out anew for each training part;  wanted: names of decoders, or
    None for those that suit;  design: further arguments of `design_for`.
    """

    name: str
    tree: Tree | None
    scheme: str | None
    wanted: tuple | None = None
    design: dict = field(default_factory=dict, compare=False)

    def tree_for(self, x, y, names):
        """The training control tree for a training part x (n, d), y (n,); names: {label: name}."""
        if self.tree is not None:
            return self.tree if self.tree.names else changed(self.tree, names={
                label: names[label] for label in self.tree.labels if label in names})
        labels = [int(label) for label in np.unique(y)]
        return design_for(self.scheme, x, y, labels, names, **self.design)


def read_candidate(text, wanted=None, **design):
    """The `Candidate` of a word of the command line, FILE or SCHEME, with `:DECODER,...` behind.

    wanted: names of decoders where the word has none; design: for schemes, as
    `design_for` takes it.  Raises `UsageError` for a word that is neither, and for a
    trained control file `ControlError`.
    """
    name, decoders = _parted(text)
    if decoders is not None:
        wanted = tuple(word.strip() for word in decoders.split(","))
    for word in wanted or ():
        if word not in TREE_DECODERS:
            find_method(word)
    if name == "-" or os.path.exists(name):
        tree = read_control(name)
        tree.require_options()
        for direct in tree.directs.values():
            if direct.code == "G":
                raise ControlError("a classifier of code G is another program's: it cannot be "
                                   "tried here", file=tree.source, line=direct.line,
                                   column=direct.column)
        return Candidate(name, tree, None, wanted)
    try:
        scheme = find_scheme(name)
    except UsageError as error:
        raise UsageError(f"there is no file '{name}', and {error.message}") from None
    if scheme.name in ("convert", "contingency"):
        raise UsageError(f"the scheme {scheme.name} starts from a file: let print_control make a "
                         "control file of it")
    return Candidate(scheme.name, None, scheme.name, wanted, design)


def _parted(text):
    """(file or scheme, decoders or None): the name ends at the last colon that leaves a file,
    else at the first."""
    if os.path.exists(text) or ":" not in text:
        return text, None
    places = [place for place, letter in enumerate(text) if letter == ":"]
    for place in reversed(places):
        if os.path.exists(text[:place]):
            return text[:place], text[place + 1:]
    return text[:places[0]], text[places[0] + 1:]


def decoders_of(tree, wanted=None):
    """The `Decoder`s for a control tree: those wanted, else those that suit its structure.

    One-vs-one: inverse;  an orthogonal code: orthogonal;  other coding
    matrices: least-squares;  trees: recursive, and the tree as a code by
    least-squares;  a direct classifier at the root, or in a tree: recursive.
    """
    hierarchical, direct = tree.hierarchical, bool(tree.directs)
    if wanted is None:
        if hierarchical:
            wanted = ("recursive",) if direct else ("recursive", "least-squares")
        elif direct:
            wanted = ("least-squares",)
        else:
            wanted = (_suiting(tree),)
    return tuple(_decoder(word, hierarchical, direct) for word in wanted)


def _decoder(word, hierarchical, direct):
    if word in TREE_DECODERS:
        if not hierarchical:
            raise UsageError(f"the decoder {word} is for trees")
        return Decoder(word, "least-squares", word)
    method = find_method(word)
    if method.gives == "values":
        raise UsageError(f"{method.name} gives no classes: it cannot be compared")
    if hierarchical and direct:
        raise UsageError("a tree with a direct classifier is no coding matrix: its decoders are "
                         "recursive and full")
    return Decoder(method.name, method.name, "flat")


def _suiting(tree):
    node = tree.nodes[0]
    code = rows_to_matrix([(row.left, row.right) for row in node.rows], len(node.children))
    k = code.shape[1]
    if len(code) == k * (k - 1) // 2 and k > 2 and (np.count_nonzero(code, axis=1) == 2).all():
        return "inverse"
    gram = code.T.astype(np.int64) @ code
    if k > 2 and not (gram - np.diag(np.diag(gram))).any() and len(set(np.diag(gram))) == 1 and \
            np.count_nonzero(code) == code.size:
        return "orthogonal"
    return "least-squares"
