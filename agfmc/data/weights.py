"""Weights of samples, and of classes, in files; proportions of classes that a user gives.

Weights of samples are text, a number in each line, in the order of the points, or, in a file whose
name ends in `.wgt`, binary: one little-endian float32 per sample.  Binary data with the base name
`base` have them in `base.wgt`.  A weight is 0 or more.  Weights of classes are text: in each line
the label or the name of a class, and a number above 0.  In text, blank lines and comments from `#`
to the end of the line are allowed everywhere.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..core.errors import and_more, DataError, Place, UsageError, warn_user
from ..core.lazy_points import is_lazy
from ..core.memory import within_memory
from ..core.points import as_numbers, label_counts
from ..core.splits import of_rows
from ..core.text import listed
from ..core.weights import (
    check_range,
    class_factors,
    LARGEST,
    of_points,
    SMALLEST,
    total_weights,
    Weights,
)
from ..files.number_text import number_of, numbers, parsed_blocks
from ..files.opening import open_input, read_bytes, SMALL_TEXT
from .class_names import number_classes, show
from .groups import check_groups
from .libagf import check_count, con_bytes, FLOAT, read_cls, read_column, refuse_negative
from .types import Dataset

ENDING = ".wgt"
TEXT_ENDING = ".weights"  # added to the name of a text of points, for the weights beside it
_EXPECTED = "binary weights, float32, as the name ends in .wgt: weights in text have another name"
_MOST_CLASSES = 1_000_000
_SMALL, _LARGE = 0.1, 10.0  # of the mean weight: beyond them weights are no numbers of samples


def single_precision(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights (n,) as float32 holds them, in float64; and a mask of those that it cannot hold."""
    with np.errstate(over="ignore", under="ignore"):
        rounded = w.astype(np.float32).astype(np.float64)
    return rounded, ~((rounded >= 0) & (rounded < np.inf)) | (rounded == 0) & (w != 0)


def weights_beside(base: str) -> str | None:
    """The file of the weights of binary data with this base name, or None where there is none."""
    path = base + ENDING
    if base != "-" and os.path.exists(path):
        return path
    return None


