"""Training in memory: a control tree and arrays in, a configuration out, and no files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..control.build import check_classes, for_names, rename
from ..control.tree import MAX_LABEL
from ..core.errors import AgfmcError, DataError
from ..core.points import as_numbers, is_sparse
from ..core.splits import calibration_rows
from ..data.types import Dataset
from ..learners.estimators import MemberLearners
from ..learners.protocol import check_missing, distinct, for_weights, NodeProblem, plan_jobs
from ..models.merge import assemble
from .driver import train
from .fit import fit, HeldOutRequest, TrainingSettings
from .held_out import gather_held_out
from .rows import fit_rows


def train_configuration(
    tree, x, y=None, settings=TrainingSettings(), *, name="m", progress=None, models=None
):
    """Train a control tree on points x (n, d) with labels y (n,); -> (`Configuration`, `HeldOut`).

    The configuration is the one that multi_borders and mbh2mbm make of the same points.
    `prediction.calibrate.calibrated` joins it with the second result, which is None where the
    settings ask for no calibration, or a learner has no decision values of held-out points.

    Parameters
    ----------
    tree : Tree, training control tree over the labels in y, whole numbers from 0
    x : array or SparsePoints (n, d), float32 or float64, and not changed; or a Dataset with labels,
        and weights and groups if there are such
    y : array (n,)
    name : str, the names of the binary models begin with it
    progress : as for `fit`
    models : dict, optional, gets the `BinaryModel`s by their names

    Raises
    ------
    DataError : for points and labels that cannot be trained on
    ControlError : where the tree does not fit the labels
    UsageError
        For options. The error of the first classifier that cannot be trained is raised, too.
    """
    if isinstance(x, Dataset):
        data = x
    else:
        data = Dataset(x, y)
    tree = for_names(tree, data.name_of)
    learners = settings.options
    if not isinstance(learners, MemberLearners):
        jobs = plan_jobs(tree, name, learners, settings.seed)
    else:
        jobs = plan_jobs(
            rename(tree, learners.texts(tree), quoted=True), name, "", settings.seed, learners.parse
        )
    x, y = checked_points(data.x, data.y, any(job.options.allows_nan for job in jobs))
    labels, counts = np.unique(y, return_counts=True)
    least = 1 if settings.lone_samples else 2
    counts_of = dict(zip(labels.tolist(), counts.tolist()))
    check_classes(tree, counts_of, "the data", names=data.name_of, least=least)
    if is_sparse(x) and (
        settings.nsv is not None or not all(job.options.keeps_sparse for job in jobs)
    ):
        x = np.asarray(x)
    if settings.fits_normalisation:
        settings = replace(
            settings, normalisation=settings.fit_normalisation(replace(data, x=x, y=y))
        )
    if settings.normalisation is not None:
        x = settings.normalisation.apply(x)
    data = replace(data, x=x, y=y)
    binary = [job for job in jobs if job.is_binary]
    rows = None
    if settings.calibration:
        rows = calibration_rows(y, tree.labels, settings.calibration, settings.seed)
    results = {}
    for job, fitted in train(
        distinct(binary),
        data,
        settings,
        requested=HeldOutRequest.of(len(y), rows),
        progress=progress,
        way=fit_rows if getattr(learners, "several_groups", False) else fit,
    ):
        if isinstance(fitted, AgfmcError):
            raise fitted
        results[job.name] = fitted
    if models is not None:
        models |= {name: fitted.model for name, fitted in results.items()}
    results = [results[job.name] for job in binary]
    nodes = fit_nodes(tree, jobs, data, settings.normalised)
    configuration = assemble(
        tree, [fitted.model for fitted in results], nodes, settings.normalisation
    )
    held_out = gather_held_out(
        tree, jobs, [fitted.values for fitted in results], (data, nodes), rows, settings
    )
    return configuration, held_out


def fit_nodes(tree, jobs, data, normalised=None):
    """{node number: `NodeModel`} of those of the `jobs` of a tree that are for nodes.

    `data` is a `Dataset` after the normalisation, whose digest is `normalised`. Raises `ModelError`
    for the program of a node.
    """
    nodes = [job for job in jobs if not job.is_binary]
    check_missing(nodes, data.x)
    if data.weights is not None:
        nodes = for_weights(nodes)
    return {
        number: job.options.fit(job, NodeProblem.of(data, job, normalised))
        for number, job in zip(tree.directs, nodes)
    }


def checked_points(x, y, allow_nan=False):
    """x (n, d) float32, float64 or `SparsePoints`, y (n,) int32, as `fit` relies on; `DataError`
    for others."""
    x, y = x if is_sparse(x) else as_numbers(x, "x", 2), as_numbers(y, "y", 1)
    if x.dtype not in (np.float32, np.float64):
        x = x.astype(np.float64)
    if not all(x.shape):
        raise DataError(
            f"expected points of one feature or more in a table with a row for each, "
            f"found an array of shape {x.shape}"
        )
    if len(y) != len(x):
        raise DataError(f"{len(x)} points need as many labels, found {len(y)}")
    if y.dtype.kind not in "iu" or y.min() < 0 or y.max() > MAX_LABEL:
        raise DataError(
            f"y: expected words, or whole numbers from 0 to {MAX_LABEL}, found "
            f"{y.dtype} from {y.min()} to {y.max()}"
        )
    if is_sparse(x):
        values = x.csr.data
    else:
        values = x
    if allow_nan:
        finite = ~np.isinf(values)
    else:
        finite = np.isfinite(values)
    if not finite.all():
        row = (x.entries()[0] if is_sparse(x) else np.arange(len(x)))[np.argwhere(~finite)[0, 0]]
        raise DataError(f"row {row} (from 0) has NaN or infinity")
    return x, y.astype(np.int32)
