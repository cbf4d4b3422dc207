"""libAGF's answers on one data set, from decision values in double precision."""

import re

import numpy as np
import pytest

from agfmc.decode.front import decode, predict_class

MODELS = ["m_1v1", "m_1vR", "m_adj", "m_ortho", "m_hier_lsq", "m_emp_lsq"]
# libAGF works in single precision: the documented distance of a right answer,
# 1.0e-3 in two digits (1.02e-3 for the adjacent code where signs are free).
CASES = [(model, q, 3.1e-3 if q == 2 else 1.05e-3) for model in MODELS for q in range(7)]
CASES.append(("m_1v1", 7, 1.7e-3))


def read_code(path):
    """Coding matrix and labels of its columns, in the order of the class list."""
    text = path.read_text()
    rows = re.findall(r"\S+((?:\s+\d+)+)\s*/((?:\s*\d+)+)\s*;", text)
    labels = [int(word) for word in re.search(r"\{([^}]*)\}", text).group(1).split()]
    a = np.zeros((len(rows), len(labels)), dtype=int)
    for row, sides in zip(a, rows):
        for sign, side in zip((-1, 1), sides):
            row[[int(position) for position in side.split()]] = sign
    return a, np.array(labels)


@pytest.mark.parametrize("model, q, close", CASES)
def test_golden(segment, model, q, close):
    a, labels = read_code(segment / "models" / f"{model}.mbc")
    r = np.loadtxt(segment / f"{model}_r64.txt")
    golden = np.loadtxt(segment / f"{model}_Q{q}{'fixed' if q == 0 else ''}.txt")
    p = decode(a, r, q).p
    assert np.abs(p - golden[:, labels]).max() < close
    # Ties of votes go to the class that is listed first.
    np.testing.assert_array_equal(labels[predict_class(p)], golden[:, -1])
