"""Points with labels, or points alone, in any `InputFormat`."""

import os
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..core.errors import DataError, UsageError
from ..core.weights import NO_WEIGHTS, Weights
from ..files.number_text import foreign_line, foreign_start
from ..files.opening import open_input
from ..tables.recipe_file import recipe_beside, recipe_if_there
from .class_names import named_by_value, read_names
from .groups import with_groups_of
from .libagf import open_vec, read_cls, read_con, read_vec, refuse_negative, VecReader
from .libsvm import iter_svm, read_svm, read_svm_labels, store_svm
from .lvq import iter_lvq, read_lvq
from .types import Dataset, InputFormat
from .weights import read_weights, weights_beside

_MAPPED = 1 << 26  # bytes of a file above which it is worth it
_LAZY = 1 << 24  # bytes of points above which they stay in a file
_OF_FILES = (".txt", ".svm", ".lvq", ".xls", ".xlsx", ".ods")  # in names of files, not of bases


def read_training(
    base,
    form: InputFormat = InputFormat(),
    *,
    names=None,
    negative: bool = False,
    stdin=None,
    keep: str = "",
) -> Dataset:
    """A Dataset: x (n, d) float32 (binary) or float64 (text), y (n,) int32, names.

    Labels that are numbers below 0, unless `negative`, or with a fraction are names in the order of
    their values, which a warning says. With `form.ordinates` y is of finite numbers, float32 from
    `base.dat` or float64 from text.

    Parameters
    ----------
    base : str, base name for binary data, else the file itself or `-`
    names : sequence, optional, entry i names label i: numbers words and replaces `base.names`
    keep : {"", "mapped", "sparse", "lazy"}
        "mapped": a large `.vec` file is mapped, not read; "sparse": that, and points of LIBSVM text
        are `SparsePoints`, absent features being 0; "lazy": points of a large `.vec` file, or of
        large LIBSVM text, stay in a file, as `LazyPoints`.
    """
    base = os.fsdecode(base)
    if form.kind == "binary":
        data = _read_binary(base, form, names, stdin, keep)
    elif form.kind == "lvq":
        data = read_lvq(base, form, names, stdin=stdin)
    elif keep == "lazy":
        data = store_svm(base, form, stdin=stdin, least=_LAZY)
    else:
        data = read_svm(base, form, names, stdin=stdin, sparse=keep == "sparse")
    data = replace(data, weights=weights_of(base, form, len(data.x), stdin))
    data = with_groups_of(data, base, form, stdin)
    if data.y is None or form.ordinates:
        return data
    y, names = _numbered(data.y, data.names, base, negative)
    return replace(data, y=y, names=names)


def weights_of(base: str, form: InputFormat, n: int, stdin=None) -> Weights | None:
    """The weights of n points in files, as they stand there, zeros too; None where there are none.

    They are in the file of `form.weights`, or beside binary points, in `base.wgt`.  Raises
    `DataError` as `read_weights`.
    """
    path = form.weights.file
    if path is None:
        if form.kind == "binary":
            path = weights_beside(base)
        else:
            path = None
    if path in (None, NO_WEIGHTS):
        return None
    if path == base == "-":
        raise UsageError("points and weights cannot both come from standard input")
    return Weights(read_weights(path, n, stdin))


def _read_binary(base, form, names, stdin, keep):
    if not form.labels:
        return Dataset(read_vec("-" if base == "-" else base + ".vec", stdin=stdin), None, names)
    _check_base(base, ".vec")
    vec = base + ".vec"
    recipe = recipe_if_there(recipe_beside(base))
    missing = recipe is not None and recipe.keeps_missing
    if os.path.isfile(vec):
        size = os.path.getsize(vec)
    else:
        size = 0
    if keep == "lazy" and size > _LAZY:
        x = open_vec(vec, missing=missing)
    else:
        x = read_vec(vec, mmap=keep in ("mapped", "sparse") and size > _MAPPED, missing=missing)
    if form.ordinates:
        return Dataset(x, read_con(base + ".dat", len(x)))
    y = read_cls(base + ".cls", len(x), negative=True)
    names = _names_beside(base, names)
    recipe = recipe_of_points(base, x.shape[1])
    if recipe is not None and names is not None:  # the names may have been changed since
        if len(names) != len(recipe.classes):
            raise DataError(
                f"has {len(recipe.classes)} classes, and there are {len(names)} names "
                f"in {base}.names: remove it, if it is of other points",
                file=recipe_beside(base),
            )
        recipe = replace(recipe, classes=names)
    return Dataset(x, y, names, recipe)


