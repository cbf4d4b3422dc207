"""Training data from files to normalised points."""

from __future__ import annotations

import os
from dataclasses import replace

from ..formats.dataset import read_training
from ..formats.names import read_names
from ..formats.vectors import read_cls, read_std
from ..prepare.normalise import fit_normalisation

__all__ = ["load_training", "read_labels"]


def load_training(base, kind, *, missing=0.0, header=True, scale=False, nsv=None,
                  norm_file=None):
    """Read training data and normalise them; -> (Dataset, Normalisation or None).

    scale, nsv: normalise by standard deviation, by singular values; it is for
    the caller to write the normalisation.  Without them, `norm_file` is read
    and applied.  The statistics are rounded as a file stores them before they
    are applied: a later run that reads the file sees the same points, bit for
    bit.
    """
    data = read_training(base, kind, missing=missing, header=header)
    normalisation = None
    if scale or nsv is not None:
        normalisation = fit_normalisation(data.x, scale=scale, nsv=nsv)
    elif norm_file is not None:
        normalisation = read_std(norm_file)
    if normalisation is not None:
        data = replace(data, x=normalisation.apply(data.x))
    return data, normalisation


def read_labels(base, kind, *, missing=0.0, header=True):
    """The classes in training data; -> (ascending labels, {label: name}).

    Of binary data only the labels are read.
    """
    if kind == "binary":
        y = read_cls(f"{base}.cls")
        names = read_names(f"{base}.names") if os.path.exists(f"{base}.names") else ()
    else:
        data = read_training(base, kind, missing=missing, header=header)
        y, names = data.y, data.names or ()
    return sorted(set(y.tolist())), dict(enumerate(names))
