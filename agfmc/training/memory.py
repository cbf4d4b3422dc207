"""Training and classification in memory: arrays in, arrays out, and no files.

The way of Python programs that do not use scikit-learn:

    tree = design("one-vs-one", [0, 1, 2])
    configuration = train_configuration(tree, x, y, options="-c 50 -g 0.01")
    classifier = classifier_with(configuration, decoders_of(configuration.tree)[0])
    answers = classify_points(classifier, new_x)
    save("model.mbm", configuration)

with `design` from `training.design`, `classifier_with` and `decoders_of` from
`prediction.decoders`, `save` from `prediction.configuration`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..collate.merge import collate
from ..control.build import check_classes, rename, rename_directs
from ..control.parse import parse
from ..control.tree import MAX_LABEL
from ..control.write import format_tree
from ..decode.convergence import Stops
from ..errors import AgfmcError, DataError
from ..prepare.normalise import fit_normalisation
from ..learners.jobs import plan_jobs
from ..prediction.configuration import Configuration
from ..prediction.direct import classifier_of, direct_model, plan_directs
from .fit import fit
from ..prediction.classifier import Answers, classify
from .kernel_tables import MEGABYTES

__all__ = ["classify_points", "configuration_of", "train_configuration"]


def train_configuration(tree, x, y, *, options="", seed=1, name="m", scale=False, nsv=None,
                        normalisation=None, loo=False, workers=1, kernel_memory=MEGABYTES,
                        progress=None):
    """Train a control tree on points x (n, d) with labels y (n,); -> `Configuration`.

    It is the one that multi_borders and mbh2mbm make of the same points: `save` writes
    the same file.  tree: a training control tree over the labels in y, whole numbers
    from 0;  x: float32 or float64, and not changed;  options: training options where
    the tree has `""`;  seed: of all random choices;  name: the binary models have names that
    begin with it;  scale, nsv: normalise by standard deviations, by so many singular
    vectors;  normalisation: a given one, in their place;  loo, workers, kernel_memory,
    progress: as for `fit`.

    Raises `DataError` for points and labels that cannot be trained on, `ControlError`
    where the tree does not fit the labels, `UsageError` for options, and the error of the
    first binary classifier that cannot be trained.
    """
    x, y = _checked(x, y)
    jobs = plan_jobs(tree, name, options, seed)
    directs = plan_directs(tree, name)
    labels, counts = np.unique(y, return_counts=True)
    check_classes(tree, dict(zip(labels.tolist(), counts.tolist())), "the data")
    if scale or nsv is not None:
        normalisation = fit_normalisation(x, scale=scale, nsv=nsv)
    if normalisation is not None:
        x = normalisation.apply(x)
    trained = {}
    for job, model, _ in fit(jobs, x, y, workers, progress, normalisation, loo=loo,
                             kernel_memory=kernel_memory):
        if isinstance(model, AgfmcError):
            raise model
        trained[job.name] = model
    direct = [direct_model(job, x, y, normalisation) for job in directs.values()]
    tree = rename_directs(rename(tree, [job.name for job in jobs]),
                          {number: job.name for number, job in directs.items()})
    model = collate([trained[job.name] for job in jobs], tree.sides(), tree.classes,
                    control=format_tree(tree), names=tree.names, direct=direct)
    return Configuration(replace(model, normalisation=normalisation), tree, None,
                         dict(zip(directs, map(classifier_of, direct))))


def _checked(x, y):
    """x float32 or float64, y int32: what `fit` may rely on."""
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype not in (np.float32, np.float64):
        x = x.astype(np.float64)
    if x.ndim != 2 or not x.size:
        raise DataError(f"expected points of one feature or more in a table with a row for each, "
                        f"found an array of shape {x.shape}")
    if y.shape != (len(x),):
        raise DataError(f"{len(x)} points need as many labels, found an array of shape {y.shape}")
    if y.dtype.kind not in "iu" or y.min() < 0 or y.max() > MAX_LABEL:
        raise DataError(f"expected labels from 0 to {MAX_LABEL}")
    finite = np.isfinite(x).all(axis=1)
    if not finite.all():
        raise DataError(f"row {int(np.argmin(finite))} (from 0) has NaN or infinity")
    return x, y.astype(np.int32)


def configuration_of(model, made_by=None):
    """The `Configuration` of a `CollatedModel`, which is all that needs to be kept of one."""
    tree = parse(model.control)
    return Configuration(model, tree, made_by,
                         dict(zip(tree.directs, map(classifier_of, model.direct))))


def classify_points(classifier, x, workers=1):
    """`Answers` of a `Classifier` for points x (n, d), with `workers` threads.

    The answers to a point do not depend on the others.  Raises `DataError` for points
    of another width, or that give no decision value.
    """
    step = classifier.rows
    parts = list(classify(classifier, (x[at:at + step] for at in range(0, max(len(x), 1), step)),
                          workers))
    joined = {name: None if getattr(parts[0], name) is None else
              np.concatenate([getattr(part, name) for part in parts])
              for name in ("classes", "confidence", "columns", "asked")}
    stops = sum((stop for part in parts for stop in part.stops), Stops())
    return Answers(**joined, stops=(stops,))
