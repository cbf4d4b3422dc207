"""The text file of a logistic regression: bit for bit there and back, errors with a line."""

import numpy as np
import pytest

from agfmc.errors import ModelError
from agfmc.formats.logistic_model import format_logistic_model, LogisticModel, read_logistic_model
from agfmc.provenance import Provenance

TEXT = """agfmc logistic 1
classes 2
features 3
ridge 0.5
points 40
1.0 -2.5 0.1 1e-300
-1.0 2.5 -0.0 3
# agfmc -r 0.5
"""


def read(tmp_path, text):
    path = tmp_path / "m.logistic"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_logistic_model(path)


def test_reading(tmp_path):
    model = read(tmp_path, TEXT)
    assert model.weights.tolist() == [[1, -2.5, 0.1, 1e-300], [-1, 2.5, 0, 3]]
    assert (model.ridge, model.points, model.provenance.to_line()) == (0.5, 40, "-r 0.5")
    assert read(tmp_path, TEXT.replace("# agfmc -r 0.5\n", "")).provenance.to_line() == ""
    assert read(tmp_path, TEXT.replace("\n", "\r\n")).provenance.to_line() == "-r 0.5"


def test_writing():
    model = LogisticModel(np.array([[0.1, 1 / 3], [-0.1, -1e22]]), 1, 7,
                          Provenance.from_line("-r 1.0"))
    assert format_logistic_model(model) == (
        "agfmc logistic 1\nclasses 2\nfeatures 1\nridge 1.0\npoints 7\n"
        "0.1 0.3333333333333333\n-0.1 -1e+22\n# agfmc -r 1.0\n")


@pytest.mark.parametrize("old, new, line, words", [
    (TEXT, "", 1, "expected 'agfmc logistic 1', found an empty file"),
    (TEXT, "svm_type c_svc\n", 1, "expected 'agfmc logistic 1', found 'svm_type c_svc'"),
    ("logistic 1", "logistic 2", 1, "expected version 1"),
    ("classes 2\n", "", 2, "expected 'classes' and a number, found 'features 3'"),
    ("classes 2", "classes", 2, "expected 'classes' and a number"),
    ("classes 2", "classes 1", 2, "classes: expected a whole number from 2 up, found '1'"),
    ("classes 2", "classes -2", 2, "classes: expected a whole number from 2 up"),
    ("classes 2", "classes 999999999999", 8, "truncated: expected 999999999999 lines"),
    ("classes 2", "classes 3", 8, "truncated: expected 3 lines of weights, found 2"),
    ("features 3", "features 0", 3, "features: expected a whole number from 1 up"),
    ("features 3", "features 999999999999", 6, "expected 1000000000000 numbers, found 4"),
    ("features 3", "features 4", 6, "expected 5 numbers, found 4"),
    ("ridge 0.5", "ridge -1", 4, "ridge: expected a number that is not negative, found '-1'"),
    ("ridge 0.5", "ridge nan", 4, "ridge: expected a number"),
    ("ridge 0.5", "ridge 1e999", 4, "ridge: expected a number"),
    ("points 40", "points x", 5, "points: expected a whole number from 1 up, found 'x'"),
    ("-2.5 0.1", "-2.5", 6, "expected 4 numbers, found 3"),
    ("-2.5 0.1", "-2.5 nan", 6, "expected a finite number, found 'nan'"),
    ("-2.5 0.1", "-2.5 1e999", 6, "expected a finite number, found '1e999'"),
    ("2.5 -0.0", "2.5 0x10", 7, "expected a finite number, found '0x10'"),
    ("2.5 -0.0", "2.5 1-2", 7, "expected a finite number, found '1-2'"),
    ("# agfmc", "# other", 8, "expected the end of the file"),
    ("-r 0.5\n", "-r 0.5\n\n", 9, "expected the end of the file"),
    ("-r 0.5\n", "-r 0.5", 8, "truncated: the last line is not complete"),
    ("-1.0 2.5 -0.0 3\n# agfmc -r 0.5\n", "", 6, "truncated: expected 2 lines of weights, found 1"),
    ("-1.0 2.5 -0.0 3\n", "", 7, "truncated: expected 2 lines of weights, found 1"),
    ("-1.0 2.5 -0.0 3\n", "\n", 7, "expected 4 numbers, found 0"),
    ("features 3\n" + TEXT.split("features 3\n")[1], "", 3, "found the end of the file"),
    ("-r 0.5", "-r \u00bd", 8, "other bytes")])
def test_every_damage_has_its_line(tmp_path, old, new, line, words):
    assert TEXT.count(old) == 1
    with pytest.raises(ModelError, match=words) as caught:
        read(tmp_path, TEXT.replace(old, new))
    assert caught.value.line == line
    assert str(caught.value).startswith(str(tmp_path / "m.logistic"))


def test_other_bytes(tmp_path):
    with pytest.raises(ModelError):
        read(tmp_path, b"\x89MBM\r\n\x1a\n\0\0")
