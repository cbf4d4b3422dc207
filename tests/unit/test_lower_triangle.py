"""Lower triangular matrices, whose inverse is applied block by block."""

import errno
import mmap

import numpy as np
import pytest

from agfmc.core.points import LowerTriangle


@pytest.mark.parametrize("p", [1, 5, 96, 97, 300])
def test_factor_and_solutions_are_those_of_numpy(p):
    random = np.random.default_rng(p)
    a = random.normal(size=(p, p + 3))
    matrix = a @ a.T + np.eye(p)
    expected, x = np.linalg.cholesky(matrix), random.normal(size=(p, 4))
    garbled = matrix.copy()
    for start in range(0, p, 96):
        garbled[start : start + 96, start + 96 :] = np.nan  # what is not read
    for made in (LowerTriangle(expected), LowerTriangle.cholesky(garbled)):
        assert np.allclose(expected @ made.solve(x), x, atol=1e-9)
        assert np.allclose(expected.T @ made.solve_transposed(x), x, atol=1e-9)
    assert np.allclose(np.tril(garbled), expected, atol=1e-9)


def test_matrix_that_is_not_positive_definite():
    matrix = np.eye(200)
    matrix[150, 150] = -1.0
    with pytest.raises(np.linalg.LinAlgError):
        LowerTriangle.cholesky(matrix)


def test_no_memory_for_the_buffer_of_openblas(monkeypatch):
    def refuse(descriptor, length):
        assert (descriptor, length) == (-1, 64 << 20)
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", refuse)
    with pytest.raises(OSError, match="Cannot allocate memory"):
        LowerTriangle.cholesky(np.eye(3))
