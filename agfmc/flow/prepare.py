"""Training data from files to normalised points."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from ..errors import DataError
from ..formats.dataset import read_training
from ..formats.vectors import read_std
from ..prepare.normalise import fit_normalisation

__all__ = ["about", "load_training"]


# A table of all features is made where it takes less than this, or less than so many times
# what is not zero.
_TABLE, _TIMES = 1 << 26, 4


def load_training(base, kind, *, missing=0.0, header=True, scale=False, nsv=None,
                  norm_file=None, sparse=False):
    """Read training data and normalise them; -> (Dataset, Normalisation or None, raw points).

    scale, nsv: normalise by standard deviation, by singular values; it is for
    the caller to write the normalisation.  Without them, `norm_file` is read
    and applied.  The statistics are rounded as a file stores them before they
    are applied: a later run that reads the file sees the same points, bit for
    bit.  sparse: LIBSVM text that is large and mostly zero may stay `SparsePoints`; a
    normalisation, which moves the zeros, needs the whole table.  A large `.vec` file is
    mapped.
    """
    normalised = scale or nsv is not None or norm_file is not None
    sparse = sparse and kind == "svm" and missing == 0 and not normalised
    data = read_training(base, kind, missing=missing, header=header, sparse=sparse, mapped=True)
    if sparse and 8 * data.x.shape[0] * data.x.shape[1] < max(_TABLE,
                                                              _TIMES * 12 * data.x.counts.sum()):
        data = replace(data, x=np.asarray(data.x))
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
