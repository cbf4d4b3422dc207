"""Designs that are drawn: random trees, and ensembles of different designs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, islice

from ..control.build import from_pairs, joined, with_heading
from ..control.parse import MAX_TEXT
from ..control.tree import Tree
from ..core.errors import UsageError
from ..core.splits import derived_seed
from .design import design
from .random_trees import different_trees, drawn_tree
from .schemes import AVERAGES, find_scheme

MEMBERS = 10  # of an ensemble, by default, where there are as many
_IDLE = 50  # draws that give nothing new, after which there are taken to be no more designs


def random_tree(source: int | Sequence[float], *, kind: str = "uniform", seed: int = 1) -> Tree:
    """A random decision tree, of a kind in `random_trees.KINDS`, over the positions of the classes.

    `source` is the number of classes, or their sizes.  Raises `UsageError` for a kind that needs
    sizes where there are none.
    """
    sizes = _sizes(source, kind)
    return from_pairs(drawn_tree(kind, sizes, seed), range(len(sizes)))


def _sizes(source, kind):
    if not isinstance(source, int):
        return source
    if kind == "data-balanced":
        raise UsageError(
            "data-balanced trees are made of data: expected training data, found "
            f"the number {source}"
        )
    return (1,) * source


def ensemble(
    source: int | Sequence[float],
    *,
    of: str = "random-tree",
    members: int | None = None,
    average: str | None = None,
    **settings,
) -> Tree:
    """An ensemble of different designs of one scheme over the positions of the classes.

    `source` is as for `random_tree`.  The scheme `of` is "random-tree", the first trees that its
    seed draws, or a random code, of seeds derived from the seed.  By default there are `MEMBERS`, or
    as many as exist.  The decoder of the `average` is written into its head.  Raises `UsageError`
    for more members than there are.
    """
    scheme = find_scheme(of)
    number = members or MEMBERS
    if isinstance(source, int):
        k = source
    else:
        k = len(source)
    # of level trees, which have the least text
    if number * k * (6 * k.bit_length() + 2) > MAX_TEXT:
        raise UsageError(
            f"an ensemble of {number} configurations of {k} classes is too large to "
            f"be read again: expected {MAX_TEXT >> 20} MiB of text at most"
        )
    if of == "random-tree":
        draw = _random_trees
    else:
        draw = _codes
    trees = draw(scheme, source, number, {name: settings.get(name) for name in scheme.options})
    if len(trees) < (members or 2):
        has = (
            f"the scheme {scheme.name} has {len(trees)} different "
            f"configuration{'s' * (len(trees) > 1)} of these classes"
        )
        raise UsageError(
            f"{has}: an ensemble needs two or more"
            if len(trees) < 2
            else f"{has}, of {members} that were requested for an ensemble: expected "
            f"members={len(trees)} or fewer"
        )
    return with_average(average, joined(trees))


def with_average(average: str | None, tree: Tree) -> Tree:
    """`tree` with the decoder of an average in its head."""
    if average is None:
        return tree
    return with_heading(tree, "decoder", AVERAGES[average])


def _random_trees(scheme, source, number, settings):
    sizes = _sizes(source, settings["kind"])
    drawn = different_trees(settings["kind"], sizes, settings["seed"])
    return [from_pairs(pairs, range(len(sizes))) for pairs in islice(drawn, number)]


def _codes(scheme, source, number, settings):
    """Codes of derived seeds, those with the same partitions left out."""
    labels = range(source if isinstance(source, int) else len(source))
    codes: dict = {}
    last = 0
    for draw in count():
        seed = derived_seed(settings["seed"], draw)
        code = design(scheme.name, labels, **{**settings, "seed": seed})
        partitions = frozenset(frozenset(map(frozenset, sides)) for sides in code.sides())
        if partitions not in codes:
            codes[partitions] = code
            last = draw
        if len(codes) == number or draw - last > _IDLE:
            break
    return list(codes.values())
