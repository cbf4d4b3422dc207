"""Calibrations as text and in a model file: without loss, and refused where something is wrong."""

from dataclasses import replace

import numpy as np
import pytest
from hostile_store import bytes_of, calibration, models

from agfmc.errors import ModelError
from agfmc.formats.calibration_file import format_calibration, read_calibration
from agfmc.formats.mbm import read_store
from agfmc.models import DecoderCalibration, ProbabilityMap

MODEL = "0123456789abcdef"
CALIBRATION = calibration(MODEL, (0, 2, 5), 4)
TEXT = format_calibration(CALIBRATION)


def same(one, other):
    """Compare two calibrations number by number."""
    assert (one.model, one.classes, one.source, one.counts, list(one.decoders)) == (
        other.model, other.classes, other.source, other.counts, list(other.decoders))
    pairs = [(one.learned, other.learned), *(
        (getattr(a, part), getattr(b, part)) for a, b in
        zip(one.decoders.values(), other.decoders.values()) for part in ("map", "points"))]
    for a, b in pairs:
        if a is None or b is None:
            assert a is b
            continue
        for name, value in vars(a).items():
            np.testing.assert_array_equal(getattr(b, name), value, strict=value is not None and
                                          hasattr(value, "dtype"))


def read(tmp_path, text):
    path = tmp_path / "m.cal"
    path.write_text(text, encoding="utf-8")
    return read_calibration(str(path))


def unsealed(text=TEXT):
    return text[:text.rindex("# made by")]


def refused(tmp_path, text, words, line=None):
    with pytest.raises(ModelError, match=words) as caught:
        read(tmp_path, text)
    assert caught.value.file == str(tmp_path / "m.cal")
    assert line in (None, caught.value.line)


def test_text_is_without_loss(tmp_path):
    same(read(tmp_path, TEXT), CALIBRATION)
    same(read(tmp_path, TEXT.replace("\n", "\r\n")), CALIBRATION)
    assert format_calibration(read(tmp_path, TEXT)) == TEXT


def test_first_lines_are_for_people():
    assert TEXT.split("\n")[:9] == [
        "agfmc calibration 1", "model 0123456789abcdef", "classes 0 2 5",
        "source 9 points, b\u00e4r", "counts 3 3 3", "decoder least-squares", "map temperature",
        "# T = 0.7", "weights 1.4285714285714286"]


def test_a_right_answer_takes_two_numbers():
    points = CALIBRATION.decoders["least-squares"].points
    lines = TEXT[TEXT.index("points 9"):].split("\n")[1:10]
    assert [len(line.split()) for line in lines] == np.where(points.right, 2, 5).tolist()


def test_numbers_that_are_hard_to_write(tmp_path):
    hard = np.array([1 / 3, 5e-324, 1 - 2**-53, 1.0, 0.0, 0.1 + 0.2, 1e-300, 2 / 3, 0.5])
    points = replace(CALIBRATION.decoders["least-squares"].points, p_true=hard)
    one = DecoderCalibration(ProbabilityMap("temperature", np.array(1e17 / 3), np.zeros(3), 0.1),
                             points)
    changed = replace(CALIBRATION, decoders={"direct": one}, learned=None)
    same(read(tmp_path, format_calibration(changed)), changed)


@pytest.mark.parametrize("count", range(1, TEXT.count("\n") - 1))
def test_cut_after_every_line(tmp_path, count):
    refused(tmp_path, "".join(TEXT.splitlines(True)[:count]), "truncated|expected")


def test_any_change_is_seen(tmp_path):
    refused(tmp_path, TEXT.replace("0.5", "0.6"), "checksum disagrees")


def replaced(old, new, after=""):
    """The text, unsealed, with another piece behind the piece `after`."""
    text = unsealed()
    at = text.index(old, text.index(after))
    return text[:at] + new + text[at + len(old):]


