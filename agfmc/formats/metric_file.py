"""Text file that says what a learned metric was learned from, beside the `.std` file of its map.

    # agfmc metric 1
    # normalisation 1b0c7fa2d9e86435       the digest of the map that it belongs to
    # rounds 2
    # points 2310                          that the map was learned from,
    # classes 7
    # data 9d0e6a51c3b7f284                and the digest of these points and labels
    # settings -m 1000 -g auto -l auto seed 1
    # loss 0.31 0.0041                     of 0 rounds on points that were held out, and the
    # loss 0.27 0.0                        standard error of its difference from the least; of 1,
    # loss 0.28 0.0012                     ...; no such line where the rounds were given
    # feature weight                       a table: number from 0, weight
    0 1.75
    1 0.25
    # names ["size", "colour=red"]         of the features, as JSON, where they have some
    # made by agfmc 0.4.0; made from ...; sum ...

Every number reads back bit for bit.  A map whose digest is another one has nothing to do with it.
"""

import json
import os
import re
import warnings
from dataclasses import replace

import numpy as np

from .._version import __version__
from ..errors import AgfmcWarning, DataError, ModelError
from ..models import LearnedMetric
from .atomic import remove
from .consistency import checked
from .inputs import is_stream, open_input, read_bytes, SMALL_TEXT
from .seal import check_seal, sealed
from .strict_json import strict_json
from .text import numbers

__all__ = ["check_metric_output", "format_metric", "metric_path", "read_feature_names",
           "read_metric", "remove_metric", "with_metric"]

_TITLE = "# agfmc metric 1"
_TABLE = "# feature weight"
_NAMES = "# names "
_HEAD = {"normalisation": "[0-9a-f]{16}", "rounds": "[0-9]{1,2}", "points": "[0-9]{1,12}",
         "classes": "[0-9]{1,8}", "data": "[0-9a-f]{16}", "settings": "[ -~]{1,1000}"}


def metric_path(path):
    """The name of the file beside a `.std` file: X.metric for X.std; None beside a stream."""
    path = os.fsdecode(path)
    return None if is_stream(path) else f"{path.removesuffix('.std')}.metric"


def check_metric_output(path):
    """Raise `DataError` where the file beside the `.std` file `path` is another's, or a folder."""
    beside = metric_path(path)
    if beside is None:
        return
    if os.path.isdir(beside) or os.path.isfile(beside) and not _is_ours(beside):
        raise DataError("is no record of a learned metric, and the name is that of one: expected "
                        "another name of the normalisation, or this file elsewhere", file=beside)


def remove_metric(path, digest):
    """Remove the record beside the `.std` file `path` where it is that of the map `digest`.

    Another's file stays, and so does the record of another map: `q` and `q.std` have one name.
    """
    beside = metric_path(path)
    if beside is not None and os.path.isfile(beside) and _is_ours(beside, digest):
        remove(beside)


def _is_ours(path, digest=None):
    """True for a record, of the map `digest` unless that is None; the rest may be damaged."""
    with open_input(path) as file:
        title, of, *_ = *file.read(len(_TITLE) + 40).splitlines(), b"", b""
    return title.startswith(_TITLE[:-1].encode()) and (
        digest is None or of == f"# normalisation {digest}".encode())


def format_metric(normalisation, path=None):
    """The text about a `Normalisation` with a learned metric, which is `checked`."""
    digest, learned = normalisation.digest(), normalisation.metric
    values = (digest, learned.rounds, learned.points, learned.classes, learned.data,
              learned.settings)
    lines = [_TITLE, *(f"# {key} {value}" for key, value in zip(_HEAD, values)),
             *(f"# loss {loss!r} {error!r}" for loss, error in learned.losses), _TABLE,
             *(f"{number} {weight!r}" for number, weight in enumerate(learned.weights.tolist())),
             *[_NAMES + json.dumps(learned.names, ensure_ascii=False)] * bool(learned.names),
             f"# made by agfmc {__version__}"]
    return checked(sealed("\n".join(lines), digest), lambda text: read_metric(path, text.encode()),
                   path)


