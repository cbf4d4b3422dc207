"""Weights of samples, and of classes, in files.

Weights of samples are text, a number in each line, in the order of the points, or, in a file whose
name ends in `.wgt`, binary: one little-endian float32 per sample.  Binary data with the base name
`base` have them in `base.wgt`.  A weight is 0 or more.  Weights of classes are text: in each line
the label or the name of a class, and a number above 0.  In text, blank lines and comments from `#`
to the end of the line are allowed everywhere.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ..core.errors import AgfmcWarning, and_more, DataError, Place, UsageError
from ..core.lazy_points import is_lazy
from ..core.memory import refuse_beyond, within_memory
from ..core.points import as_numbers
from ..core.weights import (check_range, class_factors, LARGEST, of_points, SMALLEST, total_weights,
                            Weights)
from ..files.number_text import blocks, is_text, tokenise, values
from ..files.opening import open_input, read_bytes, SMALL_TEXT
from .libagf import con_bytes
from .types import Dataset

ENDING = ".wgt"
TEXT_ENDING = ".weights"  # added to the name of a text of points, for the weights beside it
_FLOAT = np.dtype("<f4")
_PIECE = 1 << 20  # bytes of a pipe at a time
_MOST_CLASSES = 1_000_000
_SHOWN = 40  # letters of a word in a message


def single_precision(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights (n,) as float32 holds them, in float64; and a mask of those that it cannot hold."""
    with np.errstate(over="ignore", under="ignore"):
        rounded = w.astype(np.float32).astype(np.float64)
    return rounded, ~((rounded >= 0) & (rounded < np.inf)) | (rounded == 0) & (w != 0)


def weights_beside(base: str) -> str | None:
    """The file of the weights of binary data with this base name, or None where there is none."""
    path = base + ENDING
    return path if base != "-" and os.path.exists(path) else None


def read_weights(path: str, n: int | None = None, stdin=None) -> np.ndarray:
    """The weights (n,) float64 of samples, each 0 or more, in a file, or `-`.

    n: the number of points, which there must be weights for, or None.  Raises `DataError`, with
    the line of a text, for what is no such number.
    """
    path = os.fsdecode(path)
    w = _read_binary(path, n, stdin) if path.endswith(ENDING) else _read_text(path, n, stdin)
    if n is not None and len(w) != n:
        raise DataError(f"has {len(w)} weights, but there are {n} points", file=path)
    return w


