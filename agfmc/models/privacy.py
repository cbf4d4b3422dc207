"""What a trained configuration tells of its training data: rows, and words of its columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

import numpy as np

from ..core.errors import ModelError
from ..core.points import is_sparse
from ..data.normalisation import spans
from .configuration import Configuration


def count_rows(blocks: Iterable[np.ndarray]) -> int:
    """How many different rows blocks (n, d) hold together, in single precision."""
    return len({row.tobytes() for block in blocks for row in block.astype(np.float32)})


def training_rows(configuration: Configuration) -> int:
    """The different rows of the training data in it: support vectors, landmarks, neighbours.

    A classifier of one support vector and a linear kernel is a plane, which is no row.
    """
    machines = configuration.machines
    is_linear = np.array([kernel.kind == "linear" for kernel in machines.kernels], bool)
    sizes = np.diff(machines.indptr)
    planes = is_linear[machines.kernel_of] & (sizes == 1)
    used = np.unique(machines.index[np.repeat(~planes, sizes)])
    points = [one.points for one in configuration.node_classifiers.values()]
    vectors = (np.asarray(machines.sv[used[at : at + 1024]]) for at in range(0, len(used), 1024))
    return count_rows(chain(vectors, (block for block in points if block is not None)))


def without_rows(configuration: Configuration) -> Configuration:
    """The configuration, which holds no row of the training data, without words that it never uses.

    A word that is left out becomes a number, so that all features stay in their places.

    Raises
    ------
    ModelError
        If it holds rows of the training data.
    """
    rows = training_rows(configuration)
    if rows:
        raise ModelError(
            f"holds {rows} rows of the training data, as support vectors, landmarks or neighbours "
            "are: train with learner=trees, linear or logistic",
            file=configuration.tree.source,
        )
    recipe = configuration.recipe
    if recipe is None:
        return configuration
    used = _used_features(configuration)
    columns = []
    for column, first in zip(recipe.columns, recipe.starts):
        words = column.categories or ()
        is_used = dict(zip(words, used[first:].tolist()))
        if words and not is_used.get(column.other):
            keep = {column.fill, *(word for word in words if is_used[word])}
            column = replace(column, categories=_anonymous(words, keep))
            if column.other not in column.categories:
                column = replace(column, other=None)
        columns.append(column)
    return replace(configuration, recipe=replace(recipe, columns=tuple(columns), source=""))


def _used_features(configuration):
    """Whether each feature (d,) has a part in any answer."""
    machines = configuration.machines
    if is_sparse(machines.sv):
        used = machines.sv.used
    else:
        used = (machines.sv != 0).any(axis=0)
    forests = [machines.forest, *configuration.node_forests.values()]
    for forest in filter(None, forests):
        used[forest.feature[forest.feature >= 0]] = True
    for node in configuration.node_classifiers.values():
        if node.weights is not None:
            used |= (node.weights[:, :-1] != 0).any(axis=0)
    if configuration.normalisation is None:
        return used
    parts = configuration.normalisation.parts
    columns = spans(configuration.normalisation, len(used))
    before = [part.used_features(used[slice(*span)]) for part, span in zip(parts, columns)]
    return np.any(before, axis=0)


def _anonymous(words, keep):
    """The words, with numbers that are no words in place of those that are not kept."""
    numbers = (f"({number})" for number in range(1, 2 * len(words) + 2))
    free = (name for name in numbers if name not in words)
    return tuple(word if word in keep else next(free) for word in words)
