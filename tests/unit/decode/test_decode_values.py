"""Decoders: published, libAGF's and independently computed numbers; losses; one-vs-rest."""

import math
import re
import subprocess
import sys

from hypothesis import given, strategies as st
import numpy as np
import pytest

from agfmc.decode import class_scores, nested
from agfmc.decode.closed_forms import project
from agfmc.decode.code_kinds import one_vs_rest
from agfmc.decode.front import CodeDecoder, pair_decoder
from agfmc.decode.methods import find_method, METHODS
from agfmc.core.errors import DataError, ModelError, UsageError
from agfmc.core.models import LearnedDecoder

MIXED = np.array([[-1, -1, 1, 1], [-1, 1, 0, 0], [0, 0, -1, 1], [-1, 1, 1, -1], [0, -1, 1, 1]])
PAIRS = np.array(
    [[-1, 1, 0, 0], [-1, 0, 1, 0], [-1, 0, 0, 1], [0, -1, 1, 0], [0, -1, 0, 1], [0, 0, -1, 1]]
)
REST = 2 * np.eye(4, dtype=int) - 1
ADJACENT = np.where(np.arange(6) <= np.arange(5)[:, None], -1, 1)
HADAMARD = np.array(
    [
        [-1, 1, 1, 1, 1],
        [-1, -1, 1, -1, 1],
        [-1, 1, -1, -1, 1],
        [-1, -1, -1, 1, 1],
        [-1, 1, 1, 1, -1],
        [-1, -1, 1, -1, -1],
        [-1, 1, -1, -1, -1],
        [-1, -1, -1, 1, -1],
    ]
)
BALANCED = np.array(
    [
        [-1, -1, -1, -1, 1, 1, 1, 1],
        [-1, -1, 1, 1, 0, 0, 0, 0],
        [-1, 1, 0, 0, 0, 0, 0, 0],
        [0, 0, -1, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, -1, -1, 1, 1],
        [0, 0, 0, 0, -1, 1, 0, 0],
        [0, 0, 0, 0, 0, 0, -1, 1],
    ]
)
# Each row splits off the last class that is left.
CHAIN = np.array([[-1] * i + [1] + [0] * (6 - i) for i in range(6, 0, -1)])
R4 = [-0.2, -0.4, -0.1, -0.3, 0.6, -0.8]
P4 = [0.4106462307, 0.2001816914, 0.2135961584, 0.1755759194]
Z4 = [0.34761735, 0.18827927, 0.25552634, 0.20857704]
R8, P8 = [0.2, -0.5, 0.1, 0.9, -0.3, 0.4, -0.7, 0.6], [0.13125, 0, 0.08125, 0.48125, 0.30625]


@pytest.mark.parametrize(
    "a, r, method, expected, close",
    [
        (PAIRS, R4, 0, P4, 1e-10),
        (PAIRS, R4, 1, P4, 1e-10),
        (PAIRS, [1, -1, -1, 1, -1, -1], 0, [0.3, 0.3, 0.3, 0.1], 1e-12),
        (PAIRS, R4, 2, [0.7, -0.5, 0.1, -0.3], 1e-12),
        (PAIRS, R4, 3, [3, -1, -1, -1], 0),
        (PAIRS, R4, 7, Z4, 1e-8),
        (PAIRS, R4, "zadrozny-kl", Z4, 1e-8),
        (
            MIXED,
            [0.4, -0.2, 0.6, 0.1, -0.3],
            0,
            [0.15551508, 0.32953916, 0.161725, 0.35322076],
            1e-8,
        ),
        (MIXED, [-0.5, 0, 0.9, -0.8, -0.45], 0, [0.507269485, 0.2545762755, 0, 0.2381542395], 1e-9),
        (REST, [0.9, -0.2, -1, 0.5], 0, [0.5833333, 0.0333333, 0, 0.3833333], 1e-7),
        (REST, [0.3, -0.2, -0.9, 0.1], 0, [0.45, 0.2, 0, 0.35], 1e-12),
        (ADJACENT, [0.8, 0.2, 0.4, -0.1, -0.7], 0, [0.1, 0.25, 0, 0.2, 0.3, 0.15], 1e-12),
        (HADAMARD, R8, 0, P8, 1e-12),
        (HADAMARD, R8, 4, P8, 1e-12),
        (
            BALANCED,
            [0.3, -0.4, 0.2, 0.1, -0.6, 0.5, -0.2],
            0,
            [0.098, 0.147, 0.04725, 0.05775, 0.13, 0.39, 0.078, 0.052],
            1e-12,
        ),
        # libAGF's classes 2 1 5 6 3 4 0
        (
            CHAIN,
            [-0.8, -0.5, 0.2, 0.1, -0.3, 0.6],
            0,
            [0.015795, 0.06318, 0.042525, 0.1485, 0.405, 0.225, 0.1],
            1e-12,
        ),
    ],
)
def test_value(a, r, method, expected, close):
    decode = CodeDecoder(a, method)
    np.testing.assert_allclose(decode(r)[0], [expected], rtol=0, atol=close)


