"""Data between formats, and data made ready for training: files in, files out, together."""

from __future__ import annotations

import os
import warnings
import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace

import numpy as np

from ..errors import AgfmcWarning, DataError, UsageError
from ..formats.dataset import read_training
from ..formats.files import replacing_all
from ..formats.vectors import VecWriter, cls_bytes, read_cls, read_dat, read_std
from ..models import Dataset
from ..prepare import relabel, split
from ..prepare.normalise import fit_normalisation

__all__ = ["Recipe", "classes_from_floats", "convert_text", "preprocess"]


def convert_text(source, kind, base, *, compact=False, **reading):
    """Text data to base.vec, base.cls and, for labels that are words, base.names.

    compact: number the classes 0..k-1 in ascending order; -> the old labels,
    or None.  reading: as for `read_training`.
    """
    data = read_training(source, kind, negative=compact, **reading)
    old = None
    if compact and data.y is not None:
        data, old = _relabelled(data)
    _write({base: data})
    return old


def _relabelled(data):
    y, old, names = relabel.relabel(data.y, data.names)
    return Dataset(data.x, y, names), old


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
    data = read_training(source, "binary", labels=recipe.labels)
    if recipe.partition is not None:
        data = _partitioned(data, *recipe.partition, source)
    if recipe.compact:
        data, _ = _relabelled(data)
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
        normalisation = fit_normalisation(outputs[output].x if output in outputs else data.x,
                                          scale=recipe.scale, nsv=recipe.nsv)
        extra[recipe.norm_out or f"{output}.std"] = np.column_stack(
            [normalisation.matrix, normalisation.mean])
    elif recipe.norm_in is not None:
        normalisation = read_std(recipe.norm_in)
    if normalisation is not None:
        outputs = {base: replace(part, x=normalisation.apply(part.x))
                   for base, part in outputs.items()}
    _write(outputs, extra)
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


def _write(outputs, extra=None):
    """Datasets {base: Dataset} and {path: bytes or table}, all complete before any is renamed."""
    files = {}
    for base, data in outputs.items():
        if data.y is not None and data.names is None and os.path.exists(f"{base}.names"):
            warnings.warn(f"{base}.names was there before: its names now stand for these labels",
                          AgfmcWarning, stacklevel=3)
        files[f"{base}.vec"] = data.x
        if data.y is not None:
            files[f"{base}.cls"] = cls_bytes(data.y, f"{base}.cls")
        if data.names is not None:
            files[f"{base}.names"] = "".join(f"{name}\n" for name in data.names).encode(
                "utf-8", "surrogateescape")
    files.update(extra or {})
    with ExitStack() as stack:
        opened = stack.enter_context(replacing_all(list(files), binary=True))
        for file, content in zip(opened, files.values()):
            if isinstance(content, bytes):
                file.write(content)
                continue
            writer = VecWriter(file, content.shape[1])
            step = max(1, 2**22 // content.shape[1])
            for start in range(0, len(content), step):
                writer.write(content[start:start + step])
    for base, data in outputs.items():
        if data.names is None:  # names of what stood there before would name the wrong classes
            with suppress(FileNotFoundError):
                os.unlink(f"{base}.names")


def classes_from_floats(source, bins=None, geometric=False, numbers=()):
    """Classes (n,) of the float32 values in `source` (.dat), and the thresholds used.

    numbers: (), or (min, max) with `bins` classes between them, or, without
    `bins`, the thresholds themselves.
    """
    values = read_dat(source)
    if bins is None and numbers:
        if geometric:
            raise UsageError("-g spaces thresholds between min and max: it needs -q")
        edges = relabel.check_edges(numbers)
    elif numbers and len(numbers) != 2:
        raise UsageError(f"with -q, expected min and max, found {len(numbers)} numbers")
    else:
        edges = relabel.bin_edges(values, bins or 2, *numbers, geometric=geometric)
    return relabel.classes_of(values, edges), edges