def read_weights(path: str, n: int | None = None, stdin=None) -> np.ndarray:
    """The weights (n,) float64 of samples, each 0 or more, in a file, or `-`.

    There must be weights for `n` points, None for any number. Raises `DataError`, with the line of
    a text, for what is no such number.
    """
    path = os.fsdecode(path)
    if not path.endswith(ENDING):
        with open_input(path, stdin) as file:
            parts = parsed_blocks(file, _weights_of_lines, functools.partial(_check_line, path))
            w = np.concatenate([np.empty(0), *within_memory(parts, path, what="the weights")])
        check_count(w, n, "weights", path)
        return w
    w = read_column(path, FLOAT, n, stdin, "weights", _EXPECTED)
    with np.errstate(invalid="ignore"):  # what is not a number is refused below
        w = w.astype(np.float64)
    bad = ~((w >= 0) & (w < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(
            f"row {row + 1} has the weight {w[row]:g}: expected a number of 0 or more",
            file=path,
        )
    return w


def _weights_of_lines(tokens):
    if (tokens.count == 1).all():
        w = numbers(tokens.text, len(tokens.start))
    else:
        w = None
    if w is None or (w < 0).any():
        return None
    return w


def _check_line(path, line, number):
    words = line.split()
    if words and (len(words) > 1 or not 0 <= number_of(words[0]) < np.inf):
        raise DataError(
            "expected one weight in each line, a number of 0 or more, found "
            + show(b" ".join(words)),
            file=path,
            line=number,
        )


def weights_bytes(w: np.ndarray, path: str | None = None, start: int = 0) -> bytes:
    """Weights (n,) as the bytes of a `.wgt` file; `DataError` for one that float32 cannot hold.

    `start` is the number of weights in the file before them.
    """
    w = np.asarray(w, np.float64)
    data = con_bytes(w, path, start)
    lost = (np.frombuffer(data, FLOAT) == 0) & (w > 0)
    if lost.any():
        row = int(np.argmax(lost))
        raise DataError(
            f"the weight of row {start + row + 1}, {w[row]:g}, is too small for "
            "single precision: multiply all weights by a power of ten",
            file=path,
        )
    return data


def format_weights(w: np.ndarray) -> Iterator[str]:
    """Yield weights (n,) as lines of text, with all their digits."""
    for weight in w.tolist():
        yield f"{int(weight) if weight == int(weight) else weight!r}\n"


class _ClassWeights(dict):
    """Weights of classes, and the `Place` of each in `places`, for errors about classes."""

    def __init__(self):
        self.places = {}


def read_class_weights(path: str, stdin=None) -> Mapping[int | str, float]:
    """{label or name, as it stands there: weight} of the classes in a file, or `-`.

    A name may have blanks in it.  Raises `DataError` with the line for a class without a weight,
    one that is there twice, and a weight that is not a number above 0.
    """
    weights = _ClassWeights()
    raw = read_bytes(
        path, stdin, most=SMALL_TEXT, expected="a class and its weight in each line"
    ).removeprefix(b"\xef\xbb\xbf")
    for number, line in enumerate(raw.split(b"\n"), 1):
        place = Place(path, number)
        if b"\0" in line:
            raise place.error(DataError, "is not text: there is a NUL in the line")
        words = line.partition(b"#")[0].rsplit(None, 1)
        if not words:
            continue
        if len(words) == 1:
            raise place.error(
                DataError,
                f"expected the label or name of a class and its weight, found {show(words[0])}",
            )
        name = words[0].strip()
        weight = number_of(words[1])
        if not SMALLEST <= weight <= LARGEST:
            raise place.error(
                DataError,
                f"the weight of class {show(name)}: expected a number "
                f"from {SMALLEST:g} to {LARGEST:g}, found {show(words[1])}",
            )
        key = name.decode("utf-8", "surrogateescape")
        if key in weights:
            raise place.error(DataError, f"class {show(name)} is there twice")
        weights[key], weights.places[key] = weight, place
        if len(weights) > _MOST_CLASSES:
            raise place.error(DataError, f"has more than {_MOST_CLASSES} classes")
    if not weights:
        raise DataError("has no weights of classes", file=path)
    return weights


def given_weights(
    data: Dataset, weight=None, classes: Mapping[int | str, float] | str | None = None
) -> Dataset:
    """`with_final_weights`, with the weights that a Python program gives.

    Parameters
    ----------
    weight : array (n,), optional
        Numbers of 0 or more; None for those of the data.
    classes : mapping or str, optional, class weights, as of `WeightSource`

    Raises
    ------
    UsageError : for weights beside those of the data
    DataError : as `sample_weights` and `with_final_weights` do
    """
    if weight is not None:
        if data.weights is not None:
            raise UsageError("the data have weights: the argument weight would be others")
        data = replace(data, weights=sample_weights(weight, len(data.y)))
    return with_final_weights(data, None, classes)


def sample_weights(w, n: int) -> Weights:
    """Weights of n samples, numbers of 0 or more, for the `weights` of a Dataset; `DataError`."""
    w = as_numbers(w, "the weights of the samples").astype(np.float64)
    if w.shape != (n,):
        raise DataError(
            f"the weights of the samples: expected {n} numbers, one for each point, "
            f"found an array of shape {w.shape}"
        )
    bad = ~((w >= 0) & (w < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(
            f"the weight of sample {row} (from 0) is {w[row]:g}: expected a number of 0 or more"
        )
    return Weights(w)


def with_final_weights(
    data: Dataset, source: str | None = None, classes: Mapping[int | str, float] | str | None = None
) -> Dataset:
    """A Dataset as it is trained on: with class weights, and no weight of 0.

    Weights that are all 1 become None.

    Parameters
    ----------
    data : Dataset, with weights as in a file, 0 or more, or None
    source : str, optional, name of the weights, for messages
    classes : mapping or str, optional, class weights, as of `WeightSource`

    Raises
    ------
    DataError : as `without_zeros`, `with_class_weights` and `check_groups` do
    """
    data = with_class_weights(without_zeros(data, source), source, classes)
    check_groups(data, source)
    return data


def without_zeros(
    data: Dataset, source: str | None = None, small_left_out: bool = False
) -> Dataset:
    """A Dataset without the points of weight 0, which a warning counts.

    With `small_left_out` classes may be gone then; else `DataError` is raised for them.
    """
    if data.weights is None:
        return data
    some = data.weights.w > 0
    if some.all():
        return data
    if not some.any():
        raise DataError(f"all {len(some)} samples have weight 0", file=source)
    left = set(data.y[some].tolist())
    gone = [label for label in data.counts if label not in left]
    if gone and not small_left_out:
        name = data.name_of.get(gone[0])
        what = f"class {gone[0]}" + f", '{name}'" * bool(name) + and_more(gone)
        raise DataError(
            f"{what}: all samples have weight 0: give some of them a weight, or leave "
            "them out of the data (`min_class=1`)",
            file=source,
        )
    zeros = len(some) - int(np.count_nonzero(some))
    if source is None:
        where = ""
    else:
        where = f"{'standard input' if source == '-' else source}: "
    warn_user(f"{where}{zeros} of {len(some)} samples have weight 0 and are left out")
    return chosen_rows(data, np.flatnonzero(some))


def with_class_weights(
    data: Dataset, source: str | None = None, classes: Mapping[int | str, float] | str | None = None
) -> Dataset:
    """A Dataset whose weights, all above 0, have the factors of the classes in them.

    `classes` are as of `WeightSource`; factors that are in the weights stay. Weights that are all 1
    become None. Raises `DataError` for classes that are not there.
    """
    if data.weights is None:
        w = None
    else:
        w = data.weights.w
    if w is not None and not data.weights.factors:
        _warn_of_scale(w, source)
    factors: Mapping[int, float] = {} if data.weights is None else data.weights.factors
    if classes is not None:
        try:
            new = class_factors(classes, total_weights(data.y, w), data.name_of)
        except DataError as error:
            raise DataError(error.message, file=error.file or source, line=error.line) from error
        with np.errstate(over="ignore", under="ignore"):
            if w is None:
                w = of_points(new, data.y)
            else:
                w = w * of_points(new, data.y)
        factors = {label: factor * factors.get(label, 1.0) for label, factor in new.items()}
    if w is not None:
        check_range(w, source)
    plain = w is None or bool((w == 1).all())
    return replace(data, weights=None if plain else Weights(w, factors))


def _warn_of_scale(w, source):
    """Warn where weights are so small or large that they cannot stand for numbers of samples."""
    mean = float(w.mean())
    if not _SMALL <= mean <= _LARGE:
        if source is None:
            of = "the samples"
        elif source == "-":
            of = "standard input"
        else:
            of = source
        warn_user(
            f"the {len(w)} weights of {of} sum to {len(w) * mean:.3g}: a weight of 1 is "
            f"one sample, and training takes these for {'few' if mean < 1 else 'many'}: "
            f"divide them by their mean, {mean:.3g}, unless they are meant so"
        )


def chosen_rows(data: Dataset, rows: np.ndarray) -> Dataset:
    """The Dataset of some rows (l,), which ascend where the points stay in a file."""
    return replace(
        data,
        x=data.x.selected(rows) if is_lazy(data.x) else data.x[rows],
        y=of_rows(data.y, rows),
        weights=of_rows(data.weights, rows),
        groups=of_rows(data.groups, rows),
        rows=rows if data.rows is None else data.rows[rows],
    )


def proportions(
    given, labels: Sequence[int], parameter: str = "priors", names: Mapping[int, str] | None = None
) -> np.ndarray:
    """Shares (k,) of the classes `labels`, ascending, which sum to 1.

    Numbers that do not sum to 1 are divided by their sum, with a warning.

    Parameters
    ----------
    given : sequence, mapping or str, k numbers in the order of the labels, {label or name: number}
        of all of them, or the name of a .cls file with samples
    names : mapping, optional, {label: name} of the classes, which go before labels

    Raises
    ------
    UsageError : for what does not fit the classes
    DataError : for a file
    """
    labels = [int(label) for label in labels]
    if isinstance(given, str):
        return _frequencies(given, labels)
    if isinstance(given, dict):
        label_of = {name: label for label, name in (names or {}).items()}
        given = {label_of.get(str(key), key): share for key, share in given.items()}
        strange = [label for label in given if label not in labels]
        if strange:
            raise UsageError(
                f"`{parameter}`: class {strange[0]} is not one of the classes "
                + (
                    listed(labels)
                    if not names
                    else ", ".join(f"{label} {names.get(label, '')}" for label in labels[:20])
                )
            )
        missing = [label for label in labels if label not in given]
        if missing:
            raise UsageError(
                f"`{parameter}`: expected a number for each class, found none for "
                + listed(missing)
            )
        given = [given[label] for label in labels]
    if len(given) != len(labels):
        raise UsageError(
            f"`{parameter}`: expected {len(labels)} numbers, one for each class in "
            f"ascending order ({listed(labels)}), found {len(given)}"
        )
    numbers = np.array(given, dtype=np.float64)
    with np.errstate(over="ignore"):
        total = numbers.sum()
    if (
        not np.isfinite(total)
        or numbers.min() < 0
        or total == 0
        or (numbers[numbers > 0] / total < SMALLEST).any()
    ):
        raise UsageError(
            f"`{parameter}`: expected numbers that are not negative, nor all 0, and none "
            f"below {SMALLEST:g} of a finite sum, but for 0"
        )
    if abs(total - 1) > 1e-6:
        warn_user(f"`{parameter}`: the numbers sum to {total:g}: they are divided by that")
    return numbers / total


def _frequencies(path, labels):
    y = read_cls(path, negative=True)
    if y.min() < 0 and labels == list(range(len(labels))):
        y = number_classes(y, len(labels), path)
    refuse_negative(y, path)
    counts = label_counts(y)
    strange = [label for label in counts if label not in labels]
    if strange:
        raise DataError(
            f"holds class {strange[0]}, which is not one of the classes " + listed(labels),
            file=path,
        )
    absent = sorted(set(labels) - set(counts))
    if absent:
        warn_user(f"{path} holds no sample of class {listed(absent)}: the proportion is 0")
    return np.array([counts.get(label, 0) for label in labels]) / len(y)