def test_r_is_clipped():
    decode = CodeDecoder(REST)
    np.testing.assert_array_equal(
        decode([2.0, -7.0, 0.5, 0.0])[0], decode([1.0, -1.0, 0.5, 0.0])[0]
    )


@pytest.mark.parametrize(
    "v, expected",
    [
        ([0.5, -0.1, 0.1], [2 / 3, 1 / 15, 4 / 15]),
        ([0.9, 0.6, -0.3, 0.05, -0.2], [0.65, 0.35, 0, 0, 0]),
        ([1e9 + 0.25, 1e9], [0.625, 0.375]),
    ],
)
def test_projection(v, expected):
    np.testing.assert_allclose(project(np.array([v])), [expected], atol=1e-12)


# libAGF works in single precision: the documented distance of a right answer,
# 1.0e-3 in two digits (1.02e-3 for the adjacent code where signs are free).
@pytest.mark.parametrize("model", ["m_1v1", "m_1vR", "m_adj", "m_ortho", "m_hier_lsq", "m_emp_lsq"])
def test_golden(segment, model):
    text = (segment / "models" / f"{model}.mbc").read_text()
    rows = re.findall(r"\S+((?:\s+\d+)+)\s*/((?:\s*\d+)+)\s*;", text)
    labels = np.array(re.search(r"\{([^}]*)\}", text).group(1).split(), dtype=int)
    a = np.zeros((len(rows), len(labels)), dtype=int)
    for row, sides in zip(a, rows):
        for sign, side in zip((-1, 1), sides):
            row[[int(position) for position in side.split()]] = sign
    r = np.loadtxt(segment / f"{model}_r64.txt")
    for q in range(8 if model == "m_1v1" else 7):
        golden = np.loadtxt(segment / f"{model}_Q{q}{'fixed' if q == 0 else ''}.txt")
        p = CodeDecoder(a, q)(r)[0]
        assert np.abs(p - golden[:, labels]).max() < {2: 3.1e-3, 7: 1.7e-3}.get(q, 1.05e-3), q
        # Ties of votes go to the class that is listed first.
        np.testing.assert_array_equal(labels[p.argmax(axis=1)], golden[:, -1])


# The table.


@pytest.mark.parametrize(
    "text, name",
    [
        ("-1", "binary"),
        (0, "least-squares"),
        ("0", "least-squares"),
        ("lsq", "least-squares"),
        ("7", "zadrozny"),
        ("Zadrozny-KL", "zadrozny-kl"),
        ("renormalized", "renormalised"),
        ("svm-vote", "loss:hamming"),
        ("svm_vote", "loss:hamming"),
    ],
)
def test_found_by_number_name_or_alias(text, name):
    assert find_method(text).name == name


def test_no_name_is_used_twice_and_an_unknown_one_lists_them():
    names = [name for method in METHODS for name in (method.name, *method.aliases)]
    assert len(set(names)) == len(names)
    assert [m.number for m in METHODS if m.number is not None] == list(range(-1, 8))
    with pytest.raises(UsageError, match="0 least-squares.*zadrozny-kl"):
        find_method("8")


