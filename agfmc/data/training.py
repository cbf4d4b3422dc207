"""Training data from files to normalised points."""

import os
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from ..control.build import restricted
from ..control.tree import Tree
from ..core.errors import DataError, one_line, warn_user
from ..core.lazy_points import is_lazy
from ..core.points import is_sparse
from ..core.text import first_words
from ..core.weights import NO_WEIGHTS, total_weights
from ..tables.types import TableRecipe
from .from_table import read_table, table_labels
from .groups import check_groups, group_counts, groups_beside
from .libagf import read_std
from .normalisation import blocks, named_features, uneven_features
from .reading import read_labels, read_training
from .types import Dataset, InputFormat
from .weights import (
    chosen_rows,
    weights_beside,
    with_class_weights,
    with_final_weights,
    without_zeros,
)

# A table of all features is made where it takes less than this, or less than so many times
# what is not zero.
_TABLE, _TIMES = 1 << 26, 4
_FAINT = float(np.finfo(np.float32).tiny)


def read_points(base, form: InputFormat, recipe: TableRecipe | None = None) -> Dataset:
    """The `Dataset` of points with labels for a model; recipe: that of the model, for tables.

    Its weights are those that the points count with, or None.
    """
    if form.kind == "table" and recipe is None:
        raise DataError(
            "is a table, and the model has no recipe of columns: expected a model "
            "that was trained from a table",
            file=base,
        )
    if form.kind != "table":
        data = read_training(base, form)
    else:
        data = read_table(base, form, recipe)
    warn_of_weights(base, form)
    return with_final_weights(data, base, form.weights.classes)


def training_labels(base, form: InputFormat) -> tuple[dict[int, int], dict[int, str]]:
    """({label: samples}, {label: name}) of training data of any format, the labels ascending."""
    if form.kind == "table":
        return table_labels(base, form)
    return read_labels(base, form)


def class_totals(
    base, form: InputFormat, min_class: int | tuple[int, int] | None = None
) -> tuple[dict[int, float], dict[int, str]]:
    """({label: samples, or the sum of their weights}, {label: name}) of training data.

    The points are read where they have weights alone. `min_class` is as for `load_training`.
    """
    given = form.weights.file
    classes = form.weights.classes
    beside = (
        form.roles.weight is not None or form.kind == "binary" and weights_beside(base) is not None
    )
    if classes is not None or (beside if given is None else given != NO_WEIGHTS):
        data, _, _ = load_training(base, form, keep="lazy", min_class=min_class)
        if data.weights is None:
            w = None
        else:
            w = data.weights.w
        return dict(total_weights(data.y, w)), data.name_of
    counts, names = training_labels(base, form)
    if min_class is not None:  # groups are counted where the points are read
        large_labels = large_classes(counts, class_limits(min_class)[0], base, names)
        counts = {label: counts[label] for label in large_labels}
    return dict(counts), names


def load_training(
    base,
    form: InputFormat,
    *,
    fit: Callable | None = None,
    norm_file: str | None = None,
    keep: str = "",
    min_class: int | tuple[int, int] | None = None,
    scales: bool = False,
) -> tuple:
    """Read training data and normalise them; -> (Dataset, Normalisation or None, raw points).

    The statistics are rounded as a file stores them before they are applied: a later run that reads
    the file sees the same points, bit for bit. Points of weight 0 are left out first, the factors
    of class weights come last.

    Parameters
    ----------
    fit : function of a Dataset, optional
        Makes the Normalisation of its points, as `TrainingSettings.fit_normalisation`, and the caller
        writes it. Without it, `norm_file` is read and applied.
    keep : str
        As for `read_training`. With "sparse", LIBSVM text that is large and mostly zero may stay
        `SparsePoints`; a normalisation, which moves the zeros, needs the whole table.
    min_class : int or (int, int), optional
        Samples of smaller classes are left out, as if they were not in the file: the least number
        of samples, and of groups, where there are groups (2).
    scales : bool, warn of `uneven_features`, unless the normalisation of the points is beside them
    """
    normalised = fit is not None or norm_file is not None
    sparse = keep == "sparse" and form.kind == "svm" and form.fill == 0 and not normalised
    if form.kind == "table":
        data = read_table(base, form, lazy=keep == "lazy")
    else:
        if sparse:
            how = "sparse"
        elif keep == "lazy":
            how = "lazy"
        else:
            how = "mapped"
        data = read_training(base, form, keep=how)
    warn_of_weights(base, form)
    left = without_zeros(data, base, min_class is not None)
    if min_class is not None:
        least, least_groups = class_limits(min_class)
        counts = dict.fromkeys(data.counts, 0) | left.counts  # some may be gone
        left = _of_classes(left, large_classes(counts, least, base, data.name_of))
        if left.groups is not None:
            counts = group_counts(left)
            large = large_classes(counts, least_groups, base, data.name_of, "groups")
            left = _of_classes(left, large)
    data = with_class_weights(left, base, form.weights.classes)
    check_groups(data, base, remedy=True)
    if sparse and 8 * data.x.shape[0] * data.x.shape[1] < max(
        _TABLE, _TIMES * 12 * data.x.counts.sum()
    ):
        data = replace(data, x=np.asarray(data.x))
    raw = data.x
    normalisation = None
    with with_source_in_errors(base, data.recipe):
        if fit is not None:
            normalisation = fit(data)
        elif norm_file is not None:
            normalisation = read_std(norm_file)
        if normalisation is not None:
            data = replace(
                data, x=raw.normalised(normalisation) if is_lazy(raw) else normalisation.apply(raw)
            )
        elif _faint(data.x):
            warn_user(
                f"{base}: no value is larger than {_FAINT:.2g}: with the usual options "
                "the kernel hardly varies; multiply the data by a power of ten"
            )
        if (
            scales
            and not is_sparse(raw)
            and not os.path.exists(f"{base}.std")
            and (uneven := uneven_features(raw))
        ):
            large, small, ratio = uneven
            warn_user(
                f"{base}: the standard deviation of feature {large} (from 0) is "
                f"{ratio:.2g} times that of feature {small}, which kernels then hardly "
                'see: `normalise` normalises (`norm_file="none"`: no warning)'
            )
    return data, normalisation, raw


