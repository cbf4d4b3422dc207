"""Data made ready for training: classes, features, parts and normalisation, in one pass."""

from __future__ import annotations
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..core import splits
from ..core.errors import and_more, DataError, UsageError, warn_user
from .convert import refuse_pipe, relabelled, write_together
from .from_table import read_table
from .groups import check_groups
from .libagf import read_std, std_rows
from .normalisation import covariance
from .reading import read_training
from .training import with_source_in_errors, warn_of_weights
from .types import Dataset, InputFormat
from .weights import chosen_rows


@dataclass(frozen=True)
class Recipe:
    """The steps of agf_preprocess, in this order.

    Attributes
    ----------
    partition : two or more tuples of labels, made classes 0, 1, ..., others left out
    compact : labels become 0..k-1
    rows : number of rows, of each class its share, but `least` where it has them
    features : columns that stay
    sort : order by class or ordinate
    fraction : share of the rows for testing, the last, of every class where `stratified`, or each
        with that probability where `independent`
    fit : function that makes the `Normalisation` of the training part alone, a `Dataset` of its
        points with a weight above 0, or None
    norm_in, norm_out : normalisation files to apply and to write
    form : `InputFormat` of the input, and of the output but for a table, which becomes binary data
    """

    partition: tuple | None = None
    compact: bool = False
    rows: int | None = None
    least: int = 1
    features: tuple | None = None
    shuffle: bool = False
    sort: bool = False
    fraction: float | None = None
    stratified: bool = False
    independent: bool = False
    parts: int | None = None
    fit: Callable | None = None
    norm_in: str | None = None
    norm_out: str | None = None
    form: InputFormat = InputFormat()
    seed: int = 1

    @property
    def output_form(self) -> InputFormat:
        """The `InputFormat` of what is written."""
        if self.form.kind == "table":
            return InputFormat()
        return self.form


def preprocess(
    recipe: Recipe, source: str, output: str, test: str | None = None, stdout=None
) -> dict[str, int]:
    """Read `source`, follow the recipe, write `output` and `test`.

    They are base names, or files of text, and `-` is standard input or the binary
    stream `stdout`.  All files appear together or not at all.
    -> {base: number of rows}.
    """
    refuse_pipe([source], recipe.form, recipe.form.labels)
    refuse_pipe([output, test], recipe.output_form, recipe.form.labels)
    if output == "-":
        if recipe.parts is not None:
            raise UsageError(
                "`parts` needs the name of the parts: they cannot go to standard output"
            )
        if recipe.norm_out is None and recipe.fit is not None:
            raise UsageError(
                "with standard output, `normalise` and `svd` need `norm_file=FILE` for the normalisation"
            )
    norm_out = recipe.norm_out or f"{output}.std"
    data = _prepared(recipe, source)
    outputs = _divided(recipe, data, output, test)
    normalisation = _normalisation(recipe, outputs.get(output, data), source)
    if recipe.fit is None:
        extra = {}
    else:
        extra = {norm_out: std_rows(normalisation, norm_out)}
    if normalisation is not None:
        with with_source_in_errors(source):
            outputs = {
                base: replace(part, x=normalisation.apply(part.x), recipe=None)
                for base, part in outputs.items()
            }
    if recipe.form.kind == "table" and any(part.recipe is None for part in outputs.values()):
        warn_user(
            "the recipe of the table is not written, as the points are others than it "
            "makes: what is trained on them takes no tables (multi_borders "
            "normalises tables, too)"
        )
    if recipe.form.kind == "table" and recipe.form.roles.ids:
        warn_user("the ids of the rows are not written: table2agf writes them (base.ids)")
    write_together(outputs, extra, recipe.output_form, stdout)
    return {base: len(part.x) for base, part in outputs.items()}


def covariances(recipe: Recipe, source: str) -> np.ndarray:
    """The covariance matrix (d, d) of the features that the recipe makes of `source`."""
    refuse_pipe([source], recipe.form, recipe.form.labels)
    data = _prepared(recipe, source)
    normalisation = _normalisation(recipe, data, source)
    with with_source_in_errors(source):
        return covariance(data.x if normalisation is None else normalisation.apply(data.x))


def part_names(output: str, parts: int) -> list[str]:
    """The names of so many parts: output-00, output-01, ..."""
    width = max(2, len(str(parts - 1)))
    return [f"{output}-{i:0{width}d}" for i in range(parts)]


def _normalisation(recipe, data, source):
    if recipe.fit is None:
        if recipe.norm_in is None:
            return None
        return read_std(recipe.norm_in)
    with with_source_in_errors(source, data.recipe):
        if data.weights is not None and not data.weights.w.all():
            data = chosen_rows(data, np.flatnonzero(data.weights.w))
            if not len(data.x):
                raise DataError("all points of the training part have weight 0")
        return recipe.fit(data)


