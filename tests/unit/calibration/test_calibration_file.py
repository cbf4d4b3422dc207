"""Calibrations as text and in a model file: without loss, and refused where something is wrong."""

import functools
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hostile_store import bytes_of, calibration, models

from agfmc.core.errors import ModelError
from agfmc.calibration.file import format_calibration, read_calibration
from agfmc.models.mbm import read_store
from agfmc.calibration.types import DecoderCalibration, ProbabilityMap

MODEL = "0123456789abcdef"
CALIBRATION = calibration(MODEL, (0, 2, 5), 4)
TEXT = format_calibration(CALIBRATION)


def same(one, other):
    """Compare two calibrations number by number."""
    assert (one.model, one.classes, one.source, one.counts, list(one.decoders)) == (
        other.model,
        other.classes,
        other.source,
        other.counts,
        list(other.decoders),
    )
    pairs = [
        (one.learned, other.learned),
        *(
            (getattr(a, part), getattr(b, part))
            for a, b in zip(one.decoders.values(), other.decoders.values())
            for part in ("map", "points")
        ),
    ]
    for a, b in pairs:
        if a is None or b is None:
            assert a is b
            continue
        for name, value in vars(a).items():
            np.testing.assert_array_equal(
                getattr(b, name), value, strict=value is not None and hasattr(value, "dtype")
            )


def read(tmp_path, text):
    path = tmp_path / "m.cal"
    path.write_text(text, encoding="utf-8")
    return read_calibration(str(path))


def refused(tmp_path, text, words):
    with pytest.raises(ModelError, match=words) as caught:
        read(tmp_path, text)
    assert caught.value.file == str(tmp_path / "m.cal")


def test_text_is_without_loss(tmp_path):
    same(read(tmp_path, TEXT), CALIBRATION)
    same(read(tmp_path, TEXT.replace("\n", "\r\n")), CALIBRATION)
    assert format_calibration(read(tmp_path, TEXT)) == TEXT


def test_lines_are_for_people():
    assert TEXT.split("\n")[:3] == ["{", ' "format": "agfmc calibration",', ' "version": 1,']
    for line in (
        ' "classes": [0, 2, 5],',
        ' "source": "9 points, b\u00e4r",',
        '  "least-squares": {',
        '    "kind": "temperature",',
        '    "weights": 1.4285714285714286,',
        '    "intercept": [0.0, 0.0, 0.0],',
    ):
        assert line in TEXT.split("\n")


def test_numbers_that_are_hard_to_write(tmp_path):
    hard = np.array([1 / 3, 5e-324, 1 - 2**-53, 1.0, 0.0, 0.1 + 0.2, 1e-300, 2 / 3, 0.5])
    points = replace(CALIBRATION.decoders["least-squares"].points, p_true=hard)
    one = DecoderCalibration(
        ProbabilityMap("temperature", np.array(1e17 / 3), np.zeros(3), 0.1), points
    )
    changed = replace(CALIBRATION, decoders={"direct": one}, learned=None)
    same(read(tmp_path, format_calibration(changed)), changed)


@pytest.mark.parametrize("count", range(TEXT.count("\n")))
def test_cut_after_every_line(tmp_path, count):
    refused(tmp_path, "".join(TEXT.splitlines(True)[:count]), "expected 'agfmc calibration', found")


def test_any_change_is_seen(tmp_path):
    refused(tmp_path, TEXT.replace("0.5", "0.6"), "checksum disagrees")
    lines = TEXT.replace("9 points", "8 points").splitlines(True)
    changed = "".join(line for line in lines if '"sum"' not in line)
    assert read(tmp_path, changed).source == "8 points, b\u00e4r"


