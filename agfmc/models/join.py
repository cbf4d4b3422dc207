"""Trained configurations as the members of one ensemble, each with its own normalisation."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..control.build import joined, rename, with_heading
from ..core.errors import ModelError
from ..core.forest import Forest
from ..core.models import FunctionModel, MergedModel
from ..core.points import unique_rows
from ..data.normalisation import JoinedNormalisation, Normalisation, spans
from .configuration import Configuration, ModelFiles
from .libsvm import refuse_huge


def join(configurations: Sequence[Configuration]) -> Configuration:
    """The ensemble of trained configurations over the same classes, without a calibration.

    Each sees the points through its own normalisation, and has the same weight, which the members
    of an ensemble share, as in `control.build.joined`.  Binary models get the number of their
    configuration where names meet.  Raises `ControlError` for other classes or names, `ModelError`
    for other features or recipes, for some points that are not normalised, and for neighbours
    (code K) where normalisations differ.
    """
    first = configurations[0]
    counts = Counter(name for one in configurations for name in {row.text for row in one.tree.rows})
    members = []
    weights = []
    for number, one in enumerate(configurations):
        if one.lacks_normalisation:
            raise ModelError(
                "was trained on normalised points, and holds no normalisation: "
                "mbh2mbm -a stores it",
                file=one.tree.source,
            )
        if _recipe_of(one) != _recipe_of(first):
            raise ModelError(
                "has another recipe of tables than the first configuration, or only "
                "one of them has one",
                file=one.tree.source,
            )
        tree = one.tree
        if any(counts[row.text] > 1 for row in tree.rows):
            tree = rename(tree, [f"{row.text}.e{number:02d}" for row in tree.rows])
        members += members_of(replace(one, tree=tree))
        weights += tree.weights
    return join_members(members, None if len(set(weights)) == 1 else " ".join(map(repr, weights)))


def _recipe_of(configuration):
    """Its recipe, but for the name of the table."""
    return configuration.recipe and replace(configuration.recipe, source="")


def members_of(configuration: Configuration) -> list[Configuration]:
    """The members of an ensemble, each a `Configuration` of its own, without a calibration."""
    tree = configuration.tree
    members = []
    first = 0
    for member, part in zip(tree.members, tree.parts):
        rows = slice(first, first + len(member.rows))
        first = rows.stop
        members.append(
            replace(
                configuration,
                tree=member,
                machines=_rows_of(configuration.machines, rows),
                node_classifiers={
                    number - part.start: node
                    for number, node in configuration.node_classifiers.items()
                    if part.start <= number < part.stop
                },
                merged_from=None,
                calibration=None,
            )
        )
    return members


def _rows_of(machines, rows):
    names = ("a", "b", "orientation", "provenances")
    if isinstance(machines, FunctionModel):
        names += ("functions",)
        return replace(machines, **{name: getattr(machines, name)[rows] for name in names})
    ends = machines.indptr[rows.start : rows.stop + 1]
    part = slice(ends[0], ends[-1])
    return replace(
        machines,
        indptr=ends - ends[0],
        index=machines.index[part],
        coef=machines.coef[part],
        forest=machines.forest and machines.forest.subset(rows.start, rows.stop),
        **{name: getattr(machines, name)[rows] for name in (*names, "rho", "kernel_of")},
    )


def join_members(members: Sequence[Configuration], weights: str | None) -> Configuration:
    """The ensemble of single configurations, as `members_of` gives them; of one, itself.

    `weights` is the text of the heading, or None. Support vectors, kernels and normalisations that
    no member needs are left out, and members with equal normalisations share them.
    """
    tree = joined([one.tree for one in members])
    if tree.is_ensemble:
        tree = with_heading(tree, "weights", weights)
    first = members[0]
    if isinstance(first.machines, FunctionModel):
        parts = [one.machines for one in members]
        machines = replace(
            first.machines,
            **{
                name: tuple(item for part in parts for item in getattr(part, name))
                for name in ("functions", "provenances")
            },
            **{
                name: np.concatenate([getattr(part, name) for part in parts])
                for name in ("a", "b", "orientation")
            },
        )
        return replace(first, tree=tree, machines=machines)
    machines, placed_nodes, normalisation = _joined_machines(members)
    nodes = {}
    start = 0
    for one, placed in zip(members, placed_nodes):
        nodes |= {start + number: node for number, node in placed.items()}
        start += len(one.tree.nodes)
    return replace(
        first,
        tree=tree,
        machines=machines,
        node_classifiers=nodes,
        normalisation=normalisation,
        merged_from=sum(len(np.unique(one.machines.index)) for one in members),
    )


def _width(members):
    stated: dict = {}
    for one in members:
        if isinstance(one.machines, ModelFiles):
            raise ModelError("the models of another program cannot be joined", file=one.tree.source)
        width = one.features
        if width is not None and width != stated.setdefault("width", width):
            raise ModelError(
                f"takes points of {width} features, a configuration before it of {stated['width']}",
                file=one.tree.source,
            )
    if any(one.normalisation is None for one in members):
        widest = max(one.machines.sv.shape[1] for one in members if one.normalisation is None)
    else:
        widest = 0
    if widest > stated.get("width", widest):
        raise ModelError(
            f"one configuration takes points of {stated['width']} features, another uses {widest}"
        )
    return stated.get("width", widest)


def _used(member):
    """[(normalisation or None, (start, stop) of its columns)] that the classifiers of a member see."""
    machines = member.machines
    width = member.machines.sv.shape[1]
    if member.normalisation is None:
        parts = (None,)
    else:
        parts = member.normalisation.parts
    columns = spans(member.normalisation, width)
    seen = {machines.kernels[kernel].columns for kernel in set(machines.kernel_of.tolist())}
    of_nodes = [_node_columns(node) for node in member.node_classifiers.values()]
    seen |= {
        span
        for span in columns
        if any(((used >= span[0]) & (used < span[1])).any() for used in of_nodes)
    }
    chosen = [pair for pair in zip(parts, columns) if seen & {None, pair[1]}]
    if len(parts) > 1 and chosen:
        return chosen
    return list(zip(parts, columns))


def _node_columns(node):
    """The features that a node of code L or T looks at."""
    if node.forest is not None:
        return np.unique(node.forest.feature[node.forest.feature >= 0])
    if node.weights is not None:
        return np.flatnonzero(node.weights[:, :-1].any(axis=0))
    return np.empty(0, dtype=int)


def _placed_node(node, column, width):
    """A `NodeModel` for points in which feature i of these is number column[i] of `width`."""
    if np.array_equal(column, np.arange(width)):
        return node
    if node.forest is not None:
        return replace(node, forest=node.forest.with_features(column, width))
    if node.weights is None:
        raise ModelError(
            f"a classifier of code {node.code} can be a member only where all members have the "
            "same normalisation",
            file=node.name,
        )
    used = _node_columns(node)
    weights = np.zeros((node.branches, width + 1))
    weights[:, column[used]] = node.weights[:, used]
    weights[:, -1] = node.weights[:, -1]
    return replace(node, weights=weights)


def _joined_machines(members):
    features = _width(members)
    used = [_used(one) for one in members]
    parts = [part for pairs in used for part, _ in pairs]
    if None in parts and any(parts):
        identity = Normalisation.identity(features)
        used = [[(part or identity, span) for part, span in pairs] for pairs in used]
    known: dict = {}  # the normalisations by their digests
    for part, _ in (pair for pairs in used for pair in pairs):
        known.setdefault(part and part.digest(), part)
    if len(known) == 1:
        normalisation = next(iter(known.values()))
    else:
        normalisation = JoinedNormalisation(tuple(known.values()))
    placed = dict(zip(known, spans(normalisation, features)))
    width = list(placed.values())[-1][1]
    refuse_huge(sum(len(one.machines.sv) for one in members), width, members[0].tree.source)
    made = []
    nodes = []
    for one, pairs in zip(members, used):
        columns = {span: placed[part and part.digest()] for part, span in pairs}
        machines, column = _placed(one.machines, columns, width, len(known) > 1)
        made.append(machines)
        nodes.append(
            {
                number: _placed_node(node, column, width)
                for number, node in one.node_classifiers.items()
            }
        )
    if len(known) == 1 and normalisation and normalisation.is_identity:
        normalisation = None  # so that missing values may reach trees
    return _concatenated(made), nodes, normalisation


def _placed(machines, columns, width, several):
    """A `MergedModel` whose columns {(start, stop): (start, stop)} stand elsewhere among `width`,
    with the support vectors that its classifiers use, and where each of its columns stands.
    """
    column = np.zeros(machines.sv.shape[1], dtype=np.int64)
    used, index = np.unique(machines.index, return_inverse=True)
    sv = np.zeros((len(used), width))
    points = np.asarray(machines.sv)
    for old, new in columns.items():
        new = new[0], new[0] + old[1] - old[0]  # support vectors may leave out the last features
        column[slice(*old)] = range(*new)
        sv[:, slice(*new)] = points[used, slice(*old)]
    kernels = tuple(
        replace(
            kernel,
            columns=columns.get(kernel.columns, next(iter(columns.values()))) if several else None,
        )
        for kernel in machines.kernels
    )
    placed = replace(
        machines,
        kernels=kernels,
        sv=sv,
        group=machines.group[used],
        index=index.ravel(),
        any_width=machines.any_width and not several,
        forest=machines.forest and machines.forest.with_features(column, width),
    )
    return placed, column


def _concatenated(models):
    width = models[0].sv.shape[1]
    starts = np.cumsum([0, *(len(one.sv) for one in models)])
    points, groups = (
        np.concatenate([getattr(one, name) for one in models]) for name in ("sv", "group")
    )
    first, inverse = unique_rows(points)
    group = np.full(len(first), np.iinfo(np.int32).max)
    np.minimum.at(group, inverse, groups)  # where one model knows the class
    order = np.lexsort((np.arange(len(first)), group))
    indptr = np.cumsum([0, *(count for one in models for count in np.diff(one.indptr))])
    index = np.argsort(order)[
        inverse[np.concatenate([one.index + start for one, start in zip(models, starts)])]
    ]
    ascending = np.lexsort((index, np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))))
    kernels = tuple(
        dict.fromkeys(one.kernels[number] for one in models for number in one.kernel_of.tolist())
    )
    forests = [one.forest for one in models]
    return MergedModel(
        kernels=kernels,
        kernel_of=np.array(
            [
                kernels.index(one.kernels[number])
                for one in models
                for number in one.kernel_of.tolist()
            ],
            dtype=np.int32,
        ),
        sv=points[first[order]] + 0.0,
        group=group[order].astype(np.int32),
        indptr=indptr.astype(np.int64),
        index=index[ascending].astype(np.int32),
        coef=np.concatenate([one.coef for one in models])[ascending],
        **{
            name: np.concatenate([getattr(one, name) for one in models])
            for name in ("rho", "a", "b", "orientation")
        },
        provenances=tuple(item for one in models for item in one.provenances),
        any_width=all(one.any_width for one in models),
        forest=Forest.concatenate(
            [
                part
                for one in models
                for part in ([one.forest] if one.forest else [Forest.none(width)] * one.count)
            ]
        )
        if any(forests)
        else None,
    )