def test_the_table_needs_no_numpy_and_decoders_no_scipy(root):
    code = (
        "import sys; from agfmc.decode.methods import METHODS\n"
        "assert 'numpy' not in sys.modules\n"
        "import numpy; from agfmc.decode.front import CodeDecoder, pair_decoder\n"
        "from agfmc.core.models import LearnedDecoder\n"
        "codes = {'one-vs-rest': [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]}\n"
        "pairs = [[-1, 1, 0], [-1, 0, 1], [0, -1, 1]]\n"
        "learned = LearnedDecoder(numpy.eye(3), numpy.zeros(3))\n"
        "for method in METHODS:\n"
        "    if method.gives != 'winner':\n"
        "        CodeDecoder(codes.get(method.codes, pairs), method, learned)([.1, .2, .3])\n"
        "    elif method.name != 'radag':\n"
        "        pair_decoder(pairs, method)(\n"
        "            2, lambda rows, columns: numpy.zeros((len(rows), len(columns))))\n"
        "sys.exit('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=root).returncode == 0


@pytest.mark.parametrize(
    "method", [m for m in METHODS if m.gives != "winner"], ids=lambda method: method.name
)
def test_every_method_takes_no_points_one_point_and_two_classes(method):
    product = LearnedDecoder(np.array([[-0.5], [0.5]]), np.zeros(2))
    solve = CodeDecoder([[-1, 1]], method, product)
    assert len(solve(np.zeros((0, 1)))[0]) == 0
    p = solve([0.4])[0]
    assert p.shape == ((1, 1) if method.name == "binary" else (1, 2))
    if method.name == "orthogonal":
        # A^T r / m is no probability here: one row is no orthogonal code.
        np.testing.assert_allclose(p, [[0.1, 0.9]], atol=1e-12)
    elif method.gives in ("probabilities", "estimates"):
        np.testing.assert_allclose(p, [[0.3, 0.7]], atol=1e-8)


@pytest.mark.parametrize(
    "a, words",
    [
        ([[1, 1, 0], [-1, 1, 1]], "problem 0 has no class on the left"),
        ([[-1, 1, 0], [-1, 1, 0]], "class 2"),
        ([[-1, 2, 1]], "entries"),
        ([[-1], [1]], "shape"),
    ],
)
def test_what_is_not_a_code(a, words):
    for prepare, method in ((CodeDecoder, 0), (pair_decoder, "ddag")):
        with pytest.raises(ModelError, match=words):
            prepare(a, method)


@pytest.mark.parametrize(
    "prepare, method, a, words",
    [
        (CodeDecoder, "best", PAIRS, "no decoder 'best'"),
        (CodeDecoder, "wu-lin-weng", REST, "wu-lin-weng needs a one-vs-one"),
        (CodeDecoder, "argmax-raw", PAIRS, "argmax-raw needs a one-vs-rest"),
        (CodeDecoder, "ddag", PAIRS, "ddag queries single classifiers"),
        (pair_decoder, "ddag", REST, "ddag needs a one-vs-one"),
    ],
)
def test_what_does_not_suit_a_decoder(prepare, method, a, words):
    with pytest.raises(UsageError, match=words):
        prepare(a, method)


@pytest.mark.parametrize(
    "r, words",
    [([[0.0], [np.nan]], "decision value 0 of point 1 is nan"), ([[0.0, 1.0]], "1 binary problem")],
)
def test_bad_decision_values(r, words):
    with pytest.raises(DataError, match=words):
        CodeDecoder([[-1, 1]])(r)


# Nested configurations.


def descend(nodes, local):
    return nested.descend(nodes, len(local[0]), lambda index, rows: local[index][rows])


def test_greedy_and_argmax_differ():
    nodes = [[("node", 1), ("node", 2)], [("leaf", 0), ("leaf", 1)], [("leaf", 2), ("leaf", 3)]]
    local = [np.array([-0.1]), np.array([0.0]), np.array([0.9])]
    np.testing.assert_allclose(
        nested.products(nodes, local), [[0.275, 0.275, 0.0225, 0.4275]], atol=1e-15
    )
    leaf, along, _ = descend(nodes, local)
    # r = 0 goes right, with probability one half.
    assert leaf.tolist() == [1]
    np.testing.assert_allclose(along, [0.275], atol=1e-15)


def test_nested_matrices():
    three = PAIRS[[0, 1, 3], :3]
    r = [[0.2, -0.5, 0.1], [0.3, 0.6, -0.2], [-0.1, 0.4, 0.8], [0, -0.9, 0.5]]
    local = [one[None] for one in CodeDecoder(three)(r)[0]]
    np.testing.assert_allclose(local[0], [[0.37782738, 0.37723409, 0.24493853]], atol=1e-8)
    nodes = [[("node", 1), ("node", 2), ("node", 3)]]
    nodes += [[("leaf", 3 * i + j) for j in range(3)] for i in range(3)]
    p = nested.products(nodes, local)
    assert p.argmax() == 5 and abs(p[0, 5] - 0.24452308) < 1e-8
    assert descend(nodes, local)[0] == [1]


def test_products_sum_to_one_and_descent_matches_them():
    rng = np.random.default_rng(3)
    nodes = [
        [("leaf", 4), ("node", 1), ("node", 2)],
        [("leaf", 0), ("leaf", 3)],
        [("leaf", 1), ("node", 3)],
        [("leaf", 2), ("leaf", 5)],
    ]
    local = [
        rng.dirichlet(np.ones(3), 50),
        rng.uniform(-1, 1, 50),
        rng.dirichlet(np.ones(2), 50),
        rng.uniform(-1, 1, 50),
    ]
    p = nested.products(nodes, local)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-14)
    leaf, along, _ = descend(nodes, local)
    np.testing.assert_allclose(p[np.arange(50), leaf], along, atol=1e-15)
    assert len(set(leaf)) > 3
    none = [one[:0] for one in local]
    assert nested.products(nodes, none).shape == (0, 6) and len(descend(nodes, none)[0]) == 0


