"""From what svm-predict wrote to classes and confidence ratings."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace

import numpy as np

from ..errors import AgfmcWarning, DataError
from ..formats.files import remove, replacing_all
from ..formats.svmout import read_svm_output
from ..formats.valuenames import ByValue, number_classes
from ..formats.vectors import cls_bytes, con_bytes
from ..score.probabilities import confidence
from .guess import refuse_many_columns

__all__ = ["convert_svm_output"]

_CELLS = 1 << 18  # numbers made to text at once


def convert_svm_output(source, base, stream, names=None):
    """Write base.cls and, where `source` has probabilities, base.con; the table to `stream`.

    Where the labels of all columns are told, `stream` gets a line for each point:
    probabilities of the classes from 0, and the class.  If it breaks, no file
    appears.  Without probabilities an old base.con is removed, with a warning.
    names: of the classes, in which labels are looked up where they are whole numbers and
    some of them below 0; without them the labels of the columns are
    numbered in the order of their values, if some are below 0.  Raises DataError for
    what cannot be read, and for labels below 0 that nothing numbers.
    """
    told = _numbered(read_svm_output(source), source, names)
    files = {f"{base}.cls": cls_bytes(told.classes)}
    if told.p is not None:
        files[f"{base}.con"] = con_bytes(_ratings(told, source, names))
    with replacing_all(list(files), binary=True) as opened:
        for file, data in zip(opened, files.values()):
            file.write(data)
        if told.labels is not None:
            for text in _lines(told):
                stream.write(text)
            stream.flush()  # before the files appear: a reader that left ends the run here
        if told.p is None and os.path.isfile(f"{base}.con"):
            remove(f"{base}.con")
            warnings.warn(f"{source} has no probabilities: {base}.con, of other results, was "
                          "removed", AgfmcWarning, stacklevel=2)


def _numbered(told, source, names):
    """`SvmOutput` with labels from 0."""
    labels = told.classes if told.labels is None else np.array(told.labels)
    if labels.min() >= 0 and not ByValue(names).whole:
        return told
    k = None if told.labels is None else len(labels)
    numbers = number_classes(labels, k, source, names,
                             ": give the .names file of the training data (--names)")
    if told.labels is None:
        return replace(told, classes=numbers)
    order = np.argsort(labels)
    classes = numbers[order[np.searchsorted(labels[order], told.classes)]]
    return replace(told, classes=classes, labels=tuple(numbers.tolist()))


def _ratings(told, source, names):
    """Confidence ratings (n,) of the predicted classes."""
    if told.labels is None:
        k = len(names or ()) or int(told.classes.max()) + 1
        if not names:
            warnings.warn(f"{k} classes are assumed, one more than the largest that was "
                          "predicted: without a first line `labels ...` nothing tells their "
                          "number", AgfmcWarning, stacklevel=3)
        winner = told.p[:, 0]
    else:
        k = len(told.labels)
        refuse_many_columns(max(told.labels), source, "number the classes before training "
                            "(svm2agf -U)")
        order = np.argsort(told.labels)
        columns = order[np.searchsorted(np.array(told.labels)[order], told.classes)]
        winner = told.p[np.arange(len(told.p)), columns]
    if k < 2:
        raise DataError("has one class: a confidence rating needs two or more", file=source)
    return confidence(winner, k)


def _lines(told):
    """Pieces of text: `%10.6f ` for each label from 0, 0 where it does not occur; `%5d`."""
    width = max(told.labels) + 1
    layout = "%10.6f " * width + "%5d\n"
    step = max(1, _CELLS // width)
    for start in range(0, len(told.p), step):
        part = told.p[start:start + step]
        wide = np.zeros((len(part), width))
        wide[:, list(told.labels)] = part
        yield "".join([layout % (*row, label) for row, label in
                       zip(wide.tolist(), told.classes[start:start + step].tolist())])
