"""Models that cannot be of one run, though one control file names them all."""

from __future__ import annotations

import re
import warnings

import numpy as np

from ..errors import AgfmcWarning, ModelError
from .proportions import sides_told

__all__ = ["check_one_run"]

_NORMALISED = re.compile(r"; normalised ([0-9a-f]{16})(?:;|$)")


def check_one_run(tree, models, directs=()):
    """Raise `ModelError` where models went through different normalisations.

    Where they tell of numbers of samples that no numbers of samples of the classes
    can make, there is a warning: some of them may have been trained anew on
    purpose.  models: `BinaryModel`s in the order of the tree's rows;  directs: its
    `DirectModel`s.  Models that tell nothing, as LIBSVM's own, fit any.
    """
    told = [model for model in [*models, *(one for one in directs if one.code == "L")]
            if sides_told(model.settings) is not None]
    found = {}
    for model in told:
        digest = _NORMALISED.search(model.settings)
        found.setdefault(digest and digest[1], model.name)
    if len(found) > 1:
        one, other = list(found.values())[:2]
        raise ModelError(f"'{one}' and '{other}' were trained with different normalisations: they "
                         "are of different runs", file=tree.source)
    if not _consistent(tree, models):
        warnings.warn(f"{tree.source}: the models tell of different numbers of samples of the same "
                      "classes: some may be of another run", AgfmcWarning, stacklevel=3)


def _consistent(tree, models):
    """Whether there are numbers of samples of each class that make those of all sides."""
    place = {label: i for i, label in enumerate(tree.classes)}
    rows, counts = [], []
    for sides, model in zip(tree.sides(), models):
        told = sides_told(model.settings)
        for side, count in zip(sides, told or ()):
            rows.append([place[label] for label in side])
            counts.append(count)
    if not rows:
        return True
    # the normal equations: k by k, however many models there are
    matrix, right = np.zeros((len(place), len(place))), np.zeros(len(place))
    for side, count in zip(rows, counts):
        matrix[np.ix_(side, side)] += 1
        right[side] += count
    numbers = np.linalg.lstsq(matrix, right, rcond=None)[0]
    made = np.array([numbers[side].sum() for side in rows])
    return bool(np.abs(made - counts).max() < 0.01 + 1e-9 * max(counts))
