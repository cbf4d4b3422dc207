"""Logistic models as text, and the seal of a model file: errors with a line, changes noticed."""

import json
from hashlib import blake2b

from hypothesis import given, strategies as st
import numpy as np
import pytest

from agfmc.core.errors import ModelError
from agfmc.models.libsvm import format_svm_model, read_svm_model
from agfmc.learners.logistic import format_logistic_model, LogisticModel, read_logistic_model
from agfmc.files.codec import seal_of, sealed
from agfmc.core.models import BinaryModel, Kernel
from agfmc.core.provenance import Provenance

TEXT = """agfmc logistic 1
classes 2
features 3
ridge 0.5
points 40
1.0 -2.5 0.1 1e-300
-1.0 2.5 -0.0 3
# agfmc {"options": "-r 0.5"}
"""
RECORD = '# agfmc {"options": "-r 0.5"}\n'


def read(tmp_path, text):
    path = tmp_path / "m.logistic"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_logistic_model(path)


def test_reading(tmp_path):
    model = read(tmp_path, TEXT)
    assert model.weights.tolist() == [[1, -2.5, 0.1, 1e-300], [-1, 2.5, 0, 3]]
    assert (model.ridge, model.points, model.provenance.options) == (0.5, 40, "-r 0.5")
    assert not read(tmp_path, TEXT.replace(RECORD, "")).provenance
    assert read(tmp_path, TEXT.replace("\n", "\r\n")).provenance.options == "-r 0.5"
    old = TEXT.replace(RECORD, "# agfmc 0.3.0; options -r 0.5\n")
    assert read(tmp_path, old).provenance == Provenance("0.3.0", options="-r 0.5")


def test_writing():
    model = LogisticModel(
        np.array([[0.1, 1 / 3], [-0.1, -1e22]]), 1, 7, Provenance(options="-r 1.0")
    )
    assert format_logistic_model(model) == (
        "agfmc logistic 1\nclasses 2\nfeatures 1\nridge 1.0\npoints 7\n"
        '0.1 0.3333333333333333\n-0.1 -1e+22\n# agfmc {"options": "-r 1.0"}\n'
    )


@pytest.mark.parametrize(
    "old, new, line, words",
    [
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
        ('0.5"}\n', '0.5"}\n\n', 9, "expected the end of the file"),
        ('0.5"}\n', '0.5"}', 8, "truncated: the last line is not complete"),
        (
            "-1.0 2.5 -0.0 3\n" + RECORD,
            "",
            6,
            "truncated: expected 2 lines of weights, found 1",
        ),
        ("-1.0 2.5 -0.0 3\n", "", 7, "truncated: expected 2 lines of weights, found 1"),
        ("-1.0 2.5 -0.0 3\n", "\n", 7, "expected 4 numbers, found 0"),
        ("features 3\n" + TEXT.split("features 3\n")[1], "", 3, "found the end of the file"),
        ("-r 0.5", "-r \u00bd", 8, "other bytes"),
    ],
)
def test_every_damage_has_its_line(tmp_path, old, new, line, words):
    assert TEXT.count(old) == 1
    with pytest.raises(ModelError, match=words) as caught:
        read(tmp_path, TEXT.replace(old, new))
    assert caught.value.line == line and str(caught.value).startswith(str(tmp_path / "m.logistic"))


def test_other_bytes(tmp_path):
    with pytest.raises(ModelError):
        read(tmp_path, b"\x89MBM\r\n\x1a\n\0\0")


DIGEST = "0123456789abcdef"
MADE = Provenance("0.1.0", options="-c 1.0", features=2, seed=1)
MODEL = BinaryModel(
    "m",
    "c_svc",
    Kernel("rbf", 0.5),
    np.array([[1.0, 0.0], [0.0, 2.5]]),
    np.array([1.0, -1.0]),
    0.25,
    (0, 1),
    (1, 1),
    (-1.0, 0.5),
    MADE,
    2,
)
TEXT_SEAL = sealed(format_svm_model(MODEL), DIGEST)


def test_it_stands_at_the_end_of_the_last_line():
    head = format_svm_model(MODEL)[:-2]
    assert TEXT_SEAL.startswith(f'{head}, "run": "0123456789abcdef", "sum": "')
    assert json.loads(TEXT_SEAL.splitlines()[-1].removeprefix("# agfmc "))["run"] == DIGEST
    assert TEXT_SEAL.count("\n") == format_svm_model(MODEL).count("\n")
    assert seal_of(TEXT_SEAL.encode()) == DIGEST


@given(st.integers(0, len(TEXT_SEAL) - 1), st.integers(1, 255))
def test_any_byte_breaks_it(place, change):
    raw = bytearray(TEXT_SEAL.encode())
    raw[place] ^= change
    assert seal_of(bytes(raw)) is None


LOGISTIC = sealed(format_logistic_model(LogisticModel(np.eye(2, 3), 1.0, 9, MADE)), DIGEST)


@pytest.mark.parametrize(
    "text, read",
    [(TEXT_SEAL, read_svm_model), (LOGISTIC, read_logistic_model)],
    ids=["svm", "logistic"],
)
def test_readers_take_only_what_was_sealed(tmp_path, text, read):
    path = tmp_path / "m"
    path.write_text(text)
    assert read(path).provenance == MADE
    path.write_text(text.replace("\n", "\r\n"))  # of another system
    assert read(path).provenance == MADE
    lines = text.split("\n")
    for changed in (
        text.replace("1", "2", 1),
        text.replace('"seed": 1', '"seed": 2'),
        "\n".join([*lines[:2], lines[2] + " ", *lines[3:]]),
        text + "\n",
    ):
        path.write_text(changed)
        with pytest.raises(ModelError, match=f"m:{len(lines) - 1}: changed or damaged since it"):
            read(path)
    path.write_text("\n".join(lines[:-2]) + "\n")  # as the message says
    assert not read(path).provenance


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        TEXT_SEAL[:-1].encode(),
        TEXT_SEAL[: len(TEXT_SEAL) // 2].encode(),
        TEXT_SEAL.encode() + b"\n",
        TEXT_SEAL.encode() * 2,
        format_svm_model(MODEL).encode(),
        TEXT_SEAL[1:].encode(),
        b"\xff" * 80 + b"\n",
    ],
)
def test_other_files_have_none(raw):
    assert seal_of(raw) is None


def test_another_origin_is_another_seal():
    other = sealed(format_svm_model(MODEL), DIGEST[::-1])
    assert seal_of(other.encode()) == DIGEST[::-1] and other[-17:] != TEXT_SEAL[-17:]


def test_seals_of_version_0_3_0(tmp_path):
    lines = TEXT_SEAL.splitlines()[:-1]
    head = "\n".join([*lines, f"# agfmc 0.3.0; options -c 1.0; made from {DIGEST}; sum "])
    old = f"{head}{blake2b(head.encode(), digest_size=8).hexdigest()}\n"
    assert seal_of(old.encode()) == DIGEST
    path = tmp_path / "m"
    path.write_text(old)
    assert read_svm_model(path).provenance == Provenance("0.3.0", options="-c 1.0")
    path.write_text(old.replace("-c 1.0", "-c 2.0"))
    with pytest.raises(ModelError, match="changed or damaged since it"):
        read_svm_model(path)