@pytest.mark.parametrize(
    "path, value, words",
    [
        ("format", "x", "expected 'agfmc calibration', found another format"),
        ("version", 2, "has version 2 of this format, this program reads 1: use a newer version"),
        ("more", 1, "more: there is no such key"),
        ("source", ..., "source: this key is missing"),
        ("source", "a\nb", "source: expected a line of text"),
        ("classes", [0, 5, 2], "classes of the calibration are invalid"),
        ("classes", [0, 2, "x"], r"classes\[2\]: expected a whole number, found \"x\""),
        ("classes", [0, 2, 2**31], r"classes\[2\]: expected a whole number from 0 to 2147483647"),
        ("counts", [3, 3], "does not count the points of each class"),
        ("counts", [3, 3, -3], r"counts\[2\]: expected a whole number"),
        ("model", "x", 'model: expected text of another kind, found "x"'),
        ("decoders", [], "decoders: expected an object, found a list"),
        ("decoders.in verse 2", {}, 'decoders: expected text of another kind, found "in verse 2"'),
        ("decoders.least-squares.map.kind", "warm", 'map.kind: expected one of none, temp.*"warm"'),
        ("decoders.least-squares.map.weights", 0, "temperature is not above 0"),
        ("decoders.least-squares.map.weights", None, "does not fit the number of classes"),
        ("decoders.least-squares.map.weights", "1", "weights: expected numbers"),
        ("decoders.least-squares.map.weights", [[1], [2, 3]], "weights: expected lists of equal"),
        (
            "decoders.least-squares.map.weights",
            [[[1]]],
            "weights: expected numbers in 0 dimensions",
        ),
        (
            "decoders.least-squares.map.floor",
            1.1,
            "map.floor: expected a number from 0 to 1, found 1",
        ),
        ("decoders.least-squares.map.floor", 1, "not below 1"),
        ("decoders.least-squares.points.label", [0] * 8, "not all of one number"),
        ("decoders.least-squares.points.label", [4] * 9, "of none of the classes"),
        ("decoders.least-squares.points.label", [0.5] * 9, "points.label: expected numbers alone"),
        (
            "decoders.least-squares.points.right",
            [1] * 9,
            "points.right: expected true or false alone",
        ),
        ("decoders.least-squares.points.p_true", [9] * 9, r"not in \[0, 1\]"),
        (
            "decoders.least-squares.points.p_true",
            [True] * 9,
            "points.p_true: expected numbers alone",
        ),
        ("learned.weights", [[1.0]] * 4, "learned decoder does not fit"),
        ("learned.intercept", [1e200] * 3, "not finite, or too large"),
    ],
)
def test_what_is_wrong_is_refused(tmp_path, path, value, words):
    plain = json.loads(TEXT)
    del plain["sum"]
    *folders, key = path.split(".")
    place = functools.reduce(lambda part, folder: part[folder], folders, plain)
    if value is ...:
        del place[key]
    else:
        place[key] = value
    refused(tmp_path, json.dumps(plain), words)


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "expected 'agfmc calibration', found an empty file"),
        ("svm_type c_svc\n", "found no JSON"),
        ("[]", "found another format"),
        ("[" * 10**5, "found no JSON"),
        ('{"a": 1, "a": 2}', "a key stands twice"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": ' + "9" * 30 + "}", "9 is no number"),
        (TEXT.replace("0.5", "1e999"), "checksum"),
        (TEXT.replace('"sum": "', '"sum": "0'), "checksum"),
        (re.sub('"sum": "[^"]*",', "", TEXT).replace("0.5", "1e999"), "a number is not finite"),
    ],
)
def test_what_is_no_calibration_is_refused(tmp_path, text, words):
    refused(tmp_path, text, words)


def test_other_bytes_are_refused(tmp_path):
    (tmp_path / "m.cal").write_bytes(TEXT.encode("latin-1"))
    with pytest.raises(ModelError, match="found other bytes"):
        read_calibration(str(tmp_path / "m.cal"))


def test_model_file_is_without_loss():
    for name, model in models().items():
        raw = bytes_of(model)
        again = read_store("m.mbm", raw)
        assert raw[12] == 3 and bytes_of(again) == raw, name
        if model.calibration is not None:
            same(again.calibration, model.calibration)


def test_model_file_with_a_calibration_of_other_classifiers():
    model = models()["calibrated pairs"]
    for changes in (
        {"model": MODEL},
        {"classes": (3, 7, 10), "decoders": {}},
        {"learned": replace(model.calibration.learned, weights=np.ones((3, 4)))},
    ):
        other = replace(model, calibration=replace(model.calibration, **changes))
        with pytest.raises(ModelError, match="its calibration belongs to other classifiers"):
            read_store("m.mbm", bytes_of(other))
