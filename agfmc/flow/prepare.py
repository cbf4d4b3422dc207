"""Training data from files to normalised points."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

from ..errors import DataError
from ..formats.dataset import read_training
from ..formats.vectors import read_std
from ..prepare.normalise import fit_normalisation

__all__ = ["about", "load_training"]


def load_training(base, kind, *, missing=0.0, header=True, scale=False, nsv=None,
                  norm_file=None):
    """Read training data and normalise them; -> (Dataset, Normalisation or None, raw points).

    scale, nsv: normalise by standard deviation, by singular values; it is for
    the caller to write the normalisation.  Without them, `norm_file` is read
    and applied.  The statistics are rounded as a file stores them before they
    are applied: a later run that reads the file sees the same points, bit for
    bit.
    """
    data = read_training(base, kind, missing=missing, header=header)
    raw, normalisation = data.x, None
    with about(base):
        if scale or nsv is not None:
            normalisation = fit_normalisation(data.x, scale=scale, nsv=nsv)
        elif norm_file is not None:
            normalisation = read_std(norm_file)
        if normalisation is not None:
            data = replace(data, x=normalisation.apply(data.x))
    return data, normalisation, raw


@contextmanager
def about(source):
    """Add the file to errors of functions that see arrays alone."""
    try:
        yield
    except DataError as error:
        if error.file is not None:
            raise
        raise DataError(error.message, file=source) from error
