"""The arrays of a `Forest` as lines of a text file, each `# agfmc trees NAME NUMBER ...`."""

from __future__ import annotations

from functools import partial
from typing import get_type_hints

import numpy as np

from ..core.errors import ModelError
from ..core.forest import Forest
from ..files.number_text import numbers

MARK = "# agfmc trees "
_ARRAYS = {
    name: np.dtype(kind.__metadata__[0])
    for name, kind in get_type_hints(Forest, localns={"np": np}, include_extras=True).items()
    if name != "features"
}


COUNT = len(_ARRAYS)  # lines of a forest


def format_forest(forest: Forest) -> list[str]:
    """The lines of a forest."""
    return [
        f"{MARK}{name} {' '.join(map(repr, getattr(forest, name).tolist()))}" for name in _ARRAYS
    ]


def read_forest(
    lines: list[str], features: int, scores: int, path: str | None, begin: int
) -> Forest:
    """The checked `Forest` of so many scores in the lines of a model file; others are passed over.

    `begin` is the number of lines before these.  Raises `ModelError` with the line of what is
    wrong.
    """
    arrays = {}
    fail = partial(ModelError, file=path, line=begin + len(lines))
    for at, line in enumerate(lines, begin + 1):
        name, _, text = line.removeprefix(MARK).partition(" ")
        if line.startswith(MARK) and name in _ARRAYS:
            words = text.replace("True", "1").replace("False", "0").encode("ascii", "replace")
            values = numbers(np.frombuffer(words, np.uint8), text.count(" ") + 1)
            array = None
            if values is not None:
                with np.errstate(invalid="ignore"):
                    array = values.astype(_ARRAYS[name])
            if array is None or np.any(values != array):
                raise ModelError(
                    f"the {name} of the trees are not the numbers expected", file=path, line=at
                )
            arrays[name] = array
    if set(arrays) != set(_ARRAYS):
        raise fail("a part of the trees is missing")
    forest = Forest(features, **arrays)
    forest.check(fail)
    if len(forest.starts) != scores + 1:
        raise fail(f"expected the trees of {scores} score{'s' * (scores != 1)}")
    return forest
