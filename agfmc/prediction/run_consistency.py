"""Models that cannot be of one run, though one control file names them all."""

from __future__ import annotations

import warnings

import numpy as np

from ..errors import AgfmcWarning, ModelError
from ..provenance import classes_text

__all__ = ["all_provenances", "check_one_run", "normalised"]


def check_one_run(tree, models, directs=()):
    """Raise `ModelError` where models went through different normalisations.

    Where they were trained for other classes than they stand for, or tell of numbers of
    samples that no numbers of samples of the classes can make, there is a warning: they
    may be meant for that, or trained anew on purpose.  models: `BinaryModel`s in the
    order of the tree's rows;  directs: its `DirectModel`s.  Models that tell nothing,
    as LIBSVM's own, fit any.
    """
    told = [model for model in [*models, *directs] if model.provenance.samples is not None]
    found = {}
    for model in told:
        found.setdefault(model.provenance.normalisation, model.name)
    if len(found) > 1:
        one, other = list(found.values())[:2]
        raise ModelError(f"'{one}' and '{other}' were trained with different normalisations: they "
                         "are of different runs", file=tree.source)
    _tell_of_classes(tree, models, directs)
    if not _consistent(tree, models):
        warnings.warn(f"{tree.source}: the models tell of different numbers of samples of the same "
                      "classes: some may be of another run", AgfmcWarning, stacklevel=3)


def normalised(model):
    """Whether points of a `CollatedModel` were normalised in training, and here are not."""
    return model.normalisation is None and any(
        one.normalisation is not None for one in all_provenances(model))


def all_provenances(model):
    """The `Provenance` of every classifier of a `CollatedModel`."""
    return [*model.provenances, *(direct.provenance for direct in model.direct)]


def _tell_of_classes(tree, models, directs):
    """A warning where models were trained for other classes than they stand for here."""
    branches = tree.branch_labels()
    trained = [branches[number] for number, direct in tree.directs.items()
               if not direct.learner.is_program]
    found = [(model.name, taught, sides) for model, sides, taught in (
        (model, sides, model.provenance.other_classes(sides))
        for model, sides in [*zip(models, tree.sides()), *zip(directs, trained)])
        if taught is not None]
    if found:
        name, taught, sides = found[0]
        more = f", and {len(found) - 1} more like it" if len(found) > 1 else ""
        warnings.warn(f"{tree.source}: '{name}' was trained to tell apart the classes "
                      f"{_short(taught)}, and stands here for {_short(classes_text(sides))}{more}: "
                      "of another run, unless that is meant", AgfmcWarning, stacklevel=4)


def _short(text):
    text = text.replace("/", " / ")
    return text if len(text) <= 60 else f"{text[:28]} ... {text[-28:]}"


def _consistent(tree, models):
    """Whether there are numbers of samples of each class that make those of all sides."""
    place = {label: i for i, label in enumerate(tree.classes)}
    rows, counts = [], []
    for sides, model in zip(tree.sides(), models):
        for side, count in zip(sides, model.provenance.samples or ()):
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
