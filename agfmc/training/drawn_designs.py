"""Designs that are drawn: random trees, the best of many of them, and ensembles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from typing import NamedTuple, TYPE_CHECKING

from ..codes.random_trees import different_trees, drawn_tree
from ..codes.schemes import find_scheme
from ..control.build import from_pairs, joined, relabelled
from ..control.parse import MAX_TEXT
from ..control.tree import Tree
from ..errors import UsageError
from ..formats.inputs import refuse_beyond
from .design import design, LabelledPoints

if TYPE_CHECKING:
    from .tree_search import Chosen

__all__ = ["Designed", "MEMBERS", "ensemble", "random_tree"]

MEMBERS = 10  # of an ensemble, by default, where there are as many
_BYTES = 70  # for each class of a tree that is drawn
_IDLE = 50  # seeds that give nothing new, after which there are taken to be no more designs
_BATCH = 50  # trees whose costs are got at once


class Designed(NamedTuple):
    """A training control tree over the labels of points, and lines about it."""

    tree: Tree
    notes: tuple[str, ...] = ()


def random_tree(source: int | LabelledPoints, *, kind: str = "uniform", seed: int = 1,
                draws: int = 1, **searching) -> Tree | Designed | Chosen:
    """A random decision tree of a kind in `codes.random_trees.KINDS`.

    source: a number of classes, for a tree over their positions;  or points, for the tree of so
    many different draws that has the least leave-one-out loss.  searching: `search`, of which
    `machine`, `loss` and `alternatives` count, `options`, `workers`, `progress` and `kept`, as of
    `tree_search.best_tree`.
    Raises `UsageError` for what takes data where there are none.
    """
    if isinstance(source, int):
        if draws > 1:
            raise UsageError(f"the best of {draws} draws is told by data: expected training data, "
                             f"found the number {source}")
        return from_pairs(drawn_tree(kind, _counts(source, kind), seed), range(source))
    if draws > 1:
        refuse_beyond(_BYTES * draws * len(source.labels), f"{draws} trees", None)
        trees = list(islice(different_trees(kind, _counts(source, kind), seed), draws))
        progress = searching.pop("progress", None)
        return _best_of(trees, _tree_costs(source, len(trees), seed, **searching),
                        f"{len(trees)} different random trees, {kind}, of seed {seed}", progress)
    return Designed(from_pairs(drawn_tree(kind, _counts(source, kind), seed), source.labels,
                               source.names))


def _counts(source, kind):
    """The numbers of points in the classes, or the sums of their weights."""
    if isinstance(source, int):
        if kind == "data-balanced":
            raise UsageError("data-balanced trees are made of data: expected training data, found "
                             f"the number {source}")
        return (1,) * source
    from ..weights import total_weights

    samples = total_weights(source.y, None if source.weights is None else source.weights.w)
    return [samples.get(label, 0) for label in source.labels]


def _tree_costs(points, trees, seed, *, search=None, options="", workers=1, kept=None):
    """The `TreeCosts` that so many trees are judged by."""
    from .tree_search import machine_options, TreeCosts, TreeSearch

    search = search or TreeSearch()
    return TreeCosts(points, replace(search, machine=search.machine or machine_options(options),
                                     splits=trees * len(points.labels)**3), seed, workers, kept)


def _best_of(trees, costs, drawn, progress):
    """The tree with the least loss, as `Chosen`; the next best of the trees are its alternatives.

    drawn: words about them.
    """
    import numpy as np

    from .split_costs import GROUPS
    from .tree_search import Chosen

    space, search = costs.space, costs.search
    for start in range(0, len(trees), _BATCH):
        space.know_trees(trees[start:start + _BATCH])
        if progress is not None:
            progress(min(start + _BATCH, len(trees)), len(trees), "random trees")
    losses = np.array([space.cost_of(pairs).sum(axis=0) for pairs in trees])  # (draws, groups)
    order = np.argsort(losses.sum(axis=1), kind="stable")[:search.alternatives + 1]
    apart = costs.judged([trees[np.argmin(np.delete(losses, group, axis=1).sum(axis=1))]
                          for group in range(GROUPS)])
    against = costs.point_losses(trees[order[0]])
    scored = [costs.scored(trees[one], against if rank else None)
              for rank, one in enumerate(order)]
    return Chosen(scored[0], *apart, tuple(scored[1:]), costs, False, space.splits,
                  space.all_splits, space.all_trees, 0.0, search, drawn)


def ensemble(source: int | LabelledPoints, *, of: str = "random-tree",
             members: int | None = None, **settings) -> Tree | Designed:
    """An ensemble of different designs of one scheme, over the positions of classes or points.

    of: random-tree, the first trees that its seed draws, or with `draws` the best of so many;
    best-tree, trees each of which is the best for some of the points; or a random code, from one
    seed after the other;
    members: how many, by default `MEMBERS` or as many as there are;  settings: of the scheme.
    Raises `UsageError` for any other scheme, and for more members than there are.
    """
    scheme = find_scheme(of)
    if scheme.name not in _MEMBERS:
        raise UsageError(f"there are no different designs of the scheme {scheme.name} for an "
                         f"ensemble: expected one of {', '.join(_MEMBERS)}")
    settings = scheme.settings(settings)
    wanted, k = members or MEMBERS, len(_classes_of(source)[0])
    # of level trees, which have the least text
    if wanted * k * (6 * k.bit_length() + 2) > MAX_TEXT:
        raise UsageError(f"an ensemble of {wanted} configurations of {k} classes is too large to "
                         f"be read again: expected {MAX_TEXT >> 20} MiB of text at most")
    found, notes = _MEMBERS[scheme.name](scheme, source, wanted, settings)
    if len(found) < (members or 2):
        has = f"the scheme {scheme.name} has {len(found)} different " \
              f"configuration{'s' * (len(found) > 1)} of these classes"
        raise UsageError(f"{has}: an ensemble needs two or more" if len(found) < 2 else
                         f"{has}, of {members} that are wanted for an ensemble: expected "
                         f"--members {len(found)} or fewer")
    tree = joined(found)
    if isinstance(source, int):
        return tree
    return Designed(tree, (f"ensemble of {len(found)} configurations of the scheme {scheme.name}",
                           *notes))


def _best_trees(scheme, source, wanted, settings):
    """(trees, lines) of a search: trees each of which is the best for some of the points."""
    from .design_notes import member_notes

    if isinstance(source, int):
        raise UsageError(f"{scheme.name} searches in data: expected training data, found the "
                         f"number {source}")
    chosen = scheme.make(source, **settings)
    trees = [chosen.costs.scored(pairs)
             for pairs in chosen.costs.different(wanted, chosen.balance)]
    return [one.tree for one in trees], [
        "each the best for some of the points; the best for all, which may be none of these:",
        *member_notes(chosen, trees)]


def _random_trees(scheme, source, wanted, settings):
    if settings["draws"] > 1:
        return _best_draws(scheme, source, wanted, settings)
    kind, seed = settings["kind"], settings["seed"]
    drawn = islice(different_trees(kind, _counts(source, kind), seed), wanted)
    labels, names = _classes_of(source)
    return [from_pairs(pairs, labels, names) for pairs in drawn], [f"{kind}, of seed {seed}"]


def _best_draws(scheme, source, wanted, settings):
    from .design_notes import member_notes
    from .tree_search import TreeSearch

    chosen = scheme.make(source, **{**settings, "search": replace(
        settings["search"] or TreeSearch(), alternatives=wanted - 1)})
    trees = [chosen.best, *chosen.alternatives]
    return [one.tree for one in trees], ["the first, and then the next best:",
                                         *member_notes(chosen, trees)]


def _codes(scheme, source, wanted, settings):
    labels, names = _classes_of(source)
    codes = _different(scheme, len(labels), settings)
    return [relabelled(code, labels, names) for code in islice(codes, wanted)], \
        [f"of seed {settings['seed']} and the next ones"]


def _different(scheme, k, settings) -> Iterator:
    """Yield the codes of one seed after the other, those with the same partitions left out."""
    seen: set = set()
    last = 0
    for number in count():
        code = design(scheme.name, range(k), **{**settings, "seed": settings["seed"] + number})
        partitions = frozenset(frozenset(map(frozenset, sides)) for sides in code.sides())
        if partitions not in seen:
            seen.add(partitions)
            last = number
            yield code
        elif number - last > _IDLE:
            return


def _classes_of(source):
    """(labels, names) of a number of classes, or of points."""
    return (range(source), None) if isinstance(source, int) else (source.labels, source.names)


# {scheme with different designs: function of it, a source, how many, its settings}
_MEMBERS = {"random-tree": _random_trees, "best-tree": _best_trees, "random": _codes,
            "random-as-orthogonal": _codes}