def with_metric(normalisation, path):
    """A `Normalisation` that was read from `path`, with the metric in the file beside it.

    It is as it was where there is no such file; one that cannot be believed, as it is damaged,
    another program's or that of another map, is a warning.
    """
    beside = metric_path(path)
    if beside is None or not os.path.lexists(beside):
        return normalisation
    try:
        if not os.path.isfile(beside) or not _is_ours(beside):
            raise DataError("is no record of a learned metric", file=beside)
        digest, learned = read_metric(beside)
        if digest != normalisation.digest() or len(learned.weights) != len(normalisation.mean):
            raise DataError(f"{os.fsdecode(path)} is not the map that {beside} describes: one of "
                            "them was changed or replaced")
    except (DataError, ModelError) as error:
        warnings.warn(f"{error}; the normalisation is used, but what it was learned from is not "
                      "known", AgfmcWarning, stacklevel=3)
        return normalisation
    return replace(normalisation, metric=learned)


def read_metric(path, raw=None):
    """(digest of the map, its `LearnedMetric`) of a file, or of its bytes `raw`.

    Raises `ModelError` with the line of whatever is invalid.
    """
    raw = read_bytes(path, most=SMALL_TEXT, expected="a metric") if raw is None else raw
    check_seal(raw, path)
    try:
        lines = raw.decode("utf-8").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        raise ModelError("expected text, found other bytes", file=path,
                         line=raw[:error.start].count(b"\n") + 1) from None
    at = 0

    def taken(key, pattern):
        nonlocal at
        line = lines[at] if at < len(lines) else ""
        at += 1
        found = re.fullmatch(f"# {key} ({pattern})", line, re.ASCII)
        if found is None:
            raise ModelError(f"expected '# {key} ...', found '{line[:40]}'", file=path, line=at)
        return found[1]

    if taken("agfmc metric", ".*") != _TITLE.split()[-1]:
        raise ModelError(f"expected version 1 of this format, found '{lines[0][:40]}'", file=path,
                         line=1)
    digest, *counts, data, settings = (taken(*row) for row in _HEAD.items())
    losses = []
    while at < len(lines) and lines[at].startswith("# loss "):
        losses.append(_values(lines[at].removeprefix("# loss "), 2))
        at += 1
        if losses[-1] is None:
            raise ModelError(f"expected two numbers, found '{lines[at - 1][:40]}'", file=path,
                             line=at)
    taken("feature", "weight")
    weights = _table(lines, at, path)
    names = _names(lines, at + len(weights), path, len(weights))
    return digest, LearnedMetric(*map(int, counts), data, settings, weights,
                                 tuple(tuple(loss.tolist()) for loss in losses), names=names)


def _table(lines, start, path):
    """The weights (d,) in the lines from `start` on, behind which there are comments alone."""
    end = start
    while end < len(lines) and lines[end][:1].isdigit():
        end += 1
    found = _values(" ".join(lines[start:end]), 2 * (end - start))
    weights = None if found is None else found[1::2]
    if found is None or not end > start or (found[::2] != np.arange(end - start)).any() or \
            (weights < 0).any():
        # the slow way tells which line it is
        wrong = next((number for number, line in enumerate(lines[start:end])
                      if (row := _values(line, 2)) is None or row[0] != number or row[1] < 0),
                     end - start)
        raise _fail_at(lines, start + wrong, path, f"expected {wrong} and a weight")
    for at in range(end, len(lines)):
        if lines[at] and not lines[at].startswith("#"):
            raise _fail_at(lines, at, path, f"expected {end - start} and a weight, or the end")
    return weights


def _names(lines, at, path, count):
    """The names of so many features, if they are in line `at`."""
    if at >= len(lines) or not lines[at].startswith(_NAMES):
        return ()
    try:
        names = strict_json(lines[at].removeprefix(_NAMES).encode())
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or len(names) != count or not all(
            isinstance(name, str) for name in names):
        raise _fail_at(lines, at, path, f"expected the names of {count} features")
    return tuple(names)


def _fail_at(lines, at, path, expected):
    found = lines[at] if at < len(lines) else ""
    return ModelError(f"{expected}, found '{found[:40]}'", file=path, line=at + 1)


def _values(text, count):
    """The `count` finite numbers (count,) of a text; None if it does not hold just these."""
    if len(text.split()) != count:
        return None
    return numbers(np.frombuffer(text.encode(), np.uint8), count)


def read_feature_names(path, count):
    """The names of `count` features, one on each line; `DataError` for another number."""
    raw = read_bytes(path, most=SMALL_TEXT, expected="a name in each line")
    text = raw.decode("utf-8", errors="surrogateescape").removeprefix("\ufeff")
    names = [line.strip() for line in text.rstrip().split("\n")]
    if len(names) != count:
        raise DataError(f"holds {len(names)} line{'s' * (len(names) != 1)}: expected the names of "
                        f"{count} features, one on each line", file=path)
    return names
