"""From points to classes: hand-made configurations with known r, and the reference's answers."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest

from agfmc.core.models import BinaryModel, Kernel
from agfmc.models.configuration import Configuration
from agfmc.data.normalisation import Normalisation
from agfmc.models.files import load, save
from agfmc.prediction.decoding import Decoding
from agfmc.models.merge import collate
from agfmc.control.parse import parse
from agfmc.core.errors import AgfmcWarning, DataError, ModelError, UsageError
from agfmc.models.description import describe
from agfmc.report.model import model_blocks
from agfmc.report.text import blocks_text
from agfmc.prediction.classifier import Classifier, classify
from agfmc.models.libsvm import format_svm_model
from agfmc.data.libagf import read_cls, read_con, read_vec
from agfmc.core.provenance import Provenance
from own_warnings import no_own_warnings

ONE_VS_ONE = "0/1 0/2 0/3 1/2 1/3 2/3".split()
CODE = " ".join(f"m{i} {row};" for i, row in enumerate(ONE_VS_ONE)) + " {0 1 2 3}"
TREE8 = "a { b { c {0 1} d {2 3} } e { f {4 5} g {6 7} } }"
R8 = [0.3, -0.4, 0.2, 0.1, -0.6, 0.5, -0.2]
P8 = [0.098, 0.147, 0.04725, 0.05775, 0.13, 0.39, 0.078, 0.052]
NESTED = (
    "a 0/1; b 0/2; c 1/2; { "
    + " ".join(
        f"a{i} 0/1; b{i} 0/2; c{i} 1/2; {{{3 * i} {3 * i + 1} {3 * i + 2}}}" for i in range(3)
    )
    + " }"
)
R_NESTED = [0.2, -0.5, 0.1, 0.3, 0.6, -0.2, -0.1, 0.4, 0.8, 0, -0.9, 0.5]


def configuration_of(text, probabilities=True, features=True, swapped=False):
    """A configuration in which classifier i has r = tanh(x_i): a linear kernel, one vector."""
    tree = parse(text)
    m = len(tree.rows)
    labels = (0, 1) if swapped else (1, 0)
    sign = -1.0 if swapped else 1.0
    models = [
        BinaryModel(
            f"m{i}",
            "c_svc",
            Kernel("linear"),
            sign * np.eye(m)[i : i + 1],
            np.ones(1),
            0.0,
            labels,
            (1, 0),
            (-2.0, 0.0) if probabilities else None,
            Provenance(),
            m if features else 0,
        )
        for i in range(m)
    ]
    return Configuration(tree, collate(models, tree.sides(), tree.classes))


def full(configuration, x):
    return Classifier(configuration, Decoding(tree="full"))(x)


def path(configuration, x):
    return Classifier(configuration, Decoding(tree="path"))(x)


def points(*rows):
    return np.arctanh(np.array(rows, dtype=float))


@pytest.mark.parametrize("swapped", [False, True])
def test_one_vs_one(swapped):
    x = points([-0.2, -0.4, -0.1, -0.3, 0.6, -0.8])
    answers = Classifier(configuration_of(CODE, swapped=swapped))(x)
    np.testing.assert_allclose(
        answers.columns, [[0.4106462307, 0.2001816914, 0.2135961584, 0.1755759194]], atol=1e-9
    )
    assert answers.classes.tolist() == [0] and answers.classes.dtype == np.int32
    np.testing.assert_allclose(answers.confidence, (4 * 0.4106462307 - 1) / 3, atol=1e-9)
    votes = Classifier(configuration_of(CODE, swapped=swapped), "3")(x)
    np.testing.assert_array_equal(votes.columns, [[3, -1, -1, -1]])


def test_full_tree():
    answers = full(configuration_of(TREE8), points(R8))
    np.testing.assert_allclose(answers.columns, [P8], atol=1e-12)
    assert answers.classes.tolist() == [5]


def test_path_and_recursive_tree():
    one = path(configuration_of(TREE8), points(R8))
    np.testing.assert_allclose(one.columns, [[0.39]], atol=1e-12)
    recursive = Classifier(configuration_of(TREE8))(points(R8))
    assert recursive.columns is None
    assert recursive.classes.tolist() == one.classes.tolist() == [5]
    np.testing.assert_allclose(recursive.confidence, [(8 * 0.39 - 1) / 7], atol=1e-12)


def test_greedy_descent_need_not_find_the_largest_product():
    x = points([-0.1, 0, 0.9])
    text = "a { b {0 1} c {2 3} }"
    greedy = path(configuration_of(text), x)
    np.testing.assert_allclose(greedy.columns, [[0.275]], atol=1e-12)
    whole = full(configuration_of(text), x)
    np.testing.assert_allclose(whole.columns, [[0.275, 0.275, 0.0225, 0.4275]], atol=1e-12)
    assert whole.classes.tolist() == [3]


def test_chain_in_leaf_order_and_columns_in_label_order():
    text = "a { b { c { d { e { f { 2 1 } 5 } 6 } 3 } 4 } 0 }"
    answers = full(configuration_of(text), points([-0.8, -0.5, 0.2, 0.1, -0.3, 0.6]))
    by_leaf = dict(
        zip([2, 1, 5, 6, 3, 4, 0], [0.015795, 0.06318, 0.042525, 0.1485, 0.405, 0.225, 0.1])
    )
    np.testing.assert_allclose(
        answers.columns, [[by_leaf[label] for label in range(7)]], atol=1e-12
    )
    assert answers.classes.tolist() == [3]


def test_nested():
    whole = full(configuration_of(NESTED), points(R_NESTED))
    outer = whole.columns.reshape(3, 3).sum(axis=1)
    np.testing.assert_allclose(outer, [0.37782738, 0.37723409, 0.24493853], atol=1e-8)
    assert whole.classes.tolist() == [5]
    np.testing.assert_allclose(whole.columns.max(), 0.24452308, atol=1e-8)
    greedy = path(configuration_of(NESTED), points(R_NESTED))
    assert greedy.classes.tolist() == [1]
    np.testing.assert_allclose(greedy.columns, whole.columns[:, 1:2], atol=1e-12)
    told = Classifier(configuration_of(NESTED), "-1")(points(R_NESTED))
    np.testing.assert_allclose(told.columns, [R_NESTED], atol=1e-12)


def test_zero_goes_right_with_one_half():
    for swapped in (False, True):
        for value in (0.0, -0.0):
            answers = path(configuration_of("m {3 8}", swapped=swapped), np.array([[value]]))
            assert answers.classes.tolist() == [8] and answers.columns.tolist() == [[0.5]]


def test_gaps_in_labels():
    classifier = Classifier(configuration_of("a 0/1; b 0/2; c 1/2; {900 7 40}"))
    assert classifier.classes.tolist() == [7, 40, 900]
    answers = classifier(points([0.5, 0.5, 0], [-0.5, 0.5, 0.9]))
    np.testing.assert_allclose(answers.columns.sum(axis=1), 1)
    direct = Classifier(configuration_of("a 0/1; b 0/2; c 1/2; {0 1 2}"))(
        points([0.5, 0.5, 0], [-0.5, 0.5, 0.9])
    )
    np.testing.assert_array_equal(answers.columns, direct.columns[:, [1, 2, 0]])
    np.testing.assert_array_equal(answers.classes, np.array([900, 7, 40])[direct.classes])


def test_ties_go_to_the_first_in_the_control_file():
    answers = Classifier(configuration_of("a 0/1; b 0/2; c 1/2; {9 4 6}"), "3")(
        points([0.5, -0.5, 0.5])
    )
    np.testing.assert_array_equal(answers.columns, [[0, 0, 0]])
    assert answers.classes.tolist() == [9]


def test_reject():
    x = points([-0.2, -0.4, -0.1, -0.3, 0.6, -0.8], [-0.9, -0.9, -0.9, 0, 0, 0])
    answers = Classifier(configuration_of(CODE), Decoding(reject=0.5))(x)
    assert answers.classes.tolist() == [-1, 0]
    kept = Classifier(configuration_of(CODE))(x)
    assert kept.classes.tolist() == [0, 0]
    np.testing.assert_array_equal(answers.columns, kept.columns)
    np.testing.assert_array_equal(answers.confidence, kept.confidence)
    tree = Classifier(configuration_of(TREE8), Decoding(reject=0.4))(points(R8))
    assert tree.classes.tolist() == [-1]
    for bad in ({"method": "2"}, {"method": "3"}, {"raw": True}):
        with pytest.raises(UsageError, match="`reject` needs"):
            Classifier(configuration_of(CODE), Decoding(reject=0.5, **bad))


def test_votes_without_probabilities():
    bare = configuration_of(CODE, probabilities=False)
    x = points([-0.2, -0.4, -0.1, -0.3, 0.6, -0.8], [0, 0.1, 0.2, 0.3, 0.4, 0.5])
    expected = Classifier(configuration_of(CODE), "3")(x)
    answers = Classifier(bare, "3")(x)
    np.testing.assert_array_equal(answers.columns, expected.columns)
    np.testing.assert_array_equal(answers.classes, expected.classes)
    np.testing.assert_array_equal(Classifier(bare, Decoding(raw=True))(x).columns, x)
    for method in ("0", "-1", "2", "7"):
        with pytest.raises(ModelError, match="hold no probabilities"):
            Classifier(bare, method)
    with pytest.raises(ModelError, match="hold no probabilities"):
        Classifier(configuration_of(TREE8, probabilities=False))


def test_votes_along_a_tree():
    with pytest.raises(UsageError, match="votes"):
        Classifier(configuration_of(NESTED), "3")
    Classifier(configuration_of(TREE8), "3")  # nothing there is decoded


@pytest.mark.parametrize("text", [CODE, TREE8])
@pytest.mark.parametrize("mode", ["recursive", "full"])
def test_points_that_are_no_numbers(text, mode):
    classifier = Classifier(configuration_of(text), Decoding(tree=mode))
    x = np.zeros((3, len(classifier.tree.rows)))
    x[1, 0] = np.nan
    with pytest.raises(DataError, match="1 of 3 points give no decision value"):
        classifier(x)


def test_widths():
    classifier = Classifier(configuration_of(CODE))
    assert classifier.features == 6
    for d in (5, 7):
        with pytest.raises(DataError, match=f"the points have {d} features, the model needs 6"):
            classifier(np.zeros((2, d)))


def test_models_that_do_not_tell_their_width():
    x = points([-0.2, -0.4, -0.1, -0.3, 0.6, -0.8])
    expected = Classifier(configuration_of(CODE))(x).columns
    classifier = Classifier(configuration_of(CODE, features=False))
    assert classifier.features is None
    wide = np.concatenate([x, np.ones((1, 3))], axis=1)
    np.testing.assert_allclose(classifier(wide).columns, expected, atol=1e-14)
    with pytest.raises(DataError, match="the points have 5 features"):
        classifier(x[:, :5])
    # chunks of LIBSVM text are as wide as their largest index
    configuration = configuration_of(CODE, features=False)
    classifier = Classifier(configuration, Decoding(points="svm"))
    short = np.concatenate([x[:, :4], np.zeros((1, 2))], axis=1)
    wanted = [Classifier(configuration_of(CODE))(short).columns, expected, expected]
    for workers in (1, 3):
        got = [a.columns for a in classify(classifier, [x[:, :4], wide, x], workers)]
        np.testing.assert_allclose(got, wanted, atol=1e-14)


def test_normalisation():
    matrix = np.diag(np.float32([2, 1, 1, 1, 1, 1]))
    norm = Normalisation(matrix, np.float32([1, 0, 0, 0, 0, 0]))
    plain = configuration_of(CODE)
    normed = replace(plain, normalisation=norm)
    x = np.random.default_rng(0).normal(size=(4, 6))
    mapped = x * [2, 1, 1, 1, 1, 1] - [2, 0, 0, 0, 0, 0]
    np.testing.assert_allclose(
        Classifier(normed)(x).columns, Classifier(plain)(mapped).columns, atol=1e-12
    )


@pytest.mark.parametrize(
    "text, mode",
    [
        (CODE, "recursive"),
        (TREE8, "recursive"),
        (TREE8, "full"),
        (NESTED, "path"),
        (NESTED, "full"),
    ],
)
def test_chunks_and_threads_give_the_same_bits(text, mode):
    configuration = configuration_of(text)
    x = np.random.default_rng(1).normal(size=(700, len(configuration.tree.rows)))
    told = []
    for rows, workers in ((700, 1), (64, 1), (97, 2), (13, 3)):
        chunks = (x[i : i + rows] for i in range(0, 700, rows))
        answers = list(classify(Classifier(configuration, Decoding(tree=mode)), chunks, workers))
        told.append(
            b"".join(
                np.concatenate([getattr(a, name) for a in answers]).tobytes()
                for name in ("classes", "confidence")
                + (() if mode == "recursive" and text is TREE8 else ("columns",))
            )
        )
    assert len(set(told)) == 1


GOLDEN = ["m_1v1", "m_1vR", "m_adj", "m_ortho", "m_hier_lsq", "m_emp_lsq"]


@pytest.fixture
def golden(segment, monkeypatch):
    monkeypatch.chdir(segment / "models")
    return segment


@pytest.mark.parametrize("name", GOLDEN)
def test_reference_values(golden, name):
    configuration = load(f"{name}.mbc")
    x = read_vec(str(golden / "tst.vec"))
    # the reference was computed from models of six digits: 2.7e-4 apart in r
    f = Classifier(configuration, Decoding(raw=True))(x).columns
    np.testing.assert_allclose(f, np.loadtxt(golden / f"{name}_f64.txt"), rtol=0, atol=3e-4)
    r = Classifier(configuration, "-1")(x).columns
    np.testing.assert_allclose(r, np.loadtxt(golden / f"{name}_r64.txt"), rtol=0, atol=2.7e-4)


@pytest.mark.few()
@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.parametrize("method", [0, 2, 3, 4])
def test_reference_classes_and_probabilities(golden, name, method):
    base = golden / f"{name}_Q{'0fixed' if method == 0 else method}"
    answers = Classifier(load(f"{name}.mbc"), str(method))(read_vec(str(golden / "tst.vec")))
    np.testing.assert_array_equal(answers.classes, read_cls(f"{base}.cls"))
    limit = 3.1e-3 if method == 2 else 1.1e-3
    np.testing.assert_allclose(
        answers.columns, np.loadtxt(f"{base}.txt")[:, :-1], rtol=0, atol=limit
    )
    np.testing.assert_allclose(answers.confidence, read_con(f"{base}.con"), rtol=0, atol=limit)


@pytest.mark.parametrize("name", ["m_hier", "m_emp"])
def test_reference_trees(golden, name):
    configuration = load(f"{name}.mbc")
    x = read_vec(str(golden / "tst.vec"))
    answers = Classifier(configuration)(x)
    np.testing.assert_array_equal(answers.classes, read_cls(str(golden / f"{name}_rec.cls")))
    np.testing.assert_allclose(
        answers.confidence, read_con(str(golden / f"{name}_rec.con")), rtol=0, atol=1.1e-3
    )
    whole = full(configuration, x)
    code = Classifier(load(f"{name}_lsq.mbc"))(x)  # the same, as one coding matrix
    np.testing.assert_allclose(whole.columns, code.columns, rtol=0, atol=1e-9)


def test_one_file_or_many_give_the_same_bytes(golden, tmp_path):
    configuration = load("m_1v1.mbc")
    before = configuration.merged_from
    assert before > len(configuration.machines.sv)
    save(str(tmp_path / "m.mbm"), configuration)
    again = load(str(tmp_path / "m.mbm"))
    x = read_vec(str(golden / "tst.vec"))
    one, two = Classifier(configuration)(x), Classifier(again)(x)
    assert one.columns.tobytes() == two.columns.tobytes() and again.made_by.keys() == {"agfmc"}
    info = describe(again)
    assert json.loads(json.dumps(info)) == info
    assert info["configuration"] == "coding matrix" and len(info["binary_models"]) == 21
    assert info["support_vectors"] == len(again.machines.sv)
    assert info["coefficients"] == len(again.machines.coef)
    assert len(again.machines.coef) <= before  # equal vectors within one model were added up
    text = blocks_text(model_blocks(info))
    assert "coding matrix, 21 binary models, 1 level\n" in text and "rbf gamma 0.1" in text


def test_a_configuration_from_a_pipe(golden):
    text = (golden / "models" / "m_1vR.mbc").read_bytes()
    read, write = os.pipe()
    with os.fdopen(write, "wb") as file:
        file.write(text)
    try:
        configuration = load(f"/dev/fd/{read}")
    finally:
        os.close(read)
    assert len(configuration.tree.rows) == 7


def write_models(folder, text, **options):
    configuration = configuration_of(text)
    (folder / "m.mbc").write_text(text)
    for row in configuration.tree.rows:
        model = BinaryModel(
            row.text,
            "c_svc",
            Kernel("linear"),
            np.ones((1, 2)),
            np.ones(1),
            0.0,
            (0, 1),
            (1, 0),
            (-1.0, 0.0),
            **options,
        )
        (folder / row.text).write_text(format_svm_model(model))


def test_loading_trouble(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_models(tmp_path, "a 0/1; b 1/0; {0 1}\n")
    assert load("m.mbc").machines.any_width
    norm = Normalisation(np.ones((3, 1), np.float32), np.zeros(3, np.float32))
    with pytest.raises(ModelError, match="the normalisation gives 1 features, the models need 2"):
        load("m.mbc", norm)
    good = Normalisation(np.ones((3, 4), np.float32), np.zeros(3, np.float32))
    with_norm = load("m.mbc", good)
    assert Classifier(with_norm).features == 3 and with_norm.machines.sv.shape == (1, 4)
    save("n.mbm", with_norm)
    assert Classifier(load("n.mbm")).features == 3
    with pytest.raises(
        ModelError, match="^n.mbm: holds its own normalisation: leave `normalisation` out$"
    ):
        load("n.mbm", good)
    (tmp_path / "b").write_text(
        (tmp_path / "b")
        .read_text()
        .replace("probA", "#")
        .replace("# -1.0\n", "")
        .replace("probB 0.0\n", "")
    )
    with pytest.warns(AgfmcWarning, match="^b holds no probabilities"):
        load("m.mbc")
    (tmp_path / "b").unlink()
    with pytest.raises(ModelError, match="^m.mbc:1:8: model 'b': cannot read"):
        load("m.mbc")
    with pytest.raises(DataError, match="^none.mbc: cannot read"):
        load("none.mbc")
    with no_own_warnings():
        (tmp_path / "t.mbt").write_text('"" {0 1}')
        with pytest.raises(Exception, match="train this control file with multi_borders first"):
            load("t.mbt")