def test_very_deep_tree_and_lazy_descent():
    depth = 2000
    nodes = [[("leaf", i), ("node", i + 1)] for i in range(depth - 1)]
    nodes.append([("leaf", depth - 1), ("leaf", depth)])
    local = [np.array([0.999, -0.5])] * depth
    p = nested.products(nodes, local)
    assert p.shape == (2, depth + 1)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    evaluated = []

    def evaluate(index, rows):
        evaluated.append(len(rows))
        return local[index][rows]

    leaf, _, last = nested.descend(nodes, 2, evaluate)
    assert leaf.tolist() == [depth, 0] and last.tolist() == [depth - 1, 0]
    assert sum(evaluated) == depth + 1


NAIVE = {
    "hamming": lambda z: (1 - (z > 0) + (z < 0)) / 2,
    "linear": lambda z: -z,
    "hinge": lambda z: max(0, 1 - z),
    "exponential": lambda z: math.exp(-z),
    "logit": lambda z: math.log(1 + math.exp(-2 * z)),
    "quadratic": lambda z: (1 - z) * (1 - z),
}
PAIRS_SCORES = np.array([[-1, 1, 0], [-1, 0, 1], [0, -1, 1]], dtype=np.int8)


def scores_of(a, loss, g):
    return getattr(class_scores, loss)(np.array(a, dtype=np.int8))(np.array(g, dtype=float))[0]


def test_all_losses_are_tested():
    assert set(NAIVE) == set(class_scores.LOSSES)


@pytest.mark.parametrize("loss", NAIVE)
@given(st.data())
def test_as_written(loss, data):
    m, k = data.draw(st.integers(1, 6)), data.draw(st.integers(2, 5))
    row = st.lists(st.sampled_from([-1, 0, 1]), min_size=k, max_size=k)
    a = data.draw(st.lists(row, min_size=m, max_size=m))
    point = st.lists(st.one_of(st.just(0.0), st.floats(-9, 9)), min_size=m, max_size=m)
    g = data.draw(st.lists(point, min_size=1, max_size=4))
    expected = [
        [-sum(NAIVE[loss](float(a[i][j]) * one[i]) for i in range(m)) for j in range(k)]
        for one in g
    ]
    np.testing.assert_allclose(scores_of(a, loss, g), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("loss", NAIVE)
def test_any_value_gives_finite_scores(loss):
    huge = [1000.0, -1000.0, 1e308, -1e308, np.inf, -np.inf, 0.0]
    g = [[x, y, z] for x in huge for y in huge for z in huge]
    with np.errstate(all="raise", under="ignore"):
        scores = scores_of(PAIRS_SCORES, loss, g)
    assert np.isfinite(scores).all()
    # All speak for class 2, in each of the losses that care how much.
    best = scores_of(PAIRS_SCORES, loss, [[0.0, 1000.0, 1000.0], [-1.0, 300.0, 300.0]])
    if loss != "quadratic":
        assert best.argmax(axis=1).tolist() == [2, 2]


def test_exponential_is_cut_off_only_far_out():
    scores = scores_of([[-1, 1], [1, -1]], "exponential", [[-450.0, 0.0], [0.0, -460.0]])
    np.testing.assert_allclose(scores, [[-1, -math.exp(450)], [-math.exp(460), -1]], rtol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4, 9])
def test_one_vs_rest_in_any_order_and_sign(k):
    rng = np.random.default_rng(k)
    a = 2 * np.eye(k, dtype=int) - 1
    r = rng.uniform(-1, 1, (50, k))
    sums = (1 + r).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(CodeDecoder(a, "argmax")(r)[0], (1 + r) / sums)
    np.testing.assert_array_equal(CodeDecoder(a, "argmax-raw")(9 * r)[0], 9 * r)
    rows, signs = rng.permutation(k), rng.choice([-1, 1], k)
    turned, r_turned = a[rows] * signs[:, None], r[:, rows] * signs
    raw = CodeDecoder(turned, "argmax-raw")(r_turned)[0]
    p = CodeDecoder(turned, "argmax")(r_turned)[0]
    np.testing.assert_allclose(p, (1 + raw) / (1 + raw).sum(axis=1, keepdims=True))
    if k > 2:
        np.testing.assert_array_equal(raw, r)
        found = one_vs_rest(turned)
        assert rows[found[0]].tolist() == list(range(k))
        np.testing.assert_array_equal(found[1], signs[found[0]])


def test_two_classes_have_a_row_each():
    p = CodeDecoder([[-1, 1], [-1, 1]], "argmax")([[0.2, 0.6]])[0]
    np.testing.assert_allclose(p, [[1 / 3, 2 / 3]])
    p = CodeDecoder([[-1, 1], [-1, 1]], "argmax")([[1.0, -1.0]])[0]  # neither is possible
    np.testing.assert_array_equal(p, [[0.5, 0.5]])
