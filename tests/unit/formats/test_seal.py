"""The seal of a model file: found, left out by readers, broken by any change."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.errors import ModelError, one_line
from agfmc.formats.libsvm_model import format_svm_model, read_svm_model
from agfmc.formats.logistic_model import format_logistic_model, LogisticModel, read_logistic_model
from agfmc.formats.seal import seal_of, sealed, unsealed
from agfmc.models import BinaryModel, Kernel
from agfmc.provenance import Provenance

DIGEST = "0123456789abcdef"
LINE = "0.1.0; options -c 1.0; features 2; seed 1"
MODEL = BinaryModel("m", "c_svc", Kernel("rbf", 0.5), np.array([[1.0, 0.0], [0.0, 2.5]]),
                    np.array([1.0, -1.0]), 0.25, (0, 1), (1, 1), (-1.0, 0.5),
                    Provenance.from_line(LINE), 2)
TEXT = sealed(format_svm_model(MODEL), DIGEST)


def test_it_stands_at_the_end_of_the_last_line():
    assert TEXT.startswith(format_svm_model(MODEL)[:-1] + "; made from 0123456789abcdef; sum ")
    assert TEXT.count("\n") == format_svm_model(MODEL).count("\n")
    assert seal_of(TEXT.encode()) == DIGEST


@given(st.integers(0, len(TEXT) - 1), st.integers(1, 255))
def test_any_byte_breaks_it(place, change):
    raw = bytearray(TEXT.encode())
    raw[place] ^= change
    assert seal_of(bytes(raw)) is None


LOGISTIC = sealed(format_logistic_model(LogisticModel(
    np.eye(2, 3), 1.0, 9, Provenance.from_line(LINE))), DIGEST)


@pytest.mark.parametrize("text, read", [(TEXT, read_svm_model), (LOGISTIC, read_logistic_model)],
                         ids=["svm", "logistic"])
def test_readers_take_only_what_was_sealed(tmp_path, text, read):
    path = tmp_path / "m"
    path.write_text(text)
    assert read(path).provenance.to_line() == LINE
    path.write_text(text.replace("\n", "\r\n"))  # of another system
    assert read(path).provenance.to_line() == LINE
    lines = text.split("\n")
    for changed in (text.replace("1", "2", 1), text.replace("seed 1", "seed 2"),
                    "\n".join([*lines[:2], lines[2] + " ", *lines[3:]]), text + "\n"):
        path.write_text(changed)
        with pytest.raises(ModelError, match=f"m:{len(lines) - 1}: changed or damaged since it"):
            read(path)
    path.write_text("\n".join(lines[:-2]) + "\n")  # as the message says
    assert read(path).provenance.to_line() == ""


@pytest.mark.parametrize("raw", [
    b"", b"\n", TEXT[:-1].encode(), TEXT[:len(TEXT) // 2].encode(), TEXT.encode() + b"\n",
    TEXT.encode() * 2, format_svm_model(MODEL).encode(), TEXT[1:].encode(), b"\xff" * 80 + b"\n"])
def test_other_files_have_none(raw):
    assert seal_of(raw) is None


def test_another_origin_is_another_seal():
    other = sealed(format_svm_model(MODEL), DIGEST[::-1])
    assert seal_of(other.encode()) == DIGEST[::-1] and other[-17:] != TEXT[-17:]


@given(st.text())
def test_unsealed(text):
    # what cannot be shown, escaped: it is a stranger's, and goes into model files and on screens
    assert unsealed(text) == one_line(text)
    assert unsealed(sealed(text, DIGEST)[:-1]) == one_line(text.removesuffix("\n"))
