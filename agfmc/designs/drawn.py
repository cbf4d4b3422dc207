"""Designs that are drawn: random trees, the best of many of them, and ensembles."""

from __future__ import annotations

from dataclasses import replace
from itertools import count, islice
from typing import TYPE_CHECKING

from ..control.build import from_pairs, joined, relabelled
from ..control.parse import MAX_TEXT
from ..core.errors import UsageError
from ..core.memory import refuse_beyond
from ..core.splits import derived_seed
from .design import Design, design, LabelledPoints
from .random_trees import different_trees, drawn_tree
from .schemes import find_scheme

if TYPE_CHECKING:
    from .tree_search import TreeSearchResult

MEMBERS = 10  # of an ensemble, by default, where there are as many
_BYTES = 70  # for each class of a tree that is drawn
_IDLE = 50  # draws that give nothing new, after which there are taken to be no more designs
_BATCH = 50  # trees whose costs are got at once


def random_tree(
    source: int | LabelledPoints,
    *,
    kind: str = "uniform",
    seed: int = 1,
    draws: int = 1,
    **searching,
) -> Design | TreeSearchResult:
    """A random decision tree of a kind in `random_trees.KINDS`.

    `source` is the number of classes, for a tree over their positions, or points, for the tree of
    `draws` different ones that has the least leave-one-out loss. `searching` are `search`, of which
    `machine` and `loss` count, `options`, `workers`, `progress` and `store`, as of
    `tree_search.best_tree`. Raises `UsageError` for settings that need data where there are none.
    """
    if draws > 1:
        return _best_draws(source, 1, {**searching, "kind": kind, "seed": seed, "draws": draws})[0]
    return Design(from_pairs(drawn_tree(kind, _counts(source, kind), seed), *_classes_of(source)))


def _counts(source, kind):
    """The numbers of points in the classes, or the sums of their weights."""
    if isinstance(source, int):
        if kind == "data-balanced":
            raise UsageError(
                "data-balanced trees are made of data: expected training data, found "
                f"the number {source}"
            )
        return (1,) * source
    from ..core.weights import total_weights

    samples = total_weights(source.y, None if source.weights is None else source.weights.w)
    return [samples.get(label, 0) for label in source.labels]


def _drawn_trees(source, number, settings):
    kind, seed = settings["kind"], settings["seed"]
    return list(islice(different_trees(kind, _counts(source, kind), seed), number))


def _best_draws(points, number, settings):
    """(the `TreeSearchResult` of many draws, a number of `ScoredTree`s, the best first)."""
    import numpy as np

    from .split_costs import GROUPS, TreeSearch
    from .tree_search import machine_options, TreeCosts, TreeSearchResult

    seed, draws, progress = settings["seed"], settings["draws"], settings.get("progress")
    if isinstance(points, int):
        raise UsageError(
            f"the best of {draws} draws is chosen by data: expected training data, "
            f"found the number {points}"
        )
    refuse_beyond(_BYTES * draws * len(points.labels), f"{draws} trees", None)
    trees = _drawn_trees(points, draws, settings)
    search = settings.get("search") or TreeSearch()
    costs = TreeCosts(
        points,
        replace(
            search,
            machine=search.machine or machine_options(settings.get("options", "")),
            splits=len(trees) * len(points.labels) ** 3,
        ),
        seed,
        settings.get("workers", 1),
        settings.get("store"),
    )
    for start in range(0, len(trees), _BATCH):
        costs.space.know_trees(trees[start : start + _BATCH])
        if progress is not None:
            progress(min(start + _BATCH, len(trees)), len(trees), "random trees")
    losses = np.array([costs.space.cost_of(pairs).sum(axis=0) for pairs in trees])
    order = np.argsort(losses.sum(axis=1), kind="stable")[:number]
    holdout = costs.holdout_loss(
        [trees[np.argmin(np.delete(losses, group, axis=1).sum(axis=1))] for group in range(GROUPS)]
    )
    scored = [costs.scored(trees[one]) for one in order]
    words = f"{len(trees)} different random trees, {settings['kind']}, of seed {seed}"
    return TreeSearchResult(scored[0], *holdout, costs, False, 0.0, words), scored


