"""Training in memory: a control tree and arrays in, a configuration out, and no files."""

from __future__ import annotations

import numpy as np

from ..collate.merge import assemble
from ..control.build import check_classes
from ..errors import AgfmcError, DataError
from ..learners.jobs import plan_jobs
from ..prediction.direct import direct_model, plan_directs
from ..prepare.normalise import fit_normalisation
from .fit import fit
from .kernel_tables import MEGABYTES

__all__ = ["train_configuration"]

_LARGEST = 2**31 - 1


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
    return assemble(tree, [trained[job.name] for job in jobs],
                    {number: direct_model(job, x, y, normalisation)
                     for number, job in directs.items()}, normalisation)


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
    if y.dtype.kind not in "iu" or y.min() < 0 or y.max() > _LARGEST:
        raise DataError(f"expected labels from 0 to {_LARGEST}")
    finite = np.isfinite(x).all(axis=1)
    if not finite.all():
        raise DataError(f"row {int(np.argmin(finite))} (from 0) has NaN or infinity")
    return x, y.astype(np.int32)
