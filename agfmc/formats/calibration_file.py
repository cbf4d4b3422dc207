"""The file of a calibration, beside a control file: a `Calibration` as a sidecar.

Every number reads back bit for bit: a threshold that is one of these probabilities is met by
a point with the same one.
"""

import os

from ..errors import DataError, ModelError
from ..models import Calibration
from .consistency import check_calibration
from .inputs import read_bytes, SMALL_TEXT
from .strict_json import decode, format_sidecar, is_sidecar, read_sidecar

__all__ = ["calibration_of", "check_calibration_output", "format_calibration", "read_calibration"]

_TITLE = "agfmc calibration"


def calibration_of(path):
    """The name of the calibration beside a control file; `-` where there is no file."""
    return path if path == "-" else f"{path}.cal"


def check_calibration_output(path):
    """Raise `DataError` where a calibration would take the place of a file that is none."""
    if os.path.isfile(path) and not is_sidecar(_TITLE, path):
        raise DataError("is no calibration, and the name is that of the calibration: expected "
                        "another name of control-out, or this file elsewhere", file=path)


def format_calibration(calibration, path=None):
    """The text of a `Calibration`, which is `checked`; each number reads back bit for bit."""
    return format_sidecar(_TITLE, calibration, lambda plain: _calibration(plain, path), path)


def read_calibration(path):
    """Read the file of a `Calibration`; raises `ModelError` with the path of an invalid key."""
    # there are numbers for each point, so that the size on the disk is the limit
    size = os.path.getsize(path) if os.path.isfile(path) else 0
    raw = read_bytes(path, most=max(size, SMALL_TEXT),
                     expected="a calibration, and a larger one without compression")
    return _calibration(read_sidecar(_TITLE, raw, path), path)


def _calibration(plain, path):
    def fail(message):
        return ModelError(message, file=path)

    calibration = decode(Calibration, plain, fail)
    check_calibration(calibration, fail)
    return calibration