def ensemble(
    source: int | LabelledPoints, *, of: str = "random-tree", members: int | None = None, **settings
) -> Design:
    """An ensemble of different designs of one scheme, for a number of classes or points.

    The scheme `of` is "random-tree", the first trees that its seed draws, or with `draws` the best
    of so many; "best-tree", trees each of which is the best for some of the points; or a random
    code, of seeds derived from the seed. By default there are `MEMBERS`, or as many as exist. Raises
    `UsageError` for any other scheme, and for more members than there are.
    """
    scheme = find_scheme(of)
    if scheme.name not in _MEMBERS:
        raise UsageError(
            f"there are no different designs of the scheme {scheme.name} for an "
            f"ensemble: expected one of {', '.join(_MEMBERS)}"
        )
    number, k = members or MEMBERS, len(_classes_of(source)[0])
    # of level trees, which have the least text
    if number * k * (6 * k.bit_length() + 2) > MAX_TEXT:
        raise UsageError(
            f"an ensemble of {number} configurations of {k} classes is too large to "
            f"be read again: expected {MAX_TEXT >> 20} MiB of text at most"
        )
    trees, notes = _MEMBERS[scheme.name](scheme, source, number, scheme.settings(settings))
    if len(trees) < (members or 2):
        has = (
            f"the scheme {scheme.name} has {len(trees)} different "
            f"configuration{'s' * (len(trees) > 1)} of these classes"
        )
        raise UsageError(
            f"{has}: an ensemble needs two or more"
            if len(trees) < 2
            else f"{has}, of {members} that were requested for an ensemble: expected "
            f"--members {len(trees)} or fewer"
        )
    return Design(
        joined(trees),
        notes=(f"ensemble of {len(trees)} configurations of the scheme {scheme.name}", *notes),
    )


def _best_trees(scheme, source, number, settings):
    """(trees, lines) of a search: trees each of which is the best for some of the points."""
    if isinstance(source, int):
        raise UsageError(
            f"{scheme.name} searches in data: expected training data, found the number {source}"
        )
    chosen = scheme.make(source, **settings)
    trees = [chosen.costs.scored(pairs) for pairs in chosen.costs.different(number, chosen.balance)]
    return [one.tree for one in trees], [
        "each the best for some of the points; the best for all, which may be none of these:",
        *chosen.member_notes(trees),
    ]


def _random_trees(scheme, source, number, settings):
    if settings["draws"] > 1:
        chosen, trees = _best_draws(source, number, settings)
        return [one.tree for one in trees], [
            "the first, and then the next best:",
            *chosen.member_notes(trees),
        ]
    return [
        from_pairs(pairs, *_classes_of(source)) for pairs in _drawn_trees(source, number, settings)
    ], [f"{settings['kind']}, of seed {settings['seed']}"]


def _codes(scheme, source, number, settings):
    """(codes of derived seeds, those with the same partitions left out; lines)."""
    labels, names = _classes_of(source)
    codes: dict = {}
    last = 0
    for draw in count():
        seed = derived_seed(settings["seed"], draw)
        code = design(scheme.name, range(len(labels)), **{**settings, "seed": seed})
        partitions = frozenset(frozenset(map(frozenset, sides)) for sides in code.sides())
        if partitions not in codes:
            codes[partitions] = relabelled(code, labels, names)
            last = draw
        if len(codes) == number or draw - last > _IDLE:
            break
    return list(codes.values()), [f"of seed {settings['seed']} and seeds derived from it"]


def _classes_of(source):
    return (range(source), None) if isinstance(source, int) else (source.labels, source.names)


# {scheme with different designs: function of it, a source, how many, its settings}
_MEMBERS = {
    "random-tree": _random_trees,
    "best-tree": _best_trees,
    "random": _codes,
    "random-as-orthogonal": _codes,
}
