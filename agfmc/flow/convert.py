"""Data between formats: text to binary files, values to classes."""

from __future__ import annotations

import os
import warnings
from contextlib import ExitStack

from ..errors import AgfmcWarning, UsageError
from ..formats.dataset import read_training
from ..formats.files import replacing_all
from ..formats.names import names_bytes
from ..formats.vectors import VecWriter, cls_bytes, read_dat
from ..models import Dataset
from ..prepare import relabel
from .prepare import about

__all__ = ["classes_from_floats", "convert_text", "relabelled", "write_together"]


def convert_text(source, kind, base, *, compact=False, **reading):
    """Text data to base.vec, base.cls and, for labels that are words, base.names.

    compact: number the classes 0..k-1 in ascending order; -> the old labels,
    or None.  reading: as for `read_training`.
    """
    data = read_training(source, kind, negative=compact, **reading)
    old = None
    if compact and data.y is not None:
        data, old = relabelled(data)
    write_together({base: data})
    return old


def relabelled(data):
    """`data` with labels 0..k-1 in ascending order of the old; -> (Dataset, old labels)."""
    y, old, names = relabel.relabel(data.y, data.names)
    return Dataset(data.x, y, names), old


def write_together(outputs, extra=None):
    """Datasets {base: Dataset} and {path: bytes or table}, all complete before any is renamed."""
    files = {}
    for base, data in outputs.items():
        if data.y is not None and data.names is None and os.path.exists(f"{base}.names"):
            warnings.warn(f"{base}.names was there before: its names now stand for these labels",
                          AgfmcWarning, stacklevel=3)
        files[f"{base}.vec"] = data.x
        if data.y is not None:
            files[f"{base}.cls"] = cls_bytes(data.y, f"{base}.cls")
        if data.names is not None:
            files[f"{base}.names"] = names_bytes(data.names, f"{base}.names")
    files.update(extra or {})
    with ExitStack() as stack:
        opened = stack.enter_context(replacing_all(list(files), binary=True))
        for file, content in zip(opened, files.values()):
            if isinstance(content, bytes):
                file.write(content)
                continue
            writer = VecWriter(file, content.shape[1])
            step = max(1, 2**22 // content.shape[1])
            for start in range(0, len(content), step):
                writer.write(content[start:start + step])


def classes_from_floats(source, bins=None, geometric=False, numbers=()):
    """Classes (n,) of the float32 values in `source` (.dat), and the thresholds used.

    numbers: (), or (min, max) with `bins` classes between them, or, without
    `bins`, the thresholds themselves.
    """
    values = read_dat(source)
    if bins is None and numbers:
        if geometric:
            raise UsageError("-g spaces thresholds between min and max: it needs -q")
        edges = relabel.check_edges(numbers)
    elif numbers and len(numbers) != 2:
        raise UsageError(f"with -q, expected min and max, found {len(numbers)} numbers")
    else:
        with about(source):
            edges = relabel.bin_edges(values, bins or 2, *numbers, geometric=geometric)
    return relabel.classes_of(values, edges), edges
