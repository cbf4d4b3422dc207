"""Random decision trees over classes: nested pairs of class positions, drawn from a seed.

Uniform over all labelled binary trees (Remy, "Un procede iteratif de denombrement d'arbres
binaires et son application a leur generation aleatoire", 1985, for leaves with labels);
class-balanced and data-balanced (Dong, Frank and Kramer, "Ensembles of balanced nested dichotomies
for multi-class problems", 2005).  A tree has the side of the lowest class on the left.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from .distances import parts_of

_IDLE = 200  # draws without a new tree, after which there are taken to be no more


def uniform(counts: Sequence[int], generator: random.Random):
    """A tree drawn from all (2k - 3)!! alike: each class in turn joins it at one of its nodes."""
    # a node is a list of its class, or of its two sides
    leaves: list[list] = [[leaf] for leaf in range(len(counts))]
    root = leaves[0]
    inner = []
    for leaf in range(1, len(counts)):
        at = generator.randrange(2 * leaf - 1)
        group, at = (leaves, at) if at < leaf else (inner, at - leaf)
        node, group[at] = group[at], group[at][:]
        node[:] = group[at], leaves[leaf]
        inner.append(node)
    order = [root]
    pairs = {}
    for node in order:
        order += node if len(node) > 1 else ()
    for node in reversed(order):
        pairs[id(node)] = tuple(pairs[id(side)] for side in node) if len(node) > 1 else node[0]
    return pairs[id(root)]


def class_balanced(counts: Sequence[int], generator: random.Random):
    """A tree whose nodes have half of their classes on each side, drawn at random."""

    def halves(classes):
        return classes[: len(classes) // 2], classes[len(classes) // 2 :]

    return _split(_shuffled(range(len(counts)), generator), halves)


def data_balanced(counts: Sequence[int], generator: random.Random):
    """A tree whose nodes have half of their points on one side, or just more, of random classes."""

    def halves(classes):
        classes = _shuffled(classes, generator)
        left = 1
        some = counts[classes[0]]
        total = sum(counts[c] for c in classes)
        while 2 * some < total and left < len(classes) - 1:
            some += counts[classes[left]]
            left += 1
        return classes[:left], classes[left:]

    return _split(list(range(len(counts))), halves)


# {name: function of the numbers of points in the classes and a generator}
KINDS: dict[str, Callable] = {
    "uniform": uniform,
    "class-balanced": class_balanced,
    "data-balanced": data_balanced,
}


def drawn_tree(kind: str, counts: Sequence[int], seed: int = 1, number: int = 0):
    """A random tree over classes with so many points; each `number` of a seed gives another."""
    generator = random.Random(f"{seed}:{number}" if number else seed)
    return oriented(KINDS[kind](counts, generator))


def different_trees(kind: str, counts: Sequence[int], seed: int = 1) -> Iterator:
    """Yield draw after draw, those that came before left out, until there are no new ones."""
    seen = set()
    number = 0
    last = 0
    while number - last <= _IDLE:
        pairs = drawn_tree(kind, counts, seed, number)
        if pairs not in seen:
            seen.add(pairs)
            last = number
            yield pairs
        number += 1


def oriented(pairs):
    """The tree with the side of the lowest class on the left of every node."""
    sides: dict = {}  # {id of a part: (its lowest class, the part turned)}
    for part in reversed(parts_of(pairs)):
        if isinstance(part, tuple):
            (low, left), (_, right) = sorted(
                (sides[id(side)] for side in part), key=lambda side: side[0]
            )
            sides[id(part)] = low, (left, right)
        else:
            sides[id(part)] = part, part
    return sides[id(pairs)][1]


def _shuffled(classes, generator):
    classes = list(classes)
    generator.shuffle(classes)
    return classes


def _split(classes, halves):
    """Nested pairs of `classes`, each set of which `halves` makes two of."""
    sets = [classes]
    first = []
    for some in sets:
        first.append(len(sets))
        if len(some) > 1:
            sets += halves(some)
    pairs: list = [None] * len(sets)
    for number in reversed(range(len(sets))):
        left = first[number]
        pairs[number] = (pairs[left], pairs[left + 1]) if len(sets[number]) > 1 else sets[number][0]
    return pairs[0]