def _prepared(recipe, source):
    _check(recipe)
    form = recipe.form
    if form.kind == "table":
        data = read_table(source, form)
    else:
        data = read_training(
            source,
            form,
            negative=recipe.compact or recipe.partition is not None or form.kind != "binary",
            keep="" if recipe.rows is None else "mapped",
        )
    warn_of_weights(source, form)
    if recipe.partition is not None:
        data = _partitioned(data, recipe.partition, source)
    if recipe.compact:
        given = data
        data, _ = relabelled(data)
        if np.array_equal(data.y, given.y):
            data = replace(data, recipe=given.recipe)
        if form.kind in ("svm", "lvq"):
            data = replace(data, names=None)  # -U is for numbers
    if recipe.rows is not None:
        rows = drawn_rows(recipe, len(data.x), data.y, source)
        if len(rows) != len(data.x):
            data = chosen_rows(data, rows)
    if recipe.features is not None:
        wrong = [i for i in recipe.features if i >= data.x.shape[1]]
        if wrong:
            raise UsageError(
                f"there is no feature {wrong[0]}: {source} has {data.x.shape[1]}, counted from 0"
            )
        data = replace(data, x=data.x[:, list(recipe.features)], recipe=None)
    if recipe.shuffle:
        data = chosen_rows(data, splits.shuffled(len(data.x), recipe.seed))
    if recipe.sort:
        data = chosen_rows(data, np.argsort(data.y, kind="stable"))
    return data


def drawn_rows(recipe: Recipe, n: int, y: np.ndarray | None, source: str) -> np.ndarray:
    """The `recipe.rows` of n rows that are drawn, ascending: of each class of y (n,) its share."""
    if recipe.rows > n:
        warn_user(f"{source} has {n} rows, fewer than {recipe.rows}: all are kept")
    classes = recipe.form.labels and not recipe.form.ordinates
    with with_source_in_errors(source):
        return splits.stratified_rows(
            y if classes else np.zeros(n, np.int32), recipe.rows, recipe.least, recipe.seed
        )


def _check(recipe):
    if recipe.form.kind == "table" and (not recipe.form.labels or recipe.form.ordinates):
        raise UsageError(
            "`labels=False` and `ordinates` are not for tables: a column of classes is needed"
        )
    for what, requested in (
        ("`compact`", recipe.compact),
        ("a partition", recipe.partition is not None),
        ("`stratified`", recipe.stratified),
    ):
        if requested and not recipe.form.labels:
            raise UsageError(f"{what} needs labels")
        if requested and recipe.form.ordinates:
            raise UsageError(f"{what} needs classes: `ordinates` says that there are ordinates")
    if recipe.sort and not recipe.form.labels:
        raise UsageError("`sort` needs labels to sort by")


def _partitioned(data, sides, source):
    y = np.full(len(data.y), -1, np.int32)
    for code, side in enumerate(sides):
        for label in side:
            rows = data.y == label
            if not rows.any():
                raise DataError(f"class {label} of the partition has no samples", file=source)
            y[rows] = code
    rows = np.flatnonzero(y >= 0)
    return replace(chosen_rows(replace(data, y=y), rows), names=None, recipe=None, rows=None)


def _divided(recipe, data, output, test):
    if recipe.parts is None and recipe.fraction is None:
        return {output: data}
    if recipe.parts is None:
        bases = [output, test]
    else:
        bases = part_names(output, recipe.parts)
    return {base: chosen_rows(data, rows) for base, rows in zip(bases, divided_rows(recipe, data))}


def divided_rows(recipe: Recipe, data: Dataset) -> list[np.ndarray]:
    """The rows of the data, which may lack classes, of each part of the recipe."""
    n = len(data.x)
    y = data.y
    groups = data.groups
    has_classes = y is not None and not recipe.form.ordinates
    if has_classes:
        labels = y
    else:
        labels = np.zeros(n, np.int32)
    if has_classes:
        check_groups(data)
    if recipe.parts is not None:
        if groups is None:
            return splits.split_parts(n, recipe.parts)
        part = splits.stratified_parts(labels, recipe.parts, recipe.seed, groups)
        return [np.flatnonzero(part == number) for number in range(recipe.parts)]
    if recipe.fraction is None:
        return [np.arange(n)]
    if groups is not None or recipe.stratified:  # the order of groups says nothing
        train, held = splits.split_stratified(labels, recipe.fraction, recipe.seed, groups)
    elif recipe.independent:
        train, held = splits.split_random(n, recipe.fraction, recipe.seed)
    else:
        train, held = splits.split_fraction(n, recipe.fraction)
    if y is not None and not recipe.stratified:
        _warn_of_classes_in_one_part(y[train], y[held])
    return [train, held]


def _warn_of_classes_in_one_part(train, held):
    alone_in = []
    for name, part, other in (("training", train, held), ("test", held, train)):
        only = np.setdiff1d(part, other)
        if len(only):
            alone_in.append(f"class {only[0]}{and_more(only)} is in the {name} part alone")
    if alone_in:
        warn_user(
            f"{', '.join(alone_in)}: `stratified` takes the fraction of every class, "
            "`shuffle` shuffles first"
        )