def _faint(x):
    """Return True if all values are too small to have all digits in single precision."""
    if is_sparse(x):
        values = x.csr.data[:, None]
    else:
        values = x
    # the first block nearly always tells
    return (
        len(values) > 0
        and all(np.abs(block).max() < _FAINT for block in blocks(values))
        and any(block.any() for block in blocks(values))
    )


def warn_of_weights(base: str, form: InputFormat) -> None:
    """Warn where the weights or groups beside points are taken without an option."""
    if form.kind != "binary":
        return
    base = os.fsdecode(base)
    if form.weights.file is None and (beside := weights_beside(base)):
        warn_user(
            f"the samples of {base} have the weights in {beside} "
            '(`weight="none"`: they all count alike)'
        )
    if form.groups is None and (beside := groups_beside(base)):
        warn_user(
            f"the samples of {base} have the groups in {beside} "
            '(`group="none"`: they are split one by one)'
        )


def class_limits(min_class: int | tuple[int, int]) -> tuple[int, int]:
    """The least numbers of samples and of groups of a class; one group cannot be held out."""
    if isinstance(min_class, tuple):
        return min_class
    return (min_class, 2)


def _of_classes(data, labels):
    """The points of these classes alone."""
    if len(labels) == len(data.counts):
        return data
    return chosen_rows(data, np.flatnonzero(np.isin(data.y, labels)))


def large_classes(
    counts: dict, least: int, source, names: dict, what: str = "samples"
) -> list[int]:
    """The labels of {label: samples} that have `least` samples or more; one warning of the others.

    `what` is what is counted, "samples" or "groups", of which classes may share some; `names` is
    {label: name}, `source` that of the data. Raises `DataError` where fewer than two are left.
    """
    large = [label for label, count in counts.items() if count >= least]
    small = [label for label in counts if counts[label] < least]
    if len(large) < 2:
        left = f"{len(large) or 'no'} class{'' if len(large) == 1 else 'es'} of {len(counts)}"
        if what == "samples":
            by = f"by `min_class={least}`"
        else:
            by = f"in {least} {what} or more"
        raise DataError(f"{left} would be left {by}: expected at least 2", file=source)
    if small:
        shown = first_words(
            [
                str(label)
                + (f" '{one_line(names[label])}'" if names.get(label) else "")
                + f" ({counts[label]})"
                for label in small
            ]
        )
        have, are = ("has", "is") if len(small) == 1 else ("have", "are")
        rows = f"; {sum(counts[label] for label in small)} of {sum(counts.values())} samples"
        warn_user(
            f"{len(small)} of {len(counts)} classes {have} fewer than {least} {what} "
            f"and {are} left out: {shown}{rows * (what == 'samples')}"
        )
    return large


def for_classes(tree: Tree, labels) -> Tree:
    """A control tree without the classes that are not in `labels`; a warning says what is left.

    Raises errors as `restricted` does.
    """
    smaller = restricted(tree, labels)
    if smaller is not tree:
        gone = sorted(set(tree.labels) - set(labels))
        size, left = (len(t.rows) + len(t.directs) for t in (tree, smaller))
        if tree.source is None:
            where = ""
        else:
            where = f"{tree.source}: "
        warn_user(
            f"{where}{left} of {size} classifiers remain{'s' * (left == 1)} without "
            f"class{'es' * (len(gone) > 1)} {first_words(gone)}"
        )
    return smaller


@contextmanager
def with_source_in_errors(source, recipe: TableRecipe | None = None):
    """Add the file to errors of functions that see arrays alone; recipe: names their features."""
    try:
        with named_features(() if recipe is None else recipe.features):
            yield
    except DataError as error:
        if error.file is not None:
            raise
        raise DataError(error.message, file=source) from error