def recipe_of_points(base, d):
    """The recipe that made the points of d features in base.vec, or None; `DataError` for another."""
    path = recipe_beside(base)
    recipe = recipe_if_there(path)
    if recipe is not None and len(recipe.features) != d:
        raise DataError(
            f"makes {len(recipe.features)} features, and {base}.vec has {d}: it is of "
            "other points: remove it",
            file=path,
        )
    return recipe


def read_labels(base, form: InputFormat = InputFormat(), names=None, stdin=None) -> tuple:
    """({label: samples}, {label: name}) of training data, the labels ascending."""
    base = os.fsdecode(base)
    if form.kind == "binary":
        _check_base(base, ".cls")
        y, names = read_cls(base + ".cls", negative=True), _names_beside(base, names)
    elif form.kind == "svm":
        y, names = read_svm_labels(base, names, stdin)
    else:
        data = read_training(base, form, names=names, stdin=stdin)
        y = data.y
        names = data.names
    y, names = _numbered(y, names, base)
    labels, counts = np.unique(y, return_counts=True)
    return dict(zip(labels.tolist(), counts.tolist())), dict(enumerate(names or ()))


def _check_base(base, ending):
    """Raise what helps where `base` is no base name of binary files."""
    if base == "-":
        raise UsageError("binary training data are several files and cannot come from a pipe")
    if os.path.exists(base + ending):
        return
    if not os.path.isfile(base):
        if base.lower().endswith(_OF_FILES):
            raise DataError(
                f"there is no such file, and no {base}{ending} of binary data", file=base
            )
        return
    with open_input(base) as file:
        head = file.read(4096)
    foreign = foreign_start(head, base) or foreign_line(head.lstrip().split(b"\n", 1)[0], base)
    raise DataError(
        f"there is no {base}{ending}; "
        + (foreign or 'LIBSVM text is read with `kind="svm"`, LVQ text with `kind="lvq"`'),
        file=base,
    )


def _names_beside(base, names):
    if names is None and os.path.exists(base + ".names"):
        names = read_names(base + ".names")
    if names is None:
        return None
    return tuple(names)


def _numbered(y, names, base, negative=False):
    """(labels, names), where labels below 0 become names unless they may stay."""
    if not negative:
        if names is None and y.min() < 0:
            y, names = named_by_value(y, base)
        refuse_negative(y, base, "" if names is None else " where there are names of the classes")
    if names is not None and y.max() >= len(names):
        raise DataError(f"label {y.max()} has no name: there are {len(names)} names", file=base)
    return y, names


def iter_points(
    path,
    form: InputFormat = InputFormat(),
    rows: int = 4096,
    d: int | None = None,
    stdin=None,
    sparse: bool = False,
    missing: bool = False,
) -> Iterator:
    """Chunks (<= rows, d) of points to classify, in bounded memory; labels are passed over.

    `path` is a `.vec` file or a text file, or `-`. With `d`, a file of another width is an error;
    LIBSVM text may leave the last features out. With `sparse`, points of LIBSVM text whose missing
    features are 0 come as `SparsePoints`. Points of a `.vec` file of which a value is
    `form.no_data` or, without `missing`, NaN, are all NaN. Raises DataError.
    """
    if form.kind == "binary":
        with VecReader(path, rows, stdin, missing=True) as reader:
            if d is not None and reader.d != d:
                raise DataError(f"has {reader.d} features, the model needs {d}", file=path)
            for x in reader:
                empty = np.zeros(len(x), dtype=bool)
                if not missing:
                    empty |= np.isnan(x).any(axis=1)
                if form.no_data is not None:
                    empty |= (x == np.float32(form.no_data)).any(axis=1)
                if empty.any():
                    x = np.where(empty[:, None], np.float32(np.nan), x)
                yield x
    elif form.kind == "svm":
        yield from iter_svm(path, form, rows, d, stdin=stdin, sparse=sparse and form.fill == 0)
    else:
        yield from iter_lvq(path, form, rows, d, stdin=stdin)