def _read_binary(path, n, stdin):
    with open_input(path, stdin, raw=True) as file:
        size = file.regular_size()
        if size is not None:
            if n is not None and size > max(4 * n, _PIECE):
                raise DataError(f"has more weights than the {n} points", file=path)
            refuse_beyond(2 * size, "the weights", path)
        data = b"".join(within_memory(iter(lambda: file.read(_PIECE), b""), path, len,
                                      "the weights"))
    if is_text(data, floats=True):
        raise DataError(f"looks like text, expected binary weights, float32, as the name ends in "
                        f"{ENDING}: weights in text have another name", file=path)
    if len(data) % 4:
        raise DataError(f"is damaged: {len(data)} bytes are not whole weights of 4 bytes",
                        file=path)
    if not data:
        raise DataError("has no weights", file=path)
    w = np.frombuffer(data, _FLOAT).astype(np.float64)
    bad = ~((w >= 0) & (w < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"row {row} (from 0) has the weight {w[row]:g}: expected a number of 0 or "
                        "more", file=path)
    return w


def _read_text(path, n, stdin):
    parts, count = [], 0
    with open_input(path, stdin) as file:
        for part in within_memory(_numbers(file), path, what="the weights"):
            parts.append(part)
            count += len(part)
            if n is not None and count > n:
                raise DataError(f"has more weights than the {n} points", file=path)
    if not parts:
        raise DataError("has no weights", file=path)
    return np.concatenate(parts)


def _numbers(file) -> Iterator[np.ndarray]:
    """Yield the weights of each block of a text."""
    for text, first_line in blocks(file):
        tokens = tokenise(text, first_line)
        if not len(tokens.first):
            continue
        found = values(tokens.text, tokens.start, tokens.end, alone=True) \
            if (tokens.count == 1).all() else None
        if found is None:
            _refuse_line(tokens, file.name)
        bad = found < 0
        if bad.any():
            at = int(np.argmax(bad))
            raise DataError(f"the weight {found[at]:g} is below 0: expected a number of 0 or more",
                            file=file.name, line=int(tokens.line[at]))
        yield found


def _refuse_line(tokens, name):
    """`DataError` for the first line that is no number."""
    for i, line in enumerate(tokens.line.tolist()):
        words = tokens.words(i)
        one = np.frombuffer(words[0], np.uint8)
        if len(words) == 1 and values(one, np.zeros(1, np.int64), np.array([len(one)])) is not None:
            continue
        raise DataError("expected one weight in each line, a number of 0 or more, found "
                        f"'{_shown(b' '.join(words))}'", file=name, line=line)
    raise DataError("expected one weight in each line, a number of 0 or more", file=name)


def _shown(word):
    text = word.decode("utf-8", "backslashreplace")
    return text if len(text) <= _SHOWN else text[:_SHOWN - 3] + "..."


def weights_bytes(w: np.ndarray, path: str | None = None, start: int = 0) -> bytes:
    """Weights (n,) as the bytes of a `.wgt` file; `DataError` for one that float32 cannot hold.

    start: the number of weights in the file before them.
    """
    w = np.asarray(w, np.float64)
    data = con_bytes(w, path, start)
    lost = (np.frombuffer(data, _FLOAT) == 0) & (w > 0)
    if lost.any():
        row = int(np.argmax(lost))
        raise DataError(f"the weight of row {start + row} (from 0), {w[row]:g}, is too small for "
                        "single precision: multiply all weights by a power of ten", file=path)
    return data


def format_weights(w: np.ndarray) -> Iterator[str]:
    """Yield weights (n,) as lines of text, with all their digits."""
    for weight in w.tolist():
        yield f"{int(weight) if weight == int(weight) else weight!r}\n"


class _Placed(dict):
    """Weights of classes, and the `Place` of each in `places`, for errors about classes."""

    def __init__(self):
        self.places = {}


def read_class_weights(path: str, stdin=None) -> Mapping[int | str, float]:
    """{label or name, as it stands there: weight} of the classes in a file, or `-`.

    A name may have blanks in it.  Raises `DataError` with the line for a class without a weight,
    one that is there twice, and a weight that is not a number above 0.
    """
    found = _Placed()
    raw = read_bytes(path, stdin, most=SMALL_TEXT,
                     expected="a class and its weight in each line").removeprefix(b"\xef\xbb\xbf")
    for number, line in enumerate(raw.split(b"\n"), 1):
        if b"\0" in line:
            raise DataError("is not text: there is a NUL in the line", file=path, line=number)
        words = line.partition(b"#")[0].rsplit(None, 1)
        if not words:
            continue
        if len(words) == 1:
            raise DataError("expected the label or name of a class and its weight, found "
                            f"'{_shown(words[0])}'", file=path, line=number)
        key = words[0].strip().decode("utf-8", "surrogateescape")
        one = np.frombuffer(words[1], np.uint8)
        weight = values(one, np.zeros(1, np.int64), np.array([len(one)]))
        if weight is None or not SMALLEST <= weight[0] <= LARGEST:
            raise DataError(f"the weight of class '{_shown(words[0].strip())}': expected a number "
                            f"from {SMALLEST:g} to {LARGEST:g}, found '{_shown(words[1])}'",
                            file=path, line=number)
        if key in found:
            raise DataError(f"class '{_shown(words[0].strip())}' is there twice", file=path,
                            line=number)
        found[key], found.places[key] = weight[0].item(), Place(path, number)
        if len(found) > _MOST_CLASSES:
            raise DataError(f"has more than {_MOST_CLASSES} classes", file=path, line=number)
    if not found:
        raise DataError("has no weights of classes", file=path)
    return found

_SMALL, _LARGE = 0.1, 10.0  # of the mean weight: beyond them weights are no numbers of samples


def given_weights(data: Dataset, sample_weight=None,
                  classes: Mapping[int | str, float] | str | None = None) -> Dataset:
    """A Dataset as it is trained on, with the weights that a Python program gives: `settled`.

    sample_weight (n,): numbers of 0 or more, or None for those that the data have;  classes: class
    weights, as of `WeightSource`.  Raises `UsageError` for weights beside those of the data, and
    `DataError` as `sample_weights` and `settled` do.
    """
    if sample_weight is not None:
        if data.weights is not None:
            raise UsageError("the data have weights: sample_weight would be others")
        data = replace(data, weights=sample_weights(sample_weight, len(data.y)))
    return settled(data, None, classes)


def sample_weights(w: object, n: int) -> Weights:
    """Weights of n samples, numbers of 0 or more, for the `weights` of a Dataset; `DataError`."""
    found = as_numbers(w, "the weights of the samples").astype(np.float64)
    if found.shape != (n,):
        raise DataError(f"the weights of the samples: expected {n} numbers, one for each point, "
                        f"found an array of shape {found.shape}")
    bad = ~((found >= 0) & (found < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"the weight of sample {row} (from 0) is {found[row]:g}: expected a number "
                        "of 0 or more")
    return Weights(found)


def settled(data: Dataset, source: str | None = None,
            classes: Mapping[int | str, float] | str | None = None) -> Dataset:
    """A Dataset as it is trained on: with class weights, and no weight of 0.

    data: its weights are as in a file, 0 or more, or None;  source: its name, for messages;
    classes: class weights, as of `WeightSource`.  Weights that are all 1 become None.  Raises
    `DataError` as `without_zeros` and `with_class_weights` do.
    """
    return with_class_weights(without_zeros(data, source), source, classes)


def without_zeros(data: Dataset, source: str | None = None,
                  small_left_out: bool = False) -> Dataset:
    """A Dataset without the points of weight 0, which a warning counts.

    small_left_out: classes may be gone then.  Else `DataError` is raised for a class all of whose
    samples have weight 0, as for data that have no others.
    """
    if data.weights is None:
        return data
    some = data.weights.w > 0
    if some.all():
        return data
    if not some.any():
        raise DataError(f"all {len(some)} samples have weight 0", file=source)
    counts, kept = data.counts, dict(zip(*_counted(data.y[some])))
    gone = [label for label in counts if label not in kept]
    if gone and not small_left_out:
        name = data.name_of.get(gone[0])
        of = f"class {gone[0]}" + f", '{name}'" * bool(name) + and_more(gone)
        raise DataError(f"{of}: all samples have weight 0: give some of them a weight, or leave "
                        "them out of the data (--min-class 1)", file=source)
    zeros = len(some) - int(np.count_nonzero(some))
    where = "" if source is None else f"{'standard input' if source == '-' else source}: "
    warnings.warn(f"{where}{zeros} of {len(some)} samples have weight 0 and are left out",
                  AgfmcWarning, stacklevel=3)
    return chosen_rows(data, np.flatnonzero(some))


def with_class_weights(data: Dataset, source: str | None = None,
                       classes: Mapping[int | str, float] | str | None = None) -> Dataset:
    """A Dataset whose weights, all above 0, have the factors of the classes in them.

    classes: as of `WeightSource`; factors that are in the weights stay.  Weights that are all 1
    become None.  Raises `DataError` for classes that are not there.
    """
    w = None if data.weights is None else data.weights.w
    if w is not None and not data.weights.factors:
        _tell_scale(w, source)
    factors: Mapping[int, float] = {} if data.weights is None else data.weights.factors
    if classes is not None:
        try:
            new = class_factors(classes, total_weights(data.y, w), data.name_of)
        except DataError as error:
            raise DataError(error.message, file=error.file or source,
                            line=error.line) from error
        with np.errstate(over="ignore", under="ignore"):
            w = of_points(new, data.y) if w is None else w * of_points(new, data.y)
        factors = {label: factor * factors.get(label, 1.0) for label, factor in new.items()}
    if w is not None:
        check_range(w, source)
    plain = w is None or bool((w == 1).all())
    return replace(data, weights=None if plain else Weights(w, factors))


def _tell_scale(w, source):
    """Warn where weights are so small or large that they cannot stand for numbers of samples."""
    mean = float(w.mean())
    if not _SMALL <= mean <= _LARGE:
        of = "the samples" if source is None else "standard input" if source == "-" else source
        warnings.warn(f"the {len(w)} weights of {of} sum to {len(w) * mean:.3g}: a weight of 1 is "
                      f"one sample, and training takes these for {'few' if mean < 1 else 'many'}: "
                      f"divide them by their mean, {mean:.3g}, unless they are meant so",
                      AgfmcWarning, stacklevel=4)


def chosen_rows(data: Dataset, rows: np.ndarray) -> Dataset:
    """The Dataset of some rows (l,), which ascend where the points stay in a file."""
    return replace(data, x=data.x.selected(rows) if is_lazy(data.x) else data.x[rows],
                   y=None if data.y is None else data.y[rows],
                   weights=None if data.weights is None else data.weights[rows],
                   rows=rows if data.rows is None else data.rows[rows])


def _counted(y):
    labels, counts = np.unique(y, return_counts=True)
    return labels.tolist(), counts.tolist()