@pytest.mark.parametrize("text, words, line", [
    ("", "found an empty file", 1),
    ("svm_type c_svc\n", "expected 'agfmc calibration 1', found 'svm_type c_svc'", 1),
    (TEXT.replace("calibration 1", "calibration 2"), "version 1|checksum", None),
    (unsealed().replace("calibration 1", "calibration 2"), "expected version 1", 1),
    (replaced("classes 0 2 5", "classes 0 5 2"), "classes of the calibration are invalid", None),
    (replaced("classes 0 2 5", "classes 0 2 x"), "expected whole numbers, found '0 2 x'", 3),
    (replaced("counts 3 3 3", "counts 3 3"), "expected 3 values, found 2", 5),
    (replaced("counts 3 3 3", "counts 3 3 -3"), "expected whole numbers", 5),
    (replaced(MODEL, "x"), "names no model", None),
    (replaced("map temperature", "map warm"), "expected one of none, temp.*found 'warm'", 7),
    (replaced("weights 1.4285714285714286", "weights 0"), "temperature is not above 0", None),
    (replaced("weights 1.4285714285714286", "weights nan"), "finite numbers, found 'nan'", 9),
    (replaced("weights 1.4285714285714286", "weights 1 2"), "expected 1 value, found 2", 9),
    (replaced("floor 0.00", "floor 1.00"), "not at least 0 and below 1", None),
    (replaced("floor 0.00", "floor -0.00"), "not at least 0 and below 1", None),
    (replaced("points 9", "points 90"), "truncated: expected 90 points", 11),
    (replaced("points 9", "points 999999999999999"), "truncated: expected", 11),
    (replaced("points 9", "points 10"), "expected a class and its .*, found 'decoder inverse'", 21),
    (replaced("points 9", "points 8"), "expected 'end', found", None),
    (replaced("\n5 ", "\n4 ", "points 9"), "of none of the classes", None),
    (replaced("\n5 ", "\n5.5 ", "points 9"), "expected a class and its probability", None),
    (replaced("\n5 ", "\n5 9", "points 9"), r"not in \[0, 1\]", None),
    (replaced("decoder inverse", "decoder least-squares"), "occurs a second time", 21),
    (replaced("decoder inverse", "decoder in verse 2"), "invalid name", None),
    (replaced("learned 4", "learned 5"), "expected 5 values, found 4", None),
    (unsealed().replace("\nend", "e200\nend"), "not finite, or too large", None),
    (unsealed() + "more\n", "expected the end of the file, found 'more'", None)])
def test_what_is_wrong_is_refused(tmp_path, text, words, line):
    refused(tmp_path, text, words, line)


def test_other_bytes_are_refused(tmp_path):
    (tmp_path / "m.cal").write_bytes(TEXT.encode("latin-1"))
    with pytest.raises(ModelError, match="checksum disagrees"):
        read_calibration(str(tmp_path / "m.cal"))
    (tmp_path / "m.cal").write_bytes(unsealed().encode("latin-1"))
    with pytest.raises(ModelError, match="as text, found other bytes") as caught:
        read_calibration(str(tmp_path / "m.cal"))
    assert caught.value.line == 4


def test_model_file_is_without_loss():
    for name, model in models().items():
        raw = bytes_of(model)
        again = read_store("m.mbm", raw)
        assert raw[12] == (4 if model.recipe else 2 if model.calibration else
                           len(model.node_classifiers) > 0), name
        assert bytes_of(again) == raw
        if model.calibration is not None:
            same(again.calibration, model.calibration)


def test_model_file_with_a_calibration_of_other_classifiers():
    model = models()["calibrated pairs"]
    for changes in ({"model": MODEL}, {"classes": (3, 7, 10), "decoders": {}}, {"learned": replace(
            model.calibration.learned, weights=np.ones((3, 4)))}):
        other = replace(model, calibration=replace(model.calibration, **changes))
        with pytest.raises(ModelError, match="its calibration belongs to other classifiers"):
            read_store("m.mbm", bytes_of(other))
