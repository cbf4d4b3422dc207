"""Answers that were computed with libAGF for six points, and a model that is worked out by hand.

The numbers of data/golden/segment6.json were computed with libAGF, in single
precision: six points of the data set segment, with six configurations.
data/golden/tiny.mbaio was made up, in libAGF's layout.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from agfmc.codes.matrix import rows_to_matrix
from agfmc.decode.front import CodeDecoder
from agfmc.prediction.decoding import Decoding
from agfmc.prediction.configuration import load
from agfmc.prediction.classifier import Classifier
from agfmc.prediction.decision_values import MachineValues

DATA = Path(__file__).resolve().parents[2] / "data" / "golden"
SIX = json.loads((DATA / "segment6.json").read_text())["codes"]
CODES = ("1v1", "1vR", "adj", "ortho", "hier", "emp")
# The distance of a right answer from libAGF's; votes are whole numbers.
BOUND = dict.fromkeys(range(7), 1.0e-3) | {2: 3.1e-3, 3: 1e-9}
TREES = ("hier", "emp")


def code_of(name):
    rows = [[[int(word) for word in side.split()] for side in row.split("/")]
            for row in SIX[name]["rows"]]
    return np.array(rows_to_matrix(rows, 7))


def of_method(table, q):
    """The entry of method q in a table whose keys are lists of methods."""
    return np.array(next(value for key, value in table.items() if str(q) in key.split()))


def test_all_six_are_there():
    assert tuple(SIX) == CODES
    for name, each in SIX.items():
        assert np.shape(each["r"]) == (6, len(each["rows"])) == (6, len(code_of(name)))


@pytest.mark.parametrize("q", range(7))
@pytest.mark.parametrize("name", CODES)
def test_six_points(name, q):
    each = SIX[name]
    labels = np.array(each["classes"])  # of our columns; libAGF's are in ascending order
    p = CodeDecoder(code_of(name), q)(each["r"]).p
    theirs = of_method(each["p"], q)
    assert np.abs(p - theirs[:, labels]).max() < BOUND[q]
    assert np.median(np.abs(p - theirs[:, labels])) < (5e-5 if q == 2 else 1e-5)
    np.testing.assert_array_equal(labels[p.argmax(axis=1)], of_method(each["class"], q))


@pytest.mark.parametrize("name", CODES)
def test_left_is_minus_one(name):
    """The other orientation is another answer, at points that are not certain."""
    each = SIX[name]
    theirs = of_method(each["p"], 0)[:, each["classes"]]
    for a, r in ((-code_of(name), each["r"]), (code_of(name), np.negative(each["r"]))):
        assert np.abs(CodeDecoder(a)(r).p - theirs).max() > 0.3


@pytest.mark.parametrize("name", TREES)
def test_trees_are_products(name):
    """Each class: the product of branch probabilities on its way, by a plain loop."""
    each = SIX[name]
    theirs = of_method(each["p"], 0)[:, each["classes"]]
    for r, expected in zip(each["r"], theirs):
        for column, value in zip(code_of(name).T, expected):
            product = 1.0
            for sign, ri in zip(column, r):
                product *= (1 + sign * ri) / 2 if sign else 1.0
            assert abs(product - value) < BOUND[0]


def tiny():
    """gamma, support vectors, and per classifier (a, b), coefficients, rho, numbers of vectors."""
    lines = (DATA / "tiny.mbaio").read_text().split("\n")
    at = lines.index("radial")
    gamma = float(lines[at + 1])
    s, _ = map(int, lines[at + 2].split())
    sv = [[float(word) for word in line.split()] for line in lines[at + 3:at + 3 + s]]
    parts = []
    for first in range(at + 3 + s, len(lines) - 1, 5):
        _, _, ab, coef, index = lines[first:first + 5]
        *coef, rho = map(float, coef.split())
        parts.append((tuple(map(float, ab.split())), coef, rho, [int(i) for i in index.split()]))
    return gamma, sv, parts


def by_hand(x):
    """f and r of each classifier at the point x, as their definitions say it."""
    gamma, sv, parts = tiny()
    fs, rs = [], []
    for (a, b), coef, rho, index in parts:
        f = -rho
        for c, i in zip(coef, index):
            square = 0.0
            for xj, vj in zip(x, sv[i]):
                square += (xj - vj) ** 2
            f += c * math.exp(-gamma * square)
        fs.append(f)
        rs.append(math.tanh(a * f + b))
    return fs, rs


POINTS = [(0.0, 0.0), (-1.0, 0.0), (2.0, -0.25), (1.0, 2.0), (-0.3, 0.8), (0.9, 0.1), (50.0, 0.0)]


def test_tiny_model_at_the_origin():
    """Squared distances of the vectors: 1, 2.5, 1, .5, 5, 4.0625; gamma 1/2."""
    f, r = by_hand(POINTS[0])
    e = math.exp
    assert f == pytest.approx([
        e(-.5) + .5 * e(-.5) - .75 * e(-.25) - .75 * e(-2.03125) - .125,
        2 * e(-1.25) - 1.25 * e(-.5) - .75 * e(-.5) + .25,
        -.5 * e(-.25) - e(-2.03125) + .75 * e(-2.5) + .75 * e(-1.25)], abs=1e-15)
    assert r[0] == pytest.approx(math.tanh(-1.5 * f[0] + .25), abs=1e-15)


def test_tiny_model():
    configuration = load(str(DATA / "tiny.mbaio"))
    assert configuration.tree.sides() == [((1,), (6,)), ((4,), (1,)), ((6,), (4,))]
    assert len(configuration.machines.sv) == 6
    f, r = MachineValues(configuration)(range(3), np.array(POINTS))
    for x, fs, rs in zip(POINTS, f, r):
        expected = by_hand(x)
        np.testing.assert_allclose(fs, expected[0], rtol=0, atol=1e-14)
        np.testing.assert_allclose(rs, expected[1], rtol=0, atol=1e-14)
    for raw, values in ((True, f), (False, r)):
        decoding = Decoding("0" if raw else "-1", raw=raw)
        answers = Classifier(configuration, decoding)(np.array(POINTS))
        np.testing.assert_array_equal(answers.columns, values)


def test_tiny_model_classifies():
    """Columns ascending (1, 4, 6), though the model lists 1, 6, 4."""
    configuration = load(str(DATA / "tiny.mbaio"))
    answers = Classifier(configuration)(np.array(POINTS))
    votes = Classifier(configuration, "vote")(np.array(POINTS))
    for x, p, vote, label in zip(POINTS, answers.columns, votes.columns, answers.classes):
        r = by_hand(x)[1]
        rows = []  # of M: a - |a| r in the columns 1, 4, 6
        won = {1: 0, 4: 0, 6: 0}
        for ri, (left, right) in zip(r, ((1, 6), (4, 1), (6, 4))):
            side = {left: -1, right: 1}
            rows.append([side.get(c, 0) - abs(side.get(c, 0)) * ri for c in (1, 4, 6)])
            sign = (ri > 0) - (ri < 0)  # 0 far away, where the last classifier says nothing
            won[right] += sign
            won[left] -= sign
        m = np.array(rows)
        bordered = np.block([[m.T @ m, np.ones((3, 1))], [np.ones((1, 3)), np.zeros((1, 1))]])
        expected = np.linalg.solve(bordered, [0, 0, 0, 1])[:3]
        np.testing.assert_allclose(p, expected, rtol=0, atol=1e-13)
        assert vote.tolist() == [won[1], won[4], won[6]]
        assert label == (1, 4, 6)[int(np.argmax(expected))]
    assert set(answers.classes) == {1, 4, 6}
