"""Which decoders suit a configuration, and the classifier that a decoder makes of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..codes.matrix import columns_are_orthogonal, rows_to_matrix
from ..control.build import to_code
from ..decode.code_kinds import one_vs_one
from ..decode.methods import find_method
from ..errors import UsageError
from .configuration import Configuration
from .classifier import Classifier

__all__ = ["Decoder", "TREE_DECODERS", "classifier_with", "decoders_of", "gives_probabilities",
           "gives_scores"]

# Ways through a tree; any other decoder takes the tree as the coding matrix it stands for.
TREE_DECODERS = ("recursive", "full")


class Decoder(NamedTuple):
    """name: as it is printed;  method: as `find_method` takes it;  mode: "flat" for a
    coding matrix, and for a tree taken as one, else one of `TREE_DECODERS`."""

    name: str
    method: str
    mode: str


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
    code = _code(tree)
    k = code.shape[1]
    if len(code) == k * (k - 1) // 2 and k > 2 and (np.count_nonzero(code, axis=1) == 2).all():
        return "inverse"
    if k > 2 and columns_are_orthogonal(code):
        return "orthogonal"
    return "least-squares"


def _code(tree):
    """The coding matrix (m, k) of a tree of one node."""
    node = tree.nodes[0]
    return rows_to_matrix([(row.left, row.right) for row in node.rows], len(node.children))


def gives_scores(decoder):
    """True where a `Decoder` gives a number for every class, and the largest one wins."""
    return decoder.mode != "recursive" and find_method(decoder.method).gives != "winner"


def gives_probabilities(decoder, tree):
    """True where these numbers are probabilities: none negative, and their sum 1.

    Estimates, whose signs and sums are free, are such for one-vs-one alone.
    """
    if not gives_scores(decoder):
        return False
    method = find_method(decoder.method)
    if method.gives == "estimates" and method.name in ("inverse", "wu-lin-weng"):
        tree = to_code(tree) if tree.hierarchical else tree
        return bool(tree.directs) or one_vs_one(_code(tree)) is not None
    return method.gives == "probabilities"


def classifier_with(configuration, decoder, **more):
    """The `Classifier` of a configuration with one of its `Decoder`s; more: as it takes it."""
    if decoder.mode == "flat" and configuration.tree.hierarchical:
        configuration = Configuration(configuration.model, to_code(configuration.tree))
    mode = "recursive" if decoder.mode == "flat" else decoder.mode
    return Classifier(configuration, decoder.method, mode, **more)
