"""Data made ready for training: classes, features, parts and normalisation, in one pass."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import DataError, UsageError
from ..formats.dataset import read_training
from ..formats.vectors import read_std, std_table
from ..models import Dataset
from ..prepare import split
from ..prepare.normalise import fit_normalisation
from .convert import relabelled, write_together
from .prepare import about

__all__ = ["Recipe", "preprocess"]


@dataclass(frozen=True)
class Recipe:
    """What agf_preprocess is to do, in this order.

    partition: (left, right) labels, made classes 0 and 1, others left out;
    compact: labels 0..k-1;  features: columns to keep;  shuffle: random order;
    fraction: share of the rows for testing, of every class where `stratified`;
    parts: number of equal parts;  scale, nsv: normalise, with statistics of
    the training part alone;  norm_in: apply this file;  norm_out: write it;
    labels: False where the data have none.
    """

    partition: tuple | None = None
    compact: bool = False
    features: tuple | None = None
    shuffle: bool = False
    fraction: float | None = None
    stratified: bool = False
    parts: int | None = None
    scale: bool = False
    nsv: int | None = None
    norm_in: str | None = None
    norm_out: str | None = None
    labels: bool = True
    seed: int = 1


def preprocess(recipe, source, output, test=None):
    """Read base `source`, follow the recipe, write base `output` and `test`.

    All files appear together or not at all.  -> {base: number of rows}.
    """
    data = read_training(source, "binary", labels=recipe.labels, negative=recipe.compact)
    if recipe.partition is not None:
        data = _partitioned(data, *recipe.partition, source)
    if recipe.compact:
        if data.y is None:
            raise UsageError("-U needs labels")
        data, _ = relabelled(data)
    if recipe.features is not None:
        wrong = [i for i in recipe.features if i >= data.x.shape[1]]
        if wrong:
            raise UsageError(f"there is no feature {wrong[0]}: {source} has "
                             f"{data.x.shape[1]}, counted from 0")
        data = replace(data, x=data.x[:, list(recipe.features)])
    if recipe.shuffle:
        data = _rows(data, split.shuffled(len(data.x), recipe.seed))
    outputs = _divided(recipe, data, output, test)
    extra = {}
    normalisation = None
    if recipe.scale or recipe.nsv is not None:
        with about(source):
            normalisation = fit_normalisation(outputs[output].x if output in outputs else data.x,
                                              scale=recipe.scale, nsv=recipe.nsv)
        extra[recipe.norm_out or f"{output}.std"] = std_table(normalisation)
    elif recipe.norm_in is not None:
        normalisation = read_std(recipe.norm_in)
    if normalisation is not None:
        with about(source):
            outputs = {base: replace(part, x=normalisation.apply(part.x))
                       for base, part in outputs.items()}
    write_together(outputs, extra)
    return {base: len(part.x) for base, part in outputs.items()}


def _partitioned(data, left, right, source):
    """Two classes, 0 and 1, from the labels on either side of a partition."""
    if data.y is None:
        raise UsageError("a partition needs labels")
    for label in (*left, *right):
        if label not in data.y:
            raise DataError(f"class {label} of the partition has no samples", file=source)
    rows = np.flatnonzero(np.isin(data.y, [*left, *right]))
    return Dataset(data.x[rows], np.isin(data.y[rows], right).astype(np.int32))


def _rows(data, rows):
    return replace(data, x=data.x[rows], y=None if data.y is None else data.y[rows])


def _divided(recipe, data, output, test):
    """{base: Dataset} of the parts that the recipe asks for."""
    if recipe.parts is not None:
        width = max(2, len(str(recipe.parts - 1)))
        return {f"{output}-{i:0{width}d}": _rows(data, rows)
                for i, rows in enumerate(split.split_parts(len(data.x), recipe.parts))}
    if recipe.fraction is None:
        return {output: data}
    if recipe.stratified:
        if data.y is None:
            raise UsageError("--stratified needs labels")
        train, held = split.split_stratified(data.y, recipe.fraction, recipe.seed)
    else:
        train, held = split.split_fraction(len(data.x), recipe.fraction)
    return {output: _rows(data, train), test: _rows(data, held)}
