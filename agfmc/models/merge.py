"""Many binary models into one: each support vector is stored once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..control.build import rename, rename_directs
from ..core.errors import ModelError
from ..core.forest import Forest
from ..core.models import FunctionModel, Kernel, MergedModel, NodeModel
from ..core.points import is_sparse, SparsePoints, unique_rows
from ..core.provenance import Provenance
from .configuration import Configuration


def assemble(tree, models, node_classifiers, normalisation=None):
    """The `Configuration` of a control tree whose classifiers have been trained.

    The classifiers of the tree get the names of their models.

    Parameters
    ----------
    models : sequence, a `BinaryModel` for each row of the tree
    node_classifiers : dict, {node number: its `NodeModel`}
    normalisation : Normalisation, optional, of the training points
    """
    tree = rename_directs(
        rename(tree, [model.name for model in models]),
        {number: model.name for number, model in node_classifiers.items()},
    )
    if models and not isinstance(models[0].function, Forest | None):
        a, b = np.array([model.scale for model in models], dtype=np.float64).T.copy()
        machines = FunctionModel(
            tuple(model.function for model in models),
            a,
            b,
            np.array([model.orientation for model in models], dtype=np.int8),
            tuple(model.provenance for model in models),
            models[0].features,
        )
    else:
        machines = collate(models, tree.sides(), tree.classes, tuple(node_classifiers.values()))
    return Configuration(tree, machines, node_classifiers, normalisation)


def collate(models, sides, classes, node_classifiers=()):
    """Merge `models`, m `BinaryModel`s in control-file order, into a `MergedModel`.

    `sides` are the labels (left, right) of each model, `classes` all labels in ascending order.
    Support vectors that are equal bit for bit are merged, also within one model, where their
    coefficients add up. They are ordered by class, as far as the partitions show it, landmarks last
    in each. `node_classifiers` are the `NodeModel`s of the configuration. Raises `ModelError` where
    the models do not have the same number of features.
    """
    width = _width(models, node_classifiers)
    # models that were trained together, or read together, have one array in common
    tables_by_id = {id(model.sv): model.sv for model in models}
    numbers = {key: number for number, key in enumerate(tables_by_id)}
    tables = list(tables_by_id.values())
    table_of = [numbers[id(model.sv)] for model in models]
    starts = np.cumsum([0, *map(len, tables)])
    if any(map(is_sparse, tables)):
        points = SparsePoints.joined(tables, width)
    else:
        points = np.zeros((starts[-1], width))
        for at, table in zip(starts, tables):
            points[at : at + len(table), : table.shape[1]] = table
    first, inverse = unique_rows(points)
    rows_of = [inverse[at:stop] for at, stop in zip(starts[:-1], starts[1:])]
    group, landmark = _groups(models, sides, classes, [rows_of[i] for i in table_of], len(first))
    order = np.lexsort((np.arange(len(first)), landmark, group))
    rank = np.argsort(order)

    # of each table the support vectors, ascending, and which of them its points are
    used = [np.unique(rank[rows], return_inverse=True) for rows in rows_of]
    index = []
    coef = []
    for model, number in zip(models, table_of):
        of_table, rows = used[number]
        index.append(of_table)
        coef.append(np.bincount(rows.ravel(), weights=model.coef, minlength=len(of_table)))
    indptr = np.cumsum([0, *map(len, index)])
    sv = points[first[order]]
    if not is_sparse(sv):
        sv += 0.0
    kernels = tuple(dict.fromkeys(model.kernel for model in models))
    a, b = np.array([model.scale for model in models], dtype=np.float64).reshape(-1, 2).T.copy()
    return MergedModel(
        kernels=kernels,
        kernel_of=np.array([kernels.index(model.kernel) for model in models], dtype=np.int32),
        sv=sv,
        group=group[order].astype(np.int32),
        indptr=indptr.astype(np.int64),
        index=_joined(index, np.int32),
        coef=_joined(coef, np.float64),
        rho=np.array([model.rho for model in models]),
        a=a,
        b=b,
        orientation=np.array([model.orientation for model in models], dtype=np.int8),
        provenances=tuple(model.provenance for model in models),
        any_width=not node_classifiers and not any(model.features for model in models),
        forest=Forest.concatenate([model.function or Forest.none(width) for model in models])
        if any(model.function for model in models)
        else None,
    )


def with_scores(
    machines: MergedModel, nodes: Mapping[int, NodeModel]
) -> tuple[MergedModel, dict[int, range]]:
    """`machines` with a classifier more for each score of the nodes of code L and T.

    Also {number of a node: the numbers of its scores}: its probabilities are their softmax.
    """
    nodes = {
        number: node
        for number, node in nodes.items()
        if node.weights is not None or node.forest is not None
    }
    added = list(nodes.values())
    branches = [node.branches for node in added]
    total = sum(branches)
    ends = np.cumsum([machines.count, *branches]).tolist()
    s, width = machines.sv.shape
    # code L: support vectors of a linear kernel, of which each classifier has one
    linear = Kernel("linear")
    planes = np.concatenate(
        [np.empty((0, width + 1)), *(node.weights for node in added if node.weights is not None)]
    )
    is_plane = np.repeat([node.weights is not None for node in added], branches).astype(bool)
    rho = np.zeros(total)
    rho[is_plane] = -planes[:, -1]
    forest = machines.forest
    if added and (forest or any(node.forest for node in added)):
        forest = Forest.concatenate(
            [
                forest or Forest.none(width, machines.count),
                *(node.forest or Forest.none(width, node.branches) for node in added),
            ]
        )
    kernels = tuple(dict.fromkeys((*machines.kernels, linear)))
    joined = replace(
        machines,
        kernels=kernels,
        kernel_of=np.append(machines.kernel_of, np.full(total, kernels.index(linear), "i4")),
        sv=np.concatenate([np.asarray(machines.sv), planes[:, :-1]]),
        group=np.append(machines.group, np.full(len(planes), machines.group.max(initial=0), "i4")),
        indptr=np.append(machines.indptr, machines.indptr[-1] + np.cumsum(is_plane)),
        index=np.append(machines.index, np.arange(s, s + len(planes), dtype="i4")),
        coef=np.append(machines.coef, np.ones(len(planes))),
        rho=np.append(machines.rho, rho),
        **{name: np.append(getattr(machines, name), np.full(total, np.nan)) for name in ("a", "b")},
        orientation=np.append(machines.orientation, np.ones(total, "i1")),
        provenances=machines.provenances + (Provenance(),) * total,
        forest=forest,
    )
    return joined, dict(zip(nodes, map(range, ends, ends[1:])))


def _joined(parts, dtype):
    return np.concatenate([np.empty(0, dtype), *parts], dtype=dtype, casting="same_kind")


def _width(models, node_classifiers):
    """The number of features: as the models state it, else the largest index met."""
    stated = {}
    for model in (*(model for model in models if model.features), *node_classifiers):
        stated.setdefault(model.features, model.name)
    if len(stated) > 1:
        (one, name), (two, other) = list(stated.items())[:2]
        raise ModelError(f"was trained on {two} features, and {name} on {one}", file=other)
    if not models:
        return next(iter(stated), 0)
    largest = max(models, key=lambda model: model.sv.shape[1])
    width = largest.sv.shape[1]
    for one, name in stated.items():
        if width > one:
            raise ModelError(
                f"has {width} features, and {name} was trained on {one}", file=largest.name
            )
        return one
    return width


def _groups(models, sides, classes, rows_of, count):
    """Per distinct support vector the position of its class in `classes`, and if it is a landmark.

    `rows_of` has for each model the numbers of its support vectors among them. A support vector
    belongs to every side on which it stands; where that leaves several classes the first is taken,
    where none, len(classes). Those of a model that has them all on one side are landmarks, of any
    class: it follows from other models, or it is len(classes).
    """
    possible = np.ones((count, len(classes)), dtype=bool)
    known = np.zeros(count, dtype=bool)
    landmark = np.zeros(count, dtype=bool)
    for model, side, rows in zip(models, sides, rows_of):
        if 0 in model.n_sv:
            landmark[rows] = True
            continue
        known[rows] = True
        at = 0
        for label, size in zip(model.labels, model.n_sv):
            possible[rows[at : at + size]] &= np.isin(classes, side[label])
            at += size
    known &= possible.any(axis=1)
    return np.where(known, possible.argmax(axis=1), len(classes)), landmark


def regroup(model: MergedModel, sides: Sequence, classes: Sequence[int]) -> MergedModel:
    """A `MergedModel` with its support vectors ordered by class, as `collate` leaves them.

    `sides` and `classes` are as for `collate`. The class follows from the coefficients: one whose
    sign speaks for the left side belongs to a point of that side.
    """
    possible = np.ones((len(model.sv), len(classes)), dtype=bool)
    for i, side in enumerate(sides):
        part = slice(model.indptr[i], model.indptr[i + 1])
        right = model.coef[part] * model.orientation[i] > 0
        for labels, rows in zip(side, (model.index[part][~right], model.index[part][right])):
            possible[rows] &= np.isin(classes, labels)
    group = np.where(possible.any(axis=1), possible.argmax(axis=1), len(classes))
    order = np.argsort(group, kind="stable")
    return replace(
        model,
        sv=model.sv[order],
        group=group[order].astype(np.int32),
        index=np.argsort(order).astype(np.int32)[model.index],
    )
