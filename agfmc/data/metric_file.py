"""The file that says what a learned metric was learned from, beside the `.std` file of its map.

It is a sidecar with the digest of the map that it belongs to and the `LearnedMetric`.  A map whose
digest is another one has nothing to do with it.
"""

import os
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from ..core.errors import DataError, ModelError, warn_user
from ..files.atomic import remove
from ..files.codec import Sidecar
from ..files.opening import is_stream, read_bytes, SMALL_TEXT
from .class_names import name_lines
from .normalisation import LearnedMetric


@dataclass(frozen=True)
class _Record:
    normalisation: Annotated[str, "[0-9a-f]{16}"]
    learned: LearnedMetric


def _check(record, fail):
    metric = record.learned
    if not len(metric.weights) or np.any(metric.weights < 0):
        raise fail("the weights of the features are invalid")
    if len(metric.names) not in (0, len(metric.weights)):
        raise fail(
            f"expected the names of {len(metric.weights)} features, found {len(metric.names)}"
        )


_METRIC = Sidecar("agfmc metric", _Record, _check, most=SMALL_TEXT)


def metric_path(path):
    """The name of the file beside a `.std` file: X.metric for X.std; None beside a stream."""
    path = os.fsdecode(path)
    return None if is_stream(path) else f"{path.removesuffix('.std')}.metric"


def check_metric_output(path):
    """Raise `DataError` where the file beside the `.std` file `path` is another's, or a folder."""
    beside = metric_path(path)
    if beside is None:
        return
    if os.path.isdir(beside) or os.path.isfile(beside) and not _METRIC.begins(beside):
        raise DataError(
            "is no record of a learned metric, and the name is that of one: expected "
            "another name of the normalisation, or this file elsewhere",
            file=beside,
        )


def remove_metric(path, digest):
    """Remove the record beside the `.std` file `path` where it is that of the map `digest`."""
    beside = metric_path(path)
    if beside is not None and os.path.isfile(beside) and _METRIC.begins(beside, digest):
        remove(beside)


def format_metric(normalisation, path=None):
    """The text about a `Normalisation` with a learned metric, which is `checked`."""
    return _METRIC.format(_Record(normalisation.digest(), normalisation.metric), path)


def with_metric(normalisation, path):
    """A `Normalisation` that was read from `path`, with the metric in the file beside it.

    It is as it was where there is no such file; one that cannot be believed, as it is damaged,
    another program's or that of another map, is a warning.
    """
    beside = metric_path(path)
    if beside is None or not os.path.lexists(beside):
        return normalisation
    try:
        if not os.path.isfile(beside) or not _METRIC.begins(beside):
            raise DataError("is no record of a learned metric", file=beside)
        digest, learned = read_metric(beside)
        if digest != normalisation.digest() or len(learned.weights) != len(normalisation.mean):
            raise DataError(
                f"{os.fsdecode(path)} is not the map that {beside} describes: one of "
                "them was changed or replaced"
            )
    except (DataError, ModelError) as error:
        warn_user(f"{error}; the normalisation is used, but what it was learned from is not known")
        return normalisation
    return replace(normalisation, metric=learned)


def read_metric(path):
    """(digest of the map, its `LearnedMetric`) of a file."""
    record = _METRIC.read(read_bytes(path, most=SMALL_TEXT, expected="a metric"), path)
    return record.normalisation, record.learned


def read_feature_names(path, count):
    """The names of `count` features, one on each line; `DataError` for another number."""
    names = name_lines(path)
    while names and not names[-1]:
        names.pop()
    if len(names) != count:
        raise DataError(
            f"holds {len(names)} line{'s' * (len(names) != 1)}: expected the names of "
            f"{count} features, one on each line",
            file=path,
        )
    return names
