"""Numbers in the place of labels, in every kind of data; LIBSVM text with its zeros."""

import io
from pathlib import Path

import numpy as np
import pytest

from agfmc.errors import DataError, UsageError
from agfmc.formats.dataset import read_training
from agfmc.formats.libsvm_data import read_svm, write_svm
from agfmc.formats.lvq import read_lvq, write_lvq
from agfmc.formats.vectors import con_bytes, write_vec
from agfmc.models import InputFormat

X = np.array([[1, 0], [0.5, 3], [0, 0.25]])
Y = np.array([-1.5, 3, 1 / 3])


@pytest.mark.parametrize("kind", ["binary", "svm", "lvq"])
def test_ordinates_of_any_kind(tmp_path, kind):
    base = str(tmp_path / "a")
    write_vec(base + ".vec", X)
    Path(base + ".dat").write_bytes(con_bytes(Y))
    write_svm(base + ".svm", X, Y)
    write_lvq(base + ".lvq", X, Y)
    data = read_training(base + {"binary": ""}.get(kind, f".{kind}"),
                         InputFormat(kind, ordinates=True))
    want = Y.astype(np.float32) if kind == "binary" else Y
    assert data.y.tobytes() == want.tobytes() and data.y.dtype == want.dtype
    assert np.array_equal(data.x, X) and data.names is None


@pytest.mark.parametrize("block", [1, 1000])
@pytest.mark.parametrize("text, line, message", [
    (b"1:0\n", 1, "no label|columns"), (b"x 1:1\n", 1, "ordinate 'x'"),
    (b"1.5 1:1\nnan 1:1\n", 2, "ordinate 'nan'"), (b"1e999 1:1\n", 1, "ordinate '1e999'"),
    (b"1.5 1:x\n", 1, "'x'")])
def test_ordinates_that_cannot_be(text, line, message, block):
    lvq = b"".join(b" ".join([*row.replace(b"1:", b"").split()[1:], row.split()[0]]) + b"\n"
                   for row in text.splitlines())
    for read, lines, head in ((read_svm, text, 0), (read_lvq, b"1\n" + lvq, 1)):
        with pytest.raises(DataError, match=message) as caught:
            read("-", stdin=io.BytesIO(lines), block=block, ordinates=True)
        assert caught.value.line == line + head


def test_points_alone_may_come_from_a_pipe(tmp_path, pipe_of):
    write_vec(tmp_path / "a.vec", X)
    content = (tmp_path / "a.vec").read_bytes()
    data = read_training("-", InputFormat(labels=False), stdin=pipe_of(content))
    assert np.array_equal(data.x, X) and data.y is None
    with pytest.raises(UsageError, match="pipe"):
        read_training("-", InputFormat(ordinates=True))
