"""The file of a calibration, beside a control file: a `Calibration` as a sidecar.

Every number reads back bit for bit: a threshold that is one of these probabilities is met by
a point with the same one.
"""

import os

import numpy as np

from ..core.errors import DataError
from ..files.codec import Sidecar
from ..files.opening import read_bytes, SMALL_TEXT
from .maps import KINDS
from .types import Calibration


def calibration_of(path):
    """The name of the calibration beside a control file; `-` where there is no file."""
    if path == "-":
        return path
    return f"{path}.cal"


def check_calibration_output(path):
    """Raise `DataError` where a calibration would take the place of a file that is none."""
    if os.path.isfile(path) and not _CALIBRATION.begins(path):
        raise DataError(
            "is no calibration, and the name is that of the calibration: expected "
            "another name of control-out, or this file elsewhere",
            file=path,
        )


def format_calibration(calibration, path=None):
    """The text of a `Calibration`, which is `checked`."""
    return _CALIBRATION.format(calibration, path)


def read_calibration(path):
    """Read the file of a `Calibration`; raises `ModelError` with the path of an invalid key."""
    # there are numbers for each point, so that the size on the disk is the limit
    if os.path.isfile(path):
        size = os.path.getsize(path)
    else:
        size = 0
    raw = read_bytes(
        path,
        most=max(size, SMALL_TEXT),
        expected="a calibration, and a larger one without compression",
    )
    return _CALIBRATION.read(raw, path)


def check_calibration(calibration, fail):
    """Check all that later steps take on trust of a `Calibration`; fail(message): the exception.

    The number of classifiers of a learned decoder is left to who has the configuration.
    """
    classes = calibration.classes
    learned = calibration.learned
    if not classes or list(classes) != sorted(set(classes)):
        raise fail("the classes of the calibration are invalid")
    if len(calibration.counts) != len(classes):
        raise fail("the calibration does not count the points of each class")
    for key, decoder in calibration.decoders.items():
        fault = _fault_of_map(
            decoder.map, 2 if key.split()[0] == "recursive" else len(classes)
        ) or _fault_of_points(decoder.points, classes, decoder.map.kind == "none")
        if fault:
            raise fail(f"{fault} ('{key}')")
    if learned is not None and (
        len(learned.weights) != len(classes) or np.shape(learned.intercept) != (len(classes),)
    ):
        raise fail("the learned decoder does not fit the number of classes")
    if learned is not None and not (_moderate(learned.weights) and _moderate(learned.intercept)):
        raise fail("a number of the learned decoder is not finite, or too large")


_CALIBRATION = Sidecar("agfmc calibration", Calibration, check_calibration)


def _fault_of_map(stored, columns):
    """The fault of the map of a decoder of so many columns, or None."""
    kind = KINDS[stored.kind]
    weights = stored.weights
    intercept = stored.intercept
    shape = kind.shape(columns)
    if stored.floor == 1:
        return "the floor of a calibration map is not below 1"
    if shape is None:
        if weights is not None or intercept is not None or stored.floor:
            return "a calibration map of kind none has numbers"
        return None
    if weights is None or np.shape(weights) != shape or np.shape(intercept) != (columns,):
        return "a calibration map does not fit the number of classes"
    if not (_moderate(weights) and _moderate(intercept)):
        return "a number of a calibration map is not finite, or too large"
    if not kind.has_intercept and np.any(intercept):
        return f"a calibration map of kind {stored.kind} has an intercept"
    return kind.fault(weights)


def _fault_of_points(points, classes, unmapped):
    if points is None:
        return None
    values = [
        part
        for part in (points.p_true, points.cumulative, points.p_largest, points.left)
        if part is not None
    ]
    if {len(part) for part in (*values, points.right)} != {len(points.label)}:
        return "the calibration points are not all of one number"
    if not np.isin(points.label, classes).all():
        return "a calibration point is of none of the classes"
    if not all(
        _moderate(part) and unmapped or np.all((part >= -1e-9) & (part <= 1 + 1e-9))
        for part in values
    ):
        return "a probability of a calibration point is not in [0, 1]"
    return None


def _moderate(values):
    """Return whether all are finite and their products with log-probabilities cannot overflow."""
    return bool(np.all(np.abs(values) <= 1e100))
